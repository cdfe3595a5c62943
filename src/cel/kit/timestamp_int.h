/* Times and numbers from text, as Go's packages read them; used by conversions and by the
 * validators of literals. */
#ifndef CEL_KIT_TIMESTAMP_INT_H
#define CEL_KIT_TIMESTAMP_INT_H

#include "cel/cel_int.h"

/* A Go duration. */
bool cel__parse_duration(struct str text, int64_t *ns);

/* RFC 3339 as Go's time.Parse takes it: the offset is kept. The range is not checked. */
bool cel__parse_timestamp(struct str text, struct cel_value *out);

/* strconv.ParseFloat: infinities and NaN by name, hexadecimal, underscores. */
bool cel__go_parse_float(struct str text, double *out);

#endif
