/*
 * From flags to the ranges of services and the address that others reach the server at.
 *
 * Follows k8s.io/apimachinery pkg/util/net, func ResolveBindAddressWithLogger.
 * Follows k8s.io/kubernetes cmd/kube-apiserver/app/options,
 * func validatePublicIPServiceClusterIPRangeIPFamilies.
 */
#include "cmd/service_flags.h"

#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

const struct opt service_opts[] = {
    {.name = "advertise-address",
     .kind = OPT_STR,
     .help = "Address at which others reach the server, as the endpoints of the service kubernetes "
             "tell it; by default --bind-address, and for one that only this machine can reach, "
             "or any, the machine's own address.",
     .value = "ADDRESS",
     .offset = offsetof(struct service_opts, advertised)},
    {.name = "service-cluster-ip-range",
     .kind = OPT_STR,
     .help = "Range of addresses that services get theirs from, or two of them, of which the first "
             "is that of services that do not say which family they are of.",
     .value = "CIDR,...",
     .fallback = "10.0.0.0/24",
     .offset = offsetof(struct service_opts, cidrs)},
    {.name = "service-node-port-range",
     .kind = OPT_STR,
     .help = "Ports of nodes that services get theirs from: the first and the last one, or the "
             "first one and how many follow it, as 30000+2767.",
     .value = "FIRST-LAST",
     .fallback = "30000-32767",
     .offset = offsetof(struct service_opts, node_ports)},
    {0},
};

/* ---- the machine's own address ---- */

static bool is_any(const struct ip *ip) {
    static const uint8_t zeroes[16];
    return !memcmp(ip->bytes, zeroes, ip->is_v6 ? 16 : 4);
}

static bool is_loopback(const struct ip *ip) {
    static const uint8_t one[16] = {[15] = 1};
    return ip->is_v6 ? !memcmp(ip->bytes, one, 16) : ip->bytes[0] == 127;
}

/* Can others reach it, as far as one can tell from the address? */
static bool is_for_others(struct str text, bool is_v6) {
    struct ip ip = {.is_v6 = false};
    return valid_ip_parse(text, &ip) && ip.is_v6 == is_v6 && !is_any(&ip) && !is_loopback(&ip);
}

/* The address from which the system would send to others; nothing is sent. The one that is asked
 * about is of a range for documentation. */
static struct str own_address(struct arena *a, bool is_v6) {
    struct sockaddr_in v4 = {.sin_family = AF_INET, .sin_port = htons(9)};
    struct sockaddr_in6 v6 = {.sin6_family = AF_INET6, .sin6_port = htons(9)};
    struct sockaddr *name = is_v6 ? (struct sockaddr *)&v6 : (struct sockaddr *)&v4;
    socklen_t n = is_v6 ? sizeof v6 : sizeof v4;
    char text[INET6_ADDRSTRLEN] = "";
    inet_pton(AF_INET, "198.51.100.1", &v4.sin_addr);
    inet_pton(AF_INET6, "2001:db8::1", &v6.sin6_addr);
    int fd = socket(name->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, name, n) == 0 && getsockname(fd, name, &n) == 0)
        inet_ntop(name->sa_family, is_v6 ? (void *)&v6.sin6_addr : (void *)&v4.sin_addr, text,
                  sizeof text);
    if (fd >= 0)
        close(fd);
    return is_for_others(str_of(text), is_v6) ? arena_str(a, str_of(text)) : STR("");
}

static bool is_local(struct str text) {
    struct ip ip = {.is_v6 = false};
    return valid_ip_parse(text, &ip) && (is_any(&ip) || is_loopback(&ip));
}

/* ---- flags ---- */

static int choose_advertised(struct arena *a, const struct service_opts *opts, struct str bound,
                             struct service_config *out, struct err *err) {
    const struct cidr *range = &out->cidrs.v[0];
    bool is_v6 = range->ip.is_v6;
    struct ip ip = {.is_v6 = false};
    if (opts->advertised.n && !valid_ip_parse(opts->advertised, &ip))
        return err_set(err, ERR_USAGE,
                       "invalid argument \"%.*s\" for \"--advertise-address\" flag: failed to "
                       "parse IP: \"%.*s\"",
                       STR_ARG(opts->advertised), STR_ARG(opts->advertised));
    if (opts->advertised.n && is_local(opts->advertised))
        return err_set(err, ERR_USAGE, "--advertise-address: others cannot reach \"%.*s\"",
                       STR_ARG(opts->advertised));
    if (opts->advertised.n && !is_for_others(opts->advertised, is_v6))
        return err_set(err, ERR_USAGE,
                       "service IP family \"%.*s\" must match public address family \"%.*s\"",
                       STR_ARG(valid_cidr_text(a, range)), STR_ARG(opts->advertised));
    if (opts->advertised.n)
        out->advertised = opts->advertised;
    else if (is_for_others(bound, is_v6))
        out->advertised = bound;
    else if (is_local(bound))
        out->advertised = own_address(a, is_v6);
    return 0;
}

int service_configure(struct arena *a, const struct service_opts *opts, struct str bound,
                      struct service_config *out, struct err *err) {
    *out = (struct service_config){0};
    if (registry_cidrs_read(opts->cidrs, &out->cidrs, err) < 0)
        return err_wrap(err, "--service-cluster-ip-range");
    if (registry_ports_read(opts->node_ports, &out->node_ports, err) < 0)
        return err_wrap(err, "invalid argument \"%.*s\" for \"--service-node-port-range\" flag",
                        STR_ARG(opts->node_ports));
    return choose_advertised(a, opts, bound, out, err);
}
