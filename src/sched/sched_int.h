/*
 * Inside of sched: pods, classes of pods, and the scheduler itself.
 *
 * Nodes have slots, small numbers that index all columns (nodes_int.h). A class is what pods of the
 * same needs have in common; plug-ins compile it once. Pod sets count pods by node, for spreading
 * and pod affinity (count_int.h). A cycle runs plug-ins over slots (plugin_int.h).
 */
#ifndef SCHED_SCHED_INT_H
#define SCHED_SCHED_INT_H

#include "api/object.h"
#include "base/heap.h"
#include "base/map.h"
#include "base/vec.h"
#include "feature/feature.h"
#include "intern/intern.h"
#include "match/match.h"
#include "sched/links_int.h"
#include "sched/nodes_int.h"
#include "sched/sched.h"

/* ---- classes (classes.c) ---- */

struct sched__amount {
    uint32_t resource;
    int64_t amount;
};

/* Requests that are not zero, in the order of struct sched__requests. */
struct sched__amounts {
    struct sched__amount *v;
    size_t n;
};

struct sched__existing_term;
struct sched__podset;
struct sched__eval;

/* What pods of the same needs have in common. */
struct sched__pod_class {
    struct str key;   /* what makes two pods one class */
    struct str needs; /* of this: what nodes are asked about, whatever pods are elsewhere */
    uint64_t serial;  /* rises from class to class */
    uint32_t refs;    /* pods of it */
    struct arena arena;
    const struct api_object
        *sample;               /* one of its pods, held: plug-ins compile it and borrow from it */
    const struct api_pod *pod; /* its body */
    /* Its pods were placed by others and only are where they are: the next three are NULL. */
    bool placed;
    const struct sched_profile *profile; /* NULL: pods of another scheduler */
    bool grouped; /* its pods belong to a pod group: what becomes of them is not decided here */
    struct match_tolerations *tolerations;
    struct match_affinity *affinity; /* nodeSelector and node affinity */
    struct sched__amounts requests;  /* on a node */
    /* While it is being placed: for NodeResourcesFit, which looks at the spec alone, and for
     * NodeResourcesBalancedAllocation, which knows of a resize. */
    struct sched__amounts asked, balanced;
    int64_t nonzero_cpu, nonzero_memory; /* on a node, for scoring */
    int64_t scored_cpu, scored_memory;   /* while it is being placed, for scoring */
    struct sched__port *ports;           /* on the host, in order */
    size_t port_count;
    bool has_volumes;                /* some plug-in's verdicts depend on claims and volumes */
    bool is_single;                  /* only one pod has the claims that it is named after */
    void *data[SCHED_PLUGIN_COUNT];  /* what plug-ins made of it; NULL: they skip it */
    struct sched__links memberships; /* struct sched__podset that its pods are counted in */
    struct sched__links filed;       /* where terms that may match it are looked for */
    struct sched_pod *residents;     /* its pods on nodes, linked by count.c */
    VEC(struct sched__existing_term *) own_terms; /* terms of its pods, which match others */
    struct sched__links matching_terms; /* struct sched__existing_term that match its pods */
    struct sched__eval *eval;           /* what nodes made of it; NULL: not asked yet */
};

/* ---- pods (pods.c) ---- */

/* What is a pod's own. Its object is not kept: what plug-ins look at is in its class. */
struct sched_pod {
    struct str key; /* namespace/name */
    struct str uid;
    struct sched__pod_class *cls;
    struct atom *nominated_node_name; /* status.nominatedNodeName, held; NULL: none */
    int64_t start;                    /* status.startTime in nanoseconds; INT64_MIN: none */
    uint32_t node;                    /* slot; SCHED__NONE: pending */
    uint32_t place;                   /* in the node's list */
    uint32_t port_place;              /* among those there that have host ports, if it has some */
    uint32_t nominated;               /* slot, or SCHED__NONE */
    int32_t priority;
    uint32_t tolerations; /* how many it has */
    bool assumed;         /* placed by us, not yet confirmed by an object */
    bool terminating;     /* has a deletionTimestamp */
    bool returns;         /* of a DaemonSet, or of a file on the node: it is made again there */
    bool preempted;       /* it has, because the scheduler wanted its place */
    const struct api_object *latest; /* assumed: what came of it since, held; NULL: nothing */
    struct sched__queued *queued;    /* NULL: not in the queue */
    struct sched_pod *resident_next, *resident_prev; /* of the same class, see there */
};

/* Takes from its object what is a pod's own, key and uid apart (card.c). */
void sched__pod_read(struct sched *s, struct sched_pod *p, const struct api_object *object);

/* Does its object say that it is on a node, or nominated to one? */
bool sched__pod_has_node(const struct sched_pod *p);

/* The one that comes first by name, for texts that do not depend on what happened before; either
 * may be NULL. */
static inline const struct sched_pod *sched__pod_first(const struct sched_pod *a,
                                                       const struct sched_pod *b) {
    return !a || (b && str_cmp(b->key, a->key) < 0) ? b : a;
}

/* The pod's name, in the arena. */
struct sched_pod_name sched__pod_name(const struct sched_pod *p, struct arena *a);

/* Is no verdict given on pods of this class? Why, in the arena; absent: one is given. */
bool sched__pod_class_is_ignored(const struct sched__pod_class *c);
struct str sched__pod_class_objection(const struct sched__pod_class *c, struct arena *a);

/* The class of a pod, made if need be, with one more reference. */
struct sched__pod_class *sched__pod_class_get(struct sched *s, const struct api_object *pod);

/* The same for a pod that is to be placed although it may name its node. */
struct sched__pod_class *sched__pod_class_get_pending(struct sched *s,
                                                      const struct api_object *pod);

/* One more reference, and one less. */
struct sched__pod_class *sched__pod_class_ref(struct sched__pod_class *c);
void sched__pod_class_unref(struct sched *s, struct sched__pod_class *c);

/* Puts a pod that is on no node on one and takes it off again: columns, ports, counts, touches. */
void sched__pod_place(struct sched *s, struct sched_pod *p, uint32_t slot);
void sched__pod_unplace(struct sched *s, struct sched_pod *p);

/* The lowest priority of the pods on a node; INT32_MAX: there are none. */
int32_t sched__node_lowest_priority(struct sched *s, uint32_t slot);

/* Where a pod was: on its node, and among the pods of its class. */
struct sched__seat {
    uint32_t slot, place, port_place;
    struct sched_pod *neighbour; /* before it in its class; NULL: it was the first */
};

/* Takes a pod off its node for a while, and puts it back where it was. Several come back in the
 * reverse order. */
struct sched__seat sched__pod_take_off(struct sched *s, struct sched_pod *p);
void sched__pod_put_back(struct sched *s, struct sched_pod *p, const struct sched__seat *seat);

/* ---- objects that plug-ins look up (store.c) ---- */

/* Other objects by "namespace/name", or name if they have no namespace. */
struct sched__store {
    struct map namespaces, services, replication_controllers, replica_sets, stateful_sets;
    struct map claims, volumes, storage_classes, csi_nodes, csi_drivers, capacities, attachments;
    struct map budgets;
};

/* Keeps an object of one of these kinds, or forgets it, and hands out the one that was there
 * before, which the caller unrefs; NULL: there was none, or the kind is not kept. */
const struct api_object *sched__store_set(struct sched *s, const struct api_object *object);
const struct api_object *sched__store_delete(struct sched *s, const struct api_object *object);

/* An object of a store's map, or NULL; borrowed. */
const struct api_object *sched__store_find(struct sched *s, const struct map *objects,
                                           struct str ns, struct str name);

/* Empty maps, and their end. */
void sched__store_init(struct sched *s);
void sched__store_release(struct sched *s);

/* ---- the scheduler ---- */

struct sched__queue;
struct sched__metrics;
struct sched__volumes;
struct sched__services;
struct sched__budgets;
struct sched__tally;

/*
 * Tallies without references (count.c). Pods of a StatefulSet are each a class of its own, and one
 * after the other they ask for the same tally: one that the last pod made is there for the next.
 * Memory stays in proportion to pods and nodes: when so much was made that it may outgrow them, a
 * sweep frees what was idle at the last one and still is.
 */
struct sched__idle {
    struct sched__tally *recent, *old; /* idle since the last sweep, and before it */
    size_t made;                       /* members and columns, since the last sweep */
};

/* Buckets of things by what they want, or have, of labels and namespaces (facets.c). */
struct sched__facets {
    struct map classes, podsets, existing_terms;
    unsigned used; /* facets that some term is or was filed under, as bits */
};

struct sched {
    struct feature_set gates;
    const struct sched_config *config;
    const struct clock *clock;
    const struct clock *stopwatch; /* for durations; may be the same */
    struct sched__times *times;    /* of plug-ins; NULL: not measured */
    uint64_t seed, tie_state;
    struct arena arena;   /* lives as long as the scheduler: default configuration */
    struct arena cycle;   /* reset at each decision: texts of results */
    struct arena scratch; /* empty between calls, as is: */
    struct buf key;       /* of a class */
    struct intern *atoms;
    struct match *match;
    const struct match_engine *engine; /* of expressions; NULL: none */
    struct sched__nodes nodes;
    struct map pods;                               /* struct sched_pod by key */
    struct map pod_classes;                        /* struct sched__pod_class by key */
    struct sched__pod_class *last_class[2];        /* asked for last: pending, placed; or NULL */
    struct sched__eval *newest_eval, *oldest_eval; /* what classes remember, by last use */
    size_t eval_bytes;                             /* of all of it */
    struct map podsets;                            /* struct sched__podset by key */
    struct map partitions;                         /* struct sched__partition by key */
    struct map eligibles;                          /* struct sched__eligible by key */
    struct map existing_terms;                     /* struct sched__existing_term by key */
    struct sched__idle idle;                       /* tallies that nobody asks for now */
    struct sched__facets facets;                   /* who may match whom */
    uint64_t serial;                               /* of the class, set or term made last */
    uint32_t nominated;                            /* pods that are nominated to some node */
    struct sched__store store;
    struct sched__volumes *volumes;   /* what volume plug-ins remember; NULL: nothing yet */
    struct sched__services *services; /* by what they select; NULL: not asked for yet */
    struct sched__budgets *budgets;   /* compiled for preemption; NULL: not asked for yet */
    struct sched__queue *queue;
    struct sched__metrics *metrics;
    int64_t *scores;     /* by slot: what a plug-in says, on its way into a sum */
    uint8_t *trial;      /* by slot: verdicts on a node that is only tried */
    bool trying;         /* pods are moved and will be moved back: the journal need not know */
    uint32_t next_start; /* where sampling of nodes begins */
    /* Slots that changed, oldest first; number `changes_base` is the first that is still there. */
    VEC(uint32_t) changes;
    uint64_t changes_base;
    uint64_t nodes_generation;    /* what depends on all nodes (their number, images) is another */
    uint64_t storage_generation;  /* the same for claims, volumes and classes of storage */
    uint64_t volumes_generation;  /* the same for volumes, and who has them */
    uint64_t attached_generation; /* the same for what claims stand for and nodes have attached */
    uint64_t capacities_generation; /* the same for CSIStorageCapacity objects */
    uint64_t selectors_generation;  /* the same for services and controllers of pods */
    uint64_t budgets_generation;    /* the same for PodDisruptionBudgets */
};

#endif
