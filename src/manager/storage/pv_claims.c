/*
 * Claims: which volume they get, whether one is to be made for them, and what becomes of those
 * that have lost theirs.
 *
 * Follows k8s.io/kubernetes pkg/controller/volume/persistentvolume,
 * func (*PersistentVolumeController) syncClaim.
 */
#include "feature/feature.h"
#include "manager/storage/pv_binder_int.h"
#include "manager/storage/pv_index_int.h"
#include "registry/view.h"
#include "sched/migrated.h"

struct claim_sync {
    struct pv_binder *b;
    struct work *work;
    const struct api_object *claim;
    const struct api_persistent_volume_claim *body;
    const struct api_storage_class *class; /* NULL: it is not there */
};

static struct str annotation(const struct api_object *o, struct str key) {
    const struct label *l = labels_find(&o->meta->annotations, key);
    return l ? l->value : (struct str){0};
}

static void say(const struct claim_sync *s, enum events_type type, const char *reason,
                struct str text) {
    events_say(s->b->base.events, s->claim, type, reason, "%.*s", STR_ARG(text));
}

/* It has no volume for now, and is looked at again. */
static void wait(const struct claim_sync *s) {
    if (!pv__set_claim_status(s->b, s->work, s->claim, "Pending", NULL, NULL))
        work_again_after(s->work, PV__RESYNC);
}

/* ---- volumes that are to be made ---- */

static bool set_default_class(const struct claim_sync *s) {
    const struct api_object *best = NULL;
    size_t n;
    const struct api_object *const *all = informer_find(s->b->classes, INFORMER_ALL, STR(""), &n);
    if (api_claim_has_class(s->claim))
        return false;
    for (size_t i = 0; i < n; i++)
        if (registry_is_default(all[i]) && (!best || registry_prefers(all[i], best)))
            best = all[i];
    if (!best)
        return false;
    struct api_object *draft = api_object_derive(s->claim);
    struct api_persistent_volume_claim *body = api_own_body(draft);
    body->spec.storage_class_name = arena_str(&draft->arena, best->meta->name);
    pv__send(s->b, s->work, draft, NULL, NULL);
    return true;
}

/* Whoever provisions waits for the name of the provisioner. */
static void set_provisioner(const struct claim_sync *s, struct str name,
                            const struct pv_remark *remark) {
    struct api_object *draft = api_object_derive(s->claim);
    struct labels *list = &api_own_meta(draft)->annotations;
    struct arena *a = &draft->arena;
    labels_put(a, list, (struct label){PV__OLD_PROVISIONER, arena_str(a, name)});
    labels_put(a, list, (struct label){PV__PROVISIONER, arena_str(a, name)});
    labels_remove(a, list, PV__MIGRATED_TO); /* the provisioner is no old plug-in */
    pv__send(s->b, s->work, draft, NULL, remark);
}

/* Why an old plug-in does not provision; absent: there is none of that name. */
static const char *plugin_fault(struct str name) {
    static const char *const plugins[] = {"kubernetes.io/nfs", "kubernetes.io/fc",
                                          "kubernetes.io/iscsi", "kubernetes.io/csi"};
    for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++)
        if (str_is(name, plugins[i]))
            return "no provisionable volume plugin matched";
    return NULL;
}

static void refuse(const struct claim_sync *s, struct str name) {
    struct arena *a = work_arena(s->work);
    const char *fault = plugin_fault(name);
    if (str_is(name, "kubernetes.io/host-path"))
        say(s, EVENTS_WARNING, "ProvisioningFailed",
            STR("Failed to create provisioner: provisioning in volume plugin "
                "\"kubernetes.io/host-path\" is disabled"));
    else
        say(s, EVENTS_WARNING, "ProvisioningFailed",
            fault ? str_of(fault)
                  : arena_printf(a, "no volume plugin matched name: %.*s", STR_ARG(name)));
    work_again_after(s->work, PV__RESYNC);
}

/* Follows k8s.io/kubernetes pkg/controller/volume/persistentvolume,
 * func (*PersistentVolumeController) provisionClaim. */
static void provision(const struct claim_sync *s) {
    struct arena *a = work_arena(s->work);
    work_again_after(s->work, PV__RESYNC);
    if (!s->class) {
        say(s, EVENTS_WARNING, "ProvisioningFailed",
            arena_printf(a, "storageclass.storage.k8s.io \"%.*s\" not found",
                         STR_ARG(api_claim_class(s->claim))));
        return;
    }
    struct str name = s->class->provisioner, driver = sched_migrated_driver(name);
    if (!driver.n && str_starts(name, STR("kubernetes.io/"))) {
        refuse(s, name);
        return;
    }
    name = driver.n ? driver : name;
    struct pv_remark remark = {
        EVENTS_NORMAL, "ExternalProvisioning",
        arena_printf(a,
                     "Waiting for a volume to be created either by the external provisioner "
                     "'%.*s' or manually by the system administrator. If volume creation is "
                     "delayed, please verify that the provisioner is running and correctly "
                     "registered.",
                     STR_ARG(name))};
    if (str_eq(annotation(s->claim, PV__PROVISIONER), name))
        say(s, remark.type, remark.reason, remark.text);
    else
        set_provisioner(s, name, &remark);
}

/* ---- claims without a volume ---- */

static void tell_waiting(const struct claim_sync *s) {
    struct arena *a = work_arena(s->work);
    size_t n;
    struct str names = pv__pods_of(s->b, a, work_namespace(s->work), work_name(s->work), true, &n);
    if (!n)
        say(s, EVENTS_NORMAL, "WaitForFirstConsumer",
            STR("waiting for first consumer to be created before binding"));
    else
        say(s, EVENTS_NORMAL, "WaitForPodScheduled",
            arena_printf(a, "waiting for pod%s %.*s to be scheduled", n > 1 ? "s" : "",
                         STR_ARG(names)));
}

/* Absent, or why no volume can be looked for. */
static struct str find(const struct claim_sync *s, bool delays, const struct api_object **out) {
    struct arena *a = work_arena(s->work);
    struct selector *selector = NULL;
    struct str namespace = s->claim->meta->namespace, name = s->claim->meta->name;
    struct err err = {0};
    if (s->body->spec.volume_attributes_class_name.n &&
        !feature_enabled(s->b->base.manager->gates, FEATURE_VolumeAttributesClass))
        return arena_printf(a,
                            "error finding PV for claim \"%.*s/%.*s\": unsupported "
                            "volumeAttributesClassName is set on claim %.*s/%.*s when the "
                            "feature-gate VolumeAttributesClass is disabled",
                            STR_ARG(namespace), STR_ARG(name), STR_ARG(namespace), STR_ARG(name));
    if (selector_compile(a, s->body->spec.selector, &selector, &err) < 0)
        return arena_printf(a,
                            "error finding PV for claim \"%.*s/%.*s\": error creating internal "
                            "label selector for claim: %.*s/%.*s: %.*s",
                            STR_ARG(namespace), STR_ARG(name), STR_ARG(namespace), STR_ARG(name),
                            STR_ARG(selector->error));
    *out = pv_index__find(s->b->index, s->claim, selector, delays);
    return (struct str){0};
}

static void sync_any(const struct claim_sync *s) {
    bool delays = s->class && str_is(s->class->volume_binding_mode, "WaitForFirstConsumer");
    const struct api_object *volume = NULL;
    struct str why = find(s, delays, &volume);
    if (why.p) {
        work_fail(s->work, "%.*s", STR_ARG(why));
        return;
    }
    if (volume) {
        pv__bind(s->b, s->work, volume, s->claim);
        return;
    }
    if (set_default_class(s))
        return;
    if (delays && !labels_find(&s->claim->meta->annotations, API_SELECTED_NODE))
        tell_waiting(s);
    else if (api_claim_class(s->claim).n) {
        provision(s);
        return;
    } else
        say(s, EVENTS_NORMAL, "FailedBinding",
            STR("no persistent volumes available for this claim and no storage class is set"));
    wait(s);
}

static bool covers(const struct api_strs *has, const struct api_strs *wanted) {
    for (size_t i = 0; i < wanted->n; i++) {
        size_t k = 0;
        while (k < has->n && !str_eq(has->v[k], wanted->v[i]))
            k++;
        if (k == has->n)
            return false;
    }
    return true;
}

/* Why the volume that a claim asks for by name is not good for it; absent: it is.
 *
 * Follows k8s.io/kubernetes pkg/controller/volume/persistentvolume, func checkVolumeSatisfyClaim.
 */
static struct str mismatch(const struct claim_sync *s, const struct api_object *volume) {
    const struct api_persistent_volume_spec *spec =
        &((const struct api_persistent_volume *)volume->body)->spec;
    const struct api_persistent_volume_claim_spec *wish = &s->body->spec;
    struct quantity size = api_storage_of(&spec->capacity),
                    least = api_storage_of(&wish->resources.requests);
    bool attributes = feature_enabled(s->b->base.manager->gates, FEATURE_VolumeAttributesClass);
    struct str own = spec->volume_attributes_class_name, asked = wish->volume_attributes_class_name;
    if (volume->meta->deletion_timestamp.set)
        return arena_printf(work_arena(s->work), "the volume is marked for deletion \"%.*s\"",
                            STR_ARG(volume->meta->name));
    if (quantity_cmp(&size, &least) < 0)
        return STR("requested PV is too small");
    if (!str_eq(api_volume_class(volume), api_claim_class(s->claim)))
        return STR("storageClassName does not match");
    if (attributes && !str_eq(own, asked))
        return STR("volumeAttributesClassName does not match");
    if (!attributes && (own.n || asked.n))
        return STR("volumeAttributesClassName is not supported when the feature-gate "
                   "VolumeAttributesClass is disabled");
    if (!str_eq(api_volume_mode(spec->volume_mode), api_volume_mode(wish->volume_mode)))
        return STR("incompatible volumeMode");
    if (!covers(&spec->access_modes, &wish->access_modes))
        return STR("incompatible accessMode");
    return (struct str){0};
}

static void tell_taken(const struct claim_sync *s, const struct api_object *volume) {
    const struct api_object_reference *ref =
        ((const struct api_persistent_volume *)volume->body)->spec.claim_ref;
    say(s, EVENTS_WARNING, "FailedBinding",
        arena_printf(work_arena(s->work), "volume \"%.*s\" already bound to a different claim.",
                     STR_ARG(volume->meta->name)));
    if (!labels_find(&s->claim->meta->annotations, API_BOUND_BY))
        wait(s);
    else
        work_fail(s->work,
                  "invalid binding of claim \"%.*s/%.*s\" to volume \"%.*s\": volume already "
                  "claimed by \"%.*s/%.*s\"",
                  STR_ARG(s->claim->meta->namespace), STR_ARG(s->claim->meta->name),
                  STR_ARG(volume->meta->name), STR_ARG(ref->namespace), STR_ARG(ref->name));
}

/* The claim asks for a volume by name. */
static void sync_named(const struct claim_sync *s) {
    const struct api_object *volume =
        informer_get(s->b->volumes, STR(""), s->body->spec.volume_name);
    struct str why = {0};
    if (!volume) {
        wait(s);
        return;
    }
    bool is_free = !((const struct api_persistent_volume *)volume->body)->spec.claim_ref;
    if (is_free)
        why = mismatch(s, volume);
    if (why.p) {
        say(s, EVENTS_WARNING, "VolumeMismatch",
            arena_printf(work_arena(s->work), "Cannot bind to requested volume \"%.*s\": %.*s",
                         STR_ARG(volume->meta->name), STR_ARG(why)));
        wait(s);
    } else if (is_free || api_volume_is_of(volume, s->claim))
        pv__bind(s->b, s->work, volume, s->claim);
    else
        tell_taken(s, volume);
}

/* ---- claims with a volume ---- */

static void lose(const struct claim_sync *s, const char *reason, const char *text) {
    const struct pv_remark remark = {EVENTS_WARNING, reason, str_of(text)};
    if (!str_is(s->body->status.phase, "Lost"))
        pv__set_claim_status(s->b, s->work, s->claim, "Lost", NULL, &remark);
}

static void sync_bound(const struct claim_sync *s) {
    const struct api_object *volume =
        informer_get(s->b->volumes, STR(""), s->body->spec.volume_name);
    const struct api_object_reference *ref =
        volume ? ((const struct api_persistent_volume *)volume->body)->spec.claim_ref : NULL;
    if (!s->body->spec.volume_name.n)
        lose(s, "ClaimLost",
             "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!");
    else if (!volume)
        lose(s, "ClaimLost",
             "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
    else if (!ref || str_eq(ref->uid, s->claim->meta->uid))
        pv__bind(s->b, s->work, volume, s->claim);
    else
        lose(s, "ClaimMisbound",
             "Two claims are bound to the same volume, this one is bound incorrectly");
}

/* ---- any claim ---- */

/* Says who takes the place of the old plug-in that is to provision; true: that was to be written.
 */
static bool migrate(const struct claim_sync *s) {
    struct str plugin = annotation(s->claim, PV__PROVISIONER);
    if (!plugin.p)
        plugin = annotation(s->claim, PV__OLD_PROVISIONER);
    return plugin.p && pv__set_migration(s->b, s->work, s->claim, plugin);
}

void pv__sync_claim(void *self, struct work *w, const struct api_object *o) {
    struct pv_binder *b = self;
    struct str name = api_claim_class(o);
    const struct api_object *class = name.n ? informer_get(b->classes, STR(""), name) : NULL;
    const struct claim_sync s = {b, w, o, o->body, class ? class->body : NULL};
    if (migrate(&s))
        return;
    if (labels_find(&o->meta->annotations, API_BIND_COMPLETED))
        sync_bound(&s);
    else if (s.body->spec.volume_name.n)
        sync_named(&s);
    else
        sync_any(&s);
}
