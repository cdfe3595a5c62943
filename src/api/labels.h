/*
 * Labels as matching wants them: an array of key and value views, sorted by key, so that a lookup
 * allocates nothing and a selector can walk labels and requirements side by side.
 */
#ifndef API_LABELS_H
#define API_LABELS_H

#include "base/arena.h"
#include "base/err.h"
#include "base/str.h"

struct json;

struct label {
    struct str key, value;
};

struct labels {
    struct label *v; /* in byte order of the keys; each key once */
    size_t n;
};

/* Brings v into order. The keys must be different from each other, as those of a map are. */
void labels_sort(struct labels *labels);

/* The label with this key at or behind v[*at], or NULL. *at moves forward, but not over a label
 * with this or a larger key: who asks for keys in rising order searches only the rest each time. */
const struct label *labels_next(const struct labels *labels, size_t *at, struct str key);

/* The label with this key, or NULL. */
const struct label *labels_find(const struct labels *labels, struct str key);

/* Have they the same keys with the same values? */
bool labels_equal(const struct labels *a, const struct labels *b);

/* Sets a label: the list becomes a new one in the arena, the old one stays as it was. */
void labels_put(struct arena *a, struct labels *labels, struct label label);

/* Sets many labels as labels_put does one after the other, but with one copy of the list for all
 * of them. The n of v may stand in any order; of those with the same key the last one wins. */
void labels_merge(struct arena *a, struct labels *labels, const struct label *v, size_t n);

/* A list with texts of its own, all in the arena. */
struct labels labels_copy(struct arena *a, const struct labels *labels);

/* Takes the label with this key away, if there is one: the list becomes a new one in the arena. */
void labels_remove(struct arena *a, struct labels *labels, struct str key);

/*
 * The labels of a JSON object with string values; NULL and null give none, a null value is an
 * empty one, as Go decodes it. The views borrow from the tree, the array lives in the arena. Fails
 * when the value is no such object.
 */
int labels_from_json(struct arena *a, const struct json *object, struct labels *out,
                     struct err *err);

/* A label value as the integer that the operators Gt and Lt compare, read as Go's ParseInt does:
 * a sign and leading zeros are allowed. False, and *out untouched, when it is none or overflows. */
bool labels_value_to_i64(struct str value, int64_t *out);

/* Why ParseInt does not read a value that is none: "invalid syntax" or "value out of range". It
 * reads digits until they are too many for 64 bits, and does not look further. */
const char *labels_value_fault(struct str value);

#endif
