/*
 * Ingresses: which requests from outside go to which service.
 *
 * Follows k8s.io/kubernetes pkg/apis/networking/validation, func ValidateIngressCreate,
 * func ValidateIngressUpdate, func ValidateIngressStatusUpdate, func ValidateIngressSpec.
 * Follows k8s.io/apimachinery pkg/util/validation, func IsWildcardDNS1123Subdomain.
 */
#include "valid/kinds_int.h"
#include "valid/network/network_int.h"
#include "valid/pod/container_int.h"

#define CLASS STR("kubernetes.io/ingress.class")

/* What an old object has already is allowed to stay. */
struct ingress_rules {
    bool any_secret_name;    /* of certificates */
    bool any_wildcard_value; /* of rules for hosts with a star */
    bool relaxed_services;   /* names of services may start with a digit */
};

/* ---- hosts ---- */

static bool has_star(struct str host) {
    return str_find_char(host, '*') != STR_NONE;
}

static void check_wildcard(struct valid *v, const struct path *p, struct str host) {
    enum { MAX_HOST = 253 };
    struct str rest = str_sub(host, 2, host.n);
    struct names_errs errs = names_check_dns1123_subdomain(rest);
    bool is_wrong = errs.n > (rest.n > MAX_HOST);
    if (host.n > MAX_HOST)
        valid__invalid(v, p, VALUE_Q(host), "must be no more than 253 characters");
    if (is_wrong || !str_starts(host, STR("*.")))
        valid__invalid(v, p, VALUE_Q(host),
                       "a wildcard DNS-1123 subdomain must start with '*.', followed by a valid "
                       "DNS subdomain, which must consist of lower case alphanumeric characters, "
                       "'-' or '.' and end with an alphanumeric character (e.g. '*.example.com', "
                       "regex used for validation is '\\*\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?"
                       "(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')");
}

static void check_host(struct valid *v, const struct path *p, struct str host) {
    if (has_star(host))
        check_wildcard(v, p, host);
    else
        valid__dns_subdomain(v, p, host);
}

/* ---- backends ---- */

static void check_resource(struct valid *v, const struct path *p,
                           const struct api_typed_local_object_reference *r) {
    if (r->api_group.p)
        valid__dns_subdomain(v, AT(p, "apiGroup"), r->api_group);
    if (r->kind.n)
        valid__segment(v, AT(p, "kind"), r->kind);
    else
        valid__required(v, AT(p, "kind"), NO_DETAIL);
    if (r->name.n)
        valid__segment(v, AT(p, "name"), r->name);
    else
        valid__required(v, AT(p, "name"), NO_DETAIL);
}

static void check_service_name(struct valid *v, const struct path *p, struct str name,
                               const struct ingress_rules *rules) {
    struct names_errs errs =
        rules->relaxed_services ? names_check_dns1123_label(name) : names_check_dns1035_label(name);
    if (name.n)
        valid__names(v, p, name, &errs);
    else
        valid__required(v, p, NO_DETAIL);
}

static void check_service(struct valid *v, const struct path *backend,
                          const struct api_ingress_service_backend *s,
                          const struct ingress_rules *rules) {
    const struct path *p = AT(backend, "service");
    check_service_name(v, AT(p, "name"), s->name, rules);
    if (s->port.name.n && s->port.number)
        valid__invalid(v, backend, VALUE_Q(STR("")), "cannot set both port name & port number");
    else if (s->port.name.n)
        valid__port_name(v, AT(AT(p, "port"), "name"), s->port.name);
    else if (s->port.number)
        valid__port_number(v, AT(AT(p, "port"), "number"), s->port.number);
    else
        valid__required(v, backend, "port name or number is required");
}

static void check_backend(struct valid *v, const struct path *p,
                          const struct api_ingress_backend *b, const struct ingress_rules *rules) {
    if (b->resource && b->service)
        valid__invalid(v, p, VALUE_Q(STR("")), "cannot set both resource and service backends");
    else if (b->resource)
        check_resource(v, AT(p, "resource"), b->resource);
    else if (b->service)
        check_service(v, p, b->service, rules);
    else
        valid__invalid(v, p, VALUE_Q(STR("")), "resource or service backend is required");
}

/* ---- rules ---- */

static void check_plain_path(struct valid *v, const struct path *p, struct str path) {
    static const char *const sequences[] = {"//", "/./", "/../", "%2f", "%2F"};
    static const char *const suffixes[] = {"/..", "/."};
    if (!str_starts(path, STR("/")))
        valid__invalid(v, p, VALUE_Q(path), "must be an absolute path");
    for (size_t i = 0; i < sizeof sequences / sizeof *sequences; i++)
        if (str_find(path, str_of(sequences[i])) != STR_NONE)
            valid__invalid(v, p, VALUE_Q(path), "must not contain '%s'", sequences[i]);
    for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
        if (str_ends(path, str_of(suffixes[i])))
            valid__invalid(v, p, VALUE_Q(path), "cannot end with '%s'", suffixes[i]);
}

static void check_path(struct valid *v, const struct path *p, const struct api_http_ingress_path *h,
                       const struct ingress_rules *rules) {
    static const char *const types[] = {"Exact", "ImplementationSpecific", "Prefix", NULL};
    if (!h->path_type.p) {
        valid__required(v, AT(p, "pathType"), "pathType must be specified");
        return;
    }
    if (!valid__one_of(h->path_type, types))
        valid__not_supported(v, AT(p, "pathType"), VALUE_NAMED(h->path_type), types);
    else if (!str_is(h->path_type, "ImplementationSpecific"))
        check_plain_path(v, AT(p, "path"), h->path);
    else if (h->path.n && !str_starts(h->path, STR("/")))
        valid__invalid(v, AT(p, "path"), VALUE_Q(h->path), "must be an absolute path");
    check_backend(v, AT(p, "backend"), &h->backend, rules);
}

static void check_http(struct valid *v, const struct path *p,
                       const struct api_http_ingress_rule_value *http,
                       const struct ingress_rules *rules) {
    const struct path *paths = AT(AT(p, "http"), "paths");
    if (!http)
        return;
    if (!http->paths.n)
        valid__required(v, paths, NO_DETAIL);
    for (size_t i = 0; i < http->paths.n; i++)
        check_path(v, AT_INDEX(paths, i), &http->paths.v[i], rules);
}

static void check_rule(struct valid *v, const struct path *p, const struct api_ingress_rule *r,
                       const struct ingress_rules *rules) {
    struct ip ip = {.is_v6 = false};
    if (valid_ip_parse(r->host, &ip))
        valid__invalid(v, AT(p, "host"), VALUE_Q(r->host), "must be a DNS name, not an IP address");
    if (r->host.n)
        check_host(v, AT(p, "host"), r->host);
    if (!has_star(r->host) || !rules->any_wildcard_value)
        check_http(v, p, r->ingress_rule_value.http, rules);
}

static void check_tls(struct valid *v, const struct path *p, const struct api_ingress_tls *tls,
                      const struct ingress_rules *rules) {
    for (size_t i = 0; i < tls->hosts.n; i++)
        check_host(v, AT_INDEX(AT(p, "hosts"), i), tls->hosts.v[i]);
    if (!rules->any_secret_name && tls->secret_name.n)
        valid__dns_subdomain(v, AT(p, "secretName"), tls->secret_name);
}

static void check_spec(struct valid *v, const struct api_ingress_spec *s,
                       const struct ingress_rules *rules) {
    const struct path *p = AT(NULL, "spec");
    if (!s->rules.n && !s->default_backend)
        valid__invalid(v, p, valid__list_value(v->errs->a, API_T_ingress_rule, &s->rules),
                       "either `defaultBackend` or `rules` must be specified");
    if (s->default_backend)
        check_backend(v, AT(p, "defaultBackend"), s->default_backend, rules);
    for (size_t i = 0; i < s->rules.n; i++)
        check_rule(v, AT_INDEX(AT(p, "rules"), i), &s->rules.v[i], rules);
    for (size_t i = 0; i < s->tls.n; i++)
        check_tls(v, AT_INDEX(AT(p, "tls"), i), &s->tls.v[i], rules);
    if (s->ingress_class_name.p)
        valid__dns_subdomain(v, AT(p, "ingressClassName"), s->ingress_class_name);
}

/* ---- what an old object has ---- */

static bool has_bad_secret(const struct api_ingress_spec *s) {
    for (size_t i = 0; i < s->tls.n; i++)
        if (s->tls.v[i].secret_name.n && names_check_dns1123_subdomain(s->tls.v[i].secret_name).n)
            return true;
    return false;
}

/* Names of services are judged strictly here, whatever the gate says. */
static bool has_bad_wildcard(const struct valid *v, const struct api_ingress_spec *s) {
    AUTO(arena_release) struct arena a = {0};
    struct valid_errs errs = VALID_ERRS_INIT(&a);
    struct valid trial = {.errs = &errs, .gates = v->gates};
    for (size_t i = 0; !errs.found && i < s->rules.n; i++)
        if (has_star(s->rules.v[i].host))
            check_http(&trial, NULL, s->rules.v[i].ingress_rule_value.http,
                       &(struct ingress_rules){0});
    return errs.found;
}

/* Is it a name that the old rule refuses and the new one allows? */
static bool is_relaxed(const struct api_ingress_backend *b) {
    return b && b->service && !names_check_dns1123_label(b->service->name).n &&
           names_check_dns1035_label(b->service->name).n;
}

static bool has_relaxed_service(const struct api_ingress_spec *s) {
    bool found = is_relaxed(s->default_backend);
    for (size_t i = 0; !found && i < s->rules.n; i++) {
        const struct api_http_ingress_rule_value *http = s->rules.v[i].ingress_rule_value.http;
        for (size_t j = 0; http && !found && j < http->paths.n; j++)
            found = is_relaxed(&http->paths.v[j].backend);
    }
    return found;
}

static struct ingress_rules rules_after(const struct valid *v, const struct api_ingress *old) {
    bool relaxed = feature_enabled(v->gates, FEATURE_RelaxedServiceNameValidation);
    if (!old)
        return (struct ingress_rules){.relaxed_services = relaxed};
    return (struct ingress_rules){has_bad_secret(&old->spec), has_bad_wildcard(v, &old->spec),
                                  relaxed || has_relaxed_service(&old->spec)};
}

/* ---- ingresses ---- */

static void create(struct valid *v, const struct api_object *o) {
    const struct api_ingress *ingress = o->body;
    const struct label *class = labels_find(&o->meta->annotations, CLASS);
    struct str wanted = ingress->spec.ingress_class_name;
    struct ingress_rules rules = rules_after(v, NULL);
    valid__metadata_create(v, o);
    check_spec(v, &ingress->spec, &rules);
    if (class && wanted.p && !str_eq(class->value, wanted))
        valid__invalid(v, AT_DOTTED(AT(NULL, "annotations"), CLASS), VALUE_Q(class->value),
                       "must match `ingressClassName` when both are specified");
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    struct ingress_rules rules = rules_after(v, old->body);
    valid__metadata_update(v, o, old);
    check_spec(v, &((const struct api_ingress *)o->body)->spec, &rules);
}

typedef const struct api_ingress_load_balancer_ingress_list balancers;

static balancers *balancers_of(const struct api_object *o) {
    return &((const struct api_ingress *)o->body)->status.load_balancer.ingress;
}

static void status(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct path *p = AT(AT(AT(NULL, "status"), "loadBalancer"), "ingress");
    balancers *now = balancers_of(o), *was = balancers_of(old);
    struct seen addresses;
    seen_init(&addresses);
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    for (size_t i = 0; i < was->n; i++)
        seen_add(&addresses, was->v[i].ip);
    for (size_t i = 0; i < now->n; i++) {
        if (now->v[i].ip.n)
            valid__ip_but_old(v, AT(AT_INDEX(p, i), "ip"), now->v[i].ip, &addresses);
        if (now->v[i].hostname.n)
            valid__host_name(v, AT(AT_INDEX(p, i), "hostname"), now->v[i].hostname);
    }
    seen_release(&addresses);
}

const struct valid_kind valid__ingress = {.type = API_T_ingress,
                                          .create = create,
                                          .update = update,
                                          .status = status,
                                          .warn = valid__warn_ingress,
                                          .warn_status = valid__warn_ingress_status};
