/*
 * What endpoints are made of.
 *
 * Follows k8s.io/endpointslice util, func ShouldPodBeInEndpoints, func EndpointsEqualBeyondHash,
 * func NewPortMapKey.
 */
#include "manager/services/endpoint_parts_int.h"

#include <stdlib.h>

#include "codec/time.h"
#include "valid/ip.h"

bool endpoint__has_pod(const struct api_object *pod, bool terminating) {
    const struct api_pod_status *status = &((const struct api_pod *)pod->body)->status;
    return !api_pod_has_ended(pod->body) && (status->pod_ip.n || status->pod_ips.n) &&
           (terminating || !pod->meta->deletion_timestamp.set);
}

bool endpoint__has_hostname(const struct api_object *pod, const struct api_object *service) {
    const struct api_pod_spec *spec = &((const struct api_pod *)pod->body)->spec;
    return spec->hostname.n && str_eq(spec->subdomain, service->meta->name) &&
           str_eq(pod->meta->namespace, service->meta->namespace);
}

struct api_strs endpoint__addresses(struct arena *a, const struct api_object *pod, bool is_v6) {
    const struct api_pod_ip_list *all = &((const struct api_pod *)pod->body)->status.pod_ips;
    struct api_strs out = {arena_array(a, struct str, all->n), 0};
    for (size_t i = 0; i < all->n; i++) {
        struct ip ip = {0};
        if (valid_ip_parse(all->v[i].ip, &ip) && valid_ip_is_v6(&ip) == is_v6)
            out.v[out.n++] = valid_ip_text(a, &ip);
    }
    return out;
}

bool endpoint__is_headless(const struct api_object *service) {
    struct str ip = ((const struct api_service *)service->body)->spec.cluster_ip;
    return !ip.n || str_is(ip, "None");
}

struct api_object_reference *endpoint__pod_ref(struct arena *a, const struct api_object *pod) {
    struct api_object_reference *ref = arena_new(a, struct api_object_reference);
    *ref = (struct api_object_reference){.kind = STR("Pod"),
                                         .namespace = pod->meta->namespace,
                                         .name = pod->meta->name,
                                         .uid = pod->meta->uid};
    return ref;
}

void endpoint__set_trigger_time(struct api_object *draft, struct api_time t) {
    AUTO(buf_release) struct buf text = BUF_INIT(64);
    if (!t.set) {
        labels_remove(&draft->arena, &api_own_meta(draft)->annotations, ENDPOINT__TRIGGER_TIME);
        return;
    }
    time_write(&text, (struct time_instant){t.sec, 0});
    labels_put(&draft->arena, &api_own_meta(draft)->annotations,
               (struct label){ENDPOINT__TRIGGER_TIME, arena_str(&draft->arena, buf_view(&text))});
}

/* ---- of slices ---- */

static struct str port_text(struct arena *a, const struct api_discovery_endpoint_port *p) {
    return arena_printf(a, "%.*s|%.*s|%d|%d|%.*s;", STR_ARG(p->name), STR_ARG(p->protocol),
                        p->port.set, p->port.v, STR_ARG(p->app_protocol));
}

static struct str join_sorted(struct arena *a, struct str *v, size_t n) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    if (n)
        qsort(v, n, sizeof *v, str_cmp_qsort);
    for (size_t i = 0; i < n; i++)
        buf_addf(&text, "%.*s,", STR_ARG(v[i]));
    return arena_str(a, buf_view(&text));
}

struct str endpoint__ports_key(struct arena *a, const endpoint__ports *ports) {
    struct str *texts = arena_array(a, struct str, ports->n);
    for (size_t i = 0; i < ports->n; i++)
        texts[i] = port_text(a, &ports->v[i]);
    return join_sorted(a, texts, ports->n);
}

struct str endpoint__key(struct arena *a, const struct api_endpoint *e) {
    struct str *texts = arena_array(a, struct str, e->addresses.n);
    const struct api_object_reference *ref = e->target_ref;
    for (size_t i = 0; i < e->addresses.n; i++)
        texts[i] = e->addresses.v[i];
    return arena_printf(a, "%.*s %.*s %.*s/%.*s", STR_ARG(join_sorted(a, texts, e->addresses.n)),
                        STR_ARG(e->hostname), STR_ARG(ref ? ref->namespace : STR("")),
                        STR_ARG(ref ? ref->name : STR("")));
}

static bool same_text(struct str a, struct str b) {
    return !a.p == !b.p && str_eq(a, b);
}

static bool same_flag(struct api_opt_bool a, struct api_opt_bool b) {
    return a.set == b.set && (!a.set || a.v == b.v);
}

static bool same_ref(const struct api_object_reference *a, const struct api_object_reference *b) {
    if (!a || !b)
        return !a && !b;
    return str_eq(a->kind, b->kind) && str_eq(a->namespace, b->namespace) &&
           str_eq(a->name, b->name) && str_eq(a->uid, b->uid) &&
           str_eq(a->api_version, b->api_version) && str_eq(a->field_path, b->field_path);
}

bool endpoint__is_same(const struct api_endpoint *x, const struct api_endpoint *y) {
    return same_text(x->node_name, y->node_name) && same_text(x->zone, y->zone) &&
           same_flag(x->conditions.ready, y->conditions.ready) &&
           same_flag(x->conditions.serving, y->conditions.serving) &&
           same_flag(x->conditions.terminating, y->conditions.terminating) &&
           same_ref(x->target_ref, y->target_ref);
}

static struct str label_of(const struct api_object *o, struct str key) {
    const struct label *l = labels_find(&o->meta->labels, key);
    return l ? l->value : (struct str){0};
}

size_t endpoint__labels_size(const struct labels *labels) {
    size_t n = labels->n * sizeof *labels->v;
    for (size_t i = 0; i < labels->n; i++)
        n += labels->v[i].key.n + labels->v[i].value.n;
    return n;
}

struct str endpoint__manager_of(const struct api_object *slice) {
    return label_of(slice, STR("endpointslice.kubernetes.io/managed-by"));
}

struct str endpoint__service_of(const struct api_object *slice) {
    return label_of(slice, ENDPOINT__SERVICE_NAME);
}
