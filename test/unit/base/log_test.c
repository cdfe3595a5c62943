/* Log lines, byte for byte, in both formats. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"

static char written[40000];

/* A log into a pipe, at 2023-11-14 22:13:20.000123456 UTC. */
struct fixture {
    struct clock_manual clock;
    struct log log;
    int read_end;
};

static void open_log(struct fixture *f, enum log_format format, int verbosity) {
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    clock_manual_init(&f->clock, 1700000000 * CLOCK_SECOND + 123456);
    f->log = (struct log){ends[1], verbosity, format, &f->clock.clock};
    f->read_end = ends[0];
}

/* What was logged; closes the log. */
static const char *close_log(struct fixture *f) {
    close(f->log.fd);
    ssize_t n = read(f->read_end, written, sizeof written - 1);
    close(f->read_end);
    assert_true(n >= 0);
    written[n] = '\0';
    return written;
}

/* The lines name the place they were written at. */
enum { FIRST_LINE = __LINE__ + 2 };
static void log_one_of_each(const struct log *log) {
    log_info(log, 0, "object read", LOG_STR("file", STR("a.yaml")), LOG_I64("objects", -3));
    log_warn(log, "odd", LOG_BOOL("yes", true), LOG_BOOL("no", false));
    log_error(log, "bad \"thing\"", LOG_STR("text", STR("\\\n\t\x7f\0é")));
    log_error(log, "no pairs");
}

/* Compares what was logged with four lines; each has one %d for the line number. */
__attribute__((format(printf, 2, 0))) static void assert_logged(struct fixture *f,
                                                                const char *format) {
    char want[2000];
    snprintf(want, sizeof want, format, FIRST_LINE, FIRST_LINE + 1, FIRST_LINE + 2, FIRST_LINE + 3);
    assert_string_equal(close_log(f), want);
}

static void text_lines(void **state) {
    (void)state;
    struct fixture f;
    open_log(&f, LOG_TEXT, 0);
    log_one_of_each(&f.log);
    assert_logged(
        &f, "I1114 22:13:20.000123 log_test.c:%d] \"object read\" file=\"a.yaml\" objects=-3\n"
            "W1114 22:13:20.000123 log_test.c:%d] \"odd\" yes=true no=false\n"
            "E1114 22:13:20.000123 log_test.c:%d] \"bad \\\"thing\\\"\""
            " text=\"\\\\\\n\\u0009\\u007f\\u0000é\"\n"
            "E1114 22:13:20.000123 log_test.c:%d] \"no pairs\"\n");
}

static void json_lines(void **state) {
    (void)state;
    struct fixture f;
    open_log(&f, LOG_JSON, 0);
    log_one_of_each(&f.log);
    assert_logged(&f,
                  "{\"ts\":1700000000.000123,\"severity\":\"info\",\"caller\":\"log_test.c:%d\","
                  "\"msg\":\"object read\",\"file\":\"a.yaml\",\"objects\":-3}\n"
                  "{\"ts\":1700000000.000123,\"severity\":\"warning\",\"caller\":\"log_test.c:%d\","
                  "\"msg\":\"odd\",\"yes\":true,\"no\":false}\n"
                  "{\"ts\":1700000000.000123,\"severity\":\"error\",\"caller\":\"log_test.c:%d\","
                  "\"msg\":\"bad \\\"thing\\\"\","
                  "\"text\":\"\\\\\\n\\u0009\\u007f\\u0000é\"}\n"
                  "{\"ts\":1700000000.000123,\"severity\":\"error\",\"caller\":\"log_test.c:%d\","
                  "\"msg\":\"no pairs\"}\n");
}

static void verbosity_drops_info_only(void **state) {
    (void)state;
    struct fixture f;
    open_log(&f, LOG_TEXT, 2);
    log_info(&f.log, 3, "dropped");
    log_info(&f.log, 2, "kept");
    f.log.verbosity = -1;
    log_info(&f.log, 0, "dropped");
    log_warn(&f.log, "always");
    const char *text = close_log(&f);
    assert_null(strstr(text, "dropped"));
    assert_non_null(strstr(text, "\"kept\"\n"));
    assert_non_null(strstr(text, "\"always\"\n"));
}

static void a_file_without_a_folder(void **state) {
    (void)state;
    struct fixture f;
    open_log(&f, LOG_TEXT, 0);
    const struct log_kv none[] = {{0}};
    log_write(&f.log, LOG_INFO, "main.c", 5, "hi", none);
    assert_string_equal(close_log(&f), "I1114 22:13:20.000123 main.c:5] \"hi\"\n");
}

/* Lines a little shorter and longer than the longest, and one that is far longer. */
static void a_long_line_is_cut_but_ends(void **state) {
    (void)state;
    enum {
        LONGEST = 16384,
        AROUND_VALUE = sizeof "I1114 22:13:20.000123 f.c:1] \"m\" v=\"\"\n" - 1
    };
    static char bytes[100000];
    memset(bytes, 'x', sizeof bytes);
    const size_t lines[] = {LONGEST - 2, LONGEST - 1, LONGEST, LONGEST + 1, sizeof bytes};
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        struct fixture f;
        open_log(&f, LOG_TEXT, 0);
        struct str value = {bytes, lines[i] - AROUND_VALUE};
        const struct log_kv kv[] = {LOG_STR("v", value), {0}};
        log_write(&f.log, LOG_INFO, "f.c", 1, "m", kv);
        const char *text = close_log(&f);
        size_t want = lines[i] < LONGEST ? lines[i] : LONGEST;
        assert_int_equal(strlen(text), want);
        assert_ptr_equal(strchr(text, '\n'), text + want - 1);
    }
}

static size_t count_lines(const char *text) {
    size_t n = 0;
    for (; (text = strchr(text, '\n')); text++)
        n++;
    return n;
}

static void lines_of_one_kind_are_limited(void **state) {
    (void)state;
    struct fixture f;
    struct log_limit limit = {0}, other = {0};
    open_log(&f, LOG_TEXT, 0);
    for (int i = 0; i < LOG_MOST_IN_SECOND + 7; i++)
        if (log_limit_allows(&limit, &f.log))
            log_error(&f.log, "again");
    assert_true(log_limit_allows(&other, &f.log));
    assert_int_equal(limit.left_out, 7);
    clock_manual_advance(&f.clock, CLOCK_SECOND);
    assert_true(log_limit_allows(&limit, &f.log));
    assert_int_equal(limit.left_out, 0);
    const char *text = close_log(&f);
    assert_int_equal(count_lines(text), LOG_MOST_IN_SECOND + 1);
    assert_non_null(strstr(text, "\"Lines like the next one were left out\" count=7\n"));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_lines),
        cmocka_unit_test(lines_of_one_kind_are_limited),
        cmocka_unit_test(json_lines),
        cmocka_unit_test(verbosity_drops_info_only),
        cmocka_unit_test(a_file_without_a_folder),
        cmocka_unit_test(a_long_line_is_cut_but_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
