/* Shared by time.c and time_duration.c. */
#ifndef CODEC_TIME_INT_H
#define CODEC_TIME_INT_H

#include "base/buf.h"

/* Appends s in double quotes the way Go's time package does in its error texts. */
void time__quote(struct buf *out, struct str s);

#endif
