/*
 * What a server warns of in services, endpoints, ingresses and policies.
 *
 * Follows k8s.io/kubernetes pkg/api/service, func GetWarningsForService.
 * Follows k8s.io/kubernetes pkg/registry/core/service, func (serviceStatusStrategy)
 * WarningsOnUpdate.
 * Follows k8s.io/kubernetes pkg/registry/core/endpoint, func endpointsWarnings.
 * Follows k8s.io/kubernetes pkg/registry/discovery/endpointslice, func (endpointSliceStrategy)
 * WarningsOnCreate.
 * Follows k8s.io/kubernetes pkg/registry/networking/ingress, func (ingressStrategy)
 * WarningsOnCreate, func (ingressStatusStrategy) WarningsOnUpdate.
 * Follows k8s.io/kubernetes pkg/registry/networking/networkpolicy, func networkPolicyWarnings.
 */
#include "valid/network/network_int.h"
#include "valid/warnings_int.h"

/* ---- services ---- */

typedef const struct api_service_spec spec;

static const struct path spec_path = {.name = "spec"};

static void warn_ips(struct valid_warnings *w, const struct path *p, const struct api_strs *ips) {
    for (size_t i = 0; i < ips->n; i++)
        valid__warn_ip(w, AT_INDEX(p, i), ips->v[i]);
}

static void warn_headless(struct valid_warnings *w, spec *s) {
    if (s->load_balancer_ip.n)
        valid__warn(w, "spec.loadBalancerIP is ignored for headless services");
    if (s->external_ips.n)
        valid__warn(w, "spec.externalIPs is ignored for headless services");
    if (!str_is(s->session_affinity, "None"))
        valid__warn(w, "spec.SessionAffinity is ignored for headless services");
}

static void warn_external(struct valid_warnings *w, spec *s) {
    bool is_external = service_is_external(s);
    if (is_external && s->external_ips.n)
        valid__warn(w, "spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    if (!is_external && s->external_name.n)
        valid__warn(w, "spec.externalName is ignored when spec.type is not \"ExternalName\"");
}

void valid__warn_service(struct valid_warnings *w, const struct api_object *o,
                         const struct api_object *old) {
    (void)old;
    spec *s = &((const struct api_service *)o->body)->spec;
    bool is_none = str_is(s->cluster_ip, "None");
    bool is_headless = is_none && str_is(s->type, "ClusterIP");
    if (labels_find(&o->meta->annotations, STR("service.kubernetes.io/topology-aware-hints")))
        valid__warn(w, "annotation service.kubernetes.io/topology-aware-hints is deprecated, "
                       "please use service.kubernetes.io/topology-mode instead");
    if (s->cluster_ip.n && !is_none)
        warn_ips(w, AT(&spec_path, "clusterIPs"), &s->cluster_ips);
    if (is_headless)
        warn_headless(w, s);
    warn_ips(w, AT(&spec_path, "externalIPs"), &s->external_ips);
    if (s->external_ips.n && !is_headless && !service_is_external(s))
        valid__warn(w, "spec.externalIPs is deprecated and may no longer be implemented in some "
                       "clusters");
    if (s->load_balancer_ip.n)
        valid__warn_ip(w, AT(&spec_path, "loadBalancerIP"), s->load_balancer_ip);
    for (size_t i = 0; i < s->load_balancer_source_ranges.n; i++)
        valid__warn_cidr(w, AT_INDEX(AT(&spec_path, "loadBalancerSourceRanges"), i),
                         s->load_balancer_source_ranges.v[i]);
    warn_external(w, s);
    if (str_is(s->traffic_distribution, "PreferClose"))
        valid__warn(w, "spec.trafficDistribution: \"PreferClose\" is deprecated; use "
                       "\"PreferSameZone\"");
}

#define BALANCERS AT(AT(AT(NULL, "status"), "loadBalancer"), "ingress")

void valid__warn_service_status(struct valid_warnings *w, const struct api_object *o,
                                const struct api_object *old) {
    (void)old;
    const struct api_service *s = o->body;
    const struct api_load_balancer_ingress_list *list = &s->status.load_balancer.ingress;
    for (size_t i = 0; i < list->n; i++)
        valid__warn_ip(w, AT_INDEX(BALANCERS, i), list->v[i].ip);
}

/* ---- endpoints ---- */

/* Is it the work of one of these controllers, which write addresses as they should be? */
static bool is_managed_by(const struct api_object *o, struct str label, const char *const *names) {
    const struct label *l = labels_find(&o->meta->labels, label);
    return l && valid__one_of(l->value, names);
}

static void warn_addresses(struct valid_warnings *w, const struct path *p,
                           const struct api_endpoint_address_list *list) {
    for (size_t i = 0; i < list->n; i++)
        valid__warn_ip(w, AT(AT_INDEX(p, i), "ip"), list->v[i].ip);
}

void valid__warn_endpoints(struct valid_warnings *w, const struct api_object *o,
                           const struct api_object *old) {
    static const char *const controllers[] = {"endpoint-controller", NULL};
    (void)old;
    const struct api_endpoints *e = o->body;
    if (is_managed_by(o, STR("endpoints.kubernetes.io/managed-by"), controllers))
        return;
    for (size_t i = 0; i < e->subsets.n; i++) {
        const struct path *p = AT_INDEX(AT(NULL, "subsets"), i);
        warn_addresses(w, AT(p, "addresses"), &e->subsets.v[i].addresses);
        warn_addresses(w, AT(p, "notReadyAddresses"), &e->subsets.v[i].not_ready_addresses);
    }
}

void valid__warn_endpoint_slice(struct valid_warnings *w, const struct api_object *o,
                                const struct api_object *old) {
    static const char *const controllers[] = {"endpointslice-controller.k8s.io",
                                              "endpointslicemirroring-controller.k8s.io", NULL};
    const struct api_endpoint_slice *s = o->body;
    if (!old && str_is(s->address_type, "FQDN"))
        valid__warn(w, "spec.addressType: FQDN endpoints are deprecated");
    if (is_managed_by(o, STR("endpointslice.kubernetes.io/managed-by"), controllers))
        return;
    for (size_t i = 0; i < s->endpoints.n; i++)
        warn_ips(w, AT(AT_INDEX(AT(NULL, "endpoints"), i), "addresses"),
                 &s->endpoints.v[i].addresses);
}

/* ---- ingresses ---- */

void valid__warn_ingress(struct valid_warnings *w, const struct api_object *o,
                         const struct api_object *old) {
    const struct api_ingress *ingress = o->body;
    if (!old && !ingress->spec.ingress_class_name.p &&
        labels_find(&o->meta->annotations, STR("kubernetes.io/ingress.class")))
        valid__warn(w, "annotation \"kubernetes.io/ingress.class\" is deprecated, please use "
                       "'spec.ingressClassName' instead");
}

void valid__warn_ingress_status(struct valid_warnings *w, const struct api_object *o,
                                const struct api_object *old) {
    (void)old;
    const struct api_ingress *ingress = o->body;
    const struct api_ingress_load_balancer_ingress_list *list =
        &ingress->status.load_balancer.ingress;
    for (size_t i = 0; i < list->n; i++)
        valid__warn_ip(w, AT_INDEX(BALANCERS, i), list->v[i].ip);
}

/* ---- policies ---- */

static void warn_peers(struct valid_warnings *w, const struct path *p,
                       const struct api_network_policy_peer_list *peers) {
    for (size_t i = 0; i < peers->n; i++) {
        const struct api_ip_block *b = peers->v[i].ip_block;
        const struct path *block = AT(AT_INDEX(p, i), "ipBlock");
        if (b)
            valid__warn_cidr(w, AT(block, "cidr"), b->cidr);
        for (size_t k = 0; b && k < b->except.n; k++)
            valid__warn_cidr(w, AT_INDEX(AT(block, "except"), k), b->except.v[k]);
    }
}

void valid__warn_network_policy(struct valid_warnings *w, const struct api_object *o,
                                const struct api_object *old) {
    (void)old;
    const struct api_network_policy_spec *s = &((const struct api_network_policy *)o->body)->spec;
    for (size_t i = 0; i < s->ingress.n; i++)
        warn_peers(w, AT(AT_INDEX(AT(&spec_path, "ingress"), i), "from"), &s->ingress.v[i].from);
    for (size_t i = 0; i < s->egress.n; i++)
        warn_peers(w, AT(AT_INDEX(AT(&spec_path, "egress"), i), "to"), &s->egress.v[i].to);
}
