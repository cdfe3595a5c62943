/*
 * Verdicts for machines that show them beside the lines of a change: SARIF 2.1.0, which code
 * scanners exchange, and the annotations of GitHub's workflows.
 */
#include "base/ascii.h"
#include "base/printable.h"
#include "cmd/report/report.h"
#include "codec/json.h"

/* ---- SARIF ---- */

#define INVALID_TITLE    "The API server refuses the object"
#define UNREADABLE_TITLE "The file cannot be read"

/* A code, what it means, and the page that says more. */
static void add_rule(struct buf *out, const char *code, const char *title, const char *page) {
    buf_addf(out, "{\"id\":\"%s\",\"shortDescription\":{\"text\":", code);
    json_write_str(out, str_of(title), true);
    buf_addf(out, "},\"help\":{\"text\":\"docs/%s.md\"}}", page);
}

static void begin_sarif(struct report *r) {
    struct buf *out = &r->text;
    buf_add(out, STR("{\"version\":\"2.1.0\","
                     "\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\","
                     "\"runs\":[{\"tool\":{\"driver\":{\"name\":\"berth\",\"rules\":[\n"));
    add_rule(out, "invalid", INVALID_TITLE, "validate");
    buf_add(out, STR(",\n"));
    add_rule(out, "unreadable", UNREADABLE_TITLE, "validate");
    for (const struct advice_row *row = advice_rows; row->code; row++) {
        buf_add(out, STR(",\n"));
        AUTO(arena_release) struct arena a = {0};
        struct str page = arena_printf(&a, "warnings/%s", row->code);
        add_rule(out, row->code, row->title, page.p);
    }
    buf_add(out, STR("\n]}},\"results\":["));
}

/* A path as a URI: what may stand in one, and slashes, as it is. */
static void add_uri(struct buf *out, struct str path) {
    for (size_t i = 0; i < path.n; i++) {
        unsigned char c = (unsigned char)path.p[i];
        bool plain = ascii_is_alnum((char)c) || (c && strchr("-._~/", c));
        if (plain)
            buf_add_char(out, (char)c);
        else
            buf_addf(out, "%%%02X", c);
    }
}

/* What a result says about one place. */
struct finding {
    const struct input_source *source;
    struct str resource;
    const char *rule, *level;
    struct str text, path;
};

static struct finding rejection_of(const struct verdict *v) {
    return (struct finding){&v->source, v->resource, "invalid", "error", v->text, STR("")};
}

static struct finding warning_of(const struct verdict *v, const struct advice_note *n) {
    return (struct finding){&v->source, v->resource, n->code, "warning", n->text, n->path};
}

static struct finding unreadable_of(const struct report_unreadable *u) {
    return (struct finding){&u->source, u->source.file, "unreadable", "error", u->text, STR("")};
}

static void add_result(struct report *r, const struct finding *f) {
    struct buf *out = &r->text;
    buf_addf(out, "%s{\"ruleId\":\"%s\",\"level\":\"%s\",\"message\":{\"text\":",
             r->results++ ? ",\n" : "\n", f->rule, f->level);
    json_write_str(out, f->text, true);
    buf_add(out, STR("},\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\""));
    add_uri(out, f->source->file);
    buf_addf(out,
             "\"},\"region\":{\"startLine\":%u,\"startColumn\":%u}},"
             "\"logicalLocations\":[{\"fullyQualifiedName\":",
             report_line(f->source), report_column(f->source));
    AUTO(buf_release) struct buf name = BUF_INIT(1 << 20);
    buf_add(&name, f->resource);
    buf_add(&name, f->path.n ? STR(" ") : STR(""));
    buf_add(&name, f->path);
    json_write_str(out, buf_view(&name), true);
    buf_add(out, STR("}]}]}"));
}

/* Writes one finding in the way of a format. */
typedef void finding_fn(struct report *r, const struct finding *f);

static void add_findings(struct report *r, const struct verdict *v, finding_fn *add) {
    struct finding f = rejection_of(v);
    if (!v->accepted)
        add(r, &f);
    for (size_t i = 0; i < v->warnings.n; i++) {
        f = warning_of(v, &v->warnings.v[i]);
        add(r, &f);
    }
}

static void add_unreadable(struct report *r, finding_fn *add) {
    for (size_t i = 0; i < r->unreadable.n; i++) {
        struct finding f = unreadable_of(&r->unreadable.v[i]);
        add(r, &f);
    }
}

static void add_sarif(struct report *r, const struct verdict *v) {
    add_findings(r, v, add_result);
}

static void end_sarif(struct report *r) {
    add_unreadable(r, add_result);
    buf_add(&r->text, STR("\n]}]}\n"));
}

const struct report_writer report_sarif = {begin_sarif, add_sarif, end_sarif};

/* ---- GitHub ---- */

/* Percent signs and line breaks would end a command, colons and commas a property. */
static void add_escaped(struct buf *out, struct str text, bool property) {
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        bool special = c == '%' || c == '\n' || (property && (c == ':' || c == ','));
        if (special)
            buf_addf(out, "%%%02X", (unsigned char)c);
        else
            buf_add_char(out, c);
    }
}

static void add_annotation(struct report *r, const struct finding *f) {
    AUTO(buf_release) struct buf file = BUF_INIT(SIZE_MAX), text = BUF_INIT(SIZE_MAX);
    printable_add_lines(&file, f->source->file);
    if (f->path.n) {
        printable_add(&text, f->resource);
        buf_add(&text, STR(": "));
        printable_add(&text, f->path);
        buf_add(&text, STR(": "));
    }
    printable_add_lines(&text, f->text);
    buf_addf(&r->text, "::%s file=", f->level);
    add_escaped(&r->text, buf_view(&file), true);
    buf_addf(&r->text, ",line=%u,col=%u,title=%s::", report_line(f->source),
             report_column(f->source), f->rule);
    add_escaped(&r->text, buf_view(&text), false);
    buf_add_char(&r->text, '\n');
}

static void add_github(struct report *r, const struct verdict *v) {
    add_findings(r, v, add_annotation);
}

static void begin_github(struct report *r) {
    (void)r;
}

static void end_github(struct report *r) {
    add_unreadable(r, add_annotation);
}

const struct report_writer report_github = {begin_github, add_github, end_github};
