/* Objects under their labels, under the keys of these, and all of a namespace together. */
#include "manager/members_int.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "manager/labelled_int.h"

/* No label has this value or this key. */
#define ANY STR("*")

struct members {
    struct informer *informer;
    struct labelled *file;
    bool has_orphans; /* and no others */
    struct members *next;
};

/* ---- places ---- */

static bool has_values(const struct selector_req *r) {
    return r->op == SELECTOR_IN || r->op == SELECTOR_EQUALS || r->op == SELECTOR_DOUBLE_EQUALS;
}

/* The labels that satisfy a requirement; false: an absent one does, too. */
static bool read_places(const struct selector_req *r, struct members__places *out) {
    out->n = 0;
    if (!has_values(r) && r->op != SELECTOR_EXISTS)
        return false;
    if (!has_values(r) || r->value_count > MEMBERS__MOST_PLACES) {
        out->v[out->n++] = (struct label){r->key, ANY};
        return true;
    }
    for (size_t i = 0; i < r->value_count; i++)
        if (!i || !str_eq(r->values[i], r->values[i - 1]))
            out->v[out->n++] = (struct label){r->key, r->values[i]};
    return true;
}

void members__places(struct labelled *file, struct str namespace, const struct selector *selector,
                     struct members__places *out) {
    struct members__places these;
    size_t least = SIZE_MAX;
    *out = (struct members__places){{{ANY, ANY}}, 1};
    for (size_t i = 0; i < selector->n && least > 0; i++) {
        size_t n = 0;
        if (!read_places(&selector->reqs[i], &these))
            continue;
        for (size_t k = 0; k < these.n; k++)
            n += labelled__count(file, namespace, &these.v[k]);
        if (n >= least)
            continue;
        least = n;
        *out = these;
    }
}

/* ---- the file ---- */

static void file(struct members *x, const struct api_object *o) {
    AUTO(arena_release) struct arena a = {0};
    const struct labels *own = &o->meta->labels;
    struct labels under = {arena_array(&a, struct label, 2 * own->n + 1), 0};
    for (size_t i = 0; i < own->n; i++) {
        under.v[under.n++] = own->v[i];
        under.v[under.n++] = (struct label){own->v[i].key, ANY};
    }
    under.v[under.n++] = (struct label){ANY, ANY};
    labelled__set(x->file, o, &under);
}

static bool has_place(const struct members *x, const struct api_object *o) {
    return o && !(x->has_orphans && api_object_controller(o));
}

static void member_set(void *arg, const struct api_object *old, const struct api_object *o) {
    struct members *x = arg;
    if (!has_place(x, o))
        labelled__drop(x->file, o);
    else if (has_place(x, old) && labels_equal(&old->meta->labels, &o->meta->labels))
        labelled__set(x->file, o, NULL);
    else
        file(x, o);
}

static void member_deleted(void *arg, const struct api_object *last) {
    labelled__drop(((struct members *)arg)->file, last);
}

struct members *manager__members(struct manager *m, struct informer *informer, bool orphans) {
    for (struct members *x = m->members; x; x = x->next)
        if (x->informer == informer && x->has_orphans == orphans)
            return x;
    struct members *x = xcalloc(1, sizeof *x);
    *x = (struct members){informer, labelled__new(m->seed), orphans, m->members};
    m->members = x;
    informer_listen(informer, &(struct informer_handler){
                                  .set = member_set, .deleted = member_deleted, .arg = x});
    return x;
}

void members__free(struct members *first) {
    for (struct members *next; first; first = next) {
        next = first->next;
        labelled__free(first->file);
        free(first);
    }
}

struct manager__objects members__find(struct members *x, struct arena *a, struct str namespace,
                                      const struct selector *selector) {
    struct manager__objects out = {0};
    struct members__places places;
    size_t most = 0;
    if (!selector || selector->error.p)
        return out;
    members__places(x->file, namespace, selector, &places);
    for (size_t i = 0; i < places.n; i++)
        most += labelled__count(x->file, namespace, &places.v[i]);
    out.v = arena_array(a, const struct api_object *, most);
    for (size_t i = 0; i < places.n; i++) {
        size_t at = 0;
        for (const struct api_object *o;
             (o = labelled__next(x->file, namespace, &places.v[i], &at));)
            if (selector_matches(selector, &o->meta->labels))
                out.v[out.n++] = o;
    }
    return out;
}
