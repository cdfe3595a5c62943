/* How rules warn, and what warnings several kinds share. */
#ifndef VALID_WARNINGS_INT_H
#define VALID_WARNINGS_INT_H

#include "valid/valid_int.h"

VALID_PRINTF(2) /* one warning */
void valid__warn(struct valid_warnings *w, const char *fmt, ...);
VALID_PRINTF(3) /* <path>: <text> */
void valid__warn_at(struct valid_warnings *w, const struct path *p, const char *fmt, ...);
/* A path as errors show it, in the arena. */
struct str valid__path_text(struct arena *a, const struct path *p);
/* Is there no room for more? */
static inline bool valid__warnings_are_full(const struct valid_warnings *w) {
    return w->n == sizeof w->v / sizeof *w->v;
}
/* May one more pair of parts be compared? Counts it. */
bool valid__may_compare(struct valid_warnings *w);
/* An address, or a range of them, that is not written as it should be. */
void valid__warn_ip(struct valid_warnings *w, const struct path *p, struct str text);
void valid__warn_cidr(struct valid_warnings *w, const struct path *p, struct str text);

/* ---- parts that several kinds have ---- */

/* What is to be said of a pod, or a template at `top`, which is NULL for a pod; and of a name that
 * becomes a part of others. */
void valid__warn_pod_parts(struct valid_warnings *w, const struct path *top,
                           const struct api_pod_spec *spec, const struct api_object_meta *meta);
void valid__warn_name(struct valid_warnings *w, struct str name, const char *where);
/* What is said of a label of nodes that has had its day; NULL: nothing. */
const char *valid__label_deprecation(struct str label);
/* What is to be said of a term that selects nodes, required or preferred. */
void valid__warn_node_term(struct valid_warnings *w, const struct path *p,
                           const struct api_node_selector_term *term, bool is_preferred);

/* What is to be said of the spec of a claim; and of an amount of bytes that is no whole number. */
void valid__warn_claim_spec(struct valid_warnings *w, const struct path *p,
                            const struct api_persistent_volume_claim_spec *spec);
void valid__warn_fraction(struct valid_warnings *w, const struct path *p,
                          const struct api_quantities *list, const char *resource);
/* What is to be said of the volumes of a pod. */
void valid__warn_volumes(struct valid_warnings *w, const struct path *p,
                         const struct api_volume_list *list);

#endif
