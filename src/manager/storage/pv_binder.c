/*
 * The controller that binds claims to volumes, and reclaims volumes.
 *
 * Follows k8s.io/kubernetes pkg/controller/volume/persistentvolume, func NewController.
 */
#include "manager/storage/pv_binder_int.h"

#include "manager/labelled_int.h"
#include "manager/storage/pv_index_int.h"

/* ---- what informers tell: whoever is named is looked at ---- */

static void claim_set(void *self, const struct api_object *old, const struct api_object *o) {
    struct pv_binder *b = self;
    const struct api_persistent_volume_claim *body = o->body;
    struct label volume = {STR(""), body->spec.volume_name};
    if (volume.value.n)
        labelled__set(b->by_volume, o, &(struct labels){&volume, 1});
    else if (old)
        labelled__drop(b->by_volume, old);
    workqueue_add_object(b->claim_queue, o);
}

/* The claim may go before it is told of the volume that was given to it. */
static void claim_deleted(void *self, const struct api_object *last) {
    struct pv_binder *b = self;
    const struct api_persistent_volume_claim *body = last->body;
    size_t at = 0;
    labelled__drop(b->by_volume, last);
    if (body->spec.volume_name.n)
        workqueue_add(b->volume_queue, STR(""), body->spec.volume_name);
    for (const struct api_object *o;
         (o = pv_index__next_of(b->index, last->meta->namespace, last->meta->name, &at));)
        workqueue_add_object(b->volume_queue, o);
}

static const struct api_object_reference *ref_of(const struct api_object *volume) {
    return volume ? ((const struct api_persistent_volume *)volume->body)->spec.claim_ref : NULL;
}

static bool same_ref(const struct api_object_reference *x, const struct api_object_reference *y) {
    return x && y ? str_eq(x->namespace, y->namespace) && str_eq(x->name, y->name) &&
                        str_eq(x->uid, y->uid)
                  : x == y;
}

static void enqueue(struct pv_binder *b, const struct api_object_reference *ref) {
    if (ref)
        workqueue_add(b->claim_queue, ref->namespace, ref->name);
}

static void enqueue_naming(struct pv_binder *b, const struct api_object *volume) {
    const struct label key = {STR(""), volume->meta->name};
    size_t at = 0;
    for (const struct api_object *o; (o = labelled__next(b->by_volume, STR(""), &key, &at));)
        workqueue_add_object(b->claim_queue, o);
}

/* Upstream looks at all claims every 15 seconds; here those are looked at that a change is about.
 */
static void volume_set(void *self, const struct api_object *old, const struct api_object *o) {
    struct pv_binder *b = self;
    pv_index__put(b->index, old, o);
    workqueue_add_object(b->volume_queue, o);
    enqueue(b, ref_of(o));
    if (old && same_ref(ref_of(old), ref_of(o)))
        return;
    enqueue(b, ref_of(old));
    enqueue_naming(b, o);
}

static void volume_deleted(void *self, const struct api_object *last) {
    struct pv_binder *b = self;
    pv_index__put(b->index, last, NULL);
    enqueue(b, ref_of(last));
    enqueue_naming(b, last);
}

/* ---- beginning and end ---- */

static void begin(void *self) {
    struct pv_binder *b = self;
    b->index = pv_index__new(b->base.manager->seed);
    b->pods = labelled__new(b->base.manager->seed);
    b->by_volume = labelled__new_wide(b->base.manager->seed);
}

static void end(void *self) {
    struct pv_binder *b = self;
    pv_index__free(b->index);
    labelled__free(b->pods);
    labelled__free(b->by_volume);
}

/* One key at a time: two claims must not be given one volume. */
const struct manager__controller manager__pv_binder = {
    .size = sizeof(struct pv_binder),
    .component = "persistentvolume-controller",
    .queues = {{"claims", pv__sync_claim, .names = API_T_persistent_volume_claim,
                .at = offsetof(struct pv_binder, claim_queue), .workers = 1},
               {"volumes", pv__sync_volume, .names = API_T_persistent_volume,
                .at = offsetof(struct pv_binder, volume_queue), .workers = 1}},
    .kinds = {{API_T_persistent_volume, .at = offsetof(struct pv_binder, volumes),
               .set = volume_set, .deleted = volume_deleted},
              {API_T_persistent_volume_claim, .at = offsetof(struct pv_binder, claims),
               .set = claim_set, .deleted = claim_deleted},
              {API_T_storage_class, .at = offsetof(struct pv_binder, classes)},
              {API_T_pod, .set = pv__pod_set, .deleted = pv__pod_deleted}},
    .begin = begin,
    .end = end,
};
