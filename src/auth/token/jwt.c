/*
 * JSON Web Tokens in their compact form: taken apart, verified, signed.
 *
 * A token is verified over its parts as they are encoded again, not as they came: what Go's base64
 * reads in more than one way verifies in each, here as there.
 *
 * Follows gopkg.in/go-jose/go-jose.v2, func ParseSigned, func (JSONWebSignature) DetachedVerify.
 */
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/rsa.h>

#include "auth/token_int.h"
#include "codec/base64.h"

/* ---- parts ---- */

bool auth__claim_text(const struct json *claims, const char *name, struct str *out) {
    const struct json *v = json_get(claims, str_of(name));
    *out = v && v->kind == JSON_STRING ? json_str(v) : STR("");
    return !v || v->kind == JSON_STRING || v->kind == JSON_NULL;
}

static bool read_object(struct arena *a, struct str text, struct json *out) {
    const struct json_opts opts = {.max_depth = 100};
    return json_parse(a, text, &opts, out, NULL) == 0 && out->kind == JSON_OBJECT;
}

/* Headers that would name another key, or change what is signed, are not for us. */
static bool is_plain_header(const struct json *head) {
    static const char *const refused[] = {"jwk", "x5c", "b64", "crit", "nonce"};
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
        if (json_get(head, str_of(refused[i])))
            return false;
    struct str text;
    return auth__claim_text(head, "alg", &text) && auth__claim_text(head, "kid", &text);
}

bool auth__jwt_split(struct arena *a, struct str token, struct auth__jwt *out) {
    struct str header, payload, signature;
    if (token.n > LIMIT_AUTH_TOKEN_BYTES || !str_cut(token, '.', &header, &token) ||
        !str_cut(token, '.', &payload, &signature) || str_find_char(signature, '.') != STR_NONE)
        return false;
    return base64_decode_url(a, header, &out->header, NULL) == 0 &&
           base64_decode_url(a, payload, &out->payload, NULL) == 0 &&
           base64_decode_url(a, signature, &out->signature, NULL) == 0 &&
           read_object(a, out->header, &out->head) && read_object(a, out->payload, &out->claims) &&
           is_plain_header(&out->head);
}

/* ---- algorithms ---- */

struct algorithm {
    const char *name, *type; /* RSA or EC */
    const EVP_MD *(*digest)(void);
    bool is_pss;
    size_t half; /* bytes of each half of a signature on a curve */
};

static const struct algorithm algorithms[] = {
    {"RS256", "RSA", EVP_sha256, false, 0}, {"RS384", "RSA", EVP_sha384, false, 0},
    {"RS512", "RSA", EVP_sha512, false, 0}, {"PS256", "RSA", EVP_sha256, true, 0},
    {"PS384", "RSA", EVP_sha384, true, 0},  {"PS512", "RSA", EVP_sha512, true, 0},
    {"ES256", "EC", EVP_sha256, false, 32}, {"ES384", "EC", EVP_sha384, false, 48},
    {"ES512", "EC", EVP_sha512, false, 66},
};

/* The algorithm of that name for a key, or NULL. */
static const struct algorithm *algorithm_of(struct str name, const EVP_PKEY *key) {
    for (size_t i = 0; i < sizeof algorithms / sizeof *algorithms; i++)
        if (str_is(name, algorithms[i].name))
            return EVP_PKEY_is_a(key, algorithms[i].type) ? &algorithms[i] : NULL;
    return NULL;
}

static void release_context(EVP_MD_CTX **ctx) {
    EVP_MD_CTX_free(*ctx);
}

/* ---- signatures on a curve: two numbers side by side, which OpenSSL has as DER ---- */

/* The caller frees *der with OPENSSL_free; 0 bytes after a failure. */
static size_t der_of_halves(struct str halves, unsigned char **der) {
    const unsigned char *p = (const unsigned char *)halves.p;
    int half = (int)(halves.n / 2), n = 0;
    ECDSA_SIG *sig = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(p, half, NULL), *s = BN_bin2bn(p + half, half, NULL);
    if (sig && r && s && ECDSA_SIG_set0(sig, r, s)) {
        n = i2d_ECDSA_SIG(sig, der);
    } else {
        BN_free(r);
        BN_free(s);
    }
    ECDSA_SIG_free(sig);
    return n > 0 ? (size_t)n : 0;
}

static bool halves_of_der(const unsigned char *der, size_t n, size_t half, unsigned char *to) {
    ECDSA_SIG *sig = d2i_ECDSA_SIG(NULL, &der, (long)n);
    bool good = sig && BN_bn2binpad(ECDSA_SIG_get0_r(sig), to, (int)half) == (int)half &&
                BN_bn2binpad(ECDSA_SIG_get0_s(sig), to + half, (int)half) == (int)half;
    ECDSA_SIG_free(sig);
    return good;
}

/* ---- verifying ---- */

static bool check_bytes(const struct algorithm *how, EVP_PKEY *key, struct str signature,
                        struct str text) {
    AUTO(release_context) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    EVP_PKEY_CTX *of_key = NULL;
    if (!ctx || EVP_DigestVerifyInit(ctx, &of_key, how->digest(), NULL, key) != 1)
        return false;
    if (how->is_pss && (EVP_PKEY_CTX_set_rsa_padding(of_key, RSA_PKCS1_PSS_PADDING) != 1 ||
                        EVP_PKEY_CTX_set_rsa_pss_saltlen(of_key, RSA_PSS_SALTLEN_AUTO) != 1))
        return false;
    return EVP_DigestVerify(ctx, (const unsigned char *)signature.p, signature.n,
                            (const unsigned char *)text.p, text.n) == 1;
}

static bool check_signature(const struct algorithm *how, EVP_PKEY *key, struct str signature,
                            struct str text) {
    if (!how->half)
        return check_bytes(how, key, signature, text);
    if (signature.n != 2 * how->half)
        return false;
    unsigned char *der = NULL;
    size_t n = der_of_halves(signature, &der);
    bool good = n && check_bytes(how, key, (struct str){(const char *)der, n}, text);
    OPENSSL_free(der);
    return good;
}

/* ---- what was verified before ---- */

enum { WORDS = 4 };

/* False when OpenSSL cannot. */
static bool hash_token(struct str text, struct str signature, uint64_t words[WORDS]) {
    AUTO(release_context) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    return ctx && EVP_DigestInit_ex(ctx, EVP_sha256(), NULL) == 1 &&
           EVP_DigestUpdate(ctx, text.p, text.n) == 1 && EVP_DigestUpdate(ctx, ".", 1) == 1 &&
           EVP_DigestUpdate(ctx, signature.p, signature.n) == 1 &&
           EVP_DigestFinal_ex(ctx, (unsigned char *)words, NULL) == 1;
}

static struct auth__digest *place_of(const struct auth_keys *keys, const uint64_t words[WORDS]) {
    return &keys->verified->v[words[0] % AUTH__VERIFIED];
}

static bool was_verified(const struct auth_keys *keys, const uint64_t words[WORDS]) {
    const struct auth__digest *there = place_of(keys, words);
    bool is_same = true;
    for (size_t i = 0; i < WORDS; i++)
        is_same &= atomic_load_explicit(&there->words[i], memory_order_relaxed) == words[i];
    return is_same;
}

static void note_verified(const struct auth_keys *keys, const uint64_t words[WORDS]) {
    struct auth__digest *there = place_of(keys, words);
    for (size_t i = 0; i < WORDS; i++)
        atomic_store_explicit(&there->words[i], words[i], memory_order_relaxed);
}

/* ---- all of it ---- */

bool auth__jwt_verify(const struct auth_keys *keys, const struct auth__jwt *t, struct str *why) {
    AUTO(buf_release) struct buf text = BUF_INIT(2 * LIMIT_AUTH_TOKEN_BYTES);
    uint64_t hash[WORDS];
    struct str kid, alg;
    bool is_known = false, good = false;
    auth__claim_text(&t->head, "kid", &kid);
    auth__claim_text(&t->head, "alg", &alg);
    base64_write_url(&text, t->header);
    buf_add_char(&text, '.');
    base64_write_url(&text, t->payload);
    bool has_hash = hash_token(buf_view(&text), t->signature, hash);
    if (has_hash && was_verified(keys, hash))
        return true;
    for (size_t i = 0; !good && i < keys->n; i++) {
        if (kid.n && !str_is(kid, keys->v[i].id))
            continue;
        const struct algorithm *how = algorithm_of(alg, keys->v[i].key);
        is_known = true;
        good = how && check_signature(how, keys->v[i].key, t->signature, buf_view(&text));
    }
    ERR_clear_error();
    if (good && has_hash)
        note_verified(keys, hash);
    if (!good)
        *why = is_known ? STR("go-jose/go-jose: error in cryptographic primitive")
                        : STR("invalid signature, no keys found");
    return good;
}

/* ---- signing ---- */

/* The signature of a text, at most `room` bytes; 0 after a failure. */
static size_t sign_text(const struct auth__key *k, struct str text, unsigned char *to,
                        size_t room) {
    AUTO(release_context) EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    const struct algorithm *how = algorithm_of(str_of(k->algorithm), k->key);
    unsigned char der[256];
    unsigned char *out = how->half ? der : to;
    size_t n = how->half ? sizeof der : room;
    if (!ctx || EVP_DigestSignInit(ctx, NULL, how->digest(), NULL, k->key) != 1 ||
        EVP_DigestSign(ctx, out, &n, (const unsigned char *)text.p, text.n) != 1)
        return 0;
    if (!how->half)
        return n;
    return halves_of_der(der, n, how->half, to) ? 2 * how->half : 0;
}

struct str auth__jwt_sign(const struct auth_keys *keys, struct arena *a, struct str payload,
                          struct err *err) {
    const struct auth__key *k = &keys->v[0];
    AUTO(buf_release) struct buf token = BUF_INIT(SIZE_MAX);
    struct str head = arena_printf(a, "{\"alg\":\"%s\",\"kid\":\"%s\"}", k->algorithm, k->id);
    unsigned char signature[2048];
    base64_write_url(&token, head);
    buf_add_char(&token, '.');
    base64_write_url(&token, payload);
    size_t n = sign_text(k, buf_view(&token), signature, sizeof signature);
    ERR_clear_error();
    if (!n) {
        err_set(err, ERR_INTERNAL, "failed to generate token: cannot sign");
        return (struct str){0};
    }
    buf_add_char(&token, '.');
    base64_write_url(&token, (struct str){(const char *)signature, n});
    return arena_str(a, buf_view(&token));
}
