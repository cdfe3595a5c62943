/*
 * Any text, taken for a token, for the header that brings one, for the protocols of a WebSocket,
 * and for the claims of a token that is signed by the server's own key. Nobody is known without a
 * good signature, whoever is known is a service account that exists, and the answer is the same
 * when it is asked for again.
 */
#include <openssl/ec.h>
#include <openssl/pem.h>

#include "auth/token_int.h"
#include "base/limits.h"
#include "check.h"

#define NOW INT64_C(1800000000)

/* A world of one service account and one pod. */
struct world {
    struct arena a;
    struct auth_keys *keys;
    const struct api_object *account, *pod;
};

static const struct api_object *make(const char *kind, const char *name, const char *uid) {
    struct api_object *o = api_object_new(api_kind_find(STR("v1"), str_of(kind)));
    struct api_object_meta *m = api_own_meta(o);
    m->namespace = STR("a");
    m->name = str_of(name);
    m->uid = str_of(uid);
    return api_publish(o);
}

static struct auth_keys *make_keys(struct arena *a) {
    EVP_PKEY *key = EVP_EC_gen("P-256");
    BIO *bio = BIO_new(BIO_s_mem());
    char *bytes;
    PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL);
    long n = BIO_get_mem_data(bio, &bytes);
    struct str pem = arena_str(a, (struct str){bytes, (size_t)n});
    struct auth_keys *keys = auth_keys_new(&(struct api_strs){.v = &pem, .n = 1}, NULL);
    BIO_free(bio);
    EVP_PKEY_free(key);
    CHECK(keys);
    return keys;
}

static struct world *the_world(void) {
    static struct world w;
    if (!w.keys) {
        w.keys = make_keys(&w.a);
        w.account = make("ServiceAccount", "robot", "sa-1");
        w.pod = make("Pod", "p", "pod-1");
    }
    return &w;
}

static const struct api_object *get_object(void *ctx, enum api_type_id type, struct str namespace,
                                           struct str name) {
    const struct world *w = ctx;
    const struct api_object *all[] = {w->account, w->pod};
    for (size_t i = 0; i < 2; i++)
        if (api_object_is(all[i], type) && str_eq(all[i]->meta->namespace, namespace) &&
            str_eq(all[i]->meta->name, name))
            return api_object_ref(all[i]);
    return NULL;
}

static void check_answer(const struct auth_answer *answer, bool may_be_known) {
    CHECK(answer->outcome != AUTH_NOBODY);
    if (answer->outcome == AUTH_REFUSED) {
        CHECK(answer->why.n > 0);
        return;
    }
    CHECK(may_be_known);
    CHECK(str_is(answer->user.name, "system:serviceaccount:a:robot"));
    CHECK(str_is(answer->user.uid, "sa-1"));
}

static void try_token(const struct auth_authenticator *who, struct arena *a, struct str token,
                      bool may_be_known) {
    struct auth_answer answer = auth_authenticate_token(who, a, token, NULL, NOW);
    struct auth_answer again = auth_authenticate_token(who, a, token, NULL, NOW);
    check_answer(&answer, may_be_known);
    CHECK(answer.outcome == again.outcome && str_eq(answer.why, again.why));
}

static void try_request(const struct auth_authenticator *who, struct arena *a, struct str text) {
    struct auth_credentials shown = {
        .authorization = text, .is_websocket = true, .protocols = {.v = &text, .n = 1}, .now = NOW};
    struct auth_answer answer = auth_authenticate(who, a, &shown);
    CHECK(answer.outcome == AUTH_REFUSED || str_is(answer.user.name, AUTH_ANONYMOUS));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct world *w = the_world();
    struct str issuer_name = STR("i"), audience = STR("i");
    const struct auth_issuer issuer = {.names = {.v = &issuer_name, .n = 1},
                                       .audiences = {.v = &audience, .n = 1},
                                       .keys = w->keys,
                                       .objects = {.ctx = w, .get = get_object}};
    const struct auth_authenticator who = {.issuer = &issuer, .allows_anonymous = true};
    struct str text = {(const char *)data, size};
    struct arena a = {0};
    try_token(&who, &a, text, false);
    try_request(&who, &a, text);
    struct str token = auth__jwt_sign(w->keys, &a, text, NULL);
    CHECK(token.p);
    try_token(&who, &a, token, true);
    arena_release(&a);
    return 0;
}
