/* What the files of protobuf share: the wire format. */
#ifndef API_PROTO_INT_H
#define API_PROTO_INT_H

#include "api/proto.h"

enum proto__wire {
    PROTO_VARINT = 0,
    PROTO_FIXED64 = 1,
    PROTO_LENGTH = 2,
    PROTO_GROUP = 3,
    PROTO_GROUP_END = 4,
    PROTO_FIXED32 = 5,
};

/* Bytes that are being read: those of a message. */
struct proto__in {
    const unsigned char *p, *end;
    const char *fault; /* why reading failed, in upstream's words */
};

/* A value as it stands on the wire. */
struct proto__value {
    uint64_t number;  /* of PROTO_VARINT and PROTO_FIXED64 */
    struct str bytes; /* of PROTO_LENGTH */
};

/* The start of a field. */
struct proto__tag {
    int32_t number;
    unsigned wire; /* enum proto__wire, or what is none */
};

/* A message, from its start. */
struct proto__in proto__read(struct str message);

/* Each of these moves behind what it read; -1 and in->fault when there is no such thing. */
int proto__varint(struct proto__in *in, uint64_t *out);
int proto__bytes(struct proto__in *in, struct str *out);
int proto__tag(struct proto__in *in, struct proto__tag *out);
int proto__value(struct proto__in *in, unsigned wire, struct proto__value *out);

/* Goes over a field that nobody knows, with its tag; a group is gone over as a whole. */
int proto__skip(struct proto__in *in);

/* Appends a number, and a field of bytes up to where the bytes stand. */
void proto__add_varint(struct buf *out, uint64_t v);
void proto__add_head(struct buf *out, unsigned number, size_t n);

/* How many bytes a number takes. */
size_t proto__varint_size(uint64_t v);

#endif
