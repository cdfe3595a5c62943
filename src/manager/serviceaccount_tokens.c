/*
 * Secrets with tokens of service accounts: they get a token, and go with their account.
 *
 * Follows k8s.io/kubernetes pkg/controller/serviceaccount, func (*TokensController) syncSecret,
 * func (*TokensController) syncServiceAccount.
 */
#include "auth/token.h"
#include "manager/controller_int.h"
#include "manager/labelled_int.h"

#define ACCOUNT_NAME STR("kubernetes.io/service-account.name")
#define ACCOUNT_UID  STR("kubernetes.io/service-account.uid")

struct tokens {
    struct manager__base base; /* keys: accounts */
    struct workqueue *secrets;
    struct workqueue *references; /* "secret/account/uid": of a Secret that is gone */
    struct informer *secret_informer;
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
    work_delete(w, secret, &(struct client_deletion){.uid = secret->meta->uid}, NULL, NULL);
}

/* ---- accounts ---- */

static void sync_account(void *self, struct work *w, const struct api_object *account) {
    struct tokens *c = self;
    const struct label key = {STR(""), work_name(w)};
    size_t at = 0;
    for (const struct api_object *secret;
         (secret = labelled__next(c->by_account, work_namespace(w), &key, &at));)
        if (!is_of(account, secret) && (account || annotation(secret, ACCOUNT_UID).n))
            delete_secret(w, secret);
}

static void account_gone(void *self, struct work *w) {
    sync_account(self, w, NULL);
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
    struct str ca = c->base.manager->root_ca, token = {0};
    bool needs_ca = ca.n && !str_eq(data_of(secret, "ca.crt"), ca);
    bool needs_namespace = !data_of(secret, "namespace").n;
    bool needs_token = !data_of(secret, "token").n;
    struct err err = {0};
    if (!needs_ca && !needs_namespace && !needs_token)
        return;
    if (needs_token)
        token =
            auth_legacy_token_sign(c->base.manager->issuer, work_arena(w), account, secret, &err);
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

/* Is it a token of some account? */
static bool is_accounts(const struct api_object *secret) {
    return secret && is_token(secret) && annotation(secret, ACCOUNT_NAME).n;
}

/* What the server has decides: an informer may not have told of an account yet. */
static void account_read(void *arg, struct work *w, const struct client_answer *answer) {
    struct tokens *c = arg;
    const struct api_object *secret =
        informer_get(c->secret_informer, work_namespace(w), work_name(w));
    if (answer->code && answer->code != ERR_NOT_FOUND)
        work_fail_by(w, answer);
    else if (is_accounts(secret))
        settle(c, w, secret, answer->code ? NULL : answer->object);
}

static void sync_secret(void *self, struct work *w, const struct api_object *secret) {
    struct tokens *c = self;
    if (!is_accounts(secret))
        return;
    struct str name = annotation(secret, ACCOUNT_NAME);
    const struct api_object *account = informer_get(c->base.informer, work_namespace(w), name);
    if (is_of(account, secret))
        settle(c, w, secret, account);
    else
        work_get(w, client_kind(API_T_service_account), work_namespace(w), name, account_read, c);
}

/* ---- references to Secrets that are gone ---- */

static void sync_reference(void *self, struct work *w, const struct api_object *none) {
    struct tokens *c = self;
    (void)none;
    struct str secret, name, uid;
    str_cut(work_name(w), '/', &secret, &name);
    str_cut(name, '/', &name, &uid);
    const struct api_object *o = informer_get(c->base.informer, work_namespace(w), name);
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

static void secret_set(void *self, const struct api_object *old, const struct api_object *o) {
    struct tokens *c = self;
    struct label key = {STR(""), annotation(o, ACCOUNT_NAME)};
    const struct labels under = {&key, 1};
    (void)old;
    if (!is_token(o))
        return;
    labelled__set(c->by_account, o, &under);
    workqueue_add_object(c->secrets, o);
}

static void secret_deleted(void *self, const struct api_object *last) {
    struct tokens *c = self;
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

/* Without somebody who signs there are no tokens. */
static bool has_keys(const struct manager *m) {
    return m->issuer && m->issuer->keys;
}

static void begin(void *self) {
    struct tokens *c = self;
    c->by_account = labelled__new(c->base.manager->seed);
}

static void end(void *self) {
    labelled__free(((struct tokens *)self)->by_account);
}

#define QUEUE "serviceaccount_tokens_service"

const struct manager__controller manager__serviceaccount_tokens = {
    .size = sizeof(struct tokens),
    .is_wanted = has_keys,
    .queues = {{QUEUE, sync_account, .names = API_T_service_account, .gone = account_gone},
               {QUEUE, sync_secret, .names = API_T_secret, .at = offsetof(struct tokens, secrets)},
               {QUEUE, sync_reference, .at = offsetof(struct tokens, references)}},
    .kinds = {{API_T_service_account, .set = manager__add_set, .deleted = manager__add_deleted},
              {API_T_secret, .at = offsetof(struct tokens, secret_informer), .set = secret_set,
               .deleted = secret_deleted}},
    .begin = begin,
    .end = end,
};
