/* Connections: bytes in, bytes out, answers cut out of them. Nothing here waits but link_run. */
#include "conn.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/alloc.h"

enum { MOST = 64 << 20, READ = 64 << 10, EVENTS = 64 };

/* ---- links ---- */

static BIO *open_text(struct str text) {
    return BIO_new_mem_buf(text.p, (int)text.n);
}

void link_init(struct link *l, struct str certificate, struct str key) {
    BIO *certificate_text = open_text(certificate), *key_text = open_text(key);
    X509 *x = PEM_read_bio_X509(certificate_text, NULL, NULL, NULL);
    EVP_PKEY *k = PEM_read_bio_PrivateKey(key_text, NULL, NULL, NULL);
    *l = (struct link){.tls = SSL_CTX_new(TLS_client_method()),
                       .epoll = epoll_create1(EPOLL_CLOEXEC)};
    if (!x || !k || SSL_CTX_use_certificate(l->tls, x) != 1 ||
        SSL_CTX_use_PrivateKey(l->tls, k) != 1)
        BUG("the client's certificate");
    SSL_CTX_set_mode(l->tls, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    X509_free(x);
    EVP_PKEY_free(k);
    BIO_free(certificate_text);
    BIO_free(key_text);
}

void link_release(struct link *l) {
    if (!l->tls)
        return;
    SSL_CTX_free(l->tls);
    close(l->epoll);
    *l = (struct link){0};
}

/* ---- answers ---- */

static void drop_front(struct buf *b, size_t n) {
    memmove(b->p, b->p + n, b->n - n);
    b->n -= n;
}

/* The head of an answer, if all of it is there. */
static bool read_head(struct conn *c) {
    struct str in = buf_view(&c->in);
    size_t end = str_find(in, STR("\r\n\r\n"));
    if (end == STR_NONE)
        return false;
    AUTO(buf_release) struct buf head = BUF_INIT(MOST);
    buf_add(&head, str_sub(in, 0, end));
    buf_add_char(&head, '\0');
    const char *length = strcasestr(head.p, "\r\ncontent-length:");
    c->code = atoi(head.p + sizeof "HTTP/1.1");
    c->chunked = strcasestr(head.p, "\r\ntransfer-encoding: chunked") != NULL;
    c->length = length ? strtoul(length + sizeof "\r\ncontent-length:", NULL, 10) : 0;
    drop_front(&c->in, end + 4);
    return true;
}

/* Moves what is there of a chunked body; true behind its last chunk. */
static bool read_chunks(struct conn *c) {
    size_t at = 0;
    bool last = false;
    while (!last) {
        struct str rest = str_sub(buf_view(&c->in), at, c->in.n);
        size_t line = str_find(rest, STR("\r\n"));
        if (line == STR_NONE)
            break;
        size_t n = strtoul(rest.p, NULL, 16);
        if (rest.n < line + 2 + n + 2)
            break;
        buf_add(&c->body, str_sub(rest, line + 2, line + 2 + n));
        at += line + 2 + n + 2;
        last = n == 0;
    }
    drop_front(&c->in, at);
    return last;
}

static bool read_body(struct conn *c) {
    if (c->chunked)
        return read_chunks(c);
    if (c->in.n < c->length)
        return false;
    buf_add(&c->body, str_sub(buf_view(&c->in), 0, c->length));
    drop_front(&c->in, c->length);
    return true;
}

static void read_lines(struct conn *c) {
    size_t at = 0;
    for (;;) {
        struct str rest = str_sub(buf_view(&c->body), at, c->body.n);
        size_t end = str_find_char(rest, '\n');
        if (end == STR_NONE)
            break;
        c->line(c->ctx, str_sub(rest, 0, end));
        at += end + 1;
    }
    drop_front(&c->body, at);
}

static void tell(struct conn *c, int code) {
    const struct answer answer = {code, buf_view(&c->body)};
    c->asks = false;
    c->code = 0;
    c->answered(c->ctx, &answer);
    buf_clear(&c->body);
}

static void take_answers(struct conn *c) {
    while (c->asks && (c->code || read_head(c))) {
        bool whole = read_body(c);
        if (c->line && c->code == 200)
            read_lines(c);
        if (!whole)
            return;
        tell(c, c->code);
    }
}

/* ---- bytes ---- */

/* False when the connection is over. */
static bool may_go_on(struct conn *c, int rc) {
    int why = SSL_get_error(c->ssl, rc);
    ERR_clear_error();
    return why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE;
}

static bool send_some(struct conn *c) {
    while (c->sent < c->out.n) {
        int n = SSL_write(c->ssl, c->out.p + c->sent, (int)(c->out.n - c->sent));
        if (n <= 0)
            return may_go_on(c, n);
        c->sent += (size_t)n;
    }
    return true;
}

static bool read_some(struct conn *c) {
    for (;;) {
        char *room = buf_room(&c->in, READ);
        int n = room ? SSL_read(c->ssl, room, READ) : 0;
        if (n <= 0)
            return may_go_on(c, n);
        c->in.n += (size_t)n;
        take_answers(c);
        if (!c->ssl)
            return true;
    }
}

void conn_close(struct conn *c) {
    if (!c->ssl)
        return;
    SSL_free(c->ssl);
    close(c->fd);
    buf_release(&c->out);
    buf_release(&c->in);
    buf_release(&c->body);
    c->ssl = NULL;
    c->asks = false;
}

static void end(struct conn *c) {
    bool asked = c->asks;
    buf_clear(&c->body);
    if (asked)
        tell(c, 0);
    conn_close(c);
}

static void pump(struct conn *c) {
    if (!c->ssl)
        return;
    bool lives = send_some(c);
    if (!read_some(c) || !lives)
        end(c);
    else if (c->ssl && c->sent < c->out.n && !send_some(c)) /* an answer asked the next one */
        end(c);
}

void conn_drain(struct conn *c) {
    if (c->ssl)
        read_some(c);
    if (c->ssl)
        end(c);
}

/* ---- connections ---- */

void conn_open(struct conn *c, struct link *l) {
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)l->port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET | EPOLLRDHUP, .data.ptr = c};
    int on = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    c->out = c->in = c->body = BUF_INIT(MOST);
    c->sent = 0;
    c->asks = false;
    c->code = 0;
    setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    (void)connect(c->fd, (struct sockaddr *)&to, sizeof to); /* reading tells how it went */
    c->ssl = SSL_new(l->tls);
    SSL_set_fd(c->ssl, c->fd);
    SSL_set_connect_state(c->ssl);
    epoll_ctl(l->epoll, EPOLL_CTL_ADD, c->fd, &event);
}

void conn_ask(struct conn *c, const char *method, struct str path, const char *type,
              struct str body) {
    if (c->sent == c->out.n) {
        buf_clear(&c->out);
        c->sent = 0;
    }
    buf_addf(&c->out, "%s %.*s HTTP/1.1\r\nHost: localhost\r\nAccept: application/json\r\n", method,
             STR_ARG(path));
    if (type)
        buf_addf(&c->out, "Content-Type: %s\r\nContent-Length: %zu\r\n", type, body.n);
    buf_add(&c->out, STR("\r\n"));
    buf_add(&c->out, body);
    c->asks = true;
    if (c->ssl && !send_some(c))
        return; /* the end is seen when it is read */
}

void link_run(struct link *l, int timeout_ms) {
    struct epoll_event events[EVENTS];
    int n = epoll_wait(l->epoll, events, EVENTS, timeout_ms);
    for (int i = 0; i < n; i++)
        pump(events[i].data.ptr);
}
