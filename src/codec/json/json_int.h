/*
 * Inside of the JSON reader: one run of the parser with all its switches, and what went wrong in a
 * form that the stream can weigh before it becomes a text.
 */
#ifndef CODEC_JSON_JSON_INT_H
#define CODEC_JSON_JSON_INT_H

#include "codec/json.h"

enum json_fault {
    JSON_FAULT_NONE,
    /* "invalid character 'x' …", in Go's words */
    JSON_FAULT_VALUE,
    JSON_FAULT_KEY,
    JSON_FAULT_COLON,
    JSON_FAULT_PAIR,
    JSON_FAULT_ELEMENT,
    JSON_FAULT_TRAIL,
    JSON_FAULT_STRING,
    JSON_FAULT_ESCAPE, /* from here to LITERAL: inside a token that a space cannot continue */
    JSON_FAULT_HEX,
    JSON_FAULT_NUMBER,
    JSON_FAULT_POINT,
    JSON_FAULT_EXPONENT,
    JSON_FAULT_LITERAL,
    JSON_FAULT_DEPTH,
    JSON_FAULT_END, /* the text ends inside the value; the last fault of syntax */
    /* well-formed for Go's scanner, refused here */
    JSON_FAULT_UTF8,
    JSON_FAULT_SURROGATE,
    JSON_FAULT_RANGE,
    JSON_FAULT_DUPLICATE,
    JSON_FAULT_SIZE,
};

/* One run of the parser; the first five members are its input. */
struct json__run {
    struct arena *arena;
    struct str text;
    struct json_opts opts;
    bool last;         /* nothing follows text */
    bool copy_strings; /* no view into text stays in the tree */

    size_t used; /* bytes of the value and the white space before it */
    enum json_fault fault;
    enum json_fault unfinished; /* END: what the next byte would have been held against */
    size_t fault_at;            /* offset in text */
    /* DUPLICATE: the path of the key, in the arena. RANGE: the number. LITERAL: the right part of a
     * NUL-terminated "true", "false" or "null". */
    struct str fault_of;
};

/* Parses the value at the start of run->text: 1 = done, 0 = text is too short (never when `last`),
 * -1 = see run->fault. */
int json__run(struct json__run *run, struct json *out);

/* Puts the fault into words. The place is that of run->text: where its first byte stands in the
 * input. Always returns -1. */
int json__explain(const struct json__run *run, uint32_t line, uint32_t column, struct err *err);

/* Moves a place (1-based, column in code points) over text. */
void json__advance(struct str text, uint32_t *line, uint32_t *column);

/* Index of the first member whose key stood there before, or SIZE_MAX. */
size_t json__duplicate(const struct json_member *members, size_t n);

/*
 * Tokens, for the parser. Each takes the run, the place to start, and gives the place behind the
 * token or NULL with run->fault set.
 */

/* A string with escapes: from its first byte, where `stop` is the first byte that is not plain. The
 * bytes go into the arena; the 8 bytes in front of them hold the address of the literal, by which a
 * repeated key is found again. */
const char *json__unescape(struct json__run *run, const char *from, const char *stop,
                           struct str *out);

/* A number that is no plain integer in the range of int64: from its first byte, where `stop` is
 * behind its integer part. */
const char *json__number(struct json__run *run, const char *from, const char *stop,
                         struct json *out);

/* Notes a fault at a byte of the text; gives NULL. */
const char *json__fault(struct json__run *run, enum json_fault fault, const char *at);

/* Likewise, where `at` may be the end of the text, which is a fault of its own. */
const char *json__unexpected(struct json__run *run, enum json_fault fault, const char *at);

/* The double nearest to a number literal; infinite when it is too large. */
double json__literal_double(struct str literal);

/* Whether a key or string that the parser produced is a view into text. */
static inline bool json__is_view(struct str text, const char *p) {
    return (uintptr_t)p - (uintptr_t)text.p <= text.n;
}

#endif
