/*
 * Between yml_write.c (the structure of a document) and yml_quote.c (its scalars): where the pen
 * is. The flags are those of libyaml's emitter, which go-yaml shares; together they decide whether
 * the next thing needs a space, a line break or indentation in front of it.
 */
#ifndef CODEC_YML_YML_WRITE_INT_H
#define CODEC_YML_YML_WRITE_INT_H

#include "base/buf.h"

struct yml_pen {
    struct buf *out;
    int column, indent; /* indent is -1 outside of the outermost container */
    bool whitespace;    /* the last thing written separates what follows */
    bool indention;     /* only indentation and indicators like "- " stand on this line so far */
};

enum { YML_INDENT = 2, YML_WIDTH = 80 };

/* One character, and its column. */
void yml__put(struct yml_pen *pen, struct str character);

/* A line break. */
void yml__put_break(struct yml_pen *pen);

/* Goes to the indentation, on a new line unless the pen is there already. */
void yml__write_indent(struct yml_pen *pen);

/* An indicator such as "-" or ":"; `spaced` puts a space in front where none is. */
void yml__write_indicator(struct yml_pen *pen, const char *indicator, bool spaced);

/* --- yml_quote.c --- */

/* Can s be a key in front of a ":", or does it need "? " on a line of its own? */
bool yml__is_simple_key(struct str s);

/* A string in the style that go-yaml would choose; simple keys are never broken over lines. */
void yml__write_string(struct yml_pen *pen, struct str s, bool simple_key);

/* A text that needs no quotes. */
void yml__write_plain(struct yml_pen *pen, struct str s, bool simple_key);

#endif
