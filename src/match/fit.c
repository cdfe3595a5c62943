/*
 * All tolerations of a pod against all taints of a node.
 *
 * Follows k8s.io/component-helpers scheduling/corev1, func FindMatchingUntoleratedTaint,
 * func TolerationsTolerateTaint.
 */
#include "match/match_int.h"

uint32_t match_find_toleration(const struct match_tolerations *tolerations,
                               const struct match_taint *taint) {
    if (tolerations->index)
        return match__index_find(tolerations->index, tolerations, taint);
    for (uint32_t i = 0; i < tolerations->n; i++)
        if (match_tolerates(&tolerations->v[i], taint))
            return i;
    return MATCH_NONE;
}

uint32_t match_find_untolerated(const struct match_tolerations *tolerations,
                                const struct match_taints *taints, unsigned effects) {
    for (uint32_t i = 0; taints->effects & effects && i < taints->n; i++)
        if (taints->v[i].mark.effect & effects &&
            match_find_toleration(tolerations, &taints->v[i]) == MATCH_NONE)
            return i;
    return MATCH_NONE;
}

/* ---- eviction ---- */

/* What the tolerations in use allow, as upstream gathers it. */
struct patience {
    bool none;       /* one of them allows no time at all */
    int64_t seconds; /* the least; INT64_MAX is the same as unset */
};

static void note_toleration(struct patience *p, const struct match_toleration *t) {
    if (!t->has_seconds)
        return;
    if (t->seconds <= 0)
        p->none = true;
    else if (t->seconds < p->seconds)
        p->seconds = t->seconds;
}

static void decide_eviction(const struct patience *p, struct match_fit *fit) {
    fit->eviction = MATCH_EVICT_NEVER;
    if (fit->untolerated_execute != MATCH_NONE) {
        fit->eviction = MATCH_EVICT_NOW;
    } else if (p->none) {
        fit->eviction = MATCH_EVICT_AFTER;
    } else if (p->seconds != INT64_MAX) {
        int64_t ns = (int64_t)((uint64_t)p->seconds * UINT64_C(1000000000));
        if (ns < 0)
            return;
        fit->eviction = MATCH_EVICT_AFTER;
        fit->eviction_ns = ns;
    }
}

/* ---- outcome ---- */

static void note_untolerated(struct match_fit *fit, uint32_t taint, uint32_t effect) {
    if (effect == MATCH_PREFER_NO_SCHEDULE) {
        fit->intolerable++;
        return;
    }
    if (fit->untolerated == MATCH_NONE)
        fit->untolerated = taint;
    if (effect == MATCH_NO_EXECUTE && fit->untolerated_execute == MATCH_NONE)
        fit->untolerated_execute = taint;
}

static bool is_about(const struct match_toleration *t, const struct match_taint *taint) {
    return t->expression || ((!t->effect || t->effect == taint->effect) &&
                             (!t->key || t->key == taint->key) && taint->mark.ways >> t->way & 1);
}

/* The kinds of tolerations that are about the taint, which none of them matches. */
static unsigned failed_kinds(const struct match_tolerations *tolerations,
                             const struct match_taint *taint) {
    unsigned kinds = 0;
    for (uint32_t i = 0; kinds != tolerations->kinds && i < tolerations->n; i++)
        if (is_about(&tolerations->v[i], taint))
            kinds |= match__toleration_kind(&tolerations->v[i]);
    return kinds;
}

struct match_fit match_fit_compute(const struct match_tolerations *tolerations,
                                   const struct match_taints *taints) {
    struct match_fit fit = {.untolerated = MATCH_NONE, .untolerated_execute = MATCH_NONE};
    struct patience patience = {.seconds = INT64_MAX};
    for (uint32_t i = 0; taints->effects && i < taints->n; i++) {
        uint32_t effect = taints->v[i].mark.effect;
        if (!effect)
            continue;
        uint32_t found = match_find_toleration(tolerations, &taints->v[i]);
        if (found == MATCH_NONE) {
            note_untolerated(&fit, i, effect);
            continue;
        }
        fit.used |= match__toleration_kind(&tolerations->v[found]) & UINT8_MAX;
        if (effect == MATCH_NO_EXECUTE)
            note_toleration(&patience, &tolerations->v[found]);
    }
    decide_eviction(&patience, &fit);
    if (fit.untolerated != MATCH_NONE)
        fit.failed = failed_kinds(tolerations, &taints->v[fit.untolerated]) & UINT8_MAX;
    return fit;
}

struct match_fit match_fit(struct match *m, const struct match_tolerations *tolerations,
                           const struct match_taints *taints) {
    const struct match_fit *known =
        match__memo_find(&m->memo, tolerations->list.id, taints->list.id);
    if (known) {
        m->found++;
        return *known;
    }
    struct match_fit fit = match_fit_compute(tolerations, taints);
    if (m->log.log && fit.untolerated != MATCH_NONE)
        match__log_taint(m, tolerations, &taints->v[fit.untolerated]);
    match__memo_put(&m->memo, tolerations->list.id, taints->list.id, &fit);
    m->computed++;
    return fit;
}
