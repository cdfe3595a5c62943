/*
 * The core's thread: executes writes one after the other; those of one turn of its loop are one
 * batch of the store. Answers leave when the batch is durable. Roles and bindings are read from the
 * log, and what everybody may do is told to the workers.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "server/server_int.h"

/* ---- writes ---- */

/* The calls of one commit, while it is written. */
struct batch {
    struct server *s;
    struct server__call *calls;
};

static void answer_call(void *arg) {
    struct server__call *c = arg;
    c->is_with_core = false;
    server__deadline_stop(c);
    server__answer(c);
}

static void post_back(struct server__call *c) {
    net_loop_post(c->worker->loop, answer_call, c);
}

static void fail(struct server__call *c, const struct err *err) {
    apiserver_response_release(&c->response);
    c->response.answer = APISERVER_FAILURE;
    c->response.failure = (struct registry_failure){
        .code = err->code == ERR_CONFLICT ? ERR_CONFLICT : ERR_INTERNAL,
        .message = arena_printf(&c->arena, "Internal error occurred: %s", err->msg)};
}

static void read_rules(struct server *s);

static void on_durable(void *ctx, const struct err *err) {
    struct batch *batch = ctx;
    if (!err)
        read_rules(batch->s);
    for (struct server__call *c = batch->calls, *next; c; c = next) {
        next = c->next;
        if (err && c->response.is_written)
            fail(c, err);
        post_back(c);
    }
    free(batch);
}

static void commit(void *arg) {
    struct server *s = arg;
    struct batch *batch = xcalloc(1, sizeof *batch);
    *batch = (struct batch){s, s->written};
    s->written = NULL;
    s->written_end = &s->written;
    store_commit(s->opts.store, on_durable, batch);
}

/* Has the batch committed at the end of this turn, when all that came in it was executed. */
static void commit_later(struct server *s) {
    net_loop_defer(s->opts.core, &s->commit);
}

static void execute(void *arg) {
    struct server__call *c = arg;
    struct server *s = c->s;
    apiserver_write(s->opts.api, &c->r, &c->response);
    if (!c->response.is_written) {
        post_back(c);
        return;
    }
    c->next = NULL;
    *s->written_end = c;
    s->written_end = &c->next;
    commit_later(s);
}

void server__submit(struct server__call *c) {
    c->is_with_core = true;
    server__deadline_write(c);
    net_loop_post(c->s->opts.core, execute, c);
}

/* ---- what everybody may do ---- */

static const char *const rbac_resources[] = {
    "rbac.authorization.k8s.io/clusterroles",
    "rbac.authorization.k8s.io/clusterrolebindings",
    "rbac.authorization.k8s.io/roles",
    "rbac.authorization.k8s.io/rolebindings",
};
enum { RBAC_RESOURCES = sizeof rbac_resources / sizeof *rbac_resources };

/* New rules on their way to a worker. */
struct told_rules {
    struct server__worker *worker;
    const struct auth_rules *rules;
};

static void take_rules(void *arg) {
    struct told_rules *told = arg;
    auth_rules_unref(told->worker->rules);
    told->worker->rules = told->rules;
    free(told);
}

static void tell_rules(struct server *s) {
    const struct auth_rules *rules = auth_rbac_publish(s->rbac);
    apiserver_rules_set(s->opts.api, rules);
    for (size_t i = 0; i < s->worker_count; i++) {
        struct told_rules *told = xcalloc(1, sizeof *told);
        *told = (struct told_rules){&s->workers[i], auth_rules_ref(rules)};
        net_loop_post(s->workers[i].loop, take_rules, told);
    }
    auth_rules_unref(rules);
}

/* Reads what is new in the log of one resource. */
static bool read_log(struct server *s, size_t which) {
    enum { AT_ONCE = 64 };
    struct store_event events[AT_ONCE];
    uint32_t resource = (uint32_t)store_resource_find(s->opts.store, str_of(rbac_resources[which]));
    bool changed = false;
    for (int n; (n = store_log_read(s->opts.store, resource, &s->rbac_read[which], events,
                                    AT_ONCE)) > 0;) {
        for (int i = 0; i < n; i++)
            if (events[i].type == STORE_DELETED)
                auth_rbac_delete(s->rbac, events[i].object);
            else
                auth_rbac_set(s->rbac, events[i].object);
        store_events_release(events, n);
        changed = true;
    }
    return changed;
}

static void read_rules(struct server *s) {
    bool changed = false;
    for (size_t i = 0; i < RBAC_RESOURCES; i++)
        changed |= read_log(s, i);
    if (changed)
        tell_rules(s);
}

/* What is stored when the server starts. */
static void read_first_rules(struct server *s) {
    struct store_snapshot *snap = store_snapshot_take(s->opts.store);
    for (size_t i = 0; i < RBAC_RESOURCES; i++) {
        int resource = store_resource_find(s->opts.store, str_of(rbac_resources[i]));
        struct store_cursor cursor;
        store_cursor_start(&cursor, snap, (uint32_t)resource, (struct store_range){0});
        for (const struct api_object *o; (o = store_cursor_next(&cursor));) {
            auth_rbac_set(s->rbac, o);
            s->has_roles |= i == 0 && str_is(o->meta->name, "cluster-admin");
        }
        s->rbac_read[i] = store_snapshot_revision(snap);
    }
    store_snapshot_unref(snap);
    const struct auth_rules *rules = auth_rbac_publish(s->rbac);
    apiserver_rules_set(s->opts.api, rules);
    for (size_t i = 0; i < s->worker_count; i++)
        s->workers[i].rules = auth_rules_ref(rules);
    auth_rules_unref(rules);
}

/* ---- time ---- */

static void expire(void *arg) {
    struct server *s = arg;
    int64_t now = clock_wall(s->opts.clock);
    bool moves = store_age(s->opts.store, now);
    if (store_expire(s->opts.store, now) || moves)
        commit_later(s);
    net_timer_start(s->opts.core, &s->expiry, net_loop_now(s->opts.core) + CLOCK_SECOND);
}

/* ---- news ---- */

/* On the thread that made events visible: wakes the workers, each at most once. */
static void on_news(void *ctx, const struct store_news *news) {
    struct server *s = ctx;
    for (size_t i = 0; i < s->worker_count; i++) {
        struct server__worker *w = &s->workers[i];
        for (size_t k = 0; k < sizeof w->news / sizeof *w->news; k++)
            __atomic_fetch_or(&w->news[k], news->resources[k], __ATOMIC_RELEASE);
        if (!__atomic_exchange_n(&w->posted, true, __ATOMIC_ACQ_REL))
            net_loop_post(w->loop, server__stream_news, w);
    }
}

void server__core_start(struct server *s) {
    s->written_end = &s->written;
    s->commit = (struct net_deferred){.fn = commit, .arg = s};
    s->rbac = auth_rbac_new();
    read_first_rules(s);
    store_subscribe(s->opts.store, on_news, s);
    s->expiry = (struct net_timer){.fn = expire, .arg = s};
    net_timer_start(s->opts.core, &s->expiry, net_loop_now(s->opts.core) + CLOCK_SECOND);
}

void server__core_stop(struct server *s) {
    net_timer_stop(s->opts.core, &s->expiry);
    net_loop_undefer(s->opts.core, &s->commit);
    store_unsubscribe(s->opts.store, on_news, s);
    auth_rbac_free(s->rbac);
}
