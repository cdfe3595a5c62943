/* For the tests of quantities: formats by short names, and what is written. */
#ifndef TEST_QUANTITY_TEXTS_H
#define TEST_QUANTITY_TEXTS_H

#include "base/limits.h"
#include "quantity/quantity.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

enum { EXP = QUANTITY_DECIMAL_EXPONENT, BIN = QUANTITY_BINARY_SI, SI = QUANTITY_DECIMAL_SI };

typedef void write_fn(struct buf *out, const struct quantity *q);

static inline void expect_text(write_fn *write, const struct quantity *q, const char *want) {
    struct buf got = BUF_INIT(LIMIT_OBJECT_BYTES);
    write(&got, q);
    buf_add_char(&got, '\0');
    assert_string_equal(got.p, want);
    buf_release(&got);
}

#endif
