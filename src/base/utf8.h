/*
 * UTF-8: validation and one-character steps. Surrogates, overlong forms and code points above
 * U+10FFFF are invalid, as in Go.
 */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/str.h"

/* What utf8_decode gives for bytes that are not UTF-8. */
#define UTF8_INVALID UINT32_C(0xFFFFFFFF)

/* Offset of the first byte that is not part of valid UTF-8, or s.n when all of it is valid. */
size_t utf8_valid_prefix(struct str s);

/* Decodes the character at s.p (s.n > 0) and stores its length in *len. Invalid bytes give
 * UTF8_INVALID and length 1. */
uint32_t utf8_decode(struct str s, size_t *len);

/* Writes cp (a valid code point) as 1 to 4 bytes at out and returns how many. */
size_t utf8_encode(uint32_t cp, char out[4]);

/* s without Unicode white space at both ends, as Go's strings.TrimSpace. */
struct str utf8_trim_space(struct str s);

/* Number of code points; each invalid byte counts as one. */
size_t utf8_count(struct str s);

#endif
