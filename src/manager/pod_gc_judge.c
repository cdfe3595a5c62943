/*
 * Which pods nobody else will remove.
 *
 * Follows k8s.io/kubernetes pkg/controller/podgc, func (*PodGCController) gc.
 */
#include <stdlib.h>

#include "manager/node_taints_int.h"
#include "manager/pod_gc_int.h"
#include "manager/pods_int.h"

static bool is_out_of_service(const struct api_node *node) {
    if (manager__readiness_of(node) == MANAGER__READY)
        return false;
    for (size_t i = 0; i < node->spec.taints.n; i++)
        if (str_is(node->spec.taints.v[i].key, "node.kubernetes.io/out-of-service"))
            return true;
    return false;
}

enum manager__gc_reason manager__gc_judge(const struct api_object *pod, const struct api_node *node,
                                          bool is_gone) {
    const struct api_pod *body = pod->body;
    bool is_going = pod->meta->deletion_timestamp.set;
    if (!body->spec.node_name.n)
        return is_going ? MANAGER__GC_UNSCHEDULED : MANAGER__GC_NONE;
    if (!node)
        return is_gone ? MANAGER__GC_ORPHANED : MANAGER__GC_NONE;
    return is_going && is_out_of_service(node) ? MANAGER__GC_OUT_OF_SERVICE : MANAGER__GC_NONE;
}

static bool is_evicted(const struct api_object *pod) {
    const struct api_pod *body = pod->body;
    return str_is(body->status.phase, "Failed") && str_is(body->status.reason, "Evicted");
}

static int compare(const void *a, const void *b) {
    const struct api_object *x = *(const struct api_object *const *)a;
    const struct api_object *y = *(const struct api_object *const *)b;
    if (is_evicted(x) != is_evicted(y))
        return is_evicted(x) ? -1 : 1;
    int64_t left = x->meta->creation_timestamp.sec, right = y->meta->creation_timestamp.sec;
    if (left != right)
        return left < right ? -1 : 1;
    int order = str_cmp(x->meta->name, y->meta->name);
    return order ? order : str_cmp(x->meta->namespace, y->meta->namespace);
}

size_t manager__gc_surplus(const struct api_object **ended, size_t n, size_t most) {
    if (n <= most)
        return 0;
    qsort(ended, n, sizeof *ended, compare);
    return n - most;
}
