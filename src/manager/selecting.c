/*
 * Who selects what. An object is filed under the requirement of its selector that fewest others are
 * filed under: values of a label, or that there is such a label; and together with all others that
 * ask for no label at all.
 */
#include "manager/selecting_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/map.h"
#include "manager/labelled_int.h"
#include "manager/members_int.h"

/* No label has this value or this key. */
#define ANY STR("*")

struct entry {
    struct arena arena;
    struct selector *selector;
    struct str uid;
    int64_t generation;
    size_t key_size;
    char key[]; /* namespace/name */
};

struct selecting {
    struct map entries;
    struct labelled *file;
    struct buf key;
};

struct selecting *selecting__new(uint64_t seed) {
    struct selecting *x = xcalloc(1, sizeof *x);
    x->entries = MAP_INIT(seed);
    x->file = labelled__new(seed);
    x->key = BUF_INIT(SIZE_MAX);
    return x;
}

static void free_entry(struct entry *e) {
    if (e)
        arena_release(&e->arena);
    free(e);
}

void selecting__free(struct selecting *x) {
    size_t at = 0;
    if (!x)
        return;
    for (struct map_entry *e; (e = map_next(&x->entries, &at));)
        free_entry(e->value);
    map_release(&x->entries);
    labelled__free(x->file);
    buf_release(&x->key);
    free(x);
}

static struct str key_of(struct selecting *x, const struct api_object *o) {
    buf_clear(&x->key);
    buf_addf(&x->key, "%.*s/%.*s", STR_ARG(o->meta->namespace), STR_ARG(o->meta->name));
    return buf_view(&x->key);
}

/* ---- who selects ---- */

static void file(struct selecting *x, const struct api_object *o, const struct selector *selector) {
    struct members__places places;
    members__places(x->file, o->meta->namespace, selector, &places);
    labelled__set(x->file, o, &(struct labels){places.v, places.n});
}

bool selecting__renew(struct selecting *x, const struct api_object *o) {
    struct entry *e = map_get(&x->entries, key_of(x, o));
    if (!e || !e->generation || e->generation != o->meta->generation ||
        !str_eq(e->uid, o->meta->uid))
        return false;
    if (e->selector)
        labelled__set(x->file, o, NULL);
    return true;
}

void selecting__set(struct selecting *x, const struct api_object *o,
                    const struct api_label_selector *spec) {
    struct str key = key_of(x, o);
    struct entry *e = xcalloc(1, sizeof *e + key.n);
    struct api_label_selector copy;
    memcpy(e->key, key.p, key.n);
    e->key_size = key.n;
    selecting__drop(x, o);
    e->uid = arena_str(&e->arena, o->meta->uid);
    e->generation = o->meta->generation;
    map_put(&x->entries, (struct str){e->key, e->key_size}, e);
    if (!spec)
        return;
    api_struct_copy(&e->arena, &api_types[API_T_label_selector], spec, &copy);
    if (selector_compile(&e->arena, &copy, &e->selector, NULL) < 0)
        e->selector = NULL;
    if (e->selector)
        file(x, o, e->selector);
}

void selecting__drop(struct selecting *x, const struct api_object *o) {
    free_entry(map_del(&x->entries, key_of(x, o)));
    labelled__drop(x->file, o);
}

const struct selector *selecting__of(struct selecting *x, const struct api_object *o) {
    const struct entry *e = map_get(&x->entries, key_of(x, o));
    return e ? e->selector : NULL;
}

/* ---- whom labels are selected by ---- */

/* A question of labels, and whom its answers are told. */
struct search {
    struct selecting *x;
    struct str namespace;
    const struct labels *labels;
    void (*visit)(void *arg, const struct api_object *o);
    void *arg;
};

static void look_under(const struct search *s, struct label label) {
    size_t at = 0;
    for (const struct api_object *o; (o = labelled__next(s->x->file, s->namespace, &label, &at));)
        if (selector_matches(selecting__of(s->x, o), s->labels))
            s->visit(s->arg, o);
}

void selecting__each(struct selecting *x, struct str namespace, const struct labels *labels,
                     void (*visit)(void *arg, const struct api_object *o), void *arg) {
    const struct search s = {x, namespace, labels, visit, arg};
    look_under(&s, (struct label){ANY, ANY});
    for (size_t i = 0; i < labels->n; i++) {
        look_under(&s, labels->v[i]);
        look_under(&s, (struct label){labels->v[i].key, ANY});
    }
}
