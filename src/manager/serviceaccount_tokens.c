/*
 * Secrets with tokens of service accounts: they get a token, and go with their account.
 *
 * Follows k8s.io/kubernetes pkg/controller/serviceaccount, func (*TokensController) syncSecret,
 * func (*TokensController) syncServiceAccount.
 */
#include <stdlib.h>

#include "auth/token.h"
#include "base/alloc.h"
#include "manager/controller_int.h"
#include "manager/labelled_int.h"

#define ACCOUNT_NAME STR("kubernetes.io/service-account.name")
#define ACCOUNT_UID  STR("kubernetes.io/service-account.uid")

struct tokens {
    struct manager *manager;
    struct workqueue *accounts, *secrets;
    struct workqueue *references; /* "secret/account/uid": of a Secret that is gone */
    struct informer *account_informer, *secret_informer;
    struct labelled *by_account;
};

static bool is_token(const struct api_object *secret) {
    return str_is(((const struct api_secret *)secret->body)->type,
                  "kubernetes.io/service-account-token");
}

static struct str annotation(const struct api_object *o, struct str key) {
    const struct label *l = labels_find(&o->meta->annotations, key);
    return l ? l->value : STR("");
}

/* Is the account that of the Secret, whose name it has? */
static bool is_of(const struct api_object *account, const struct api_object *secret) {
    struct str uid = annotation(secret, ACCOUNT_UID);
    return account && (!uid.n || str_eq(uid, account->meta->uid));
}

static void delete_secret(struct work *w, const struct api_object *secret) {
    work_send(w,
              &(struct client_request){.verb = REGISTRY_VERB_DELETE,
                                       .kind = client_kind(API_T_secret),
                                       .namespace = secret->meta->namespace,
                                       .name = secret->meta->name,
                                       .deletion = {.uid = secret->meta->uid}},
              NULL, NULL);
}

/* ---- accounts ---- */

static void sync_account(void *arg, struct work *w) {
    struct tokens *c = arg;
    const struct api_object *account =
        informer_get(c->account_informer, work_namespace(w), work_name(w));
    const struct label key = {STR(""), work_name(w)};
    size_t at = 0;
    for (const struct api_object *secret;
         (secret = labelled__next(c->by_account, work_namespace(w), &key, &at));)
        if (!is_of(account, secret) && (account || annotation(secret, ACCOUNT_UID).n))
            delete_secret(w, secret);
}

/* ---- Secrets ---- */

static struct str data_of(const struct api_object *secret, const char *key) {
    const struct label *l =
        labels_find(&((const struct api_secret *)secret->body)->data, str_of(key));
    return l ? l->value : STR("");
}

static void set_data(struct api_object *draft, const char *key, struct str value) {
    struct api_secret *body = api_own_body(draft);
    labels_put(&draft->arena, &body->data,
               (struct label){str_of(key), arena_str(&draft->arena, value)});
}

/* What was written by somebody else meanwhile comes again. */
static void written(void *arg, struct work *w, const struct client_answer *answer) {
    (void)arg;
    if (answer->code && answer->code != ERR_CONFLICT && answer->code != ERR_NOT_FOUND)
        work_fail_by(w, answer);
}

static void fill(const struct tokens *c, struct work *w, const struct api_object *secret,
                 const struct api_object *account) {
    struct str ca = c->manager->root_ca, token = {0};
    bool needs_ca = ca.n && !str_eq(data_of(secret, "ca.crt"), ca);
    bool needs_namespace = !data_of(secret, "namespace").n;
    bool needs_token = !data_of(secret, "token").n;
    struct err err = {0};
    if (!needs_ca && !needs_namespace && !needs_token)
        return;
    if (needs_token)
        token = auth_legacy_token_sign(c->manager->issuer, work_arena(w), account, secret, &err);
    if (needs_token && !token.p) {
        work_fail(w, "%s", err.msg);
        return;
    }
    struct api_object *draft = api_object_derive(secret);
    struct labels *annotations = &api_own_meta(draft)->annotations;
    struct arena *a = &draft->arena;
    if (needs_ca)
        set_data(draft, "ca.crt", ca);
    if (needs_namespace)
        set_data(draft, "namespace", secret->meta->namespace);
    if (needs_token)
        set_data(draft, "token", token);
    labels_put(a, annotations, (struct label){ACCOUNT_NAME, arena_str(a, account->meta->name)});
    labels_put(a, annotations, (struct label){ACCOUNT_UID, arena_str(a, account->meta->uid)});
    work_update(w, draft, NULL, written, NULL);
}

static void settle(const struct tokens *c, struct work *w, const struct api_object *secret,
                   const struct api_object *account) {
    if (is_of(account, secret))
        fill(c, w, secret, account);
    else
        delete_secret(w, secret);
}

static const struct api_object *secret_of(const struct tokens *c, struct work *w) {
    const struct api_object *o = informer_get(c->secret_informer, work_namespace(w), work_name(w));
    return o && is_token(o) && annotation(o, ACCOUNT_NAME).n ? o : NULL;
}

/* What the server has decides: an informer may not have told of an account yet. */
static void account_read(void *arg, struct work *w, const struct client_answer *answer) {
    struct tokens *c = arg;
    const struct api_object *secret = secret_of(c, w);
    if (answer->code && answer->code != ERR_NOT_FOUND)
        work_fail_by(w, answer);
    else if (secret)
        settle(c, w, secret, answer->code ? NULL : answer->object);
}

static void sync_secret(void *arg, struct work *w) {
    struct tokens *c = arg;
    const struct api_object *secret = secret_of(c, w);
    if (!secret)
        return;
    struct str name = annotation(secret, ACCOUNT_NAME);
    const struct api_object *account = informer_get(c->account_informer, work_namespace(w), name);
    if (is_of(account, secret))
        settle(c, w, secret, account);
    else
        work_get(w, client_kind(API_T_service_account), work_namespace(w), name, account_read, c);
}

/* ---- references to Secrets that are gone ---- */

static void sync_reference(void *arg, struct work *w) {
    struct tokens *c = arg;
    struct str secret, name, uid;
    str_cut(work_name(w), '/', &secret, &name);
    str_cut(name, '/', &name, &uid);
    const struct api_object *o = informer_get(c->account_informer, work_namespace(w), name);
    if (!o || (uid.n && !str_eq(uid, o->meta->uid)) ||
        informer_get(c->secret_informer, work_namespace(w), secret))
        return;
    const struct api_object_reference_list *old =
        &((const struct api_service_account *)o->body)->secrets;
    struct api_object *draft = api_object_derive(o);
    struct api_object_reference_list list = {
        arena_array(&draft->arena, struct api_object_reference, old->n), 0};
    for (size_t i = 0; i < old->n; i++)
        if (!str_eq(old->v[i].name, secret))
            list.v[list.n++] = old->v[i];
    if (list.n == old->n) {
        api_object_free(draft);
        return;
    }
    ((struct api_service_account *)api_own_body(draft))->secrets = list;
    work_update(w, draft, NULL, NULL, NULL);
}

/* ---- what informers tell ---- */

static void account_set(void *arg, const struct api_object *old, const struct api_object *o) {
    struct tokens *c = arg;
    (void)old;
    workqueue_add_object(c->accounts, o);
}

static void account_deleted(void *arg, const struct api_object *last) {
    struct tokens *c = arg;
    workqueue_add_object(c->accounts, last);
}

static void secret_set(void *arg, const struct api_object *old, const struct api_object *o) {
    struct tokens *c = arg;
    struct label key = {STR(""), annotation(o, ACCOUNT_NAME)};
    const struct labels under = {&key, 1};
    (void)old;
    if (!is_token(o))
        return;
    labelled__set(c->by_account, o, &under);
    workqueue_add_object(c->secrets, o);
}

static void secret_deleted(void *arg, const struct api_object *last) {
    struct tokens *c = arg;
    AUTO(arena_release) struct arena a = {0};
    struct str account = annotation(last, ACCOUNT_NAME);
    if (!is_token(last))
        return;
    labelled__drop(c->by_account, last);
    if (account.n)
        workqueue_add(c->references, last->meta->namespace,
                      arena_printf(&a, "%.*s/%.*s/%.*s", STR_ARG(last->meta->name),
                                   STR_ARG(account), STR_ARG(annotation(last, ACCOUNT_UID))));
}

/* ---- beginning and end ---- */

static struct workqueue *queue_new(struct tokens *c, void (*sync)(void *arg, struct work *w)) {
    return workqueue_new(&(struct workqueue_opts){.name = "serviceaccount_tokens_service",
                                                  .client = c->manager->client,
                                                  .informers = c->manager->informers,
                                                  .log = c->manager->log,
                                                  .sync = sync,
                                                  .arg = c});
}

/* Without somebody who signs there are no tokens. */
static void *start(struct manager *m) {
    if (!m->issuer || !m->issuer->keys)
        return NULL;
    struct tokens *c = xcalloc(1, sizeof *c);
    c->manager = m;
    c->account_informer = manager__informer(m, API_T_service_account);
    c->secret_informer = manager__informer(m, API_T_secret);
    c->by_account = labelled__new(m->seed);
    c->accounts = queue_new(c, sync_account);
    c->secrets = queue_new(c, sync_secret);
    c->references = queue_new(c, sync_reference);
    informer_listen(
        c->account_informer,
        &(struct informer_handler){.set = account_set, .deleted = account_deleted, .arg = c});
    informer_listen(
        c->secret_informer,
        &(struct informer_handler){.set = secret_set, .deleted = secret_deleted, .arg = c});
    return c;
}

static void stop(void *self) {
    struct tokens *c = self;
    workqueue_free(c->accounts);
    workqueue_free(c->secrets);
    workqueue_free(c->references);
    labelled__free(c->by_account);
    free(c);
}

const struct manager__controller manager__serviceaccount_tokens = {.start = start, .stop = stop};
