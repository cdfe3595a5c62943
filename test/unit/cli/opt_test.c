/* The option parser: command lines in, values or errors out, as one table. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cli/opt.h"

struct values {
    bool flag, other;
    int64_t number;
    struct str text;
    struct opt_list list, files;
    int choice;
    struct opt_form form;
};

static const char *const choices[] = {"red", "green", "blue", NULL};
static const char *const forms[] = {"plain", "path=", NULL};

static const struct opt rows[] = {
    {.name = "flag", .letter = 'a', .kind = OPT_FLAG, .offset = offsetof(struct values, flag)},
    {.name = "other", .letter = 'b', .kind = OPT_FLAG, .offset = offsetof(struct values, other)},
    {.name = "number",
     .letter = 'n',
     .kind = OPT_INT,
     .offset = offsetof(struct values, number),
     .fallback = "7"},
    {.name = "text", .letter = 't', .kind = OPT_STR, .offset = offsetof(struct values, text)},
    {.name = "list", .kind = OPT_LIST, .offset = offsetof(struct values, list)},
    {0},
};

static const struct opt more_rows[] = {
    {.name = "file", .letter = 'f', .kind = OPT_FILES, .offset = offsetof(struct values, files)},
    {.name = "choice",
     .letter = 'c',
     .kind = OPT_ENUM,
     .offset = offsetof(struct values, choice),
     .fallback = "green",
     .words = choices},
    {.name = "form",
     .letter = 'o',
     .kind = OPT_FORM,
     .offset = offsetof(struct values, form),
     .fallback = "plain",
     .words = forms},
    {.name = "secret", .kind = OPT_FLAG, .hidden = true, .offset = offsetof(struct values, other)},
    {0},
};

/* The words of a line, cut at single spaces; two spaces make an empty word. */
static struct opt_list words_of(struct arena *a, const char *line) {
    struct opt_list words = {0};
    struct str rest = str_of(line), word;
    bool more = rest.n > 0;
    while (more) {
        more = str_cut(rest, ' ', &word, &rest);
        opt_list_add(a, &words, arena_str(a, word));
    }
    return words;
}

static void show_list(struct buf *out, const char *name, const struct opt_list *list) {
    buf_addf(out, " %s=", name);
    for (size_t i = 0; i < list->n; i++)
        buf_addf(out, "[%s]", list->v[i].p);
}

static void show(struct buf *out, const struct values *v, const struct opt_list *args) {
    buf_addf(out, "%s%s n=%d c=%d", v->flag ? "a" : "-", v->other ? "b" : "-", (int)v->number,
             v->choice);
    if (v->text.p)
        buf_addf(out, " t=%.*s", STR_ARG(v->text));
    if (v->form.place)
        buf_addf(out, " o=%d:%.*s", v->form.place, STR_ARG(v->form.text));
    if (v->list.n)
        show_list(out, "l", &v->list);
    if (v->files.n)
        show_list(out, "f", &v->files);
    if (args->n)
        show_list(out, "args", args);
}

static void parse(struct arena *a, const char *line, bool stop, struct buf *out) {
    struct values v = {0};
    struct opt_target targets[] = {{rows, &v}, {more_rows, &v}};
    struct opt_parser p = {a, targets, 2, stop};
    struct opt_list words = words_of(a, line), args = {0};
    struct err err = {0};
    if (opt_parse(&p, &words, &args, &err) == 0) {
        show(out, &v, &args);
        return;
    }
    assert_int_equal(err.code, ERR_USAGE);
    buf_addf(out, "%s", err.msg);
}

struct row {
    const char *line, *want;
};

static void check_rows(const struct row *table, size_t n, bool stop) {
    for (size_t i = 0; i < n; i++) {
        struct arena a = {0};
        struct buf out = BUF_INIT(4096);
        parse(&a, table[i].line, stop, &out);
        buf_add_char(&out, 0);
        if (strcmp(out.p, table[i].want) != 0)
            fail_msg("'%s': wanted '%s', got '%s'", table[i].line, table[i].want, out.p);
        buf_release(&out);
        arena_release(&a);
    }
}

static void values_are_parsed(void **state) {
    (void)state;
    static const struct row table[] = {
        {"", "-- n=7 c=1"},
        {"--flag", "a- n=7 c=1"},
        {"--flag=false", "-- n=7 c=1"},
        {"--flag=T --other=0", "a- n=7 c=1"},
        {"-a", "a- n=7 c=1"},
        {"-ab", "ab n=7 c=1"},
        {"-a=false", "-- n=7 c=1"},
        {"-ab=false", "a- n=7 c=1"},
        {"--number=3", "-- n=3 c=1"},
        {"--number 3", "-- n=3 c=1"},
        {"-n3", "-- n=3 c=1"},
        {"-n=3", "-- n=3 c=1"},
        {"-n 3", "-- n=3 c=1"},
        {"-abn3", "ab n=3 c=1"},
        {"-abn 3", "ab n=3 c=1"},
        {"--number 3 --number 4", "-- n=4 c=1"},
        {"--text=", "-- n=7 c=1 t="},
        {"--text  x", "-- n=7 c=1 t= args=[x]"},
        {"--text=a=b", "-- n=7 c=1 t=a=b"},
        {"-t=", "-- n=7 c=1 t=="},
        {"-t --flag", "-- n=7 c=1 t=--flag"},
        {"-ta", "-- n=7 c=1 t=a"},
        {"--list a,b --list=c", "-- n=7 c=1 l=[a][b][c]"},
        {"--list a,,b,", "-- n=7 c=1 l=[a][][b][]"},
        {"-f a -fb -f=c,d --file e", "-- n=7 c=1 f=[a][b][c][d][e]"},
        {"-c red", "-- n=7 c=0"},
        {"--choice=blue", "-- n=7 c=2"},
        {"-o plain", "-- n=7 c=1"},
        {"-o path=a=b,c", "-- n=7 c=1 o=1:a=b,c"},
        {"-o=path=", "-- n=7 c=1 o=1:"},
        {"--secret", "-b n=7 c=1"},
        {"x -a y", "a- n=7 c=1 args=[x][y]"},
        {"- -a", "a- n=7 c=1 args=[-]"},
        {"-a -- -b --text", "a- n=7 c=1 args=[-b][--text]"},
        {"-- --", "-- n=7 c=1 args=[--]"},
    };
    check_rows(table, sizeof table / sizeof *table, false);
}

static void errors_are_in_the_words_of_pflag(void **state) {
    (void)state;
    static const struct row table[] = {
        {"--nope", "unknown flag: --nope"},
        {"--nope=x", "unknown flag: --nope"},
        {"--flug", "unknown flag: --flug\n\nDid you mean this?\n\t--flag\n"},
        {"--secre", "unknown flag: --secre"},
        {"--numb", "unknown flag: --numb\n\nDid you mean this?\n\t--number\n"},
        {"-z", "unknown shorthand flag: 'z' in -z"},
        {"-azb", "unknown shorthand flag: 'z' in -zb"},
        {"-a=", "unknown shorthand flag: '=' in -="},
        {"--number", "flag needs an argument: --number"},
        {"-n", "flag needs an argument: 'n' in -n"},
        {"-abn", "flag needs an argument: 'n' in -n"},
        {"--", "-- n=7 c=1"},
        {"--=", "bad flag syntax: --="},
        {"---flag", "bad flag syntax: ---flag"},
        {"--flag=yes", "invalid argument \"yes\" for \"-a, --flag\" flag: must be true or false"},
        {"-n x",
         "invalid argument \"x\" for \"-n, --number\" flag: must be a whole number from 0 to "
         "9223372036854775807"},
        {"-n -1",
         "invalid argument \"-1\" for \"-n, --number\" flag: must be a whole number from 0 to "
         "9223372036854775807"},
        {"-n  ",
         "invalid argument \"\" for \"-n, --number\" flag: must be a whole number from 0 to "
         "9223372036854775807"},
        {"--choice=pink", "invalid argument \"pink\" for \"-c, --choice\" flag: must be red, "
                          "green or blue"},
        {"-o path", "invalid argument \"path\" for \"-o, --form\" flag: must be plain or path="},
        {"-o plain=",
         "invalid argument \"plain=\" for \"-o, --form\" flag: must be plain or path="},
    };
    check_rows(table, sizeof table / sizeof *table, false);
}

static void a_parser_can_stop_at_the_first_argument(void **state) {
    (void)state;
    static const struct row table[] = {
        {"-a x -b", "a- n=7 c=1 args=[x][-b]"},
        {"-n 3 x --nope", "-- n=3 c=1 args=[x][--nope]"},
        {"-- x -b", "-- n=7 c=1 args=[x][-b]"},
        {"--nope x", "unknown flag: --nope"},
    };
    check_rows(table, sizeof table / sizeof *table, true);
}

static void words_are_joined(void **state) {
    (void)state;
    static const char *const one[] = {"a", NULL}, *const two[] = {"a", "b", NULL};
    struct arena a = {0};
    assert_true(str_is(opt_words_join(&a, one, ", ", " or "), "a"));
    assert_true(str_is(opt_words_join(&a, two, ", ", " or "), "a or b"));
    assert_true(str_is(opt_words_join(&a, choices, ", ", " or "), "red, green or blue"));
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_parsed),
        cmocka_unit_test(errors_are_in_the_words_of_pflag),
        cmocka_unit_test(a_parser_can_stop_at_the_first_argument),
        cmocka_unit_test(words_are_joined),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
