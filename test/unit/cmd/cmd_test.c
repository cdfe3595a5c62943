/* The table of commands is sound, and the way from words to a run works without a terminal. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cmd/help/help.h"
#include "world.h"

/* Columns of a help line that nobody needs to scroll for. */
enum { LONGEST_SUMMARY = 64, LONGEST_EXAMPLE = 78 };

static void check_text(const char *command, const char *text, bool is_sentence) {
    struct str s = str_of(text);
    if (s.n == 0 || str_ends(s, STR(".")) != is_sentence || str_ends(s, STR(" ")))
        fail_msg("%s: '%s' should %send in a full stop", command, text, is_sentence ? "" : "not ");
}

static void check_option(const char *command, const struct opt *o) {
    if ((o->kind == OPT_FLAG) != (o->value == NULL))
        fail_msg("%s --%s: flags have no value, and all others have", command, o->name);
    bool is_choice = o->kind == OPT_ENUM || o->kind == OPT_FORM;
    if (is_choice != (o->words != NULL))
        fail_msg("%s --%s: words are for OPT_ENUM and OPT_FORM", command, o->name);
    if (is_choice && !o->fallback)
        fail_msg("%s --%s: a choice needs a default", command, o->name);
    check_text(command, o->help, true);
}

static void check_unique(const char *command, const struct opt *const *seen, size_t n,
                         const struct opt *o) {
    for (size_t i = 0; i < n; i++)
        if (strcmp(seen[i]->name, o->name) == 0 || (o->letter && seen[i]->letter == o->letter))
            fail_msg("%s --%s: the name or letter is taken", command, o->name);
}

static size_t collect(const char *command, const struct opt_group *groups, const struct opt **seen,
                      size_t n) {
    for (const struct opt_group *g = groups; g->rows; g++)
        for (const struct opt *o = g->rows; o->name; o++) {
            check_option(command, o);
            check_unique(command, seen, n, o);
            assert_true(n < 100);
            seen[n++] = o;
        }
    return n;
}

static void every_row_of_the_table_is_sound(void **state) {
    (void)state;
    const struct opt *seen[100];
    assert_non_null(cmd_table[0]);
    for (size_t i = 0; cmd_table[i]; i++) {
        const struct cmd *c = cmd_table[i];
        assert_ptr_equal(cmd_find(str_of(c->name)), c);
        check_text(c->name, c->summary, false);
        check_text(c->name, c->about, true);
        assert_true(strlen(c->summary) <= LONGEST_SUMMARY);
        assert_non_null(c->usage);
        assert_non_null(c->run);
        assert_null(c->groups[CMD_GROUPS - 1].rows);
        for (const struct cmd_example *e = c->examples; e && e->what; e++)
            assert_true(strlen(e->line) + 2 <= LONGEST_EXAMPLE);
        collect(c->name, c->groups, seen, collect(c->name, cmd_global_groups, seen, 0));
    }
    assert_null(cmd_find(STR("conver")));
    assert_null(cmd_find(STR("converts")));
}

/* Runs a line, cut at spaces; returns the exit code. */
static int run(struct world *w, const char *line) {
    struct arena a = {0};
    struct opt_list words = {0};
    struct str rest = str_of(line), word;
    while (rest.n > 0) {
        str_cut(rest, ' ', &word, &rest);
        opt_list_add(&a, &words, arena_str(&a, word));
    }
    int code = cmd_main(&w->ctx, &words);
    arena_release(&a);
    return code;
}

static void commands_run_without_a_terminal(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    assert_int_equal(run(&w, "version"), CMD_GOOD);
    assert_int_equal(strncmp(world_taken(&w, w.out), "berth ", 6), 0);
    assert_string_equal(world_taken(&w, w.err), "");

    assert_int_equal(run(&w, "nonsense"), CMD_FAILED);
    assert_string_equal(world_taken(&w, w.out), "");
    assert_string_equal(world_taken(&w, w.err), "error: unknown command \"nonsense\" for "
                                                "\"berth\"\nRun 'berth --help' for usage.\n");
    world_release(&w);
}

static void the_log_follows_the_options(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    assert_int_equal(run(&w, "-v 3 --log-format=json version"), CMD_GOOD);
    assert_int_equal(w.ctx.log.verbosity, 3);
    assert_int_equal(w.ctx.log.format, LOG_JSON);
    assert_int_equal(run(&w, "version -v 9223372036854775807"), CMD_GOOD);
    assert_int_equal(w.ctx.log.verbosity, INT32_MAX);
    assert_int_equal(w.ctx.log.format, LOG_TEXT);
    world_release(&w);
}

static void titles_are_bold_only_in_colour(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    assert_int_equal(run(&w, "help"), CMD_GOOD);
    assert_null(strchr(world_taken(&w, w.out), '\033'));
    w.ctx.out_colour = true;
    assert_int_equal(run(&w, "help"), CMD_GOOD);
    assert_non_null(strstr(world_taken(&w, w.out), "\n\033[1mCommands:\033[0m\n"));
    world_release(&w);
}

static void very_many_arguments_are_cut(void **state) {
    (void)state;
    struct world w;
    struct buf line = BUF_INIT(4096);
    world_init(&w);
    buf_addf(&line, "version");
    for (int i = 0; i < 200; i++)
        buf_addf(&line, " word%d", i);
    buf_add_char(&line, 0);
    assert_int_equal(run(&w, line.p), CMD_FAILED);
    const char *text = world_taken(&w, w.err);
    assert_int_equal(strncmp(text, "error: extra arguments: [word0 word1 ", 37), 0);
    assert_non_null(strstr(text, "...\nSee 'berth version --help' for usage.\n"));
    buf_release(&line);
    world_release(&w);
}

/* Roff takes a line that starts with a dot or a quote, and every backslash, for its own. */
static void the_man_page_is_all_macros_or_text(void **state) {
    (void)state;
    struct buf page = BUF_INIT(HELP_MOST_BYTES);
    help_print_man(&page);
    assert_false(page.full);
    struct str rest = buf_view(&page), line;
    assert_true(str_starts(rest, STR(".TH BERTH 1 ")));
    while (rest.n > 0) {
        str_cut(rest, '\n', &line, &rest);
        assert_true(line.n > 0);
        if (line.p[0] == '.')
            assert_true(line.n >= 3 && line.p[1] >= 'A' && line.p[1] <= 'Z');
        assert_true(line.p[0] != '\'');
    }
    buf_release(&page);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_the_table_is_sound),
        cmocka_unit_test(commands_run_without_a_terminal),
        cmocka_unit_test(the_log_follows_the_options),
        cmocka_unit_test(titles_are_bold_only_in_colour),
        cmocka_unit_test(very_many_arguments_are_cut),
        cmocka_unit_test(the_man_page_is_all_macros_or_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
