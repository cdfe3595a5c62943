/*
 * Reviews, token requests and bindings: kinds that are answered and never stored.
 *
 * Follows k8s.io/kubernetes pkg/apis/authorization/validation, func ValidateSubjectAccessReview,
 * func ValidateSelfSubjectAccessReview, func ValidateLocalSubjectAccessReview.
 * Follows k8s.io/kubernetes pkg/apis/authentication/validation, func ValidateTokenRequest.
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidatePodBinding.
 */
#include "valid/valid_int.h"

#define ONE_OF "exactly one of nonResourceAttributes or resourceAttributes must be specified"
#define GROUPS "admissionReviewAPIGroups"

/* ---- access reviews ---- */

/* What the three kinds have in common. */
struct review {
    const struct api_resource_attributes *resource;
    const struct api_non_resource_attributes *path;
    const struct api_subject_access_review_spec *spec; /* NULL: about whoever asks */
};

static struct review read_review(const struct api_object *o) {
    if (api_object_is(o, API_T_self_subject_access_review)) {
        const struct api_self_subject_access_review_spec *s =
            &((const struct api_self_subject_access_review *)o->body)->spec;
        return (struct review){s->resource_attributes, s->non_resource_attributes, NULL};
    }
    const struct api_subject_access_review_spec *s =
        api_object_is(o, API_T_subject_access_review)
            ? &((const struct api_subject_access_review *)o->body)->spec
            : &((const struct api_local_subject_access_review *)o->body)->spec;
    return (struct review){s->resource_attributes, s->non_resource_attributes, s};
}

/* How a selector is given: as a text, or as a list. */
static void check_forms(struct valid *v, const struct path *p, const char *path, struct str raw,
                        size_t requirements) {
    if (raw.n && requirements)
        valid__invalid(v, AT(p, "rawSelector"), VALUE_Q(raw),
                       "may not specified at the same time as requirements");
    if (!raw.n && !requirements)
        valid__required(v, AT(p, "requirements"),
                        "when %s is specified, requirements or rawSelector is required", path);
}

/* Operators that are not known are those of newer clients. */
static void check_values(struct valid *v, const struct path *p, struct str operator,
                         const struct api_strs * values) {
    bool needs = str_is(operator, "In") || str_is(operator, "NotIn");
    bool forbids = str_is(operator, "Exists") || str_is(operator, "DoesNotExist");
    if (needs && !values->n)
        valid__required(v, AT(p, "values"), "must be specified when `operator` is 'In' or 'NotIn'");
    if (forbids && values->n)
        valid__forbidden(v, AT(p, "values"),
                         "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
}

static void check_field_selector(struct valid *v, const struct path *p,
                                 const struct api_field_selector_attributes *s) {
    if (!s)
        return;
    check_forms(v, p, "spec.resourceAttributes.fieldSelector", s->raw_selector, s->requirements.n);
    for (size_t i = 0; i < s->requirements.n; i++) {
        const struct path *at = AT_INDEX(AT(p, "requirements"), i);
        if (!s->requirements.v[i].key.n)
            valid__required(v, AT(at, "key"), "must be specified");
        check_values(v, at, s->requirements.v[i].operator, & s->requirements.v[i].values);
    }
}

static void check_label_selector(struct valid *v, const struct path *p,
                                 const struct api_label_selector_attributes *s) {
    if (!s)
        return;
    check_forms(v, p, "spec.resourceAttributes.labelSelector", s->raw_selector, s->requirements.n);
    for (size_t i = 0; i < s->requirements.n; i++) {
        const struct api_label_selector_requirement *r = &s->requirements.v[i];
        const struct path *at = AT_INDEX(AT(p, "requirements"), i);
        check_values(v, at, r->operator, & r->values);
        valid__label_key(v, AT(at, "key"), r->key);
        for (size_t k = 0; k < r->values.n; k++) {
            struct names_errs errs = names_check_label_value(r->values.v[k]);
            valid__names(v, AT_INDEX(AT(at, "values"), k), r->values.v[k], &errs);
        }
    }
}

static void check_spec(struct valid *v, const struct review *r) {
    const struct path *spec = AT(NULL, "spec"), *resource = AT(NULL, "spec.resourceAttributes");
    struct value path = valid__struct_value(v->errs->a, API_T_non_resource_attributes, r->path);
    if (!r->resource == !r->path)
        valid__invalid(v, spec, path, ONE_OF);
    if (r->spec && !r->spec->user.n && !r->spec->groups.n)
        valid__invalid(v, AT(spec, "user"), VALUE_Q(r->spec->user),
                       "at least one of user or group must be specified");
    if (!r->resource)
        return;
    check_field_selector(v, AT(resource, "fieldSelector"), r->resource->field_selector);
    check_label_selector(v, AT(resource, "labelSelector"), r->resource->label_selector);
}

/* Reviews have no names: of metadata, only managed fields, and the namespace of a local one. */
static void check_meta(struct valid *v, const struct api_object *o, bool is_local) {
    struct api_object_meta rest = *o->meta;
    const struct api_object_meta none = {0};
    rest.managed_fields.n = 0;
    rest.managed_fields.v = NULL;
    if (is_local)
        rest.namespace = STR("");
    if (valid__equal(API_T_object_meta, &rest, &none))
        return;
    valid__invalid(v, AT(NULL, "metadata"),
                   valid__struct_value(v->errs->a, API_T_object_meta, o->meta), "%s",
                   is_local ? "must be empty except for namespace" : "must be empty");
}

static void check_local(struct valid *v, const struct api_object *o, const struct review *r) {
    if (r->resource && !str_eq(r->resource->namespace, o->meta->namespace))
        valid__invalid(v, AT(NULL, "spec.resourceAttributes.namespace"),
                       VALUE_Q(r->resource->namespace), "must match metadata.namespace");
    if (r->path)
        valid__invalid(v, AT(NULL, "spec.nonResourceAttributes"),
                       valid__struct_value(v->errs->a, API_T_non_resource_attributes, r->path),
                       "disallowed on this kind of request");
}

void valid_access_review(const struct api_object *o, struct valid_errs *out) {
    struct valid v = {.errs = out};
    struct review r = read_review(o);
    bool is_local = api_object_is(o, API_T_local_subject_access_review);
    check_spec(&v, &r);
    check_meta(&v, o, is_local);
    if (is_local)
        check_local(&v, o, &r);
    valid__note_left_out(out);
}

/* ---- token requests ---- */

static bool is_of_webhook(const struct api_bound_object_reference *ref) {
    return ref && str_is(ref->api_version, "admissionregistration.k8s.io/v1") &&
           (str_is(ref->kind, "ValidatingWebhookConfiguration") ||
            str_is(ref->kind, "MutatingWebhookConfiguration"));
}

static struct value attestations_value(struct arena *a, const struct api_str_lists *lists) {
    struct json map = {.kind = JSON_OBJECT};
    for (size_t i = 0; i < lists->n; i++)
        json_add(a, &map, lists->v[i].key, valid__strs_value(a, &lists->v[i].value).json);
    return VALUE_JSON(map);
}

static void check_api_group(struct valid *v, const struct path *p, struct str group) {
    if (!group.n) {
        valid__invalid(v, p, VALUE_Q(group), "may not be an empty string");
        return;
    }
    if (str_is(group, "*"))
        return;
    struct names_errs errs = names_check_dns1123_subdomain(group);
    for (size_t i = 0; i < errs.n; i++)
        valid__invalid(v, p, VALUE_Q(group), "must specify a valid API Group: %.*s",
                       STR_ARG(errs.v[i]));
}

static void check_attestations(struct valid *v, const struct path *p,
                               const struct api_str_lists *lists) {
    static const char *const known[] = {GROUPS, NULL};
    if (lists->n != 1) {
        valid__invalid(v, p, attestations_value(v->errs->a, lists),
                       "webhook bound requests require exactly one " GROUPS " attestation");
        return;
    }
    const struct api_str_list *one = &lists->v[0];
    const struct path *at = AT_KEY(p, one->key);
    if (!str_is(one->key, GROUPS))
        valid__not_supported(v, at, VALUE_Q(one->key), known);
    else if (one->value.n != 1)
        valid__invalid(v, at, valid__strs_value(v->errs->a, &one->value),
                       "must specify a single value");
    else
        check_api_group(v, AT_INDEX(at, 0), one->value.v[0]);
}

void valid_token_request(const struct api_token_request_spec *spec, struct valid_errs *out) {
    struct valid v = {.errs = out};
    const struct path *p = AT(NULL, "spec");
    int64_t seconds = spec->expiration_seconds.v;
    bool of_webhook = is_of_webhook(spec->bound_object_ref);
    if (!of_webhook && spec->attestations.n) {
        valid__invalid(&v, AT(p, "attestations"), attestations_value(out->a, &spec->attestations),
                       "attestations may only be specified with a webhook bound object reference");
        return; /* upstream forgets the rest */
    }
    if (seconds < 10 * 60)
        valid__invalid(&v, AT(p, "expirationSeconds"), VALUE_I64(seconds),
                       "may not specify a duration less than 10 minutes");
    if (seconds > INT64_C(1) << 32)
        valid__invalid(&v, AT(p, "expirationSeconds"), VALUE_I64(seconds),
                       "may not specify a duration larger than 2^32 seconds");
    if (!of_webhook)
        return;
    if (spec->audiences.n != 1)
        valid__invalid(&v, AT(p, "audiences"), valid__strs_value(out->a, &spec->audiences),
                       "must be length 1 when bound to a webhook config");
    check_attestations(&v, AT(p, "attestations"), &spec->attestations);
}

/* ---- bindings ---- */

void valid_pod_binding(const struct api_binding *binding, struct valid_errs *out) {
    static const char *const kinds[] = {"Node", "<empty>", NULL};
    struct valid v = {.errs = out};
    const struct path *target = AT(NULL, "target");
    bool is_node = !binding->target.kind.n || str_is(binding->target.kind, "Node");
    if (!is_node)
        valid__not_supported(&v, AT(target, "kind"), VALUE_Q(binding->target.kind), kinds);
    if (!binding->target.name.n)
        valid__required(&v, AT(target, "name"), NO_DETAIL);
    else if (is_node)
        valid__dns_subdomain(&v, AT(target, "name"), binding->target.name);
}
