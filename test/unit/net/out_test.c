/* Output queues: order and counting, whatever is copied, shared, moved and sent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "base/buf.h"
#include "net/out_int.h"

enum { BYTES = 100000 };
static char source[BYTES];

struct owner {
    int held;
};

static void let_go(void *arg) {
    struct owner *owner = arg;
    owner->held--;
}

static struct net_part share(struct owner *owner, size_t from, size_t n) {
    owner->held++;
    return (struct net_part){{source + from, n}, let_go, owner};
}

/* All that waits, as one text. */
static void flatten(const struct net__out *out, struct buf *text) {
    struct iovec iov[4096];
    size_t n = net__out_peek(out, iov, 4096);
    for (size_t i = 0; i < n; i++)
        buf_add(text, (struct str){iov[i].iov_base, iov[i].iov_len});
}

static void check_bytes(const struct net__out *out, size_t from, size_t n) {
    struct buf text = BUF_INIT(1 << 20);
    flatten(out, &text);
    assert_int_equal(out->bytes, n);
    assert_int_equal(text.n, n);
    if (n)
        assert_memory_equal(text.p, source + from, n);
    buf_release(&text);
}

/* Pieces of all sizes, copied and shared by turns, stay in order, also when they are moved to
 * another queue and sent in pieces of other sizes. */
static void test_bytes_stay_in_order(void **state) {
    struct net__out a = {0}, b = {0};
    struct owner owner = {0};
    size_t end = 0, moved = 0, sent = 0;
    uint32_t draw = 1;
    (void)state;
    for (int i = 0; i < 500; i++) {
        draw = draw * 1664525 + 1013904223;
        size_t n = (draw >> 8) % (i % 7 == 0 ? 2000 : 60);
        if (end + n > BYTES)
            break;
        struct net_part part = share(&owner, end, n);
        if (i % 2) {
            net__out_add(&a, &part);
        } else {
            net__out_copy(&a, part.bytes);
            net__parts_drop(&part, 1);
        }
        end += n;
        size_t some = (draw >> 4) % (a.bytes + 1);
        net__out_move(&b, &a, some);
        moved += some;
        check_bytes(&a, moved, end - moved);
        size_t less = (draw >> 12) % (b.bytes + 1);
        net__out_skip(&b, less);
        sent += less;
        check_bytes(&b, sent, moved - sent);
    }
    net__out_release(&a);
    net__out_release(&b);
    assert_int_equal(owner.held, 0);
}

static void test_large_parts_are_not_copied(void **state) {
    struct net__out out = {0}, next = {0};
    struct owner owner = {0};
    struct iovec iov[2];
    struct net_part part = share(&owner, 0, 10000);
    (void)state;
    net__out_add(&out, &part);
    assert_int_equal(net__out_peek(&out, iov, 2), 1);
    assert_ptr_equal(iov[0].iov_base, source);
    net__out_move(&next, &out, 6000);
    net__out_skip(&out, 4000);
    assert_int_equal(owner.held, 1); /* by the part that was moved */
    assert_int_equal(net__out_peek(&next, iov, 2), 1);
    assert_ptr_equal(iov[0].iov_base, source);
    net__out_skip(&next, 6000);
    assert_int_equal(owner.held, 0);
    assert_null(next.v); /* an empty queue owns nothing */
    assert_null(next.block);
}

static void test_small_and_borrowed_parts_are_copied(void **state) {
    struct net__out out = {0};
    struct owner owner = {0};
    char borrowed[] = "abc";
    struct net_part parts[] = {share(&owner, 0, 5), {.bytes = {borrowed, 3}}, {.bytes = STR("")}};
    (void)state;
    assert_int_equal(net__parts_length(parts, 3), 8);
    for (int i = 0; i < 3; i++)
        net__out_add(&out, &parts[i]);
    assert_int_equal(owner.held, 0);
    borrowed[0] = 'x';
    struct buf text = BUF_INIT(64);
    flatten(&out, &text);
    assert_int_equal(text.n, 8);
    assert_memory_equal(text.p + 5, "abc", 3);
    buf_release(&text);
    net__out_release(&out);
    net__out_release(&out);
}

static int fill_source(void **state) {
    (void)state;
    for (size_t i = 0; i < BYTES; i++)
        source[i] = (char)(i * 7 + i / 251);
    return 0;
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bytes_stay_in_order),
        cmocka_unit_test(test_large_parts_are_not_copied),
        cmocka_unit_test(test_small_and_borrowed_parts_are_copied),
    };
    return cmocka_run_group_tests_name("net/out", tests, fill_source, NULL);
}
