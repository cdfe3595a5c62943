/*
 * The figures of the controller of Jobs.
 *
 * Follows k8s.io/kubernetes pkg/controller/job/metrics, func Register.
 */
#include "manager/batch/job_metrics_int.h"

#include <stdarg.h>

#define PREFIX "job_controller_"

static const struct histogram_row sync_times = {
    .name = PREFIX "job_sync_duration_seconds",
    .level = "STABLE",
    .help = "How long that took.",
    .bounds = {0.004, 0.008, 0.016, 0.032, 0.064, 0.128, 0.256, 0.512, 1.024, 2.048, 4.096, 8.192,
               16.384, 32.768, 65.536},
};

static const char *const modes[] = {"NonIndexed", "Indexed"};
static const char *const results[] = {"succeeded", "failed"};
static const char *const sync_results[] = {"success", "error"};
static const char *const dids[] = {"reconciling", "tracking", "pods_created", "pods_deleted"};
static const char *const limits[] = {"global", "perIndex"};
static const char *const creations[] = {"new", "recreate_terminating_or_failed", "recreate_failed"};
static const char *const tracked[] = {"add", "delete"};
static const char *const actions[] = {NULL, "Ignore", "Count", "FailIndex", "FailJob"};

static const struct {
    const char *reason;
    bool is_failure;
} reasons[] = {
    {"CompletionsReached", false}, {"SuccessPolicy", false},   {"BackoffLimitExceeded", true},
    {"DeadlineExceeded", true},    {"PodFailurePolicy", true}, {"MaxFailedIndexesExceeded", true},
    {"FailedIndexes", true},
};

enum { REASONS = sizeof reasons / sizeof *reasons };

/* ---- counting ---- */

void job__count_sync(struct job__metrics *m, bool is_indexed, bool has_failed, enum job__did did,
                     int64_t ns) {
    histogram_observe_ns(&sync_times, &m->syncs[is_indexed][has_failed][did], ns);
}

void job__count_end(struct job__metrics *m, bool is_indexed, struct str reason) {
    for (size_t i = 0; i < REASONS; i++)
        m->finished[is_indexed][i] += str_is(reason, reasons[i].reason);
}

static void add(uint64_t *counter, int64_t difference) {
    *counter += difference > 0 ? (uint64_t)difference : 0;
}

/* How many indexes the text has, of those below completions. */
static int64_t count_indexes(struct arena *a, struct str text, const struct job__view *v) {
    struct job__indexes list = job__indexes_parse(a, text, v->completions.v);
    return job__indexes_total(&list);
}

void job__count_status(struct job__metrics *m, struct arena *a, const struct job__view *v) {
    const struct api_job_status *old = &v->old, *now = &v->status;
    int64_t succeeded = (int64_t)now->succeeded - old->succeeded;
    if (v->is_indexed) {
        succeeded = count_indexes(a, now->completed_indexes, v) -
                    count_indexes(a, old->completed_indexes, v);
        add(&m->indexes_finished[v->counts_per_index][0], succeeded);
        add(&m->indexes_finished[v->counts_per_index][1],
            count_indexes(a, now->failed_indexes, v) - count_indexes(a, old->failed_indexes, v));
    }
    add(&m->pods_finished[v->is_indexed][0], succeeded);
    add(&m->pods_finished[v->is_indexed][1], (int64_t)now->failed - old->failed);
}

void job__count_creations(struct job__metrics *m, const struct job__view *v, size_t succeeded,
                          size_t failed) {
    size_t why = v->waits_for_failure && v->failed > 0 ? 2 : v->failed > 0 || v->terminating > 0;
    m->creations[why][0] += succeeded;
    m->creations[why][1] += failed;
}

/* ---- writing ---- */

static void write_head(struct buf *out, const char *name, const char *level, const char *help) {
    buf_addf(out, "# HELP " PREFIX "%s [%s] %s\n# TYPE " PREFIX "%s counter\n", name, level, help,
             name);
}

__attribute__((format(printf, 4, 5))) static void
write_row(struct buf *out, const char *name, uint64_t value, const char *labels, ...) {
    va_list args;
    if (!value)
        return;
    buf_addf(out, PREFIX "%s{", name);
    va_start(args, labels);
    buf_vaddf(out, labels, args);
    va_end(args);
    buf_addf(out, "} %llu\n", (unsigned long long)value);
}

static void write_times(struct buf *out, const struct histogram *h, size_t mode, size_t result,
                        size_t did) {
    AUTO(buf_release) struct buf labels = BUF_INIT(256);
    buf_addf(&labels, "action=\"%s\",completion_mode=\"%s\",result=\"%s\"", dids[did], modes[mode],
             sync_results[result]);
    if (histogram_count(h))
        histogram_write(out, &sync_times, buf_view(&labels), h);
}

static void write_syncs(const struct job__metrics *m, struct buf *out) {
    write_head(out, "job_syncs_total", "STABLE", "How often Jobs were looked at.");
    for (size_t mode = 0; mode < 2; mode++)
        for (size_t result = 0; result < 2; result++)
            for (size_t did = 0; did < JOB__DIDS; did++)
                write_row(out, "job_syncs_total", histogram_count(&m->syncs[mode][result][did]),
                          "action=\"%s\",completion_mode=\"%s\",result=\"%s\"", dids[did],
                          modes[mode], sync_results[result]);
    histogram_head(out, &sync_times);
    for (size_t mode = 0; mode < 2; mode++)
        for (size_t result = 0; result < 2; result++)
            for (size_t did = 0; did < JOB__DIDS; did++)
                write_times(out, &m->syncs[mode][result][did], mode, result, did);
}

static void write_ends(const struct job__metrics *m, struct buf *out) {
    write_head(out, "jobs_finished_total", "STABLE", "Jobs that are finished.");
    for (size_t mode = 0; mode < 2; mode++)
        for (size_t i = 0; i < REASONS; i++)
            write_row(out, "jobs_finished_total", m->finished[mode][i],
                      "completion_mode=\"%s\",reason=\"%s\",result=\"%s\"", modes[mode],
                      reasons[i].reason, results[reasons[i].is_failure]);
    write_head(out, "job_pods_finished_total", "STABLE", "Pods of Jobs that were counted.");
    for (size_t mode = 0; mode < 2; mode++)
        for (size_t i = 0; i < 2; i++)
            write_row(out, "job_pods_finished_total", m->pods_finished[mode][i],
                      "completion_mode=\"%s\",result=\"%s\"", modes[mode], results[i]);
    write_head(out, "job_finished_indexes_total", "ALPHA", "Indexes that are done.");
    for (size_t limit = 0; limit < 2; limit++)
        for (size_t i = 0; i < 2; i++)
            write_row(out, "job_finished_indexes_total", m->indexes_finished[limit][i],
                      "backoffLimit=\"%s\",status=\"%s\"", limits[limit], results[i]);
}

static void write_pods(const struct job__metrics *m, struct buf *out) {
    write_head(out, "job_pods_creation_total", "ALPHA", "Pods that were made for Jobs, and why.");
    for (size_t why = 0; why < 3; why++)
        for (size_t i = 0; i < 2; i++)
            write_row(out, "job_pods_creation_total", m->creations[why][i],
                      "reason=\"%s\",status=\"%s\"", creations[why], results[i]);
    write_head(out, "pod_failures_handled_by_failure_policy_total", "BETA",
               "Failed pods that a rule of podFailurePolicy was for.");
    for (size_t i = JOB__IGNORE; i <= JOB__FAIL_JOB; i++)
        write_row(out, "pod_failures_handled_by_failure_policy_total", m->actions[i],
                  "action=\"%s\"", actions[i]);
    write_head(out, "terminated_pods_tracking_finalizer_total", "BETA",
               "Ended pods that came to have the finalizer of Jobs, or lost it.");
    for (size_t i = 0; i < 2; i++)
        write_row(out, "terminated_pods_tracking_finalizer_total", m->tracked[i], "event=\"%s\"",
                  tracked[i]);
}

void job__write_metrics(const struct job__metrics *m, struct buf *out) {
    write_syncs(m, out);
    write_ends(m, out);
    write_pods(m, out);
}
