/* Contexts of TLS: what is not a certificate, and what verification says about clients. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "certs.h"
#include "net/socket/tls_int.h"

struct world {
    struct cert ca, other_ca, middle, server;
};

static int set_up(void **state) {
    static struct world w;
    w.ca = cert_make(NULL, "CN=ca", NULL, NULL, 3600);
    w.other_ca = cert_make(NULL, "CN=other", NULL, NULL, 3600);
    w.middle = cert_make(&w.ca, "CN=middle", NULL, NULL, 3600);
    w.server = cert_make(&w.ca, "CN=server", "serverAuth", "DNS:localhost", 3600);
    *state = &w;
    return 0;
}

static int tear_down(void **state) {
    struct world *w = *state;
    cert_release(&w->ca);
    cert_release(&w->other_ca);
    cert_release(&w->middle);
    cert_release(&w->server);
    return 0;
}

static struct net_tls *make_tls(struct str chain, struct str key, struct str ca, struct err *err) {
    const struct net_certificate certificate = {chain, key};
    return net_tls_new(&(struct net_tls_config){.certificates = &certificate,
                                                .certificate_count = 1,
                                                .client_ca_pem = ca},
                       err);
}

static void test_bad_certificates_are_refused(void **state) {
    const struct world *w = *state;
    struct str cert = w->server.cert_pem, key = w->server.key_pem;
    struct str half = str_sub(cert, 0, cert.n / 2);
    struct err err;
    const struct {
        struct str chain, key, ca;
        const char *text;
    } cases[] = {
        {STR("x"), key, STR(""), "certificate: no start line"},
        {half, key, STR(""), "certificate: bad end line"},
        {cert, STR(""), STR(""), "private key: unsupported"},
        {cert, w->ca.key_pem, STR(""), "private key: key values mismatch"},
        {cert, key, STR("x"), "client CA: no certificates"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_null(make_tls(cases[i].chain, cases[i].key, cases[i].ca, &err));
        assert_string_equal(err.msg, cases[i].text);
    }
    assert_null(net_tls_new(&(struct net_tls_config){0}, &err));
    assert_string_equal(err.msg, "no certificate");
    net_tls_free(NULL);
}

/* A client and a server over a pair of sockets. */
struct pair {
    struct net_tls *tls;
    SSL_CTX *context;
    SSL *here, *there;
    struct buf sealed; /* of the server, to be sent */
    int fds[2];
};

/* Shakes hands; the client shows these certificates, or none. */
static void pair_open(struct pair *p, const struct world *w, const struct cert *client,
                      const struct cert *issuer) {
    struct err err;
    *p = (struct pair){.sealed = BUF_INIT(SIZE_MAX)};
    p->tls = make_tls(w->server.cert_pem, w->server.key_pem, w->ca.cert_pem, &err);
    p->context = SSL_CTX_new(TLS_client_method());
    assert_non_null(p->tls);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, p->fds), 0);
    if (client) {
        SSL_CTX_use_certificate(p->context, client->x509);
        SSL_CTX_use_PrivateKey(p->context, client->key);
    }
    if (issuer)
        SSL_CTX_add1_chain_cert(p->context, issuer->x509);
    p->there = SSL_new(p->context);
    p->here = net__tls_accept(p->tls, p->fds[0], &p->sealed);
    SSL_set_fd(p->there, p->fds[1]);
    SSL_set_connect_state(p->there);
    int done = 0;
    for (int i = 0; i < 20 && done != 2; i++) {
        done = (SSL_do_handshake(p->there) == 1) + (SSL_do_handshake(p->here) == 1);
        assert_int_equal(p->sealed.n ? write(p->fds[0], p->sealed.p, p->sealed.n) : 0, p->sealed.n);
        buf_clear(&p->sealed);
    }
    assert_int_equal(done, 2);
}

static void pair_close(struct pair *p) {
    SSL_free(p->there);
    SSL_free(p->here);
    buf_release(&p->sealed);
    SSL_CTX_free(p->context);
    net_tls_free(p->tls);
    close(p->fds[0]);
    close(p->fds[1]);
}

static struct net_identity *identify(const struct world *w, const struct cert *client,
                                     const struct cert *issuer) {
    struct pair p;
    pair_open(&p, w, client, issuer);
    assert_null(net__tls_protocol(p.here)); /* the client did not ask */
    struct net_identity *identity = net__tls_identity(p.here);
    pair_close(&p);
    return identity;
}

static void check_identity(const struct world *w, struct cert client, const struct cert *issuer,
                           const char *problem) {
    struct net_identity *identity = identify(w, &client, issuer);
    assert_non_null(identity);
    assert_int_equal(identity->is_verified, problem[0] == '\0');
    if (!str_is(identity->problem, problem))
        print_error("%.*s\n", STR_ARG(identity->problem));
    assert_true(str_is(identity->problem, problem));
    unsigned char digest[32];
    X509_digest(client.x509, EVP_sha256(), digest, NULL);
    assert_memory_equal(identity->sha256, digest, 32);
    free(identity);
    cert_release(&client);
}

static void test_clients_are_verified_and_never_refused(void **state) {
    const struct world *w = *state;
    assert_null(identify(w, NULL, NULL));
    check_identity(w, cert_make(&w->ca, "CN=a", "clientAuth", NULL, 60), NULL, "");
    check_identity(w, cert_make(&w->middle, "CN=a", "clientAuth", NULL, 60), &w->middle, "");
    check_identity(w, cert_make(&w->middle, "CN=a", "clientAuth", NULL, 60), NULL,
                   "unable to get local issuer certificate");
    check_identity(w, cert_make(&w->ca, "CN=a", "clientAuth", NULL, -60), NULL,
                   "certificate has expired");
    check_identity(w, cert_make(&w->ca, "CN=a", "serverAuth", NULL, 60), NULL,
                   "unsuitable certificate purpose");
    check_identity(w, cert_make(&w->other_ca, "CN=a", "clientAuth", NULL, 60), NULL,
                   "unable to get local issuer certificate");
    check_identity(w, cert_make(NULL, "CN=a", "clientAuth", NULL, 60), NULL,
                   "self-signed certificate");
}

static void test_subjects_are_read(void **state) {
    const struct world *w = *state;
    struct cert client = cert_make(&w->ca, "CN=a,O=x,CN=b,O=", "clientAuth", NULL, 3600);
    struct net_identity *identity = identify(w, &client, NULL);
    assert_true(str_is(identity->common_name, "b"));
    assert_int_equal(identity->organization_count, 1);
    assert_true(str_is(identity->organizations[0], "x"));
    int64_t left = identity->not_after - clock_wall(&clock_system);
    assert_true(left > 3500 * CLOCK_SECOND && left < 3700 * CLOCK_SECOND);
    free(identity);
    cert_release(&client);
}

/* The client asks for new keys so often; what comes of it for the server, which reads once. */
static int ask_for_keys(struct pair *p, int times) {
    char byte;
    for (int i = 0; i < times; i++) {
        assert_int_equal(SSL_key_update(p->there, SSL_KEY_UPDATE_REQUESTED), 1);
        assert_int_equal(SSL_do_handshake(p->there), 1);
    }
    return SSL_get_error(p->here, SSL_read(p->here, &byte, 1));
}

static void test_answers_without_end_break_the_connection(void **state) {
    struct pair p;
    pair_open(&p, *state, NULL, NULL);
    assert_int_equal(SSL_version(p.here), TLS1_3_VERSION);
    assert_int_equal(ask_for_keys(&p, 100), SSL_ERROR_WANT_READ);
    assert_true(p.sealed.n >= 2000); /* an answer for each */
    /* Much may wait that was made by the same call. */
    while (p.sealed.n < LIMIT_NET_SEALED_BYTES - 1000)
        buf_add_char(&p.sealed, 'x');
    assert_int_equal(ask_for_keys(&p, 10), SSL_ERROR_WANT_READ);
    assert_true(p.sealed.n >= LIMIT_NET_SEALED_BYTES - 900);
    int error = ask_for_keys(&p, 100);
    assert_true(error == SSL_ERROR_SYSCALL || error == SSL_ERROR_SSL);
    assert_true(p.sealed.n <= LIMIT_NET_SEALED_BYTES);
    pair_close(&p);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(test_bad_certificates_are_refused),
        TEST(test_clients_are_verified_and_never_refused),
        TEST(test_subjects_are_read),
        TEST(test_answers_without_end_break_the_connection),
    };
    return cmocka_run_group_tests_name("net/tls", tests, NULL, NULL);
}
