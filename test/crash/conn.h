/* HTTP/1.1 over TLS to a server that may die at any byte: many connections of one thread. */
#ifndef CRASH_CONN_H
#define CRASH_CONN_H

#include <openssl/ssl.h>

#include "base/buf.h"

/* Where connections go, and as whom. */
struct link {
    SSL_CTX *tls;
    int epoll;
    int port; /* of 127.0.0.1 */
};

/* An answer, or with `code` 0 the end of a connection whose request has none. The body is borrowed.
 */
struct answer {
    int code;
    struct str body;
};

typedef void conn_answer_fn(void *ctx, const struct answer *answer);

/* A line of an answer that is a stream. */
typedef void conn_line_fn(void *ctx, struct str line);

struct conn {
    SSL *ssl; /* NULL: there is no connection */
    int fd;
    struct buf out, in, body;
    size_t sent; /* of out */
    bool asks;   /* a request has no answer yet */
    int code;    /* of the answer whose head was read; 0: none */
    bool chunked;
    size_t length; /* of a body that is not chunked */
    conn_answer_fn *answered;
    conn_line_fn *line; /* NULL: answers are whole */
    void *ctx;
};

/* Makes a link with the client's certificate and key, as PEM. It frees with link_release. */
void link_init(struct link *l, struct str certificate, struct str key);
void link_release(struct link *l);

/* Lets all connections of the link go on, or waits for that up to so many milliseconds. */
void link_run(struct link *l, int timeout_ms);

/* Opens a connection, whose callbacks and ctx are set; requests wait until it is there. */
void conn_open(struct conn *c, struct link *l);

/* Sends a request; the one before it must be answered. Without a body `type` is NULL. */
void conn_ask(struct conn *c, const char *method, struct str path, const char *type,
              struct str body);

/* Reads all that the server has sent, after its end: answers that came are answers. The connection
 * is closed, and a request that has no answer is told so. */
void conn_drain(struct conn *c);

/* Closes without a word. */
void conn_close(struct conn *c);

#endif
