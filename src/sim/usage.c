/* Adds up requests: each pod is looked at twice, for the resources that there are and for where it
 * is. */
#include "sim/usage.h"

#include "api/object.h"
#include "sched/requests.h"

enum { PODS, CPU, MEMORY, FIXED };

/* ---- which pods count where ---- */

typedef void visit_pod(struct sim_usage *u, const struct sim_placement *p,
                       const struct api_pod *pod, struct str node, unsigned times);

enum { WAS_THERE = 1 << SIM_BEFORE, IS_THERE = 1 << SIM_AFTER };

/* Objects are told apart by their addresses: a successor may have the same name. */
static struct str key_of(const struct api_object *const *o) {
    return (struct str){(const char *)o, sizeof *o};
}

static void find_left(struct sim_usage *u, const struct sim_placement *p) {
    for (size_t i = 0; i < p->pods.n; i++)
        if (!p->pods.v[i].item)
            map_put_const(&u->left, key_of(&p->pods.v[i].pod), p);
}

/* A pod of the input that had a node: there, and there still unless the placement ended it. */
static void visit_item(struct sim_usage *u, const struct sim_placement *p,
                       const struct sim_item *it, visit_pod *visit) {
    if (it->before && api_object_is(it->before, API_T_pod)) {
        const struct api_pod *old = it->before->body;
        if (old->spec.node_name.n && !api_pod_has_ended(old))
            visit(u, p, old, old->spec.node_name, WAS_THERE);
    }
    if (!it->object || it->held || !api_object_is(it->object, API_T_pod))
        return;
    const struct api_pod *pod = it->object->body;
    if (!pod->spec.node_name.n || api_pod_has_ended(pod))
        return;
    bool has_left = map_get_const(&u->left, key_of(&it->object)) != NULL;
    visit(u, p, pod, pod->spec.node_name,
          (it->before ? 0U : WAS_THERE) | (has_left ? 0U : IS_THERE));
}

static void visit_all(struct sim_usage *u, const struct sim_placement *p, visit_pod *visit) {
    for (size_t i = 0; i < p->cluster->items.n; i++)
        visit_item(u, p, &p->cluster->items.v[i], visit);
    for (size_t i = 0; i < p->pods.n; i++)
        if (p->pods.v[i].state == SIM_SCHEDULED)
            visit(u, p, p->pods.v[i].pod->body, p->pods.v[i].node, IS_THERE);
}

/* ---- resources ---- */

static size_t add_resource(struct sim_usage *u, struct str name) {
    uintptr_t place = (uintptr_t)map_get(&u->by_resource, name);
    if (!place) {
        vec_push(&u->resources, arena_str(&u->arena, name));
        place = u->resources.n;
        map_put(&u->by_resource, u->resources.v[place - 1], (void *)place);
    }
    return place - 1;
}

static unsigned use_of(unsigned times) {
    return times & WAS_THERE ? SCHED_REQUESTS_RESIZE | SCHED_REQUESTS_CLAIMS : SCHED_REQUESTS_SPEC;
}

static void find_resources(struct sim_usage *u, const struct sim_placement *p,
                           const struct api_pod *pod, struct str node, unsigned times) {
    AUTO(arena_release) struct arena a = {0};
    struct sched_requests requests;
    (void)node;
    sched_requests_get(&a, pod, p->cluster->opts.gates, use_of(times), &requests);
    for (size_t i = 0; i < requests.n; i++)
        add_resource(u, requests.v[i].name);
}

int64_t sim_usage_amount(const struct api_quantity *q) {
    return str_is(q->key, "cpu") ? quantity_milli_value(&q->value) : quantity_value(&q->value);
}

static int64_t amount_of(const struct api_quantities *list, struct str name) {
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i].key, name))
            return sim_usage_amount(&list->v[i]);
    return 0;
}

/* In the order of their names, as maps have none. */
static void sort_resources(struct sim_usage *u) {
    if (u->resources.n > FIXED)
        qsort(u->resources.v + FIXED, u->resources.n - FIXED, sizeof *u->resources.v,
              str_cmp_qsort);
    for (size_t i = 0; i < u->resources.n; i++)
        map_put(&u->by_resource, u->resources.v[i], (void *)(uintptr_t)(i + 1));
}

/* ---- nodes ---- */

static void add_nodes(struct sim_usage *u, const struct sim_cluster *c) {
    for (size_t i = 0; i < c->items.n; i++) {
        const struct api_object *o = c->items.v[i].object;
        if (!o || !api_object_is(o, API_T_node))
            continue;
        vec_push(&u->nodes, o);
        map_put(&u->by_node, o->meta->name, (void *)(uintptr_t)u->nodes.n);
    }
}

static void add_allocatable(struct sim_usage *u) {
    size_t width = u->resources.n;
    u->cells = arena_array(&u->arena, struct sim_usage_cell, u->nodes.n * width + 1);
    for (size_t i = 0; i < u->nodes.n; i++) {
        const struct api_node *node = u->nodes.v[i]->body;
        for (size_t k = 0; k < width; k++)
            u->cells[i * width + k].allocatable =
                amount_of(&node->status.allocatable, u->resources.v[k]);
    }
}

static void add_amount(struct sim_usage_cell *cell, unsigned times, int64_t amount) {
    for (unsigned t = SIM_BEFORE; t <= SIM_AFTER; t++)
        if (times & 1U << t)
            cell->requested[t] += amount;
}

static void add_requests(struct sim_usage *u, const struct sim_placement *p,
                         const struct api_pod *pod, struct str node, unsigned times) {
    AUTO(arena_release) struct arena a = {0};
    struct sched_requests requests;
    uintptr_t place = (uintptr_t)map_get(&u->by_node, node);
    if (!place)
        return;
    struct sim_usage_cell *cells = u->cells + (place - 1) * u->resources.n;
    sched_requests_get(&a, pod, p->cluster->opts.gates, use_of(times), &requests);
    add_amount(&cells[PODS], times, 1);
    for (size_t i = 0; i < requests.n; i++)
        add_amount(&cells[add_resource(u, requests.v[i].name)], times, requests.v[i].amount);
}

static void add_sums(struct sim_usage *u) {
    size_t width = u->resources.n;
    u->sums = arena_array(&u->arena, struct sim_usage_cell, width);
    for (size_t i = 0; i < u->nodes.n * width; i++) {
        struct sim_usage_cell *sum = &u->sums[i % width];
        sum->allocatable += u->cells[i].allocatable;
        for (unsigned t = SIM_BEFORE; t <= SIM_AFTER; t++)
            sum->requested[t] += u->cells[i].requested[t];
    }
}

void sim_usage_init(struct sim_usage *u, const struct sim_placement *p) {
    static const char *const fixed[] = {[PODS] = "pods", [CPU] = "cpu", [MEMORY] = "memory"};
    uint64_t seed = map_random_seed();
    *u = (struct sim_usage){
        .by_resource = MAP_INIT(seed), .by_node = MAP_INIT(seed), .left = MAP_INIT(seed)};
    find_left(u, p);
    for (size_t i = 0; i < FIXED; i++)
        add_resource(u, str_of(fixed[i]));
    add_nodes(u, p->cluster);
    visit_all(u, p, find_resources);
    sort_resources(u);
    add_allocatable(u);
    visit_all(u, p, add_requests);
    add_sums(u);
}

void sim_usage_release(struct sim_usage *u) {
    map_release(&u->by_resource);
    map_release(&u->by_node);
    map_release(&u->left);
    vec_release(&u->resources);
    vec_release(&u->nodes);
    arena_release(&u->arena);
}
