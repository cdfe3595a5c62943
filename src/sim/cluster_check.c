/* What no server would have let in, or should not have, but a file can say: amounts below zero or
 * beyond reason, more items of a list than anybody means, and names of objects that are not there.
 */
#include "api/object.h"
#include "base/limits.h"
#include "sim/cluster.h"

/* The first thing that cannot be. */
struct finding {
    struct arena *a;
    struct str text;    /* absent: nothing yet */
    bool is_limit;      /* the text is "1003 tolerations, and …": a server would take it */
    size_t tolerations; /* of a pod, without those that admission added */
    bool has_place;     /* the pod is on a node */
};

/* ---- numbers of items ---- */

static void check_count(struct finding *f, const char *what, size_t n, size_t most) {
    if (f->text.p || n <= most)
        return;
    f->is_limit = true;
    f->text = arena_printf(
        f->a, "%zu %s, and Berth takes at most %zu (its own limit, not the API server's)", n, what,
        most);
}

static size_t count_affinity_terms(const struct api_affinity *affinity) {
    size_t n = 0;
    if (affinity && affinity->pod_affinity)
        n += affinity->pod_affinity->required.n + affinity->pod_affinity->preferred.n;
    if (affinity && affinity->pod_anti_affinity)
        n += affinity->pod_anti_affinity->required.n + affinity->pod_anti_affinity->preferred.n;
    return n;
}

static size_t count_term_requirements(const struct api_node_selector_term *term) {
    size_t n = term->match_expressions.n + term->match_fields.n;
    return n ? n : 1;
}

static size_t count_selector_requirements(const struct api_node_selector *selector) {
    size_t n = 0;
    for (size_t i = 0; selector && i < selector->node_selector_terms.n; i++)
        n += count_term_requirements(&selector->node_selector_terms.v[i]);
    return n;
}

static size_t count_node_requirements(const struct api_pod_spec *spec) {
    size_t n = spec->node_selector.n;
    const struct api_node_affinity *affinity =
        spec->affinity ? spec->affinity->node_affinity : NULL;
    if (!affinity)
        return n;
    n += count_selector_requirements(affinity->required);
    for (size_t i = 0; i < affinity->preferred.n; i++)
        n += count_term_requirements(&affinity->preferred.v[i].preference);
    return n;
}

/* Those that not every pod asks for. */
static size_t count_resources(const struct api_quantities *list) {
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        n += !str_is(list->v[i].key, "cpu") && !str_is(list->v[i].key, "memory") &&
             !str_is(list->v[i].key, "ephemeral-storage");
    return n;
}

static size_t count_requests(const struct api_resource_requirements *r) {
    return r ? count_resources(&r->requests) : 0;
}

static size_t count_container_resources(const struct api_container_list *list) {
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        n += count_requests(&list->v[i].resources);
    return n;
}

static size_t count_status_resources(const struct api_container_status_list *list) {
    size_t n = 0;
    for (size_t i = 0; i < list->n; i++)
        n +=
            count_resources(&list->v[i].allocated_resources) + count_requests(list->v[i].resources);
    return n;
}

/* What a pod that has its node asked for on its way there costs nothing any more: no toleration and
 * no constraint is looked at, and volumes are found by name. Its resources are columns of all nodes
 * still, and its terms count: they say who may come near it. */
static void check_pod_counts(struct finding *f, const struct api_pod *pod) {
    const struct api_pod_spec *spec = &pod->spec;
    size_t spec_resources = count_container_resources(&spec->containers) +
                            count_container_resources(&spec->init_containers) +
                            count_requests(spec->resources) + count_resources(&spec->overhead);
    size_t status_resources = count_status_resources(&pod->status.container_statuses) +
                              count_status_resources(&pod->status.init_container_statuses) +
                              count_requests(pod->status.resources) +
                              count_resources(&pod->status.allocated_resources);
    check_count(f, "extended resources in its spec", spec_resources, LIMIT_POD_RESOURCES);
    check_count(f, "extended resources in its status", status_resources, 2 * LIMIT_POD_RESOURCES);
    check_count(f, "terms of pod affinity and anti-affinity", count_affinity_terms(spec->affinity),
                LIMIT_POD_AFFINITY_TERMS);
    if (f->has_place)
        return;
    check_count(f, "tolerations", f->tolerations, LIMIT_POD_TOLERATIONS);
    check_count(f, "volumes", spec->volumes.n, LIMIT_POD_VOLUMES);
    check_count(f, "topology spread constraints", spec->topology_spread_constraints.n,
                LIMIT_POD_SPREAD_CONSTRAINTS);
    check_count(f, "requirements on nodes", count_node_requirements(spec),
                LIMIT_POD_NODE_REQUIREMENTS);
}

/* ---- amounts ---- */

enum { LONGEST_AMOUNT = 1 << 16 };

static struct quantity largest(struct str resource) {
    int64_t n = LIMIT_RESOURCE_AMOUNT;
    return quantity_of_i64(str_is(resource, "cpu") ? n / 1000 : n, QUANTITY_DECIMAL_SI);
}

static void check_amount(struct finding *f, const struct api_quantity *amount, struct str path) {
    struct quantity most = largest(amount->key);
    bool negative = quantity_sign(&amount->value) < 0;
    if (!negative && quantity_cmp(&amount->value, &most) <= 0)
        return;
    AUTO(buf_release) struct buf value = BUF_INIT(LONGEST_AMOUNT), end = BUF_INIT(LONGEST_AMOUNT);
    quantity_write(&value, &amount->value);
    quantity_write_canonical(&end, &most);
    f->is_limit = !negative;
    if (negative)
        f->text = arena_printf(f->a,
                               "%.*s[%.*s]: Invalid value: \"%.*s\": must be greater than or equal "
                               "to 0",
                               STR_ARG(path), STR_ARG(amount->key), STR_ARG(buf_view(&value)));
    else
        f->text = arena_printf(f->a,
                               "\"%.*s\" in %.*s[%.*s], and Berth takes at most %.*s (its own "
                               "limit, not the API server's)",
                               STR_ARG(buf_view(&value)), STR_ARG(path), STR_ARG(amount->key),
                               STR_ARG(buf_view(&end)));
}

static void check_map(struct finding *f, const struct api_quantities *map, struct str path) {
    for (size_t i = 0; i < map->n && !f->text.p; i++)
        check_amount(f, &map->v[i], path);
}

static void check_requirements(struct finding *f, const struct api_resource_requirements *r,
                               struct str path) {
    check_map(f, &r->limits, arena_printf(f->a, "%.*s.limits", STR_ARG(path)));
    check_map(f, &r->requests, arena_printf(f->a, "%.*s.requests", STR_ARG(path)));
}

static void check_containers(struct finding *f, const struct api_container_list *list,
                             const char *path) {
    for (size_t i = 0; i < list->n; i++)
        check_requirements(f, &list->v[i].resources,
                           arena_printf(f->a, "%s[%zu].resources", path, i));
}

/* Whether devices are free is not known here: a pod that asks for some is not placed anywhere. One
 * that has a node takes the rest of what it asks for. */
static void check_devices(struct finding *f, const struct api_pod_spec *spec) {
    if (f->text.p || f->has_place || !spec->resource_claims.n)
        return;
    f->is_limit = true;
    f->text = STR("resource claims, and Berth does not decide about devices: there is no verdict "
                  "on where it fits");
}

static void check_pod(struct finding *f, const struct api_pod *pod) {
    const struct api_pod_spec *spec = &pod->spec;
    check_devices(f, spec);
    check_pod_counts(f, pod);
    check_containers(f, &spec->containers, "spec.containers");
    check_containers(f, &spec->init_containers, "spec.initContainers");
    check_map(f, &spec->overhead, STR("spec.overhead"));
    if (spec->resources)
        check_requirements(f, spec->resources, STR("spec.resources"));
}

static void check_node(struct finding *f, const struct api_node *node) {
    check_count(f, "taints", node->spec.taints.n, LIMIT_NODE_TAINTS);
    check_map(f, &node->status.capacity, STR("status.capacity"));
    check_map(f, &node->status.allocatable, STR("status.allocatable"));
}

static void check_claim(struct finding *f, const struct api_persistent_volume_claim *claim) {
    check_map(f, &claim->spec.resources.limits, STR("spec.resources.limits"));
    check_map(f, &claim->spec.resources.requests, STR("spec.resources.requests"));
}

static void check_volume(struct finding *f, const struct api_persistent_volume *volume) {
    const struct api_volume_node_affinity *affinity = volume->spec.node_affinity;
    check_count(f, "requirements on nodes",
                affinity ? count_selector_requirements(affinity->required) : 0,
                LIMIT_POD_NODE_REQUIREMENTS);
    check_map(f, &volume->spec.capacity, STR("spec.capacity"));
}

static void refuse_field(struct sim_cluster *c, const struct sim_item *it, struct str text) {
    AUTO(arena_release) struct arena a = {0};
    const struct api_object *o = sim__object_of(it);
    sim__refuse(c, &it->source,
                arena_printf(&a, "The %s \"%.*s\" is invalid: %.*s", o->kind->kind,
                             STR_ARG(o->meta->name), STR_ARG(text)));
}

static void check_object(struct finding *f, const struct api_object *o) {
    const void *body = o->body;
    if (api_object_is(o, API_T_pod))
        check_pod(f, body);
    else if (api_object_is(o, API_T_node))
        check_node(f, body);
    else if (api_object_is(o, API_T_persistent_volume_claim))
        check_claim(f, body);
    else if (api_object_is(o, API_T_persistent_volume))
        check_volume(f, body);
}

/* Nobody may be told that a pod fits where it is not known what others take. */
static void stop(struct sim_cluster *c, const struct sim_item *it, const struct finding *f) {
    const struct api_pod *pod = sim__object_of(it)->body;
    if (c->obstacle.p)
        return;
    c->obstacle = arena_printf(
        &c->arena,
        "%.*s:%u: pod/%.*s on node %.*s cannot be counted, so nothing is decided: %s%.*s",
        STR_ARG(it->source.file), it->source.line, STR_ARG(pod->metadata.name),
        STR_ARG(pod->spec.node_name), f->is_limit ? "it has " : "", STR_ARG(f->text));
}

static void leave_out(struct sim_cluster *c, const struct sim_item *it, const struct finding *f,
                      struct str maker) {
    AUTO(arena_release) struct arena a = {0};
    const struct api_object *o = sim__object_of(it);
    struct str text;
    if (maker.n)
        text = arena_printf(&a, "%.*s: its pods are not made: they have %.*s", STR_ARG(maker),
                            STR_ARG(f->text));
    else
        text = arena_printf(&a, "The %s \"%.*s\" is left out: it has %.*s", o->kind->kind,
                            STR_ARG(o->meta->name), STR_ARG(f->text));
    sim__refuse(c, &it->source, text);
}

static bool is_pod_that(const struct api_object *o, bool asked(const struct api_pod *)) {
    return api_object_is(o, API_T_pod) && asked(o->body);
}

static bool has_place(const struct api_pod *pod) {
    return pod->spec.node_name.n > 0;
}

bool sim__check_limits(struct sim_cluster *c, const struct sim_item *item, struct str maker) {
    AUTO(arena_release) struct arena a = {0};
    const struct api_object *o = sim__object_of(item);
    struct finding f = {
        .a = &a, .tolerations = item->tolerations, .has_place = is_pod_that(o, has_place)};
    if (is_pod_that(o, api_pod_has_ended))
        return true;
    check_object(&f, o);
    if (!f.text.p)
        return true;
    if (f.has_place)
        stop(c, item, &f);
    else if (f.is_limit)
        leave_out(c, item, &f, maker);
    else
        refuse_field(c, item, f.text);
    return false;
}

int sim_cluster_check_pending(const struct sim_item *item, struct err *err) {
    AUTO(arena_release) struct arena a = {0};
    const struct api_pod *pod = item->object->body;
    struct finding f = {.a = &a, .tolerations = item->tolerations};
    if (has_place(pod) || api_pod_has_ended(pod)) /* of others it is known */
        check_pod(&f, pod);
    if (!f.text.p)
        return 0;
    return err_set(err, ERR_INVALID, "pod/%.*s cannot be explained: %s%.*s",
                   STR_ARG(item->object->meta->name), f.is_limit ? "it has " : "", STR_ARG(f.text));
}

/* ---- references ---- */

static void refuse_reference(struct sim_cluster *c, const struct sim_item *it, const char *field,
                             struct str name) {
    AUTO(arena_release) struct arena a = {0};
    refuse_field(c, it, arena_printf(&a, "%s: Not found: \"%.*s\"", field, STR_ARG(name)));
}

/* The field of an object that names another one which is not there, and that name; or NULL. The
 * objects stay: a pod on a node that nobody knows takes nothing from the others, and of a claim
 * whose volume is gone the scheduler has something to say itself. */
static const char *find_missing(const struct sim_cluster *c, const struct api_object *o,
                                struct str *name) {
    if (api_object_is(o, API_T_pod)) {
        const struct api_pod *pod = o->body;
        *name = pod->spec.node_name;
        bool is_there =
            !name->n || api_pod_has_ended(pod) || sim_cluster_find(c, API_T_node, STR(""), *name);
        return is_there ? NULL : "spec.nodeName";
    }
    if (api_object_is(o, API_T_persistent_volume_claim)) {
        *name = ((const struct api_persistent_volume_claim *)o->body)->spec.volume_name;
        bool is_there = !name->n || sim_cluster_find(c, API_T_persistent_volume, STR(""), *name);
        return is_there ? NULL : "spec.volumeName";
    }
    return NULL;
}

/* Stored objects of one sort that name what is not there. */
struct orphans {
    const struct sim_item *first;
    size_t others;
};

/* What a server has stored may name what was deleted meanwhile, which is no mistake of anybody. */
static void note_orphans(struct sim_cluster *c, const struct orphans *orphans) {
    AUTO(arena_release) struct arena a = {0};
    const struct sim_item *it = orphans->first;
    struct str name, more = STR("");
    if (!it)
        return;
    bool is_pod = api_object_is(it->object, API_T_pod);
    (void)find_missing(c, it->object, &name);
    if (orphans->others)
        more = arena_printf(&a, " (and %zu more like it)", orphans->others);
    sim__note(c, &it->source,
              arena_printf(&a, "%s/%.*s: its %s \"%.*s\" is not there%s%.*s",
                           is_pod ? "pod" : "persistentvolumeclaim",
                           STR_ARG(it->object->meta->name), is_pod ? "node" : "volume",
                           STR_ARG(name), is_pod ? ", so it takes nothing from other pods" : "",
                           STR_ARG(more)));
}

static void check_reference(struct sim_cluster *c, const struct sim_item *it,
                            struct orphans *orphans) {
    struct str name;
    const char *field = find_missing(c, it->object, &name);
    if (!field)
        return;
    if (!it->stored)
        refuse_reference(c, it, field, name);
    else if (orphans->first)
        orphans->others++;
    else
        orphans->first = it;
}

/* A claim that waits for a volume of a class which is not there: it may be meant, as volumes of
 * such a class can be given, or the classes were forgotten. Each class is told of once. */
static void note_class(struct sim_cluster *c, const struct sim_item *it, struct map *noted) {
    AUTO(arena_release) struct arena a = {0};
    if (!api_object_is(it->object, API_T_persistent_volume_claim))
        return;
    const struct api_persistent_volume_claim *claim = it->object->body;
    struct str name = claim->spec.storage_class_name;
    if (!name.n || claim->spec.volume_name.n || map_get_const(noted, name) ||
        sim_cluster_find(c, API_T_storage_class, STR(""), name))
        return;
    map_put_const(noted, name, it->object);
    sim__note(c, &it->source,
              arena_printf(&a,
                           "persistentvolumeclaim/%.*s: there is no StorageClass \"%.*s\" in "
                           "the input: no volume can be provisioned",
                           STR_ARG(it->object->meta->name), STR_ARG(name)));
}

void sim__check_references(struct sim_cluster *c) {
    struct map noted = MAP_INIT(map_random_seed());
    struct orphans pods = {0}, claims = {0};
    for (size_t i = 0; i < c->items.n; i++) {
        const struct sim_item *it = &c->items.v[i];
        if (!it->object)
            continue;
        check_reference(c, it, api_object_is(it->object, API_T_pod) ? &pods : &claims);
        note_class(c, it, &noted);
    }
    note_orphans(c, &pods);
    note_orphans(c, &claims);
    map_release(&noted);
}

/* ---- nodes that do not say what they offer ---- */

static bool is_silent(const struct api_object *o) {
    return api_object_is(o, API_T_node) &&
           !((const struct api_node *)o->body)->status.allocatable.n;
}

void sim__assume_allocatable(const struct sim_cluster *c, struct api_object *o) {
    if (!c->opts.assumed || !c->opts.assumed->n || !is_silent(o))
        return;
    struct api_node_status *status = &((struct api_node *)api_own_body(o))->status;
    status->capacity = status->allocatable = *c->opts.assumed;
}

static void note_silent(struct sim_cluster *c, const struct sim_item *first, size_t others) {
    AUTO(arena_release) struct arena a = {0};
    struct str more = others ? arena_printf(&a, " and %zu more", others) : STR("");
    sim__note(c, &first->source,
              arena_printf(&a,
                           "node/%.*s%.*s: status.allocatable is missing, so no pod fits there; "
                           "try --assume-allocatable cpu=4,memory=16Gi,pods=110",
                           STR_ARG(first->object->meta->name), STR_ARG(more)));
}

void sim__check_allocatable(struct sim_cluster *c) {
    const struct sim_item *first = NULL;
    size_t silent = 0;
    for (size_t i = 0; i < c->items.n; i++)
        if (c->items.v[i].object && is_silent(c->items.v[i].object) && !silent++)
            first = &c->items.v[i];
    if (first)
        note_silent(c, first, silent - 1);
}
