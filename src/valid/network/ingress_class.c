/*
 * Classes of ingresses: which controller looks after them.
 *
 * Follows k8s.io/kubernetes pkg/apis/networking/validation, func ValidateIngressClass,
 * func ValidateIngressClassUpdate, func validateIngressClassParametersReference.
 * Follows k8s.io/kubernetes pkg/apis/networking/v1, func Validate_IngressClass.
 * Follows k8s.io/apimachinery pkg/util/validation, func IsDomainPrefixedPath.
 */
#include <string.h>

#include "base/ascii.h"
#include "valid/kinds_int.h"
#include "valid/network/network_int.h"

enum { MAX_CONTROLLER = 250 };

typedef const struct api_ingress_class_parameters_reference parameters;

static const struct api_ingress_class_spec *spec_of(const struct api_object *o) {
    return &((const struct api_ingress_class *)o->body)->spec;
}

/* ---- the controller ---- */

static bool is_http_path(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_alnum(s.p[i]) && (!s.p[i] || !strchr("/-._~%!$&'()*+,;=:", s.p[i])))
            return false;
    return s.n > 0;
}

static void check_controller(struct valid *v, const struct path *p, struct str text) {
    struct str host, path;
    if (text.n > MAX_CONTROLLER)
        valid__too_long(v, p, MAX_CONTROLLER);
    if (!text.n) {
        valid__required(v, p, NO_DETAIL);
        return;
    }
    str_cut(text, '/', &host, &path);
    if (!host.n || !path.n) {
        valid__invalid(v, p, VALUE_Q(text),
                       "must be a domain-prefixed path (such as \"acme.io/foo\")");
        return;
    }
    valid__dns_subdomain(v, p, host);
    if (!is_http_path(path))
        valid__invalid(v, p, VALUE_Q(path),
                       "Invalid path (regex used for validation is "
                       "'[A-Za-z0-9/\\-._~%%!$&'()*+,;=:]+')");
}

/* ---- parameters ---- */

/* A name that must be there, which is a declared rule as well. */
static void check_name(struct valid *v, const struct path *p, struct str name, bool is_declared) {
    if (name.n)
        valid__segment(v, p, name);
    else if (!valid__covers(v, is_declared))
        valid__required(v, p, NO_DETAIL);
}

static void check_namespace(struct valid *v, const struct path *p, parameters *r) {
    bool in_namespace = str_is(r->scope, "Namespace");
    if (in_namespace && !r->namespace.p)
        valid__required(v, p, "`parameters.scope` is set to 'Namespace'");
    else if (in_namespace)
        valid__dns_label(v, p, r->namespace);
    else if (r->namespace.p)
        valid__forbidden(v, p, "`parameters.scope` is set to 'Cluster'");
}

/* Is it declared that the parameters need the name? Not again while nothing there changes. */
static bool needs_declared(const struct valid *v, parameters *r, parameters *old, struct str name,
                           struct str old_name) {
    bool same = old && r && valid__equal(API_T_ingress_class_parameters_reference, r, old);
    return r && valid__has_declared(v) && !name.n && !same && !(old && !old_name.n);
}

static bool needs_kind(const struct valid *v, parameters *r, parameters *old) {
    return r && needs_declared(v, r, old, r->kind, old ? old->kind : STR(""));
}

static bool needs_name(const struct valid *v, parameters *r, parameters *old) {
    return r && needs_declared(v, r, old, r->name, old ? old->name : STR(""));
}

static void check_parameters(struct valid *v, const struct path *p, parameters *r,
                             parameters *old) {
    static const char *const scopes[] = {"Cluster", "Namespace", NULL};
    if (!r)
        return;
    if (r->api_group.p)
        valid__dns_subdomain(v, AT(p, "apiGroup"), r->api_group);
    check_name(v, AT(p, "kind"), r->kind, needs_kind(v, r, old));
    check_name(v, AT(p, "name"), r->name, needs_name(v, r, old));
    if (!r->scope.p)
        valid__required(v, AT(p, "scope"), NO_DETAIL);
    else if (!valid__one_of(r->scope, scopes))
        valid__not_supported(v, AT(p, "scope"), VALUE_Q(r->scope), scopes);
    else
        check_namespace(v, AT(p, "namespace"), r);
}

/* ---- classes ---- */

static void check_spec(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct path *p = AT(NULL, "spec");
    check_controller(v, AT(p, "controller"), spec_of(o)->controller);
    check_parameters(v, AT(p, "parameters"), spec_of(o)->parameters,
                     old ? spec_of(old)->parameters : NULL);
}

static void create(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_spec(v, o, NULL);
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    struct str controller = spec_of(o)->controller;
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    if (!str_eq(controller, spec_of(old)->controller))
        valid__immutable(v, AT(AT(NULL, "spec"), "controller"), VALUE_Q(controller));
    valid__metadata_names(v, o);
    check_spec(v, o, old);
}

static void declared(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct path *p = AT(AT(NULL, "spec"), "parameters");
    parameters *now = spec_of(o)->parameters, *was = old ? spec_of(old)->parameters : NULL;
    if (needs_kind(v, now, was))
        valid__required(v, AT(p, "kind"), NO_DETAIL);
    if (needs_name(v, now, was))
        valid__required(v, AT(p, "name"), NO_DETAIL);
}

const struct valid_kind valid__ingress_class = {
    .type = API_T_ingress_class, .create = create, .update = update, .declared = declared};
