/* Between the ranges of a cluster and the steps that give a service its addresses and ports. */
#ifndef REGISTRY_SERVICE_SERVICE_INT_H
#define REGISTRY_SERVICE_SERVICE_INT_H

#include "registry/registry_int.h"
#include "valid/service.h"

/* ---- ranges ---- */

/* The family of services that do not say: IPv4 or IPv6. */
struct str registry__first_family(const struct registry_ranges *r);
/* How many families there are, and is this one of them? Without ranges both are. */
size_t registry__family_count(const struct registry_ranges *r);
bool registry__has_family(const struct registry_ranges *r, struct str family);

/* An address of the family that is free, in the arena; one for show in a dry run; empty: there is
 * none. */
struct str registry__next_address(const struct registry_ranges *r, struct arena *a,
                                  struct str family, bool is_dry_run);
/* Why the service cannot have this address of the family; empty: it can. In the arena. */
struct str registry__address_fault(const struct registry_ranges *r, struct arena *a,
                                   const struct api_object *service, struct str address,
                                   bool is_dry_run);

/* Numbers of ports. */
struct port_set {
    uint64_t bits[(UINT16_MAX + 1) / 64];
};
bool registry__ports_have(const struct port_set *set, int32_t port);
void registry__ports_put(struct port_set *set, int32_t port);

/* A port that is free and not in the set; 0: there is none. */
int32_t registry__next_port(const struct registry_ranges *r, const struct port_set *but);
/* Why nobody can have a port, in the arena; empty: it is in the range. */
struct str registry__port_fault(const struct registry_ranges *r, struct arena *a, int32_t port);
/* Is it taken by a service that is stored? */
bool registry__port_is_taken(const struct registry_ranges *r, int32_t port);

/* ---- steps ---- */

/* A service on its way, before it is prepared and judged. */
struct allocation {
    const struct registry *registry;
    struct arena *a;                    /* of texts of failures */
    struct api_object *o;               /* the service */
    struct api_service_spec *s;         /* its own */
    const struct api_service_spec *old; /* NULL on create */
    bool is_dry_run;
    struct valid_errs *errs;         /* what is wrong with it */
    struct registry_failure failure; /* what went wrong otherwise */
    struct port_set ports;           /* that it takes with this write */
    int32_t last_port;               /* the largest of them; 0: none */
};

/* Has a step failed? Then the others are not taken. */
static inline bool allocation_failed(const struct allocation *x) {
    return x->errs->n || x->failure.code;
}

/* Fails with 500 and this text. */
void registry__allocation_fail(struct allocation *x, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* Which families a service has, and how many. */
void registry__init_families(struct allocation *x);
/* Its addresses, and its ports. */
void registry__allocate_addresses(struct allocation *x);
void registry__allocate_ports(struct allocation *x);

/* An update is about the same addresses and families as before, and leaves it to the cluster
 * whether there are two. */
bool registry__keeps_families(const struct allocation *x);

/* The same texts in the same order? */
bool registry__same_strs(const struct api_strs *a, const struct api_strs *b);

#endif
