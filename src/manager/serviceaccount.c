/*
 * Service accounts: every namespace has one that is called default.
 *
 * Follows k8s.io/kubernetes pkg/controller/serviceaccount, func (*ServiceAccountsController)
 * syncNamespace.
 */
#include "manager/controller_int.h"

struct accounts {
    struct manager__base base; /* keys: namespaces */
    struct informer *accounts;
};

static const struct str account = STR_INIT("default");

static void sync(void *self, struct work *w, const struct api_object *namespace) {
    struct accounts *c = self;
    struct str name = namespace->meta->name;
    if (!str_is(((const struct api_namespace *)namespace->body)->status.phase, "Active") ||
        informer_get(c->accounts, name, account))
        return;
    struct api_object *draft = api_object_new(client_kind(API_T_service_account));
    api_own_meta(draft)->name = account;
    api_own_meta(draft)->namespace = arena_str(&draft->arena, name);
    work_create(w, draft, manager__created, NULL);
}

static void account_deleted(void *self, const struct api_object *last) {
    struct accounts *c = self;
    workqueue_add(c->base.queue, STR(""), last->meta->namespace);
}

const struct manager__controller manager__serviceaccount = {
    .size = sizeof(struct accounts),
    .queues = {{"serviceaccount", sync, .names = API_T_namespace, .workers = 1}},
    .kinds = {{API_T_namespace, .set = manager__add_set},
              {API_T_service_account, .at = offsetof(struct accounts, accounts),
               .deleted = account_deleted}},
};
