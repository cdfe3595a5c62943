/*
 * Certificates that others ask for: what a signer demands of a request, and what it makes of it.
 *
 * Follows k8s.io/kubernetes pkg/controller/certificates/signer, func isKubeletServing,
 * func isKubeletClient, func validAPIServerClientUsages.
 * Follows k8s.io/kubernetes pkg/controller/certificates/authority, func keyUsagesFromStrings,
 * func (PermissiveSigningPolicy) apply, func (*CertificateAuthority) Sign.
 * Follows k8s.io/kubernetes pkg/apis/certificates, func ValidateKubeletServingCSR,
 * func ValidateKubeletClientCSR.
 */
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "auth/pki_int.h"

/* A certificate begins so long before it is made; one for less than a working day does not end so
 * much earlier as well. */
enum { BACKDATE = 5 * 60, SHORT = 8 * 3600 };

/* ---- usages ---- */

struct usage {
    const char *word, *openssl;
};

/* In the order in which Go writes those of the second list. */
static const struct usage key_usages[] = {
    {"signing", "digitalSignature"},
    {"digital signature", "digitalSignature"},
    {"content commitment", "nonRepudiation"},
    {"key encipherment", "keyEncipherment"},
    {"key agreement", "keyAgreement"},
    {"data encipherment", "dataEncipherment"},
    {"cert sign", "keyCertSign"},
    {"crl sign", "cRLSign"},
    {"encipher only", "encipherOnly"},
    {"decipher only", "decipherOnly"},
    {0},
};
static const struct usage extended_usages[] = {
    {"any", "anyExtendedKeyUsage"},
    {"server auth", "serverAuth"},
    {"client auth", "clientAuth"},
    {"code signing", "codeSigning"},
    {"email protection", "emailProtection"},
    {"s/mime", "emailProtection"},
    {"ipsec end system", "ipsecEndSystem"},
    {"ipsec tunnel", "ipsecTunnel"},
    {"ipsec user", "ipsecUser"},
    {"timestamping", "timeStamping"},
    {"ocsp signing", "OCSPSigning"},
    {"microsoft sgc", "msSGC"},
    {"netscape sgc", "nsSGC"},
    {0},
};

static bool has_usage(const struct auth_request *r, const char *word) {
    for (size_t i = 0; i < r->usages.n; i++)
        if (str_is(r->usages.v[i], word))
            return true;
    return false;
}

/* Those of the table that are asked for, each once, as OpenSSL reads them. */
static struct str usages_of(struct arena *a, const struct auth_request *r,
                            const struct usage *table) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    const char *last = "";
    for (; table->word; table++)
        if (has_usage(r, table->word) && strcmp(table->openssl, last) != 0) {
            buf_addf(&text, "%s%s", text.n ? "," : "", table->openssl);
            last = table->openssl;
        }
    return arena_str(a, buf_view(&text));
}

/* Are the usages these: signatures, what is the signer's own, and perhaps keys? */
static bool are_usages(const struct auth_request *r, const char *own) {
    for (size_t i = 0; i < r->usages.n; i++)
        if (!str_is(r->usages.v[i], own) && !str_is(r->usages.v[i], "digital signature") &&
            !str_is(r->usages.v[i], "key encipherment"))
            return false;
    return has_usage(r, own) && has_usage(r, "digital signature");
}

/* ---- requests ---- */

static void release_request(X509_REQ **request) {
    X509_REQ_free(*request);
}

static void release_names(GENERAL_NAMES **names) {
    GENERAL_NAMES_free(*names);
}

/* Whoever asks for a passphrase gets none. */
static int no_passphrase(char *to, int room, int is_writing, void *ctx) {
    (void)to;
    (void)room;
    (void)is_writing;
    (void)ctx;
    return -1;
}

static X509_REQ *read_request(struct str pem, struct err *err) {
    BIO *bio = BIO_new_mem_buf(pem.n ? pem.p : "", (int)pem.n);
    X509_REQ *request = bio ? PEM_read_bio_X509_REQ(bio, NULL, no_passphrase, NULL) : NULL;
    BIO_free(bio);
    if (!request)
        auth__ssl_fail(err, "not a certificate request in PEM");
    return request;
}

/* Its names beside the subject, of the kinds that Go knows; NULL: there are none. */
static GENERAL_NAMES *names_of(X509_REQ *request) {
    STACK_OF(X509_EXTENSION) *extensions = X509_REQ_get_extensions(request);
    GENERAL_NAMES *names = X509V3_get_d2i(extensions, NID_subject_alt_name, NULL, NULL);
    sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
    for (int i = names ? sk_GENERAL_NAME_num(names) : 0; i-- > 0;) {
        int type = sk_GENERAL_NAME_value(names, i)->type;
        if (type != GEN_DNS && type != GEN_IPADD && type != GEN_EMAIL && type != GEN_URI)
            GENERAL_NAME_free(sk_GENERAL_NAME_delete(names, i));
    }
    return names;
}

static bool has_name(const GENERAL_NAMES *names, int type) {
    for (int i = 0; names && i < sk_GENERAL_NAME_num(names); i++)
        if (sk_GENERAL_NAME_value(names, i)->type == type)
            return true;
    return false;
}

/* Does the text of an entry begin so, or is it that? */
static bool is_entry(const X509_NAME *subject, int at, struct str text, bool as_prefix) {
    unsigned char *utf8 = NULL;
    int n = ASN1_STRING_to_UTF8(&utf8, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at)));
    struct str value = {(const char *)utf8, n < 0 ? 0 : (size_t)n};
    bool is = n >= 0 && (as_prefix ? str_starts(value, text) : str_eq(value, text));
    OPENSSL_free(utf8);
    return is;
}

/* ---- what signers demand ---- */

static bool is_of_nodes(const X509_NAME *subject) {
    int at = X509_NAME_get_index_by_NID(subject, NID_organizationName, -1);
    return at >= 0 && X509_NAME_get_index_by_NID(subject, NID_organizationName, at) < 0 &&
           is_entry(subject, at, STR("system:nodes"), false);
}

/* The last of several common names counts, as in Go. */
static bool is_node(const X509_NAME *subject) {
    int last = -1;
    for (int i = -1; (i = X509_NAME_get_index_by_NID(subject, NID_commonName, i)) >= 0;)
        last = i;
    return last >= 0 && is_entry(subject, last, STR("system:node:"), true);
}

/* What a request of a kubelet must be. */
struct demand {
    const char *usage, *usages; /* its own, and all as they are told */
    bool is_server;
};

static const char *fault_of_names(const GENERAL_NAMES *names, bool is_server) {
    bool dns = has_name(names, GEN_DNS), ip = has_name(names, GEN_IPADD);
    if (is_server && !dns && !ip)
        return "DNS or IP subjectAltName is required";
    if (!is_server && dns)
        return "DNS subjectAltNames are not allowed";
    if (has_name(names, GEN_EMAIL))
        return "Email subjectAltNames are not allowed";
    if (!is_server && ip)
        return "IP subjectAltNames are not allowed";
    return has_name(names, GEN_URI) ? "URI subjectAltNames are not allowed" : NULL;
}

/* Of two faults upstream's functions name different ones first. */
static struct str fault_of_kubelet(struct arena *a, const struct auth_request *r,
                                   const struct demand *d) {
    struct err err = {0};
    AUTO(release_request) X509_REQ *request = read_request(r->pem, &err);
    if (!request)
        return arena_printf(a, "%s", err.msg);
    AUTO(release_names) GENERAL_NAMES *names = names_of(request);
    const X509_NAME *subject = X509_REQ_get_subject_name(request);
    if (!is_of_nodes(subject))
        return STR("subject organization is not system:nodes");
    const char *fault = fault_of_names(names, d->is_server);
    bool has_usages = are_usages(r, d->usage);
    if (fault)
        return arena_printf(a, "%s", fault);
    if (!is_node(subject) && (has_usages || !d->is_server))
        return STR("subject common name does not begin with system:node:");
    return has_usages ? STR("") : arena_printf(a, "usages did not match [%s]", d->usages);
}

static struct str fault_of_client(struct arena *a, const struct auth_request *r) {
    for (size_t i = 0; i < r->usages.n; i++)
        if (!str_is(r->usages.v[i], "client auth") &&
            !str_is(r->usages.v[i], "digital signature") &&
            !str_is(r->usages.v[i], "key encipherment"))
            return arena_printf(a, "invalid usage for client certificate: %.*s",
                                STR_ARG(r->usages.v[i]));
    return has_usage(r, "client auth")
               ? STR("")
               : STR("missing required usage for client certificate: client auth");
}

bool auth_request_judge(struct arena *a, struct str signer, const struct auth_request *r,
                        struct str *fault) {
    static const struct demand client = {"client auth",
                                         "client auth digital signature key encipherment", false};
    static const struct demand server = {"server auth",
                                         "digital signature key encipherment server auth", true};
    *fault = STR("");
    if (str_is(signer, "kubernetes.io/kube-apiserver-client"))
        *fault = fault_of_client(a, r);
    else if (str_is(signer, "kubernetes.io/kube-apiserver-client-kubelet"))
        *fault = fault_of_kubelet(a, r, &client);
    else if (str_is(signer, "kubernetes.io/kubelet-serving"))
        *fault = fault_of_kubelet(a, r, &server);
    else
        return str_is(signer, "kubernetes.io/legacy-unknown");
    return true;
}

/* ---- making ---- */

static bool add_extension(X509 *cert, X509 *issuer, int nid, struct str value) {
    X509V3_CTX ctx;
    X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
    X509_EXTENSION *x = X509V3_EXT_conf_nid(NULL, &ctx, nid, value.p);
    bool good = x && X509_add_ext(cert, x, -1);
    X509_EXTENSION_free(x);
    return good;
}

static bool add_extensions(struct arena *a, X509 *cert, X509 *issuer, X509_REQ *request,
                           const struct auth_request *r) {
    AUTO(release_names) GENERAL_NAMES *names = names_of(request);
    struct str keys = usages_of(a, r, key_usages), uses = usages_of(a, r, extended_usages);
    keys = keys.n ? arena_printf(a, "critical,%.*s", STR_ARG(keys)) : keys;
    return (!keys.n || add_extension(cert, issuer, NID_key_usage, keys)) &&
           (!uses.n || add_extension(cert, issuer, NID_ext_key_usage, uses)) &&
           add_extension(cert, issuer, NID_basic_constraints, STR("critical,CA:FALSE")) &&
           (!X509_get0_subject_key_id(issuer) ||
            add_extension(cert, issuer, NID_authority_key_identifier, STR("keyid"))) &&
           (!names || !sk_GENERAL_NAME_num(names) ||
            X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, X509V3_ADD_DEFAULT));
}

static bool set_times(X509 *cert, const X509 *issuer, const struct auth_request *r) {
    int64_t until = r->now + r->seconds - (r->seconds < SHORT ? 0 : BACKDATE);
    int64_t most = auth__certificate_until(issuer);
    return ASN1_TIME_set(X509_getm_notBefore(cert), r->now - BACKDATE) &&
           ASN1_TIME_set(X509_getm_notAfter(cert), until < most ? until : most);
}

static bool fill(struct arena *a, X509 *cert, X509 *issuer, X509_REQ *request,
                 const struct auth_request *r) {
    return X509_set_version(cert, X509_VERSION_3) && auth__certificate_number(cert) &&
           set_times(cert, issuer, r) && X509_set_pubkey(cert, X509_REQ_get0_pubkey(request)) &&
           X509_set_subject_name(cert, X509_REQ_get_subject_name(request)) &&
           X509_set_issuer_name(cert, X509_get_subject_name(issuer)) &&
           add_extensions(a, cert, issuer, request, r);
}

static struct str sign(struct arena *a, const struct auth__issuer *by, X509_REQ *request,
                       const struct auth_request *r, struct err *err) {
    AUTO(auth__x509_release) X509 *cert = X509_new();
    if (cert && fill(a, cert, by->cert, request, r) && X509_sign(cert, by->key, EVP_sha256()))
        return auth__certificate_write(a, cert, err);
    auth__ssl_fail(err, "cannot make a certificate");
    return (struct str){0};
}

struct str auth_request_sign(struct arena *a, const struct auth_authority *by,
                             const struct auth_request *r, struct err *err) {
    AUTO(auth__x509_release) X509 *cert = auth__certificate_read(by->certificate, err);
    AUTO(auth__key_release) EVP_PKEY *key = cert ? auth__key_read(by->key, err) : NULL;
    AUTO(release_request) X509_REQ *request = key ? read_request(r->pem, err) : NULL;
    if (!request)
        return (struct str){0};
    if (auth__certificate_until(cert) <= r->now) {
        err_set(err, ERR_INVALID, "the signer has expired");
        return (struct str){0};
    }
    if (X509_REQ_verify(request, X509_REQ_get0_pubkey(request)) != 1) {
        auth__ssl_fail(err, "unable to verify certificate request signature");
        return (struct str){0};
    }
    return sign(a, &(struct auth__issuer){cert, key}, request, r, err);
}

int auth_authority_check(const struct auth_authority *authority, struct err *err) {
    AUTO(auth__x509_release) X509 *cert = auth__certificate_read(authority->certificate, err);
    AUTO(auth__key_release) EVP_PKEY *key = cert ? auth__key_read(authority->key, err) : NULL;
    if (!key)
        return -1;
    if (X509_check_private_key(cert, key) == 1)
        return 0;
    auth__ssl_fail(err, "");
    return err_set(err, ERR_INVALID, "the key is not that of the certificate");
}
