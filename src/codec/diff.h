/*
 * The unified diff of two texts, as the API server shows it to people: the longest equal run of
 * lines first, then what stands before and behind it in the same way.
 */
#ifndef CODEC_DIFF_H
#define CODEC_DIFF_H

#include "base/buf.h"
#include "base/str.h"

/* Appends the diff that makes `to` of `from`, with three lines of context; nothing for equal texts.
 * False, and nothing is appended, when more than LIMIT_DIFF_PAIRS of their lines are equal. */
bool diff_write(struct buf *out, struct str from, struct str to);

#endif
