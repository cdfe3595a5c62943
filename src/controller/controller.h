/*
 * What the controllers of kube-controller-manager decide, without their loops: pure questions about
 * decoded objects, answered with data.
 */
#ifndef CONTROLLER_CONTROLLER_H
#define CONTROLLER_CONTROLLER_H

#include "base/arena.h"
#include "base/buf.h"

struct api_object;
struct api_pod_spec;
struct api_pod_template_spec;
struct api_toleration_list;
struct match;
struct match_node;
struct match_taints;

/* ---- DaemonSet (daemon.c) ---- */

/* The tolerations of a DaemonSet's pods: those of the template, with an endless one for each
 * trouble a node can have added or put in place of one of equal key, effect, operator and value.
 * The list lives in the arena and borrows from the template. */
void controller_daemon_tolerations(struct arena *a, const struct api_pod_spec *template,
                                   struct api_toleration_list *out);

/* A node as compiled for matching, which a cache does once. */
struct controller_node {
    struct str name;
    const struct match_node *labels;
    const struct match_taints *taints;
};

/* A DaemonSet's template, compiled to be asked about many nodes; the spec is borrowed. Free with
 * controller_daemon_free, before the matcher and its atoms. */
struct controller_daemon *controller_daemon_new(struct match *m,
                                                const struct api_pod_spec *template);
void controller_daemon_free(struct controller_daemon *d); /* NULL is fine */

enum controller_daemon_code {
    CONTROLLER_DAEMON_RUNS,
    CONTROLLER_DAEMON_OTHER_NODE, /* the template's nodeName is another */
    CONTROLLER_DAEMON_AFFINITY,   /* nodeSelector or required node affinity do not match */
    CONTROLLER_DAEMON_TAINT,      /* a NoSchedule or NoExecute taint is not tolerated */
};

/* NodeShouldRunDaemonPod, with what decided it. */
struct controller_daemon_verdict {
    enum controller_daemon_code code;
    bool should_run, should_continue; /* a pod may be made; one that is there may stay */
    uint32_t taint;                   /* place of the first taint that is not tolerated */
};

/* Should a pod of the DaemonSet run on this node? Resources, ports and readiness do not count. */
struct controller_daemon_verdict controller_daemon_check(const struct controller_daemon *d,
                                                         const struct controller_node *node);

/* Appends one sentence with the operands. */
void controller_daemon_verdict_write(struct buf *out, const struct controller_daemon *d,
                                     const struct controller_node *node,
                                     const struct controller_daemon_verdict *v);

/* ---- what is made of templates (template.c) ---- */

/* Makes owner the one owner of an object that is not published, and its controller. The list lives
 * in the object's arena. */
void controller_owner_set(struct api_object *o, const struct api_object *owner);

/* A new pod of the template, named and owned, not yet created; name must live as long as it. */
struct api_object *controller_pod_new(const struct api_object *owner,
                                      const struct api_pod_template_spec *template,
                                      struct str name);

/* A short text that differs where templates differ, of the letters that Kubernetes uses. If two
 * templates have the same all the same, another count of collisions, or one at all (NULL: none),
 * makes it another. */
struct str controller_template_hash(struct arena *a, const struct api_pod_template_spec *template,
                                    const int32_t *collisions);

/* Are they equal but for the label that tells ReplicaSets apart? */
bool controller_same_template(const struct api_pod_template_spec *x,
                              const struct api_pod_template_spec *y);

/* The ReplicaSet of a Deployment's template, with as many replicas, not yet created. */
struct api_object *controller_replica_set_new(const struct api_object *deployment);

/* ---- volumes (volumes.c) ---- */

/* A new claim, not yet published, is Bound if it names its volume, and Pending otherwise; a new
 * volume is Bound if it names its claim, and Available otherwise. */
void controller_claim_settle(struct api_object *o);
void controller_volume_settle(struct api_object *o);

#endif
