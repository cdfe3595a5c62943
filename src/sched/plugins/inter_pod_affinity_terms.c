/*
 * The terms of a class: compiled, counted if its pods are to be scheduled, and known to the classes
 * that they match.
 *
 * Follows k8s.io/kube-scheduler framework, func GetAffinityTerms.
 * Follows k8s.io/kubernetes pkg/scheduler/framework, func NewPodInfo, func (*PodInfo) Update.
 */
#include "sched/plugins/inter_pod_affinity_int.h"

/* The four lists of a pod, in the order in which upstream reads them. */
struct source {
    const char *name;
    enum sched__existing_term_kind kind;
    const struct api_pod_affinity_term_list *required;
    const struct api_weighted_pod_affinity_term_list *preferred;
};

enum { SOURCES = 4 };

static void list_sources(const struct api_affinity *affinity, struct source out[SOURCES]) {
    static const struct api_pod_affinity no_affinity;
    static const struct api_pod_anti_affinity no_anti;
    const struct api_pod_affinity *with =
        affinity && affinity->pod_affinity ? affinity->pod_affinity : &no_affinity;
    const struct api_pod_anti_affinity *without =
        affinity && affinity->pod_anti_affinity ? affinity->pod_anti_affinity : &no_anti;
    out[0] =
        (struct source){"requiredAffinityTerms", SCHED__REQUIRED_AFFINITY, &with->required, NULL};
    out[1] = (struct source){"requiredAntiAffinityTerms", SCHED__REQUIRED_ANTI, &without->required,
                             NULL};
    out[2] = (struct source){"preferredAffinityTerms", SCHED__PREFERRED_AFFINITY, NULL,
                             &with->preferred};
    out[3] = (struct source){"preferredAntiAffinityTerms", SCHED__PREFERRED_ANTI, NULL,
                             &without->preferred};
}

static size_t source_count(const struct source *src) {
    return src->required ? src->required->n : src->preferred->n;
}

static const struct api_pod_affinity_term *source_term(const struct source *src, size_t i) {
    return src->required ? &src->required->v[i] : &src->preferred->v[i].pod_affinity_term;
}

static int32_t source_weight(const struct source *src, size_t i) {
    if (src->required)
        return 0;
    int32_t weight = src->preferred->v[i].weight;
    return src->kind == SCHED__PREFERRED_ANTI ? -weight : weight;
}

/* ---- compiling ---- */

/* "requiredAffinityTerms: what" and, if several lists are wrong, "[one, other]". */
static void add_error(struct arena *a, struct str *all, const char *list, struct str what) {
    if (!all->p)
        *all = arena_printf(a, "%s: %.*s", list, STR_ARG(what));
    else if (all->p[0] == '[')
        *all = arena_printf(a, "%.*s, %s: %.*s]", (int)all->n - 1, all->p, list, STR_ARG(what));
    else
        *all = arena_printf(a, "[%.*s, %s: %.*s]", STR_ARG(*all), list, STR_ARG(what));
}

static struct str term_error(const struct sched__podterm *t) {
    return t->selector && t->selector->error.p ? t->selector->error : t->namespace_selector->error;
}

/* A list with an error is no list. */
static struct sched__affinity_terms compile_list(struct sched__pod_class *c,
                                                 const struct source *src, struct str *error) {
    struct sched__affinity_terms terms = {.n = source_count(src)};
    terms.v = arena_array(&c->arena, struct sched__affinity_term, terms.n);
    struct err err;
    for (size_t i = 0; i < terms.n; i++) {
        const struct api_pod_affinity_term *spec = source_term(src, i);
        struct sched__affinity_term *t = &terms.v[i];
        t->label = spec->topology_key.p ? spec->topology_key : STR(""); /* which no node has */
        t->weight = source_weight(src, i);
        if (sched__podterm_compile(&c->arena, c->pod->metadata.namespace, spec, &t->term, &err) ==
            0)
            continue;
        add_error(&c->arena, error, src->name, term_error(&t->term));
        return (struct sched__affinity_terms){0};
    }
    return terms;
}

static struct sched__affinity_terms join(struct arena *a, struct sched__affinity_terms x,
                                         struct sched__affinity_terms y) {
    struct sched__affinity_terms both = {.n = x.n + y.n};
    both.v = arena_array(a, struct sched__affinity_term, both.n);
    for (size_t i = 0; i < both.n; i++)
        both.v[i] = i < x.n ? x.v[i] : y.v[i - x.n];
    return both;
}

/* ---- counting ---- */

static void set_tally(struct sched *s, struct sched__affinity_term *t, struct sched__podset *set) {
    struct sched__partition *by =
        sched__partition_get(s, &(struct sched__partition_spec){.label = t->label});
    t->topology = by->topology;
    t->tally = sched__tally_get(s, set, by);
}

static void count_each(struct sched *s, const struct sched__affinity_terms *terms) {
    for (size_t i = 0; i < terms->n; i++)
        set_tally(s, &terms->v[i], sched__podset_get(s, &terms->v[i].term, 1, false));
}

/* What is looked for is one pod that all terms match. */
static void count_together(struct sched *s, const struct sched__affinity_terms *terms) {
    struct arena a = {0};
    if (!terms->n)
        return;
    struct sched__podterm *all = arena_array(&a, struct sched__podterm, terms->n);
    for (size_t i = 0; i < terms->n; i++)
        all[i] = terms->v[i].term;
    struct sched__podset *set = sched__podset_get(s, all, terms->n, false);
    for (size_t i = 0; i < terms->n; i++)
        set_tally(s, &terms->v[i], i ? sched__podset_ref(set) : set);
    arena_release(&a);
}

static void drop(struct sched *s, struct sched__affinity_terms *terms) {
    for (size_t i = 0; i < terms->n; i++)
        sched__tally_unref(s, terms->v[i].tally);
}

static void carry(struct sched *s, struct sched__pod_class *c, const struct source *src,
                  const struct sched__affinity_terms *terms) {
    struct arena a = {0};
    if (!terms->n)
        return;
    struct sched__existing_term_spec *specs =
        arena_array(&a, struct sched__existing_term_spec, terms->n);
    for (size_t i = 0; i < terms->n; i++)
        specs[i] = (struct sched__existing_term_spec){.kind = src->kind,
                                                      .weight = terms->v[i].weight,
                                                      .label = terms->v[i].label,
                                                      .term = terms->v[i].term};
    sched__existing_terms_add(s, c, specs, terms->n);
    arena_release(&a);
}

/* ---- life ---- */

/* A class without terms may be matched by those of others. */
void *sched__affinity_compile(struct sched *s, struct sched__pod_class *c) {
    struct sched__affinity *d = arena_new(&c->arena, struct sched__affinity);
    struct source sources[SOURCES];
    struct sched__affinity_terms lists[SOURCES];
    list_sources(c->pod->spec.affinity, sources);
    for (size_t i = 0; i < SOURCES; i++) {
        lists[i] = compile_list(c, &sources[i], &d->error);
        carry(s, c, &sources[i], &lists[i]);
    }
    d->affinity = lists[0];
    d->anti = lists[1];
    d->preferred = join(&c->arena, lists[2], lists[3]);
    if (c->placed)
        return d;
    count_together(s, &d->affinity);
    count_each(s, &d->anti);
    count_each(s, &d->preferred);
    return d;
}

void sched__affinity_discard(struct sched *s, void *data) {
    struct sched__affinity *d = data;
    drop(s, &d->affinity);
    drop(s, &d->anti);
    drop(s, &d->preferred);
}
