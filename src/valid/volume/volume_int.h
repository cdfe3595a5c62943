/* What the rules of volumes, claims and other kinds that are about storage ask of each other. */
#ifndef VALID_VOLUME_VOLUME_INT_H
#define VALID_VOLUME_VOLUME_INT_H

#include "valid/valid_int.h"

/* A volume at p that has no object of its own: what an attachment is about. */
void valid__inline_volume(struct valid *v, const struct path *p,
                          const struct api_persistent_volume_spec *spec);

/* The metadata of what a claim will be made of: labels and annotations, and nothing else. */
void valid__template_meta(struct valid *v, const struct path *p, const struct api_object_meta *m);

/* What the old claim has already may stay. */
struct claim_rules {
    struct selector_rules selectors;
    bool any_api_group;    /* of the source of data */
    bool attributes_class; /* is looked at */
    bool may_shrink;       /* down to what there is: an expansion has failed */
};
/* The spec of a claim at p. */
void valid__claim_spec(struct valid *v, const struct path *p,
                       const struct api_persistent_volume_claim_spec *spec,
                       const struct claim_rules *rules);

/* Says what a claim is filled from in the older and in the newer field for it; in the arena. */
void valid__complete_sources(struct arena *a, struct api_persistent_volume_claim_spec *spec);

#endif
