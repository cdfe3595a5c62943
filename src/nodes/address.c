/* Addresses of simulated nodes and pods: 172.16.0.0/12 and 10.1.0.0 and above, each by number. The
 * services of a server have 10.0.0.0/24 if nobody says otherwise, and so may have 10.0.0.0/16.
 * Pods on a node that has a range of its own (spec.podCIDR) have theirs of that. */
#include <assert.h>

#include "nodes/kubelets_int.h"

#define NODES_NET (UINT32_C(172) << 24 | UINT32_C(16) << 16)
#define PODS_NET  (UINT32_C(10) << 24)

/* The 24 bits that the addresses of a node's pods have in common. Of some 65,000 nodes, each has
 * its own. */
static uint32_t pods_of(uint32_t index) {
    enum { FIRST = 256, NETS = 65536 };
    return PODS_NET >> 8 | (FIRST + index % (NETS - FIRST));
}

static struct str address_of(struct arena *a, uint32_t bits) {
    return arena_printf(a, "%u.%u.%u.%u", bits >> 24, bits >> 16 & 255, bits >> 8 & 255,
                        bits & 255);
}

struct str nodes__node_address(struct arena *a, uint32_t index) {
    return address_of(a, NODES_NET | ((index + 1) & 0xfffff));
}

struct str nodes__pod_address(struct arena *a, const struct nodes__range *range, uint32_t number) {
    return address_of(a, range->first | number);
}

/* Reads four numbers with dots between them. */
static bool read_address(struct str text, uint32_t *bits) {
    for (int i = 0; i < 4; i++) {
        struct str part;
        int64_t v;
        str_cut(text, '.', &part, &text);
        if (!str_to_i64(part, &v) || v < 0 || v > 255)
            return false;
        *bits = *bits << 8 | (uint32_t)v;
    }
    return text.n == 0;
}

bool nodes__index_of(const struct api_node *node, uint32_t *index) {
    for (size_t i = 0; i < node->status.addresses.n; i++) {
        const struct api_node_address *a = &node->status.addresses.v[i];
        uint32_t bits = 0;
        if (!str_is(a->type, "InternalIP") || !read_address(a->address, &bits) ||
            bits <= NODES_NET || bits > (NODES_NET | 0xfffff))
            continue;
        *index = (bits & 0xfffff) - 1;
        return true;
    }
    return false;
}

/* Of a larger range than this pods get what comes first. */
enum { LARGEST_BITS = 8, LEAST_BITS = 2 };
static_assert(NODES__NUMBERS == 1 << LARGEST_BITS, "each pod of a node has one of these numbers");

struct nodes__range nodes__range_of(const struct api_node *node, uint32_t index) {
    struct str address, length;
    uint32_t first = 0;
    int64_t prefix;
    bool is_told = str_cut(node->spec.pod_cidr, '/', &address, &length) &&
                   read_address(address, &first) && str_to_i64(length, &prefix) && prefix >= 1 &&
                   prefix <= 32 - LEAST_BITS;
    if (!is_told)
        return (struct nodes__range){pods_of(index) << 8, (1 << LARGEST_BITS) - 2};
    uint32_t bits = 32 - (uint32_t)prefix;
    first = first >> bits << bits;
    bits = bits < LARGEST_BITS ? bits : LARGEST_BITS;
    return (struct nodes__range){first, (UINT32_C(1) << bits) - 2};
}

uint32_t nodes__number_of(const struct nodes__range *range, struct str pod_ip) {
    uint32_t bits = 0;
    if (!read_address(pod_ip, &bits) || bits <= range->first || bits > range->first + range->most)
        return 0;
    return bits - range->first;
}
