/* A loop on a thread of its own: lines are posted to it. */
#include "server/audit_log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "base/log.h"
#include "net/loop.h"

struct server_audit_log {
    struct net_loop *loop;
    pthread_t thread;
    int fd;
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

static int write_all(int fd, struct str text) {
    while (text.n) {
        ssize_t n = write(fd, text.p, text.n);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        text = str_sub(text, (size_t)n, text.n);
    }
    return 0;
}

/* On the thread. */
static void write_line(void *arg) {
    struct line *line = arg;
    struct server_audit_log *l = line->l;
    struct str text = buf_view(&line->text);
    if (write_all(l->fd, text) == 0)
        atomic_fetch_add_explicit(&l->written, 1, memory_order_relaxed);
    else {
        atomic_fetch_add_explicit(&l->failed, 1, memory_order_relaxed);
        if (log_limit_allows(&l->limit, l->log))
            log_error(l->log, "audit event cannot be written",
                      LOG_STR("err", str_of(strerror(errno))));
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

static int open_file(const char *path, struct err *err) {
    int fd = strcmp(path, "-") == 0 ? dup(STDOUT_FILENO)
                                    : open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    return fd < 0 ? err_set(err, ERR_IO, "audit log '%s': %s", path, strerror(errno)) : fd;
}

int server_audit_log_open(const struct server_audit_opts *opts, struct server_audit_log **out,
                          struct err *err) {
    int fd = open_file(opts->path, err);
    if (fd < 0)
        return -1;
    struct server_audit_log *l = xcalloc(1, sizeof *l);
    l->fd = fd;
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
    close(l->fd);
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
