/* Verdicts as text and JSON, and what all formats share. */
#include "cmd/report/report.h"

#include "base/printable.h"
#include "cli/io.h"
#include "codec/json.h"

/* Output waits in this much memory before it goes to a file; one verdict is at most so long. */
enum { SPOOL_BYTES = 8 << 20, LONGEST_VERDICT = 256 << 20, MOST_PLACES = 5 };

const char *const report_formats[] = {[REPORT_TEXT] = "text",
                                      [REPORT_JSON] = "json",
                                      [REPORT_SARIF] = "sarif",
                                      [REPORT_GITHUB] = "github",
                                      [REPORT_JUNIT] = "junit",
                                      [REPORT_TAP] = "tap",
                                      NULL};

/* ---- text ---- */

static void write_nothing(struct report *r) {
    (void)r;
}

static struct str acceptance(const struct verdict *v) {
    if (!v->checked)
        return STR(" not checked: its kind is not one of Kubernetes");
    return v->has_rules ? STR(" accepted") : STR(" accepted (fields and metadata only)");
}

static void add_text(struct report *r, const struct verdict *v) {
    if (!v->accepted) {
        input_write_place(&r->text, v->source.file, v->source.line);
        buf_add(&r->text, STR(": "));
        printable_add_lines(&r->text, v->text);
    } else {
        printable_add(&r->text, v->resource);
        buf_add(&r->text, acceptance(v));
    }
    buf_add_char(&r->text, '\n');
}

/* ---- JSON ---- */

static void begin_json(struct report *r) {
    buf_add(&r->text, STR("{\"apiVersion\":\"berth.dev/v1alpha1\",\"kind\":\"ValidationReport\","
                          "\"items\":["));
}

static void add_member(struct buf *out, const char *key, struct str value) {
    buf_addf(out, "\"%s\":", key);
    json_write_str(out, value, true);
}

static void add_json_warnings(struct buf *out, const struct advice_notes *notes) {
    for (size_t i = 0; i < notes->n; i++) {
        const struct advice_note *n = &notes->v[i];
        buf_addf(out, "%s{\"code\":\"%s\",", i ? "," : "", n->code);
        add_member(out, "path", n->path);
        buf_add_char(out, ',');
        add_member(out, "message", n->text);
        buf_add_char(out, '}');
    }
}

static struct str source_of(struct arena *a, const struct input_source *source) {
    if (!source->line)
        return source->file;
    return arena_printf(a, "%.*s:%u", STR_ARG(source->file), source->line);
}

/* One line for each object. */
static void add_json(struct report *r, const struct verdict *v) {
    struct buf *out = &r->text;
    buf_add(out, r->results++ ? STR(",\n{\"source\":") : STR("\n{\"source\":"));
    AUTO(arena_release) struct arena a = {0};
    json_write_str(out, source_of(&a, &v->source), true);
    buf_add(out, STR(",\"object\":{"));
    add_member(out, "apiVersion", v->api_version);
    buf_add_char(out, ',');
    add_member(out, "kind", v->kind);
    buf_add_char(out, ',');
    add_member(out, "namespace", v->namespace);
    buf_add_char(out, ',');
    add_member(out, "name", v->name);
    buf_addf(out, "},\"accepted\":%s,\"checked\":%s,\"status\":",
             !v->accepted ? "false"
             : v->checked ? "true"
                          : "null",
             v->has_rules ? "true" : "false");
    json_write(out, &v->status, NULL);
    buf_add(out, STR(",\"warnings\":["));
    add_json_warnings(out, &v->warnings);
    buf_add(out, STR("]}"));
}

static void add_json_unreadable(struct report *r) {
    struct buf *out = &r->text;
    if (r->unreadable.n == 0)
        return;
    buf_add(out, STR(",\"unreadable\":["));
    for (size_t i = 0; i < r->unreadable.n; i++) {
        buf_add(out, i ? STR(",\n{") : STR("\n{"));
        add_member(out, "file", r->unreadable.v[i].source.file);
        buf_add_char(out, ',');
        add_member(out, "message", r->unreadable.v[i].text);
        buf_add_char(out, '}');
    }
    buf_add(out, STR("\n]"));
}

static void add_json_skipped(struct report *r) {
    struct buf *out = &r->text;
    if (r->skipped.n == 0)
        return;
    buf_add(out, STR(",\"skipped\":["));
    for (size_t i = 0; i < r->skipped.n; i++) {
        buf_add(out, i ? STR(",\n{") : STR("\n{"));
        add_member(out, "file", r->skipped.v[i].file);
        buf_add_char(out, ',');
        add_member(out, "reason", str_of(skip_reason_name(r->skipped.v[i].reason)));
        buf_add_char(out, '}');
    }
    buf_add(out, STR("\n]"));
}

static void end_json(struct report *r) {
    buf_add(&r->text, STR("\n]"));
    add_json_unreadable(r);
    add_json_skipped(r);
    if (r->skipped_objects)
        buf_addf(&r->text, ",\"skippedObjects\":%zu", r->skipped_objects);
    buf_add(&r->text, STR("}\n"));
}

static const struct report_writer report_text = {write_nothing, add_text, write_nothing};
static const struct report_writer report_json = {begin_json, add_json, end_json};

static const struct report_writer *const writers[] = {
    [REPORT_TEXT] = &report_text,   [REPORT_JSON] = &report_json,
    [REPORT_SARIF] = &report_sarif, [REPORT_GITHUB] = &report_github,
    [REPORT_JUNIT] = &report_junit, [REPORT_TAP] = &report_tap};

/* ---- remarks: what goes to standard error ---- */

static void add_warnings(struct report *r, const struct verdict *v) {
    for (size_t i = 0; i < v->warnings.n; i++) {
        const struct advice_note *n = &v->warnings.v[i];
        cmd_add_title(r->ctx, CMD_WARNING, &r->text);
        input_write_place(&r->text, v->source.file, v->source.line);
        buf_add(&r->text, STR(": "));
        printable_add(&r->text, v->resource);
        buf_add(&r->text, STR(": "));
        printable_add(&r->text, n->path);
        buf_add(&r->text, n->path.n ? STR(": ") : STR(""));
        printable_add(&r->text, n->text);
        buf_addf(&r->text, " [%s]\n", n->code);
    }
}

static void add_hints(struct report *r, const struct verdict *v) {
    for (size_t i = 0; i < v->hints.n; i++) {
        cmd_add_title(r->ctx, CMD_HINT, &r->text);
        printable_add(&r->text, v->hints.v[i]);
        buf_add_char(&r->text, '\n');
    }
}

static void add_place(struct report *r, const struct input_source *source) {
    if (r->rejected > MOST_PLACES)
        return;
    buf_add(&r->places, r->rejected > 1 ? STR(", ") : STR(": "));
    input_write_place(&r->places, source->file, source->line);
}

static void add_sum(struct report *r) {
    struct buf *out = &r->text;
    if (r->rejected == 0 && r->unchecked == 0)
        buf_addf(out, "all %zu objects accepted", r->objects);
    else if (r->rejected == 0)
        buf_addf(out, "%zu accepted", r->objects - r->unchecked);
    else
        buf_addf(out, "%zu of %zu objects rejected%.*s", r->rejected, r->objects,
                 STR_ARG(buf_view(&r->places)));
    if (r->rejected > MOST_PLACES)
        buf_addf(out, " and %zu more", r->rejected - MOST_PLACES);
    if (r->unchecked)
        buf_addf(out, "%s %zu not checked", r->rejected ? ";" : ",", r->unchecked);
    if (r->warnings)
        buf_addf(out, "; %zu warning%s", r->warnings, r->warnings == 1 ? "" : "s");
    buf_add_char(out, '\n');
}

/* What was not judged: files that cannot be read, and what was skipped. */
static void add_unjudged(struct report *r) {
    struct buf *out = &r->text;
    size_t unreadable = r->unreadable.n;
    if (unreadable > 1 || (unreadable && r->objects))
        buf_addf(out, "%zu file%s could not be read\n", unreadable, unreadable == 1 ? "" : "s");
    report_write_skipped(r, out);
    buf_add(out, r->skipped.n ? STR("\n") : STR(""));
    if (r->skipped_objects)
        buf_addf(out, "skipped: %zu object%s of kinds that --skip names\n", r->skipped_objects,
                 r->skipped_objects == 1 ? "" : "s");
}

/* ---- all formats ---- */

void report_init(struct report *r, const struct cmd_ctx *ctx, enum report_format format) {
    *r = (struct report){.ctx = ctx,
                         .format = format,
                         .text = BUF_INIT(LONGEST_VERDICT),
                         .places = BUF_INIT(1 << 16)};
    spool_init(&r->out, SPOOL_BYTES, cmd_getenv(ctx, "TMPDIR"));
    spool_init(&r->remarks, SPOOL_BYTES, cmd_getenv(ctx, "TMPDIR"));
}

void report_release(struct report *r) {
    vec_release(&r->unreadable);
    vec_release(&r->skipped);
    arena_release(&r->arena);
    buf_release(&r->text);
    buf_release(&r->places);
    spool_release(&r->out);
    spool_release(&r->remarks);
}

static int flush(struct report *r, struct spool *to, struct err *err) {
    if (r->text.full)
        return err_set(err, ERR_TOO_LARGE, "verdict needs more than %d MiB", LONGEST_VERDICT >> 20);
    int rc = spool_add(to, buf_view(&r->text), err);
    buf_clear(&r->text);
    return rc;
}

int report_add(struct report *r, const struct verdict *v, struct err *err) {
    r->objects++;
    r->rejected += !v->accepted;
    r->unchecked += v->accepted && !v->checked;
    r->warnings += v->warnings.n + v->warnings.left_out - (v->warnings.left_out > 0);
    if (!v->accepted)
        add_place(r, &v->source);
    writers[r->format]->add(r, v);
    if (flush(r, &r->out, err) < 0)
        return input_fail_at(&v->source, err);
    if (r->format == REPORT_TEXT)
        add_warnings(r, v);
    add_hints(r, v);
    return flush(r, &r->remarks, err);
}

void report_add_unreadable(struct report *r, const struct input_source *source,
                           const struct err *why) {
    struct str text = arena_str(&r->arena, str_of(why->msg));
    vec_push(&r->unreadable, (struct report_unreadable){*source, text});
}

void report_add_skipped(struct report *r, struct str file, enum skip_reason reason) {
    vec_push(&r->skipped, (struct report_skipped){file, reason});
    log_info(&r->ctx->log, 1, "file skipped", LOG_STR("file", file),
             LOG_STR("reason", str_of(skip_reason_name(reason))));
}

void report_add_skipped_object(struct report *r) {
    r->skipped_objects++;
}

void report_write_skipped(const struct report *r, struct buf *out) {
    size_t counts[SKIP_REASONS] = {0};
    if (r->skipped.n == 0)
        return;
    for (size_t i = 0; i < r->skipped.n; i++)
        counts[r->skipped.v[i].reason]++;
    buf_addf(out, "skipped: %zu file%s", r->skipped.n, r->skipped.n == 1 ? "" : "s");
    const char *separator = ": ";
    for (enum skip_reason reason = 0; reason < SKIP_REASONS; reason++) {
        size_t n = counts[reason];
        if (n == 0)
            continue;
        buf_addf(out, "%s%zu %s", separator, n,
                 n == 1 ? skip_reason_name(reason) : skip_reason_plural(reason));
        separator = ", ";
    }
}

/* The errors of the files that could not be read, for those who read standard error. */
static void add_unreadable(struct report *r) {
    for (size_t i = 0; i < r->unreadable.n; i++) {
        cmd_add_title(r->ctx, CMD_ERROR, &r->text);
        printable_add(&r->text, r->unreadable.v[i].text);
        buf_add_char(&r->text, '\n');
    }
}

static int write_results(struct report *r, struct err *err) {
    const struct report_writer *writer = writers[r->format];
    writer->begin(r);
    if (io_write(r->ctx->out, buf_view(&r->text), err) < 0)
        return -1;
    buf_clear(&r->text);
    writer->end(r);
    if (flush(r, &r->out, err) < 0)
        return -1;
    return spool_copy(&r->out, r->ctx->out, err);
}

int report_finish(struct report *r, struct err *err) {
    if (write_results(r, err) < 0)
        return -1;
    add_unreadable(r);
    if (r->objects > 1)
        add_sum(r);
    add_unjudged(r);
    if (flush(r, &r->remarks, err) < 0)
        return -1;
    /* Nobody is left to tell when standard error cannot be written. */
    (void)spool_copy(&r->remarks, r->ctx->err, NULL);
    return 0;
}
