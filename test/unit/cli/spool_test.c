/* The spool keeps order and bytes, in memory and in its file. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "cli/spool.h"

enum { MEMORY = 64 };

/* Adds `count` texts of `size` bytes and compares what comes out. */
static void round_trip(size_t count, size_t size, bool wants_file) {
    int out = memfd_create("out", 0);
    struct spool s;
    struct buf want = BUF_INIT(1 << 20);
    spool_init(&s, MEMORY, NULL);
    for (size_t i = 0; i < count; i++) {
        size_t start = want.n;
        buf_add_fill(&want, (char)('a' + i % 26), size);
        assert_int_equal(spool_add(&s, str_sub(buf_view(&want), start, want.n), NULL), 0);
    }
    assert_true((s.fd >= 0) == wants_file);
    assert_int_equal(spool_copy(&s, out, NULL), 0);
    struct buf got = BUF_INIT(1 << 20);
    char *room = buf_room(&got, want.n + 1);
    assert_int_equal(pread(out, room, want.n + 1, 0), (ssize_t)want.n);
    assert_true(want.n == 0 || memcmp(room, want.p, want.n) == 0);
    buf_release(&got);
    spool_release(&s);
    spool_release(&s);
    buf_release(&want);
    close(out);
}

static void what_goes_in_comes_out(void **state) {
    (void)state;
    round_trip(0, 0, false);
    round_trip(1, MEMORY, false);
    round_trip(64, 1, false);
    round_trip(65, 1, true);
    round_trip(3, 33, true);
    round_trip(1, MEMORY + 1, true);
    round_trip(5, 1000, true);
    round_trip(2, 100000, true);
}

static void a_directory_that_is_none_is_told(void **state) {
    (void)state;
    struct spool s;
    struct err err;
    spool_init(&s, 1, "/nowhere");
    assert_int_equal(spool_add(&s, STR("x"), &err), 0);
    assert_int_equal(spool_add(&s, STR("y"), &err), -1);
    assert_int_equal(err.code, ERR_IO);
    assert_string_equal(err.msg, "create a temporary file in /nowhere: no such file or directory");
    spool_release(&s);
}

static void a_file_that_fails_is_told(void **state) {
    (void)state;
    struct spool s;
    struct err err;
    spool_init(&s, 1, "/tmp");
    s.fd = open("/dev/full", O_RDWR);
    assert_int_equal(spool_add(&s, STR("xyz"), &err), -1);
    assert_string_equal(err.msg, "write a temporary file in /tmp: no space left on device");
    spool_release(&s);

    int ends[2];
    assert_int_equal(pipe(ends), 0);
    spool_init(&s, 1, "/tmp");
    s.fd = ends[0];
    assert_int_equal(spool_copy(&s, STDERR_FILENO, &err), -1);
    assert_string_equal(err.msg, "rewind a temporary file in /tmp: illegal seek");
    spool_release(&s);
    close(ends[1]);

    spool_init(&s, 1, "/tmp");
    s.fd = open("/tmp", O_RDONLY);
    assert_int_equal(spool_copy(&s, STDERR_FILENO, &err), -1);
    assert_string_equal(err.msg, "read a temporary file in /tmp: is a directory");
    spool_release(&s);
}

static void an_output_that_fails_is_told(void **state) {
    (void)state;
    struct spool s;
    struct err err;
    int full = open("/dev/full", O_WRONLY);
    for (size_t memory = 1; memory < 10; memory += 8) {
        spool_init(&s, memory, "/tmp");
        assert_int_equal(spool_add(&s, STR("xyz"), &err), 0);
        assert_int_equal(spool_copy(&s, full, &err), -1);
        assert_string_equal(err.msg, "write standard output: no space left on device");
        spool_release(&s);
    }
    close(full);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_goes_in_comes_out),
        cmocka_unit_test(a_directory_that_is_none_is_told),
        cmocka_unit_test(a_file_that_fails_is_told),
        cmocka_unit_test(an_output_that_fails_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
