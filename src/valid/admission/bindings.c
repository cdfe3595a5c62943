/*
 * The bindings of policies of admission: with which parameters, for which requests.
 *
 * Follows k8s.io/kubernetes pkg/apis/admissionregistration/validation,
 * func ValidateValidatingAdmissionPolicyBinding, func ValidateMutatingAdmissionPolicyBinding.
 */
#include "valid/admission/webhook_int.h"
#include "valid/kinds_int.h"

static void check_param_ref(struct valid *v, const struct path *p, const struct api_param_ref *r) {
    static const char *const actions[] = {"Deny", "Allow", NULL};
    static const char both[] = "name and selector are mutually exclusive";
    if (!r)
        return;
    struct names_errs errs = valid__name_path_segment(r->name, false);
    if (r->name.n)
        valid__names(v, AT(p, "name"), r->name, &errs);
    if (r->name.n && r->selector)
        valid__forbidden(v, AT(p, "name"), both);
    valid__label_selector(v, AT(p, "selector"), r->selector, &(struct selector_rules){0});
    if (r->name.n && r->selector)
        valid__forbidden(v, AT(p, "selector"), both);
    if (!r->name.n && !r->selector)
        valid__required(v, p, "one of name or selector must be specified");
    valid__choice(v, AT(p, "parameterNotFoundAction"), r->parameter_not_found_action, actions);
}

static void check_policy_name(struct valid *v, const struct path *p, struct str name) {
    if (name.n)
        valid__dns_subdomain(v, p, name);
    else
        valid__required(v, p, NO_DETAIL);
}

static void check_actions(struct valid *v, const struct path *p, const struct api_strs *list) {
    static const char *const actions[] = {"Audit", "Deny", "Warn", NULL};
    struct seen seen;
    seen_init(&seen);
    for (size_t i = 0; i < list->n; i++) {
        valid__optional_choice(v, AT_INDEX(p, i), list->v[i], actions);
        if (!seen_add(&seen, list->v[i]))
            valid__duplicate(v, AT_INDEX(p, i), VALUE_NAMED(list->v[i]), NO_DETAIL);
    }
    if (seen_get(&seen, STR("Deny")) && seen_get(&seen, STR("Warn")))
        valid__invalid(v, p, valid__strs_value(v->errs->a, list),
                       "must not contain both Deny and Warn (repeating the same validation "
                       "failure information in the API response and headers serves no purpose)");
    seen_release(&seen);
    valid__cover(v, "");
    if (!list->n)
        valid__required(v, p, "at least one validation action is required");
    valid__uncover(v);
}

static void check_binding(struct valid *v, const struct api_object *o) {
    const struct api_validating_admission_policy_binding_spec *s =
        &((const struct api_validating_admission_policy_binding *)o->body)->spec;
    const struct path *p = AT(NULL, "spec");
    if (!s->policy_name.n)
        valid__cover(v, "");
    check_policy_name(v, AT(p, "policyName"), s->policy_name);
    valid__uncover(v);
    check_param_ref(v, AT(p, "paramRef"), s->param_ref);
    valid__match_resources(v, AT(p, "matchResources"), s->match_resources);
    check_actions(v, AT(p, "validationActions"), &s->validation_actions);
}

static void create_binding(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_binding(v, o);
    valid__static_suffix(v, o);
}

static void update_binding(struct valid *v, const struct api_object *o,
                           const struct api_object *old) {
    valid__metadata_update(v, o, old);
    check_binding(v, o);
}

static void declared_binding(struct valid *v, const struct api_object *o,
                             const struct api_object *before) {
    const struct api_validating_admission_policy_binding *b = o->body,
                                                         *old = before ? before->body : NULL;
    const struct path *p = AT(NULL, "spec");
    if (!b->spec.policy_name.n && !(old && !old->spec.policy_name.n))
        valid__say_required(v, AT(p, "policyName"));
    if (!b->spec.validation_actions.n && !(old && !old->spec.validation_actions.n))
        valid__say_required(v, AT(p, "validationActions"));
}

static void check_mutating_binding(struct valid *v, const struct api_object *o) {
    const struct api_mutating_admission_policy_binding_spec *s =
        &((const struct api_mutating_admission_policy_binding *)o->body)->spec;
    const struct path *p = AT(NULL, "spec");
    check_policy_name(v, AT(p, "policyName"), s->policy_name);
    check_param_ref(v, AT(p, "paramRef"), s->param_ref);
    valid__match_resources(v, AT(p, "matchResources"), s->match_resources);
    if (s->match_resources)
        valid__mutating_operations(v, AT(AT(p, "matchResources"), "resourceRules"),
                                   &s->match_resources->resource_rules);
}

static void create_mutating_binding(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_mutating_binding(v, o);
    valid__static_suffix(v, o);
}

static void update_mutating_binding(struct valid *v, const struct api_object *o,
                                    const struct api_object *old) {
    valid__metadata_update(v, o, old);
    check_mutating_binding(v, o);
}

const struct valid_kind valid__validating_admission_policy_binding = {
    .type = API_T_validating_admission_policy_binding,
    .create = create_binding,
    .update = update_binding,
    .declared = declared_binding};
const struct valid_kind valid__mutating_admission_policy_binding = {
    .type = API_T_mutating_admission_policy_binding,
    .create = create_mutating_binding,
    .update = update_mutating_binding};
