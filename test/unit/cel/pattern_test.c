/* Patterns: what is called plain compiles for certain, and a program compiles it once, when it is
 * first needed, whichever thread comes first. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/limits.h"
#include "cel/kit/pattern_int.h"
#include "cel/kit/regex_int.h"
#include "cel/run/plan_int.h"

/* ---- plain patterns ---- */

static const struct {
    const char *text;
    bool plain;
} rows[] = {
    {"", true},
    {"^zone-a[12]-rack-[0-9]+$", true},
    {"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$", true},
    {"^(?:dev|test|prod)-\\d+?\\.[\\w.-]*$", true},
    {"a|", true},
    {"()", true},
    {"[^\\s\\S]", true},
    {"[a-]", true},
    {"[--]", true},
    {"a??", true},
    {"*a", false},
    {"a**", false},
    {"a*??", false},
    {"^*", false},
    {"(*)", false},
    {"|+", false},
    {"(", false},
    {")", false},
    {"a)(", false},
    {"(?i)a", false},
    {"(?P<n>a)", false},
    {"a{2}", false},
    {"{", false},
    {"\\", false},
    {"\\pL", false},
    {"\\1", false},
    {"\\Qa", false},
    {"[", false},
    {"[]", false},
    {"[a", false},
    {"[z-a]", false},
    {"[a-", false},
    {"[a-.]", false},
    {"[.-a]", false},
    {"[--a]", false},
    {"[[:alpha:]]", false},
    {"[\\b]", false},
    {"\xc3\xa9", false},
};

static void kinds_are_told_apart(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (cel__pattern_plain(str_of(rows[i].text)) != rows[i].plain)
            fail_msg("%s", rows[i].text);
    assert_false(cel__pattern_plain((struct str){"a\0b", 3}));
}

/* A pattern that is called plain compiles, to a small part of what is allowed. Answers whether it
 * is. */
static bool holds(struct str pattern) {
    enum { SMALL_PART = 16 };
    if (!cel__pattern_plain(pattern))
        return false;
    AUTO(buf_release) struct buf error = BUF_INIT(4096);
    size_t steps = LIMIT_CEL_REGEX_STEPS;
    struct cel_regex *re = cel__regex_new(pattern, &steps, &error);
    if (!re || LIMIT_CEL_REGEX_STEPS - steps > LIMIT_CEL_REGEX_STEPS / SMALL_PART)
        fail_msg("%.*s: %.*s", STR_ARG(pattern), STR_ARG(buf_view(&error)));
    cel__regex_free(re);
    return true;
}

static const char *const pieces[] = {
    "a", "z", ".",  "-", "_",   "\\.",  "\\W",   "^",   "$",  "|", "(",  "(?:", ")",   "*", "+",
    "?", "[", "[^", "]", "a-z", "[^a]", "[0-9]", "{2}", "\\", ":", "(?", "é",   "9-0", " "};
enum { PIECES = sizeof pieces / sizeof *pieces };

/* The pattern of `count` pieces that a number chooses. */
static struct str compose(struct buf *out, uint64_t number, size_t count) {
    buf_clear(out);
    for (; count > 0; count--, number /= PIECES)
        buf_add(out, str_of(pieces[number % PIECES]));
    return buf_view(out);
}

static void all_short_patterns_hold(void **state) {
    (void)state;
    AUTO(buf_release) struct buf text = BUF_INIT(4096);
    size_t plain = 0, all = 0;
    for (size_t count = 1, numbers = PIECES; count <= 3; count++, numbers *= PIECES) {
        for (uint64_t i = 0; i < numbers; i++)
            plain += holds(compose(&text, i, count));
        all += numbers;
    }
    assert_in_range(plain, all / 8, all / 2);
}

/* Pieces at random; one piece as often as there is room; groups as deep as they can be. */
static void long_patterns_hold(void **state) {
    (void)state;
    AUTO(buf_release) struct buf text = BUF_INIT(4096);
    uint64_t number = 1;
    size_t plain = 0;
    for (int i = 0; i < 20000; i++) {
        number = number * 6364136223846793005U + 1442695040888963407U;
        plain += holds(compose(&text, number >> 16, 4 + (size_t)i % 6));
    }
    assert_in_range(plain, 500, 20000);
    for (size_t i = 0; i < PIECES; i++) {
        buf_clear(&text);
        for (size_t n = 256 / str_of(pieces[i]).n; n > 0; n--)
            buf_add(&text, str_of(pieces[i]));
        holds(buf_view(&text));
    }
    buf_clear(&text);
    buf_add_fill(&text, '(', 128);
    buf_add_fill(&text, ')', 128);
    assert_true(holds(buf_view(&text)));
    buf_add_char(&text, 'a');
    assert_false(holds(buf_view(&text)));
}

/* ---- patterns of programs ---- */

static const struct cel_var var = {STR_INIT("text"), STR_INIT("string")};

static struct cel_env *new_env(void) {
    return cel_env_new(&(struct cel_env_opts){
        .libs = 1U << CEL_LIB_STD | 1U << CEL_LIB_REGEX, .vars = &var, .var_count = 1});
}

static struct cel_program *new_program(const struct cel_env *env, const char *text) {
    struct arena a = {0};
    struct str error;
    struct cel_program *program = cel_program_new(cel_compile(env, &a, str_of(text), 0), &error);
    arena_release(&a);
    assert_non_null(program);
    return program;
}

static bool is_true(const struct cel_program *program) {
    struct arena a = {0};
    struct cel_value text = cel_of_str(STR("zone-7"));
    struct cel_value v = cel_eval(program, &text, &a, CEL_COST_LIMIT).value;
    arena_release(&a);
    return v.kind == CEL_BOOL && v.b;
}

static void plain_patterns_are_compiled_once_needed(void **state) {
    (void)state;
    struct cel_env *env = new_env();
    struct cel_program *lazy = new_program(env, "text.matches('^zone-[0-9]+$')");
    assert_null(lazy->patterns->re);
    assert_true(is_true(lazy));
    const struct cel_regex *re = lazy->patterns->re;
    assert_non_null(re);
    assert_true(is_true(lazy));
    assert_ptr_equal(lazy->patterns->re, re);
    cel_program_free(lazy);
    struct cel_program *eager = new_program(env, "text.find('[0-9]{1}') == '7'");
    assert_non_null(eager->patterns->re);
    assert_true(is_true(eager));
    cel_program_free(eager);
    struct cel_program *unused = new_program(env, "true || text.matches('a')");
    assert_true(is_true(unused));
    assert_null(unused->patterns->re);
    cel_program_free(unused);
    cel_env_free(env);
}

static void what_fails_says_why_each_time(void **state) {
    (void)state;
    struct cel_pattern p = {.text = STR("(")};
    for (int i = 0; i < 2; i++) {
        AUTO(buf_release) struct buf error = BUF_INIT(4096);
        assert_null(cel__pattern_regex(&p, &error));
        assert_true(str_eq(buf_view(&error), STR("error parsing regexp: missing closing ): `(`")));
    }
}

enum { THREADS = 4, ROUNDS = 50 };

struct team {
    pthread_barrier_t start;
    const struct cel_program *program;
};

static void *evaluate(void *ctx) {
    struct team *t = ctx;
    pthread_barrier_wait(&t->start);
    return is_true(t->program) ? t : NULL;
}

static void threads_share_a_fresh_program(void **state) {
    (void)state;
    struct cel_env *env = new_env();
    for (int round = 0; round < ROUNDS; round++) {
        struct cel_program *program =
            new_program(env, "text.matches('^zone-[0-9]+$') && text.find('[a-z]+') == 'zone'");
        struct team team = {.program = program};
        pthread_t threads[THREADS];
        pthread_barrier_init(&team.start, NULL, THREADS);
        for (int i = 0; i < THREADS; i++)
            assert_int_equal(pthread_create(&threads[i], NULL, evaluate, &team), 0);
        for (int i = 0; i < THREADS; i++) {
            void *good;
            pthread_join(threads[i], &good);
            assert_non_null(good);
        }
        pthread_barrier_destroy(&team.start);
        cel_program_free(program);
    }
    cel_env_free(env);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kinds_are_told_apart),
        cmocka_unit_test(all_short_patterns_hold),
        cmocka_unit_test(long_patterns_hold),
        cmocka_unit_test(plain_patterns_are_compiled_once_needed),
        cmocka_unit_test(what_fails_says_why_each_time),
        cmocka_unit_test(threads_share_a_fresh_program),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
