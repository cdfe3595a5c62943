/* berth gates: the feature gates, their stages, and what they do here. */
#include "cmd/cmd.h"

#include "cli/io.h"
#include "cmd/gate_flags.h"
#include "cmd/rows.h"
#include "codec/json.h"

enum { MOST_LIST_BYTES = 4 << 20, GAP = 3 };

enum list_format { LIST_TABLE, LIST_WIDE, LIST_JSON };
static const char *const list_formats[] = {
    [LIST_TABLE] = "table", [LIST_WIDE] = "wide", [LIST_JSON] = "json", NULL};

struct gates_list_opts {
    struct gates_opts gates;
    bool all;
    int output; /* enum list_format */
};

static const struct opt list_opts[] = {
    {.name = "all",
     .kind = OPT_FLAG,
     .help = "List the gates that nothing here depends on, too.",
     .offset = offsetof(struct gates_list_opts, all)},
    ROW_OUTPUT(offsetof(struct gates_list_opts, output),
               "Output format: table, wide (with the stage in each version) or json.", "table",
               list_formats),
    {0},
};

/* ---- one gate ---- */

static const char *on_off(bool on) {
    return on ? "on" : "off";
}

/* "1.29 ALPHA off, 1.31 BETA on, 1.33 GA on (locked)" */
static struct str history_of(struct arena *a, enum feature f) {
    AUTO(buf_release) struct buf text = BUF_INIT(1 << 10);
    size_t n;
    const struct feature_spec *specs = feature_specs(f, &n);
    for (size_t i = 0; i < n; i++)
        buf_addf(&text, "%s%u.%u %s %s%s", i ? ", " : "", specs[i].major, specs[i].minor,
                 feature_stage_name(specs[i].stage), on_off(specs[i].on),
                 specs[i].locked ? " (locked)" : "");
    return arena_str(a, buf_view(&text));
}

static struct str default_of(struct arena *a, const struct feature_spec *spec) {
    return arena_printf(a, "%s%s", on_off(spec->on), spec->locked ? " (locked)" : "");
}

/* ---- table ---- */

enum { NAME, STAGE, DEFAULT, NOW, HISTORY, EFFECT, COLUMNS };

struct line {
    struct str cells[COLUMNS];
};

static const struct line head = {{STR_INIT("NAME"), STR_INIT("STAGE"), STR_INIT("DEFAULT"),
                                  STR_INIT("NOW"), STR_INIT("SINCE"), STR_INIT("DOES HERE")}};

static struct line line_of(struct arena *a, const struct feature_config *c, enum feature f) {
    const struct feature_spec *spec = feature_spec_at(f, c->emulated, c->min_compat);
    struct str effect = feature_effect(f);
    return (struct line){{feature_name(f), str_of(feature_stage_name(spec->stage)),
                          default_of(a, spec), str_of(on_off(feature_enabled(&c->enabled, f))),
                          history_of(a, f), effect.n ? effect : STR("-")}};
}

static void widen(size_t *widths, const struct line *line) {
    for (size_t i = 0; i < COLUMNS; i++)
        if (line->cells[i].n > widths[i])
            widths[i] = line->cells[i].n;
}

static void add_line(struct buf *out, const size_t *widths, const struct line *line, bool wide) {
    for (size_t i = 0; i < COLUMNS; i++) {
        if (i == HISTORY && !wide)
            continue;
        buf_add(out, line->cells[i]);
        if (i + 1 < COLUMNS)
            buf_add_fill(out, ' ', widths[i] + GAP - line->cells[i].n);
    }
    buf_add_char(out, '\n');
}

/* Is the gate listed? A gate that does not exist yet is not. */
static bool is_listed(const struct gates_list_opts *opts, const struct feature_config *c,
                      enum feature f) {
    const struct feature_spec *spec = feature_spec_at(f, c->emulated, c->min_compat);
    return spec->stage != FEATURE_PRE_ALPHA && (opts->all || feature_effect(f).n);
}

static void write_table(struct buf *out, const struct gates_list_opts *opts,
                        const struct feature_config *c) {
    AUTO(arena_release) struct arena a = {0};
    size_t widths[COLUMNS] = {0};
    bool wide = opts->output == LIST_WIDE;
    widen(widths, &head);
    for (enum feature f = 0; f < FEATURE_COUNT; f++) {
        struct line line = line_of(&a, c, f);
        if (is_listed(opts, c, f))
            widen(widths, &line);
    }
    add_line(out, widths, &head, wide);
    for (enum feature f = 0; f < FEATURE_COUNT; f++) {
        struct line line = line_of(&a, c, f);
        if (is_listed(opts, c, f))
            add_line(out, widths, &line, wide);
    }
}

/* ---- JSON ---- */

static const char *bool_text(bool b) {
    return b ? "true" : "false";
}

static void add_spec(struct buf *out, const struct feature_spec *spec) {
    buf_addf(out, "\"stage\":\"%s\",\"default\":%s,\"locked\":%s", feature_stage_name(spec->stage),
             bool_text(spec->on), bool_text(spec->locked));
}

static void add_json(struct buf *out, const struct feature_config *c, enum feature f) {
    size_t n;
    const struct feature_spec *specs = feature_specs(f, &n);
    buf_add(out, STR("{\"name\":"));
    json_write_str(out, feature_name(f), true);
    buf_add_char(out, ',');
    add_spec(out, feature_spec_at(f, c->emulated, c->min_compat));
    buf_addf(out, ",\"enabled\":%s,\"effect\":", bool_text(feature_enabled(&c->enabled, f)));
    json_write_str(out, feature_effect(f), true);
    buf_add(out, STR(",\"history\":["));
    for (size_t i = 0; i < n; i++) {
        buf_addf(out, "%s{\"since\":\"%u.%u\",", i ? "," : "", specs[i].major, specs[i].minor);
        add_spec(out, &specs[i]);
        buf_add_char(out, '}');
    }
    buf_add(out, STR("]}"));
}

static void write_json(struct buf *out, const struct gates_list_opts *opts,
                       const struct feature_config *c) {
    buf_addf(out,
             "{\"apiVersion\":\"berth.dev/v1alpha1\",\"kind\":\"GateList\","
             "\"emulatedVersion\":\"%u.%u\",\"items\":[",
             (unsigned)c->emulated.major, (unsigned)c->emulated.minor);
    const char *before = "\n";
    for (enum feature f = 0; f < FEATURE_COUNT; f++) {
        if (!is_listed(opts, c, f))
            continue;
        buf_addf(out, "%s", before);
        add_json(out, c, f);
        before = ",\n";
    }
    buf_add(out, STR("\n]}\n"));
}

/* ---- the command ---- */

static int list_gates(struct cmd_call *call, struct err *err) {
    const struct gates_list_opts *opts = call->opts;
    struct feature_config config;
    if (gates_configure(&opts->gates, &call->ctx->log, &config, err) < 0)
        return -1;
    AUTO(buf_release) struct buf out = BUF_INIT(MOST_LIST_BYTES);
    (opts->output == LIST_JSON ? write_json : write_table)(&out, opts, &config);
    return io_write(call->ctx->out, buf_view(&out), err);
}

static const char *const actions[] = {"list", NULL};

static int run(struct cmd_call *call, struct err *err) {
    if (call->args.n == 0)
        return err_set(err, ERR_USAGE, "say what to do with the gates: list");
    if (!str_is(call->args.v[0], actions[0]))
        return err_set(err, ERR_USAGE, "unknown action \"%.*s\": it must be list",
                       STR_ARG(call->args.v[0]));
    return list_gates(call, err);
}

static const struct cmd_example examples[] = {
    {"The gates that matter here", "berth gates list"},
    {"The stage of every gate in each version", "berth gates list --all -o wide"},
    {"What an older version has", "berth gates list --emulated-version=1.31"},
    {0},
};

const struct cmd cmd_gates = {
    .name = "gates",
    .summary = "Show the feature gates, their stages, and what they do here",
    .about = "List the feature gates of a Kubernetes version with their stage, their default, what "
             "the options make of them, and what is different in this program while one is on. "
             "docs/gates tells how to switch them, locked ones too.",
    .usage = "list [options]",
    .examples = examples,
    .groups = {{"Options", list_opts, 0},
               {"Feature Gate Options", gates_opts, offsetof(struct gates_list_opts, gates)}},
    .opts_size = sizeof(struct gates_list_opts),
    .most_args = 1,
    .arg_words = actions,
    .run = run,
};
