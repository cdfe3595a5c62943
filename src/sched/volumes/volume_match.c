/*
 * The claims of one pod, and what one node makes of them: upstream's GetPodVolumeClaims and
 * FindPodVolumes.
 *
 * What does not depend on the node is settled when the claims are read: an unbound claim gets the
 * list of the volumes that could be its own.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/volumebinding,
 * func (*volumeBinder) GetPodVolumeClaims, func (*volumeBinder) FindPodVolumes.
 */
#include <stdlib.h>

#include "sched/volumes/state_int.h"

/* ---- the claims of a pod ---- */

static bool is_fully_bound(const struct api_object *claim) {
    return sched__claim_body(claim)->spec.volume_name.n &&
           labels_find(&claim->meta->annotations, STR("pv.kubernetes.io/bind-completed"));
}

/* The class of a claim that waits for its first consumer; NULL: it does not wait. */
static const struct api_storage_class *delaying_class(struct sched *s, struct arena *a,
                                                      const struct api_object *claim,
                                                      struct str *error) {
    struct str name = api_claim_class(claim);
    const struct api_object *object =
        name.n ? sched__store_find(s, &s->store.storage_classes, (struct str){0}, name) : NULL;
    if (!object)
        return NULL;
    const struct api_storage_class *class = object->body;
    if (!class->volume_binding_mode.p)
        *error =
            arena_printf(a, "VolumeBindingMode not set for StorageClass \"%.*s\"", STR_ARG(name));
    return str_is(class->volume_binding_mode, "WaitForFirstConsumer") ? class : NULL;
}

static void read_size(struct sched__claim *c) {
    const struct api_quantities *requests = &c->body->spec.resources.requests;
    for (size_t i = 0; i < requests->n; i++) {
        if (!str_is(requests->v[i].key, "storage"))
            continue;
        c->has_size = true;
        c->size = requests->v[i].value;
    }
}

/* ---- space for a claim that is to be provisioned ---- */

/* Does the driver say how much space it has? */
static bool counts_space(struct sched *s, struct str driver) {
    const struct api_object *object =
        sched__store_find(s, &s->store.csi_drivers, (struct str){0}, driver);
    const struct api_csi_driver *body = object ? object->body : NULL;
    return body && body->spec.storage_capacity.set && body->spec.storage_capacity.v;
}

/* ---- sorting claims ---- */

/* By size; of equals the first stays first. */
static int compare_sizes(const void *a, const void *b) {
    const struct sched__claim *x = a, *y = b;
    int c = quantity_cmp(&x->size, &y->size);
    return c ? c : (x->order > y->order) - (x->order < y->order);
}

static void add_claim(struct sched *s, struct arena *a, const struct api_object *object,
                      struct sched__pod_claims *out, struct str *error) {
    struct sched__claim c = {.object = object, .body = object->body};
    if (is_fully_bound(object)) {
        c.pv = sched__pv_get(s, c.body->spec.volume_name);
        out->bound.v[out->bound.n++] = c;
        return;
    }
    c.storage_class = delaying_class(s, a, object, error);
    if (!c.storage_class || c.body->spec.volume_name.n) {
        out->immediate = true;
        return;
    }
    read_size(&c);
    c.needs_space = c.has_size && counts_space(s, c.storage_class->provisioner);
    c.suitable = arena_new(a, struct sched__suitable); /* none of a claim with a node */
    c.selected_node = sched__claim_selected_node(s, object);
    if (c.selected_node.p) {
        out->selected.v[out->selected.n++] = c;
        return;
    }
    struct str fault = sched__candidates_find(s, a, &c);
    if (fault.p && !out->error.p)
        out->error = fault;
    c.order = out->unbound.n;
    out->unbound.v[out->unbound.n++] = c;
}

int sched__pod_claims_read(struct sched *s, const struct api_object *pod, struct arena *a,
                           struct sched__pod_claims *out, struct str *error) {
    const struct api_volume_list *volumes = &sched__pod_spec(pod)->volumes;
    *out = (struct sched__pod_claims){0};
    out->bound.v = arena_array(a, struct sched__claim, volumes->n);
    out->selected.v = arena_array(a, struct sched__claim, volumes->n);
    out->unbound.v = arena_array(a, struct sched__claim, volumes->n);
    out->plan.bindings = arena_array(a, struct sched__binding, volumes->n);
    out->plan.provisions = arena_array(a, struct sched__provision, volumes->n);
    for (size_t i = 0; i < volumes->n && !error->p; i++) {
        struct str name = sched__claim_name(a, pod, &volumes->v[i]);
        if (!name.p)
            continue;
        const struct api_object *claim =
            sched__store_find(s, &s->store.claims, pod->meta->namespace, name);
        if (claim)
            add_claim(s, a, claim, out, error);
        else
            *error = sched__not_found(a, "persistentvolumeclaim", name);
    }
    if (out->unbound.n > 1)
        qsort(out->unbound.v, out->unbound.n, sizeof *out->unbound.v, compare_sizes);
    return error->p ? -1 : 0;
}

/* ---- one node ---- */

/* A node that is being asked about. */
struct place {
    struct sched *s;
    uint32_t slot;
    const struct sched__node *node;
    struct sched__volume_plan *plan;
};

const struct api_object *sched__csi_node(struct sched *s, uint32_t slot) {
    return sched__store_find(s, &s->store.csi_nodes, (struct str){0},
                             intern_text(s->nodes.v[slot].name));
}

static void refuse(struct place *p, enum sched__conflict conflict, const struct sched__claim *c) {
    p->plan->conflicts[conflict] = c;
}

static void refuse_volume(struct place *p, enum sched__no_volume why,
                          const struct sched__claim *c) {
    p->plan->no_volume = why;
    refuse(p, SCHED__NO_VOLUME, c);
}

static void check_bound(struct place *p, const struct sched__claim_list *claims) {
    const struct api_object *csi_node = claims->n ? sched__csi_node(p->s, p->slot) : NULL;
    for (size_t i = 0; i < claims->n; i++) {
        const struct sched__claim *c = &claims->v[i];
        if (!c->pv) {
            refuse(p, SCHED__VOLUME_MISSING, c);
            return;
        }
        const struct match_affinity *affinity =
            sched__pv_affinity(p->s, c->pv, csi_node, &p->plan->error);
        if (p->plan->error.p)
            return;
        if (affinity && !match_affinity_required(affinity, p->node->labels, NULL)) {
            refuse(p, SCHED__VOLUME_AFFINITY, c);
            match_affinity_log(p->s->match, affinity, MATCH_NODE_REQUIRED, p->node->labels);
            p->plan->by_version = match_affinity_fails_versions(affinity, p->node->labels);
            return;
        }
    }
}

static bool term_matches(const struct api_topology_selector_term *term,
                         const struct labels *labels) {
    for (size_t i = 0; i < term->match_label_expressions.n; i++) {
        const struct api_topology_selector_label_requirement *r =
            &term->match_label_expressions.v[i];
        const struct label *label = labels_find(labels, r->key);
        bool found = false;
        for (size_t j = 0; label && j < r->values.n && !found; j++)
            found = str_eq(r->values.v[j], label->value);
        if (!found)
            return false;
    }
    return term->match_label_expressions.n > 0;
}

static bool topology_matches(const struct api_topology_selector_term_list *terms,
                             const struct labels *labels) {
    for (size_t i = 0; i < terms->n; i++)
        if (term_matches(&terms->v[i], labels))
            return true;
    return !terms->n;
}

/* False: no capacity that this node reaches is large enough. */
static bool find_space(const struct place *p, const struct sched__claim *c,
                       const struct api_csi_storage_capacity **out) {
    *out = c->needs_space
               ? sched__capacities_find(p->s, c->storage_class->metadata.name,
                                        quantity_value(&c->size), &p->node->object->meta->labels)
               : NULL;
    return !c->needs_space || *out;
}

/* False: a conflict was found, and the rest is not looked at. */
static bool provision(struct place *p, const struct sched__claim *c) {
    struct str provisioner = c->storage_class->provisioner;
    const struct api_csi_storage_capacity *capacity;
    if (!provisioner.n || str_is(provisioner, "kubernetes.io/no-provisioner"))
        refuse_volume(p, SCHED__NO_PROVISIONER, c);
    else if (!topology_matches(&c->storage_class->allowed_topologies,
                               &p->node->object->meta->labels))
        refuse_volume(p, SCHED__TOPOLOGY, c);
    else if (!find_space(p, c, &capacity))
        refuse(p, SCHED__NO_SPACE, c);
    else {
        p->plan->provisions[p->plan->provision_count++] = (struct sched__provision){c, capacity};
        return true;
    }
    p->plan->provision_count = 0;
    return false;
}

static void bind(struct sched__volume_plan *plan, const struct sched__claim *c,
                 struct sched__pv *pv) {
    pv->chosen = (uint32_t)plan->binding_count;
    plan->bindings[plan->binding_count++] = (struct sched__binding){c, pv};
}

static void check_unbound(struct place *p, struct sched__pod_claims *claims) {
    struct str name = intern_text(p->node->name);
    for (size_t i = 0; i < claims->selected.n; i++)
        if (!str_eq(claims->selected.v[i].selected_node, name)) {
            refuse_volume(p, SCHED__OTHER_NODE, &claims->selected.v[i]);
            return;
        }
    p->plan->error = claims->error;
    bool go_on = !claims->error.p;
    for (size_t i = 0; i < claims->selected.n && go_on; i++)
        go_on = provision(p, &claims->selected.v[i]);
    for (size_t i = 0; i < claims->unbound.n && !claims->error.p; i++) {
        const struct sched__claim *c = &claims->unbound.v[i];
        struct sched__pv *pv = sched__candidates_choose(c, p->plan, p->node);
        if (pv)
            bind(p->plan, c, pv);
        else
            go_on = go_on && provision(p, c);
    }
}

const struct sched__volume_plan *
sched__pod_claims_place(struct sched *s, struct sched__pod_claims *c, uint32_t slot) {
    struct place p = {s, slot, &s->nodes.v[slot], &c->plan};
    c->plan = (struct sched__volume_plan){.bindings = c->plan.bindings,
                                          .provisions = c->plan.provisions,
                                          .serial = ++sched__volumes_get(s)->plans};
    check_bound(&p, &c->bound);
    if (!c->plan.error.p)
        check_unbound(&p, c);
    return &c->plan;
}

bool sched__volume_plan_fails(const struct sched__volume_plan *plan) {
    bool fails = plan->error.p != NULL;
    for (int i = 0; i < SCHED__CONFLICT_COUNT; i++)
        fails |= plan->conflicts[i] != NULL;
    return fails;
}
