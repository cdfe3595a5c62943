/*
 * Protection of claims, volumes and classes of attributes that are in use: they have a finalizer,
 * which is taken from one that goes when nothing uses it any more.
 *
 * Follows k8s.io/kubernetes pkg/controller/volume/pvcprotection, func (*Controller) processPVC.
 * Follows k8s.io/kubernetes pkg/controller/volume/pvprotection, func (*Controller) processPV.
 * Follows k8s.io/kubernetes pkg/controller/volume/vacprotection, func (*Controller) processVAC.
 */
#include <stdlib.h>

#include "api/claim_binding.h"
#include "base/alloc.h"
#include "manager/controller_int.h"

struct protection {
    struct manager *manager;
    struct workqueue *queue;
    struct informer *informer;
    struct informer *pods;             /* for claims */
    struct informer *claims, *volumes; /* for classes */
    const char *finalizer;
};

static bool has_finalizer(const struct protection *c, const struct api_object *o) {
    for (size_t i = 0; i < o->meta->finalizers.n; i++)
        if (str_is(o->meta->finalizers.v[i], c->finalizer))
            return true;
    return false;
}

/* It goes and has the finalizer, or stays and has it not. */
static bool needs_look(const struct protection *c, const struct api_object *o) {
    return o->meta->deletion_timestamp.set == has_finalizer(c, o);
}

/* Writes the object with the finalizer, or without it. */
static void send_finalizers(const struct protection *c, struct work *w, const struct api_object *o,
                            bool with) {
    struct api_object *draft = api_object_derive(o);
    struct api_strs old = o->meta->finalizers, *list = &api_own_meta(draft)->finalizers;
    *list = (struct api_strs){arena_array(&draft->arena, struct str, old.n + 1), 0};
    for (size_t i = 0; i < old.n; i++)
        if (!str_is(old.v[i], c->finalizer))
            list->v[list->n++] = old.v[i];
    if (with)
        list->v[list->n++] = str_of(c->finalizer);
    work_send(w,
              &(struct client_request){.verb = REGISTRY_VERB_UPDATE,
                                       .kind = o->kind,
                                       .namespace = o->meta->namespace,
                                       .name = o->meta->name,
                                       .object = draft},
              NULL, NULL);
}

static const struct api_object *object_of(const struct protection *c, struct work *w) {
    return informer_get(c->informer, work_namespace(w), work_name(w));
}

/* ---- claims ---- */

static bool is_shut_down(const struct api_object *pod) {
    const struct api_object_meta *meta = pod->meta;
    return meta->deletion_timestamp.set && meta->deletion_grace_period_seconds.set &&
           meta->deletion_grace_period_seconds.v == 0;
}

static bool volume_uses(struct arena *a, const struct api_object *pod,
                        const struct api_volume *volume, const struct api_object *claim) {
    const struct api_owner_reference *owner = api_object_controller(claim);
    if (!str_eq(api_claim_name(a, pod, volume), claim->meta->name))
        return false;
    return volume->volume_source.persistent_volume_claim ||
           (!is_shut_down(pod) && owner && str_eq(owner->uid, pod->meta->uid));
}

static bool is_used_by(struct arena *a, const struct api_object *claim,
                       const struct api_object *pod) {
    const struct api_pod_spec *spec = &((const struct api_pod *)pod->body)->spec;
    for (size_t i = 0; spec->node_name.n && i < spec->volumes.n; i++)
        if (volume_uses(a, pod, &spec->volumes.v[i], claim))
            return true;
    return false;
}

static bool is_used(struct arena *a, const struct api_object *claim,
                    const struct api_object *const *pods, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (is_used_by(a, claim, pods[i]))
            return true;
    return false;
}

/* What the server has now decides: an informer may not have told of a pod yet. */
static void pods_listed(void *arg, struct work *w, const struct client_answer *answer) {
    struct protection *c = arg;
    const struct api_object *o = object_of(c, w);
    if (answer->code)
        work_fail(w, "%.*s", STR_ARG(answer->message));
    else if (o && o->meta->deletion_timestamp.set && has_finalizer(c, o) &&
             !is_used(work_arena(w), o, answer->items, answer->item_count))
        send_finalizers(c, w, o, false);
}

static void sync_claim(void *arg, struct work *w) {
    struct protection *c = arg;
    const struct api_object *o = object_of(c, w);
    size_t n;
    if (!o || !needs_look(c, o))
        return;
    if (!o->meta->deletion_timestamp.set) {
        send_finalizers(c, w, o, true);
        return;
    }
    const struct api_object *const *pods =
        informer_find(c->pods, INFORMER_BY_NAMESPACE, o->meta->namespace, &n);
    if (!is_used(work_arena(w), o, pods, n))
        work_send(w,
                  &(struct client_request){.verb = REGISTRY_VERB_LIST,
                                           .kind = client_kind(API_T_pod),
                                           .selection.namespace = o->meta->namespace},
                  pods_listed, c);
}

static void enqueue_claims(struct protection *c, const struct api_object *pod) {
    const struct api_pod_spec *spec = &((const struct api_pod *)pod->body)->spec;
    AUTO(arena_release) struct arena a = {0};
    for (size_t i = 0; i < spec->volumes.n; i++) {
        struct str name = api_claim_name(&a, pod, &spec->volumes.v[i]);
        if (name.n)
            workqueue_add(c->queue, pod->meta->namespace, name);
    }
}

static void pod_set(void *arg, const struct api_object *old, const struct api_object *pod) {
    const struct api_pod *body = pod->body;
    if (old && !str_eq(old->meta->uid, pod->meta->uid))
        enqueue_claims(arg, old);
    if (api_pod_has_ended(body) || !body->spec.node_name.n)
        enqueue_claims(arg, pod);
}

static void pod_deleted(void *arg, const struct api_object *last) {
    enqueue_claims(arg, last);
}

/* ---- volumes ---- */

/* One that is bound is in use. */
static void sync_volume(void *arg, struct work *w) {
    struct protection *c = arg;
    const struct api_object *o = object_of(c, w);
    if (!o || !needs_look(c, o))
        return;
    const struct api_persistent_volume *volume = o->body;
    bool goes = o->meta->deletion_timestamp.set;
    if (!goes || !str_is(volume->status.phase, "Bound"))
        send_finalizers(c, w, o, !goes);
}

/* ---- classes of attributes ---- */

enum { CLASSES_OF_CLAIM = 3 };

/* The classes that a claim or a volume names; some may be empty. */
static size_t classes_of(const struct api_object *o, struct str out[CLASSES_OF_CLAIM]) {
    if (o->kind == client_kind(API_T_persistent_volume)) {
        out[0] = ((const struct api_persistent_volume *)o->body)->spec.volume_attributes_class_name;
        return 1;
    }
    const struct api_persistent_volume_claim *claim = o->body;
    const struct api_modify_volume_status *modify = claim->status.modify_volume_status;
    out[0] = claim->spec.volume_attributes_class_name;
    out[1] = claim->status.current_volume_attributes_class_name;
    out[2] = modify ? modify->target_volume_attributes_class_name : (struct str){0};
    return CLASSES_OF_CLAIM;
}

static bool names_class(const struct api_object *o, struct str class) {
    struct str names[CLASSES_OF_CLAIM];
    size_t n = classes_of(o, names);
    for (size_t i = 0; i < n; i++)
        if (str_eq(names[i], class))
            return true;
    return false;
}

static bool any_names_class(struct informer *informer, struct str class) {
    size_t n;
    const struct api_object *const *all = informer_find(informer, INFORMER_ALL, STR(""), &n);
    for (size_t i = 0; i < n; i++)
        if (names_class(all[i], class))
            return true;
    return false;
}

static void sync_class(void *arg, struct work *w) {
    struct protection *c = arg;
    const struct api_object *o = object_of(c, w);
    if (!o || !needs_look(c, o))
        return;
    bool goes = o->meta->deletion_timestamp.set;
    if (!goes ||
        (!any_names_class(c->volumes, o->meta->name) && !any_names_class(c->claims, o->meta->name)))
        send_finalizers(c, w, o, !goes);
}

/* Looks at the classes that one named and that the other, if there is one, does not. */
static void enqueue_classes(struct protection *c, const struct api_object *o,
                            const struct api_object *but) {
    struct str names[CLASSES_OF_CLAIM];
    size_t n = classes_of(o, names);
    for (size_t i = 0; i < n; i++)
        if (names[i].n && (!but || !names_class(but, names[i])))
            workqueue_add(c->queue, STR(""), names[i]);
}

static void user_set(void *arg, const struct api_object *old, const struct api_object *o) {
    if (old)
        enqueue_classes(arg, old, o);
}

static void user_deleted(void *arg, const struct api_object *last) {
    enqueue_classes(arg, last, NULL);
}

/* ---- all of them ---- */

static void object_set(void *arg, const struct api_object *old, const struct api_object *o) {
    struct protection *c = arg;
    (void)old;
    if (needs_look(c, o))
        workqueue_add_object(c->queue, o);
}

static struct protection *start(struct manager *m, enum api_type_id type, const char *name,
                                void (*sync)(void *arg, struct work *w)) {
    struct protection *c = xcalloc(1, sizeof *c);
    c->manager = m;
    c->informer = manager__informer(m, type);
    c->queue = workqueue_new(&(struct workqueue_opts){.name = name,
                                                      .client = m->client,
                                                      .informers = m->informers,
                                                      .log = m->log,
                                                      .workers = 1,
                                                      .sync = sync,
                                                      .arg = c});
    return c;
}

static void *start_claims(struct manager *m) {
    struct protection *c = start(m, API_T_persistent_volume_claim, "pvcprotection", sync_claim);
    c->finalizer = "kubernetes.io/pvc-protection";
    c->pods = manager__informer(m, API_T_pod);
    informer_listen(c->informer, &(struct informer_handler){.set = object_set, .arg = c});
    informer_listen(c->pods,
                    &(struct informer_handler){.set = pod_set, .deleted = pod_deleted, .arg = c});
    return c;
}

static void *start_volumes(struct manager *m) {
    struct protection *c = start(m, API_T_persistent_volume, "pvprotection", sync_volume);
    c->finalizer = "kubernetes.io/pv-protection";
    informer_listen(c->informer, &(struct informer_handler){.set = object_set, .arg = c});
    return c;
}

static void *start_classes(struct manager *m) {
    struct protection *c = start(m, API_T_volume_attributes_class, "vacprotection", sync_class);
    c->finalizer = "kubernetes.io/vac-protection";
    c->claims = manager__informer(m, API_T_persistent_volume_claim);
    c->volumes = manager__informer(m, API_T_persistent_volume);
    informer_listen(c->informer, &(struct informer_handler){.set = object_set, .arg = c});
    const struct informer_handler users = {.set = user_set, .deleted = user_deleted, .arg = c};
    informer_listen(c->claims, &users);
    informer_listen(c->volumes, &users);
    return c;
}

static void stop(void *self) {
    struct protection *c = self;
    workqueue_free(c->queue);
    free(c);
}

const struct manager__controller manager__pvc_protection = {start_claims, stop};
const struct manager__controller manager__pv_protection = {start_volumes, stop};
const struct manager__controller manager__vac_protection = {start_classes, stop};
