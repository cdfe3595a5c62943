/* metadata.jsonl: an object of a kind of which the metadata alone is judged, as a user posts it or
 * in the place of a stored one. */
#include "vectors.h"

int vectors_check_metadata(struct arena *a, const struct json *line, struct buf *why) {
    return json_get(line, STR("old")) ? vectors_check_validate_update(a, line, why)
                                      : vectors_check_validate_create(a, line, why);
}
