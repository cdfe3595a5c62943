/*
 * The figures of all work queues of a client, as Prometheus reads them. Queues of one name are one
 * series.
 *
 * Follows k8s.io/component-base metrics/prometheus/workqueue, func register.
 */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "client/workqueue_int.h"

/* 10 ns, ten times as much each time, as upstream's arithmetic has it. */
#define BOUNDS \
    { 1e-8, 1e-7, 1e-6, 9.999999999999999e-6, 9.999999999999999e-5, 0.001, 0.01, 0.1, 1, 10 }

const struct histogram_row workqueue__queue_row = {
    .name = "workqueue_queue_duration_seconds",
    .level = "BETA",
    .help = "How long keys wait for a worker.",
    .bounds = BOUNDS,
};
const struct histogram_row workqueue__work_row = {
    .name = "workqueue_work_duration_seconds",
    .level = "BETA",
    .help = "How long keys are worked on, until what was written is seen.",
    .bounds = BOUNDS,
};

static void add(struct workqueue_stats *sum, const struct workqueue_stats *s) {
    sum->adds += s->adds;
    sum->retries += s->retries;
    sum->depth += s->depth;
    sum->unfinished_ns += s->unfinished_ns;
    sum->longest_ns = s->longest_ns > sum->longest_ns ? s->longest_ns : sum->longest_ns;
    histogram_add(&sum->queue_times, &s->queue_times);
    histogram_add(&sum->work_times, &s->work_times);
}

static void add_queue(struct workqueue_stats *sums, size_t *n, const struct workqueue *q) {
    struct workqueue_stats s = workqueue_stats(q);
    size_t i = 0;
    while (i < *n && strcmp(sums[i].name, s.name) != 0)
        i++;
    if (i < *n)
        add(&sums[i], &s);
    else
        sums[(*n)++] = s;
}

enum figure { ADDS, DEPTH, LONGEST, RETRIES, UNFINISHED, FIGURES };

static double value_of(const struct workqueue_stats *s, enum figure which) {
    const double values[] = {
        [ADDS] = (double)s->adds,
        [DEPTH] = (double)s->depth,
        [LONGEST] = (double)s->longest_ns / (double)CLOCK_SECOND,
        [RETRIES] = (double)s->retries,
        [UNFINISHED] = (double)s->unfinished_ns / (double)CLOCK_SECOND,
    };
    return values[which];
}

static void write_figure(struct buf *out, enum figure which, const struct workqueue_stats *v,
                         size_t n) {
    static const struct {
        const char *name, *type, *help;
    } rows[] = {
        [ADDS] = {"workqueue_adds_total", "counter", "Keys that were added."},
        [DEPTH] = {"workqueue_depth", "gauge", "Keys that wait for a worker."},
        [LONGEST] = {"workqueue_longest_running_processor_seconds", "gauge",
                     "How long the key has been at work that has been so for longest."},
        [RETRIES] = {"workqueue_retries_total", "counter",
                     "Keys that were tried again after a failure."},
        [UNFINISHED] = {"workqueue_unfinished_work_seconds", "gauge",
                        "How long the keys at work have been so, all together."},
    };
    metric_head(out, rows[which].name, rows[which].type, "BETA", rows[which].help);
    for (size_t i = 0; i < n; i++) {
        buf_addf(out, "%s{name=\"%s\"} ", rows[which].name, v[i].name);
        metric_number(out, value_of(&v[i], which));
        buf_add_char(out, '\n');
    }
}

static void write_times(struct buf *out, const struct histogram_row *row, const char *name,
                        const struct histogram *h) {
    AUTO(buf_release) struct buf labels = BUF_INIT(SIZE_MAX);
    buf_addf(&labels, "name=\"%s\"", name);
    histogram_write(out, row, buf_view(&labels), h);
}

void workqueues_metrics_write(const struct workqueue *first, struct buf *out) {
    size_t most = 0, n = 0;
    for (const struct workqueue *q = first; q; q = workqueue__next(q))
        most++;
    if (!most)
        return;
    struct workqueue_stats *v = xcalloc(most, sizeof *v);
    for (const struct workqueue *q = first; q; q = workqueue__next(q))
        add_queue(v, &n, q);
    for (int which = 0; which < FIGURES; which++)
        write_figure(out, (enum figure)which, v, n);
    histogram_head(out, &workqueue__queue_row);
    for (size_t i = 0; i < n; i++)
        write_times(out, &workqueue__queue_row, v[i].name, &v[i].queue_times);
    histogram_head(out, &workqueue__work_row);
    for (size_t i = 0; i < n; i++)
        write_times(out, &workqueue__work_row, v[i].name, &v[i].work_times);
    free(v);
}
