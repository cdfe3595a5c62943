/* Lines from a descriptor: breaks, ends, and lengths on both sides of the limit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/input/lines.h"
#include "world.h"

enum { MOST = 100000 };

static int file_of(struct str text) {
    int fd = memfd_create("in", 0);
    assert_int_equal(write(fd, text.p, text.n), text.n);
    lseek(fd, 0, SEEK_SET);
    return fd;
}

static void breaks_are_cut_off(void **state) {
    (void)state;
    static const char *const want[] = {"a", "", "b\tc", "d"};
    struct lines l;
    struct str line;
    struct err err;
    bool cut;
    int fd = file_of(STR("a\n\nb\tc\nd"));
    lines_init(&l, fd, MOST);
    assert_false(lines_ready(&l));
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(lines_next(&l, &line, &cut, &err), 1);
        assert_true(str_is(line, want[i]) && !cut);
        assert_int_equal(lines_ready(&l), i < 2);
    }
    assert_int_equal(lines_next(&l, &line, &cut, &err), 0);
    assert_int_equal(lines_next(&l, &line, &cut, &err), 0);
    lines_release(&l);
    close(fd);
}

static void check_length(size_t n, bool want_cut, bool ends) {
    AUTO(buf_release) struct buf text = BUF_INIT(8 << 20);
    struct lines l;
    struct str line;
    struct err err;
    bool cut;
    buf_add_fill(&text, 'x', n);
    buf_add(&text, ends ? STR("") : STR("\nnext\n"));
    int fd = file_of(buf_view(&text));
    lines_init(&l, fd, MOST);
    assert_int_equal(lines_next(&l, &line, &cut, &err), 1);
    assert_int_equal(cut, want_cut);
    if (!cut)
        assert_int_equal(line.n, n);
    assert_int_equal(lines_next(&l, &line, &cut, &err), ends ? 0 : 1);
    if (!ends)
        assert_true(str_is(line, "next"));
    lines_release(&l);
    close(fd);
}

static void long_lines_are_cut(void **state) {
    (void)state;
    static const size_t lengths[] = {
        1,      65535,  65536,  65537,     MOST - 1,         MOST, MOST + 1, MOST * 2,
        131071, 131072, 131073, MOST * 20, MOST * 20 + 65536};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        check_length(lengths[i], lengths[i] > MOST, false);
        check_length(lengths[i], lengths[i] > MOST, true);
    }
}

static void what_cannot_be_read_is_an_error(void **state) {
    (void)state;
    struct lines l;
    struct str line;
    struct err err;
    bool cut;
    lines_init(&l, -1, MOST);
    assert_int_equal(lines_next(&l, &line, &cut, &err), -1);
    assert_int_equal(err.code, ERR_IO);
    lines_release(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(breaks_are_cut_off),
        cmocka_unit_test(long_lines_are_cut),
        cmocka_unit_test(what_cannot_be_read_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
