/*
 * VolumeBinding: a pod's bound volumes must be reachable from the node, and its unbound claims must
 * find a volume there or one that can be made there.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/volumebinding,
 * func (*VolumeBinding) PreFilter, func (*VolumeBinding) Filter, func (*VolumeBinding) Score.
 */
#include <math.h>

#include "api/selector.h"
#include "sched/explain/explain_int.h"
#include "sched/plugins/node_resources_int.h"
#include "sched/volumes/state_int.h"

/* In the order of enum sched__conflict. */
static const struct str reason_texts[SCHED__CONFLICT_COUNT] = {
    STR_INIT("node(s) didn't match PersistentVolume's node affinity"),
    STR_INIT("node(s) didn't find available persistent volumes to bind"),
    STR_INIT("node(s) did not have enough free storage"),
    STR_INIT("node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"),
};

/* Classes of pods with claims are marked by themselves; there is nothing else to know of them. */
static void *compile(struct sched *s, struct sched__pod_class *c) {
    (void)s;
    for (size_t i = 0; i < c->pod->spec.volumes.n; i++) {
        const struct api_volume_source *source = &c->pod->spec.volumes.v[i].volume_source;
        if (source->persistent_volume_claim || source->ephemeral)
            return c;
    }
    return NULL;
}

/* ---- PreFilter ---- */

/* What is wrong with the claim that a volume stands for; absent: nothing. */
static struct str claim_fault(struct sched__cycle *cy, const struct api_volume *volume,
                              struct str name) {
    struct arena *a = cy->arena;
    const struct api_object *pod = cy->cls->sample;
    const struct api_object *claim =
        sched__store_find(cy->s, &cy->s->store.claims, pod->meta->namespace, name);
    bool ephemeral = !volume->volume_source.persistent_volume_claim;
    if (!claim && ephemeral)
        return arena_printf(a,
                            "waiting for ephemeral volume controller to create the "
                            "persistentvolumeclaim \"%.*s\"",
                            STR_ARG(name));
    if (!claim)
        return sched__not_found(a, "persistentvolumeclaim", name);
    const struct api_persistent_volume_claim *body = claim->body;
    if (str_is(body->status.phase, "Lost"))
        return arena_printf(a,
                            "persistentvolumeclaim \"%.*s\" bound to non-existent "
                            "persistentvolume \"%.*s\"",
                            STR_ARG(name), STR_ARG(body->spec.volume_name));
    if (claim->meta->deletion_timestamp.set)
        return arena_printf(a, "persistentvolumeclaim \"%.*s\" is being deleted", STR_ARG(name));
    return ephemeral ? api_claim_owner_error(a, claim, pod) : (struct str){0};
}

/* The pod's claims, read once in a cycle. */
static struct sched__pod_claims *read_claims(struct sched__cycle *cy, struct str *error) {
    struct sched__pod_claims *claims = cy->data[SCHED_VOLUME_BINDING];
    if (claims)
        return claims;
    claims = cy->data[SCHED_VOLUME_BINDING] = arena_new(cy->arena, struct sched__pod_claims);
    sched__pod_claims_read(cy->s, cy->cls->sample, cy->arena, claims, error);
    return claims;
}

/* The same after PreFilter found nothing wrong with them. */
static struct sched__pod_claims *claims_of(struct sched__cycle *cy) {
    struct str error = {0};
    return read_claims(cy, &error);
}

static void pre_filter(struct sched__cycle *cy) {
    const struct api_volume_list *volumes = &sched__pod_spec(cy->cls->sample)->volumes;
    for (size_t i = 0; i < volumes->n; i++) {
        struct str name = api_claim_name(cy->arena, cy->cls->sample, &volumes->v[i]);
        struct str fault = name.p ? claim_fault(cy, &volumes->v[i], name) : (struct str){0};
        if (fault.p) {
            sched__prefilter_reject(cy, SCHED_VOLUME_BINDING, fault);
            return;
        }
    }
    struct str error = {0};
    const struct sched__pod_claims *claims = read_claims(cy, &error);
    if (error.p)
        sched__prefilter_fail(cy, SCHED_VOLUME_BINDING, error);
    else if (claims->immediate)
        sched__prefilter_reject(cy, SCHED_VOLUME_BINDING,
                                STR("pod has unbound immediate PersistentVolumeClaims"));
}

/* ---- Filter ---- */

static void filter(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    struct sched__pod_claims *claims = claims_of(cy);
    for (uint32_t slot = from; slot < to; slot++) {
        if (cy->verdict[slot])
            continue;
        const struct sched__volume_plan *plan = sched__pod_claims_place(cy->s, claims, slot);
        if (sched__volume_plan_fails(plan))
            cy->verdict[slot] =
                plan->by_version ? SCHED__REASON_VOLUME_VERSION : SCHED__REASON_VOLUME_BINDING;
        if (plan->error.p)
            sched__filter_fail(cy, SCHED_VOLUME_BINDING, plan->error);
    }
}

static void reasons(struct sched__cycle *cy, uint32_t slot, struct sched_status *out) {
    const struct sched__volume_plan *plan = sched__pod_claims_place(cy->s, claims_of(cy), slot);
    if (plan->error.p)
        sched__filter_fail(cy, SCHED_VOLUME_BINDING, plan->error);
    for (int i = 0; i < SCHED__CONFLICT_COUNT; i++)
        if (plan->conflicts[i])
            sched__status_add(cy, out, reason_texts[i]);
}

/* ---- Score ---- */

/* Upstream scores the volumes that its filter found for the node: without that there are none. */
static bool pre_score(struct sched__cycle *cy) {
    return feature_enabled(&cy->s->gates, FEATURE_StorageCapacityScoring) &&
           sched_order_has(&cy->profile->points[SCHED_FILTER], SCHED_VOLUME_BINDING);
}

/* Space that is asked for, and that there is, in one class of storage. */
struct use {
    struct str class_name;
    int64_t requested, capacity;
};

struct uses {
    struct use *v;
    size_t n;
};

static struct use *find_use(struct uses *uses, struct str class_name) {
    for (size_t i = 0; i < uses->n; i++)
        if (str_eq(uses->v[i].class_name, class_name))
            return &uses->v[i];
    uses->v[uses->n] = (struct use){.class_name = class_name};
    return &uses->v[uses->n++];
}

/* Existing volumes add up; space for new ones is the same space each time. */
static void add_uses(struct uses *uses, const struct sched__volume_plan *plan) {
    for (size_t i = 0; i < plan->binding_count; i++) {
        const struct sched__binding *b = &plan->bindings[i];
        struct use *use = find_use(uses, b->pv->body->spec.storage_class_name);
        use->requested = wrap_add_i64(use->requested, quantity_value(&b->claim->size));
        use->capacity = wrap_add_i64(use->capacity, quantity_value(&b->pv->size));
    }
    if (plan->binding_count)
        return;
    for (size_t i = 0; i < plan->provision_count; i++) {
        const struct sched__provision *p = &plan->provisions[i];
        if (!p->capacity)
            continue;
        struct use *use = find_use(uses, p->claim->storage_class->metadata.name);
        use->capacity = p->capacity->capacity ? quantity_value(p->capacity->capacity) : 0;
        use->requested = wrap_add_i64(use->requested, quantity_value(&p->claim->size));
    }
}

static int64_t score_uses(const struct sched_profile *profile, const struct uses *uses) {
    int64_t sum = 0;
    for (size_t i = 0; i < uses->n; i++) {
        const struct use *use = &uses->v[i];
        bool full = use->capacity == 0 || use->requested > use->capacity;
        int64_t utilization =
            full ? 100 : wrap_div_i64(wrap_mul_i64(use->requested, 100), use->capacity);
        sum += sched__shape_score(profile->volume_shape, profile->volume_shape_count, utilization);
    }
    return uses->n ? (int64_t)round((double)sum / (double)uses->n) : 0;
}

static void score(struct sched__cycle *cy, int64_t *scores, uint32_t from, uint32_t to) {
    struct sched__pod_claims *claims = claims_of(cy);
    size_t most = claims->selected.n + claims->unbound.n;
    struct use *room = arena_array(cy->arena, struct use, most);
    for (uint32_t slot = from; slot < to; slot++) {
        struct uses uses = {room, 0};
        if (cy->verdict[slot])
            continue;
        if (most)
            add_uses(&uses, sched__pod_claims_place(cy->s, claims, slot));
        scores[slot] = score_uses(cy->profile, &uses);
    }
}

/* ---- explanation ---- */

/* Begins a finding about a claim. */
static void start(struct sched__findings *out, enum sched_finding_code code,
                  const struct sched__claim *c) {
    sched__finding_start(out, code, sched__field(SCHED_FIELD_VOLUMES));
    sched__finding_add(out, SCHED_OPERAND_CLAIM, sched__object_name(out, c->object));
}

static void add_storage_class(struct sched__findings *out, const struct sched__claim *c) {
    sched__finding_add(out, SCHED_OPERAND_STORAGE_CLASS,
                       sched__text(c->storage_class->metadata.name));
}

/* The volume's node affinity does not match. */
static void explain_affinity(struct sched__findings *out, const struct sched__claim *c,
                             struct sched__pv *pv) {
    struct sched *s = out->cy->s;
    struct str error = {0};
    struct match_node_verdict why;
    const struct match_affinity *affinity =
        sched__pv_affinity(s, pv, sched__csi_node(s, out->slot), &error);
    if (!affinity || match_affinity_required(affinity, s->nodes.v[out->slot].labels, &why)) {
        start(out, SCHED_FINDING_VOLUME_UNREACHABLE, c);
    } else {
        sched__finding_requirement(out, SCHED_FIELD_VOLUME_TERMS, affinity, &why);
        sched__finding_add(out, SCHED_OPERAND_CLAIM, sched__object_name(out, c->object));
    }
    sched__finding_add(out, SCHED_OPERAND_VOLUME, sched__text(pv->object->meta->name));
}

/* The volume that keeps an unbound claim from this node, if it is a single one. */
static struct sched__pv *only_candidate(const struct sched__claim *c) {
    const struct sched__suitable *suitable = sched__candidates_count(c);
    return c->prebound_count || suitable->n == 1 ? suitable->first : NULL;
}

static void explain_no_volume(struct sched__findings *out, const struct sched__volume_plan *plan) {
    const struct sched__claim *c = plan->conflicts[SCHED__NO_VOLUME];
    struct sched__pv *only = plan->no_volume == SCHED__NO_PROVISIONER ? only_candidate(c) : NULL;
    if (only) {
        explain_affinity(out, c, only);
        return;
    }
    switch (plan->no_volume) {
    case SCHED__OTHER_NODE:
        start(out, SCHED_FINDING_SELECTED_NODE, c);
        sched__finding_add_of_node(out, SCHED_OPERAND_LEFT,
                                   sched__node_name_of(out->cy, out->slot));
        sched__finding_add(out, SCHED_OPERAND_RIGHT, sched__text(c->selected_node));
        return;
    case SCHED__NO_PROVISIONER:
        start(out, SCHED_FINDING_NO_VOLUME, c);
        add_storage_class(out, c);
        sched__finding_add(out, SCHED_OPERAND_CANDIDATES,
                           sched__number((int64_t)sched__candidates_count(c)->n));
        return;
    case SCHED__TOPOLOGY:
        start(out, SCHED_FINDING_TOPOLOGY, c);
        add_storage_class(out, c);
        return;
    }
}

static void explain_no_space(struct sched__findings *out, const struct sched__claim *c) {
    AUTO(buf_release) struct buf size = BUF_INIT(SIZE_MAX);
    quantity_write(&size, &c->size);
    start(out, SCHED_FINDING_NO_SPACE, c);
    add_storage_class(out, c);
    sched__finding_add(out, SCHED_OPERAND_SIZE,
                       sched__text(arena_str(&out->scratch, buf_view(&size))));
    sched__finding_add(
        out, SCHED_OPERAND_RIGHT,
        (struct sched_operand){.kind = SCHED_BYTES, .number = quantity_value(&c->size)});
}

static void explain(struct sched__cycle *cy, uint32_t slot, struct sched__findings *out) {
    const struct sched__volume_plan *plan = sched__pod_claims_place(cy->s, claims_of(cy), slot);
    const struct sched__claim *c;
    if (plan->error.p) {
        sched__finding_start(out, SCHED_FINDING_MESSAGE, sched__field(SCHED_FIELD_VOLUMES));
        sched__finding_add_of_node(out, SCHED_OPERAND_DETAIL, sched__message(plan->error));
    } else if ((c = plan->conflicts[SCHED__VOLUME_AFFINITY])) {
        explain_affinity(out, c, c->pv);
    } else if (plan->conflicts[SCHED__NO_VOLUME]) {
        explain_no_volume(out, plan);
    } else if ((c = plan->conflicts[SCHED__NO_SPACE])) {
        explain_no_space(out, c);
    } else if ((c = plan->conflicts[SCHED__VOLUME_MISSING])) {
        start(out, SCHED_FINDING_VOLUME_MISSING, c);
        sched__finding_add(out, SCHED_OPERAND_VOLUME, sched__text(c->body->spec.volume_name));
    }
}

/* ---- queueing hints ---- */

static bool terms_equal(const struct api_topology_selector_term *a,
                        const struct api_topology_selector_term *b) {
    bool same = a->match_label_expressions.n == b->match_label_expressions.n;
    for (size_t i = 0; same && i < a->match_label_expressions.n; i++) {
        const struct api_topology_selector_label_requirement *x = &a->match_label_expressions.v[i];
        const struct api_topology_selector_label_requirement *y = &b->match_label_expressions.v[i];
        same = str_eq(x->key, y->key) && sched__strs_equal(&x->values, &y->values);
    }
    return same;
}

static bool topologies_equal(const struct api_storage_class *a, const struct api_storage_class *b) {
    bool same = a->allowed_topologies.n == b->allowed_topologies.n;
    for (size_t i = 0; same && i < a->allowed_topologies.n; i++)
        same = terms_equal(&a->allowed_topologies.v[i], &b->allowed_topologies.v[i]);
    return same;
}

static struct str migrated_plugins(const struct api_object *csi_node) {
    const struct label *l = labels_find(&csi_node->meta->annotations,
                                        STR("storage.alpha.kubernetes.io/migrated-plugins"));
    return l ? l->value : (struct str){0};
}

static bool limit_rose(const struct api_object *before, const struct api_object *after) {
    const struct quantity *old = sched__capacity_limit(before->body);
    const struct quantity *new = sched__capacity_limit(after->body);
    return new && (!old || quantity_value(new) > quantity_value(old));
}

static bool is_true(struct api_opt_bool b) {
    return b.set && b.v;
}

/* The driver of one of the pod's inline volumes no longer has its space counted. */
static bool stopped_counting(const struct api_object *pod, const struct sched__event *event) {
    const struct api_csi_driver *before = event->before->body, *after = event->after->body;
    if (!is_true(before->spec.storage_capacity) || is_true(after->spec.storage_capacity))
        return false;
    const struct api_volume_list *volumes = &sched__pod_spec(pod)->volumes;
    for (size_t i = 0; i < volumes->n; i++) {
        const struct api_csi_volume_source *csi = volumes->v[i].volume_source.csi;
        if (csi && str_eq(csi->driver, event->after->meta->name))
            return true;
    }
    return false;
}

static bool hint(struct sched *s, struct sched_pod *pod, const struct sched__event *event) {
    (void)s;
    const struct api_object *before = event->before, *after = event->after;
    if (event->bits & (SCHED__CLAIM_ADD | SCHED__CLAIM_UPDATE))
        return sched__claim_is_of_pod(after, pod->cls->sample, true);
    if (event->bits & SCHED__CSI_DRIVER)
        return before && after && stopped_counting(pod->cls->sample, event);
    if (!before || !after)
        return true;
    if (event->bits & SCHED__STORAGE_CLASS_UPDATE)
        return !topologies_equal(before->body, after->body);
    if (event->bits & SCHED__CSI_NODE_UPDATE)
        return !str_eq(migrated_plugins(before), migrated_plugins(after));
    if (event->bits & SCHED__CAPACITY)
        return limit_rose(before, after);
    return true;
}

const struct sched__plugin sched__volume_binding = {
    .scope = SCHED__SCOPE_NODE,
    .compile = compile,
    .pre_filter = pre_filter,
    .filter = filter,
    .reasons = reasons,
    .pre_score = pre_score,
    .score = score,
    .explain = explain,
    .events = SCHED__STORAGE_CLASS_ADD | SCHED__STORAGE_CLASS_UPDATE | SCHED__CLAIM_ADD |
              SCHED__CLAIM_UPDATE | SCHED__VOLUME_ADD | SCHED__VOLUME_UPDATE | SCHED__NODE_ADD |
              SCHED__NODE_LABEL | SCHED__CSI_NODE_ADD | SCHED__CSI_NODE_UPDATE | SCHED__CSI_DRIVER |
              SCHED__CAPACITY,
    .hint = hint,
};
