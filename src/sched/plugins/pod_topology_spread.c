/*
 * PodTopologySpread: pods that a selector matches are spread over domains of nodes. A node is
 * refused if, with the pod there, its domain had more than maxSkew pods above the least domain.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/podtopologyspread,
 * func (*PodTopologySpread) PreFilter, func (*PodTopologySpread) Filter.
 */
#include "sched/explain/explain_int.h"
#include "sched/plugins/pod_topology_spread_int.h"

/* ---- filter ---- */

/* What the filter compares with, by rule: more pods than this are too many. */
struct filtering {
    const struct sched__spread *spread;
    int64_t *most;
    uint32_t *least; /* a domain with the fewest pods; 0: there are no domains */
    uint32_t *named; /* for texts: the first by name of these; 0: not looked for yet */
};

/* With fewer domains than wanted the least count is that of those which are missing. */
static int32_t least_count(const struct sched__spread_rule *rule, uint32_t least) {
    const struct sched__tally *t = rule->tally;
    return (int64_t)t->by->domains.n < rule->min_domains ? 0 : t->count[least];
}

static void pre_filter(struct sched__cycle *cy) {
    const struct sched__spread *d = sched__spread_refresh(cy->s, cy->cls);
    if (d->hard.error.p) {
        sched__prefilter_fail(
            cy, SCHED_SPREAD,
            arena_printf(cy->arena,
                         "get constraints from pod: obtaining pod's hard topology spread "
                         "constraints: %.*s",
                         STR_ARG(d->hard.error)));
        return;
    }
    if (!d->hard.n)
        return;
    struct filtering *state = arena_new(cy->arena, struct filtering);
    state->spread = d;
    state->most = arena_array(cy->arena, int64_t, d->hard.n);
    state->least = arena_array(cy->arena, uint32_t, d->hard.n);
    state->named = arena_array(cy->arena, uint32_t, d->hard.n);
    for (size_t i = 0; i < d->hard.n; i++) {
        const struct sched__spread_rule *rule = &d->hard.v[i];
        sched__tally_refresh(rule->tally);
        state->least[i] = sched__tally_least(rule->tally);
        state->most[i] = (int64_t)rule->max_skew - rule->self + least_count(rule, state->least[i]);
    }
    cy->data[SCHED_SPREAD] = state;
}

static void filter_rule(const struct sched__spread_rule *rule, int64_t most, uint8_t *verdict,
                        uint32_t from, uint32_t to) {
    const uint32_t *domain = rule->topology->domain;
    const int32_t *count = rule->tally->count;
    for (uint32_t i = from; i < to; i++) {
        if (verdict[i])
            continue;
        if (!domain[i])
            verdict[i] = SCHED__REASON_SPREAD_LABEL;
        else if (count[domain[i]] > most)
            verdict[i] = SCHED__REASON_SPREAD;
    }
}

static void filter(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    const struct filtering *state = cy->data[SCHED_SPREAD];
    for (size_t i = 0; i < state->spread->hard.n; i++)
        filter_rule(&state->spread->hard.v[i], state->most[i], cy->verdict, from, to);
}

/* ---- explanation ---- */

/* The domain that texts name as the one with the fewest pods. */
static uint32_t named_least(const struct filtering *state, size_t i) {
    const struct sched__spread_rule *rule = &state->spread->hard.v[i];
    const struct sched__partition *by = rule->tally->by;
    uint32_t least = state->named[i] ? state->named[i] : state->least[i];
    for (size_t k = 0; !state->named[i] && k < by->domains.n; k++) {
        uint32_t other = by->domains.v[k];
        if (rule->tally->count[other] == rule->tally->count[least] &&
            str_cmp(intern_text(rule->topology->values.v[other - 1]),
                    intern_text(rule->topology->values.v[least - 1])) < 0)
            least = other;
    }
    state->named[i] = least;
    return least;
}

/* The place of the first rule that the node violates, among those of the filter; their number:
 * none.
 */
static size_t find_violated(const struct filtering *state, uint32_t slot) {
    const struct sched__spread_rules *rules = &state->spread->hard;
    size_t i = 0;
    while (i < rules->n) {
        uint32_t domain = rules->v[i].topology->domain[slot];
        sched__tally_refresh(rules->v[i].tally); /* another node may have been tried since */
        if (!domain || rules->v[i].tally->count[domain] > state->most[i])
            break;
        i++;
    }
    return i;
}

/* Which finding a skew is depends on where the least count comes from. */
static enum sched_finding_code skew_code(const struct sched__spread_rule *rule, uint32_t least) {
    if ((int64_t)rule->tally->by->domains.n < rule->min_domains)
        return SCHED_FINDING_SKEW_FEW;
    return least ? SCHED_FINDING_SKEW_LEAST : SCHED_FINDING_SKEW;
}

static void add_least(struct sched__findings *out, const struct sched__spread_rule *rule,
                      enum sched_finding_code code, uint32_t least) {
    if (code == SCHED_FINDING_SKEW_LEAST) {
        sched__finding_add(out, SCHED_OPERAND_LEAST_DOMAIN,
                           sched__value(intern_text(rule->topology->values.v[least - 1])));
    } else if (code == SCHED_FINDING_SKEW_FEW) {
        sched__finding_add(out, SCHED_OPERAND_DOMAINS,
                           sched__number((int64_t)rule->tally->by->domains.n));
        sched__finding_add(out, SCHED_OPERAND_MIN_DOMAINS, sched__number(rule->min_domains));
    }
}

static void explain_skew(struct sched__findings *out, struct sched_place place,
                         const struct sched__spread_rule *rule, uint32_t domain, uint32_t least) {
    int32_t fewest = least_count(rule, least), there = rule->tally->count[domain];
    enum sched_finding_code code = skew_code(rule, least);
    sched__finding_start(out, code, place);
    sched__finding_add(out, SCHED_OPERAND_SUBJECT, sched__text(rule->label));
    sched__finding_add_of_node(out, SCHED_OPERAND_LEFT,
                               sched__number((int64_t)there + rule->self - fewest));
    sched__finding_add(out, SCHED_OPERAND_RIGHT, sched__number(rule->max_skew));
    sched__finding_add_of_node(out, SCHED_OPERAND_DOMAIN_VALUE,
                               sched__value(intern_text(rule->topology->values.v[domain - 1])));
    sched__finding_add_of_node(out, SCHED_OPERAND_MATCHING, sched__number(there));
    sched__finding_add(out, SCHED_OPERAND_ITSELF, sched__number(rule->self));
    sched__finding_add(out, SCHED_OPERAND_LEAST, sched__number(fewest));
    add_least(out, rule, code, least);
}

static void explain(struct sched__cycle *cy, uint32_t slot, struct sched__findings *out) {
    const struct filtering *state = cy->data[SCHED_SPREAD];
    size_t i = find_violated(state, slot);
    if (i == state->spread->hard.n)
        return;
    const struct sched__spread_rule *rule = &state->spread->hard.v[i];
    uint32_t domain = rule->topology->domain[slot];
    struct sched_place place = sched__item(
        state->spread->own ? SCHED_FIELD_SPREAD : SCHED_FIELD_DEFAULT_SPREAD, rule->place);
    if (domain) {
        explain_skew(out, place, rule, domain, named_least(state, i));
        return;
    }
    sched__finding_start(out, SCHED_FINDING_NO_LABEL, place);
    sched__finding_add(out, SCHED_OPERAND_SUBJECT, sched__text(rule->label));
}

bool sched__spread_violated(struct sched__cycle *cy, uint32_t slot,
                            struct sched__spread_violation *out) {
    const struct filtering *state = cy->data[SCHED_SPREAD];
    size_t i = find_violated(state, slot);
    if (i == state->spread->hard.n)
        return false;
    const struct sched__spread_rule *rule = &state->spread->hard.v[i];
    uint32_t domain = rule->topology->domain[slot];
    *out = (struct sched__spread_violation){.own = state->spread->own,
                                            .place = rule->place,
                                            .label = rule->label,
                                            .has_label = domain,
                                            .max_skew = rule->max_skew};
    if (domain)
        out->skew = rule->tally->count[domain] + rule->self - least_count(rule, state->least[i]);
    return true;
}

const struct sched__plugin sched__pod_topology_spread = {
    .scope = SCHED__SCOPE_CLUSTER,
    .compile = sched__spread_compile,
    .discard = sched__spread_discard,
    .pre_filter = pre_filter,
    .filter = filter,
    .pre_score = sched__spread_pre_score,
    .score = sched__spread_score,
    .normalize = sched__spread_normalize,
    .explain = explain,
    .events = SCHED__ASSIGNED_POD_ADD | SCHED__ASSIGNED_POD_DELETE | SCHED__POD_LABEL |
              SCHED__POD_TOLERATION | SCHED__NODE_ADD | SCHED__NODE_DELETE | SCHED__NODE_LABEL |
              SCHED__NODE_TAINT,
    .hint = sched__spread_hint,
};
