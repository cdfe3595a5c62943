/*
 * HTTP servers: listening, TLS, HTTP/1.1, HTTP/2 and WebSockets behind one interface, the exchange:
 * a request with its answer. Whoever handles requests does not see which protocol carries them.
 *
 * An exchange belongs to the thread of its loop: every function here that takes one is called
 * there, and so is every callback. Who computes elsewhere may read the request meanwhile, and posts
 * the answer back (net_exchange_loop, net_loop_post).
 *
 * An exchange lives until the handler releases it, and not shorter: when the peer has gone it is
 * closed, the request can still be read, and answers are taken and dropped.
 */
#ifndef NET_NET_H
#define NET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/str.h"
#include "net/loop.h"

struct buf;
struct err;
struct net_exchange;
struct net_gzip;
struct net_server;
struct net_tls;

/* ------------------------------------------------------------------------------------ requests */

enum net_protocol { NET_HTTP1, NET_HTTP2 };

struct net_header {
    struct str name, value; /* names compare without case */
};

struct net_headers {
    const struct net_header *v;
    size_t n;
};

/* The value of the first header of this name; the absent view when there is none. */
struct str net_headers_find(struct net_headers headers, struct str name);

/* What the certificate says that a client has shown, and whether to believe it. The peer proved
 * that it has the certificate's key in any case. */
struct net_identity {
    bool is_verified;       /* a chain leads to the client CA, for the use of clients, at the */
                            /* time of the handshake */
    struct str problem;     /* why it is not verified, in the words of OpenSSL */
    struct str common_name; /* the last CN of the subject; empty when there is none */
    const struct str *organizations; /* every O of the subject, in order */
    size_t organization_count;
    uint8_t sha256[32]; /* of the certificate in DER */
    int64_t not_after;  /* nanoseconds since the Unix epoch */
};

struct net_request {
    struct str method; /* as it was sent: "GET" */
    struct str path;  /* what stands before the first '?', not decoded; begins with '/' or is '*' */
    struct str query; /* what stands behind it, not decoded; absent without '?' */
    struct str authority;       /* Host or :authority; may be empty */
    struct net_headers headers; /* without pseudo-headers */
    enum net_protocol protocol;
    bool is_tls;
    bool has_body;                       /* more than the head is announced */
    struct str peer;                     /* "127.0.0.1:40000", "[::1]:40000" */
    const struct net_identity *identity; /* NULL when no certificate was shown */
};

/* The request. It and its views live until the exchange is released, or the request dropped. */
const struct net_request *net_exchange_request(const struct net_exchange *x);

/* Frees the request and its body early. For streams that stay open for long and have read it. */
void net_exchange_drop_request(struct net_exchange *x);

enum net_body {
    NET_BODY_LATER, /* not all is there: the event tells */
    NET_BODY_WHOLE,
    NET_BODY_TOO_LARGE /* longer than the limit; the rest is not read, and 413 may be answered now
                        */
};

/* Reads the body, of at most limit bytes; called once, and never by a handler that does not want
 * it. A peer that waits for "100 Continue" is told to go on, unless it announced too much. */
enum net_body net_exchange_read_body(struct net_exchange *x, size_t limit);

/* The body, once it is whole. */
struct str net_exchange_body(const struct net_exchange *x);

/* What may happen to an exchange; slots may be NULL. None is called after the release. */
struct net_exchange_events {
    /* The body that was not all there is whole now, or too large. */
    void (*body)(struct net_exchange *x, void *arg, enum net_body outcome);
    /* A stream that was full can be written to again. */
    void (*drained)(struct net_exchange *x, void *arg);
    /* The exchange was closed before its answer was handed over as a whole: the peer has gone, sent
     * nonsense, or was too slow. Called once; nothing is called after it. */
    void (*closed)(struct net_exchange *x, void *arg);
    /* The server shuts down: streams should end soon. */
    void (*shutdown)(struct net_exchange *x, void *arg);
};

/* Says who is told of events; events are borrowed for as long as the exchange lives. */
void net_exchange_listen(struct net_exchange *x, const struct net_exchange_events *events,
                         void *arg);

/* The loop that the exchange belongs to. Any thread. */
struct net_loop *net_exchange_loop(const struct net_exchange *x);

/* Is it closed, so that nobody would see an answer? */
bool net_exchange_is_closed(const struct net_exchange *x);

/* Gives the exchange back, exactly once; x is not valid any more. What was handed over is still
 * sent; an answer that was not finished is broken off so that the peer notices. */
void net_exchange_release(struct net_exchange *x);

/* ------------------------------------------------------------------------------------- answers */

/* Counted bytes of an answer: release(owner) is called once, when they have been sent or dropped.
 * Without release the bytes are borrowed for the call alone, and are copied. */
struct net_part {
    struct str bytes;
    void (*release)(void *owner);
    void *owner;
};

/*
 * Answers as a whole. Headers are copied; Content-Length, Date and, in HTTP/1.1, Connection are
 * added. A header "Connection: close" ends the connection after the answer, in HTTP/2 by GOAWAY
 * when the streams that are open have ended. Of an answer to HEAD the parts are dropped. CR, LF and
 * NUL in values become spaces; names must be valid.
 */
void net_respond(struct net_exchange *x, int status, struct net_headers headers,
                 const struct net_part *parts, size_t n);

/* Begins an answer that is written bit by bit; what is written in a turn leaves at its end. */
void net_stream_begin(struct net_exchange *x, int status, struct net_headers headers);

/* Writes parts; those with release are taken. A stream that is full takes them nevertheless, so
 * who asks net_stream_is_full before each write has at most one of them too much under way. */
void net_stream_write(struct net_exchange *x, const struct net_part *parts, size_t n);

/* Has the peer not taken LIMIT_NET_STREAM_BYTES yet? The event `drained` tells when it did. */
bool net_stream_is_full(const struct net_exchange *x);

/* Ends the answer. */
void net_stream_end(struct net_exchange *x);

/* Bytes in gzip, at the level of kube-apiserver, for answers that are written bit by bit. free
 * accepts NULL. */
struct net_gzip *net_gzip_new(void);
void net_gzip_free(struct net_gzip *g);

/* Takes bytes, and appends to *out what has come of all of them so far; all of it when they are the
 * last. */
void net_gzip_add(struct net_gzip *g, struct str bytes, bool is_last, struct buf *out);

/* Does the request accept gzip? */
bool net_accepts_gzip(const struct net_request *request);

/* ---------------------------------------------------------------------------------- WebSockets */

/* Does the request ask for a WebSocket, correctly? One with a body does not: what follows its head
 * would be frames. */
bool net_websocket_is_asked(const struct net_request *request);

/*
 * Answers with 101 a request that asks for a WebSocket. From then on the exchange is a stream:
 * net_stream_write sends its parts as one text message, net_stream_end closes with code 1000.
 * Pings are answered, messages of the peer are read and ignored. subprotocol is one of those that
 * were offered, or empty.
 */
void net_websocket_accept(struct net_exchange *x, struct str subprotocol);

/* Sends the parts as one binary message. */
void net_websocket_write_binary(struct net_exchange *x, const struct net_part *parts, size_t n);

/* ------------------------------------------------------------------------------------- servers */

struct net_certificate {
    struct str chain_pem, key_pem; /* the certificate first, then those that issued it */
};

struct net_tls_config {
    const struct net_certificate *certificates; /* the first is shown to who names none of them */
    size_t certificate_count;
    struct str client_ca_pem; /* whom to believe about clients; empty: nobody, and none are asked */
};

/* TLS 1.2 and 1.3 with ALPN for HTTP/2 and HTTP/1.1. Certificates of clients are asked for and
 * never refused: net_identity says whether to believe them. */
struct net_tls *net_tls_new(const struct net_tls_config *config, struct err *err);
void net_tls_free(struct net_tls *tls); /* NULL is allowed; connections keep what they need */

/* Limits of one server: LIMIT_NET_* unless a server or a test wants others. Times in nanoseconds.
 */
struct net_limits {
    size_t connections, loop_connections, streams, headers, head_bytes;
    int64_t handshake, head, body, idle, stall;
};
extern const struct net_limits net_limits_default;

/* What servers count; each is a counter since the start but for those that say "now". */
#define NET_STATS(X)                                                          \
    X(connections_now)     /* open */                                         \
    X(exchanges_now)       /* requests without a whole answer */              \
    X(connections)         /* accepted */                                     \
    X(connections_refused) /* beyond the limit of connections */              \
    X(requests_http1)                                                         \
    X(requests_http2)                                                         \
    X(websockets)                                                             \
    X(bytes_in) /* of HTTP: after TLS */                                      \
    X(bytes_out)                                                              \
    X(handshakes_failed)                                                      \
    X(handshakes_timed_out)                                                   \
    X(heads_timed_out)                                                        \
    X(bodies_timed_out)                                                       \
    X(idle_timed_out)                                                         \
    X(writes_stalled)                                                         \
    X(heads_too_large) /* in bytes or count */                                \
    X(bodies_too_large)                                                       \
    X(malformed)        /* answered by 400 or a protocol error */             \
    X(streams_refused)  /* beyond the limit of streams */                     \
    X(floods)           /* connections ended for resets, pings or settings */ \
    X(streams_full)     /* writes that found a stream full */                 \
    X(shutdowns_forced) /* connections that did not end in time */

struct net_stats {
#define X(name) uint64_t name;
    NET_STATS(X)
#undef X
};

struct net_server_config {
    const char *address; /* numeric: "127.0.0.1", "::1", "0.0.0.0" */
    uint16_t port;       /* 0: any that is free */
    struct net_tls *tls; /* borrowed for the call; NULL: plain TCP, HTTP/2 by prior knowledge */
    struct net_limits limits; /* all zeroes: the default */
    /* The head of a request is there; called on the thread of any of the loops. From now on the
     * handler holds x until it releases it. */
    void (*request)(void *self, struct net_exchange *x);
    void *self; /* borrowed for as long as the server lives */
};

/* Listens, and serves connections on these loops in turn, which do not run yet or call this from
 * the first of them. The loops must outlive the server. */
struct net_server *net_server_new(struct net_loop *const *loops, size_t n,
                                  const struct net_server_config *config, struct err *err);

/* The port that it listens on. */
uint16_t net_server_port(const struct net_server *server);

/* What was counted until about now. Any thread. */
void net_server_stats(const struct net_server *server, struct net_stats *out);

/*
 * Stops to accept, tells peers and exchanges, lets exchanges under way finish for at most `grace`
 * nanoseconds, then closes; done(arg) is called on the first loop. All loops must run. Any thread.
 */
void net_server_shutdown(struct net_server *server, int64_t grace, net_fn *done, void *arg);

/* Frees the server and closes what is open: after done, or while no loop runs. NULL is allowed. */
void net_server_free(struct net_server *server);

#endif
