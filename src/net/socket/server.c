/*
 * Servers: the first loop accepts connections and hands them to all loops in turn, so that a few
 * heavy connections, as those of controllers are, spread evenly. A loop keeps what it was handed.
 */
#include <arpa/inet.h>
#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/err.h"
#include "net/conn_int.h"
#include "net/socket/link_int.h"
#include "net/socket/tls_int.h"

/* Connections that are accepted in one turn, and the time to wait for descriptors to be freed. */
enum { TURN_ACCEPTS = 64, BACKLOG = 4096 };
#define ACCEPT_PAUSE (CLOCK_SECOND / 10)

/* A loop's place in a server. Owned by the loop's thread. */
struct seat {
    struct net_server *server;
    struct net__worker *worker;
    struct net_timer grace; /* when a shutdown is over */
    bool is_empty;          /* of a shutdown: the first loop was told that no connection is left */
};

struct net_server {
    struct net_tls *tls;
    struct seat *seats;
    size_t n;
    uint16_t port;
    atomic_size_t open; /* connections on all loops, and under way to them */

    /* Owned by the thread of the first loop. */
    struct net_io listener;
    struct net_timer pause;
    size_t next;       /* the seat that gets the next connection */
    size_t still_open; /* of a shutdown: seats that have connections */
    struct {
        int64_t grace;
        net_fn *done;
        void *arg;
    } shutdown;
};

static struct net_loop *first_loop(const struct net_server *server) {
    return server->seats[0].worker->loop;
}

/* ----------------------------------------------------------------------------------- accepting */

/* A connection on its way to its loop. */
struct handover {
    struct seat *seat;
    int fd;
    struct sockaddr_storage peer;
};

static void refuse(struct net_server *server, struct net__worker *worker, int fd) {
    net__count(worker, connections_refused, 1);
    atomic_fetch_sub(&server->open, 1);
    close(fd);
}

static void receive(void *arg) {
    struct handover *handover = arg;
    struct seat *seat = handover->seat;
    struct net__worker *worker = seat->worker;
    if (worker->is_shutting_down ||
        worker->counters.connections_now >= worker->limits.loop_connections)
        refuse(seat->server, worker, handover->fd);
    else
        net__link_start(worker, handover->fd, seat->server->tls, &handover->peer);
    free(handover);
}

static void hand_over(struct net_server *server, int fd, const struct sockaddr_storage *peer) {
    if (atomic_fetch_add(&server->open, 1) >= server->seats[0].worker->limits.connections) {
        refuse(server, server->seats[0].worker, fd);
        return;
    }
    struct handover *handover = xmalloc(sizeof *handover);
    *handover = (struct handover){&server->seats[server->next], fd, *peer};
    server->next = (server->next + 1) % server->n;
    if (handover->seat == &server->seats[0])
        receive(handover);
    else
        net_loop_post(handover->seat->worker->loop, receive, handover);
}

static void accept_some(void *arg, uint32_t events) {
    struct net_server *server = arg;
    (void)events;
    for (int i = 0; i < TURN_ACCEPTS; i++) {
        struct sockaddr_storage peer = {0};
        socklen_t length = sizeof peer;
        int fd = accept4(server->listener.fd, (struct sockaddr *)&peer, &length,
                         SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            hand_over(server, fd, &peer);
        } else if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            net_io_change(first_loop(server), &server->listener, 0);
            net_timer_start(first_loop(server), &server->pause,
                            net_loop_now(first_loop(server)) + ACCEPT_PAUSE);
            return;
        } else if (errno == EAGAIN) {
            return;
        } /* else the peer has gone already: the next one */
    }
}

static void accept_again(void *arg) {
    struct net_server *server = arg;
    net_io_change(first_loop(server), &server->listener, EPOLLIN);
}

static int parse_address(const char *text, uint16_t port, struct sockaddr_storage *out,
                         socklen_t *length) {
    struct sockaddr_in in = {.sin_family = AF_INET, .sin_port = htons(port)};
    struct sockaddr_in6 in6 = {.sin6_family = AF_INET6, .sin6_port = htons(port)};
    *out = (struct sockaddr_storage){0};
    if (inet_pton(AF_INET, text, &in.sin_addr) == 1) {
        memcpy(out, &in, *length = sizeof in);
        return 0;
    }
    if (inet_pton(AF_INET6, text, &in6.sin6_addr) == 1) {
        memcpy(out, &in6, *length = sizeof in6);
        return 0;
    }
    return -1;
}

static int open_listener(struct net_server *server, const struct net_server_config *config,
                         struct err *err) {
    struct sockaddr_storage address;
    socklen_t length;
    int one = 1;
    if (parse_address(config->address, config->port, &address, &length) < 0)
        return err_set(err, ERR_INVALID, "not a numeric address: '%s'", config->address);
    int fd = socket(address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    server->listener.fd = fd;
    if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) < 0 ||
        bind(fd, (struct sockaddr *)&address, length) < 0 || listen(fd, BACKLOG) < 0 ||
        getsockname(fd, (struct sockaddr *)&address, &length) < 0)
        return err_set(err, ERR_IO, "listen on '%s' port %u: %s", config->address, config->port,
                       strerror(errno));
    server->port =
        ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                            : ((struct sockaddr_in *)&address)->sin_port);
    return 0;
}

static void close_listener(struct net_server *server) {
    if (server->listener.fd < 0)
        return;
    net_timer_stop(first_loop(server), &server->pause);
    if (server->listener.fn)
        net_io_stop(first_loop(server), &server->listener);
    close(server->listener.fd);
    server->listener.fd = -1;
}

/* ------------------------------------------------------------------------------------ shutdown */

static void note_empty_seat(void *arg) {
    struct net_server *server = arg;
    if (--server->still_open == 0 && server->shutdown.done)
        server->shutdown.done(server->shutdown.arg);
}

static void check_empty(struct seat *seat) {
    struct net__worker *worker = seat->worker;
    if (!worker->is_shutting_down || worker->conns || seat->is_empty)
        return;
    seat->is_empty = true;
    net_timer_stop(worker->loop, &seat->grace);
    net_loop_post(first_loop(seat->server), note_empty_seat, seat->server);
}

static void note_closed(void *arg) {
    struct seat *seat = arg;
    atomic_fetch_sub(&seat->server->open, 1);
    check_empty(seat);
}

static void end_grace(void *arg) {
    struct seat *seat = arg;
    for (struct net__conn *c = seat->worker->conns; c; c = c->next) {
        net__count(seat->worker, shutdowns_forced, 1);
        net__conn_break(c);
    }
}

static void shut_down_seat(void *arg) {
    struct seat *seat = arg;
    struct net__worker *worker = seat->worker;
    worker->is_shutting_down = true;
    net_timer_start(worker->loop, &seat->grace,
                    clock_after(net_loop_now(worker->loop), seat->server->shutdown.grace));
    for (struct net__conn *c = worker->conns; c; c = c->next)
        net__conn_shutdown(c);
    check_empty(seat);
}

struct shutdown_order {
    struct net_server *server;
    int64_t grace;
    net_fn *done;
    void *arg;
};

static void begin_shutdown(void *arg) {
    struct shutdown_order *order = arg;
    struct net_server *server = order->server;
    server->shutdown.grace = order->grace;
    server->shutdown.done = order->done;
    server->shutdown.arg = order->arg;
    server->still_open = server->n;
    free(order);
    close_listener(server);
    for (size_t i = 0; i < server->n; i++)
        net_loop_post(server->seats[i].worker->loop, shut_down_seat, &server->seats[i]);
}

void net_server_shutdown(struct net_server *server, int64_t grace, net_fn *done, void *arg) {
    struct shutdown_order *order = xmalloc(sizeof *order);
    *order = (struct shutdown_order){server, grace, done, arg};
    net_loop_post(first_loop(server), begin_shutdown, order);
}

/* ------------------------------------------------------------------------------------- servers */

/* Writing to a peer that has gone is an error to be handled, and no reason to end the program. */
static void ignore_sigpipe(void) {
    struct sigaction action;
    if (sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
        signal(SIGPIPE, SIG_IGN);
}

struct net_server *net_server_new(struct net_loop *const *loops, size_t n,
                                  const struct net_server_config *config, struct err *err) {
    struct net_server *server = xcalloc(1, sizeof *server);
    assert(n > 0);
    server->tls = net__tls_ref(config->tls);
    server->n = n;
    server->seats = xcalloc(n, sizeof *server->seats);
    for (size_t i = 0; i < n; i++) {
        struct seat *seat = &server->seats[i];
        seat->server = server;
        seat->worker = net__worker_new(loops[i], &config->limits, config->request, config->self);
        seat->worker->closed.fn = note_closed;
        seat->worker->closed.arg = seat;
        seat->grace = (struct net_timer){.fn = end_grace, .arg = seat};
    }
    server->pause = (struct net_timer){.fn = accept_again, .arg = server};
    if (open_listener(server, config, err) < 0) {
        net_server_free(server);
        return NULL;
    }
    ignore_sigpipe();
    server->listener.fn = accept_some;
    server->listener.arg = server;
    net_io_start(loops[0], &server->listener, EPOLLIN);
    return server;
}

uint16_t net_server_port(const struct net_server *server) {
    return server->port;
}

void net_server_stats(const struct net_server *server, struct net_stats *out) {
    *out = (struct net_stats){0};
    for (size_t i = 0; i < server->n; i++)
        net__worker_add_stats(server->seats[i].worker, out);
}

void net_server_free(struct net_server *server) {
    if (!server)
        return;
    close_listener(server);
    for (size_t i = 0; i < server->n; i++) {
        struct net__worker *worker = server->seats[i].worker;
        net_timer_stop(worker->loop, &server->seats[i].grace);
        worker->closed.fn = NULL;
        while (worker->conns)
            net__conn_free(worker->conns);
        net__worker_free(worker);
    }
    net_tls_free(server->tls);
    free(server->seats);
    free(server);
}
