/*
 * VolumeRestrictions: disks that two pods of a node cannot both have, and claims that only one pod
 * in the cluster may use.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/volumerestrictions,
 * func (*VolumeRestrictions) PreFilter, func (*VolumeRestrictions) Filter.
 */
#include <assert.h>

#include "sched/explain/explain_int.h"
#include "sched/volumes/disks_int.h"
#include "sched/volumes/state_int.h"

static void *compile(struct sched *s, struct sched__pod_class *c) {
    (void)s;
    for (size_t i = 0; i < c->pod->spec.volumes.n; i++) {
        const struct api_volume_source *source = &c->pod->spec.volumes.v[i].volume_source;
        if (source->persistent_volume_claim || sched__is_disk(source))
            return c;
    }
    return NULL;
}

/* What is looked at in one cycle. */
struct state {
    struct str *exclusive; /* names of claims that only one pod may use */
    size_t exclusive_count;
    struct sched__disk_names disks;
};

/* Read once in a cycle; *missing: the name of a claim that is not there. */
static const struct state *read_state(struct sched__cycle *cy, struct str *missing) {
    if (cy->data[SCHED_VOLUME_RESTRICTIONS])
        return cy->data[SCHED_VOLUME_RESTRICTIONS];
    const struct api_object *pod = cy->cls->sample;
    const struct api_volume_list *volumes = &sched__pod_spec(pod)->volumes;
    struct state *state = arena_new(cy->arena, struct state);
    state->exclusive = arena_array(cy->arena, struct str, volumes->n);
    cy->data[SCHED_VOLUME_RESTRICTIONS] = state;
    bool has_disks = false;
    for (size_t i = 0; i < volumes->n; i++) {
        const struct api_volume_source *source = &volumes->v[i].volume_source;
        has_disks |= sched__is_disk(source);
        if (!source->persistent_volume_claim)
            continue;
        struct str name = source->persistent_volume_claim->claim_name;
        const struct api_object *claim =
            sched__store_find(cy->s, &cy->s->store.claims, pod->meta->namespace, name);
        if (!claim && !missing->p)
            *missing = name.n ? name : STR(""); /* a claim without a name is not there */
        if (claim && sched__claim_is_exclusive(claim))
            state->exclusive[state->exclusive_count++] = name;
    }
    if (has_disks)
        state->disks = sched__disk_names(cy->arena, pod);
    return state;
}

/* The same after PreFilter found nothing missing. */
static const struct state *state_of(struct sched__cycle *cy) {
    struct str missing = {0};
    return read_state(cy, &missing);
}

static void pre_filter(struct sched__cycle *cy) {
    struct str missing = {0};
    read_state(cy, &missing);
    if (missing.p)
        sched__prefilter_reject(cy, SCHED_VOLUME_RESTRICTIONS,
                                sched__not_found(cy->arena, "persistentvolumeclaim", missing));
}

/* ---- disks ---- */

/* The first of the pod's disks that is excluded by one of the other pod; NULL: none. */
static const struct api_volume *find_conflict(const struct sched *s, const struct api_object *pod,
                                              const struct api_object *other) {
    struct arena a = {0};
    struct map disks = MAP_INIT(s->seed);
    struct sched__disk_names mine = sched__disk_names(&a, pod);
    struct sched__disk_names theirs = sched__disk_names(&a, other);
    sched__disks_count(&disks, &theirs, 0, 1);
    const struct sched__disk_name *found = sched__disks_find(&disks, &mine, 0);
    size_t volume = found ? found->volume : 0;
    sched__disks_release(&disks);
    arena_release(&a);
    return found ? &sched__pod_spec(pod)->volumes.v[volume] : NULL;
}

/* The first pod by name of a node that has one of this pod's disks; NULL: none. */
static const struct sched_pod *find_rival(const struct sched__cycle *cy, uint32_t slot) {
    const struct sched__node *node = &cy->s->nodes.v[slot];
    struct arena a = {0};
    struct map disks = MAP_INIT(cy->s->seed);
    struct sched__disk_names mine = sched__disk_names(&a, cy->cls->sample);
    const struct sched_pod *rival = NULL;
    sched__disks_count(&disks, &mine, 0, 1);
    for (size_t i = 0; i < node->pods.n; i++) {
        struct sched__disk_names theirs = sched__disk_names(&a, node->pods.v[i]->cls->sample);
        if (sched__disks_find(&disks, &theirs, 0))
            rival = sched__pod_first(rival, node->pods.v[i]);
    }
    sched__disks_release(&disks);
    arena_release(&a);
    return rival;
}

static bool has_rival(const struct sched__cycle *cy, const struct state *state, uint32_t slot) {
    return state->disks.n && cy->s->volumes &&
           sched__disks_find(&cy->s->volumes->disks, &state->disks, slot);
}

/* ---- Filter ---- */

/* The pod's first claim that is its own alone and in use already; absent: none. */
static struct str claim_in_use(const struct sched__cycle *cy, const struct state *state) {
    for (size_t i = 0; i < state->exclusive_count; i++)
        if (sched__claim_users(cy->s, cy->cls->sample->meta->namespace, state->exclusive[i]))
            return state->exclusive[i];
    return (struct str){0};
}

static void filter(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    const struct state *state = state_of(cy);
    bool in_use = claim_in_use(cy, state).p;
    if (!in_use && !state->disks.n)
        return;
    for (uint32_t slot = from; slot < to; slot++) {
        if (cy->verdict[slot])
            continue;
        if (has_rival(cy, state, slot))
            cy->verdict[slot] = SCHED__REASON_DISK;
        else if (in_use)
            cy->verdict[slot] = SCHED__REASON_CLAIM_IN_USE;
    }
}

static void explain_disk(const struct sched__cycle *cy, uint32_t slot,
                         struct sched__findings *out) {
    const struct sched_pod *rival = find_rival(cy, slot);
    if (!rival)
        return;
    struct str volume = find_conflict(cy->s, cy->cls->sample, rival->cls->sample)->name;
    sched__finding_start(out, SCHED_FINDING_DISK, sched__field(SCHED_FIELD_VOLUMES));
    sched__finding_add(out, SCHED_OPERAND_SUBJECT, sched__text(volume));
    sched__finding_add_of_node(out, SCHED_OPERAND_POD, sched__text(rival->key));
}

static void explain(struct sched__cycle *cy, uint32_t slot, struct sched__findings *out) {
    if (cy->verdict[slot] == SCHED__REASON_DISK) {
        explain_disk(cy, slot, out);
        return;
    }
    struct str name = claim_in_use(cy, state_of(cy));
    struct str ns = cy->cls->sample->meta->namespace;
    struct str claim = arena_printf(&out->scratch, "%.*s/%.*s", STR_ARG(ns), STR_ARG(name));
    sched__finding_start(out, SCHED_FINDING_CLAIM_IN_USE, sched__field(SCHED_FIELD_VOLUMES));
    sched__finding_add(out, SCHED_OPERAND_CLAIM, sched__text(claim));
    sched__finding_add(out, SCHED_OPERAND_LEFT,
                       sched__number((int64_t)sched__claim_users(cy->s, ns, name)));
    sched__finding_add(out, SCHED_OPERAND_RIGHT, sched__number(0));
}

/* The names of the claims of a pod. */
static struct map names_of_claims(const struct api_object *pod, uint64_t seed) {
    const struct api_volume_list *volumes = &sched__pod_spec(pod)->volumes;
    struct map names = MAP_INIT(seed);
    assert(volumes->v || !volumes->n);
    for (size_t i = 0; i < volumes->n; i++) {
        const struct api_persistent_volume_claim_volume_source *claim =
            volumes->v[i].volume_source.persistent_volume_claim;
        if (claim)
            map_put(&names, claim->claim_name, &volumes->v[i]);
    }
    return names;
}

static bool has_claim_of(const struct api_object *pod, const struct map *names) {
    const struct api_volume_list *volumes = &sched__pod_spec(pod)->volumes;
    for (size_t i = 0; i < volumes->n; i++) {
        const struct api_persistent_volume_claim_volume_source *claim =
            volumes->v[i].volume_source.persistent_volume_claim;
        if (claim && map_get(names, claim->claim_name))
            return true;
    }
    return false;
}

/* The first pod by name on a node that uses one of the claims that exclude others; NULL: none. */
static const struct sched_pod *find_user(struct sched__cycle *cy) {
    const struct api_object *pod = cy->cls->sample;
    struct map names = names_of_claims(pod, cy->s->seed);
    const struct sched_pod *user = NULL;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&cy->s->pods, &at));) {
        const struct sched_pod *p = e->value;
        if (p->node != SCHED__NONE &&
            str_eq(p->cls->sample->meta->namespace, pod->meta->namespace) &&
            has_claim_of(p->cls->sample, &names))
            user = sched__pod_first(user, p);
    }
    map_release(&names);
    return user;
}

static bool shares_claim(const struct sched *s, const struct api_object *a,
                         const struct api_object *b) {
    struct map names = names_of_claims(a, s->seed);
    bool shares = has_claim_of(b, &names);
    map_release(&names);
    return shares;
}

const struct sched_pod *sched__disk_rival(struct sched__cycle *cy, uint32_t slot) {
    return cy->verdict[slot] == SCHED__REASON_DISK ? find_rival(cy, slot) : find_user(cy);
}

/* ---- queueing hints ---- */

static bool hint(struct sched *s, struct sched_pod *pod, const struct sched__event *event) {
    if (event->bits & SCHED__CLAIM_ADD)
        return sched__claim_is_of_pod(event->after, pod->cls->sample, false);
    if (event->bits & SCHED__ASSIGNED_POD_DELETE)
        return str_eq(event->before->meta->namespace, pod->cls->sample->meta->namespace) &&
               (find_conflict(s, pod->cls->sample, event->before) ||
                shares_claim(s, pod->cls->sample, event->before));
    return true;
}

const struct sched__plugin sched__volume_restrictions = {
    .scope = SCHED__SCOPE_NODE,
    .compile = compile,
    .pre_filter = pre_filter,
    .filter = filter,
    .explain = explain,
    .events = SCHED__ASSIGNED_POD_DELETE | SCHED__NODE_ADD | SCHED__CLAIM_ADD,
    .hint = hint,
};
