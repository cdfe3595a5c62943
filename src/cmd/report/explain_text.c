/* An explanation for people. */
#include <stdlib.h>

#include "api/object.h"
#include "base/printable.h"
#include "cmd/cmd.h"
#include "cmd/report/explain_report.h"

/* A report that is not wide names so many nodes of a group, groups and lines of scores. */
enum { NAMES_SHOWN = 5, GROUPS_SHOWN = 10, SCORES_SHOWN = 10, GAP = 3, LONGEST_TEXT = 1 << 20 };

/* How to see what is left out. */
#define WIDER "-o wide shows them"
#define FULL  "the report is full; --node shows one of them"

static void add_count(struct buf *out, size_t n, const char *noun) {
    buf_addf(out, "%zu %s%s", n, noun, n == 1 ? "" : "s");
}

static void add_shown(struct buf *out, struct buf *text) {
    printable_add(out, buf_view(text));
    buf_clear(text);
}

static const struct api_pod *body_of(const struct explain_report *r) {
    return r->pod->body;
}

static struct str node_name(const struct explain_report *r, size_t place) {
    return r->e->report.nodes[place].node;
}

/* ---- the head ---- */

static void add_notes(struct buf *out, const struct explain_report *r) {
    const struct api_pod_spec *spec = &body_of(r)->spec;
    if (spec->node_name.n) {
        buf_add(out, STR("It is on node "));
        printable_add(out, spec->node_name);
        buf_add(out, STR("; this is what would be if it were pending and not there.\n"));
    }
    if (!spec->scheduling_gates.n)
        return;
    buf_add(out, STR("It is not tried before its scheduling gates are gone:"));
    for (size_t i = 0; i < spec->scheduling_gates.n; i++) {
        buf_add_char(out, ' ');
        printable_add(out, spec->scheduling_gates.v[i].name);
    }
    buf_add(out, STR("; this is what would be then.\n"));
}

static void add_fit(struct buf *out, const struct explain_report *r) {
    const struct sched_report *report = &r->e->report;
    struct str node = node_name(r, report->best);
    if (report->nominated) {
        buf_add(out, STR(" is nominated to "));
        printable_add(out, node);
        buf_add(out, STR(", fits there and goes there: the scheduler asks no other node.\n"));
        return;
    }
    buf_addf(out, " fits on %zu of ", report->feasible);
    add_count(out, report->node_count, "node");
    buf_add(out, STR(" and goes to "));
    printable_add(out, node);
    buf_add(out, STR(".\n"));
}

static void add_verdict(struct buf *out, const struct explain_report *r) {
    const struct sched_report *report = &r->e->report;
    buf_add(out, STR("Pod "));
    printable_add(out, r->pod->meta->namespace);
    buf_add_char(out, '/');
    printable_add(out, r->pod->meta->name);
    if (r->e->ended) {
        buf_add(out, STR(" is not scheduled: "));
        printable_add(out, report->error);
        buf_add(out, STR(".\n"));
        return;
    }
    if (r->e->ignored) {
        buf_add(out, STR(" is ignored: nothing is decided about it.\n"));
        return;
    }
    if (report->error.p) {
        buf_add(out, STR(" cannot be scheduled: the scheduler fails.\n"));
        return;
    }
    if (!report->feasible) {
        buf_add(out, STR(" fits on none of "));
        add_count(out, report->node_count, "node");
        buf_add(out, STR(".\n"));
        return;
    }
    add_fit(out, r);
}

static void add_message(struct buf *out, const struct explain_report *r) {
    const struct sched_report *report = &r->e->report;
    struct str text = report->error.p ? report->error : report->message;
    AUTO(buf_release) struct buf shown = BUF_INIT(LONGEST_TEXT);
    if (!text.n)
        return;
    sched_message_write(&shown, text, r->e->redact);
    add_shown(out, &shown);
    buf_add_char(out, '\n');
}

/* ---- causes ---- */

static void add_cause(struct buf *out, const struct explain_report *r,
                      const struct sched_cause *cause, struct str node) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_TEXT);
    explain_add_cause(&text, r->e, cause, node);
    buf_addf(out, "  %.*s: ", STR_ARG(sched_plugin_name(cause->plugin)));
    add_shown(out, &text);
    buf_add_char(out, '\n');
}

/* n1, n2, n3 and 5 more */
static void add_names(struct buf *out, const struct explain_report *r,
                      const struct sched_group *g) {
    size_t shown = r->wide || g->node_count <= NAMES_SHOWN + 1 ? g->node_count : NAMES_SHOWN;
    for (size_t i = 0; i < shown; i++) {
        buf_add(out, i ? STR(", ") : STR(""));
        printable_add(out, node_name(r, g->nodes[i]));
    }
    if (shown < g->node_count)
        buf_addf(out, " and %zu more", g->node_count - shown);
}

static void add_group(struct buf *out, const struct explain_report *r,
                      const struct sched_group *g) {
    add_count(out, g->node_count, "node");
    buf_add(out, STR(": "));
    add_names(out, r, g);
    buf_add_char(out, '\n');
    struct str only = g->node_count == 1 ? node_name(r, g->nodes[0]) : (struct str){0};
    for (size_t i = 0; i < g->cause_count; i++)
        add_cause(out, r, g->causes[i], only);
}

/* What is closest to fit first, and of these what concerns most nodes. */
static int compare_groups(const void *x, const void *y) {
    const struct sched_group *a = *(const struct sched_group *const *)x;
    const struct sched_group *b = *(const struct sched_group *const *)y;
    if (a->cause_count != b->cause_count)
        return a->cause_count < b->cause_count ? -1 : 1;
    if (a->node_count != b->node_count)
        return a->node_count > b->node_count ? -1 : 1;
    return (a > b) - (a < b);
}

static const struct sched_group **rank_groups(struct arena *a, const struct sched_explanation *e) {
    const struct sched_group **ranked = arena_array(a, const struct sched_group *, e->group_count);
    for (size_t i = 0; i < e->group_count; i++)
        ranked[i] = &e->groups[i];
    if (e->group_count)
        qsort(ranked, e->group_count, sizeof *ranked, compare_groups);
    return ranked;
}

static void add_groups(struct buf *out, const struct explain_report *r) {
    AUTO(arena_release) struct arena a = {0};
    const struct sched_group **ranked = rank_groups(&a, r->e);
    size_t n = r->e->group_count, left = 0;
    size_t most = r->wide || n <= GROUPS_SHOWN + 1 ? n : GROUPS_SHOWN, shown = 0;
    for (; shown < most && !explain_is_full(out, r); shown++) {
        buf_add_char(out, '\n');
        add_group(out, r, ranked[shown]);
    }
    for (size_t i = shown; i < n; i++)
        left += ranked[i]->node_count;
    if (left) {
        buf_add_char(out, '\n');
        add_count(out, left, "node");
        buf_addf(out, " more in %zu groups: %s\n", n - shown, shown < most ? FULL : WIDER);
    }
}

/* What each plug-in says of one node. */
static void add_verdicts(struct buf *out, const struct explain_report *r, size_t place) {
    const struct sched_explanation *e = r->e;
    buf_add(out, STR("\nnode "));
    printable_add(out, node_name(r, place));
    buf_add(out, e->group_of[place] == SIZE_MAX ? STR(": the pod fits\n") : STR(": rejected\n"));
    for (size_t i = 0; i < e->filters.n; i++) {
        const struct sched_cause *cause = explain_find_cause(e, place, e->filters.v[i]);
        if (cause)
            add_cause(out, r, cause, node_name(r, place));
        else
            buf_addf(out, "  %.*s: fits\n", STR_ARG(sched_plugin_name(e->filters.v[i])));
    }
}

static void add_rejection(struct buf *out, const struct explain_report *r) {
    const struct sched_status *status = &r->e->report.rejected;
    buf_add(out, STR("\nall nodes\n"));
    for (size_t i = 0; i < status->reason_count; i++) {
        AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_TEXT);
        sched_message_write(&text, status->reasons[i], r->e->redact);
        buf_addf(out, "  %.*s: ", STR_ARG(status->plugin));
        add_shown(out, &text);
        buf_add_char(out, '\n');
    }
}

static void add_nodes(struct buf *out, const struct explain_report *r) {
    const struct sched_report *report = &r->e->report;
    if (report->error.p)
        return;
    if (report->rejected.code != SCHED_CODE_SUCCESS) {
        add_rejection(out, r);
        return;
    }
    if (!r->all && r->node == SIZE_MAX) {
        add_groups(out, r);
        return;
    }
    size_t left = 0;
    for (size_t i = 0; i < report->node_count; i++)
        if (explain_wants(r, i) && explain_is_full(out, r))
            left++;
        else if (explain_wants(r, i))
            add_verdicts(out, r, i);
    if (left)
        buf_addf(out, "\n%zu more: " FULL "\n", left);
}

/* ---- scores ---- */

static size_t widest_name(const struct explain_report *r, const size_t *places, size_t n) {
    size_t width = sizeof "NODE" - 1;
    for (size_t i = 0; i < n; i++)
        if (printable_size(node_name(r, places[i])) > width)
            width = printable_size(node_name(r, places[i]));
    return width;
}

static void add_cell(struct buf *out, struct str text, size_t width) {
    size_t before = out->n;
    printable_add(out, text);
    if (out->n - before < width + GAP)
        buf_add_fill(out, ' ', width + GAP - (out->n - before));
}

static void add_score_head(struct buf *out, const struct explain_report *r, size_t width) {
    add_cell(out, STR("NODE"), width);
    buf_add(out, STR("TOTAL"));
    for (enum sched_plugin p = 0; p < SCHED_PLUGIN_COUNT; p++)
        if (r->e->report.scoring[p])
            buf_addf(out, "   %.*s*%d", STR_ARG(sched_plugin_name(p)), r->e->weights[p]);
    buf_add_char(out, '\n');
}

static void add_score_line(struct buf *out, const struct explain_report *r, size_t place,
                           size_t width) {
    const struct sched_node_report *node = &r->e->report.nodes[place];
    add_cell(out, node->node, width);
    buf_addf(out, "%5lld", (long long)node->total);
    for (enum sched_plugin p = 0; p < SCHED_PLUGIN_COUNT; p++) {
        if (!r->e->report.scoring[p])
            continue;
        char weight[16];
        int digits = snprintf(weight, sizeof weight, "*%d", r->e->weights[p]);
        buf_addf(out, "   %*lld", (int)sched_plugin_name(p).n + digits, (long long)node->scores[p]);
    }
    buf_add_char(out, '\n');
}

static void add_scores(struct buf *out, const struct explain_report *r) {
    AUTO(arena_release) struct arena a = {0};
    size_t n, left = 0;
    const size_t *places = explain_rank_nodes(&a, &r->e->report, &n);
    if (!r->e->report.scored)
        return;
    size_t width = widest_name(r, places, n);
    buf_add_char(out, '\n');
    add_score_head(out, r, width);
    size_t shown = r->wide || r->all || n <= SCORES_SHOWN + 1 ? n : SCORES_SHOWN;
    for (size_t i = 0; i < n; i++)
        if (r->node != SIZE_MAX ? r->node == places[i] : i < shown && !explain_is_full(out, r))
            add_score_line(out, r, places[i], width);
        else
            left++;
    if (left && r->node == SIZE_MAX)
        buf_addf(out, "%zu more: %s\n", left, shown < n ? WIDER : FULL);
}

/* ---- changes ---- */

static void add_suggestion(struct buf *out, const struct explain_report *r,
                           const struct sched_suggestion *s) {
    for (size_t i = 0; i < s->change_count; i++) {
        buf_add(out, i ? STR(", and ") : STR("  - "));
        printable_add(out, s->changes[i].text);
    }
    buf_add(out, STR(": fits on "));
    printable_add(out, node_name(r, s->node));
    if (s->feasible > 1) {
        buf_add(out, STR(" and "));
        add_count(out, s->feasible - 1, "other node");
    }
    buf_add_char(out, '\n');
}

static void add_suggestions(struct buf *out, const struct explain_report *r) {
    if (r->suggestions->ended_early)
        buf_add(out, STR("\nThe search for changes ended early, as the pod or the nodes are very "
                         "large: there may be smaller ones.\n"));
    if (!r->suggestions->n)
        return;
    buf_add(out, STR("\nThe smallest changes that make it fit, one of:\n"));
    for (size_t i = 0; i < r->suggestions->n; i++)
        add_suggestion(out, r, &r->suggestions->v[i]);
}

void explain_report_write_text(struct buf *out, const struct explain_report *r) {
    add_verdict(out, r);
    if (r->e->ended)
        return;
    add_notes(out, r);
    add_message(out, r);
    add_scores(out, r);
    add_nodes(out, r);
    add_suggestions(out, r);
}
