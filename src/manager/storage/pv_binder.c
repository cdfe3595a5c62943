/*
 * The controller that binds claims to volumes, and reclaims volumes.
 *
 * Follows k8s.io/kubernetes pkg/controller/volume/persistentvolume, func NewController.
 */
#include "manager/storage/pv_binder_int.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "manager/labelled_int.h"
#include "manager/storage/pv_index_int.h"

static void claim_set(void *arg, const struct api_object *old, const struct api_object *o) {
    struct pv_binder *b = arg;
    (void)old;
    workqueue_add_object(b->claim_queue, o);
}

static void claim_deleted(void *arg, const struct api_object *last) {
    struct pv_binder *b = arg;
    const struct api_persistent_volume_claim *body = last->body;
    if (body->spec.volume_name.n)
        workqueue_add(b->volume_queue, STR(""), body->spec.volume_name);
}

static void volume_set(void *arg, const struct api_object *old, const struct api_object *o) {
    struct pv_binder *b = arg;
    pv_index__put(b->index, old, o);
    workqueue_add_object(b->volume_queue, o);
}

static void volume_deleted(void *arg, const struct api_object *last) {
    struct pv_binder *b = arg;
    const struct api_persistent_volume *body = last->body;
    pv_index__put(b->index, last, NULL);
    if (body->spec.claim_ref)
        workqueue_add(b->claim_queue, body->spec.claim_ref->namespace, body->spec.claim_ref->name);
}

/* One key at a time: two claims must not be given one volume. */
static struct workqueue *queue_new(struct pv_binder *b, const char *name,
                                   void (*sync)(void *arg, struct work *w)) {
    return workqueue_new(&(struct workqueue_opts){.name = name,
                                                  .client = b->manager->client,
                                                  .informers = b->manager->informers,
                                                  .log = b->manager->log,
                                                  .workers = 1,
                                                  .sync = sync,
                                                  .arg = b});
}

static void *start(struct manager *m) {
    struct pv_binder *b = xcalloc(1, sizeof *b);
    b->manager = m;
    b->events = manager__events(m, "persistentvolume-controller");
    b->claims = manager__informer(m, API_T_persistent_volume_claim);
    b->volumes = manager__informer(m, API_T_persistent_volume);
    b->classes = manager__informer(m, API_T_storage_class);
    b->index = pv_index__new(m->seed);
    b->pods = labelled__new(m->seed);
    b->claim_queue = queue_new(b, "claims", pv__sync_claim);
    b->volume_queue = queue_new(b, "volumes", pv__sync_volume);
    informer_listen(b->volumes, &(struct informer_handler){
                                    .set = volume_set, .deleted = volume_deleted, .arg = b});
    informer_listen(b->claims, &(struct informer_handler){
                                   .set = claim_set, .deleted = claim_deleted, .arg = b});
    informer_listen(
        manager__informer(m, API_T_pod),
        &(struct informer_handler){.set = pv__pod_set, .deleted = pv__pod_deleted, .arg = b});
    return b;
}

static void stop(void *self) {
    struct pv_binder *b = self;
    workqueue_free(b->claim_queue);
    workqueue_free(b->volume_queue);
    events_free(b->events);
    pv_index__free(b->index);
    labelled__free(b->pods);
    free(b);
}

const struct manager__controller manager__pv_binder = {start, stop};
