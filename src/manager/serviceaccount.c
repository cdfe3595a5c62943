/*
 * Service accounts: every namespace has one that is called default.
 *
 * Follows k8s.io/kubernetes pkg/controller/serviceaccount, func (*ServiceAccountsController)
 * syncNamespace.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "manager/controller_int.h"

struct accounts {
    struct manager *manager;
    struct workqueue *queue; /* of namespaces */
    struct informer *namespaces, *accounts;
};

static const struct str account = STR_INIT("default");

static void created(void *arg, struct work *w, const struct client_answer *answer) {
    (void)arg;
    if (answer->code && !manager__namespace_goes(answer))
        work_fail(w, "%.*s", STR_ARG(answer->message));
}

static void sync(void *arg, struct work *w) {
    struct accounts *c = arg;
    const struct api_object *o = informer_get(c->namespaces, STR(""), work_name(w));
    if (!o || !str_is(((const struct api_namespace *)o->body)->status.phase, "Active") ||
        informer_get(c->accounts, work_name(w), account))
        return;
    struct api_object *draft = api_object_new(client_kind(API_T_service_account));
    api_own_meta(draft)->name = account;
    api_own_meta(draft)->namespace = arena_str(&draft->arena, work_name(w));
    work_send(w,
              &(struct client_request){.verb = REGISTRY_VERB_CREATE,
                                       .kind = draft->kind,
                                       .namespace = work_name(w),
                                       .object = draft},
              created, NULL);
}

static void namespace_set(void *arg, const struct api_object *old, const struct api_object *o) {
    struct accounts *c = arg;
    (void)old;
    workqueue_add(c->queue, STR(""), o->meta->name);
}

static void account_deleted(void *arg, const struct api_object *last) {
    struct accounts *c = arg;
    workqueue_add(c->queue, STR(""), last->meta->namespace);
}

static void *start(struct manager *m) {
    struct accounts *c = xcalloc(1, sizeof *c);
    c->manager = m;
    c->namespaces = manager__informer(m, API_T_namespace);
    c->accounts = manager__informer(m, API_T_service_account);
    c->queue = workqueue_new(&(struct workqueue_opts){.name = "serviceaccount",
                                                      .client = m->client,
                                                      .informers = m->informers,
                                                      .log = m->log,
                                                      .workers = 1,
                                                      .sync = sync,
                                                      .arg = c});
    informer_listen(c->namespaces, &(struct informer_handler){.set = namespace_set, .arg = c});
    informer_listen(c->accounts, &(struct informer_handler){.deleted = account_deleted, .arg = c});
    return c;
}

static void stop(void *self) {
    struct accounts *c = self;
    workqueue_free(c->queue);
    free(c);
}

const struct manager__controller manager__serviceaccount = {start, stop};
