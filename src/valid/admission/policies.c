/*
 * Policies of admission and their bindings. Their expressions in CEL must be there; they are not
 * compiled, since the variables of requests are not known here.
 *
 * Follows k8s.io/kubernetes pkg/apis/admissionregistration/validation,
 * func ValidateValidatingAdmissionPolicy, func ValidateValidatingAdmissionPolicyBinding,
 * func ValidateMutatingAdmissionPolicy, func ValidateMutatingAdmissionPolicyBinding.
 */
#include "base/ascii.h"
#include "base/utf8.h"
#include "valid/admission/webhook_int.h"
#include "valid/kinds_int.h"

enum { MOST_ANNOTATIONS = 20, MOST_VALUE_BYTES = 5 * 1024 };

static void check_joined(struct valid *v, const struct path *p, struct str value,
                         const struct names_errs *errs, const char *intro) {
    if (!errs->n)
        return;
    AUTO(buf_release) struct buf text = BUF_INIT(4096);
    names_errs_join(&text, errs, STR(","));
    valid__invalid(v, p, VALUE_Q(value), "%s%.*s", intro, STR_ARG(buf_view(&text)));
}

/* ---- parameters ---- */

static void check_version(struct valid *v, const struct path *p, struct str text) {
    struct str group = STR(""), version = text, rest;
    if (str_cut(text, '/', &group, &rest))
        version = rest;
    else
        group = STR("");
    if (str_find_char(version, '/') != STR_NONE) {
        valid__invalid(v, p, VALUE_Q(text), "unexpected GroupVersion string: %.*s", STR_ARG(text));
        return;
    }
    struct names_errs groups = names_check_dns1123_subdomain(group),
                      versions = names_check_dns1035_label(version);
    if (group.n)
        check_joined(v, p, group, &groups, "");
    if (!version.n)
        valid__invalid(v, p, VALUE_Q(text), "version must be specified");
    else
        check_joined(v, p, version, &versions, "");
}

static void check_param_kind(struct valid *v, const struct path *p,
                             const struct api_param_kind *k) {
    if (!k)
        return;
    struct names_errs errs = names_check_dns1035_label(valid__lower(v->errs->a, k->kind));
    if (!k->api_version.n)
        valid__required(v, AT(p, "apiVersion"), NO_DETAIL);
    else
        check_version(v, AT(p, "apiVersion"), k->api_version);
    if (!k->kind.n)
        valid__required(v, AT(p, "kind"), NO_DETAIL);
    else
        check_joined(v, AT(p, "kind"), k->kind, &errs,
                     "may have mixed case, but should otherwise match: ");
}

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

/* ---- what both kinds of policies have ---- */

static bool is_identifier(struct str name) {
    static const char *const reserved[] = {
        "true",      "false",  "null",     "in",   "as",     "break", "const", "continue",
        "else",      "for",    "function", "if",   "import", "let",   "loop",  "package",
        "namespace", "return", "var",      "void", "while",  NULL};
    bool good = name.n && !ascii_is_digit(name.p[0]);
    for (size_t i = 0; good && i < name.n; i++)
        good = ascii_is_alnum(name.p[i]) || name.p[i] == '_';
    return good && !valid__one_of(name, reserved);
}

static void check_variables(struct valid *v, const struct path *p,
                            const struct api_variable_list *list) {
    for (size_t i = 0; i < list->n; i++) {
        const struct path *at = AT_INDEX(p, i);
        if (valid__is_blank(list->v[i].name))
            valid__required(v, AT(at, "name"), "name is not specified");
        else if (!is_identifier(list->v[i].name))
            valid__invalid(v, AT(at, "name"), VALUE_Q(list->v[i].name),
                           "must be a valid CEL identifier");
        if (valid__is_blank(list->v[i].expression))
            valid__required(v, AT(at, "expression"), "expression is not specified");
    }
}

/* The failure policy, the parameters, and the requests. */
struct policy_head {
    struct str failure_policy;
    const struct api_param_kind *param_kind;
    const struct api_match_resources *constraints;
};

static void check_head(struct valid *v, const struct path *p, const struct policy_head *h) {
    const struct path *constraints = AT(p, "matchConstraints");
    if (!h->failure_policy.p)
        valid__required(v, AT(p, "failurePolicy"), NO_DETAIL);
    valid__optional_choice(v, AT(p, "failurePolicy"), h->failure_policy, valid__failure_policies);
    check_param_kind(v, AT(p, "paramKind"), h->param_kind);
    if (!h->constraints) {
        valid__required(v, constraints, NO_DETAIL);
        return;
    }
    valid__match_resources(v, constraints, h->constraints);
    if (!h->constraints->resource_rules.n)
        valid__required(v, AT(constraints, "resourceRules"), NO_DETAIL);
}

static bool is_same(enum api_type_id type, const void *a, const void *b) {
    return a && b ? valid__equal(type, a, b) : a == b;
}

/* ---- validating policies ---- */

static bool has_line_break(struct str s) {
    return str_find_char(s, '\n') != STR_NONE || str_find_char(s, '\r') != STR_NONE;
}

static void check_validation(struct valid *v, const struct path *p,
                             const struct api_validation *a) {
    static const char *const reasons[] = {"Forbidden", "Invalid", "RequestEntityTooLarge", NULL};
    static const char non_empty[] = "must be non-empty if specified";
    if (valid__is_blank(a->expression))
        valid__required(v, AT(p, "expression"), "expression is not specified");
    if (a->message_expression.n && valid__is_blank(a->message_expression))
        valid__invalid(v, AT(p, "messageExpression"), VALUE_Q(a->message_expression), non_empty);
    if (a->message.n && valid__is_blank(a->message))
        valid__invalid(v, AT(p, "message"), VALUE_Q(a->message), non_empty);
    else if (has_line_break(utf8_trim_space(a->message)))
        valid__invalid(v, AT(p, "message"), VALUE_Q(a->message), "must not contain line breaks");
    valid__optional_choice(v, AT(p, "reason"), a->reason, reasons);
}

static void check_annotation(struct valid *v, const struct path *p,
                             const struct api_audit_annotation *a, struct str policy) {
    struct str value = utf8_trim_space(a->value_expression);
    if (policy.n)
        valid__label_key(v, AT(p, "key"),
                         arena_printf(v->errs->a, "%.*s/%.*s", STR_ARG(policy), STR_ARG(a->key)));
    else
        valid__invalid(v, AT(p, "key"), VALUE_Q(a->key), "requires metadata.name be non-empty");
    if (!value.n)
        valid__required(v, AT(p, "valueExpression"), "valueExpression is not specified");
    else if (value.n > MOST_VALUE_BYTES)
        valid__required(v, AT(p, "valueExpression"), "must not exceed %d bytes in length",
                        MOST_VALUE_BYTES);
}

static void check_annotations(struct valid *v, const struct path *p,
                              const struct api_audit_annotation_list *list, struct str policy) {
    struct seen keys;
    seen_init(&keys);
    if (list->n > MOST_ANNOTATIONS)
        valid__invalid(v, p, valid__list_value(v->errs->a, API_T_audit_annotation, list),
                       "must not have more than %d auditAnnotations", MOST_ANNOTATIONS);
    for (size_t i = 0; i < list->n; i++) {
        check_annotation(v, AT_INDEX(p, i), &list->v[i], policy);
        if (!seen_add(&keys, list->v[i].key))
            valid__duplicate(v, AT(AT_INDEX(p, i), "key"), VALUE_Q(list->v[i].key), NO_DETAIL);
    }
    seen_release(&keys);
}

static void check_validating(struct valid *v, const struct api_object *o,
                             const struct api_object *before) {
    static const char some[] = "validations or auditAnnotations must contain at least one item";
    const struct path *p = AT(NULL, "spec");
    const struct api_validating_admission_policy *policy = o->body,
                                                 *old = before ? before->body : NULL;
    const struct api_validating_admission_policy_spec *s = &policy->spec;
    struct policy_head head = {s->failure_policy, s->param_kind, s->match_constraints};
    bool are_conditions_kept = old &&
                               is_same(API_T_param_kind, s->param_kind, old->spec.param_kind) &&
                               valid__equal_lists(API_T_match_condition, &s->match_conditions,
                                                  &old->spec.match_conditions);
    check_head(v, p, &head);
    if (!are_conditions_kept)
        valid__match_conditions(v, AT(p, "matchConditions"), &s->match_conditions);
    check_variables(v, AT(p, "variables"), &s->variables);
    if (!s->validations.n && !s->audit_annotations.n) {
        valid__required(v, AT(p, "validations"), some);
        valid__required(v, AT(p, "auditAnnotations"), some);
    }
    for (size_t i = 0; i < s->validations.n; i++)
        check_validation(v, AT_INDEX(AT(p, "validations"), i), &s->validations.v[i]);
    check_annotations(v, AT(p, "auditAnnotations"), &s->audit_annotations, policy->metadata.name);
}

static void create_validating(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_validating(v, o, NULL);
}

static void update_validating(struct valid *v, const struct api_object *o,
                              const struct api_object *old) {
    valid__metadata_update(v, o, old);
    check_validating(v, o, old);
}

static void status_validating(struct valid *v, const struct api_object *o,
                              const struct api_object *old) {
    const struct api_validating_admission_policy_status *s =
        &((const struct api_validating_admission_policy *)o->body)->status;
    const struct path *p = AT(NULL, "status");
    const struct path *warnings = AT(AT(p, "typeChecking"), "expressionWarnings");
    (void)old;
    for (size_t i = 0; s->type_checking && i < s->type_checking->expression_warnings.n; i++) {
        const struct api_expression_warning *w = &s->type_checking->expression_warnings.v[i];
        if (!w->warning.n)
            valid__required(v, AT(AT_INDEX(warnings, i), "warning"), NO_DETAIL);
        if (valid__is_blank(w->field_ref))
            valid__required(v, AT(AT_INDEX(warnings, i), "fieldRef"), NO_DETAIL);
    }
    valid__conditions(v, AT(p, "conditions"), &s->conditions);
}

/* ---- mutating policies ---- */

static void check_mutation(struct valid *v, const struct path *p, const struct api_mutation *m) {
    static const char *const types[] = {"ApplyConfiguration", "JSONPatch", NULL};
    bool is_patch = str_is(m->patch_type, "JSONPatch"),
         is_apply = str_is(m->patch_type, "ApplyConfiguration");
    const struct path *patch = AT(p, "jsonPatch"), *apply = AT(p, "applyConfiguration");
    if (!is_patch && !is_apply)
        valid__choice(v, AT(p, "patchType"), m->patch_type, types);
    if (is_patch && !m->json_patch)
        valid__required(v, patch, "must be specified when patchType is JSONPatch");
    if (is_patch && m->json_patch && valid__is_blank(m->json_patch->expression))
        valid__required(v, AT(patch, "expression"), NO_DETAIL);
    if (is_patch && m->apply_configuration)
        valid__invalid(v, apply, VALUE_Q(STR("{applyConfiguration}")),
                       "must not be specified when patchType is JSONPatch");
    if (is_apply && !m->apply_configuration)
        valid__required(v, apply, "must be specified when patchType is ApplyConfiguration");
    if (is_apply && m->apply_configuration && valid__is_blank(m->apply_configuration->expression))
        valid__required(v, AT(apply, "expression"), NO_DETAIL);
    if (is_apply && m->json_patch)
        valid__invalid(v, patch, VALUE_Q(STR("{jsonPatch}")),
                       "must not be specified when patchType is ApplyConfiguration");
}

static void check_mutating(struct valid *v, const struct api_object *o,
                           const struct api_object *before) {
    const struct path *p = AT(NULL, "spec");
    const struct api_mutating_admission_policy *policy = o->body,
                                               *old = before ? before->body : NULL;
    const struct api_mutating_admission_policy_spec *s = &policy->spec;
    struct policy_head head = {s->failure_policy, s->param_kind, s->match_constraints};
    bool are_conditions_kept = old &&
                               is_same(API_T_param_kind, s->param_kind, old->spec.param_kind) &&
                               valid__equal_lists(API_T_match_condition, &s->match_conditions,
                                                  &old->spec.match_conditions);
    check_head(v, p, &head);
    if (s->match_constraints)
        valid__mutating_operations(v, AT(AT(p, "matchConstraints"), "resourceRules"),
                                   &s->match_constraints->resource_rules);
    if (!are_conditions_kept)
        valid__match_conditions(v, AT(p, "matchConditions"), &s->match_conditions);
    check_variables(v, AT(p, "variables"), &s->variables);
    if (!s->mutations.n)
        valid__required(v, AT(p, "mutations"), "mutations must contain at least one item");
    for (size_t i = 0; i < s->mutations.n; i++)
        check_mutation(v, AT_INDEX(AT(p, "mutations"), i), &s->mutations.v[i]);
    valid__choice(v, AT(p, "reinvocationPolicy"), s->reinvocation_policy,
                  valid__reinvocation_policies);
}

static void create_mutating(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_mutating(v, o, NULL);
}

static void update_mutating(struct valid *v, const struct api_object *o,
                            const struct api_object *old) {
    valid__metadata_update(v, o, old);
    check_mutating(v, o, old);
}

/* ---- bindings ---- */

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
}

static void update_mutating_binding(struct valid *v, const struct api_object *o,
                                    const struct api_object *old) {
    valid__metadata_update(v, o, old);
    check_mutating_binding(v, o);
}

const struct valid_kind valid__validating_admission_policy = {.type =
                                                                  API_T_validating_admission_policy,
                                                              .create = create_validating,
                                                              .update = update_validating,
                                                              .status = status_validating};
const struct valid_kind valid__mutating_admission_policy = {
    .type = API_T_mutating_admission_policy, .create = create_mutating, .update = update_mutating};
const struct valid_kind valid__validating_admission_policy_binding = {
    .type = API_T_validating_admission_policy_binding,
    .create = create_binding,
    .update = update_binding,
    .declared = declared_binding};
const struct valid_kind valid__mutating_admission_policy_binding = {
    .type = API_T_mutating_admission_policy_binding,
    .create = create_mutating_binding,
    .update = update_mutating_binding};
