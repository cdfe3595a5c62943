/*
 * The wire format of protobuf, with what upstream's generated code makes of odd bytes: a number may
 * have ten bytes, and what does not fit is cut off; a length counts as a signed number.
 *
 * Follows k8s.io/apimachinery pkg/apis/meta/v1, func skipGenerated, func encodeVarintGenerated.
 */
#include "api/proto/proto_int.h"

static int fail(struct proto__in *in, const char *fault) {
    in->fault = fault;
    return -1;
}

struct proto__in proto__read(struct str message) {
    const unsigned char *p = (const unsigned char *)(message.p ? message.p : "");
    return (struct proto__in){.p = p, .end = p + message.n};
}

int proto__varint(struct proto__in *in, uint64_t *out) {
    uint64_t v = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (in->p == in->end)
            return fail(in, "unexpected EOF");
        unsigned char byte = *in->p++;
        v |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80) {
            *out = v;
            return 0;
        }
    }
    return fail(in, "proto: integer overflow");
}

int proto__bytes(struct proto__in *in, struct str *out) {
    uint64_t n;
    if (proto__varint(in, &n) < 0)
        return -1;
    if (n > INT64_MAX)
        return fail(in, "proto: negative length found during unmarshaling");
    if (n > (uint64_t)(in->end - in->p))
        return fail(in, "unexpected EOF");
    *out = (struct str){(const char *)in->p, (size_t)n};
    in->p += n;
    return 0;
}

static int read_fixed(struct proto__in *in, unsigned size, uint64_t *out) {
    if ((size_t)(in->end - in->p) < size)
        return fail(in, "unexpected EOF");
    *out = 0;
    for (unsigned i = 0; i < size; i++)
        *out |= (uint64_t)in->p[i] << (8 * i);
    in->p += size;
    return 0;
}

int proto__tag(struct proto__in *in, struct proto__tag *out) {
    uint64_t tag;
    if (proto__varint(in, &tag) < 0)
        return -1;
    *out = (struct proto__tag){.number = (int32_t)(uint32_t)(tag >> 3), .wire = tag & 7};
    return 0;
}

int proto__value(struct proto__in *in, unsigned wire, struct proto__value *out) {
    switch (wire) {
    case PROTO_VARINT:
        return proto__varint(in, &out->number);
    case PROTO_FIXED64:
        return read_fixed(in, 8, &out->number);
    case PROTO_FIXED32:
        return read_fixed(in, 4, &out->number);
    case PROTO_LENGTH:
        return proto__bytes(in, &out->bytes);
    default:
        return fail(in, "proto: illegal wireType");
    }
}

int proto__skip(struct proto__in *in) {
    size_t depth = 0;
    do {
        struct proto__tag tag;
        struct proto__value ignored;
        if (proto__tag(in, &tag) < 0)
            return -1;
        if (tag.wire == PROTO_GROUP)
            depth++;
        else if (tag.wire != PROTO_GROUP_END) {
            if (proto__value(in, tag.wire, &ignored) < 0)
                return -1;
        } else if (depth == 0)
            return fail(in, "proto: unexpected end of group");
        else
            depth--;
    } while (depth);
    return 0;
}

size_t proto__varint_size(uint64_t v) {
    size_t n = 1;
    for (; v >= 0x80; v >>= 7)
        n++;
    return n;
}

void proto__add_varint(struct buf *out, uint64_t v) {
    for (; v >= 0x80; v >>= 7)
        buf_add_char(out, (char)(v | 0x80));
    buf_add_char(out, (char)v);
}

void proto__add_head(struct buf *out, unsigned number, size_t n) {
    proto__add_varint(out, number << 3 | PROTO_LENGTH);
    proto__add_varint(out, n);
}

void api_proto_add_bytes(struct buf *out, unsigned number, struct str bytes) {
    proto__add_head(out, number, bytes.n);
    buf_add(out, bytes);
}

void api_proto_add_number(struct buf *out, unsigned number, uint64_t v) {
    proto__add_varint(out, number << 3 | PROTO_VARINT);
    proto__add_varint(out, v);
}
