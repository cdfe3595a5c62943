/*
 * A work queue: keys that wait to be looked after, each at most once, and the writes that come of
 * looking after one.
 *
 * A controller is a function from what informers show to writes. The queue calls it (`sync`) for a
 * key that was added; it decides, and hands its writes to the work at hand (work_send). When all
 * of them are answered, and the informers have seen what they wrote, the work is done: then the
 * key may be worked on again. So a controller never decides twice upon the same stale state, and
 * needs no expectations of its own. A write that failed, or work_fail, has the key tried again
 * after a back-off that doubles; success ends that.
 *
 * Follows k8s.io/client-go util/workqueue, func NewTypedItemExponentialFailureRateLimiter.
 */
#ifndef CLIENT_WORKQUEUE_H
#define CLIENT_WORKQUEUE_H

#include "base/metric.h"
#include "client/informer.h"

struct work;
struct workqueue;

struct workqueue_opts {
    const char *name;            /* "replicaset", for metrics and logs; stored */
    struct client *client;       /* stored */
    struct informers *informers; /* stored: nothing is worked on before all have synced */
    const struct log *log;       /* stored */
    size_t workers;              /* keys at work at a time; 0: 5 */
    int64_t first_delay;         /* back-off after the first failure, in nanoseconds; 0: 5 ms */
    int64_t most_delay;          /* and at most; 0: 1000 s */
    /* Decides about a key. The work ends when this has returned and all its writes are done. */
    void (*sync)(void *arg, struct work *work);
    void *arg;
};

/* An empty queue. Free it with workqueue_free, which accepts NULL; answers that are still to come
 * are not waited for. */
struct workqueue *workqueue_new(const struct workqueue_opts *opts);
void workqueue_free(struct workqueue *q);

/* Has the key worked on, soon; if it is at work, once more behind that. Texts are copied. */
void workqueue_add(struct workqueue *q, struct str namespace, struct str name);

/* The same not before so many nanoseconds have passed; of several such, the earliest counts. */
void workqueue_add_after(struct workqueue *q, struct str namespace, struct str name, int64_t delay);

/* The same for the name of an object, or of its controller if that is of the kind; without one,
 * nothing happens. */
void workqueue_add_object(struct workqueue *q, const struct api_object *o);
void workqueue_add_controller(struct workqueue *q, const struct api_object *o,
                              const struct api_kind *kind);

/* How often the key has failed since it last succeeded. */
uint32_t workqueue_failures(const struct workqueue *q, struct str namespace, struct str name);

/* What was counted since it began. A key counts as added once until it is worked on. */
struct workqueue_stats {
    const char *name;
    uint64_t adds, retries, done;
    size_t depth;      /* keys that wait to be worked on, not those in back-off */
    size_t unfinished; /* keys at work, for so long: all together, and the longest */
    int64_t unfinished_ns, longest_ns;
    struct histogram queue_times, work_times;
};
struct workqueue_stats workqueue_stats(const struct workqueue *q);

/* Appends the figures of all queues of a client, the first of which this is, as Prometheus reads
 * them. NULL is fine. */
void workqueues_metrics_write(const struct workqueue *first, struct buf *out);

/* ---- at work ---- */

/* The key. Borrowed for as long as the work lasts. */
struct str work_namespace(const struct work *w);
struct str work_name(const struct work *w);

/* Memory that ends with the work. */
struct arena *work_arena(struct work *w);

/* Called with the answer to a write of the work; arg lives as long as the work or longer. */
typedef void work_answer_fn(void *arg, struct work *w, const struct client_answer *answer);

/* Sends a write. If `answered` is NULL, a failure has the key tried again, unless what was to be
 * deleted is gone; else it decides, by work_fail. */
void work_send(struct work *w, const struct client_request *request, work_answer_fn *answered,
               void *arg);

/* The key is to be tried again after its back-off; why is logged at -v 2. */
__attribute__((format(printf, 2, 3))) void work_fail(struct work *w, const char *fmt, ...);

/* The same, because of an answer. */
void work_fail_by(struct work *w, const struct client_answer *answer);

/* The key is to be worked on again after so many nanoseconds, whatever else happens. */
void work_again_after(struct work *w, int64_t delay);

/* The key is to be worked on again at once, since there is more to do; but if the work fails, it is
 * tried again after its back-off as ever. */
void work_go_on(struct work *w);

/* ---- writes of an object, by what it is called: work_send for those that need no more ---- */

/* Creates a draft, which is taken. */
void work_create(struct work *w, struct api_object *draft, work_answer_fn *answered, void *arg);

/* Replaces an object by a draft of it, which is taken, or a subresource; NULL: the object. */
void work_update(struct work *w, struct api_object *draft, const char *subresource,
                 work_answer_fn *answered, void *arg);

/* Patches an object, or a subresource of it. */
struct work_patch {
    enum client_patch type;
    const char *subresource; /* NULL: the object */
    struct str text;
};
void work_patch(struct work *w, const struct api_object *o, const struct work_patch *patch,
                work_answer_fn *answered, void *arg);

/* Deletes an object; `how` may be NULL. */
void work_delete(struct work *w, const struct api_object *o, const struct client_deletion *how,
                 work_answer_fn *answered, void *arg);

/* This object and no later one of its name, at once. */
struct client_deletion work_deletion_by_force(const struct api_object *o);

/* Asks the server for an object of this name. */
void work_get(struct work *w, const struct api_kind *kind, struct str namespace, struct str name,
              work_answer_fn *answered, void *arg);

/* An answer function: a failure has the key tried again, unless the object is gone. */
void work_answered_or_gone(void *arg, struct work *w, const struct client_answer *answer);

#endif
