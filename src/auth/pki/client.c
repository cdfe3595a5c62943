/*
 * The certificates that clients show, and whom they stand for.
 *
 * Follows k8s.io/apiserver pkg/authentication/request/x509,
 * func (*Authenticator) AuthenticateRequest, func parseUIDFromCert.
 */
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>

#include "auth/pki_int.h"
#include "base/alloc.h"
#include "base/limits.h"

/* The attribute of a subject that is a user's uid. */
#define UID_OID "1.3.6.1.4.1.57683.2"

struct auth_client_ca {
    X509_STORE *store;
};

static int add_authorities(X509_STORE *store, struct str pem, struct err *err) {
    BIO *bio = BIO_new_mem_buf(pem.n ? pem.p : "", (int)pem.n);
    size_t count = 0;
    for (X509 *cert; bio && (cert = PEM_read_bio_X509(bio, NULL, NULL, NULL)); count++) {
        X509_STORE_add_cert(store, cert);
        X509_free(cert);
    }
    BIO_free(bio);
    ERR_clear_error();
    return count ? 0 : err_set(err, ERR_INVALID, "no certificate in PEM");
}

struct auth_client_ca *auth_client_ca_new(struct str pem, struct err *err) {
    struct auth_client_ca *ca = xcalloc(1, sizeof *ca);
    ca->store = X509_STORE_new();
    if (ca->store && add_authorities(ca->store, pem, err) == 0)
        return ca;
    auth_client_ca_free(ca);
    return NULL;
}

void auth_client_ca_free(struct auth_client_ca *ca) {
    if (!ca)
        return;
    X509_STORE_free(ca->store);
    free(ca);
}

/* ---- whom a certificate stands for ---- */

/* The text of an entry, in the arena; absent when it cannot be had as UTF-8. */
static struct str entry_text(struct arena *a, const X509_NAME *name, int at) {
    unsigned char *utf8 = NULL;
    int n = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at)));
    struct str text =
        n < 0 ? (struct str){0} : arena_str(a, (struct str){(const char *)utf8, (size_t)n});
    OPENSSL_free(utf8);
    return text;
}

/* The last of several common names counts, as in Go. */
static struct str common_name(struct arena *a, const X509_NAME *name) {
    struct str last = STR("");
    for (int i = -1; (i = X509_NAME_get_index_by_NID(name, NID_commonName, i)) >= 0;)
        last = entry_text(a, name, i);
    return last;
}

static int read_uid(struct arena *a, const X509_NAME *name, struct str *out, struct err *err) {
    ASN1_OBJECT *oid = OBJ_txt2obj(UID_OID, 1);
    int first = X509_NAME_get_index_by_OBJ(name, oid, -1);
    int second = first < 0 ? -1 : X509_NAME_get_index_by_OBJ(name, oid, first);
    ASN1_OBJECT_free(oid);
    if (first < 0)
        return 0;
    if (second >= 0)
        return err_set(err, ERR_UNAUTHORIZED, "expected 1 UID, but found multiple");
    *out = entry_text(a, name, first);
    return out->n ? 0 : err_set(err, ERR_UNAUTHORIZED, "UID cannot be an empty string");
}

static struct str fingerprint(struct arena *a, X509 *cert) {
    unsigned char digest[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    X509_digest(cert, EVP_sha256(), digest, &n);
    AUTO(buf_release) struct buf text = BUF_INIT(256);
    buf_add(&text, STR("X509SHA256="));
    buf_add_hex(&text, digest, n);
    return arena_str(a, buf_view(&text));
}

static int read_user(struct arena *a, X509 *cert, struct auth_client *out, struct err *err) {
    const X509_NAME *name = X509_get_subject_name(cert);
    out->user.name = common_name(a, name);
    out->has_user = out->user.name.n > 0;
    if (!out->has_user)
        return 0;
    for (int i = -1; (i = X509_NAME_get_index_by_NID(name, NID_organizationName, i)) >= 0;)
        auth_user_join(a, &out->user, entry_text(a, name, i));
    auth_user_note(a, &out->user, STR(AUTH_EXTRA_CREDENTIAL_ID), fingerprint(a, cert));
    return read_uid(a, name, &out->user.uid, err);
}

/* ---- verification ---- */

static void release_chain(STACK_OF(X509) * *chain) {
    sk_X509_pop_free(*chain, X509_free);
}

static void release_context(X509_STORE_CTX **ctx) {
    X509_STORE_CTX_free(*ctx);
}

static STACK_OF(X509) * read_chain(const struct api_strs *ders, struct err *err) {
    STACK_OF(X509) *chain = sk_X509_new_null();
    for (size_t i = 0; i < ders->n; i++) {
        const unsigned char *der = (const unsigned char *)ders->v[i].p;
        X509 *cert = i < LIMIT_AUTH_CLIENT_CHAIN ? d2i_X509(NULL, &der, (long)ders->v[i].n) : NULL;
        if (cert && sk_X509_push(chain, cert))
            continue;
        X509_free(cert);
        release_chain(&chain);
        auth__ssl_fail(err, "a certificate of the client cannot be read");
        return NULL;
    }
    return chain;
}

static int64_t chain_until(const STACK_OF(X509) * chain) {
    int64_t until = INT64_MAX;
    for (int i = 0; i < sk_X509_num(chain); i++) {
        int64_t one = auth__certificate_until(sk_X509_value(chain, i));
        until = one < until ? one : until;
    }
    return until;
}

/* An extended key usage must be said: OpenSSL would take a certificate without any. */
static bool is_for_clients(X509 *cert) {
    return (X509_get_extension_flags(cert) & EXFLAG_XKUSAGE) &&
           (X509_get_extended_key_usage(cert) & (XKU_SSL_CLIENT | XKU_ANYEKU));
}

static int verify(const struct auth_client_ca *ca, STACK_OF(X509) * chain, int64_t now,
                  int64_t *until, struct err *err) {
    AUTO(release_context) X509_STORE_CTX *ctx = X509_STORE_CTX_new();
    X509 *cert = sk_X509_value(chain, 0);
    if (!ctx || !X509_STORE_CTX_init(ctx, ca->store, cert, chain))
        return auth__ssl_fail(err, "a certificate cannot be verified");
    X509_STORE_CTX_set_time(ctx, 0, now);
    X509_STORE_CTX_set_purpose(ctx, X509_PURPOSE_SSL_CLIENT);
    if (X509_verify_cert(ctx) != 1) {
        const char *why = X509_verify_cert_error_string(X509_STORE_CTX_get_error(ctx));
        auth__ssl_fail(err, "");
        return err_set(err, ERR_UNAUTHORIZED, "verifying certificate failed: %s", why);
    }
    if (!is_for_clients(cert))
        return err_set(err, ERR_UNAUTHORIZED,
                       "verifying certificate failed: it is not for clients");
    *until = chain_until(X509_STORE_CTX_get0_chain(ctx));
    return 0;
}

int auth_client_verify(const struct auth_client_ca *ca, struct arena *a,
                       const struct api_strs *chain, int64_t now, struct auth_client *out,
                       struct err *err) {
    *out = (struct auth_client){0};
    AUTO(release_chain) STACK_OF(X509) *certs = read_chain(chain, err);
    if (!certs || sk_X509_num(certs) == 0)
        return certs ? err_set(err, ERR_UNAUTHORIZED, "the client has shown no certificate") : -1;
    if (verify(ca, certs, now, &out->until, err) < 0)
        return -1;
    return read_user(a, sk_X509_value(certs, 0), out, err);
}
