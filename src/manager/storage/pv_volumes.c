/*
 * Volumes: whose they are, and what becomes of those whose claim is gone.
 *
 * Follows k8s.io/kubernetes pkg/controller/volume/persistentvolume,
 * func (*PersistentVolumeController) syncVolume.
 */
#include "manager/storage/pv_binder_int.h"
#include "sched/migrated.h"

#define IN_TREE_FINALIZER  "kubernetes.io/pv-controller"
#define EXTERNAL_FINALIZER "external-provisioner.volume.kubernetes.io/finalizer"

struct volume_sync {
    struct pv_binder *b;
    struct work *work;
    const struct api_object *volume;
    const struct api_persistent_volume *body;
};

static bool has(const struct api_object *o, struct str annotation) {
    return labels_find(&o->meta->annotations, annotation);
}

static bool set_phase(const struct volume_sync *s, const char *phase,
                      const struct pv_remark *remark) {
    return pv__set_volume_phase(s->b, s->work, s->volume, phase, remark);
}

static void fail(const struct volume_sync *s, const char *reason, struct str text) {
    const struct pv_remark remark = {EVENTS_WARNING, reason, text};
    set_phase(s, "Failed", &remark);
}

/* ---- reclaiming ---- */

static bool has_source(const void *p) {
    return p;
}

/* Has the binder a plug-in for the volume's source? */
static bool has_plugin(const struct api_persistent_volume_source *source) {
    return has_source(source->host_path) || has_source(source->nfs) || has_source(source->fc) ||
           has_source(source->iscsi) || has_source(source->csi);
}

/* Why nobody here can delete what is behind the volume; absent: somebody can. An external
 * provisioner sees to it (*external), or nothing is to be done. */
static struct str deletion_fault(const struct volume_sync *s, bool *external) {
    struct arena *a = work_arena(s->work);
    const struct label *by = labels_find(&s->volume->meta->annotations, API_PROVISIONED_BY);
    const struct api_persistent_volume_source *source = &s->body->spec.persistent_volume_source;
    struct str path = source->host_path ? source->host_path->path : STR("");
    *external = (by && by->value.n && !str_starts(by->value, STR("kubernetes.io/"))) ||
                has(s->volume, PV__MIGRATED_TO) || source->csi;
    if (*external)
        return (struct str){0};
    if (by && by->value.n && !str_is(by->value, "kubernetes.io/host-path"))
        return arena_printf(a, "no volume plugin matched name: %.*s", STR_ARG(by->value));
    if (!source->host_path)
        return arena_printf(
            a,
            "error getting deleter volume plugin for volume \"%.*s\": no %svolume plugin matched",
            STR_ARG(s->volume->meta->name), has_plugin(source) ? "deletable " : "");
    if (!str_starts(path, STR("/tmp/")) || path.n == 5)
        return arena_printf(a, "host_path deleter only supports /tmp/.+ but received provided %.*s",
                            STR_ARG(path));
    return (struct str){0};
}

static bool has_finalizer(const struct api_object *o, const char *finalizer) {
    for (size_t i = 0; i < o->meta->finalizers.n; i++)
        if (str_is(o->meta->finalizers.v[i], finalizer))
            return true;
    return false;
}

/* Writes the volume without one finalizer, and with another; either may be NULL. */
static void send_finalizers(const struct volume_sync *s, const char *without, const char *with) {
    struct api_object *draft = api_object_derive(s->volume);
    struct api_strs old = s->volume->meta->finalizers, *list = &api_own_meta(draft)->finalizers;
    *list = (struct api_strs){arena_array(&draft->arena, struct str, old.n + 1), 0};
    for (size_t i = 0; i < old.n; i++)
        if (!without || !str_is(old.v[i], without))
            list->v[list->n++] = old.v[i];
    if (with)
        list->v[list->n++] = str_of(with);
    pv__send(s->b, s->work, draft, NULL, NULL);
}

/* Nothing is behind a volume of a simulated node: it is deleted at once. It keeps its finalizer
 * until it goes, for one that stays would be given it again. */
static void delete_volume(const struct volume_sync *s) {
    bool external;
    struct str why = deletion_fault(s, &external);
    if (why.p)
        fail(s, "VolumeFailedDelete", why);
    else if (external)
        return;
    else if (!s->volume->meta->deletion_timestamp.set)
        work_delete(s->work, s->volume, NULL, NULL, NULL);
    else if (has_finalizer(s->volume, IN_TREE_FINALIZER))
        send_finalizers(s, IN_TREE_FINALIZER, NULL);
}

static void recycle(const struct volume_sync *s) {
    const struct api_persistent_volume_source *source = &s->body->spec.persistent_volume_source;
    const struct api_object_reference *ref = s->body->spec.claim_ref;
    size_t n;
    struct str pods = pv__pods_of(s->b, work_arena(s->work), ref->namespace, ref->name, false, &n);
    if (n && !informer_get(s->b->claims, ref->namespace, ref->name)) {
        events_say(s->b->base.events, s->volume, EVENTS_NORMAL, "VolumeFailedRecycle",
                   "Volume is used by pods: %.*s", STR_ARG(pods));
        work_again_after(s->work, PV__RESYNC);
    } else if (!source->host_path && !source->nfs)
        fail(s, "VolumeFailedRecycle", STR("No recycler plugin found for the volume!"));
    else {
        events_say(s->b->base.events, s->volume, EVENTS_NORMAL, "VolumeRecycled",
                   "Volume recycled");
        pv__unbind(s->b, s->work, s->volume);
    }
}

static void reclaim(const struct volume_sync *s) {
    struct str policy = s->body->spec.persistent_volume_reclaim_policy;
    if (has(s->volume, PV__MIGRATED_TO) || str_is(policy, "Retain"))
        return;
    if (str_is(policy, "Recycle"))
        recycle(s);
    else if (str_is(policy, "Delete"))
        delete_volume(s);
    else
        fail(s, "VolumeUnknownReclaimPolicy",
             STR("Volume has unrecognized PersistentVolumeReclaimPolicy"));
}

static bool was_released(const struct volume_sync *s) {
    return str_is(s->body->status.phase, "Released") || str_is(s->body->status.phase, "Failed");
}

/* What has failed stays so, and is tried again whenever the volume changes. */
static void release(const struct volume_sync *s) {
    if (was_released(s) || !set_phase(s, "Released", NULL))
        reclaim(s);
}

/* ---- volumes with a claim ---- */

static bool same_mode(const struct volume_sync *s, const struct api_persistent_volume_claim *c) {
    return str_eq(api_volume_mode(s->body->spec.volume_mode), api_volume_mode(c->spec.volume_mode));
}

/* The claim does not know of the volume yet. */
static void finish(const struct volume_sync *s, const struct api_object *claim) {
    if (same_mode(s, claim->body)) {
        workqueue_add_object(s->b->claim_queue, claim);
        return;
    }
    events_say(s->b->base.events, s->volume, EVENTS_WARNING, "VolumeMismatch",
               "Cannot bind PersistentVolume to requested PersistentVolumeClaim \"%.*s\" due to "
               "incompatible volumeMode.",
               STR_ARG(claim->meta->name));
    events_say(s->b->base.events, claim, EVENTS_WARNING, "VolumeMismatch",
               "Cannot bind PersistentVolume \"%.*s\" to requested PersistentVolumeClaim due to "
               "incompatible volumeMode.",
               STR_ARG(s->volume->meta->name));
}

/* The claim is NULL when it is gone. */
static void settle(const struct volume_sync *s, const struct api_object *claim) {
    const struct api_persistent_volume_claim *body = claim ? claim->body : NULL;
    if (!claim)
        release(s);
    else if (!body->spec.volume_name.n)
        finish(s, claim);
    else if (str_eq(body->spec.volume_name, s->volume->meta->name))
        set_phase(s, "Bound", NULL);
    else if (has(s->volume, API_PROVISIONED_BY) &&
             str_is(s->body->spec.persistent_volume_reclaim_policy, "Delete"))
        release(s);
    else
        pv__unbind(s->b, s->work, s->volume);
}

static struct volume_sync sync_of(struct pv_binder *b, struct work *w, const struct api_object *o) {
    return (struct volume_sync){b, w, o, o->body};
}

static bool is_claimed(const struct volume_sync *s) {
    return s->body->spec.claim_ref && s->body->spec.claim_ref->uid.n;
}

/* What the server has decides: an informer may not have told of a claim yet. */
static void claim_read(void *arg, struct work *w, const struct client_answer *answer) {
    struct pv_binder *b = arg;
    const struct api_object *claim = answer->code ? NULL : answer->object;
    const struct api_object *o = informer_get(b->volumes, STR(""), work_name(w));
    if (answer->code && answer->code != ERR_NOT_FOUND) {
        work_fail_by(w, answer);
        return;
    }
    if (!o)
        return;
    const struct volume_sync s = sync_of(b, w, o);
    if (is_claimed(&s))
        settle(&s, claim && str_eq(claim->meta->uid, s.body->spec.claim_ref->uid) ? claim : NULL);
}

static void sync_claimed(const struct volume_sync *s) {
    const struct api_object_reference *ref = s->body->spec.claim_ref;
    const struct api_object *claim = informer_get(s->b->claims, ref->namespace, ref->name);
    if (claim ? str_eq(claim->meta->uid, ref->uid) : was_released(s))
        settle(s, claim);
    else
        work_get(s->work, client_kind(API_T_persistent_volume_claim), ref->namespace, ref->name,
                 claim_read, s->b);
}

/* ---- any volume ---- */

/* What is on its way out is given no finalizer: the server would refuse it.
 *
 * Follows k8s.io/kubernetes pkg/controller/volume/persistentvolume, func modifyDeletionFinalizers.
 */
static bool set_finalizers(const struct volume_sync *s, struct str plugin) {
    bool is_kept = has_finalizer(s->volume, IN_TREE_FINALIZER);
    bool is_foreign = has_finalizer(s->volume, EXTERNAL_FINALIZER);
    bool is_deleted = str_is(s->body->spec.persistent_volume_reclaim_policy, "Delete");
    bool is_missing = is_deleted && !is_kept && !s->volume->meta->deletion_timestamp.set;
    if (sched_migrated_driver(plugin).n) {
        if (is_kept)
            send_finalizers(s, IN_TREE_FINALIZER, NULL);
        return is_kept;
    }
    if (!str_starts(plugin, STR("kubernetes.io/")))
        return false;
    if (is_kept && !is_deleted)
        send_finalizers(s, IN_TREE_FINALIZER, NULL);
    else if (is_missing || is_foreign)
        send_finalizers(s, EXTERNAL_FINALIZER, is_missing ? IN_TREE_FINALIZER : NULL);
    else
        return false;
    return true;
}

void pv__sync_volume(void *self, struct work *w, const struct api_object *o) {
    const struct volume_sync s = sync_of(self, w, o);
    const struct label *by = labels_find(&o->meta->annotations, API_PROVISIONED_BY);
    if (by && (pv__set_migration(s.b, w, o, by->value) || set_finalizers(&s, by->value)))
        return;
    if (is_claimed(&s))
        sync_claimed(&s);
    else
        set_phase(&s, "Available", NULL);
}
