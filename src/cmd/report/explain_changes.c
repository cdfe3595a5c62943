/* Two explanations side by side: nodes by name, and what changed with how many of them. */
#include "cmd/report/explain_changes.h"

#include <stdlib.h>

#include "base/printable.h"
#include "base/vec.h"

/* Names of nodes in one line, and bytes of what is said of one. */
enum { NODES_SHOWN = 5, LONGEST_TEXT = 64 << 10 };

/* ---- what is kept ---- */

static int compare_names(const void *x, const void *y) {
    const struct explain_state_node *a = x, *b = y;
    return str_cmp(a->name, b->name);
}

static struct str text_of(struct arena *a, const struct sched_explanation *e,
                          const struct sched_group *group) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_TEXT);
    for (size_t i = 0; i < group->cause_count; i++) {
        AUTO(buf_release) struct buf cause = BUF_INIT(LONGEST_TEXT);
        explain_add_cause(&cause, e, group->causes[i], (struct str){0});
        buf_add(&text, i ? STR("\n") : STR(""));
        buf_add(&text, sched_plugin_name(group->causes[i]->plugin));
        buf_add(&text, STR(": "));
        printable_add(&text, buf_view(&cause));
    }
    return arena_str(a, buf_view(&text));
}

static void keep_nodes(struct explain_state *out, const struct sched_explanation *e) {
    const struct sched_report *r = &e->report;
    struct str *texts = arena_array(&out->arena, struct str, e->group_count);
    for (size_t i = 0; i < e->group_count; i++)
        texts[i] = text_of(&out->arena, e, &e->groups[i]);
    out->nodes = arena_array(&out->arena, struct explain_state_node, r->node_count);
    out->node_count = r->node_count;
    for (size_t i = 0; i < r->node_count; i++)
        out->nodes[i] = (struct explain_state_node){
            arena_str(&out->arena, r->nodes[i].node),
            e->group_of[i] == SIZE_MAX ? STR("") : texts[e->group_of[i]]};
    if (out->node_count)
        qsort(out->nodes, out->node_count, sizeof *out->nodes, compare_names);
}

void explain_state_keep(struct explain_state *out, const struct explain_report *r) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_TEXT);
    *out = (struct explain_state){.node_count = 0};
    explain_report_write_verdict(&text, r);
    out->verdict = arena_str(&out->arena, buf_view(&text));
    if (r->e->group_of)
        keep_nodes(out, r->e);
}

void explain_state_release(struct explain_state *state) {
    arena_release(&state->arena);
    *state = (struct explain_state){.node_count = 0};
}

/* ---- what differs ---- */

/* A node and what was and is said of it; absent: it is not there. */
struct change {
    struct str before, now, name;
};

struct changes {
    struct change *v;
    size_t n, cap;
};

/* Absent is not empty here. */
static int compare_texts(struct str a, struct str b) {
    return !a.p != !b.p ? (a.p ? 1 : -1) : str_cmp(a, b);
}

static int compare_changes(const void *x, const void *y) {
    const struct change *a = x, *b = y;
    int order = compare_texts(a->now, b->now);
    if (!order)
        order = compare_texts(a->before, b->before);
    return order ? order : str_cmp(a->name, b->name);
}

/* Both sides are sorted by name. */
static void find_changes(struct changes *out, const struct explain_state *before,
                         const struct explain_state *now) {
    for (size_t i = 0, k = 0; i < before->node_count || k < now->node_count;) {
        const struct explain_state_node *b = &before->nodes[i], *n = &now->nodes[k];
        int order = i == before->node_count ? 1
                    : k == now->node_count  ? -1
                                            : str_cmp(b->name, n->name);
        if (order < 0)
            vec_push(out, (struct change){.before = STR(""), .name = b->name});
        else if (order > 0)
            vec_push(out, (struct change){.now = n->text, .name = n->name});
        else if (!str_eq(b->text, n->text))
            vec_push(out, (struct change){b->text, n->text, n->name});
        i += order <= 0;
        k += order >= 0;
    }
}

static bool has_line(struct str text, struct str wanted) {
    while (text.n) {
        struct str line;
        str_cut(text, '\n', &line, &text);
        if (str_eq(line, wanted))
            return true;
    }
    return false;
}

/* Lines of a text that another one does not have. */
static void write_lines(struct buf *out, char sign, struct str text, struct str other) {
    while (text.n) {
        struct str line;
        str_cut(text, '\n', &line, &text);
        if (!has_line(other, line))
            buf_addf(out, "    %c %.*s\n", sign, STR_ARG(line));
    }
}

/* What became of them; a node fits, nodes fit. */
static void write_fate(struct buf *out, const struct change *c, bool is_one) {
    const char *fit = is_one ? "fits" : "fit";
    if (!c->now.p)
        buf_add(out, STR(" gone"));
    else if (!c->before.p && c->now.n)
        buf_add(out, STR(" new"));
    else if (!c->before.p)
        buf_addf(out, " new, and %s", fit);
    else if (!c->now.n || !c->before.n)
        buf_addf(out, " %s %s", fit, c->now.n ? "no more" : "now");
}

/* "2 nodes: a, b", and what became of them, of changes that differ in names only. */
static void write_group(struct buf *out, const struct change *v, size_t n) {
    buf_addf(out, "  %zu node%s", n, n == 1 ? "" : "s");
    write_fate(out, v, n == 1);
    buf_add(out, STR(": "));
    for (size_t i = 0; i < n && i < NODES_SHOWN; i++) {
        buf_add(out, i ? STR(", ") : STR(""));
        printable_add(out, v[i].name);
    }
    if (n > NODES_SHOWN)
        buf_addf(out, ", and %zu more", n - NODES_SHOWN);
    buf_add_char(out, '\n');
    if (!v->now.p)
        return;
    write_lines(out, '+', v->now, v->before);
    write_lines(out, '-', v->before, v->now);
}

bool explain_changes_write(struct buf *out, const struct explain_state *before,
                           const struct explain_state *now) {
    struct changes changes = {.n = 0};
    bool is_other = !str_eq(before->verdict, now->verdict);
    find_changes(&changes, before, now);
    if (is_other)
        buf_add(out, now->verdict);
    if (changes.n)
        qsort(changes.v, changes.n, sizeof *changes.v, compare_changes);
    for (size_t from = 0, to; from < changes.n; from = to) {
        const struct change *first = &changes.v[from];
        for (to = from + 1; to < changes.n && !compare_texts(changes.v[to].now, first->now) &&
                            !compare_texts(changes.v[to].before, first->before);)
            to++;
        write_group(out, first, to - from);
    }
    bool differs = is_other || changes.n;
    vec_release(&changes);
    return differs;
}
