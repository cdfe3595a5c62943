/*
 * Which requests webhooks and policies are asked about.
 *
 * Follows k8s.io/kubernetes pkg/apis/admissionregistration/validation,
 * func validateRuleWithOperations, func validateMatchResources, func validateMatchConditions,
 * func ValidateStaticSuffix.
 */
#include "base/utf8.h"
#include "valid/admission/webhook_int.h"

enum { MOST_CONDITIONS = 64 };

const char *const valid__failure_policies[] = {"Fail", "Ignore", NULL};
const char *const valid__match_policies[] = {"Equivalent", "Exact", NULL};
const char *const valid__reinvocation_policies[] = {"IfNeeded", "Never", NULL};

void valid__optional_choice(struct valid *v, const struct path *p, struct str text,
                            const char *const *supported) {
    if (text.p && !valid__one_of(text, supported))
        valid__not_supported(v, p, VALUE_NAMED(text), supported);
}

bool valid__is_blank(struct str text) {
    return !utf8_trim_space(text).n;
}

/* ---- rules ---- */

static bool has_star(const struct api_strs *list) {
    for (size_t i = 0; i < list->n; i++)
        if (str_is(list->v[i], "*"))
            return true;
    return false;
}

/* There are some, and nothing stands beside a star. */
static void check_list(struct valid *v, const struct path *p, const struct api_strs *list,
                       const char *what) {
    if (!list->n)
        valid__required(v, p, NO_DETAIL);
    if (list->n > 1 && has_star(list))
        valid__invalid(v, p, valid__strs_value(v->errs->a, list),
                       "if '*' is present, must not specify other %s", what);
}

/* What was seen among resources: those of which all subresources are meant, and subresources of
 * all resources. */
struct stars {
    struct seen resources, subresources;
    bool all, any, plain; /* both stars, one star, and the last without a subresource is no star */
};

static void check_resource(struct valid *v, const struct path *p, struct str text,
                           struct stars *stars) {
    struct str resource, sub;
    if (!text.n) {
        valid__required(v, p, NO_DETAIL);
        return;
    }
    stars->all |= str_is(text, "*/*");
    stars->any |= str_is(text, "*");
    if (!str_cut(text, '/', &resource, &sub)) {
        stars->plain = !str_is(text, "*");
        return;
    }
    if (seen_get(&stars->resources, resource))
        valid__invalid(v, p, VALUE_Q(text), "if '%.*s/*' is present, must not specify %.*s",
                       STR_ARG(resource), STR_ARG(text));
    if (seen_get(&stars->subresources, sub))
        valid__invalid(v, p, VALUE_Q(text), "if '*/%.*s' is present, must not specify %.*s",
                       STR_ARG(sub), STR_ARG(text));
    if (str_is(sub, "*"))
        seen_add(&stars->resources, resource);
    if (str_is(resource, "*"))
        seen_add(&stars->subresources, sub);
}

static void check_resources(struct valid *v, const struct path *p, const struct api_strs *list) {
    struct stars stars = {0};
    seen_init(&stars.resources);
    seen_init(&stars.subresources);
    if (!list->n)
        valid__required(v, p, NO_DETAIL);
    for (size_t i = 0; i < list->n; i++)
        check_resource(v, AT_INDEX(p, i), list->v[i], &stars);
    if (list->n > 1 && stars.all)
        valid__invalid(v, p, valid__strs_value(v->errs->a, list),
                       "if '*/*' is present, must not specify other resources");
    if (stars.any && stars.plain)
        valid__invalid(v, p, valid__strs_value(v->errs->a, list),
                       "if '*' is present, must not specify other resources without subresources");
    seen_release(&stars.resources);
    seen_release(&stars.subresources);
}

void valid__rule_with_operations(struct valid *v, const struct path *p,
                                 const struct api_rule_with_operations *r) {
    static const char *const operations[] = {"*", "CONNECT", "CREATE", "DELETE", "UPDATE", NULL};
    static const char *const scopes[] = {"*", "Cluster", "Namespaced", NULL};
    const struct path *versions = AT(p, "apiVersions");
    check_list(v, AT(p, "operations"), &r->operations, "operations");
    for (size_t i = 0; i < r->operations.n; i++)
        valid__optional_choice(v, AT_INDEX(AT(p, "operations"), i), r->operations.v[i], operations);
    check_list(v, AT(p, "apiGroups"), &r->rule.api_groups, "API groups");
    check_list(v, versions, &r->rule.api_versions, "API versions");
    for (size_t i = 0; i < r->rule.api_versions.n; i++)
        if (!r->rule.api_versions.v[i].n)
            valid__required(v, AT_INDEX(versions, i), NO_DETAIL);
    check_resources(v, AT(p, "resources"), &r->rule.resources);
    valid__optional_choice(v, AT(p, "scope"), r->rule.scope, scopes);
}

static void check_names(struct valid *v, const struct path *p, const struct api_strs *names) {
    struct seen seen;
    seen_init(&seen);
    for (size_t i = 0; i < names->n; i++) {
        struct names_errs errs = valid__name_path_segment(names->v[i], false);
        valid__names(v, AT_INDEX(p, i), names->v[i], &errs);
        if (!seen_add(&seen, names->v[i]))
            valid__duplicate(v, AT_INDEX(p, i), VALUE_Q(names->v[i]), NO_DETAIL);
    }
    seen_release(&seen);
}

static void check_named_rules(struct valid *v, const struct path *p,
                              const struct api_named_rule_with_operations_list *list) {
    for (size_t i = 0; i < list->n; i++) {
        check_names(v, AT(AT_INDEX(p, i), "resourceNames"), &list->v[i].resource_names);
        valid__rule_with_operations(v, AT_INDEX(p, i), &list->v[i].rule_with_operations);
    }
}

static void need_selector(struct valid *v, const struct path *p,
                          const struct api_label_selector *s) {
    if (s)
        valid__label_selector(v, p, s, &(struct selector_rules){0});
    else
        valid__required(v, p, NO_DETAIL);
}

void valid__match_resources(struct valid *v, const struct path *p,
                            const struct api_match_resources *m) {
    if (!m)
        return;
    if (!m->match_policy.p)
        valid__required(v, AT(p, "matchPolicy"), NO_DETAIL);
    valid__optional_choice(v, AT(p, "matchPolicy"), m->match_policy, valid__match_policies);
    need_selector(v, AT(p, "namespaceSelector"), m->namespace_selector);
    need_selector(v, AT(p, "objectSelector"), m->object_selector);
    check_named_rules(v, AT(p, "resourceRules"), &m->resource_rules);
    check_named_rules(v, AT(p, "excludeResourceRules"), &m->exclude_resource_rules);
}

void valid__mutating_operations(struct valid *v, const struct path *p,
                                const struct api_named_rule_with_operations_list *rules) {
    static const char *const operations[] = {"*", "CONNECT", "CREATE", "UPDATE", NULL};
    for (size_t i = 0; i < rules->n; i++) {
        const struct api_strs *list = &rules->v[i].rule_with_operations.operations;
        for (size_t k = 0; k < list->n; k++)
            valid__optional_choice(v, AT(p, "operations"), list->v[k], operations);
    }
}

/* ---- conditions ---- */

void valid__stored_init(struct stored_expressions *stored) {
    for (size_t i = 0; i < VALID_CEL_PLACES; i++)
        seen_init(&stored->of[i]);
}

void valid__stored_release(struct stored_expressions *stored) {
    for (size_t i = 0; i < VALID_CEL_PLACES; i++)
        seen_release(&stored->of[i]);
}

void valid__store_conditions(struct stored_expressions *stored,
                             const struct api_match_condition_list *list) {
    for (size_t i = 0; i < list->n; i++)
        seen_add(&stored->of[VALID_CEL_MATCH_CONDITION], list->v[i].expression);
}

void valid__match_conditions(struct valid *v, const struct path *p,
                             const struct api_match_condition_list *list, bool has_params,
                             const struct stored_expressions *stored) {
    const struct seen *known = &stored->of[VALID_CEL_MATCH_CONDITION];
    struct seen names;
    seen_init(&names);
    if (list->n > MOST_CONDITIONS)
        valid__too_many(v, p, list->n, MOST_CONDITIONS);
    for (size_t i = 0; i < list->n; i++) {
        const struct path *at = AT_INDEX(p, i);
        struct str name = list->v[i].name;
        struct str expression = utf8_trim_space(list->v[i].expression);
        struct valid_cel_ask ask = {.place = VALID_CEL_MATCH_CONDITION,
                                    .expression = expression,
                                    .is_stored = seen_get(known, expression),
                                    .has_params = has_params};
        if (expression.n)
            valid__expression(v, AT(at, "expression"), expression, &ask);
        else
            valid__required(v, AT(at, "expression"), NO_DETAIL);
        if (!name.n)
            valid__required(v, AT(at, "name"), NO_DETAIL);
        else
            valid__label_key(v, AT(at, "name"), name);
        if (name.n && !seen_add(&names, name))
            valid__duplicate(v, AT(at, "name"), VALUE_Q(name), NO_DETAIL);
    }
    seen_release(&names);
}

/* ---- names ---- */

void valid__static_suffix(struct valid *v, const struct api_object *o) {
    struct str name = o->meta->name;
    if (feature_enabled(v->gates, FEATURE_ManifestBasedAdmissionControlConfig) &&
        str_ends(name, STR(".static.k8s.io")))
        valid__invalid(v, AT(AT(NULL, "metadata"), "name"), VALUE_Q(name),
                       "names ending with \".static.k8s.io\" are reserved for static "
                       "manifest-based configurations and cannot be managed via the API");
}
