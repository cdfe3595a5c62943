/*
 * What the binder writes to claims and volumes.
 *
 * Follows k8s.io/kubernetes pkg/controller/volume/persistentvolume,
 * func (*PersistentVolumeController) bind, func (*PersistentVolumeController) unbindVolume,
 * func (*PersistentVolumeController) updateClaimStatus.
 */
#include "feature/feature.h"
#include "manager/storage/pv_binder_int.h"
#include "sched/migrated.h"

/* ---- sending ---- */

struct written {
    struct pv_binder *b;
    struct pv_remark remark;
    struct events_subject subject;
};

static void answered(void *arg, struct work *w, const struct client_answer *answer) {
    const struct written *x = arg;
    if (answer->code) {
        work_fail_by(w, answer);
        return;
    }
    if (x->remark.reason)
        events_say_of(x->b->base.events, &x->subject, x->remark.type, x->remark.reason, "%.*s",
                      STR_ARG(x->remark.text));
    work_again_after(w, 0);
}

void pv__send(struct pv_binder *b, struct work *w, struct api_object *draft,
              const char *subresource, const struct pv_remark *remark) {
    struct written *x = arena_new(work_arena(w), struct written);
    x->b = b;
    if (remark)
        x->remark = *remark;
    x->subject = manager__subject(w, draft);
    work_update(w, draft, subresource, answered, x);
}

static bool has(const struct api_object *o, struct str annotation) {
    return labels_find(&o->meta->annotations, annotation);
}

static void annotate(struct api_object *draft, struct str key, struct str value) {
    labels_put(&draft->arena, &api_own_meta(draft)->annotations,
               (struct label){key, arena_str(&draft->arena, value)});
}

/* ---- volumes ---- */

bool pv__set_volume_phase(struct pv_binder *b, struct work *w, const struct api_object *volume,
                          const char *phase, const struct pv_remark *remark) {
    if (str_is(((const struct api_persistent_volume *)volume->body)->status.phase, phase))
        return false;
    struct api_object *draft = api_object_derive(volume);
    struct api_persistent_volume *body = api_own_body(draft);
    body->status.phase = str_of(phase);
    body->status.message = (struct str){0};
    pv__send(b, w, draft, "status", remark);
    return true;
}

static bool bind_volume(struct pv_binder *b, struct work *w, const struct api_object *volume,
                        const struct api_object *claim) {
    struct api_object *draft = api_object_derive(volume);
    if (!api_volume_bind(draft, claim)) {
        api_object_free(draft);
        return false;
    }
    pv__send(b, w, draft, NULL, NULL);
    return true;
}

void pv__unbind(struct pv_binder *b, struct work *w, const struct api_object *volume) {
    struct api_object *draft = api_object_derive(volume);
    struct api_persistent_volume *body = api_own_body(draft);
    if (has(volume, API_BOUND_BY)) {
        body->spec.claim_ref = NULL;
        labels_remove(&draft->arena, &api_own_meta(draft)->annotations, API_BOUND_BY);
    } else {
        struct api_object_reference *ref = arena_new(&draft->arena, struct api_object_reference);
        *ref = *body->spec.claim_ref;
        ref->uid = (struct str){0};
        body->spec.claim_ref = ref;
    }
    pv__send(b, w, draft, NULL, NULL);
}

/* ---- claims ---- */

static bool bind_claim(struct pv_binder *b, struct work *w, const struct api_object *claim,
                       const struct api_object *volume) {
    const struct api_persistent_volume_claim *body = claim->body;
    bool is_named = str_eq(body->spec.volume_name, volume->meta->name);
    if (is_named && has(claim, API_BIND_COMPLETED))
        return false;
    struct api_object *draft = api_object_derive(claim);
    struct api_persistent_volume_claim *own = api_own_body(draft);
    if (!is_named) {
        own->spec.volume_name = arena_str(&draft->arena, volume->meta->name);
        if (!has(claim, API_BOUND_BY))
            annotate(draft, API_BOUND_BY, STR("yes"));
    }
    if (!has(claim, API_BIND_COMPLETED))
        annotate(draft, API_BIND_COMPLETED, STR("yes"));
    pv__send(b, w, draft, NULL, NULL);
    return true;
}

static bool same_strs(const struct api_strs *a, const struct api_strs *b) {
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!str_eq(a->v[i], b->v[i]))
            return false;
    return true;
}

static struct api_strs copy_strs(struct arena *a, const struct api_strs *list) {
    struct api_strs out = {arena_array(a, struct str, list->n), list->n};
    for (size_t i = 0; i < list->n; i++)
        out.v[i] = arena_str(a, list->v[i]);
    return out;
}

static const struct quantity *storage_in(const struct api_quantities *list) {
    for (size_t i = 0; i < list->n; i++)
        if (str_is(list->v[i].key, "storage"))
            return &list->v[i].value;
    return NULL;
}

static void set_storage(struct arena *a, struct api_quantities *list, const struct quantity *q) {
    struct api_quantities old = *list;
    *list = (struct api_quantities){arena_array(a, struct api_quantity, old.n + 1), 0};
    bool is_set = false;
    for (size_t i = 0; i < old.n; i++) {
        if (!is_set && str_cmp(old.v[i].key, STR("storage")) >= 0) {
            list->v[list->n++] = (struct api_quantity){STR("storage"), quantity_copy(a, q)};
            is_set = true;
        }
        if (!str_is(old.v[i].key, "storage"))
            list->v[list->n++] = old.v[i];
    }
    if (!is_set)
        list->v[list->n++] = (struct api_quantity){STR("storage"), quantity_copy(a, q)};
}

static void copy_capacity(struct arena *a, struct api_quantities *to,
                          const struct api_quantities *from) {
    *to = (struct api_quantities){arena_array(a, struct api_quantity, from->n), from->n};
    for (size_t i = 0; i < from->n; i++)
        to->v[i] = (struct api_quantity){arena_str(a, from->v[i].key),
                                         quantity_copy(a, &from->v[i].value)};
}

/* A volume that was made larger tells how large it was, as long as its file system is. */
static bool set_capacity(struct api_object *draft, const struct api_object *volume) {
    struct api_persistent_volume_claim_status *s =
        &((struct api_persistent_volume_claim *)api_own_body(draft))->status;
    const struct api_quantities *all =
        &((const struct api_persistent_volume *)volume->body)->spec.capacity;
    const struct label *before = labels_find(&volume->meta->annotations,
                                             STR("volume.alpha.kubernetes.io/pre-resize-capacity"));
    const struct quantity *size = storage_in(all), *known = storage_in(&s->capacity);
    struct quantity old;
    if (before) {
        if (quantity_parse(&draft->arena, arena_str(&draft->arena, before->value), &old, NULL) < 0)
            old = *size;
        set_storage(&draft->arena, &s->capacity, &old);
        return true;
    }
    if (known && quantity_cmp(size, known) == 0)
        return false;
    copy_capacity(&draft->arena, &s->capacity, all);
    return true;
}

/* Takes over what the claim has of its volume; true: something is new. */
static bool fill_status(const struct pv_binder *b, struct api_object *draft,
                        const struct api_object *volume, bool is_new_phase, bool was_pending) {
    struct api_persistent_volume_claim_status *s =
        &((struct api_persistent_volume_claim *)api_own_body(draft))->status;
    const struct api_persistent_volume_spec *from =
        &((const struct api_persistent_volume *)volume->body)->spec;
    bool is_dirty = !same_strs(&s->access_modes, &from->access_modes);
    if (is_dirty)
        s->access_modes = copy_strs(&draft->arena, &from->access_modes);
    if (is_new_phase)
        is_dirty = set_capacity(draft, volume) || is_dirty;
    if (was_pending && feature_enabled(b->base.manager->gates, FEATURE_VolumeAttributesClass) &&
        !str_eq(s->current_volume_attributes_class_name, from->volume_attributes_class_name)) {
        s->current_volume_attributes_class_name =
            arena_str(&draft->arena, from->volume_attributes_class_name);
        is_dirty = true;
    }
    return is_dirty;
}

static bool clear_status(struct api_object *draft) {
    struct api_persistent_volume_claim_status *s =
        &((struct api_persistent_volume_claim *)api_own_body(draft))->status;
    bool is_dirty = s->access_modes.n || s->capacity.n || s->current_volume_attributes_class_name.p;
    s->access_modes = (struct api_strs){0};
    s->capacity = (struct api_quantities){0};
    s->current_volume_attributes_class_name = (struct str){0};
    return is_dirty;
}

bool pv__set_claim_status(struct pv_binder *b, struct work *w, const struct api_object *claim,
                          const char *phase, const struct api_object *volume,
                          const struct pv_remark *remark) {
    struct str old = ((const struct api_persistent_volume_claim *)claim->body)->status.phase;
    bool is_new = !str_is(old, phase);
    if (volume && is_new &&
        !storage_in(&((const struct api_persistent_volume *)volume->body)->spec.capacity)) {
        work_fail(w, "PersistentVolume \"%.*s\" is without a storage capacity",
                  STR_ARG(volume->meta->name));
        return true;
    }
    struct api_object *draft = api_object_derive(claim);
    struct api_persistent_volume_claim *body = api_own_body(draft);
    bool is_dirty = volume ? fill_status(b, draft, volume, is_new,
                                         str_is(old, "Pending") && str_of(phase).p[0] == 'B')
                           : clear_status(draft);
    if (!is_dirty && !is_new) {
        api_object_free(draft);
        return false;
    }
    body->status.phase = str_of(phase);
    pv__send(b, w, draft, "status", remark);
    return true;
}

bool pv__bind(struct pv_binder *b, struct work *w, const struct api_object *volume,
              const struct api_object *claim) {
    return bind_volume(b, w, volume, claim) || pv__set_volume_phase(b, w, volume, "Bound", NULL) ||
           bind_claim(b, w, claim, volume) ||
           pv__set_claim_status(b, w, claim, "Bound", volume, NULL);
}

/* ---- old plug-ins ---- */

bool pv__set_migration(struct pv_binder *b, struct work *w, const struct api_object *o,
                       struct str plugin) {
    struct str driver = sched_migrated_driver(plugin);
    const struct label *known = labels_find(&o->meta->annotations, PV__MIGRATED_TO);
    if (str_eq(known ? known->value : STR(""), driver))
        return false;
    struct api_object *draft = api_object_derive(o);
    if (driver.n)
        annotate(draft, PV__MIGRATED_TO, driver);
    else
        labels_remove(&draft->arena, &api_own_meta(draft)->annotations, PV__MIGRATED_TO);
    pv__send(b, w, draft, NULL, NULL);
    return true;
}
