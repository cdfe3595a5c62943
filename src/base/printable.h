/*
 * Text from outside on its way to people: it must neither steer a terminal nor look like lines that
 * the program wrote itself. What a reader would not see, or would see somewhere else, is shown as
 * an escape: control characters (\x1b, \x0a), the second set of them (\u009b), separators of lines
 * and paragraphs, what turns the direction of writing round (\u202e), and bytes that are not UTF-8.
 */
#ifndef BASE_PRINTABLE_H
#define BASE_PRINTABLE_H

#include "base/buf.h"

/* Appends the text as part of one line: line breaks and tabs are escapes as well. */
void printable_add(struct buf *out, struct str text);

/* Appends a text that has line breaks and tabs of our own, which stay. */
void printable_add_lines(struct buf *out, struct str text);

/* How many bytes printable_add appends. */
size_t printable_size(struct str text);

#endif
