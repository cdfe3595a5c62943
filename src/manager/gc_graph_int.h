/*
 * Who owns whom, by uid: the graph that the garbage collector walks.
 *
 * A node is an object, or only the uid of one that others name as their owner and that has not been
 * seen. An edge is a reference to an owner.
 */
#ifndef MANAGER_GC_GRAPH_INT_H
#define MANAGER_GC_GRAPH_INT_H

#include "api/object.h"
#include "base/map.h"

struct gc_node;

struct gc_edge {
    struct gc_node *owner, *dependent;
    struct gc_edge *next, **link; /* among those of the owner */
};

struct gc_node {
    const struct api_object *object; /* held; NULL: not seen */
    struct gc_edge *dependents;      /* edges of which it is the owner, the newest first */
    struct gc_edge *owners;          /* by the references of the object */
    size_t owner_count;
    struct str uid; /* behind it */
    char bytes[];
};

struct gc_graph {
    struct map nodes; /* by uid */
};

/* Frees what is there; the graph is empty. */
void gc_graph_release(struct gc_graph *g);

/* The node of a uid, or NULL. */
struct gc_node *gc_graph_find(const struct gc_graph *g, struct str uid);

/* The object is there, or is so now; it is held. */
struct gc_node *gc_graph_set(struct gc_graph *g, const struct api_object *o);

/* The object is gone. Its node stays for as long as others name it. */
void gc_graph_remove(struct gc_graph *g, const struct api_object *o);

/* ---- questions ---- */

/* Has the object this finalizer? */
bool gc_has_finalizer(const struct api_object *o, const char *finalizer);

/* Is it on its way out, and waits for its dependents to be deleted? */
bool gc_is_deleting_dependents(const struct api_object *o);

/* The reference that is this edge. */
const struct api_owner_reference *gc_reference(const struct gc_edge *e);

/* Does the reference keep its owner from going? */
bool gc_is_blocking(const struct api_owner_reference *ref);

/* Is the owner where the reference of an object in this namespace says, and what it says? */
bool gc_is_consistent(const struct api_owner_reference *ref, struct str namespace,
                      const struct api_object *owner);

/* Does anything that was seen depend on it and keep it from going? */
bool gc_is_blocked(const struct gc_node *node);

#endif
