/*
 * Host ports: those of containers and sidecars, on one address of the node or on all.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/nodeports, func Fits.
 */
#include <stdlib.h>

#include "base/vec.h"
#include "kubelet/kubelet_int.h"

#define ALL_ADDRESSES STR("0.0.0.0")

struct port {
    int32_t number;
    struct str protocol, ip;
};

struct ports {
    VEC(struct port) list;
};

static void add_container(struct ports *ports, const struct api_container *c) {
    for (size_t i = 0; i < c->ports.n; i++) {
        const struct api_container_port *p = &c->ports.v[i];
        if (p->host_port > 0)
            vec_push(&ports->list,
                     (struct port){p->host_port, p->protocol.n ? p->protocol : STR("TCP"),
                                   p->host_ip.n ? p->host_ip : ALL_ADDRESSES});
    }
}

static void add_pod(struct ports *ports, const struct api_pod *pod) {
    for (size_t i = 0; i < pod->spec.init_containers.n; i++)
        if (str_is(pod->spec.init_containers.v[i].restart_policy, "Always"))
            add_container(ports, &pod->spec.init_containers.v[i]);
    for (size_t i = 0; i < pod->spec.containers.n; i++)
        add_container(ports, &pod->spec.containers.v[i]);
}

static int compare_pair(const struct port *a, const struct port *b) {
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return str_cmp(a->protocol, b->protocol);
}

static int compare_port(const void *a, const void *b) {
    const struct port *x = a, *y = b;
    int c = compare_pair(x, y);
    return c ? c : str_cmp(x->ip, y->ip);
}

static int compare_any_address(const void *a, const void *b) {
    return compare_pair(a, b);
}

static bool is_used(const struct ports *used, struct port p) {
    bool all = str_eq(p.ip, ALL_ADDRESSES);
    if (bsearch(&p, used->list.v, used->list.n, sizeof p, all ? compare_any_address : compare_port))
        return true;
    p.ip = ALL_ADDRESSES;
    return !all && bsearch(&p, used->list.v, used->list.n, sizeof p, compare_port);
}

bool kubelet__has_port_conflict(const struct kubelet__check *c) {
    struct ports wanted = {0}, used = {0};
    add_pod(&wanted, c->pod);
    for (size_t i = 0; wanted.list.n > 0 && i < c->state->pod_count; i++)
        add_pod(&used, c->state->pods[i]);
    if (used.list.n > 0)
        qsort(used.list.v, used.list.n, sizeof *used.list.v, compare_port);
    bool conflict = false;
    for (size_t i = 0; used.list.n > 0 && !conflict && i < wanted.list.n; i++)
        conflict = is_used(&used, wanted.list.v[i]);
    vec_release(&wanted.list);
    vec_release(&used.list);
    return conflict;
}
