/* What the figures of work queues are made of. */
#ifndef CLIENT_WORKQUEUE_INT_H
#define CLIENT_WORKQUEUE_INT_H

#include "client/workqueue.h"

/* How long keys wait for a worker, and how long they are worked on. */
extern const struct histogram_row workqueue__queue_row, workqueue__work_row;

/* The next queue of the client; NULL behind the last. */
const struct workqueue *workqueue__next(const struct workqueue *q);

#endif
