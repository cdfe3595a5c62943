#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "cli/io.h"

static void failing_writes_are_told_and_closed_pipes_are_not(void **state) {
    (void)state;
    struct err err = {0};
    int ends[2];
    signal(SIGPIPE, SIG_IGN);
    assert_int_equal(pipe(ends), 0);
    close(ends[0]);
    assert_int_equal(io_write(ends[1], STR("x"), &err), -1);
    assert_int_equal(err.code, ERR_IO);
    assert_string_equal(err.msg, "");
    close(ends[1]);
    assert_int_equal(io_write(ends[1], STR("x"), &err), -1);
    assert_string_equal(err.msg, "write standard output: bad file descriptor");
}

static void interrupted(int number) {
    (void)number;
}

/* Signals and a small pipe make write() stop half-way; all bytes arrive nevertheless. */
static void partial_writes_are_continued(void **state) {
    (void)state;
    enum { BYTES = 1 << 20 };
    int ends[2];
    struct sigaction action = {.sa_handler = interrupted};
    sigaction(SIGALRM, &action, NULL);
    assert_int_equal(pipe(ends), 0);
    pid_t reader = fork();
    if (reader == 0) {
        static char block[4096];
        size_t sum = 0;
        ssize_t n;
        close(ends[1]);
        for (int i = 0; i < 20; i++) {
            usleep(1000);
            kill(getppid(), SIGALRM);
        }
        while ((n = read(ends[0], block, sizeof block)) > 0)
            sum += (size_t)n;
        _exit(sum == BYTES ? 0 : 1);
    }
    close(ends[0]);
    struct buf text = BUF_INIT(BYTES);
    buf_add_fill(&text, 'x', BYTES);
    assert_int_equal(io_write(ends[1], buf_view(&text), NULL), 0);
    close(ends[1]);
    int status = -1;
    while (waitpid(reader, &status, 0) < 0)
        ;
    assert_int_equal(status, 0);
    buf_release(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failing_writes_are_told_and_closed_pipes_are_not),
        cmocka_unit_test(partial_writes_are_continued),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
