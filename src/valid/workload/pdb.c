/*
 * Disruption budgets: how many pods must stay, or how many may go.
 *
 * Follows k8s.io/kubernetes pkg/apis/policy/validation, func ValidatePodDisruptionBudget,
 * func ValidatePodDisruptionBudgetSpec.
 */
#include "valid/kinds_int.h"
#include "valid/workload/workload_int.h"

static const struct api_pod_disruption_budget *budget_of(const struct api_object *o) {
    return o->body;
}

static void check_amount(struct valid *v, const struct path *p, const struct api_int_or_str *x) {
    if (!x)
        return;
    valid__int_or_percent(v, p, x);
    valid__not_above_100_percent(v, p, x);
}

static void check_policy(struct valid *v, const struct path *p, struct str policy) {
    static const char *const policies[] = {"AlwaysAllow", "IfHealthyBudget", NULL};
    if (policy.p && !valid__one_of(policy, policies))
        valid__not_supported(v, p, VALUE_NAMED(policy), policies);
}

static struct json spec_tree(struct arena *a, const struct api_pod_disruption_budget_spec *s) {
    return api_struct_encode_go(a, &api_types[API_T_pod_disruption_budget_spec], s);
}

static void check_spec(struct valid *v, const struct api_pod_disruption_budget_spec *s,
                       const struct selector_rules *rules) {
    const struct path *p = AT(NULL, "spec");
    if (s->min_available && s->max_unavailable)
        valid__invalid(v, p, VALUE_JSON(spec_tree(v->errs->a, s)),
                       "minAvailable and maxUnavailable cannot be both set");
    check_amount(v, AT(p, "minAvailable"), s->min_available);
    check_amount(v, AT(p, "maxUnavailable"), s->max_unavailable);
    valid__label_selector(v, AT(p, "selector"), s->selector, rules);
    check_policy(v, AT(p, "unhealthyPodEvictionPolicy"), s->unhealthy_pod_eviction_policy);
}

/* Upstream's rules for budgets do not mention metadata: it is looked at when the rest is good. */
static void create(struct valid *v, const struct api_object *o) {
    static const struct selector_rules strict;
    size_t before = valid__found(v);
    check_spec(v, &budget_of(o)->spec, &strict);
    if (valid__found(v) == before)
        valid__any_meta(v, AT(NULL, "metadata"), o->meta, true, valid__name_path_segment);
}

/* Was anything wrong with the old selector? Then the values of the new one are not looked at. */
static bool is_invalid(struct valid *v, const struct api_label_selector *s) {
    static const struct selector_rules strict;
    struct valid_errs errs = VALID_ERRS_INIT(v->errs->a);
    valid__label_selector(&(struct valid){.errs = &errs}, NULL, s, &strict);
    return errs.found > 0;
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    bool invalid = is_invalid(v, budget_of(old)->spec.selector);
    check_spec(v, &budget_of(o)->spec, &(struct selector_rules){.allow_invalid_values = invalid});
}

/* ---- preparing ---- */

/* A key that conversion to policy/v1beta1 uses for itself. */
static bool is_reserved(const struct api_label_selector_requirement *r) {
    return str_is(r->key, "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match");
}

/* Written as v1beta1's selector that matches nothing: the one selector that may have the key. */
static bool matches_none(const struct api_label_selector *s) {
    const struct api_label_selector_requirement_list *list = &s->match_expressions;
    return !s->match_labels.n && list->n == 1 && is_reserved(&list->v[0]) &&
           str_is(list->v[0].operator, "Exists") && !list->v[0].values.n;
}

static void strip_reserved(struct api_label_selector *s) {
    if (!s || matches_none(s))
        return;
    size_t kept = 0;
    for (size_t i = 0; i < s->match_expressions.n; i++)
        if (!is_reserved(&s->match_expressions.v[i]))
            s->match_expressions.v[kept++] = s->match_expressions.v[i];
    s->match_expressions.n = kept;
}

static void prepare_create(struct api_object *o, const struct valid_opts *opts) {
    (void)opts;
    struct api_pod_disruption_budget *b = api_own_body(o);
    strip_reserved(b->spec.selector);
}

static void prepare_update(struct api_object *o, const struct api_object *before,
                           const struct valid_opts *opts) {
    (void)opts;
    struct api_pod_disruption_budget *b = api_own_body(o);
    const struct api_pod_disruption_budget *old = budget_of(before);
    if (!valid__equal(API_T_label_selector, b->spec.selector, old->spec.selector))
        strip_reserved(b->spec.selector);
}

const struct valid_kind valid__pod_disruption_budget = {
    .type = API_T_pod_disruption_budget,
    .prepare_create = prepare_create,
    .create = create,
    .prepare_update = prepare_update,
    .update = update,
    .status = valid__budget_status,
};
