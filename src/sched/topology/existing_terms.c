/*
 * Terms of pod affinity seen from the other side: a pod on a node keeps others away, or attracts
 * them. Equal terms are one, whichever pods have them; a class knows the terms that match its pods,
 * so that a cycle looks at these and no others.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "sched/topology/count_int.h"
#include "sched/topology/facets_int.h"

/* ---- which classes a term matches ---- */

/* A namespace that does not exist has no labels. */
static bool matches_class(struct sched *s, const struct sched__existing_term *t,
                          const struct sched__pod_class *c) {
    static const struct labels none;
    const struct api_object_meta *pod = &c->pod->metadata;
    const struct labels *found =
        t->term.namespace_selector ? sched__namespace_labels(s, pod->namespace) : NULL;
    return sched__podterm_matches(&t->term, pod, found ? found : &none);
}

/* Pods that have their node do not ask any more. */
static void link_if_matching(struct sched *s, struct sched__existing_term *t,
                             struct sched__pod_class *c) {
    if (!c->placed && matches_class(s, t, c))
        sched__link(&t->matched_classes, &c->matching_terms);
}

static void link_to_all(struct sched *s, struct sched__existing_term *t) {
    struct sched__candidates found = {0};
    sched__facets_find_classes(s, &t->term, 1, &found);
    for (size_t i = 0; i < found.n; i++)
        link_if_matching(s, t, found.v[i].item);
    vec_release(&found);
}

void sched__existing_terms_match(struct sched *s, struct sched__pod_class *c) {
    struct sched__candidates found = {0};
    if (!c->placed)
        sched__facets_find(s, &s->facets.existing_terms, c, &found);
    for (size_t i = 0; i < found.n; i++)
        link_if_matching(s, found.v[i].item, c);
    vec_release(&found);
}

void sched__existing_terms_namespaces_changed(struct sched *s) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->existing_terms, &at));) {
        struct sched__existing_term *t = e->value;
        if (!t->term.namespace_selector || t->term.everywhere)
            continue;
        sched__unlink_all(&t->matched_classes);
        link_to_all(s, t);
    }
}

/* ---- life ---- */

/* Most terms need no more than this, and their key. */
enum { TERM_BYTES = 256 };

static struct sched__existing_term *term_new(struct sched *s, struct str key,
                                             const struct sched__existing_term_spec *spec) {
    struct sched__existing_term *t = xcalloc(1, sizeof *t);
    arena_start(&t->arena, key.n + TERM_BYTES);
    t->key = arena_str(&t->arena, key);
    t->kind = spec->kind;
    t->weight = spec->weight;
    t->times = spec->times;
    t->serial = ++s->serial;
    t->matched_classes.owner = t->filed.owner = t;
    t->term = sched__podterm_copy(&t->arena, &spec->term);
    struct sched__partition *by =
        sched__partition_get(s, &(struct sched__partition_spec){.label = spec->label});
    t->topology = by->topology;
    t->tally = sched__tally_get(s, sched__podset_named(s, t->key), by);
    map_put(&s->existing_terms, t->key, t);
    sched__facets_add(s, &s->facets.existing_terms, &t->filed, &t->term, 1);
    link_to_all(s, t);
    return t;
}

/* Finds or makes the term of this key. */
static void add_term(struct sched *s, struct sched__pod_class *c, struct str key,
                     const struct sched__existing_term_spec *spec) {
    struct sched__existing_term *t = map_get(&s->existing_terms, key);
    if (!t)
        t = term_new(s, key, spec);
    t->refs++;
    sched__podset_join(s, t->tally->set, c);
    vec_push(&c->own_terms, t);
}

/* A term that a class has, to be compared with others of the class. */
struct entry {
    struct str text; /* equal for equal terms */
    size_t order;
    uint32_t times; /* 0: counted with an equal one before it */
};

static int compare_entries(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    int c = str_cmp(x->text, y->text);
    return c ? c : (x->order > y->order) - (x->order < y->order);
}

static int compare_order(const void *a, const void *b) {
    const struct entry *x = a, *y = b;
    return (x->order > y->order) - (x->order < y->order);
}

/* Counts equal terms with the first of them. */
static void count_equals(struct entry *entries, size_t n) {
    size_t first = 0;
    qsort(entries, n, sizeof *entries, compare_entries);
    for (size_t i = 0; i < n; i++) {
        if (!str_eq(entries[i].text, entries[first].text))
            first = i;
        entries[first].times++;
    }
    qsort(entries, n, sizeof *entries, compare_order);
}

static struct str term_text(struct arena *a, struct buf *text,
                            const struct sched__existing_term_spec *spec) {
    buf_clear(text);
    buf_addf(text, "%d,%d,", (int)spec->kind, spec->weight);
    sched__key_add(text, spec->label);
    sched__podterm_write(text, &spec->term);
    return arena_str(a, buf_view(text));
}

/* A term that a pod has twice counts twice. */
void sched__existing_terms_add(struct sched *s, struct sched__pod_class *c,
                               const struct sched__existing_term_spec *specs, size_t n) {
    AUTO(arena_release) struct arena a = {0};
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct entry *entries = arena_array(&a, struct entry, n);
    for (size_t i = 0; i < n; i++)
        entries[i] = (struct entry){.text = term_text(&a, &text, &specs[i]), .order = i};
    count_equals(entries, n);
    for (size_t i = 0; i < n; i++) {
        struct sched__existing_term_spec spec = specs[i];
        spec.times = entries[i].times;
        buf_clear(&text);
        buf_addf(&text, "c%u*", spec.times);
        buf_add(&text, entries[i].text);
        if (spec.times)
            add_term(s, c, buf_view(&text), &spec);
    }
}

static void term_unref(struct sched *s, struct sched__existing_term *t) {
    if (--t->refs)
        return;
    sched__unlink_all(&t->matched_classes);
    sched__facets_drop(&s->facets.existing_terms, &t->filed);
    map_del(&s->existing_terms, t->key);
    sched__tally_unref(s, t->tally);
    arena_release(&t->arena);
    free(t);
}

void sched__existing_terms_drop(struct sched *s, struct sched__pod_class *c) {
    for (size_t i = 0; i < c->own_terms.n; i++)
        term_unref(s, c->own_terms.v[i]);
    vec_release(&c->own_terms);
    sched__unlink_all(&c->matching_terms);
}
