/*
 * Affinity: which nodes (node selectors, also those of volumes), and which pods beside which.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func validateAffinity,
 * func ValidateNodeSelectorTerm, func validatePodAffinityTerm.
 */
#include "valid/pod/pod_int.h"

/* ---- node selectors ---- */

/* How many values an operator takes. */
enum arity { SOME, NONE, ONE, VERSION };

static const struct operator_rule {
    const char *name;
    enum arity arity;
} operators[] = {
    {"In", SOME}, {"NotIn", SOME},       {"Exists", NONE},      {"DoesNotExist", NONE}, {"Gt", ONE},
    {"Lt", ONE},  {"SemverLt", VERSION}, {"SemverGt", VERSION}, {"SemverEq", VERSION},
};

/* NULL: there is no such operator, or its gate is off. */
static const struct operator_rule *find_operator(struct str name, const struct pod_rules *rules) {
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (str_is(name, operators[i].name))
            return operators[i].arity != VERSION || rules->semver_operators ? &operators[i] : NULL;
    return NULL;
}

static void check_versions(struct valid *v, const struct path *p, const struct api_strs *values) {
    if (values->n == 1)
        valid__version(v, AT_INDEX(p, 0), values->v[0]);
    else
        valid__required(v, p,
                        "must be specified single value when `operator` is 'SemverLt', 'SemverGt' "
                        "or 'SemverEq'");
}

static void check_count(struct valid *v, const struct path *p, const struct api_strs *values,
                        enum arity arity) {
    if (arity == SOME && values->n == 0)
        valid__required(v, p, "must be specified when `operator` is 'In' or 'NotIn'");
    if (arity == NONE && values->n > 0)
        valid__forbidden(v, p,
                         "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    if (arity == ONE && values->n != 1)
        valid__required(v, p, "must be specified single value when `operator` is 'Lt' or 'Gt'");
    if (arity == VERSION)
        check_versions(v, p, values);
}

static void bad_operator(struct valid *v, const struct path *p, struct str operator) {
    valid__invalid(v, AT(p, "operator"), VALUE_NAMED(operator), "not a valid selector operator");
}

static void check_expression(struct valid *v, const struct path *p,
                             const struct api_node_selector_requirement *r,
                             const struct pod_rules *rules) {
    const struct operator_rule *operator= find_operator(r->operator, rules);
    if (operator)
        check_count(v, AT(p, "values"), &r->values, operator->arity);
    else
        bad_operator(v, p, r->operator);
    valid__label_key(v, AT(p, "key"), r->key);
    for (size_t i = 0; i < r->values.n && !rules->invalid_label_values; i++) {
        struct names_errs errs = names_check_label_value(r->values.v[i]);
        valid__names(v, AT_INDEX(AT(p, "values"), i), r->values.v[i], &errs);
    }
}

static void check_field(struct valid *v, const struct path *p,
                        const struct api_node_selector_requirement *r) {
    if (!str_is(r->operator, "In") && !str_is(r->operator, "NotIn"))
        bad_operator(v, p, r->operator);
    else if (r->values.n != 1)
        valid__required(v, AT(p, "values"),
                        "must be only one value when `operator` is 'In' or 'NotIn' for node field "
                        "selector");
    if (!str_is(r->key, "metadata.name")) {
        valid__invalid(v, AT(p, "key"), VALUE_Q(r->key), "not a valid field selector key");
        return;
    }
    for (size_t i = 0; i < r->values.n; i++)
        valid__dns_subdomain(v, AT_INDEX(AT(p, "values"), i), r->values.v[i]);
}

static void check_node_term(struct valid *v, const struct path *p,
                            const struct api_node_selector_term *term,
                            const struct pod_rules *rules) {
    for (size_t i = 0; i < term->match_expressions.n; i++)
        check_expression(v, AT_INDEX(AT(p, "matchExpressions"), i), &term->match_expressions.v[i],
                         rules);
    for (size_t i = 0; i < term->match_fields.n; i++)
        check_field(v, AT_INDEX(AT(p, "matchFields"), i), &term->match_fields.v[i]);
}

void valid__node_selector(struct valid *v, const struct path *p, const struct api_node_selector *s,
                          const struct pod_rules *rules) {
    const struct path *terms = AT(p, "nodeSelectorTerms");
    if (!s->node_selector_terms.n)
        valid__required(v, terms, "must have at least one node selector term");
    for (size_t i = 0; i < s->node_selector_terms.n; i++)
        check_node_term(v, AT_INDEX(terms, i), &s->node_selector_terms.v[i], rules);
}

/* ---- node affinity ---- */

static void check_weight(struct valid *v, const struct path *p, int32_t weight) {
    if (weight < 1 || weight > 100)
        valid__invalid(v, AT(p, "weight"), VALUE_I64(weight), "must be in the range 1-100");
}

static void check_node_affinity(struct valid *v, const struct path *p,
                                const struct api_node_affinity *a, const struct pod_rules *rules) {
    if (a->required)
        valid__node_selector(v, AT(p, "requiredDuringSchedulingIgnoredDuringExecution"),
                             a->required, rules);
    struct pod_rules preferred = *rules;
    preferred.invalid_label_values = true;
    const struct path *terms = AT(p, "preferredDuringSchedulingIgnoredDuringExecution");
    for (size_t i = 0; i < a->preferred.n; i++) {
        const struct api_preferred_scheduling_term *term = &a->preferred.v[i];
        check_weight(v, AT_INDEX(terms, i), term->weight);
        check_node_term(v, AT(AT_INDEX(terms, i), "preference"), &term->preference, &preferred);
    }
}

/* ---- matchLabelKeys and mismatchLabelKeys ---- */

static void check_keys(struct valid *v, const struct path *p, const struct api_strs *keys,
                       const struct api_label_selector *selector) {
    if (keys->n && !selector) {
        valid__forbidden(v, p, "must not be specified when labelSelector is not set");
        return;
    }
    for (size_t i = 0; i < keys->n; i++)
        valid__label_key(v, AT_INDEX(p, i), keys->v[i]);
}

/* The merge adds an expression for each key, so a key that was in the selector before stands there
 * twice. The path has the index of the key in the list, at the wrong place, as upstream has it. */
static void check_keys_not_in_selector(struct valid *v, const struct path *p,
                                       const struct api_strs *keys,
                                       const struct api_label_selector *selector) {
    struct seen last, selected;
    seen_init(&last);
    seen_init(&selected);
    for (size_t i = keys->n; i-- > 0;)
        seen_put(&last, keys->v[i], &keys->v[i]);
    for (size_t i = 0; i < selector->match_labels.n; i++)
        seen_add(&selected, selector->match_labels.v[i].key);
    for (size_t i = 0; i < selector->match_expressions.n; i++) {
        struct str key = selector->match_expressions.v[i].key;
        const struct str *in_list = seen_get(&last, key);
        if (!seen_add(&selected, key) && in_list)
            valid__invalid(v, AT_INDEX(p, (size_t)(in_list - keys->v)), VALUE_Q(key),
                           "exists in both matchLabelKeys and labelSelector");
    }
    seen_release(&last);
    seen_release(&selected);
}

static void check_keys_disjoint(struct valid *v, const struct path *p, const struct api_strs *match,
                                const struct api_strs *mismatch) {
    struct seen mismatched;
    seen_init(&mismatched);
    for (size_t i = 0; i < mismatch->n; i++)
        seen_add(&mismatched, mismatch->v[i]);
    for (size_t i = 0; i < match->n; i++)
        if (seen_get(&mismatched, match->v[i]))
            valid__invalid(v, AT_INDEX(AT(p, "matchLabelKeys"), i), VALUE_Q(match->v[i]),
                           "exists in both matchLabelKeys and mismatchLabelKeys");
    seen_release(&mismatched);
}

void valid__label_keys(struct valid *v, const struct path *p, const struct api_strs *match,
                       const struct api_strs *mismatch, const struct api_label_selector *selector) {
    check_keys(v, AT(p, "matchLabelKeys"), match, selector);
    check_keys(v, AT(p, "mismatchLabelKeys"), mismatch, selector);
    if (!match->n)
        return;
    if (selector)
        check_keys_not_in_selector(v, p, match, selector);
    if (mismatch->n)
        check_keys_disjoint(v, p, match, mismatch);
}

/* ---- pod affinity ---- */

static void check_selectors(struct valid *v, const struct path *p,
                            const struct api_pod_affinity_term *term, bool invalid_values) {
    const struct selector_rules rules = {.allow_invalid_values = invalid_values};
    valid__label_selector(v, AT(p, "labelSelector"), term->label_selector, &rules);
    valid__label_selector(v, AT(p, "namespaceSelector"), term->namespace_selector, &rules);
}

static void check_pod_term(struct valid *v, const struct path *p,
                           const struct api_pod_affinity_term *term,
                           const struct pod_rules *rules) {
    check_selectors(v, p, term, rules->invalid_selectors);
    for (size_t i = 0; i < term->namespaces.n; i++)
        valid__dns_label(v, AT(p, "namespace"), term->namespaces.v[i]);
    valid__label_keys(v, p, &term->match_label_keys, &term->mismatch_label_keys,
                      term->label_selector);
    if (!term->topology_key.n)
        valid__required(v, AT(p, "topologyKey"), "can not be empty");
    valid__label_key(v, AT(p, "topologyKey"), term->topology_key);
}

/* Affinity and anti-affinity have the same two lists. */
struct pod_terms {
    const struct api_pod_affinity_term_list *required;
    const struct api_weighted_pod_affinity_term_list *preferred;
};

static void check_pod_terms(struct valid *v, const struct path *p, struct pod_terms terms,
                            const struct pod_rules *rules) {
    const struct path *required = AT(p, "requiredDuringSchedulingIgnoredDuringExecution");
    const struct path *preferred = AT(p, "preferredDuringSchedulingIgnoredDuringExecution");
    for (size_t i = 0; i < terms.required->n; i++)
        check_pod_term(v, AT_INDEX(required, i), &terms.required->v[i], rules);
    for (size_t i = 0; i < terms.preferred->n; i++) {
        const struct api_weighted_pod_affinity_term *term = &terms.preferred->v[i];
        check_weight(v, AT_INDEX(preferred, i), term->weight);
        check_pod_term(v, AT(AT_INDEX(preferred, i), "podAffinityTerm"), &term->pod_affinity_term,
                       rules);
    }
}

void valid__affinity(struct valid *v, const struct path *p, const struct api_affinity *a,
                     const struct pod_rules *rules) {
    if (!a)
        return;
    if (a->node_affinity)
        check_node_affinity(v, AT(p, "nodeAffinity"), a->node_affinity, rules);
    if (a->pod_affinity) {
        struct pod_terms terms = {&a->pod_affinity->required, &a->pod_affinity->preferred};
        check_pod_terms(v, AT(p, "podAffinity"), terms, rules);
    }
    if (a->pod_anti_affinity) {
        struct pod_terms terms = {&a->pod_anti_affinity->required,
                                  &a->pod_anti_affinity->preferred};
        check_pod_terms(v, AT(p, "podAntiAffinity"), terms, rules);
    }
}

/* ---- what an old object has already ---- */

static bool term_uses_semver(const struct api_node_selector_term *term) {
    for (size_t i = 0; i < term->match_expressions.n; i++)
        if (valid__is_semver(term->match_expressions.v[i].operator))
            return true;
    return false;
}

bool valid__uses_semver(const struct api_node_selector *s) {
    for (size_t i = 0; s && i < s->node_selector_terms.n; i++)
        if (term_uses_semver(&s->node_selector_terms.v[i]))
            return true;
    return false;
}

bool valid__affinity_uses_semver(const struct api_affinity *a) {
    if (!a || !a->node_affinity)
        return false;
    for (size_t i = 0; i < a->node_affinity->preferred.n; i++)
        if (term_uses_semver(&a->node_affinity->preferred.v[i].preference))
            return true;
    return valid__uses_semver(a->node_affinity->required);
}

static bool has_invalid_value(const struct api_strs *values) {
    for (size_t i = 0; i < values->n; i++)
        if (names_check_label_value(values->v[i]).n)
            return true;
    return false;
}

bool valid__has_invalid_values(const struct api_node_selector *s) {
    for (size_t i = 0; s && i < s->node_selector_terms.n; i++) {
        const struct api_node_selector_term *term = &s->node_selector_terms.v[i];
        for (size_t j = 0; j < term->match_expressions.n; j++)
            if (has_invalid_value(&term->match_expressions.v[j].values))
                return true;
    }
    return false;
}

static void check_term_selectors(struct valid *v, struct pod_terms terms) {
    for (size_t i = 0; i < terms.required->n; i++)
        check_selectors(v, NULL, &terms.required->v[i], false);
    for (size_t i = 0; i < terms.preferred->n; i++)
        check_selectors(v, NULL, &terms.preferred->v[i].pod_affinity_term, false);
}

void valid__affinity_selectors(struct valid *v, const struct api_affinity *a) {
    if (a && a->pod_affinity)
        check_term_selectors(
            v, (struct pod_terms){&a->pod_affinity->required, &a->pod_affinity->preferred});
    if (a && a->pod_anti_affinity)
        check_term_selectors(v, (struct pod_terms){&a->pod_anti_affinity->required,
                                                   &a->pod_anti_affinity->preferred});
}
