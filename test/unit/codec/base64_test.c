// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on

#include "codec/base64.h"
#include "vectors.h"

static int run_decode(struct arena *a, struct str in, struct buf *out, struct err *err) {
    struct str bytes;
    if (base64_decode(a, in, &bytes, err) < 0)
        return -1;
    buf_add(out, bytes);
    return 0;
}

static void decode(void **state) {
    (void)state;
    assert_true(vectors_run("b64", run_decode) > 20);
}

static void round_trip(void **state) {
    (void)state;
    struct arena a = {0};
    char bytes[256];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (char)(i * 7);
    for (size_t n = 0; n <= sizeof bytes; n++) {
        struct buf text = BUF_INIT(1024);
        struct str back;
        base64_write(&text, (struct str){bytes, n});
        assert_int_equal(text.n, (n + 2) / 3 * 4);
        assert_int_equal(base64_decode(&a, buf_view(&text), &back, NULL), 0);
        assert_true(str_eq(back, (struct str){bytes, n}));
        buf_release(&text);
    }
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decode),
        cmocka_unit_test(round_trip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
