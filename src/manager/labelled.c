/* Objects filed under labels: every one knows its places, so that it leaves them at once. */
#include "manager/labelled_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/map.h"
#include "base/vec.h"

struct drawer;

/* Where an object lies. */
struct place {
    struct drawer *drawer;
    size_t at;
};

struct filed {
    const struct api_object *object; /* borrowed: as it was last set */
    struct place *places;
    size_t n;
    size_t key_size;
    char key[]; /* namespace/name */
};

/* One of the objects of a drawer, and which of its places this is. */
struct sheet {
    struct filed *filed;
    size_t place;
};

struct drawer {
    VEC(struct sheet) sheets;
    size_t key_size;
    char key[]; /* namespace, key and value of the label */
};

struct labelled {
    struct map objects; /* struct filed */
    struct map drawers;
    struct buf key;
    bool is_wide; /* namespaces do not count in drawers */
};

struct labelled *labelled__new(uint64_t seed) {
    struct labelled *x = xcalloc(1, sizeof *x);
    x->objects = MAP_INIT(seed);
    x->drawers = MAP_INIT(seed);
    x->key = BUF_INIT(SIZE_MAX);
    return x;
}

struct labelled *labelled__new_wide(uint64_t seed) {
    struct labelled *x = labelled__new(seed);
    x->is_wide = true;
    return x;
}

static void free_filed(struct filed *f) {
    free(f->places);
    free(f);
}

static void free_drawer(struct drawer *d) {
    vec_release(&d->sheets);
    free(d);
}

void labelled__free(struct labelled *x) {
    const struct map_entry *e;
    if (!x)
        return;
    for (size_t at = 0; (e = map_next(&x->objects, &at));)
        free_filed(e->value);
    for (size_t at = 0; (e = map_next(&x->drawers, &at));)
        free_drawer(e->value);
    map_release(&x->objects);
    map_release(&x->drawers);
    buf_release(&x->key);
    free(x);
}

/* ---- keys ---- */

static struct str name_of(struct labelled *x, const struct api_object *o) {
    buf_clear(&x->key);
    buf_addf(&x->key, "%.*s/%.*s", STR_ARG(o->meta->namespace), STR_ARG(o->meta->name));
    return buf_view(&x->key);
}

static struct str space_of(const struct labelled *x, const struct api_object *o) {
    return x->is_wide ? STR("") : o->meta->namespace;
}

static struct str drawer_name(struct labelled *x, struct str namespace, const struct label *l) {
    buf_clear(&x->key);
    buf_addf(&x->key, "%.*s %.*s=%.*s", STR_ARG(namespace), STR_ARG(l->key), STR_ARG(l->value));
    return buf_view(&x->key);
}

/* ---- places ---- */

static void put(struct labelled *x, struct filed *f, struct str namespace, const struct label *l) {
    struct str key = drawer_name(x, namespace, l);
    struct drawer *d = map_get(&x->drawers, key);
    if (!d) {
        d = xcalloc(1, sizeof *d + key.n);
        d->key_size = key.n;
        memcpy(d->key, key.p, key.n);
        map_put(&x->drawers, (struct str){d->key, key.n}, d);
    }
    f->places[f->n] = (struct place){d, d->sheets.n};
    vec_push(&d->sheets, (struct sheet){f, f->n});
    f->n++;
}

/* The last sheet of the drawer comes to lie where this one was. */
static void take_out(struct labelled *x, struct place place) {
    struct drawer *d = place.drawer;
    struct sheet last = d->sheets.v[--d->sheets.n];
    d->sheets.v[place.at] = last;
    last.filed->places[last.place].at = place.at;
    if (!d->sheets.n) {
        map_del(&x->drawers, (struct str){d->key, d->key_size});
        free_drawer(d);
    } else
        vec_shrink(&d->sheets);
}

static void take_all_out(struct labelled *x, struct filed *f) {
    for (size_t i = f->n; i-- > 0;)
        take_out(x, f->places[i]);
    f->n = 0;
}

static bool lies_there(struct labelled *x, const struct filed *f, const struct labels *labels) {
    if (f->n != labels->n)
        return false;
    for (size_t i = 0; i < f->n; i++) {
        const struct drawer *d = f->places[i].drawer;
        struct str wanted = drawer_name(x, space_of(x, f->object), &labels->v[i]);
        if (!str_eq(wanted, (struct str){d->key, d->key_size}))
            return false;
    }
    return true;
}

static struct filed *filed_of(struct labelled *x, const struct api_object *o) {
    struct str key = name_of(x, o);
    struct filed *f = map_get(&x->objects, key);
    if (!f) {
        f = xcalloc(1, sizeof *f + key.n);
        f->key_size = key.n;
        memcpy(f->key, key.p, key.n);
        map_put(&x->objects, (struct str){f->key, key.n}, f);
    }
    return f;
}

void labelled__set(struct labelled *x, const struct api_object *o, const struct labels *labels) {
    struct filed *f = filed_of(x, o);
    f->object = o;
    if (!labels || lies_there(x, f, labels))
        return;
    take_all_out(x, f);
    free(f->places);
    f->places = xcalloc(labels->n + 1, sizeof *f->places);
    for (size_t i = 0; i < labels->n; i++)
        put(x, f, space_of(x, o), &labels->v[i]);
}

void labelled__drop(struct labelled *x, const struct api_object *o) {
    struct filed *f = map_del(&x->objects, name_of(x, o));
    if (!f)
        return;
    take_all_out(x, f);
    free_filed(f);
}

/* ---- what is there ---- */

static const struct drawer *drawer_of(struct labelled *x, struct str namespace,
                                      const struct label *label) {
    return map_get(&x->drawers, drawer_name(x, namespace, label));
}

size_t labelled__count(struct labelled *x, struct str namespace, const struct label *label) {
    const struct drawer *d = drawer_of(x, namespace, label);
    return d ? d->sheets.n : 0;
}

const struct api_object *labelled__next(struct labelled *x, struct str namespace,
                                        const struct label *label, size_t *at) {
    const struct drawer *d = drawer_of(x, namespace, label);
    return d && *at < d->sheets.n ? d->sheets.v[(*at)++].filed->object : NULL;
}
