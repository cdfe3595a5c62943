/*
 * For tests of what ends the program: runs a function in a child process, expects abort() and
 * hands back what it said. The child leaves through exit(), so that coverage counts its lines.
 */
#ifndef TEST_DEATH_H
#define TEST_DEATH_H

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DEATH_ABORTED = 86 };

static void death_leave(int signal_number) {
    (void)signal_number;
    exit(DEATH_ABORTED);
}

/* Did f(arg) abort? What it wrote to stderr is in said[size], NUL-terminated. */
static inline int death_aborts(void (*f)(void *), void *arg, char *said, size_t size) {
    int ends[2], status = 0;
    if (pipe(ends) < 0)
        return 0;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        signal(SIGABRT, death_leave);
        f(arg);
        _exit(0);
    }
    close(ends[1]);
    size_t n = 0;
    for (ssize_t got; n < size - 1 && (got = read(ends[0], said + n, size - 1 - n)) > 0;)
        n += (size_t)got;
    said[n] = '\0';
    close(ends[0]);
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == DEATH_ABORTED;
}

#endif
