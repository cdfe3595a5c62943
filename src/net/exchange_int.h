/* An exchange from inside: what protocols see of it. Owned by the thread of its loop. */
#ifndef NET_EXCHANGE_INT_H
#define NET_EXCHANGE_INT_H

#include "base/buf.h"
#include "net/out_int.h"
#include "net/request_int.h"

struct net__conn;

enum net__answer_state { NET__ANSWER_NONE, NET__ANSWER_BEGUN, NET__ANSWER_DONE };

struct net_exchange {
    struct net__conn *conn; /* NULL when it is closed, or through and gone from its connection */
    struct net_loop *loop;
    struct net_exchange *next, **place; /* in the connection's list */
    const struct net_exchange_events *events;
    void *arg;
    struct net__head *head; /* NULL when the request was dropped */
    struct buf body;        /* as much as was read; its maximum is the handler's limit */
    struct net__out out;    /* of HTTP/2: waits for the peer's window */
    int64_t progress;       /* of HTTP/2: when out was last taken from, or began to wait */
    int64_t body_deadline;  /* INT64_MAX when no body is waited for */
    int32_t stream;         /* of HTTP/2 */
    enum net__answer_state answer;
    bool is_released;   /* by the handler */
    bool is_closed;     /* before the answer was whole */
    bool is_head;       /* the request is HEAD: answers have no bytes */
    bool is_bodiless;   /* the answer has no bytes */
    bool body_is_asked; /* the handler reads it */
    bool body_is_whole; /* all of it came */
    bool body_is_too_large;
    bool was_full; /* `drained` is owed */
};

/* A new exchange of a connection; head is taken. The handler does not have it yet. */
struct net_exchange *net__exchange_new(struct net__conn *c, struct net__head *head);

/* Gives it to the handler. It may be answered and released when this returns. */
void net__exchange_dispatch(struct net_exchange *x);

/* Bytes of the body. False when they are too many; no more are wanted then.
 * Before the handler asks for the body it must be LIMIT_NET_WINDOW_BYTES at most. */
bool net__exchange_add_body(struct net_exchange *x, struct str bytes);

/* The body has ended, or is too large: tells the handler, if it waits for that. */
void net__exchange_tell_body(struct net_exchange *x);

/* Something of the answer was written: it will be sent, and the stream may be full now. */
void net__exchange_note_write(struct net_exchange *x);

/* Tells the handler that a full stream has room, if that is so. */
void net__exchange_check_drained(struct net_exchange *x);

/* Takes it off its connection: its answer is sent, or will be without it. Closed, with the event,
 * if the answer was not whole. Frees it if it was released. */
void net__exchange_detach(struct net_exchange *x);

#endif
