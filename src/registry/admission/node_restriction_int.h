/* What the files of NodeRestriction share. */
#ifndef REGISTRY_NODE_RESTRICTION_INT_H
#define REGISTRY_NODE_RESTRICTION_INT_H

#include "registry/admission/admission_int.h"

/* A node that asks. */
struct registry__node {
    struct str name;
    struct str quoted; /* as Go's %q writes it */
};

/* May the node do this to a node, ask for a token of a service account, or ask for the certificate
 * of a pod? False, and the failure is filled, if not. */
bool registry__admit_nodes(struct registry__admission *m, const struct registry__node *node);
bool registry__admit_tokens(struct registry__admission *m, const struct registry__node *node);
bool registry__admit_pod_certificates(struct registry__admission *m,
                                      const struct registry__node *node);

/* The pod of that name in the namespace of the request; false, and the failure is filled, if there
 * is none. */
bool registry__node_has_pod(struct registry__admission *m, struct str name,
                            const struct api_object **out);

#endif
