/*
 * Standard base64 (RFC 4648, with padding), read and written as Go's base64.StdEncoding does:
 * line breaks in the input are skipped, everything else that is not in the alphabet is an error.
 */
#ifndef CODEC_BASE64_H
#define CODEC_BASE64_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

/* Decodes text into the arena. 0, or -1 with "illegal base64 data at input byte N". */
int base64_decode(struct arena *a, struct str text, struct str *out, struct err *err);

/* Appends the encoding of bytes, in one line. */
void base64_write(struct buf *out, struct str bytes);

/* The same with the alphabet for URLs and without padding, as Go's base64.RawURLEncoding. */
int base64_decode_url(struct arena *a, struct str text, struct str *out, struct err *err);
void base64_write_url(struct buf *out, struct str bytes);

#endif
