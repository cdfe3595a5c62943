/*
 * Verdicts for machines that show them beside the lines of a change: SARIF 2.1.0, which code
 * scanners exchange, and the annotations of GitHub's workflows.
 */
#include "base/ascii.h"
#include "base/printable.h"
#include "cmd/report/report.h"
#include "codec/json.h"

/* ---- SARIF ---- */

#define INVALID_TITLE "The API server refuses the object"

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
    const char *rule, *level;
    struct str text, path;
};

static void add_result(struct report *r, const struct verdict *v, const struct finding *f) {
    struct buf *out = &r->text;
    buf_addf(out, "%s{\"ruleId\":\"%s\",\"level\":\"%s\",\"message\":{\"text\":",
             r->results++ ? ",\n" : "\n", f->rule, f->level);
    json_write_str(out, f->text, true);
    buf_add(out, STR("},\"locations\":[{\"physicalLocation\":{\"artifactLocation\":{\"uri\":\""));
    add_uri(out, v->source.file);
    buf_addf(out,
             "\"},\"region\":{\"startLine\":%u,\"startColumn\":%u}},"
             "\"logicalLocations\":[{\"fullyQualifiedName\":",
             v->source.line, v->source.column);
    AUTO(buf_release) struct buf name = BUF_INIT(1 << 20);
    buf_add(&name, v->resource);
    buf_add(&name, f->path.n ? STR(" ") : STR(""));
    buf_add(&name, f->path);
    json_write_str(out, buf_view(&name), true);
    buf_add(out, STR("}]}]}"));
}

static void add_sarif(struct report *r, const struct verdict *v) {
    if (!v->accepted)
        add_result(r, v, &(struct finding){.rule = "invalid", .level = "error", .text = v->text});
    for (size_t i = 0; i < v->warnings.n; i++) {
        const struct advice_note *n = &v->warnings.v[i];
        add_result(r, v, &(struct finding){n->code, "warning", n->text, n->path});
    }
}

static void end_sarif(struct report *r) {
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

static void add_annotation(struct report *r, const struct verdict *v, const struct finding *f) {
    AUTO(buf_release) struct buf file = BUF_INIT(SIZE_MAX), text = BUF_INIT(SIZE_MAX);
    printable_add_lines(&file, v->source.file);
    if (f->path.n) {
        printable_add(&text, v->resource);
        buf_add(&text, STR(": "));
        printable_add(&text, f->path);
        buf_add(&text, STR(": "));
    }
    printable_add_lines(&text, f->text);
    buf_addf(&r->text, "::%s file=", f->level);
    add_escaped(&r->text, buf_view(&file), true);
    buf_addf(&r->text, ",line=%u,col=%u,title=%s::", v->source.line, v->source.column, f->rule);
    add_escaped(&r->text, buf_view(&text), false);
    buf_add_char(&r->text, '\n');
}

static void add_github(struct report *r, const struct verdict *v) {
    if (!v->accepted)
        add_annotation(r, v,
                       &(struct finding){.rule = "invalid", .level = "error", .text = v->text});
    for (size_t i = 0; i < v->warnings.n; i++) {
        const struct advice_note *n = &v->warnings.v[i];
        add_annotation(r, v, &(struct finding){n->code, "warning", n->text, n->path});
    }
}

static void write_nothing(struct report *r) {
    (void)r;
}

const struct report_writer report_github = {write_nothing, add_github, write_nothing};
