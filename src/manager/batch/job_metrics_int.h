/* What the controller of Jobs counts. */
#ifndef MANAGER_BATCH_JOB_METRICS_INT_H
#define MANAGER_BATCH_JOB_METRICS_INT_H

#include "base/metric.h"
#include "manager/batch/job_int.h"

/* What a piece of work did about pods. */
enum job__did { JOB__DID_RECONCILE, JOB__DID_TRACK, JOB__DID_CREATE, JOB__DID_DELETE, JOB__DIDS };

/* First indices: NonIndexed or Indexed; succeeded or failed. */
struct job__metrics {
    struct histogram syncs[2][2][JOB__DIDS];
    uint64_t finished[2][8]; /* by reason */
    uint64_t pods_finished[2][2];
    uint64_t indexes_finished[2][2]; /* global or per index, succeeded or failed */
    uint64_t creations[3][2];        /* by why they are made */
    uint64_t actions[JOB__FAIL_JOB + 1];
    uint64_t tracked[2]; /* ended pods with the finalizer: came, went */
};

/* A piece of work took so many nanoseconds. */
void job__count_sync(struct job__metrics *m, bool is_indexed, bool has_failed, enum job__did did,
                     int64_t ns);

/* A Job is finished for this reason; others than the controller's own are not counted. */
void job__count_end(struct job__metrics *m, bool is_indexed, struct str reason);

/* The status of a Job was written. */
void job__count_status(struct job__metrics *m, struct arena *a, const struct job__view *v);

/* So many pods were made for it, and so many could not be. */
void job__count_creations(struct job__metrics *m, const struct job__view *v, size_t succeeded,
                          size_t failed);

/* Appends all of it as Prometheus reads it. */
void job__write_metrics(const struct job__metrics *m, struct buf *out);

#endif
