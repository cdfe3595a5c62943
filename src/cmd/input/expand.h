/*
 * What the files that expand workloads share: making one pod of a template, and knowing which pods
 * a workload has already.
 */
#ifndef CMD_INPUT_EXPAND_H
#define CMD_INPUT_EXPAND_H

#include "api/object.h"
#include "cmd/input/cluster.h"

struct expand_daemons;

struct expand {
    struct cluster *c;
    struct arena arena;             /* keys of `owned` */
    VEC(struct cluster_item) out;   /* the cluster's items with what was made */
    struct map owned;               /* struct expand_owned, by uid and by name of the controller */
    struct input_source source;     /* of the workload at hand */
    bool stored;                    /* it has the uid that its pods name */
    struct str maker;               /* what remarks call it: deployment.apps/web */
    struct expand_daemons *daemons; /* nodes as DaemonSets see them; NULL: not asked yet */
};

/* What one controller has. */
struct expand_owned {
    VEC(const struct api_object *) pods;
    bool has_replica_set;
};

/* A workload's expansion appends to e->out; what is wrong is told. */
typedef void expand_fn(struct expand *e, struct api_object *workload);
expand_fn expand__stateful_set, expand__daemon_set;

/* Frees what DaemonSets needed; NULL is fine. */
void expand__daemons_free(struct expand_daemons *d);

/* The pods, and the ReplicaSets, whose controller is the workload at hand; or NULL. */
const struct expand_owned *expand__owned(const struct expand *e, const struct api_object *workload);

/* Is the pod one that its controller counts: neither ended nor going? */
bool expand__is_active(const struct api_object *pod);

/* May so many pods be made? Otherwise a remark says so. */
bool expand__may(struct expand *e, int64_t pods);

/* A new pod of the template, named and owned, not yet created; name must live as long as it. */
struct api_object *expand__pod_new(const struct api_object *owner,
                                   const struct api_pod_template_spec *template, struct str name);

/* Creates an object and puts it behind what was made before; the object is taken. False, and a
 * remark, when a server would refuse it. */
bool expand__create(struct expand *e, struct api_object *o);

/* A short text that differs where templates differ, of the letters that Kubernetes uses. */
struct str expand__hash(struct arena *a, const struct api_pod_template_spec *template);

/* "controller": true, as controllers write it. The list lives in the arena. */
void expand__set_owner(struct api_object *o, const struct api_object *owner);

#endif
