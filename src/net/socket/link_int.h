/* A connection that has a socket, with TLS or without. Owned by the thread of its worker's loop. */
#ifndef NET_LINK_INT_H
#define NET_LINK_INT_H

#include <sys/socket.h>

#include "net/worker_int.h"

/* Serves a socket that was accepted, and is taken; tls is borrowed, and NULL without. The peer is
 * what accept said. */
void net__link_start(struct net__worker *worker, int fd, struct net_tls *tls,
                     const struct sockaddr_storage *peer);

#endif
