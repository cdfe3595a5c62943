/*
 * Sets of names for the rules that say "must be unique": a short list searched from its start while
 * there are few, as there nearly always are, and a hash map when someone sends thousands.
 */
#include "valid/valid_int.h"

enum { FEW = sizeof((struct seen *)0)->few / sizeof(struct seen_entry) };

static void move_to_map(struct seen *s) {
    s->many = MAP_INIT(map_random_seed());
    for (size_t i = 0; i < s->n; i++)
        map_put_const(&s->many, s->few[i].name, s->few[i].value);
}

const void *seen_get(const struct seen *s, struct str name) {
    if (s->n > FEW)
        return map_get_const(&s->many, name);
    for (size_t i = 0; i < s->n; i++)
        if (str_eq(s->few[i].name, name))
            return s->few[i].value;
    return NULL;
}

bool seen_put(struct seen *s, struct str name, const void *value) {
    if (seen_get(s, name))
        return false;
    if (s->n == FEW)
        move_to_map(s);
    if (s->n < FEW)
        s->few[s->n] = (struct seen_entry){name, value};
    else
        map_put_const(&s->many, name, value);
    s->n++;
    return true;
}

bool seen_add(struct seen *s, struct str name) {
    static const char mark;
    return seen_put(s, name, &mark);
}

void seen_release(struct seen *s) {
    if (s->n > FEW)
        map_release(&s->many);
    s->n = 0;
}
