/* What every plug-in makes of every node, see explain.h. */
#include "sched/explain.h"

#include <string.h>

#include "base/alloc.h"
#include "sched/explain/explain_int.h"
#include "sched/topology/count_int.h"

/* ---- one filter alone ---- */

static bool has_filter(const struct sched__cycle *cy, enum sched_plugin p) {
    const struct sched__plugin *plugin = sched__plugin_at(p);
    if (!plugin->filter)
        return false;
    if (plugin->scope == SCHED__SCOPE_CLUSTER)
        return cy->data[p];
    return !plugin->compile || cy->cls->data[p];
}

bool sched__filter_alone(struct sched__cycle *cy, enum sched_plugin p, uint32_t from, uint32_t to) {
    const uint8_t *state = cy->s->nodes.state;
    if (!has_filter(cy, p))
        return false;
    for (uint32_t i = from; i < to; i++)
        cy->verdict[i] = state[i] & SCHED__NODE_THERE ? SCHED__FITS : SCHED__GONE;
    sched__plugin_at(p)->filter(cy, from, to);
    return true;
}

/* ---- causes ---- */

/* A node with a value that is its own name, and the key of its findings if that is just a value. */
struct named {
    size_t place; /* in report.nodes */
    struct str key;
};

struct builder {
    struct sched__cycle *cy;
    struct arena *a;
    struct sched_explanation *out;
    struct map causes;          /* struct sched_cause by plug-in, reason and findings */
    struct sched_cause **table; /* by place in report.nodes and filter; NULL: not rejected */
    struct sched__findings findings;
    VEC(struct named) named; /* of the plug-in at hand */
    struct arena keys;       /* of these */
    struct buf key;
};

static struct str write_key(struct builder *b, enum sched_plugin p, uint32_t slot,
                            enum sched__likeness likeness) {
    buf_clear(&b->key);
    buf_add_char(&b->key, (char)p);
    buf_add_char(&b->key, (char)b->cy->verdict[slot]);
    sched__findings_key(b->findings.v, b->findings.n, likeness, b->out->redact, &b->key);
    return buf_view(&b->key);
}

static struct sched_cause *add_cause(struct builder *b, enum sched_plugin p, struct str key) {
    struct sched_cause *cause = arena_new(b->a, struct sched_cause);
    cause->plugin = p;
    cause->findings = sched__findings_copy(&b->findings, b->a);
    cause->finding_count = b->findings.n;
    cause->cut = b->findings.cut;
    cause->names_node = sched__findings_name_node(&b->findings);
    cause->number = b->out->cause_count++;
    map_put(&b->causes, arena_str(b->a, key), cause);
    return cause;
}

/* The cause of a node's rejection, made if no other node has it. */
static struct sched_cause *cause_of(struct builder *b, enum sched_plugin p, size_t place) {
    uint32_t slot = b->out->report.nodes[place].slot;
    sched__findings_ask(&b->findings, p, slot);
    if (sched__findings_value_is_name(&b->findings)) {
        struct str key = write_key(b, p, slot, SCHED__THIS_NAME);
        vec_push(&b->named, ((struct named){place, arena_str(&b->keys, key)}));
    }
    struct str key = write_key(b, p, slot, SCHED__ANY_NAME);
    struct sched_cause *cause = map_get(&b->causes, key);
    if (cause)
        return cause;
    cause = add_cause(b, p, key);
    cause->status = sched__cycle_status(b->cy, slot);
    return cause;
}

/* A value that is the node's name by chance, as other nodes have it, too, is a value. */
static void join_named(struct builder *b, size_t column, size_t columns) {
    for (size_t i = 0; i < b->named.n; i++) {
        struct sched_cause *cause = map_get(&b->causes, b->named.v[i].key);
        if (cause)
            b->table[b->named.v[i].place * columns + column] = cause;
    }
    b->named.n = 0;
    arena_reset(&b->keys);
}

/* Nodes with the same taints stand side by side or not: each list is asked about once, unless it
 * has the node's name. */
static struct sched_cause *taint_cause(struct builder *b, struct sched_cause **by_list,
                                       size_t place) {
    uint32_t slot = b->out->report.nodes[place].slot;
    struct sched_cause **known = &by_list[b->cy->s->nodes.taints[slot]->list.id];
    if (*known)
        return *known;
    struct sched_cause *cause = cause_of(b, SCHED_TAINT_TOLERATION, place);
    if (!sched__findings_value_is_name(&b->findings))
        *known = cause;
    return cause;
}

static struct sched_cause **lists_of_taints(struct builder *b) {
    const struct sched__nodes *nodes = &b->cy->s->nodes;
    uint32_t most = 0;
    for (uint32_t i = 0; i < nodes->n; i++)
        if (nodes->taints[i] && nodes->taints[i]->list.id >= most)
            most = nodes->taints[i]->list.id + 1;
    return arena_array(b->a, struct sched_cause *, most);
}

static void explain_column(struct builder *b, size_t column, size_t columns) {
    const struct sched_report *r = &b->out->report;
    enum sched_plugin p = b->out->filters.v[column];
    struct sched_cause **by_list = p == SCHED_TAINT_TOLERATION ? lists_of_taints(b) : NULL;
    for (size_t i = 0; i < r->node_count; i++) {
        if (b->cy->verdict[r->nodes[i].slot] > SCHED__GONE)
            b->table[i * columns + column] =
                by_list ? taint_cause(b, by_list, i) : cause_of(b, p, i);
    }
    join_named(b, column, columns);
}

/* PreFilter left the node out, or pods that are nominated to it are in the way: of nodes with the
 * same status it is one cause. */
static struct sched_cause *other_cause(struct builder *b, const struct sched_node_report *node) {
    enum sched_plugin p = SCHED_NODE_AFFINITY; /* the only one that leaves nodes out */
    sched_plugin_find(node->status.plugin, &p);
    b->findings.n = 0;
    b->findings.cut = false;
    if (!node->absent)
        sched__finding_start(&b->findings, SCHED_FINDING_NOMINATED, sched__field(SCHED_FIELD_NONE));
    buf_clear(&b->key);
    buf_addf(&b->key, "other %d %d", p, node->absent);
    for (size_t i = 0; i < node->status.reason_count; i++) {
        buf_add_char(&b->key, '\0');
        buf_add(&b->key, node->status.reasons[i]);
    }
    struct sched_cause *cause = map_get(&b->causes, buf_view(&b->key));
    if (cause)
        return cause;
    cause = add_cause(b, p, buf_view(&b->key));
    cause->status = node->status;
    return cause;
}

/* Rejected, but by no filter alone. */
static void explain_others(struct builder *b, size_t column, size_t columns) {
    const struct sched_report *r = &b->out->report;
    for (size_t i = 0; i < r->node_count; i++) {
        bool seen = r->nodes[i].status.code == SCHED_CODE_SUCCESS;
        for (size_t k = 0; !seen && k < column; k++)
            seen = b->table[i * columns + k];
        if (!seen)
            b->table[i * columns + column] = other_cause(b, &r->nodes[i]);
    }
}

/* ---- groups ---- */

static int64_t shortage_of(const struct builder *b, const struct sched_cause *cause, size_t place) {
    if (cause->plugin != SCHED_FIT)
        return 0;
    return sched__fit_shortage(b->cy, b->out->report.nodes[place].slot);
}

static struct sched_group *add_group(struct builder *b, struct sched_cause **row, size_t columns,
                                     size_t place) {
    struct sched_group *g = &b->out->groups[b->out->group_count++];
    g->causes = arena_array(b->a, const struct sched_cause *, columns);
    for (size_t k = 0; k < columns; k++) {
        if (!row[k])
            continue;
        g->causes[g->cause_count++] = row[k];
        g->shortage += shortage_of(b, row[k], place);
    }
    return g;
}

static bool is_empty(struct sched_cause **row, size_t columns) {
    for (size_t k = 0; k < columns; k++)
        if (row[k])
            return false;
    return true;
}

void sched__groups_fill(struct sched_group *groups, size_t n, const size_t *group_of,
                        size_t node_count, struct arena *a) {
    for (size_t i = 0; i < node_count; i++)
        if (group_of[i] != SIZE_MAX)
            groups[group_of[i]].node_count++;
    for (size_t g = 0; g < n; g++) {
        groups[g].nodes = arena_array(a, size_t, groups[g].node_count);
        groups[g].node_count = 0;
    }
    for (size_t i = 0; i < node_count; i++)
        if (group_of[i] != SIZE_MAX) {
            struct sched_group *g = &groups[group_of[i]];
            g->nodes[g->node_count++] = i;
        }
}

static void make_groups(struct builder *b, size_t columns) {
    struct sched_explanation *e = b->out;
    struct map rows = MAP_INIT(b->cy->s->seed);
    e->groups = arena_array(b->a, struct sched_group, e->report.node_count);
    for (size_t i = 0; i < e->report.node_count; i++) {
        struct sched_cause **row = &b->table[i * columns];
        e->group_of[i] = SIZE_MAX;
        if (is_empty(row, columns))
            continue;
        struct str key = {(const char *)row, columns * sizeof *row};
        struct sched_group *g = map_get(&rows, key);
        if (!g)
            map_put(&rows, key, g = add_group(b, row, columns, i));
        e->group_of[i] = (size_t)(g - e->groups);
    }
    map_release(&rows);
    sched__groups_fill(e->groups, e->group_count, e->group_of, e->report.node_count, b->a);
}

/* ---- all of it ---- */

static void explain_nodes(struct builder *b) {
    struct sched_explanation *e = b->out;
    struct sched__cycle *cy = b->cy;
    const struct sched_order *order = &cy->profile->points[SCHED_FILTER];
    size_t columns = order->n + 1U;
    e->group_of = arena_array(b->a, size_t, e->report.node_count);
    b->table = arena_array(b->a, struct sched_cause *, columns * e->report.node_count);
    cy->verdict = arena_array(b->a, uint8_t, cy->s->nodes.n + 1U);
    memset(cy->data, 0, sizeof cy->data); /* scoring has left its own there */
    sched__cycle_pre_filter(cy);
    for (size_t i = 0; i < order->n; i++) {
        if (!sched__filter_alone(cy, order->v[i], 0, cy->s->nodes.n))
            continue;
        e->filters.v[e->filters.n++] = order->v[i];
        explain_column(b, e->filters.n - 1U, columns);
    }
    explain_others(b, order->n, columns);
    make_groups(b, columns);
    sched__bundle_groups(e, e->groups, e->group_count, b->a, &e->bundles);
}

static void explain_cycle(struct sched__cycle *cy, struct sched_explanation *out) {
    struct builder b = {.cy = cy,
                        .a = cy->arena,
                        .out = out,
                        .causes = MAP_INIT(cy->s->seed),
                        .key = BUF_INIT(SIZE_MAX)};
    sched__findings_init(&b.findings, cy);
    sched__report_cycle(cy, &out->report);
    memcpy(out->weights, cy->profile->weights, sizeof out->weights);
    if (!out->report.node_count)
        out->report.message = STR("no nodes available to schedule pods");
    if (!out->report.error.p && out->report.rejected.code == SCHED_CODE_SUCCESS)
        explain_nodes(&b);
    if (out->report.scored)
        sched__explain_costs(cy, out);
    sched__findings_release(&b.findings);
    vec_release(&b.named);
    arena_release(&b.keys);
    map_release(&b.causes);
    buf_release(&b.key);
}

/* The scheduler never hears of such a pod: see newPodInformer in pkg/scheduler/scheduler.go, whose
 * field selector leaves both phases out. */
static struct str say_ended(struct arena *a, const struct api_pod *pod) {
    return arena_printf(a, "it has ended (%.*s)", STR_ARG(pod->status.phase));
}

void sched_explain(struct sched *s, const struct api_object *pod, bool redact, struct arena *a,
                   struct sched_explanation *out) {
    struct sched__trial trial;
    *out = (struct sched_explanation){.sched = s, .pod = pod, .redact = redact};
    sched__tallies_sweep(s);
    sched__trial_start(&trial, s, pod, a);
    sched__trial_nominate(&trial);
    out->all_nodes = s->nodes.live;
    out->ended = api_pod_has_ended(pod->body);
    out->ignored = out->ended || sched__pod_class_is_ignored(trial.cycle.cls);
    out->report.error =
        out->ended ? say_ended(a, pod->body) : sched__pod_class_objection(trial.cycle.cls, a);
    if (!out->ignored)
        explain_cycle(&trial.cycle, out);
    sched__trial_end(&trial);
}
