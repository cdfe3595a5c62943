/*
 * Container image references, to the depth that defaulting and validation look at them.
 */
#ifndef API_IMAGE_H
#define API_IMAGE_H

#include "base/arena.h"
#include "base/str.h"

/*
 * The tag of an image reference as the API server sees it: "latest" when there is neither tag nor
 * digest, empty when there is only a digest or when the text is no valid reference.
 */
struct str api_image_tag(struct str image);

/* Why a text is no image reference, as those who pull images say it; empty if it is one. In the
 * arena or static. */
struct str api_image_fault(struct arena *a, struct str image);

#endif
