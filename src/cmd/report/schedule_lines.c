/*
 * The lines of the table of pods. Whoever looks at it wants to know what does not work, and for
 * whom: the 200 pods of a DaemonSet that wait for the same reason are one line.
 */
#include "api/object.h"
#include "base/map.h"
#include "cmd/report/kubectl.h"
#include "cmd/report/schedule_int.h"

enum { LONGEST_OWNER = 4096 };

static const char *const names[] = {
#define X(id, name, word) name,
    SIM_STATES(X)
#undef X
};

static const enum table_colour colours[SIM_STATE_COUNT] = {
    [SIM_SCHEDULED] = TABLE_GREEN,  [SIM_UNSCHEDULABLE] = TABLE_RED, [SIM_FAILED] = TABLE_RED,
    [SIM_GATED] = TABLE_YELLOW,     [SIM_IGNORED] = TABLE_YELLOW,    [SIM_WAITING] = TABLE_YELLOW,
    [SIM_PREEMPTED] = TABLE_YELLOW, [SIM_REMOVED] = TABLE_YELLOW,
};

/* ---- owners ---- */

/* The controller, or that of a ReplicaSet which it is. */
static const struct api_owner_reference *top_controller(const struct sim_cluster *c,
                                                        const struct api_object *pod) {
    const struct api_owner_reference *ref = api_object_controller(pod);
    if (!ref || !str_is(ref->kind, "ReplicaSet"))
        return ref;
    const struct api_object *set =
        sim_cluster_find(c, API_T_replica_set, pod->meta->namespace, ref->name);
    const struct api_owner_reference *above = set ? api_object_controller(set) : NULL;
    return above ? above : ref;
}

struct str schedule__owner(struct arena *a, const struct sim_cluster *c,
                           const struct api_object *pod) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_OWNER);
    const struct api_owner_reference *ref = top_controller(c, pod);
    if (!ref)
        return STR("");
    kubectl_write_name(&text, ref->api_version, ref->kind, ref->name);
    return arena_str(a, buf_view(&text));
}

/* ---- lines ---- */

struct line {
    const struct sim_placement_pod *pod; /* the first one */
    struct str owner;
    size_t count;
};

struct lines {
    const struct sim_placement *p;
    struct arena *arena; /* of what the cells say */
    struct buf key;      /* of the pod at hand */
    struct arena keys;
    struct map groups; /* place in v + 1, by what pods of one line have in common */
    VEC(struct line) v;
};

static struct str message_of(struct arena *a, const struct sim_placement_pod *pod) {
    if (!pod->victims.n)
        return pod->message;
    return arena_printf(a, "%.*s: %.*s", STR_ARG(pod->message), STR_ARG(pod->victims));
}

static void write_key(struct lines *l, const struct sim_placement_pod *pod, struct str owner) {
    buf_clear(&l->key);
    buf_addf(&l->key, "%.*s\n%.*s\n%d\n%.*s\n%.*s", STR_ARG(pod->pod->meta->namespace),
             STR_ARG(owner), (int)pod->state, STR_ARG(pod->message), STR_ARG(pod->victims));
}

/* Joins the pod to the others of its owner; if it is the first, it begins a line. */
static void add_grouped(struct lines *l, const struct sim_placement_pod *pod, struct str owner) {
    write_key(l, pod, owner);
    uintptr_t place = (uintptr_t)map_get(&l->groups, buf_view(&l->key));
    if (!place) {
        vec_push(&l->v, (struct line){.pod = pod, .owner = owner, .count = 1});
        map_put(&l->groups, arena_str(&l->keys, buf_view(&l->key)), (void *)(uintptr_t)l->v.n);
        return;
    }
    l->v.v[place - 1].count++;
}

/* Pods that have a node, or had to leave it, each tell something of their own: which one. */
static void add_pod(struct lines *l, const struct sim_placement_pod *pod, bool is_wide) {
    bool is_grouped = !is_wide && sim_placement_pod_is_pending(pod);
    struct str owner = STR("");
    if (is_wide || is_grouped)
        owner = schedule__owner(l->arena, l->p->cluster, pod->pod);
    if (!is_grouped || !owner.n)
        vec_push(&l->v, (struct line){.pod = pod, .owner = owner, .count = 1});
    else
        add_grouped(l, pod, owner);
}

/* ---- columns ---- */

static struct str or_none(struct str text) {
    return text.n ? text : STR("<none>");
}

static struct str namespace_cell(struct arena *a, const struct line *line) {
    (void)a;
    return line->pod->pod->meta->namespace;
}

static struct str name_cell(struct arena *a, const struct line *line) {
    if (line->count == 1)
        return line->pod->pod->meta->name;
    return arena_printf(a, "%.*s (%zu pods)", STR_ARG(line->owner), line->count);
}

static struct str node_cell(struct arena *a, const struct line *line) {
    (void)a;
    return or_none(line->pod->node);
}

static struct str status_cell(struct arena *a, const struct line *line) {
    (void)a;
    return str_of(names[line->pod->state]);
}

static struct str message_cell(struct arena *a, const struct line *line) {
    return message_of(a, line->pod);
}

static struct str priority_cell(struct arena *a, const struct line *line) {
    const struct api_pod *pod = line->pod->pod->body;
    return arena_printf(a, "%d", (int)(pod->spec.priority.set ? pod->spec.priority.v : 0));
}

static struct str owner_cell(struct arena *a, const struct line *line) {
    (void)a;
    return or_none(line->owner);
}

static struct str nominated_cell(struct arena *a, const struct line *line) {
    (void)a;
    return or_none(line->pod->nominated);
}

static const struct column {
    struct str head;
    bool is_wide; /* in the wide table only */
    struct str (*cell)(struct arena *a, const struct line *line);
} columns[] = {
    {STR_INIT("NAMESPACE"), false, namespace_cell},
    {STR_INIT("NAME"), false, name_cell},
    {STR_INIT("NODE"), false, node_cell},
    {STR_INIT("STATUS"), false, status_cell},
    {STR_INIT("PRIORITY"), true, priority_cell},
    {STR_INIT("OWNER"), true, owner_cell},
    {STR_INIT("NOMINATED NODE"), true, nominated_cell},
    {STR_INIT("MESSAGE"), false, message_cell},
};

enum { COLUMNS = sizeof columns / sizeof *columns, STATUS = 3 };

static void add_row(struct table *t, const struct line *line, bool is_wide) {
    struct str cells[COLUMNS];
    size_t n = 0;
    for (size_t i = 0; i < COLUMNS; i++)
        if (is_wide || !columns[i].is_wide)
            cells[n++] = columns[i].cell(&t->arena, line);
    table_add(t, cells, colours[line->pod->state]);
}

static void start_table(struct table *t, bool is_wide) {
    struct str heads[COLUMNS];
    size_t n = 0;
    for (size_t i = 0; i < COLUMNS; i++)
        if (is_wide || !columns[i].is_wide)
            heads[n++] = columns[i].head;
    table_init(t, heads, n);
    t->coloured = STATUS;
}

void schedule__pods_table(struct table *t, const struct sim_placement *p,
                          const struct schedule_view *view) {
    bool is_wide = view->format == SCHEDULE_WIDE;
    start_table(t, is_wide);
    struct lines l = {.p = p,
                      .arena = &t->arena,
                      .key = BUF_INIT(SIZE_MAX),
                      .groups = MAP_INIT(map_random_seed())};
    for (size_t i = 0; i < p->pods.n; i++)
        if (schedule_selects(&view->select, &p->pods.v[i]))
            add_pod(&l, &p->pods.v[i], is_wide);
    for (size_t i = 0; i < l.v.n; i++)
        add_row(t, &l.v.v[i], is_wide);
    vec_release(&l.v);
    map_release(&l.groups);
    arena_release(&l.keys);
    buf_release(&l.key);
}
