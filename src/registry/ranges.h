/*
 * Where services get their addresses and node ports from: ranges, and how often each address and
 * each port in them is taken. What is taken follows from the services that are stored: whoever
 * stores them tells it here. Owned by one thread.
 */
#ifndef REGISTRY_RANGES_H
#define REGISTRY_RANGES_H

#include "api/object.h"
#include "base/err.h"
#include "valid/ip.h"

struct registry_ranges;

/* Ranges of addresses: one, or one of each family, of which the first is that of services that do
 * not say. */
struct registry_cidrs {
    struct cidr v[2];
    size_t n;
};

/* Reads ranges with a comma between them. */
int registry_cidrs_read(struct str text, struct registry_cidrs *out, struct err *err);

/* Ports of nodes, the first and the last among them; zeroes: 30000-32767. */
struct registry_ports {
    int32_t first, last;
};

/* Reads 30000-32767, 30000+2767 or 30000; an empty text gives zeroes.
 *
 * Follows k8s.io/apimachinery pkg/util/net, func (*PortRange) Set. */
int registry_ports_read(struct str text, struct registry_ports *out, struct err *err);

/* Fills n bytes that nobody can guess. */
typedef void registry_draw_fn(void *ctx, void *to, size_t n);

struct registry_ranges_opts {
    struct registry_cidrs cidrs;
    struct registry_ports ports;
    registry_draw_fn *draw;
    void *draw_ctx; /* stored */
};

/* Ranges of which nothing is taken, but for the first address of the first one: it is the service
 * `kubernetes`'s in the namespace default, whether there is one or not. */
struct registry_ranges *registry_ranges_new(const struct registry_ranges_opts *opts);
void registry_ranges_free(struct registry_ranges *r); /* NULL is fine */

/* The address of the service `kubernetes`, in the arena. */
struct str registry_ranges_first(const struct registry_ranges *r, struct arena *a);

/* Notes that a service is stored from now on, or is not any more. */
void registry_ranges_add(struct registry_ranges *r, const struct api_object *service);
void registry_ranges_remove(struct registry_ranges *r, const struct api_object *service);

#endif
