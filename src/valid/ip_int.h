/*
 * IP addresses: how they are read, for rules about addresses and about ranges of them.
 */
#ifndef VALID_IP_INT_H
#define VALID_IP_INT_H

#include <stdbool.h>
#include <stdint.h>

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

#endif
