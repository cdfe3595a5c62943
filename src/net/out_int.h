/*
 * A queue of bytes to be sent: slices of counted parts, which are not copied, and between them
 * small bytes that were. A connection has one for the bytes that wait for the socket; a stream of
 * HTTP/2 has one for those that wait for the peer's window. An empty queue owns no memory.
 */
#ifndef NET_OUT_INT_H
#define NET_OUT_INT_H

#include <sys/uio.h>

#include "net/net.h"

struct net__hold; /* counts the slices of a part or block */

struct net__slice {
    const char *p;
    size_t n;
    struct net__hold *hold;
};

struct net__out {
    struct net__slice *v; /* those that wait are v[first .. n) */
    size_t first, n, cap;
    size_t bytes;             /* of all that wait */
    struct net__block *block; /* where copied bytes go; NULL when there is none */
};

/* Frees everything; parts are released. The queue is empty and usable again. */
void net__out_release(struct net__out *out);

/* Appends a copy of these bytes. */
void net__out_copy(struct net__out *out, struct str bytes);

/* Appends a part; one with release is taken. Small ones are copied and released at once. */
void net__out_add(struct net__out *out, const struct net_part *part);

/* Moves the first n bytes of `from`, which has as many, to the end of `to`. */
void net__out_move(struct net__out *to, struct net__out *from, size_t n);

/* The first bytes that wait, as up to `most` vectors; returns how many. */
size_t net__out_peek(const struct net__out *out, struct iovec *iov, size_t most);

/* Forgets the first n bytes, which were sent. */
void net__out_skip(struct net__out *out, size_t n);

/* The bytes of all parts together. */
size_t net__parts_length(const struct net_part *parts, size_t n);

/* Releases parts that nobody will send. */
void net__parts_drop(const struct net_part *parts, size_t n);

#endif
