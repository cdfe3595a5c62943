/* berth up: a whole cluster in one process. */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/limits.h"
#include "cli/io.h"
#include "cmd/commands/load.h"
#include "cmd/parts/live.h"
#include "cmd/serve.h"
#include "nodes/nodes.h"

struct up_opts {
    struct serve_opts serve;
    struct input_opts input;
    int64_t nodes;
    struct opt_list pools;
    int64_t speed;
    struct opt_list component_gates;
    bool ephemeral;
    struct str merge;
};

static const struct opt up_opts[] = {
    {.name = "nodes",
     .kind = OPT_INT,
     .help = "Simulated nodes to begin with: node-0, node-1 and so on. Every other Node object is "
             "simulated as well, unless somebody else renews its lease.",
     .value = "N",
     .fallback = "10",
     .offset = offsetof(struct up_opts, nodes)},
    {.name = "node-pool",
     .kind = OPT_FILES,
     .help = "File with NodePools (berth.dev/v1alpha1): more simulated nodes, with labels, taints, "
             "versions and zones of their own. NodePools may stand in -f as well.",
     .value = "FILE",
     .offset = offsetof(struct up_opts, pools)},
    {.name = "component-feature-gates",
     .kind = OPT_TEXTS,
     .help = "Gates of one component, kube-scheduler, kube-controller-manager or kubelet, beside "
             "those of --feature-gates: kubelet=A=true,B=false. May be given several times.",
     .value = "COMPONENT=GATES",
     .offset = offsetof(struct up_opts, component_gates)},
    {.name = "speed",
     .kind = OPT_INT,
     .help = "How much faster than the clock on the wall time passes in the cluster: for objects, "
             "controllers, the scheduler and nodes. Needs --memory or --ephemeral.",
     .value = "N",
     .fallback = "1",
     .offset = offsetof(struct up_opts, speed)},
    {.name = "merge-kubeconfig",
     .kind = OPT_STR,
     .help = "Put the context berth into a kubeconfig: that of kubectl ($KUBECONFIG or "
             "~/.kube/config), or FILE. Everything else in it stays.",
     .value = "FILE",
     .implied = "",
     .offset = offsetof(struct up_opts, merge)},
    {.name = "ephemeral",
     .kind = OPT_FLAG,
     .help = "Run the command behind -- with KUBECONFIG set, and end with it and its exit code. "
             "Nothing is kept, and the port is any that is free, unless --secure-port names one "
             "that is not the default.",
     .offset = offsetof(struct up_opts, ephemeral)},
    {0},
};

/* What it is called in the kubeconfig of others. */
#define CONTEXT "berth"

enum { SCHEDULER, MANAGER, KUBELET, COMPONENTS };
static const char *const component_names[COMPONENTS] = {
    [SCHEDULER] = "kube-scheduler", [MANAGER] = "kube-controller-manager", [KUBELET] = "kubelet"};

struct up {
    struct cmd_call *call;
    const struct up_opts *opts;
    struct serve_opts serve_opts; /* those of opts, or what --ephemeral makes of them */
    struct serve serve;
    struct clock_fast clock; /* of the cluster, if it is another */
    struct load_pools pools;
    struct feature_config gates[COMPONENTS];
    struct live *live;
    bool is_stopping; /* nothing is begun any more */
    pid_t child;
    struct net_io child_io;
    struct err *err; /* what failed after the start */
    int rc;
};

/* ---- gates of components ---- */

static int component_of(struct str value, struct str *gates, struct err *err) {
    struct str name;
    if (str_cut(value, '=', &name, gates))
        for (int i = 0; i < COMPONENTS; i++)
            if (str_is(name, component_names[i]))
                return i;
    return err_set(err, ERR_USAGE,
                   "invalid argument \"%.*s\" for \"--component-feature-gates\" flag: it must "
                   "begin with kube-scheduler=, kube-controller-manager= or kubelet=",
                   STR_ARG(value));
}

/* Says which component has gates that cannot be: those of all can be, so it is its own. */
static int fail_component(int component, struct err *err) {
    return err_wrap(err, "--component-feature-gates=%s", component_names[component]);
}

/* Each component has the gates of the server, but for those that it has of its own. */
static int configure_gates(struct up *up, struct err *err) {
    struct gates_opts opts[COMPONENTS];
    bool has_own[COMPONENTS] = {false};
    const struct opt_list *own = &up->opts->component_gates;
    struct arena *a = up->call->arena;
    struct feature_config all;
    if (gates_configure(&up->opts->serve.gates, &up->call->ctx->log, &all, err) < 0)
        return -1;
    for (int i = 0; i < COMPONENTS; i++) {
        up->gates[i] = all;
        opts[i] = up->opts->serve.gates;
        opts[i].gates = (struct opt_list){0};
        for (size_t k = 0; k < up->opts->serve.gates.gates.n; k++)
            opt_list_add(a, &opts[i].gates, up->opts->serve.gates.gates.v[k]);
    }
    for (size_t k = 0; k < own->n; k++) {
        struct str gates;
        int i = component_of(own->v[k], &gates, err);
        if (i < 0)
            return -1;
        opt_list_add(a, &opts[i].gates, arena_str(a, gates));
        has_own[i] = true;
    }
    for (int i = 0; i < COMPONENTS; i++)
        if (has_own[i] && gates_configure(&opts[i], &up->call->ctx->log, &up->gates[i], err) < 0)
            return fail_component(i, err);
    return 0;
}

/* ---- the end ---- */

static void stop(void *arg) {
    struct up *up = arg;
    up->is_stopping = true;
    if (up->child > 0)
        kill(up->child, SIGTERM); /* its end ends all */
    else
        live_stop(up->live);
}

static void on_components_ended(void *arg) {
    struct up *up = arg;
    serve_stop(&up->serve);
}

static void fail(struct up *up) {
    up->rc = -1;
    up->is_stopping = true;
    live_stop(up->live);
}

/* ---- the command of --ephemeral ---- */

static void on_child(void *arg, uint32_t events) {
    struct up *up = arg;
    int status;
    (void)events;
    if (waitpid(up->child, &status, WNOHANG) != up->child)
        return;
    net_io_stop(up->serve.loop, &up->child_io);
    close(up->child_io.fd);
    up->child = 0;
    up->rc = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    live_stop(up->live);
}

/* The environment of this process, with another KUBECONFIG. */
static char **environment(struct up *up) {
    struct arena *a = up->call->arena;
    const char *const *env = up->call->ctx->env;
    size_t n = 0, kept = 0;
    while (env[n])
        n++;
    char **out = arena_array(a, char *, n + 2);
    for (size_t i = 0; i < n; i++)
        if (!str_starts(str_of(env[i]), STR("KUBECONFIG=")))
            out[kept++] = arena_copy(a, env[i], strlen(env[i]) + 1);
    struct str file = arena_printf(a, "KUBECONFIG=%.*s", STR_ARG(up->serve.kubeconfig));
    out[kept] = arena_copy(a, file.p, file.n + 1);
    return out;
}

static char **words_of(struct up *up) {
    const struct opt_list *args = &up->call->args;
    char **words = arena_array(up->call->arena, char *, args->n + 1);
    for (size_t i = 0; i < args->n; i++)
        words[i] = arena_copy(up->call->arena, args->v[i].p, args->v[i].n + 1);
    return words;
}

/* Ends it at once: nobody could tell when it ends by itself. */
static void end_child(struct up *up) {
    kill(up->child, SIGKILL);
    while (waitpid(up->child, NULL, 0) < 0 && errno == EINTR)
        ;
    up->child = 0;
}

/* The signals that this process waits for are ordinary ones to the command. */
static int spawn(struct up *up, struct err *err) {
    posix_spawnattr_t attr;
    sigset_t none;
    char **words = words_of(up);
    sigemptyset(&none);
    posix_spawnattr_init(&attr);
    posix_spawnattr_setsigmask(&attr, &none);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
    int rc = posix_spawnp(&up->child, words[0], NULL, &attr, words, environment(up));
    posix_spawnattr_destroy(&attr);
    if (rc) {
        up->child = 0;
        return err_set(err, ERR_IO, "%s: %s", words[0], strerror(rc));
    }
    up->child_io = (struct net_io){
        .fd = (int)syscall(SYS_pidfd_open, up->child, 0), .fn = on_child, .arg = up};
    if (up->child_io.fd < 0) {
        rc = errno;
        end_child(up);
        return err_set(err, ERR_IO, "%s: %s", words[0], strerror(rc));
    }
    net_io_start(up->serve.loop, &up->child_io, EPOLLIN);
    return 0;
}

/* ---- the beginning ---- */

static void suggest(struct up *up) {
    struct cmd_ctx *ctx = up->call->ctx;
    if (!ctx->err_is_tty)
        return;
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    if (up->opts->merge.p)
        buf_addf(&text, "try: kubectl --context %s get nodes\n", CONTEXT);
    else
        buf_addf(&text, "try: kubectl --kubeconfig %.*s get nodes\n",
                 STR_ARG(up->serve.kubeconfig));
    (void)io_write(ctx->err, buf_view(&text), NULL);
}

static int merge(struct up *up, struct err *err) {
    struct str file = up->opts->merge;
    struct cmd_ctx *ctx = up->call->ctx;
    struct arena *a = up->call->arena;
    struct auth_kubeconfig_places places = {
        .file = file,
        .files = str_of(cmd_getenv(ctx, "KUBECONFIG")),
        .home = str_of(cmd_getenv(ctx, "HOME")),
    };
    struct auth_kubeconfig k = serve_access(&up->serve);
    return file.p ? auth_kubeconfig_merge(a, &places, STR(CONTEXT), &k, err) : 0;
}

static void on_components_ready(void *arg) {
    struct up *up = arg;
    if (up->is_stopping)
        return;
    if (merge(up, up->err) < 0 ||
        (up->opts->ephemeral
             ? serve_write_kubeconfig(&up->serve, up->err) < 0 || spawn(up, up->err) < 0
             : serve_tell_ready(&up->serve, up->err) < 0))
        fail(up);
    else if (!up->opts->ephemeral)
        suggest(up);
}

static void run_cluster(struct up *up) {
    const struct auth_authority authority = {up->serve.pki.ca_certificate, up->serve.pki.ca_key};
    const struct part_setup setup = {.scheduler_gates = &up->gates[SCHEDULER].enabled,
                                     .manager_gates = &up->gates[MANAGER].enabled,
                                     .kubelet_gates = &up->gates[KUBELET].enabled,
                                     .root_ca = up->serve.pki.ca_certificate,
                                     .issuer = &up->serve.auth.setup.issuer,
                                     .authority = &authority,
                                     .pools = up->pools.v,
                                     .pool_count = up->pools.n};
    up->serve.interrupted = stop;
    up->serve.interrupted_arg = up;
    up->live = live_start(&(struct live_opts){.serve = &up->serve,
                                              .setup = &setup,
                                              .ready = on_components_ready,
                                              .ended = on_components_ended,
                                              .arg = up});
    net_loop_run(up->serve.loop);
    live_free(up->live);
}

static int check(struct up *up, struct err *err) {
    size_t words = up->call->args.n;
    if (up->opts->ephemeral && !words)
        return err_set(err, ERR_USAGE, "--ephemeral needs a command behind --");
    if (!up->opts->ephemeral && words)
        return err_set(err, ERR_USAGE, "a command is run with --ephemeral only");
    if (up->opts->ephemeral && up->opts->serve.data_dir.n)
        return err_set(err, ERR_USAGE, "--ephemeral and --data-dir exclude each other");
    if (up->opts->speed < 1 || up->opts->speed > LIMIT_CLUSTER_SPEED)
        return err_set(err, ERR_USAGE, "--speed must be between 1 and %d", LIMIT_CLUSTER_SPEED);
    if (up->opts->speed > 1 && !up->serve_opts.memory)
        return err_set(err, ERR_USAGE,
                       "--speed needs --memory or --ephemeral: times that are kept would lie ahead "
                       "of the next start");
    if (up->opts->nodes > LIMIT_SIMULATED_NODES)
        return err_set(err, ERR_USAGE, "--nodes must be at most %d", LIMIT_SIMULATED_NODES);
    return 0;
}

/* Those of --nodes, and those of --node-pool. */
static int read_pools(struct up *up, struct err *err) {
    struct arena *a = up->call->arena;
    struct nodes_pool plain = {.count = (size_t)up->opts->nodes, .prefix = STR("node-")};
    load_pools_add(a, &up->pools, &plain);
    return load_pool_files(up->call->ctx, a, &up->opts->pools, &up->pools, err);
}

static int run(struct cmd_call *call, struct err *err) {
    struct up up = {.call = call, .opts = call->opts, .err = err, .rc = CMD_GOOD};
    up.serve_opts = up.opts->serve;
    if (up.opts->ephemeral) {
        up.serve_opts.memory = true;
        if (up.serve_opts.port == SERVE_PORT)
            up.serve_opts.port = 0;
    }
    up.serve_opts.read_log = nodes_read_log;
    if (check(&up, err) < 0 || configure_gates(&up, err) < 0 || read_pools(&up, err) < 0)
        return -1;
    if (up.opts->speed > 1) {
        clock_fast_init(&up.clock, up.opts->speed);
        up.serve_opts.wire_clock = call->ctx->clock;
        call->ctx->clock = &up.clock.clock;
    }
    int rc = -1;
    if (serve_open(&up.serve, call, &up.serve_opts, err) == 0 &&
        load_files(&up.serve, &up.opts->input, &up.pools, err) == 0 &&
        nodes_pools_check(up.pools.v, up.pools.n, err) == 0) {
        load_standard_class(&up.serve);
        rc = serve_listen(&up.serve, err);
    }
    if (rc == 0) {
        run_cluster(&up);
        rc = up.rc;
    }
    serve_close(&up.serve);
    if (up.serve_opts.wire_clock)
        call->ctx->clock = up.serve_opts.wire_clock;
    return rc;
}

static const struct cmd_example examples[] = {
    {"A cluster of ten nodes that keeps what it is told", "berth up --data-dir ./cluster"},
    {"One that forgets, with manifests", "berth up --memory --secure-port 0 -f examples/cluster"},
    {"Tests against a cluster of their own", "berth up --ephemeral -- kubectl get nodes"},
    {0},
};

const struct cmd cmd_up = {
    .name = "up",
    .summary = "Run a whole cluster in one process, with simulated nodes",
    .about = "Run a cluster in one process: the API server of `berth apiserver`, a scheduler, the "
             "controllers of kube-controller-manager, and simulated nodes whose kubelets admit "
             "and run pods in appearance. Everything happens as in a cluster, to be watched with "
             "kubectl: pods are scheduled, evicted when a taint changes, and made again by their "
             "owners.\n\n"
             "When the cluster is ready, one line on standard output says where it listens and "
             "which kubeconfig to use. SIGTERM and SIGINT end it, and the next start goes on where "
             "it stopped. A dump of another cluster (-f, with uids) becomes a twin of it: objects "
             "keep their status and their nodes.",
    .usage = "[--nodes N] [--data-dir DIR | --memory] [-f FILE] [options]",
    .examples = examples,
    .groups = {{"Cluster", up_opts, 0},
               {"Input", input_opts, offsetof(struct up_opts, input)},
               SERVE_GROUPS(offsetof(struct up_opts, serve))},
    .opts_size = sizeof(struct up_opts),
    .most_args = SIZE_MAX,
    .run = run,
};
