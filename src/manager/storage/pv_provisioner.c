/*
 * A simulated provisioner: it makes the volumes that claims ask for, and deletes them when their
 * claims are gone, for every driver that there could be. There is no storage behind them.
 *
 * It does what a CSI driver with its external-provisioner would do to the objects; a StorageClass
 * whose annotation says so is left to others.
 */
#include "manager/labelled_int.h"
#include "manager/storage/pv_binder_int.h"
#include "sched/migrated.h"

#define FINALIZER STR("external-provisioner.volume.kubernetes.io/finalizer")

struct provisioner {
    struct manager__base base;
    struct workqueue *claim_queue, *volume_queue;
    struct informer *classes, *nodes, *csi_nodes;
    struct labelled *by_class; /* claims that wait for a volume */
};

static struct str annotation(const struct api_object *o, struct str key) {
    const struct label *l = labels_find(&o->meta->annotations, key);
    return l ? l->value : (struct str){0};
}

/* ---- where a volume can be used ---- */

static struct api_node_selector *selector_new(struct arena *a, size_t terms) {
    struct api_node_selector *s = arena_new(a, struct api_node_selector);
    s->node_selector_terms.v = arena_array(a, struct api_node_selector_term, terms);
    return s;
}

static void add_expression(struct arena *a, struct api_node_selector_requirement_list *list,
                           struct str key, const struct str *values, size_t n) {
    struct api_node_selector_requirement *r = &list->v[list->n++];
    *r = (struct api_node_selector_requirement){.key = arena_str(a, key),
                                                .operator= STR("In"),
                                                .values = {arena_array(a, struct str, n), n}};
    for (size_t i = 0; i < n; i++)
        r->values.v[i] = arena_str(a, values[i]);
}

/* On the nodes that the class allows. */
static struct api_node_selector *allowed(struct arena *a, const struct api_storage_class *class) {
    const struct api_topology_selector_term_list *terms = &class->allowed_topologies;
    struct api_node_selector *s = selector_new(a, terms->n);
    for (size_t i = 0; i < terms->n; i++) {
        const struct api_topology_selector_label_requirement_list *from =
            &terms->v[i].match_label_expressions;
        struct api_node_selector_requirement_list *to =
            &s->node_selector_terms.v[s->node_selector_terms.n].match_expressions;
        if (!from->n)
            continue;
        to->v = arena_array(a, struct api_node_selector_requirement, from->n);
        for (size_t k = 0; k < from->n; k++)
            add_expression(a, to, from->v[k].key, from->v[k].values.v, from->v[k].values.n);
        s->node_selector_terms.n++;
    }
    return s->node_selector_terms.n ? s : NULL;
}

/* The labels of nodes that tell where the driver's volumes are: as the node's driver says, else
 * those of the class, else zone and region. */
static struct api_strs topology_keys(const struct provisioner *c, struct arena *a,
                                     const struct api_storage_class *class, struct str driver,
                                     struct str node) {
    static const struct str zones[] = {STR_INIT("topology.kubernetes.io/region"),
                                       STR_INIT("topology.kubernetes.io/zone")};
    const struct api_object *o = informer_get(c->csi_nodes, STR(""), node);
    const struct api_csi_node *csi = o ? o->body : NULL;
    for (size_t i = 0; csi && i < csi->spec.drivers.n; i++)
        if (str_eq(csi->spec.drivers.v[i].name, driver))
            return csi->spec.drivers.v[i].topology_keys;
    if (class->allowed_topologies.n) {
        const struct api_topology_selector_label_requirement_list *from =
            &class->allowed_topologies.v[0].match_label_expressions;
        struct api_strs keys = {arena_array(a, struct str, from->n), from->n};
        for (size_t i = 0; i < from->n; i++)
            keys.v[i] = from->v[i].key;
        return keys;
    }
    return (struct api_strs){arena_copy(a, zones, sizeof zones), sizeof zones / sizeof *zones};
}

/* Where the node is. */
static struct api_node_selector *around(struct arena *a, const struct api_object *node,
                                        const struct api_strs *keys) {
    struct api_node_selector *s = selector_new(a, 1);
    struct api_node_selector_requirement_list *to = &s->node_selector_terms.v[0].match_expressions;
    to->v = arena_array(a, struct api_node_selector_requirement, keys->n);
    for (size_t i = 0; i < keys->n; i++) {
        const struct label *l = labels_find(&node->meta->labels, keys->v[i]);
        if (l)
            add_expression(a, to, keys->v[i], &l->value, 1);
    }
    s->node_selector_terms.n = 1;
    return to->n ? s : NULL;
}

/* ---- a volume ---- */

/* A claim that asks for a volume, its class, and the node that the scheduler has chosen; NULL: any.
 */
struct order {
    const struct api_object *claim;
    const struct api_storage_class *class;
    struct str driver;
    const struct api_object *node;
};

static void set_affinity(const struct provisioner *c, const struct order *order,
                         struct api_object *o) {
    struct api_persistent_volume_spec *spec =
        &((struct api_persistent_volume *)api_own_body(o))->spec;
    struct arena *a = &o->arena;
    struct api_node_selector *required;
    if (order->node) {
        struct api_strs keys =
            topology_keys(c, a, order->class, order->driver, order->node->meta->name);
        required = around(a, order->node, &keys);
    } else
        required = allowed(a, order->class);
    if (!required)
        return;
    spec->node_affinity = arena_new(a, struct api_volume_node_affinity);
    spec->node_affinity->required = required;
}

static struct api_csi_persistent_volume_source *
source_of(struct arena *a, const struct order *order, struct str name) {
    struct api_csi_persistent_volume_source *csi =
        arena_new(a, struct api_csi_persistent_volume_source);
    csi->driver = arena_str(a, order->driver);
    csi->volume_handle = name;
    labels_put(a, &csi->volume_attributes,
               (struct label){STR("storage.kubernetes.io/csiProvisionerIdentity"),
                              arena_printf(a, "berth-%.*s", STR_ARG(order->driver))});
    return csi;
}

static void fill_spec(struct api_object *o, const struct order *order) {
    const struct api_persistent_volume_claim_spec *wish =
        &((const struct api_persistent_volume_claim *)order->claim->body)->spec;
    struct api_persistent_volume_spec from = {
        .access_modes = wish->access_modes,
        .persistent_volume_reclaim_policy = order->class->reclaim_policy,
        .storage_class_name = api_claim_class(order->claim),
        .mount_options = order->class->mount_options,
        .volume_mode = wish->volume_mode,
        .volume_attributes_class_name = wish->volume_attributes_class_name};
    struct api_persistent_volume_spec *spec =
        &((struct api_persistent_volume *)api_own_body(o))->spec;
    struct arena *a = &o->arena;
    struct quantity size = api_storage_of(&wish->resources.requests);
    api_struct_copy(a, &api_types[API_T_persistent_volume_spec], &from, spec);
    spec->capacity = (struct api_quantities){arena_new(a, struct api_quantity), 1};
    *spec->capacity.v = (struct api_quantity){STR("storage"), quantity_copy(a, &size)};
    spec->claim_ref = api_claim_reference(a, order->claim);
    spec->persistent_volume_source.csi = source_of(a, order, api_own_meta(o)->name);
}

static struct api_object *volume_for(const struct provisioner *c, const struct order *order) {
    struct api_object *o = api_object_new(client_kind(API_T_persistent_volume));
    struct api_object_meta *meta = api_own_meta(o);
    struct arena *a = &o->arena;
    meta->name = arena_printf(a, "pvc-%.*s", STR_ARG(order->claim->meta->uid));
    labels_put(a, &meta->annotations,
               (struct label){API_PROVISIONED_BY, arena_str(a, order->driver)});
    fill_spec(o, order);
    set_affinity(c, order, o);
    if (str_is(order->class->reclaim_policy, "Delete")) {
        meta->finalizers = (struct api_strs){arena_new(a, struct str), 1};
        *meta->finalizers.v = FINALIZER;
    }
    return o;
}

/* ---- one claim ---- */

/* A volume that is to be made. */
struct making {
    struct provisioner *c;
    struct events_subject claim;
    struct str volume;
};

static void made(void *arg, struct work *w, const struct client_answer *answer) {
    const struct making *x = arg;
    if (answer->code == ERR_EXISTS)
        return;
    if (answer->code) {
        events_say_of(x->c->base.events, &x->claim, EVENTS_WARNING, "ProvisioningFailed",
                      "Error creating provisioned PV object for claim %.*s/%.*s: %.*s. Deleting "
                      "the volume.",
                      STR_ARG(x->claim.namespace), STR_ARG(x->claim.name),
                      STR_ARG(answer->message));
        work_fail_by(w, answer);
        return;
    }
    events_say_of(x->c->base.events, &x->claim, EVENTS_NORMAL, "ProvisioningSucceeded",
                  "Successfully provisioned volume %.*s", STR_ARG(x->volume));
}

static void make(struct provisioner *c, struct work *w, const struct order *order) {
    struct arena *a = work_arena(w);
    struct api_object *o = volume_for(c, order);
    struct making *x = arena_new(a, struct making);
    const struct api_object *claim = order->claim;
    *x = (struct making){c, manager__subject(w, claim), arena_str(a, o->meta->name)};
    events_say(c->base.events, claim, EVENTS_NORMAL, "Provisioning",
               "External provisioner is provisioning volume for claim \"%.*s/%.*s\"",
               STR_ARG(claim->meta->namespace), STR_ARG(claim->meta->name));
    work_create(w, o, made, x);
}

/* Are the volumes of the class made by somebody else? */
static bool is_stopped(const struct api_object *class) {
    return str_is(annotation(class, STR("berth.dev/provisioner")), "stopped");
}

/* The class of a claim, if its volumes are made here; or NULL. */
static const struct api_object *class_of(const struct provisioner *c,
                                         const struct api_object *claim) {
    struct str name = api_claim_class(claim);
    const struct api_object *o = name.n ? informer_get(c->classes, STR(""), name) : NULL;
    return o && !is_stopped(o) ? o : NULL;
}

static void sync_claim(void *self, struct work *w, const struct api_object *o) {
    struct provisioner *c = self;
    const struct api_persistent_volume_claim *body = o->body;
    if (body->spec.volume_name.n || o->meta->deletion_timestamp.set)
        return;
    const struct api_object *class = class_of(c, o);
    struct order order = {.claim = o, .class = class ? class->body : NULL};
    order.driver = annotation(o, PV__PROVISIONER);
    struct str node = annotation(o, API_SELECTED_NODE);
    if (!order.class || !order.driver.n)
        return;
    struct str driver = sched_migrated_driver(order.class->provisioner);
    if (!str_eq(order.driver, driver.n ? driver : order.class->provisioner) ||
        (str_is(order.class->volume_binding_mode, "WaitForFirstConsumer") && !node.n))
        return;
    order.node = node.n ? informer_get(c->nodes, STR(""), node) : NULL;
    if (node.n && !order.node)
        work_again_after(w, PV__RESYNC);
    else
        make(c, w, &order);
}

/* ---- one volume ---- */

static bool is_kept(const struct api_object *o) {
    for (size_t i = 0; i < o->meta->finalizers.n; i++)
        if (str_eq(o->meta->finalizers.v[i], FINALIZER))
            return true;
    return false;
}

static void let_go(struct work *w, const struct api_object *o) {
    struct api_object *draft = api_object_derive(o);
    struct api_strs old = o->meta->finalizers, *list = &api_own_meta(draft)->finalizers;
    *list = (struct api_strs){arena_array(&draft->arena, struct str, old.n), 0};
    for (size_t i = 0; i < old.n; i++)
        if (!str_eq(old.v[i], FINALIZER))
            list->v[list->n++] = old.v[i];
    work_update(w, draft, NULL, NULL, NULL);
}

/* Is the volume one that a driver made, released, and to be deleted? */
static bool is_done_with(const struct api_object *o) {
    const struct api_persistent_volume *body = o->body;
    const struct api_csi_persistent_volume_source *csi = body->spec.persistent_volume_source.csi;
    return csi && str_eq(annotation(o, API_PROVISIONED_BY), csi->driver) &&
           str_is(body->status.phase, "Released") &&
           str_is(body->spec.persistent_volume_reclaim_policy, "Delete");
}

static void sync_volume(void *self, struct work *w, const struct api_object *o) {
    (void)self;
    if (!is_done_with(o))
        return;
    if (!o->meta->deletion_timestamp.set)
        work_delete(w, o, NULL, NULL, NULL);
    else if (is_kept(o))
        let_go(w, o);
}

/* ---- beginning and end ---- */

static void claim_set(void *self, const struct api_object *old, const struct api_object *o) {
    struct provisioner *c = self;
    const struct api_persistent_volume_claim *body = o->body;
    if (!body->spec.volume_name.n && annotation(o, PV__PROVISIONER).n) {
        struct label class = {STR(""), api_claim_class(o)};
        labelled__set(c->by_class, o, &(struct labels){&class, 1});
        workqueue_add_object(c->claim_queue, o);
    } else if (old)
        labelled__drop(c->by_class, old);
}

static void claim_deleted(void *self, const struct api_object *last) {
    struct provisioner *c = self;
    labelled__drop(c->by_class, last);
}

/* What waited for a class is looked at when that comes, or is not left to others any more. */
static void class_set(void *self, const struct api_object *old, const struct api_object *o) {
    struct provisioner *c = self;
    const struct label key = {STR(""), o->meta->name};
    size_t at = 0;
    if (is_stopped(o) || (old && !is_stopped(old) && str_eq(old->meta->uid, o->meta->uid)))
        return;
    for (const struct api_object *claim; (claim = labelled__next(c->by_class, STR(""), &key, &at));)
        workqueue_add_object(c->claim_queue, claim);
}

static void volume_set(void *self, const struct api_object *old, const struct api_object *o) {
    struct provisioner *c = self;
    (void)old;
    if (is_done_with(o))
        workqueue_add_object(c->volume_queue, o);
}

static void begin(void *self) {
    struct provisioner *c = self;
    c->by_class = labelled__new_wide(c->base.manager->seed);
}

static void end(void *self) {
    labelled__free(((struct provisioner *)self)->by_class);
}

const struct manager__controller manager__pv_provisioner = {
    .size = sizeof(struct provisioner),
    .component = "simulated-provisioner",
    .queues = {{"provisioner_claims", sync_claim, .names = API_T_persistent_volume_claim,
                .at = offsetof(struct provisioner, claim_queue)},
               {"provisioner_volumes", sync_volume, .names = API_T_persistent_volume,
                .at = offsetof(struct provisioner, volume_queue)}},
    .kinds = {{API_T_persistent_volume_claim, .set = claim_set, .deleted = claim_deleted},
              {API_T_storage_class, .at = offsetof(struct provisioner, classes), .set = class_set},
              {API_T_persistent_volume, .set = volume_set},
              {API_T_node, .at = offsetof(struct provisioner, nodes)},
              {API_T_csi_node, .at = offsetof(struct provisioner, csi_nodes)}},
    .begin = begin,
    .end = end,
};
