/*
 * The lives of a pod's containers: read from a status, led a step further, and written as a status
 * again.
 */
#ifndef NODES_LIFE_INT_H
#define NODES_LIFE_INT_H

#include "api/object.h"

struct nodes__pod_facts;

/* ---- programs ---- */

/* What a program prints, so many nanoseconds after its start. */
struct nodes__line {
    int64_t at;
    struct str text;
};

/* A command that is so simple that what it does can be told without running it. */
struct nodes__program {
    int64_t runs; /* nanoseconds until it ends; INT64_MAX: for ever */
    int32_t exit_code;
    struct nodes__line *lines;
    size_t n;
};

/* The program of a container; false when it cannot be told. In the arena. */
bool nodes__read_program(struct arena *a, const struct api_container *c,
                         struct nodes__program *out);

/* ---- what a container does ---- */

/* What annotations, probes and the command tell. Nanoseconds from the start of a run on; INT64_MAX
 * is never. */
struct nodes__wishes {
    int64_t start_delay; /* before the first run, since the pod began or since its turn */
    bool waits_in_turn;  /* since its turn */
    int64_t runs;        /* until it ends by itself */
    int32_t exit_code;   /* that it ends with then */
    int64_t started;     /* until its startup probe has succeeded */
    int64_t ready;       /* until it is ready */
    int64_t killed;      /* until probes that fail have it killed */
    int64_t stop_delay;  /* between its being told to stop and its end, hooks included */
    bool has_startup, has_readiness, has_liveness; /* probes */
    bool fails_startup;                            /* it is the startup probe that fails */
    bool lacks_image;                              /* which cannot be pulled */
    bool has_program;
    struct nodes__program program;
};

enum nodes__role { NODES__INIT, NODES__SIDECAR, NODES__MAIN, NODES__EPHEMERAL };

/* Reads them; texts are the pod's or the arena's. */
struct nodes__wishes nodes__read_wishes(struct arena *a, const struct api_object *pod,
                                        const struct api_container *c, enum nodes__role role,
                                        const struct nodes__pod_facts *facts);

/* ---- images ---- */

/* What is wrong when an image cannot be pulled. */
#define NODES__NO_IMAGE "simulated: the image is missing"

/* Why a container is not made when its image is not there, in one word; empty: it is there.
 * *message says more, in the arena. */
struct str nodes__image_reason(struct arena *a, const struct api_container *c,
                               const struct nodes__wishes *w, struct str *message);

/* ---- lives ---- */

enum nodes__mode {
    NODES__WAITING, /* was never started */
    NODES__RUNNING,
    NODES__BACKOFF, /* has ended, and will be restarted after a while */
    NODES__ENDED,   /* for good */
};

/* Once from start to end; times in seconds since the Unix epoch. */
struct nodes__run {
    int64_t started, finished;
    int32_t exit_code;
};

struct nodes__container {
    const struct api_container *spec;
    const struct api_container_status *told; /* what the pod's status says of it; or NULL */
    enum nodes__role role;
    enum nodes__mode mode;
    struct nodes__run run;
    struct nodes__run last; /* the run before it; finished is 0 when there was none */
    int32_t restarts;
    bool is_started, is_ready; /* while it runs: as its probes tell */
    bool is_held;              /* its time has come, and it lacks what it is made of */
    struct str fault;          /* what that is; empty: it is not known yet */
    struct str reason;         /* what kubelets call that */
    struct nodes__wishes wishes;
};

/* Of a whole pod. */
struct nodes__life {
    bool is_begun; /* a kubelet has seen the pod */
    int64_t begun; /* startTime of the pod */
    bool is_deleted;
    bool is_late; /* it was ended because activeDeadlineSeconds are over */
    bool is_over; /* its containers will not run any more */
    struct nodes__container *v;
    size_t inits, mains,
        n; /* in the order of the spec: inits and sidecars, mains, ephemeral ones */
};

/* The life that a status shows, in the arena. */
struct nodes__life nodes__read_life(struct arena *a, const struct api_object *pod,
                                    const struct nodes__pod_facts *facts);

/* How long containers that have been restarted so often wait for the next time, in seconds. */
int64_t nodes__backoff_seconds(int32_t restarts);

/* Is a container that has ended so restarted?
 *
 * Follows k8s.io/kubernetes pkg/api/v1/pod, func ContainerShouldRestart. */
bool nodes__is_restarted(const struct api_pod_spec *spec, const struct nodes__container *c,
                         int32_t exit_code);

/* So many nanoseconds after a second; what is too far away is never, or has been. */
int64_t nodes__after(int64_t second, int64_t ns);

/* Has any container of these been started? */
bool nodes__has_begun(const struct nodes__container *v, size_t n);

/* Is there a sandbox, as there is before the first container is made? */
bool nodes__has_sandbox(const struct nodes__life *life);

/* The phase that the pod is in. */
struct str nodes__phase_of(const struct nodes__life *life);

/* ---- as a status ---- */

/* The status that shows the life: *status is what the pod says now, and becomes what it is to say.
 * New parts are the arena's. */
void nodes__write_life(struct arena *a, const struct api_object *pod,
                       const struct nodes__life *life, const struct nodes__pod_facts *facts,
                       struct api_pod_status *status);

/* Has a container that runs been given other resources than it asks for now? */
bool nodes__wants_resize(const struct api_pod *pod);

/* Sets the conditions of a kubelet that follow from the rest of the status. */
void nodes__write_conditions(struct arena *a, const struct api_object *pod,
                             const struct nodes__life *life, const struct nodes__pod_facts *facts,
                             struct api_pod_status *status);

/* Do both lists say the same about what a kubelet knows? */
bool nodes__have_same_conditions(const struct api_pod_condition_list *x,
                                 const struct api_pod_condition_list *y);

/* Leaves only conditions in the list that are not the kubelet's; with room for the others. */
void nodes__keep_conditions(struct arena *a, struct api_pod_condition_list *list);

/* The id of a container's run, by how often it was restarted before. */
struct str nodes__run_id(struct arena *a, const struct api_object *pod, struct str container,
                         int32_t restarts);

#endif
