/* Buffers: appending, the maximum, and what is left after it was reached. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/buf.h"

static void assert_text(const struct buf *b, const char *want) {
    if (!str_is(buf_view(b), want))
        fail_msg("'%.*s' is not '%s'", STR_ARG(buf_view(b)), want);
}

static void appending(void **state) {
    (void)state;
    struct buf b = BUF_INIT(1000);
    assert_int_equal(buf_view(&b).n, 0);
    buf_add(&b, STR("ab"));
    buf_add(&b, STR(""));
    buf_add(&b, (struct str){0});
    buf_add_char(&b, 'c');
    buf_add_fill(&b, '-', 3);
    buf_add_fill(&b, '-', 0);
    buf_addf(&b, "%d%s", 7, "x");
    buf_addf(&b, "%s", "");
    buf_add_hex(&b, "\x00\x9f\xff", 3);
    buf_add_hex(&b, NULL, 0);
    assert_text(&b, "abc---7x009fff");
    assert_false(b.full);
    buf_release(&b);
    assert_null(b.p);
    assert_int_equal(b.max, 1000);
    buf_add(&b, STR("again"));
    assert_text(&b, "again");
    buf_release(&b);
    buf_release(&b);
}

static const struct {
    int64_t v;
    const char *want;
} numbers[] = {
    {0, "0"},
    {7, "7"},
    {-7, "-7"},
    {1000, "1000"},
    {INT64_MAX, "9223372036854775807"},
    {INT64_MIN, "-9223372036854775808"},
};

static void decimal_numbers(void **state) {
    (void)state;
    struct buf b = BUF_INIT(100);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        buf_clear(&b);
        buf_add_i64(&b, numbers[i].v);
        assert_text(&b, numbers[i].want);
    }
    buf_clear(&b);
    buf_add_u64(&b, UINT64_MAX);
    assert_text(&b, "18446744073709551615");
    buf_release(&b);
}

static void grows_and_keeps(void **state) {
    (void)state;
    struct buf b = BUF_INIT(1 << 20);
    for (int i = 0; i < 5000; i++)
        buf_addf(&b, "%04d ", i);
    assert_int_equal(b.n, 25000);
    assert_false(b.full);
    for (int i = 0; i < 5000; i++) {
        char want[16];
        snprintf(want, sizeof want, "%04d ", i);
        assert_memory_equal(b.p + (size_t)i * 5, want, 5);
    }
    buf_release(&b);
}

/* Ways to append five bytes; each fits a maximum of five and not one of four. */
static void by_view(struct buf *b) {
    buf_add(b, STR("12345"));
}
static void by_fill(struct buf *b) {
    buf_add_fill(b, '5', 5);
}
static void by_number(struct buf *b) {
    buf_add_i64(b, 12345);
}
static void by_printf(struct buf *b) {
    buf_addf(b, "%d", 12345);
}

static void the_maximum_is_exact(void **state) {
    (void)state;
    void (*const ways[])(struct buf *) = {by_view, by_fill, by_number, by_printf};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        struct buf fits = BUF_INIT(5), short_by_one = BUF_INIT(4);
        ways[i](&fits);
        assert_false(fits.full);
        assert_int_equal(fits.n, 5);
        ways[i](&short_by_one);
        assert_true(short_by_one.full);
        assert_int_equal(short_by_one.n, 0);
        buf_release(&fits);
        buf_release(&short_by_one);
    }
}

static void what_does_not_fit_is_dropped_whole(void **state) {
    (void)state;
    struct buf b = BUF_INIT(4);
    buf_add(&b, STR("abc"));
    buf_add(&b, STR("de"));
    assert_true(b.full);
    buf_add_char(&b, 'f'); /* still fits: only what passes the maximum is lost */
    buf_add_char(&b, 'g');
    assert_text(&b, "abcf");
    assert_true(b.full);
    buf_clear(&b);
    assert_false(b.full);
    assert_text(&b, "");
    buf_add(&b, STR("wxyz"));
    assert_text(&b, "wxyz");
    assert_false(b.full);
    buf_release(&b);
}

static void huge_requests_do_not_wrap_around(void **state) {
    (void)state;
    struct buf b = BUF_INIT(100);
    buf_add(&b, STR("x"));
    assert_null(buf_room(&b, SIZE_MAX));
    assert_true(b.full);
    buf_release(&b);
}

static void room_is_filled_by_the_caller(void **state) {
    (void)state;
    struct buf b = BUF_INIT(10000);
    char *room = buf_room(&b, 600);
    assert_non_null(room);
    memset(room, 'r', 600);
    b.n += 600;
    room = buf_room(&b, 10);
    assert_ptr_equal(room, b.p + 600);
    assert_null(buf_room(&b, 9401));
    assert_non_null(buf_room(&b, 9400));
    buf_release(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appending),
        cmocka_unit_test(decimal_numbers),
        cmocka_unit_test(grows_and_keeps),
        cmocka_unit_test(the_maximum_is_exact),
        cmocka_unit_test(what_does_not_fit_is_dropped_whole),
        cmocka_unit_test(huge_requests_do_not_wrap_around),
        cmocka_unit_test(room_is_filled_by_the_caller),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
