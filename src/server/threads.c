/* The threads: workers with their loops, started and ended. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"
#include "server/server_int.h"

static void *run_worker(void *arg) {
    struct server__worker *w = arg;
    net_loop_run(w->loop);
    return NULL;
}

static void make_workers(struct server *s) {
    const struct clock *clock = s->opts.wire_clock ? s->opts.wire_clock : s->opts.clock;
    s->worker_count = s->opts.workers ? s->opts.workers : 1;
    s->workers = xcalloc(s->worker_count, sizeof *s->workers);
    struct openapi_opts openapi = {.address = s->public_address};
    for (size_t i = 0; i < s->worker_count; i++)
        s->workers[i] = (struct server__worker){.s = s,
                                                .loop = net_loop_new(clock),
                                                .openapi = openapi_new(&openapi),
                                                .counts = server_counts_new(),
                                                .index = BUF_INIT(SIZE_MAX),
                                                .chance = map_random_seed()};
}

static int listen_on(struct server *s, struct err *err) {
    struct net_loop **loops = xcalloc(s->worker_count, sizeof *loops);
    for (size_t i = 0; i < s->worker_count; i++)
        loops[i] = s->workers[i].loop;
    struct net_server_config config = {.address = s->opts.address,
                                       .port = s->opts.port,
                                       .tls = s->opts.tls,
                                       .request = server__request,
                                       .self = s};
    s->net = net_server_new(loops, s->worker_count, &config, err);
    free(loops);
    return s->net ? 0 : -1;
}

/* ---- the audit log ---- */

static int read_policy(struct server *s, struct err *err) {
    AUTO(buf_release) struct buf text = BUF_INIT((size_t)LIMIT_AUDIT_POLICY_BYTES + 1);
    char chunk[4096];
    int fd = open(s->opts.audit_policy, O_RDONLY | O_CLOEXEC);
    ssize_t n = -1;
    if (fd >= 0) {
        while (!text.full && (n = read(fd, chunk, sizeof chunk)) > 0)
            buf_add(&text, (struct str){chunk, (size_t)n});
        close(fd);
    }
    if (n < 0)
        err_set(err, ERR_IO, "%s", strerror(errno));
    if (n < 0 || server_audit_policy_read(buf_view(&text), &s->policy, err) < 0)
        return err_wrap(err, "audit policy '%s'", s->opts.audit_policy);
    return 0;
}

/* Both are needed: without a policy nothing is audited, as with upstream. */
static int open_audit(struct server *s, struct err *err) {
    if (s->opts.audit_policy && read_policy(s, err) < 0)
        return -1;
    if (s->opts.audit_log && !s->policy)
        log_warn(s->opts.log, "No audit policy file provided, no events will be recorded for log "
                              "backend");
    if (!s->opts.audit_log || !s->policy) {
        server_audit_policy_free(s->policy);
        s->policy = NULL;
        return 0;
    }
    return server_audit_log_open(&(struct server_audit_opts){.path = s->opts.audit_log,
                                                             .keep = s->opts.audit_keep,
                                                             .clock = s->opts.clock,
                                                             .log = s->opts.log},
                                 &s->audit_log, err);
}

/* ---- the server ---- */

#define REQUEST_TIMEOUT (60 * CLOCK_SECOND)

static struct server *make(const struct server_opts *opts) {
    struct server *s = xcalloc(1, sizeof *s);
    s->opts = *opts;
    if (!s->opts.request_timeout)
        s->opts.request_timeout = REQUEST_TIMEOUT;
    s->inflight.limits[SERVER_SEAT_READ] = opts->max_inflight;
    s->inflight.limits[SERVER_SEAT_WRITE] = opts->max_mutating_inflight;
    s->started = clock_wall(opts->clock);
    make_workers(s);
    return s;
}

int server_new(const struct server_opts *opts, struct server **out, struct err *err) {
    struct server *s = make(opts);
    server__core_start(s);
    if (open_audit(s, err) < 0 || listen_on(s, err) < 0) {
        server_free(s);
        return -1;
    }
    bool is_v6 = strchr(s->opts.address, ':');
    snprintf(s->public_address, sizeof s->public_address, "%s%s%s:%u", is_v6 ? "[" : "",
             s->opts.address, is_v6 ? "]" : "", (unsigned)server_port(s));
    for (size_t i = 0; i < s->worker_count; i++)
        if (pthread_create(&s->workers[i].thread, NULL, run_worker, &s->workers[i]))
            BUG("no thread can be made");
    *out = s;
    return 0;
}

uint16_t server_port(const struct server *s) {
    return net_server_port(s->net);
}

const char *server_address(const struct server *s) {
    return s->public_address;
}

static void stop_core(void *arg) {
    struct server *s = arg;
    net_loop_stop(s->opts.loop);
}

static void shut_down(void *arg) {
    struct server *s = arg;
    net_server_shutdown(s->net, s->grace, stop_core, s);
}

void server_stop(struct server *s, int64_t delay, int64_t grace) {
    bool was_stopping = __atomic_exchange_n(&s->is_stopping, true, __ATOMIC_RELAXED);
    if (was_stopping && !net_timer_is_running(&s->stopping))
        return;
    s->grace = grace;
    s->stopping = was_stopping ? s->stopping : (struct net_timer){.fn = shut_down, .arg = s};
    net_timer_start(s->opts.loop, &s->stopping,
                    clock_after(net_loop_now(s->opts.loop), was_stopping ? 0 : delay));
}

void server_free(struct server *s) {
    if (!s)
        return;
    for (size_t i = 0; i < s->worker_count; i++)
        if (s->workers[i].thread) {
            net_loop_stop(s->workers[i].loop);
            pthread_join(s->workers[i].thread, NULL);
        }
    net_server_free(s->net);
    net_timer_stop(s->opts.loop, &s->stopping);
    server__core_stop(s);
    server_audit_log_close(s->audit_log);
    server_audit_policy_free(s->policy);
    for (size_t i = 0; i < s->worker_count; i++) {
        auth_rules_unref(s->workers[i].rules);
        openapi_free(s->workers[i].openapi);
        server_counts_free(s->workers[i].counts);
        buf_release(&s->workers[i].index);
        net_loop_free(s->workers[i].loop);
    }
    free(s->workers);
    free(s);
}
