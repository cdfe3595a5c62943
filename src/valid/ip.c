/*
 * IP addresses in fields that are older than strict validation: upstream reads them as net.ParseIP
 * once did, and then says what is wrong with the way they are written.
 *
 * Follows k8s.io/apimachinery pkg/util/validation, func IsValidIPForLegacyField.
 */
#include "valid/ip.h"
#include "base/ascii.h"
#include "valid/valid_int.h"

enum { V4_BYTES = 4, V6_BYTES = sizeof((struct ip *)0)->bytes };

static bool parse_octet(struct str text, struct ip *ip, uint8_t *out) {
    unsigned n = 0;
    for (size_t i = 0; i < text.n; i++) {
        if (!ascii_is_digit(text.p[i]))
            return false;
        n = n * 10 + (unsigned)(text.p[i] - '0');
        if (n > 255)
            return false;
    }
    ip->leading_zeros |= text.n > 1 && text.p[0] == '0';
    *out = (uint8_t)n;
    return text.n > 0;
}

static bool parse_v4(struct str text, struct ip *ip, uint8_t *out) {
    struct str octet;
    for (size_t i = 0; i < V4_BYTES; i++) {
        bool more = str_cut(text, '.', &octet, &text);
        if (more != (i < V4_BYTES - 1) || !parse_octet(octet, ip, &out[i]))
            return false;
    }
    return true;
}

/* Takes the hexadecimal digits at the front of *text; false without any or above 0xffff. */
static bool take_group(struct str *text, struct ip *ip, unsigned *out) {
    size_t n = 0;
    for (*out = 0; n < text->n && ascii_hex_value(text->p[n]) >= 0; n++) {
        *out = *out << 4 | (unsigned)ascii_hex_value(text->p[n]);
        if (*out > 0xffff)
            return false;
    }
    ip->leading_zeros |= n > 4;
    *text = str_sub(*text, n, text->n);
    return n > 0;
}

/* Opens a gap of zeros at `gap` so that the address has all its bytes. */
static bool fill_gap(struct ip *ip, size_t used, size_t gap) {
    if (used == V6_BYTES || gap == STR_NONE)
        return used == V6_BYTES && gap == STR_NONE;
    size_t tail = used - gap;
    for (size_t i = 0; i < tail; i++)
        ip->bytes[V6_BYTES - 1 - i] = ip->bytes[used - 1 - i];
    for (size_t i = gap; i < V6_BYTES - tail; i++)
        ip->bytes[i] = 0;
    return true;
}

/* Behind a group: a single colon before the next one, or the gap. False when neither fits. */
static bool take_colon(struct str *text, size_t used, size_t *gap) {
    if (text->n == 1 || text->p[0] != ':')
        return false;
    *text = str_sub(*text, 1, text->n);
    if (text->p[0] != ':')
        return true;
    if (*gap != STR_NONE)
        return false;
    *gap = used;
    *text = str_sub(*text, 1, text->n);
    return true;
}

static bool parse_v6(struct str text, struct ip *ip) {
    size_t used = 0, gap = STR_NONE;
    ip->is_v6 = true;
    if (str_starts(text, STR("::"))) {
        gap = 0;
        text = str_sub(text, 2, text.n);
    }
    while (text.n > 0 && used < V6_BYTES) {
        struct str group = text;
        unsigned n;
        if (!take_group(&text, ip, &n))
            return false;
        if (text.n > 0 && text.p[0] == '.') {
            bool fits =
                used == V6_BYTES - V4_BYTES || (gap != STR_NONE && used < V6_BYTES - V4_BYTES);
            if (!fits || !parse_v4(group, ip, &ip->bytes[used]))
                return false;
            used += V4_BYTES;
            text.n = 0;
            break;
        }
        ip->bytes[used++] = (uint8_t)(n >> 8);
        ip->bytes[used++] = (uint8_t)n;
        if (text.n > 0 && !take_colon(&text, used, &gap))
            return false;
    }
    return text.n == 0 && fill_gap(ip, used, gap);
}

bool valid_ip_parse(struct str text, struct ip *ip) {
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] == '.')
            return parse_v4(text, ip, ip->bytes);
        if (text.p[i] == ':')
            return parse_v6(text, ip);
    }
    return false;
}

bool valid_ip_is_mapped(const struct ip *ip) {
    for (size_t i = 0; i < 10; i++)
        if (ip->bytes[i])
            return false;
    return ip->is_v6 && ip->bytes[10] == 0xff && ip->bytes[11] == 0xff;
}

bool valid_ip_is_v6(const struct ip *ip) {
    return ip->is_v6 && !valid_ip_is_mapped(ip);
}

bool valid_ip_is_v6_text(struct str text) {
    struct ip ip = {.is_v6 = false};
    return valid_ip_parse(text, &ip) && valid_ip_is_v6(&ip);
}

/* ---- the one way to write an address ---- */

enum { V6_GROUPS = V6_BYTES / 2 };

static unsigned group_at(const struct ip *ip, size_t i) {
    return (unsigned)ip->bytes[2 * i] << 8 | ip->bytes[2 * i + 1];
}

/* The first of the longest runs of zeros, of two or more groups; *n is 0 when there is none. */
static size_t longest_gap(const struct ip *ip, size_t *n) {
    size_t best = 0, run = 0;
    *n = 0;
    for (size_t i = 0; i < V6_GROUPS; i++) {
        run = group_at(ip, i) ? 0 : run + 1;
        if (run > 1 && run > *n) {
            *n = run;
            best = i + 1 - run;
        }
    }
    return best;
}

static void write_v6(struct buf *out, const struct ip *ip) {
    size_t n, gap = longest_gap(ip, &n);
    for (size_t i = 0; i < V6_GROUPS; i++) {
        if (n && i == gap) {
            buf_add(out, STR("::"));
            i += n - 1;
            continue;
        }
        bool follows = i > 0 && !(n && i == gap + n);
        buf_addf(out, follows ? ":%x" : "%x", group_at(ip, i));
    }
}

struct str valid_ip_text(struct arena *a, const struct ip *ip) {
    const uint8_t *b = ip->is_v6 ? &ip->bytes[V6_BYTES - V4_BYTES] : ip->bytes;
    AUTO(buf_release) struct buf out = BUF_INIT(SIZE_MAX);
    if (valid_ip_is_v6(ip))
        write_v6(&out, ip);
    else
        buf_addf(&out, "%d.%d.%d.%d", b[0], b[1], b[2], b[3]);
    return arena_str(a, buf_view(&out));
}

struct str valid_ip_fault(struct arena *a, struct str text) {
    struct ip ip = {.is_v6 = false};
    if (!valid_ip_parse(text, &ip))
        return STR("must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    if (ip.leading_zeros)
        return STR("must not have leading 0s");
    if (valid_ip_is_mapped(&ip))
        return STR("must not be an IPv4-mapped IPv6 address");
    struct str canonical = valid_ip_text(a, &ip);
    if (str_eq(canonical, text))
        return STR("");
    return arena_printf(a, "must be in canonical form (\"%.*s\")", STR_ARG(canonical));
}

void valid__ip(struct valid *v, const struct path *p, struct str text) {
    struct ip ip = {.is_v6 = false};
    if (!valid_ip_parse(text, &ip)) {
        valid__invalid(v, p, VALUE_Q(text),
                       "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    } else if (feature_enabled(v->gates, FEATURE_StrictIPCIDRValidation)) {
        if (ip.leading_zeros)
            valid__invalid(v, p, VALUE_Q(text), "must not have leading 0s");
        else if (valid_ip_is_mapped(&ip))
            valid__invalid(v, p, VALUE_Q(text), "must not be an IPv4-mapped IPv6 address");
    }
}
