/*
 * Which node has which index. Kubelets of several processes give theirs out without asking each
 * other, so that two nodes may come to have one: then the node whose name is the later one takes
 * another, and says so in its status.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "nodes/kubelets_int.h"

/* The node that has an index. */
struct holder {
    uint32_t index;
    size_t n;
    char name[];
};

static struct str key_of(const uint32_t *index) {
    return (struct str){(const char *)index, sizeof *index};
}

static struct str name_of(const struct holder *h) {
    return (struct str){h->name, h->n};
}

static void forget(struct nodes *n, struct holder *h) {
    map_del(&n->holders, key_of(&h->index));
    free(h);
}

static void keep(struct nodes *n, uint32_t index, struct str name) {
    struct holder *h = xcalloc(1, sizeof *h + name.n);
    h->index = index;
    h->n = name.n;
    memcpy(h->name, name.p, name.n);
    map_put(&n->holders, key_of(&h->index), h);
}

/* Is the node still there, with this index? */
static bool still_holds(const struct nodes *n, const struct holder *h) {
    uint32_t index;
    const struct api_object *o = informer_get(n->node_informer, STR(""), name_of(h));
    return o && nodes__index_of(o->body, &index) && index == h->index;
}

static void yield(struct nodes *n, struct str name) {
    struct nodes__node *node = map_get(&n->nodes, name);
    if (!node)
        return;
    node->index = n->next_index++;
    node->is_moving = true;
    workqueue_add(n->statuses, STR(""), node->name);
}

void nodes__note_index(struct nodes *n, const struct api_object *object) {
    uint32_t index;
    struct str name = object->meta->name;
    if (!nodes__index_of(object->body, &index))
        return;
    if (index >= n->next_index)
        n->next_index = index + 1;
    struct nodes__node *node = map_get(&n->nodes, name);
    if (node && node->index == index)
        node->is_moving = false;
    struct holder *h = map_get(&n->holders, key_of(&index));
    if (h && str_eq(name_of(h), name))
        return;
    if (h && still_holds(n, h) && str_cmp(name_of(h), name) < 0) {
        if (!node || !node->is_moving)
            yield(n, name);
        return;
    }
    if (h) {
        if (still_holds(n, h))
            yield(n, name_of(h));
        forget(n, h);
    }
    keep(n, index, name);
}

void nodes__forget_index(struct nodes *n, const struct api_object *object) {
    uint32_t index;
    if (!nodes__index_of(object->body, &index))
        return;
    struct holder *h = map_get(&n->holders, key_of(&index));
    if (h && str_eq(name_of(h), object->meta->name))
        forget(n, h);
}

void nodes__free_indexes(struct nodes *n) {
    size_t at = 0;
    for (struct map_entry *entry; (entry = map_next(&n->holders, &at));)
        free(entry->value);
    map_release(&n->holders);
}
