/*
 * Pods by the claims that they name.
 *
 * Follows k8s.io/kubernetes pkg/controller/volume/persistentvolume,
 * func (*PersistentVolumeController) findNonScheduledPodsByPVC,
 * func (*PersistentVolumeController) isVolumeUsed.
 */
#include <stdlib.h>

#include "manager/labelled_int.h"
#include "manager/storage/pv_binder_int.h"

/* The claims of a pod, as labels of which only the values differ. */
static struct labels claims_of(struct arena *a, const struct api_object *pod) {
    const struct api_volume_list *list = &((const struct api_pod *)pod->body)->spec.volumes;
    struct labels out = {arena_array(a, struct label, list->n), 0};
    for (size_t i = 0; i < list->n; i++) {
        struct str name = api_claim_name(a, pod, &list->v[i]);
        if (name.n)
            out.v[out.n++].value = name;
    }
    return out;
}

void pv__pod_set(void *self, const struct api_object *old, const struct api_object *pod) {
    struct pv_binder *b = self;
    AUTO(arena_release) struct arena a = {0};
    struct labels claims = claims_of(&a, pod);
    if (claims.n)
        labelled__set(b->pods, pod, &claims);
    else if (old)
        labelled__drop(b->pods, old);
}

void pv__pod_deleted(void *self, const struct api_object *last) {
    struct pv_binder *b = self;
    labelled__drop(b->pods, last);
}

static bool any_runs(const struct api_container_status_list *list) {
    for (size_t i = 0; i < list->n; i++)
        if (!list->v[i].state.terminated && !list->v[i].state.waiting)
            return true;
    return false;
}

/* Follows k8s.io/kubernetes pkg/volume/util, func IsPodTerminated. */
static bool has_ended(const struct api_object *pod) {
    const struct api_pod *body = pod->body;
    return api_pod_has_ended(body) ||
           (pod->meta->deletion_timestamp.set && !any_runs(&body->status.init_container_statuses) &&
            !any_runs(&body->status.container_statuses) &&
            !any_runs(&body->status.ephemeral_container_statuses));
}

struct str pv__pods_of(struct pv_binder *b, struct arena *a, struct str namespace, struct str claim,
                       bool only_waiting, size_t *n) {
    const struct label key = {STR(""), claim};
    struct str *names = arena_array(a, struct str, labelled__count(b->pods, namespace, &key));
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    size_t at = 0;
    *n = 0;
    for (const struct api_object *pod; (pod = labelled__next(b->pods, namespace, &key, &at));) {
        if (has_ended(pod) ||
            (only_waiting && ((const struct api_pod *)pod->body)->spec.node_name.n))
            continue;
        names[(*n)++] = only_waiting ? pod->meta->name
                                     : arena_printf(a, "%.*s/%.*s", STR_ARG(namespace),
                                                    STR_ARG(pod->meta->name));
    }
    if (*n)
        qsort(names, *n, sizeof *names, str_cmp_qsort);
    for (size_t i = 0; i < *n; i++)
        buf_addf(&text, "%s%.*s", i ? "," : "", STR_ARG(names[i]));
    return arena_str(a, buf_view(&text));
}
