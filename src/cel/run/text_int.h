/* Values to text, in the forms that conversions and formatters need besides cel_write. */
#ifndef CEL_RUN_TEXT_INT_H
#define CEL_RUN_TEXT_INT_H

#include "cel/cel_int.h"

/* As Go's 'f' format with the fewest digits that read back: 1e21 is written out, 1 has no point. */
void cel__write_double_fixed(struct buf *out, double d);

/* Seconds as a decimal number with an s behind it, as string(duration) does. */
void cel__write_duration(struct buf *out, int64_t ns);

/* RFC 3339 with the fraction as long as needed, in the value's offset. */
void cel__write_timestamp(struct buf *out, struct cel_value v);

#endif
