#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "api/selector_index.h"

/* Selectors in the order in which they are added: the scope, and the text. */
static const struct row {
    const char *scope, *text;
} rows[] = {
    {"a", "app=web"},
    {"a", "app in (web,api,web)"},
    {"a", "app"},
    {"a", "!app"},
    {"a", "app notin (web)"},
    {"a", ""},
    {"a", "app=web,tier=front"},
    {"a", "app=web,tier=back"},
    {"a", "tier,app!=api"},
    {"a", "n>3"},
    {"a", "n<3,app"},
    {"b", "app=web"},
    {"b", "!zone"},
    {"a", "empty="},
};
enum { ROWS = sizeof rows / sizeof *rows };

struct world {
    struct arena arena;
    struct selector *selectors[ROWS];
    struct selector_index index;
};

static void start(struct world *w, size_t n) {
    *w = (struct world){.index = SELECTOR_INDEX_INIT(7)};
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(
            selector_parse(&w->arena, str_of(rows[i].text), &w->selectors[i], &(struct err){0}), 0);
        selector_index_add(&w->index, str_of(rows[i].scope), w->selectors[i], &w->selectors[i]);
    }
    selector_index_seal(&w->index);
}

static void end(struct world *w) {
    selector_index_release(&w->index);
    arena_release(&w->arena);
}

/* Finds what asking the first `end` selectors finds, in the same order. */
static void check(struct world *w, struct selector_search *search, const char *scope,
                  const struct labels *labels, size_t end) {
    selector_search_start(search, &w->index, str_of(scope), labels, end);
    for (size_t i = 0; i < end; i++) {
        if (strcmp(rows[i].scope, scope) != 0 || !selector_matches(w->selectors[i], labels))
            continue;
        struct selector **found = selector_search_next(search);
        if (found != &w->selectors[i])
            fail_msg("scope %s: '%s' instead of '%s'", scope,
                     found ? rows[found - w->selectors].text : "nothing", rows[i].text);
    }
    assert_null(selector_search_next(search));
}

/* Every combination of some values of some labels; the first value stands for no label. */
static const struct {
    const char *key, *values[4];
} choices[] = {
    {"app", {NULL, "api", "db", "web"}},
    {"empty", {NULL, "", "full", ""}},
    {"n", {NULL, "2", "3", "4"}},
    {"tier", {NULL, "back", "front", "x"}},
};
enum { CHOICES = sizeof choices / sizeof *choices };

static void finds_what_asking_all_finds(void **state) {
    (void)state;
    struct world w;
    struct selector_search search = {0};
    start(&w, ROWS);
    for (unsigned code = 0; code < 1U << 2 * CHOICES; code++) {
        struct label v[CHOICES];
        struct labels labels = {v, 0};
        for (size_t i = 0; i < CHOICES; i++) {
            const char *value = choices[i].values[code >> 2 * i & 3];
            if (value)
                v[labels.n++] = (struct label){str_of(choices[i].key), str_of(value)};
        }
        check(&w, &search, "a", &labels, ROWS);
        check(&w, &search, "a", &labels, code % ROWS);
        check(&w, &search, "b", &labels, ROWS);
        check(&w, &search, "c", &labels, ROWS);
    }
    selector_search_release(&search);
    end(&w);
}

static void an_empty_index_finds_nothing(void **state) {
    (void)state;
    struct world w;
    struct selector_search search = {0};
    struct label label = {STR("app"), STR("web")};
    start(&w, 0);
    selector_search_start(&search, &w.index, STR("a"), &(struct labels){&label, 1}, SIZE_MAX);
    assert_null(selector_search_next(&search));
    selector_search_release(&search);
    end(&w);
}

static void selectors_that_match_nothing_are_not_found(void **state) {
    (void)state;
    struct arena a = {0};
    struct selector_index x = SELECTOR_INDEX_INIT(7);
    struct selector_search search = {0};
    struct selector *broken;
    int item;
    assert_int_equal(selector_parse(&a, STR("app in"), &broken, &(struct err){0}), -1);
    selector_index_add(&x, STR("a"), broken, &item);
    selector_index_add(&x, STR("a"), NULL, &item);
    selector_index_seal(&x);
    selector_search_start(&search, &x, STR("a"), &(struct labels){0}, SIZE_MAX);
    assert_null(selector_search_next(&search));
    selector_search_release(&search);
    selector_index_release(&x);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_what_asking_all_finds),
        cmocka_unit_test(an_empty_index_finds_nothing),
        cmocka_unit_test(selectors_that_match_nothing_are_not_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
