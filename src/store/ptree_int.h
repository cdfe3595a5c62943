/*
 * A persistent tree: objects in the order of their keys, where a write leaves every tree that
 * somebody else holds as it was.
 *
 * It is a B+ tree whose nodes are counted. A write copies the nodes on its path that have other
 * holders and changes the others in place, so a batch of writes copies a node at most once. Inner
 * nodes know the first object of each child, which is where its key is, and how many objects lie
 * below. The empty tree is NULL.
 */
#ifndef STORE_PTREE_INT_H
#define STORE_PTREE_INT_H

#include "store/store.h"

enum { STORE__FANOUT = 32 };

struct store__node {
    uint32_t refs; /* atomic */
    uint16_t n;
    uint16_t height; /* 0: a leaf */
    size_t count;    /* of objects, here and below */
    /* Of a leaf: its objects, held. Else the first object of each child, which holds it. */
    const struct api_object *objects[STORE__FANOUT];
    struct store__node *children[]; /* held; none in a leaf */
};

/* A key, in two parts. Whole namespaces end at (namespace, "") with the byte behind '/' between. */
struct store__key {
    struct str namespace, name;
    char between;
};

/* The key of an object, of two texts, and of one text that holds both. */
struct store__key store__key_of(const struct api_object *o);
struct store__key store__key_make(struct str namespace, struct str name);
struct store__key store__key_parse(struct str text);

/* The order of keys: negative, 0, positive. */
int store__key_cmp(struct store__key a, struct store__key b);

/* One more holder; returns t. And one less. Both accept NULL, the empty tree. */
struct store__node *store__tree_ref(struct store__node *t);
void store__tree_unref(struct store__node *t);

/* The object under a key, borrowed, or NULL. */
const struct api_object *store__tree_get(const struct store__node *t, struct store__key key);

/* Puts an object under its key. t is taken, and the tree with the object comes back; the object
 * gets a holder. *old is what was there, with its reference, or NULL. */
struct store__node *store__tree_put(struct store__node *t, const struct api_object *o,
                                    const struct api_object **old);

/* Removes what is under a key, which must be there; its reference goes to *old. t is taken. */
struct store__node *store__tree_del(struct store__node *t, struct store__key key,
                                    const struct api_object **old);

/* How many objects stand before the key; with `behind`, one under the key itself counts as well. */
size_t store__tree_rank(const struct store__node *t, struct store__key key, bool behind);

/* Moves a cursor before the first object at the key, or behind it. */
void store__tree_seek(struct store_cursor *c, const struct store__node *t, struct store__key key,
                      bool behind);

#endif
