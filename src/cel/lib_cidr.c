/* Networks. */
#include "cel/opaque_int.h"

void cel__cidr_write(struct buf *out, const struct cel_cidr *cidr) {
    (void)cidr;
    buf_add(out, STR("?"));
}

const struct cel_library cel__lib_cidr = {CEL_LIB_CIDR, NULL, 0};
