/* What every plug-in makes of every node, see explain.h. */
#include "sched/explain.h"
#include "base/ascii.h"

#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "sched/explain/explain_int.h"
#include "sched/topology/count_int.h"

struct str sched__shown(const struct sched__cycle *cy, struct str value) {
    return cy->redact ? STR("***") : value;
}

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

struct builder {
    struct sched__cycle *cy;
    struct arena *a;
    struct sched_explanation *out;
    struct map causes;          /* struct sched_cause by plug-in, reasons and sentence */
    struct sched_cause **table; /* by place in report.nodes and filter; NULL: not rejected */
    struct buf text, key;
};

static bool is_name_char(char c) {
    return ascii_is_alnum(c) || c == '-' || c == '.';
}

static bool stands_alone(struct str text, size_t at, size_t n) {
    return (at == 0 || !is_name_char(text.p[at - 1])) &&
           (at + n == text.n || !is_name_char(text.p[at + n]));
}

/* The sentence with {node} for the name of the node, so that others have the same one. */
static void add_without_name(struct buf *out, struct str text, struct str name) {
    size_t from = 0;
    for (size_t at; (at = str_find(str_sub(text, from, text.n), name)) < text.n - from;) {
        at += from;
        bool alone = stands_alone(text, at, name.n);
        buf_add(out, str_sub(text, from, at));
        buf_add(out, alone ? STR("{node}") : name);
        from = at + name.n;
    }
    buf_add(out, str_sub(text, from, text.n));
}

bool sched__clause_end(struct sched__cycle *cy, const struct buf *out) {
    if (!out->full)
        cy->clauses_end = out->n;
    return !out->full;
}

/* The plug-in's own sentence as far as its clauses have room, or else its reasons. */
static void write_operands(struct builder *b, enum sched_plugin p, uint32_t slot) {
    buf_clear(&b->text);
    b->cy->clauses_end = 0;
    if (sched__plugin_at(p)->explain)
        sched__plugin_at(p)->explain(b->cy, slot, &b->text);
    if (b->text.full)
        b->text.n = b->cy->clauses_end;
    if (b->text.n)
        return;
    struct sched_status status = sched__cycle_status(b->cy, slot);
    for (size_t i = 0; i < status.reason_count; i++)
        buf_add(&b->text, status.reasons[i]);
}

static void write_sentence(struct builder *b, enum sched_plugin p, uint32_t slot) {
    write_operands(b, p, slot);
    buf_clear(&b->key);
    buf_add_char(&b->key, (char)p);
    buf_add_char(&b->key, (char)b->cy->verdict[slot]);
    add_without_name(&b->key, buf_view(&b->text), intern_text(b->cy->s->nodes.v[slot].name));
    if (b->text.full)
        buf_addf(&b->key, " … (a sentence ends at %u KiB)", LIMIT_SENTENCE_BYTES >> 10);
}

static struct sched_cause *cause_of(struct builder *b, enum sched_plugin p, uint32_t slot) {
    write_sentence(b, p, slot);
    struct sched_cause *cause = map_get(&b->causes, buf_view(&b->key));
    if (cause)
        return cause;
    cause = arena_new(b->a, struct sched_cause);
    struct str key = arena_str(b->a, buf_view(&b->key));
    cause->plugin = p;
    cause->status = sched__cycle_status(b->cy, slot);
    cause->text = str_sub(key, 2, key.n);
    map_put(&b->causes, key, cause);
    return cause;
}

/* Nodes with the same taints stand side by side or not: each list is put into words once. */
static struct sched_cause *taint_cause(struct builder *b, struct sched_cause **by_list,
                                       uint32_t slot) {
    struct sched_cause **known = &by_list[b->cy->s->nodes.taints[slot]->list.id];
    if (!*known)
        *known = cause_of(b, SCHED_TAINT_TOLERATION, slot);
    return *known;
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
        uint32_t slot = r->nodes[i].slot;
        if (b->cy->verdict[slot] > SCHED__GONE)
            b->table[i * columns + column] =
                by_list ? taint_cause(b, by_list, slot) : cause_of(b, p, slot);
    }
}

/* Rejected, but by no filter alone: PreFilter left the node out, or pods that are nominated to it
 * are in the way. */
static void explain_others(struct builder *b, size_t column, size_t columns) {
    const struct sched_report *r = &b->out->report;
    for (size_t i = 0; i < r->node_count; i++) {
        bool seen = r->nodes[i].status.code == SCHED_CODE_SUCCESS;
        for (size_t k = 0; !seen && k < column; k++)
            seen = b->table[i * columns + k];
        if (seen)
            continue;
        struct sched_cause *cause = arena_new(b->a, struct sched_cause);
        cause->plugin = SCHED_NODE_AFFINITY; /* the only one that leaves nodes out */
        sched_plugin_find(r->nodes[i].status.plugin, &cause->plugin);
        cause->status = r->nodes[i].status;
        cause->text = r->nodes[i].absent ? cause->status.reasons[0]
                                         : STR("pods that are nominated to the node leave no room");
        b->table[i * columns + column] = cause;
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

/* First who belongs to whom, then the lists of members. */
static void list_members(struct builder *b) {
    struct sched_explanation *e = b->out;
    for (size_t i = 0; i < e->report.node_count; i++)
        if (e->group_of[i] != SIZE_MAX)
            e->groups[e->group_of[i]].node_count++;
    for (size_t g = 0; g < e->group_count; g++) {
        e->groups[g].nodes = arena_array(b->a, size_t, e->groups[g].node_count);
        e->groups[g].node_count = 0;
    }
    for (size_t i = 0; i < e->report.node_count; i++)
        if (e->group_of[i] != SIZE_MAX) {
            struct sched_group *g = &e->groups[e->group_of[i]];
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
    list_members(b);
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
}

static void explain_cycle(struct sched__cycle *cy, struct sched_explanation *out) {
    struct builder b = {.cy = cy,
                        .a = cy->arena,
                        .out = out,
                        .causes = MAP_INIT(cy->s->seed),
                        .text = BUF_INIT(LIMIT_SENTENCE_BYTES),
                        .key = BUF_INIT(SIZE_MAX)};
    sched__report_cycle(cy, &out->report);
    memcpy(out->weights, cy->profile->weights, sizeof out->weights);
    if (!out->report.node_count)
        out->report.message = STR("no nodes available to schedule pods");
    if (!out->report.error.p && out->report.rejected.code == SCHED_CODE_SUCCESS)
        explain_nodes(&b);
    map_release(&b.causes);
    buf_release(&b.text);
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
    trial.cycle.redact = redact;
    out->all_nodes = s->nodes.live;
    out->ended = api_pod_has_ended(pod->body);
    out->ignored = out->ended || sched__pod_class_is_ignored(trial.cycle.cls);
    out->report.error =
        out->ended ? say_ended(a, pod->body) : sched__pod_class_objection(trial.cycle.cls, a);
    if (!out->ignored)
        explain_cycle(&trial.cycle, out);
    sched__trial_end(&trial);
}
