/*
 * Groups and versions that other servers serve.
 *
 * Follows k8s.io/kube-aggregator pkg/apis/apiregistration/validation, func ValidateAPIService,
 * func ValidateAPIServiceUpdate, func ValidateAPIServiceStatusUpdate.
 */
#include "valid/kinds_int.h"
#include "valid/metadata_int.h"

enum { MOST_GROUP_PRIORITY = 20000, MOST_VERSION_PRIORITY = 1000, MOST_PORT = 65535 };

typedef const struct api_api_service_spec spec;

static void check_version(struct valid *v, const struct path *p, spec *s) {
    struct names_errs errs = names_check_dns1035_label(s->version);
    if (!s->group.n && !str_is(s->version, "v1"))
        valid__required(v, AT(p, "group"),
                        "only v1 may have an empty group and it better be legacy kube");
    if (s->group.n)
        valid__dns_subdomain(v, AT(p, "group"), s->group);
    valid__names(v, AT(p, "version"), s->version, &errs);
    if (s->group_priority_minimum <= 0 || s->group_priority_minimum > MOST_GROUP_PRIORITY)
        valid__invalid(v, AT(p, "groupPriorityMinimum"), VALUE_I64(s->group_priority_minimum),
                       "must be positive and less than %d", MOST_GROUP_PRIORITY);
    if (s->version_priority <= 0 || s->version_priority > MOST_VERSION_PRIORITY)
        valid__invalid(v, AT(p, "versionPriority"), VALUE_I64(s->version_priority),
                       "must be positive and less than %d", MOST_VERSION_PRIORITY);
}

/* What the server serves itself needs no key. */
static void check_local(struct valid *v, const struct path *p, spec *s) {
    if (s->ca_bundle.n)
        valid__invalid(v, AT(p, "caBundle"),
                       VALUE_Q(arena_printf(v->errs->a, "%zu bytes", s->ca_bundle.n)),
                       "local APIServices may not have a caBundle");
    if (s->insecure_skip_tls_verify)
        valid__invalid(v, AT(p, "insecureSkipTLSVerify"), VALUE_BOOL(true),
                       "local APIServices may not have insecureSkipTLSVerify");
}

static void check_service(struct valid *v, const struct path *p, spec *s) {
    const struct path *at = AT(p, "service");
    int32_t port = s->service->port.set ? s->service->port.v : 0;
    if (!s->service->namespace.n)
        valid__required(v, AT(at, "namespace"), NO_DETAIL);
    if (!s->service->name.n)
        valid__required(v, AT(at, "name"), NO_DETAIL);
    if (port < 1 || port > MOST_PORT)
        valid__invalid(v, AT(at, "port"), VALUE_I64(port),
                       "port is not valid: must be between 1 and %d, inclusive", MOST_PORT);
    if (s->insecure_skip_tls_verify && s->ca_bundle.n)
        valid__invalid(v, AT(p, "insecureSkipTLSVerify"), VALUE_BOOL(true),
                       "may not be true if caBundle is present");
}

static void check(struct valid *v, const struct api_object *o) {
    spec *s = &((const struct api_api_service *)o->body)->spec;
    const struct path *p = AT(NULL, "spec");
    check_version(v, p, s);
    if (s->service)
        check_service(v, p, s);
    else
        check_local(v, p, s);
}

static void create(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check(v, o);
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    valid__metadata_update(v, o, old);
    check(v, o);
}

static void status(struct valid *v, const struct api_object *o, const struct api_object *old) {
    static const char *const known[] = {"True", "False", "Unknown", NULL};
    const struct api_api_service_condition_list *list =
        &((const struct api_api_service *)o->body)->status.conditions;
    (void)old;
    for (size_t i = 0; i < list->n; i++)
        if (!valid__one_of(list->v[i].status, known))
            valid__not_supported(v, AT(AT_INDEX(AT(AT(NULL, "status"), "conditions"), i), "status"),
                                 VALUE_NAMED(list->v[i].status), known);
}

const struct valid_kind valid__api_service = {
    .type = API_T_api_service, .create = create, .update = update, .status = status};
