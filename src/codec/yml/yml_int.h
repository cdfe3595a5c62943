/*
 * Inside of the YAML reader and writer. Bytes become events (yml_scan_int.h), events a tree in
 * yml_build.c; yml_scalar.c knows what a scalar means.
 */
#ifndef CODEC_YML_YML_INT_H
#define CODEC_YML_YML_INT_H

#include "base/map.h"
#include "base/vec.h"
#include "codec/docs.h"
#include "codec/yml.h"
#include "codec/yml/yml_scan_int.h"

/* --- yml_scalar.c: what a scalar means to kubectl --- */

struct yml_scalar {
    struct str text;
    struct str tag; /* in full, or absent */
    bool plain;     /* the meaning is to be guessed from the text */
};

/* Is this key the merge key? */
bool yml__is_merge(const struct yml_scalar *s);

/* The scalar as a JSON value; strings go into the arena. Errors have no place yet. */
int yml__scalar_value(struct arena *a, const struct yml_scalar *s, struct json *out,
                      struct err *err);

/* The scalar as the key of an object: text that JSON would hold, in the arena. *is_text says
 * whether it was a string in YAML, too. */
int yml__scalar_key(struct arena *a, const struct yml_scalar *s, struct str *out, bool *is_text,
                    struct err *err);

/* Would a plain scalar with this text be read back as a string, by YAML 1.1 readers, too? */
bool yml__is_plain_string(struct str text);

/* --- yml_number.c --- */

struct yml_number {
    enum { YML_INT, YML_UINT, YML_FLOAT } kind; /* UINT: above the range of int64 */
    union {
        int64_t i;
        uint64_t u;
        double d;
    };
};

/* The number that a scalar with this text is; false when it is a string. Never infinite. */
bool yml__number_read(struct str text, struct yml_number *out);

/* Is text a number in base 60, as in 12:30:45? Only other readers than kubectl take it for one. */
bool yml__is_base_60(struct str text);

/* The number as it stands in the JSON that Go makes of it: 1e3 is printed as 1000, an integer. It
 * must be finite. */
struct json yml__number_value(struct arena *a, const struct yml_number *n);

/* Appends the number as go-yaml prints it: 1e+06, 0.5, 18446744073709551615. */
void yml__number_write(struct buf *out, const struct yml_number *n);

/* Appends a float that is a key, with the precision of a float32: so does the way to JSON. */
void yml__number_write_key(struct buf *out, double d);

/* --- yml_build.c: events to trees --- */

/* What a node costs when an alias repeats it. */
struct yml_cost {
    uint64_t nodes;  /* as go-yaml counts what it decodes: keys and aliases, too */
    uint64_t bytes;  /* of its text */
    uint32_t height; /* levels of containers */
};

struct yml_anchor {
    struct yml_scalar
        scalar;        /* in reader.keep; its text is absent when the anchor is a container */
    struct json value; /* the container */
    struct yml_cost cost;
    bool open; /* its node is not complete: an alias would contain itself */
    bool kept; /* the value lives in reader.keep, not in the arena of the current value */
};

struct yml_entry {
    struct json_member member; /* items of sequences have no key */
    bool merged;               /* came with "<<": an explicit key may follow */
};

struct yml_frame {
    bool is_map;
    enum { YML_WANT_KEY, YML_WANT_VALUE, YML_WANT_MERGE } want; /* of maps */
    struct str key;
    bool repeated;       /* the key was there before */
    struct str shown;    /* that key as go-yaml shows it, if it is to be told of */
    uint32_t value_line; /* where the value of the key begins, likewise */
    size_t first;        /* its first entry */
    struct map index;    /* key -> entry, when there are many */
    size_t anchor;       /* offset by one; 0 = none */
    struct yml_cost cost;
};

struct yml_reader {
    struct yml_parser parser;
    struct yml_event event;
    bool have_event;

    struct arena *arena; /* where values go */
    struct arena keep;   /* what lives as long as the document */
    VEC(struct yml_frame) frames;
    VEC(struct yml_entry) entries; /* of all open containers */
    VEC(struct yml_anchor) anchors;
    struct map anchor_names;   /* name -> index in anchors, offset by one */
    uint64_t decoded, aliased; /* nodes of the document so far, and those that aliases added */
    size_t kept;               /* anchors whose values are in keep */
    size_t kept_entries;       /* entries of the outermost container that are in keep */
    size_t kept_bytes;
    size_t value_start, value_bytes; /* of the value that is being read: its place and text */
    struct json root;                /* the value, once no frame is open */
    struct yml_repeats *told;        /* repeated keys are no error, but told of; NULL: not so */
    bool keep_repeats;               /* repeated keys are no error, up to DOCS_MOST_REPEATS */
    unsigned repeats;                /* how many there were since the value began */
};

/* A reader over bytes, of which the first is at 1:1; read and ctx are stored. *r stays in place. */
void yml__open(struct yml_reader *r, docs_read_fn *read, void *ctx);

/* Frees what the reader owns. */
void yml__close(struct yml_reader *r);

/* Looks at the next event: its kind, or -1 with err filled. */
int yml__peek(struct yml_reader *r, struct err *err);

/* Drops the event that was looked at. */
void yml__skip(struct yml_reader *r);

/* Where the event that was looked at starts. */
void yml__place(const struct yml_reader *r, uint32_t *line, uint32_t *column);

/* Forgets the anchors and counts of the document before. */
void yml__begin_document(struct yml_reader *r);

/* The event that was looked at begins a value with a budget of its own. */
void yml__begin_value(struct yml_reader *r);

/* Takes in the event that was looked at: a node, or the end of a container. When no frame is open
 * behind it, r->root is the value. */
int yml__take(struct yml_reader *r, struct err *err);

/* Copies what the document must remember from r->arena into r->keep. An error gets this place. */
int yml__keep(struct yml_reader *r, uint32_t line, uint32_t column, struct err *err);

#endif
