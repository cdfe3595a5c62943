/* The parts of a server, opened one after the other and closed the other way round. */
#include "cmd/serve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/map.h"
#include "base/program.h"
#include "cli/io.h"
#include "cli/spelling.h"
#include "cmd/data_dir.h"
#include "cmd/flag_values.h"
#include "tolexpr/tolexpr.h"

#ifndef BERTH_COMMIT
#define BERTH_COMMIT ""
#endif

static void offer_plugins(struct buf *out) {
    const char *name;
    bool on;
    for (size_t i = 0; (name = registry_plugin_name(i, &on)); i++)
        buf_addf(out, "%s%s", i ? " " : "", name);
}

const struct opt serve_opts[] = {
    {.name = "data-dir",
     .kind = OPT_STR,
     .help = "Folder of the store and of the server's certificates. Made if it is missing; by "
             "default berth below $XDG_DATA_HOME or ~/.local/share.",
     .value = "DIR",
     .offset = offsetof(struct serve_opts, data_dir)},
    {.name = "memory",
     .kind = OPT_FLAG,
     .help = "Keep nothing: the store is in memory, and certificates are made for this run.",
     .offset = offsetof(struct serve_opts, memory)},
    {.name = "bind-address",
     .kind = OPT_STR,
     .help = "Address to listen on.",
     .value = "ADDRESS",
     .fallback = "127.0.0.1",
     .offset = offsetof(struct serve_opts, bind_address)},
    {.name = "secure-port",
     .kind = OPT_INT,
     .help = "Port to listen on with TLS; 0 is any that is free.",
     .value = "PORT",
     .fallback = "6443",
     .offset = offsetof(struct serve_opts, port)},
    {.name = "write-kubeconfig",
     .kind = OPT_STR,
     .help = "File to write the administrator's kubeconfig to; by default admin.kubeconfig in the "
             "data folder.",
     .value = "FILE",
     .offset = offsetof(struct serve_opts, kubeconfig)},
    {.name = "enable-admission-plugins",
     .kind = OPT_LIST,
     .help = "Admission plug-ins to ask beside those that are on by default, by their names in "
             "kube-apiserver.",
     .value = "NAME,...",
     .offset = offsetof(struct serve_opts, enabled),
     .offer = offer_plugins},
    {.name = "disable-admission-plugins",
     .kind = OPT_LIST,
     .help = "Admission plug-ins not to ask, although they are on by default.",
     .value = "NAME,...",
     .offset = offsetof(struct serve_opts, disabled),
     .offer = offer_plugins},
    {0},
};

const struct opt serve_request_opts[] = {
    {.name = "max-requests-inflight",
     .kind = OPT_INT,
     .help = "Requests that read and may be under way at a time; more are answered with 429. "
             "Watches do not count. 0 is no limit.",
     .value = "N",
     .fallback = "400",
     .offset = offsetof(struct serve_opts, max_inflight)},
    {.name = "max-mutating-requests-inflight",
     .kind = OPT_INT,
     .help = "The same for requests that write.",
     .value = "N",
     .fallback = "200",
     .offset = offsetof(struct serve_opts, max_mutating_inflight)},
    {.name = "request-timeout",
     .kind = OPT_STR,
     .help = "How long a request may take before it is answered with 504. Watches may take longer.",
     .value = "DURATION",
     .fallback = "1m0s",
     .offset = offsetof(struct serve_opts, request_timeout)},
    {.name = "shutdown-delay-duration",
     .kind = OPT_STR,
     .help = "How long to serve on after SIGTERM, while /readyz fails.",
     .value = "DURATION",
     .fallback = "0s",
     .offset = offsetof(struct serve_opts, shutdown_delay)},
    {0},
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

static int choose_dir(struct serve *s, struct err *err) {
    const char *tmp = cmd_getenv(s->call->ctx, "TMPDIR");
    if (s->opts->memory) {
        struct str pattern =
            arena_printf(s->call->arena, "%s/berth-XXXXXX", tmp && *tmp ? tmp : "/tmp");
        char *path = arena_copy(s->call->arena, pattern.p, pattern.n + 1);
        if (!mkdtemp(path))
            return err_set(err, ERR_IO, "folder '%s': %s", path, strerror(errno));
        s->dir = str_of(path);
        s->dir_is_ours = true;
        return 0;
    }
    struct arena *a = s->call->arena;
    return data_dir_choose(s->call->ctx, a, s->opts->data_dir, &s->dir, err) < 0
               ? -1
               : data_dir_make(a, s->dir, err);
}

static struct str inside(struct serve *s, const char *name) {
    return data_dir_inside(s->call->arena, s->dir, name);
}

static void remove_dir(struct serve *s) {
    static const char *const files[] = {"pki/ca.crt",        "pki/ca.key",    "pki/apiserver.crt",
                                        "pki/apiserver.key", "pki/admin.crt", "pki/admin.key",
                                        "pki/sa.key",        "pki/lock",      "admin.kubeconfig"};
    if (!s->dir_is_ours)
        return;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        (void)unlink(inside(s, files[i]).p);
    (void)rmdir(inside(s, "pki").p);
    (void)rmdir(s->dir.p);
}

/* ---- parts ---- */

static int open_store(struct serve *s, struct err *err) {
    struct store_opts opts = {.clock = s->call->ctx->clock, .post = post, .post_ctx = s->loop};
    opts.resources = apiserver_catalog_storage(s->catalog, &opts.n);
    if (!s->opts->memory)
        opts.directory = inside(s, "store").p;
    return store_open(&opts, &s->store, err);
}

static int open_tls(struct serve *s, struct err *err) {
    struct auth_pki_options options = {.dir = inside(s, "pki"),
                                       .now = clock_wall(s->call->ctx->clock) / CLOCK_SECOND};
    struct str address = s->opts->bind_address;
    options.names = (struct api_strs){&address, 1};
    if (auth_pki_open(s->call->arena, &options, &s->pki, err) < 0)
        return -1;
    const struct net_certificate certificate = {s->pki.server_certificate, s->pki.server_key};
    s->tls = net_tls_new(&(struct net_tls_config){&certificate, 1, s->pki.ca_certificate}, err);
    return s->tls ? 0 : -1;
}

static const char *text_or_null(struct serve *s, struct str text) {
    return text.n ? arena_str(s->call->arena, text).p : NULL;
}

static int open_api(struct serve *s, struct err *err) {
    struct cmd_ctx *ctx = s->call->ctx;
    struct auth_issuer *issuer = &s->auth.setup.issuer;
    if (auth_configure(s->call->arena, &s->opts->auth, s->pki.service_account_key, &s->auth, err) <
        0)
        return -1;
    s->api = apiserver_new(&(struct apiserver_opts){.catalog = s->catalog,
                                                    .store = s->store,
                                                    .gates = &s->gates.enabled,
                                                    .cel = tolexpr_valid_cel(s->expressions),
                                                    .clock = ctx->clock,
                                                    .plugins = s->plugins,
                                                    .draw = draw,
                                                    .issuer = issuer,
                                                    .token_most_seconds = s->auth.most_seconds,
                                                    .extends_tokens = s->opts->auth.extends,
                                                    .service_cidrs = s->services.cidrs,
                                                    .node_ports = s->services.node_ports,
                                                    .read_log = s->opts->read_log});
    issuer->objects = apiserver_objects(s->api);
    s->core =
        apiserver_core_new(&(struct apiserver_core_opts){s->api, s->store, s->loop, ctx->clock});
    apiserver_bootstrap(s->api);
    store_commit(s->store, NULL, NULL);
    store_flush(s->store);
    return 0;
}

static int open_server(struct serve *s, struct err *err) {
    struct cmd_ctx *ctx = s->call->ctx;
    long processors = sysconf(_SC_NPROCESSORS_ONLN);
    struct server_opts opts = {.api = s->api,
                               .catalog = s->catalog,
                               .store = s->store,
                               .core = s->core,
                               .loop = s->loop,
                               .gates = &s->gates.enabled,
                               .clock = ctx->clock,
                               .wire_clock = s->opts->wire_clock,
                               .log = &ctx->log,
                               .address = arena_str(s->call->arena, s->opts->bind_address).p,
                               .port = (uint16_t)s->opts->port,
                               .tls = s->tls,
                               .who = {.file = s->auth.setup.file,
                                       .issuer = &s->auth.setup.issuer,
                                       .allows_anonymous = s->opts->auth.anonymous},
                               .jwks_uri = s->opts->auth.jwks_uri,
                               .emulated = s->gates.emulated,
                               .min_compat = s->gates.min_compat,
                               .program_version = BERTH_VERSION,
                               .program_commit = BERTH_COMMIT,
                               .request_timeout = s->request_timeout,
                               .max_inflight = (uint32_t)s->opts->max_inflight,
                               .max_mutating_inflight = (uint32_t)s->opts->max_mutating_inflight,
                               .audit_log = text_or_null(s, s->opts->audit.log),
                               .audit_policy = text_or_null(s, s->opts->audit.policy),
                               .audit_keep = s->audit_keep,
                               .workers = processors > 0 ? (size_t)processors : 1};
    return server_new(&opts, &s->server, err);
}

/* How often it is looked whether others can still be told where the server is. */
#define ADVERTISE_EVERY (10 * CLOCK_SECOND)

static bool advertise_again(void *arg) {
    struct serve *s = arg;
    return apiserver_advertise_again(s->api, s->services.advertised, server_port(s->server));
}

/* Others are told where the server is once it listens. */
static void advertise(struct serve *s) {
    apiserver_core_repeat(s->core, ADVERTISE_EVERY, advertise_again, s);
    apiserver_advertise(s->api, s->services.advertised, server_port(s->server));
    store_commit(s->store, NULL, NULL);
    store_flush(s->store);
}

/* ---- ready, and the end ---- */

static struct str url_of(struct serve *s) {
    return arena_printf(s->call->arena, "https://%s", server_address(s->server));
}

struct auth_kubeconfig serve_access(struct serve *s) {
    return (struct auth_kubeconfig){.server = url_of(s),
                                    .ca_certificate = s->pki.ca_certificate,
                                    .client_certificate = s->pki.admin_certificate,
                                    .client_key = s->pki.admin_key};
}

int serve_write_kubeconfig(struct serve *s, struct err *err) {
    s->kubeconfig = s->opts->kubeconfig.n ? arena_str(s->call->arena, s->opts->kubeconfig)
                                          : inside(s, "admin.kubeconfig");
    struct auth_kubeconfig k = serve_access(s);
    return auth_kubeconfig_write(s->kubeconfig, &k, err);
}

int serve_tell_ready(struct serve *s, struct err *err) {
    if (serve_write_kubeconfig(s, err) < 0)
        return -1;
    struct str line = arena_printf(s->call->arena, "ready %.*s kubeconfig %.*s\n",
                                   STR_ARG(url_of(s)), STR_ARG(s->kubeconfig));
    if (io_write(s->call->ctx->out, line, err) < 0)
        return -1;
    program_trim();
    return 0;
}

/* Requests under way have this long to finish after SIGTERM. */
#define GRACE (CLOCK_SECOND / 2)

void serve_stop(struct serve *s) {
    int64_t second = clock_wait(s->call->ctx->clock, CLOCK_SECOND); /* of the core's loop */
    int64_t speed = second ? CLOCK_SECOND / second : 1;
    int64_t delay;
    if (__builtin_mul_overflow(s->shutdown_delay, speed, &delay))
        delay = INT64_MAX;
    server_stop(s->server, delay, GRACE * speed);
}

static void on_signal(void *arg) {
    struct serve *s = arg;
    if (s->interrupted)
        s->interrupted(s->interrupted_arg);
    else
        serve_stop(s);
}

/* ---- options ---- */

static int read_durations(struct serve *s, struct err *err) {
    return flag_duration("request-timeout", s->opts->request_timeout, &s->request_timeout, err) <
                       0 ||
                   flag_duration("shutdown-delay-duration", s->opts->shutdown_delay,
                                 &s->shutdown_delay, err) < 0
               ? -1
               : 0;
}

static int check(const struct serve_opts *opts, struct err *err) {
    if (opts->memory && opts->data_dir.n)
        return err_set(err, ERR_USAGE, "--memory and --data-dir exclude each other");
    if (opts->port < 0 || opts->port > UINT16_MAX)
        return err_set(err, ERR_USAGE, "--secure-port must be between 0 and 65535");
    if (opts->max_inflight > INT32_MAX || opts->max_mutating_inflight > INT32_MAX)
        return err_set(err, ERR_USAGE, "a limit of requests in flight is too large");
    return 0;
}

static int read_services(struct serve *s, struct err *err) {
    return service_configure(s->call->arena, &s->opts->services, s->opts->bind_address,
                             &s->services, err);
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

static int choose_plugins(struct serve *s, struct err *err) {
    const struct opt_list *on = &s->opts->enabled, *off = &s->opts->disabled;
    for (size_t i = 0; i < on->n; i++)
        for (size_t k = 0; k < off->n; k++)
            if (str_eq(on->v[i], off->v[k]))
                return err_set(err, ERR_USAGE,
                               "[%.*s] in enable-admission-plugins and disable-admission-plugins "
                               "overlapped",
                               STR_ARG(on->v[i]));
    s->plugins = registry_plugins_default();
    if (switch_plugins(&s->plugins, off, false, err) < 0)
        return -1;
    return switch_plugins(&s->plugins, on, true, err);
}

static int read_options(struct serve *s, struct err *err) {
    struct cmd_call *call = s->call;
    return check(s->opts, err) < 0 || read_durations(s, err) < 0 || choose_plugins(s, err) < 0 ||
                   read_services(s, err) < 0 ||
                   audit_configure(&s->opts->audit, &s->audit_keep, err) < 0 ||
                   gates_configure(&s->opts->gates, &call->ctx->log, &s->gates, err) < 0
               ? -1
               : 0;
}

/* ---- the whole ---- */

int serve_open(struct serve *s, struct cmd_call *call, const struct serve_opts *opts,
               struct err *err) {
    *s = (struct serve){.call = call, .opts = opts};
    if (read_options(s, err) < 0)
        return -1;
    s->loop = net_loop_new(call->ctx->clock);
    s->catalog = apiserver_catalog_new();
    s->expressions = tolexpr_new(
        &(struct tolexpr_opts){s->gates.min_compat, call->ctx->clock, map_random_seed(), 0});
    return choose_dir(s, err) < 0 || signals_listen(&s->signals, s->loop, on_signal, s, err) < 0 ||
                   open_store(s, err) < 0 || open_tls(s, err) < 0 || open_api(s, err) < 0
               ? -1
               : 0;
}

int serve_listen(struct serve *s, struct err *err) {
    if (open_server(s, err) < 0)
        return str_ends(str_of(err->msg), str_of(strerror(EADDRINUSE)))
                   ? cmd_hint(err, STR("--secure-port 0 takes any port that is free"))
                   : -1;
    advertise(s);
    return 0;
}

void serve_close(struct serve *s) {
    signals_release(&s->signals);
    server_free(s->server);
    net_tls_free(s->tls);
    store_close(s->store);
    apiserver_free(s->api);
    apiserver_core_free(s->core);
    auth_config_release(&s->auth);
    tolexpr_free(s->expressions);
    apiserver_catalog_free(s->catalog);
    net_loop_free(s->loop);
    remove_dir(s);
}
