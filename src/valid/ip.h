/*
 * IP addresses and ranges of them: how they are read and written.
 */
#ifndef VALID_IP_H
#define VALID_IP_H

#include <stdbool.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/str.h"

struct ip {
    uint8_t bytes[16]; /* 4 of them in an IPv4 address */
    bool is_v6;
    bool leading_zeros; /* 010.0.0.1, 00001:: */
};

/* Reads a zeroed *ip from a text as net.ParseIP once did, leading zeros and all; false when it is
 * none. */
bool valid_ip_parse(struct str text, struct ip *ip);
bool valid_ip_is_mapped(const struct ip *ip); /* ::ffff:1.2.3.4 */

/* Is it of IPv6? Not if it only stands for one of IPv4, as Go has it. And a text, which may be no
 * address at all? */
bool valid_ip_is_v6(const struct ip *ip);
bool valid_ip_is_v6_text(struct str text);

/* The one way to write an address, in the arena: that of IPv4 for one that stands for it. */
struct str valid_ip_text(struct arena *a, const struct ip *ip);

/*
 * What keeps a text from being the one way to write an address: what is wrong, in the arena, or an
 * empty text.
 *
 * Follows k8s.io/apimachinery pkg/util/validation, func IsValidIP.
 */
struct str valid_ip_fault(struct arena *a, struct str text);

/* ---- ranges ---- */

struct cidr {
    struct ip ip;
    unsigned bits; /* of the prefix */
};

/* Reads 10.0.0.0/8 as net.ParseCIDR once did; false when it is none. */
bool valid_cidr_parse(struct str text, struct cidr *out);
/* Clears what stands behind the prefix; true when something stood there. */
bool valid_cidr_mask(struct cidr *c);
/* The one way to write a range, which must be masked; in the arena. */
struct str valid_cidr_text(struct arena *a, const struct cidr *c);

#endif
