/* The object that a JSON patch works on: a tree whose parts can be changed where an operation goes
 * through, in constant time by key and nearly so by index. */
#ifndef API_PATCH_JSON_PATCH_INT_H
#define API_PATCH_JSON_PATCH_INT_H

#include "api/patch/patch_int.h"
#include "base/vec.h"

/*
 * A value. What no operation has gone through is a tree as it came, which is never changed. A null
 * that an operation gave has `b` set: upstream tells it from one that was there.
 */
struct api__node {
    struct json value;        /* of the kind it has, also when it is grown */
    struct api__grown *grown; /* its parts; NULL: they are those of value */
};

/* Items in chunks, so that one can be put in or taken out without moving all that follow. */
enum { API__CHUNK_ITEMS = 512 };
struct api__chunk {
    struct api__node items[API__CHUNK_ITEMS];
    size_t n;
};

struct api__grown {
    struct map members;              /* of an object: struct api__node */
    VEC(struct api__chunk *) chunks; /* of an array, none of them empty */
    size_t n;                        /* items of an array */
    struct api__grown *next;         /* of all that were grown */
};

/* A document; its maps and vectors end with api__doc_release. */
struct api__doc {
    struct api__patching *p;
    struct api__node root;
    struct api__grown *grown; /* all of them */
};

/* Frees what the arena does not hold. */
void api__doc_release(struct api__doc *d);

/* The parts of an object or array, grown if they are not yet. */
struct api__grown *api__node_grow(struct api__doc *d, struct api__node *node);

/* The item at an index that is there; valid until items are put in or taken out. */
struct api__node *api__item_at(struct api__grown *array, size_t index);

/* Puts an item in front of that at index, which may be the number of items. */
void api__item_insert(struct api__doc *d, struct api__grown *array, size_t index,
                      struct api__node item);

/* Takes an item out. */
void api__item_remove(struct api__grown *array, size_t index);

/* The node as a tree that is not changed any more. False: it is deeper than LIMIT_JSON_DEPTH. */
bool api__node_tree(struct api__doc *d, const struct api__node *node, struct json *out);

/*
 * Is the node what a test operation asks for? Texts and literals of numbers are compared; a list
 * with a null in it at a place that is compared makes upstream panic, which sets *panics.
 */
bool api__node_equals(struct api__doc *d, struct api__node *node, const struct json *wanted,
                      bool *panics);

#endif
