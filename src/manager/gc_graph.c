/*
 * Who owns whom, by uid.
 *
 * Follows k8s.io/kubernetes pkg/controller/garbagecollector, func (*GraphBuilder)
 * processGraphChanges.
 */
#include "manager/gc_graph_int.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

struct gc_node *gc_graph_find(const struct gc_graph *g, struct str uid) {
    return map_get(&g->nodes, uid);
}

static struct gc_node *node_of(struct gc_graph *g, struct str uid) {
    struct gc_node *node = gc_graph_find(g, uid);
    if (node)
        return node;
    node = xcalloc(1, sizeof *node + uid.n + 1);
    memcpy(node->bytes, uid.p, uid.n);
    node->uid = (struct str){node->bytes, uid.n};
    map_put(&g->nodes, node->uid, node);
    return node;
}

static void forget_if_unknown(struct gc_graph *g, struct gc_node *node) {
    if (node->object || node->dependents)
        return;
    map_del(&g->nodes, node->uid);
    free(node);
}

static void link_edge(struct gc_edge *e, struct gc_node *owner, struct gc_node *dependent) {
    *e = (struct gc_edge){owner, dependent, owner->dependents, &owner->dependents};
    if (e->next)
        e->next->link = &e->next;
    owner->dependents = e;
}

static void unlink_edge(struct gc_edge *e) {
    *e->link = e->next;
    if (e->next)
        e->next->link = e->link;
}

static void cut(struct gc_graph *g, struct gc_node *node) {
    for (size_t i = 0; i < node->owner_count; i++) {
        struct gc_node *owner = node->owners[i].owner;
        unlink_edge(&node->owners[i]);
        if (owner != node)
            forget_if_unknown(g, owner);
    }
    free(node->owners);
    node->owners = NULL;
    node->owner_count = 0;
}

struct gc_node *gc_graph_set(struct gc_graph *g, const struct api_object *o) {
    const struct api_owner_reference_list *refs = &o->meta->owner_references;
    struct gc_node *node = node_of(g, o->meta->uid);
    const struct api_object *old = node->object;
    node->object = api_object_ref(o);
    cut(g, node);
    node->owners = xcalloc(refs->n + 1, sizeof *node->owners);
    node->owner_count = refs->n;
    for (size_t i = 0; i < refs->n; i++)
        link_edge(&node->owners[i], node_of(g, refs->v[i].uid), node);
    api_object_unref(old);
    return node;
}

void gc_graph_remove(struct gc_graph *g, const struct api_object *o) {
    struct gc_node *node = gc_graph_find(g, o->meta->uid);
    if (!node || !node->object)
        return;
    cut(g, node);
    api_object_unref(node->object);
    node->object = NULL;
    forget_if_unknown(g, node);
}

void gc_graph_release(struct gc_graph *g) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&g->nodes, &at));) {
        struct gc_node *node = e->value;
        api_object_unref(node->object);
        free(node->owners);
        free(node);
    }
    map_release(&g->nodes);
}

/* ---- questions ---- */

bool gc_has_finalizer(const struct api_object *o, const char *finalizer) {
    for (size_t i = 0; i < o->meta->finalizers.n; i++)
        if (str_is(o->meta->finalizers.v[i], finalizer))
            return true;
    return false;
}

bool gc_is_deleting_dependents(const struct api_object *o) {
    return o->meta->deletion_timestamp.set && gc_has_finalizer(o, "foregroundDeletion");
}

const struct api_owner_reference *gc_reference(const struct gc_edge *e) {
    const struct gc_node *node = e->dependent;
    return &node->object->meta->owner_references.v[e - node->owners];
}

bool gc_is_blocking(const struct api_owner_reference *ref) {
    return ref && ref->block_owner_deletion.set && ref->block_owner_deletion.v;
}

bool gc_is_consistent(const struct api_owner_reference *ref, struct str namespace,
                      const struct api_object *owner) {
    return str_eq(ref->name, owner->meta->name) && str_is(ref->kind, owner->kind->kind) &&
           str_is(ref->api_version, owner->kind->api_version) &&
           (!owner->meta->namespace.n || str_eq(owner->meta->namespace, namespace));
}

bool gc_is_blocked(const struct gc_node *node) {
    for (const struct gc_edge *e = node->dependents; e; e = e->next)
        if (gc_is_blocking(gc_reference(e)))
            return true;
    return false;
}
