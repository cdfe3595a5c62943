/* What controllers count, as Prometheus reads it. */
#ifndef MANAGER_MANAGER_METRICS_H
#define MANAGER_MANAGER_METRICS_H

struct buf;
struct manager;

/* Appends the metrics of the controllers that run, in Prometheus' text format (0.0.4). */
void manager_metrics_write(const struct manager *m, struct buf *out);

#endif
