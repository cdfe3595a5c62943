/* What to write in the place of a kind that no server has. */
#ifndef CMD_REPORT_KIND_HINT_H
#define CMD_REPORT_KIND_HINT_H

#include "base/buf.h"

/* Appends where the kind is served today, where it is sent to, or what it may be a misspelling of:
 * "apps/v1 serves Deployment". False when nothing comes near it. */
bool kind_hint_write(struct buf *out, struct str api_version, struct str kind);

#endif
