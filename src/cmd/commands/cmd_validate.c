/* berth validate: accepted or rejected, as the API server would, without one. */
#include "cmd/cmd.h"

#include "base/map.h"
#include "cmd/commands/judge.h"
#include "cmd/commands/stored.h"
#include "cmd/gate_flags.h"
#include "cmd/input/input.h"
#include "cmd/report/report.h"
#include "cmd/report/verdict.h"
#include "cmd/rows.h"
#include "registry/known.h"
#include "registry/registry.h"
#include "tolexpr/tolexpr.h"

struct validate_opts {
    struct input_opts input;
    struct cluster_opts server;
    struct gates_opts gates;
    struct opt_list old, silence, skip;
    struct str namespace;
    bool all_namespaces, live, strict, warn, no_warnings;
    int output;  /* enum report_format */
    int fail_on; /* enum fail_on */
};

/* What makes the verdict a bad one. */
enum fail_on { FAIL_ON_REJECTED, FAIL_ON_UNCHECKED };
static const char *const fail_on_names[] = {
    [FAIL_ON_REJECTED] = "rejected", [FAIL_ON_UNCHECKED] = "unchecked", NULL};

static void offer_codes(struct buf *out) {
    for (const struct advice_row *row = advice_rows; row->code; row++)
        buf_addf(out, "%s ", row->code);
}

static const struct opt validate_opts[] = {
    {.name = "all-namespaces",
     .letter = 'A',
     .kind = OPT_FLAG,
     .help = "Of stored objects those of all namespaces, and those that are in none.",
     .offset = offsetof(struct validate_opts, all_namespaces)},
    {.name = "fail-on",
     .kind = OPT_ENUM,
     .value = "WHAT",
     .help = "Exit with 1 when an object is rejected, or with unchecked also when the kind of one "
             "is not Kubernetes' own and nobody looked into it.",
     .fallback = "rejected",
     .words = fail_on_names,
     .offset = offsetof(struct validate_opts, fail_on)},
    ROW_LIVE(
        offsetof(struct validate_opts, live),
        "Ask the cluster of the kubeconfig for the objects that those of -f would replace, and "
        "for its gates. So it is also with --kubeconfig and --context."),
    ROW_NAMESPACE(offsetof(struct validate_opts, namespace),
                  "Namespace of stored objects, and of those that name none; without it that of "
                  "the kubeconfig's context, or default."),
    {.name = "no-warnings",
     .kind = OPT_FLAG,
     .help = "Give verdicts only, no advice.",
     .offset = offsetof(struct validate_opts, no_warnings)},
    {.name = "old",
     .kind = OPT_FILES,
     .value = "FILE",
     .help = "Objects that the cluster has already: replacing them is validated as an update. "
             "Can be given several times.",
     .offset = offsetof(struct validate_opts, old)},
    ROW_OUTPUT(offsetof(struct validate_opts, output),
               "Output format: text, json, sarif, github, junit or tap.", "text", report_formats),
    {.name = "silence",
     .kind = OPT_LIST,
     .value = "CODE",
     .help = "Warnings that are not wanted. Separated by commas or given several times.",
     .offset = offsetof(struct validate_opts, silence),
     .offer = offer_codes},
    ROW_SKIP(offsetof(struct validate_opts, skip),
             "Kinds that are not judged, such as Secret or apps/v1/Deployment. Separated by commas "
             "or given several times."),
    {.name = "strict",
     .kind = OPT_FLAG,
     .help = "Refuse unknown and repeated fields, which is the default.",
     .offset = offsetof(struct validate_opts, strict)},
    {.name = "warn",
     .kind = OPT_FLAG,
     .help = "Only warn of unknown and repeated fields.",
     .offset = offsetof(struct validate_opts, warn)},
    {0},
};

/* Nothing was judged: what there was instead. */
static int fail_without_objects(const struct report *report, struct err *err) {
    AUTO(buf_release) struct buf skipped = BUF_INIT(ERR_TEXT);
    report_write_skipped(report, &skipped);
    return err_set(err, ERR_INVALID, "no objects passed to validate%s%.*s", skipped.n ? "; " : "",
                   STR_ARG(buf_view(&skipped)));
}

/* What a run has of a server. */
struct asking {
    bool is_live;         /* a server is asked */
    struct remote remote; /* of which is closed what was not opened */
    struct str namespace;
};

/* All that is judged. */
static int judge_input(struct cmd_call *call, struct asking *asking, struct judge *judge,
                       struct err *err) {
    const struct validate_opts *opts = call->opts;
    if (!opts->input.filenames.n)
        return stored_judge(
            &asking->remote, judge,
            &(struct stored_wanted){&call->args, asking->namespace, opts->all_namespaces}, err);
    if (input_open(call->ctx, &opts->input, false, &judge->in, err) < 0)
        return -1;
    input_keep_repeats(judge->in);
    return judge_all(judge, err);
}

static int report_all(struct report *report, struct err *err) {
    if (report->objects + report->unreadable.n + report->skipped_objects == 0)
        return fail_without_objects(report, err);
    if (report_finish(report, err) < 0)
        return -1;
    if (report->unreadable.n)
        return CMD_FAILED;
    return report->rejected ? CMD_BAD_VERDICT : CMD_GOOD;
}

/* Reads, judges and reports. */
static int run_with(struct cmd_call *call, const struct verdict_opts *verdict_opts,
                    struct asking *asking, struct registry_known *stored, struct err *err) {
    const struct validate_opts *opts = call->opts;
    struct stored_old old = {&asking->remote, asking->namespace, &verdict_opts->gates->enabled,
                             stored};
    struct verdict_run *run = NULL;
    if (verdict_run_new(verdict_opts, stored, &run, err) < 0)
        return -1;
    struct report report;
    report_init(&report, call->ctx, (enum report_format)opts->output);
    struct judge judge = {.run = run, .report = &report, .skip = &opts->skip};
    if (asking->is_live && !opts->old.n) {
        judge.prepare = stored_look;
        judge.arg = &old;
    }
    int rc = judge_input(call, asking, &judge, err);
    if (rc == 0)
        rc = report_all(&report, err);
    if (rc == CMD_GOOD && opts->fail_on == FAIL_ON_UNCHECKED && report.unchecked)
        rc = CMD_BAD_VERDICT;
    report_release(&report);
    input_free(judge.in); /* which has the names of files that are reported */
    verdict_run_free(run);
    return rc;
}

/* Objects without metadata are nothing that can be replaced. */
static int read_objects(struct input *in, const struct feature_set *gates,
                        const struct registry_request *request, struct registry_known *out,
                        struct err *err) {
    struct api_object *o;
    struct input_source source;
    int rc;
    while ((rc = input_next(in, &o, &source, err)) > 0) {
        if (!o->meta) {
            api_object_free(o);
            continue;
        }
        api_object_default(o, gates);
        registry_adopt(request, o);
        const struct api_object *stored = api_publish(o);
        registry_known_set(out, stored);
        api_object_unref(stored);
    }
    return rc;
}

/* What --old names, for the caller to free. */
static int read_old(struct cmd_call *call, const struct feature_set *gates,
                    struct registry_known **out, struct err *err) {
    const struct validate_opts *opts = call->opts;
    struct input_opts old = {.filenames = opts->old};
    struct registry_request request = {.namespace = opts->namespace};
    struct input *in;
    if (input_open(call->ctx, &old, false, &in, err) < 0)
        return -1;
    struct registry_known *view = registry_known_new(opts->namespace);
    int rc = read_objects(in, gates, &request, view, err);
    input_free(in);
    if (rc < 0)
        registry_known_free(view);
    else
        *out = view;
    return rc;
}

/* What does not go together. */
static int check_opts(const struct cmd_call *call, struct err *err) {
    const struct validate_opts *opts = call->opts;
    if (opts->strict && opts->warn)
        return err_set(err, ERR_USAGE, "--strict and --warn exclude each other");
    if (!opts->input.filenames.n && opts->old.n)
        return err_set(err, ERR_USAGE, "--old goes with -f");
    if (opts->input.filenames.n && (call->args.n || opts->all_namespaces))
        return err_set(err, ERR_USAGE,
                       "kinds and --all-namespaces are of stored objects, and go without -f; files "
                       "are named with -f, too");
    return stored_check_kinds(&call->args, err);
}

/* Asks the server, if there is one to be asked, for its gates. */
static int begin(struct cmd_call *call, struct asking *asking, struct feature_config *out,
                 struct err *err) {
    const struct validate_opts *opts = call->opts;
    struct gates_opts gates = opts->gates;
    asking->namespace = opts->namespace;
    asking->is_live = !opts->input.filenames.n || opts->live || cluster_is_named(&opts->server);
    if (asking->is_live) {
        if (remote_begin(&asking->remote, call, &opts->server, &gates, err) < 0)
            return -1;
        asking->namespace = remote_namespace(&asking->remote, opts->namespace);
    }
    return gates_configure(&gates, &call->ctx->log, out, err);
}

static int run_asking(struct cmd_call *call, struct asking *asking, struct err *err) {
    const struct validate_opts *opts = call->opts;
    struct feature_config gates;
    struct registry_known *stored = NULL;
    if (begin(call, asking, &gates, err) < 0)
        return -1;
    if (opts->old.n && read_old(call, &gates.enabled, &stored, err) < 0)
        return err_wrap(err, "--old");
    if (asking->is_live && !stored)
        stored = registry_known_new(asking->namespace);
    struct tolexpr *expressions = tolexpr_new(
        &(struct tolexpr_opts){gates.min_compat, call->ctx->clock, map_random_seed(), 0});
    struct verdict_opts verdicts = {.gates = &gates,
                                    .cel = tolexpr_valid_cel(expressions),
                                    .namespace = asking->namespace,
                                    .strict = !opts->warn,
                                    .warnings = !opts->no_warnings,
                                    .silence = opts->silence};
    int rc = run_with(call, &verdicts, asking, stored, err);
    tolexpr_free(expressions);
    registry_known_free(stored);
    return rc;
}

static int run(struct cmd_call *call, struct err *err) {
    struct asking asking = {.is_live = false};
    if (check_opts(call, err) < 0)
        return -1;
    int rc = run_asking(call, &asking, err);
    remote_close(&asking.remote);
    return rc;
}

static const struct cmd_example examples[] = {
    {"Is this manifest acceptable?", "berth validate -f pod.yaml"},
    {"All manifests below a directory, as a report for programs",
     "berth validate -R -f manifests/ -o json"},
    {"With the gates of an older version", "berth validate -f pod.yaml --emulated-version=1.34"},
    {"May this object replace the one in the cluster?", "berth validate -f pod.yaml --live"},
    {"What of all that is stored would a newer version refuse?",
     "berth validate -A --emulated-version=1.37"},
    {"Annotations on a pull request", "berth validate -R -f manifests/ -o github"},
    {"A repository without its tests, for CI that reads JUnit",
     "berth validate -R -f . --ignore-filename-pattern=/test/ -o junit"},
    {0},
};

const struct cmd cmd_validate = {
    .name = "validate",
    .summary = "Tell whether the API server would accept manifests",
    .about =
        "Take every object through what the API server does with a new one: decoding, defaults, "
        "admission (Priority, DefaultTolerationSeconds), preparation and validation, with the "
        "feature gates given. Prints what kubectl would print, behind file and line. Exits with 0 "
        "when all are accepted, 1 when some are rejected, 2 when a file cannot be read; the others "
        "are judged all the same.\n\n"
        "Without -f, the objects that the cluster of the kubeconfig has stored are judged as if "
        "they were made anew: of the kinds that are given as kubectl names them, or of all that "
        "have rules but Secrets, Events and Leases.\n\n"
        "Files in a directory that are plainly no manifests (Helm templates, charts and values, "
        "kustomizations, what has neither apiVersion nor kind) are skipped and counted; -v=1 names "
        "them.\n\n"
        "Advice that the server does not give follows as warnings, each with a code that --silence "
        "or the annotation berth.dev/silence switches off; docs/warnings explains them.",
    .usage = "(-f FILE... | [KIND...]) [options]",
    .examples = examples,
    .groups = {{"Options", validate_opts, 0},
               {"Input Options", input_opts, offsetof(struct validate_opts, input)},
               {"Cluster Options", cluster_opts, offsetof(struct validate_opts, server)},
               {"Feature Gate Options", gates_opts, offsetof(struct validate_opts, gates)}},
    .opts_size = sizeof(struct validate_opts),
    .most_args = SIZE_MAX,
    .run = run,
};
