/*
 * Kubernetes' own kinds of values: how each is compared and printed.
 *
 * Follows k8s.io/apiserver pkg/cel, func (Quantity) Equal, func (Semver) Equal, func (IP) Equal,
 * func (CIDR) Equal, func (URL) Equal.
 */
#include "cel/opaque_int.h"

#include <string.h>

#include "base/limits.h"
#include "quantity/quantity.h"
#include "semver/semver.h"

static bool equal_quantity(const void *a, const void *b) {
    return quantity_cmp(a, b) == 0;
}

static bool equal_semver(const void *a, const void *b) {
    return semver_cmp(a, b) == 0;
}

static bool equal_ip(const void *a, const void *b) {
    const struct cel_ip *x = a, *y = b;
    return x->n == y->n && memcmp(x->bytes, y->bytes, x->n) == 0;
}

static bool equal_cidr(const void *a, const void *b) {
    const struct cel_cidr *x = a, *y = b;
    return x->bits == y->bits && equal_ip(&x->ip, &y->ip);
}

/* URLs are equal when they are written alike. */
static bool equal_url(const void *a, const void *b) {
    AUTO(buf_release) struct buf x = BUF_INIT(LIMIT_CEL_EVAL_BYTES);
    AUTO(buf_release) struct buf y = BUF_INIT(LIMIT_CEL_EVAL_BYTES);
    cel__url_write(&x, a);
    cel__url_write(&y, b);
    return str_eq(buf_view(&x), buf_view(&y));
}

static bool equal_format(const void *a, const void *b) {
    return a == b;
}

static void write_quantity(struct buf *out, const void *v) {
    quantity_write(out, v);
}

static void write_semver(struct buf *out, const void *v) {
    semver_write(out, v);
}

static void write_ip(struct buf *out, const void *v) {
    cel__ip_write(out, v);
}

static void write_cidr(struct buf *out, const void *v) {
    cel__cidr_write(out, v);
}

static void write_url(struct buf *out, const void *v) {
    cel__url_write(out, v);
}

static void write_format(struct buf *out, const void *v) {
    cel__format_write(out, v);
}

static uint64_t bytes_of_quantity(const void *v) {
    return quantity_digits(v);
}

static uint64_t bytes_of_semver(const void *v) {
    const struct semver *version = v;
    uint64_t bytes = (uint64_t)version->pre_count * CEL_WORK_ITEM + version->build_length;
    for (uint32_t i = 0; i < version->pre_count; i++)
        bytes += version->pre[i].text ? version->pre[i].number : 0;
    return bytes;
}

static uint64_t bytes_of_url(const void *v) {
    const struct cel_url *url = v;
    const struct str parts[] = {url->scheme, url->opaque,   url->user,  url->host,
                                url->path,   url->raw_path, url->query, url->fragment};
    uint64_t bytes = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        bytes += parts[i].n;
    return bytes;
}

static const struct {
    bool (*equal)(const void *a, const void *b);
    void (*write)(struct buf *out, const void *v);
    uint64_t (*bytes)(const void *v); /* NULL: few */
} rows[CEL_KINDS] = {
    [CEL_QUANTITY] = {equal_quantity, write_quantity, bytes_of_quantity},
    [CEL_SEMVER] = {equal_semver, write_semver, bytes_of_semver},
    [CEL_URL] = {equal_url, write_url, bytes_of_url},
    [CEL_IP] = {equal_ip, write_ip, NULL},
    [CEL_CIDR] = {equal_cidr, write_cidr, NULL},
    [CEL_FORMAT] = {equal_format, write_format, NULL},
};

bool cel__opaque_equal(struct cel_value a, struct cel_value b) {
    return rows[a.kind].equal(a.opaque, b.opaque);
}

void cel__opaque_write(struct buf *out, struct cel_value v) {
    rows[v.kind].write(out, v.opaque);
}

uint64_t cel__opaque_bytes(struct cel_value v) {
    return rows[v.kind].bytes ? rows[v.kind].bytes(v.opaque) : 0;
}

static uint64_t hash_ip(const struct cel_ip *ip, uint64_t seed) {
    return str_hash((struct str){(const char *)ip->bytes, ip->n}, seed);
}

uint64_t cel__opaque_hash(struct cel_value v, uint64_t seed) {
    if (v.kind == CEL_SEMVER) {
        const struct semver *version = v.opaque;
        uint64_t numbers[] = {version->major, version->minor, version->patch};
        return str_hash((struct str){(const char *)numbers, sizeof numbers}, seed);
    }
    if (v.kind == CEL_IP)
        return hash_ip(v.opaque, seed);
    const struct cel_cidr *cidr = v.opaque;
    return hash_ip(&cidr->ip, seed ^ cidr->bits);
}

uint64_t cel__opaque_size(struct cel_value v) {
    if (v.kind == CEL_IP)
        return ((const struct cel_ip *)v.opaque)->n;
    return ((unsigned)((const struct cel_cidr *)v.opaque)->bits + 7) / 8;
}
