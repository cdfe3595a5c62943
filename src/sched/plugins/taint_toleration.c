/*
 * TaintToleration: NoSchedule and NoExecute taints keep pods away that do not tolerate them,
 * PreferNoSchedule ones count against the node. All operators and expressions are in match.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/tainttoleration,
 * func (*TaintToleration) Filter, func (*TaintToleration) Score.
 */
#include "sched/findings_int.h"

/* Nodes with the same taints often stand side by side: the last answer is worth a look. */
struct last_fit {
    const struct match_taints *taints;
    struct match_fit fit;
};

static const struct match_fit *fit_of(struct sched__cycle *cy, uint32_t slot,
                                      struct last_fit *last) {
    const struct match_taints *taints = cy->s->nodes.taints[slot];
    if (taints != last->taints) {
        last->taints = taints;
        last->fit = match_fit(cy->s->match, cy->cls->tolerations, taints);
    }
    return &last->fit;
}

static void filter(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    struct last_fit last = {0};
    for (uint32_t i = from; i < to; i++)
        if (!cy->verdict[i] && fit_of(cy, i, &last)->untolerated != MATCH_NONE)
            cy->verdict[i] = SCHED__REASON_TAINT;
}

static void score(struct sched__cycle *cy, int64_t *scores, uint32_t from, uint32_t to) {
    struct last_fit last = {0};
    for (uint32_t i = from; i < to; i++)
        if (!cy->verdict[i])
            scores[i] = fit_of(cy, i, &last)->intolerable;
}

/* Which tolerations came closest to a taint: those whose key is right, or else none. */
static bool explain_taint(const struct sched__cycle *cy, const struct match_taints *taints,
                          uint32_t taint, struct sched__findings *out) {
    const struct match_tolerations *tolerations = cy->cls->tolerations;
    size_t before = out->n;
    for (uint32_t i = 0; i < tolerations->n; i++) {
        struct match_verdict v = {.toleration = i, .taint = taint};
        v.code = match_toleration_check(&tolerations->v[i], &taints->v[taint]);
        if (v.code != MATCH_KEY_DIFFERS && v.code != MATCH_EFFECT_DIFFERS &&
            !sched__finding_taint(out, taints, &v))
            return false;
    }
    struct match_verdict none = {.code = MATCH_KEY_DIFFERS, .toleration = MATCH_NONE};
    none.taint = taint;
    return out->n > before || sched__finding_taint(out, taints, &none);
}

static void explain_effects(struct sched__cycle *cy, uint32_t slot, unsigned effects,
                            struct sched__findings *out) {
    const struct match_taints *taints = cy->s->nodes.taints[slot];
    const struct match_tolerations *tolerations = cy->cls->tolerations;
    for (uint32_t i = 0; i < taints->n; i++)
        if (taints->v[i].mark.effect & effects &&
            match_find_toleration(tolerations, &taints->v[i]) == MATCH_NONE &&
            !explain_taint(cy, taints, i, out))
            return;
}

static void explain(struct sched__cycle *cy, uint32_t slot, struct sched__findings *out) {
    explain_effects(cy, slot, MATCH_NO_SCHEDULE | MATCH_NO_EXECUTE, out);
}

static void explain_score(struct sched__cycle *cy, uint32_t slot, struct sched__findings *out) {
    explain_effects(cy, slot, MATCH_PREFER_NO_SCHEDULE, out);
}

static bool tolerates(struct sched *s, const struct sched_pod *pod, const struct api_object *node) {
    const struct api_node *body = node->body;
    const struct match_taints *taints = match_taints_get(s->match, &body->spec.taints);
    return match_fit(s->match, pod->cls->tolerations, taints).untolerated == MATCH_NONE;
}

static bool hint(struct sched *s, struct sched_pod *pod, const struct sched__event *event) {
    if (event->bits & SCHED__POD_TOLERATION)
        return true;
    if (!event->after || !tolerates(s, pod, event->after))
        return false;
    return !event->before || !tolerates(s, pod, event->before);
}

const struct sched__plugin sched__taint_toleration = {
    .filter = filter,
    .score = score,
    .scale = SCHED__SCALE_DOWN,
    .explain = explain,
    .explain_score = explain_score,
    .events = SCHED__NODE_ADD | SCHED__NODE_TAINT | SCHED__POD_TOLERATION,
    .hint = hint,
};
