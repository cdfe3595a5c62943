/* Keys and certificates in memory: the one file that makes them with OpenSSL. */
#include <arpa/inet.h>
#include <openssl/bn.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "auth/pki_int.h"
#include "codec/time.h"

void auth__key_release(EVP_PKEY **key) {
    EVP_PKEY_free(*key);
}

void auth__x509_release(X509 **cert) {
    X509_free(*cert);
}

static void release_bio(BIO **bio) {
    BIO_free(*bio);
}

int auth__ssl_fail(struct err *err, const char *what) {
    unsigned long code = ERR_get_error();
    const char *why = code ? ERR_reason_error_string(code) : NULL;
    ERR_clear_error();
    return err_set(err, ERR_INTERNAL, "%s%s%s", what, why ? ": " : "", why ? why : "");
}

/* ---- PEM ---- */

/* Whoever asks for a passphrase gets none. */
static int no_passphrase(char *to, int room, int is_writing, void *ctx) {
    (void)to;
    (void)room;
    (void)is_writing;
    (void)ctx;
    return -1;
}

static BIO *open_text(struct str text) {
    return BIO_new_mem_buf(text.n ? text.p : "", (int)text.n);
}

static struct str take_text(struct arena *a, BIO *bio) {
    char *bytes;
    long n = BIO_get_mem_data(bio, &bytes);
    return arena_str(a, (struct str){bytes, (size_t)n});
}

EVP_PKEY *auth__key_make(struct err *err) {
    EVP_PKEY *key = EVP_EC_gen("P-256");
    if (!key)
        auth__ssl_fail(err, "cannot make a key");
    return key;
}

EVP_PKEY *auth__key_read(struct str pem, struct err *err) {
    AUTO(release_bio) BIO *bio = open_text(pem);
    EVP_PKEY *key = PEM_read_bio_PrivateKey(bio, NULL, no_passphrase, NULL);
    if (!key)
        auth__ssl_fail(err, "not a private key in PEM");
    return key;
}

struct str auth__key_write(struct arena *a, EVP_PKEY *key, struct err *err) {
    AUTO(release_bio) BIO *bio = BIO_new(BIO_s_mem());
    if (bio && PEM_write_bio_PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL))
        return take_text(a, bio);
    auth__ssl_fail(err, "cannot write a key");
    return (struct str){0};
}

X509 *auth__certificate_read(struct str pem, struct err *err) {
    AUTO(release_bio) BIO *bio = open_text(pem);
    X509 *cert = PEM_read_bio_X509(bio, NULL, no_passphrase, NULL);
    if (!cert)
        auth__ssl_fail(err, "not a certificate in PEM");
    return cert;
}

struct str auth__certificate_write(struct arena *a, X509 *cert, struct err *err) {
    AUTO(release_bio) BIO *bio = BIO_new(BIO_s_mem());
    if (bio && PEM_write_bio_X509(bio, cert))
        return take_text(a, bio);
    auth__ssl_fail(err, "cannot write a certificate");
    return (struct str){0};
}

/* ---- names of a server ---- */

/* The bytes of an address, 4 or 16 of them; 0 when the text is none. */
static size_t read_address(struct str text, unsigned char to[16]) {
    char name[INET6_ADDRSTRLEN];
    if (text.n >= sizeof name)
        return 0;
    memcpy(name, text.n ? text.p : "", text.n);
    name[text.n] = '\0';
    if (inet_pton(AF_INET, name, to) == 1)
        return 4;
    return inet_pton(AF_INET6, name, to) == 1 ? 16 : 0;
}

bool auth__certificate_has_name(X509 *cert, struct str name) {
    unsigned char address[16];
    size_t n = read_address(name, address);
    if (n)
        return X509_check_ip(cert, address, n, 0) == 1;
    return X509_check_host(cert, name.p, name.n, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, NULL) == 1;
}

static bool push_name(GENERAL_NAMES *names, struct str text) {
    unsigned char address[16];
    size_t n = read_address(text, address);
    GENERAL_NAME *name = GENERAL_NAME_new();
    ASN1_STRING *value = n ? ASN1_OCTET_STRING_new() : ASN1_IA5STRING_new();
    if (name && value &&
        ASN1_STRING_set(value, n ? (const char *)address : text.p, n ? (int)n : (int)text.n)) {
        GENERAL_NAME_set0_value(name, n ? GEN_IPADD : GEN_DNS, value);
        if (sk_GENERAL_NAME_push(names, name))
            return true;
        value = NULL;
    }
    ASN1_STRING_free(value);
    GENERAL_NAME_free(name);
    return false;
}

static bool add_server_names(X509 *cert, const struct api_strs *list) {
    GENERAL_NAMES *names = sk_GENERAL_NAME_new_null();
    bool good = names != NULL;
    for (size_t i = 0; good && i < list->n; i++)
        good = push_name(names, list->v[i]);
    good = good && X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT);
    GENERAL_NAMES_free(names);
    return good;
}

/* ---- making ---- */

struct extension {
    int nid;
    const char *value;
};

static const struct extension extensions[][4] = {
    [AUTH__CA] = {{NID_basic_constraints, "critical,CA:TRUE"},
                  {NID_key_usage, "critical,digitalSignature,keyEncipherment,keyCertSign"},
                  {NID_subject_key_identifier, "hash"}},
    [AUTH__SERVER] = {{NID_basic_constraints, "critical,CA:FALSE"},
                      {NID_key_usage, "critical,digitalSignature,keyEncipherment"},
                      {NID_ext_key_usage, "serverAuth"},
                      {NID_authority_key_identifier, "keyid"}},
    [AUTH__CLIENT] = {{NID_basic_constraints, "critical,CA:FALSE"},
                      {NID_key_usage, "critical,digitalSignature,keyEncipherment"},
                      {NID_ext_key_usage, "clientAuth"},
                      {NID_authority_key_identifier, "keyid"}},
};

static bool add_extensions(X509 *cert, X509 *issuer, const struct auth__subject *s) {
    X509V3_CTX ctx;
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    for (size_t i = 0; i < 4 && extensions[s->use][i].value; i++) {
        const struct extension *e = &extensions[s->use][i];
        X509_EXTENSION *x = X509V3_EXT_conf_nid(NULL, &ctx, e->nid, e->value);
        bool good = x && X509_add_ext(cert, x, -1);
        X509_EXTENSION_free(x);
        if (!good)
            return false;
    }
    return s->use != AUTH__SERVER || add_server_names(cert, &s->names);
}

bool auth__certificate_number(X509 *cert) {
    BIGNUM *n = BN_new();
    bool good = n && BN_rand(n, 127, BN_RAND_TOP_ANY, BN_RAND_BOTTOM_ANY) &&
                BN_to_ASN1_INTEGER(n, X509_get_serialNumber(cert));
    BN_free(n);
    return good;
}

static bool add_name(X509_NAME *name, const char *field, const char *value) {
    return !value || X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                                (const unsigned char *)value, -1, -1, 0);
}

static bool fill(X509 *cert, EVP_PKEY *key, const struct auth__subject *s, X509 *issuer) {
    X509_NAME *name = X509_get_subject_name(cert);
    return X509_set_version(cert, X509_VERSION_3) && auth__certificate_number(cert) &&
           ASN1_TIME_set(X509_getm_notBefore(cert), s->from) &&
           ASN1_TIME_set(X509_getm_notAfter(cert), s->until) && X509_set_pubkey(cert, key) &&
           add_name(name, "O", s->organization) && add_name(name, "CN", s->name) &&
           X509_set_issuer_name(cert, X509_get_subject_name(issuer)) &&
           add_extensions(cert, issuer, s);
}

X509 *auth__certificate_make(EVP_PKEY *key, const struct auth__subject *s,
                             const struct auth__issuer *by, struct err *err) {
    X509 *cert = X509_new();
    if (cert && fill(cert, key, s, by->cert ? by->cert : cert) &&
        X509_sign(cert, by->key ? by->key : key, EVP_sha256()))
        return cert;
    auth__ssl_fail(err, "cannot make a certificate");
    X509_free(cert);
    return NULL;
}

int64_t auth__certificate_until(const X509 *cert) {
    struct tm tm;
    if (!ASN1_TIME_to_tm(X509_get0_notAfter(cert), &tm))
        return INT64_MIN;
    struct time_civil civil = {.year = tm.tm_year + 1900,
                               .month = tm.tm_mon + 1,
                               .day = tm.tm_mday,
                               .hour = tm.tm_hour,
                               .minute = tm.tm_min,
                               .second = tm.tm_sec};
    return time_of_civil(&civil);
}
