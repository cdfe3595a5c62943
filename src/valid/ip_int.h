/*
 * IP addresses: how they are read, for rules about addresses and about ranges of them.
 */
#ifndef VALID_IP_INT_H
#define VALID_IP_INT_H

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
bool valid__parse_ip(struct str text, struct ip *ip);
bool valid__is_v4_mapped(const struct ip *ip); /* ::ffff:1.2.3.4 */

/*
 * What keeps a text from being the one way to write an address: what is wrong, in the arena, or an
 * empty text.
 *
 * Follows k8s.io/apimachinery pkg/util/validation, func IsValidIP.
 */
struct str valid__ip_fault(struct arena *a, struct str text);

#endif
