/*
 * Quoting as Go's %q does it (strconv.Quote): upstream's error texts show user input this way, and
 * ours must equal them byte for byte.
 */
#ifndef BASE_GOQUOTE_H
#define BASE_GOQUOTE_H

#include "base/buf.h"

/* Appends s between double quotes: printable characters as they are, the others as Go's escapes,
 * bytes that are not UTF-8 as \xNN. At most 4 * s.n + 2 bytes. */
void goquote_write(struct buf *out, struct str s);

/* Does Go's strconv.IsPrint hold for this code point? */
bool goquote_is_print(uint32_t cp);

#endif
