/* What the files of the store share. */
#ifndef STORE_STORE_INT_H
#define STORE_STORE_INT_H

#include <pthread.h>

#include "base/vec.h"
#include "store/history_int.h"

/* That of an empty store: 0 has a meaning of its own in requests. */
enum { STORE__FIRST_REVISION = 1 };

/* The state of all resources at a revision. Never changes. */
struct store_snapshot {
    uint32_t refs; /* atomic */
    uint32_t n;    /* of trees */
    uint64_t revision;
    struct store__node *trees[]; /* held */
};

/* A write of a batch. */
struct store__write {
    uint32_t resource;
    struct store_event event; /* both objects are held */
    int64_t time;             /* by the wall clock */
};

/* The tree of a resource behind all writes of a batch, held. */
struct store__root {
    uint32_t resource;
    struct store__node *tree;
};

/* What is written and becomes visible as a whole. It belongs to the core until it is committed, to
 * its carrier until it is durable or failed, and then to the core again. */
struct store__batch {
    struct store__batch *next; /* in a queue */
    VEC(struct store__write) writes;
    VEC(struct store__root) roots; /* of the resources that it writes to */
    uint64_t touched[LIMIT_STORE_RESOURCES / 64];
    bool moves;        /* it is for the sake of its revision: see store_age */
    uint64_t revision; /* the last one that was given out when it was committed */
    uint64_t epoch;    /* how many failures the core had seen when it was committed */
    store_done_fn *done;
    void *ctx;
    struct err err; /* why it failed; its code is ERR_NONE if it did not */
};

/* A queue of batches, in order. */
struct store__queue {
    struct store__batch *first, **end;
};

/* Lets go of an event: the log of the resource begins behind it, and of its objects the log alone
 * needed the one it took the place of, and if it is a deletion, itself. */
struct store__forgotten {
    uint32_t resource;
    enum store_event_type type;
    uint64_t revision; /* of the event */
    uint64_t previous; /* of the object that it took the place of; 0: none */
};

/*
 * Where batches become durable. All slots but close may be called on the core's thread only; close
 * is the last call.
 */
struct store__carrier {
    /* Takes a batch. The carrier ends it by store__publish or store__fail, on a thread of its own
     * or at once, and batches in the order in which they come. */
    void (*commit)(struct store__carrier *c, struct store__batch *batch);
    /* Waits until all batches have been ended. */
    void (*drain)(struct store__carrier *c);
    /* Events that the log has let go of, under the store's lock and on any thread; or NULL. */
    void (*forget)(struct store__carrier *c, const struct store__forgotten *event);
    /* Fills in what the carrier knows, on any thread; or NULL. */
    void (*measure)(struct store__carrier *c, struct store_stats *out);
    /* Drains, and frees the carrier. */
    void (*close)(struct store__carrier *c);
    bool at_once; /* a batch has been ended when commit returns */
};

struct store__subscriber {
    store_news_fn *fn;
    void *ctx;
};

/* When an object will have been there for long enough. */
struct store__expiry {
    struct store__expiry *next;
    int64_t when;
    uint64_t revision;
    size_t namespace_bytes;
    size_t name_bytes;
    char text[]; /* namespace and name */
};

/* The objects of a resource that expire, in the order in which they were last written, which is
 * that in which they expire. Entries of what was written again or deleted meanwhile are found to
 * be void when their time comes. */
struct store__expiries {
    struct store__expiry *first, **end;
    size_t n;
};

/* An object that has encoded bytes. */
struct store__warm_entry {
    const struct api_object *object; /* held */
    struct api_bytes *bytes;         /* held: those that it gives up; NULL: all */
    size_t counted;                  /* memory */
    int64_t until;                   /* wall clock; of what was written */
};

/* Such objects, oldest first. */
struct store__warm_list {
    VEC(struct store__warm_entry) entries;
    size_t first; /* those before it are gone */
    size_t bytes; /* of the others */
};

/* Objects that were written a moment ago, and those that were read last. Of all threads. */
struct store__warm {
    pthread_mutex_t lock; /* of all that follows */
    struct store__warm_list written, read;
};

/* An object that others are made after. */
struct store__likeness {
    const struct api_object *object; /* held; or NULL */
    uint16_t bet, patience; /* copies between two bets, and those that have yet to be made */
};
enum { STORE__LIKENESSES = 4096, STORE__GENERAL = 256 };

struct store__unknown {
    char *name;
    uint64_t records;
};

struct store {
    struct store_opts opts;
    struct store__carrier *carrier;
    VEC(struct store__unknown) unknown;
    struct store__warm warm;

    /* of the core's thread */
    struct store__node **working; /* the newest tree of each resource, held */
    struct store__expiries *expiries;
    struct store__likeness likenesses[STORE__LIKENESSES]; /* of families */
    struct store__likeness general[STORE__GENERAL];       /* of the likenesses of a namespace */
    struct arena scratch;                                 /* of copies that are being made */
    struct store__batch *open;
    uint64_t given;  /* the last revision that was given to a write */
    uint64_t epoch;  /* failures seen */
    struct err doom; /* a failure that was seen after the open batch began; or ERR_NONE */
    bool calling;    /* `done` is being called */
    int64_t age_at;  /* when store_age has something to do; 0: it was never asked */
    uint64_t aged;   /* the newest revision when it last had */

    pthread_mutex_t lock; /* of all that follows */
    struct store_snapshot *newest;
    struct store__history *histories;
    uint64_t past; /* the oldest revision whose state can be asked for */
    size_t log_bytes;
    struct store__queue ended; /* batches whose `done` is to be called */
    bool posted;               /* the core has been asked to do so */
    struct err refusal;        /* why there may be no writes; ERR_NONE: there may */
    struct store_stats stats;  /* what is counted; store_stats_read asks for the rest */

    pthread_mutex_t subscribing; /* of the subscribers, and held while they are called */
    VEC(struct store__subscriber) subscribers;
};

/* ---- the core's thread ---- */

/* The batch that writes go to. */
struct store__batch *store__open_batch(struct store *s);

/* ---- queues of batches ---- */

void store__queue_init(struct store__queue *q);                            /* makes it empty */
void store__queue_add(struct store__queue *q, struct store__batch *batch); /* at its end */
void store__queue_move(struct store__queue *q, struct store__queue *from); /* all of `from` */
struct store__batch *store__queue_take(struct store__queue *q);            /* the first, or NULL */

/* ---- for carriers, on any thread ---- */

/* Makes durable batches visible, tells subscribers, and has their `done` called. */
void store__publish(struct store *s, struct store__queue *batches);

/* Ends batches without making anything visible, and has their `done` called with the error. With
 * `for_good`, the store refuses writes from now on. */
void store__fail(struct store *s, struct store__queue *batches, const struct err *err,
                 bool for_good);

/* Counts a transaction, how long it took, and the bytes of its values. */
void store__note_commit(struct store *s, int64_t ns, uint64_t bytes);

/* Has the store hold an object that is durable already, with the event that made it so, if the log
 * reaches back to it. Before anything else is done with the store. The object's reference is
 * taken. */
void store__load(struct store *s, uint32_t resource, const struct store_event *event, int64_t time,
                 bool in_log);

/* The state that was loaded becomes visible, as that of a revision. */
void store__load_end(struct store *s, uint64_t revision);

/* ---- parts ---- */

/* Calls `done` for what has been ended, on the core's thread. The argument is the store. */
void store__call_done(void *store);

/* Frees the batch that was not committed. */
void store__drop_open(struct store *s);

/* A carrier that keeps nothing beyond the process. */
struct store__carrier *store__memory_carrier(struct store *s);

/* A snapshot of n resources, all of them empty. */
struct store_snapshot *store__snapshot_new(uint32_t n, uint64_t revision);

/* A snapshot of a later revision, with the same trees. */
struct store_snapshot *store__snapshot_next(const struct store_snapshot *snap, uint64_t revision);

/* Lets go of up to `most` events that need not be in the logs any more at `now`. */
void store__trim_all(struct store *s, int64_t now, size_t most);

/* Makes an empty list. */
void store__warm_init(struct store__warm *w);

/* An object was written at `now` (wall clock): it keeps its bytes for seconds, or until
 * LIMIT_STORE_WRITTEN_BYTES of others have been written. */
void store__warm_add(struct store__warm *w, const struct api_object *o, int64_t now);

/* Objects that were written too long ago give up their bytes. */
void store__warm_cool(struct store__warm *w, int64_t now);

/* Gives all objects back. */
void store__warm_release(struct store__warm *w);

/* Publishes an object of a resource that follows another one, or NULL, in as little memory as it
 * needs: see likeness.c. The draft is taken. */
const struct api_object *store__object_publish(struct store *s, uint32_t resource,
                                               struct api_object *draft,
                                               const struct api_object *previous);

/* Gives all likenesses back. */
void store__likenesses_release(struct store *s);

/* When the oldest event of a log will have been there for long enough; INT64_MAX: there is none.
 * Under the store's lock. */
int64_t store__next_trim(const struct store *s);

/* The revision in an object's resourceVersion, or 0. */
uint64_t store__revision_of(const struct api_object *o);

/* An object of a resource that may expire was written. */
void store__expiry_add(struct store *s, uint32_t resource, const struct api_object *o,
                       uint64_t revision, int64_t written);

/* Frees what is known of times. */
void store__expiries_release(struct store *s);

#endif
