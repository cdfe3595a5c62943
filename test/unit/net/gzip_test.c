/* Answers in gzip can be read again. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>
#include <stdlib.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "net/net.h"

static void inflate_all(struct str packed, char *to, size_t n) {
    z_stream z = {0};
    union {
        const char *from;
        Bytef *to;
    } p = {.from = packed.p};
    z.next_in = p.to;
    z.avail_in = (uInt)packed.n;
    z.next_out = (Bytef *)to;
    z.avail_out = (uInt)n;
    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, n);
    inflateEnd(&z);
}

/* In pieces of this length; returns how long it became. */
static size_t check(const char *text, size_t n, size_t piece) {
    struct net_gzip *g = net_gzip_new();
    struct buf out = BUF_INIT(SIZE_MAX);
    char *back = xmalloc(n + 1);
    for (size_t at = 0; at < n; at += piece)
        net_gzip_add(g, (struct str){text + at, n - at < piece ? n - at : piece}, false, &out);
    net_gzip_add(g, STR(""), true, &out);
    inflate_all(buf_view(&out), back, n);
    assert_memory_equal(text, back, n);
    size_t length = buf_view(&out).n;
    net_gzip_free(g);
    buf_release(&out);
    free(back);
    return length;
}

enum { N = 300000 };

static void test_pieces_become_one(void **state) {
    static char text[N];
    (void)state;
    for (int i = 0; i < N; i++)
        text[i] = (char)('a' + i % 17 + i / 1000 % 7);
    assert_true(check(text, N, N) < N / 10);
    check(text, N, 1000);
    check(text, 100, 1);
    check(text, 0, 1);
    net_gzip_free(NULL);
}

/* What cannot be made smaller has room, too. */
static void test_noise_fits(void **state) {
    static char text[N];
    uint32_t draw = 1;
    (void)state;
    for (int i = 0; i < N; i++)
        text[i] = (char)((draw = draw * 1664525 + 1013904223) >> 24);
    check(text, N, N);
    check(text, N, 70000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_become_one),
        cmocka_unit_test(test_noise_fits),
    };
    return cmocka_run_group_tests_name("net/gzip", tests, NULL, NULL);
}
