/* For tests of the scheduler: objects as their cases have them. The caller owns each. */
#ifndef TEST_SCHED_OBJECTS_H
#define TEST_SCHED_OBJECTS_H

#include "../data.h"
#include "api/object.h"

/* NULL: there is none. Members that objects do not have are mistakes of the case. */
static inline struct api_object *object_of_json(const struct json *tree) {
    struct api_object *o = NULL;
    if (tree && api_object_decode(tree, &(struct api_decode_opts){.strict = true}, &o, NULL) < 0) {
        struct arena a = {0};
        struct str text = data_write(&a, tree);
        fail_msg("%.*s cannot be decoded", STR_ARG(text));
    }
    return o;
}

/* Publishes an object; NULL is fine. */
static inline const struct api_object *object_publish(struct api_object *o) {
    return o ? api_publish(o) : NULL;
}

/* From a text in which ' stands for ", made as printf does. */
__attribute__((format(printf, 1, 2))) static inline struct api_object *
object_of_text(const char *fmt, ...) {
    char text[2000];
    struct arena a = {0};
    struct json tree;
    struct err err;
    va_list args;
    va_start(args, fmt);
    assert_in_range(vsnprintf(text, sizeof text, fmt, args), 1, sizeof text - 1);
    va_end(args);
    for (char *c = text; *c; c++)
        *c = *c == '\'' ? '"' : *c;
    if (json_parse(&a, str_of(text), NULL, &tree, &err) < 0)
        fail_msg("%s: %s", text, err.msg);
    struct api_object *o = object_of_json(&tree);
    arena_release(&a);
    return o;
}

#endif
