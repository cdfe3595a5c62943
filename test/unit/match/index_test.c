/* Long lists of tolerations: the index finds what asking one after the other finds. */
#include "context.h"
#include "match/match_int.h"

static uint32_t next(uint32_t *state, uint32_t below) {
    *state = *state * 1664525 + 1013904223;
    return (*state >> 8) % below;
}

#define PICK(state, list) ((list)[next(state, COUNT_OF(list))])

static const char *const keys[] = {"a", "b", "c", ""};
static const char *const effects[] = {
    "NoSchedule", "PreferNoSchedule", "NoExecute", "Odd", "Other", ""};
static const char *const operators[] = {"",         "Equal",    "Exists",   "Lt",  "Gt",
                                        "SemverLt", "SemverGt", "SemverEq", "Near"};
static const char *const values[] = {
    "",      "x",      "-5",          "0",     "7",          "7",          "40",
    "007",   "v1.2.3", "1.2.3",       "1.2.4", "1.2.3-rc.1", "1.2.3-rc.2", "1.10.0",
    "2.0.0", "1.2.3+", "1.2.3-a.b.c", "10.0",  "2147483648", "1.2.3-a.b.d"};
static const char *const expressions[] = {"true",     "false",   "fails",
                                          "nonsense", "value=x", "value=7"};

static void write_toleration(struct buf *out, uint32_t *state, const char *key) {
    if (next(state, 40) == 0) {
        buf_addf(out, "{\"expression\":\"%s\"}", PICK(state, expressions));
        return;
    }
    buf_addf(out, "{\"key\":\"%s\",\"operator\":\"%s\",", key, PICK(state, operators));
    buf_addf(out, "\"value\":\"%s\",", PICK(state, values));
    buf_addf(out, "\"effect\":\"%s\"}", PICK(state, effects));
}

static void write_taint(struct buf *out, uint32_t *state) {
    buf_addf(out, "{\"key\":\"%s\",", PICK(state, keys));
    buf_addf(out, "\"value\":\"%s\",", PICK(state, values));
    buf_addf(out, "\"effect\":\"%s\"}", PICK(state, effects));
}

static uint32_t find_one_by_one(const struct match_tolerations *list,
                                const struct match_taint *taint) {
    for (uint32_t i = 0; i < list->n; i++)
        if (match_tolerates(&list->v[i], taint))
            return i;
    return MATCH_NONE;
}

/* Keys that no taint has make most lists match late or not at all. */
static struct match_tolerations *make_list(struct context *c, uint32_t *state, size_t n) {
    AUTO(buf_release) struct buf text = BUF_INIT(1 << 20);
    uint32_t strangers = next(state, 100);
    for (size_t i = 0; i < n; i++) {
        buf_add(&text, i ? STR(",") : STR("["));
        write_toleration(&text, state, next(state, 100) < strangers ? "z" : PICK(state, keys));
    }
    buf_add(&text, STR("]"));
    buf_add_char(&text, '\0');
    return context_tolerations(c, text.p);
}

static struct match_taints *make_taints(struct context *c, uint32_t *state) {
    AUTO(buf_release) struct buf text = BUF_INIT(1 << 20);
    for (size_t i = 0; i < 100; i++) {
        buf_add(&text, i ? STR(",") : STR("["));
        write_taint(&text, state);
    }
    buf_add(&text, STR("]"));
    buf_add_char(&text, '\0');
    return context_taints(c, text.p);
}

static void the_first_match_is_the_same(void **state) {
    (void)state;
    uint32_t random = 1;
    for (size_t round = 0; round < 300; round++) {
        struct context c;
        context_open(&c, round % 3 ? ALL_GATES : "TaintTolerationCEL", 0);
        struct match_tolerations *list =
            make_list(&c, &random, MATCH__INDEX_LEAST + next(&random, 200));
        struct match_taints *taints = make_taints(&c, &random);
        assert_non_null(list->index);
        for (uint32_t i = 0; i < taints->n; i++)
            assert_int_equal(match_find_toleration(list, &taints->v[i]),
                             find_one_by_one(list, &taints->v[i]));
        context_close(&c);
    }
}

static void short_lists_have_no_index(void **state) {
    (void)state;
    struct context c;
    uint32_t random = 1;
    context_open(&c, ALL_GATES, 0);
    assert_null(make_list(&c, &random, MATCH__INDEX_LEAST - 1)->index);
    assert_non_null(make_list(&c, &random, MATCH__INDEX_LEAST)->index);
    context_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_match_is_the_same),
        cmocka_unit_test(short_lists_have_no_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
