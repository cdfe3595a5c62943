/* Unified diffs. Those of objects are compared with upstream's in test/vectors; here are small
 * texts, long ones, and the property of all: what a diff says makes the one text of the other. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "base/limits.h"
#include "codec/diff.h"

static void expect(const char *from, const char *to, const char *want) {
    struct buf text = BUF_INIT(1 << 16);
    assert_true(diff_write(&text, str_of(from), str_of(to)));
    if (!str_is(buf_view(&text), want))
        fail_msg("want %s\n got %.*s", want, STR_ARG(buf_view(&text)));
    buf_release(&text);
}

static void small_texts(void **state) {
    (void)state;
    expect("", "", "");
    expect("a\nb", "a\nb", "");
    expect("a", "b", "@@ -1 +1 @@\n-a\n+b\n");
    expect("a\nb", "a", "@@ -1,2 +1 @@\n a\n-b\n");
    expect("a", "x\na", "@@ -1 +1,2 @@\n+x\n a\n");
    expect("1\n2\n3\n4\n5\n6\n7\n8", "1\n2\n3\n4\nx\n6\n7\n8",
           "@@ -2,7 +2,7 @@\n 2\n 3\n 4\n-5\n+x\n 6\n 7\n 8\n");
}

/* Seven equal lines between two changes part them, six do not. */
static void changes_that_are_near_stand_together(void **state) {
    (void)state;
    expect("a\n1\n2\n3\n4\n5\n6\nb", "x\n1\n2\n3\n4\n5\n6\ny",
           "@@ -1,8 +1,8 @@\n-a\n+x\n 1\n 2\n 3\n 4\n 5\n 6\n-b\n+y\n");
    expect("a\n1\n2\n3\n4\n5\n6\n7\nb", "x\n1\n2\n3\n4\n5\n6\n7\ny",
           "@@ -1,4 +1,4 @@\n-a\n+x\n 1\n 2\n 3\n@@ -6,4 +6,4 @@\n 5\n 6\n 7\n-b\n+y\n");
}

/* The longest run comes first, where another diff would keep the first line. */
static void the_longest_run_is_kept(void **state) {
    (void)state;
    expect("a\nb", "a\nc\na\nb", "@@ -1,2 +1,4 @@\n+a\n+c\n a\n b\n");
}

static void add_lines(struct buf *text, size_t n, const char *line) {
    for (size_t i = 0; i < n; i++)
        buf_addf(text, "%s%s", text->n ? "\n" : "", line);
}

/* In a text of 200 lines, one that stands more than three times starts no run: lines that only
 * repeat it are replaced as a whole. */
static void lines_that_stand_often_start_no_run(void **state) {
    (void)state;
    struct buf from = BUF_INIT(1 << 20), to = BUF_INIT(1 << 20), text = BUF_INIT(1 << 20);
    add_lines(&from, 1, "a");
    add_lines(&from, 199, "x");
    add_lines(&to, 200, "x");
    assert_true(diff_write(&text, buf_view(&from), buf_view(&to)));
    assert_true(str_starts(buf_view(&text), STR("@@ -1,200 +1,200 @@\n-a\n-x\n")));
    buf_release(&from);
    buf_release(&to);
    buf_release(&text);
}

/* So many different lines, each so often, and `more` lines that stand once: the lines of two such
 * texts meet 256 * 128 * 128 times, and once more for each of the others. */
static void add_repeated_lines(struct buf *text, size_t more) {
    char line[32];
    for (size_t i = 0; i < 256; i++) {
        snprintf(line, sizeof line, "%zu", i);
        add_lines(text, 128, line);
    }
    for (size_t i = 0; i < more; i++) {
        snprintf(line, sizeof line, "more %zu", i);
        add_lines(text, 1, line);
    }
}

static bool has_diff(size_t more) {
    struct buf from = BUF_INIT(1 << 20), to = BUF_INIT(1 << 20), text = BUF_INIT(1 << 20);
    add_repeated_lines(&from, more);
    add_repeated_lines(&to, more);
    add_lines(&to, 1, "-");
    bool done = diff_write(&text, buf_view(&from), buf_view(&to));
    assert_int_equal(text.n > 0, done);
    buf_release(&from);
    buf_release(&to);
    buf_release(&text);
    return done;
}

static void pairs_are_bounded(void **state) {
    (void)state;
    size_t more = LIMIT_DIFF_PAIRS - 256 * 128 * 128;
    assert_true(has_diff(more));
    assert_false(has_diff(more + 1));
}

/* ---- any texts ---- */

static uint32_t draw(uint64_t *state, uint32_t most) {
    *state = *state * 6364136223846793005U + 1442695040888963407U;
    return (uint32_t)(*state >> 33) % most;
}

/* Up to so many lines, of so many different ones; some stand more often than others. */
static void draw_text(uint64_t *state, struct buf *out, uint32_t lines, uint32_t different) {
    for (uint32_t n = draw(state, lines) + 1; n-- > 0;)
        buf_addf(out, "%s%u", out->n ? "\n" : "", draw(state, draw(state, different) + 1));
}

/* Makes the new text of the old one and of the diff, whose header lines name the first line that
 * each part is about. */
static void apply(struct buf *out, struct str from, struct str diff) {
    struct str line, old;
    size_t at = 0;
    while (str_cut(diff, '\n', &line, &diff) || line.n) {
        char mark = line.p[0];
        if (mark == '@') {
            size_t start = 0;
            const char *p = line.p + 4;
            for (; *p >= '0' && *p <= '9'; p++)
                start = start * 10 + (size_t)(*p - '0');
            bool is_empty = p[0] == ',' && p[1] == '0';
            for (; at + 1 < start + is_empty; at++) {
                str_cut(from, '\n', &old, &from);
                buf_addf(out, "%.*s\n", STR_ARG(old));
            }
            continue;
        }
        if (mark != '+') {
            str_cut(from, '\n', &old, &from);
            assert_true(str_eq(old, str_sub(line, 1, line.n)));
            at++;
        }
        if (mark != '-')
            buf_addf(out, "%.*s\n", STR_ARG(str_sub(line, 1, line.n)));
        if (!diff.n)
            break;
    }
    if (from.n)
        buf_addf(out, "%.*s\n", STR_ARG(from));
}

static void a_diff_makes_the_one_text_of_the_other(void **state) {
    (void)state;
    uint64_t seed = 1;
    for (int i = 0; i < 5000; i++) {
        struct buf from = BUF_INIT(1 << 16), to = BUF_INIT(1 << 16);
        struct buf text = BUF_INIT(1 << 16), made = BUF_INIT(1 << 16);
        draw_text(&seed, &from, 30, 10);
        draw_text(&seed, &to, 30, 10);
        assert_true(diff_write(&text, buf_view(&from), buf_view(&to)));
        apply(&made, buf_view(&from), buf_view(&text));
        buf_add_char(&to, '\n');
        if (!str_eq(buf_view(&to), buf_view(&made)))
            fail_msg("%d: of\n%.*s\n%.*s became\n%.*s", i, STR_ARG(buf_view(&from)),
                     STR_ARG(buf_view(&text)), STR_ARG(buf_view(&made)));
        buf_release(&from);
        buf_release(&to);
        buf_release(&text);
        buf_release(&made);
    }
}

/* ---- upstream's way, as it is described: all lines are looked at again for each run ---- */

enum { MOST_LINES = 400 };

struct texts {
    struct str a[MOST_LINES], b[MOST_LINES];
    size_t an, bn;
    bool stays[MOST_LINES]; /* of a */
};

static size_t split(struct str text, struct str *lines) {
    size_t n = 0;
    while (str_cut(text, '\n', &lines[n], &text))
        n++;
    return n + 1;
}

static bool starts_runs(const struct texts *t, struct str line) {
    size_t n = 0;
    for (size_t j = 0; j < t->bn; j++)
        n += str_eq(t->b[j], line);
    return t->bn < 200 || n <= t->bn / 100 + 1;
}

/* Lines that stay: of a from a1 to a2, beside b from b1 to b2. */
static void mark_runs(struct texts *t, size_t a1, size_t a2, size_t b1, size_t b2) {
    size_t a = a1, b = b1, n = 0;
    for (size_t i = a1; i < a2; i++)
        for (size_t j = b1; j < b2; j++) {
            size_t k = 0;
            while (i + k < a2 && j + k < b2 && str_eq(t->a[i + k], t->b[j + k]) &&
                   starts_runs(t, t->a[i + k]))
                k++;
            if (k > n)
                a = i, b = j, n = k;
        }
    for (; a > a1 && b > b1 && str_eq(t->a[a - 1], t->b[b - 1]); n++)
        a--, b--;
    while (a + n < a2 && b + n < b2 && str_eq(t->a[a + n], t->b[b + n]))
        n++;
    if (!n)
        return;
    for (size_t i = 0; i < n; i++)
        t->stays[a + i] = true;
    mark_runs(t, a1, a, b1, b);
    mark_runs(t, a + n, a2, b + n, b2);
}

/* How many lines of the diff have that mark. */
static size_t count_marks(struct str diff, char mark) {
    struct str line;
    size_t n = 0;
    while (str_cut(diff, '\n', &line, &diff))
        n += line.p[0] == mark;
    return n;
}

static void lines_stay_that_stay_upstream(void **state) {
    (void)state;
    static struct texts t;
    uint64_t seed = 2;
    for (int i = 0; i < 300; i++) {
        uint32_t lines = i % 10 ? 60 : MOST_LINES;
        struct buf from = BUF_INIT(1 << 16), to = BUF_INIT(1 << 16), text = BUF_INIT(1 << 16);
        t = (struct texts){0};
        draw_text(&seed, &from, lines, 2 + (uint32_t)i);
        draw_text(&seed, &to, lines, 2 + (uint32_t)i);
        t.an = split(buf_view(&from), t.a);
        t.bn = split(buf_view(&to), t.b);
        mark_runs(&t, 0, t.an, 0, t.bn);
        size_t gone = 0;
        for (size_t k = 0; k < t.an; k++)
            gone += !t.stays[k];
        assert_true(diff_write(&text, buf_view(&from), buf_view(&to)));
        assert_int_equal(count_marks(buf_view(&text), '-'), gone);
        buf_release(&from);
        buf_release(&to);
        buf_release(&text);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_texts),
        cmocka_unit_test(changes_that_are_near_stand_together),
        cmocka_unit_test(the_longest_run_is_kept),
        cmocka_unit_test(lines_that_stand_often_start_no_run),
        cmocka_unit_test(pairs_are_bounded),
        cmocka_unit_test(a_diff_makes_the_one_text_of_the_other),
        cmocka_unit_test(lines_stay_that_stay_upstream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
