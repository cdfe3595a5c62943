/* Answers in gzip, piece by piece. */
#include <assert.h>
#include <zlib.h>

#include "base/alloc.h"
#include "base/buf.h"
#include "net/request_int.h"

/* kube-apiserver's level: the cheapest, as most lists shrink tenfold at any level. */
enum { LEVEL = 1, WINDOW_OF_GZIP = 15 + 16, MEMORY = 8, PIECE = 16 << 10 };

struct net_gzip {
    z_stream z;
};

struct net_gzip *net_gzip_new(void) {
    struct net_gzip *g = xcalloc(1, sizeof *g);
    if (deflateInit2(&g->z, LEVEL, Z_DEFLATED, WINDOW_OF_GZIP, MEMORY, Z_DEFAULT_STRATEGY) != Z_OK)
        BUG("zlib has no memory");
    return g;
}

void net_gzip_free(struct net_gzip *g) {
    if (g)
        deflateEnd(&g->z);
    free(g);
}

void net_gzip_add(struct net_gzip *g, struct str bytes, bool is_last, struct buf *out) {
    union { /* zlib reads alone, and yet wants a pointer to write */
        const char *from;
        Bytef *to;
    } p = {.from = bytes.p};
    char piece[PIECE];
    int rc;
    assert(bytes.n <= UINT32_MAX);
    g->z.next_in = p.to;
    g->z.avail_in = (uInt)bytes.n;
    do {
        g->z.next_out = (Bytef *)piece;
        g->z.avail_out = PIECE;
        rc = deflate(&g->z, is_last ? Z_FINISH : Z_NO_FLUSH);
        if (rc != Z_OK && rc != Z_STREAM_END && rc != Z_BUF_ERROR)
            BUG("deflate");
        buf_add(out, (struct str){piece, PIECE - g->z.avail_out});
    } while (g->z.avail_out == 0 && rc != Z_STREAM_END);
}

bool net_accepts_gzip(const struct net_request *request) {
    return net__headers_have(request->headers, STR("accept-encoding"), STR("gzip"));
}
