/*
 * Subsets of Endpoints: which addresses offer which ports.
 */
#ifndef MANAGER_SERVICES_ENDPOINT_SUBSETS_INT_H
#define MANAGER_SERVICES_ENDPOINT_SUBSETS_INT_H

#include "api/object.h"
#include "base/map.h"

/* Endpoints can have so many addresses. */
enum { ENDPOINT_MOST_ADDRESSES = 1000 };

struct port_list;

/* Addresses with their ports, collected one by one. Everything lives in the arena and borrows from
 * what was added. subset_pack__end frees the maps. */
struct subset_pack {
    struct arena *arena;
    struct map addresses; /* struct subset_address */
    struct map ports;     /* struct subset_port */
    struct map lists;     /* struct port_list */
};

/* Begins a pack. */
void subset_pack__begin(struct subset_pack *p, struct arena *a, uint64_t seed);

/* Ports that addresses offer together; none is one, too. */
struct port_list *subset_pack__ports(struct subset_pack *p,
                                     const struct api_endpoint_port_list *ports);

/* An address offers these ports of the pack. */
void subset_pack__add(struct subset_pack *p, struct port_list *ports,
                      const struct api_endpoint_address *address, bool is_ready);

/* The same for all that subsets say. */
void subset_pack__add_all(struct subset_pack *p, const struct api_endpoint_subset_list *subsets);

/* The subsets, in their canonical form: addresses with the same ports together, all sorted; an
 * address that is ready and not ready at one port is not. False: there were more than
 * LIMIT_ENDPOINT_PAIRS, and *out is empty. */
bool subset_pack__end(struct subset_pack *p, struct api_endpoint_subset_list *out);

/* Are lists in canonical form equal? Resource versions of references do not count. */
bool subsets__are_equal(const struct api_endpoint_subset_list *x,
                        const struct api_endpoint_subset_list *y);

/* How many addresses there are. */
size_t subsets__count(const struct api_endpoint_subset_list *list);

/* Leaves ENDPOINT_MOST_ADDRESSES of them, ready ones first; false: there were no more. */
bool subsets__truncate(struct api_endpoint_subset_list *list);

#endif
