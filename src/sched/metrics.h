/*
 * What the scheduler has done and is waiting for, as Prometheus reads it. docs/metrics.md explains
 * each metric.
 */
#ifndef SCHED_METRICS_H
#define SCHED_METRICS_H

struct buf;
struct sched;

/* Appends all metrics in Prometheus' text format (0.0.4): families in the order of their names,
 * series in the order of their labels. Of metrics with labels only series that counted something
 * are there, apart from those of pending pods and cached objects. */
void sched_metrics_write(const struct sched *s, struct buf *out);

#endif
