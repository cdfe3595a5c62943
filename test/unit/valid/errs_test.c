/* Lists of field errors: each text once, and no more of them than anybody can read. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "valid/valid_int.h"

struct fixture {
    struct arena arena;
    struct valid_errs errs;
    struct valid v;
};

static void set_up(struct fixture *f) {
    *f = (struct fixture){.arena = {0}};
    f->errs = VALID_ERRS_INIT(&f->arena);
    f->v = (struct valid){.errs = &f->errs};
}

/* Errors from one index to before another. */
static void add_required(struct fixture *f, size_t from, size_t to) {
    for (size_t i = from; i < to; i++)
        valid__required(&f->v, AT_INDEX(AT(NULL, "list"), i), NO_DETAIL);
}

static void expect_last(const struct fixture *f, const char *text) {
    const struct valid_error *last = &f->errs.v[f->errs.n - 1];
    if (!str_is(last->text, text))
        fail_msg("want %s\n got %.*s", text, STR_ARG(last->text));
}

static void an_error_that_repeats_another_is_found_and_not_listed(void **state) {
    (void)state;
    static const size_t counts[] = {1, 8, 9, 100, 5000}; /* few, and more of them */
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct fixture f;
        set_up(&f);
        add_required(&f, 0, counts[i]);
        add_required(&f, 0, counts[i]);
        valid__note_left_out(&f.errs);
        assert_int_equal(f.errs.n, counts[i]);
        assert_int_equal(valid__found(&f.v), 2 * counts[i]);
        for (size_t k = 0; k < f.errs.n; k++)
            assert_true(valid_errs_has(&f.errs, &f.errs.v[k]));
        assert_false(valid_errs_has(&f.errs, &(struct valid_error){.text = STR("list[0]")}));
        arena_release(&f.arena);
    }
}

static void a_list_may_be_full_of_errors(void **state) {
    (void)state;
    struct fixture f;
    set_up(&f);
    add_required(&f, 0, LIMIT_FIELD_ERRORS);
    valid__note_left_out(&f.errs);
    assert_int_equal(f.errs.n, LIMIT_FIELD_ERRORS);
    expect_last(&f, "list[9999]: Required value");
    arena_release(&f.arena);
}

static void errors_beyond_the_limit_are_counted(void **state) {
    (void)state;
    struct fixture f;
    set_up(&f);
    add_required(&f, 0, LIMIT_FIELD_ERRORS + 1);
    assert_int_equal(f.errs.n, LIMIT_FIELD_ERRORS);
    assert_int_equal(f.errs.left_out, 1);
    add_required(&f, 0, 2); /* nobody looks whether these are repeated ones */
    assert_int_equal(valid__found(&f.v), LIMIT_FIELD_ERRORS + 3);
    valid__note_left_out(&f.errs);
    assert_int_equal(f.errs.n, LIMIT_FIELD_ERRORS + 1);
    expect_last(&f, "3 further errors are not listed");
    arena_release(&f.arena);
}

/* An error with a value of so many bytes; its number makes it another one. */
static void add_long(struct fixture *f, size_t bytes, size_t number) {
    char *value = arena_alloc(&f->arena, bytes);
    memset(value, 'x', bytes);
    valid__invalid(&f->v, AT_INDEX(AT(NULL, "list"), number), VALUE_Q(((struct str){value, bytes})),
                   "must be short");
}

static void texts_are_limited_but_for_the_last(void **state) {
    (void)state;
    struct fixture f;
    set_up(&f);
    add_long(&f, LIMIT_FIELD_ERROR_BYTES / 2, 0);
    add_long(&f, LIMIT_FIELD_ERROR_BYTES / 4, 1);
    add_long(&f, LIMIT_FIELD_ERROR_BYTES / 4, 2);
    assert_int_equal(f.errs.n, 3);
    add_long(&f, 1, 3);
    valid__note_left_out(&f.errs);
    assert_int_equal(f.errs.n, 4);
    expect_last(&f, "1 further error is not listed");
    arena_release(&f.arena);
}

/* However often it is found, an error is listed once, and others have their place behind it. */
static void repeats_cost_work_but_no_place(void **state) {
    (void)state;
    enum { ONE = 1 << 20 };
    struct fixture f;
    set_up(&f);
    for (size_t i = 1; i < LIMIT_FIELD_ERROR_WORK / ONE; i++)
        add_long(&f, ONE - 100, 0);
    add_required(&f, 0, 1);
    assert_int_equal(f.errs.left_out, 0);
    assert_int_equal(f.errs.n, 2);
    add_long(&f, 2 * ONE, 0);
    add_required(&f, 1, 2);
    assert_int_equal(f.errs.left_out, 1);
    arena_release(&f.arena);
}

/* A tree that does not fit is dropped from the text, but it took its time. */
static void texts_that_are_too_long_cost_work(void **state) {
    (void)state;
    enum { TOO_LONG = 3 * LIMIT_OBJECT_BYTES };
    struct fixture f;
    set_up(&f);
    char *text = arena_array(&f.arena, char, TOO_LONG);
    memset(text, 'a', TOO_LONG);
    struct value value = VALUE_JSON(json_of_str((struct str){text, TOO_LONG}));
    for (size_t i = 0; i < LIMIT_FIELD_ERROR_WORK / TOO_LONG + 1; i++)
        valid__invalid(&f.v, AT(NULL, "a"), value, "must be short");
    assert_int_equal(f.errs.n, 1);
    assert_int_equal(f.errs.left_out, 0);
    add_required(&f, 0, 1);
    assert_int_equal(f.errs.left_out, 1);
    arena_release(&f.arena);
}

static void the_entry_behind_the_errors_has_no_field(void **state) {
    (void)state;
    struct fixture f;
    set_up(&f);
    add_required(&f, 0, LIMIT_FIELD_ERRORS + 2);
    valid__note_left_out(&f.errs);
    const struct valid_error *last = &f.errs.v[f.errs.n - 1];
    assert_int_equal(f.errs.n, LIMIT_FIELD_ERRORS + 1);
    assert_int_equal(last->type, VALID_TOO_MANY);
    assert_true(str_is(last->body, "2 further errors are not listed"));
    assert_true(str_is(last->text, "2 further errors are not listed"));
    assert_int_equal(last->field.n, 0);
    arena_release(&f.arena);
}

static void nul_bytes_are_bytes(void **state) {
    (void)state;
    struct fixture f;
    set_up(&f);
    valid__required(&f.v, AT_DOTTED(AT_KEY(AT(NULL, "a"), STR("x\0y")), STR("p\0q")), NO_DETAIL);
    valid__required(&f.v, AT_DOTTED(AT_KEY(AT(NULL, "a"), STR("x\0z")), STR("")), NO_DETAIL);
    assert_int_equal(f.errs.n, 2);
    assert_true(str_eq(f.errs.v[0].field, STR("a[x\0y].p\0q")));
    assert_true(str_eq(f.errs.v[1].field, STR("a[x\0z][]")));
    arena_release(&f.arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_error_that_repeats_another_is_found_and_not_listed),
        cmocka_unit_test(a_list_may_be_full_of_errors),
        cmocka_unit_test(errors_beyond_the_limit_are_counted),
        cmocka_unit_test(texts_are_limited_but_for_the_last),
        cmocka_unit_test(repeats_cost_work_but_no_place),
        cmocka_unit_test(texts_that_are_too_long_cost_work),
        cmocka_unit_test(nul_bytes_are_bytes),
        cmocka_unit_test(the_entry_behind_the_errors_has_no_field),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
