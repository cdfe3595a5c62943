/*
 * Warnings: what a client should know of an object, though it is accepted.
 *
 * Follows k8s.io/apimachinery pkg/util/validation, func GetWarningsForIP, func GetWarningsForCIDR.
 */
#include "base/limits.h"
#include "valid/ip.h"
#include "valid/valid_int.h"
#include "valid/warnings_int.h"

void valid__warn(struct valid_warnings *w, const char *fmt, ...) {
    if (valid__warnings_are_full(w))
        return;
    va_list args;
    va_start(args, fmt);
    w->v[w->n++] = arena_vprintf(w->a, fmt, args);
    va_end(args);
}

struct str valid__path_text(struct arena *a, const struct path *p) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    valid__path_write(&text, p);
    return arena_str(a, buf_view(&text));
}

void valid__warn_at(struct valid_warnings *w, const struct path *p, const char *fmt, ...) {
    if (valid__warnings_are_full(w))
        return;
    va_list args;
    va_start(args, fmt);
    struct str text = arena_vprintf(w->a, fmt, args);
    va_end(args);
    valid__warn(w, "%.*s: %.*s", STR_ARG(valid__path_text(w->a, p)), STR_ARG(text));
}

bool valid__may_compare(struct valid_warnings *w) {
    return !valid__warnings_are_full(w) && w->compared++ < LIMIT_WARNED_PAIRS;
}

void valid__warn_ip(struct valid_warnings *w, const struct path *p, struct str text) {
    struct ip ip = {.is_v6 = false};
    if (!valid_ip_parse(text, &ip))
        return;
    struct str canonical = valid_ip_text(w->a, &ip), quoted = valid__go_quoted(w->a, text);
    if (ip.leading_zeros || valid_ip_is_mapped(&ip))
        valid__warn(w, "%.*s: non-standard IP address %.*s is invalid: use \"%.*s\"",
                    STR_ARG(valid__path_text(w->a, p)), STR_ARG(quoted), STR_ARG(canonical));
    else if (!str_eq(text, canonical))
        valid__warn(w, "%.*s: IPv6 address %.*s should be in RFC 5952 canonical format (\"%.*s\")",
                    STR_ARG(valid__path_text(w->a, p)), STR_ARG(quoted), STR_ARG(canonical));
}

void valid__warn_cidr(struct valid_warnings *w, const struct path *p, struct str text) {
    struct cidr c, network;
    if (!valid_cidr_parse(text, &c))
        return;
    network = c;
    bool is_ambiguous = valid_cidr_mask(&network);
    bool is_odd = c.ip.leading_zeros || valid_ip_is_mapped(&c.ip);
    struct str canonical = valid_cidr_text(w->a, &network), quoted = valid__go_quoted(w->a, text);
    if (is_ambiguous)
        valid__warn(w,
                    "%.*s: CIDR value %.*s is ambiguous in this context (should be \"%.*s\" or "
                    "\"%.*s/%d\"?)",
                    STR_ARG(valid__path_text(w->a, p)), STR_ARG(quoted), STR_ARG(canonical),
                    STR_ARG(valid_ip_text(w->a, &c.ip)), c.ip.is_v6 ? 128 : 32);
    if (is_odd)
        valid__warn(w, "%.*s: non-standard CIDR value %.*s is invalid: use \"%.*s\"",
                    STR_ARG(valid__path_text(w->a, p)), STR_ARG(quoted), STR_ARG(canonical));
    if (!is_ambiguous && !is_odd && c.ip.is_v6 && !str_eq(text, canonical))
        valid__warn(w,
                    "%.*s: IPv6 CIDR value %.*s should be in RFC 5952 canonical format (\"%.*s\")",
                    STR_ARG(valid__path_text(w->a, p)), STR_ARG(quoted), STR_ARG(canonical));
}
