/* What the manager asks of the controllers of this room. */
#ifndef MANAGER_BATCH_BATCH_INT_H
#define MANAGER_BATCH_BATCH_INT_H

struct buf;

/* Appends the figures of a running controller as Prometheus reads them. */
void manager__job_write_metrics(const void *self, struct buf *out);
void manager__cronjob_write_metrics(const void *self, struct buf *out);
void manager__ttl_after_finished_write_metrics(const void *self, struct buf *out);

#endif
