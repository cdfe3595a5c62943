/*
 * Ranges of addresses such as 10.0.0.0/8. Upstream reads them as net.ParseCIDR once did, and then
 * says what is wrong with the way they are written.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func IsValidCIDRForLegacyField.
 * Follows k8s.io/apimachinery pkg/util/validation, func IsValidCIDRForLegacyField.
 */
#include "base/ascii.h"
#include "valid/ip.h"
#include "valid/node_int.h"

static bool parse_bits(struct str text, unsigned most, struct cidr *out) {
    for (size_t i = 0; i < text.n; i++) {
        if (!ascii_is_digit(text.p[i]))
            return false;
        out->bits = out->bits * 10 + (unsigned)(text.p[i] - '0');
        if (out->bits > most)
            return false;
    }
    out->ip.leading_zeros |= text.n > 1 && text.p[0] == '0';
    return text.n > 0;
}

bool valid_cidr_parse(struct str text, struct cidr *out) {
    struct str address, bits;
    *out = (struct cidr){.bits = 0};
    return str_cut(text, '/', &address, &bits) && valid_ip_parse(address, &out->ip) &&
           parse_bits(bits, out->ip.is_v6 ? 128 : 32, out);
}

bool valid_cidr_mask(struct cidr *c) {
    bool cleared = false;
    for (unsigned bit = c->bits; bit < 8 * sizeof c->ip.bytes; bit++) {
        uint8_t *byte = &c->ip.bytes[bit / 8], flag = (uint8_t)(0x80u >> bit % 8);
        cleared |= *byte & flag;
        *byte = (uint8_t)(*byte & ~flag);
    }
    return cleared;
}

struct str valid_cidr_text(struct arena *a, const struct cidr *c) {
    enum { MAPPED_BITS = 96 };
    bool is_mapped = valid_ip_is_mapped(&c->ip) && c->bits >= MAPPED_BITS;
    return arena_printf(a, "%.*s/%u", STR_ARG(valid_ip_text(a, &c->ip)),
                        is_mapped ? c->bits - MAPPED_BITS : c->bits);
}

static void check(struct valid *v, const struct path *p, struct str text, bool is_strict) {
    struct cidr c;
    if (!valid_cidr_parse(text, &c))
        valid__invalid(v, p, VALUE_Q(text),
                       "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
    else if (is_strict && c.ip.leading_zeros)
        valid__invalid(v, p, VALUE_Q(text), "must not have leading 0s in IP or prefix length");
    else if (is_strict && valid_ip_is_mapped(&c.ip))
        valid__invalid(v, p, VALUE_Q(text), "must not have an IPv4-mapped IPv6 address");
    else if (is_strict && valid_cidr_mask(&c))
        valid__invalid(v, p, VALUE_Q(text), "must not have bits set beyond the prefix length");
}

void valid__cidr(struct valid *v, const struct path *p, struct str text) {
    check(v, p, text, feature_enabled(v->gates, FEATURE_StrictIPCIDRValidation));
}

void valid__cidr_strict(struct valid *v, const struct path *p, struct str text) {
    check(v, p, text, true);
}

/* Both families? False with an error when one of them cannot be read. */
static bool is_dual_stack(struct valid *v, const struct path *p, const struct api_strs *cidrs) {
    bool v4 = false, v6 = false;
    for (size_t i = 0; i < cidrs->n; i++) {
        struct cidr c;
        if (!valid_cidr_parse(cidrs->v[i], &c)) {
            valid__internal(v, p,
                            "invalid PodCIDRs. failed to check with dual stack with error:invalid "
                            "CIDR[%zu]: <nil> (invalid CIDR address: %.*s)",
                            i, STR_ARG(cidrs->v[i]));
            return false;
        }
        valid_cidr_mask(&c);
        bool is_v6 = valid_ip_is_v6(&c.ip);
        v4 |= !is_v6;
        v6 |= is_v6;
    }
    return v4 && v6;
}

void valid__pod_cidrs(struct valid *v, const struct path *p, const struct api_strs *cidrs) {
    for (size_t i = 0; i < cidrs->n; i++)
        valid__cidr(v, AT_INDEX(p, i), cidrs->v[i]);
    if (cidrs->n > 1 && (!is_dual_stack(v, p, cidrs) || cidrs->n > 2))
        valid__invalid(v, p, valid__strs_value(v->errs->a, cidrs),
                       "may specify no more than one CIDR for each IP family");
}
