/*
 * The core's side: writes are made to trees that nobody else sees, and collected in a batch. What
 * becomes of the batch comes back as a call of `done`. After a failure the core starts again from
 * what is durable. Batches that it had committed by then were made on top of the failed one, and
 * fail as well: each knows how many failures the core had seen.
 */
#include <assert.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "store/store_int.h"

/* ---- queues ---- */

void store__queue_init(struct store__queue *q) {
    *q = (struct store__queue){NULL, &q->first};
}

void store__queue_add(struct store__queue *q, struct store__batch *batch) {
    batch->next = NULL;
    *q->end = batch;
    q->end = &batch->next;
}

void store__queue_move(struct store__queue *q, struct store__queue *from) {
    if (!from->first)
        return;
    *q->end = from->first;
    q->end = from->end;
    store__queue_init(from);
}

struct store__batch *store__queue_take(struct store__queue *q) {
    struct store__batch *batch = q->first;
    if (batch && !(q->first = batch->next))
        q->end = &q->first;
    return batch;
}

/* ---- writes ---- */

struct store__batch *store__open_batch(struct store *s) {
    if (!s->open)
        s->open = xcalloc(1, sizeof *s->open);
    return s->open;
}

static void batch_free(struct store__batch *batch) {
    for (size_t i = 0; i < batch->writes.n; i++)
        store_events_release(&batch->writes.v[i].event, 1);
    for (size_t i = 0; i < batch->roots.n; i++)
        store__tree_unref(batch->roots.v[i].tree);
    vec_release(&batch->writes);
    vec_release(&batch->roots);
    free(batch);
}

uint64_t store__revision_of(const struct api_object *o) {
    int64_t revision;
    return str_to_i64(o->meta->resource_version, &revision) && revision > 0 ? (uint64_t)revision
                                                                            : 0;
}

const struct api_object *store_get(const struct store *s, uint32_t resource, struct str namespace,
                                   struct str name) {
    assert(resource < s->opts.n);
    return store__tree_get(s->working[resource], store__key_make(namespace, name));
}

/* Gives the draft the next revision. */
static struct api_object *stamp(struct store *s, struct api_object *draft) {
    struct api_object_meta *meta = api_own_meta(draft);
    assert(meta && meta->name.n);
    meta->resource_version = arena_printf(&draft->arena, "%llu", (unsigned long long)++s->given);
    return draft;
}

/* Remembers what was done to a tree; the event's references are taken. */
static void add_write(struct store *s, uint32_t resource, struct store_event event) {
    struct store__batch *batch = store__open_batch(s);
    int64_t now = clock_wall(s->opts.clock);
    vec_push(&batch->writes, (struct store__write){resource, event, now});
    batch->touched[resource / 64] |= UINT64_C(1) << resource % 64;
    if (s->opts.resources[resource].ttl_ns && event.type != STORE_DELETED)
        store__expiry_add(s, resource, event.object, event.revision, now);
}

const struct api_object *store_put(struct store *s, uint32_t resource, struct api_object *draft) {
    assert(resource < s->opts.n);
    const struct api_object *previous,
        *before = store__tree_get(s->working[resource], store__key_of(draft));
    const struct api_object *o = store__object_publish(s, resource, stamp(s, draft), before);
    s->working[resource] = store__tree_put(s->working[resource], o, &previous);
    add_write(s, resource,
              (struct store_event){.revision = s->given,
                                   .type = previous ? STORE_MODIFIED : STORE_CREATED,
                                   .object = o,
                                   .previous = previous});
    return o;
}

const struct api_object *store_delete(struct store *s, uint32_t resource, struct api_object *last) {
    assert(resource < s->opts.n);
    const struct api_object *o = api_publish(stamp(s, last)), *previous;
    s->working[resource] = store__tree_del(s->working[resource], store__key_of(o), &previous);
    add_write(s, resource,
              (struct store_event){
                  .revision = s->given, .type = STORE_DELETED, .object = o, .previous = previous});
    return o;
}

/* ---- what became of batches ---- */

/* Back to what is durable. */
static void restart(struct store *s) {
    struct store_snapshot *durable = store_snapshot_take(s);
    for (uint32_t i = 0; i < s->opts.n; i++) {
        store__tree_unref(s->working[i]);
        s->working[i] = store__tree_ref(durable->trees[i]);
    }
    store_snapshot_unref(durable);
}

static void see_failure(struct store *s, const struct store__batch *batch) {
    if (batch->epoch < s->epoch)
        return;
    s->epoch = batch->epoch + 1;
    restart(s);
    if (s->open)
        s->doom = batch->err;
}

static struct store__batch *take_ended(struct store *s) {
    pthread_mutex_lock(&s->lock);
    struct store__batch *batch = store__queue_take(&s->ended);
    if (!batch)
        s->posted = false;
    pthread_mutex_unlock(&s->lock);
    return batch;
}

void store__call_done(void *ctx) {
    struct store *s = ctx;
    if (s->calling)
        return; /* by `done` itself; the loop below has the rest */
    s->calling = true;
    for (struct store__batch *batch; (batch = take_ended(s));) {
        bool failed = batch->err.code != ERR_NONE;
        if (failed)
            see_failure(s, batch);
        if (batch->done)
            batch->done(batch->ctx, failed ? &batch->err : NULL);
        batch_free(batch);
    }
    s->calling = false;
}

static void seal(struct store *s, struct store__batch *batch) {
    batch->revision = s->given;
    batch->epoch = s->epoch;
    for (uint32_t i = 0; i < s->opts.n; i++)
        if (batch->touched[i / 64] >> i % 64 & 1)
            vec_push(&batch->roots, (struct store__root){i, store__tree_ref(s->working[i])});
}

/* A batch that was begun on top of something that failed. */
static void fail_open(struct store *s, struct store__batch *batch) {
    struct store__queue one;
    struct err err = s->doom;
    s->doom = (struct err){0};
    restart(s);
    store__queue_init(&one);
    store__queue_add(&one, batch);
    store__fail(s, &one, &err, false);
}

void store_commit(struct store *s, store_done_fn *done, void *ctx) {
    struct store__batch *batch = store__open_batch(s);
    s->open = NULL;
    batch->done = done;
    batch->ctx = ctx;
    if (s->doom.code != ERR_NONE) {
        fail_open(s, batch);
        return;
    }
    seal(s, batch);
    s->carrier->commit(s->carrier, batch);
    if (s->carrier->at_once)
        store__call_done(s);
}

void store_flush(struct store *s) {
    s->carrier->drain(s->carrier);
    store__call_done(s);
}

void store__drop_open(struct store *s) {
    if (s->open)
        batch_free(s->open);
    s->open = NULL;
}
