/*
 * What a KubeSchedulerConfiguration says: profiles with their plug-ins, weights and arguments, and
 * the figures of the queue. sched_config_default is upstream's default; a file changes parts of it.
 */
#ifndef SCHED_CONFIG_H
#define SCHED_CONFIG_H

#include "base/arena.h"
#include "base/err.h"

struct api_node_affinity;
struct api_topology_spread_constraint_list;
struct json;

/* The default plug-ins by the names that upstream gives them. */
enum sched_plugin {
#define PLUGIN(id, lower, name, weight) SCHED_##id,
#include "sched/plugins.def"
#undef PLUGIN
    SCHED_PLUGIN_COUNT
};

/* "NodeAffinity"; static. */
struct str sched_plugin_name(enum sched_plugin plugin);

/* Finds a plug-in by its exact name; false when there is none. */
bool sched_plugin_find(struct str name, enum sched_plugin *out);

/* The extension points at which the core asks plug-ins. */
enum sched_point {
    SCHED_PRE_ENQUEUE,
    SCHED_PRE_FILTER,
    SCHED_FILTER,
    SCHED_POST_FILTER,
    SCHED_PRE_SCORE,
    SCHED_SCORE,
    SCHED_POINT_COUNT
};

/* Plug-ins in the order in which they run. */
struct sched_order {
    uint8_t v[SCHED_PLUGIN_COUNT]; /* enum sched_plugin */
    uint8_t n;
};

/* Does the plug-in run there? */
bool sched_order_has(const struct sched_order *order, enum sched_plugin plugin);

/* A resource that counts for a score, and a point of a broken line. */
struct sched_weighted_resource {
    struct str name;
    int64_t weight;
};
struct sched_shape_point {
    int32_t utilization, score; /* 0 to 100, 0 to 10 */
};

enum sched_strategy {
    SCHED_LEAST_ALLOCATED,
    SCHED_MOST_ALLOCATED,
    SCHED_REQUESTED_TO_CAPACITY_RATIO
};

struct sched_profile {
    struct str scheduler_name;
    struct sched_order points[SCHED_POINT_COUNT];
    int32_t weights[SCHED_PLUGIN_COUNT];
    /* NodeResourcesFit */
    enum sched_strategy strategy;
    struct sched_weighted_resource *fit_resources;
    size_t fit_resource_count;
    struct sched_shape_point *shape;
    size_t shape_count;
    struct str *ignored_resources, *ignored_resource_groups; /* sorted */
    size_t ignored_resource_count, ignored_resource_group_count;
    /* NodeResourcesBalancedAllocation */
    struct sched_weighted_resource *balanced_resources;
    size_t balanced_resource_count;
    /* NodeAffinity; NULL: none */
    const struct api_node_affinity *added_affinity;
    /* PodTopologySpread: constraints for pods that have none; NULL and system_spread: upstream's */
    const struct api_topology_spread_constraint_list *default_spread;
    bool system_spread;
    /* InterPodAffinity */
    int32_t hard_pod_affinity_weight;
    bool ignore_preferred_terms_of_existing_pods;
    /* DefaultPreemption */
    int32_t min_candidate_nodes_percentage, min_candidate_nodes_absolute;
    /* VolumeBinding; the shape scores how much of a class's space is used */
    int64_t bind_timeout_seconds;
    struct sched_shape_point *volume_shape;
    size_t volume_shape_count;
    /* 0: as struct sched_config says */
    int32_t percentage_of_nodes_to_score;
};

/* What is said of the process around a scheduler: leader election and the connection. Texts that
 * are empty and numbers that are 0 are not said. */
struct sched_process {
    bool is_alone;                                        /* leaderElect is false */
    int64_t lease_duration, renew_deadline, retry_period; /* nanoseconds */
    struct str lock, lease, lease_namespace, kubeconfig;
    double qps;
    int32_t burst;
};

struct sched_config {
    struct sched_profile *profiles;
    size_t profile_count;
    bool sample_nodes; /* percentageOfNodesToScore was given: consider nodes as upstream samples */
    int32_t percentage_of_nodes_to_score; /* 0: upstream's formula */
    int64_t initial_backoff_seconds, max_backoff_seconds;
    struct sched_process process;
};

/* Upstream's default: one profile, default-scheduler. Lives in the arena. */
struct sched_config *sched_config_default(struct arena *a);

/* Reads a KubeSchedulerConfiguration (kubescheduler.config.k8s.io/v1). *out lives in the arena and
 * borrows from the tree. Fails with a text that names the field. */
int sched_config_read(struct arena *a, const struct json *tree, struct sched_config **out,
                      struct err *err);

#endif
