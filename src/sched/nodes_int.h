/*
 * Nodes as columns: what filters and scores look at for every node is an array that the node's slot
 * indexes. Slots are small numbers; the lowest free one is given to the next node.
 *
 * There is a column for each resource that some pod asks for, and for each label that somebody
 * spreads or packs by; what nodes have beside that stays in their objects.
 */
#ifndef SCHED_NODES_INT_H
#define SCHED_NODES_INT_H

#include <assert.h>

#include "base/map.h"
#include "base/vec.h"
#include "base/wrap.h"
#include "intern/intern.h"

struct api_object;
struct api_quantities;
struct api_strs;
struct api_container_image_list;
struct match_node;
struct match_taints;
struct sched;
struct sched__attached;
struct sched__pod_class;
struct sched_pod;

#define SCHED__NONE UINT32_MAX

/* Resources with a fixed number; others follow as pods ask for them. */
enum { SCHED__CPU, SCHED__MEMORY, SCHED__EPHEMERAL, SCHED__SCALARS };

/* One resource: cpu in thousandths, everything else in units. */
struct sched__resource {
    struct atom *name; /* held; NULL: the number is free */
    uint32_t refs;
    /* By slot. A column in which all amounts are 0 may be sched__nodes.zeros. */
    int64_t *alloc, *used;
};

/* A host port in use; protocol and address as the API has them, defaults filled in. */
struct sched__port {
    struct atom *protocol, *ip;
    int32_t port;
};

/* An image that nodes have. */
struct sched__image {
    struct str name;
    int64_t size;   /* as the first node with it said */
    uint32_t nodes; /* that have it */
};

/* What a class was told of a node with the pods that are nominated to it. */
struct sched__asked {
    uint64_t cls; /* its serial number; 0: nobody asked */
    uint64_t at;  /* the change that came last */
    int32_t priority;
    uint8_t verdict;
};

/* What the pods ask for that are nominated to a node and at least so important. */
struct sched__beside {
    bool known; /* the rest is up to date */
    int32_t priority;
    int32_t pods;
    VEC(int64_t) amounts; /* by resource; 0 where there are fewer */
};

/* What is rarely looked at of a node. */
struct sched__node {
    struct atom *name;               /* NULL: the slot is free */
    const struct api_object *object; /* NULL: only pods that claim to be on it are known */
    struct match_node *labels;
    VEC(struct sched_pod *) pods;
    VEC(struct sched_pod *) port_pods; /* those of them that have host ports */
    bool lowest_left; /* a pod of the lowest priority went: there may be no other */
    VEC(struct sched_pod *) nominated;
    struct sched__beside beside;       /* the sum of these, for who asked last */
    struct sched__asked asked;         /* with these, who asked last? */
    uint64_t touched;                  /* number of the change that came last, from 1 */
    VEC(struct sched__image *) images; /* by address, each once */
    struct sched__attached *attached;  /* volumes, see attached.c; NULL: not counted */
};

/* The values of one label of nodes, numbered from 1; 0: the node has no such label. The number of a
 * value that no node has any more goes to the next new one. */
struct sched__topology {
    struct atom *key; /* held */
    uint32_t refs;
    uint32_t *domain;          /* by slot */
    struct map numbers;        /* of values */
    VEC(struct atom *) values; /* by domain - 1, held; NULL: the number is free */
    VEC(uint32_t) nodes;       /* by domain - 1: how many nodes have it */
    VEC(uint32_t) free;        /* numbers */
};

struct sched__nodes {
    uint32_t n, cap;    /* slots in use, free ones among them; size of the columns */
    uint32_t live;      /* nodes there are */
    struct map by_name; /* slot + 1 */
    VEC(uint32_t) free; /* slots below n, as a heap with the lowest on top */
    struct sched__node *v;
    struct match_taints **taints; /* NULL: no node */
    VEC(struct sched__resource) resources;
    struct map resource_numbers;           /* number + 1 by name */
    VEC(uint32_t) free_resources;          /* numbers */
    int64_t *zeros;                        /* a column of nothing, never written */
    int64_t *nonzero_cpu, *nonzero_memory; /* requested, with a default for containers without */
    int32_t *pods_most, *pods;             /* allocatable and present */
    int32_t *lowest_priority;              /* of the pods there, or less: see `lowest_left` */
    uint8_t *state;                        /* SCHED__NODE_* */
    struct map topologies;                 /* struct sched__topology by key */
    size_t topologies_due;                 /* so many of them are worth a sweep */
    struct map images;                     /* struct sched__image by name */
    struct map ports;                      /* host ports that are taken, see ports.c */
    struct atom *any_ip;                   /* "0.0.0.0", held */
};

enum { SCHED__NODE_THERE = 1, SCHED__NODE_CLOSED = 2 /* spec.unschedulable */ };

/* Empty tables, with columns for cpu, memory and ephemeral storage; and the end of all nodes. */
void sched__nodes_init(struct sched *s);
void sched__nodes_release(struct sched *s);

/* The slot of a node by name, or SCHED__NONE. */
uint32_t sched__node_find(const struct sched *s, struct str name);

/* The node's slot, made if need be: for pods whose node is not known yet. */
uint32_t sched__node_get(struct sched *s, struct str name);

/* The node was added or changed (the object is held), or is gone. */
void sched__node_set(struct sched *s, const struct api_object *object);
void sched__node_delete(struct sched *s, struct str name);

/* Gives the slot back if nothing is known of the node any more: no object, no pods. */
void sched__node_drop_idle(struct sched *s, uint32_t slot);

/* Remembers that what plug-ins saw of this node is no longer true. */
void sched__node_touch(struct sched *s, uint32_t slot);

/* A pod is nominated to the node (sign 1), or no longer (-1); its class and priority are the same
 * both times. */
void sched__beside_count(struct sched *s, const struct sched_pod *p, uint32_t slot, int sign);

/* One of the pods that are nominated to the node has another class or priority. */
void sched__beside_forget(struct sched *s, uint32_t slot);

/* The sum of those that are at least so important. Valid until the next question or change. */
const struct sched__beside *sched__beside_get(struct sched *s, uint32_t slot, int32_t priority);

/* A column of `size` bytes a slot that had room for `old` slots, with room for `cap`, more or less;
 * new ones are zero. */
void *sched__column_resize(void *column, size_t old, size_t cap, size_t size);

/* Gives back the slots behind the last node, and makes the columns shorter when there are much
 * fewer nodes than there were. For the begin of a call from outside. */
void sched__nodes_sweep(struct sched *s);

/* ---- free slots (slots.c) ---- */

/* The lowest free slot below nodes->n, taken, or SCHED__NONE; and one that is free from now on.
 * When nodes->n falls, those from there on are free in another way. */
uint32_t sched__slot_take(struct sched__nodes *nodes);
void sched__slot_give(struct sched__nodes *nodes, uint32_t slot);

/* Are these the same texts in the same order (hints.c)? */
bool sched__strs_equal(const struct api_strs *a, const struct api_strs *b);

/* ---- host ports (ports.c) ---- */

/* A pod of the class came to a node (delta 1) or left it (-1). */
void sched__ports_count(struct sched *s, const struct sched__pod_class *c, uint32_t slot,
                        int delta);

/* Is the port, or one that excludes it, taken on the node? The address 0.0.0.0 and any other
 * exclude each other. */
bool sched__port_is_taken(const struct sched *s, const struct sched__port *port, uint32_t slot);

/* Is the address 0.0.0.0, which stands for all? */
bool sched__ip_is_any(const struct atom *ip);

/* Nothing is taken yet; and the end. */
void sched__ports_init(struct sched *s);
void sched__ports_release(struct sched *s);

/* ---- resources (allocatable.c) ---- */

/* The number of a resource, or SCHED__NONE if no pod asks for it. */
uint32_t sched__resource_find(const struct sched *s, struct str name);

/* The same, made if need be, with its column. Its holders are counted; a number that was made and
 * that nobody holds must be held before anything else is asked for. */
uint32_t sched__resource_get(struct sched *s, struct str name);

/* Counts a holder, or counts one off; the last one frees the column. */
void sched__resource_ref(struct sched *s, uint32_t resource);
void sched__resource_unref(struct sched *s, uint32_t resource);

/* What is free on the node; negative: more is in use than there is. Wraps around as in Go. */
static inline int64_t sched__resource_free(const struct sched__resource *r, uint32_t slot) {
    return wrap_sub_i64(r->alloc[slot], r->used[slot]);
}

/* More of the resource is in use on the node; negative: less. Wraps around as in Go. */
void sched__resource_use(struct sched *s, uint32_t resource, uint32_t slot, int64_t more);

/* Sets what the node offers of all resources; true when that is something else than before. */
bool sched__allocatable_set(struct sched *s, uint32_t slot, const struct api_quantities *list);

/* Makes room for `cap` slots, more or less, in all columns; and frees them. */
void sched__resources_resize(struct sched *s, uint32_t cap);
void sched__resources_release(struct sched *s);

/* ---- labels (topologies.c) ---- */

/* The column of a label, made if need be. It lives until the next sweep, and for as long as it is
 * counted. */
struct sched__topology *sched__topology_get(struct sched *s, struct str key);

/* Counts a holder of the column, which is returned, and counts one off. */
static inline struct sched__topology *sched__topology_ref(struct sched__topology *t) {
    t->refs++;
    return t;
}
static inline void sched__topology_unref(struct sched__topology *t) {
    assert(t->refs > 0);
    t->refs--;
}

/* Frees columns that nobody holds, when there are so many more than after the last sweep that it
 * is worth its time. */
void sched__topologies_sweep(struct sched *s);

/* The node's labels, or those that it no longer has, into all columns. */
void sched__topologies_set(struct sched *s, uint32_t slot);

/* Makes room for `cap` slots, more or less, in all columns; and frees them. */
void sched__topologies_resize(struct sched *s, uint32_t cap);
void sched__topologies_release(struct sched *s);

/* ---- images (images.c) ---- */

/* The node has these images now; NULL: none. */
void sched__images_set(struct sched *s, struct sched__node *node,
                       const struct api_container_image_list *images);

/* Is it one of the node's images? */
bool sched__node_has_image(const struct sched__node *node, const struct sched__image *image);

#endif
