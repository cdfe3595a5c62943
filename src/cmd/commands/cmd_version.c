/* berth version: what this program is, for people and for scripts. */
#include "cmd/cmd.h"

#include <inttypes.h>

#include "cli/io.h"
#include "cmd/report/printer.h"
#include "cmd/rows.h"
#include "codec/json.h"
#include "feature/feature.h"

enum { MOST_VERSION_BYTES = 4096 };

#ifndef BERTH_COMMIT
#define BERTH_COMMIT ""
#endif

#define QUOTE_(x) #x
#define QUOTE(x)  QUOTE_(x)
#ifdef __clang__
#define COMPILER "clang " QUOTE(__clang_major__) "." QUOTE(__clang_minor__)
#else
#define COMPILER "gcc " QUOTE(__GNUC__) "." QUOTE(__GNUC_MINOR__)
#endif

enum format { FORMAT_TEXT, FORMAT_JSON, FORMAT_YAML };
static const char *const formats[] = {"text", "json", "yaml", NULL};

struct version_opts {
    int output; /* enum format */
};

static const struct opt version_opts[] = {
    ROW_OUTPUT(offsetof(struct version_opts, output), "Output format: text, json or yaml.", "text",
               formats),
    {0},
};

static void add(struct arena *a, struct json *to, struct str key, struct str value) {
    if (value.n > 0)
        json_add(a, to, key, json_of_str(value));
}

/* The Kubernetes release whose behaviour this program reproduces. */
static struct str kubernetes_version(struct arena *a) {
    struct feature_version v = FEATURE_NEWEST;
    return arena_printf(a, "%" PRIu64 ".%" PRIu64, v.major, v.minor);
}

static struct json describe(struct arena *a) {
    struct json v = {.kind = JSON_OBJECT};
    add(a, &v, STR("apiVersion"), STR("berth.dev/v1alpha1"));
    add(a, &v, STR("kind"), STR("Version"));
    add(a, &v, STR("version"), STR(BERTH_VERSION));
    add(a, &v, STR("commit"), STR(BERTH_COMMIT));
    add(a, &v, STR("compiler"), STR(COMPILER));
    add(a, &v, STR("kubernetesVersion"), kubernetes_version(a));
    return v;
}

static void write_text(struct buf *out, struct arena *a) {
    const char *commit = BERTH_COMMIT;
    buf_addf(out, "berth %s (%s%s%s%s, Kubernetes semantics %.*s)\n", BERTH_VERSION,
             *commit ? "commit " : "", commit, *commit ? ", " : "", COMPILER,
             STR_ARG(kubernetes_version(a)));
}

static int run(struct cmd_call *call, struct err *err) {
    const struct version_opts *opts = call->opts;
    AUTO(buf_release) struct buf out = BUF_INIT(MOST_VERSION_BYTES);
    struct json v = describe(call->arena);
    if (opts->output == FORMAT_TEXT) {
        write_text(&out, call->arena);
    } else {
        printer_write(opts->output == FORMAT_JSON ? PRINTER_JSON : PRINTER_YAML, &v, &out);
    }
    return io_write(call->ctx->out, buf_view(&out), err);
}

static const struct cmd_example examples[] = {
    {"Print the version", "berth version"},
    {"Print it for a script", "berth version -o json"},
    {0},
};

const struct cmd cmd_version = {
    .name = "version",
    .summary = "Print the version of berth and of the Kubernetes it follows",
    .about = "Print the version of berth, how it was built, and the Kubernetes release whose "
             "behaviour it follows. berth --version does the same.\n\n"
             "As JSON or YAML it is an object of kind Version in berth.dev/v1alpha1 with the "
             "fields version, compiler, kubernetesVersion and, when built from git, commit.",
    .usage = "[-o text|json|yaml]",
    .examples = examples,
    .groups = {{"Options", version_opts, 0}},
    .opts_size = sizeof(struct version_opts),
    .run = run,
};
