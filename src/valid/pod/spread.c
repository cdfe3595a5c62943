/*
 * Topology spread constraints.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func validateTopologySpreadConstraints,
 * func validateLabelKeys, func validateNodeInclusionPolicy.
 */
#include "base/limits.h"
#include "valid/pod/pod_int.h"

static const char *const actions[] = {"DoNotSchedule", "ScheduleAnyway", NULL};
static const char *const policies[] = {"Honor", "Ignore", NULL};

static struct str take(struct valid *v, struct buf *text) {
    struct str taken = arena_str(v->errs->a, buf_view(text));
    buf_release(text);
    return taken;
}

/* What must be unique, in a form in which different pairs have different texts. */
static struct str identity(struct valid *v, const struct api_topology_spread_constraint *c) {
    struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    buf_add_u64(&text, c->topology_key.n);
    buf_add_char(&text, ' ');
    buf_add(&text, c->topology_key);
    buf_add(&text, c->when_unsatisfiable);
    return take(v, &text);
}

static struct str pair_of(struct valid *v, const struct api_topology_spread_constraint *c) {
    struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    buf_add_char(&text, '{');
    buf_add(&text, c->topology_key);
    buf_add(&text, STR(", "));
    buf_add(&text, c->when_unsatisfiable);
    buf_add_char(&text, '}');
    return take(v, &text);
}

/* Says at the earlier one of two constraints that a later one is like it. `last` is empty when
 * there is only one. */
static void check_repeats(struct valid *v, const struct path *p,
                          const struct api_topology_spread_constraint *c, const struct seen *last) {
    if (last->n == 0 || seen_get(last, identity(v, c)) == c)
        return;
    valid__duplicate(v, AT(p, "{topologyKey, whenUnsatisfiable}"), VALUE_Q(pair_of(v, c)),
                     NO_DETAIL);
}

static void check_min_domains(struct valid *v, const struct path *p,
                              const struct api_topology_spread_constraint *c) {
    if (!c->min_domains.set)
        return;
    struct value value = VALUE_I64(c->min_domains.v);
    if (c->min_domains.v <= 0)
        valid__invalid(v, p, value, "must be greater than zero");
    if (str_is(c->when_unsatisfiable, "DoNotSchedule"))
        return;
    struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    buf_add(&text, STR("can only use minDomains if whenUnsatisfiable=DoNotSchedule, not "));
    buf_add(&text, c->when_unsatisfiable);
    valid__add(v, VALID_INVALID, p, &value, take(v, &text));
}

static void check_policy(struct valid *v, const struct path *p, struct str policy) {
    if (policy.p && !valid__one_of(policy, policies))
        valid__not_supported(v, p, VALUE_NAMED(policy), policies);
}

/* From before matchLabelKeys were merged into the selector: no key may stand in both. */
static void check_keys_legacy(struct valid *v, const struct path *p,
                              const struct api_topology_spread_constraint *c) {
    const struct api_label_selector *selector = c->label_selector;
    if (c->match_label_keys.n && !selector)
        valid__forbidden(v, p, "must not be specified when labelSelector is not set");
    struct seen selected;
    seen_init(&selected);
    for (size_t i = 0; selector && i < selector->match_labels.n; i++)
        seen_add(&selected, selector->match_labels.v[i].key);
    for (size_t i = 0; selector && i < selector->match_expressions.n; i++)
        seen_add(&selected, selector->match_expressions.v[i].key);
    for (size_t i = 0; i < c->match_label_keys.n; i++) {
        struct str key = c->match_label_keys.v[i];
        valid__label_key(v, AT_INDEX(p, i), key);
        if (seen_get(&selected, key))
            valid__invalid(v, AT_INDEX(p, i), VALUE_Q(key),
                           "exists in both matchLabelKeys and labelSelector");
    }
    seen_release(&selected);
}

static void check_keys(struct valid *v, const struct path *p,
                       const struct api_topology_spread_constraint *c, bool legacy) {
    static const struct api_strs none = {0};
    if (!c->match_label_keys.n)
        return;
    if (legacy)
        check_keys_legacy(v, AT(p, "matchLabelKeys"), c);
    else
        valid__label_keys(v, p, &c->match_label_keys, &none, c->label_selector);
}

static void check_constraint(struct valid *v, const struct path *p,
                             const struct api_topology_spread_constraint *c,
                             const struct seen *last, const struct pod_rules *rules) {
    if (c->max_skew <= 0)
        valid__invalid(v, AT(p, "maxSkew"), VALUE_I64(c->max_skew), "must be greater than zero");
    if (!c->topology_key.n)
        valid__required(v, AT(p, "topologyKey"), "can not be empty");
    if (!valid__one_of(c->when_unsatisfiable, actions))
        valid__not_supported(v, AT(p, "whenUnsatisfiable"), VALUE_NAMED(c->when_unsatisfiable),
                             actions);
    check_repeats(v, p, c, last);
    check_min_domains(v, AT(p, "minDomains"), c);
    check_policy(v, AT(p, "nodeAffinityPolicy"), c->node_affinity_policy);
    check_policy(v, AT(p, "nodeTaintsPolicy"), c->node_taints_policy);
    check_keys(v, p, c, rules->spread_keys_legacy);
    const struct selector_rules strict = {.allow_invalid_values = false};
    if (!rules->invalid_spread_selectors)
        valid__label_selector(v, AT(p, "labelSelector"), c->label_selector, &strict);
}

void valid__topology_spread(struct valid *v, const struct path *p,
                            const struct api_topology_spread_constraint_list *list,
                            const struct pod_rules *rules) {
    struct seen last;
    seen_init(&last);
    for (size_t i = list->n > 1 ? list->n : 0; i-- > 0;)
        seen_put(&last, identity(v, &list->v[i]), &list->v[i]);
    for (size_t i = 0; i < list->n; i++)
        check_constraint(v, AT_INDEX(p, i), &list->v[i], &last, rules);
    seen_release(&last);
}

/* ---- what an old pod has already ---- */

void valid__spread_keys(struct valid *v, const struct api_pod_spec *spec, bool legacy) {
    for (size_t i = 0; i < spec->topology_spread_constraints.n; i++)
        check_keys(v, NULL, &spec->topology_spread_constraints.v[i], legacy);
}

void valid__spread_selectors(struct valid *v, const struct api_pod_spec *spec) {
    const struct selector_rules strict = {.allow_invalid_values = false};
    for (size_t i = 0; i < spec->topology_spread_constraints.n; i++)
        valid__label_selector(v, NULL, spec->topology_spread_constraints.v[i].label_selector,
                              &strict);
}
