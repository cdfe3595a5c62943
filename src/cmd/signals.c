/* Signals that end the program, read from a descriptor. */
#include "cmd/signals.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void on_signal(void *arg, uint32_t events) {
    struct signals *s = arg;
    struct signalfd_siginfo info;
    (void)events;
    if (read(s->io.fd, &info, sizeof info) == (ssize_t)sizeof info)
        s->fn(s->arg);
}

int signals_listen(struct signals *s, struct net_loop *loop, net_fn *fn, void *arg,
                   struct err *err) {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_IO, "signals: %s", strerror(errno));
    *s = (struct signals){.loop = loop,
                          .io = {.fd = fd, .fn = on_signal, .arg = s},
                          .is_listening = true,
                          .fn = fn,
                          .arg = arg};
    net_io_start(loop, &s->io, EPOLLIN);
    return 0;
}

void signals_release(struct signals *s) {
    if (!s->is_listening)
        return;
    net_io_stop(s->loop, &s->io);
    close(s->io.fd);
    s->is_listening = false;
}
