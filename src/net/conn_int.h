/*
 * A connection as a state machine: bytes in (net__conn_feed), bytes out (conn->out). The protocol
 * turns input into exchanges and answers into output; the carrier takes the output to a socket, or,
 * in a test, to a buffer. All of it belongs to the thread of the worker's loop.
 *
 * Output is gathered and leaves at the end of the turn (net__conn_wake), in one write. Nothing is
 * freed while a protocol or handler is at work: a connection that ends is only marked, and goes
 * at the end of the turn.
 */
#ifndef NET_CONN_INT_H
#define NET_CONN_INT_H

#include "base/buf.h"
#include "net/exchange_int.h"
#include "net/out_int.h"
#include "net/request_int.h"
#include "net/worker_int.h"

struct net__conn;

/* An answer's head. */
struct net__answer {
    int status;
    struct net_headers headers;
    bool is_whole; /* length is known */
    size_t length;
};

struct net__protocol {
    /* Begins to speak: makes c->session. */
    void (*start)(struct net__conn *c);
    /* Takes bytes and returns how many it took; the others are offered again, with more behind
     * them, when there are some, and at the end of each turn in which something happened. */
    size_t (*feed)(struct net__conn *c, struct str bytes);
    /* Does it want more bytes now? */
    bool (*wants_bytes)(const struct net__conn *c);
    /* Puts what can be sent now at the end of c->out; NULL when answers go there by themselves. */
    void (*produce)(struct net__conn *c);
    /* Ends what is overdue, and returns when to look again (INT64_MAX: not before it is told). */
    int64_t (*expire)(struct net__conn *c, int64_t now);
    /* The server shuts down: takes no new requests, and ends when those that it has are through. */
    void (*shutdown)(struct net__conn *c);
    /* Frees c->session. */
    void (*release)(struct net__conn *c);

    /* The body of a request may be read now. */
    void (*read_body)(struct net_exchange *x);
    /* Begins an answer; more of it; its end. Parts are taken. */
    void (*begin)(struct net_exchange *x, const struct net__answer *answer);
    void (*write)(struct net_exchange *x, const struct net_part *parts, size_t n);
    void (*end)(struct net_exchange *x);
    /* Breaks an answer off, so that the peer notices. */
    void (*abort)(struct net_exchange *x);
    /* Bytes of an answer that the peer has not taken. */
    size_t (*pending)(const struct net_exchange *x);
};

extern const struct net__protocol net__http1, net__http2, net__websocket;

struct net__carrier {
    /* Sends as much of c->out as it can now, and keeps c->unsent. False when the connection is
     * broken. */
    bool (*send)(struct net__conn *c);
    /* Called at the end of a turn in which the connection was awake: waits for what it wants. */
    void (*settle)(struct net__conn *c);
    /* All is sent and there will be no more: closes, so that the peer gets what was sent. */
    void (*finish)(struct net__conn *c);
    /* Frees the carrier and with it c, whose own parts were released. */
    void (*free)(struct net__conn *c);
};

struct net__conn {
    struct net__worker *worker;
    struct net__conn *next, **place; /* in the worker's list */
    const struct net__carrier *carrier;
    const struct net__protocol *protocol;
    void *session; /* the protocol's */
    struct net__peer *peer;
    struct buf in;       /* bytes that the protocol has not taken yet */
    struct net__out out; /* bytes for the carrier */
    size_t unsent;       /* bytes that it has taken and not sent yet */
    struct net_exchange *exchanges;
    struct net_deferred flush;
    struct net_timer timer;
    int64_t started;        /* when it was accepted */
    int64_t progress;       /* when output was last sent, or began to wait */
    uint32_t turn_requests; /* handed to the handler since the last flush */
    bool was_waiting;       /* output was left when the last turn ended */
    bool is_ending;         /* closed when all output is sent; input is not looked at any more */
    bool is_finished;       /* the carrier was told */
    bool is_broken;         /* closed at the end of the turn */
    bool is_shut_down;      /* the protocol was told */
};

/* Puts a connection to work: worker and carrier are stored, the peer is taken. Which protocol the
 * peer speaks is found out by its first bytes, unless net__conn_speak says it before. */
void net__conn_init(struct net__conn *c, struct net__worker *worker,
                    const struct net__carrier *carrier, struct net__peer *peer);

/* From now on this protocol is spoken. */
void net__conn_speak(struct net__conn *c, const struct net__protocol *protocol);

/* The peer is known better: replaces it (taken). */
void net__conn_set_peer(struct net__conn *c, struct net__peer *peer);

/* Bytes from the peer. */
void net__conn_feed(struct net__conn *c, struct str bytes);

/* Has the peer had as many requests handled in this turn as one connection may? What it has sent
 * besides waits for the next, so that others have their turn. */
bool net__conn_has_had_its_turn(const struct net__conn *c);

/* Should the carrier read now? */
bool net__conn_wants_bytes(const struct net__conn *c);

/* Has the connection flushed at the end of the turn. */
void net__conn_wake(struct net__conn *c);

/* The same now, as far as the carrier takes it. */
void net__conn_flush(struct net__conn *c);

/* Sends what is there, then closes. */
void net__conn_end(struct net__conn *c);

/* Closes at the end of the turn; nothing more is read or sent. */
void net__conn_break(struct net__conn *c);

/* Sees to it that the protocol's `expire` is called at this time at the latest. */
void net__conn_expect(struct net__conn *c, int64_t at);

/* Tells the connection that the server shuts down. */
void net__conn_shutdown(struct net__conn *c);

/* Closes and frees it now: only when neither a protocol nor a handler is at work. */
void net__conn_free(struct net__conn *c);

/* Frames of HTTP/2 or WebSockets stop to be made when this much waits for the socket, and
 * requests of HTTP/1.1 wait. */
bool net__conn_is_full(const struct net__conn *c);

#endif
