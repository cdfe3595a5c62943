/* The life of a key: ready, at work, settling, in back-off, and forgotten when nothing is left. */
#include "client/workqueue.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/heap.h"
#include "base/log.h"
#include "base/map.h"
#include "client/informer_int.h"
#include "client/workqueue_int.h"

enum { WORKERS = 5, STARTS_IN_TURN = 64, WHY_MOST = 256 };

#define FIRST_DELAY (5 * CLOCK_SECOND / 1000)
#define MOST_DELAY  (1000 * CLOCK_SECOND)

enum item_state {
    ITEM_IDLE,
    ITEM_READY,    /* waits for a worker */
    ITEM_AT_WORK,  /* is decided about, or waits for answers */
    ITEM_SETTLING, /* waits for informers to see what it wrote */
};

/* A write of the work that is not answered yet. */
struct write {
    struct work *work;
    const struct api_kind *kind;
    enum registry_verb verb;
    struct client_call *call;
    work_answer_fn *answered;
    void *arg;
    struct write *next, **link;
};

/* What an informer must have seen before the key is worked on again. */
struct await {
    const struct informer *informer;
    uint64_t revision;
    struct await *next;
};

struct work {
    struct item *item;
    struct arena arena;
    struct write *writes;
    struct await *awaits;
    int64_t begun;    /* monotonic time */
    bool is_deciding; /* sync has not returned */
    bool has_failed;
    bool goes_on;
};

/* A key that somebody waits for. */
struct item {
    struct workqueue *q;
    enum item_state state;
    bool is_dirty; /* was added while it was at work */
    int64_t added; /* monotonic time; of one that is ready or dirty */
    uint32_t failures;
    bool is_delayed; /* is to be worked on at `due`, and in the heap of such keys */
    int64_t due;
    struct heap_node node;
    struct item *next, **link; /* in the list of ready or settling ones; these alone have a link */
    struct work work;
    struct str namespace, name; /* inside key */
    char key[];                 /* namespace/name */
};

struct workqueue {
    struct workqueue_opts opts;
    struct net_loop *loop;
    struct map items; /* by key */
    struct item *ready, **ready_end, *settling;
    struct heap delayed;
    struct net_timer timer;
    struct net_deferred run;
    struct informers__follower follower;
    size_t at_work;
    struct workqueue_stats stats;
    struct workqueue *next, **link; /* of those of the client, in the order in which they came */
};

/* ---- items ---- */

static void run_later(struct workqueue *q) {
    net_loop_defer(q->loop, &q->run);
}

static struct item *item_of(struct workqueue *q, struct str namespace, struct str name) {
    AUTO(buf_release) struct buf key = BUF_INIT(SIZE_MAX);
    buf_addf(&key, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name));
    struct item *item = map_get(&q->items, buf_view(&key));
    if (item)
        return item;
    item = xcalloc(1, sizeof *item + key.n);
    memcpy(item->key, buf_view(&key).p, key.n);
    item->q = q;
    item->work.item = item;
    item->namespace = (struct str){item->key, namespace.n};
    item->name = (struct str){item->key + namespace.n + 1, name.n};
    map_put(&q->items, (struct str){item->key, key.n}, item);
    return item;
}

static struct str key_of(const struct item *item) {
    return (struct str){item->key, item->namespace.n + 1 + item->name.n};
}

static struct item *take_ready(struct workqueue *q) {
    struct item *item = q->ready;
    q->ready = item->next;
    if (!q->ready)
        q->ready_end = &q->ready;
    item->next = NULL;
    return item;
}

static void unlink_settling(struct item *item) {
    *item->link = item->next;
    if (item->next)
        item->next->link = item->link;
    item->next = NULL;
    item->link = NULL;
}

static void undelay(struct item *item) {
    if (item->is_delayed)
        heap_remove(&item->q->delayed, &item->node);
    item->is_delayed = false;
}

static void forget_if_idle(struct item *item) {
    if (item->state != ITEM_IDLE || item->is_delayed || item->failures)
        return;
    map_del(&item->q->items, key_of(item));
    free(item);
}

/* ---- what makes a key ready ---- */

static int64_t now_of(const struct workqueue *q) {
    return clock_mono(net_loop_clock(q->loop));
}

static void queue_up(struct item *item) {
    struct workqueue *q = item->q;
    undelay(item);
    item->state = ITEM_READY;
    *q->ready_end = item;
    q->ready_end = &item->next;
    run_later(q);
}

/* What waits already is not added again; what is at work waits for that. */
static void make_ready(struct item *item) {
    struct workqueue *q = item->q;
    if (item->state == ITEM_READY || item->is_dirty)
        return;
    q->stats.adds++;
    q->stats.depth++;
    item->added = now_of(q);
    if (item->state == ITEM_IDLE)
        queue_up(item);
    else
        item->is_dirty = true;
}

static bool is_earlier(const struct heap_node *a, const struct heap_node *b) {
    const struct item *x = heap_const_entry(a, struct item, node);
    const struct item *y = heap_const_entry(b, struct item, node);
    return x->due != y->due ? x->due < y->due : str_cmp(key_of(x), key_of(y)) < 0;
}

static void set_timer(struct workqueue *q) {
    const struct heap_node *first = heap_peek(&q->delayed);
    if (first)
        net_timer_start(q->loop, &q->timer, heap_const_entry(first, struct item, node)->due);
    else
        net_timer_stop(q->loop, &q->timer);
}

static void delay(struct item *item, int64_t ns) {
    struct workqueue *q = item->q;
    int64_t due = clock_after(net_loop_now(q->loop), ns);
    if (item->state == ITEM_READY || (item->is_delayed && item->due <= due))
        return;
    undelay(item);
    item->due = due;
    item->is_delayed = true;
    heap_push(&q->delayed, &item->node);
    set_timer(q);
}

static void on_timer(void *arg) {
    struct workqueue *q = arg;
    for (struct heap_node *first; (first = heap_peek(&q->delayed));) {
        struct item *item = heap_entry(first, struct item, node);
        if (item->due > net_loop_now(q->loop))
            break;
        undelay(item);
        make_ready(item);
    }
    set_timer(q);
}

void workqueue_add(struct workqueue *q, struct str namespace, struct str name) {
    make_ready(item_of(q, namespace, name));
}

void workqueue_add_after(struct workqueue *q, struct str namespace, struct str name, int64_t ns) {
    if (ns <= 0)
        workqueue_add(q, namespace, name);
    else
        delay(item_of(q, namespace, name), ns);
}

void workqueue_add_object(struct workqueue *q, const struct api_object *o) {
    workqueue_add(q, o->meta->namespace, o->meta->name);
}

void workqueue_add_controller(struct workqueue *q, const struct api_object *o,
                              const struct api_kind *kind) {
    const struct api_owner_reference *owner = api_object_controller(o);
    if (owner && str_is(owner->kind, kind->kind) &&
        str_eq(registry_group_of(owner->api_version), registry_group_of(str_of(kind->api_version))))
        workqueue_add(q, kind->namespaced ? o->meta->namespace : STR(""), owner->name);
}

uint32_t workqueue_failures(const struct workqueue *q, struct str namespace, struct str name) {
    AUTO(buf_release) struct buf key = BUF_INIT(SIZE_MAX);
    buf_addf(&key, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name));
    const struct item *item = map_get(&q->items, buf_view(&key));
    return item ? item->failures : 0;
}

/* ---- the end of work ---- */

static int64_t backoff_of(const struct item *item) {
    const struct workqueue_opts *o = &item->q->opts;
    int64_t ns = o->first_delay;
    for (uint32_t i = 1; i < item->failures && ns < o->most_delay; i++)
        ns *= 2;
    return ns < o->most_delay ? ns : o->most_delay;
}

static void conclude(struct item *item) {
    struct workqueue *q = item->q;
    bool has_failed = item->work.has_failed, goes_on = item->work.goes_on && !has_failed;
    q->at_work--;
    q->stats.done++;
    histogram_observe_ns(&workqueue__work_row, &q->stats.work_times, now_of(q) - item->work.begun);
    item->state = ITEM_IDLE;
    item->failures = has_failed ? item->failures + 1 : 0;
    q->stats.retries += has_failed;
    arena_release(&item->work.arena);
    item->work = (struct work){.item = item};
    if (item->is_dirty)
        queue_up(item);
    else if (goes_on)
        make_ready(item);
    else if (has_failed)
        delay(item, backoff_of(item));
    item->is_dirty = false;
    forget_if_idle(item);
    run_later(q);
}

static bool has_settled(struct work *w) {
    while (w->awaits && informer_revision(w->awaits->informer) >= w->awaits->revision)
        w->awaits = w->awaits->next;
    return !w->awaits;
}

static void settle(struct item *item) {
    struct workqueue *q = item->q;
    if (item->work.is_deciding || item->work.writes)
        return;
    if (has_settled(&item->work)) {
        conclude(item);
        return;
    }
    item->state = ITEM_SETTLING;
    item->next = q->settling;
    item->link = &q->settling;
    if (item->next)
        item->next->link = &item->next;
    q->settling = item;
}

/* Informers have seen something: some may have settled, and all may have synced. */
static void on_progress(void *arg) {
    struct workqueue *q = arg;
    for (struct item *item = q->settling, *next; item; item = next) {
        next = item->next;
        if (has_settled(&item->work)) {
            unlink_settling(item);
            conclude(item);
        }
    }
    if (q->ready)
        run_later(q);
}

/* ---- at work ---- */

static void begin(struct item *item) {
    struct workqueue *q = item->q;
    item->state = ITEM_AT_WORK;
    q->stats.depth--;
    q->at_work++;
    item->work.begun = now_of(q);
    histogram_observe_ns(&workqueue__queue_row, &q->stats.queue_times,
                         item->work.begun - item->added);
    item->work.is_deciding = true;
    q->opts.sync(q->opts.arg, &item->work);
    item->work.is_deciding = false;
    settle(item);
}

static void run(void *arg) {
    struct workqueue *q = arg;
    if (!informers_have_synced(q->opts.informers))
        return;
    for (int n = 0; q->ready && q->at_work < q->opts.workers; n++) {
        if (n == STARTS_IN_TURN) {
            run_later(q);
            return;
        }
        begin(take_ready(q));
    }
}

static void await(struct write *write, const struct client_answer *answer) {
    struct work *w = write->work;
    uint64_t revision = client__revision_of(answer->object);
    const struct informer *i = informers__find(w->item->q->opts.informers, write->kind);
    if (answer->code || !i || !revision || answer->object->type != write->kind->type)
        return;
    struct await *a = arena_new(&w->arena, struct await);
    *a = (struct await){i, revision, w->awaits};
    w->awaits = a;
}

/* What was to be deleted and is gone, or is another one by now, is as good as deleted. */
static bool is_as_good(const struct write *write, const struct client_answer *answer) {
    return !answer->code || (write->verb == REGISTRY_VERB_DELETE &&
                             (answer->code == ERR_NOT_FOUND || answer->code == ERR_CONFLICT));
}

static void unlink_write(struct write *write) {
    *write->link = write->next;
    if (write->next)
        write->next->link = write->link;
}

static void on_answer(void *arg, const struct client_answer *answer) {
    struct write *write = arg;
    struct work *w = write->work;
    await(write, answer);
    if (write->answered) {
        bool was_deciding = w->is_deciding;
        w->is_deciding = true; /* it may send more */
        write->answered(write->arg, w, answer);
        w->is_deciding = was_deciding;
    } else if (!is_as_good(write, answer))
        work_fail_by(w, answer);
    unlink_write(write);
    settle(w->item);
}

void work_send(struct work *w, const struct client_request *request, work_answer_fn *answered,
               void *arg) {
    struct write *write = arena_new(&w->arena, struct write);
    *write = (struct write){.work = w,
                            .kind = request->kind,
                            .verb = request->verb,
                            .answered = answered,
                            .arg = arg,
                            .next = w->writes,
                            .link = &w->writes};
    if (write->next)
        write->next->link = &write->next;
    w->writes = write;
    write->call = client_send(w->item->q->opts.client, request, on_answer, write);
}

void work_fail(struct work *w, const char *fmt, ...) {
    const struct workqueue_opts *o = &w->item->q->opts;
    AUTO(buf_release) struct buf why = BUF_INIT(WHY_MOST);
    va_list args;
    va_start(args, fmt);
    buf_vaddf(&why, fmt, args);
    va_end(args);
    w->has_failed = true;
    log_info(o->log, 2, "sync failed", LOG_STR("queue", str_of(o->name)),
             LOG_STR("key", key_of(w->item)), LOG_STR("err", buf_view(&why)));
}

void work_fail_by(struct work *w, const struct client_answer *answer) {
    work_fail(w, "%.*s", STR_ARG(answer->message));
}

void work_again_after(struct work *w, int64_t ns) {
    delay(w->item, ns > 0 ? ns : 1);
}

void work_go_on(struct work *w) {
    w->goes_on = true;
}

struct str work_namespace(const struct work *w) {
    return w->item->namespace;
}

struct str work_name(const struct work *w) {
    return w->item->name;
}

struct arena *work_arena(struct work *w) {
    return &w->arena;
}

/* ---- the queue ---- */

struct workqueue *workqueue_new(const struct workqueue_opts *opts) {
    struct workqueue *q = xcalloc(1, sizeof *q);
    *q = (struct workqueue){.opts = *opts,
                            .loop = client_loop(opts->client),
                            .items = MAP_INIT(map_random_seed()),
                            .delayed = {.before = is_earlier},
                            .timer = {.fn = on_timer, .arg = q},
                            .run = {.fn = run, .arg = q},
                            .follower = {.fn = on_progress, .arg = q}};
    q->ready_end = &q->ready;
    q->opts.workers = opts->workers ? opts->workers : WORKERS;
    q->opts.first_delay = opts->first_delay ? opts->first_delay : FIRST_DELAY;
    q->opts.most_delay = opts->most_delay ? opts->most_delay : MOST_DELAY;
    informers__follow(opts->informers, &q->follower);
    q->link = &opts->client->queues;
    while (*q->link)
        q->link = &(*q->link)->next;
    *q->link = q;
    return q;
}

void workqueue_free(struct workqueue *q) {
    size_t at = 0;
    if (!q)
        return;
    *q->link = q->next;
    if (q->next)
        q->next->link = q->link;
    informers__unfollow(&q->follower);
    net_timer_stop(q->loop, &q->timer);
    net_loop_undefer(q->loop, &q->run);
    for (struct map_entry *m; (m = map_next(&q->items, &at));) {
        struct item *item = m->value;
        for (struct write *w = item->work.writes; w; w = w->next)
            client_cancel(w->call);
        arena_release(&item->work.arena);
        free(item);
    }
    map_release(&q->items);
    heap_release(&q->delayed);
    free(q);
}

const struct workqueue *workqueue__next(const struct workqueue *q) {
    return q->next;
}

/* How long the keys at work have been so. */
static void add_unfinished(struct workqueue_stats *stats, const struct workqueue *q) {
    size_t at = 0, left = q->at_work;
    int64_t now = now_of(q);
    for (struct map_entry *m; left && (m = map_next(&q->items, &at));) {
        const struct item *item = m->value;
        if (item->state != ITEM_AT_WORK && item->state != ITEM_SETTLING)
            continue;
        int64_t ns = now - item->work.begun;
        stats->unfinished_ns += ns;
        stats->longest_ns = ns > stats->longest_ns ? ns : stats->longest_ns;
        left--;
    }
}

struct workqueue_stats workqueue_stats(const struct workqueue *q) {
    struct workqueue_stats stats = q->stats;
    stats.name = q->opts.name;
    stats.unfinished = q->at_work;
    add_unfinished(&stats, q);
    return stats;
}
