/*
 * Bearer tokens: those of a file, and those of service accounts, which the server signs itself.
 * And who asks, by whatever a request shows: a certificate, a token, or nothing.
 *
 * Everything here can be used by any thread once it is made.
 */
#ifndef AUTH_TOKEN_H
#define AUTH_TOKEN_H

#include "auth/auth.h"
#include "auth/pki.h"
#include "base/err.h"

/* ---- keys ---- */

struct auth_keys;

/* Keys in PEM: the first text has the private key that signs, the others have further keys that
 * verify, private or public, as many as they like. RSA, or curves of 256, 384 or 521 bits. Free
 * them with auth_keys_free, which accepts NULL. */
struct auth_keys *auth_keys_new(const struct api_strs *pems, struct err *err);
void auth_keys_free(struct auth_keys *keys);

/* Appends the documents with which others can verify tokens: /openid/v1/jwks, and
 * /.well-known/openid-configuration of an issuer whose keys are at the URI. */
void auth_jwks_write(struct buf *out, const struct auth_keys *keys);
void auth_openid_write(struct buf *out, const struct auth_keys *keys, struct str issuer,
                       struct str jwks_uri);

/* ---- service accounts ---- */

/* The objects that tokens are bound to, as a server has them. */
struct auth_objects {
    void *ctx;
    /* The object of that type and name, or NULL; namespace is empty for types that have none. The
     * caller lets go of the reference. Called on the thread that authenticates. */
    const struct api_object *(*get)(void *ctx, enum api_type_id type, struct str namespace,
                                    struct str name);
};

/* Who signs tokens, and for whom. Everything is borrowed. */
struct auth_issuer {
    struct api_strs names;     /* the first signs, all are believed; empty: none */
    struct api_strs audiences; /* of the server itself */
    const struct auth_keys *keys;
    struct auth_objects objects;
};

/* What a token says. */
struct auth_claims {
    struct str namespace, name, uid; /* of the service account */
    struct api_strs audiences;
    int64_t issued, expires; /* seconds since the epoch */
    struct str id;           /* jti */
    /* what it is bound to; empty names: nothing */
    struct str pod_name, pod_uid, secret_name, secret_uid, node_name, node_uid;
    int64_t warn_after; /* seconds since the epoch; 0: not said */
};

/* Signs a token; absent after a failure. In the arena. */
struct str auth_token_sign(const struct auth_issuer *issuer, struct arena *a,
                           const struct auth_claims *claims, struct err *err);

/* Signs a token that is kept in a Secret and does not expire; absent after a failure. In the arena.
 */
struct str auth_legacy_token_sign(const struct auth_issuer *issuer, struct arena *a,
                                  const struct api_object *account, const struct api_object *secret,
                                  struct err *err);

/* Somebody posts a TokenRequest to a service account. */
struct auth_token_call {
    struct str namespace, name; /* of the path */
    int64_t now;                /* seconds since the epoch */
    struct str id;              /* jti of the token: a new UUID */
    int64_t most_seconds;       /* --service-account-max-token-expiration; 0: any */
    bool extends;               /* --service-account-extend-token-expiration */
    struct str warning;         /* set: for the header Warning; empty: none */
};

/* Answers a TokenRequest, which has its defaults and is not published: it gets its status. The
 * service account and whatever the token is bound to are looked up. Texts live in the arena. */
struct registry_failure auth_token_request(const struct auth_issuer *issuer, struct arena *a,
                                           struct auth_token_call *call,
                                           struct api_object *request);

/* ---- tokens of a file ---- */

struct auth_token_file;

/* A file in CSV: token, user, uid, and perhaps groups with commas between them, in quotes. The
 * path is for messages. Free it with auth_token_file_free, which accepts NULL. */
struct auth_token_file *auth_token_file_parse(struct str text, struct str path, struct err *err);
void auth_token_file_free(struct auth_token_file *f);

/* Whose token it is, or NULL. Takes as long for any wrong token as for any other. */
const struct auth_user *auth_token_file_find(const struct auth_token_file *f, struct str token);

/* ---- as a server is told on its command line ---- */

/* Paths are of files; empty ones are left out. Everything is borrowed for the call, but for the
 * names of issuers and audiences, which are stored. */
struct auth_setup_options {
    struct str token_file;       /* --token-auth-file */
    struct str signing_key_file; /* --service-account-signing-key-file */
    struct str own_key;          /* in PEM: signs when no file is named */
    struct api_strs key_files;   /* --service-account-key-file: they verify, too */
    struct api_strs issuers;     /* --service-account-issuer; at least one */
    struct api_strs audiences;   /* --api-audiences; none: the issuers */
};

struct auth_setup {
    struct auth_token_file *file; /* NULL: none */
    struct auth_keys *keys;
    struct auth_issuer issuer; /* without objects */
};

/* Reads the files. Release it with auth_setup_release, which accepts zeroes. */
int auth_setup_open(struct arena *a, const struct auth_setup_options *o, struct auth_setup *out,
                    struct err *err);
void auth_setup_release(struct auth_setup *s);

/* ---- who asks ---- */

/* How a server finds out. Everything is borrowed; what is NULL is not believed. */
struct auth_authenticator {
    const struct auth_token_file *file;
    const struct auth_issuer *issuer;
    bool allows_anonymous;
};

/* What a request shows. Absent texts: nothing of that sort. */
struct auth_credentials {
    const struct auth_client *client; /* a certificate that was verified; NULL: none */
    struct str client_fault;          /* why the certificate is not good */
    struct str authorization;         /* the header Authorization */
    bool is_websocket;
    struct api_strs protocols; /* the headers Sec-WebSocket-Protocol */
    int64_t now;               /* seconds since the epoch, as tokens count them */
    int64_t certificate_now;   /* as certificates do: by the clock on the wall */
};

enum auth_outcome {
    AUTH_NOBODY,  /* nothing was shown that says who it is, or nothing that is known here */
    AUTH_KNOWN,   /* it is `user` */
    AUTH_REFUSED, /* what was shown is wrong: `why` tells why */
};

struct auth_answer {
    enum auth_outcome outcome;
    struct auth_user user;
    struct api_strs audiences; /* of a token: for which of the wanted ones it is */
    struct str why;
    struct str warning;   /* for the header Warning; empty: none */
    struct str protocols; /* of a WebSocket: without the token; absent: as they came */
};

/* Whose token it is, for one of the audiences, or for the server's own if there are none. Does not
 * add system:authenticated. Texts live in the arena, or with the file of tokens. */
struct auth_answer auth_authenticate_token(const struct auth_authenticator *who, struct arena *a,
                                           struct str token, const struct api_strs *audiences,
                                           int64_t now);

/* Who asks: somebody known, system:anonymous, or nobody, who is to be answered with 401. Texts live
 * in the arena, with what was shown, or with the file of tokens. */
struct auth_answer auth_authenticate(const struct auth_authenticator *who, struct arena *a,
                                     const struct auth_credentials *shown);

#endif
