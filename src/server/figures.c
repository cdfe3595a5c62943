/*
 * /metrics: what the workers counted, what the store and the network say of themselves, and the
 * process.
 */
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "server/server_int.h"

/* ---- requests under way, identities ---- */

static void write_inflight(struct buf *b, const struct server *s) {
    server_metric_head(b, "apiserver_current_inflight_requests", "gauge",
                       "[STABLE] Requests under way, by those that read and those that write.");
    buf_addf(b, "apiserver_current_inflight_requests{request_kind=\"mutating\"} %u\n",
             server_inflight_now(&s->inflight, SERVER_SEAT_WRITE));
    buf_addf(b, "apiserver_current_inflight_requests{request_kind=\"readOnly\"} %u\n",
             server_inflight_now(&s->inflight, SERVER_SEAT_READ));
    server_metric_head(b, "apiserver_dropped_requests_total", "counter",
                       "[ALPHA] Requests that were told to come again later.");
    buf_addf(b, "apiserver_dropped_requests_total{request_kind=\"mutating\"} %" PRIu64 "\n",
             server_inflight_refused(&s->inflight, SERVER_SEAT_WRITE));
    buf_addf(b, "apiserver_dropped_requests_total{request_kind=\"readOnly\"} %" PRIu64 "\n",
             server_inflight_refused(&s->inflight, SERVER_SEAT_READ));
}

static void write_tallies(struct buf *b, struct server_counts *const *counts, size_t n) {
    static const struct {
        const char *name, *help, *label; /* a name that is NULL: the one before */
        enum server_tally tally;
    } rows[] = {
        {"authentication_attempts", "[ALPHA] Requests by whether it is known who asks.",
         "{result=\"success\"}", SERVER_TALLY_AUTHENTICATED},
        {NULL, NULL, "{result=\"failure\"}", SERVER_TALLY_UNAUTHENTICATED},
        {"authorization_attempts_total", "[ALPHA] Requests by whether the asker may.",
         "{result=\"allowed\"}", SERVER_TALLY_ALLOWED},
        {NULL, NULL, "{result=\"denied\"}", SERVER_TALLY_DENIED},
        {"berth_request_deadlines_total", "Requests whose time was over before their answer.", "",
         SERVER_TALLY_DEADLINES},
    };
    const char *name = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].name)
            server_metric_head(b, name = rows[i].name, "counter", rows[i].help);
        buf_addf(b, "%s%s %" PRIu64 "\n", name, rows[i].label,
                 server_counts_sum(counts, n, rows[i].tally));
    }
}

static void write_audit(struct buf *b, const struct server *s) {
    struct server_audit_stats stats;
    if (!s->audit_log)
        return;
    server_audit_log_stats(s->audit_log, &stats);
    server_metric_one(b, "apiserver_audit_event_total", "counter",
                      "[ALPHA] Events that were written to the audit log.", (double)stats.written);
    server_metric_one(b, "berth_audit_events_dropped_total", "counter",
                      "Events that did not fit into the queue of the audit log.",
                      (double)stats.dropped);
    server_metric_one(b, "apiserver_audit_error_total", "counter",
                      "[ALPHA] Events that the audit log could not take.", (double)stats.failed);
    server_metric_one(b, "berth_audit_queue_bytes", "gauge",
                      "What waits to be written to the audit log.", (double)stats.queued_bytes);
}

/* ---- the store ---- */

static void write_objects(struct buf *b, const struct server *s) {
    size_t n;
    const struct store_resource *resources = apiserver_catalog_storage(s->opts.catalog, &n);
    struct store_snapshot *snap = store_snapshot_take(s->opts.store);
    server_metric_head(b, "apiserver_resource_objects", "gauge",
                       "[STABLE] Objects that are stored, by resource.");
    for (size_t i = 0; i < n; i++) {
        struct str name = str_of(resources[i].name), group = STR(""), plural = name;
        if (str_find_char(name, '/') != STR_NONE)
            str_cut(name, '/', &group, &plural);
        buf_addf(b, "apiserver_resource_objects{group=\"%.*s\",resource=\"%.*s\"} %zu\n",
                 STR_ARG(group), STR_ARG(plural),
                 store_snapshot_count(snap, (uint32_t)i, (struct store_range){0}));
    }
    store_snapshot_unref(snap);
}

static void write_commits(struct buf *b, const struct store_stats *stats) {
    uint64_t all = 0;
    int64_t bound = STORE_COMMIT_FIRST_NS;
    server_metric_head(b, "berth_store_commit_duration_seconds", "histogram",
                       "How long transactions of the store's file took.");
    for (size_t i = 0; i < STORE_COMMIT_BUCKETS; i++, bound *= 2) {
        all += stats->commit_buckets[i];
        buf_add(b, STR("berth_store_commit_duration_seconds_bucket{le=\""));
        if (i + 1 < STORE_COMMIT_BUCKETS)
            server_metric_number(b, (double)bound / 1e9);
        else
            buf_add(b, STR("+Inf"));
        buf_addf(b, "\"} %" PRIu64 "\n", all);
    }
    buf_add(b, STR("berth_store_commit_duration_seconds_sum "));
    server_metric_number(b, (double)stats->commit_ns / 1e9);
    buf_addf(b, "\nberth_store_commit_duration_seconds_count %" PRIu64 "\n", all);
}

static void write_store(struct buf *b, const struct server *s) {
    struct store_stats stats;
    store_stats_read(s->opts.store, &stats);
    const struct {
        const char *name, *type, *help;
        uint64_t value;
    } rows[] = {
        {"berth_store_revision", "gauge", "The newest revision.", stats.revision},
        {"berth_store_objects", "gauge", "Objects of all resources.", stats.objects},
        {"berth_store_object_bytes", "gauge", "Memory of the objects.", stats.object_bytes},
        {"berth_store_log_events", "gauge", "Changes that watchers can still read.",
         stats.log_events},
        {"berth_store_log_bytes", "gauge", "Memory that these keep.", stats.log_bytes},
        {"berth_store_batches_total", "counter", "Batches of writes.", stats.batches},
        {"berth_store_batch_writes_total", "counter",
         "Writes in all batches: divided by these, the size of a batch.", stats.writes},
        {"berth_store_failed_batches_total", "counter", "Batches that were not stored.",
         stats.failed_batches},
        {"berth_store_value_bytes_total", "counter", "Bytes written as values of records.",
         stats.value_bytes},
        {"apiserver_storage_size_bytes", "gauge", "[STABLE] The store's file.", stats.file_bytes},
        {"berth_store_wal_bytes", "gauge", "The log beside the store's file.", stats.wal_bytes},
        {"berth_store_refuses", "gauge", "1: there may be no writes any more.", stats.refuses},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        server_metric_one(b, rows[i].name, rows[i].type, rows[i].help, (double)rows[i].value);
    write_commits(b, &stats);
}

/* ---- the network ---- */

static void write_net(struct buf *b, const struct server *s) {
    struct net_stats stats;
    net_server_stats(s->net, &stats);
    const struct {
        struct str name;
        uint64_t value;
    } rows[] = {
#define X(name) {STR_INIT(#name), stats.name},
        NET_STATS(X)
#undef X
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        bool is_now = str_ends(rows[i].name, STR("_now"));
        char name[128];
        snprintf(name, sizeof name, "berth_net_%.*s%s",
                 (int)(rows[i].name.n - (is_now ? sizeof "_now" - 1 : 0)), rows[i].name.p,
                 is_now ? "" : "_total");
        server_metric_one(b, name, is_now ? "gauge" : "counter",
                          "Counted by the network: src/net/net.h says what.",
                          (double)rows[i].value);
    }
    server_metric_one(b, "apiserver_tls_handshake_errors_total", "counter",
                      "[ALPHA] Connections that did not come to speak TLS.",
                      (double)(stats.handshakes_failed + stats.handshakes_timed_out));
}

/* ---- the process ---- */

/* Pages of virtual and of real memory. */
static bool read_memory(uint64_t *virtual, uint64_t *resident) {
    FILE *f = fopen("/proc/self/statm", "re");
    if (!f)
        return false;
    bool good = fscanf(f, "%" SCNu64 " %" SCNu64, virtual, resident) == 2;
    fclose(f);
    return good;
}

static size_t count_descriptors(void) {
    size_t n = 0;
    DIR *dir = opendir("/proc/self/fd");
    if (!dir)
        return 0;
    for (const struct dirent *e; (e = readdir(dir));)
        n += e->d_name[0] != '.';
    closedir(dir);
    return n ? n - 1 : 0; /* one of them was to read the folder */
}

static double seconds_of(struct timeval t) {
    return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

static void write_process(struct buf *b, const struct server *s) {
    struct rusage usage = {0};
    struct rlimit limit = {0};
    uint64_t virtual = 0, resident = 0, page = (uint64_t)sysconf(_SC_PAGESIZE);
    getrusage(RUSAGE_SELF, &usage);
    getrlimit(RLIMIT_NOFILE, &limit);
    read_memory(&virtual, &resident);
    const struct {
        const char *name, *type, *help;
        double value;
    } rows[] = {
        {"process_cpu_seconds_total", "counter", "Time of the processors, in seconds.",
         seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)},
        {"process_max_fds", "gauge", "Descriptors that may be open.", (double)limit.rlim_cur},
        {"process_open_fds", "gauge", "Descriptors that are open.", (double)count_descriptors()},
        {"process_resident_memory_bytes", "gauge", "Memory that is there.",
         (double)(resident * page)},
        {"process_start_time_seconds", "gauge", "When the server began, in seconds since 1970.",
         (double)s->started / 1e9},
        {"process_virtual_memory_bytes", "gauge", "Memory that is mapped.",
         (double)(virtual * page)},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        server_metric_one(b, rows[i].name, rows[i].type, rows[i].help, rows[i].value);
}

/* ---- feature gates ---- */

/* Follows k8s.io/component-base metrics/prometheus/feature, func RecordFeatureInfo. */
static void write_gates(struct buf *b, const struct server *s) {
    const struct server_opts *o = &s->opts;
    server_metric_head(b, "kubernetes_feature_enabled", "gauge",
                       "[BETA] This metric records the data about the stage and enablement of a "
                       "k8s feature.");
    for (enum feature f = 0; f < FEATURE_COUNT; f++) {
        enum feature_stage stage = feature_spec_at(f, o->emulated, o->min_compat)->stage;
        if (stage != FEATURE_PRE_ALPHA)
            buf_addf(b, "kubernetes_feature_enabled{name=\"%.*s\",stage=\"%s\"} %d\n",
                     STR_ARG(feature_name(f)), stage == FEATURE_GA ? "" : feature_stage_name(stage),
                     feature_enabled(o->gates, f));
    }
}

/* ---- all of it ---- */

void server__figures(struct server__call *c) {
    struct server *s = c->s;
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct server_counts **counts = arena_array(&c->arena, struct server_counts *, s->worker_count);
    struct server__headers h;
    for (size_t i = 0; i < s->worker_count; i++)
        counts[i] = s->workers[i].counts;
    server_counts_write(&text, counts, s->worker_count);
    write_inflight(&text, s);
    write_tallies(&text, counts, s->worker_count);
    write_audit(&text, s);
    write_objects(&text, s);
    write_store(&text, s);
    write_net(&text, s);
    write_process(&text, s);
    write_gates(&text, s);
    struct net_part part = {.bytes = buf_view(&text)};
    server__headers_start(c, &h,
                          STR("text/plain; version=0.0.4; charset=utf-8; escaping=underscores"));
    server__respond(c, 200, &h, &part, 1);
}
