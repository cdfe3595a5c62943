/* The report as a whole: a table with what is to be said behind it, or the resulting pods. */
#include "cmd/report/schedule_report.h"

#include "base/printable.h"
#include "cmd/report/schedule_int.h"

/* Output waits in this much memory before it goes to a file; one line is at most so long. */
enum { SPOOL_BYTES = 8 << 20, LONGEST_LINE = 4 << 20 };

const char *const schedule_formats[] = {
    [SCHEDULE_TABLE] = "table",
    [SCHEDULE_WIDE] = "wide",
    [SCHEDULE_JSON] = "json",
    [SCHEDULE_YAML] = "yaml",
    [SCHEDULE_NAME] = "name",
    [SCHEDULE_JSONPATH] = "jsonpath=",
    [SCHEDULE_COLUMNS] = "custom-columns=",
    NULL,
};

int schedule_view_read(struct arena *a, struct schedule_view *view, struct str text,
                       struct err *err) {
    if (view->format == SCHEDULE_COLUMNS) {
        struct columns *columns = arena_new(a, struct columns);
        view->columns = columns;
        return columns_parse(a, text, columns, err);
    }
    if (view->format != SCHEDULE_JSONPATH)
        return 0;
    if (jsonpath_parse(a, text, &view->path, err) < 0) {
        err->code = ERR_USAGE;
        return err_wrap(err, "error parsing jsonpath %.*s", STR_ARG(text));
    }
    return 0;
}

/* ---- behind the table ---- */

/* : 6 scheduled, 1 unschedulable, 1 preempted */
static void add_counts(struct buf *out, const size_t *counts) {
    static const char *const words[] = {
#define X(id, name, word) word,
        SIM_STATES(X)
#undef X
    };
    const char *before = ": ";
    for (size_t i = 0; i < SIM_STATE_COUNT; i++) {
        if (!counts[i])
            continue;
        buf_addf(out, "%s%zu %s", before, counts[i], words[i]);
        before = ", ";
    }
    buf_add_char(out, '\n');
}

/* 8 pods: 6 scheduled, 2 unschedulable; and of those that are not selected the same, so that nobody
 * takes a part for the whole. */
static void add_sum(struct buf *out, const struct sim_placement *p,
                    const struct schedule_select *select) {
    size_t counts[2][SIM_STATE_COUNT] = {{0}}, sums[2] = {0};
    for (size_t i = 0; i < p->pods.n; i++) {
        bool is_hidden = !schedule_selects(select, &p->pods.v[i]);
        counts[is_hidden][p->pods.v[i].state]++;
        sums[is_hidden]++;
    }
    buf_addf(out, "%zu pod%s", sums[0], sums[0] == 1 ? "" : "s");
    add_counts(out, counts[0]);
    if (!sums[1])
        return;
    buf_addf(out, "%zu more not shown", sums[1]);
    add_counts(out, counts[1]);
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

static int add_rest(struct spool *to, const struct sim_placement *p,
                    const struct schedule_view *view, struct err *err) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_LINE);
    add_sum(&text, p, &view->select);
    for (size_t i = 0; i < p->cluster->rollouts.n; i++) {
        add_rollout(&text, &p->cluster->rollouts.v[i]);
        if (flush(to, &text, err) < 0)
            return -1;
    }
    buf_add(&text, view->answers);
    if (view->metrics.n)
        buf_add_char(&text, '\n');
    return flush(to, &text, err) < 0 ? -1 : spool_add(to, view->metrics, err);
}

/* ---- the table ---- */

struct table_style schedule__style(const struct cmd_ctx *ctx, const struct schedule_view *view) {
    bool has_sentences = view->subject != SCHEDULE_NODES && view->format == SCHEDULE_TABLE;
    bool is_cut = ctx->out_is_tty && has_sentences;
    return (struct table_style){.no_headers = view->no_headers,
                                .colour = ctx->out_colour,
                                .width = is_cut ? ctx->width : 0};
}

/* *sum, in the table's arena, is a line for behind the table; it may be empty. */
static void fill_table(struct table *t, const struct sim_placement *p,
                       const struct schedule_view *view, struct str *sum) {
    *sum = STR("");
    if (view->subject == SCHEDULE_NODES)
        schedule__nodes_table(t, p, sum);
    else if (view->subject == SCHEDULE_CHANGES)
        schedule__changes_table(t, p, view);
    else
        schedule__pods_table(t, p, view);
}

static int add_table(struct spool *to, const struct cmd_ctx *ctx, const struct sim_placement *p,
                     const struct schedule_view *view, struct err *err) {
    struct table table;
    struct str sum;
    struct table_style style = schedule__style(ctx, view);
    fill_table(&table, p, view, &sum);
    int rc = table_write(&table, &style, to, err);
    if (rc == 0 && table.rows.n && !view->no_headers)
        rc = spool_add(to, STR("\n"), err);
    if (rc == 0 && !view->no_headers)
        rc = spool_add(to, sum, err);
    table_release(&table);
    return rc;
}

static int write_table(const struct cmd_ctx *ctx, const struct sim_placement *p,
                       const struct schedule_view *view, struct err *err) {
    struct spool out;
    spool_init(&out, SPOOL_BYTES, cmd_getenv(ctx, "TMPDIR"));
    int rc = add_table(&out, ctx, p, view, err);
    if (rc == 0 && !view->no_headers)
        rc = add_rest(&out, p, view, err);
    if (rc == 0)
        rc = spool_copy(&out, ctx->out, err);
    spool_release(&out);
    return rc;
}

int schedule_report_write(const struct cmd_ctx *ctx, const struct sim_placement *p,
                          const struct schedule_view *view, struct err *err) {
    if (view->format == SCHEDULE_TABLE || view->format == SCHEDULE_WIDE)
        return write_table(ctx, p, view, err);
    return schedule__write_pods(ctx, p, view, err);
}
