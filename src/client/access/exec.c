/* Runs of programs: what they print is taken as it comes, and their end is waited for by the loop.
 */
#include "client/access/exec_int.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/vec.h"

/* A program may ask a server elsewhere, but no person. */
#define TIMEOUT (60 * CLOCK_SECOND)

extern char **environ; /* of this process, which programs are given, too */

/* ---- its words ---- */

static char *word(struct arena *a, struct str s) {
    return arena_copy(a, arena_str(a, s).p, s.n + 1);
}

static char **args_of(struct arena *a, const struct kubeconfig_exec *what) {
    char **args = arena_array(a, char *, what->arg_count + 2);
    args[0] = word(a, what->command);
    for (size_t i = 0; i < what->arg_count; i++)
        args[i + 1] = word(a, what->args[i].n ? what->args[i] : STR(""));
    return args;
}

static bool is_set_by(const struct kubeconfig_exec *what, struct str variable) {
    struct str name, value;
    str_cut(variable, '=', &name, &value);
    for (size_t i = 0; i < what->variable_count; i++)
        if (str_eq(what->variables[i].name, name))
            return true;
    return str_is(name, "KUBERNETES_EXEC_INFO");
}

static char **environment_of(struct arena *a, const struct kubeconfig_exec *what, struct str info) {
    size_t n = 0, own = 0;
    while (environ[own])
        own++;
    char **all = arena_array(a, char *, own + what->variable_count + 2);
    for (size_t i = 0; i < own; i++)
        if (!is_set_by(what, str_of(environ[i])))
            all[n++] = environ[i];
    for (size_t i = 0; i < what->variable_count; i++)
        all[n++] = word(a, arena_printf(a, "%.*s=%.*s", STR_ARG(what->variables[i].name),
                                        STR_ARG(what->variables[i].value)));
    all[n] = word(a, arena_printf(a, "KUBERNETES_EXEC_INFO=%.*s", STR_ARG(info)));
    return all;
}

/* ---- its end ---- */

static void close_all(struct client__exec *x) {
    net_timer_stop(x->loop, &x->late);
    net_io_stop(x->loop, &x->end);
    net_io_stop(x->loop, &x->output);
    close(x->end.fd);
    close(x->output.fd);
    x->pid = 0;
}

static void take_output(struct client__exec *x) {
    for (;;) {
        char piece[4096];
        ssize_t got = read(x->output.fd, piece, sizeof piece);
        if (got > 0)
            buf_add(&x->printed, (struct str){piece, (size_t)got});
        else if (got == 0 || errno != EINTR)
            return;
    }
}

static void tell(struct client__exec *x, const struct err *err) {
    struct buf printed = x->printed;
    x->printed = BUF_INIT(printed.max);
    x->done(x->arg, buf_view(&printed), err);
    buf_release(&printed);
}

static void on_output(void *arg, uint32_t events) {
    struct client__exec *x = arg;
    take_output(x);
    if (events & EPOLLHUP)
        net_io_change(x->loop, &x->output, 0);
}

static void on_end(void *arg, uint32_t events) {
    struct client__exec *x = arg;
    struct err err = {0};
    int status = 0;
    (void)events;
    take_output(x);
    while (waitpid(x->pid, &status, 0) < 0 && errno == EINTR)
        ;
    close_all(x);
    if (!WIFEXITED(status) || WEXITSTATUS(status))
        err_set(&err, ERR_UNAUTHORIZED, "it has ended with code %d",
                WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
    else if (x->printed.full)
        err_set(&err, ERR_UNAUTHORIZED, "it prints more than %u bytes", LIMIT_AUTH_FILE_BYTES);
    tell(x, err.code ? &err : NULL);
}

void client__exec_stop(struct client__exec *x) {
    if (!x->pid)
        return;
    kill(x->pid, SIGKILL);
    while (waitpid(x->pid, NULL, 0) < 0 && errno == EINTR)
        ;
    close_all(x);
    buf_release(&x->printed);
}

static void on_late(void *arg) {
    struct client__exec *x = arg;
    struct err err = {0};
    client__exec_stop(x);
    err_set(&err, ERR_TIMEOUT, "it takes too long");
    tell(x, &err);
}

/* ---- its start ---- */

static int spawn(pid_t *pid, int output, char **args, char **environment) {
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&files, output, STDOUT_FILENO);
    int failed = posix_spawnp(pid, args[0], &files, &attributes, args, environment);
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    return failed;
}

static int fail(const struct kubeconfig_exec *what, int why, struct err *err) {
    err_set(err, ERR_UNAUTHORIZED, "'%.*s' cannot be started: %s", STR_ARG(what->command),
            strerror(why));
    if (why == ENOENT && what->install_hint.n)
        err_set(err, ERR_UNAUTHORIZED, "'%.*s' is not installed: %.*s", STR_ARG(what->command),
                STR_ARG(what->install_hint));
    return -1;
}

static void watch_over(struct client__exec *x, pid_t pid, int output) {
    x->pid = pid;
    x->printed = BUF_INIT(LIMIT_AUTH_FILE_BYTES);
    x->output = (struct net_io){.fn = on_output, .arg = x, .fd = output};
    x->end = (struct net_io){.fn = on_end, .arg = x, .fd = pidfd_open(pid, 0)};
    x->late = (struct net_timer){.fn = on_late, .arg = x};
    if (x->end.fd < 0)
        BUG("pidfd_open");
    net_io_start(x->loop, &x->output, EPOLLIN);
    net_io_start(x->loop, &x->end, EPOLLIN);
    net_timer_start(x->loop, &x->late, net_loop_now(x->loop) + TIMEOUT);
}

int client__exec_start(struct client__exec *x, const struct kubeconfig_exec *what, struct str info,
                       struct err *err) {
    AUTO(arena_release) struct arena a = {0};
    int ends[2];
    pid_t pid;
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) < 0)
        return fail(what, errno, err);
    fcntl(ends[1], F_SETFL, 0); /* programs expect to wait for whoever reads */
    int failed = spawn(&pid, ends[1], args_of(&a, what), environment_of(&a, what, info));
    close(ends[1]);
    if (failed) {
        close(ends[0]);
        return fail(what, failed, err);
    }
    watch_over(x, pid, ends[0]);
    return 0;
}
