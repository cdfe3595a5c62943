/*
 * The contract between a cycle and its plug-ins.
 *
 * A filter does not answer for one node: it is given a range of slots and writes a reason into
 * each verdict that is still 0. So a scan of all nodes costs one call per plug-in, and asking again
 * about one changed node is a range of one. Scores work the same way.
 *
 * Plug-ins of scope NODE look at the pod's class and at the node with what is on it, at nothing
 * else: what they say is remembered per class until the node is touched, or a generation of struct
 * sched moves. Plug-ins of scope CLUSTER also look at pods elsewhere and run in every cycle.
 */
#ifndef SCHED_PLUGIN_INT_H
#define SCHED_PLUGIN_INT_H

#include "sched/sched_int.h"

/* Verdicts on a node. 0: it fits. */
enum sched__reason {
    SCHED__FITS,
    SCHED__GONE,   /* no node has this slot */
    SCHED__ABSENT, /* left out by a plug-in's `restrict` */
#define REASON(id, ...) SCHED__REASON_##id,
#include "sched/reasons.def"
#undef REASON
    SCHED__REASON_COUNT
};

struct sched__reason_row {
    enum sched_plugin plugin;
    enum sched_code code;
    const char *text; /* NULL: ask the plug-in */
};

/* The row of a verdict of a filter; static. */
const struct sched__reason_row *sched__reason_row(enum sched__reason reason);

/* One pod's way through the plug-ins. */
struct sched__cycle {
    struct sched *s;
    struct sched_pod *pod;
    struct sched__pod_class *cls;
    const struct sched_profile *profile;
    struct arena *arena;            /* dies with the cycle */
    uint8_t *verdict;               /* by slot: enum sched__reason */
    uint32_t feasible;              /* slots that fit */
    bool nominated;                 /* the pod's nominated node fits: no other was asked */
    struct sched_status rejected;   /* by PreFilter */
    struct str error;               /* a plug-in failed: the whole text */
    void *data[SCHED_PLUGIN_COUNT]; /* what plug-ins keep for the cycle */
    struct sched__times *times;     /* how long they take; NULL: nobody measures */
};

struct sched__findings;

enum sched__scope { SCHED__SCOPE_NODE, SCHED__SCOPE_CLUSTER };

/* UP and DOWN: upstream's DefaultNormalizeScore, the largest becomes 100, or 0. */
enum sched__scale { SCHED__SCALE_NONE, SCHED__SCALE_UP, SCHED__SCALE_DOWN };

/* What happened to an object, for queueing hints. */
enum sched__event_bits {
    SCHED__NODE_ADD = 1 << 0,
    SCHED__NODE_TAINT = 1 << 1,
    SCHED__NODE_LABEL = 1 << 2,
    SCHED__NODE_ALLOCATABLE = 1 << 3,
    SCHED__NODE_CONDITION = 1 << 4,
    SCHED__NODE_DELETE = 1 << 5,
    SCHED__ASSIGNED_POD_ADD = 1 << 6,
    SCHED__ASSIGNED_POD_UPDATE = 1 << 7,
    SCHED__ASSIGNED_POD_DELETE = 1 << 8,
    SCHED__POD_LABEL = 1 << 9, /* of the pod itself or another pending or assigned one */
    SCHED__POD_SCALE_DOWN = 1 << 10,
    SCHED__POD_TOLERATION = 1 << 11, /* of the pending pod itself */
    SCHED__POD_GATES = 1 << 12,      /* of the pending pod itself */
    SCHED__CLAIM_ADD = 1 << 13,
    SCHED__CLAIM_UPDATE = 1 << 14,
    SCHED__VOLUME_ADD = 1 << 15,
    SCHED__VOLUME_UPDATE = 1 << 16,
    SCHED__STORAGE_CLASS_ADD = 1 << 17,
    SCHED__STORAGE_CLASS_UPDATE = 1 << 18,
    SCHED__CSI_NODE_ADD = 1 << 19,
    SCHED__CSI_NODE_UPDATE = 1 << 20,
    SCHED__CSI_DRIVER = 1 << 21,
    SCHED__CAPACITY = 1 << 22,
    SCHED__ATTACHMENT_DELETE = 1 << 23,
    SCHED__NAMESPACE_LABEL = 1 << 24,
    SCHED__NODE_FEATURES = 1 << 25, /* that it declares */
    SCHED__EVERYTHING = 1 << 30,    /* a wildcard: every pod is worth another try */
};

struct sched__event {
    uint32_t bits;
    const struct api_object *before, *after; /* either may be NULL; pods: one of the same class */
    bool own;                                /* the waiting pod itself is another one */
    bool had_node, has_node; /* pods: on a node or nominated to one, before and after */
};

struct sched__tallied;

/* A plug-in. Slots that are NULL are not asked; a plug-in that has `compile` is asked nothing about
 * classes for which that gave NULL (upstream's Skip). */
struct sched__plugin {
    enum sched__scope scope;
    /* What the plug-in will want to know of the class's pods, in the class's arena; NULL: it has
     * nothing to do for them. Borrowing from c->pod is fine. */
    void *(*compile)(struct sched *s, struct sched__pod_class *c);
    /* Compiles classes of placed pods, too: they matter to others. */
    bool sees_placed;
    /* Gives back what the arena does not: atoms, compiled things. Called with data not NULL. */
    void (*discard)(struct sched *s, void *data);
    /* At the start of each cycle: may fill cy->rejected or cy->error. Of scope CLUSTER it prepares
     * cy->data; if that stays NULL, `filter` is skipped in this cycle. */
    void (*pre_filter)(struct sched__cycle *cy);
    /* Marks slots in [from, to) that the pod cannot go to whatever filters say as SCHED__ABSENT:
     * upstream's PreFilterResult. Scope NODE only. */
    void (*restrict_to)(struct sched__cycle *cy, uint32_t from, uint32_t to);
    /* The slots that it leaves, each once, in the cycle's arena, if they are so few that it is
     * better to ask about them alone; NULL: they are not. */
    const uint32_t *(*named)(struct sched__cycle *cy, size_t *n);
    /* Does it leave out any node for this class at all? */
    bool (*restricts)(const struct sched__pod_class *c);
    /* Writes a reason into each verdict in [from, to) that is 0 and that it rejects. */
    void (*filter)(struct sched__cycle *cy, uint32_t from, uint32_t to);
    /* Appends the reasons for its own verdict on this slot, if its row has no text. */
    void (*reasons)(struct sched__cycle *cy, uint32_t slot, struct sched_status *out);
    /* Adds these reasons of many slots, each with the number of slots that have it; NULL: slots are
     * asked one by one. */
    void (*tally)(struct sched__cycle *cy, const uint32_t *slots, uint32_t n,
                  struct sched__tallied *out);
    /* With two or more nodes that fit: false to skip scoring; may fill cy->error. */
    bool (*pre_score)(struct sched__cycle *cy);
    /* Writes scores of slots in [from, to) whose verdict is 0. */
    void (*score)(struct sched__cycle *cy, int64_t *scores, uint32_t from, uint32_t to);
    /* How scores become 0 to 100; of scope CLUSTER `normalize` does that instead, over all slots
     * whose verdict is 0. */
    enum sched__scale scale;
    void (*normalize)(const struct sched__cycle *cy, int64_t *scores);
    /* Adds what it finds on this slot that it rejects, with all operands (findings_int.h). Without
     * findings its reasons are told. */
    void (*explain)(struct sched__cycle *cy, uint32_t slot, struct sched__findings *out);
    /* Adds what costs a node on this slot, which fits, some of its score. */
    void (*explain_score)(struct sched__cycle *cy, uint32_t slot, struct sched__findings *out);
    /* Events that may make a pod schedulable which it rejected; and whether this one does. NULL:
     * each of them does. */
    uint32_t events;
    bool (*hint)(struct sched *s, struct sched_pod *pod, const struct sched__event *event);
};

/* The plug-in's table; static. */
const struct sched__plugin *sched__plugin_at(enum sched_plugin plugin);

#define PLUGIN(id, lower, name, weight) extern const struct sched__plugin sched__##lower;
#include "sched/plugins.def"
#undef PLUGIN

/* A score on that scale, where the largest is `max`. */
int64_t sched__scale(enum sched__scale scale, int64_t score, int64_t max);

/* Features that pods with this spec need of their node, as bits (node_declared_features.c). */
unsigned sched__features_needed(const struct api_pod_spec *spec);

/* Thousandths of what the pod asks for that the node does not have (node_resources_fit.c). */
int64_t sched__fit_shortage(const struct sched__cycle *cy, uint32_t slot);

/* Appends a reason, which is stored, to a status whose list is in the cycle's arena. */
void sched__status_add(struct sched__cycle *cy, struct sched_status *status, struct str reason);

/* PreFilter rejects the pod for good with this text, which is stored, or fails with it. */
void sched__prefilter_reject(struct sched__cycle *cy, enum sched_plugin plugin, struct str text);
void sched__prefilter_fail(struct sched__cycle *cy, enum sched_plugin plugin, struct str text);

/* ---- for queueing hints (hints.c) ---- */

/* The event as those who wait see it: a pod that gets its node is new, and one that ended is gone.
 */
struct sched__event sched__event_as_seen(const struct sched__event *event);

/* Does a pod on a node ask for less than before of something that the waiting pod asks for? */
bool sched__pod_makes_room(struct sched *s, const struct api_pod *before,
                           const struct api_pod *after, const struct api_pod *waiting);

/* Are these the same taints in the same order, added at the same times? */
bool sched__taints_equal(const struct api_taint_list *a, const struct api_taint_list *b);

/* ---- the cycle (cycle.c, eval.c) ---- */

/* Makes cy->verdict a column of the cycle's own, to be changed at will. */
void sched__cycle_own_verdicts(struct sched__cycle *cy);

/* PreFilter alone: may fill cy->rejected or cy->error. */
void sched__cycle_pre_filter(struct sched__cycle *cy);

/* The verdicts of all filters on all slots, after PreFilter has rejected nothing. With
 * cy->nominated set all slots but one are SCHED__GONE. */
void sched__cycle_ask_nodes(struct sched__cycle *cy);

/* Starts a cycle for a pod: PreFilter, and the verdicts of all filters on all slots. The arena is
 * stored. With cy->rejected or cy->error set there are no verdicts. */
void sched__cycle_filter(struct sched__cycle *cy);

/* Asks all filters again about one node as it is now, and returns the verdict, which is also in
 * s->trial. Nothing is remembered. Plug-ins that look at all nodes are asked if PreFilter had use
 * for them, as upstream does not change its mind about that. sched__cycle_fits asks also with the
 * pods that are nominated to the node and at least as important. */
enum sched__reason sched__cycle_try(struct sched__cycle *cy, uint32_t slot);
enum sched__reason sched__cycle_fits(struct sched__cycle *cy, uint32_t slot);

/* The reasons of a slot's verdict; code, plug-in and texts, in the cycle's arena. */
struct sched_status sched__cycle_status(struct sched__cycle *cy, uint32_t slot);

/* The text "0/5 nodes are available: …", in the cycle's arena; without the PostFilter's part. */
struct str sched__cycle_message(struct sched__cycle *cy);

/* Reasons with the number of nodes that have them, rendered as that text does. */
struct sched__tallied {
    struct map counts; /* of reasons; the texts must live as long */
    struct str last;   /* the reason that was added last, mostly by many nodes in a row, and: */
    uint32_t nodes;    /* how many of them are not in `counts` yet */
};
void sched__tallied_add(struct sched__tallied *t, struct str reason, uint32_t nodes);
struct str sched__tallied_write(struct sched__tallied *t, uint32_t all_nodes, struct arena *a);

/* ---- scores and the choice (choose.c) ---- */

/* If the configuration asks for it, leaves only as many of the nodes that fit as upstream would
 * have found, from where the last search ended; others become SCHED__GONE in the cycle's verdicts.
 */
void sched__cycle_sample(struct sched__cycle *cy);

/* The node for a pod that fits on at least one, or SCHED__NONE with cy->error set. */
uint32_t sched__cycle_choose(struct sched__cycle *cy);

/* Which plug-ins score, and the score of each on all slots that fit, 0 to 100: columns[plugin] is
 * an array by slot in the cycle's arena, or NULL. -1 with cy->error set. For reports; needs two or
 * more nodes that fit. */
int sched__cycle_score(struct sched__cycle *cy, int64_t *columns[SCHED_PLUGIN_COUNT]);

#endif
