/*
 * Label selectors, with upstream's verdicts, canonical texts and error texts.
 *
 * A selector is built once, requirement by requirement, from a text or from the structured form of
 * the API, and then only read. What matching needs is prepared while it is built: requirements in
 * the order of their keys, values sorted, thresholds as integers; so matching allocates nothing.
 *
 * No selector (NULL) matches nothing; a selector without requirements matches everything.
 */
#ifndef API_SELECTOR_H
#define API_SELECTOR_H

#include "api/labels.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

struct api_label_selector;

enum selector_op {
    SELECTOR_IN,
    SELECTOR_NOT_IN,
    SELECTOR_EQUALS,
    SELECTOR_DOUBLE_EQUALS,
    SELECTOR_NOT_EQUALS,
    SELECTOR_GREATER_THAN,
    SELECTOR_LESS_THAN,
    SELECTOR_EXISTS,
    SELECTOR_DOES_NOT_EXIST,
};

struct selector_req {
    struct str key;
    enum selector_op op;
    uint32_t order;           /* place among the requirements as they were given */
    const struct str *values; /* sorted, repetitions kept */
    size_t value_count;
    int64_t threshold; /* SELECTOR_GREATER_THAN, SELECTOR_LESS_THAN: the value as a number */
};

struct selector {
    struct arena *arena; /* holds everything below; must outlive the selector */
    struct str path;     /* where error texts place the next requirement; absent = nowhere */
    struct selector_req *reqs;
    size_t n, cap;
    size_t positive; /* requirements that no label satisfies by being absent */
    /* The whole text of the last failure, absent if there was none. struct err has it, too, but cut
     * to its size; upstream's texts are often longer. A selector with an error matches nothing. */
    struct str error;
};

/* Starts a selector without requirements; the arena is stored. */
void selector_init(struct selector *sel, struct arena *a);

/*
 * Adds a requirement. key and values are borrowed for as long as the selector lives, the array of
 * values only for the call; values == NULL is Go's nil slice, which error texts print as null. On
 * failure nothing is added, and sel->error lists everything that is wrong with the requirement.
 */
int selector_require(struct selector *sel, struct str key, enum selector_op op,
                     const struct str *values, size_t value_count, struct err *err);

/* Ends the building: brings the requirements into order. To be called once, before any use. */
void selector_seal(struct selector *sel);

/* Leaves the first of equal requirements: the sealed selector matches what it did, but is written
 * shorter. For one that comes with a request, may be long and meets many objects. */
void selector_drop_repeated(struct selector *sel);

/*
 * Compiles a text such as `app in (web,api),!canary`. *out lives in the arena and borrows from
 * text. On failure *out is a selector that matches nothing and holds the whole text in its `error`.
 */
int selector_parse(struct arena *a, struct str text, struct selector **out, struct err *err);

/*
 * Compiles the structured form. NULL is no selector: *out is NULL. matchLabels come first, in the
 * order of their keys. Otherwise as selector_parse; *out borrows from spec.
 */
int selector_compile(struct arena *a, const struct api_label_selector *spec, struct selector **out,
                     struct err *err);

/* Do the labels satisfy every requirement? sel may be NULL. */
bool selector_matches(const struct selector *sel, const struct labels *labels);

/* Appends the canonical text, which selector_parse reads back unless the selector came from a
 * structured form with repeated values. sel may be NULL, which gives nothing. */
void selector_write(struct buf *out, const struct selector *sel);

#endif
