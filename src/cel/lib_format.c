/* Named formats. */
#include "cel/opaque_int.h"

void cel__format_write(struct buf *out, const struct cel_format *format) {
    (void)format;
    buf_add(out, STR("?"));
}

const struct cel_library cel__lib_format = {CEL_LIB_FORMAT, NULL, 0};
