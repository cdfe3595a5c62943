/*
 * The head of a request: a struct net_request and the bytes that its views point into. HTTP/1.1
 * parses it from one block of bytes, HTTP/2 collects it header by header.
 */
#ifndef NET_REQUEST_INT_H
#define NET_REQUEST_INT_H

#include "base/buf.h"
#include "net/net.h"

/* Who is at the other end of a connection; counted by its requests. Owned by the loop's thread. */
struct net__peer {
    uint32_t refs;
    bool is_tls;
    struct str address;            /* text, in memory of the peer */
    struct net_identity *identity; /* NULL when no certificate was shown; freed with the peer */
};

/* A peer with one reference and a copy of this address; identity is taken, and may be NULL. */
struct net__peer *net__peer_new(struct str address, bool is_tls, struct net_identity *identity);

/* Gives a reference back; NULL is allowed. */
void net__peer_unref(struct net__peer *peer);

/* One block of memory: this struct, then the headers, then the bytes. Freed by net__head_free. */
struct net__head {
    struct net_request request;
    struct net__peer *peer; /* counted */
    struct net_header headers[];
};

/* A head with room for this many headers and bytes; *bytes is where the latter begin. The request
 * has the peer's address and identity, and no headers yet. */
struct net__head *net__head_new(struct net__peer *peer, size_t headers, size_t bytes, char **p);

/* Frees the head; NULL is allowed. */
void net__head_free(struct net__head *head);

/* Splits a target at its first '?' into path and query. False when it has no valid form. Of a
 * target with scheme and authority, as proxies are sent it, these are left out. */
bool net__split_target(struct str target, struct str *path, struct str *query);

/* Are names equal, letters in either case? */
bool net__name_eq(struct str a, struct str b);

/* Does a header that is a list separated by commas have this token, in either case? Of many
 * headers with the name all are looked at. */
bool net__headers_have(struct net_headers headers, struct str name, struct str token);

#endif
