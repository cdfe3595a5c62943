/* berth scheduler: a kube-scheduler, with whatever API server there is. */
#include "client/kubeconfig.h"
#include "cmd/parts/config_file.h"
#include "cmd/parts/solo.h"
#include "cmd/rows.h"

struct scheduler_cmd_opts {
    struct opt_list config;
    struct solo_connection connection;
    struct solo_election election;
    struct solo_serving serving;
    struct gates_opts gates;
};

static const struct opt scheduler_rows[] = {
    ROW_CONFIG(offsetof(struct scheduler_cmd_opts, config)),
    {0},
};
static const struct opt serving_rows[] = {SOLO_SERVING_ROWS("10259"), {0}};

static int run(struct cmd_call *call, struct err *err) {
    const struct scheduler_cmd_opts *opts = call->opts;
    struct feature_config gates;
    struct sched_config *config;
    struct kubeconfig_access access;
    if (gates_configure(&opts->gates, &call->ctx->log, &gates, err) < 0 ||
        config_file_read(call, &opts->config, &config, err) < 0 ||
        solo_connect(call, &opts->connection, config->process.kubeconfig, &access, err) < 0)
        return -1;
    struct str first = config->profiles[0].scheduler_name;
    const struct part_setup setup = {.scheduler_gates = &gates.enabled,
                                     .scheduler_config = config,
                                     .is_measured = opts->serving.port > 0};
    return solo_run(call,
                    &(struct solo_opts){.component = &component_scheduler,
                                        .setup = &setup,
                                        .connection = &opts->connection,
                                        .election = &opts->election,
                                        .serving = &opts->serving,
                                        .configured = &config->process,
                                        .event_source = arena_str(call->arena, first).p,
                                        .qps = 50,
                                        .burst = 100,
                                        .min_compat = gates.min_compat,
                                        .access = &access},
                    err);
}

static const struct cmd_example examples[] = {
    {"The scheduler of a cluster", "berth scheduler --kubeconfig scheduler.kubeconfig"},
    {"A second one, for pods that name it",
     "berth scheduler --config b --leader-elect-resource-name b --secure-port 0"},
    {0},
};

const struct cmd cmd_scheduler = {
    .name = "scheduler",
    .summary = "Schedule the pods of a cluster through its API server",
    .about = "Bind pods to nodes as kube-scheduler does, in the cluster of a kubeconfig: that of "
             "`berth apiserver`, or any other. Pods are taken that name one of the profiles of "
             "--config, or none.\n\n"
             "Of several such processes the one that has the Lease works; when it does not renew "
             "it any more, another one goes on some twenty seconds later. `ready` on standard "
             "output says "
             "that it works and knows the cluster. SIGTERM and SIGINT end it and release the "
             "Lease. Exits with 1 when the Lease is lost, 2 when it cannot begin.",
    .usage = "[--kubeconfig FILE] [--config FILE] [options]",
    .examples = examples,
    .groups = {{"Options", scheduler_rows, 0},
               {"Connection", solo_connection_rows,
                offsetof(struct scheduler_cmd_opts, connection)},
               {"Leader Election", solo_election_rows,
                offsetof(struct scheduler_cmd_opts, election)},
               {"Health", serving_rows, offsetof(struct scheduler_cmd_opts, serving)},
               {"Feature Gates", gates_opts, offsetof(struct scheduler_cmd_opts, gates)}},
    .opts_size = sizeof(struct scheduler_cmd_opts),
    .run = run,
};
