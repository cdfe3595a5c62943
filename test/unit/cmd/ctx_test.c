/* What the program knows of terminals and environment, and how it writes and complains. */
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "world.h"

static void environment_is_looked_up_by_whole_names(void **state) {
    (void)state;
    static const char *const env[] = {"AB=1", "A=2", "EMPTY=", "NOSIGN", NULL};
    struct cmd_ctx ctx = {.env = env};
    assert_string_equal(cmd_getenv(&ctx, "A"), "2");
    assert_string_equal(cmd_getenv(&ctx, "AB"), "1");
    assert_string_equal(cmd_getenv(&ctx, "EMPTY"), "");
    assert_null(cmd_getenv(&ctx, "NOSIGN"));
    assert_null(cmd_getenv(&ctx, "B"));
}

/* A terminal of 50 columns; returns its slave side. */
static int open_terminal(int *master) {
    *master = posix_openpt(O_RDWR | O_NOCTTY);
    assert_true(*master >= 0);
    assert_int_equal(grantpt(*master), 0);
    assert_int_equal(unlockpt(*master), 0);
    struct winsize size = {.ws_col = 50, .ws_row = 10};
    assert_int_equal(ioctl(*master, TIOCSWINSZ, &size), 0);
    int slave = open(ptsname(*master), O_RDWR | O_NOCTTY);
    assert_true(slave >= 0);
    return slave;
}

static void width_comes_from_environment_or_terminal(void **state) {
    (void)state;
    int master, slave = open_terminal(&master), null = open("/dev/null", O_WRONLY);
    static const struct {
        const char *columns;
        bool tty;
        unsigned want;
    } table[] = {
        {NULL, false, 80},         {NULL, true, 50},          {"COLUMNS=70", true, 70},
        {"COLUMNS=70", false, 70}, {"COLUMNS=x", true, 50},   {"COLUMNS=", false, 80},
        {"COLUMNS=3", false, 40},  {"COLUMNS=-9", false, 40}, {"COLUMNS=99999999", false, 1000},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *env[] = {table[i].columns, NULL};
        struct cmd_ctx ctx;
        cmd_ctx_init(&ctx, 0, table[i].tty ? slave : null, null, env);
        assert_int_equal(ctx.width, table[i].want);
    }
    close(slave);
    close(master);
    close(null);
}

static void colour_needs_a_terminal_and_leave(void **state) {
    (void)state;
    int master, slave = open_terminal(&master), null = open("/dev/null", O_WRONLY);
    static const struct {
        const char *env;
        bool want;
    } table[] = {
        {NULL, true},         {"NO_COLOR=1", false}, {"NO_COLOR=", true},
        {"TERM=dumb", false}, {"TERM=xterm", true},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *env[] = {table[i].env, NULL};
        struct cmd_ctx ctx;
        cmd_ctx_init(&ctx, 0, slave, null, env);
        assert_true(ctx.out_is_tty && !ctx.err_is_tty);
        assert_int_equal(ctx.out_colour, table[i].want);
        assert_false(ctx.err_colour);
        cmd_ctx_init(&ctx, 0, null, slave, env);
        assert_int_equal(ctx.err_colour, table[i].want);
        assert_false(ctx.out_colour);
    }
    close(slave);
    close(master);
    close(null);
}

static void errors_are_reported(void **state) {
    (void)state;
    static const struct cmd command = {.name = "frob"};
    static const struct {
        enum err_code code;
        const char *msg;
        bool with_command, colour;
        const char *want;
    } table[] = {
        {ERR_IO, "text", true, false, "error: text\n"},
        {ERR_IO, "text", true, true, "\033[31merror:\033[0m text\n"},
        {ERR_IO, "", true, false, ""},
        {ERR_USAGE, "text", true, false, "error: text\nSee 'berth frob --help' for usage.\n"},
        {ERR_USAGE, "text", false, false, "error: text\nRun 'berth --help' for usage.\n"},
        {ERR_IO, "a\x1b[1m\x7f\tb\nc\r\xc3\xa4", true, false,
         "error: a\\x1b[1m\\x7f\\x09b\\x0ac\\x0d\xc3\xa4\n"},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct world w;
        struct err err;
        world_init(&w);
        w.ctx.err_colour = table[i].colour;
        err_set(&err, table[i].code, "%s", table[i].msg);
        cmd_report(&w.ctx, table[i].with_command ? &command : NULL, &err);
        assert_string_equal(world_taken(&w, w.err), table[i].want);
        world_release(&w);
    }
}

/* Line breaks of our own stay, but nothing else does. */
static void reports_may_have_lines(void **state) {
    (void)state;
    struct world w;
    struct err err;
    world_init(&w);
    err_set(&err, ERR_NOT_FOUND, "a\x1b\n\tb\n");
    assert_false(err.has_lines);
    err.has_lines = true;
    cmd_report(&w.ctx, NULL, &err);
    assert_string_equal(world_taken(&w, w.err), "error: a\\x1b\n\tb\n");
    world_release(&w);
}

static void titles_have_their_colours(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    for (int colour = 0; colour < 2; colour++) {
        struct buf out = BUF_INIT(1000);
        w.ctx.err_colour = colour;
        cmd_add_title(&w.ctx, CMD_ERROR, &out);
        cmd_add_title(&w.ctx, CMD_WARNING, &out);
        cmd_add_title(&w.ctx, CMD_HINT, &out);
        assert_true(str_is(buf_view(&out), colour ? "\033[31merror:\033[0m \033[33mWarning:\033[0m "
                                                    "\033[36mhint:\033[0m "
                                                  : "error: Warning: hint: "));
        buf_release(&out);
    }
    world_release(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(environment_is_looked_up_by_whole_names),
        cmocka_unit_test(width_comes_from_environment_or_terminal),
        cmocka_unit_test(colour_needs_a_terminal_and_leave),
        cmocka_unit_test(errors_are_reported),
        cmocka_unit_test(reports_may_have_lines),
        cmocka_unit_test(titles_have_their_colours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
