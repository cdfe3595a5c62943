/* IP addresses. */
#include "cel/opaque_int.h"

void cel__ip_write(struct buf *out, const struct cel_ip *ip) {
    (void)ip;
    buf_add(out, STR("?"));
}

const struct cel_library cel__lib_ip = {CEL_LIB_IP, NULL, 0};
