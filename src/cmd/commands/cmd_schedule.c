/* berth schedule: where the pending pods of a cluster go. */
#include "cmd/cmd.h"

#include "base/clock.h"
#include "cmd/commands/capacity.h"
#include "cmd/commands/scene.h"
#include "cmd/progress.h"
#include "cmd/report/schedule_report.h"
#include "cmd/rows.h"
#include "sched/metrics.h"
#include "sim/placement.h"

enum { MOST_METRICS = 16 << 20, MOST_ANSWERS = 4 << 20 };

struct schedule_opts {
    struct scene_opts scene;
    int64_t seed;
    bool dry_run, metrics;
    bool all_namespaces, no_headers, pending, nodes, diff;
    struct str labels, fields, replicas;
    struct opt_list node_template;
    struct opt_form output; /* enum schedule_format */
};

static const struct opt schedule_opts[] = {
    {.name = "all-namespaces",
     .letter = 'A',
     .kind = OPT_FLAG,
     .help = "Show the pods of all namespaces, although one was given.",
     .offset = offsetof(struct schedule_opts, all_namespaces)},
    {.name = "apply",
     .kind = OPT_FLAG,
     .help = "Objects with a uid, too, take the place of those of the same name that were given "
             "before them. Manifests always do.",
     .offset = offsetof(struct schedule_opts, scene.apply_all)},
    ROW_ASSUME_ALLOCATABLE(offsetof(struct schedule_opts, scene.assumed)),
    ROW_CONFIG(offsetof(struct schedule_opts, scene.config)),
    {.name = "diff",
     .kind = OPT_FLAG,
     .help = "Show what changes: pods that were placed (+), had to go (-), or moved (~).",
     .offset = offsetof(struct schedule_opts, diff)},
    {.name = "dry-run-preemption",
     .kind = OPT_FLAG,
     .help = "Only tell which pods would be preempted.",
     .offset = offsetof(struct schedule_opts, dry_run)},
    {.name = "field-selector",
     .kind = OPT_STR,
     .value = "SELECTOR",
     .help = "Show only pods with these fields, such as spec.nodeName=n1,metadata.name!=web.",
     .offset = offsetof(struct schedule_opts, fields)},
    ROW_LIVE(offsetof(struct schedule_opts, scene.live), ROW_LIVE_SCENE),
    {.name = "metrics",
     .kind = OPT_FLAG,
     .help = "Print the scheduler's metrics behind the table, in Prometheus' text format.",
     .offset = offsetof(struct schedule_opts, metrics)},
    ROW_NAMESPACE(offsetof(struct schedule_opts, scene.namespace),
                  "Namespace of objects that name none; without it that of the kubeconfig's "
                  "context, or default. If given, only its pods are shown."),
    {.name = "no-headers",
     .kind = OPT_FLAG,
     .help = "Print nothing but the lines of the table: no headers, and no sum behind them.",
     .offset = offsetof(struct schedule_opts, no_headers)},
    {.name = "node-template",
     .kind = OPT_FILES,
     .value = "FILE",
     .help = "Add nodes like the one in this file until all pods fit, and tell how many it took.",
     .offset = offsetof(struct schedule_opts, node_template)},
    {.name = "nodes",
     .kind = OPT_FLAG,
     .help = "Show nodes instead of pods: what is requested of them, before and after.",
     .offset = offsetof(struct schedule_opts, nodes)},
    {.name = "output",
     .letter = 'o',
     .kind = OPT_FORM,
     .value = "FORMAT",
     .help = "Output format: table; wide, with more columns and a line for each pod; or the "
             "resulting pods as json, yaml, name, jsonpath=TEMPLATE or custom-columns=SPEC, as "
             "kubectl has them.",
     .offset = offsetof(struct schedule_opts, output),
     .fallback = "table",
     .words = schedule_formats},
    {.name = "pending",
     .kind = OPT_FLAG,
     .help = "Show only pods that found no node.",
     .offset = offsetof(struct schedule_opts, pending)},
    {.name = "replicas-that-fit",
     .kind = OPT_STR,
     .value = "KIND/NAME",
     .help = "Tell how many replicas of a workload fit, or how many pods like this one, and why "
             "there are no more.",
     .offset = offsetof(struct schedule_opts, replicas)},
    {.name = "seed",
     .kind = OPT_INT,
     .value = "NUMBER",
     .help = "Choose among equally good nodes by lot, each number its own; with 0 the first one is "
             "taken.",
     .offset = offsetof(struct schedule_opts, seed),
     .fallback = "0"},
    {.name = "selector",
     .letter = 'l',
     .kind = OPT_STR,
     .value = "SELECTOR",
     .help = "Show only pods with these labels, such as 'app in (web, api),!canary'.",
     .offset = offsetof(struct schedule_opts, labels)},
    ROW_SKIP(offsetof(struct schedule_opts, scene.skip), ROW_SKIP_PODS),
    {0},
};

/* --- the work --- */

/* What is to be shown, as far as options say it. */
static int read_view(struct cmd_call *call, struct schedule_view *out, struct err *err) {
    const struct schedule_opts *opts = call->opts;
    *out = (struct schedule_view){.format = (enum schedule_format)opts->output.place,
                                  .no_headers = opts->no_headers};
    out->subject = opts->nodes ? SCHEDULE_NODES : opts->diff ? SCHEDULE_CHANGES : SCHEDULE_PODS;
    out->select.pending = opts->pending;
    if (!opts->all_namespaces)
        out->select.namespace = opts->scene.namespace;
    if (schedule_view_read(call->arena, out, opts->output.text, err) < 0)
        return -1;
    return schedule_select_compile(call->arena, opts->labels, opts->fields, &out->select, err);
}

static int report(struct cmd_call *call, struct sched *s, const struct sim_placement *p,
                  struct schedule_view *view, struct err *err) {
    const struct schedule_opts *opts = call->opts;
    AUTO(buf_release) struct buf metrics = BUF_INIT(MOST_METRICS);
    if (opts->metrics)
        sched_metrics_write(s, &metrics);
    view->metrics = buf_view(&metrics);
    return schedule_report_write(call->ctx, p, view, err);
}

/* What is asked beside the places of pods; nodes come first, so that replicas find them. */
static int answer(struct cmd_call *call, const struct scene *scene, struct sim_placement *p,
                  struct buf *out, struct err *err) {
    const struct schedule_opts *opts = call->opts;
    if (opts->node_template.n &&
        capacity_add_nodes(call, scene, &opts->node_template, p, out, err) < 0)
        return -1;
    if (!opts->replicas.p)
        return 0;
    return capacity_count_replicas(p, opts->replicas, scene->cluster.opts.namespace, out, err);
}

static void show_progress(void *ctx, size_t decided, size_t pending) {
    struct progress *progress = ctx;
    progress->total = pending;
    progress_update(progress, decided, 0);
}

static int schedule(struct cmd_call *call, struct scene *scene, struct schedule_view *view,
                    struct err *err) {
    const struct schedule_opts *opts = call->opts;
    struct clock_manual clock;
    struct sim_placement placement;
    struct progress progress;
    clock_manual_init(&clock, 0);
    progress_init_count(&progress, call->ctx, 0, "pods");
    struct sched *s = scene_sched_new(scene, &clock.clock, (uint64_t)opts->seed);
    sim_placement_run(&placement, &scene->cluster, s, &clock,
                      &(struct sim_placement_opts){.config = scene->config,
                                                   .dry_run = opts->dry_run,
                                                   .progress = show_progress,
                                                   .ctx = &progress});
    progress_end(&progress);
    AUTO(buf_release) struct buf answers = BUF_INIT(MOST_ANSWERS);
    int rc = answer(call, scene, &placement, &answers, err);
    view->answers = buf_view(&answers);
    if (rc == 0)
        rc = report(call, s, &placement, view, err);
    bool good = sim_placement_is_complete(&placement) && !scene->cluster.refused;
    sim_placement_release(&placement);
    sched_free(s);
    return rc < 0 ? -1 : good ? CMD_GOOD : CMD_BAD_VERDICT;
}

static int run(struct cmd_call *call, struct err *err) {
    const struct schedule_opts *opts = call->opts;
    if (opts->metrics && (opts->output.place > SCHEDULE_WIDE || opts->no_headers))
        return err_set(err, ERR_USAGE, "--metrics goes with a whole table only");
    if ((opts->nodes || opts->diff) && opts->output.place > SCHEDULE_WIDE)
        return err_set(err, ERR_USAGE, "--nodes and --diff go with a table only");
    if ((opts->replicas.p || opts->node_template.n) &&
        (opts->output.place > SCHEDULE_WIDE || opts->no_headers))
        return err_set(err, ERR_USAGE,
                       "--replicas-that-fit and --node-template go with a whole table only");
    if (opts->nodes && opts->diff)
        return err_set(err, ERR_USAGE, "--nodes and --diff do not go together");
    struct schedule_view view;
    if (read_view(call, &view, err) < 0)
        return -1;
    AUTO(scene_release) struct scene scene = {0};
    if (scene_read(&scene, call, &opts->scene, "schedule", err) < 0)
        return -1;
    scene.log = &call->ctx->log;
    scene.stopwatch = opts->metrics ? call->ctx->clock : NULL;
    return schedule(call, &scene, &view, err);
}

static const struct cmd_example examples[] = {
    {"Where would the pending pods of the kubeconfig's cluster go?", "berth schedule"},
    {"Does the new Deployment fit as well?", "berth schedule -f deployment.yaml --live"},
    {"In a cluster that was written down",
     "kubectl get nodes,pods,pv,pvc,sc -A -o json | berth schedule -f -"},
    {"Who would have to go?", "berth schedule -f cluster.yaml --dry-run-preemption"},
    {"The resulting pods, with a configuration of the scheduler",
     "berth schedule -f cluster.yaml --config scheduler.yaml -o yaml"},
    {0},
};

const struct cmd cmd_schedule = {
    .name = "schedule",
    .summary = "Place every pending pod of a cluster state",
    .about =
        "Take the cluster of the kubeconfig, or one from files: nodes, pods, volumes, services, "
        "budgets, classes, and workloads, "
        "which are expanded to the pods that their controllers would make. Then place every "
        "pending pod as kube-scheduler would, in the order of its queue, until nothing changes any "
        "more. Back-off costs no time. Of equally good nodes the first one is taken.\n\n"
        "Objects with a uid are taken as a server stored them. Manifests go through defaults, "
        "admission and validation first. An object that is refused is told on standard error, and "
        "the others are placed without it. Exits with 0 when all pods are scheduled, 1 when some "
        "are not or an object was refused, 2 when an input cannot be read.",
    .usage = "[-f FILE...] [options]",
    .examples = examples,
    .groups = {{"Options", schedule_opts, 0},
               {"Input Options", input_opts, offsetof(struct schedule_opts, scene.input)},
               {"Cluster Options", cluster_opts, offsetof(struct schedule_opts, scene.server)},
               {"Feature Gate Options", gates_opts, offsetof(struct schedule_opts, scene.gates)}},
    .opts_size = sizeof(struct schedule_opts),
    .args_hint = "files are named with -f",
    .run = run,
};
