/*
 * What the ports of a service are in its pods. Pods whose containers have the same ports share one
 * answer, so that thousands of pods of a service with thousands of ports do not cost the product.
 */
#ifndef MANAGER_SERVICES_PORT_NUMBERS_INT_H
#define MANAGER_SERVICES_PORT_NUMBERS_INT_H

#include "api/object.h"
#include "base/buf.h"
#include "base/map.h"

/* The numbers for some pods. */
struct port_answer {
    int32_t *v; /* by place of the service's port; negative: the pods have none of its name */
    size_t n;   /* that are there */
    void *use;  /* what whoever asks has made of them; NULL at first */
};

/* The answers for the pods of one service. They live in the arena, and borrow from the service. */
struct port_numbers {
    struct arena *arena;
    const struct api_service_port_list *ports;
    bool by_name; /* some port is looked up in the pods */
    struct map answers;
    size_t room; /* for more numbers */
    struct buf key;
};

/* Begins; port_numbers__end frees what is not in the arena. */
void port_numbers__begin(struct port_numbers *x, struct arena *a, const struct api_object *service,
                         uint64_t seed);
void port_numbers__end(struct port_numbers *x);

/* The answer for a pod. NULL: there would be more than LIMIT_ENDPOINT_PAIRS numbers in all answers.
 *
 * Follows k8s.io/endpointslice, func FindPort. */
struct port_answer *port_numbers__of(struct port_numbers *x, const struct api_object *pod);

#endif
