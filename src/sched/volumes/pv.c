/*
 * PersistentVolumes, compiled once per object: the class, the size and what they want of nodes; and
 * whose they are, by their claimRef or by a decision that no object shows yet.
 *
 * Follows k8s.io/component-helpers storage/volume, func CheckNodeAffinity,
 * func IsVolumeBoundToClaim.
 */
#include "sched/volumes/state_int.h"

struct sched__volumes *sched__volumes_get(struct sched *s) {
    if (!s->volumes) {
        s->volumes = xcalloc(1, sizeof *s->volumes);
        s->volumes->compiled = MAP_INIT(s->seed);
        s->volumes->taken = MAP_INIT(s->seed);
        s->volumes->placed = MAP_INIT(s->seed);
        s->volumes->users = MAP_INIT(s->seed);
        s->volumes->disks = MAP_INIT(s->seed);
        s->volumes->attachments.by_node = MAP_INIT(s->seed);
    }
    return s->volumes;
}

static struct sched__pv *compile(struct sched *s, const struct api_object *object) {
    struct sched__pv *pv = xcalloc(1, sizeof *pv);
    pv->object = api_object_ref(object);
    pv->body = object->body;
    pv->class_name = api_volume_class(object);
    pv->size = api_storage_of(&pv->body->spec.capacity);
    if (pv->body->spec.node_affinity)
        pv->affinity = match_affinity_new_volume(s->match, pv->body->spec.node_affinity);
    return pv;
}

void sched__pv_free(struct sched__pv *pv) {
    match_affinity_free(pv->affinity);
    match_affinity_free(pv->migrated);
    api_object_unref(pv->object);
    arena_release(&pv->arena);
    free(pv);
}

void sched__pv_drop(struct sched *s, const struct api_object *object) {
    struct sched__pv *pv = map_del(&s->volumes->compiled, object->meta->name);
    if (pv)
        sched__pv_free(pv);
}

struct sched__pv *sched__pv_of(struct sched *s, const struct api_object *object) {
    struct map *compiled = &sched__volumes_get(s)->compiled;
    struct sched__pv *pv = map_get(compiled, object->meta->name);
    if (!pv) {
        pv = compile(s, object);
        map_put(compiled, object->meta->name, pv);
    }
    assert(pv->object == object);
    return pv;
}

struct sched__pv *sched__pv_get(struct sched *s, struct str name) {
    const struct api_object *object =
        sched__store_find(s, &s->store.volumes, (struct str){0}, name);
    return object ? sched__pv_of(s, object) : NULL;
}

/* ---- whose it is ---- */

bool sched__volume_holder(const struct sched *s, const struct api_object *volume,
                          struct sched__holder *out) {
    const struct sched__taken *taken = sched__volume_taken(s, volume);
    const struct api_object_reference *ref = sched__pv_body(volume)->spec.claim_ref;
    if (taken)
        *out = (struct sched__holder){taken->claim_ns, taken->claim_name, taken->claim_uid};
    else if (ref)
        *out = (struct sched__holder){ref->namespace, ref->name, ref->uid};
    return taken || ref;
}

bool sched__holder_is(const struct sched__holder *h, const struct api_object *claim) {
    return str_eq(h->name, claim->meta->name) && str_eq(h->ns, claim->meta->namespace) &&
           (!h->uid.n || str_eq(h->uid, claim->meta->uid));
}

struct str sched__claim_selected_node(const struct sched *s, const struct api_object *claim) {
    const struct sched__taken *placed = sched__claim_placed(s, claim);
    if (placed)
        return placed->node;
    const struct label *selected =
        labels_find(&claim->meta->annotations, STR("volume.kubernetes.io/selected-node"));
    if (!selected)
        return (struct str){0};
    return selected->value.p ? selected->value : STR("");
}

/* ---- what it wants of nodes ---- */

static void migrate(struct sched *s, struct sched__pv *pv) {
    struct str handle, error = {0};
    pv->migrated_known = true;
    if (sched__migration_handle_pv(&pv->arena, pv->object, &handle, &error) < 0) {
        pv->migration_error =
            arena_printf(&pv->arena, "could not translate pv: %.*s", STR_ARG(error));
        return;
    }
    const struct api_volume_node_affinity *affinity =
        sched__migration_affinity(&pv->arena, pv->object);
    if (affinity)
        pv->migrated = match_affinity_new_volume(s->match, affinity);
}

const struct match_affinity *sched__pv_affinity(struct sched *s, struct sched__pv *pv,
                                                const struct api_object *csi_node,
                                                struct str *error) {
    const struct sched__migration *m = sched__migration_of_pv(pv->body);
    if (!m || !m->on || !sched__migration_is_on_node(m, csi_node))
        return pv->affinity;
    if (!pv->migrated_known)
        migrate(s, pv);
    if (pv->migration_error.p)
        *error = pv->migration_error;
    return pv->migrated;
}
