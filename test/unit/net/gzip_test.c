/* Answers in gzip can be read again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>
#include <stdlib.h>
#include <zlib.h>

#include "net/net.h"

static void count_release(void *owner) {
    ++*(int *)owner;
}

static void inflate_all(struct net_part part, char *to, size_t n) {
    z_stream z = {0};
    union {
        const char *from;
        Bytef *to;
    } p = {.from = part.bytes.p};
    z.next_in = p.to;
    z.avail_in = (uInt)part.bytes.n;
    z.next_out = (Bytef *)to;
    z.avail_out = (uInt)n;
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, n);
    inflateEnd(&z);
}

static void test_parts_become_one(void **state) {
    enum { N = 300000 };
    static char text[N], back[N];
    int released = 0;
    (void)state;
    for (int i = 0; i < N; i++)
        text[i] = (char)('a' + i % 17 + i / 1000 % 7);
    struct net_part parts[] = {
        {{text, 10}, NULL, NULL},
        {{text + 10, 0}, count_release, &released},
        {{text + 10, N - 10}, count_release, &released},
    };
    struct net_part part = net_gzip(parts, 3);
    assert_int_equal(released, 2);
    assert_true(part.bytes.n < N / 10);
    inflate_all(part, back, N);
    assert_memory_equal(text, back, N);
    part.release(part.owner);
    part = net_gzip(NULL, 0);
    inflate_all(part, back, 0);
    part.release(part.owner);
}

/* What cannot be made smaller has room, too. */
static void test_noise_fits(void **state) {
    enum { N = 100000 };
    static char text[N], back[N];
    uint32_t draw = 1;
    (void)state;
    for (int i = 0; i < N; i++)
        text[i] = (char)((draw = draw * 1664525 + 1013904223) >> 24);
    struct net_part part = net_gzip(&(struct net_part){.bytes = {text, N}}, 1);
    inflate_all(part, back, N);
    assert_memory_equal(text, back, N);
    part.release(part.owner);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_become_one),
        cmocka_unit_test(test_noise_fits),
    };
    return cmocka_run_group_tests_name("net/gzip", tests, NULL, NULL);
}
