/*
 * The carrier of a connection: a socket, TLS or not, that is read and written without waiting.
 *
 * What TLS makes is gathered in a buffer of the worker and leaves by one call, as a call costs more
 * than to encrypt a record. What the socket does not take of it waits with the link, and nothing
 * more is encrypted meanwhile.
 */
#include "net/socket/link_int.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "net/socket/tls_int.h"

/* Bytes that are read of one connection in a turn, vectors of one write, bytes of one TLS record
 * and of records that leave together, and how long and how much is read of a peer that has yet to
 * see that the connection ended. */
enum {
    TURN_BYTES = 128 << 10,
    VECTORS = 64,
    RECORD = 16 << 10,
    GATHERED = 64 << 10, /* what the kernel makes one packet of, too */
    LINGER_BYTES = 256 << 10,
};
#define LINGER_TIME (CLOCK_SECOND / 2)

enum state {
    STATE_HANDSHAKE, /* of TLS */
    STATE_OPEN,
    STATE_LINGER, /* all was sent and the end announced: a close now could make the peer lose it */
};

struct link {
    struct net__conn conn;
    struct net_io io;
    struct net_timer timer;         /* of the handshake, or of lingering */
    struct net_deferred read_again; /* there are bytes in TLS that the socket does not tell of */
    SSL *ssl;                       /* NULL: plain */
    enum state state;
    struct buf rest; /* what TLS has made and the socket has not taken */
    bool is_blocked; /* the socket takes nothing for now */
    size_t lingered; /* bytes */
};

static struct net_loop *loop_of(const struct link *l) {
    return l->conn.worker->loop;
}

/* ------------------------------------------------------------------------------------- sending */

static bool send_plain(struct link *l) {
    struct net__out *out = &l->conn.out;
    struct iovec iov[VECTORS];
    struct msghdr message = {.msg_iov = iov, .msg_iovlen = net__out_peek(out, iov, VECTORS)};
    ssize_t n = sendmsg(l->io.fd, &message, MSG_NOSIGNAL);
    if (n < 0 && errno != EAGAIN && errno != EINTR)
        return false;
    l->is_blocked = n < 0 && errno == EAGAIN;
    if (n > 0)
        net__out_skip(out, (size_t)n);
    return true;
}

/* The next bytes in one piece: of a large slice as they are, of small ones a copy in `record`. */
static struct str next_record(const struct net__out *out, char *record) {
    struct iovec iov[VECTORS];
    size_t n = net__out_peek(out, iov, VECTORS), used = 0;
    if (n == 1 || iov[0].iov_len >= RECORD)
        return (struct str){iov[0].iov_base, iov[0].iov_len};
    for (size_t i = 0; i < n && used < RECORD; i++) {
        size_t part = iov[i].iov_len < RECORD - used ? iov[i].iov_len : RECORD - used;
        memcpy(record + used, iov[i].iov_base, part);
        used += part;
    }
    return (struct str){record, used};
}

/* Encrypts the next record; false when TLS has failed. */
static bool seal_record(struct link *l) {
    char buffer[RECORD];
    struct str record = next_record(&l->conn.out, buffer);
    ERR_clear_error();
    int n = SSL_write(l->ssl, record.p, record.n > RECORD ? RECORD : (int)record.n);
    if (n > 0)
        net__out_skip(&l->conn.out, (size_t)n);
    return n > 0;
}

/* Sends bytes, and returns how many; notes whether the socket takes no more. */
static size_t send_bytes(struct link *l, struct str bytes, bool *is_broken) {
    ssize_t n = send(l->io.fd, bytes.p, bytes.n, MSG_NOSIGNAL);
    *is_broken = n < 0 && errno != EAGAIN && errno != EINTR;
    l->is_blocked = n < (ssize_t)bytes.n;
    return n > 0 ? (size_t)n : 0;
}

/* Sends what is left of earlier turns. */
static bool send_rest(struct link *l) {
    bool is_broken;
    size_t sent = send_bytes(l, buf_view(&l->rest), &is_broken);
    l->rest.n -= sent;
    if (l->rest.n)
        memmove(l->rest.p, l->rest.p + sent, l->rest.n);
    else
        buf_release(&l->rest);
    l->conn.unsent = l->rest.n;
    return !is_broken;
}

/* Sends what TLS has just made, behind what is left; false when the socket is broken. */
static bool send_sealed(struct link *l) {
    struct buf *sealed = &l->conn.worker->sealed;
    bool is_broken = false;
    size_t sent = 0;
    if (sealed->n && !l->rest.n)
        sent = send_bytes(l, buf_view(sealed), &is_broken);
    buf_add(&l->rest, str_sub(buf_view(sealed), sent, sealed->n));
    l->conn.unsent = l->rest.n;
    buf_clear(sealed);
    return !is_broken;
}

/* Encrypts what leaves by one call, and sends it. */
static bool send_records(struct link *l) {
    bool is_good = true;
    while (is_good && l->conn.out.bytes && l->conn.worker->sealed.n < GATHERED)
        is_good = seal_record(l);
    return send_sealed(l) && is_good;
}

static bool send_out(struct net__conn *c) {
    struct link *l = (struct link *)c;
    if (l->is_blocked)
        return true;
    if (l->rest.n && !send_rest(l))
        return false;
    if (!l->ssl && l->state == STATE_OPEN)
        return send_plain(l);
    while (c->out.bytes && !l->is_blocked && l->state == STATE_OPEN)
        if (!send_records(l))
            return false;
    return true;
}

/* ------------------------------------------------------------------------------------- reading */

enum { READ_AGAIN = -1, READ_BROKEN = -2 }; /* beside a count; 0: the end */

static ssize_t receive_tls(struct link *l, char *to, size_t n) {
    ERR_clear_error();
    int got = SSL_read(l->ssl, to, (int)n), error = SSL_get_error(l->ssl, got);
    if (l->conn.worker->sealed.n && !send_sealed(l)) /* TLS itself has answered something */
        return READ_BROKEN;
    if (got > 0)
        return got;
    switch (error) {
    case SSL_ERROR_WANT_READ:
        return READ_AGAIN;
    case SSL_ERROR_ZERO_RETURN:
        return 0;
    default:
        return READ_BROKEN;
    }
}

static ssize_t receive_plain(const struct link *l, char *to, size_t n) {
    ssize_t got = recv(l->io.fd, to, n, 0);
    if (got >= 0)
        return got;
    return errno == EAGAIN || errno == EINTR ? READ_AGAIN : READ_BROKEN;
}

/* The peer sends no more. With requests under way it is taken to be gone, as Go does; answers that
 * are complete are still sent. */
static void handle_end(struct link *l, bool is_broken) {
    if (is_broken || l->conn.exchanges)
        net__conn_break(&l->conn);
    else
        net__conn_end(&l->conn);
}

static void read_some(void *arg) {
    struct link *l = arg;
    struct net__conn *c = &l->conn;
    char *buffer = c->worker->read_buffer;
    for (size_t total = 0; total < TURN_BYTES && net__conn_wants_bytes(c);) {
        ssize_t n = l->ssl ? receive_tls(l, buffer, NET__READ_BYTES)
                           : receive_plain(l, buffer, NET__READ_BYTES);
        if (n == READ_AGAIN)
            return;
        if (n <= 0) {
            handle_end(l, n == READ_BROKEN);
            return;
        }
        total += (size_t)n;
        net__conn_feed(c, (struct str){buffer, (size_t)n});
        if (!l->ssl && n < NET__READ_BYTES)
            return;
    }
    net__conn_wake(c);
}

/* Reads what a peer still sends that was told of the end, until it ends, too. */
static void linger(struct link *l) {
    ssize_t n = receive_plain(l, l->conn.worker->read_buffer, NET__READ_BYTES);
    if (n > 0)
        l->lingered += (size_t)n;
    if (n == 0 || n == READ_BROKEN || l->lingered > LINGER_BYTES)
        net__conn_break(&l->conn);
}

/* ----------------------------------------------------------------------------------- handshake */

static void end_handshake(struct link *l) {
    struct net__conn *c = &l->conn;
    const struct net__protocol *protocol = net__tls_protocol(l->ssl);
    l->state = STATE_OPEN;
    net_timer_stop(loop_of(l), &l->timer);
    net__conn_set_peer(c, net__peer_new(c->peer->address, true, net__tls_identity(l->ssl)));
    if (protocol)
        net__conn_speak(c, protocol);
    read_some(l);
}

static void shake_hands(struct link *l) {
    ERR_clear_error();
    int rc = SSL_do_handshake(l->ssl), error = SSL_get_error(l->ssl, rc);
    bool is_sent = send_sealed(l);
    if (rc == 1 && is_sent) {
        end_handshake(l);
        return;
    }
    if (error != SSL_ERROR_WANT_READ || !is_sent) {
        net__count(l->conn.worker, handshakes_failed, 1);
        net__conn_break(&l->conn);
    }
}

/* -------------------------------------------------------------------------------------- events */

static void on_io(void *arg, uint32_t events) {
    struct link *l = arg;
    if (events & EPOLLOUT)
        l->is_blocked = false;
    if (l->state == STATE_HANDSHAKE)
        shake_hands(l);
    else if (l->state == STATE_LINGER)
        linger(l);
    else if (net__conn_wants_bytes(&l->conn))
        read_some(l);
    else if (events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR))
        handle_end(l, events & (EPOLLHUP | EPOLLERR));
    net__conn_wake(&l->conn);
}

/* Waits for what the connection can do something with. */
static void settle(struct net__conn *c) {
    struct link *l = (struct link *)c;
    bool reads = l->rest.n < GATHERED && (l->state != STATE_OPEN || net__conn_wants_bytes(c));
    uint32_t events = (reads ? EPOLLIN : 0) | (l->is_blocked ? EPOLLOUT : 0);
    /* What has ended already would be told again and again. */
    if (l->state != STATE_LINGER && !c->is_ending)
        events |= EPOLLRDHUP;
    net_io_change(loop_of(l), &l->io, events);
    if (l->ssl && l->state == STATE_OPEN && reads && SSL_has_pending(l->ssl))
        net_loop_defer(loop_of(l), &l->read_again);
}

static void on_timer(void *arg) {
    struct link *l = arg;
    if (l->state == STATE_HANDSHAKE)
        net__count(l->conn.worker, handshakes_timed_out, 1);
    net__conn_break(&l->conn);
}

static void finish(struct net__conn *c) {
    struct link *l = (struct link *)c;
    if (l->ssl && l->state == STATE_OPEN) {
        ERR_clear_error();
        SSL_shutdown(l->ssl);
        (void)send_sealed(l);
    }
    shutdown(l->io.fd, SHUT_WR);
    buf_release(&l->rest);
    c->unsent = 0;
    l->state = STATE_LINGER;
    net_timer_start(loop_of(l), &l->timer, net_loop_now(loop_of(l)) + LINGER_TIME);
}

static void free_link(struct net__conn *c) {
    struct link *l = (struct link *)c;
    net_timer_stop(loop_of(l), &l->timer);
    net_loop_undefer(loop_of(l), &l->read_again);
    net_io_stop(loop_of(l), &l->io);
    SSL_free(l->ssl);
    close(l->io.fd);
    buf_release(&l->rest);
    free(l);
}

static const struct net__carrier carrier = {
    .send = send_out,
    .settle = settle,
    .finish = finish,
    .free = free_link,
};

/* --------------------------------------------------------------------------------------- start */

static struct net__peer *describe(const struct sockaddr_storage *peer) {
    char host[INET6_ADDRSTRLEN] = "", text[INET6_ADDRSTRLEN + 10];
    if (peer->ss_family == AF_INET6) {
        const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)peer;
        inet_ntop(AF_INET6, &in6->sin6_addr, host, sizeof host);
        snprintf(text, sizeof text, "[%s]:%u", host, ntohs(in6->sin6_port));
    } else {
        const struct sockaddr_in *in = (const struct sockaddr_in *)peer;
        inet_ntop(AF_INET, &in->sin_addr, host, sizeof host);
        snprintf(text, sizeof text, "%s:%u", host, ntohs(in->sin_port));
    }
    return net__peer_new(str_of(text), false, NULL);
}

/* Small answers leave at once, and peers that vanish without a word are found out. */
static void set_options(int fd, int64_t stall) {
    const struct {
        int level, name, value;
    } options[] = {
        {IPPROTO_TCP, TCP_NODELAY, 1},
        {SOL_SOCKET, SO_KEEPALIVE, 1},
        {IPPROTO_TCP, TCP_KEEPIDLE, 30},
        {IPPROTO_TCP, TCP_KEEPINTVL, 10},
        {IPPROTO_TCP, TCP_KEEPCNT, 3},
        {IPPROTO_TCP, TCP_USER_TIMEOUT, (int)(stall / (CLOCK_SECOND / 1000))},
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        setsockopt(fd, options[i].level, options[i].name, &options[i].value, sizeof(int));
}

void net__link_start(struct net__worker *worker, int fd, struct net_tls *tls,
                     const struct sockaddr_storage *peer) {
    struct link *l = xcalloc(1, sizeof *l);
    set_options(fd, worker->limits.stall);
    net__conn_init(&l->conn, worker, &carrier, describe(peer));
    l->io = (struct net_io){.fn = on_io, .arg = l, .fd = fd};
    l->timer = (struct net_timer){.fn = on_timer, .arg = l};
    l->read_again = (struct net_deferred){.fn = read_some, .arg = l};
    l->ssl = tls ? net__tls_accept(tls, fd, &worker->sealed) : NULL;
    l->rest = BUF_INIT(SIZE_MAX);
    l->state = tls ? STATE_HANDSHAKE : STATE_OPEN;
    if (tls)
        net_timer_start(worker->loop, &l->timer, l->conn.started + worker->limits.handshake);
    net_io_start(worker->loop, &l->io, EPOLLIN | EPOLLRDHUP);
}
