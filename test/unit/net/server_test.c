/*
 * Servers on loopback with real sockets, threads, TLS and clients: what works, what is refused, and
 * that peers which behave badly neither keep others waiting nor cost much.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <arpa/inet.h>
#include <cmocka.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/err.h"
#include "base/limits.h"
#include "certs.h"
#include "net/net.h"

#define MS (CLOCK_SECOND / 1000)
enum { LOOPS = 2 };

struct world {
    struct cert ca, other_ca, server_cert, second_cert, client_cert, other_client;
    char folder[64]; /* the certificates, as files for curl */
    struct net_tls *tls;
    struct net_loop *loops[LOOPS];
    pthread_t threads[LOOPS];
    struct net_server *plain, *secure;
    atomic_int shutdowns, watchers, closed;
};

static void *run_loop(void *loop) {
    net_loop_run(loop);
    return NULL;
}

/* ------------------------------------------------------------------------------------- handler */

static void respond_text(struct net_exchange *x, int status, struct str text) {
    const struct net_header headers[] = {{STR("Content-Type"), STR("text/plain")}};
    const struct net_part part = {.bytes = text};
    net_respond(x, status, (struct net_headers){headers, 1}, &part, 1);
}

static void respond_identity(struct net_exchange *x) {
    const struct net_request *r = net_exchange_request(x);
    const struct net_identity *id = r->identity;
    struct buf text = BUF_INIT(4096);
    buf_addf(&text, "%s %s ", r->protocol == NET_HTTP2 ? "h2" : "h1", r->is_tls ? "tls" : "plain");
    if (!id) {
        buf_addf(&text, "nobody");
    } else {
        buf_addf(&text, "%.*s", STR_ARG(id->common_name));
        for (size_t i = 0; i < id->organization_count; i++)
            buf_addf(&text, "/%.*s", STR_ARG(id->organizations[i]));
        if (id->is_verified)
            buf_addf(&text, " verified");
        else
            buf_addf(&text, " not verified: %.*s", STR_ARG(id->problem));
        int64_t left = id->not_after / CLOCK_SECOND - (int64_t)time(NULL);
        buf_addf(&text, left > 3000 && left < 3700 ? " for an hour" : " for another time");
    }
    respond_text(x, 200, buf_view(&text));
    buf_release(&text);
}

static void on_body(struct net_exchange *x, void *arg, enum net_body outcome) {
    (void)arg;
    if (outcome == NET_BODY_WHOLE)
        respond_text(x, 200, net_exchange_body(x));
    else
        respond_text(x, 413, STR("too large"));
    net_exchange_release(x);
}

static void on_closed(struct net_exchange *x, void *arg) {
    struct world *world = arg;
    atomic_fetch_add(&world->closed, 1);
    net_exchange_release(x);
}

static void on_shutdown(struct net_exchange *x, void *arg) {
    struct world *world = arg;
    atomic_fetch_add(&world->shutdowns, 1);
    net_stream_end(x);
    net_exchange_release(x);
}

/* Bytes for ever, as fast as the peer takes them. */
static void pour(struct net_exchange *x, void *arg) {
    static char bytes[16 << 10];
    (void)arg;
    while (!net_stream_is_full(x))
        net_stream_write(x, &(struct net_part){.bytes = {bytes, sizeof bytes}}, 1);
}

static const struct net_exchange_events body_events = {.body = on_body, .closed = on_closed};
static const struct net_exchange_events stream_events = {
    .closed = on_closed, .drained = pour, .shutdown = on_shutdown};

/* Answers on the loop again, after a detour through another thread's time. */
static void respond_later(void *arg) {
    struct net_exchange *x = arg;
    respond_text(x, 200, STR("later"));
    net_exchange_release(x);
}

static void handle_stream(struct world *world, struct net_exchange *x, struct str path) {
    atomic_fetch_add(&world->watchers, 1);
    net_exchange_listen(x, &stream_events, world);
    net_stream_begin(x, 200, (struct net_headers){0});
    net_stream_write(x, &(struct net_part){.bytes = STR("begin\n")}, 1);
    if (str_eq(path, STR("/pour")))
        pour(x, world);
}

enum { LONG_BYTES = 3 << 20 };

static char long_byte(size_t at) {
    return (char)('a' + at % 23);
}

static void free_bytes(void *bytes) {
    free(bytes);
}

static void respond_long(struct net_exchange *x) {
    char *bytes = xmalloc(LONG_BYTES);
    for (size_t i = 0; i < LONG_BYTES; i++)
        bytes[i] = long_byte(i);
    const struct net_part part = {{bytes, LONG_BYTES}, free_bytes, bytes};
    net_respond(x, 200, (struct net_headers){0}, &part, 1);
    net_exchange_release(x);
}

static void handle(void *self, struct net_exchange *x) {
    struct str path = net_exchange_request(x)->path;
    if (str_eq(path, STR("/watch")) || str_eq(path, STR("/pour"))) {
        handle_stream(self, x, path);
    } else if (str_eq(path, STR("/long"))) {
        respond_long(x);
    } else if (str_eq(path, STR("/later"))) {
        net_loop_post(net_exchange_loop(x), respond_later, x);
    } else if (str_eq(path, STR("/echo"))) {
        net_exchange_listen(x, &body_events, self);
        enum net_body outcome = net_exchange_read_body(x, LIMIT_OBJECT_BYTES);
        if (outcome != NET_BODY_LATER)
            on_body(x, self, outcome);
    } else {
        if (str_eq(path, STR("/who")))
            respond_identity(x);
        else
            respond_text(x, 404, path);
        net_exchange_release(x);
    }
}

/* --------------------------------------------------------------------------------------- world */

static void write_file(const struct world *w, const char *name, struct str text) {
    char path[128];
    snprintf(path, sizeof path, "%s/%s", w->folder, name);
    FILE *f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(text.p, 1, text.n, f), text.n);
    fclose(f);
}

static void make_certificates(struct world *w) {
    w->ca = cert_make(NULL, "CN=ca", NULL, NULL, 3600);
    w->other_ca = cert_make(NULL, "CN=other", NULL, NULL, 3600);
    w->server_cert =
        cert_make(&w->ca, "CN=server", "serverAuth", "IP:127.0.0.1,DNS:localhost", 3600);
    w->second_cert = cert_make(&w->ca, "CN=second", "serverAuth", "DNS:second.example", 3600);
    w->client_cert = cert_make(&w->ca, "CN=alice,O=dev,O=ops", "clientAuth", NULL, 3600);
    w->other_client =
        cert_make(&w->other_ca, "CN=mallory,O=system:masters", "clientAuth", NULL, 3600);
    write_file(w, "ca.pem", w->ca.cert_pem);
    write_file(w, "client.pem", w->client_cert.cert_pem);
    write_file(w, "client.key", w->client_cert.key_pem);
    write_file(w, "other.pem", w->other_client.cert_pem);
    write_file(w, "other.key", w->other_client.key_pem);
}

static int set_up(void **state) {
    static struct world w;
    struct err err;
    w = (struct world){.folder = "/tmp/net_server_test.XXXXXX"};
    assert_non_null(mkdtemp(w.folder));
    make_certificates(&w);
    struct net_certificate certificates[] = {
        {w.server_cert.cert_pem, w.server_cert.key_pem},
        {w.second_cert.cert_pem, w.second_cert.key_pem},
    };
    w.tls = net_tls_new(&(struct net_tls_config){.certificates = certificates,
                                                 .certificate_count = 2,
                                                 .client_ca_pem = w.ca.cert_pem},
                        &err);
    assert_non_null(w.tls);
    for (int i = 0; i < LOOPS; i++)
        w.loops[i] = net_loop_new(&clock_system);
    struct net_server_config config = {.address = "127.0.0.1", .request = handle, .self = &w};
    w.plain = net_server_new(w.loops, LOOPS, &config, &err);
    config.tls = w.tls;
    w.secure = net_server_new(w.loops, LOOPS, &config, &err);
    assert_true(w.plain && w.secure);
    for (int i = 0; i < LOOPS; i++)
        assert_int_equal(pthread_create(&w.threads[i], NULL, run_loop, w.loops[i]), 0);
    *state = &w;
    return 0;
}

static int tear_down(void **state) {
    struct world *w = *state;
    const char *names[] = {"ca.pem", "client.pem", "client.key", "other.pem", "other.key"};
    for (int i = 0; i < LOOPS; i++) {
        net_loop_stop(w->loops[i]);
        pthread_join(w->threads[i], NULL);
    }
    net_server_free(w->plain);
    net_server_free(w->secure);
    for (int i = 0; i < LOOPS; i++)
        net_loop_free(w->loops[i]);
    net_tls_free(w->tls);
    struct cert *certs[] = {&w->ca,          &w->other_ca,    &w->server_cert,
                            &w->second_cert, &w->client_cert, &w->other_client};
    for (size_t i = 0; i < sizeof certs / sizeof *certs; i++)
        cert_release(certs[i]);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", w->folder, names[i]);
        unlink(path);
    }
    return rmdir(w->folder);
}

/* ------------------------------------------------------------------------------------- clients */

static int dial(const struct net_server *server) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(net_server_port(server))};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_true(fd >= 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    struct timeval patience = {.tv_sec = 20};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

static void say(int fd, const char *text) {
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* What comes until the text that is waited for, or the end. */
static bool hear(int fd, const char *awaited) {
    struct buf heard = BUF_INIT(1 << 20);
    bool found = false;
    for (char byte; !found && recv(fd, &byte, 1, 0) == 1;) {
        buf_add_char(&heard, byte);
        found = str_ends(buf_view(&heard), str_of(awaited));
    }
    buf_release(&heard);
    return found;
}

static bool answers(const struct net_server *server) {
    int fd = dial(server);
    say(fd, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
    bool heard = hear(fd, "later");
    close(fd);
    return heard;
}

/* Runs curl with these arguments and a URL; false when there is no curl. */
static bool curl(const struct world *w, const char *options, const char *path, struct buf *out) {
    char line[1024];
    snprintf(line, sizeof line,
             "curl --silent --show-error --max-time 20 --cacert %s/ca.pem %s "
             "https://localhost:%u%s --resolve localhost:%u:127.0.0.1 2>&1",
             w->folder, options, net_server_port(w->secure), path, net_server_port(w->secure));
    for (char *at; (at = strstr(line, "@"));) { /* @ stands for the folder */
        char rest[1024];
        snprintf(rest, sizeof rest, "%s", at + 1);
        snprintf(at, sizeof line - (size_t)(at - line), "%s/%s", w->folder, rest);
    }
    FILE *pipe = popen(line, "r");
    assert_non_null(pipe);
    buf_clear(out);
    for (int c; (c = fgetc(pipe)) != EOF;)
        buf_add_char(out, (char)c);
    int status = pclose(pipe);
    return WIFEXITED(status) && WEXITSTATUS(status) != 127;
}

/* --------------------------------------------------------------------------------------- tests */

static void test_curl_is_answered_over_tls(void **state) {
    struct world *w = *state;
    static const struct {
        const char *options, *path, *out;
    } cases[] = {
        {"--http1.1", "/who", "h1 tls nobody"},
        {"--http2", "/who", "h2 tls nobody"},
        {"--http1.1 --cert @client.pem --key @client.key", "/who",
         "h1 tls alice/dev/ops verified for an hour"},
        {"--http2 --cert @client.pem --key @client.key", "/who",
         "h2 tls alice/dev/ops verified for an hour"},
        {"--http2 --cert @other.pem --key @other.key", "/who",
         "h2 tls mallory/system:masters not verified: unable to get local issuer certificate "
         "for an hour"},
        {"--tls-max 1.2 --http2 --cert @client.pem --key @client.key", "/who",
         "h2 tls alice/dev/ops verified for an hour"},
        {"--http2 --data-raw hello", "/echo", "hello"},
        {"--http1.1 --data-raw hello", "/echo", "hello"},
        {"--http1.1 --data-raw hello -H 'Expect: 100-continue'", "/echo", "hello"},
        {"--http1.1 --data-raw hello -H 'Transfer-Encoding: chunked'", "/echo", "hello"},
        {"--http2 -I -o /dev/null -w '%{http_code} %{size_download}'", "/later", "200 0"},
        {"--http1.1 -I -o /dev/null -w '%{http_code} %{size_download}'", "/later", "200 0"},
    };
    struct buf out = BUF_INIT(1 << 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (!curl(w, cases[i].options, cases[i].path, &out)) {
            print_message("no curl: left out\n");
            break;
        }
        if (!str_is(buf_view(&out), cases[i].out))
            print_error("%s: %.*s\n", cases[i].options, STR_ARG(buf_view(&out)));
        assert_true(str_is(buf_view(&out), cases[i].out));
    }
    buf_release(&out);
}

static void test_plain_sockets_are_answered(void **state) {
    struct world *w = *state;
    assert_true(answers(w->plain));
}

/* The name on the certificate that is shown to who asks for `name`. */
static void check_shown(const struct world *w, const char *name, const char *expected) {
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *ssl = SSL_new(context);
    int fd = dial(w->secure);
    SSL_set_fd(ssl, fd);
    char copy[256] = ""; /* OpenSSL's macro wants one that may be written to */
    if (name) {
        memcpy(copy, name, strlen(name) + 1);
        SSL_set_tlsext_host_name(ssl, copy);
    }
    assert_int_equal(SSL_connect(ssl), 1);
    X509 *shown = SSL_get1_peer_certificate(ssl);
    char text[64] = "";
    X509_NAME_get_text_by_NID(X509_get_subject_name(shown), NID_commonName, text, sizeof text);
    assert_string_equal(text, expected);
    X509_free(shown);
    SSL_free(ssl);
    SSL_CTX_free(context);
    close(fd);
}

static void test_certificates_are_chosen_by_name(void **state) {
    const struct world *w = *state;
    check_shown(w, NULL, "server");
    check_shown(w, "localhost", "server");
    check_shown(w, "second.example", "second");
    check_shown(w, "third.example", "server");
}

static void wait_until(const atomic_int *counter, int value) {
    for (int i = 0; i < 2000 && atomic_load(counter) < value; i++)
        usleep(10000);
    assert_int_equal(atomic_load(counter), value);
}

static struct net_stats stats_of(const struct net_server *server) {
    struct net_stats stats;
    net_server_stats(server, &stats);
    return stats;
}

static long resident_kib(void) {
    long size, resident;
    FILE *f = fopen("/proc/self/statm", "r");
    assert_non_null(f);
    assert_int_equal(fscanf(f, "%ld %ld", &size, &resident), 2);
    fclose(f);
    return resident * (sysconf(_SC_PAGESIZE) / 1024);
}

static void test_many_idle_connections(void **state) {
    enum { IDLE = 1000 };
    const struct world *w = *state;
    static int fds[IDLE];
    assert_true(answers(w->plain));
    for (int i = 0; i < IDLE; i++) {
        fds[i] = dial(w->plain);
        if (i % 2)
            say(fds[i], "GET / HTTP/1.1\r\nHo"); /* half a request */
    }
    assert_true(answers(w->plain));
    assert_true(answers(w->plain));
    assert_true(stats_of(w->plain).connections_now >= IDLE);
    for (int i = 0; i < IDLE; i++)
        close(fds[i]);
    for (int i = 0; i < 1000 && stats_of(w->plain).connections_now > 0; i++)
        usleep(10000);
    assert_int_equal(stats_of(w->plain).connections_now, 0);
}

/* Some peers ask for endless streams and read nothing; the others do not notice. */
static void test_peers_that_never_read(void **state) {
    enum { DEAF = 20 };
    struct world *w = *state;
    int fds[DEAF];
    long before = resident_kib();
    for (int i = 0; i < DEAF; i++) {
        fds[i] = dial(w->plain);
        say(fds[i], "GET /pour HTTP/1.1\r\nHost: a\r\n\r\n");
    }
    wait_until(&w->watchers, DEAF);
    for (int i = 0; i < 20; i++)
        assert_true(answers(w->plain));
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    assert_true(resident_kib() - before < DEAF * 3 * (LIMIT_NET_STREAM_BYTES >> 10));
#else
    (void)before;
#endif
    assert_true(stats_of(w->plain).streams_full >= DEAF);
    for (int i = 0; i < DEAF; i++)
        close(fds[i]);
    wait_until(&w->closed, DEAF);
}

/* Reads a long answer in small pieces, with pauses at first. */
static void check_long(SSL *ssl) {
    static const char request[] = "GET /long HTTP/1.1\r\nHost: a\r\n\r\n";
    char piece[5000];
    struct buf head = BUF_INIT(1 << 16);
    assert_int_equal(SSL_write(ssl, request, sizeof request - 1), sizeof request - 1);
    while (!str_ends(buf_view(&head), STR("\r\n\r\n"))) {
        assert_int_equal(SSL_read(ssl, piece, 1), 1);
        buf_add_char(&head, piece[0]);
    }
    for (size_t got = 0, turns = 0; got < LONG_BYTES; turns++) {
        if (turns < 30)
            usleep(2000);
        int n = SSL_read(ssl, piece, sizeof piece);
        assert_true(n > 0);
        for (int i = 0; i < n; i++, got++)
            assert_int_equal(piece[i], long_byte(got));
    }
    buf_release(&head);
}

/* What the socket does not take at once is sent later, whole and in order. */
static void test_slow_peers_get_everything(void **state) {
    const struct world *w = *state;
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(net_server_port(w->secure))};
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    SSL *ssl = SSL_new(context);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), little = 4096;
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &little, sizeof little);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, sizeof to), 0);
    SSL_set_fd(ssl, fd);
    assert_int_equal(SSL_connect(ssl), 1);
    check_long(ssl);
    check_long(ssl);
    SSL_free(ssl);
    SSL_CTX_free(context);
    close(fd);
}

static void test_the_end_of_a_peer_is_told(void **state) {
    struct world *w = *state;
    int fd = dial(w->plain);
    say(fd, "GET /watch HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_true(hear(fd, "begin\n\r\n"));
    assert_int_equal(w->closed, 0);
    close(fd);
    wait_until(&w->closed, 1);
}

/* ----------------------------------------------------------------------- servers of their own */

struct own {
    struct net_loop *loop;
    pthread_t thread;
    struct net_server *server;
};

static struct own open_own(struct world *w, struct net_limits limits, struct net_tls *tls) {
    struct own own = {.loop = net_loop_new(&clock_system)};
    struct err err;
    struct net_server_config config = {
        .address = "::1", .request = handle, .self = w, .limits = limits, .tls = tls};
    own.server = net_server_new(&own.loop, 1, &config, &err);
    if (!own.server) { /* no IPv6 here */
        config.address = "127.0.0.1";
        own.server = net_server_new(&own.loop, 1, &config, &err);
    }
    assert_non_null(own.server);
    assert_int_equal(pthread_create(&own.thread, NULL, run_loop, own.loop), 0);
    return own;
}

static void close_own(struct own *own) {
    net_loop_stop(own->loop);
    pthread_join(own->thread, NULL);
    net_server_free(own->server);
    net_loop_free(own->loop);
}

static int dial_own(const struct own *own) {
    struct sockaddr_in6 to = {.sin6_family = AF_INET6,
                              .sin6_port = htons(net_server_port(own->server)),
                              .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
        close(fd);
        return dial(own->server);
    }
    struct timeval patience = {.tv_sec = 20};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    return fd;
}

static void test_connections_are_limited(void **state) {
    struct world *w = *state;
    assert_int_equal(net_limits_default.connections, LIMIT_NET_CONNECTIONS);
    assert_int_equal(net_limits_default.loop_connections, LIMIT_NET_LOOP_CONNECTIONS);
    for (int by_loop = 0; by_loop < 2; by_loop++) {
        struct net_limits limits = net_limits_default;
        *(by_loop ? &limits.loop_connections : &limits.connections) = 3;
        struct own own = open_own(w, limits, NULL);
        int fds[4];
        for (int i = 0; i < 4; i++) {
            fds[i] = dial_own(&own);
            if (i < 3) {
                say(fds[i], "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
                assert_true(hear(fds[i], "later"));
            }
        }
        assert_false(hear(fds[3], "x"));
        assert_int_equal(stats_of(own.server).connections_refused, 1);
        close(fds[0]);
        for (int i = 0; i < 1000 && stats_of(own.server).connections_now > 2; i++)
            usleep(10000);
        close(fds[3]);
        fds[3] = dial_own(&own);
        say(fds[3], "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
        assert_true(hear(fds[3], "later"));
        for (int i = 1; i < 4; i++)
            close(fds[i]);
        close_own(&own);
    }
}

static void test_slow_peers_are_closed(void **state) {
    struct world *w = *state;
    struct net_limits limits = net_limits_default;
    assert_int_equal(limits.handshake, LIMIT_NET_HANDSHAKE_SECONDS * CLOCK_SECOND);
    limits.handshake = 100 * MS;
    struct own secure = open_own(w, limits, w->tls);
    int fd = dial_own(&secure);
    say(fd, "\x16\x03\x01"); /* the beginning of a ClientHello */
    assert_false(hear(fd, "x"));
    assert_int_equal(stats_of(secure.server).handshakes_timed_out, 1);
    close(fd);
    fd = dial_own(&secure);
    say(fd, "GET / HTTP/1.1\r\nHost: a\r\n\r\n");
    hear(fd, "x");
    assert_int_equal(stats_of(secure.server).handshakes_failed, 1);
    close(fd);
    close_own(&secure);
    limits.head = limits.body = 100 * MS;
    struct own plain = open_own(w, limits, NULL);
    fd = dial_own(&plain);
    say(fd, "GET / HTTP/1.1\r\nHo");
    assert_true(hear(fd, "408 Request Timeout\r\n"));
    close(fd);
    fd = dial_own(&plain);
    say(fd, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell");
    assert_true(hear(fd, "408 Request Timeout\r\n"));
    close(fd);
    close_own(&plain);
}

static void note_done(void *arg) {
    atomic_fetch_add((atomic_int *)arg, 1);
}

static void test_shutdown_is_graceful(void **state) {
    struct world *w = *state;
    atomic_int done = 0;
    int watch = dial(w->plain), idle = dial(w->plain), half = dial(w->plain);
    say(watch, "GET /watch HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_true(hear(watch, "begin\n\r\n"));
    say(idle, "GET /later HTTP/1.1\r\nHost: a\r\n\r\n");
    assert_true(hear(idle, "later"));
    say(half, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell");
    usleep(50000);
    net_server_shutdown(w->plain, 20 * CLOCK_SECOND, note_done, &done);
    assert_true(hear(watch, "0\r\n\r\n")); /* the handler ended it when it was told */
    assert_false(hear(idle, "x"));
    say(half, "o");
    assert_true(hear(half, "Connection: close\r\n\r\nhello"));
    close(watch);
    close(idle);
    close(half);
    wait_until(&done, 1);
    assert_int_equal(w->shutdowns, 1);
    assert_int_equal(stats_of(w->plain).shutdowns_forced, 0);
}

static void test_shutdown_ends_in_time(void **state) {
    struct world *w = *state;
    atomic_int done = 0;
    int half = dial(w->plain);
    say(half, "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\nhell");
    usleep(50000);
    net_server_shutdown(w->plain, 100 * MS, note_done, &done);
    assert_false(hear(half, "x"));
    wait_until(&done, 1);
    assert_int_equal(stats_of(w->plain).shutdowns_forced, 1);
    close(half);
}

static void test_what_cannot_be_listened_on(void **state) {
    struct world *w = *state;
    struct err err;
    struct net_server_config config = {.address = "localhost", .request = handle, .self = w};
    struct net_loop *loop = net_loop_new(&clock_system);
    assert_null(net_server_new(&loop, 1, &config, &err));
    assert_string_equal(err.msg, "not a numeric address: 'localhost'");
    config.address = "127.0.0.1";
    config.port = net_server_port(w->plain);
    assert_null(net_server_new(&loop, 1, &config, &err));
    assert_non_null(strstr(err.msg, "Address already in use"));
    net_loop_free(loop);
}

int main(void) {
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(test_plain_sockets_are_answered),      TEST(test_curl_is_answered_over_tls),
        TEST(test_certificates_are_chosen_by_name), TEST(test_many_idle_connections),
        TEST(test_peers_that_never_read),           TEST(test_the_end_of_a_peer_is_told),
        TEST(test_connections_are_limited),         TEST(test_slow_peers_are_closed),
        TEST(test_slow_peers_get_everything),       TEST(test_shutdown_is_graceful),
        TEST(test_shutdown_ends_in_time),           TEST(test_what_cannot_be_listened_on),
    };
    return cmocka_run_group_tests_name("net/server", tests, NULL, NULL);
}
