/* See facets_int.h. */
#include "sched/topology/facets_int.h"

#include <stdlib.h>

#include "api/selector.h"
#include "base/alloc.h"
#include "sched/topology/count_int.h"

/* What a term can be filed under, the most telling first: a value of a label, that there is such a
 * label, neither; and each of these in one namespace or in any. */
enum facet { VALUE_HERE, VALUE, LABEL_HERE, LABEL, HERE, ANYTHING, FACETS };

static bool has_namespace(enum facet f) {
    return f == VALUE_HERE || f == LABEL_HERE || f == HERE;
}

static bool has_label(enum facet f) {
    return f < HERE;
}

static bool has_value(enum facet f) {
    return f == VALUE_HERE || f == VALUE;
}

/* ---- buckets ---- */

/* Things whose key is the same. Keys are hashes: whoever shares one by chance is a candidate too
 * many. */
struct bucket {
    uint64_t key;
    struct sched__links items;
};

static struct str key_text(const uint64_t *key) {
    return (struct str){(const char *)key, sizeof *key};
}

static uint64_t key_of(const struct sched *s, enum facet f, struct str ns,
                       const struct label *label) {
    uint64_t key = s->seed + f;
    if (has_namespace(f))
        key = str_hash(ns, key);
    if (!has_label(f))
        return key;
    key = str_hash(label->key, key);
    return has_value(f) ? str_hash(label->value, key) : key;
}

static struct bucket *find_bucket(const struct map *buckets, uint64_t key) {
    return map_get(buckets, key_text(&key));
}

static void file(struct map *buckets, uint64_t key, struct sched__links *item) {
    struct bucket *b = find_bucket(buckets, key);
    if (!b) {
        b = xcalloc(1, sizeof *b);
        b->key = key;
        b->items.owner = b;
        map_put(buckets, key_text(&b->key), b);
    }
    sched__link(&b->items, item);
}

void sched__facets_drop(struct map *buckets, struct sched__links *item) {
    while (item->n) {
        struct bucket *b = item->v[item->n - 1].other->owner;
        sched__unlink(item, item->n - 1);
        if (b->items.n)
            continue;
        map_del(buckets, key_text(&b->key));
        vec_release(&b->items);
        free(b);
    }
    vec_release(item);
}

/* ---- classes ---- */

static void file_class(struct sched *s, struct sched__pod_class *c, enum facet f) {
    const struct api_object_meta *pod = &c->pod->metadata;
    if (!has_label(f)) {
        file(&s->facets.classes, key_of(s, f, pod->namespace, NULL), &c->filed);
        return;
    }
    for (size_t i = 0; i < pod->labels.n; i++)
        file(&s->facets.classes, key_of(s, f, pod->namespace, &pod->labels.v[i]), &c->filed);
}

void sched__facets_add_class(struct sched *s, struct sched__pod_class *c) {
    c->filed.owner = c;
    for (enum facet f = 0; f < FACETS; f++)
        if (s->facets.used & 1U << f)
            file_class(s, c, f);
}

/* The first term of a facet: from now on classes are filed by it. */
static void use(struct sched *s, enum facet f) {
    size_t at = 0;
    if (s->facets.used & 1U << f)
        return;
    s->facets.used |= 1U << f;
    for (struct map_entry *e; (e = map_next(&s->pod_classes, &at));)
        file_class(s, e->value, f);
}

/* ---- terms ---- */

/* Where terms are filed. */
struct anchor {
    enum facet facet;
    struct str ns;
    const struct selector_req *req; /* NULL: the facet has no label */
    size_t size;                    /* of its buckets; UNKNOWN: not counted yet */
};
#define UNKNOWN SIZE_MAX

static bool is_equality(enum selector_op op) {
    return op == SELECTOR_IN || op == SELECTOR_EQUALS || op == SELECTOR_DOUBLE_EQUALS;
}

static bool is_existence(enum selector_op op) {
    return op == SELECTOR_EXISTS || op == SELECTOR_GREATER_THAN || op == SELECTOR_LESS_THAN;
}

static enum facet facet_of(const struct selector_req *r, bool here) {
    if (r && is_equality(r->op))
        return here ? VALUE_HERE : VALUE;
    if (r && is_existence(r->op))
        return here ? LABEL_HERE : LABEL;
    return here ? HERE : ANYTHING;
}

typedef void key_fn(struct sched *s, uint64_t key, void *data);

/* One key, or one for each different value. */
static void each_key(struct sched *s, const struct anchor *a, key_fn *fn, void *data) {
    size_t n = has_value(a->facet) ? a->req->value_count : 1;
    for (size_t i = 0; i < n; i++) {
        struct label label = {.key = a->req ? a->req->key : STR("")};
        if (has_value(a->facet))
            label.value = a->req->values[i];
        if (i == 0 || !str_eq(label.value, a->req->values[i - 1]))
            fn(s, key_of(s, a->facet, a->ns, &label), data);
    }
}

/* What is in the buckets of an anchor. */
struct crowd {
    const struct map *buckets; /* of things beside classes; NULL: classes alone count */
    size_t n;
};

static void count_bucket(struct sched *s, uint64_t key, void *data) {
    struct crowd *crowd = data;
    const struct bucket *classes = find_bucket(&s->facets.classes, key);
    const struct bucket *things = crowd->buckets ? find_bucket(crowd->buckets, key) : NULL;
    crowd->n += (classes ? classes->items.n : 0) + (things ? things->items.n : 0);
}

static void count_crowd(struct sched *s, const struct map *buckets, struct anchor *a) {
    struct crowd crowd = {.buckets = buckets};
    if (a->size != UNKNOWN)
        return;
    use(s, a->facet);
    each_key(s, a, count_bucket, &crowd);
    a->size = crowd.n;
}

/* A label tells more than none, and one that few have more than one that all have: a selector that
 * asks for app=web and for the pod's own name is filed under the name. */
static bool tells_more(struct sched *s, const struct map *buckets, struct anchor *a,
                       struct anchor *b) {
    if (!a->req || !b->req)
        return a->facet < b->facet;
    count_crowd(s, buckets, a);
    count_crowd(s, buckets, b);
    if (a->size != b->size)
        return a->size < b->size;
    return a->facet != b->facet ? a->facet < b->facet : a->req->value_count < b->req->value_count;
}

/* Are all pods of the term in one namespace? */
static bool is_here(const struct sched__podterm *t) {
    return t->namespace_count == 1 && !t->everywhere && !t->namespace_selector;
}

static void consider(struct sched *s, const struct map *buckets, struct anchor *best,
                     const struct sched__podterm *t, const struct selector_req *r) {
    bool here = is_here(t);
    struct anchor a = {.facet = facet_of(r, here), .size = UNKNOWN};
    a.ns = here ? t->namespaces[0] : STR("");
    a.req = has_label(a.facet) ? r : NULL;
    if (tells_more(s, buckets, &a, best))
        *best = a;
}

/* Where things of these terms are best filed, beside those in the buckets, or classes looked for if
 * that is NULL. False: one of the terms matches no pod. */
static bool find_anchor(struct sched *s, const struct map *buckets,
                        const struct sched__podterm *terms, size_t n, struct anchor *out) {
    *out = (struct anchor){.facet = FACETS};
    for (size_t i = 0; i < n; i++) {
        const struct selector *sel = terms[i].selector;
        if (!sel || sel->error.p)
            return false;
        consider(s, buckets, out, &terms[i], NULL);
        for (size_t k = 0; k < sel->n; k++)
            consider(s, buckets, out, &terms[i], &sel->reqs[k]);
    }
    return n > 0;
}

struct filing {
    struct map *buckets;
    struct sched__links *item;
};

static void file_item(struct sched *s, uint64_t key, void *data) {
    const struct filing *f = data;
    (void)s;
    file(f->buckets, key, f->item);
}

void sched__facets_add(struct sched *s, struct map *buckets, struct sched__links *item,
                       const struct sched__podterm *terms, size_t n) {
    struct anchor a;
    if (!find_anchor(s, buckets, terms, n, &a))
        return;
    use(s, a.facet);
    each_key(s, &a, file_item, &(struct filing){buckets, item});
}

/* ---- what terms exclude ---- */

static enum facet excluded_facet(const struct selector_req *r, bool here) {
    if (r->op == SELECTOR_DOES_NOT_EXIST)
        return here ? LABEL_HERE : LABEL;
    return here ? VALUE_HERE : VALUE;
}

/* The keys of all labels that the terms exclude. */
static void each_excluded(struct sched *s, const struct sched__podterm *terms, size_t n, key_fn *fn,
                          void *data) {
    for (size_t i = 0; i < n; i++) {
        bool here = is_here(&terms[i]);
        for (size_t k = 0; k < terms[i].selector->n; k++) {
            const struct selector_req *r = &terms[i].selector->reqs[k];
            if (!sched__req_excludes(r))
                continue;
            struct anchor a = {.facet = excluded_facet(r, here), .req = r};
            a.ns = here ? terms[i].namespaces[0] : STR("");
            use(s, a.facet);
            each_key(s, &a, fn, data);
        }
    }
}

static bool exclude_any(const struct sched__podterm *terms, size_t n) {
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; terms[i].selector && k < terms[i].selector->n; k++)
            if (sched__req_excludes(&terms[i].selector->reqs[k]))
                return true;
    return false;
}

bool sched__facets_exclude_few(struct sched *s, const struct sched__podterm *terms, size_t n) {
    struct anchor all;
    struct crowd excluded = {0};
    if (!exclude_any(terms, n) || !find_anchor(s, NULL, terms, n, &all))
        return false;
    count_crowd(s, NULL, &all);
    each_excluded(s, terms, n, count_bucket, &excluded);
    return excluded.n <= all.size / 2;
}

void sched__facets_add_excluding(struct sched *s, struct map *buckets, struct sched__links *item,
                                 const struct sched__podterm *terms, size_t n) {
    each_excluded(s, terms, n, file_item, &(struct filing){buckets, item});
}

/* ---- candidates ---- */

static int compare_found(const void *a, const void *b) {
    const struct sched__found *x = a, *y = b;
    return (x->serial > y->serial) - (x->serial < y->serial);
}

static bool is_sorted(const struct sched__candidates *list) {
    for (size_t i = 1; i < list->n; i++)
        if (list->v[i - 1].serial > list->v[i].serial)
            return false;
    return true;
}

/* What comes from one bucket mostly is in order; what comes from several may come twice. */
static void sort_found(struct sched__candidates *list) {
    size_t n = 0;
    if (!is_sorted(list))
        qsort(list->v, list->n, sizeof *list->v, compare_found);
    for (size_t i = 0; i < list->n; i++)
        if (!n || list->v[n - 1].serial != list->v[i].serial)
            list->v[n++] = list->v[i];
    list->n = n;
}

static void list_classes(struct sched *s, uint64_t key, void *data) {
    struct sched__candidates *out = data;
    const struct bucket *b = find_bucket(&s->facets.classes, key);
    for (size_t i = 0; b && i < b->items.n; i++) {
        struct sched__pod_class *c = b->items.v[i].other->owner;
        vec_push(out, (struct sched__found){c->serial, c});
    }
}

void sched__facets_find_classes(struct sched *s, const struct sched__podterm *terms, size_t n,
                                struct sched__candidates *out) {
    struct anchor a;
    if (!find_anchor(s, NULL, terms, n, &a))
        return;
    use(s, a.facet);
    each_key(s, &a, list_classes, out);
    sort_found(out);
}

void sched__facets_find_excluded(struct sched *s, const struct sched__podterm *terms, size_t n,
                                 struct sched__candidates *out) {
    each_excluded(s, terms, n, list_classes, out);
    sort_found(out);
}

/* Whatever is filed begins with its serial number. */
static void list_bucket(const struct map *buckets, uint64_t key, struct sched__candidates *out) {
    const struct bucket *b = find_bucket(buckets, key);
    for (size_t i = 0; b && i < b->items.n; i++) {
        uint64_t *item = b->items.v[i].other->owner;
        vec_push(out, (struct sched__found){*item, item});
    }
}

void sched__facets_find(struct sched *s, const struct map *buckets,
                        const struct sched__pod_class *c, struct sched__candidates *out) {
    const struct api_object_meta *pod = &c->pod->metadata;
    for (enum facet f = 0; buckets->live && f < FACETS; f++) {
        size_t n = has_label(f) ? pod->labels.n : 1;
        for (size_t i = 0; s->facets.used & 1U << f && i < n; i++)
            list_bucket(buckets,
                        key_of(s, f, pod->namespace, has_label(f) ? &pod->labels.v[i] : NULL), out);
    }
    sort_found(out);
}

void sched__facets_release(struct sched *s) {
    assert(!s->facets.classes.live && !s->facets.podsets.live && !s->facets.existing_terms.live);
    map_release(&s->facets.classes);
    map_release(&s->facets.podsets);
    map_release(&s->facets.existing_terms);
}
