/* What the tests of tokens stand on: an issuer with a key, and objects that tokens are bound to. */
#ifndef TEST_UNIT_AUTH_TOKENS_H
#define TEST_UNIT_AUTH_TOKENS_H

#include "auth/pki_int.h"
#include "auth/token.h"
#include "objects.h"

#define NOW INT64_C(1800000000)

enum { MOST_OBJECTS = 16 };

struct world {
    struct arena a;
    const struct api_object *objects[MOST_OBJECTS];
    size_t n;
    struct str names[1], audiences[2];
    struct auth_keys *keys;
    struct auth_issuer issuer;
};

static inline const struct api_object *world_get(void *ctx, enum api_type_id type,
                                                 struct str namespace, struct str name) {
    struct world *w = ctx;
    for (size_t i = w->n; i-- > 0;) {
        const struct api_object *o = w->objects[i];
        if (api_object_is(o, type) && str_eq(o->meta->namespace, namespace) &&
            str_eq(o->meta->name, name))
            return api_object_ref(o);
    }
    return NULL;
}

/* The last object of a name counts. */
static inline void world_put(struct world *w, const char *text) {
    assert_true(w->n < MOST_OBJECTS);
    w->objects[w->n++] = api_publish(object_of(text));
}

/* A new private key in PEM, on a curve or, with `rsa`, RSA. */
static inline struct str new_key(struct arena *a, bool rsa) {
    struct err err = {0};
    EVP_PKEY *key = rsa ? EVP_RSA_gen(2048) : auth__key_make(&err);
    struct str pem = auth__key_write(a, key, &err);
    EVP_PKEY_free(key);
    return pem;
}

#define ACCOUNT_ROBOT \
    "{apiVersion: v1, kind: ServiceAccount, metadata: {namespace: a, name: robot, uid: sa-1}}"
#define POD_P                                                                           \
    "{apiVersion: v1, kind: Pod, metadata: {namespace: a, name: p, uid: pod-1}, spec: " \
    "{serviceAccountName: robot, nodeName: n1}}"
#define NODE_N1 "{apiVersion: v1, kind: Node, metadata: {name: n1, uid: node-1}}"

static inline struct world *world_new(void) {
    struct world *w = xcalloc(1, sizeof *w);
    struct err err = {0};
    struct str pem = new_key(&w->a, false);
    w->keys = auth_keys_new(&(struct api_strs){.v = &pem, .n = 1}, &err);
    assert_non_null(w->keys);
    w->names[0] = STR("https://kubernetes.default.svc");
    w->audiences[0] = STR("https://kubernetes.default.svc");
    w->audiences[1] = STR("k3s");
    w->issuer = (struct auth_issuer){.names = {.v = w->names, .n = 1},
                                     .audiences = {.v = w->audiences, .n = 2},
                                     .keys = w->keys,
                                     .objects = {.ctx = w, .get = world_get}};
    world_put(w, ACCOUNT_ROBOT);
    world_put(w, POD_P);
    world_put(w, NODE_N1);
    return w;
}

static inline void world_free(struct world *w) {
    for (size_t i = 0; i < w->n; i++)
        api_object_unref(w->objects[i]);
    auth_keys_free(w->keys);
    arena_release(&w->a);
    free(w);
}

/* What a good token of the robot says. */
static inline struct auth_claims robot_claims(struct world *w) {
    return (struct auth_claims){.namespace = STR("a"),
                                .name = STR("robot"),
                                .uid = STR("sa-1"),
                                .audiences = w->issuer.audiences,
                                .issued = NOW,
                                .expires = NOW + 3600,
                                .id = STR("id-1")};
}

static inline struct str sign_claims(struct world *w, const struct auth_claims *c) {
    struct err err = {0};
    struct str token = auth_token_sign(&w->issuer, &w->a, c, &err);
    assert_non_null(token.p);
    return token;
}

static inline struct auth_answer ask_at(struct world *w, struct str token, int64_t now) {
    const struct auth_authenticator who = {.issuer = &w->issuer};
    return auth_authenticate_token(&who, &w->a, token, NULL, now);
}

#endif
