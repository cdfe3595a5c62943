/*
 * Networks in CIDR notation.
 *
 * Follows k8s.io/apiserver pkg/cel/library, func CIDR, func parseCIDR, func cidrContainsCIDR.
 */
#include <string.h>

#include "base/ascii.h"
#include "base/goquote.h"
#include "base/limits.h"
#include "cel/kit/net_int.h"

static const struct cel_cidr *network(struct cel_value v) {
    return v.opaque;
}

void cel__cidr_write(struct buf *out, const struct cel_cidr *cidr) {
    cel__ip_write(out, &cidr->ip);
    buf_addf(out, "/%u", cidr->bits);
}

/* ---- reading ---- */

static bool fail(struct buf *why, struct str text, const char *reason) {
    buf_add(why, STR("netip.ParsePrefix("));
    goquote_write(why, text);
    buf_addf(why, "): %s", reason);
    return false;
}

static bool bad_bits(struct buf *why, struct str text, struct str bits) {
    fail(why, text, "bad bits after slash: ");
    goquote_write(why, bits);
    return false;
}

static bool read_bits(struct str s, uint32_t *out) {
    *out = 0;
    if (s.n == 0 || (s.n > 1 && s.p[0] == '0'))
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (!ascii_is_digit(s.p[i]))
            return false;
        *out = *out > 1000 ? *out : *out * 10 + (uint32_t)(s.p[i] - '0');
    }
    return s.n < 20; /* longer numbers do not fit into Go's int */
}

static bool parse_prefix(struct str text, struct cel_cidr *out, struct buf *why) {
    size_t slash = text.n;
    while (slash > 0 && text.p[slash - 1] != '/')
        slash--;
    if (slash == 0)
        return fail(why, text, "no '/'");
    AUTO(buf_release) struct buf reason = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
    bool zone;
    if (!cel__parse_addr(str_sub(text, 0, slash - 1), &out->ip, &zone, &reason)) {
        fail(why, text, "");
        buf_add(why, buf_view(&reason));
        return false;
    }
    if (zone)
        return fail(why, text, "IPv6 zones cannot be present in a prefix");
    struct str bits = str_sub(text, slash, text.n);
    uint32_t n;
    if (!read_bits(bits, &n))
        return bad_bits(why, text, bits);
    if (n > out->ip.n * 8U)
        return fail(why, text, "prefix length out of range");
    out->bits = (uint8_t)n;
    return true;
}

#define PREFIX "network address parse error during conversion from string: "

static bool parse(struct str text, struct cel_cidr *out, struct buf *why) {
    buf_add(why, STR(PREFIX PREFIX));
    if (!parse_prefix(text, out, why))
        return false;
    if (!cel__is_4in6(&out->ip))
        return true;
    buf_clear(why);
    buf_add(why, STR(PREFIX "IPv4-mapped IPv6 address "));
    goquote_write(why, text);
    buf_add(why, STR(" is not allowed"));
    return false;
}

static struct cel_value call_cidr(struct cel_eval *ev, const struct cel_value *args) {
    AUTO(buf_release) struct buf why = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
    struct cel_cidr *c = cel__alloc(ev, sizeof *c);
    if (!c)
        return CEL_TOO_BIG;
    if (!parse(cel_str(args[0]), c, &why))
        return cel__error(ev, "%.*s", STR_ARG(buf_view(&why)));
    return cel__opaque(CEL_CIDR, c);
}

static struct cel_value call_is_cidr(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    AUTO(buf_release) struct buf why = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
    struct cel_cidr c;
    return cel_of_bool(parse(cel_str(args[0]), &c, &why));
}

/* ---- comparing ---- */

/* Are the first bits of two addresses of one family the same? */
static bool same_bits(const struct cel_ip *a, const struct cel_ip *b, unsigned bits) {
    if (a->n != b->n || memcmp(a->bytes, b->bytes, bits / 8) != 0)
        return false;
    unsigned rest = bits % 8, at = bits / 8;
    return rest == 0 || ((a->bytes[at] ^ b->bytes[at]) & 0xff << (8 - rest) & 0xff) == 0;
}

static struct cel_value contains_ip(struct cel_value cidr, struct cel_value ip) {
    if (ip.kind != CEL_IP)
        return CEL_NO_OVERLOAD; /* upstream forgets why the text was no address */
    const struct cel_cidr *c = network(cidr);
    return cel_of_bool(same_bits(&c->ip, ip.opaque, c->bits));
}

static struct cel_value call_contains_ip(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return contains_ip(args[0], args[1]);
}

static struct cel_value call_contains_ip_string(struct cel_eval *ev, const struct cel_value *args) {
    return contains_ip(args[0], cel__ip_of(ev, cel_str(args[1])));
}

static struct cel_value contains_cidr(struct cel_value a, struct cel_value b) {
    if (b.kind == CEL_ERROR)
        return b;
    const struct cel_cidr *x = network(a), *y = network(b);
    return cel_of_bool(x->bits <= y->bits && same_bits(&x->ip, &y->ip, x->bits));
}

static struct cel_value call_contains_cidr(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return contains_cidr(args[0], args[1]);
}

static struct cel_value call_contains_cidr_string(struct cel_eval *ev,
                                                  const struct cel_value *args) {
    return contains_cidr(args[0], call_cidr(ev, args + 1));
}

/* ---- parts ---- */

static struct cel_value call_ip(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel__opaque(CEL_IP, &network(args[0])->ip);
}

static struct cel_value call_prefix_length(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel_of_int(network(args[0])->bits);
}

static struct cel_value call_masked(struct cel_eval *ev, const struct cel_value *args) {
    struct cel_cidr *c = cel__alloc(ev, sizeof *c);
    if (!c)
        return CEL_TOO_BIG;
    *c = *network(args[0]);
    for (unsigned i = 0; i < c->ip.n; i++) {
        unsigned keep = c->bits > i * 8 ? c->bits - i * 8 : 0;
        c->ip.bytes[i] &= (uint8_t)(keep >= 8 ? 0xff : 0xff << (8 - keep));
    }
    return cel__opaque(CEL_CIDR, c);
}

static struct cel_value call_string(struct cel_eval *ev, const struct cel_value *args) {
    AUTO(buf_release) struct buf text = BUF_INIT(64);
    cel__cidr_write(&text, network(args[0]));
    return cel__string(ev, buf_view(&text));
}

/* ---- costs ---- */

static struct cel_estimated est_contains(const struct cel_call_est *call, bool cidr, bool text) {
    struct cel_range size = {4, 16};
    struct cel_range cost = cel__range_scale(cel__range_add(size, size), 0.1);
    if (cidr)
        cost = cel__range_add(cel__range_add(cost, cel__range_scale(size, 0.1)), cel__fixed(1));
    if (text)
        cost = cel__range_add(cost, cel__range_scale(cel__operand_size(&call->args[0]), 0.1));
    return (struct cel_estimated){.cost = cost};
}

static struct cel_estimated est_ip(const struct cel_call_est *call) {
    return est_contains(call, false, false);
}

static struct cel_estimated est_ip_string(const struct cel_call_est *call) {
    return est_contains(call, false, true);
}

static struct cel_estimated est_cidr(const struct cel_call_est *call) {
    return est_contains(call, true, false);
}

static struct cel_estimated est_cidr_string(const struct cel_call_est *call) {
    return est_contains(call, true, true);
}

static uint64_t cost_ip(struct cel_eval *ev, const struct cel_value *args,
                        const struct cel_value *result) {
    (void)ev;
    (void)result;
    return cel__scale(2 * cel__size_of(args[0]), 0.1);
}

static uint64_t cost_ip_string(struct cel_eval *ev, const struct cel_value *args,
                               const struct cel_value *result) {
    (void)ev;
    return cost_ip(ev, args, result) + cel__scale(cel__size_of(args[1]), 0.1);
}

static uint64_t cost_cidr(struct cel_eval *ev, const struct cel_value *args,
                          const struct cel_value *result) {
    (void)ev;
    return cost_ip(ev, args, result) + cel__scale(cel__size_of(args[0]), 0.1) + 1;
}

static uint64_t cost_cidr_string(struct cel_eval *ev, const struct cel_value *args,
                                 const struct cel_value *result) {
    (void)ev;
    return cost_cidr(ev, args, result) + cel__scale(cel__size_of(args[1]), 0.1);
}

#define T "net.CIDR"

enum { NAME = CEL_FN_COST_BY_NAME };

static const struct cel_fn fns[] = {
    {"cidr", "string_to_cidr", "(string) -> " T, call_cidr, cel__est_arg, cel__cost_walk, NAME,
     "the network that the text is; an error when it is none"},
    {"isCIDR", "is_cidr", "(string) -> bool", call_is_cidr, cel__est_arg, cel__cost_walk, NAME,
     "is the text a network?"},
    {"containsIP", "cidr_contains_ip_string", T ".(string) -> bool", call_contains_ip_string,
     est_ip_string, cost_ip_string, 0, "is the address in the network?"},
    {"containsIP", "cidr_contains_ip_ip", T ".(net.IP) -> bool", call_contains_ip, est_ip, cost_ip,
     NAME, "is the address in the network?"},
    {"containsCIDR", "cidr_contains_cidr_string", T ".(string) -> bool", call_contains_cidr_string,
     est_cidr_string, cost_cidr_string, 0, "is all of the other network in this one?"},
    {"containsCIDR", "cidr_contains_cidr", T ".(" T ") -> bool", call_contains_cidr, est_cidr,
     cost_cidr, NAME, "is all of the other network in this one?"},
    {"ip", "cidr_ip", T ".() -> net.IP", call_ip, NULL, NULL, 0, "the address"},
    {"prefixLength", "cidr_prefix_length", T ".() -> int", call_prefix_length, NULL, NULL, NAME,
     "the number of bits in front"},
    {"masked", "cidr_masked", T ".() -> " T, call_masked, NULL, NULL, NAME,
     "the network with the bits behind its prefix cleared"},
    {"string", "cidr_to_string", "(" T ") -> string", call_string, NULL, NULL, CEL_FN_CONVERSION,
     "address/bits"},
};

const struct cel_library cel__lib_cidr = {CEL_LIB_CIDR, fns, sizeof fns / sizeof *fns};
