/* The table for people, and the List of pods for programs. */
#include "cmd/report/schedule_report.h"

#include "api/object.h"
#include "base/printable.h"
#include "cmd/report/printer.h"

/* Output waits in this much memory before it goes to a file; one line is at most so long. */
enum { SPOOL_BYTES = 8 << 20, LONGEST_LINE = 4 << 20, GAP = 3 };

const char *const schedule_formats[] = {
    [SCHEDULE_TABLE] = "table", [SCHEDULE_JSON] = "json", [SCHEDULE_YAML] = "yaml", NULL};

static const struct state_row {
    const char *name, *word;
} states[] = {
#define X(id, name, word) {name, word},
    SIM_STATES(X)
#undef X
};

/* ---- table ---- */

enum { NAMESPACE, NAME, NODE, STATUS, MESSAGE, COLUMNS };

struct line {
    struct str cells[COLUMNS];
};

static const struct line head = {{STR_INIT("NAMESPACE"), STR_INIT("NAME"), STR_INIT("NODE"),
                                  STR_INIT("STATUS"), STR_INIT("MESSAGE")}};

/* The names of the victims of a dry run live in the arena. */
static struct line line_of(struct arena *a, const struct sim_placement_pod *pod) {
    struct str message = pod->message;
    if (pod->victims.n)
        message = arena_printf(a, "%.*s: %.*s", STR_ARG(message), STR_ARG(pod->victims));
    return (struct line){{pod->pod->meta->namespace, pod->pod->meta->name,
                          pod->node.n ? pod->node : STR("<none>"), str_of(states[pod->state].name),
                          message}};
}

static void widen(size_t *widths, const struct line *line) {
    for (size_t i = 0; i < COLUMNS; i++)
        if (i != MESSAGE && printable_size(line->cells[i]) > widths[i])
            widths[i] = printable_size(line->cells[i]);
}

/* Cells up to the last that says something; no blanks at the end. */
static void add_line(struct buf *out, const size_t *widths, const struct line *line) {
    size_t last = COLUMNS;
    while (last > 0 && line->cells[last - 1].n == 0)
        last--;
    for (size_t i = 0; i < last; i++) {
        size_t before = out->n;
        printable_add(out, line->cells[i]);
        if (i + 1 < last && out->n - before < widths[i] + GAP)
            buf_add_fill(out, ' ', widths[i] + GAP - (out->n - before));
    }
    buf_add_char(out, '\n');
}

/* 8 pods: 6 scheduled, 1 unschedulable, 1 preempted */
static void add_sum(struct buf *out, const struct sim_placement *p) {
    size_t counts[SIM_STATE_COUNT] = {0};
    for (size_t i = 0; i < p->pods.n; i++)
        counts[p->pods.v[i].state]++;
    buf_addf(out, "%zu pod%s", p->pods.n, p->pods.n == 1 ? "" : "s");
    const char *before = ": ";
    for (size_t i = 0; i < SIM_STATE_COUNT; i++) {
        if (!counts[i])
            continue;
        buf_addf(out, "%s%zu %s", before, counts[i], states[i].word);
        before = ", ";
    }
    buf_add_char(out, '\n');
}

/* deployment.apps/web: rolled out: 4 of 4 pods updated; at its tightest 5 pods, 3 ready */
static void add_rollout(struct buf *out, const struct sim_rollout *r) {
    const struct controller_rollout_counts *c = &r->plan.counts;
    bool is_done = controller_rollout_is_done(&r->plan);
    if (is_done && !r->steps)
        return;
    printable_add(out, r->plan.maker);
    buf_addf(out, ": %s: %lld of %lld pod%s updated", is_done ? "rolled out" : "stuck",
             (long long)(c->updated_ready - r->plan.kept), (long long)r->plan.wanted,
             r->plan.wanted == 1 ? "" : "s");
    if (r->plan.kept)
        buf_addf(out, ", %lld kept", (long long)r->plan.kept);
    buf_addf(out, "; at its tightest %lld pod%s, %lld ready\n", (long long)r->most,
             r->most == 1 ? "" : "s", (long long)r->least_ready);
}

static int flush(struct spool *to, struct buf *text, struct err *err) {
    int rc = spool_add(to, buf_view(text), err);
    buf_clear(text);
    return rc;
}

static int add_lines(struct spool *to, struct buf *text, const struct sim_placement *p,
                     struct err *err) {
    AUTO(arena_release) struct arena a = {0};
    size_t widths[COLUMNS] = {0};
    widen(widths, &head);
    for (size_t i = 0; i < p->pods.n; i++) {
        struct line line = line_of(&a, &p->pods.v[i]);
        widen(widths, &line);
        arena_reset(&a);
    }
    add_line(text, widths, &head);
    for (size_t i = 0; i < p->pods.n; i++) {
        struct line line = line_of(&a, &p->pods.v[i]);
        add_line(text, widths, &line);
        arena_reset(&a);
        if (flush(to, text, err) < 0)
            return -1;
    }
    buf_add_char(text, '\n');
    return 0;
}

static int write_table(const struct cmd_ctx *ctx, const struct sim_placement *p, struct str metrics,
                       struct err *err) {
    struct spool out;
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_LINE);
    spool_init(&out, SPOOL_BYTES, cmd_getenv(ctx, "TMPDIR"));
    int rc = p->pods.n ? add_lines(&out, &text, p, err) : 0;
    add_sum(&text, p);
    for (size_t i = 0; i < p->cluster->rollouts.n && rc == 0; i++) {
        add_rollout(&text, &p->cluster->rollouts.v[i]);
        rc = flush(&out, &text, err);
    }
    if (metrics.n)
        buf_add_char(&text, '\n');
    if (rc == 0)
        rc = flush(&out, &text, err);
    if (rc == 0)
        rc = spool_add(&out, metrics, err);
    if (rc == 0)
        rc = spool_copy(&out, ctx->out, err);
    spool_release(&out);
    return rc;
}

/* ---- pods ---- */

/* A condition of the same status keeps the time of its last change. The list may be one that other
 * pods share: the pod gets its own. */
static void set_condition(struct api_object *o, struct api_pod_condition condition) {
    struct api_pod_condition_list *list = &((struct api_pod *)api_own_body(o))->status.conditions;
    struct api_pod_condition *own = arena_array(&o->arena, struct api_pod_condition, list->n + 1);
    size_t at = list->n;
    for (size_t i = list->n; i-- > 0;) {
        own[i] = list->v[i];
        if (str_eq(own[i].type, condition.type))
            at = i;
    }
    if (at < list->n && str_eq(own[at].status, condition.status))
        condition.last_transition_time = own[at].last_transition_time;
    own[at] = condition;
    *list = (struct api_pod_condition_list){own, list->n + (at == list->n)};
}

static void set_scheduled(struct api_object *o) {
    set_condition(o,
                  (struct api_pod_condition){.type = STR("PodScheduled"), .status = STR("True")});
}

static void set_not_scheduled(struct api_object *o, const char *reason, struct str message) {
    set_condition(o, (struct api_pod_condition){.type = STR("PodScheduled"),
                                                .status = STR("False"),
                                                .reason = str_of(reason),
                                                .message = arena_str(&o->arena, message)});
}

static void set_preempted(struct api_object *o, struct str scheduler) {
    set_condition(o, (struct api_pod_condition){
                         .type = STR("DisruptionTarget"),
                         .status = STR("True"),
                         .reason = STR("PreemptionByScheduler"),
                         .message = arena_printf(
                             &o->arena, "%.*s: preempting to accommodate a higher priority pod",
                             STR_ARG(scheduler))});
}

/* The pod as the API server would show it now. */
static struct api_object *result_of(const struct sim_placement_pod *pod) {
    static const char *const reasons[SIM_STATE_COUNT] = {
        [SIM_UNSCHEDULABLE] = "Unschedulable",
        [SIM_FAILED] = "SchedulerError",
        [SIM_GATED] = "SchedulingGated",
    };
    struct api_object *o = sim_placement_pod_now(pod);
    if (pod->state == SIM_UNSCHEDULABLE || pod->state == SIM_FAILED)
        ((struct api_pod *)api_own_body(o))->status.nominated_node_name =
            arena_str(&o->arena, pod->nominated);
    if (reasons[pod->state])
        set_not_scheduled(o, reasons[pod->state], pod->message);
    if (pod->state == SIM_SCHEDULED || (pod->state == SIM_PREEMPTED && pod->item))
        set_scheduled(o);
    if (pod->state == SIM_PREEMPTED)
        set_preempted(o, pod->scheduler);
    return o;
}

static int write_pods(const struct cmd_ctx *ctx, const struct sim_placement *p,
                      enum printer_format format, struct err *err) {
    struct printer printer;
    struct input_source nowhere = {.file = STR("output")};
    int rc = 0;
    printer_init(&printer, ctx, format);
    printer.list = true;
    for (size_t i = 0; i < p->pods.n && rc == 0; i++)
        if (p->pods.v[i].state != SIM_REMOVED)
            rc = printer_add(&printer, result_of(&p->pods.v[i]), &nowhere, err);
    if (rc == 0)
        rc = printer_finish(&printer, err);
    printer_release(&printer);
    return rc;
}

int schedule_report_write(const struct cmd_ctx *ctx, const struct sim_placement *p,
                          enum schedule_format format, struct str metrics, struct err *err) {
    if (format == SCHEDULE_TABLE)
        return write_table(ctx, p, metrics, err);
    return write_pods(ctx, p, format == SCHEDULE_JSON ? PRINTER_JSON : PRINTER_YAML, err);
}
