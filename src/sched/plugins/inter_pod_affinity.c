/*
 * InterPodAffinity: pods that want, or do not want, certain others in the same domain of nodes; and
 * pods on nodes that do not want this one.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/interpodaffinity,
 * func (*InterPodAffinity) PreFilter, func (*InterPodAffinity) Filter.
 */
#include <stdlib.h>

#include "sched/explain/explain_int.h"
#include "sched/plugins/inter_pod_affinity_int.h"

/* ---- filter ---- */

/* The terms that may refuse a node in this cycle. */
struct filtering {
    const struct sched__affinity *own;
    bool first; /* no pod anywhere matches what the pod wants, but it does itself */
    const struct sched__existing_term **against;
    size_t against_count;
    bool takes_back; /* one of these what others say; then those of one topology are neighbours */
    /* For texts, made when they are asked for: of each of the pod's own terms of anti-affinity and
     * then of those against it, by domain a pod that is counted. */
    const struct sched_pod ***examples;
};

/* The first of pods that want each other may go anywhere. */
static bool is_first(const struct sched__cycle *cy, const struct sched__affinity_terms *terms) {
    for (size_t i = 0; i < terms->n; i++)
        if (terms->v[i].tally->total)
            return false;
    return terms->n && sched__podset_has(terms->v[0].tally->set, cy->cls);
}

static int compare_topologies(const void *a, const void *b) {
    const struct sched__existing_term *x = *(const struct sched__existing_term *const *)a;
    const struct sched__existing_term *y = *(const struct sched__existing_term *const *)b;
    uintptr_t p = (uintptr_t)x->topology, q = (uintptr_t)y->topology;
    return (p > q) - (p < q);
}

static void find_against(const struct sched__cycle *cy, struct filtering *state) {
    for (size_t i = 0; i < cy->cls->matching_terms.n; i++) {
        const struct sched__existing_term *t = cy->cls->matching_terms.v[i].other->owner;
        if (t->kind != SCHED__REQUIRED_ANTI || !t->tally->total)
            continue;
        if (!state->against)
            state->against = arena_array(cy->arena, const struct sched__existing_term *,
                                         cy->cls->matching_terms.n);
        state->against[state->against_count++] = t;
        state->takes_back = state->takes_back || t->base;
    }
    if (state->takes_back)
        qsort(state->against, state->against_count, sizeof *state->against, compare_topologies);
}

static void refresh(const struct sched__affinity_terms *terms) {
    for (size_t i = 0; i < terms->n; i++)
        sched__tally_refresh(terms->v[i].tally);
}

static void pre_filter(struct sched__cycle *cy) {
    const struct sched__affinity *d = cy->cls->data[SCHED_INTER_POD_AFFINITY];
    if (d->error.p) {
        sched__prefilter_reject(cy, SCHED_INTER_POD_AFFINITY,
                                arena_printf(cy->arena, "parsing pod: %.*s", STR_ARG(d->error)));
        return;
    }
    struct filtering *state = arena_new(cy->arena, struct filtering);
    state->own = d;
    refresh(&d->affinity);
    refresh(&d->anti);
    state->first = is_first(cy, &d->affinity);
    find_against(cy, state);
    if (d->affinity.n || d->anti.n || state->against_count)
        cy->data[SCHED_INTER_POD_AFFINITY] = state;
}

/* Refuses nodes outside of the domains with a pod that is wanted. */
static void filter_wanted(const struct sched__affinity_term *t, bool first, uint8_t *verdict,
                          uint32_t from, uint32_t to) {
    const uint32_t *domain = t->topology->domain;
    const int32_t *count = t->tally->count;
    for (uint32_t i = from; i < to; i++)
        if (!verdict[i] && (!domain[i] || (!first && count[domain[i]] <= 0)))
            verdict[i] = SCHED__REASON_POD_AFFINITY;
}

/* Refuses nodes of domains with a pod that is counted. */
static void filter_unwanted(const struct sched__topology *topology, const struct sched__tally *t,
                            struct sched__cycle *cy, uint32_t from, uint32_t to,
                            enum sched__reason reason) {
    if (!t->total)
        return;
    const uint32_t *domain = topology->domain;
    for (uint32_t i = from; i < to; i++)
        if (!cy->verdict[i] && t->count[domain[i]] > 0)
            cy->verdict[i] = (uint8_t)reason;
}

/* How many pods in the node's domain have one of these terms, which are of one topology; those that
 * take back what others say count against them. */
static int64_t count_against(const struct sched__existing_term *const *terms, size_t n,
                             uint32_t slot) {
    int64_t sum = 0;
    for (size_t i = 0; i < n; i++) {
        int32_t count = terms[i]->tally->count[terms[i]->topology->domain[slot]];
        sum += terms[i]->base ? -count : count;
    }
    return sum;
}

/* Refuses nodes of domains with pods that have one of these terms. */
static void filter_sums(const struct sched__existing_term *const *terms, size_t n,
                        struct sched__cycle *cy, uint32_t from, uint32_t to) {
    for (uint32_t i = from; i < to; i++)
        if (!cy->verdict[i] && count_against(terms, n, i) > 0)
            cy->verdict[i] = SCHED__REASON_EXISTING_ANTI_AFFINITY;
}

static void filter_against(const struct filtering *state, struct sched__cycle *cy, uint32_t from,
                           uint32_t to) {
    const struct sched__existing_term *const *terms = state->against;
    for (size_t i = 0; !state->takes_back && i < state->against_count; i++)
        filter_unwanted(terms[i]->topology, terms[i]->tally, cy, from, to,
                        SCHED__REASON_EXISTING_ANTI_AFFINITY);
    for (size_t i = 0, n; state->takes_back && i < state->against_count; i += n) {
        for (n = 1; i + n < state->against_count && terms[i + n]->topology == terms[i]->topology;)
            n++;
        filter_sums(terms + i, n, cy, from, to);
    }
}

static void filter(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    const struct filtering *state = cy->data[SCHED_INTER_POD_AFFINITY];
    const struct sched__affinity *d = state->own;
    for (size_t i = 0; i < d->affinity.n; i++)
        filter_wanted(&d->affinity.v[i], state->first, cy->verdict, from, to);
    for (size_t i = 0; i < d->anti.n; i++)
        filter_unwanted(d->anti.v[i].topology, d->anti.v[i].tally, cy, from, to,
                        SCHED__REASON_POD_ANTI_AFFINITY);
    filter_against(state, cy, from, to);
}

/* ---- explanation ---- */

static void add_domain(struct sched__findings *out, const struct sched__topology *topology) {
    uint32_t domain = topology->domain[out->slot];
    sched__finding_add(out, SCHED_OPERAND_SUBJECT, sched__text(intern_text(topology->key)));
    sched__finding_add_of_node(out, SCHED_OPERAND_DOMAIN_VALUE,
                               sched__value(intern_text(topology->values.v[domain - 1])));
}

/* A term that refuses a node. */
struct refusal {
    const struct sched__affinity_term *own;
    const struct sched__existing_term *against; /* of another pod; then there is no own one */
    bool anti;
    size_t place;
    const struct sched_pod *example; /* of anti-affinity: the first that is counted in the domain */
};

/* One of the pods that are counted in the node's domain: on the node itself, if there is one. */
static const struct sched_pod *find_example(const struct sched__cycle *cy, const struct refusal *r,
                                            uint32_t slot) {
    const struct sched__node *node = &cy->s->nodes.v[slot];
    const struct sched_pod *first = NULL;
    for (size_t i = 0; i < node->pods.n; i++) {
        const struct sched_pod *p = node->pods.v[i];
        if (r->own ? sched__podset_has(r->own->tally->set, p->cls)
                   : sched__existing_term_holds(r->against, p->cls, cy->cls))
            first = sched__pod_first(first, p);
    }
    return first ? first : r->example;
}

static void add_example(struct sched__findings *out, const struct refusal *r) {
    const struct sched_pod *p = find_example(out->cy, r, out->slot);
    if (!p)
        return;
    sched__finding_add_of_node(out, SCHED_OPERAND_POD, sched__text(p->key));
    sched__finding_add_of_node(out, SCHED_OPERAND_NODE, sched__node_name_of(out->cy, p->node));
}

static bool find_wanted(const struct filtering *state, uint32_t slot, struct refusal *out) {
    const struct sched__affinity_terms *terms = &state->own->affinity;
    for (size_t i = 0; i < terms->n; i++) {
        const struct sched__affinity_term *t = &terms->v[i];
        uint32_t domain = t->topology->domain[slot];
        if (domain && (state->first || t->tally->count[domain] > 0))
            continue;
        *out = (struct refusal){.own = t, .place = i};
        return true;
    }
    return false;
}

/* A pod in the domain of the node that one of the pod's own terms of anti-affinity counts, or that
 * has one of those against it. */
static const struct sched_pod *example_of(struct sched__cycle *cy, const struct refusal *r,
                                          size_t place, uint32_t slot) {
    struct filtering *state = cy->data[SCHED_INTER_POD_AFFINITY];
    size_t n = state->own->anti.n + state->against_count;
    if (!state->examples)
        state->examples = arena_array(cy->arena, const struct sched_pod **, n);
    if (!state->examples[place])
        state->examples[place] =
            r->own ? sched__tally_examples(cy->arena, r->own->tally)
                   : sched__existing_term_examples(cy->arena, r->against, cy->cls);
    const struct sched__tally *t = r->own ? r->own->tally : r->against->tally;
    return state->examples[place][t->by->where[slot]];
}

/* Of terms of other pods the one of the first pod counts, whichever was met first. */
static bool comes_before(const struct refusal *a, const struct refusal *b) {
    struct str x = intern_text(a->against->topology->key),
               y = intern_text(b->against->topology->key);
    int order = str_cmp(a->example->key, b->example->key);
    return order ? order < 0 : str_cmp(x, y) < 0;
}

static bool find_against_node(struct sched__cycle *cy, uint32_t slot, struct refusal *out) {
    const struct filtering *state = cy->data[SCHED_INTER_POD_AFFINITY];
    bool found = false;
    for (size_t i = 0; i < state->against_count; i++) {
        const struct sched__existing_term *t = state->against[i];
        if (t->base || t->tally->count[t->topology->domain[slot]] <= 0)
            continue;
        struct refusal r = {.against = t, .anti = true};
        r.example = example_of(cy, &r, state->own->anti.n + i, slot);
        if (!r.example) /* the pod is one of those that they exclude */
            continue;
        if (!found || comes_before(&r, out))
            *out = r;
        found = true;
    }
    return found;
}

static bool find_unwanted(struct sched__cycle *cy, uint32_t slot, struct refusal *out) {
    const struct filtering *state = cy->data[SCHED_INTER_POD_AFFINITY];
    const struct sched__affinity_terms *terms = &state->own->anti;
    for (size_t i = 0; i < terms->n; i++) {
        const struct sched__affinity_term *t = &terms->v[i];
        if (t->tally->count[t->topology->domain[slot]] <= 0)
            continue;
        *out = (struct refusal){.own = t, .anti = true, .place = i};
        out->example = example_of(cy, out, i, slot);
        return true;
    }
    return find_against_node(cy, slot, out);
}

static bool find_refusal(struct sched__cycle *cy, uint32_t slot, struct refusal *out) {
    const struct filtering *state = cy->data[SCHED_INTER_POD_AFFINITY];
    refresh(&state->own->affinity); /* another node may have been tried since */
    refresh(&state->own->anti);
    return find_wanted(state, slot, out) || find_unwanted(cy, slot, out);
}

static void explain_wanted(struct sched__findings *out, const struct refusal *r) {
    const struct sched__affinity *d = out->cy->cls->data[SCHED_INTER_POD_AFFINITY];
    struct sched_place place = sched__item(SCHED_FIELD_POD_AFFINITY, r->place);
    if (r->own->topology->domain[out->slot]) {
        sched__finding_start(
            out, d->affinity.n > 1 ? SCHED_FINDING_NO_POD_OF_ALL : SCHED_FINDING_NO_POD, place);
        add_domain(out, r->own->topology);
        return;
    }
    sched__finding_start(out, SCHED_FINDING_NO_LABEL, place);
    sched__finding_add(out, SCHED_OPERAND_SUBJECT, sched__text(r->own->label));
}

static void explain_unwanted(struct sched__findings *out, const struct refusal *r) {
    if (r->own)
        sched__finding_start(out, SCHED_FINDING_UNWANTED_POD,
                             sched__item(SCHED_FIELD_POD_ANTI_AFFINITY, r->place));
    else
        sched__finding_start(out, SCHED_FINDING_UNWANTED_BY_POD, sched__field(SCHED_FIELD_NONE));
    add_example(out, r);
    add_domain(out, r->own ? r->own->topology : r->against->topology);
}

static void explain(struct sched__cycle *cy, uint32_t slot, struct sched__findings *out) {
    struct refusal r;
    if (find_refusal(cy, slot, &r))
        (r.anti ? explain_unwanted : explain_wanted)(out, &r);
}

bool sched__affinity_violated(struct sched__cycle *cy, uint32_t slot,
                              struct sched__affinity_violation *out) {
    struct refusal r;
    if (!find_refusal(cy, slot, &r))
        return false;
    *out = (struct sched__affinity_violation){.own = r.own, .anti = r.anti, .place = r.place};
    if (!r.own || r.anti)
        out->rival = r.example;
    return true;
}

const struct sched__plugin sched__inter_pod_affinity = {
    .scope = SCHED__SCOPE_CLUSTER,
    .sees_placed = true,
    .compile = sched__affinity_compile,
    .discard = sched__affinity_discard,
    .pre_filter = pre_filter,
    .filter = filter,
    .pre_score = sched__affinity_pre_score,
    .score = sched__affinity_score,
    .normalize = sched__affinity_normalize,
    .explain = explain,
    .events = SCHED__ASSIGNED_POD_ADD | SCHED__ASSIGNED_POD_DELETE | SCHED__POD_LABEL |
              SCHED__NODE_ADD | SCHED__NODE_LABEL,
    .hint = sched__affinity_hint,
};
