/*
 * The store of an API server: objects under (resource, namespace, name), revisions, a log of
 * changes.
 *
 * One thread, the core, writes: store_get, store_put, store_delete, then store_commit, which ends a
 * batch. A batch becomes visible as a whole, when it is durable, in the order of commits. Readers
 * of any thread take snapshots, which never change, and read the log of a resource behind a
 * position, which is a revision. What is not durable is seen by the core alone.
 *
 * Every write has the next revision of one counter, which never repeats or goes back: not after a
 * crash, and not after a commit that failed. Compare-and-swap is the core's own comparison with
 * store_get, as nobody else writes. A carrier that has other writers would end a commit with
 * ERR_CONFLICT; a write is therefore something that can be done again from store_get on.
 *
 * Objects are ordered by the bytes of "namespace/name" ("name" in the cluster's scope), as in
 * upstream's storage; this text is what is called a key here.
 */
#ifndef STORE_STORE_H
#define STORE_STORE_H

#include "api/object.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"

struct store;
struct store_snapshot;

/* ---- opening ---- */

/* A resource is a number: its place in the table that the store is opened with. */
struct store_resource {
    const char *name; /* "pods", "apps/deployments": by this it is known on disk */
    const char *kind; /* of all its objects; NULL: any */
    int64_t ttl_ns;   /* objects are deleted so long after they were last written; 0: never */
};

/* Has work(arg) run on the core's thread, soon, after all that was posted before. Called on any
 * thread. */
typedef void store_post_fn(void *ctx, void (*work)(void *arg), void *arg);

struct store_opts {
    const struct store_resource *resources; /* stored; at most LIMIT_STORE_RESOURCES */
    size_t n;
    const struct clock *clock; /* stored */
    const char *directory;     /* where the file is or will be; NULL: all is in memory only */
    store_post_fn *post;       /* NULL: `done` is called by store_flush and store_close alone */
    void *post_ctx;
};

/*
 * Opens a store. With a directory, everything that is in its file is read; the directory and the
 * file are made if they are not there, for their owner only. -1, with a text that says what to do,
 * when another process has the file, when it is not a store, is of a newer version, damaged, or
 * holds objects that cannot be read, and for all trouble with files.
 */
int store_open(const struct store_opts *opts, struct store **out, struct err *err);

/* Waits for what was committed, calls what is left of `done`, and frees the store. All snapshots
 * and events must have been given back, and no work that was posted may run afterwards. A batch
 * that was not committed is lost. NULL is fine. */
void store_close(struct store *s);

/* The place of a resource in the table, or -1. */
int store_resource_find(const struct store *s, struct str name);

/* Resources of the file that the table does not have: their objects stay there, unread. The name of
 * number i and how many records it has; NULL behind the last one. */
const char *store_unknown_resource(const struct store *s, size_t i, uint64_t *records);

/* ---- the core's thread: writing ---- */

/* The newest state of an object, with writes that are not durable yet, or NULL. Borrowed until the
 * next write, commit or flush. */
const struct api_object *store_get(const struct store *s, uint32_t resource, struct str namespace,
                                   struct str name);

/* Creates or replaces the object that has the draft's namespace and name. The draft is taken, gets
 * the next revision as its resourceVersion, and is published; what comes back is borrowed until
 * the batch is done. */
const struct api_object *store_put(struct store *s, uint32_t resource, struct api_object *draft);

/* Deletes the object of this namespace and name, which must be there. `last` is taken: the state
 * that watchers are shown, with the deletion's revision as its resourceVersion. Borrowed until
 * the batch is done. */
const struct api_object *store_delete(struct store *s, uint32_t resource, struct api_object *last);

/* Called once for each commit, on the core's thread. err is NULL when the batch is durable. Else
 * nothing of it is or will be visible, all that was written since has gone with it, and store_get
 * shows what was durable before. */
typedef void store_done_fn(void *ctx, const struct err *err);

/* Ends the batch; also an empty one, which is done when those before it are. A store in memory
 * calls `done` before this returns, one with a file never. done may be NULL. */
void store_commit(struct store *s, store_done_fn *done, void *ctx);

/* Waits until all that was committed is done, and calls `done` for it. */
void store_flush(struct store *s);

/* May there be writes? -1 after a failure that left it unknown what the file holds: every commit
 * will fail with this error until the store is opened again. Reads go on. */
int store_writable(struct store *s, struct err *err);

/* ---- the core's thread: time ---- */

/* When store_expire has something to do next, by the wall clock; INT64_MAX: never, as it is now. */
int64_t store_next_expiry(struct store *s);

/* Deletes, in the open batch, objects whose time is over at `now` (wall clock), at most
 * LIMIT_STORE_EXPIRE of them, and lets go of what the log need not keep any more. Returns how many
 * were deleted; they are committed as all writes are. */
size_t store_expire(struct store *s, int64_t now);

/*
 * Lets the past end, every STORE_LOG_KEPT_NS by `now` (wall clock): a state that was the newest two
 * such times ago cannot be asked for any more. The store moves to the next revision each time, so
 * that its newest state becomes one of the past though nothing was written. True: it does, in the
 * open batch, which is to be committed.
 *
 * Follows k8s.io/apiserver pkg/storage/etcd3, func Compact.
 */
bool store_age(struct store *s, int64_t now);

/* ---- any thread: snapshots ---- */

/* An object of a snapshot keeps encoded bytes that a reader has made anew (api_object_json_keep),
 * until others have been read, LIMIT_STORE_READ_BYTES of them. */
void store_keep_bytes(struct store *s, const struct api_object *o, struct api_bytes *bytes);

/* The newest durable state; the caller has a reference. */
struct store_snapshot *store_snapshot_take(struct store *s);

/* The state of one resource exactly at a revision, as if it were the only one there is. NULL when
 * the log does not reach back so far, when it is too old (store_age), and when there is no such
 * revision yet. */
struct store_snapshot *store_snapshot_at(struct store *s, uint32_t resource, uint64_t revision);

/* One more holder; returns snap. And one less: the last one frees it. unref accepts NULL. */
struct store_snapshot *store_snapshot_ref(struct store_snapshot *snap);
void store_snapshot_unref(struct store_snapshot *snap);

/* The revision whose state this is. */
uint64_t store_snapshot_revision(const struct store_snapshot *snap);

/* An object, or NULL; borrowed for as long as the snapshot is held. */
const struct api_object *store_snapshot_get(const struct store_snapshot *snap, uint32_t resource,
                                            struct str namespace, struct str name);

/* Which objects of a resource: those of a namespace or, if that is empty, all; and of these the
 * ones behind a key, or, if that is empty, all. */
struct store_range {
    struct str namespace, after;
};

/* How many objects are in the range. Takes a time of O(log n). */
size_t store_snapshot_count(const struct store_snapshot *snap, uint32_t resource,
                            struct store_range range);

/* A walk over a range in the order of keys; on the caller's stack, with nothing to free. */
enum { STORE_TREE_HEIGHT = 12 };
struct store_cursor {
    struct {
        const struct store__node *node;
        uint32_t at;
    } path[STORE_TREE_HEIGHT];
    uint32_t depth;
    struct str namespace;
};

/* Starts before the first object of the range, whose texts are borrowed, as is the snapshot. */
void store_cursor_start(struct store_cursor *c, const struct store_snapshot *snap,
                        uint32_t resource, struct store_range range);

/* The same over the newest state, as store_get has it, on the core's thread: the walk ends with the
 * next write. */
void store_cursor_start_newest(struct store_cursor *c, const struct store *s, uint32_t resource,
                               struct store_range range);

/* The next object, or NULL at the end; borrowed for as long as the snapshot is held. */
const struct api_object *store_cursor_next(struct store_cursor *c);

/* Appends the key of an object, by which a later range goes on behind it. */
void store_key_write(struct buf *out, const struct api_object *o);

/* ---- any thread: the log ---- */

enum store_event_type { STORE_CREATED, STORE_MODIFIED, STORE_DELETED };

struct store_event {
    uint64_t revision;
    enum store_event_type type;
    const struct api_object *object;   /* of a deletion: the last state, with its revision */
    const struct api_object *previous; /* what it took the place of, or NULL */
};

/*
 * Copies up to `most` events of a resource behind *position, a revision, with references to their
 * objects, and moves *position behind them: if these are all there are, to the newest revision of
 * the store, so that an idle reader stays in the log and knows how far it has read. Returns how
 * many there are, 0 when there is nothing new, and STORE_EXPIRED when the log does not reach back
 * to the position any more. A position that lies ahead waits for its revision.
 */
enum { STORE_EXPIRED = -1 };
int store_log_read(struct store *s, uint32_t resource, uint64_t *position,
                   struct store_event *events, int most);

/* How long events stay in the log, by their own wall clock: usually, and when there are many, as
 * long as the memory of all logs is within its limit (LIMIT_STORE_LOG_BYTES). */
#define STORE_LOG_KEPT_NS     (300 * CLOCK_SECOND)
#define STORE_LOG_LEAST_NS    (75 * CLOCK_SECOND)
#define STORE_LOG_USUAL_BYTES (LIMIT_STORE_LOG_BYTES / 4)

/* Gives back the references of events. */
void store_events_release(struct store_event *events, int n);

/* The oldest position from which the log of a resource can be read. */
uint64_t store_log_floor(struct store *s, uint32_t resource);

/* The newest durable revision. */
uint64_t store_revision(struct store *s);

/* What became visible: the newest revision, and which resources have new events. */
struct store_news {
    uint64_t revision;
    uint64_t resources[LIMIT_STORE_RESOURCES / 64];
};

/* Is the resource among the news? */
static inline bool store_news_has(const struct store_news *news, uint32_t resource) {
    return news->resources[resource / 64] >> resource % 64 & 1;
}

/* Called when events have become visible, on the thread that made them so: one at a time, before
 * `done`. It must be quick, and must not subscribe or unsubscribe. */
typedef void store_news_fn(void *ctx, const struct store_news *news);

/* Starts and ends calls of fn(ctx); after the second, it is not running and never will. */
void store_subscribe(struct store *s, store_news_fn *fn, void *ctx);
void store_unsubscribe(struct store *s, store_news_fn *fn, void *ctx);

/* ---- any thread: figures ---- */

/* Commits to the file by how long they took: less than 0.5 ms, and so on by factors of two; the
 * last one has all that took longer. */
enum { STORE_COMMIT_BUCKETS = 14 };
#define STORE_COMMIT_FIRST_NS INT64_C(500000)

struct store_stats {
    uint64_t revision;     /* the newest durable one */
    uint64_t objects;      /* in all resources */
    uint64_t object_bytes; /* memory of these */
    uint64_t log_events, log_bytes;
    int64_t log_oldest; /* when the oldest event of all logs was written; 0: there is none */
    uint64_t batches, writes, failed_batches; /* since the store was opened */
    uint64_t commits;                         /* transactions of the file */
    uint64_t commit_ns, commit_most_ns;       /* all of them, and the longest one */
    uint64_t commit_buckets[STORE_COMMIT_BUCKETS];
    uint64_t value_bytes;           /* that were written as values of records */
    uint64_t file_bytes, wal_bytes; /* 0 without a file */
    bool refuses;                   /* there may be no writes any more */
};

/* What the store has and has done. */
void store_stats_read(struct store *s, struct store_stats *out);

#endif
