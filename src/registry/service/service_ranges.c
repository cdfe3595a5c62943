/*
 * What is taken of the ranges of addresses and ports.
 *
 * Follows k8s.io/kubernetes pkg/registry/core/service/ipallocator, func (*MetaAllocator)
 * AllocateService, func (*Allocator) AllocateNextService, func NewIPAllocator.
 * Follows k8s.io/kubernetes pkg/registry/core/service/portallocator, func (*PortAllocator)
 * AllocateNext.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "registry/service/service_int.h"

struct range {
    struct cidr cidr;
    uint32_t size;   /* addresses, the first and the last among them */
    uint32_t *taken; /* for each: by how many services */
};

struct registry_ranges {
    struct range v[2];
    size_t n;
    registry_draw_fn *draw;
    void *draw_ctx;
    struct registry_ports range; /* of ports */
    uint32_t *ports;             /* for each of them: by how many services it is taken */
};

/* ---- reading ---- */

static int read_cidr(struct str text, struct cidr *out, struct err *err) {
    if (!valid_cidr_parse(text, out) || valid_ip_is_mapped(&out->ip))
        return err_set(err, ERR_USAGE, "\"%.*s\" is not a range of addresses such as 10.0.0.0/24",
                       STR_ARG(text));
    unsigned host_bits = (out->ip.is_v6 ? 128 : 32) - out->bits;
    if (host_bits > LIMIT_SERVICE_RANGE_BITS || host_bits < 2)
        return err_set(err, ERR_USAGE, "\"%.*s\": a range has 4 to 2^%d addresses", STR_ARG(text),
                       LIMIT_SERVICE_RANGE_BITS);
    valid_cidr_mask(out);
    return 0;
}

int registry_cidrs_read(struct str text, struct registry_cidrs *out, struct err *err) {
    *out = (struct registry_cidrs){.n = 0};
    for (bool more = true; more;) {
        struct str one;
        more = str_cut(text, ',', &one, &text);
        if (out->n == 2)
            return err_set(err, ERR_USAGE, "there are two ranges at most");
        if (read_cidr(str_trim(one), &out->v[out->n++], err) < 0)
            return -1;
    }
    if (out->n == 2 && out->v[0].ip.is_v6 == out->v[1].ip.is_v6)
        return err_set(err, ERR_USAGE, "two ranges are of two families");
    return 0;
}

static int read_port(struct str text, int64_t *out, struct err *err) {
    if (!str_to_i64(text, out))
        return err_set(err, ERR_USAGE, "strconv.Atoi: parsing \"%.*s\": invalid syntax",
                       STR_ARG(text));
    return 0;
}

/* The first and the last port of a range in one of its three notations. */
static int read_ends(struct str text, int64_t *first, int64_t *last, struct err *err) {
    struct str low, high, base, offset;
    bool is_span = str_cut(text, '-', &low, &high), is_sum = str_cut(text, '+', &base, &offset);
    if (is_span && is_sum)
        return err_set(err, ERR_USAGE, "unable to parse port range: %.*s", STR_ARG(text));
    if (read_port(is_sum ? base : low, first, err) < 0)
        return -1;
    *last = *first;
    if (is_span)
        return read_port(high, last, err);
    if (is_sum && read_port(offset, last, err) < 0)
        return -1;
    *last += is_sum && *last <= UINT16_MAX ? *first : 0;
    return 0;
}

int registry_ports_read(struct str text, struct registry_ports *out, struct err *err) {
    int64_t first, last;
    *out = (struct registry_ports){0};
    text = str_trim(text);
    if (!text.n)
        return 0;
    if (read_ends(text, &first, &last, err) < 0)
        return -1;
    if (first > UINT16_MAX || last > UINT16_MAX)
        return err_set(err, ERR_USAGE, "the port range cannot be greater than 65535: %.*s",
                       STR_ARG(text));
    if (first < 0 || last < first)
        return err_set(err, ERR_USAGE, "end port cannot be less than start port: %.*s",
                       STR_ARG(text));
    *out = (struct registry_ports){(int32_t)first, (int32_t)last};
    return 0;
}

/* ---- places in a range ---- */

/* The last four bytes of an address as a number. */
static uint32_t low_bits(const struct ip *ip) {
    const uint8_t *b = &ip->bytes[ip->is_v6 ? 12 : 0];
    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

/* An address that stands for one of IPv4 is that one. */
static struct ip plain(struct ip ip) {
    struct ip v4 = {.is_v6 = false};
    memcpy(v4.bytes, &ip.bytes[12], 4);
    return valid_ip_is_mapped(&ip) ? v4 : ip;
}

/* The place of an address; false when it is not in the range. */
static bool place_of(const struct range *r, struct str text, uint32_t *out) {
    struct cidr at = {.bits = r->cidr.bits};
    if (!valid_ip_parse(text, &at.ip))
        return false;
    at.ip = plain(at.ip);
    if (at.ip.is_v6 != r->cidr.ip.is_v6)
        return false;
    *out = low_bits(&at.ip) - low_bits(&r->cidr.ip);
    valid_cidr_mask(&at);
    return !memcmp(at.ip.bytes, r->cidr.ip.bytes, sizeof at.ip.bytes);
}

static struct str address_at(const struct range *r, struct arena *a, uint32_t place) {
    struct ip ip = r->cidr.ip;
    uint32_t bits = low_bits(&ip) + place;
    uint8_t *b = &ip.bytes[ip.is_v6 ? 12 : 0];
    for (unsigned i = 0; i < 4; i++)
        b[i] = (uint8_t)(bits >> (24 - 8 * i));
    return valid_ip_text(a, &ip);
}

/* The last place that a service can have; the first is 1. */
static uint32_t last_place(const struct range *r) {
    return r->cidr.ip.is_v6 ? r->size - 1 : r->size - 2;
}

static struct str family_of(const struct range *r) {
    return r->cidr.ip.is_v6 ? STR("IPv6") : STR("IPv4");
}

static const struct range *range_of(const struct registry_ranges *r, struct str family) {
    for (size_t i = 0; i < r->n; i++)
        if (str_eq(family_of(&r->v[i]), family))
            return &r->v[i];
    return NULL;
}

/* ---- the ranges as a whole ---- */

static uint32_t port_count(const struct registry_ranges *r) {
    return (uint32_t)(r->range.last - r->range.first) + 1;
}

struct registry_ranges *registry_ranges_new(const struct registry_ranges_opts *opts) {
    static const struct registry_ports usual = {30000, 32767};
    struct registry_ranges *r = xcalloc(1, sizeof *r);
    r->n = opts->cidrs.n;
    r->draw = opts->draw;
    r->draw_ctx = opts->draw_ctx;
    r->range = opts->ports.last ? opts->ports : usual;
    r->ports = xcalloc(port_count(r), sizeof *r->ports);
    if (!r->range.first)
        r->ports[0] = 1; /* no port has the number 0 */
    for (size_t i = 0; i < r->n; i++) {
        struct range *range = &r->v[i];
        range->cidr = opts->cidrs.v[i];
        range->size = 1u << ((range->cidr.ip.is_v6 ? 128 : 32) - range->cidr.bits);
        range->taken = xcalloc(range->size, sizeof *range->taken);
    }
    r->v[0].taken[1] = 1;
    return r;
}

void registry_ranges_free(struct registry_ranges *r) {
    for (size_t i = 0; r && i < r->n; i++)
        free(r->v[i].taken);
    if (r)
        free(r->ports);
    free(r);
}

struct str registry_ranges_first(const struct registry_ranges *r, struct arena *a) {
    return address_at(&r->v[0], a, 1);
}

static bool is_kubernetes(const struct api_object *o) {
    return str_is(o->meta->namespace, "default") && str_is(o->meta->name, "kubernetes");
}

static void count_addresses(struct registry_ranges *r, const struct api_object *o, int by) {
    const struct api_service_spec *s = &((const struct api_service *)o->body)->spec;
    for (size_t i = 0; !service_is_external(s) && i < s->cluster_ips.n; i++)
        for (size_t k = 0; k < r->n; k++) {
            uint32_t place;
            if (place_of(&r->v[k], s->cluster_ips.v[i], &place) &&
                !(k == 0 && place == 1 && is_kubernetes(o)))
                r->v[k].taken[place] += (uint32_t)by;
        }
}

static bool has_port(const struct registry_ranges *r, int32_t port) {
    return port >= r->range.first && port <= r->range.last;
}

static void count_port(struct registry_ranges *r, int32_t port, int by) {
    if (port && has_port(r, port))
        r->ports[port - r->range.first] += (uint32_t)by;
}

static void count(struct registry_ranges *r, const struct api_object *o, int by) {
    const struct api_service_spec *s = &((const struct api_service *)o->body)->spec;
    count_addresses(r, o, by);
    for (size_t i = 0; i < s->ports.n; i++)
        count_port(r, s->ports.v[i].node_port, by);
    count_port(r, s->health_check_node_port, by);
}

void registry_ranges_add(struct registry_ranges *r, const struct api_object *service) {
    count(r, service, 1);
}

void registry_ranges_remove(struct registry_ranges *r, const struct api_object *service) {
    count(r, service, -1);
}

/* ---- families ---- */

struct str registry__first_family(const struct registry_ranges *r) {
    return r ? family_of(&r->v[0]) : STR("IPv4");
}

size_t registry__family_count(const struct registry_ranges *r) {
    return r ? r->n : 2;
}

bool registry__has_family(const struct registry_ranges *r, struct str family) {
    return !r || range_of(r, family);
}

/* ---- taking ---- */

/* So many places at the start are for those who ask for them.
 *
 * Follows k8s.io/kubernetes pkg/registry/core/service/ipallocator, func calculateRangeOffset. */
static uint32_t reserved_of(uint32_t size, uint32_t step, uint32_t most) {
    enum { LEAST = 16 };
    uint32_t wanted = size / step;
    if (size <= LEAST)
        return 0;
    return wanted < LEAST ? LEAST : wanted > most ? most : wanted;
}

static uint32_t draw_below(const struct registry_ranges *r, uint32_t n) {
    uint32_t number;
    r->draw(r->draw_ctx, &number, sizeof number);
    return number % n;
}

struct places {
    const uint32_t *taken;
    uint32_t first, n;
    const struct port_set *but; /* NULL for addresses */
    int32_t first_port;         /* the number of the first place, for ports */
};

static bool is_free(const struct places *p, uint32_t place) {
    return !p->taken[place] &&
           !(p->but && registry__ports_have(p->but, p->first_port + (int32_t)place));
}

/* A free place, looked for from a random one on; UINT32_MAX: there is none. */
static uint32_t find_free(const struct registry_ranges *r, struct places p) {
    uint32_t start = p.n ? draw_below(r, p.n) : 0;
    for (uint32_t i = 0; i < p.n; i++) {
        uint32_t place = p.first + (start + i) % p.n;
        if (is_free(&p, place))
            return place;
    }
    return UINT32_MAX;
}

/* First behind those for whom others ask, then among them. */
static uint32_t find(const struct registry_ranges *r, struct places p, uint32_t reserved) {
    struct places upper = p, lower = p;
    upper.first += reserved;
    upper.n -= reserved;
    lower.n = reserved;
    uint32_t place = find_free(r, upper);
    return place == UINT32_MAX ? find_free(r, lower) : place;
}

struct str registry__next_address(const struct registry_ranges *r, struct arena *a,
                                  struct str family, bool is_dry_run) {
    enum { STEP = 16, MOST = 256 };
    const struct range *range = range_of(r, family);
    if (is_dry_run)
        return address_at(range, a, 0);
    uint32_t n = last_place(range), place;
    place = find(r, (struct places){range->taken, 1, n, NULL, 0}, reserved_of(n, STEP, MOST));
    return place == UINT32_MAX ? STR("") : address_at(range, a, place);
}

struct str registry__address_fault(const struct registry_ranges *r, struct arena *a,
                                   const struct api_object *service, struct str address,
                                   bool is_dry_run) {
    const struct range *range =
        range_of(r, valid_ip_is_v6_text(address) ? STR("IPv6") : STR("IPv4"));
    struct ip ip = {.is_v6 = false};
    uint32_t place;
    valid_ip_parse(address, &ip);
    bool is_inside = place_of(range, address, &place) && place && place <= last_place(range);
    if (!is_inside && !is_dry_run)
        return STR("the provided network does not match the current range");
    if (!is_inside)
        return arena_printf(a,
                            "the provided IP (%.*s) is not in the valid range. The range of valid "
                            "IPs is %.*s",
                            STR_ARG(valid_ip_text(a, &ip)),
                            STR_ARG(valid_cidr_text(a, &range->cidr)));
    bool is_own = place == 1 && range == &r->v[0] && is_kubernetes(service);
    bool is_taken = range->taken[place] > (is_own ? 1 : 0);
    return is_taken && !is_dry_run ? STR("provided IP is already allocated") : STR("");
}

/* ---- ports ---- */

bool registry__ports_have(const struct port_set *set, int32_t port) {
    return port >= 0 && port <= UINT16_MAX && set->bits[port / 64] >> port % 64 & 1;
}

void registry__ports_put(struct port_set *set, int32_t port) {
    if (port >= 0 && port <= UINT16_MAX)
        set->bits[port / 64] |= (uint64_t)1 << port % 64;
}

int32_t registry__next_port(const struct registry_ranges *r, const struct port_set *but) {
    enum { STEP = 32, MOST = 128 };
    uint32_t n = port_count(r);
    uint32_t place =
        find(r, (struct places){r->ports, 0, n, but, r->range.first}, reserved_of(n, STEP, MOST));
    return place == UINT32_MAX ? 0 : r->range.first + (int32_t)place;
}

struct str registry__port_fault(const struct registry_ranges *r, struct arena *a, int32_t port) {
    if (has_port(r, port))
        return STR("");
    return arena_printf(a,
                        "provided port is not in the valid range. The range of valid ports is "
                        "%d-%d",
                        (int)r->range.first, (int)r->range.last);
}

bool registry__port_is_taken(const struct registry_ranges *r, int32_t port) {
    return has_port(r, port) && r->ports[port - r->range.first];
}
