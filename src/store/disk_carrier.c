/*
 * The disk's thread: it takes all batches that have come while it was writing, writes them as one
 * transaction, makes them visible and takes the next. What the logs have let go of is removed from
 * the file along the way, and the write-ahead log is emptied when it is long or nobody writes, most
 * of it by a thread of its own.
 */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/alloc.h"
#include "store/db_int.h"

enum {
    GROUP_WRITES = 4096, /* in one transaction, or as many as one batch has */
    FORGET_LEAST = 256,  /* records removed in one transaction, beside twice its writes */
    WARM_WRITES = 4096,  /* of a batch keep their encoded bytes; of one that is larger the last */
    WAL_FRAMES_MOST = 4096, /* 16 MiB: then the mover begins to empty the write-ahead log */
    WAL_FRAMES_IDLE = 64,   /* then it is emptied, if nobody waits */
    WAL_FRAMES_FEW = 256,   /* so many are moved here, while others wait */
    WAL_FRAMES_LIMIT = 4 * WAL_FRAMES_MOST, /* then others wait for the mover */
    IDLE_MS = 200,                          /* without writes: time for removing and emptying */
};

struct disk {
    struct store__carrier carrier;
    struct store *store;
    struct store__db *db; /* of the thread */
    pthread_t thread;
    uint64_t epoch; /* of the thread: how many failures there were */
    bool refuses;   /* of the thread */
    struct store__mover *mover;
    bool moving; /* of the thread: the mover has begun a round whose end was not seen */

    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t wake;  /* there is something to do */
    pthread_cond_t idle;  /* there is nothing to do */
    struct store__queue queue;
    bool busy; /* with batches that are in the queue no more */
    bool closing;
    VEC(struct store__forgotten) forgotten; /* by the logs, not yet by the file */
    size_t gone;                            /* of these: by the file, too */
};

/* ---- transactions ---- */

static int write_one(struct store__db *db, const struct store__write *w, uint64_t *bytes,
                     struct err *err) {
    const struct api_object *o = w->event.object, *previous = w->event.previous;
    struct api_bytes *json = api_object_json_ref(o);
    struct store__record r = {.revision = w->event.revision,
                              .type = w->event.type,
                              .previous = previous ? store__revision_of(previous) : 0,
                              .time = w->time,
                              .namespace = o->meta->namespace,
                              .name = o->meta->name,
                              .value = api_bytes_view(json)};
    int rc = store__db_add(db, w->resource, &r, err);
    *bytes += r.value.n;
    api_bytes_unref(json);
    return rc;
}

static int write_batch(struct store__db *db, const struct store__batch *batch, uint64_t *bytes,
                       struct err *err) {
    for (size_t i = 0; i < batch->writes.n; i++) {
        if (batch->writes.n - i > WARM_WRITES)
            api_object_forget_bytes(batch->writes.v[i].event.object);
        if (write_one(db, &batch->writes.v[i], bytes, err) < 0)
            return -1;
    }
    return 0;
}

static size_t left_to_forget(const struct disk *d) {
    return d->forgotten.n - d->gone;
}

/* Copies the first of what is to be forgotten, which stays there until it has been. */
static size_t look_at_forgotten(struct disk *d, size_t most, struct store__forgotten *out) {
    pthread_mutex_lock(&d->lock);
    size_t n = left_to_forget(d) < most ? left_to_forget(d) : most;
    if (n)
        memcpy(out, d->forgotten.v + d->gone, n * sizeof *out);
    pthread_mutex_unlock(&d->lock);
    return n;
}

/* Memory is moved when half of it is not needed any more. */
static void forgotten_is_gone(struct disk *d, size_t n) {
    pthread_mutex_lock(&d->lock);
    d->gone += n;
    if (d->gone && d->gone >= left_to_forget(d)) {
        d->forgotten.n = left_to_forget(d);
        memmove(d->forgotten.v, d->forgotten.v + d->gone, d->forgotten.n * sizeof *d->forgotten.v);
        d->gone = 0;
        vec_shrink(&d->forgotten);
    }
    pthread_mutex_unlock(&d->lock);
}

struct group {
    struct store__queue batches;
    size_t writes;
    uint64_t revision; /* of the last batch */
    struct store__forgotten *forgotten;
    size_t n_forgotten;
    uint64_t bytes; /* of the values that were written */
};

static int write_group(struct disk *d, struct group *g, struct err *err) {
    if (store__db_begin(d->db, err) < 0)
        return -1;
    for (const struct store__batch *b = g->batches.first; b; b = b->next)
        if (write_batch(d->db, b, &g->bytes, err) < 0)
            return -1;
    for (size_t i = 0; i < g->n_forgotten; i++)
        if (store__db_forget(d->db, &g->forgotten[i], err) < 0)
            return -1;
    int64_t start = clock_mono(&clock_system);
    if (store__db_commit(d->db, g->revision, err) < 0)
        return -1;
    store__note_commit(d->store, clock_mono(&clock_system) - start, g->bytes);
    return 0;
}

/* Nothing of the group is in the file, or nobody knows; in the second case the store refuses. */
static void fail_group(struct disk *d, struct group *g, const struct err *err) {
    bool for_good = store__db_rollback(d->db) < 0;
    d->refuses |= for_good;
    if (g->batches.first)
        d->epoch++;
    store__fail(d->store, &g->batches, err, for_good);
}

static void run_group(struct disk *d, struct group *g) {
    struct err err;
    size_t most = FORGET_LEAST + 2 * g->writes;
    g->forgotten = xcalloc(most, sizeof *g->forgotten);
    g->n_forgotten = look_at_forgotten(d, most, g->forgotten);
    if (!g->writes && !g->n_forgotten) {
        store__publish(d->store, &g->batches);
    } else if (write_group(d, g, &err) < 0) {
        fail_group(d, g, &err);
    } else {
        forgotten_is_gone(d, g->n_forgotten);
        store__publish(d->store, &g->batches);
    }
    free(g->forgotten);
}

/* ---- the thread ---- */

/* Batches that were made before the core saw the last failure, or that come after the last one that
 * there can be, fail with it. */
static bool is_void(const struct disk *d, const struct store__batch *batch) {
    return d->refuses || batch->epoch != d->epoch;
}

static void fail_void(struct disk *d, struct store__batch *batch) {
    struct store__queue one;
    struct err err;
    store__queue_init(&one);
    store__queue_add(&one, batch);
    if (store_writable(d->store, &err) == 0)
        err_set(&err, ERR_IO, "'%s': an earlier write failed, on which this one was made",
                d->db->path);
    store__fail(d->store, &one, &err, false);
}

/* Takes batches for one transaction. Void ones come alone. */
static void take_group(struct disk *d, struct store__queue *from) {
    struct group g = {0};
    store__queue_init(&g.batches);
    while (from->first && g.writes < GROUP_WRITES && !is_void(d, from->first)) {
        struct store__batch *batch = store__queue_take(from);
        g.writes += batch->writes.n + batch->moves;
        g.revision = batch->revision;
        store__queue_add(&g.batches, batch);
    }
    if (g.batches.first)
        run_group(d, &g);
    else
        fail_void(d, store__queue_take(from));
}

/* What cannot be moved for want of room is in the log, and will be tried again. */
static void fail_wal(struct disk *d, int failure, const struct err *err) {
    struct store__queue none;
    if (failure == SQLITE_FULL)
        return;
    store__queue_init(&none);
    d->refuses = true;
    store__fail(d->store, &none, err, true);
}

static void empty_wal(struct disk *d) {
    struct err err;
    if (!d->refuses && store__db_checkpoint(d->db, &err) < 0)
        fail_wal(d, d->db->failure, &err);
}

/* Has the mover's round ended? Then what it has moved is taken off *left. */
static bool see_round(struct disk *d, bool wait, uint64_t *left) {
    struct store__moved last;
    if (!store__mover_rests(d->mover, wait, &last))
        return false;
    d->moving = false;
    if (last.rc < 0)
        fail_wal(d, last.failure, &last.err);
    *left -= last.frames < *left ? last.frames : *left;
    return true;
}

/* Has the log emptied from so many frames on. The mover begins; what was added behind its back is
 * moved here if it is little or the log too long, and else by another round. */
static void tend_wal(struct disk *d, uint64_t most) {
    bool is_second = d->moving, is_long = d->db->wal_frames >= WAL_FRAMES_LIMIT;
    uint64_t left = d->db->wal_frames;
    if (d->moving && !see_round(d, is_long, &left))
        return;
    if (d->refuses || (!is_second && left < most))
        return;
    if (left <= WAL_FRAMES_FEW || (is_second && is_long)) {
        empty_wal(d);
    } else {
        store__mover_start(d->mover);
        d->moving = true;
    }
}

static void do_work(struct disk *d, struct store__queue *work) {
    while (work->first)
        take_group(d, work);
    tend_wal(d, WAL_FRAMES_MOST);
}

/* What can be done while nobody waits. Called with the lock, which is given back meanwhile. */
static void tidy_up(struct disk *d) {
    struct group g = {.revision = 0};
    bool forget = left_to_forget(d) && !d->refuses;
    pthread_mutex_unlock(&d->lock);
    store__queue_init(&g.batches);
    if (forget)
        run_group(d, &g);
    else
        tend_wal(d, WAL_FRAMES_IDLE);
    pthread_mutex_lock(&d->lock);
}

static bool is_tidy(const struct disk *d) {
    return d->refuses || (!left_to_forget(d) && !d->moving && d->db->wal_frames < WAL_FRAMES_IDLE);
}

static struct timespec in_a_moment(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    t.tv_nsec += IDLE_MS * 1000000L;
    t.tv_sec += t.tv_nsec / 1000000000L;
    t.tv_nsec %= 1000000000L;
    return t;
}

/* Waits for batches, or until it has been quiet for a moment and there is something to tidy up. */
static void wait_for_work(struct disk *d) {
    struct timespec until = in_a_moment();
    while (!d->queue.first && !d->closing) {
        if (is_tidy(d)) {
            pthread_cond_wait(&d->wake, &d->lock);
        } else if (pthread_cond_timedwait(&d->wake, &d->lock, &until) == ETIMEDOUT) {
            tidy_up(d);
            until = in_a_moment();
        }
    }
}

static void *run_disk(void *ctx) {
    struct disk *d = ctx;
    pthread_mutex_lock(&d->lock);
    for (;;) {
        wait_for_work(d);
        if (!d->queue.first)
            break;
        struct store__queue work;
        store__queue_init(&work);
        store__queue_move(&work, &d->queue);
        d->busy = true;
        pthread_mutex_unlock(&d->lock);
        do_work(d, &work);
        pthread_mutex_lock(&d->lock);
        d->busy = false;
        if (!d->queue.first)
            pthread_cond_broadcast(&d->idle);
    }
    pthread_mutex_unlock(&d->lock);
    return NULL;
}

/* ---- the carrier ---- */

static void commit_later(struct store__carrier *c, struct store__batch *batch) {
    struct disk *d = (struct disk *)c;
    pthread_mutex_lock(&d->lock);
    store__queue_add(&d->queue, batch);
    pthread_cond_signal(&d->wake);
    pthread_mutex_unlock(&d->lock);
}

static void drain_disk(struct store__carrier *c) {
    struct disk *d = (struct disk *)c;
    pthread_mutex_lock(&d->lock);
    while (d->queue.first || d->busy)
        pthread_cond_wait(&d->idle, &d->lock);
    pthread_mutex_unlock(&d->lock);
}

static void forget_later(struct store__carrier *c, const struct store__forgotten *event) {
    struct disk *d = (struct disk *)c;
    pthread_mutex_lock(&d->lock);
    vec_push(&d->forgotten, *event);
    pthread_cond_signal(&d->wake);
    pthread_mutex_unlock(&d->lock);
}

static uint64_t file_bytes(const char *path) {
    struct stat st;
    return stat(path, &st) == 0 ? (uint64_t)st.st_size : 0;
}

static void measure_disk(struct store__carrier *c, struct store_stats *out) {
    const struct disk *d = (const struct disk *)c;
    out->file_bytes = file_bytes(d->db->path);
    out->wal_bytes = file_bytes(d->db->wal_path);
}

static void close_disk(struct store__carrier *c) {
    struct disk *d = (struct disk *)c;
    pthread_mutex_lock(&d->lock);
    d->closing = true;
    pthread_cond_signal(&d->wake);
    pthread_mutex_unlock(&d->lock);
    pthread_join(d->thread, NULL);
    store__mover_free(d->mover);
    store__db_close(d->db);
    vec_release(&d->forgotten);
    pthread_cond_destroy(&d->wake);
    pthread_cond_destroy(&d->idle);
    pthread_mutex_destroy(&d->lock);
    free(d);
}

/* Signals are for the threads that know what to do about them. */
static void start_thread(struct disk *d) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&d->thread, NULL, run_disk, d) != 0)
        BUG("no thread for the disk");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

struct store__carrier *store__disk_carrier(struct store *s, struct store__db *db,
                                           struct store__mover *mover) {
    struct disk *d = xcalloc(1, sizeof *d);
    pthread_condattr_t monotonic;
    d->carrier = (struct store__carrier){.commit = commit_later,
                                         .drain = drain_disk,
                                         .forget = forget_later,
                                         .measure = measure_disk,
                                         .close = close_disk};
    d->store = s;
    d->db = db;
    d->mover = mover;
    store__queue_init(&d->queue);
    pthread_mutex_init(&d->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&d->wake, &monotonic);
    pthread_cond_init(&d->idle, NULL);
    pthread_condattr_destroy(&monotonic);
    start_thread(d);
    return &d->carrier;
}
