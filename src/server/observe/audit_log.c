/* A loop on a thread of its own: lines are posted to it. */
#include "server/audit_log.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "base/log.h"
#include "net/loop.h"

struct server_audit_log {
    struct net_loop *loop;
    pthread_t thread;
    struct server_audit_file file; /* of the thread */
    const struct log *log;
    size_t most;            /* bytes that may wait */
    struct log_limit limit; /* of the thread: lines about errors */
    atomic_size_t queued;   /* bytes that wait */
    _Atomic uint64_t written, dropped, failed;
};

/* A line on its way. */
struct line {
    struct server_audit_log *l;
    struct buf text;
};

/* On the thread. */
static void write_line(void *arg) {
    struct line *line = arg;
    struct server_audit_log *l = line->l;
    struct str text = buf_view(&line->text);
    struct err err;
    if (server_audit_file_write(&l->file, text, &err) == 0)
        atomic_fetch_add_explicit(&l->written, 1, memory_order_relaxed);
    else {
        atomic_fetch_add_explicit(&l->failed, 1, memory_order_relaxed);
        if (log_limit_allows(&l->limit, l->log))
            log_error(l->log, "audit event cannot be written", LOG_STR("err", str_of(err.msg)));
    }
    atomic_fetch_sub_explicit(&l->queued, text.n, memory_order_relaxed);
    buf_release(&line->text);
    free(line);
}

static void stop(void *arg) {
    net_loop_stop(arg);
}

/* A reader that has gone is an error as others are. */
static void *run(void *arg) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    net_loop_run(arg);
    return NULL;
}

int server_audit_log_open(const struct server_audit_opts *opts, struct server_audit_log **out,
                          struct err *err) {
    struct server_audit_file file = {
        .path = opts->path, .keep = opts->keep, .clock = opts->clock, .fd = -1};
    if (server_audit_file_open(&file, err) < 0)
        return -1;
    struct server_audit_log *l = xcalloc(1, sizeof *l);
    l->file = file;
    l->log = opts->log;
    l->most = opts->queue_bytes ? opts->queue_bytes : LIMIT_AUDIT_QUEUE_BYTES;
    l->loop = net_loop_new(opts->clock);
    if (pthread_create(&l->thread, NULL, run, l->loop))
        BUG("no thread can be made");
    *out = l;
    return 0;
}

void server_audit_log_close(struct server_audit_log *l) {
    if (!l)
        return;
    net_loop_post(l->loop, stop, l->loop); /* behind all lines */
    pthread_join(l->thread, NULL);
    net_loop_free(l->loop);
    server_audit_file_close(&l->file);
    free(l);
}

void server_audit_log_write(struct server_audit_log *l, struct buf text) {
    size_t n = buf_view(&text).n;
    if (atomic_fetch_add_explicit(&l->queued, n, memory_order_relaxed) + n > l->most) {
        atomic_fetch_sub_explicit(&l->queued, n, memory_order_relaxed);
        atomic_fetch_add_explicit(&l->dropped, 1, memory_order_relaxed);
        buf_release(&text);
        return;
    }
    struct line *line = xmalloc(sizeof *line);
    *line = (struct line){l, text};
    net_loop_post(l->loop, write_line, line);
}

void server_audit_log_stats(const struct server_audit_log *l, struct server_audit_stats *out) {
    *out = (struct server_audit_stats){
        .written = atomic_load_explicit(&l->written, memory_order_relaxed),
        .dropped = atomic_load_explicit(&l->dropped, memory_order_relaxed),
        .failed = atomic_load_explicit(&l->failed, memory_order_relaxed),
        .queued_bytes = atomic_load_explicit(&l->queued, memory_order_relaxed),
    };
}
