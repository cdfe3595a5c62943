/* Output queues: counted slices and blocks of copied bytes. */
#include "net/out_int.h"

#include <assert.h>

#include "base/alloc.h"
#include "base/vec.h"

/* Parts up to COPIED bytes are copied: cheaper than to count them. Blocks have room for more than
 * what they are made for, so that a turn's frames share one. */
enum { COPIED = 512, BLOCK = 4096, BLOCK_LEAST = 256 };

struct net__hold {
    uint32_t refs;
    void (*release)(void *owner);
    void *owner;
};

struct net__block {
    struct net__hold hold;
    size_t used, cap;
    char bytes[];
};

static void drop(struct net__hold *hold) {
    if (--hold->refs > 0)
        return;
    if (hold->release)
        hold->release(hold->owner);
    free(hold);
}

static void drop_block(struct net__out *out) {
    if (out->block)
        drop(&out->block->hold);
    out->block = NULL;
}

void net__out_release(struct net__out *out) {
    for (size_t i = out->first; i < out->n; i++)
        drop(out->v[i].hold);
    drop_block(out);
    free(out->v);
    out->v = NULL;
    out->first = out->n = out->cap = out->bytes = 0;
}

static void append(struct net__out *out, struct net__slice slice) {
    if (out->first > 16 && out->first * 2 > out->n) {
        assert(out->v);
        out->n -= out->first;
        memmove(out->v, out->v + out->first, out->n * sizeof *out->v);
        out->first = 0;
    }
    out->v = vec_grow(out->v, &out->cap, out->n + 1, sizeof *out->v);
    out->v[out->n++] = slice;
    out->bytes += slice.n;
    slice.hold->refs++;
}

/* A block with room for n bytes at its end. The first is small, for whoever sends little. */
static void need_block(struct net__out *out, size_t n) {
    if (out->block && out->block->cap - out->block->used >= n)
        return;
    size_t cap = out->block ? BLOCK : BLOCK_LEAST;
    drop_block(out);
    if (cap < n)
        cap = n;
    out->block = xmalloc(sizeof *out->block + cap);
    *out->block = (struct net__block){.hold.refs = 1, .cap = cap};
}

void net__out_copy(struct net__out *out, struct str bytes) {
    if (bytes.n == 0)
        return;
    need_block(out, bytes.n);
    char *at = out->block->bytes + out->block->used;
    memcpy(at, bytes.p, bytes.n);
    out->block->used += bytes.n;
    struct net__slice *last = out->n > out->first ? &out->v[out->n - 1] : NULL;
    if (last && last->hold == &out->block->hold && last->p + last->n == at) {
        last->n += bytes.n;
        out->bytes += bytes.n;
    } else {
        append(out, (struct net__slice){at, bytes.n, &out->block->hold});
    }
}

void net__out_add(struct net__out *out, const struct net_part *part) {
    if (!part->release || part->bytes.n <= COPIED) {
        net__out_copy(out, part->bytes);
        net__parts_drop(part, 1);
        return;
    }
    struct net__hold *hold = xmalloc(sizeof *hold);
    *hold = (struct net__hold){.release = part->release, .owner = part->owner};
    append(out, (struct net__slice){part->bytes.p, part->bytes.n, hold});
}

/* Takes n bytes off the front of the first slice. */
static void advance(struct net__out *out, size_t n) {
    struct net__slice *first = &out->v[out->first];
    first->p += n;
    first->n -= n;
    out->bytes -= n;
    if (first->n > 0)
        return;
    drop(first->hold);
    out->first++;
    if (out->first == out->n)
        net__out_release(out);
}

void net__out_move(struct net__out *to, struct net__out *from, size_t n) {
    assert(n <= from->bytes);
    while (n > 0) {
        assert(from->first < from->n);
        struct net__slice slice = from->v[from->first];
        if (slice.n > n)
            slice.n = n;
        if (slice.n <= COPIED)
            net__out_copy(to, (struct str){slice.p, slice.n});
        else
            append(to, slice);
        advance(from, slice.n);
        n -= slice.n;
    }
}

size_t net__out_peek(const struct net__out *out, struct iovec *iov, size_t most) {
    size_t n = 0;
    for (size_t i = out->first; i < out->n && n < most; i++) {
        union { /* writev reads alone, and yet wants a pointer to write */
            const char *from;
            void *to;
        } p = {.from = out->v[i].p};
        iov[n++] = (struct iovec){p.to, out->v[i].n};
    }
    return n;
}

void net__out_skip(struct net__out *out, size_t n) {
    assert(n <= out->bytes);
    while (n > 0) {
        assert(out->first < out->n);
        size_t part = out->v[out->first].n < n ? out->v[out->first].n : n;
        advance(out, part);
        n -= part;
    }
}

size_t net__parts_length(const struct net_part *parts, size_t n) {
    size_t length = 0;
    for (size_t i = 0; i < n; i++)
        length += parts[i].bytes.n;
    return length;
}

void net__parts_drop(const struct net_part *parts, size_t n) {
    for (size_t i = 0; i < n; i++) {
        if (parts[i].release)
            parts[i].release(parts[i].owner);
    }
}
