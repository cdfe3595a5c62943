/* Whole numbers as Go's strconv.Atoi reads them. */
#ifndef BASE_GOATOI_H
#define BASE_GOATOI_H

#include "base/str.h"

/* Reads decimal digits behind an optional sign; leading zeros are allowed. NULL, or what Atoi says
 * is wrong: "invalid syntax" or "value out of range"; then *out is untouched. */
const char *goatoi_read(struct str text, int64_t *out);

#endif
