/* Members of vectors: asked for, and held against what a check found. */
#ifndef TEST_VECTORS_MEMBERS_H
#define TEST_VECTORS_MEMBERS_H

#include "base/buf.h"
#include "codec/json.h"

/* The string under key; absent when there is none. */
struct str vectors_text(const struct json *line, struct str key);

/* Tells in why that what is called `where` should be one value and is another; NULL: none. -1. */
int vectors_differ(struct buf *why, struct str where, const struct json *want,
                   const struct json *got);

/* Does `want` hold every member of `got`, with the same value? 0 or -1, and then the first
 * difference is in why. `got` must have members; want may be NULL. */
int vectors_compare_members(const struct json *want, const struct json *got, struct buf *why);

#endif
