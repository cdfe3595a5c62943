/* Starting and ending the program under test. Everything about one life of a server lies in files
 * of its directory, so that whoever looks for a failure finds all of it. */
#include "process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "journal.h"

enum { PATH = 4096 };

int64_t now_us(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t now_ms(void) {
    return now_us() / 1000;
}

static const char *path_in(const struct process *p, const char *name, char *path) {
    snprintf(path, PATH, "%s/%s", p->directory, name);
    return path;
}

/* ---- start ---- */

static void set_number(const char *name, long long number) {
    char text[24];
    snprintf(text, sizeof text, "%lld", number);
    setenv(name, text, 1);
}

static void set_orders(const struct process *p, const struct orders *o) {
    char plan[128], path[PATH];
    snprintf(plan, sizeof plan, "%u %llu %llu %llu", o->kind, (unsigned long long)o->at,
             (unsigned long long)o->times, (unsigned long long)o->seed);
    setenv("LD_PRELOAD", p->shim, 1);
    setenv(CRASH_PLAN, plan, 1);
    setenv(CRASH_REPORT, path_in(p, "report", path), 1);
    set_number(CRASH_CLOCK, o->clock_ahead);
    if (o->journal)
        setenv(CRASH_JOURNAL, path_in(p, "journal", path), 1);
    if (!o->from_start)
        setenv(CRASH_ARM, path_in(p, "arm", path), 1);
}

static void forget_orders(const struct process *p) {
    static const char *const names[] = {"report", "journal", "arm", "log"};
    char path[PATH];
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        unlink(path_in(p, names[i], path));
}

static _Noreturn void become(const struct process *p, const struct orders *o, int out) {
    char data[PATH], log[PATH];
    int fd = open(path_in(p, "log", log), O_WRONLY | O_CREAT | O_APPEND, 0600);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    signal(SIGPIPE, SIG_DFL);
    dup2(out, STDOUT_FILENO);
    dup2(fd, STDERR_FILENO);
    set_orders(p, o);
    if (o->compacts)
        execl(p->program, p->program, "store", "compact", "--data-dir", path_in(p, "data", data),
              (char *)NULL);
    execl(p->program, p->program, "apiserver", "--data-dir", path_in(p, "data", data),
          "--secure-port", "0", (char *)NULL);
    _exit(127);
}

void process_start(struct process *p, const struct orders *orders) {
    int ends[2];
    forget_orders(p);
    if (pipe2(ends, O_CLOEXEC) < 0 || (p->pid = fork()) < 0)
        BUG("no process");
    if (p->pid == 0)
        become(p, orders, ends[1]);
    close(ends[1]);
    p->out = ends[0];
}

int process_ready(struct process *p, int timeout_ms) {
    int64_t until = now_ms() + timeout_ms;
    char line[256] = {0};
    size_t n = 0;
    while (n < sizeof line - 1 && !strchr(line, '\n')) {
        struct pollfd ready = {.fd = p->out, .events = POLLIN};
        int64_t left = until - now_ms();
        if (left <= 0 || poll(&ready, 1, (int)left) <= 0)
            return -1;
        ssize_t got = read(p->out, line + n, sizeof line - 1 - n);
        if (got <= 0)
            return 0;
        n += (size_t)got;
    }
    const char *port = strstr(line, "127.0.0.1:");
    return port ? atoi(port + strlen("127.0.0.1:")) : 0;
}

void process_arm(const struct process *p) {
    char path[PATH];
    close(open(path_in(p, "arm", path), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

bool process_reported(const struct process *p) {
    char path[PATH];
    struct stat st;
    return stat(path_in(p, "report", path), &st) == 0 && st.st_size > 0;
}

/* ---- end ---- */

static void forget(struct process *p) {
    close(p->out);
    p->pid = 0;
}

bool process_lives(struct process *p) {
    if (p->pid && waitpid(p->pid, &p->status, WNOHANG) == p->pid)
        forget(p);
    return p->pid != 0;
}

bool process_end(struct process *p, int signal, int timeout_ms) {
    int64_t until = now_us() + (int64_t)timeout_ms * 1000;
    if (!process_lives(p))
        return true;
    kill(p->pid, signal);
    if (signal == SIGKILL) {
        waitpid(p->pid, &p->status, 0);
        forget(p);
    }
    while (process_lives(p) && now_us() < until)
        usleep(200);
    return !p->pid;
}

/* ---- the store's files ---- */

static pid_t start_check(const struct process *p, int out) {
    char data[PATH];
    pid_t pid = fork();
    if (pid != 0)
        return pid;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(out, STDOUT_FILENO);
    dup2(out, STDERR_FILENO);
    execl(p->program, p->program, "store", "check", "--data-dir", path_in(p, "data", data),
          (char *)NULL);
    _exit(127);
}

int process_check(const struct process *p, struct buf *out) {
    int ends[2], status = -1;
    if (pipe2(ends, O_CLOEXEC) < 0)
        BUG("no pipe");
    pid_t pid = start_check(p, ends[1]);
    close(ends[1]);
    for (ssize_t n; (n = read(ends[0], buf_room(out, 4096), 4096)) > 0;)
        out->n += (size_t)n;
    close(ends[0]);
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

static void copy_file(const char *from, const char *to) {
    int in = open(from, O_RDONLY | O_CLOEXEC), out;
    unlink(to);
    if (in < 0)
        return;
    out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    while (out >= 0 && copy_file_range(in, NULL, out, NULL, 1 << 30, 0) > 0) {
    }
    close(in);
    close(out);
}

void process_keep_files(const struct process *p) {
    static const char *const names[] = CRASH_FILES;
    char from[PATH + 64], to[PATH + 64];
    snprintf(to, sizeof to, "%s/before", p->directory);
    mkdir(to, 0700);
    for (int i = 0; i < CRASH_FILE_COUNT; i++) {
        snprintf(from, sizeof from, "%s/data/store/%s", p->directory, names[i]);
        snprintf(to, sizeof to, "%s/before/%s", p->directory, names[i]);
        copy_file(from, to);
    }
}

void process_log(const struct process *p, struct buf *out) {
    char path[PATH];
    int fd = open(path_in(p, "log", path), O_RDONLY | O_CLOEXEC);
    for (ssize_t n; fd >= 0 && (n = read(fd, buf_room(out, 4096), 4096)) > 0;)
        out->n += (size_t)n;
    if (fd >= 0)
        close(fd);
}
