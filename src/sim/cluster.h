/*
 * A cluster without a server: nodes, pods, volumes and all else that matters for placing pods.
 * Objects that carry a uid are what a server stored, and are only defaulted. Manifests go the way
 * of a new object: defaults, admission, preparation, validation. Workloads can be expanded to the
 * pods that their controllers would make.
 *
 * What is wrong with one object is told and does not keep the others from being used.
 */
#ifndef SIM_CLUSTER_H
#define SIM_CLUSTER_H

#include "base/map.h"
#include "base/vec.h"
#include "controller/expand.h"
#include "registry/known.h"
#include "registry/registry.h"

struct match_engine;

/* Where an object came from. */
struct sim_source {
    struct str file;
    uint32_t line, column;
};

/* What is to be said about an object. All of it is borrowed. */
struct sim_remark {
    struct sim_source at;
    struct str maker; /* the workload that it would be made by: deployment.apps/web; or empty */
    struct str text;  /* unless there is a failure */
    const struct registry_failure *failure; /* with which a server would refuse it; or NULL */
    const struct api_type_meta *names;      /* what it is, as far as it could be decoded; or NULL */
    const struct registry_remedy *remedies; /* gates that are in the way */
    size_t remedy_count;
};

struct sim_cluster_opts {
    const struct feature_set *gates;      /* stored */
    struct str namespace;                 /* of objects that name none; empty = default */
    const struct valid_cel *cel;          /* stored; compiles new expressions */
    const struct match_engine *engine;    /* stored; evaluates expressions of DaemonSets */
    const struct api_quantities *assumed; /* stored; what nodes offer that do not say so */
    bool apply_all; /* stored objects, too, take the place of those of their name before them */
    void (*remark)(void *ctx, const struct sim_remark *r);
    void *ctx; /* stored; of remark */
};

struct sim_item {
    struct api_object *draft;        /* owned; NULL: it is settled, or was refused */
    const struct api_object *object; /* held, as it is stored; NULL: not yet, or it was refused */
    struct sim_source source;
    bool stored;                     /* it came with a uid, or is a change of one that did */
    const struct api_object *before; /* what it was before the change; held; NULL: as it was */
    struct json *tree;  /* of a manifest, as it was read; in the cluster's arena; or NULL */
    bool held;          /* a pod that comes only when a rollout makes it */
    size_t tolerations; /* of a pod, before admission added some */
};

/* A workload that was changed, on its way to its new pods. */
struct sim_rollout {
    struct controller_rollout plan;
    size_t *items;       /* per pod of the plan, its place in the items if it is to be made */
    size_t steps;        /* that were taken */
    int64_t most;        /* pods that were there at once */
    int64_t least_ready; /* pods that were ready at the worst time, once a step was taken */
};

/* A custom resource with a template of pods in it. */
struct sim_custom {
    struct str api_version, kind, name, uid;
    struct sim_source source;
};

struct sim_cluster {
    struct sim_cluster_opts opts;
    struct arena arena;         /* names and file names */
    VEC(struct sim_item) items; /* in the order of the input */
    VEC(struct sim_custom) customs;
    struct registry_known *known; /* objects, by what they are called */
    struct registry registry;
    struct feature_set hinted;   /* gates that were named as a remedy */
    struct str file;             /* of the last object, in the arena */
    size_t generated;            /* names made of generateName */
    struct controller_made made; /* of templates */
    VEC(struct sim_rollout) rollouts;
    size_t refused;          /* objects with which something is wrong */
    struct map refused_keys; /* what those that were refused are called */
    struct map places;       /* place in items + 1, by kind, namespace and name */
    struct str obstacle;     /* why nothing can be decided about this cluster; absent: nothing */
};

/* An empty cluster. Release with sim_cluster_release, whatever follows. */
void sim_cluster_init(struct sim_cluster *c, const struct sim_cluster_opts *opts);
void sim_cluster_release(struct sim_cluster *c);

/* Has the kind a say in where pods go, so that objects of it are kept? */
bool sim_cluster_needs(const struct api_kind *kind);

/* Takes an object as it was read. Of kinds that have no say in where pods go nothing is kept. Fails
 * when the object has no name by which anything could be said about it. */
int sim_cluster_add(struct sim_cluster *c, const struct json *tree,
                    const struct api_decode_opts *decode, const struct sim_source *source,
                    struct err *err);

/* From here on every object is as a server would have stored it. To be called once, when all
 * objects were added. */
void sim_cluster_settle(struct sim_cluster *c);

/* Puts the pods that controllers would make behind their workloads. */
void sim_cluster_expand(struct sim_cluster *c);

/* The object of that type and name, or NULL. namespace is empty for kinds that have none. */
const struct api_object *sim_cluster_find(const struct sim_cluster *c, enum api_type_id type,
                                          struct str namespace, struct str name);

/* Was an object of that name given, but refused? */
bool sim_cluster_has_refused(const struct sim_cluster *c, const char *kind, struct str namespace,
                             struct str name);

/* Fails if the pod is over a limit of pods that are to be placed, wherever it is now. */
int sim_cluster_check_pending(const struct sim_item *item, struct err *err);

/* --- for the files that make up a cluster --- */

/* The item's object, settled or not; NULL: it was refused. */
static inline const struct api_object *sim__object_of(const struct sim_item *it) {
    return it->draft ? it->draft : it->object;
}

/* Remarks on an object: what is wrong with it, which counts, and what is merely good to know. */
void sim__refuse(struct sim_cluster *c, const struct sim_source *at, struct str text);
void sim__note(struct sim_cluster *c, const struct sim_source *at, struct str text);

/* Amounts below zero or beyond LIMIT_RESOURCE_AMOUNT, and lists longer than their limits: the first
 * one is told, under the name of the maker if there is one. False: the object is not to be used;
 * without a pod that is on a node nothing can be decided, and c->obstacle says so. */
bool sim__check_limits(struct sim_cluster *c, const struct sim_item *item, struct str maker);

/* A node that does not say what it offers gets what is assumed of such nodes, which is borrowed. */
void sim__assume_allocatable(const struct sim_cluster *c, struct api_object *o);

/* Tells of nodes that do not say what they offer. */
void sim__check_allocatable(struct sim_cluster *c);

/* Tells of objects that name others that are not there. */
void sim__check_references(struct sim_cluster *c);

/* Takes an object whose kind says all there is to know. False: it has a say in where pods go, and
 * must be decoded. */
bool sim__take_by_kind(struct sim_cluster *c, const struct json *tree,
                       const struct api_decode_opts *decode, const struct sim_source *source);

/* Refuses the custom resources that would have pods, unless there is something that they own. */
void sim__check_customs(struct sim_cluster *c);

#endif
