/*
 * The values of Kubernetes' own types, behind CEL_QUANTITY and the following kinds. What a kind
 * needs to be compared, sized and printed is a row in opaque.c; the structs belong to the
 * libraries.
 */
#ifndef CEL_OPAQUE_INT_H
#define CEL_OPAQUE_INT_H

#include "cel/cel_int.h"

/* An IP address: 4 or 16 bytes. */
struct cel_ip {
    uint8_t n;
    uint8_t bytes[16];
};

struct cel_cidr {
    struct cel_ip ip;
    uint8_t bits;
};

/* A URL, taken apart; all views into memory that lives as long as the value. */
struct cel_url {
    struct str scheme, opaque, user, host, path, raw_path, query, fragment, raw_fragment;
    bool has_user, force_query, omit_host;
};

/* A named format: a row of lib/format.c. */
struct cel_format;

/* Equality, size and text by kind; both values of the same kind. */
bool cel__opaque_equal(struct cel_value a, struct cel_value b);
uint64_t cel__opaque_size(struct cel_value v);
void cel__opaque_write(struct buf *out, struct cel_value v);

/* Bytes that comparing or writing a value of Kubernetes' own types reads; 0 where they are few. */
uint64_t cel__opaque_bytes(struct cel_value v);

/* The hash of an address, a network or a version: equal ones have the same. */
uint64_t cel__opaque_hash(struct cel_value v, uint64_t seed);

/* Of ip.c, cidr.c, url.c and format.c in lib/, for the rows. */
void cel__ip_write(struct buf *out, const struct cel_ip *ip);
void cel__cidr_write(struct buf *out, const struct cel_cidr *cidr);
void cel__url_write(struct buf *out, const struct cel_url *url);
void cel__format_write(struct buf *out, const struct cel_format *format);

#endif
