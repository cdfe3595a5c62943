/*
 * Addresses and names at which something can be reached.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateEndpointIP,
 * func IsValidIPForLegacyField, func IsValidCIDRForLegacyField.
 */
#include "valid/network/network_int.h"

void valid__remember(struct seen *old, const struct api_strs *texts) {
    for (size_t i = 0; i < texts->n; i++)
        seen_add(old, texts->v[i]);
}

void valid__ip_but_old(struct valid *v, const struct path *p, struct str text,
                       const struct seen *old) {
    if (!old || !seen_get(old, text))
        valid__ip(v, p, text);
}

void valid__cidr_but_old(struct valid *v, const struct path *p, struct str text,
                         const struct seen *old) {
    if (!old || !seen_get(old, text))
        valid__cidr(v, p, text);
}

/* ---- addresses that mean something special ---- */

/* The bytes of IPv4, if it is one or stands for one; NULL: it is of IPv6. */
static const uint8_t *v4_of(const struct ip *ip) {
    if (valid_ip_is_v6(ip))
        return NULL;
    return ip->is_v6 ? &ip->bytes[12] : ip->bytes;
}

/* Are all bytes but the last one zero? */
static bool is_short(const uint8_t *bytes, size_t n) {
    for (size_t i = 0; i + 1 < n; i++)
        if (bytes[i])
            return false;
    return true;
}

static bool is_unspecified(const struct ip *ip) {
    const uint8_t *v4 = v4_of(ip);
    return v4 ? is_short(v4, 4) && !v4[3] : is_short(ip->bytes, 16) && !ip->bytes[15];
}

static bool is_loopback(const struct ip *ip) {
    const uint8_t *v4 = v4_of(ip);
    return v4 ? v4[0] == 127 : is_short(ip->bytes, 16) && ip->bytes[15] == 1;
}

static bool is_link_local(const struct ip *ip) {
    const uint8_t *v4 = v4_of(ip), *v6 = ip->bytes;
    return v4 ? v4[0] == 169 && v4[1] == 254 : v6[0] == 0xfe && (v6[1] & 0xc0) == 0x80;
}

static bool is_link_local_multicast(const struct ip *ip) {
    const uint8_t *v4 = v4_of(ip), *v6 = ip->bytes;
    return v4 ? v4[0] == 224 && !v4[1] && !v4[2] : v6[0] == 0xff && (v6[1] & 0x0f) == 0x02;
}

void valid__endpoint_ip(struct valid *v, const struct path *p, struct str text) {
    struct ip ip = {.is_v6 = false};
    if (!valid_ip_parse(text, &ip)) {
        valid__invalid(v, p, VALUE_Q(text), "must be a valid IP address");
        return;
    }
    if (is_unspecified(&ip))
        valid__invalid(v, p, VALUE_Q(text), "may not be unspecified (%.*s)", STR_ARG(text));
    if (is_loopback(&ip))
        valid__invalid(v, p, VALUE_Q(text),
                       "may not be in the loopback range (127.0.0.0/8, ::1/128)");
    if (is_link_local(&ip))
        valid__invalid(v, p, VALUE_Q(text),
                       "may not be in the link-local range (169.254.0.0/16, fe80::/10)");
    if (is_link_local_multicast(&ip))
        valid__invalid(v, p, VALUE_Q(text),
                       "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)");
}

/* ---- names ---- */

void valid__host_name(struct valid *v, const struct path *p, struct str name) {
    struct ip ip = {.is_v6 = false};
    valid__dns_subdomain(v, p, name);
    if (valid_ip_parse(name, &ip))
        valid__invalid(v, p, VALUE_Q(name), "must be a DNS name, not an IP address");
}

void valid__protocol(struct valid *v, const struct path *p, struct str protocol) {
    static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
    valid__choice(v, p, protocol, protocols);
}

void valid__segment(struct valid *v, const struct path *p, struct str name) {
    struct names_errs errs = valid__name_path_segment(name, false);
    valid__names(v, p, name, &errs);
}
