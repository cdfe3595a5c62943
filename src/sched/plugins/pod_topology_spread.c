/*
 * PodTopologySpread: pods that a selector matches are spread over domains of nodes. A node is
 * refused if, with the pod there, its domain had more than maxSkew pods above the least domain.
 */
#include "sched/explain_int.h"
#include "sched/plugins/pod_topology_spread_int.h"

/* ---- filter ---- */

/* What the filter compares with, by rule: more pods than this are too many. */
struct filtering {
    const struct sched__spread *spread;
    int64_t *most;
};

/* With fewer domains than wanted the least count is that of those which are missing. */
static int32_t least_count(const struct sched__spread_rule *rule) {
    const struct sched__tally *t = rule->tally;
    if ((int64_t)t->by->domains.n < rule->min_domains || !t->by->domains.n)
        return 0;
    return t->count[sched__tally_least(t)];
}

static void pre_filter(struct sched__cycle *cy) {
    const struct sched__spread *d = sched__spread_refresh(cy->s, cy->cls);
    if (d->hard.error.p) {
        cy->error = arena_printf(cy->arena,
                                 "running PreFilter plugin \"PodTopologySpread\": get constraints "
                                 "from pod: obtaining pod's hard topology spread constraints: %.*s",
                                 STR_ARG(d->hard.error));
        return;
    }
    if (!d->hard.n)
        return;
    struct filtering *state = arena_new(cy->arena, struct filtering);
    state->spread = d;
    state->most = arena_array(cy->arena, int64_t, d->hard.n);
    for (size_t i = 0; i < d->hard.n; i++) {
        const struct sched__spread_rule *rule = &d->hard.v[i];
        state->most[i] = (int64_t)rule->max_skew - rule->self + least_count(rule);
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

static void write_skew(const struct sched__cycle *cy, struct buf *out,
                       const struct sched__spread_rule *rule, uint32_t domain) {
    const struct sched__tally *t = rule->tally;
    int32_t least = least_count(rule);
    buf_add(out, sched__shown(cy, intern_text(rule->topology->values.v[domain - 1])));
    buf_addf(out, ": %d matching + %d itself - %d least", t->count[domain], rule->self, least);
    if ((int64_t)t->by->domains.n < rule->min_domains)
        buf_addf(out, " (%zu domains < minDomains %d)", t->by->domains.n, rule->min_domains);
    else {
        const struct atom *value = rule->topology->values.v[sched__tally_least(t) - 1];
        buf_addf(out, " (%.*s)", STR_ARG(sched__shown(cy, intern_text(value))));
    }
    buf_addf(out, " = %d > maxSkew %d", t->count[domain] + rule->self - least, rule->max_skew);
}

/* The first rule that the node violates; NULL: none. */
static const struct sched__spread_rule *find_violated(const struct sched__spread *d,
                                                      uint32_t slot) {
    for (size_t i = 0; i < d->hard.n; i++) {
        const struct sched__spread_rule *rule = &d->hard.v[i];
        uint32_t domain = rule->topology->domain[slot];
        int64_t most = (int64_t)rule->max_skew - rule->self + least_count(rule);
        if (!domain || rule->tally->count[domain] > most)
            return rule;
    }
    return NULL;
}

static void explain(struct sched__cycle *cy, uint32_t slot, struct buf *out) {
    const struct sched__spread *d = cy->cls->data[SCHED_SPREAD];
    const struct sched__spread_rule *rule = find_violated(d, slot);
    if (!rule)
        return;
    uint32_t domain = rule->topology->domain[slot];
    buf_addf(out, "%s[%zu]: ", d->own ? "topologySpreadConstraints" : "defaultConstraints",
             rule->place);
    if (domain) {
        buf_addf(out, "%.*s=", STR_ARG(rule->label));
        write_skew(cy, out, rule, domain);
    } else {
        buf_addf(out, "the node has no label %.*s", STR_ARG(rule->label));
    }
}

bool sched__spread_violated(struct sched__cycle *cy, uint32_t slot,
                            struct sched__spread_violation *out) {
    const struct sched__spread *d = cy->cls->data[SCHED_SPREAD];
    const struct sched__spread_rule *rule = find_violated(d, slot);
    if (!rule)
        return false;
    uint32_t domain = rule->topology->domain[slot], least = sched__tally_least(rule->tally);
    *out = (struct sched__spread_violation){.own = d->own,
                                            .place = rule->place,
                                            .label = rule->label,
                                            .has_label = domain,
                                            .max_skew = rule->max_skew};
    if (least)
        out->least = intern_text(rule->topology->values.v[least - 1]);
    if (domain)
        out->skew = rule->tally->count[domain] + rule->self - least_count(rule);
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
