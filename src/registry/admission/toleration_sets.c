/*
 * Tolerations that are given to a pod beside its own.
 *
 * Follows k8s.io/kubernetes pkg/util/tolerations, func MergeTolerations,
 * func VerifyAgainstWhitelist, func isSuperset.
 */
#include "registry/admission/admission_int.h"

static bool are_equal(const struct api_toleration *a, const struct api_toleration *b) {
    return valid_equal(API_T_toleration, a, b);
}

/* Does s tolerate all that t does? Of an expression, nobody knows. */
static bool is_superset(const struct api_toleration *s, const struct api_toleration *t) {
    bool all_keys = !s->key.n && str_is(s->operator, "Exists");
    if (are_equal(s, t))
        return true;
    if (s->expression.n || (!str_eq(t->key, s->key) && !all_keys))
        return false;
    if (s->effect.n && !str_eq(t->effect, s->effect))
        return false;
    if (str_is(s->effect, "NoExecute") && s->toleration_seconds.set &&
        (!t->toleration_seconds.set || t->toleration_seconds.v > s->toleration_seconds.v))
        return false;
    if (!s->operator.n || str_is(s->operator, "Equal"))
        return str_is(t->operator, "Equal") && str_eq(t->value, s->value);
    return str_is(s->operator, "Exists");
}

/* Is the i-th of all said by one that was kept, or by one behind it that says more? */
static bool is_redundant(const struct api_toleration_list *all, size_t i,
                         const struct api_toleration_list *kept) {
    for (size_t k = 0; k < kept->n; k++)
        if (is_superset(&kept->v[k], &all->v[i]))
            return true;
    for (size_t k = i + 1; k < all->n; k++)
        if (!are_equal(&all->v[i], &all->v[k]) && is_superset(&all->v[k], &all->v[i]))
            return true;
    return false;
}

void registry__tolerations_merge(struct arena *a, struct api_toleration_list *to,
                                 const struct api_toleration_list *more) {
    size_t n = to->n + more->n;
    struct api_toleration_list all = {arena_array(a, struct api_toleration, n), n};
    struct api_toleration_list kept = {arena_array(a, struct api_toleration, n), 0};
    for (size_t i = 0; i < to->n; i++)
        all.v[i] = to->v[i];
    for (size_t i = 0; i < more->n; i++)
        api_struct_copy(a, &api_types[API_T_toleration], &more->v[i], &all.v[to->n + i]);
    for (size_t i = 0; i < n; i++)
        if (!is_redundant(&all, i, &kept))
            kept.v[kept.n++] = all.v[i];
    *to = kept;
}

bool registry__tolerations_allowed(const struct api_toleration_list *list,
                                   const struct api_toleration_list *allowed) {
    for (size_t i = 0; i < list->n && allowed->n; i++) {
        size_t k = 0;
        while (k < allowed->n && !is_superset(&allowed->v[k], &list->v[i]))
            k++;
        if (k == allowed->n)
            return false;
    }
    return true;
}
