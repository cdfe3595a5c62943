/*
 * A thread that empties the write-ahead log while others go on to write to it. Moving some
 * thousands of pages to their place takes tens of milliseconds, for which nobody's write should
 * wait. What is written meanwhile is left in the log; as SQLite begins the log again only when
 * nothing is, the disk's thread moves the last of it itself.
 */
#include <signal.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "store/db_int.h"

struct store__mover {
    struct store__db *db; /* a connection of its own; of the thread while it is busy */
    pthread_t thread;

    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    bool busy, closing;
    struct store__moved last;
};

static void move(struct store__mover *m) {
    m->last = (struct store__moved){0};
    m->last.rc = store__db_checkpoint(m->db, &m->last.err);
    m->last.failure = m->db->failure;
    m->last.frames = m->db->moved_frames;
}

static void *run_mover(void *ctx) {
    struct store__mover *m = ctx;
    pthread_mutex_lock(&m->lock);
    for (;;) {
        while (!m->busy && !m->closing)
            pthread_cond_wait(&m->changed, &m->lock);
        if (!m->busy)
            break;
        pthread_mutex_unlock(&m->lock);
        move(m);
        pthread_mutex_lock(&m->lock);
        m->busy = false;
        pthread_cond_broadcast(&m->changed);
    }
    pthread_mutex_unlock(&m->lock);
    return NULL;
}

void store__mover_start(struct store__mover *m) {
    pthread_mutex_lock(&m->lock);
    m->busy = true;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
}

bool store__mover_rests(struct store__mover *m, bool wait, struct store__moved *out) {
    pthread_mutex_lock(&m->lock);
    while (m->busy && wait)
        pthread_cond_wait(&m->changed, &m->lock);
    bool rests = !m->busy;
    if (rests)
        *out = m->last;
    pthread_mutex_unlock(&m->lock);
    return rests;
}

/* Signals are for the threads that know what to do about them. */
static void start_thread(struct store__mover *m) {
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&m->thread, NULL, run_mover, m) != 0)
        BUG("no thread for the write-ahead log");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

int store__mover_new(const struct store__db *db, struct store__mover **out, struct err *err) {
    struct store__db *own;
    if (store__db_open_again(db, &own, err) < 0)
        return -1;
    struct store__mover *m = xcalloc(1, sizeof *m);
    m->db = own;
    pthread_mutex_init(&m->lock, NULL);
    pthread_cond_init(&m->changed, NULL);
    start_thread(m);
    *out = m;
    return 0;
}

void store__mover_free(struct store__mover *m) {
    if (!m)
        return;
    pthread_mutex_lock(&m->lock);
    m->closing = true;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->lock);
    pthread_join(m->thread, NULL);
    store__db_close(m->db);
    pthread_cond_destroy(&m->changed);
    pthread_mutex_destroy(&m->lock);
    free(m);
}
