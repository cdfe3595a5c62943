/* Answers in gzip. */
#include <assert.h>
#include <zlib.h>

#include "base/alloc.h"
#include "net/out_int.h"
#include "net/request_int.h"

/* kube-apiserver's level: the cheapest, as most lists shrink tenfold at any level. */
enum { LEVEL = 1, WINDOW_OF_GZIP = 15 + 16, MEMORY = 8 };

static void deflate_part(z_stream *z, struct str bytes, int flush) {
    union { /* zlib reads alone, and yet wants a pointer to write */
        const char *from;
        Bytef *to;
    } p = {.from = bytes.p};
    for (size_t done = 0; done < bytes.n || flush == Z_FINISH;) {
        size_t n = bytes.n - done < (1U << 30) ? bytes.n - done : (1U << 30);
        z->next_in = p.to + done;
        z->avail_in = (uInt)n;
        int rc = deflate(z, flush);
        done += n - z->avail_in;
        if (rc == Z_STREAM_END)
            break;
        if (rc != Z_OK)
            BUG("deflate");
    }
}

struct net_part net_gzip(const struct net_part *parts, size_t n) {
    z_stream z = {0};
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, WINDOW_OF_GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        BUG("zlib has no memory");
    size_t most = deflateBound(&z, net__parts_length(parts, n));
    char *bytes = xmalloc(most);
    z.next_out = (Bytef *)bytes;
    z.avail_out = (uInt)most;
    for (size_t i = 0; i < n; i++)
        deflate_part(&z, parts[i].bytes, Z_NO_FLUSH);
    deflate_part(&z, STR(""), Z_FINISH);
    size_t length = z.total_out;
    deflateEnd(&z);
    net__parts_drop(parts, n);
    bytes = xrealloc(bytes, length);
    return (struct net_part){.bytes = {bytes, length}, .release = free, .owner = bytes};
}

bool net_accepts_gzip(const struct net_request *request) {
    return net__headers_have(request->headers, STR("accept-encoding"), STR("gzip"));
}
