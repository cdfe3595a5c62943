/*
 * What NoExecute taints mean for a pod, and which changes of pods and nodes mean anything.
 *
 * Follows k8s.io/kubernetes pkg/controller/tainteviction, func getMinTolerationTime.
 */
#include "api/types.h"
#include "manager/taint_eviction_int.h"
#include "match/match.h"

struct manager__eviction_verdict manager__judge_eviction(struct match *m,
                                                         const struct api_toleration_list *pod,
                                                         const struct api_taint_list *node,
                                                         int64_t now) {
    struct match_fit fit = match_fit(m, match_tolerations_get(m, pod), match_taints_get(m, node));
    struct manager__eviction_verdict verdict = {MANAGER__STAYS, 0};
    if (fit.eviction == MATCH_EVICT_NOW)
        verdict.code = MANAGER__EVICTED;
    if (fit.eviction == MATCH_EVICT_AFTER) {
        verdict.code = MANAGER__EVICTED_AT;
        if (__builtin_add_overflow(now, fit.eviction_ns, &verdict.at))
            verdict.at = INT64_MAX;
    }
    return verdict;
}

static bool same_toleration(const struct api_toleration *a, const struct api_toleration *b) {
    return str_eq(a->key, b->key) && str_eq(a->operator, b->operator) &&
           str_eq(a->value, b->value) && str_eq(a->effect, b->effect) &&
           str_eq(a->expression, b->expression) &&
           a->toleration_seconds.set == b->toleration_seconds.set &&
           a->toleration_seconds.v == b->toleration_seconds.v;
}

bool manager__same_tolerations(const struct api_toleration_list *a,
                               const struct api_toleration_list *b) {
    if (a->n != b->n)
        return false;
    for (size_t i = 0; a->v != b->v && i < a->n; i++)
        if (!same_toleration(&a->v[i], &b->v[i]))
            return false;
    return true;
}

static const struct api_taint *next_execute(const struct api_taint_list *list, size_t *at) {
    while (*at < list->n && !str_is(list->v[*at].effect, "NoExecute"))
        (*at)++;
    return *at < list->n ? &list->v[(*at)++] : NULL;
}

bool manager__same_execute_taints(const struct api_taint_list *a, const struct api_taint_list *b) {
    size_t i = 0, j = 0;
    if (a->v == b->v && a->n == b->n)
        return true;
    for (;;) {
        const struct api_taint *x = next_execute(a, &i), *y = next_execute(b, &j);
        if (!x || !y)
            return x == y;
        if (!str_eq(x->key, y->key) || !str_eq(x->value, y->value) ||
            x->time_added.sec != y->time_added.sec)
            return false;
    }
}

bool manager__has_execute_taints(const struct api_taint_list *list) {
    size_t at = 0;
    return next_execute(list, &at) != NULL;
}
