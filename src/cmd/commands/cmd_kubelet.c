/* berth kubelet: simulated nodes, with whatever API server there is. */
#include "api/names.h"
#include "base/limits.h"
#include "client/kubeconfig.h"
#include "cmd/parts/solo.h"
#include "nodes/nodes.h"

struct kubelet_cmd_opts {
    struct str nodes;
    struct solo_connection connection;
    struct solo_serving serving;
    struct gates_opts gates;
};

static const struct opt kubelet_rows[] = {
    {.name = "nodes",
     .kind = OPT_STR,
     .value = "N|NAME,...|all",
     .help = "Nodes to look after: so many, which are made as node-0, node-1 and so on if they are "
             "not there; those of these names, when others make them; or all that nobody else "
             "renews the lease of.",
     .offset = offsetof(struct kubelet_cmd_opts, nodes)},
    {0},
};
static const struct opt serving_rows[] = {SOLO_SERVING_ROWS("0"), {0}};

/* Which nodes are meant. */
struct choice {
    struct nodes_pool pool;
    struct opt_list names;
    bool is_choosy;
};

static int check_name(struct str name, struct err *err) {
    struct names_errs wrong = names_check_dns1123_subdomain(name);
    if (!name.n)
        return err_set(err, ERR_USAGE, "--nodes has an empty name");
    return wrong.n ? err_set(err, ERR_USAGE, "--nodes: no node can be called \"%.*s\": %.*s",
                             STR_ARG(name), STR_ARG(wrong.v[0]))
                   : 0;
}

static int choose(struct cmd_call *call, struct str text, struct choice *out, struct err *err) {
    int64_t count;
    *out = (struct choice){.pool = {.prefix = STR("node-")}, .is_choosy = !str_is(text, "all")};
    if (!text.n)
        return err_set(err, ERR_USAGE, "--nodes is needed: how many, their names, or all");
    if (!out->is_choosy)
        return 0;
    if (str_to_i64(text, &count)) {
        if (count < 1 || count > LIMIT_SIMULATED_NODES)
            return err_set(err, ERR_USAGE,
                           "--nodes must be between 1 and %d, the names of nodes, or all",
                           LIMIT_SIMULATED_NODES);
        out->pool.count = (size_t)count;
        return 0;
    }
    for (struct str name; text.n;) {
        str_cut(text, ',', &name, &text);
        if (check_name(name, err) < 0)
            return -1;
        opt_list_add(call->arena, &out->names, name);
    }
    return 0;
}

static int run(struct cmd_call *call, struct err *err) {
    const struct kubelet_cmd_opts *opts = call->opts;
    struct feature_config gates;
    struct kubeconfig_access access;
    struct choice choice;
    if (gates_configure(&opts->gates, &call->ctx->log, &gates, err) < 0 ||
        choose(call, opts->nodes, &choice, err) < 0 ||
        solo_connect(call, &opts->connection, STR(""), &access, err) < 0)
        return -1;
    const struct part_setup setup = {.kubelet_gates = &gates.enabled,
                                     .pools = &choice.pool,
                                     .pool_count = 1,
                                     .is_choosy = choice.is_choosy,
                                     .nodes = &choice.names};
    return solo_run(call,
                    &(struct solo_opts){.component = &component_nodes,
                                        .setup = &setup,
                                        .connection = &opts->connection,
                                        .serving = &opts->serving,
                                        .min_compat = gates.min_compat,
                                        .access = &access},
                    err);
}

static const struct cmd_example examples[] = {
    {"Ten nodes, node-0 to node-9", "berth kubelet --kubeconfig admin.kubeconfig --nodes 10"},
    {"Nodes that others have made", "berth kubelet --nodes gpu-1,gpu-2"},
    {0},
};

const struct cmd cmd_kubelet = {
    .name = "kubelet",
    .summary = "Simulate nodes of a cluster through its API server",
    .about = "Look after nodes in the cluster of a kubeconfig, that of `berth apiserver` or any "
             "other, as their kubelets would: leases are renewed, conditions set, and pods "
             "admitted or rejected, run and stopped, all in appearance. Annotations of pods say "
             "how their containers behave, as with `berth up`.\n\n"
             "`ready` on standard output says that all nodes that are to be made are Ready. "
             "SIGTERM and SIGINT end it. Exits with 2 when it cannot begin.",
    .usage = "--nodes N|NAME,...|all [--kubeconfig FILE] [options]",
    .examples = examples,
    .groups = {{"Options", kubelet_rows, 0},
               {"Connection", solo_connection_rows, offsetof(struct kubelet_cmd_opts, connection)},
               {"Health", serving_rows, offsetof(struct kubelet_cmd_opts, serving)},
               {"Feature Gates", gates_opts, offsetof(struct kubelet_cmd_opts, gates)}},
    .opts_size = sizeof(struct kubelet_cmd_opts),
    .run = run,
};
