/* Requests for certificates and certificates, in PEM, as the API has them. */
#ifndef VALID_CERTIFICATES_CERTIFICATES_INT_H
#define VALID_CERTIFICATES_CERTIFICATES_INT_H

#include "valid/valid_int.h"

/* A block of PEM: what stands between its two lines. */
struct pem_block {
    struct str type, bytes;
    bool has_headers;
};

/* Takes the next block from the text, as Go's pem.Decode does; false: there is none. Its bytes are
 * in the arena. */
bool valid__pem_next(struct arena *a, struct str *text, struct pem_block *out);

/* What is wrong with the DER of a request, and with its signature, in Go's words; empty: nothing.
 * What is wrong inside it is told in general words. */
struct str valid__request_fault(struct arena *a, struct str der);
/* The same for one or more certificates, of which *count is how many there are. */
struct str valid__certificates_fault(struct str der, size_t *count);

/* May the one certificate of the DER sign others? */
enum ca_fault { CA_GOOD, CA_MALFORMED, CA_NOT_SET };
enum ca_fault valid__ca_fault(struct str der);

/* The name of a signer at p: example.com/signer-name. */
void valid__signer_name(struct valid *v, const struct path *p, struct str name);
/* Is it one of Kubernetes' own? */
bool valid__is_kubernetes_signer(struct str name);
/* What a pod says to its signer, at p: keys with a domain before them, and not too much of it. */
void valid__user_annotations(struct valid *v, const struct path *p,
                             const struct labels *annotations);

#endif
