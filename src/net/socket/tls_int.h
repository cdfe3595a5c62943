/* TLS of a server from inside: what a connection needs of it. */
#ifndef NET_TLS_INT_H
#define NET_TLS_INT_H

#include <openssl/ssl.h>

#include "net/conn_int.h"

/* Another reference, for a server; given back by net_tls_free. NULL is allowed. Any thread. */
struct net_tls *net__tls_ref(struct net_tls *tls);

/* A new server side that reads from this socket, and appends to a buffer, which is stored, what is
 * to be sent. It takes any amount, so that SSL_write and its kin never wait. Free with SSL_free. */
SSL *net__tls_accept(struct net_tls *tls, int fd, struct buf *sealed);

/* What the peer of a connection whose handshake is through has shown; NULL when that is nothing.
 * Freed with free(). */
struct net_identity *net__tls_identity(SSL *ssl);

/* The protocol that ALPN has chosen; NULL when the peer did not ask. */
const struct net__protocol *net__tls_protocol(SSL *ssl);

#endif
