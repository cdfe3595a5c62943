/*
 * JSON: bytes to a tree and back, strict RFC 8259, the way Go's encoders print it.
 *
 * The tree lives in an arena. Strings without escapes are views into the text that was parsed, so
 * the text must outlive the tree (copy it into the same arena when it would not). Containers are
 * contiguous arrays: items[0 .. n), members[0 .. n). A parsed tree is never changed by this module;
 * whoever built or parsed it may.
 */
#ifndef CODEC_JSON_H
#define CODEC_JSON_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum json_kind {
    JSON_NULL,
    JSON_BOOL,
    JSON_INT,   /* an integer literal in the range of int64 */
    JSON_UINT,  /* an integer literal above that, in the range of uint64 */
    JSON_FLOAT, /* any other number: the literal is kept as text and converted on demand */
    JSON_STRING,
    JSON_ARRAY,
    JSON_OBJECT,
};

struct json {
    uint32_t kind; /* enum json_kind */
    uint32_t n;    /* bytes of a string or float literal, items of an array, members of an object */
    union {
        bool b;
        int64_t i;
        uint64_t u;
        const char *s;
        struct json *items;
        struct json_member *members;
    };
};

struct json_member {
    struct str key;
    struct json value;
};

struct json_opts {
    size_t max_bytes;      /* 0 = LIMIT_OBJECT_BYTES */
    uint32_t max_depth;    /* 0 = LIMIT_JSON_DEPTH */
    bool allow_duplicates; /* keep repeated keys, in order; otherwise they are an error */
};

/*
 * Parses exactly one value with white space around it. Errors carry line and column (in code
 * points) and never leave half a tree in *out. opts may be NULL. No recursion: depth costs memory
 * of the arena, not stack.
 */
int json_parse(struct arena *a, struct str text, const struct json_opts *opts, struct json *out,
               struct err *err);

/*
 * Parses one value at the start of text and stores how many bytes it took, for streams: 1 = done,
 * 0 = text ends inside the value and more of it is needed, -1 = error. `last` says that nothing
 * follows text (so a number at its end is complete, and a missing rest is an error).
 */
int json_parse_prefix(struct arena *a, struct str text, bool last, const struct json_opts *opts,
                      struct json *out, size_t *used, struct err *err);

/* The string (or float literal) of v as a view. */
static inline struct str json_str(const struct json *v) {
    return (struct str){v->s, v->n};
}

/* The member of an object by key (the last one of duplicates), or NULL; NULL for other kinds. */
const struct json *json_get(const struct json *v, struct str key);

/* Any number as a double; 0 for other kinds. */
double json_double(const struct json *v);

/* Same kind and content? Member order does not matter; numbers compare by kind and value. */
bool json_equal(const struct json *a, const struct json *b);

/* The same in every respect, the order of members and the spelling of numbers too? Then *bytes
 * grows by what a copy would take. */
bool json_same(const struct json *a, const struct json *b, size_t *bytes);

/* A deep copy that shares nothing with v. */
struct json json_clone(struct arena *a, const struct json *v);

/* Values to build trees from; strings are borrowed, and an absent one is an empty one. */
struct json json_of_str(struct str s);
struct json json_of_i64(int64_t i);
struct json json_of_u64(uint64_t u);
struct json json_of_bool(bool b);
struct json json_of_double(struct arena *a, double d); /* d must be finite */

/* Appends to an object or array that was built with these calls (start with {.kind = …}). The
 * arrays grow in the arena. The key is borrowed. Returns the stored value. */
struct json *json_add(struct arena *a, struct json *object, struct str key, struct json value);
struct json *json_append(struct arena *a, struct json *array, struct json value);

struct json_style {
    unsigned indent; /* spaces per level; 0 = one line, no spaces */
    bool sort_keys;  /* members in byte order of their keys, as Go prints maps */
    bool raw_html;   /* leave <, > and & alone; Go escapes them unless told otherwise */
    bool literals;   /* numbers as they were read; Go does so with raw messages alone */
};

/* Appends v as Go's encoding/json writes it. style may be NULL (compact, in order, escaped). */
void json_write(struct buf *out, const struct json *v, const struct json_style *style);

/* Appends s as a JSON string literal, escaped as Go does. */
void json_write_str(struct buf *out, struct str s, bool raw_html);

/* Appends d as Go's encoding/json prints a float64 (shortest form that reads back; d finite). */
void json_write_double(struct buf *out, double d);

#endif
