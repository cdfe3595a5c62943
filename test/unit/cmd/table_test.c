/* Tables: as wide as needed in a file, as wide as there is on a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/report/table.h"
#include "world.h"

static const struct str heads[] = {STR_INIT("NAME"), STR_INIT("STATUS"), STR_INIT("MESSAGE")};

static void add(struct table *t, const char *name, const char *status, const char *message,
                enum table_colour colour) {
    table_add(t, (const struct str[]){str_of(name), str_of(status), str_of(message)}, colour);
}

static void expect(const struct table_style *style, const char *text) {
    struct world w;
    struct spool out;
    struct table t;
    world_init(&w);
    spool_init(&out, 1 << 16, NULL);
    table_init(&t, heads, 3);
    t.coloured = 1;
    add(&t, "web", "Scheduled", "", TABLE_GREEN);
    add(&t, "größer", "Bad", "0/2 nodes are available: 2 Insufficient cpu.", TABLE_RED);
    add(&t, "a\nb", "New", "not cut: 28 columns are free", TABLE_PLAIN);
    assert_int_equal(table_write(&t, style, &out, NULL), 0);
    assert_int_equal(spool_copy(&out, w.out, NULL), 0);
    assert_string_equal(world_taken(&w, w.out), text);
    table_release(&t);
    spool_release(&out);
    world_release(&w);
}

static void columns_are_as_wide_as_their_cells(void **state) {
    (void)state;
    expect(&(struct table_style){0},
           "NAME     STATUS      MESSAGE\n"
           "web      Scheduled\n"
           "größer   Bad         0/2 nodes are available: 2 Insufficient cpu.\n"
           "a\\x0ab   New         not cut: 28 columns are free\n");
}

static void without_headers_there_are_only_lines(void **state) {
    (void)state;
    expect(&(struct table_style){.no_headers = true},
           "web      Scheduled\n"
           "größer   Bad         0/2 nodes are available: 2 Insufficient cpu.\n"
           "a\\x0ab   New         not cut: 28 columns are free\n");
}

static void a_terminal_gets_no_more_than_its_width(void **state) {
    (void)state;
    expect(&(struct table_style){.width = 49},
           "NAME     STATUS      MESSAGE\n"
           "web      Scheduled\n"
           "größer   Bad         0/2 nodes are available: 2 …\n"
           "a\\x0ab   New         not cut: 28 columns are free\n");
    expect(&(struct table_style){.width = 10}, "NAME     STATUS      MESSAGE\n"
                                               "web      Scheduled\n"
                                               "größer   Bad         0/2 nodes are avail…\n"
                                               "a\\x0ab   New         not cut: 28 columns…\n");
}

static void verdicts_have_colours(void **state) {
    (void)state;
    expect(&(struct table_style){.colour = true, .no_headers = true},
           "web      \033[32mScheduled\033[0m\n"
           "größer   \033[31mBad\033[0m         0/2 nodes are available: 2 Insufficient cpu.\n"
           "a\\x0ab   New         not cut: 28 columns are free\n");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_are_as_wide_as_their_cells),
        cmocka_unit_test(without_headers_there_are_only_lines),
        cmocka_unit_test(a_terminal_gets_no_more_than_its_width),
        cmocka_unit_test(verdicts_have_colours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
