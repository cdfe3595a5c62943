/* An explanation for people. */
#include "api/object.h"
#include "base/printable.h"
#include "cmd/cmd.h"
#include "cmd/report/explain_report.h"

/* A report that is not wide names so many nodes that fail alike, and scores of so many; it has so
 * many lines, or at least one cause. */
enum { NAMES_SHOWN = 5, SCORES_SHOWN = 5, COSTS_SHOWN = 3, LINES_SHOWN = 20 };

enum { GAP = 3, LONGEST_TEXT = 1 << 20 };

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

static void add_owner(struct buf *out, struct str owner) {
    if (!owner.p)
        return;
    buf_add(out, STR(" of "));
    printable_add(out, owner);
}

/* "Pod a/b", or, for one of several: "4 pods of deployment/web. One of them, a/b," */
static void add_subject(struct buf *out, const struct explain_report *r) {
    bool is_one = r->alike.pods <= 1;
    if (is_one) {
        buf_add(out, STR("Pod "));
    } else {
        add_count(out, r->alike.pods, "pod");
        add_owner(out, r->alike.owner);
        buf_add(out, STR(". One of them, "));
    }
    printable_add(out, r->pod->meta->namespace);
    buf_add_char(out, '/');
    printable_add(out, r->pod->meta->name);
    if (is_one)
        add_owner(out, r->alike.owner);
    else
        buf_add_char(out, ',');
}

static void add_verdict(struct buf *out, const struct explain_report *r) {
    const struct sched_report *report = &r->e->report;
    add_subject(out, r);
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

/* "4 pods of deployment/web, 1 pod of job/x and 2 pods of others" */
static void add_rivals(struct buf *out, const struct sim_outlook *o) {
    enum { SHOWN = 3 };
    size_t rest = 0;
    for (size_t i = SHOWN; i < o->rival_count; i++)
        rest += o->rivals[i].pods;
    for (size_t i = 0; i < o->rival_count && i < SHOWN; i++) {
        bool is_last = i + 1 == o->rival_count;
        buf_add(out, !i ? STR("") : is_last ? STR(" and ") : STR(", "));
        add_count(out, o->rivals[i].pods, "pod");
        if (!o->rivals[i].owner.p)
            continue;
        buf_add(out, STR(" of "));
        printable_add(out, o->rivals[i].owner);
    }
    if (rest) {
        buf_add(out, STR(" and "));
        add_count(out, rest, "pod");
        buf_add(out, STR(" of others"));
    }
}

static void add_victims(struct buf *out, const struct sim_outlook *o) {
    for (size_t i = 0; i < o->victim_count && i < NAMES_SHOWN; i++) {
        buf_add(out, i ? STR(", ") : STR(""));
        printable_add(out, o->victims[i]);
    }
    if (o->victim_count > NAMES_SHOWN)
        buf_addf(out, " and %zu more", o->victim_count - NAMES_SHOWN);
}

/* A pod that gets a node among others, when it would have got another one, or none. */
static void add_scheduled(struct buf *out, const struct explain_report *r) {
    const struct sim_outlook *o = r->outlook;
    bool fits = r->e->report.feasible;
    if (o->victim_count) {
        buf_add(out, STR("It would preempt "));
        add_victims(out, o);
        buf_add(out, STR(" and go to "));
    } else if (!fits) {
        buf_add(out, STR("When other pending pods are placed it goes to "));
    } else if (!str_eq(o->node, node_name(r, r->e->report.best))) {
        buf_add(out, STR("With "));
        add_rivals(out, o);
        buf_add(out, STR(" in the queue it goes to "));
    } else {
        return;
    }
    printable_add(out, o->node);
    buf_add(out, STR(".\n"));
}

/* What berth schedule says of the pod, where that is not what was said of it alone. */
static void add_outlook(struct buf *out, const struct explain_report *r) {
    const struct sim_outlook *o = r->outlook;
    AUTO(buf_release) struct buf shown = BUF_INIT(LONGEST_TEXT);
    if (!o)
        return;
    if (o->state == SIM_SCHEDULED) {
        add_scheduled(out, r);
        return;
    }
    if (!r->e->report.feasible)
        return;
    buf_add(out, STR("That is so alone; "));
    if (o->rival_count) {
        buf_add(out, STR("behind "));
        add_rivals(out, o);
        buf_add(out, STR(" ahead of it in the queue it does not fit: "));
    } else {
        buf_add(out, STR("with the other pods in the queue it does not stay: "));
    }
    sched_message_write(&shown, o->message, r->e->redact);
    add_shown(out, &shown);
    buf_add_char(out, '\n');
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

/* Names on their way out. */
struct names {
    struct buf *out;
    const struct explain_report *r;
    size_t shown, most;
};

static void add_name(struct names *n, size_t place) {
    if (n->shown++ >= n->most)
        return;
    buf_add(n->out, n->shown > 1 ? STR(", ") : STR(""));
    printable_add(n->out, node_name(n->r, place));
}

/* The node of the best change, if there is one; else SIZE_MAX. */
static size_t best_node(const struct explain_report *r) {
    return r->suggestions->n ? r->suggestions->v[0].node : SIZE_MAX;
}

static bool has_node(const struct sched_bundle *b, const struct explain_report *r, size_t place) {
    for (size_t i = 0; place != SIZE_MAX && i < b->group_count; i++)
        if (b->groups[i] == &r->e->groups[r->e->group_of[place]])
            return true;
    return false;
}

/* n1, n2, n3 and 5 more: that of the best change first, then those that miss least. */
static void add_names(struct buf *out, const struct explain_report *r,
                      const struct sched_bundle *b) {
    struct names names = {.out = out, .r = r};
    size_t best = has_node(b, r, best_node(r)) ? best_node(r) : SIZE_MAX;
    names.most = r->wide || b->node_count <= NAMES_SHOWN + 1 ? b->node_count : NAMES_SHOWN;
    if (best != SIZE_MAX)
        add_name(&names, best);
    for (size_t i = 0; i < b->group_count; i++)
        for (size_t k = 0; k < b->groups[i]->node_count && names.shown < names.most; k++)
            if (b->groups[i]->nodes[k] != best)
                add_name(&names, b->groups[i]->nodes[k]);
    if (names.most < b->node_count)
        buf_addf(out, " and %zu more", b->node_count - names.most);
}

static void add_bundle(struct buf *out, const struct explain_report *r,
                       const struct sched_bundle *b) {
    buf_add_char(out, '\n');
    add_count(out, b->node_count, "node");
    buf_add(out, STR(": "));
    add_names(out, r, b);
    buf_add_char(out, '\n');
    struct str only = b->node_count == 1 ? node_name(r, b->groups[0]->nodes[0]) : (struct str){0};
    for (size_t i = 0; i < b->cause_count; i++)
        add_cause(out, r, &b->causes[i], only);
}

/* A group as if it were alone. */
static void add_group(struct buf *out, const struct explain_report *r,
                      const struct sched_group *g) {
    AUTO(arena_release) struct arena a = {0};
    struct sched_cause *causes = arena_array(&a, struct sched_cause, g->cause_count);
    for (size_t i = 0; i < g->cause_count; i++)
        causes[i] = *g->causes[i];
    add_bundle(out, r,
               &(struct sched_bundle){.causes = causes,
                                      .cause_count = g->cause_count,
                                      .groups = &g,
                                      .group_count = 1,
                                      .node_count = g->node_count});
}

static void add_left_out(struct buf *out, size_t nodes, const char *where) {
    if (!nodes)
        return;
    buf_add_char(out, '\n');
    add_count(out, nodes, "node");
    buf_addf(out, " more: %s\n", where);
}

/* Every group by itself. */
static void add_groups(struct buf *out, const struct explain_report *r) {
    size_t left = 0;
    for (size_t i = 0; i < r->e->bundles.n; i++)
        for (size_t k = 0; k < r->e->bundles.v[i].group_count; k++)
            if (explain_is_full(out, r))
                left += r->e->bundles.v[i].groups[k]->node_count;
            else
                add_group(out, r, r->e->bundles.v[i].groups[k]);
    add_left_out(out, left, FULL);
}

static size_t count_lines(const struct buf *out) {
    size_t n = 0;
    for (size_t i = 0; i < out->n; i++)
        n += out->p[i] == '\n';
    return n;
}

/* The bundle with the node of the best change comes first, whatever else is shown. */
static const struct sched_bundle **rank_bundles(struct arena *a, const struct explain_report *r) {
    const struct sched_bundles *bundles = &r->e->bundles;
    const struct sched_bundle **ranked = arena_array(a, const struct sched_bundle *, bundles->n);
    size_t n = 0, best = 0;
    while (best < bundles->n && !has_node(&bundles->v[best], r, best_node(r)))
        best++;
    if (best < bundles->n)
        ranked[n++] = &bundles->v[best];
    for (size_t i = 0; i < bundles->n; i++)
        if (i != best)
            ranked[n++] = &bundles->v[i];
    return ranked;
}

/* Lines that a bundle takes, and that changes take: with the empty one before them. */
static size_t lines_of(const struct sched_bundle *b) {
    return 2 + b->cause_count;
}

static size_t lines_after(const struct explain_report *r) {
    return r->suggestions->n ? 2 + r->suggestions->n : 0;
}

static void add_bundles(struct buf *out, const struct explain_report *r, size_t start) {
    enum { LEFT_OUT = 2 }; /* lines that tell of those that are not shown */
    AUTO(arena_release) struct arena a = {0};
    const struct sched_bundle **ranked = rank_bundles(&a, r);
    size_t n = r->e->bundles.n, left = 0, shown = 0;
    size_t lines = start + lines_after(r);
    for (; shown < n; shown++) {
        size_t end = lines + lines_of(ranked[shown]) + (shown + 1 < n ? LEFT_OUT : 0);
        if (shown && (r->brief || end > LINES_SHOWN))
            break;
        add_bundle(out, r, ranked[shown]);
        lines += lines_of(ranked[shown]);
    }
    for (size_t i = shown; i < n; i++)
        left += ranked[i]->node_count;
    add_left_out(out, left, WIDER);
}

/* An operator that the scheduler does not have, and how to switch it on, unless it is there. */
static void add_gate(struct buf *out, const struct sched_finding *f) {
    struct str operator= f->operator.p ? f->operator: STR("An expression");
    struct str gate = sched_finding_get(f, SCHED_OPERAND_DETAIL)->text;
    AUTO(buf_release) struct buf line = BUF_INIT(LONGEST_TEXT);
    buf_addf(&line,
             "\n%.*s is off in the scheduler: it needs the feature gate %.*s; try "
             "--feature-gates=%.*s=true\n",
             STR_ARG(operator), STR_ARG(gate), STR_ARG(gate));
    if (str_find(buf_view(out), buf_view(&line)) == STR_NONE)
        buf_add(out, buf_view(&line));
}

static void add_gates_of(struct buf *out, const struct sched_bundles *bundles) {
    for (size_t i = 0; i < bundles->n; i++)
        for (size_t k = 0; k < bundles->v[i].cause_count; k++) {
            const struct sched_cause *cause = &bundles->v[i].causes[k];
            for (size_t f = 0; f < cause->finding_count; f++)
                if (str_is(sched_finding_name(&cause->findings[f]), "gate-off"))
                    add_gate(out, &cause->findings[f]);
        }
}

static void add_gates(struct buf *out, const struct explain_report *r) {
    AUTO(buf_release) struct buf gates = BUF_INIT(LONGEST_TEXT);
    add_gates_of(&gates, &r->e->bundles);
    add_gates_of(&gates, &r->e->costs);
    buf_add(out, buf_view(&gates));
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
        if (r->wide)
            add_groups(out, r);
        else
            add_bundles(out, r, count_lines(out));
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

/* What costs nodes that fit some of their scores: "TaintToleration, 2 nodes (a, b): why". */
static void add_cost(struct buf *out, const struct explain_report *r,
                     const struct sched_bundle *b) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_TEXT);
    struct str only = b->node_count == 1 ? node_name(r, b->groups[0]->nodes[0]) : (struct str){0};
    explain_add_cause(&text, r->e, &b->causes[0], only);
    buf_addf(out, "  %.*s, ", STR_ARG(sched_plugin_name(b->causes[0].plugin)));
    add_count(out, b->node_count, "node");
    buf_add(out, STR(" ("));
    add_names(out, r, b);
    buf_add(out, STR("): "));
    add_shown(out, &text);
    buf_add_char(out, '\n');
}

static void add_costs(struct buf *out, const struct explain_report *r) {
    const struct sched_bundles *costs = &r->e->costs;
    size_t shown = r->wide || costs->n <= COSTS_SHOWN + 1 ? costs->n : COSTS_SHOWN;
    if (!costs->n || r->node != SIZE_MAX)
        return;
    buf_add(out, STR("\nWhat costs nodes score:\n"));
    for (size_t i = 0; i < shown; i++)
        add_cost(out, r, &costs->v[i]);
    if (shown < costs->n)
        buf_addf(out, "  %zu more: " WIDER "\n", costs->n - shown);
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
    for (size_t i = 0; i < r->suggestions->n && (!r->brief || i < 1); i++)
        add_suggestion(out, r, &r->suggestions->v[i]);
}

void explain_report_write_verdict(struct buf *out, const struct explain_report *r) {
    add_verdict(out, r);
    if (r->e->ended)
        return;
    add_notes(out, r);
    add_message(out, r);
}

void explain_report_write_text(struct buf *out, const struct explain_report *r) {
    add_verdict(out, r);
    if (r->e->ended)
        return;
    add_notes(out, r);
    add_outlook(out, r);
    add_message(out, r);
    add_scores(out, r);
    add_costs(out, r);
    add_nodes(out, r);
    add_gates(out, r);
    add_suggestions(out, r);
}
