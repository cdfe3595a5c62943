/* berth apiserver: a Kubernetes API server with its store, in one process. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "apiserver/apiserver.h"
#include "auth/pki.h"
#include "base/map.h"
#include "cli/io.h"
#include "cli/spelling.h"
#include "cmd/audit_flags.h"
#include "cmd/auth_flags.h"
#include "cmd/cmd.h"
#include "cmd/data_dir.h"
#include "cmd/gate_flags.h"
#include "cmd/service_flags.h"
#include "codec/time.h"
#include "net/net.h"
#include "server/server.h"
#include "tolexpr/tolexpr.h"

#ifndef BERTH_COMMIT
#define BERTH_COMMIT ""
#endif

struct apiserver_cmd_opts {
    struct gates_opts gates;
    struct auth_opts auth;
    struct service_opts services;
    struct audit_opts audit;
    struct str data_dir, bind_address, kubeconfig;
    struct opt_list enabled, disabled; /* plug-ins of admission */
    int64_t port;
    bool memory;
    struct str request_timeout, shutdown_delay;
    int64_t max_inflight, max_mutating_inflight;
};

static void offer_plugins(struct buf *out) {
    const char *name;
    bool on;
    for (size_t i = 0; (name = registry_plugin_name(i, &on)); i++)
        buf_addf(out, "%s%s", i ? " " : "", name);
}

static const struct opt server_opts[] = {
    {.name = "data-dir",
     .kind = OPT_STR,
     .help = "Folder of the store and of the server's certificates. Made if it is missing; by "
             "default berth below $XDG_DATA_HOME or ~/.local/share.",
     .value = "DIR",
     .offset = offsetof(struct apiserver_cmd_opts, data_dir)},
    {.name = "memory",
     .kind = OPT_FLAG,
     .help = "Keep nothing: the store is in memory, and certificates are made for this run.",
     .offset = offsetof(struct apiserver_cmd_opts, memory)},
    {.name = "bind-address",
     .kind = OPT_STR,
     .help = "Address to listen on.",
     .value = "ADDRESS",
     .fallback = "127.0.0.1",
     .offset = offsetof(struct apiserver_cmd_opts, bind_address)},
    {.name = "secure-port",
     .kind = OPT_INT,
     .help = "Port to listen on with TLS; 0 is any that is free.",
     .value = "PORT",
     .fallback = "6443",
     .offset = offsetof(struct apiserver_cmd_opts, port)},
    {.name = "write-kubeconfig",
     .kind = OPT_STR,
     .help = "File to write the administrator's kubeconfig to; by default admin.kubeconfig in the "
             "data folder.",
     .value = "FILE",
     .offset = offsetof(struct apiserver_cmd_opts, kubeconfig)},
    {.name = "enable-admission-plugins",
     .kind = OPT_LIST,
     .help = "Admission plug-ins to ask beside those that are on by default, by their names in "
             "kube-apiserver.",
     .value = "NAME,...",
     .offset = offsetof(struct apiserver_cmd_opts, enabled),
     .offer = offer_plugins},
    {.name = "disable-admission-plugins",
     .kind = OPT_LIST,
     .help = "Admission plug-ins not to ask, although they are on by default.",
     .value = "NAME,...",
     .offset = offsetof(struct apiserver_cmd_opts, disabled),
     .offer = offer_plugins},
    {0},
};

static const struct opt request_opts[] = {
    {.name = "max-requests-inflight",
     .kind = OPT_INT,
     .help = "Requests that read and may be under way at a time; more are answered with 429. "
             "Watches do not count. 0 is no limit.",
     .value = "N",
     .fallback = "400",
     .offset = offsetof(struct apiserver_cmd_opts, max_inflight)},
    {.name = "max-mutating-requests-inflight",
     .kind = OPT_INT,
     .help = "The same for requests that write.",
     .value = "N",
     .fallback = "200",
     .offset = offsetof(struct apiserver_cmd_opts, max_mutating_inflight)},
    {.name = "request-timeout",
     .kind = OPT_STR,
     .help = "How long a request may take before it is answered with 504. Watches may take longer.",
     .value = "DURATION",
     .fallback = "1m0s",
     .offset = offsetof(struct apiserver_cmd_opts, request_timeout)},
    {.name = "shutdown-delay-duration",
     .kind = OPT_STR,
     .help = "How long to serve on after SIGTERM, while /readyz fails.",
     .value = "DURATION",
     .fallback = "0s",
     .offset = offsetof(struct apiserver_cmd_opts, shutdown_delay)},
    {0},
};

/* ---- a run ---- */

struct run {
    struct cmd_call *call;
    const struct apiserver_cmd_opts *opts;
    struct feature_config gates;
    struct registry_plugins plugins;
    struct service_config services;
    struct server_audit_keep audit_keep;
    struct str dir;   /* of the store and the certificates */
    bool dir_is_ours; /* made for this run, and removed behind it */
    struct auth_pki pki;
    struct auth_config auth;
    struct net_loop *loop; /* of the core, which is this thread */
    struct apiserver_core *core;
    struct apiserver_catalog *catalog;
    struct tolexpr *expressions;
    struct store *store;
    struct apiserver *api;
    struct net_tls *tls;
    struct server *server;
    struct net_io signals;
    int signal_fd;
    int64_t request_timeout, shutdown_delay;
};

static void post(void *ctx, void (*work)(void *arg), void *arg) {
    net_loop_post(ctx, work, arg);
}

static void draw(void *ctx, void *to, size_t n) {
    (void)ctx;
    if (getrandom(to, n, 0) != (ssize_t)n)
        BUG("the system has no random bytes");
}

/* ---- folders ---- */

static int choose_dir(struct run *run, struct err *err) {
    const char *tmp = cmd_getenv(run->call->ctx, "TMPDIR");
    if (run->opts->memory) {
        struct str pattern =
            arena_printf(run->call->arena, "%s/berth-XXXXXX", tmp && *tmp ? tmp : "/tmp");
        char *path = arena_copy(run->call->arena, pattern.p, pattern.n + 1);
        if (!mkdtemp(path))
            return err_set(err, ERR_IO, "folder '%s': %s", path, strerror(errno));
        run->dir = str_of(path);
        run->dir_is_ours = true;
        return 0;
    }
    struct arena *a = run->call->arena;
    return data_dir_choose(run->call->ctx, a, run->opts->data_dir, &run->dir, err) < 0
               ? -1
               : data_dir_make(a, run->dir, err);
}

static struct str inside(struct run *run, const char *name) {
    return data_dir_inside(run->call->arena, run->dir, name);
}

static void remove_dir(struct run *run) {
    static const char *const files[] = {"pki/ca.crt",        "pki/ca.key",    "pki/apiserver.crt",
                                        "pki/apiserver.key", "pki/admin.crt", "pki/admin.key",
                                        "pki/sa.key",        "pki/lock",      "admin.kubeconfig"};
    if (!run->dir_is_ours)
        return;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        (void)unlink(inside(run, files[i]).p);
    (void)rmdir(inside(run, "pki").p);
    (void)rmdir(run->dir.p);
}

/* ---- parts ---- */

static int open_store(struct run *run, struct err *err) {
    struct store_opts opts = {.clock = run->call->ctx->clock, .post = post, .post_ctx = run->loop};
    opts.resources = apiserver_catalog_storage(run->catalog, &opts.n);
    if (!run->opts->memory)
        opts.directory = inside(run, "store").p;
    return store_open(&opts, &run->store, err);
}

static int open_tls(struct run *run, struct err *err) {
    struct auth_pki_options options = {.dir = inside(run, "pki"),
                                       .now = clock_wall(run->call->ctx->clock) / CLOCK_SECOND};
    struct str address = run->opts->bind_address;
    options.names = (struct api_strs){&address, 1};
    if (auth_pki_open(run->call->arena, &options, &run->pki, err) < 0)
        return -1;
    const struct net_certificate certificate = {run->pki.server_certificate, run->pki.server_key};
    run->tls = net_tls_new(&(struct net_tls_config){&certificate, 1, run->pki.ca_certificate}, err);
    return run->tls ? 0 : -1;
}

static const char *text_or_null(struct run *run, struct str text) {
    return text.n ? arena_str(run->call->arena, text).p : NULL;
}

static int open_api(struct run *run, struct err *err) {
    struct cmd_ctx *ctx = run->call->ctx;
    struct auth_issuer *issuer = &run->auth.setup.issuer;
    if (auth_configure(run->call->arena, &run->opts->auth, run->pki.service_account_key, &run->auth,
                       err) < 0)
        return -1;
    run->api = apiserver_new(&(struct apiserver_opts){.catalog = run->catalog,
                                                      .store = run->store,
                                                      .gates = &run->gates.enabled,
                                                      .cel = tolexpr_valid_cel(run->expressions),
                                                      .clock = ctx->clock,
                                                      .plugins = run->plugins,
                                                      .draw = draw,
                                                      .issuer = issuer,
                                                      .token_most_seconds = run->auth.most_seconds,
                                                      .extends_tokens = run->opts->auth.extends,
                                                      .service_cidrs = run->services.cidrs,
                                                      .node_ports = run->services.node_ports});
    issuer->objects = apiserver_objects(run->api);
    run->core = apiserver_core_new(
        &(struct apiserver_core_opts){run->api, run->store, run->loop, ctx->clock});
    apiserver_bootstrap(run->api);
    store_commit(run->store, NULL, NULL);
    store_flush(run->store);
    return 0;
}

static int open_server(struct run *run, struct err *err) {
    struct cmd_ctx *ctx = run->call->ctx;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct server_opts opts = {.api = run->api,
                               .catalog = run->catalog,
                               .store = run->store,
                               .core = run->core,
                               .loop = run->loop,
                               .gates = &run->gates.enabled,
                               .clock = ctx->clock,
                               .log = &ctx->log,
                               .address = arena_str(run->call->arena, run->opts->bind_address).p,
                               .port = (uint16_t)run->opts->port,
                               .tls = run->tls,
                               .who = {.file = run->auth.setup.file,
                                       .issuer = &run->auth.setup.issuer,
                                       .allows_anonymous = run->opts->auth.anonymous},
                               .jwks_uri = run->opts->auth.jwks_uri,
                               .emulated = run->gates.emulated,
                               .min_compat = run->gates.min_compat,
                               .program_version = BERTH_VERSION,
                               .program_commit = BERTH_COMMIT,
                               .request_timeout = run->request_timeout,
                               .max_inflight = (uint32_t)run->opts->max_inflight,
                               .max_mutating_inflight = (uint32_t)run->opts->max_mutating_inflight,
                               .audit_log = text_or_null(run, run->opts->audit.log),
                               .audit_policy = text_or_null(run, run->opts->audit.policy),
                               .audit_keep = run->audit_keep,
                               .workers = processors > 0 ? (size_t)processors : 1};
    return server_new(&opts, &run->server, err);
}

/* Others are told where the server is once it listens. */
static void advertise(struct run *run) {
    apiserver_advertise(run->api, run->services.advertised, server_port(run->server));
    store_commit(run->store, NULL, NULL);
    store_flush(run->store);
}

/* ---- ready, and the end ---- */

static int tell_ready(struct run *run, struct err *err) {
    struct arena *a = run->call->arena;
    struct str url = arena_printf(a, "https://%.*s:%u", STR_ARG(run->opts->bind_address),
                                  (unsigned)server_port(run->server));
    struct str file = run->opts->kubeconfig.n ? arena_str(a, run->opts->kubeconfig)
                                              : inside(run, "admin.kubeconfig");
    struct auth_kubeconfig k = {.server = url,
                                .ca_certificate = run->pki.ca_certificate,
                                .client_certificate = run->pki.admin_certificate,
                                .client_key = run->pki.admin_key};
    if (auth_kubeconfig_write(file, &k, err) < 0)
        return -1;
    struct str line = arena_printf(a, "ready %.*s kubeconfig %.*s\n", STR_ARG(url), STR_ARG(file));
    return io_write(run->call->ctx->out, line, err);
}

/* Requests under way have this long to finish after SIGTERM. */
#define GRACE (CLOCK_SECOND / 2)

static void on_signal(void *arg, uint32_t events) {
    struct run *run = arg;
    struct signalfd_siginfo info;
    (void)events;
    if (read(run->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
        server_stop(run->server, run->shutdown_delay, GRACE);
}

static int listen_to_signals(struct run *run, struct err *err) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    run->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (run->signal_fd < 0)
        return err_set(err, ERR_IO, "signals: %s", strerror(errno));
    run->signals = (struct net_io){.fd = run->signal_fd, .fn = on_signal, .arg = run};
    net_io_start(run->loop, &run->signals, EPOLLIN);
    return 0;
}

static void release(struct run *run) {
    if (run->signal_fd >= 0) {
        net_io_stop(run->loop, &run->signals);
        close(run->signal_fd);
    }
    server_free(run->server);
    net_tls_free(run->tls);
    store_close(run->store);
    apiserver_free(run->api);
    auth_config_release(&run->auth);
    tolexpr_free(run->expressions);
    apiserver_catalog_free(run->catalog);
    apiserver_core_free(run->core);
    net_loop_free(run->loop);
    remove_dir(run);
}

static int serve(struct run *run, struct err *err) {
    if (choose_dir(run, err) < 0 || listen_to_signals(run, err) < 0 || open_store(run, err) < 0 ||
        open_tls(run, err) < 0 || open_api(run, err) < 0 || open_server(run, err) < 0)
        return -1;
    advertise(run);
    if (tell_ready(run, err) < 0)
        return -1;
    net_loop_run(run->loop);
    return CMD_GOOD;
}

static int read_duration(const char *name, struct str text, int64_t *out, struct err *err) {
    if (time_parse_duration(text, out, err) < 0)
        return err_wrap(err, "invalid argument \"%.*s\" for \"--%s\" flag", STR_ARG(text), name);
    if (*out < 0)
        return err_set(err, ERR_USAGE, "--%s can not be a negative value", name);
    return 0;
}

static int read_durations(struct run *run, struct err *err) {
    return read_duration("request-timeout", run->opts->request_timeout, &run->request_timeout,
                         err) < 0 ||
                   read_duration("shutdown-delay-duration", run->opts->shutdown_delay,
                                 &run->shutdown_delay, err) < 0
               ? -1
               : 0;
}

static int check(const struct apiserver_cmd_opts *opts, struct err *err) {
    if (opts->memory && opts->data_dir.n)
        return err_set(err, ERR_USAGE, "--memory and --data-dir exclude each other");
    if (opts->port < 0 || opts->port > UINT16_MAX)
        return err_set(err, ERR_USAGE, "--secure-port must be between 0 and 65535");
    if (opts->max_inflight > INT32_MAX || opts->max_mutating_inflight > INT32_MAX)
        return err_set(err, ERR_USAGE, "a limit of requests in flight is too large");
    return 0;
}

static int read_services(struct run *run, struct err *err) {
    return service_configure(run->call->arena, &run->opts->services, run->opts->bind_address,
                             &run->services, err);
}

/* ---- plug-ins of admission ---- */

static int suggest_plugins(struct str typed, struct err *err) {
    struct suggest suggest = {.typed = typed};
    const char *name;
    bool on;
    for (size_t i = 0; (name = registry_plugin_name(i, &on)); i++)
        suggest_offer(&suggest, name);
    return suggest_fail(&suggest, "", err);
}

/* Switches one by one, so that it is known which name is wrong. */
static int switch_plugins(struct registry_plugins *plugins, const struct opt_list *names, bool on,
                          struct err *err) {
    for (size_t i = 0; i < names->n; i++)
        if (registry_plugins_switch(plugins, (struct api_strs){&names->v[i], 1}, on, err) < 0)
            return suggest_plugins(names->v[i], err);
    return 0;
}

static int choose_plugins(struct run *run, struct err *err) {
    const struct opt_list *on = &run->opts->enabled, *off = &run->opts->disabled;
    for (size_t i = 0; i < on->n; i++)
        for (size_t k = 0; k < off->n; k++)
            if (str_eq(on->v[i], off->v[k]))
                return err_set(err, ERR_USAGE,
                               "[%.*s] in enable-admission-plugins and disable-admission-plugins "
                               "overlapped",
                               STR_ARG(on->v[i]));
    run->plugins = registry_plugins_default();
    if (switch_plugins(&run->plugins, off, false, err) < 0)
        return -1;
    return switch_plugins(&run->plugins, on, true, err);
}

static int run(struct cmd_call *call, struct err *err) {
    struct run run = {.call = call, .opts = call->opts, .signal_fd = -1};
    if (check(run.opts, err) < 0 || read_durations(&run, err) < 0 ||
        choose_plugins(&run, err) < 0 || read_services(&run, err) < 0 ||
        audit_configure(&run.opts->audit, &run.audit_keep, err) < 0 ||
        gates_configure(&run.opts->gates, &call->ctx->log, &run.gates, err) < 0)
        return -1;
    run.loop = net_loop_new(call->ctx->clock);
    run.catalog = apiserver_catalog_new();
    run.expressions = tolexpr_new(
        &(struct tolexpr_opts){run.gates.min_compat, call->ctx->clock, map_random_seed(), 0});
    int rc = serve(&run, err);
    release(&run);
    return rc;
}

static const struct cmd_example examples[] = {
    {"A server that keeps what it is told", "berth apiserver --data-dir ./cluster"},
    {"One that forgets, on any free port", "berth apiserver --memory --secure-port 0"},
    {"With version operators", "berth apiserver "
                               "--feature-gates=TolerationAffinitySemverOperators=true"},
    {0},
};

const struct cmd cmd_apiserver = {
    .name = "apiserver",
    .summary = "Serve the Kubernetes API, with a store of its own",
    .about = "Serve the API of Kubernetes to kubectl, client-go and controllers, from one process: "
             "objects are decoded, defaulted, admitted and validated as `berth validate` says, and "
             "kept in a file of the data folder.\n\n"
             "When it is ready, one line on standard output says where it listens and which "
             "kubeconfig to use. SIGTERM and SIGINT end it; what was acknowledged is on disk.",
    .usage = "[--data-dir DIR | --memory] [options]",
    .examples = examples,
    .groups = {{"Server", server_opts, 0},
               {"Authentication", auth_opts, offsetof(struct apiserver_cmd_opts, auth)},
               {"Services", service_opts, offsetof(struct apiserver_cmd_opts, services)},
               {"Requests", request_opts, 0},
               {"Audit", audit_opts, offsetof(struct apiserver_cmd_opts, audit)},
               {"Feature gates", gates_opts, offsetof(struct apiserver_cmd_opts, gates)}},
    .opts_size = sizeof(struct apiserver_cmd_opts),
    .run = run,
};
