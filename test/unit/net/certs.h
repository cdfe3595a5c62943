/* Certificates for tests, made on the spot. */
#ifndef TEST_UNIT_NET_CERTS_H
#define TEST_UNIT_NET_CERTS_H

#include <assert.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/str.h"

struct cert {
    EVP_PKEY *key;
    X509 *x509;
    struct str cert_pem, key_pem; /* freed by cert_release */
};

static inline struct str cert_take_text(BIO *bio) {
    char *p;
    size_t n = (size_t)BIO_get_mem_data(bio, &p);
    char *copy = malloc(n + 1);
    assert(copy);
    memcpy(copy, p, n);
    copy[n] = '\0';
    BIO_free(bio);
    return (struct str){copy, n};
}

static inline void cert_add_extension(X509 *x509, X509 *issuer, int nid, const char *value) {
    X509V3_CTX ctx;
    X509V3_set_ctx(&ctx, issuer, x509, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &ctx, nid, value);
    assert(extension);
    X509_add_ext(x509, extension, -1);
    X509_EXTENSION_free(extension);
}

/* One name, "CN=alice,O=dev,O=ops" without escapes. */
static inline void cert_add_subject(X509_NAME *name, const char *subject) {
    struct str rest = str_of(subject), part, key;
    for (bool more = true; more;) {
        more = str_cut(rest, ',', &part, &rest);
        str_cut(part, '=', &key, &part);
        X509_NAME_add_entry_by_txt(name, key.n == 2 ? "CN" : "O", MBSTRING_UTF8,
                                   (const unsigned char *)part.p, (int)part.n, -1, 0);
    }
}

/*
 * A certificate signed by `ca`, or by itself when that is NULL. usage is "serverAuth", "clientAuth"
 * or NULL for a CA; names are those of a server, as "IP:127.0.0.1,DNS:localhost", or NULL; it ends
 * in `seconds` from now, which may be negative.
 */
static inline struct cert cert_make(const struct cert *ca, const char *subject, const char *usage,
                                    const char *names, long seconds) {
    static long serial = 1;
    struct cert cert = {.key = EVP_EC_gen("P-256"), .x509 = X509_new()};
    X509 *x509 = cert.x509, *issuer = ca ? ca->x509 : x509;
    X509_set_version(x509, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(x509), serial++);
    X509_gmtime_adj(X509_getm_notBefore(x509), -7200);
    X509_gmtime_adj(X509_getm_notAfter(x509), seconds);
    X509_set_pubkey(x509, cert.key);
    cert_add_subject(X509_get_subject_name(x509), subject);
    X509_set_issuer_name(x509, X509_get_subject_name(issuer));
    cert_add_extension(x509, issuer, NID_basic_constraints,
                       usage ? "critical,CA:FALSE" : "critical,CA:TRUE");
    if (usage)
        cert_add_extension(x509, issuer, NID_ext_key_usage, usage);
    if (names)
        cert_add_extension(x509, issuer, NID_subject_alt_name, names);
    X509_sign(x509, ca ? ca->key : cert.key, EVP_sha256());
    BIO *bio = BIO_new(BIO_s_mem());
    PEM_write_bio_X509(bio, x509);
    cert.cert_pem = cert_take_text(bio);
    bio = BIO_new(BIO_s_mem());
    PEM_write_bio_PrivateKey(bio, cert.key, NULL, NULL, 0, NULL, NULL);
    cert.key_pem = cert_take_text(bio);
    return cert;
}

static inline void cert_release(struct cert *cert) {
    EVP_PKEY_free(cert->key);
    X509_free(cert->x509);
    union {
        const char *from;
        void *to;
    } a = {.from = cert->cert_pem.p}, b = {.from = cert->key_pem.p};
    free(a.to);
    free(b.to);
}

#endif
