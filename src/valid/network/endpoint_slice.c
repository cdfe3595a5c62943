/*
 * EndpointSlices: a part of where the pods of a service are.
 *
 * Follows k8s.io/kubernetes pkg/apis/discovery/validation, func ValidateEndpointSlice,
 * func ValidateEndpointSliceUpdate, func validateEndpoints, func validatePorts, func validateHints.
 * Follows k8s.io/kubernetes pkg/apis/discovery/v1, func Validate_EndpointSlice.
 * Follows k8s.io/apimachinery pkg/util/validation, func IsFullyQualifiedDomainName.
 */
#include "valid/kinds_int.h"
#include "valid/network/network_int.h"

enum {
    MAX_ADDRESSES = 100,
    MAX_PORTS = 20000,
    MAX_ENDPOINTS = 1000,
    MAX_HINTS = 8,
};

typedef const struct api_endpoint_slice slice;

static const char *const address_types[] = {"FQDN", "IPv4", "IPv6", NULL};

/* ---- addresses ---- */

static void check_joined(struct valid *v, const struct path *p, struct str name,
                         const struct names_errs *errs) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    names_errs_join(&text, errs, STR(","));
    valid__add(v, VALID_INVALID, p, &VALUE_Q(name), arena_str(v->errs->a, buf_view(&text)));
}

static void check_labels(struct valid *v, const struct path *p, struct str rest) {
    struct names_errs errs = {0};
    for (bool more = true; more && !errs.n;) {
        struct str label;
        more = str_cut(rest, '.', &label, &rest);
        errs = names_check_dns1123_label(label);
        if (errs.n)
            check_joined(v, p, label, &errs);
    }
}

static void check_domain(struct valid *v, const struct path *p, struct str name) {
    if (!name.n) {
        valid__required(v, p, NO_DETAIL);
        return;
    }
    name.n -= str_ends(name, STR("."));
    struct names_errs errs = names_check_dns1123_subdomain(name);
    if (errs.n)
        check_joined(v, p, name, &errs);
    else if (str_find_char(name, '.') == STR_NONE)
        valid__invalid(v, p, VALUE_Q(name),
                       "should be a domain with at least two segments separated by dots");
    else
        check_labels(v, p, name);
}

/* Says so at the list when an address is of the other family. */
static void check_family(struct valid *v, const struct path *list, const struct path *p,
                         struct str text, bool wants_v6) {
    if (valid_ip_is_v6_text(text) != wants_v6)
        valid__invalid(v, list, VALUE_Q(text), "must be an %s address", wants_v6 ? "IPv6" : "IPv4");
    valid__endpoint_ip(v, p, text);
}

static void check_v6(struct valid *v, const struct path *p, struct str text) {
    struct str fault = valid_ip_fault(v->errs->a, text);
    if (fault.n)
        valid__add(v, VALID_INVALID, p, &VALUE_Q(text), fault);
}

static void check_address(struct valid *v, const struct path *list, size_t i, struct str text,
                          struct str type) {
    const struct path *p = AT_INDEX(list, i);
    size_t before = valid__found(v);
    bool is_v6 = str_is(type, "IPv6");
    if (str_is(type, "FQDN"))
        check_domain(v, p, text);
    if (!is_v6 && !str_is(type, "IPv4"))
        return;
    if (is_v6)
        check_v6(v, p, text);
    else
        valid__ip(v, p, text);
    if (valid__found(v) == before)
        check_family(v, list, p, text, is_v6);
}

/* ---- endpoints ---- */

static void check_zones(struct valid *v, const struct path *p,
                        const struct api_for_zone_list *zones) {
    struct seen names;
    seen_init(&names);
    for (size_t i = 0; i < zones->n; i++) {
        const struct path *at = AT(AT_INDEX(p, i), "name");
        struct str name = zones->v[i].name;
        struct names_errs errs = names_check_label_value(name);
        if (!seen_add(&names, name))
            valid__duplicate(v, at, VALUE_Q(name), NO_DETAIL);
        valid__names(v, at, name, &errs);
    }
    seen_release(&names);
}

static void check_nodes(struct valid *v, const struct path *p,
                        const struct api_for_node_list *nodes) {
    struct seen names;
    seen_init(&names);
    for (size_t i = 0; i < nodes->n; i++) {
        const struct path *at = AT(AT_INDEX(p, i), "name");
        struct str name = nodes->v[i].name;
        if (!seen_add(&names, name))
            valid__duplicate(v, at, VALUE_Q(name), NO_DETAIL);
        valid__dns_subdomain(v, at, name);
    }
    seen_release(&names);
}

static void check_hints(struct valid *v, const struct path *p, const struct api_endpoint_hints *h) {
    if (h->for_zones.n > MAX_HINTS) {
        valid__too_many(v, AT(p, "forZones"), h->for_zones.n, MAX_HINTS);
        return;
    }
    check_zones(v, AT(p, "forZones"), &h->for_zones);
    if (h->for_nodes.n > MAX_HINTS)
        valid__too_many(v, AT(p, "forNodes"), h->for_nodes.n, MAX_HINTS);
    else
        check_nodes(v, AT(p, "forNodes"), &h->for_nodes);
}

/* How many addresses there are is a declared rule as well. */
static void count_addresses(struct valid *v, const struct path *p, size_t n, bool is_declared) {
    bool is_wrong = !n || n > MAX_ADDRESSES;
    if (!is_wrong || valid__covers(v, is_declared))
        return;
    if (n)
        valid__too_many(v, p, n, MAX_ADDRESSES);
    else
        valid__required(v, p, "must contain at least 1 address");
}

/* The topology of old is taken away from every endpoint before it is judged. */
static void check_endpoint(struct valid *v, const struct path *p, const struct api_endpoint *e,
                           struct str address_type) {
    const struct path *addresses = AT(p, "addresses");
    count_addresses(v, addresses, e->addresses.n, valid__has_declared(v));
    for (size_t i = 0; i < e->addresses.n; i++)
        check_address(v, addresses, i, e->addresses.v[i], address_type);
    if (e->node_name.p)
        valid__dns_subdomain(v, AT(p, "nodeName"), e->node_name);
    if (e->hostname.p)
        valid__dns_label(v, AT(p, "hostname"), e->hostname);
    if (e->hints)
        check_hints(v, AT(p, "hints"), e->hints);
}

/* What an update does not change was good once. */
static bool are_endpoints_new(slice *s, slice *old) {
    return !old || !valid__equal_lists(API_T_endpoint, &s->endpoints, &old->endpoints);
}

static void check_endpoints(struct valid *v, slice *s) {
    const struct path *p = AT(NULL, "endpoints");
    if (s->endpoints.n > MAX_ENDPOINTS) {
        valid__too_many(v, p, s->endpoints.n, MAX_ENDPOINTS);
        return;
    }
    for (size_t i = 0; i < s->endpoints.n; i++)
        check_endpoint(v, AT_INDEX(p, i), &s->endpoints.v[i], s->address_type);
}

/* ---- ports ---- */

static void check_port(struct valid *v, const struct path *p,
                       const struct api_discovery_endpoint_port *port, struct seen *names) {
    static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
    if (port->name.n)
        valid__dns_label(v, AT(p, "name"), port->name);
    if (!seen_add(names, port->name))
        valid__duplicate(v, AT(p, "name"), VALUE_Q(port->name), NO_DETAIL);
    if (!port->protocol.p)
        valid__required(v, AT(p, "protocol"), NO_DETAIL);
    else if (!valid__one_of(port->protocol, protocols))
        valid__not_supported(v, AT(p, "protocol"), VALUE_NAMED(port->protocol), protocols);
    if (port->app_protocol.p)
        valid__label_key(v, AT(p, "appProtocol"), port->app_protocol);
}

static void check_ports(struct valid *v, slice *s) {
    const struct path *p = AT(NULL, "ports");
    struct seen names;
    seen_init(&names);
    if (s->ports.n > MAX_PORTS)
        valid__too_many(v, p, s->ports.n, MAX_PORTS);
    for (size_t i = 0; s->ports.n <= MAX_PORTS && i < s->ports.n; i++)
        check_port(v, AT_INDEX(p, i), &s->ports.v[i], &names);
    seen_release(&names);
}

/* ---- slices ---- */

/* The same rule is declared, for new objects: an update cannot change the type, and says that. */
static void check_address_type(struct valid *v, slice *s, slice *old) {
    bool is_new = !old || !str_eq(s->address_type, old->address_type);
    bool is_declared = valid__has_declared(v) && is_new && (!old || !s->address_type.n);
    bool is_wrong = !valid__one_of(s->address_type, address_types);
    if (is_wrong && !valid__covers(v, is_declared))
        valid__choice(v, AT(NULL, "addressType"), s->address_type, address_types);
}

static void check_slice(struct valid *v, slice *s, slice *old) {
    check_address_type(v, s, old);
    check_ports(v, s);
    if (are_endpoints_new(s, old))
        check_endpoints(v, s);
}

static void create(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_slice(v, o->body, NULL);
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    slice *now = o->body, *was = old->body;
    valid__metadata_update(v, o, old);
    check_slice(v, now, was);
    if (!str_eq(now->address_type, was->address_type) && !valid__has_declared(v))
        valid__immutable(v, AT(NULL, "addressType"), VALUE_NAMED(now->address_type));
}

static void declare_address_type(struct valid *v, slice *s, slice *old) {
    const struct path *p = AT(NULL, "addressType");
    if (!old || !s->address_type.n)
        valid__choice(v, p, s->address_type, address_types);
    if (old)
        valid__immutable(v, p, VALUE_JSON((struct json){.kind = JSON_NULL}));
}

static void declare_addresses(struct valid *v, const struct path *p, size_t n) {
    if (!n)
        valid__required(v, p, NO_DETAIL);
    if (n > MAX_ADDRESSES)
        valid__too_many(v, p, n, MAX_ADDRESSES);
}

static void declared(struct valid *v, const struct api_object *o, const struct api_object *old) {
    slice *now = o->body, *was = old ? old->body : NULL;
    if (!valid__has_declared(v))
        return;
    if (!was || !str_eq(now->address_type, was->address_type))
        declare_address_type(v, now, was);
    size_t n = are_endpoints_new(now, was) ? now->endpoints.n : 0;
    for (size_t i = 0; i < n; i++)
        declare_addresses(v, AT(AT_INDEX(AT(NULL, "endpoints"), i), "addresses"),
                          now->endpoints.v[i].addresses.n);
}

const struct valid_kind valid__endpoint_slice = {.type = API_T_endpoint_slice,
                                                 .create = create,
                                                 .update = update,
                                                 .declared = declared,
                                                 .warn = valid__warn_endpoint_slice};
