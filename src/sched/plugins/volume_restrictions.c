/*
 * VolumeRestrictions: disks that two pods of a node cannot both have, and claims that only one pod
 * in the cluster may use.
 */
#include "sched/explain/explain_int.h"
#include "sched/volumes/state_int.h"

static bool is_disk(const struct api_volume_source *source) {
    return source->gce_persistent_disk || source->aws_elastic_block_store || source->rbd ||
           source->iscsi;
}

static void *compile(struct sched *s, struct sched__class *c) {
    (void)s;
    for (size_t i = 0; i < c->pod->spec.volumes.n; i++) {
        const struct api_volume_source *source = &c->pod->spec.volumes.v[i].volume_source;
        if (source->persistent_volume_claim || is_disk(source))
            return c->sample;
    }
    return NULL;
}

/* What is looked at in one cycle. */
struct state {
    struct str *exclusive; /* names of claims that only one pod may use */
    size_t exclusive_count;
    bool disks;
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
    for (size_t i = 0; i < volumes->n; i++) {
        const struct api_volume_source *source = &volumes->v[i].volume_source;
        state->disks |= is_disk(source);
        if (!source->persistent_volume_claim)
            continue;
        struct str name = source->persistent_volume_claim->claim_name;
        const struct api_object *claim =
            sched__store_find(cy->s, &cy->s->store.claims, pod->meta->namespace, name);
        if (!claim && !missing->p)
            *missing = name;
        if (claim && sched__claim_is_exclusive(claim))
            state->exclusive[state->exclusive_count++] = name;
    }
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

static bool gce_conflicts(const struct api_gce_persistent_disk_volume_source *a,
                          const struct api_gce_persistent_disk_volume_source *b) {
    return a && b && str_eq(a->pd_name, b->pd_name) && !(a->read_only && b->read_only);
}

static bool aws_conflicts(const struct api_aws_elastic_block_store_volume_source *a,
                          const struct api_aws_elastic_block_store_volume_source *b) {
    return a && b && str_eq(a->volume_id, b->volume_id);
}

static bool iscsi_conflicts(const struct api_iscsi_volume_source *a,
                            const struct api_iscsi_volume_source *b) {
    return a && b && str_eq(a->iqn, b->iqn) && !(a->read_only && b->read_only);
}

static bool rbd_conflicts(const struct api_rbd_volume_source *a,
                          const struct api_rbd_volume_source *b) {
    return a && b && str_eq(a->pool, b->pool) && str_eq(a->image, b->image) &&
           !(a->read_only && b->read_only) && sched__strs_overlap(&a->monitors, &b->monitors);
}

static bool conflicts(const struct api_volume_source *a, const struct api_volume_source *b) {
    return gce_conflicts(a->gce_persistent_disk, b->gce_persistent_disk) ||
           aws_conflicts(a->aws_elastic_block_store, b->aws_elastic_block_store) ||
           iscsi_conflicts(a->iscsi, b->iscsi) || rbd_conflicts(a->rbd, b->rbd);
}

/* The first of the pod's disks that the other pod has in a way that excludes it; NULL: none. */
static const struct api_volume *find_conflict(const struct api_object *pod,
                                              const struct api_object *other) {
    const struct api_volume_list *mine = &sched__pod_spec(pod)->volumes;
    const struct api_volume_list *theirs = &sched__pod_spec(other)->volumes;
    for (size_t i = 0; i < mine->n; i++)
        for (size_t j = 0; j < theirs->n; j++)
            if (conflicts(&mine->v[i].volume_source, &theirs->v[j].volume_source))
                return &mine->v[i];
    return NULL;
}

/* The pod of a node that has one of this pod's disks; NULL: none. */
static struct sched_pod *find_rival(const struct sched__cycle *cy, uint32_t slot) {
    const struct sched__node *node = &cy->s->nodes.v[slot];
    for (size_t i = 0; i < node->pods.n; i++)
        if (find_conflict(cy->cls->sample, node->pods.v[i]->cls->sample))
            return node->pods.v[i];
    return NULL;
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
    if (!in_use && !state->disks)
        return;
    for (uint32_t slot = from; slot < to; slot++) {
        if (cy->verdict[slot])
            continue;
        if (state->disks && find_rival(cy, slot))
            cy->verdict[slot] = SCHED__REASON_DISK;
        else if (in_use)
            cy->verdict[slot] = SCHED__REASON_CLAIM_IN_USE;
    }
}

static void explain(struct sched__cycle *cy, uint32_t slot, struct buf *out) {
    if (cy->verdict[slot] == SCHED__REASON_DISK) {
        const struct sched_pod *rival = find_rival(cy, slot);
        if (rival)
            buf_addf(out, "volume %.*s: pod %.*s has the same disk",
                     STR_ARG(find_conflict(cy->cls->sample, rival->cls->sample)->name),
                     STR_ARG(rival->key));
        return;
    }
    struct str name = claim_in_use(cy, state_of(cy));
    struct str ns = cy->cls->sample->meta->namespace;
    buf_addf(out, "claim %.*s/%.*s is ReadWriteOncePod, and %zu pod(s) use it", STR_ARG(ns),
             STR_ARG(name), sched__claim_users(cy->s, ns, name));
}

static bool shares_claim(const struct api_object *a, const struct api_object *b) {
    const struct api_volume_list *x = &sched__pod_spec(a)->volumes;
    const struct api_volume_list *y = &sched__pod_spec(b)->volumes;
    for (size_t i = 0; i < x->n; i++)
        for (size_t j = 0; j < y->n; j++) {
            const struct api_persistent_volume_claim_volume_source
                *p = x->v[i].volume_source.persistent_volume_claim,
                *q = y->v[j].volume_source.persistent_volume_claim;
            if (p && q && str_eq(p->claim_name, q->claim_name))
                return true;
        }
    return false;
}

/* The pod on a node that uses one of the claims that exclude others; NULL: none. */
static struct sched_pod *find_user(struct sched__cycle *cy) {
    const struct api_object *pod = cy->cls->sample;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&cy->s->pods, &at));) {
        struct sched_pod *p = e->value;
        if (p->node != SCHED__NONE &&
            str_eq(p->cls->sample->meta->namespace, pod->meta->namespace) &&
            shares_claim(p->cls->sample, pod))
            return p;
    }
    return NULL;
}

struct sched_pod *sched__disk_rival(struct sched__cycle *cy, uint32_t slot) {
    return cy->verdict[slot] == SCHED__REASON_DISK ? find_rival(cy, slot) : find_user(cy);
}

/* ---- queueing hints ---- */

static bool hint(struct sched *s, struct sched_pod *pod, const struct sched__event *event) {
    (void)s;
    if (event->bits & SCHED__CLAIM_ADD)
        return sched__claim_is_of_pod(event->after, pod->cls->sample, false);
    if (event->bits & SCHED__ASSIGNED_POD_DELETE)
        return str_eq(event->before->meta->namespace, pod->cls->sample->meta->namespace) &&
               (find_conflict(pod->cls->sample, event->before) ||
                shares_claim(pod->cls->sample, event->before));
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
