/* Certificates that others ask for: which requests signers refuse, and what they make of others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "auth/pki_int.h"
#include "base/alloc.h"

#define NOW 1700000000

enum { DAY = 24 * 3600, YEAR = 365 * DAY };

static void add_entries(X509_NAME *subject, const char *field, const char *text) {
    struct str rest = str_of(text), one;
    bool more = rest.n;
    while (more) {
        more = str_cut(rest, ',', &one, &rest);
        assert_true(X509_NAME_add_entry_by_txt(subject, field, MBSTRING_UTF8,
                                               (const unsigned char *)one.p, (int)one.n, -1, 0));
    }
}

/* A request of these organizations, names and other names, as OpenSSL's files have them. */
static struct str request_of(struct arena *a, const char *organizations, const char *names,
                             const char *others) {
    struct err err = {0};
    AUTO(auth__key_release) EVP_PKEY *key = auth__key_make(&err);
    X509_REQ *request = X509_REQ_new();
    add_entries(X509_REQ_get_subject_name(request), "O", organizations);
    add_entries(X509_REQ_get_subject_name(request), "CN", names);
    if (*others) {
        STACK_OF(X509_EXTENSION) *list = sk_X509_EXTENSION_new_null();
        X509_EXTENSION *x = X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, others);
        assert_non_null(x);
        sk_X509_EXTENSION_push(list, x);
        X509_REQ_add_extensions(request, list);
        sk_X509_EXTENSION_pop_free(list, X509_EXTENSION_free);
    }
    X509_REQ_set_pubkey(request, key);
    assert_true(X509_REQ_sign(request, key, EVP_sha256()) > 0);
    BIO *bio = BIO_new(BIO_s_mem());
    char *bytes;
    PEM_write_bio_X509_REQ(bio, request);
    long n = BIO_get_mem_data(bio, &bytes);
    struct str pem = arena_str(a, (struct str){bytes, (size_t)n});
    BIO_free(bio);
    X509_REQ_free(request);
    return pem;
}

static struct api_strs usages_of(struct arena *a, const char *text) {
    struct api_strs out = {arena_array(a, struct str, 16), 0};
    struct str rest = str_of(text);
    for (bool more = rest.n; more;)
        more = str_cut(rest, ',', &out.v[out.n++], &rest);
    return out;
}

#define CLIENT  "kubernetes.io/kube-apiserver-client"
#define KUBELET "kubernetes.io/kube-apiserver-client-kubelet"
#define SERVING "kubernetes.io/kubelet-serving"

static const struct {
    const char *signer, *organizations, *names, *others, *usages;
    const char *fault; /* NULL: the signer is not ours */
} rows[] = {
    {CLIENT, "devs", "joe", "", "client auth", ""},
    {CLIENT, "devs", "joe", "DNS:a", "client auth,digital signature,key encipherment", ""},
    {CLIENT, "", "", "", "client auth,server auth",
     "invalid usage for client certificate: server auth"},
    {CLIENT, "", "", "", "digital signature",
     "missing required usage for client certificate: client auth"},
    {KUBELET, "system:nodes", "system:node:a", "", "client auth,digital signature", ""},
    {KUBELET, "system:nodes", "a,system:node:a", "",
     "client auth,digital signature,key encipherment", ""},
    {KUBELET, "", "system:node:a", "", "client auth,digital signature",
     "subject organization is not system:nodes"},
    {KUBELET, "system:nodes,b", "system:node:a", "", "client auth,digital signature",
     "subject organization is not system:nodes"},
    {KUBELET, "system:nodes", "system:node:a", "DNS:a,IP:1.2.3.4", "client auth",
     "DNS subjectAltNames are not allowed"},
    {KUBELET, "system:nodes", "system:node:a", "IP:1.2.3.4,email:a@b", "client auth",
     "Email subjectAltNames are not allowed"},
    {KUBELET, "system:nodes", "system:node:a", "IP:1.2.3.4,URI:http://a", "client auth",
     "IP subjectAltNames are not allowed"},
    {KUBELET, "system:nodes", "system:node:a", "URI:http://a", "client auth",
     "URI subjectAltNames are not allowed"},
    {KUBELET, "system:nodes", "system:node:a,joe", "", "client auth",
     "subject common name does not begin with system:node:"},
    {KUBELET, "system:nodes", "system:node:a", "", "client auth",
     "usages did not match [client auth digital signature key encipherment]"},
    {SERVING, "system:nodes", "system:node:a", "DNS:a", "server auth,digital signature", ""},
    {SERVING, "system:nodes", "system:node:a", "IP:::1", "server auth,digital signature", ""},
    {SERVING, "system:nodes", "system:node:a", "", "server auth,digital signature",
     "DNS or IP subjectAltName is required"},
    {SERVING, "system:nodes", "joe", "DNS:a", "client auth",
     "usages did not match [digital signature key encipherment server auth]"},
    {SERVING, "system:nodes", "joe", "DNS:a", "server auth,digital signature",
     "subject common name does not begin with system:node:"},
    {"kubernetes.io/legacy-unknown", "", "", "", "cert sign", ""},
    {"kubernetes.io/legacy-unknow", "", "", "", "client auth", NULL},
    {"example.com/signer", "", "", "", "client auth", NULL},
};

static void signers_demand_what_upstreams_do(void **state) {
    AUTO(arena_release) struct arena a = {0};
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct auth_request r = {
            .pem = request_of(&a, rows[i].organizations, rows[i].names, rows[i].others),
            .usages = usages_of(&a, rows[i].usages)};
        struct str fault;
        bool is_ours = auth_request_judge(&a, str_of(rows[i].signer), &r, &fault);
        if (is_ours != !!rows[i].fault || (is_ours && !str_is(fault, rows[i].fault)))
            fail_msg("row %zu: %d, %.*s", i, is_ours, STR_ARG(fault));
    }
}

/* An authority that ends a year from now. */
static void make_authority(struct arena *a, struct auth_authority *out) {
    struct err err = {0};
    struct str name = STR("authority");
    if (auth_pki_self_signed(a, &(struct api_strs){&name, 1}, NOW, &out->certificate, &out->key,
                             &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(auth_authority_check(out, &err), 0);
}

static X509 *sign(struct arena *a, const struct auth_authority *by, struct auth_request *r) {
    struct err err = {0};
    struct str pem = auth_request_sign(a, by, r, &err);
    if (!pem.p)
        fail_msg("%s", err.msg);
    return auth__certificate_read(pem, &err);
}

static void what_is_asked_for_is_certified(void **state) {
    AUTO(arena_release) struct arena a = {0};
    struct auth_authority by;
    struct err err = {0};
    (void)state;
    make_authority(&a, &by);
    struct auth_request r = {.pem =
                                 request_of(&a, "devs", "joe", "DNS:a.example,IP:1.2.3.4,RID:1.2"),
                             .usages = usages_of(&a, "s/mime,signing,client auth,email protection,"
                                                     "digital signature,key encipherment"),
                             .now = NOW,
                             .seconds = DAY};
    AUTO(auth__x509_release) X509 *cert = sign(&a, &by, &r);
    AUTO(auth__x509_release) X509 *authority = auth__certificate_read(by.certificate, &err);
    assert_int_equal(X509_NAME_cmp(X509_get_issuer_name(cert), X509_get_subject_name(authority)),
                     0);
    assert_int_equal(X509_verify(cert, X509_get0_pubkey(authority)), 1);
    char subject[64];
    X509_NAME_oneline(X509_get_subject_name(cert), subject, sizeof subject);
    assert_string_equal(subject, "/O=devs/CN=joe");
    assert_true(auth__certificate_has_name(cert, STR("a.example")));
    assert_true(auth__certificate_has_name(cert, STR("1.2.3.4")));
    assert_int_equal(X509_get_key_usage(cert), KU_DIGITAL_SIGNATURE | KU_KEY_ENCIPHERMENT);
    assert_int_equal(X509_get_extended_key_usage(cert), XKU_SSL_CLIENT | XKU_SMIME);
    assert_int_equal(X509_check_ca(cert), 0);
    assert_int_equal(X509_get_ext_count(cert), 4); /* the authority's has no key identifier */
}

/* Long ones end as much earlier as they begin, and none later than the authority. */
static void times_are_upstreams(void **state) {
    static const struct {
        int64_t seconds, until;
    } times[] = {{600, NOW + 600}, {DAY, NOW + DAY - 300}, {2 * YEAR, NOW + YEAR}};
    AUTO(arena_release) struct arena a = {0};
    struct auth_authority by;
    struct err err = {0};
    (void)state;
    make_authority(&a, &by);
    struct auth_request r = {.pem = request_of(&a, "", "joe", ""), .now = NOW};
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        r.seconds = times[i].seconds;
        AUTO(auth__x509_release) X509 *cert = sign(&a, &by, &r);
        assert_int_equal(auth__certificate_until(cert), times[i].until);
    }
    r.now = NOW + YEAR;
    assert_null(auth_request_sign(&a, &by, &r, &err).p);
    assert_string_equal(err.msg, "the signer has expired");
}

static void what_is_wrong_is_refused(void **state) {
    AUTO(arena_release) struct arena a = {0};
    struct auth_authority by, other;
    struct err err = {0};
    (void)state;
    make_authority(&a, &by);
    make_authority(&a, &other);
    struct auth_request r = {.pem = STR("no PEM"), .now = NOW, .seconds = DAY};
    assert_null(auth_request_sign(&a, &by, &r, &err).p);
    struct str fault;
    assert_true(auth_request_judge(&a, STR(KUBELET), &r, &fault));
    assert_true(fault.n);
    other.certificate = by.certificate;
    assert_int_equal(auth_authority_check(&other, &err), -1);
    other.key = STR("no PEM");
    assert_int_equal(auth_authority_check(&other, &err), -1);
    other.certificate = STR("");
    assert_int_equal(auth_authority_check(&other, &err), -1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signers_demand_what_upstreams_do),
        cmocka_unit_test(what_is_asked_for_is_certified),
        cmocka_unit_test(times_are_upstreams),
        cmocka_unit_test(what_is_wrong_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
