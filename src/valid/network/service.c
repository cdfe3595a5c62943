/*
 * Services: a name and an address for pods.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func validateService,
 * func ValidateServiceCreate, func ValidateServiceUpdate, func ValidateServiceStatusUpdate,
 * func ValidateLoadBalancerStatus.
 */
#include "valid/kinds_int.h"
#include "valid/network/network_int.h"
#include "valid/pod/container_int.h"

#define HINTS   STR("service.kubernetes.io/topology-aware-hints")
#define MODE    STR("service.kubernetes.io/topology-mode")
#define RANGES  STR("service.beta.kubernetes.io/load-balancer-source-ranges")
#define ONLY_LB "may only be used when `type` is 'LoadBalancer'"

typedef const struct api_service service;
typedef const struct api_service_spec spec;

static const struct path spec_path = {.name = "spec"};

/* ---- what depends on the type ---- */

static void check_annotations(struct valid *v, service *s) {
    const struct label *hints = labels_find(&s->metadata.annotations, HINTS);
    const struct label *mode = labels_find(&s->metadata.annotations, MODE);
    if (hints && mode && !str_eq(hints->value, mode->value))
        valid__invalid(v, AT_KEY(AT(AT(NULL, "metadata"), "annotations"), MODE),
                       VALUE_Q(mode->value), "must match annotations[%.*s] when both are specified",
                       STR_ARG(HINTS));
}

static void check_external_name(struct valid *v, struct str name) {
    const struct path *p = AT(&spec_path, "externalName");
    name.n -= str_ends(name, STR("."));
    if (name.n)
        valid__dns_subdomain(v, p, name);
    else
        valid__required(v, p, NO_DETAIL);
}

static void check_external(struct valid *v, spec *s) {
    static const char text[] = "may not be set for ExternalName services";
    if (s->cluster_ips.n)
        valid__forbidden(v, AT(&spec_path, "clusterIPs"), text);
    if (s->ip_families.n)
        valid__forbidden(v, AT(&spec_path, "ipFamilies"), text);
    if (s->ip_family_policy.p)
        valid__forbidden(v, AT(&spec_path, "ipFamilyPolicy"), text);
    check_external_name(v, s->external_name);
}

static void check_by_type(struct valid *v, spec *s) {
    bool is_headless = service_is_headless(s);
    if (!s->ports.n && !is_headless && !service_is_external(s))
        valid__required(v, AT(&spec_path, "ports"), NO_DETAIL);
    if (is_headless && service_is_on_nodes(s))
        valid__invalid(v, AT_INDEX(AT(&spec_path, "clusterIPs"), 0), VALUE_Q(s->cluster_ips.v[0]),
                       "may not be set to 'None' for %.*s services", STR_ARG(s->type));
    if (service_is_external(s))
        check_external(v, s);
}

static void check_type(struct valid *v, spec *s) {
    static const char *const types[] = {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort",
                                        NULL};
    valid__choice(v, AT(&spec_path, "type"), s->type, types);
}

/* ---- ports ---- */

static void check_port_name(struct valid *v, const struct path *p, struct str name, bool is_needed,
                            struct seen *names) {
    if (!name.n && is_needed)
        valid__required(v, p, NO_DETAIL);
    if (!name.n)
        return;
    valid__dns_label(v, p, name);
    if (!seen_add(names, name))
        valid__duplicate(v, p, VALUE_Q(name), NO_DETAIL);
}

static void check_port(struct valid *v, const struct path *p, const struct api_service_port *port) {
    valid__port_number(v, AT(p, "port"), port->port);
    valid__protocol(v, AT(p, "protocol"), port->protocol);
    if (port->target_port.is_str)
        valid__port_name(v, AT(p, "targetPort"), port->target_port.s);
    else
        valid__port_number(v, AT(p, "targetPort"), port->target_port.i);
    if (port->app_protocol.p)
        valid__label_key(v, AT(p, "appProtocol"), port->app_protocol);
}

static void check_ports(struct valid *v, spec *s) {
    struct seen names;
    seen_init(&names);
    for (size_t i = 0; i < s->ports.n; i++) {
        const struct path *p = AT_INDEX(AT(&spec_path, "ports"), i);
        check_port_name(v, AT(p, "name"), s->ports.v[i].name, s->ports.n > 1, &names);
        check_port(v, p, &s->ports.v[i]);
    }
    seen_release(&names);
}

/* A number together with a protocol, as a name that can be looked up. */
static struct str pair_of(struct valid *v, int32_t number, struct str protocol) {
    return arena_printf(v->errs->a, "%d/%.*s", (int)number, STR_ARG(protocol));
}

static void check_node_ports(struct valid *v, spec *s) {
    struct seen pairs;
    seen_init(&pairs);
    for (size_t i = 0; str_is(s->type, "ClusterIP") && i < s->ports.n; i++)
        if (s->ports.v[i].node_port)
            valid__forbidden(v, AT(AT_INDEX(AT(&spec_path, "ports"), i), "nodePort"),
                             "may not be used when `type` is 'ClusterIP'");
    for (size_t i = 0; i < s->ports.n; i++) {
        int32_t port = s->ports.v[i].node_port;
        if (port && !seen_add(&pairs, pair_of(v, port, s->ports.v[i].protocol)))
            valid__duplicate(v, AT(AT_INDEX(AT(&spec_path, "ports"), i), "nodePort"),
                             VALUE_I64(port), NO_DETAIL);
    }
    seen_release(&pairs);
}

static void check_unique_ports(struct valid *v, spec *s) {
    struct seen pairs;
    seen_init(&pairs);
    for (size_t i = 0; i < s->ports.n; i++) {
        const struct api_service_port *port = &s->ports.v[i];
        struct api_service_port key = {.protocol = port->protocol, .port = port->port};
        if (!seen_add(&pairs, pair_of(v, port->port, port->protocol)))
            valid__duplicate(v, AT_INDEX(AT(&spec_path, "ports"), i),
                             valid__struct_value(v->errs->a, API_T_service_port, &key), NO_DETAIL);
    }
    seen_release(&pairs);
}

/* ---- who is sent where ---- */

static void check_client_ip(struct valid *v, const struct api_session_affinity_config *config) {
    enum { ONE_DAY = 86400 };
    const struct path *p = AT(&spec_path, "sessionAffinityConfig"), *client = AT(p, "clientIP");
    static const char text[] = "when session affinity type is ClientIP";
    if (!config) {
        valid__required(v, p, text);
    } else if (!config->client_ip) {
        valid__required(v, client, text);
    } else if (!config->client_ip->timeout_seconds.set) {
        valid__required(v, AT(client, "timeoutSeconds"), text);
    } else {
        int32_t seconds = config->client_ip->timeout_seconds.v;
        if (seconds <= 0 || seconds > ONE_DAY)
            valid__invalid(v, AT(client, "timeoutSeconds"), VALUE_I64(seconds),
                           "must be greater than 0 and less than %d", ONE_DAY);
    }
}

static void check_affinity(struct valid *v, spec *s) {
    static const char *const types[] = {"ClientIP", "None", NULL};
    valid__choice(v, AT(&spec_path, "sessionAffinity"), s->session_affinity, types);
    if (str_is(s->session_affinity, "ClientIP"))
        check_client_ip(v, s->session_affinity_config);
    else if (str_is(s->session_affinity, "None") && s->session_affinity_config)
        valid__forbidden(v, AT(&spec_path, "sessionAffinityConfig"),
                         "must not be set when session affinity is None");
}

static void check_external_ips(struct valid *v, spec *s, spec *old) {
    struct seen ips;
    seen_init(&ips);
    if (old)
        valid__remember(&ips, &old->external_ips);
    for (size_t i = 0; i < s->external_ips.n; i++) {
        const struct path *p = AT_INDEX(AT(&spec_path, "externalIPs"), i);
        size_t before = valid__found(v);
        valid__ip_but_old(v, p, s->external_ips.v[i], &ips);
        if (valid__found(v) == before)
            valid__endpoint_ip(v, p, s->external_ips.v[i]);
    }
    seen_release(&ips);
}

static void check_ranges(struct valid *v, spec *s, spec *old) {
    const struct path *p = AT(&spec_path, "LoadBalancerSourceRanges");
    struct seen ranges;
    seen_init(&ranges);
    if (!service_is_balanced(s))
        valid__forbidden(v, p, ONLY_LB);
    for (size_t i = 0; old && i < old->load_balancer_source_ranges.n; i++)
        seen_add(&ranges, str_trim(old->load_balancer_source_ranges.v[i]));
    for (size_t i = 0; i < s->load_balancer_source_ranges.n; i++)
        valid__cidr_but_old(v, AT_INDEX(p, i), str_trim(s->load_balancer_source_ranges.v[i]),
                            &ranges);
    seen_release(&ranges);
}

/* The same as an annotation, as it once was. */
static void check_annotated_ranges(struct valid *v, service *s, service *old) {
    const struct path *p = AT_KEY(AT(AT(NULL, "metadata"), "annotations"), RANGES);
    const struct label *ranges = labels_find(&s->metadata.annotations, RANGES);
    const struct label *was = old ? labels_find(&old->metadata.annotations, RANGES) : NULL;
    if (!ranges)
        return;
    if (!service_is_balanced(&s->spec))
        valid__forbidden(v, p, ONLY_LB);
    struct str rest = str_trim(ranges->value);
    if (!rest.n || (old && str_eq(was ? was->value : STR(""), ranges->value)))
        return;
    for (bool more = true; more;) {
        struct str range;
        more = str_cut(rest, ',', &range, &rest);
        valid__cidr(v, p, str_trim(range));
    }
}

static void check_balancer(struct valid *v, spec *s) {
    bool is_balanced = service_is_balanced(s);
    if (s->allocate_load_balancer_node_ports.set && !is_balanced)
        valid__forbidden(v, AT(&spec_path, "allocateLoadBalancerNodePorts"), ONLY_LB);
    if (!s->allocate_load_balancer_node_ports.set && is_balanced)
        valid__required(v, AT(NULL, "allocateLoadBalancerNodePorts"), NO_DETAIL);
}

static void check_class(struct valid *v, spec *s) {
    const struct path *p = AT(&spec_path, "loadBalancerClass");
    if (!s->load_balancer_class.p)
        return;
    if (service_is_balanced(s))
        valid__label_key(v, p, s->load_balancer_class);
    else
        valid__forbidden(v, p, ONLY_LB);
}

static void check_external_traffic(struct valid *v, spec *s) {
    static const char *const policies[] = {"Cluster", "Local", NULL};
    const struct path *p = AT(&spec_path, "externalTrafficPolicy");
    if (service_is_reachable(s))
        valid__choice(v, p, s->external_traffic_policy, policies);
    else if (s->external_traffic_policy.n)
        valid__invalid(v, p, VALUE_NAMED(s->external_traffic_policy),
                       "may only be set for externally-accessible services");
}

static void check_health_port(struct valid *v, spec *s) {
    const struct path *p = AT(&spec_path, "healthCheckNodePort");
    bool is_checked = service_is_health_checked(s);
    if (!is_checked && s->health_check_node_port)
        valid__invalid(v, p, VALUE_I64(s->health_check_node_port),
                       "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` "
                       "is 'Local'");
    else if (is_checked && !s->health_check_node_port)
        valid__required(v, p, NO_DETAIL);
    else if (is_checked)
        valid__port_number(v, p, s->health_check_node_port);
}

static void check_internal_traffic(struct valid *v, spec *s) {
    static const char *const policies[] = {"Cluster", "Local", NULL};
    const struct path *p = AT(&spec_path, "internalTrafficPolicy");
    struct str policy = s->internal_traffic_policy;
    if (!policy.p && (service_is_on_nodes(s) || str_is(s->type, "ClusterIP")))
        valid__required(v, p, NO_DETAIL);
    if (policy.p && !valid__one_of(policy, policies))
        valid__not_supported(v, p, VALUE_NAMED(policy), policies);
}

static void check_distribution(struct valid *v, spec *s) {
    static const char *const many[] = {"PreferClose", "PreferSameZone", "PreferSameNode", NULL};
    static const char *const one[] = {"PreferClose", NULL};
    bool has_many = feature_enabled(v->gates, FEATURE_PreferSameTrafficDistribution);
    const char *const *known = has_many ? many : one;
    if (s->traffic_distribution.p && !valid__one_of(s->traffic_distribution, known))
        valid__not_supported(v, AT(&spec_path, "trafficDistribution"),
                             VALUE_Q(s->traffic_distribution), known);
}

/* ---- services ---- */

static void check_traffic(struct valid *v, spec *s) {
    check_external_traffic(v, s);
    check_health_port(v, s);
    check_internal_traffic(v, s);
    check_distribution(v, s);
}

static void check_service(struct valid *v, service *s, service *old) {
    spec *now = &s->spec, *was = old ? &old->spec : NULL;
    check_annotations(v, s);
    check_by_type(v, now);
    check_ports(v, now);
    valid__labels(v, AT(&spec_path, "selector"), &now->selector);
    check_affinity(v, now);
    valid__service_addresses(v, now, was);
    check_external_ips(v, now, was);
    check_type(v, now);
    check_node_ports(v, now);
    check_unique_ports(v, now);
    if (now->load_balancer_source_ranges.n)
        check_ranges(v, now, was);
    else
        check_annotated_ranges(v, s, old);
    check_balancer(v, now);
    check_class(v, now);
    check_traffic(v, now);
}

static void create(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_service(v, o->body, NULL);
}

static void check_class_update(struct valid *v, spec *s, spec *old) {
    struct str now = s->load_balancer_class, was = old->load_balancer_class;
    bool is_same = !now.p == !was.p && str_eq(now, was);
    if (service_is_balanced(old) && service_is_balanced(s) && !is_same)
        valid__invalid(v, AT(&spec_path, "loadBalancerClass"),
                       now.p ? VALUE_Q(now) : VALUE_JSON((struct json){.kind = JSON_NULL}),
                       "may not change once set");
    check_class(v, s);
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    spec *now = &((service *)o->body)->spec, *was = &((service *)old->body)->spec;
    valid__metadata_update(v, o, old);
    valid__service_addresses_update(v, now, was);
    check_class_update(v, now, was);
    if (service_is_health_checked(was) && service_is_health_checked(now) &&
        was->health_check_node_port != now->health_check_node_port)
        valid__forbidden(v, AT(&spec_path, "healthCheckNodePort"), "field is immutable");
    check_service(v, o->body, old->body);
}

/* ---- their status ---- */

typedef const struct api_load_balancer_ingress balancer;
typedef const struct api_load_balancer_ingress_list balancers;

static void check_ip_mode(struct valid *v, const struct path *p, balancer *b) {
    static const char *const modes[] = {"Proxy", "VIP", NULL};
    if (!b->ip_mode.p && b->ip.n)
        valid__required(v, p, "must be specified when `ip` is set");
    else if (b->ip_mode.p && !b->ip.n)
        valid__forbidden(v, p, "may not be specified when `ip` is not set");
    else if (b->ip_mode.p && !valid__one_of(b->ip_mode, modes))
        valid__not_supported(v, p, VALUE_NAMED(b->ip_mode), modes);
}

static void check_balancers(struct valid *v, const struct path *p, balancers *now, balancers *was) {
    struct seen ips;
    seen_init(&ips);
    for (size_t i = 0; i < was->n; i++)
        seen_add(&ips, was->v[i].ip);
    for (size_t i = 0; i < now->n; i++) {
        const struct path *at = AT_INDEX(p, i);
        balancer *b = &now->v[i];
        if (b->ip.n)
            valid__ip_but_old(v, AT(at, "ip"), b->ip, &ips);
        check_ip_mode(v, AT(at, "ipMode"), b);
        if (b->hostname.n)
            valid__host_name(v, AT(at, "hostname"), b->hostname);
    }
    seen_release(&ips);
}

static void status(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct path *p = AT(AT(AT(NULL, "status"), "loadBalancer"), "ingress");
    service *now = o->body, *was = old->body;
    valid__metadata_update(v, o, old);
    if (now->status.load_balancer.ingress.n && !service_is_balanced(&now->spec))
        valid__forbidden(v, p, "may only be used when `spec.type` is 'LoadBalancer'");
    else
        check_balancers(v, p, &now->status.load_balancer.ingress,
                        &was->status.load_balancer.ingress);
}

const struct valid_kind valid__service = {.type = API_T_service,
                                          .create = create,
                                          .update = update,
                                          .status = status,
                                          .warn = valid__warn_service,
                                          .warn_status = valid__warn_service_status};
