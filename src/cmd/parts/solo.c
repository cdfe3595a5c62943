/*
 * The life of a process with one component: it connects, waits for the Lease, works, and ends.
 *
 * Follows k8s.io/kubernetes cmd/kube-scheduler/app, func Run.
 */
#include "cmd/parts/solo_int.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "auth/pki.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/program.h"
#include "cli/io.h"
#include "client/events.h"
#include "client/http.h"
#include "cmd/cluster_flags.h"
#include "cmd/flag_values.h"
#include "cmd/signals.h"
#include "health/endpoint.h"

/* How often the component is asked whether it is ready, until it is. */
#define LOOK_EVERY (CLOCK_SECOND / 100)

/* As long as a Lease may be older than it should before /healthz fails. */
#define LEASE_TOLERANCE (20 * CLOCK_SECOND)

struct solo {
    struct cmd_call *call;
    const struct solo_opts *opts;
    struct solo__election lease; /* which, and how */
    struct net_loop *loop;
    struct signals signals;
    struct part part;
    struct net_timer look;
    struct client *election_client; /* of its own: the component's may wait in line */
    struct events *events;
    struct election *election;
    struct endpoint *endpoint;
    bool is_stopping;
    int rc;
    struct err *err; /* what failed behind the start */
};

/* ---- the connection ---- */

int solo_connect(struct cmd_call *call, const struct solo_connection *connection, struct str file,
                 struct kubeconfig_access *out, struct err *err) {
    const struct cluster_opts opts = {
        .kubeconfig = connection->kubeconfig.p ? connection->kubeconfig : file,
        .context = connection->context,
    };
    return cluster_find(call, &opts, out, err);
}

static int new_client(struct solo *s, struct client_http_opts *opts, struct client **out,
                      struct err *err) {
    opts->loop = s->loop;
    opts->access = s->opts->access;
    *out = client_http_new(opts, err);
    return *out ? 0 : -1;
}

static int open_part(struct solo *s, struct err *err) {
    const struct solo_opts *o = s->opts;
    struct client_http_opts http = {0};
    struct part_opts opts = {.ctx = s->call->ctx,
                             .setup = o->setup,
                             .loop = s->loop,
                             .min_compat = o->min_compat,
                             .components = {o->component}};
    http.user_agent =
        arena_printf(s->call->arena, "%s/v" BERTH_VERSION " (berth)", o->component->name);
    if (solo__read_limits(o, &http, err) < 0)
        return -1;
    if (new_client(s, &http, &opts.client, err) < 0)
        return -1;
    part_init(&s->part, &opts);
    return 0;
}

/* ---- work ---- */

static void finish(struct solo *s, int rc) {
    s->rc = rc;
    net_timer_stop(s->loop, &s->look);
    net_loop_stop(s->loop);
}

static void look(void *arg) {
    struct solo *s = arg;
    if (!part_is_ready(&s->part))
        net_timer_start(s->loop, &s->look, net_loop_now(s->loop) + LOOK_EVERY);
    else if (io_write(s->call->ctx->out, STR("ready\n"), s->err) < 0)
        finish(s, -1);
    else
        program_trim();
}

static void work(void *arg) {
    struct solo *s = arg;
    if (part_start(&s->part, s->err) < 0)
        finish(s, -1);
    else
        look(s);
}

/* What is under way is left as it is: whoever goes on sees what became of it. */
static void on_signal(void *arg) {
    struct solo *s = arg;
    if (s->is_stopping) {
        finish(s, CMD_BAD_VERDICT);
        return;
    }
    s->is_stopping = true;
    net_timer_stop(s->loop, &s->look);
    part_stop(&s->part);
    if (s->election)
        election_stop(s->election);
    else
        finish(s, CMD_GOOD);
}

/* ---- the Lease ---- */

static void on_ended(void *arg, enum election_end end) {
    struct solo *s = arg;
    if (end == ELECTION_STOPPED) {
        finish(s, CMD_GOOD);
        return;
    }
    log_error(&s->call->ctx->log, "leaderelection lost", LOG_STR("lease", s->lease.name),
              LOG_STR("server", s->opts->access->server));
    part_stop(&s->part);
    finish(s, CMD_BAD_VERDICT);
}

/* The name of the machine and a random UUID, so that no two processes are the same. */
static struct str make_identity(struct arena *a) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    char host[256] = "";
    unsigned char b[16];
    if (gethostname(host, sizeof host - 1) < 0 || getrandom(b, sizeof b, 0) != (ssize_t)sizeof b)
        BUG("the system has no name, or no random bytes");
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    buf_addf(&text, "%s_", host);
    for (size_t i = 0; i < sizeof b; i += i ? 2 : 4) {
        if (i > 0 && i <= 10)
            buf_add_char(&text, '-');
        buf_add_hex(&text, b + i, i ? 2 : 4);
    }
    return arena_str(a, buf_view(&text));
}

static int open_election(struct solo *s, struct err *err) {
    struct cmd_ctx *ctx = s->call->ctx;
    struct client_http_opts http = {
        .user_agent = arena_printf(s->call->arena, "%s/v" BERTH_VERSION " (berth) leader-election",
                                   s->opts->component->name)};
    if (new_client(s, &http, &s->election_client, err) < 0)
        return -1;
    s->events = events_new(&(struct events_opts){
        .client = s->election_client, .log = &ctx->log, .component = s->opts->event_source});
    s->election = election_new(&(struct election_opts){.client = s->election_client,
                                                       .events = s->events,
                                                       .log = &ctx->log,
                                                       .namespace = s->lease.namespace,
                                                       .name = s->lease.name,
                                                       .server = s->opts->access->server,
                                                       .identity = make_identity(s->call->arena),
                                                       .times = s->lease.times,
                                                       .seed = map_random_seed() | 1,
                                                       .elected = work,
                                                       .ended = on_ended,
                                                       .arg = s});
    return 0;
}

/* ---- health ---- */

static int check_ping(const void *arg, struct err *err) {
    (void)arg, (void)err;
    return 0;
}

static int check_election(const void *arg, struct err *err) {
    const struct solo *s = arg;
    return s->election ? election_check(s->election, LEASE_TOLERANCE, err) : 0;
}

static int check_informers(const void *arg, struct err *err) {
    const struct solo *s = arg;
    return s->part.informers && informers_have_synced(s->part.informers)
               ? 0
               : err_set(err, ERR_UNAVAILABLE, "informers are not fully synchronized");
}

static int check_shutdown(const void *arg, struct err *err) {
    const struct solo *s = arg;
    return s->is_stopping ? err_set(err, ERR_UNAVAILABLE, "process is shutting down") : 0;
}

static const struct health_check checks[] = {
    {STR_INIT("ping"), HEALTH_ALL, check_ping},
    {STR_INIT("leaderElection"), HEALTH_HEALTHZ | HEALTH_READYZ, check_election},
    {STR_INIT("informer-sync"), HEALTH_READYZ, check_informers},
    {STR_INIT("shutdown"), HEALTH_READYZ, check_shutdown},
};

static void write_metrics(void *arg, struct buf *out) {
    struct solo *s = arg;
    if (s->election)
        election_metrics_write(s->election, out);
    part_metrics_write(&s->part, out);
}

static int open_endpoint(struct solo *s, struct err *err) {
    const struct solo_serving *serving = s->opts->serving;
    struct arena *a = s->call->arena;
    struct str names[] = {STR("localhost"), STR("127.0.0.1"), STR("::1"), serving->address};
    struct endpoint_opts opts = {.loop = s->loop,
                                 .address = arena_str(a, serving->address).p,
                                 .checks = {checks, sizeof checks / sizeof *checks, s},
                                 .write_metrics = write_metrics,
                                 .arg = s};
    int64_t now = clock_wall(s->call->ctx->clock) / CLOCK_SECOND;
    if (flag_port("secure-port", serving->port, &opts.port, err) < 0)
        return -1;
    if (!opts.port)
        return 0;
    if (auth_pki_self_signed(a, &(struct api_strs){names, 4}, now, &opts.certificate.chain_pem,
                             &opts.certificate.key_pem, err) < 0)
        return -1;
    s->endpoint = endpoint_new(&opts, err);
    return s->endpoint ? 0 : err_wrap(err, "--secure-port");
}

/* ---- the whole ---- */

static int open_all(struct solo *s, struct err *err) {
    if (solo__read_election(s->opts, &s->lease, err) < 0)
        return -1;
    s->loop = net_loop_new(s->call->ctx->clock);
    if (signals_listen(&s->signals, s->loop, on_signal, s, err) < 0 || open_part(s, err) < 0 ||
        open_endpoint(s, err) < 0)
        return -1;
    if (!s->lease.is_on) {
        work(s);
        return 0;
    }
    part_warm(&s->part);
    return open_election(s, err);
}

static void close_all(struct solo *s) {
    endpoint_free(s->endpoint);
    election_free(s->election);
    events_free(s->events);
    client_free(s->election_client);
    part_release(&s->part);
    signals_release(&s->signals);
    net_loop_free(s->loop);
}

int solo_run(struct cmd_call *call, const struct solo_opts *opts, struct err *err) {
    struct solo s = {.call = call, .opts = opts, .err = err, .rc = -1};
    s.look = (struct net_timer){.fn = look, .arg = &s};
    if (open_all(&s, err) == 0)
        net_loop_run(s.loop);
    close_all(&s);
    return s.rc;
}
