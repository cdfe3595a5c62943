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

static void round_trip_for_urls(void **state) {
    (void)state;
    struct arena a = {0};
    struct buf text = BUF_INIT(64);
    struct str back;
    base64_write_url(&text, STR("\xff\xfe\xfd\xfb"));
    assert_true(str_is(buf_view(&text), "__79-w"));
    assert_int_equal(base64_decode_url(&a, buf_view(&text), &back, NULL), 0);
    assert_true(str_is(back, "\xff\xfe\xfd\xfb"));
    assert_int_equal(base64_decode_url(&a, STR("__7\r\n9-w"), &back, NULL), 0);
    static const char *const wrong[] = {"__79-w==", "a", "//79", "a+aa", "a b", "abcde"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(base64_decode_url(&a, str_of(wrong[i]), &back, NULL), -1);
    assert_int_equal(base64_decode_url(&a, STR(""), &back, NULL), 0);
    assert_int_equal(back.n, 0);
    buf_release(&text);
    arena_release(&a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(decode),
        cmocka_unit_test(round_trip),
        cmocka_unit_test(round_trip_for_urls),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
