/*
 * Protection of claims, volumes and classes of attributes that are in use: they have a finalizer,
 * which is taken from one that goes when nothing uses it any more. Claims tell whether they are
 * used.
 *
 * Follows k8s.io/kubernetes pkg/controller/volume/pvcprotection, func (*Controller) processPVC.
 * Follows k8s.io/kubernetes pkg/controller/volume/pvprotection, func (*Controller) processPV.
 * Follows k8s.io/kubernetes pkg/controller/volume/vacprotection, func (*Controller) processVAC.
 */
#include "api/claim_binding.h"
#include "feature/feature.h"
#include "manager/controller_int.h"
#include "manager/labelled_int.h"
#include "manager/pods_int.h"
#include "manager/storage/claim_users_int.h"

struct protection {
    struct manager__base base;         /* keys: what is protected */
    struct informer *pods;             /* for claims */
    struct labelled *users;            /* the same by the claims that they name */
    struct informer *claims, *volumes; /* for classes */
};

static bool is_finalizer(const struct protection *c, struct str name) {
    return str_is(name, c->base.row->variant);
}

static bool has_finalizer(const struct protection *c, const struct api_object *o) {
    for (size_t i = 0; i < o->meta->finalizers.n; i++)
        if (is_finalizer(c, o->meta->finalizers.v[i]))
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
        if (!is_finalizer(c, old.v[i]))
            list->v[list->n++] = old.v[i];
    if (with)
        list->v[list->n++] = str_of(c->base.row->variant);
    work_update(w, draft, NULL, NULL, NULL);
}

/* ---- claims ---- */

static bool is_shut_down(const struct api_object *pod) {
    const struct api_object_meta *meta = pod->meta;
    return meta->deletion_timestamp.set && meta->deletion_grace_period_seconds.set &&
           meta->deletion_grace_period_seconds.v == 0;
}

/* Does the volume stand for the claim, by its name, or as the pod's own one? */
static bool is_claim(struct arena *a, const struct api_object *pod, const struct api_volume *volume,
                     const struct api_object *claim) {
    const struct api_owner_reference *owner = api_object_controller(claim);
    if (!str_eq(api_claim_name(a, pod, volume), claim->meta->name))
        return false;
    return volume->volume_source.persistent_volume_claim ||
           (owner && str_eq(owner->uid, pod->meta->uid));
}

static bool volume_uses(struct arena *a, const struct api_object *pod,
                        const struct api_volume *volume, const struct api_object *claim) {
    return (volume->volume_source.persistent_volume_claim || !is_shut_down(pod)) &&
           is_claim(a, pod, volume, claim);
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

/* ---- what claims tell ---- */

static bool tells_usage(const struct protection *c) {
    return feature_enabled(c->base.manager->gates, FEATURE_PersistentVolumeClaimUnusedSinceTime);
}

/* The place of the condition Unused in the list, or its end. */
static size_t find_unused(const struct api_persistent_volume_claim_condition_list *list) {
    size_t i = 0;
    while (i < list->n && !str_is(list->v[i].type, "Unused"))
        i++;
    return i;
}

static const struct api_persistent_volume_claim_condition_list *
conditions_of(const struct api_object *claim) {
    return &((const struct api_persistent_volume_claim *)claim->body)->status.conditions;
}

/* A pod that waits for a node uses its claims as well. */
static bool is_named(const struct protection *c, struct arena *a, const struct api_object *claim) {
    const struct label key = {STR(""), claim->meta->name};
    size_t at = 0;
    for (const struct api_object *pod;
         (pod = labelled__next(c->users, claim->meta->namespace, &key, &at));) {
        const struct api_volume_list *list = &((const struct api_pod *)pod->body)->spec.volumes;
        for (size_t i = 0; !claim_users__has_ended(pod) && i < list->n; i++)
            if (is_claim(a, pod, &list->v[i], claim))
                return true;
    }
    return false;
}

static void send_usage(const struct protection *c, struct work *w, const struct api_object *o,
                       bool is_used) {
    struct api_object *draft = api_object_derive(o);
    struct api_persistent_volume_claim_condition_list *list =
        &((struct api_persistent_volume_claim *)api_own_body(draft))->status.conditions;
    struct api_persistent_volume_claim_condition_list old = *list;
    size_t place = find_unused(&old);
    list->v = arena_array(&draft->arena, struct api_persistent_volume_claim_condition, old.n + 1);
    list->n = place < old.n ? old.n : old.n + 1;
    for (size_t i = 0; i < old.n; i++)
        list->v[i] = old.v[i];
    list->v[place] = (struct api_persistent_volume_claim_condition){
        .type = STR("Unused"),
        .status = is_used ? STR("False") : STR("True"),
        .last_transition_time = manager__time(manager__now(c->base.manager)),
        .reason = is_used ? STR("PodUsingPVC") : STR("NoPodsUsingPVC"),
        .message = is_used ? STR("A pod is currently referencing this PVC")
                           : STR("No pods are currently referencing this PVC"),
    };
    work_update(w, draft, "status", NULL, NULL);
}

/* Of claims that are bound, so that whoever binds them is not disturbed.
 *
 * Follows k8s.io/kubernetes pkg/controller/volume/pvcprotection,
 * func (*Controller) updateUnusedCondition. */
static void tell_usage(const struct protection *c, struct work *w, const struct api_object *o) {
    const struct api_persistent_volume_claim_condition_list *list = conditions_of(o);
    const struct api_persistent_volume_claim *body = o->body;
    size_t place = find_unused(list);
    if (!tells_usage(c) || o->meta->deletion_timestamp.set || !str_is(body->status.phase, "Bound"))
        return;
    bool is_used = is_named(c, work_arena(w), o);
    if (place == list->n || str_is(list->v[place].status, "True") == is_used)
        send_usage(c, w, o, is_used);
}

/* ---- claims that go ---- */

/* What the server has now decides: an informer may not have told of a pod yet. */
static void pods_listed(void *arg, struct work *w, const struct client_answer *answer) {
    struct protection *c = arg;
    const struct api_object *o = informer_get(c->base.informer, work_namespace(w), work_name(w));
    if (answer->code)
        work_fail_by(w, answer);
    else if (o && o->meta->deletion_timestamp.set && has_finalizer(c, o) &&
             !is_used(work_arena(w), o, answer->items, answer->item_count))
        send_finalizers(c, w, o, false);
}

static void sync_claim(void *self, struct work *w, const struct api_object *o) {
    struct protection *c = self;
    size_t n;
    if (!needs_look(c, o)) {
        tell_usage(c, w, o);
        return;
    }
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
            workqueue_add(c->base.queue, pod->meta->namespace, name);
    }
}

static void file_pod(struct protection *c, const struct api_object *old,
                     const struct api_object *pod) {
    AUTO(arena_release) struct arena a = {0};
    struct labels claims = claim_users__claims(&a, pod);
    if (claims.n)
        labelled__set(c->users, pod, &claims);
    else if (old)
        labelled__drop(c->users, old);
}

static void pod_set(void *arg, const struct api_object *old, const struct api_object *pod) {
    struct protection *c = arg;
    bool is_new = !old && tells_usage(c);
    file_pod(c, old, pod);
    if (old && !str_eq(old->meta->uid, pod->meta->uid))
        enqueue_claims(c, old);
    if (is_new || claim_users__has_ended(pod) ||
        !((const struct api_pod *)pod->body)->spec.node_name.n)
        enqueue_claims(c, pod);
}

static void pod_deleted(void *arg, const struct api_object *last) {
    struct protection *c = arg;
    labelled__drop(c->users, last);
    enqueue_claims(c, last);
}

static void claim_set(void *self, const struct api_object *old, const struct api_object *o) {
    const struct api_persistent_volume_claim_condition_list *list = conditions_of(o);
    if (needs_look(self, o) || (tells_usage(self) && find_unused(list) == list->n))
        manager__add_set(self, old, o);
}

static void begin_users(void *self) {
    struct protection *c = self;
    c->users = labelled__new(c->base.manager->seed);
}

static void end_users(void *self) {
    labelled__free(((struct protection *)self)->users);
}

/* ---- volumes ---- */

/* One that is bound is in use. */
static void sync_volume(void *self, struct work *w, const struct api_object *o) {
    struct protection *c = self;
    if (!needs_look(c, o))
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

static void sync_class(void *self, struct work *w, const struct api_object *o) {
    struct protection *c = self;
    if (!needs_look(c, o))
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
            workqueue_add(c->base.queue, STR(""), names[i]);
}

static void user_set(void *arg, const struct api_object *old, const struct api_object *o) {
    if (old)
        enqueue_classes(arg, old, o);
}

static void user_deleted(void *arg, const struct api_object *last) {
    enqueue_classes(arg, last, NULL);
}

/* ---- all of them ---- */

static void object_set(void *self, const struct api_object *old, const struct api_object *o) {
    if (needs_look(self, o))
        manager__add_set(self, old, o);
}

const struct manager__controller manager__pvc_protection = {
    .size = sizeof(struct protection),
    .variant = "kubernetes.io/pvc-protection",
    .queues = {{"pvcprotection", sync_claim, .names = API_T_persistent_volume_claim, .workers = 1}},
    .kinds = {{API_T_persistent_volume_claim, .set = claim_set},
              {API_T_pod, .at = offsetof(struct protection, pods), .set = pod_set,
               .deleted = pod_deleted}},
    .begin = begin_users,
    .end = end_users,
};
const struct manager__controller manager__pv_protection = {
    .size = sizeof(struct protection),
    .variant = "kubernetes.io/pv-protection",
    .queues = {{"pvprotection", sync_volume, .names = API_T_persistent_volume, .workers = 1}},
    .kinds = {{API_T_persistent_volume, .set = object_set}},
};
const struct manager__controller manager__vac_protection = {
    .size = sizeof(struct protection),
    .variant = "kubernetes.io/vac-protection",
    .queues = {{"vacprotection", sync_class, .names = API_T_volume_attributes_class, .workers = 1}},
    .kinds = {{API_T_volume_attributes_class, .set = object_set},
              {API_T_persistent_volume_claim, .at = offsetof(struct protection, claims),
               .set = user_set, .deleted = user_deleted},
              {API_T_persistent_volume, .at = offsetof(struct protection, volumes), .set = user_set,
               .deleted = user_deleted}},
};
