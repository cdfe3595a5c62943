/* What the files of tokens share: keys, and JSON Web Tokens. */
#ifndef AUTH_TOKEN_INT_H
#define AUTH_TOKEN_INT_H

#include <openssl/evp.h>
#include <stdatomic.h>

#include "auth/token.h"
#include "base/limits.h"
#include "codec/json.h"

/* ---- keys ---- */

struct auth__key {
    EVP_PKEY *key;
    char id[44];           /* as in the header kid */
    const char *algorithm; /* RS256, ES256, … that it signs with */
};

/* The SHA-256 of a token, in words that are read and written one by one, by any thread. What is
 * read while two tokens are written is half of each, which is the hash of neither. */
struct auth__digest {
    _Atomic uint64_t words[4];
};

/* Tokens whose signature was found good, and for as long as the keys are there stays so: where two
 * would have the same place, the one that came last. */
enum { AUTH__VERIFIED = LIMIT_AUTH_VERIFIED_TOKENS };
struct auth__verified {
    struct auth__digest v[AUTH__VERIFIED];
};

struct auth_keys {
    struct auth__key *v; /* the first one signs */
    size_t n;
    struct auth__verified *verified;
};

/* ---- tokens ---- */

/* A token in its parts, decoded. Nothing of it is verified. */
struct auth__jwt {
    struct str header, payload, signature;
    struct json head, claims; /* objects */
};

/* Takes a token apart; false when it is none. Everything lives in the arena. */
bool auth__jwt_split(struct arena *a, struct str token, struct auth__jwt *out);

/* Is it signed by one of the keys, by the one that it names if it names one? *why tells why not. */
bool auth__jwt_verify(const struct auth_keys *keys, const struct auth__jwt *t, struct str *why);

/* Signs a payload with the first key; absent after a failure. In the arena. */
struct str auth__jwt_sign(const struct auth_keys *keys, struct arena *a, struct str payload,
                          struct err *err);

/* The text of a member, or an empty one if it is missing or null; false when it is no text. */
bool auth__claim_text(const struct json *claims, const char *name, struct str *out);

/* ---- service accounts ---- */

/* Those of the wanted audiences that are among these, in the arena. */
struct api_strs auth__audiences(struct arena *a, const struct api_strs *of,
                                const struct api_strs *wanted);

/* Answers for a token that is signed by the issuer: bound, or of a Secret. */
struct auth_answer auth__service_account_check(const struct auth_issuer *issuer, struct arena *a,
                                               struct str token, const struct api_strs *audiences,
                                               int64_t now);

#endif
