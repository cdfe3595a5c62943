/* Lines are the same, whatever the pieces in which they come; and none is too long. */
#include "../data.h"

#include "base/alloc.h"
#include "base/limits.h"
#include "client/http/watch_lines_int.h"

static int join(void *arg, struct str line, struct err *err) {
    (void)err;
    buf_add(arg, line);
    buf_add_char(arg, '|');
    return 0;
}

static int refuse(void *arg, struct str line, struct err *err) {
    (void)arg;
    return err_set(err, ERR_INVALID, "%.*s", STR_ARG(line));
}

static void pieces_do_not_matter(void **state) {
    (void)state;
    static const char text[] = "one\ntwo\r\n\n  \nthree three\nrest";
    for (size_t piece = 1; piece < sizeof text; piece++) {
        struct client__lines lines = {0};
        AUTO(buf_release) struct buf got = BUF_INIT(100);
        struct err err = {0};
        for (size_t at = 0; at < sizeof text - 1; at += piece)
            assert_int_equal(
                client__lines_feed(&lines, str_sub(str_of(text), at, at + piece), join, &got, &err),
                0);
        assert_true(str_is(buf_view(&got), "one|two|three three|"));
        client__lines_release(&lines);
    }
}

static void a_failure_ends_it(void **state) {
    (void)state;
    struct client__lines lines = {0};
    struct err err = {0};
    assert_int_equal(client__lines_feed(&lines, STR("on"), refuse, NULL, &err), 0);
    assert_int_equal(client__lines_feed(&lines, STR("e\ntwo\n"), refuse, NULL, &err), -1);
    assert_string_equal(err.msg, "one");
    client__lines_release(&lines);
}

static int measure(void *arg, struct str line, struct err *err) {
    (void)err;
    *(size_t *)arg = line.n;
    return 0;
}

static void lines_are_bounded(void **state) {
    (void)state;
    size_t most = LIMIT_CLIENT_EVENT_BYTES, length = 0;
    char *text = xmalloc(most + 1);
    memset(text, 'a', most + 1);
    for (size_t head = 0; head < 2; head++) {
        struct client__lines lines = {0};
        struct err err = {0};
        assert_int_equal(
            client__lines_feed(&lines, (struct str){text, head}, measure, &length, &err), 0);
        assert_int_equal(
            client__lines_feed(&lines, (struct str){text, most - head}, measure, &length, &err), 0);
        assert_int_equal(client__lines_feed(&lines, STR("\n"), measure, &length, &err), 0);
        assert_int_equal(length, most);
        client__lines_feed(&lines, (struct str){text, head}, measure, &length, &err);
        assert_int_equal(
            client__lines_feed(&lines, (struct str){text, most + 1 - head}, measure, &length, &err),
            -1);
        client__lines_release(&lines);
    }
    free(text);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_do_not_matter),
        cmocka_unit_test(a_failure_ends_it),
        cmocka_unit_test(lines_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
