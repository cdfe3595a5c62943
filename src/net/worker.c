/* What connections of one loop share: counters, the date, limits. */
#include "net/worker_int.h"

#include <stdio.h>
#include <time.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"

const struct net_limits net_limits_default = {
    .connections = LIMIT_NET_CONNECTIONS,
    .loop_connections = LIMIT_NET_LOOP_CONNECTIONS,
    .streams = LIMIT_NET_STREAMS,
    .headers = LIMIT_NET_HEADERS,
    .head_bytes = LIMIT_NET_HEAD_BYTES,
    .handshake = LIMIT_NET_HANDSHAKE_SECONDS * CLOCK_SECOND,
    .head = LIMIT_NET_HEAD_SECONDS * CLOCK_SECOND,
    .body = LIMIT_NET_BODY_SECONDS * CLOCK_SECOND,
    .idle = LIMIT_NET_IDLE_SECONDS * CLOCK_SECOND,
    .stall = LIMIT_NET_STALL_SECONDS * CLOCK_SECOND,
};

struct net__worker *net__worker_new(struct net_loop *loop, const struct net_limits *limits,
                                    void (*request)(void *self, struct net_exchange *x),
                                    void *self) {
    struct net__worker *worker = xcalloc(1, sizeof *worker);
    worker->loop = loop;
    worker->limits = limits->streams ? *limits : net_limits_default;
    worker->request = request;
    worker->self = self;
    worker->date_second = INT64_MIN;
    worker->sealed = BUF_INIT(SIZE_MAX);
    return worker;
}

void net__worker_free(struct net__worker *worker) {
    buf_release(&worker->sealed);
    free(worker);
}

static void write_date(char *text, int64_t second) {
    static const char days[] = "SunMonTueWedThuFriSat";
    static const char months[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
    time_t at = (time_t)second;
    struct tm tm;
    char line[64];
    gmtime_r(&at, &tm);
    snprintf(line, sizeof line, "%.3s, %02d %.3s %04d %02d:%02d:%02d GMT", days + 3 * tm.tm_wday,
             tm.tm_mday, months + 3 * tm.tm_mon, tm.tm_year + 1900, tm.tm_hour, tm.tm_min,
             tm.tm_sec);
    memcpy(text, line, NET__DATE_BYTES);
}

struct str net__worker_date(struct net__worker *worker) {
    int64_t second = clock_wall(net_loop_clock(worker->loop)) / CLOCK_SECOND;
    if (second != worker->date_second)
        write_date(worker->date_text, second);
    worker->date_second = second;
    return (struct str){worker->date_text, NET__DATE_BYTES};
}

void net__worker_add_stats(const struct net__worker *worker, struct net_stats *sum) {
#define X(name) sum->name += atomic_load_explicit(&worker->counters.name, memory_order_relaxed);
    NET_STATS(X)
#undef X
}
