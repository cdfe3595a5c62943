/* An explanation for programs: kind Explanation, see docs/schemas.md. */
#include <string.h>

#include "api/object.h"
#include "cmd/report/explain_report.h"
#include "codec/json.h"
#include "match/sentence.h"

enum { LONGEST_TEXT = 1 << 20 };

static void add_key(struct buf *out, struct str key) {
    buf_add_char(out, '"');
    buf_add(out, key);
    buf_add(out, STR("\":"));
}

static void add_text(struct buf *out, const char *key, struct str value) {
    add_key(out, str_of(key));
    json_write_str(out, value, true);
}

static void add_or_null(struct buf *out, const char *key, struct str value) {
    if (value.n)
        add_text(out, key, value);
    else
        buf_addf(out, "\"%s\":null", key);
}

static void add_message(struct buf *out, const char *key, const struct explain_report *r,
                        struct str text) {
    AUTO(buf_release) struct buf shown = BUF_INIT(LONGEST_TEXT);
    sched_message_write(&shown, text, r->e->redact);
    add_or_null(out, key, buf_view(&shown));
}

static struct str node_name(const struct explain_report *r, size_t place) {
    return r->e->report.nodes[place].node;
}

/* Between two items of a list: one to a line. */
static void begin_item(struct buf *out, bool *first) {
    buf_add(out, *first ? STR("\n") : STR(",\n"));
    *first = false;
}

/* How many items of a list the report has no room for; nothing if none. */
static void add_omitted(struct buf *out, const char *key, size_t n) {
    if (n)
        buf_addf(out, "\"%s\":%zu,\n", key, n);
}

/* ---- verdicts ---- */

static void add_status(struct buf *out, const struct explain_report *r, struct str plugin,
                       const struct sched_status *status) {
    add_text(out, "plugin", plugin);
    buf_add_char(out, ',');
    add_text(out, "code", sched_code_name(status->code));
    buf_add(out, STR(",\"reasons\":["));
    for (size_t i = 0; i < status->reason_count; i++) {
        AUTO(buf_release) struct buf shown = BUF_INIT(LONGEST_TEXT);
        if (r->e->redact)
            sched_message_write(&shown, status->reasons[i], true);
        buf_add(out, i ? STR(",") : STR(""));
        json_write_str(out, r->e->redact ? buf_view(&shown) : status->reasons[i], true);
    }
    buf_add_char(out, ']');
}

/* A text as the sentence has it. */
static void add_shown(struct buf *out, const struct sched_operand *o,
                      const struct sched_wording *w) {
    AUTO(buf_release) struct buf shown = BUF_INIT(LONGEST_TEXT);
    bool is_plain = !w->redact && !o->is_node_name;
    if (!is_plain)
        sched_operand_write(&shown, o, w);
    json_write_str(out, is_plain ? o->text : buf_view(&shown), true);
}

static void add_values(struct buf *out, const struct match_values *values, bool redact) {
    buf_add_char(out, '[');
    for (size_t i = 0; i < values->n; i++) {
        buf_add(out, i ? STR(",") : STR(""));
        json_write_str(out, redact ? STR("***") : values->v[i], true);
    }
    buf_add_char(out, ']');
    if (values->n < values->all)
        buf_addf(out, ",\"omittedValues\":%zu", values->all - values->n);
}

/* Thousandths as a number with a fraction, if there is one. */
static void add_milli(struct buf *out, int64_t milli) {
    uint64_t size = milli < 0 ? -(uint64_t)milli : (uint64_t)milli;
    buf_add(out, milli < 0 ? STR("-") : STR(""));
    buf_add_u64(out, size / 1000);
    if (!(size % 1000))
        return;
    buf_add_char(out, '.');
    for (unsigned rest = (unsigned)(size % 1000); rest; rest = rest % 100 * 10)
        buf_add_char(out, (char)('0' + rest / 100));
}

static void add_operand(struct buf *out, const struct sched_operand *o,
                        const struct sched_wording *w) {
    if (o->kind == SCHED_DERIVED && w->redact)
        return;
    buf_add_char(out, ',');
    add_key(out, sched_operand_name(o->name));
    if (o->kind == SCHED_VALUES)
        add_values(out, o->values, w->redact);
    else if (o->kind == SCHED_MILLI)
        add_milli(out, o->number);
    else if (o->kind >= SCHED_NUMBER)
        buf_add_i64(out, o->number);
    else
        add_shown(out, o, w);
}

/* What is compared comes first, in the order in which it is read. */
static void add_operands(struct buf *out, const struct sched_finding *f,
                         const struct sched_wording *w) {
    static const enum sched_operand_name compared[] = {SCHED_OPERAND_SUBJECT, SCHED_OPERAND_LEFT,
                                                       SCHED_OPERAND_RIGHT};
    for (size_t i = 0; i < sizeof compared / sizeof *compared; i++) {
        const struct sched_operand *o = sched_finding_get(f, compared[i]);
        if (compared[i] == SCHED_OPERAND_RIGHT && f->operator.p) {
            buf_add_char(out, ',');
            add_text(out, "operator", f->operator);
        }
        if (o)
            add_operand(out, o, w);
    }
    for (size_t i = 0; i < f->n; i++)
        if (f->v[i].name > SCHED_OPERAND_SUBJECT)
            add_operand(out, &f->v[i], w);
}

static void add_finding(struct buf *out, const struct sched_finding *f,
                        const struct sched_wording *w) {
    buf_add_char(out, '{');
    add_text(out, "code", sched_finding_name(f));
    if (f->place.field != SCHED_FIELD_NONE) {
        buf_add(out, STR(",\"field\":\""));
        sched_place_write(out, &f->place);
        buf_add_char(out, '"');
    }
    add_operands(out, f, w);
    buf_add(out, sched_finding_is_of_node(f) ? STR(",\"nodeDependent\":true}")
                                             : STR(",\"nodeDependent\":false}"));
}

static void add_findings(struct buf *out, const struct sched_cause *cause,
                         const struct sched_wording *w) {
    buf_add(out, STR(",\"findings\":["));
    for (size_t i = 0; i < cause->finding_count; i++) {
        buf_add(out, i ? STR(",") : STR(""));
        add_finding(out, &cause->findings[i], w);
    }
    buf_add_char(out, ']');
    if (cause->cut)
        buf_add(out, STR(",\"findingsCut\":true"));
}

/* Where a cause stands in the output. */
struct span {
    size_t at, n;
};

/* Causes on their way out. */
struct causes {
    struct buf *out;
    const struct explain_report *r;
    struct span *written; /* by the cause's number; n is 0 before it is written */
    struct buf text;      /* the sentence at hand */
};

static void write_cause(struct causes *c, const struct sched_cause *cause, struct str node) {
    buf_clear(&c->text);
    explain_add_cause(&c->text, c->r->e, cause, node);
    buf_add_char(c->out, '{');
    add_status(c->out, c->r, sched_plugin_name(cause->plugin), &cause->status);
    buf_add_char(c->out, ',');
    add_text(c->out, "text", buf_view(&c->text));
    add_findings(c->out, cause, &(struct sched_wording){node, c->r->e->redact});
    buf_add_char(c->out, '}');
}

static void add_again(struct buf *out, const struct span *span) {
    char *room = buf_room(out, span->n); /* may move what is there */
    if (!room)
        return;
    memcpy(room, out->p + span->at, span->n);
    out->n += span->n;
}

/* A cause that does not name its node is put into words once. */
static void add_cause(struct causes *c, const struct sched_cause *cause, struct str node) {
    struct span *span = &c->written[cause->number];
    if (span->n) {
        add_again(c->out, span);
        return;
    }
    size_t start = c->out->n;
    write_cause(c, cause, node);
    if (!cause->names_node)
        *span = (struct span){start, c->out->n - start};
}

static void add_group(struct causes *c, const struct sched_group *g) {
    struct buf *out = c->out;
    const struct explain_report *r = c->r;
    buf_add(out, STR("{\"nodes\":["));
    for (size_t i = 0; i < g->node_count; i++) {
        buf_add(out, i ? STR(",") : STR(""));
        json_write_str(out, node_name(r, g->nodes[i]), true);
    }
    buf_add(out, STR("],\"causes\":["));
    struct str only = g->node_count == 1 ? node_name(r, g->nodes[0]) : (struct str){0};
    for (size_t i = 0; i < g->cause_count; i++) {
        buf_add(out, i ? STR(",") : STR(""));
        add_cause(c, g->causes[i], only);
    }
    buf_add(out, STR("]}"));
}

static void add_groups(struct causes *c) {
    struct buf *out = c->out;
    const struct explain_report *r = c->r;
    bool first = true;
    size_t left = 0;
    buf_add(out, STR("\"groups\":["));
    for (size_t i = 0; i < r->e->group_count; i++) {
        if (r->node != SIZE_MAX && r->e->group_of[r->node] != i)
            continue;
        if (explain_is_full(out, r)) {
            left++;
            continue;
        }
        begin_item(out, &first);
        add_group(c, &r->e->groups[i]);
    }
    buf_add(out, STR("],\n"));
    add_omitted(out, "omittedGroups", left);
}

/* A bundle of groups as text has it: in sentences. */
static void add_bundle(struct causes *c, const struct sched_bundle *b) {
    struct buf *out = c->out;
    struct str closest = node_name(c->r, b->groups[0]->nodes[0]);
    buf_addf(out, "{\"nodeCount\":%zu,", b->node_count);
    add_text(out, "closest", closest);
    buf_add(out, STR(",\"causes\":["));
    for (size_t i = 0; i < b->cause_count; i++) {
        buf_clear(&c->text);
        explain_add_cause(&c->text, c->r->e, &b->causes[i],
                          b->node_count == 1 ? closest : (struct str){0});
        buf_add(out, i ? STR(",{") : STR("{"));
        add_text(out, "plugin", sched_plugin_name(b->causes[i].plugin));
        buf_add_char(out, ',');
        add_text(out, "text", buf_view(&c->text));
        buf_add_char(out, '}');
    }
    buf_add(out, STR("]}"));
}

static void add_bundles(struct causes *c, const char *key, const char *omitted,
                        const struct sched_bundles *bundles) {
    bool first = true;
    size_t left = 0;
    if (c->r->node != SIZE_MAX)
        return;
    buf_addf(c->out, "\"%s\":[", key);
    for (size_t i = 0; i < bundles->n; i++) {
        if (explain_is_full(c->out, c->r)) {
            left++;
            continue;
        }
        begin_item(c->out, &first);
        add_bundle(c, &bundles->v[i]);
    }
    buf_add(c->out, STR("],\n"));
    add_omitted(c->out, omitted, left);
}

static void add_node(struct causes *c, size_t place) {
    struct buf *out = c->out;
    const struct explain_report *r = c->r;
    const struct sched_explanation *e = r->e;
    static const struct sched_status good = {.code = SCHED_CODE_SUCCESS};
    buf_add_char(out, '{');
    add_text(out, "name", node_name(r, place));
    buf_addf(out, ",\"fits\":%s,\"verdicts\":[", e->group_of[place] == SIZE_MAX ? "true" : "false");
    for (size_t i = 0; i < e->filters.n; i++) {
        const struct sched_cause *cause = explain_find_cause(e, place, e->filters.v[i]);
        buf_add(out, i ? STR(",") : STR(""));
        if (cause) {
            add_cause(c, cause, node_name(r, place));
            continue;
        }
        buf_add_char(out, '{');
        add_status(out, r, sched_plugin_name(e->filters.v[i]), &good);
        buf_add_char(out, '}');
    }
    buf_add(out, STR("]}"));
}

static void add_nodes(struct causes *c) {
    struct buf *out = c->out;
    const struct explain_report *r = c->r;
    bool first = true;
    size_t left = 0;
    if ((!r->all && r->node == SIZE_MAX) || !r->e->group_of)
        return;
    buf_add(out, STR("\"nodes\":["));
    for (size_t i = 0; i < r->e->report.node_count; i++) {
        if (!explain_wants(r, i))
            continue;
        if (explain_is_full(out, r)) {
            left++;
            continue;
        }
        begin_item(out, &first);
        add_node(c, i);
    }
    buf_add(out, STR("],\n"));
    add_omitted(out, "omittedNodes", left);
}

static void add_verdicts(struct buf *out, const struct explain_report *r) {
    AUTO(arena_release) struct arena a = {0};
    struct causes c = {.out = out, .r = r, .text = BUF_INIT(LONGEST_TEXT)};
    c.written = arena_array(&a, struct span, r->e->cause_count);
    add_bundles(&c, "summary", "omittedSummary", &r->e->bundles);
    add_groups(&c);
    add_nodes(&c);
    add_bundles(&c, "costs", "omittedCosts", &r->e->costs);
    buf_release(&c.text);
}

/* ---- scores ---- */

static void add_score(struct buf *out, const struct explain_report *r, size_t place) {
    const struct sched_node_report *node = &r->e->report.nodes[place];
    const char *between = "";
    buf_add_char(out, '{');
    add_text(out, "node", node->node);
    buf_addf(out, ",\"total\":%lld,\"plugins\":[", (long long)node->total);
    for (enum sched_plugin p = 0; p < SCHED_PLUGIN_COUNT; p++) {
        if (!r->e->report.scoring[p])
            continue;
        buf_addf(out, "%s{", between);
        add_text(out, "name", sched_plugin_name(p));
        buf_addf(out, ",\"score\":%lld,\"weight\":%d}", (long long)node->scores[p],
                 r->e->weights[p]);
        between = ",";
    }
    buf_add(out, STR("]}"));
}

static void add_scores(struct buf *out, const struct explain_report *r) {
    AUTO(arena_release) struct arena a = {0};
    size_t n;
    const size_t *places = explain_rank_nodes(&a, &r->e->report, &n);
    bool first = true;
    size_t left = 0;
    buf_add(out, STR("\"scores\":["));
    for (size_t i = 0; r->e->report.scored && i < n; i++) {
        if (!explain_wants(r, places[i]))
            continue;
        if (explain_is_full(out, r)) {
            left++;
            continue;
        }
        begin_item(out, &first);
        add_score(out, r, places[i]);
    }
    buf_add(out, STR("],\n"));
    add_omitted(out, "omittedScores", left);
}

/* ---- changes ---- */

static void add_suggestion(struct buf *out, const struct explain_report *r,
                           const struct sched_suggestion *s) {
    buf_add_char(out, '{');
    add_text(out, "node", node_name(r, s->node));
    buf_addf(out, ",\"feasible\":%zu,\"steps\":[", s->feasible);
    for (size_t i = 0; i < s->change_count; i++) {
        buf_add(out, i ? STR(",{") : STR("{"));
        add_text(out, "kind", sched_change_name(s->changes[i].kind));
        buf_add_char(out, ',');
        add_text(out, "text", s->changes[i].text);
        buf_add_char(out, '}');
    }
    buf_add(out, STR("]}"));
}

static void add_suggestions(struct buf *out, const struct explain_report *r) {
    bool first = true;
    if (r->suggestions->ended_early)
        buf_add(out, STR("\"changesEndedEarly\":true,\n"));
    buf_add(out, STR("\"changes\":["));
    for (size_t i = 0; i < r->suggestions->n; i++) {
        begin_item(out, &first);
        add_suggestion(out, r, &r->suggestions->v[i]);
    }
    buf_add(out, STR("]}\n"));
}

/* ---- all of it ---- */

static void add_head(struct buf *out, const struct explain_report *r) {
    const struct sched_report *report = &r->e->report;
    const struct api_pod *pod = r->pod->body;
    bool fits = report->feasible && !report->error.p;
    buf_add(out, STR("{\"apiVersion\":\"berth.dev/v1alpha1\",\"kind\":\"Explanation\",\"pod\":{"));
    add_text(out, "namespace", r->pod->meta->namespace);
    buf_add_char(out, ',');
    add_text(out, "name", r->pod->meta->name);
    buf_add_char(out, ',');
    add_or_null(out, "node", pod->spec.node_name);
    buf_addf(out, ",\"gated\":%s},\n\"fits\":%s,", pod->spec.scheduling_gates.n ? "true" : "false",
             fits ? "true" : "false");
    add_or_null(out, "node", fits ? node_name(r, report->best) : STR(""));
    buf_addf(out, ",\"nodeCount\":%zu,\"feasible\":%zu,", r->e->all_nodes, report->feasible);
    if (report->nominated)
        buf_add(out, STR("\"nominated\":true,"));
    add_message(out, "message", r, report->message);
    buf_add_char(out, ',');
    add_message(out, "error", r, report->error);
    buf_add(out, STR(",\"rejected\":"));
    if (report->rejected.code == SCHED_CODE_SUCCESS) {
        buf_add(out, STR("null"));
    } else {
        buf_add_char(out, '{');
        add_status(out, r, report->rejected.plugin, &report->rejected);
        buf_add_char(out, '}');
    }
    buf_addf(out, ",\"redacted\":%s,\n", r->e->redact ? "true" : "false");
}

/* What becomes of the pod among others. */
static void add_outlook(struct buf *out, const struct explain_report *r) {
    const struct sim_outlook *o = r->outlook;
    if (!o)
        return;
    bool is_scheduled = o->state == SIM_SCHEDULED;
    buf_addf(out, "\"queue\":{\"scheduled\":%s,", is_scheduled ? "true" : "false");
    add_or_null(out, "node", is_scheduled ? o->node : STR(""));
    buf_add_char(out, ',');
    add_message(out, "message", r, o->message);
    buf_add(out, STR(",\"preempts\":["));
    for (size_t i = 0; i < o->victim_count; i++) {
        buf_add(out, i ? STR(",") : STR(""));
        json_write_str(out, o->victims[i], true);
    }
    buf_add(out, STR("],\"ahead\":["));
    for (size_t i = 0; i < o->rival_count; i++) {
        buf_addf(out, "%s{\"pods\":%zu,", i ? "," : "", o->rivals[i].pods);
        add_or_null(out, "owner", o->rivals[i].owner);
        buf_add_char(out, '}');
    }
    buf_add(out, STR("]},\n"));
}

void explain_report_write_json(struct buf *out, const struct explain_report *r) {
    add_head(out, r);
    add_outlook(out, r);
    add_verdicts(out, r);
    add_scores(out, r);
    add_suggestions(out, r);
}
