/*
 * IP addresses.
 *
 * Follows k8s.io/apiserver pkg/cel/library, func IP, func parseIPAddr, func ipIsCanonical.
 */
#include <string.h>

#include "base/goquote.h"
#include "base/limits.h"
#include "cel/kit/net_int.h"

static const struct cel_ip *address(struct cel_value v) {
    return v.opaque;
}

static struct cel_value refuse(struct cel_eval *ev, const char *before, struct str text,
                               const char *behind) {
    AUTO(buf_release) struct buf quoted = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
    goquote_write(&quoted, text);
    return cel__error(ev, "%s%.*s%s", before, STR_ARG(buf_view(&quoted)), behind);
}

/* The address, or why it is none. */
static struct cel_value parse(struct cel_eval *ev, struct str text, struct cel_ip *out) {
    AUTO(buf_release) struct buf why = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
    bool zone;
    if (!cel__parse_addr(text, out, &zone, &why)) {
        struct str reason = arena_str(ev->arena, buf_view(&why));
        AUTO(buf_release) struct buf quoted = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
        goquote_write(&quoted, text);
        return cel__error(ev, "IP Address %.*s parse error during conversion from string: %.*s",
                          STR_ARG(buf_view(&quoted)), STR_ARG(reason));
    }
    if (zone)
        return refuse(ev, "IP address ", text, " with zone value is not allowed");
    if (cel__is_4in6(out))
        return refuse(ev, "IPv4-mapped IPv6 address ", text, " is not allowed");
    return cel_of_bool(true);
}

struct cel_value cel__ip_of(struct cel_eval *ev, struct str text) {
    struct cel_ip *ip = cel__alloc(ev, sizeof *ip);
    if (!ip)
        return CEL_TOO_BIG;
    struct cel_value r = parse(ev, text, ip);
    return r.kind == CEL_ERROR ? r : cel__opaque(CEL_IP, ip);
}

static struct cel_value call_ip(struct cel_eval *ev, const struct cel_value *args) {
    return cel__ip_of(ev, cel_str(args[0]));
}

static struct cel_value call_is_ip(struct cel_eval *ev, const struct cel_value *args) {
    struct cel_ip ip;
    return cel_of_bool(parse(ev, cel_str(args[0]), &ip).kind != CEL_ERROR);
}

static struct cel_value call_is_canonical(struct cel_eval *ev, const struct cel_value *args) {
    struct cel_ip ip;
    struct cel_value r = parse(ev, cel_str(args[0]), &ip);
    if (r.kind == CEL_ERROR)
        return r;
    AUTO(buf_release) struct buf text = BUF_INIT(64);
    cel__ip_write(&text, &ip);
    return cel_of_bool(str_eq(buf_view(&text), cel_str(args[0])));
}

static struct cel_value call_string(struct cel_eval *ev, const struct cel_value *args) {
    AUTO(buf_release) struct buf text = BUF_INIT(64);
    cel__ip_write(&text, address(args[0]));
    return cel__string(ev, buf_view(&text));
}

static struct cel_value call_family(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel_of_int(address(args[0])->n == 4 ? 4 : 6);
}

/* ---- what kind of address ---- */

static bool is_unspecified(const struct cel_ip *ip) {
    static const uint8_t zero[16];
    return memcmp(ip->bytes, zero, ip->n) == 0;
}

static bool is_loopback(const struct cel_ip *ip) {
    static const uint8_t one[16] = {[15] = 1};
    return ip->n == 4 ? ip->bytes[0] == 127 : memcmp(ip->bytes, one, 16) == 0;
}

static bool is_multicast(const struct cel_ip *ip) {
    return ip->n == 4 ? (ip->bytes[0] & 0xf0) == 0xe0 : ip->bytes[0] == 0xff;
}

static bool is_link_local_multicast(const struct cel_ip *ip) {
    const uint8_t *b = ip->bytes;
    if (ip->n == 4)
        return b[0] == 224 && b[1] == 0 && b[2] == 0;
    return b[0] == 0xff && (b[1] & 0x0f) == 0x02;
}

static bool is_link_local_unicast(const struct cel_ip *ip) {
    const uint8_t *b = ip->bytes;
    return ip->n == 4 ? b[0] == 169 && b[1] == 254 : b[0] == 0xfe && (b[1] & 0xc0) == 0x80;
}

static bool is_global_unicast(const struct cel_ip *ip) {
    static const uint8_t broadcast[4] = {255, 255, 255, 255};
    if (ip->n == 4 && memcmp(ip->bytes, broadcast, 4) == 0)
        return false;
    return !is_unspecified(ip) && !is_loopback(ip) && !is_multicast(ip) &&
           !is_link_local_unicast(ip);
}

#define PREDICATE(name)                                                                      \
    static struct cel_value call_##name(struct cel_eval *ev, const struct cel_value *args) { \
        (void)ev;                                                                            \
        return cel_of_bool(name(address(args[0])));                                          \
    }

PREDICATE(is_unspecified)
PREDICATE(is_loopback)
PREDICATE(is_link_local_multicast)
PREDICATE(is_link_local_unicast)
PREDICATE(is_global_unicast)

enum { NAME = CEL_FN_COST_BY_NAME };

static const struct cel_fn fns[] = {
    {"ip", "string_to_ip", "(string) -> net.IP", call_ip, cel__est_arg, cel__cost_walk, NAME,
     "the address that the text is; an error when it is none"},
    {"isIP", "is_ip", "(string) -> bool", call_is_ip, cel__est_arg, cel__cost_walk, NAME,
     "is the text an address?"},
    {"ip.isCanonical", "ip_is_canonical", "(string) -> bool", call_is_canonical, cel__est_arg_twice,
     cel__cost_walk_twice, NAME, "is the address written in its canonical form?"},
    {"string", "ip_to_string", "(net.IP) -> string", call_string, NULL, NULL, CEL_FN_CONVERSION,
     "the canonical text"},
    {"family", "ip_family", "net.IP.() -> int", call_family, NULL, NULL, NAME, "4 or 6"},
    {"isUnspecified", "ip_is_unspecified", "net.IP.() -> bool", call_is_unspecified, NULL, NULL,
     NAME, "0.0.0.0 or ::"},
    {"isLoopback", "ip_is_loopback", "net.IP.() -> bool", call_is_loopback, NULL, NULL, NAME,
     "127.0.0.0/8 or ::1"},
    {"isLinkLocalMulticast", "ip_is_link_local_multicast", "net.IP.() -> bool",
     call_is_link_local_multicast, NULL, NULL, NAME, "224.0.0.0/24 or ff02::/16"},
    {"isLinkLocalUnicast", "ip_is_link_local_unicast", "net.IP.() -> bool",
     call_is_link_local_unicast, NULL, NULL, NAME, "169.254.0.0/16 or fe80::/10"},
    {"isGlobalUnicast", "ip_is_global_unicast", "net.IP.() -> bool", call_is_global_unicast, NULL,
     NULL, NAME, "any other unicast address, private ones included"},
};

const struct cel_library cel__lib_ip = {CEL_LIB_IP, fns, sizeof fns / sizeof *fns};
