/*
 * What a request costs the server, and what an idle stream does. A client in a process of its own
 * asks over one connection, 64 requests at a time; times are processor times of the server's
 * thread. Then streams are opened that say nothing, and the server's heap is counted.
 */
#include <arpa/inet.h>
#include <malloc.h>
#include <nghttp2/nghttp2.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../test/unit/net/certs.h"
#include "base/clock.h"
#include "base/err.h"
#include "net/net.h"

enum { REQUESTS = 400000, AT_ONCE = 64, STREAMS = 5000 };

/* -------------------------------------------------------------------------------------- server */

static const struct str answer =
    STR_INIT("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":"
             "\"Success\",\"details\":{\"name\":\"a\",\"kind\":\"configmaps\","
             "\"uid\":\"b8a4b0a6-1c2a-4d5e-8f1a-0d2c3e4f5a6b\"}}\n");

static void handle(void *self, struct net_exchange *x) {
    const struct net_header headers[] = {
        {STR("Content-Type"), STR("application/json")},
        {STR("Cache-Control"), STR("no-cache, private")},
        {STR("Audit-Id"), STR("7f1d6a0e-9d5e-4a52-bb3f-4b1c7b5f2c11")},
    };
    (void)self;
    if (str_eq(net_exchange_request(x)->path, STR("/watch"))) {
        net_stream_begin(x, 200, (struct net_headers){headers, 3});
        net_exchange_drop_request(x);
        return; /* held for ever */
    }
    net_respond(x, 200, (struct net_headers){headers, 3}, &(struct net_part){.bytes = answer}, 1);
    net_exchange_release(x);
}

static void *run_loop(void *loop) {
    net_loop_run(loop);
    return NULL;
}

/* -------------------------------------------------------------------------------------- client */

struct client {
    int fd;
    SSL *ssl; /* NULL: plain */
    nghttp2_session *session;
    const char *path;
    size_t asked, answered, begun, most;
};

static void ask(struct client *c) {
#define NV(name, value) {(uint8_t *)name, (uint8_t *)value, sizeof(name) - 1, sizeof(value) - 1, 0}
    nghttp2_nv nv[] = {
        NV(":method", "GET"),
        NV(":path", "/none"),
        NV(":scheme", "https"),
        NV(":authority", "127.0.0.1:6443"),
        NV("user-agent", "kubectl/v1.36.4 (linux/amd64) kubernetes/0c4a1b2"),
        NV("accept", "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"),
        NV("accept-encoding", "gzip"),
    };
    nv[1].value = (uint8_t *)(uintptr_t)c->path;
    nv[1].valuelen = strlen(c->path);
    if (nghttp2_submit_request(c->session, NULL, nv, sizeof nv / sizeof *nv, NULL, NULL) > 0)
        c->asked++;
}

static int on_close(nghttp2_session *session, int32_t id, uint32_t error, void *user) {
    struct client *c = user;
    (void)session;
    (void)id;
    (void)error;
    c->answered++;
    if (c->asked < c->most)
        ask(c);
    return 0;
}

static int on_frame(nghttp2_session *session, const nghttp2_frame *frame, void *user) {
    struct client *c = user;
    (void)session;
    c->begun += frame->hd.type == NGHTTP2_HEADERS;
    return 0;
}

static ssize_t client_send(struct client *c, const uint8_t *p, size_t n) {
    return c->ssl ? SSL_write(c->ssl, p, (int)n) : send(c->fd, p, n, MSG_NOSIGNAL);
}

/* Gathers what nghttp2 wants to send, so that the client writes seldom. */
static void flush(struct client *c) {
    static uint8_t out[256 << 10];
    const uint8_t *p;
    size_t used = 0;
    for (ssize_t n; used < sizeof out / 2 && (n = nghttp2_session_mem_send(c->session, &p)) > 0;) {
        memcpy(out + used, p, (size_t)n);
        used += (size_t)n;
    }
    for (size_t done = 0; done < used;) {
        ssize_t n = client_send(c, out + done, used - done);
        if (n <= 0)
            exit(1);
        done += (size_t)n;
    }
}

static void connect_client(struct client *c, uint16_t port, bool with_tls) {
    struct sockaddr_in to = {.sin_family = AF_INET, .sin_port = htons(port)};
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    c->fd = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(c->fd, (struct sockaddr *)&to, sizeof to) < 0)
        exit(1);
    if (with_tls) {
        SSL_CTX *context = SSL_CTX_new(TLS_client_method());
        SSL_CTX_set_alpn_protos(context, (const unsigned char *)"\x02h2", 3);
        c->ssl = SSL_new(context);
        SSL_set_fd(c->ssl, c->fd);
        if (SSL_connect(c->ssl) != 1)
            exit(1);
    }
}

static void start_session(struct client *c) {
    nghttp2_session_callbacks *callbacks;
    nghttp2_option *options;
    nghttp2_session_callbacks_new(&callbacks);
    nghttp2_session_callbacks_set_on_stream_close_callback(callbacks, on_close);
    nghttp2_session_callbacks_set_on_frame_recv_callback(callbacks, on_frame);
    nghttp2_option_new(&options);
    nghttp2_option_set_peer_max_concurrent_streams(options, 100000);
    nghttp2_session_client_new2(&c->session, callbacks, c, options);
    nghttp2_session_callbacks_del(callbacks);
    nghttp2_option_del(options);
    nghttp2_submit_settings(c->session, NGHTTP2_FLAG_NONE, NULL, 0);
}

/* Asks `most` times, `at_once` at a time, until `all` are answered or have begun. */
static void run_client(struct client *c, size_t at_once, bool waits_for_end) {
    static uint8_t in[256 << 10];
    for (size_t i = 0; i < at_once; i++)
        ask(c);
    while ((waits_for_end ? c->answered : c->begun) < c->most) {
        flush(c);
        ssize_t n = c->ssl ? SSL_read(c->ssl, in, sizeof in) : recv(c->fd, in, sizeof in, 0);
        if (n <= 0 || nghttp2_session_mem_recv(c->session, in, (size_t)n) < 0)
            exit(1);
    }
}

/* ---------------------------------------------------------------------------------------- bench */

struct bench {
    struct net_loop *loop;
    struct net_server *server;
    pthread_t thread;
};

static double cpu_seconds(pthread_t thread) {
    clockid_t clock;
    struct timespec ts;
    pthread_getcpuclockid(thread, &clock);
    clock_gettime(clock, &ts);
    return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* A client in a process of its own; with a pipe on which it waits to be told to end. */
static pid_t spawn_client(const struct bench *b, bool with_tls, const char *path, size_t most,
                          int done, int go) {
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    struct client c = {.path = path, .most = most};
    char byte = 0;
    connect_client(&c, net_server_port(b->server), with_tls);
    start_session(&c);
    bool is_watch = strcmp(path, "/watch") == 0;
    run_client(&c, is_watch ? most : AT_ONCE, !is_watch);
    if (write(done, &byte, 1) != 1 || (is_watch && read(go, &byte, 1) < 0))
        _exit(1);
    _exit(0);
}

static void measure_requests(const struct bench *b, bool with_tls) {
    int done[2], go[2];
    char byte;
    if (pipe(done) < 0 || pipe(go) < 0)
        exit(1);
    double before = cpu_seconds(b->thread);
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    pid_t pid = spawn_client(b, with_tls, "/none", REQUESTS, done[1], go[0]);
    close(done[1]);
    if (read(done[0], &byte, 1) != 1)
        exit(1);
    clock_gettime(CLOCK_MONOTONIC, &end);
    double cpu = cpu_seconds(b->thread) - before;
    double wall = (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
    waitpid(pid, NULL, 0);
    printf(
        "| requests, HTTP/2 %s, one connection, %d at a time | %.2f µs | %.0f /s a core | %.0f /s "
        "measured |\n",
        with_tls ? "over TLS" : "plain", AT_ONCE, cpu / REQUESTS * 1e6, REQUESTS / cpu,
        REQUESTS / wall);
    close(done[0]);
    close(go[0]);
    close(go[1]);
}

static void measure_streams(const struct bench *b, bool with_tls) {
    int done[2], go[2];
    char byte = 0;
    if (pipe(done) < 0 || pipe(go) < 0)
        exit(1);
    size_t before = mallinfo2().uordblks;
    pid_t pid = spawn_client(b, with_tls, "/watch", STREAMS, done[1], go[0]);
    close(done[1]);
    if (read(done[0], &byte, 1) != 1)
        exit(1);
    size_t after = mallinfo2().uordblks;
    printf("| idle streams, HTTP/2 %s, %d on one connection | %.0f bytes each | | |\n",
           with_tls ? "over TLS" : "plain", STREAMS, (double)(after - before) / STREAMS);
    if (write(go[1], &byte, 1) != 1)
        exit(1);
    waitpid(pid, NULL, 0);
    close(done[0]);
    close(go[0]);
    close(go[1]);
}

static void run(bool with_tls) {
    struct bench b = {.loop = net_loop_new(&clock_system)};
    struct err err;
    struct cert cert = cert_make(NULL, "CN=server", NULL, "IP:127.0.0.1", 3600);
    struct net_certificate certificate = {cert.cert_pem, cert.key_pem};
    struct net_tls_config tls_config = {.certificates = &certificate, .certificate_count = 1};
    struct net_tls *tls = with_tls ? net_tls_new(&tls_config, &err) : NULL;
    struct net_server_config config = {
        .address = "127.0.0.1", .tls = tls, .request = handle, .limits = net_limits_default};
    config.limits.streams = STREAMS;
    b.server = net_server_new(&b.loop, 1, &config, &err);
    if (!b.server) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    pthread_create(&b.thread, NULL, run_loop, b.loop);
    measure_requests(&b, with_tls);
    measure_streams(&b, with_tls);
    net_loop_stop(b.loop);
    pthread_join(b.thread, NULL);
    net_server_free(b.server);
    net_tls_free(tls);
    net_loop_free(b.loop);
    cert_release(&cert);
}

int main(void) {
    printf("| what | costs the server | | |\n|---|---|---|---|\n");
    run(false);
    run(true);
    return 0;
}
