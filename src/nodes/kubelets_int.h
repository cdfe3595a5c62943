/* Inside of nodes: what is remembered of nodes and pods, and what files share. */
#ifndef NODES_KUBELETS_INT_H
#define NODES_KUBELETS_INT_H

#include "base/map.h"
#include "base/vec.h"
#include "client/client.h"
#include "client/events.h"
#include "client/informer.h"
#include "client/workqueue.h"
#include "net/loop.h"
#include "nodes/nodes.h"

struct intern;
struct match;
struct nodes__held;
struct nodes__mount_fault;
struct nodes__pod;
struct nodes__pod_next;
struct nodes__sources;

#define NODES__LEASE_NAMESPACE STR("kube-node-lease")

/* How kubelets are configured by default, in nanoseconds and seconds. */
#define NODES__RENEW_EVERY     (10 * CLOCK_SECOND)
#define NODES__HEARTBEAT_EVERY (300 * CLOCK_SECOND)
#define NODES__SLOT            (CLOCK_SECOND / 20)
enum { NODES__LEASE_SECONDS = 40 };

/* Who looks after a node. */
enum nodes__keeper { NODES__UNDECIDED, NODES__OURS, NODES__OTHERS };

/* What is wrong with a kubelet, by annotation. */
enum nodes__fault {
    NODES__WELL,
    NODES__SLOW,        /* it looks after pods late */
    NODES__STOPPED,     /* it does not run, but containers do */
    NODES__PARTITIONED, /* it runs, but nobody hears of it, nor it of others */
    NODES__CRASHED,     /* the machine is down, and all that ran on it */
};

/* The addresses that pods of a node may have: its first, and the largest number behind that. */
struct nodes__range {
    uint32_t first, most;
};

/* Numbers of pods in a range: 1 is the node's, and 0 stands for none. */
enum { NODES__NUMBERS = 256 };

struct nodes__node {
    struct str name; /* behind the struct */
    uint32_t index;  /* small, and its own: addresses are made of it */
    bool is_moving;  /* its status still has another index, which is not its own */
    struct nodes__range range;
    enum nodes__keeper keeper;
    enum nodes__fault fault;
    int64_t slow;       /* of a slow one: how much later it looks after a pod, in nanoseconds */
    int64_t booted;     /* wall time, in seconds, of its last start after a crash; 0: none */
    int64_t away_until; /* wall time at which it was connected again; 0: always */
    struct str boot_id; /* since then; empty: none. In boot_text */
    char boot_text[40];
    bool has_phase;       /* renewals are spread already */
    int64_t renewed;      /* the renewTime that was written last, in microseconds; 0: none */
    int64_t others_until; /* of OTHERS: monotonic time at which they have had their time */
    int64_t heartbeat_at; /* monotonic time of the next one; 0: there was none */
    VEC(struct nodes__pod *) pods; /* that were admitted and have not ended */
};

/* A pod that was admitted. */
struct nodes__pod {
    struct nodes__node *node;
    const struct api_object *object; /* held: as it was seen last */
    size_t place;                    /* in node->pods */
    bool is_told_to_stop;            /* which was said */
    int64_t stop_seen;               /* wall time at which its deletion was; 0: it was not */
    struct nodes__held *held;        /* by what it lacks; NULL: by nothing (pod_sources_int.h) */
    uint32_t number;                 /* its address by this; 0: it has none of this node */
};

struct nodes {
    struct nodes_opts opts;
    struct net_loop *loop;
    struct informer *node_informer, *pod_informer, *lease_informer;
    struct workqueue *registrations, *leases, *statuses, *pod_queue;
    struct events *events;
    struct map nodes;                /* by name: struct nodes__node */
    struct map pods;                 /* by uid: struct nodes__pod */
    struct map rejections;           /* by reason: struct nodes__count */
    struct map chosen;               /* names, if others are left alone */
    struct map awaited;              /* ConfigMaps and Secrets that pods wait for */
    struct informer *sources[2];     /* of these; NULL: nobody has asked for them */
    struct informers *own_informers; /* of a kubelet that is alone, for these; or NULL */
    struct map holders;              /* by index: which node has it (indexes.c) */
    uint32_t next_index;
    size_t ours;
    uint64_t renewals, heartbeats;
    int64_t event_tokens, event_filled; /* how much may be said of pods, and since when */
    struct intern *atoms;
    struct match *match;
};

struct nodes__count {
    uint64_t n;
    char reason[];
};

/* Wall time, in nanoseconds since the Unix epoch. */
int64_t nodes__wall(const struct nodes *n);

/* Is there no kubelet on it that anybody hears of? */
bool nodes__is_away(const struct nodes__node *node);

/* Has a pod of the node looked after. */
void nodes__look_after(struct nodes *n, const struct nodes__node *node,
                       const struct api_object *pod);

/* The node of this name, if it is ours and its kubelet runs; or NULL. */
struct nodes__node *nodes__find_running(const struct nodes *n, struct str name);

/* From now on the node is looked after by these; its status and pods are looked at if it is us. */
void nodes__set_keeper(struct nodes *n, struct nodes__node *node, enum nodes__keeper keeper);

/* A moment within a period that is the node's own: those of all nodes are spread evenly, however
 * many there are. More than 0, and no more than the period. */
int64_t nodes__phase(const struct nodes__node *node, int64_t period);

/* How long it is from now until about `delay` from now, at a moment that nodes share: what many of
 * them write leaves together, and wakes the server once. */
int64_t nodes__until(const struct nodes *n, int64_t delay);

/* Wall time to the second, and to the microsecond. */
struct api_time nodes__time(int64_t ns);
struct api_time nodes__micro_time(int64_t ns);

/* ---- work: `sync` of the queues, with struct nodes as arg ---- */

void nodes__register(void *arg, struct work *w);    /* a node of a pool */
void nodes__renew(void *arg, struct work *w);       /* the Lease of a node */
void nodes__sync_status(void *arg, struct work *w); /* the status of a node */
void nodes__sync_pod(void *arg, struct work *w);    /* a pod on a node */

/* A Lease has changed: somebody else may have renewed it. */
void nodes__lease_set(void *arg, const struct api_object *old, const struct api_object *object);

/* Has all nodes of the pools made that are not there. */
void nodes__register_pools(struct nodes *n);

/* The pool to which a node of this name belongs; or NULL. */
const struct nodes_pool *nodes__pool_of(const struct nodes *n, struct str name);

/* A pod is gone or has ended: it takes nothing any more. */
void nodes__drop_pod(struct nodes *n, const struct api_object *pod);
void nodes__free_pod(struct nodes *n, struct nodes__pod *pod);

/* Is it the name of a version in status.nodeInfo that may differ between nodes? */
bool nodes__has_info(struct str name);

/* ---- events ---- */

/* Says what is new in the status of a node that is about to be written. */
void nodes__tell_status(struct nodes *n, const struct api_object *node,
                        const struct api_node_status *status);

/* The kubelet of a node has been started, after a crash with a boot id. */
void nodes__tell_start(struct nodes *n, const struct api_object *node, struct str boot_id);

/* Says what is new in the status of a pod that is about to be written. */
void nodes__tell_pod(struct nodes *n, struct arena *a, const struct nodes__pod *pod,
                     const struct api_pod_status *status);

/* Says what a pod waits for: volumes that cannot be set up, and containers of the status that
 * cannot be made. */
void nodes__tell_held(struct nodes *n, struct arena *a, const struct nodes__pod *pod,
                      const struct nodes__pod_next *next, const struct api_pod_status *status);

/* Says which annotations of a new pod or node, or of one whose annotations were others before, are
 * not taken. `old` is NULL for a new one. */
void nodes__tell_annotations(struct nodes *n, const struct api_object *old,
                             const struct api_object *o);

/* The containers of a pod are told to stop. */
void nodes__tell_stop(struct nodes *n, struct nodes__pod *pod);

/* ---- decisions ---- */

/* The address of a node, and that of a pod on it, by number; in the arena. */
struct str nodes__node_address(struct arena *a, uint32_t index);
struct str nodes__pod_address(struct arena *a, const struct nodes__range *range, uint32_t number);

/* Where the pods of a node have their addresses: what its spec says, or else by its index. */
struct nodes__range nodes__range_of(const struct api_node *node, uint32_t index);

/* The index of a node that has such an address; false when it has none. */
bool nodes__index_of(const struct api_node *node, uint32_t *index);

/* Notes which index the status of a node tells, whoever looks after it. When another node has that
 * index, too, the one of the later name takes a new one, if it is looked after here. */
void nodes__note_index(struct nodes *n, const struct api_object *object);

/* A node is gone; and all of them. */
void nodes__forget_index(struct nodes *n, const struct api_object *object);
void nodes__free_indexes(struct nodes *n);

/* The number of a pod that has such an address; 0: it has none. */
uint32_t nodes__number_of(const struct nodes__range *range, struct str pod_ip);

/* What a kubelet sees of itself. */
struct nodes__facts {
    struct str name;
    uint32_t index;
    bool is_moving;                /* the address in its status is not its own */
    int64_t now;                   /* wall time */
    const struct nodes_pool *pool; /* or NULL */
    struct str boot_id;            /* empty: any */
};

/* What is missing in the status of a node, or wrong in it, is set in *status, which is a copy of
 * what is stored; true when anything was. Memory is the arena's. */
bool nodes__complete_status(struct arena *a, const struct nodes__facts *facts,
                            struct api_node_status *status);

/* A UUID that is made of a name; another one for each salt. In the arena. */
struct str nodes__uuid(struct arena *a, struct str name, uint64_t salt);

/* What is known of this node. */
struct nodes__facts nodes__facts_of(const struct nodes *n, const struct nodes__node *node);

/* Adds the labels that a kubelet gives its node and that it lacks; in the arena. */
void nodes__complete_labels(struct arena *a, struct str node, struct labels *labels);

/* All conditions of a kubelet were seen to hold at this time. */
void nodes__beat(struct arena *a, struct api_node_status *status, int64_t now);

/* What is wrong with annotations of a pod or node that tell what to simulate: a text for each, up
 * to so many, in the arena. */
size_t nodes__annotation_faults(struct arena *a, const struct api_object *o, struct str *out,
                                size_t most);

/* What a kubelet knows of a pod beside its object. */
struct nodes__pod_facts {
    int64_t now;                     /* wall time */
    int64_t start_delay, stop_delay; /* unless annotations say otherwise */
    struct str host_ip, pod_ip;
    int64_t booted;      /* containers that were started before this second have died; 0: none */
    int64_t away_until;  /* what was due before this time has happened then; 0: nothing */
    int64_t stop_seen;   /* wall time at which its deletion was seen; 0: in its second */
    struct str deferred; /* why it cannot get the resources that it asks for now; empty: it can */
    struct nodes__sources *sources; /* ConfigMaps and Secrets; NULL: all are there */
};

enum nodes__pod_step {
    NODES__POD_WAITS,  /* nothing is to be done */
    NODES__POD_WRITES, /* the status is to be written */
    NODES__POD_GOES,   /* the object is to be deleted, at once */
};

struct nodes__pod_next {
    enum nodes__pod_step step;
    int64_t at; /* wall time at which to look again; INT64_MAX: when something changes */
    const struct nodes__mount_fault *unmounted; /* volumes that cannot be set up */
    size_t unmounted_count;
    uint64_t lacks; /* hash of what was said to be lacking; 0: nothing */
};

/* What a kubelet does next with a pod that it has admitted. *status is the new one if it is to be
 * written; it shares what it can with the pod, the rest is the arena's. */
struct nodes__pod_next nodes__next_of_pod(struct arena *a, const struct api_object *pod,
                                          const struct nodes__pod_facts *facts,
                                          struct api_pod_status *status);

/* The status of a pod that was rejected, also of one that ran before its kubelet started again: it
 * keeps what others wrote, and its containers are gone.
 *
 * Follows k8s.io/kubernetes pkg/kubelet, func (*Kubelet) rejectPod. */
void nodes__reject_status(struct arena *a, const struct api_object *pod, struct str reason,
                          struct str message, int64_t now, struct api_pod_status *status);

#endif
