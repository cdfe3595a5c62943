/* What other kinds ask of the rules of persistent volumes. */
#ifndef VALID_VOLUME_VOLUME_INT_H
#define VALID_VOLUME_VOLUME_INT_H

#include "valid/valid_int.h"

/* A volume at p that has no object of its own: what an attachment is about. */
void valid__inline_volume(struct valid *v, const struct path *p,
                          const struct api_persistent_volume_spec *spec);

#endif
