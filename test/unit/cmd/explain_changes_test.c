/* What is told of two explanations, one later than the other. */
#include "../data.h"

#include "cmd/report/explain_changes.h"

enum { MOST_NODES = 8 };

static struct str text(const char *s) {
    return s ? (struct str){s, strlen(s)} : (struct str){0};
}

/* The state of nodes in pairs of name and causes; NULL ends them. */
static struct explain_state state_of(const char *verdict, const char *const *pairs) {
    struct explain_state s = {.verdict = text(verdict)};
    s.nodes = arena_array(&s.arena, struct explain_state_node, MOST_NODES);
    for (; pairs[2 * s.node_count]; s.node_count++)
        s.nodes[s.node_count] = (struct explain_state_node){text(pairs[2 * s.node_count]),
                                                            text(pairs[2 * s.node_count + 1])};
    return s;
}

static const struct {
    const char *verdict_before, *verdict, *before[2 * MOST_NODES], *now[2 * MOST_NODES], *told;
} rows[] = {
    {"v\n", "v\n", {"a", "X: 1", NULL}, {"a", "X: 1", NULL}, ""},
    {"v\n", "w\n", {"a", "", NULL}, {"a", "", NULL}, "w\n"},
    {"v\n",
     "v\n",
     {"a", "X: 1\nY: 2", NULL},
     {"a", "Y: 2\nZ: 3", NULL},
     "  1 node: a\n    + Z: 3\n    - X: 1\n"},
    {"v\n",
     "v\n",
     {"a", "X: 1", "b", "X: 1", "c", "", NULL},
     {"a", "", "b", "", "c", "X: 1", NULL},
     "  2 nodes fit now: a, b\n    - X: 1\n  1 node fits no more: c\n    + X: 1\n"},
    {"v\n",
     "v\n",
     {"b", "X: 1", "d", "", NULL},
     {"a", "", "c", "X: 1", NULL},
     "  2 nodes gone: b, d\n  1 node new, and fits: a\n  1 node new: c\n    + X: 1\n"},
    {"v\n", "v\n", {NULL}, {"a", "", NULL}, "  1 node new, and fits: a\n"},
};

static void only_what_differs_is_told(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        AUTO(buf_release) struct buf out = BUF_INIT(1 << 16);
        struct explain_state before = state_of(rows[i].verdict_before, rows[i].before);
        struct explain_state now = state_of(rows[i].verdict, rows[i].now);
        bool differs = explain_changes_write(&out, &before, &now);
        buf_add_char(&out, '\0');
        assert_string_equal(out.p, rows[i].told);
        assert_int_equal(differs, rows[i].told[0] != '\0');
        explain_state_release(&before);
        explain_state_release(&now);
    }
}

/* Many nodes of one change are one line. */
static void lines_are_short(void **state) {
    static const char *const many[] = {"a", "", "b", "", "c", "", "d", "",
                                       "e", "", "f", "", "g", "", NULL};
    static const char *const none[] = {NULL};
    (void)state;
    AUTO(buf_release) struct buf out = BUF_INIT(1 << 16);
    struct explain_state before = state_of("", none), now = state_of("", many);
    assert_true(explain_changes_write(&out, &before, &now));
    assert_true(str_is(buf_view(&out), "  7 nodes new, and fit: a, b, c, d, e, and 2 more\n"));
    explain_state_release(&before);
    explain_state_release(&now);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_what_differs_is_told),
        cmocka_unit_test(lines_are_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
