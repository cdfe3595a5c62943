/*
 * Simulated nodes: what kubelets do as far as the API shows it, without containers.
 *
 * Every Node object is looked after, unless only some are to be, or somebody else renews its Lease:
 * it is Ready, its Lease is renewed, and the pods that are bound to it are admitted or rejected by
 * the rules of a kubelet, run, end, are restarted and stop in time. What becomes of a pod is worked
 * out from its object alone, so that another process can go on where this one stopped.
 *
 * What a container does is told by annotations of its pod, by its probes, and by its command if
 * that is a simple one (life_program.c). An annotation is of all containers, or of one by its name,
 * as in NAME.berth.dev/run-seconds. Values are whole numbers; what cannot be read is as if it were
 * not there, and an event says so:
 *
 *     berth.dev/start-seconds    how long containers take to start, since the pod began; of one
 *                                container: since those before it let it
 *     berth.dev/run-seconds      how long they run before they end by themselves; else for ever. Of
 *                                the main containers, or of one
 *     berth.dev/exit-code        the code that they end with then; else 0
 *     berth.dev/stop-seconds     how long they take to stop when the pod is deleted
 *     berth.dev/ready-seconds    how long they take to become ready
 *     berth.dev/ready            "false": they are not
 *     berth.dev/startup-seconds  how long their startup probes fail
 *     berth.dev/live-seconds     after which time their liveness probes fail
 *
 * The annotation berth.dev/kubelet of a node tells what is wrong with it, until it goes:
 *
 *     stopped      nobody looks after the node: its Lease is not renewed, nothing happens to pods
 *     crashed      the same, and all containers have died; they are restarted when it goes
 *     partitioned  the same for others, but containers go on: what happened is told when it goes
 *     slow         it looks after pods berth.dev/slow-seconds late, or ten
 *
 * Conditions of a node that somebody else has set (Ready
 * False, MemoryPressure True) stay; only Ready Unknown, which means that nobody looked after it,
 * is set right.
 *
 * Everything runs on the loop of the client and on its clock.
 */
#ifndef NODES_NODES_H
#define NODES_NODES_H

#include "apiserver/apiserver.h"
#include "base/buf.h"

struct client;
struct feature_set;
struct informers;
struct log;
struct match_engine;
struct nodes;
struct nodes_fault_rate;
struct nodes_variation;

/* Nodes that are alike: prefix-0, prefix-1, … */
struct nodes_pool {
    size_t count;
    struct str prefix;              /* "node-" */
    struct labels labels;           /* beside those that kubelets set: name, system, architecture */
    struct api_taint_list taints;   /* beside those of conditions */
    struct api_quantities capacity; /* none: NODES_CAPACITY */
    /* Versions as nodeInfo has them; empty: of the newest Kubernetes, and what goes with it. */
    struct str kubelet_version, kernel_version, runtime_version, os_image;

    /* Of a NodePool (pool.h): what all nodes have, and where they differ. */
    const struct api_node *model; /* or NULL; its taints instead of those above */
    struct nodes_variation *variations;
    size_t variation_count;
    struct nodes_fault_rate *faults;
    size_t fault_count;
    uint64_t seed;
};

struct nodes_opts {
    struct client *client;             /* stored */
    struct informers *informers;       /* stored: of the same client */
    const struct log *log;             /* stored */
    const struct feature_set *gates;   /* stored: of the kubelets */
    const struct match_engine *engine; /* stored: evaluates expressions of tolerations; or NULL */
    uint64_t seed;                     /* of maps; nothing observable depends on it */
    const struct nodes_pool *pools;    /* stored: nodes that are made if they are not there */
    size_t pool_count;
    bool is_choosy;           /* only those of pools and these are looked after */
    const struct str *chosen; /* stored: names of nodes that others make */
    size_t chosen_count;
    bool is_alone; /* the informers are nobody else's: ConfigMaps and Secrets get some of their own,
                      which keep no values */
    int64_t start_delay, stop_delay; /* of pods that say nothing else, in nanoseconds */
};

/* Begins to look after nodes. Free it with nodes_free, before the informers and the client; the
 * informers may not tell anything in between. NULL is fine. */
struct nodes *nodes_new(const struct nodes_opts *opts);
void nodes_free(struct nodes *n);

/* How many nodes are looked after now. */
size_t nodes_count(const struct nodes *n);

/* How many pods kubelets have rejected for this reason; for an empty one: in all. */
uint64_t nodes_rejections(const struct nodes *n, struct str reason);

/* Appends the figures of all kubelets together as Prometheus reads them. */
void nodes_write_metrics(const struct nodes *n, struct buf *out);

/* What a simulated container prints: the output of a command that is told without running it, or
 * else what happens to it (apiserver_log_fn). */
void nodes_read_log(struct arena *a, const struct api_object *pod, struct str container,
                    bool is_previous, int64_t now, struct apiserver_log *out);

#endif
