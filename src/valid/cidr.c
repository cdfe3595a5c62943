/*
 * Ranges of addresses such as 10.0.0.0/8, in the one field of ours that has them. Upstream reads
 * them as net.ParseCIDR once did, and then says what is wrong with the way they are written.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func IsValidCIDRForLegacyField.
 * Follows k8s.io/apimachinery pkg/util/validation, func IsValidCIDRForLegacyField.
 */
#include "base/ascii.h"
#include "valid/ip_int.h"
#include "valid/node_int.h"

struct cidr {
    struct ip ip;
    unsigned bits; /* of the prefix */
};

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

static bool parse(struct str text, struct cidr *out) {
    struct str address, bits;
    *out = (struct cidr){.bits = 0};
    return str_cut(text, '/', &address, &bits) && valid__parse_ip(address, &out->ip) &&
           parse_bits(bits, out->ip.is_v6 ? 128 : 32, out);
}

/* Clears what stands behind the prefix; true when something stood there. */
static bool mask(struct cidr *c) {
    bool cleared = false;
    for (unsigned bit = c->bits; bit < 8 * sizeof c->ip.bytes; bit++) {
        uint8_t *byte = &c->ip.bytes[bit / 8], flag = (uint8_t)(0x80u >> bit % 8);
        cleared |= *byte & flag;
        *byte = (uint8_t)(*byte & ~flag);
    }
    return cleared;
}

static void check_strictly(struct valid *v, const struct path *p, struct str text, struct cidr *c) {
    if (c->ip.leading_zeros)
        valid__invalid(v, p, VALUE_Q(text), "must not have leading 0s in IP or prefix length");
    else if (valid__is_v4_mapped(&c->ip))
        valid__invalid(v, p, VALUE_Q(text), "must not have an IPv4-mapped IPv6 address");
    else if (mask(c))
        valid__invalid(v, p, VALUE_Q(text), "must not have bits set beyond the prefix length");
}

static void check(struct valid *v, const struct path *p, struct str text) {
    struct cidr c;
    if (!parse(text, &c))
        valid__invalid(v, p, VALUE_Q(text),
                       "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
    else if (feature_enabled(v->gates, FEATURE_StrictIPCIDRValidation))
        check_strictly(v, p, text, &c);
}

/* Both families? False with an error when one of them cannot be read. */
static bool is_dual_stack(struct valid *v, const struct path *p, const struct api_strs *cidrs) {
    bool v4 = false, v6 = false;
    for (size_t i = 0; i < cidrs->n; i++) {
        struct cidr c;
        if (!parse(cidrs->v[i], &c)) {
            valid__internal(v, p,
                            "invalid PodCIDRs. failed to check with dual stack with error:invalid "
                            "CIDR[%zu]: <nil> (invalid CIDR address: %.*s)",
                            i, STR_ARG(cidrs->v[i]));
            return false;
        }
        mask(&c);
        bool is_v6 = c.ip.is_v6 && !valid__is_v4_mapped(&c.ip);
        v4 |= !is_v6;
        v6 |= is_v6;
    }
    return v4 && v6;
}

static struct json tree_of(struct arena *a, const struct api_strs *list) {
    struct json tree = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < list->n; i++)
        json_append(a, &tree, json_of_str(list->v[i]));
    return tree;
}

void valid__pod_cidrs(struct valid *v, const struct path *p, const struct api_strs *cidrs) {
    for (size_t i = 0; i < cidrs->n; i++)
        check(v, AT_INDEX(p, i), cidrs->v[i]);
    if (cidrs->n > 1 && (!is_dual_stack(v, p, cidrs) || cidrs->n > 2))
        valid__invalid(v, p, VALUE_JSON(tree_of(v->errs->a, cidrs)),
                       "may specify no more than one CIDR for each IP family");
}
