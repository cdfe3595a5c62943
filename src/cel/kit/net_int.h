/* IP addresses from text, shared by ip() and cidr(). */
#ifndef CEL_KIT_NET_INT_H
#define CEL_KIT_NET_INT_H

#include "cel/opaque_int.h"

/* Go's netip.ParseAddr: false with its text in *why. *zone says that a zone followed. */
bool cel__parse_addr(struct str text, struct cel_ip *out, bool *zone, struct buf *why);

/* An IPv4 address in the clothes of IPv6: ::ffff:1.2.3.4. */
bool cel__is_4in6(const struct cel_ip *ip);

/* ip(text): the address, or an error. */
struct cel_value cel__ip_of(struct cel_eval *ev, struct str text);

#endif
