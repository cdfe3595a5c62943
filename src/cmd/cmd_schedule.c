/* berth schedule: where the pending pods of a cluster go. */
#include "cmd/cmd.h"

#include "base/clock.h"
#include "cmd/cluster.h"
#include "cmd/gates.h"
#include "cmd/placement.h"
#include "cmd/profiles.h"
#include "cmd/schedule_report.h"
#include "sched/metrics.h"
#include "tolexpr/tolexpr.h"

enum { MOST_METRICS = 16 << 20 };

struct schedule_opts {
    struct input_opts input;
    struct gates_opts gates;
    struct opt_list config;
    struct str namespace;
    int64_t seed;
    bool dry_run, metrics;
    int output; /* enum schedule_format */
};

static const struct opt schedule_opts[] = {
    {.name = "config",
     .kind = OPT_FILES,
     .value = "FILE",
     .help = "KubeSchedulerConfiguration with profiles, plug-ins and weights.",
     .offset = offsetof(struct schedule_opts, config)},
    {.name = "dry-run-preemption",
     .kind = OPT_FLAG,
     .help = "Only tell which pods would be preempted.",
     .offset = offsetof(struct schedule_opts, dry_run)},
    {.name = "metrics",
     .kind = OPT_FLAG,
     .help = "Print the scheduler's metrics behind the table, in Prometheus' text format.",
     .offset = offsetof(struct schedule_opts, metrics)},
    {.name = "namespace",
     .letter = 'n',
     .kind = OPT_STR,
     .value = "NAME",
     .help = "Namespace of objects that name none (default).",
     .offset = offsetof(struct schedule_opts, namespace)},
    {.name = "output",
     .letter = 'o',
     .kind = OPT_ENUM,
     .value = "FORMAT",
     .help = "Output format: table, or json or yaml for the resulting pods.",
     .offset = offsetof(struct schedule_opts, output),
     .fallback = "table",
     .words = schedule_formats},
    {.name = "seed",
     .kind = OPT_INT,
     .value = "NUMBER",
     .help = "Choose among equally good nodes by lot, each number its own; with 0 the first one is "
             "taken.",
     .offset = offsetof(struct schedule_opts, seed),
     .fallback = "0"},
    {0},
};

/* What a run holds. */
struct run {
    struct cmd_call *call;
    const struct schedule_opts *opts;
    struct feature_config gates;
    struct tolexpr *expressions;
    struct input *config_file; /* the configuration borrows from it; NULL: none was given */
    struct sched_config *config;
    struct cluster cluster;
};

/* --- the work --- */

static int report(struct run *run, struct sched *s, const struct placement *p, struct err *err) {
    AUTO(buf_release) struct buf metrics = BUF_INIT(MOST_METRICS);
    if (run->opts->metrics)
        sched_metrics_write(s, &metrics);
    return schedule_report_write(run->call->ctx, p, (enum schedule_format)run->opts->output,
                                 buf_view(&metrics), err);
}

static int schedule(struct run *run, struct err *err) {
    struct clock_fake clock;
    struct placement placement;
    clock_fake_init(&clock, 0);
    struct placement_opts opts = {.config = run->config, .dry_run = run->opts->dry_run};
    struct sched *s = sched_new(&(struct sched_opts){
        .gates = &run->gates.enabled,
        .engine = tolexpr_match_engine(run->expressions),
        .config = run->config,
        .clock = &clock.clock,
        .seed = map_random_seed(),
        .tie_seed = (uint64_t)run->opts->seed,
    });
    placement_run(&placement, &run->cluster, s, &clock, &opts);
    int rc = report(run, s, &placement, err);
    if (rc == 0)
        rc =
            placement_is_complete(&placement) && !run->cluster.refused ? CMD_GOOD : CMD_BAD_VERDICT;
    placement_release(&placement);
    sched_free(s);
    return rc;
}

static int read_and_schedule(struct run *run, struct err *err) {
    if (cluster_read(&run->cluster, &run->opts->input, err) < 0)
        return -1;
    if (run->cluster.items.n == 0 && !run->cluster.refused)
        return err_set(err, ERR_INVALID, "no objects passed to schedule");
    cluster_expand(&run->cluster);
    cluster_write_remarks(&run->cluster);
    return schedule(run, err);
}

static int run(struct cmd_call *call, struct err *err) {
    struct run run = {.call = call, .opts = call->opts};
    if (run.opts->metrics && run.opts->output != SCHEDULE_TABLE)
        return err_set(err, ERR_USAGE, "--metrics goes with -o table only");
    if (gates_configure(&run.opts->gates, &call->ctx->log, &run.gates, err) < 0)
        return -1;
    run.expressions = tolexpr_new(
        &(struct tolexpr_opts){run.gates.min_compat, call->ctx->clock, map_random_seed(), 0});
    cluster_init(&run.cluster,
                 &(struct cluster_opts){.ctx = call->ctx,
                                        .gates = &run.gates,
                                        .namespace = run.opts->namespace,
                                        .cel = tolexpr_valid_cel(run.expressions),
                                        .engine = tolexpr_match_engine(run.expressions)});
    int rc = profiles_read(call, &run.opts->config, &run.config_file, &run.config, err);
    if (rc == 0)
        rc = read_and_schedule(&run, err);
    cluster_release(&run.cluster);
    input_free(run.config_file);
    tolexpr_free(run.expressions);
    return rc;
}

static const struct cmd_example examples[] = {
    {"Where would the pending pods of this cluster go?",
     "kubectl get nodes,pods,pv,pvc -A -o json | berth schedule -f -"},
    {"Does the new Deployment fit as well?",
     "kubectl get nodes,pods -A -o json | berth schedule -f - -f deployment.yaml"},
    {"Who would have to go?", "berth schedule -f cluster.yaml --dry-run-preemption"},
    {"The resulting pods, with a configuration of the scheduler",
     "berth schedule -f cluster.yaml --config scheduler.yaml -o yaml"},
    {0},
};

const struct cmd cmd_schedule = {
    .name = "schedule",
    .summary = "Place every pending pod of a cluster state",
    .about =
        "Take a cluster from files: nodes, pods, volumes, services, budgets, classes, and "
        "workloads, "
        "which are expanded to the pods that their controllers would make. Then place every "
        "pending pod as kube-scheduler would, in the order of its queue, until nothing changes any "
        "more. Back-off costs no time. Of equally good nodes the first one is taken.\n\n"
        "Objects with a uid are taken as a server stored them. Manifests go through defaults, "
        "admission and validation first. An object that is refused is told on standard error, and "
        "the others are placed without it. Exits with 0 when all pods are scheduled, 1 when some "
        "are not or an object was refused, 2 when an input cannot be read.",
    .usage = "-f FILE... [options]",
    .examples = examples,
    .groups = {{"Options", schedule_opts, 0},
               {"Input Options", input_opts, offsetof(struct schedule_opts, input)},
               {"Feature Gate Options", gates_opts, offsetof(struct schedule_opts, gates)}},
    .opts_size = sizeof(struct schedule_opts),
    .run = run,
};
