/*
 * What the files that expand workloads share: making one pod of a template, and knowing which pods
 * a workload has already.
 */
#ifndef CONTROLLER_EXPAND_INT_H
#define CONTROLLER_EXPAND_INT_H

#include "base/map.h"
#include "base/vec.h"
#include "controller/controller.h"
#include "controller/expand.h"
#include "feature/feature.h"

struct expand_daemons;

struct expand {
    const struct controller_cluster *c;
    const struct controller_object *objects;
    size_t object_count;
    struct controller_made *made;
    struct arena arena;              /* keys of `owned` */
    struct map owned;                /* struct expand_owned, by uid and by name of the controller */
    bool stored;                     /* the workload at hand has the uid that its pods name */
    const struct api_object *before; /* what the workload at hand was; NULL: unchanged */
    struct map changed;              /* Deployments that were changed, by uid */
    struct controller_rollout *rollout; /* what is created belongs to it; NULL: to none */
    struct str maker;                   /* what remarks call it: deployment.apps/web */
    struct expand_daemons *daemons;     /* nodes as DaemonSets see them; NULL: not asked yet */
};

/* What one controller has. */
struct expand_owned {
    VEC(const struct api_object *) pods;
    VEC(const struct api_object *) replica_sets;
};

/* How many pods of a workload are there that its controller counts. */
int64_t expand__count_active(const struct expand_owned *owned);

/* Makes what a workload asks for; what is wrong is told. */
typedef void expand_fn(struct expand *e, const struct api_object *workload);
expand_fn expand__stateful_set, expand__daemon_set;

/* The same for one that was changed. False: none of its pods are there, and there is nothing to
 * roll over. */
typedef bool expand_roll_fn(struct expand *e, const struct api_object *workload);
expand_roll_fn expand__roll_deployment, expand__roll_stateful_set, expand__roll_daemon_set;

/* Between these two, what is created belongs to the rollout, which the second hands over. If not
 * all could be made, nothing goes on. */
void expand__roll_begin(struct expand *e, struct controller_rollout *r);
void expand__roll_end(struct expand *e, bool is_complete);

/* Puts a pod that is there into the rollout. */
void expand__roll_add(struct controller_rollout *r, const struct api_object *pod, bool is_new);

/* The same for a pod that was created just now. */
void expand__roll_created(struct expand *e, const struct api_object *pod);

/* Do pods of the template replace those of the one before, by a strategy of that type? A remark
 * tells of those that wait until somebody deletes them. */
bool expand__replaces(struct expand *e, struct str strategy,
                      const struct api_pod_template_spec *template,
                      const struct api_pod_template_spec *before);

/* The node that a pod of a DaemonSet is for: where it is, or what its affinity names. */
struct str expand__daemon_node(const struct api_object *pod);

/* Pods that differ in nothing but their names. False, and a remark, when they are refused. */
bool expand__replicas(struct expand *e, const struct api_object *owner,
                      const struct api_pod_template_spec *template, int64_t count);

/* Pods whose ReplicaSet is missing, of the Deployment that it seems to be of; or NULL. */
const struct expand_owned *expand__orphans(const struct expand *e, const struct api_object *o);

/* Frees what DaemonSets needed; NULL is fine. */
void expand__daemons_free(struct expand_daemons *d);

/* The object of that type and name, or NULL. */
const struct api_object *expand__find(const struct expand *e, enum api_type_id type,
                                      struct str namespace, struct str name);

/* The pods, and the ReplicaSets, whose controller is the workload at hand; or NULL. */
const struct expand_owned *expand__owned(const struct expand *e, const struct api_object *workload);

/* Is the pod one that its controller counts: neither ended nor going? */
bool expand__is_active(const struct api_object *pod);

/* May so many pods be made? Otherwise a remark says so. */
bool expand__may(struct expand *e, int64_t pods);

/* May so many pods of that size be made, `count` being at least 1? Then they are counted; otherwise
 * a remark says so. */
bool expand__afford(struct expand *e, size_t bytes, int64_t count);

/* One more of a pod, or claim, that was created: it shares all with the model, which is held, and
 * has a name of its own, which must live as long as it. */
struct api_object *expand__derive(const struct api_object *model, struct str name);

/* Makes labels, or annotations, a member's own: those that there are, with the given values in
 * place of theirs, or beside them. The list lives in the arena, and what it holds stays where it
 * is. */
void expand__set_labels(struct arena *a, struct labels *labels, const struct label *own, size_t n);

/* Creates an object, which is taken: as it is stored, borrowed. NULL, and a remark, when a server
 * would refuse it. */
const struct api_object *expand__create(struct expand *e, struct api_object *o);

/* The same for what a controller made like one that was created; only its name can be refused. */
bool expand__adopt(struct expand *e, struct api_object *o);

/*
 * Members of a workload that are numbered and differ in more than their names. What is generated
 * for each of them are digits in its name, in its hostname, in the values of labels and in names of
 * claims, and rules look only at the letters and the length of these: so one member is judged, and
 * stands for all whose number has as many digits. The others share its spec.
 */
struct expand_members {
    const struct api_object *owner;
    const struct api_pod_template_spec *template;
    int64_t unpaid;                 /* how many there will be, about; 0 once they are counted */
    bool differ;                    /* no two members have the same spec: each is judged */
    const struct api_object *model; /* the one that was judged last; borrowed; NULL: none yet */
    size_t digits;                  /* of its number */
};

/* Do terms of the pod take over its value of this label (matchLabelKeys)? If each member has
 * another value of it, they differ. */
bool expand__asks_own_label(const struct api_pod_spec *spec, struct str key);

/* What the scheduler keeps of a member whose labels are its own: a class, also when it is placed,
 * and what nodes made of it while it waits. A daemon is a class only while it waits. */
enum { EXPAND__CLASS_BYTES = 10000, EXPAND__DAEMON_BYTES = 3600 };

/* Counts all members before the first is made. Each is a class of its own to the scheduler, and
 * counts with all that its template says, with what becomes of its labels and terms, and so many
 * bytes beside that. False, and a remark, when they cannot be made; true when they were counted
 * before. */
bool expand__members_pay(struct expand *e, struct expand_members *all, size_t beside);

/* A new member, not yet created: like the model if that can stand for it. */
struct api_object *expand__member_new(struct expand_members *all, struct str name,
                                      struct str number);

/* Creates the member, which is taken, or adopts one that is like the model. False, and a remark,
 * when it is refused. */
bool expand__member_add(struct expand *e, struct expand_members *all, struct api_object *pod);

#endif
