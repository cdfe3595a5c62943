/* The table of changes: which pods are not where they were. */
#include "api/object.h"
#include "base/map.h"
#include "cmd/report/schedule_int.h"

static const struct str heads[] = {STR_INIT("CHANGE"), STR_INIT("NAMESPACE"), STR_INIT("NAME"),
                                   STR_INIT("NODE"), STR_INIT("MESSAGE")};

struct changes {
    struct table *t;
    struct arena keys;
    struct map left;      /* pods that had to leave their nodes, by namespace and name */
    struct map succeeded; /* those of them whose successors have a node */
};

static struct str key_of(struct changes *c, const struct sim_placement_pod *pod) {
    return arena_printf(&c->keys, "%.*s/%.*s", STR_ARG(pod->pod->meta->namespace),
                        STR_ARG(pod->pod->meta->name));
}

static bool has_left(const struct sim_placement_pod *pod) {
    return pod->state == SIM_PREEMPTED || pod->state == SIM_REMOVED;
}

/* Where a pod of this name was before: one that the input replaced, or one that had to leave. */
static struct str node_before(struct changes *c, const struct sim_placement_pod *pod) {
    const struct api_object *before = pod->item ? pod->item->before : NULL;
    if (before && api_object_is(before, API_T_pod))
        return ((const struct api_pod *)before->body)->spec.node_name;
    const struct sim_placement_pod *left = map_get_const(&c->left, key_of(c, pod));
    return left ? left->node : STR("");
}

static void add(struct changes *c, const struct sim_placement_pod *pod, const char *change,
                struct str node, struct str message) {
    static const enum table_colour colours[] = {
        ['+'] = TABLE_GREEN, ['-'] = TABLE_RED, ['~'] = TABLE_YELLOW};
    struct str cells[] = {str_of(change), pod->pod->meta->namespace, pod->pod->meta->name,
                          node.n ? node : STR("<none>"), message};
    table_add(c->t, cells, colours[(unsigned char)*change]);
}

static void add_placed(struct changes *c, const struct sim_placement_pod *pod) {
    struct str before = node_before(c, pod);
    if (!before.n)
        add(c, pod, "+", pod->node, STR(""));
    else if (str_eq(before, pod->node))
        add(c, pod, "~", pod->node, STR("made anew where it was"));
    else
        add(c, pod, "~",
            arena_printf(&c->t->arena, "%.*s → %.*s", STR_ARG(before), STR_ARG(pod->node)),
            STR(""));
}

/* A pod that is pending changed only if it was somewhere; one that left and has a successor is told
 * of with that. */
static void add_change(struct changes *c, const struct sim_placement_pod *pod) {
    if (pod->state == SIM_SCHEDULED)
        add_placed(c, pod);
    else if (has_left(pod) && !map_get_const(&c->succeeded, key_of(c, pod)))
        add(c, pod, "-", pod->node, pod->message);
    else if (!has_left(pod) && pod->item->before && api_object_is(pod->item->before, API_T_pod) &&
             node_before(c, pod).n)
        add(c, pod, "-", node_before(c, pod),
            arena_printf(&c->t->arena, "made anew, and pending: %.*s", STR_ARG(pod->message)));
}

static void index_pods(struct changes *c, const struct sim_placement *p) {
    for (size_t i = 0; i < p->pods.n; i++)
        if (has_left(&p->pods.v[i]) && !p->pods.v[i].item)
            map_put_const(&c->left, key_of(c, &p->pods.v[i]), &p->pods.v[i]);
    for (size_t i = 0; i < p->pods.n; i++)
        if (p->pods.v[i].state == SIM_SCHEDULED)
            map_put_const(&c->succeeded, key_of(c, &p->pods.v[i]), &p->pods.v[i]);
}

void schedule__changes_table(struct table *t, const struct sim_placement *p,
                             const struct schedule_view *view) {
    uint64_t seed = map_random_seed();
    struct changes c = {.t = t, .left = MAP_INIT(seed), .succeeded = MAP_INIT(seed)};
    table_init(t, heads, sizeof heads / sizeof *heads);
    t->coloured = 0;
    index_pods(&c, p);
    for (size_t i = 0; i < p->pods.n; i++)
        if (schedule_selects(&view->select, &p->pods.v[i]))
            add_change(&c, &p->pods.v[i]);
    map_release(&c.left);
    map_release(&c.succeeded);
    arena_release(&c.keys);
}
