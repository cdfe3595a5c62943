/*
 * What crosses between the workers and the core: writes on their way there and back, what everybody
 * may do, which is read from the log of roles and bindings, and news of the store.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "server/server_int.h"

/* ---- writes ---- */

static void answer_call(void *arg) {
    struct server__call *c = arg;
    c->is_with_core = false;
    server__deadline_stop(c);
    server__answer(c);
}

static void post_back(struct apiserver_job *job) {
    struct server__call *c = heap_entry(job, struct server__call, job);
    net_loop_post(c->worker->loop, answer_call, c);
}

void server__submit(struct server__call *c) {
    c->is_with_core = true;
    server__deadline_write(c);
    c->job = (struct apiserver_job){.request = &c->r, .response = &c->response, .done = post_back};
    apiserver_core_submit(c->s->opts.core, &c->job);
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

static void read_rules(void *server) {
    struct server *s = server;
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

/* ---- news ---- */

/* On the thread that made events visible: wakes the workers that want to know, each once. */
static void on_news(void *ctx, const struct store_news *news) {
    struct server *s = ctx;
    for (size_t i = 0; i < s->worker_count; i++) {
        struct server__worker *w = &s->workers[i];
        bool is_news = __atomic_load_n(&w->waits, __ATOMIC_ACQUIRE);
        for (size_t k = 0; k < sizeof w->news / sizeof *w->news; k++) {
            uint64_t interest = __atomic_load_n(&w->interest[k], __ATOMIC_ACQUIRE);
            if (!(interest & news->resources[k]))
                continue;
            __atomic_fetch_or(&w->news[k], interest & news->resources[k], __ATOMIC_RELEASE);
            is_news = true;
        }
        if (is_news && !__atomic_exchange_n(&w->posted, true, __ATOMIC_ACQ_REL))
            net_loop_post(w->loop, server__stream_news, w);
    }
}

void server__core_start(struct server *s) {
    s->rbac = auth_rbac_new();
    read_first_rules(s);
    apiserver_core_listen(s->opts.core, read_rules, s);
    store_subscribe(s->opts.store, on_news, s);
}

void server__core_stop(struct server *s) {
    store_unsubscribe(s->opts.store, on_news, s);
    apiserver_core_listen(s->opts.core, NULL, NULL);
    auth_rbac_free(s->rbac);
}
