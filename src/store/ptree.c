#include "store/ptree_int.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum { FANOUT = STORE__FANOUT, HALF = FANOUT / 2, FEW = FANOUT / 4 };

/* ---- keys ---- */

struct store__key store__key_make(struct str namespace, struct str name) {
    return (struct store__key){namespace, name, '/'};
}

struct store__key store__key_of(const struct api_object *o) {
    return store__key_make(o->meta->namespace, o->meta->name);
}

struct store__key store__key_parse(struct str text) {
    return store__key_make(STR(""), text);
}

static size_t key_bytes(const struct store__key *k) {
    return k->namespace.n + (k->namespace.n != 0) + k->name.n;
}

static unsigned char key_byte(const struct store__key *k, size_t i) {
    if (i < k->namespace.n)
        return (unsigned char)k->namespace.p[i];
    if (k->namespace.n && i == k->namespace.n)
        return (unsigned char)k->between;
    return (unsigned char)k->name.p[i - k->namespace.n - (k->namespace.n != 0)];
}

/* As if each key were one text. Most differ in their namespaces already. */
static int compare_whole(const struct store__key *a, const struct store__key *b) {
    size_t na = key_bytes(a), nb = key_bytes(b);
    size_t same = a->namespace.n < b->namespace.n ? a->namespace.n : b->namespace.n;
    int order = same ? memcmp(a->namespace.p, b->namespace.p, same) : 0;
    if (order)
        return order;
    for (size_t i = same; i < na && i < nb; i++)
        if (key_byte(a, i) != key_byte(b, i))
            return key_byte(a, i) < key_byte(b, i) ? -1 : 1;
    return na < nb ? -1 : na > nb;
}

int store__key_cmp(struct store__key a, struct store__key b) {
    if (a.between == b.between && str_eq(a.namespace, b.namespace))
        return str_cmp(a.name, b.name);
    return compare_whole(&a, &b);
}

void store_key_write(struct buf *out, const struct api_object *o) {
    buf_add(out, o->meta->namespace);
    if (o->meta->namespace.n)
        buf_add_char(out, '/');
    buf_add(out, o->meta->name);
}

/* ---- nodes ---- */

static struct store__node *node_new(uint16_t height) {
    struct store__node *t;
    size_t children = height ? FANOUT * sizeof t->children[0] : 0;
    t = xmalloc(sizeof *t + children);
    t->refs = 1;
    t->n = 0;
    t->height = height;
    t->count = 0;
    return t;
}

struct store__node *store__tree_ref(struct store__node *t) {
    if (t)
        __atomic_fetch_add(&t->refs, 1, __ATOMIC_RELAXED);
    return t;
}

/* As deep as the tree is high. */
void store__tree_unref(struct store__node *t) {
    if (!t || __atomic_fetch_sub(&t->refs, 1, __ATOMIC_ACQ_REL) > 1)
        return;
    for (uint32_t i = 0; i < t->n; i++)
        if (t->height)
            store__tree_unref(t->children[i]);
        else
            api_object_unref(t->objects[i]);
    free(t);
}

/* The node, if the caller alone holds it, or else a copy in exchange for the caller's reference:
 * something that may be written to. Whoever holds a node alone, and is the one holder of all nodes
 * above it, is the only one who can reach it. */
static struct store__node *own(struct store__node *t) {
    if (__atomic_load_n(&t->refs, __ATOMIC_ACQUIRE) == 1)
        return t;
    struct store__node *copy = node_new(t->height);
    copy->n = t->n;
    copy->count = t->count;
    memcpy(copy->objects, t->objects, t->n * sizeof t->objects[0]);
    for (uint32_t i = 0; i < t->n; i++)
        if (t->height)
            copy->children[i] = store__tree_ref(t->children[i]);
        else
            api_object_ref(t->objects[i]);
    store__tree_unref(t);
    return copy;
}

/* How many objects a place of the node stands for. */
static size_t place_count(const struct store__node *t, uint32_t i) {
    return t->height ? t->children[i]->count : 1;
}

static void move_places(struct store__node *to, uint32_t at, const struct store__node *from,
                        uint32_t first, uint32_t n) {
    memmove(to->objects + at, from->objects + first, n * sizeof to->objects[0]);
    if (to->height)
        memmove(to->children + at, from->children + first, n * sizeof to->children[0]);
}

/* Moves n places of a node to another one of the same height, which has room for them at `at`. */
static void give(struct store__node *from, uint32_t first, uint32_t n, struct store__node *to,
                 uint32_t at) {
    size_t count = 0;
    for (uint32_t i = first; i < first + n; i++)
        count += place_count(from, i);
    move_places(to, at + n, to, at, to->n - at);
    move_places(to, at, from, first, n);
    move_places(from, first, from, first + n, from->n - first - n);
    to->n = (uint16_t)(to->n + n);
    to->count += count;
    from->n = (uint16_t)(from->n - n);
    from->count -= count;
}

static void insert_place(struct store__node *t, uint32_t at, const struct api_object *o,
                         struct store__node *child) {
    move_places(t, at + 1, t, at, t->n - at);
    t->objects[at] = o;
    if (t->height)
        t->children[at] = child;
    t->n++;
}

static void remove_place(struct store__node *t, uint32_t at) {
    move_places(t, at, t, at + 1, t->n - at - 1U);
    t->n--;
}

/* The first place whose key is not less than this one, or with `behind`, is greater. */
static uint32_t search(const struct store__node *t, struct store__key key, bool behind) {
    uint32_t low = 0, high = t->n;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        int order = store__key_cmp(store__key_of(t->objects[middle]), key);
        if (order < 0 || (behind && order == 0))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The child below which the key is, or would be put. */
static uint32_t child_of(const struct store__node *t, struct store__key key) {
    uint32_t behind = search(t, key, true);
    return behind ? behind - 1 : 0;
}

static bool is_at(const struct store__node *leaf, uint32_t i, struct store__key key) {
    return i < leaf->n && store__key_cmp(store__key_of(leaf->objects[i]), key) == 0;
}

const struct api_object *store__tree_get(const struct store__node *t, struct store__key key) {
    if (!t)
        return NULL;
    while (t->height)
        t = t->children[child_of(t, key)];
    uint32_t i = search(t, key, false);
    return is_at(t, i, key) ? t->objects[i] : NULL;
}

/* ---- put ---- */

struct put {
    struct store__key key;
    const struct api_object *object;
    const struct api_object *old;
    struct store__node *right; /* what the node that was just written to was split off, or NULL */
};

/* Makes room for a place at `at` and puts it there, in the node or in the right half of it. */
static void insert_split(struct store__node *t, uint32_t at, const struct api_object *o,
                         struct store__node *child, struct put *p) {
    struct store__node *into = t;
    p->right = NULL;
    if (t->n == FANOUT) {
        p->right = node_new(t->height);
        give(t, HALF, HALF, p->right, 0);
        if (at > HALF) {
            into = p->right;
            at -= HALF;
        }
    }
    insert_place(into, at, o, child);
    assert(!t->height == !child);
    into->count += child ? child->count : 1;
}

static void put_in_leaf(struct store__node *t, struct put *p) {
    uint32_t i = search(t, p->key, false);
    api_object_ref(p->object);
    if (is_at(t, i, p->key)) {
        p->old = t->objects[i];
        t->objects[i] = p->object;
    } else {
        insert_split(t, i, p->object, NULL, p);
    }
}

/* As deep as the tree is high. */
static struct store__node *put_below(struct store__node *t, struct put *p) {
    t = own(t);
    if (!t->height) {
        put_in_leaf(t, p);
        return t;
    }
    uint32_t i = child_of(t, p->key);
    t->count -= t->children[i]->count;
    struct store__node *child = t->children[i] = put_below(t->children[i], p);
    t->count += child->count;
    t->objects[i] = child->objects[0];
    struct store__node *right = p->right;
    if (right)
        insert_split(t, i + 1, right->objects[0], right, p);
    return t;
}

struct store__node *store__tree_put(struct store__node *t, const struct api_object *o,
                                    const struct api_object **old) {
    struct put p = {.key = store__key_of(o), .object = o};
    t = put_below(t ? t : node_new(0), &p);
    *old = p.old;
    if (!p.right)
        return t;
    struct store__node *root = node_new((uint16_t)(t->height + 1));
    assert(root->height < STORE_TREE_HEIGHT);
    root->count = t->count + p.right->count;
    insert_place(root, 0, t->objects[0], t);
    insert_place(root, 1, p.right->objects[0], p.right);
    return root;
}

/* ---- delete ---- */

/* Two neighbours become one node, if they fit into one, or else come to have equally much. */
static void join(struct store__node *t, uint32_t left) {
    struct store__node *a = t->children[left] = own(t->children[left]);
    struct store__node *b = t->children[left + 1] = own(t->children[left + 1]);
    if (a->n + b->n <= FANOUT)
        give(b, 0, b->n, a, a->n);
    else if (a->n < b->n)
        give(b, 0, (b->n - a->n) / 2U, a, a->n);
    else
        give(a, (a->n + b->n) / 2U, (a->n - b->n + 1U) / 2, b, 0);
    t->objects[left] = a->objects[0];
    if (b->n) {
        t->objects[left + 1] = b->objects[0];
    } else {
        remove_place(t, left + 1);
        store__tree_unref(b);
    }
}

/* As deep as the tree is high. */
static struct store__node *del_below(struct store__node *t, struct store__key key,
                                     const struct api_object **old) {
    t = own(t);
    t->count--;
    if (!t->height) {
        uint32_t i = search(t, key, false);
        assert(is_at(t, i, key));
        *old = t->objects[i];
        remove_place(t, i);
        return t;
    }
    uint32_t i = child_of(t, key);
    struct store__node *child = t->children[i] = del_below(t->children[i], key, old);
    if (child->n)
        t->objects[i] = child->objects[0];
    if (child->n < FEW)
        join(t, i ? i - 1 : 0);
    return t;
}

struct store__node *store__tree_del(struct store__node *t, struct store__key key,
                                    const struct api_object **old) {
    assert(t);
    t = del_below(t, key, old);
    if (t->height && t->n == 1) {
        struct store__node *child = store__tree_ref(t->children[0]);
        store__tree_unref(t);
        return child;
    }
    if (t->n)
        return t;
    store__tree_unref(t);
    return NULL;
}

/* ---- ranges ---- */

size_t store__tree_rank(const struct store__node *t, struct store__key key, bool behind) {
    size_t rank = 0;
    if (!t)
        return 0;
    while (t->height) {
        uint32_t at = child_of(t, key);
        for (uint32_t i = 0; i < at; i++)
            rank += t->children[i]->count;
        t = t->children[at];
    }
    return rank + search(t, key, behind);
}

void store__tree_seek(struct store_cursor *c, const struct store__node *t, struct store__key key,
                      bool behind) {
    c->depth = 0;
    for (; t; t = t->height ? t->children[c->path[c->depth - 1].at] : NULL) {
        c->path[c->depth].node = t;
        c->path[c->depth].at = t->height ? child_of(t, key) : search(t, key, behind);
        c->depth++;
    }
}

/* Goes up to where there is a next place, and from there down to its first leaf. False at the end.
 */
static bool next_leaf(struct store_cursor *c) {
    do {
        if (c->depth <= 1)
            return false;
        c->depth--;
    } while (++c->path[c->depth - 1].at >= c->path[c->depth - 1].node->n);
    for (const struct store__node *t = c->path[c->depth - 1].node; t->height;) {
        t = t->children[c->path[c->depth - 1].at];
        c->path[c->depth].node = t;
        c->path[c->depth++].at = 0;
    }
    return true;
}

const struct api_object *store_cursor_next(struct store_cursor *c) {
    if (!c->depth)
        return NULL;
    if (c->path[c->depth - 1].at >= c->path[c->depth - 1].node->n && !next_leaf(c)) {
        c->depth = 0;
        return NULL;
    }
    const struct store__node *leaf = c->path[c->depth - 1].node;
    const struct api_object *o = leaf->objects[c->path[c->depth - 1].at++];
    if (c->namespace.n && !str_eq(o->meta->namespace, c->namespace)) {
        c->depth = 0;
        return NULL;
    }
    return o;
}
