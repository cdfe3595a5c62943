/*
 * Verdicts as the results of tests, for programs that show those of a build: JUnit's XML and TAP
 * (version 14). An object is a test; so is a file that cannot be read, which fails, and one that is
 * no manifest, which is skipped.
 */
#include "base/printable.h"
#include "cmd/report/report.h"
#include "codec/json.h"

/* ---- JUnit ---- */

/* Text for XML 1.0, in attributes as well: what it has no place for is shown as an escape. */
static void add_xml(struct buf *out, struct str text) {
    AUTO(buf_release) struct buf shown = BUF_INIT(SIZE_MAX);
    printable_add_lines(&shown, text);
    struct str s = buf_view(&shown);
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '&')
            buf_add(out, STR("&amp;"));
        else if (s.p[i] == '<')
            buf_add(out, STR("&lt;"));
        else if (s.p[i] == '>')
            buf_add(out, STR("&gt;"));
        else if (s.p[i] == '"')
            buf_add(out, STR("&quot;"));
        else
            buf_add_char(out, s.p[i]);
    }
}

static struct str first_line(struct str text) {
    struct str line, rest;
    str_cut(text, '\n', &line, &rest);
    return line;
}

static void begin_junit(struct report *r) {
    size_t tests = r->objects + r->unreadable.n + r->skipped.n;
    buf_addf(&r->text,
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
             "<testsuites>\n"
             "<testsuite name=\"berth validate\" tests=\"%zu\" failures=\"%zu\" errors=\"%zu\" "
             "skipped=\"%zu\">\n",
             tests, r->rejected, r->unreadable.n, r->skipped.n);
}

static void begin_case(struct buf *out, const struct input_source *source, struct str name) {
    buf_add(out, STR("<testcase classname=\""));
    add_xml(out, source->file);
    buf_add(out, STR("\" name=\""));
    add_xml(out, name);
    buf_add(out, STR("\" file=\""));
    add_xml(out, source->file);
    buf_addf(out, "\" line=\"%u\">", report_line(source));
}

static void add_problem(struct buf *out, const char *element, const char *type, struct str text) {
    buf_addf(out, "<%s type=\"%s\" message=\"", element, type);
    add_xml(out, first_line(text));
    buf_add(out, STR("\">"));
    add_xml(out, text);
    buf_addf(out, "</%s>", element);
}

static void add_xml_warnings(struct buf *out, const struct advice_notes *notes) {
    if (notes->n == 0)
        return;
    buf_add(out, STR("<system-err>"));
    for (size_t i = 0; i < notes->n; i++) {
        const struct advice_note *n = &notes->v[i];
        buf_add(out, STR("Warning: "));
        add_xml(out, n->path);
        buf_add(out, n->path.n ? STR(": ") : STR(""));
        add_xml(out, n->text);
        buf_addf(out, " [%s]\n", n->code);
    }
    buf_add(out, STR("</system-err>"));
}

static void end_case(struct buf *out) {
    buf_add(out, STR("</testcase>\n"));
}

static void add_junit(struct report *r, const struct verdict *v) {
    begin_case(&r->text, &v->source, v->resource);
    if (!v->accepted)
        add_problem(&r->text, "failure", "invalid", v->text);
    add_xml_warnings(&r->text, &v->warnings);
    end_case(&r->text);
}

static void end_junit(struct report *r) {
    struct buf *out = &r->text;
    for (size_t i = 0; i < r->unreadable.n; i++) {
        const struct report_unreadable *u = &r->unreadable.v[i];
        begin_case(out, &u->source, u->source.file);
        add_problem(out, "error", "unreadable", u->text);
        end_case(out);
    }
    for (size_t i = 0; i < r->skipped.n; i++) {
        struct input_source source = {.file = r->skipped.v[i].file};
        begin_case(out, &source, source.file);
        buf_addf(out, "<skipped message=\"%s\"/>", skip_reason_name(r->skipped.v[i].reason));
        end_case(out);
    }
    buf_add(out, STR("</testsuite>\n</testsuites>\n"));
}

const struct report_writer report_junit = {begin_junit, add_junit, end_junit};

/* ---- TAP ---- */

static void begin_tap(struct report *r) {
    buf_addf(&r->text, "TAP version 14\n1..%zu\n", r->objects + r->unreadable.n + r->skipped.n);
}

/* A description: "#" begins a directive, and a backslash an escape. */
static void add_description(struct buf *out, struct str text) {
    AUTO(buf_release) struct buf shown = BUF_INIT(SIZE_MAX);
    printable_add(&shown, text);
    struct str s = buf_view(&shown);
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] == '#' || s.p[i] == '\\')
            buf_add_char(out, '\\');
        buf_add_char(out, s.p[i]);
    }
}

static void add_point(struct report *r, bool ok, const struct input_source *source) {
    buf_addf(&r->text, "%s %zu - ", ok ? "ok" : "not ok", ++r->results);
    add_description(&r->text, source->file);
    if (source->line)
        buf_addf(&r->text, ":%u", source->line);
}

/* The block of YAML that tells why a test failed; a JSON string is YAML, too. */
static void add_diagnosis(struct buf *out, struct str message) {
    buf_add(out, STR("  ---\n  message: "));
    json_write_str(out, message, true);
    buf_add(out, STR("\n  severity: fail\n  ...\n"));
}

static void add_tap(struct report *r, const struct verdict *v) {
    struct buf *out = &r->text;
    add_point(r, v->accepted, &v->source);
    buf_add(out, STR(": "));
    add_description(out, v->resource);
    buf_add_char(out, '\n');
    if (!v->accepted)
        add_diagnosis(out, v->text);
    for (size_t i = 0; i < v->warnings.n; i++) {
        const struct advice_note *n = &v->warnings.v[i];
        buf_add(out, STR("# Warning: "));
        printable_add(out, n->path);
        buf_add(out, n->path.n ? STR(": ") : STR(""));
        printable_add(out, n->text);
        buf_addf(out, " [%s]\n", n->code);
    }
}

static void end_tap(struct report *r) {
    for (size_t i = 0; i < r->unreadable.n; i++) {
        const struct report_unreadable *u = &r->unreadable.v[i];
        add_point(r, false, &u->source);
        buf_add_char(&r->text, '\n');
        add_diagnosis(&r->text, u->text);
    }
    for (size_t i = 0; i < r->skipped.n; i++) {
        add_point(r, true, &(struct input_source){.file = r->skipped.v[i].file});
        buf_addf(&r->text, " # SKIP %s\n", skip_reason_name(r->skipped.v[i].reason));
    }
}

const struct report_writer report_tap = {begin_tap, add_tap, end_tap};
