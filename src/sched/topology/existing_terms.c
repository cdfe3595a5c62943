/*
 * Terms of pod affinity seen from the other side: a pod on a node keeps others away, or attracts
 * them. Equal terms are one, whichever pods have them; a class knows the terms that match its pods,
 * so that a cycle looks at these and no others.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/interpodaffinity,
 * func (*InterPodAffinity) getExistingAntiAffinityCounts.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "sched/topology/count_int.h"
#include "sched/topology/facets_int.h"

/* ---- which classes a term matches ---- */

/* A namespace that does not exist has no labels. */
static bool term_matches(struct sched *s, const struct sched__existing_term *t,
                         const struct sched__pod_class *c) {
    static const struct labels none;
    const struct api_object_meta *pod = &c->pod->metadata;
    const struct labels *found =
        t->term.namespace_selector ? sched__namespace_labels(s, pod->namespace) : NULL;
    return sched__podterm_matches(&t->term, pod, found ? found : &none);
}

/* Is the term to be linked with the class? */
static bool concerns(struct sched *s, const struct sched__existing_term *t,
                     const struct sched__pod_class *c) {
    return t->base ? term_matches(s, t->base, c) && !term_matches(s, t, c) : term_matches(s, t, c);
}

/* Pods that have their node do not ask any more. */
static void link_if_concerned(struct sched *s, struct sched__existing_term *t,
                              struct sched__pod_class *c) {
    if (!c->placed && concerns(s, t, c))
        sched__link(&t->matched_classes, &c->matching_terms);
}

static void link_to_all(struct sched *s, struct sched__existing_term *t) {
    struct sched__candidates found = {0};
    (t->base ? sched__facets_find_excluded : sched__facets_find_classes)(s, &t->term, 1, &found);
    for (size_t i = 0; i < found.n; i++)
        link_if_concerned(s, t, found.v[i].item);
    vec_release(&found);
}

void sched__existing_terms_match(struct sched *s, struct sched__pod_class *c) {
    struct sched__candidates found = {0};
    if (!c->placed)
        sched__facets_find(s, &s->facets.existing_terms, c, &found);
    for (size_t i = 0; i < found.n; i++)
        link_if_concerned(s, found.v[i].item, c);
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

bool sched__existing_term_holds(const struct sched__existing_term *t,
                                const struct sched__pod_class *carrier,
                                const struct sched__pod_class *c) {
    for (size_t i = 0; i < carrier->own_terms.n; i++) {
        const struct sched__existing_term *own = carrier->own_terms.v[i];
        if (own == t ||
            (own->base == t && !sched__are_linked(&own->matched_classes, &c->matching_terms)))
            return true;
    }
    return false;
}

const struct sched_pod **sched__existing_term_examples(struct arena *a,
                                                       const struct sched__existing_term *t,
                                                       const struct sched__pod_class *c) {
    const struct sched__links *carriers = &t->tally->set->members;
    const struct sched_pod **examples =
        arena_array(a, const struct sched_pod *, t->tally->by->domain_cap);
    for (size_t i = 0; i < carriers->n; i++)
        if (sched__existing_term_holds(t, carriers->v[i].other->owner, c))
            sched__tally_show(t->tally, carriers->v[i].other->owner, examples);
    return examples;
}

/* ---- life ---- */

/* Most terms need no more than this, and their key. */
enum { TERM_BYTES = 256 };

/* The base is taken. */
static struct sched__existing_term *term_new(struct sched *s, struct str key,
                                             const struct sched__existing_term_spec *spec,
                                             struct sched__existing_term *base) {
    struct sched__existing_term *t = xcalloc(1, sizeof *t);
    arena_start(&t->arena, key.n + TERM_BYTES);
    t->key = arena_str(&t->arena, key);
    t->kind = spec->kind;
    t->weight = spec->weight;
    t->times = spec->times;
    t->serial = ++s->serial;
    t->base = base;
    t->matched_classes.owner = t->filed.owner = t;
    t->term = sched__podterm_copy(&t->arena, &spec->term);
    struct sched__partition *by =
        sched__partition_get(s, &(struct sched__partition_spec){.label = spec->label});
    t->topology = by->topology;
    t->tally = sched__tally_get(s, sched__podset_named(s, t->key), by);
    map_put(&s->existing_terms, t->key, t);
    (base ? sched__facets_add_excluding : sched__facets_add)(s, &s->facets.existing_terms,
                                                             &t->filed, &t->term, 1);
    link_to_all(s, t);
    return t;
}

static struct str term_text(struct arena *a, struct buf *text,
                            const struct sched__existing_term_spec *spec) {
    buf_clear(text);
    buf_addf(text, "%d,%d,", (int)spec->kind, spec->weight);
    sched__key_add(text, spec->label);
    sched__podterm_write(text, &spec->term);
    return arena_str(a, buf_view(text));
}

/* The key of a term that counts so often, in the buffer. */
static struct str term_key(struct buf *key, uint32_t times, struct str text) {
    buf_clear(key);
    buf_addf(key, "c%u*", times);
    buf_add(key, text);
    return buf_view(key);
}

/* The same term if it excluded no pods, with one more reference; NULL: it excludes none, or many
 * of those that it would match. */
static struct sched__existing_term *get_base(struct sched *s,
                                             const struct sched__existing_term_spec *spec) {
    AUTO(arena_release) struct arena a = {0};
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct sched__existing_term_spec base = *spec;
    if (!sched__facets_exclude_few(s, &spec->term, 1))
        return NULL;
    base.term = sched__podterm_base(&a, &spec->term);
    struct str key = term_key(&text, base.times, term_text(&a, &text, &base));
    struct sched__existing_term *t = map_get(&s->existing_terms, key);
    if (!t)
        t = term_new(s, key, &base, NULL);
    t->refs++;
    return t;
}

/* Finds or makes the term of this key. */
static void add_term(struct sched *s, struct sched__pod_class *c, struct str key,
                     const struct sched__existing_term_spec *spec) {
    struct sched__existing_term *t = map_get(&s->existing_terms, key);
    if (!t)
        t = term_new(s, key, spec, get_base(s, spec));
    t->refs++;
    sched__podset_join(s, t->tally->set, c);
    if (t->base)
        sched__podset_join(s, t->base->tally->set, c);
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
        if (spec.times)
            add_term(s, c, term_key(&text, spec.times, entries[i].text), &spec);
    }
}

static void term_unref(struct sched *s, struct sched__existing_term *t) {
    if (!t || --t->refs)
        return;
    term_unref(s, t->base); /* which has none itself */
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
