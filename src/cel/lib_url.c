/* URLs. */
#include "cel/opaque_int.h"

void cel__url_write(struct buf *out, const struct cel_url *url) {
    (void)url;
    buf_add(out, STR("?"));
}

const struct cel_library cel__lib_url = {CEL_LIB_URL, NULL, 0};
