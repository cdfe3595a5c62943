/*
 * What decisions took and no object shows yet: upstream's Reserve of VolumeBinding, and its undo.
 *
 * In a cluster the volume comes back with its claimRef, or the claim with its node, under another
 * resourceVersion; what was taken is then history.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/volumebinding,
 * func (*volumeBinder) AssumePodVolumes, func (*volumeBinder) RevertAssumedPodVolumes.
 */
#include "sched/volumes/disks_int.h"
#include "sched/volumes/state_int.h"

/* Most of what is taken needs no more than this. */
enum { TAKEN_BYTES = 384 };

static void taken_free(struct sched__taken *t) {
    struct arena arena = t->arena; /* it holds t, too */
    arena_release(&arena);
}

/* Remembers something under key; who and what for is the caller's to fill in. */
static struct sched__taken *take(struct map *map, struct str key, const struct api_object *object,
                                 const struct sched_pod *p) {
    struct arena arena = {0};
    arena_start(&arena, TAKEN_BYTES);
    struct sched__taken *t = arena_new(&arena, struct sched__taken);
    t->key = arena_str(&arena, key);
    t->resource_version = arena_str(&arena, object->meta->resource_version);
    t->pod = arena_str(&arena, p->key);
    t->arena = arena;
    struct sched__taken *before = map_del(map, key);
    if (before)
        taken_free(before);
    map_put(map, t->key, t);
    return t;
}

static const struct sched__taken *find(const struct map *map, struct str key,
                                       const struct api_object *object) {
    const struct sched__taken *t = map_get(map, key);
    bool same = t && str_eq(t->resource_version, object->meta->resource_version);
    return same ? t : NULL;
}

const struct sched__taken *sched__volume_taken(const struct sched *s,
                                               const struct api_object *volume) {
    return s->volumes ? find(&s->volumes->taken, volume->meta->name, volume) : NULL;
}

static struct str claim_key(struct arena *a, const struct api_object *claim) {
    return arena_printf(a, "%.*s/%.*s", STR_ARG(claim->meta->namespace),
                        STR_ARG(claim->meta->name));
}

const struct sched__taken *sched__claim_placed(const struct sched *s,
                                               const struct api_object *claim) {
    if (!s->volumes || !s->volumes->placed.live)
        return NULL;
    struct arena a = {0};
    const struct sched__taken *t = find(&s->volumes->placed, claim_key(&a, claim), claim);
    arena_release(&a);
    return t;
}

static void take_volume(struct sched *s, const struct sched_pod *p,
                        const struct sched__binding *b) {
    const struct api_object *volume = b->pv->object;
    const struct api_object_meta *claim = b->claim->object->meta;
    struct sched__holder holder;
    if (!sched__volume_holder(s, volume, &holder)) {
        holder = (struct sched__holder){claim->namespace, claim->name, claim->uid};
        sched__shelves_hold(s, b->pv, &holder);
    }
    struct sched__taken *t = take(&sched__volumes_get(s)->taken, volume->meta->name, volume, p);
    t->claim_ns = arena_str(&t->arena, claim->namespace);
    t->claim_name = arena_str(&t->arena, claim->name);
    t->claim_uid = arena_str(&t->arena, claim->uid);
}

static void take_claim(struct sched *s, const struct sched_pod *p, const struct api_object *claim,
                       struct str node) {
    struct arena a = {0};
    struct sched__taken *t = take(&sched__volumes_get(s)->placed, claim_key(&a, claim), claim, p);
    t->node = arena_str(&t->arena, node);
    arena_release(&a);
}

static struct sched_volume_task task_of(struct arena *a, const struct sched__claim *claim,
                                        const struct sched__pv *pv) {
    const struct api_object_meta *meta = claim->object->meta;
    return (struct sched_volume_task){.claim = arena_str(a, meta->name),
                                      .claim_uid = arena_str(a, meta->uid),
                                      .volume = pv ? arena_str(a, pv->object->meta->name)
                                                   : (struct str){0}};
}

static void tell_tasks(struct arena *a, const struct sched__volume_plan *plan,
                       struct sched_result *out) {
    size_t n = plan->binding_count + plan->provision_count;
    struct sched_volume_task *tasks = arena_array(a, struct sched_volume_task, n);
    for (size_t i = 0; i < plan->binding_count; i++)
        tasks[i] = task_of(a, plan->bindings[i].claim, plan->bindings[i].pv);
    for (size_t i = 0; i < plan->provision_count; i++)
        tasks[plan->binding_count + i] = task_of(a, plan->provisions[i].claim, NULL);
    out->volumes = tasks;
    out->volume_count = n;
}

void sched__volumes_assume(struct sched *s, struct sched_pod *p, uint32_t slot,
                           struct sched_result *out) {
    if (!p->cls->data[SCHED_VOLUME_BINDING])
        return;
    struct arena a = {0};
    struct sched__pod_claims claims;
    struct str error = {0};
    if (sched__pod_claims_read(s, p->cls->sample, &a, &claims, &error) == 0 &&
        claims.selected.n + claims.unbound.n > 0) {
        const struct sched__volume_plan *plan = sched__pod_claims_place(s, &claims, slot);
        struct str node = intern_text(s->nodes.v[slot].name);
        for (size_t i = 0; i < plan->binding_count; i++)
            take_volume(s, p, &plan->bindings[i]);
        for (size_t i = 0; i < plan->provision_count; i++)
            take_claim(s, p, plan->provisions[i].claim->object, node);
        tell_tasks(&s->cycle, plan, out);
        s->storage_generation++;
    }
    arena_release(&a);
}

/* True if anything was taken for the pod. */
static bool give_back(struct map *map, struct str pod) {
    bool found = false;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(map, &at));) {
        struct sched__taken *t = e->value;
        if (!str_eq(t->pod, pod))
            continue;
        map_del(map, t->key);
        taken_free(t);
        found = true;
    }
    return found;
}

void sched__volumes_forget(struct sched *s, struct sched_pod *p) {
    if (!s->volumes)
        return;
    bool volumes = give_back(&s->volumes->taken, p->key);
    bool claims = give_back(&s->volumes->placed, p->key);
    if (volumes)
        s->volumes_generation++;
    if (volumes || claims)
        s->storage_generation++;
}

/* ---- objects that change ---- */

/* Forgets what was taken under key of an older object than this one; NULL: the object is gone. */
static void drop_history(struct map *map, struct str key, const struct api_object *now) {
    struct sched__taken *t = map_get(map, key);
    if (!t || (now && str_eq(t->resource_version, now->meta->resource_version)))
        return;
    map_del(map, key);
    taken_free(t);
}

void sched__volumes_replaced(struct sched *s, const struct api_object *old,
                             const struct api_object *now) {
    struct sched__volumes *v = s->volumes;
    if (!v)
        return;
    if (old->type == &api_types[API_T_persistent_volume]) {
        drop_history(&v->taken, old->meta->name, now);
        sched__pv_drop(s, old);
    } else if (old->type == &api_types[API_T_persistent_volume_claim] && v->placed.live) {
        struct arena a = {0};
        drop_history(&v->placed, claim_key(&a, old), now);
        arena_release(&a);
    }
}

void sched__volumes_sweep(struct sched *s) {
    struct sched__volumes *v = s->volumes;
    if (!v)
        return;
    if (v->shelves.made && v->shelves.generation != s->volumes_generation)
        sched__shelves_release(&v->shelves);
    if (v->capacities && v->capacities->generation != s->capacities_generation) {
        sched__capacities_free(v->capacities);
        v->capacities = NULL;
    }
    if (v->attachments.generation != s->attached_generation)
        sched__attachments_release(&v->attachments);
}

/* ---- the end ---- */

static void release_taken(struct map *map) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(map, &at));)
        taken_free(e->value);
    map_release(map);
}

void sched__volumes_release(struct sched *s) {
    struct sched__volumes *v = s->volumes;
    if (!v)
        return;
    release_taken(&v->taken);
    release_taken(&v->placed);
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&v->compiled, &at));)
        sched__pv_free(e->value);
    map_release(&v->compiled);
    at = 0;
    for (struct map_entry *e; (e = map_next(&v->users, &at));)
        free(e->value);
    map_release(&v->users);
    sched__disks_release(&v->disks);
    sched__shelves_release(&v->shelves);
    sched__capacities_free(v->capacities);
    sched__attachments_release(&v->attachments);
    free(v);
    s->volumes = NULL;
}
