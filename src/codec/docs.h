/*
 * A stream of documents from a file, a pipe or memory: JSON values one after the other, or YAML
 * documents, told apart by the first byte that is not white space.
 *
 * A document that is an object with an array under "items" (a Kubernetes List) is handed out item
 * by item, so that a list of any length is read in one pass with memory for one item. Every value
 * is bounded by LIMIT_OBJECT_BYTES.
 */
#ifndef CODEC_DOCS_H
#define CODEC_DOCS_H

#include "codec/json.h"

enum docs_event {
    DOCS_END,      /* no more documents; the value is null */
    DOCS_VALUE,    /* a whole document that is not a list */
    DOCS_ITEM,     /* one element of the "items" of a list */
    DOCS_LIST_END, /* the list is over; the value is its object without "items" */
};

struct docs;

/* Reads up to n bytes into to: how many, 0 at the end, -1 with err filled. */
typedef int64_t docs_read_fn(void *ctx, char *to, size_t n, struct err *err);

/* Opens a stream over a reader; ctx is stored and must outlive the stream. */
struct docs *docs_open(docs_read_fn *read, void *ctx);

/* Starts over at the beginning of another text that the reader gives from now on: as a new stream,
 * but with the memory and the settings of the old one. */
void docs_restart(struct docs *d);

/* From now on repeated keys of objects are kept, in order, and reported in docs_item.repeats; else
 * they are an error. So are more than DOCS_MOST_REPEATS of them in one value of a YAML stream. */
enum { DOCS_MOST_REPEATS = 100 };
void docs_keep_repeats(struct docs *d);

/* Frees the stream; what it produced lives on in the callers' arenas. Accepts NULL. */
void docs_free(struct docs *d);

struct docs_item {
    enum docs_event event;
    struct json value;     /* in the caller's arena; strings may belong to the stream */
    uint32_t line, column; /* where the value starts in the stream */
    uint32_t document;     /* counts from 0 */
    uint32_t index;        /* DOCS_ITEM: place in "items", from 0 */
    bool is_json;          /* the stream has been JSON so far, and not YAML */
    bool repeats;          /* some object in the value has a key twice */
    /* DOCS_ITEM: the members of the list seen before "items" (apiVersion, kind), valid until the
     * next call; a list whose kind comes behind its items has none. */
    const struct json *list;
};

/*
 * The next value. 0, or -1 with err filled, line and column included: reading stops there, and what
 * was handed out before stays good. Values go into `a`, which the caller may reset between calls;
 * their strings are good until the next call only, so that a reader who copies what it keeps pays
 * for one copy.
 */
int docs_next(struct docs *d, struct arena *a, struct docs_item *out, struct err *err);

/* Bytes taken from the reader so far, for progress displays. */
uint64_t docs_bytes_read(const struct docs *d);

#endif
