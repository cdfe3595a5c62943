/*
 * A server that says what it is told to, over real sockets, and notes what it was asked.
 */
#ifndef TEST_CLIENT_FAKE_SERVER_H
#define TEST_CLIENT_FAKE_SERVER_H

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "../data.h"

#include "base/clock.h"
#include "client/http.h"
#include "net/loop.h"

enum { FAKE_PIECE = 7 };

#define OK_HEAD "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"

/* What is said to requests that have a text in them: the first row counts. */
struct row {
    const char *asked, *answer;
    bool is_open; /* the connection stays */
};

struct fake_conn {
    struct net_io io;
    struct fake_server *fake;
    struct buf asked;
    struct fake_conn *next;
};

struct fake_server {
    struct net_loop *loop;
    struct net_io listener;
    const struct row *rows;
    struct fake_conn *conns;
    struct buf log; /* all that was asked */
    size_t count;
    size_t flood;        /* bytes that are said behind the answer */
    const char *flooded; /* to requests that have this text in them; NULL: to all */
    struct kubeconfig_access access;
    struct arena arena;
};

static inline void fake_say(int fd, const char *text) {
    for (size_t at = 0, n = strlen(text); at < n; at += FAKE_PIECE)
        if (write(fd, text + at, n - at < FAKE_PIECE ? n - at : FAKE_PIECE) < 0)
            return;
}

static inline void fake_say_much(int fd, size_t n) {
    static char piece[1 << 16];
    memset(piece, ' ', sizeof piece);
    for (ssize_t done = 1; n && done > 0; n -= (size_t)done)
        done = send(fd, piece, n < sizeof piece ? n : sizeof piece, MSG_NOSIGNAL);
}

static inline void fake_conn_close(struct fake_conn *c) {
    if (c->io.fd < 0)
        return;
    net_io_stop(c->fake->loop, &c->io);
    close(c->io.fd);
    c->io.fd = -1;
}

/* A flood would fill the socket while nobody reads, so it comes from a process of its own. */
static inline void fake_flood(struct fake_conn *c) {
    if (fork() == 0) {
        fake_say_much(c->io.fd, c->fake->flood);
        _exit(0);
    }
}

static inline void fake_reply(struct fake_conn *c) {
    const struct row *row = c->fake->rows;
    const char *flooded = c->fake->flooded;
    bool floods =
        c->fake->flood && (!flooded || str_find(buf_view(&c->asked), str_of(flooded)) != STR_NONE);
    buf_add(&c->fake->log, buf_view(&c->asked));
    c->fake->count++;
    while (row->asked && str_find(buf_view(&c->asked), str_of(row->asked)) == STR_NONE)
        row++;
    buf_clear(&c->asked);
    if (row->answer)
        fake_say(c->io.fd, row->answer);
    if (floods)
        fake_flood(c);
    if (row->answer && !row->is_open)
        fake_conn_close(c);
}

static inline void fake_on_bytes(void *arg, uint32_t events) {
    struct fake_conn *c = arg;
    char piece[4096];
    ssize_t got = read(c->io.fd, piece, sizeof piece);
    (void)events;
    if (got <= 0) {
        fake_conn_close(c);
        return;
    }
    buf_add(&c->asked, (struct str){piece, (size_t)got});
    if (str_find(buf_view(&c->asked), STR("\r\n\r\n")) != STR_NONE)
        fake_reply(c);
}

static inline void fake_on_conn(void *arg, uint32_t events) {
    struct fake_server *f = arg;
    struct fake_conn *c = calloc(1, sizeof *c);
    (void)events;
    c->io =
        (struct net_io){.fn = fake_on_bytes, .arg = c, .fd = accept(f->listener.fd, NULL, NULL)};
    c->fake = f;
    c->asked = BUF_INIT(1 << 20);
    c->next = f->conns;
    f->conns = c;
    net_io_start(f->loop, &c->io, EPOLLIN);
}

static inline void fake_begin(struct fake_server *f, const struct row *rows,
                              const struct clock *clock) {
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    *f = (struct fake_server){.loop = net_loop_new(clock), .rows = rows, .log = BUF_INIT(1 << 20)};
    f->listener =
        (struct net_io){.fn = fake_on_conn, .arg = f, .fd = socket(AF_INET, SOCK_STREAM, 0)};
    assert_int_equal(bind(f->listener.fd, (struct sockaddr *)&at, size), 0);
    assert_int_equal(listen(f->listener.fd, 16), 0);
    assert_int_equal(getsockname(f->listener.fd, (struct sockaddr *)&at, &size), 0);
    net_io_start(f->loop, &f->listener, EPOLLIN);
    f->access.server = arena_printf(&f->arena, "http://127.0.0.1:%d", ntohs(at.sin_port));
}

static inline void fake_stop_listening(struct fake_server *f) {
    if (f->listener.fd < 0)
        return;
    net_io_stop(f->loop, &f->listener);
    close(f->listener.fd);
    f->listener.fd = -1;
}

/* Closes all connections; clients must have been freed. */
static inline void fake_end(struct fake_server *f) {
    for (struct fake_conn *c; (c = f->conns);) {
        f->conns = c->next;
        fake_conn_close(c);
        buf_release(&c->asked);
        free(c);
    }
    fake_stop_listening(f);
    net_loop_free(f->loop);
    buf_release(&f->log);
    arena_release(&f->arena);
}

#endif
