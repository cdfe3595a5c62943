/*
 * TLS by OpenSSL. Certificates of clients are asked for and looked at, and never refused: as in
 * kube-apiserver, whoever serves the request decides what an identity that cannot be verified is
 * worth. Sessions are not resumed, so that every connection proves who it is.
 */
#include "net/socket/tls_int.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>
#include <stdatomic.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"

struct net_tls {
    atomic_uint refs;
    SSL_CTX **contexts; /* one for each certificate; the first is for names that none has */
    size_t n;
    BIO_METHOD *sealing; /* puts what is to be sent into a buffer */
};

/* ------------------------------------------------------------------------------------ contexts */

static int select_protocol(SSL *ssl, const unsigned char **out, unsigned char *out_length,
                           const unsigned char *offered, unsigned offered_length, void *arg) {
    static const unsigned char ours[] = "\x02h2\x08http/1.1";
    unsigned char *chosen;
    (void)ssl;
    (void)arg;
    if (SSL_select_next_proto(&chosen, out_length, ours, sizeof ours - 1, offered,
                              offered_length) != OPENSSL_NPN_NEGOTIATED)
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    *out = chosen;
    return SSL_TLSEXT_ERR_OK;
}

/* Takes the certificate that is made out to the name which the client asked for. */
static int select_certificate(SSL *ssl, int *alert, void *arg) {
    const struct net_tls *tls = arg;
    const char *name = SSL_get_servername(ssl, TLSEXT_NAMETYPE_host_name);
    (void)alert;
    for (size_t i = 0; name && i < tls->n; i++) {
        if (X509_check_host(SSL_CTX_get0_certificate(tls->contexts[i]), name, 0, 0, NULL) != 1)
            continue;
        SSL_set_SSL_CTX(ssl, tls->contexts[i]);
        break;
    }
    return SSL_TLSEXT_ERR_OK;
}

/* Verifies and goes on whatever comes of it: OpenSSL keeps the result with the connection. */
static int note_verification(X509_STORE_CTX *store, void *arg) {
    (void)arg;
    X509_verify_cert(store);
    return 1;
}

/* Fails with the reason that OpenSSL gives, and forgets it. */
static int fail(struct err *err, const char *what) {
    const char *reason = ERR_reason_error_string(ERR_get_error());
    ERR_clear_error();
    return err_set(err, ERR_INVALID, "%s: %s", what, reason ? reason : "not valid PEM");
}

static BIO *open_pem(struct str pem) {
    return pem.n <= LIMIT_OBJECT_BYTES ? BIO_new_mem_buf(pem.p, (int)pem.n) : NULL;
}

/* The next certificate of a PEM text; NULL at its end. */
static X509 *next_certificate(BIO *bio) {
    X509 *x509 = PEM_read_bio_X509(bio, NULL, NULL, NULL);
    if (!x509)
        ERR_clear_error();
    return x509;
}

static int use_chain(SSL_CTX *context, struct str pem, struct err *err) {
    BIO *bio = open_pem(pem);
    X509 *leaf = bio ? PEM_read_bio_X509(bio, NULL, NULL, NULL) : NULL;
    int rc = leaf && SSL_CTX_use_certificate(context, leaf) == 1 ? 0 : fail(err, "certificate");
    for (X509 *issuer; rc == 0 && (issuer = next_certificate(bio));) {
        if (SSL_CTX_add0_chain_cert(context, issuer) != 1) {
            X509_free(issuer);
            rc = fail(err, "certificate chain");
        }
    }
    X509_free(leaf);
    BIO_free(bio);
    return rc;
}

static int use_key(SSL_CTX *context, struct str pem, struct err *err) {
    BIO *bio = open_pem(pem);
    EVP_PKEY *key = bio ? PEM_read_bio_PrivateKey(bio, NULL, NULL, NULL) : NULL;
    int rc = key && SSL_CTX_use_PrivateKey(context, key) == 1 ? 0 : fail(err, "private key");
    EVP_PKEY_free(key);
    BIO_free(bio);
    return rc;
}

static int use_client_ca(SSL_CTX *context, struct str pem, struct err *err) {
    BIO *bio = open_pem(pem);
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    size_t count = 0;
    for (X509 *ca; bio && (ca = next_certificate(bio)); count++) {
        X509_STORE_add_cert(store, ca);
        SSL_CTX_add_client_CA(context, ca);
        X509_free(ca);
    }
    BIO_free(bio);
    if (count == 0)
        return err_set(err, ERR_INVALID, "client CA: no certificates");
    X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN); /* as Go: any of them is a root */
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
    SSL_CTX_set_cert_verify_callback(context, note_verification, NULL);
    return 0;
}

static SSL_CTX *new_context(struct net_tls *tls) {
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (!context)
        BUG("OpenSSL has no memory or no TLS");
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE |
                                  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_options(context, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION |
                                     SSL_OP_NO_TICKET | SSL_OP_IGNORE_UNEXPECTED_EOF);
    SSL_CTX_set_num_tickets(context, 0);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_alpn_select_cb(context, select_protocol, NULL);
    SSL_CTX_set_tlsext_servername_callback(context, select_certificate);
    SSL_CTX_set_tlsext_servername_arg(context, tls);
    return context;
}

static int add_context(struct net_tls *tls, const struct net_certificate *certificate,
                       struct str client_ca, struct err *err) {
    SSL_CTX *context = new_context(tls);
    tls->contexts[tls->n++] = context;
    if (use_chain(context, certificate->chain_pem, err) < 0 ||
        use_key(context, certificate->key_pem, err) < 0)
        return -1;
    return client_ca.n ? use_client_ca(context, client_ca, err) : 0;
}

/* Fails for good when it is too much: OpenSSL would not ask before the peer has no more bytes. */
static int add_sealed(BIO *bio, const char *bytes, int n) {
    struct buf *sealed = BIO_get_data(bio);
    if (sealed->n + (size_t)n > LIMIT_NET_SEALED_BYTES)
        return -1;
    buf_add(sealed, (struct str){bytes, (size_t)n});
    return n;
}

static long control_sealed(BIO *bio, int command, long number, void *pointer) {
    (void)bio;
    (void)number;
    (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *new_sealing(void) {
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK, "sealed");
    if (!method || BIO_meth_set_write(method, add_sealed) != 1 ||
        BIO_meth_set_ctrl(method, control_sealed) != 1)
        BUG("OpenSSL has no memory");
    return method;
}

struct net_tls *net_tls_new(const struct net_tls_config *config, struct err *err) {
    struct net_tls *tls = xcalloc(1, sizeof *tls);
    tls->refs = 1;
    tls->sealing = new_sealing();
    tls->contexts = xcalloc(config->certificate_count, sizeof(SSL_CTX *));
    int rc = config->certificate_count ? 0 : err_set(err, ERR_INVALID, "no certificate");
    for (size_t i = 0; rc == 0 && i < config->certificate_count; i++)
        rc = add_context(tls, &config->certificates[i], config->client_ca_pem, err);
    if (rc == 0)
        return tls;
    net_tls_free(tls);
    return NULL;
}

struct net_tls *net__tls_ref(struct net_tls *tls) {
    if (tls)
        atomic_fetch_add(&tls->refs, 1);
    return tls;
}

void net_tls_free(struct net_tls *tls) {
    if (!tls || atomic_fetch_sub(&tls->refs, 1) > 1)
        return;
    for (size_t i = 0; i < tls->n; i++)
        SSL_CTX_free(tls->contexts[i]);
    BIO_meth_free(tls->sealing);
    free(tls->contexts);
    free(tls);
}

/* --------------------------------------------------------------------------------- connections */

SSL *net__tls_accept(struct net_tls *tls, int fd, struct buf *sealed) {
    SSL *ssl = SSL_new(tls->contexts[0]);
    BIO *out = BIO_new(tls->sealing);
    if (!ssl || !out || SSL_set_rfd(ssl, fd) != 1)
        BUG("OpenSSL has no memory");
    BIO_set_data(out, sealed);
    BIO_set_init(out, 1);
    SSL_set0_wbio(ssl, out);
    SSL_set_accept_state(ssl);
    return ssl;
}

const struct net__protocol *net__tls_protocol(SSL *ssl) {
    const unsigned char *name;
    unsigned length;
    SSL_get0_alpn_selected(ssl, &name, &length);
    if (length == 0)
        return NULL;
    return length == 2 ? &net__http2 : &net__http1;
}

/* ------------------------------------------------------------------------------------ identity */

/* The texts of all entries of one sort in a subject, in UTF-8; those that have none are left out.
 * Returns how many; each is freed by OPENSSL_free. */
static size_t read_entries(X509_NAME *subject, int nid, struct str *out, size_t most) {
    size_t n = 0;
    for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, nid, at)) >= 0 && n < most;) {
        unsigned char *text;
        ASN1_STRING *data = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
        int length = ASN1_STRING_to_UTF8(&text, data);
        if (length >= 0)
            out[n++] = (struct str){(const char *)text, (size_t)length};
    }
    return n;
}

static int64_t not_after(const X509 *x509) {
    struct tm tm;
    if (ASN1_TIME_to_tm(X509_get0_notAfter(x509), &tm) != 1)
        return INT64_MIN;
    return (int64_t)timegm(&tm) * CLOCK_SECOND;
}

/* An identity in one block: the struct, the organizations, then all texts. */
static struct net_identity *pack(const struct str *entries, size_t n, struct str common_name,
                                 struct str problem) {
    size_t bytes = common_name.n + problem.n;
    for (size_t i = 0; i < n; i++)
        bytes += entries[i].n;
    struct net_identity *identity = xcalloc(1, sizeof *identity + n * sizeof *entries + bytes);
    struct str *organizations = (struct str *)(identity + 1);
    char *text = (char *)(organizations + n);
#define PACK(s) (memcpy(text, (s).p, (s).n), text += (s).n, (struct str){text - (s).n, (s).n})
    for (size_t i = 0; i < n; i++)
        organizations[i] = entries[i].n ? PACK(entries[i]) : STR("");
    identity->common_name = common_name.n ? PACK(common_name) : STR("");
    identity->problem = problem.n ? PACK(problem) : STR("");
#undef PACK
    identity->organizations = organizations;
    identity->organization_count = n;
    return identity;
}

static void free_entries(struct str *entries, size_t n) {
    for (size_t i = 0; i < n; i++) {
        union {
            const char *from;
            void *to;
        } p = {.from = entries[i].p};
        OPENSSL_free(p.to);
    }
    free(entries);
}

struct net_identity *net__tls_identity(SSL *ssl) {
    X509 *x509 = SSL_get0_peer_certificate(ssl);
    if (!x509)
        return NULL;
    X509_NAME *subject = X509_get_subject_name(x509);
    size_t most = (size_t)X509_NAME_entry_count(subject);
    struct str *names = xcalloc(most + 1, sizeof *names),
               *groups = xcalloc(most + 1, sizeof *groups);
    size_t name_count = read_entries(subject, NID_commonName, names, most);
    size_t group_count = read_entries(subject, NID_organizationName, groups, most);
    long result = SSL_get_verify_result(ssl);
    const char *problem = result == X509_V_OK ? "" : X509_verify_cert_error_string(result);
    struct net_identity *identity =
        pack(groups, group_count, name_count ? names[name_count - 1] : STR(""), str_of(problem));
    identity->is_verified = result == X509_V_OK;
    identity->not_after = not_after(x509);
    X509_digest(x509, EVP_sha256(), identity->sha256, NULL);
    free_entries(names, name_count);
    free_entries(groups, group_count);
    return identity;
}
