/*
 * Three quantities, a line each: the canonical text reads back as the same amount and is its own
 * canonical text, the order is one and agrees with signs and differences, sums undo differences,
 * and no conversion overflows in the C sense.
 */
#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/limits.h"
#include "quantity/quantity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct str canonical(struct arena *a, const struct quantity *q) {
    struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    quantity_write_canonical(&text, q);
    assert(!text.full && text.n > 0);
    struct str copy = arena_str(a, buf_view(&text));
    buf_release(&text);
    return copy;
}

/* Does the canonical text tell the whole amount? Upstream leaves suffixes out that do not exist,
 * cuts binary amounts at 2^63 - 1, and lets exponents near 2^31 wrap around. */
static bool is_readable(const struct quantity *q) {
    double size = fabs(quantity_to_double(q));
    return q->format == QUANTITY_DECIMAL_EXPONENT ? size < 1e300
           : q->format == QUANTITY_BINARY_SI      ? size < 9e18
                                                  : size < 1e20;
}

static void check_text(struct arena *a, const struct quantity *q) {
    struct quantity back;
    struct str text = canonical(a, q);
    if (!is_readable(q))
        return;
    assert(quantity_parse(a, text, &back, NULL) == 0);
    assert(quantity_cmp(q, &back) == 0);
    back.format = q->format; /* 1025 in BinarySI has no suffix to tell */
    assert(str_eq(canonical(a, &back), text));
}

static void check_conversions(struct arena *a, const struct quantity *q) {
    int64_t integer;
    if (quantity_to_i64(q, &integer)) {
        struct quantity again = quantity_of_i64(integer, q->format);
        assert(quantity_cmp(q, &again) == 0);
        assert(quantity_value(q) == integer);
    }
    (void)quantity_milli_value(q);
    (void)quantity_scaled_value(q, -9);
    struct quantity up = *q;
    bool exact = quantity_round_up(a, &up, -3);
    assert(exact == (quantity_cmp(&up, q) == 0));
    assert(exact || quantity_cmp(&up, q) == quantity_sign(q));
}

/* Far apart the short form's 32-bit scales wrap around, as upstream's do. */
static bool is_far(const struct quantity *q) {
    return !q->dec && q->scale > INT32_MAX - 10;
}

static void check_pair(struct arena *a, const struct quantity *x, const struct quantity *y) {
    struct quantity sum, difference, back;
    struct err err = {0};
    int order = quantity_cmp(x, y);
    assert(order == -quantity_cmp(y, x));
    if (quantity_add(a, x, y, &sum, &err) < 0 || quantity_sub(a, x, y, &difference, &err) < 0) {
        assert(err.code == ERR_TOO_LARGE);
        return;
    }
    if (is_far(x) || is_far(y))
        return;
    assert(quantity_sign(&difference) == order);
    assert(quantity_sub(a, &sum, y, &back, &err) == 0 && quantity_cmp(&back, x) == 0);
    assert(quantity_add(a, &difference, y, &back, &err) == 0 && quantity_cmp(&back, x) == 0);
    check_text(a, &sum);
    check_conversions(a, &difference);
}

static void check_order(const struct quantity *x, const struct quantity *y,
                        const struct quantity *z) {
    assert(quantity_cmp(x, x) == 0);
    if (quantity_cmp(x, y) <= 0 && quantity_cmp(y, z) <= 0)
        assert(quantity_cmp(x, z) <= 0);
}

static bool read(struct arena *a, struct str text, struct quantity *out) {
    struct err err = {0};
    if (quantity_parse(a, text, out, &err) < 0) {
        assert(err.code == ERR_INVALID && err.msg[0]);
        return false;
    }
    check_text(a, out);
    check_conversions(a, out);
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena a = {0};
    struct str rest = {(const char *)data, size}, line;
    struct quantity q[3];
    size_t n = 0;
    for (int i = 0; i < 3; i++) {
        if (i < 2)
            str_cut(rest, '\n', &line, &rest);
        else
            line = rest;
        n += read(&a, line, &q[n]);
    }
    for (size_t i = 0; i < n * n; i++)
        check_pair(&a, &q[i % n], &q[i / n]);
    for (size_t i = 0; i < n * n * n; i++)
        check_order(&q[i % n], &q[i / n % n], &q[i / n / n]);
    arena_release(&a);
    return 0;
}
