/*
 * Pods by the claims that they name.
 *
 * Follows k8s.io/kubernetes pkg/controller/volume/persistentvolume,
 * func (*PersistentVolumeController) findNonScheduledPodsByPVC,
 * func (*PersistentVolumeController) isVolumeUsed.
 */
#include <stdlib.h>

#include "manager/labelled_int.h"
#include "manager/storage/claim_users_int.h"
#include "manager/storage/pv_binder_int.h"

void pv__pod_set(void *self, const struct api_object *old, const struct api_object *pod) {
    struct pv_binder *b = self;
    AUTO(arena_release) struct arena a = {0};
    struct labels claims = claim_users__claims(&a, pod);
    if (claims.n)
        labelled__set(b->pods, pod, &claims);
    else if (old)
        labelled__drop(b->pods, old);
}

void pv__pod_deleted(void *self, const struct api_object *last) {
    struct pv_binder *b = self;
    labelled__drop(b->pods, last);
}

struct str pv__pods_of(struct pv_binder *b, struct arena *a, struct str namespace, struct str claim,
                       bool only_waiting, size_t *n) {
    const struct label key = {STR(""), claim};
    struct str *names = arena_array(a, struct str, labelled__count(b->pods, namespace, &key));
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    size_t at = 0;
    *n = 0;
    for (const struct api_object *pod; (pod = labelled__next(b->pods, namespace, &key, &at));) {
        if (claim_users__has_ended(pod) ||
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
