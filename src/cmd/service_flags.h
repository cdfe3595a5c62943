/*
 * Flags about services: where they get addresses and ports from, and where the service of the API
 * itself leads to. Those of kube-apiserver.
 */
#ifndef CMD_SERVICE_FLAGS_H
#define CMD_SERVICE_FLAGS_H

#include "cli/opt.h"
#include "registry/ranges.h"

struct service_opts {
    struct str cidrs, node_ports, advertised;
};

/* The rows of struct service_opts. */
extern const struct opt service_opts[];

/* What became of the flags. */
struct service_config {
    struct registry_cidrs cidrs;
    struct registry_ports node_ports;
    struct str advertised; /* an address of the family of the first range; empty: there is none */
};

/* Reads the flags of a server that listens on this address. Texts live in the arena. */
int service_configure(struct arena *a, const struct service_opts *opts, struct str bound,
                      struct service_config *out, struct err *err);

#endif
