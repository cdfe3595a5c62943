/*
 * Keys that sign and verify tokens, and how they are published.
 *
 * Follows k8s.io/kubernetes pkg/serviceaccount, func keyIDFromPublicKey, func publicJWKSFromKeys,
 * func openIDConfigJSON.
 */
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdlib.h>

#include "auth/token_int.h"
#include "base/alloc.h"
#include "base/vec.h"
#include "codec/base64.h"

/* A curve: its name for OpenSSL and in a JWK, what it signs with, bytes of a coordinate. */
struct curve {
    const char *group, *name, *algorithm;
    size_t bytes;
};

static const struct curve curves[] = {
    {"prime256v1", "P-256", "ES256", 32},
    {"secp384r1", "P-384", "ES384", 48},
    {"secp521r1", "P-521", "ES512", 66},
};

/* The curve of a key, or NULL. */
static const struct curve *curve_of(const EVP_PKEY *key) {
    char group[32] = "";
    if (!EVP_PKEY_is_a(key, "EC") || !EVP_PKEY_get_group_name(key, group, sizeof group, NULL))
        return NULL;
    for (size_t i = 0; i < sizeof curves / sizeof *curves; i++)
        if (str_is(str_of(group), curves[i].group))
            return &curves[i];
    return NULL;
}

static const char *algorithm_of(const EVP_PKEY *key) {
    const struct curve *curve = curve_of(key);
    return curve ? curve->algorithm : EVP_PKEY_is_a(key, "RSA") ? "RS256" : NULL;
}

/* ---- reading ---- */

/* The hash of the public key, for URLs. */
static bool set_id(struct auth__key *k) {
    unsigned char *der = NULL, digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    int bytes = i2d_PUBKEY(k->key, &der);
    bool good = bytes > 0 && EVP_Digest(der, (size_t)bytes, digest, &n, EVP_sha256(), NULL);
    OPENSSL_free(der);
    if (!good)
        return false;
    AUTO(buf_release) struct buf id = BUF_INIT(64);
    base64_write_url(&id, (struct str){(const char *)digest, n});
    memcpy(k->id, id.p, id.n);
    k->id[id.n] = '\0';
    return true;
}

static bool has_key(const struct auth_keys *keys, const struct auth__key *k) {
    for (size_t i = 0; i < keys->n; i++)
        if (strcmp(keys->v[i].id, k->id) == 0)
            return true;
    return false;
}

/* Takes the key; one that is there already, as the public half of the key that signs, is there
 * once. */
static int add_key(struct auth_keys *keys, EVP_PKEY *key, struct err *err) {
    struct auth__key k = {.key = key, .algorithm = algorithm_of(key)};
    if (!k.algorithm || !set_id(&k)) {
        EVP_PKEY_free(key);
        ERR_clear_error();
        return err_set(err, ERR_INVALID,
                       "a key is neither RSA nor on a curve of 256, 384 or 521 bits");
    }
    if (has_key(keys, &k)) {
        EVP_PKEY_free(key);
        return 0;
    }
    keys->v = xrealloc(keys->v, size_mul(keys->n + 1, sizeof *keys->v));
    keys->v[keys->n++] = k;
    return 0;
}

static int no_passphrase(char *to, int room, int is_writing, void *ctx) {
    (void)to;
    (void)room;
    (void)is_writing;
    (void)ctx;
    return -1;
}

/* A key of one block of PEM; NULL when it has none. */
static EVP_PKEY *key_of_block(const char *name, const unsigned char *der, long n) {
    if (strcmp(name, PEM_STRING_PUBLIC) == 0)
        return d2i_PUBKEY(NULL, &der, n);
    if (strcmp(name, PEM_STRING_X509) == 0) {
        X509 *cert = d2i_X509(NULL, &der, n);
        EVP_PKEY *key = cert ? X509_get_pubkey(cert) : NULL;
        X509_free(cert);
        return key;
    }
    return strstr(name, "PRIVATE KEY") ? d2i_AutoPrivateKey(NULL, &der, n) : NULL;
}

/* All keys of a text; blocks of other sorts are passed over, as those with parameters of a curve.
 */
static int add_keys(struct auth_keys *keys, struct str pem, struct err *err) {
    BIO *bio = BIO_new_mem_buf(pem.n ? pem.p : "", (int)pem.n);
    char *name = NULL, *header = NULL;
    unsigned char *der = NULL;
    long n = 0;
    size_t found = 0;
    int rc = 0;
    while (rc == 0 && PEM_read_bio(bio, &name, &header, &der, &n)) {
        EVP_PKEY *key = key_of_block(name, der, n);
        found += key != NULL;
        if (key)
            rc = add_key(keys, key, err);
        OPENSSL_free(name);
        OPENSSL_free(header);
        OPENSSL_free(der);
    }
    BIO_free(bio);
    ERR_clear_error();
    if (rc == 0 && !found)
        return err_set(err, ERR_INVALID, "no key in PEM");
    return rc;
}

/* The key that signs must be private. */
static int add_signing_key(struct auth_keys *keys, struct str pem, struct err *err) {
    BIO *bio = BIO_new_mem_buf(pem.n ? pem.p : "", (int)pem.n);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
    BIO_free(bio);
    ERR_clear_error();
    return key ? add_key(keys, key, err) : err_set(err, ERR_INVALID, "no private key in PEM");
}

struct auth_keys *auth_keys_new(const struct api_strs *pems, struct err *err) {
    struct auth_keys *keys = xcalloc(1, sizeof *keys);
    keys->verified = xcalloc(1, sizeof *keys->verified);
    int rc = pems->n ? add_signing_key(keys, pems->v[0], err)
                     : err_set(err, ERR_INVALID, "there is no key that signs");
    for (size_t i = 1; rc == 0 && i < pems->n; i++)
        rc = add_keys(keys, pems->v[i], err);
    if (rc == 0)
        return keys;
    auth_keys_free(keys);
    return NULL;
}

void auth_keys_free(struct auth_keys *keys) {
    if (!keys)
        return;
    for (size_t i = 0; i < keys->n; i++)
        EVP_PKEY_free(keys->v[i].key);
    free(keys->v);
    free(keys->verified);
    free(keys);
}

/* ---- publishing ---- */

static void add_text(struct arena *a, struct json *object, const char *key, const char *text) {
    json_add(a, object, str_of(key), json_of_str(str_of(text)));
}

/* A number of a key, for URLs, with as many bytes as it has or as are asked for. */
static void add_number(struct arena *a, struct json *jwk, const char *member, const EVP_PKEY *key,
                       const char *param, size_t bytes) {
    BIGNUM *number = NULL;
    unsigned char raw[2048];
    if (!EVP_PKEY_get_bn_param(key, param, &number))
        return;
    size_t n = bytes ? bytes : (size_t)BN_num_bytes(number);
    AUTO(buf_release) struct buf text = BUF_INIT(4096);
    if (n <= sizeof raw && BN_bn2binpad(number, raw, (int)n) == (int)n)
        base64_write_url(&text, (struct str){(const char *)raw, n});
    BN_free(number);
    json_add(a, jwk, str_of(member), json_of_str(arena_str(a, buf_view(&text))));
}

static struct json jwk_of(struct arena *a, const struct auth__key *k) {
    const struct curve *curve = curve_of(k->key);
    struct json jwk = {.kind = JSON_OBJECT};
    add_text(a, &jwk, "use", "sig");
    add_text(a, &jwk, "kty", curve ? "EC" : "RSA");
    add_text(a, &jwk, "kid", k->id);
    if (curve)
        add_text(a, &jwk, "crv", curve->name);
    add_text(a, &jwk, "alg", k->algorithm);
    if (curve) {
        add_number(a, &jwk, "x", k->key, OSSL_PKEY_PARAM_EC_PUB_X, curve->bytes);
        add_number(a, &jwk, "y", k->key, OSSL_PKEY_PARAM_EC_PUB_Y, curve->bytes);
    } else {
        add_number(a, &jwk, "n", k->key, OSSL_PKEY_PARAM_RSA_N, 0);
        add_number(a, &jwk, "e", k->key, OSSL_PKEY_PARAM_RSA_E, 0);
    }
    return jwk;
}

void auth_jwks_write(struct buf *out, const struct auth_keys *keys) {
    AUTO(arena_release) struct arena a = {0};
    struct json set = {.kind = JSON_OBJECT};
    struct json *list = json_add(&a, &set, STR("keys"), (struct json){.kind = JSON_ARRAY});
    for (size_t i = 0; i < keys->n; i++)
        json_append(&a, list, jwk_of(&a, &keys->v[i]));
    json_write(out, &set, NULL);
}

static void add_list_of_one(struct arena *a, struct json *object, const char *key,
                            const char *text) {
    struct json *list = json_add(a, object, str_of(key), (struct json){.kind = JSON_ARRAY});
    json_append(a, list, json_of_str(str_of(text)));
}

/* The algorithms of all keys, each once and sorted. */
static void add_algorithms(struct arena *a, struct json *list, const struct auth_keys *keys) {
    static const char *const known[] = {"ES256", "ES384", "ES512", "RS256"};
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        bool is_used = false;
        for (size_t i = 0; i < keys->n; i++)
            is_used = is_used || strcmp(keys->v[i].algorithm, known[k]) == 0;
        if (is_used)
            json_append(a, list, json_of_str(str_of(known[k])));
    }
}

void auth_openid_write(struct buf *out, const struct auth_keys *keys, struct str issuer,
                       struct str jwks_uri) {
    AUTO(arena_release) struct arena a = {0};
    struct json doc = {.kind = JSON_OBJECT};
    json_add(&a, &doc, STR("issuer"), json_of_str(issuer));
    json_add(&a, &doc, STR("jwks_uri"), json_of_str(jwks_uri));
    add_list_of_one(&a, &doc, "response_types_supported", "id_token");
    add_list_of_one(&a, &doc, "subject_types_supported", "public");
    struct json *algorithms = json_add(&a, &doc, STR("id_token_signing_alg_values_supported"),
                                       (struct json){.kind = JSON_ARRAY});
    add_algorithms(&a, algorithms, keys);
    json_write(out, &doc, NULL);
}
