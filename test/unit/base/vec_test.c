/* Growing arrays of any type. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include <stdbool.h>

#include "base/vec.h"

struct pair {
    int a, b;
};

static void pushing(void **state) {
    (void)state;
    VEC(struct pair) v = {0};
    for (int i = 0; i < 1000; i++)
        vec_push(&v, (struct pair){i, -i});
    assert_int_equal(v.n, 1000);
    assert_true(v.cap >= 1000 && v.cap <= 2000);
    for (int i = 0; i < 1000; i++)
        assert_true(v.v[i].a == i && v.v[i].b == -i);
    const struct pair *memory = v.v;
    vec_clear(&v);
    assert_int_equal(v.n, 0);
    vec_push(&v, (struct pair){1, 2});
    assert_ptr_equal(v.v, memory);
    vec_release(&v);
    assert_null(v.v);
    assert_int_equal(v.n + v.cap, 0);
    vec_push(&v, (struct pair){3, 4});
    assert_int_equal(v.v[0].b, 4);
    vec_release(&v);
}

static void an_element_may_come_from_the_vector_itself(void **state) {
    (void)state;
    VEC(int) v = {0};
    vec_push(&v, 42);
    for (int i = 0; i < 100; i++)
        vec_push(&v, v.v[0]);
    assert_int_equal(v.v[100], 42);
    vec_release(&v);
}

/* By half, once most of it is unused: so whoever takes and gives in turn pays for neither. */
static void shrinking(void **state) {
    (void)state;
    VEC(int) v = {0};
    for (int i = 0; i < 1000; i++)
        vec_push(&v, i);
    size_t most = v.cap;
    v.n = most / 4;
    vec_shrink(&v);
    assert_int_equal(v.cap, most);
    v.n--;
    vec_shrink(&v);
    assert_int_equal(v.cap, most / 2);
    for (int i = 0; i < (int)v.n; i++)
        assert_int_equal(v.v[i], i);
    while (v.n) {
        v.n--;
        vec_shrink(&v);
    }
    assert_true(v.cap && v.cap < 32);
    vec_release(&v);
    vec_shrink(&v);
    assert_null(v.v);
}

static void reserving(void **state) {
    (void)state;
    VEC(char) v = {0};
    vec_reserve(&v, 3);
    assert_int_equal(v.n, 0);
    assert_true(v.cap >= 3);
    vec_reserve(&v, 5000);
    assert_int_equal(v.cap, 5000);
    const char *memory = v.v;
    for (int i = 0; i < 5000; i++)
        vec_push(&v, 'x');
    assert_ptr_equal(v.v, memory);
    vec_release(&v);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushing),
        cmocka_unit_test(an_element_may_come_from_the_vector_itself),
        cmocka_unit_test(shrinking),
        cmocka_unit_test(reserving),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
