/* Time zones by name, for the getters of timestamps. */
#ifndef CEL_KIT_TZ_INT_H
#define CEL_KIT_TZ_INT_H

#include "cel/cel_int.h"

/* Seconds east of UTC in a zone at a moment: "", UTC, Local, an IANA name, or [+-]H:M. False with
 * Go's text in *error. */
bool cel__tz_offset(struct cel_eval *ev, struct str zone, int64_t seconds, int64_t *offset,
                    struct cel_value *error);

#endif
