/*
 * What is written and said about a pod that was not placed, or could not be bound.
 *
 * Follows k8s.io/kubernetes pkg/scheduler, func (*Scheduler) handleSchedulingFailure.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "scheduler/scheduler_int.h"

/* A patch of a pod's status on its way. */
struct patching {
    struct scheduler__call call;
    struct arena arena;
    struct sched_pod_name pod;
    struct str patch;
};

static struct patching *patching_of(struct scheduler__call *c) {
    return heap_entry(c, struct patching, call);
}

static void patching_free(struct scheduler__call *c) {
    struct patching *p = patching_of(c);
    arena_release(&p->arena);
    free(p);
}

/* A pod that has its node is not told any more that it found none. */
static bool make_patch(struct scheduler__call *c, struct arena *a, struct client_request *out) {
    struct patching *p = patching_of(c);
    const struct api_object *pod = scheduler__pod(c->s, &p->pod);
    (void)a;
    if (!pod || ((const struct api_pod *)pod->body)->spec.node_name.n)
        return false;
    *out = (struct client_request){.verb = REGISTRY_VERB_PATCH,
                                   .kind = client_kind(API_T_pod),
                                   .subresource = "status",
                                   .namespace = p->pod.namespace,
                                   .name = p->pod.name,
                                   .patch_type = CLIENT_PATCH_STRATEGIC,
                                   .patch = p->patch};
    return true;
}

static void end_patch(struct scheduler__call *c, const struct client_answer *answer) {
    const struct patching *p = patching_of(c);
    if (answer && answer->code && answer->code != ERR_NOT_FOUND)
        log_error(c->s->log, "Error updating pod", LOG_STR("namespace", p->pod.namespace),
                  LOG_STR("pod", p->pod.name), LOG_STR("err", answer->message));
    patching_free(c);
}

static const struct scheduler__call_type patches = {
    .make = make_patch, .done = end_patch, .free = patching_free};

static void send_patch(struct scheduler *s, const struct api_object *pod,
                       const struct scheduler__condition *condition, struct str nominated) {
    struct patching *p = xcalloc(1, sizeof *p);
    int64_t now = clock_wall(net_loop_clock(s->loop));
    p->patch = scheduler__status_patch(&p->arena, pod, condition, &nominated, now);
    if (!p->patch.p) {
        patching_free(&p->call);
        return;
    }
    p->pod = scheduler__name_copy(
        &p->arena, &(struct sched_pod_name){pod->meta->namespace, pod->meta->name, pod->meta->uid});
    scheduler__call_start(s, &p->call, &patches);
}

static void say(struct scheduler *s, const struct api_object *pod, struct str message) {
    AUTO(arena_release) struct arena a = {0};
    const struct api_pod_spec *spec = &((const struct api_pod *)pod->body)->spec;
    struct str note = scheduler__note(&a, message);
    events_say(scheduler__events(s, spec->scheduler_name), pod, EVENTS_WARNING, "FailedScheduling",
               "%.*s", STR_ARG(note));
}

void scheduler__report(struct scheduler *s, const struct sched_pod_name *name, const char *reason,
                       struct str message, struct str nominated) {
    const struct api_object *pod = scheduler__pod(s, name);
    if (!pod || ((const struct api_pod *)pod->body)->spec.node_name.n)
        return;
    log_info(s->log, 2, "Unable to schedule pod", LOG_STR("namespace", name->namespace),
             LOG_STR("pod", name->name), LOG_STR("err", message));
    say(s, pod, message);
    send_patch(s, pod, &(struct scheduler__condition){"PodScheduled", "False", reason, message},
               nominated);
}

void scheduler__report_skipped(struct scheduler *s, const struct sched_pod_name *name,
                               struct str message) {
    const struct api_object *pod = scheduler__pod(s, name);
    if (pod)
        say(s, pod, message);
}

void scheduler__nominate(struct scheduler *s, const struct sched_pod_name *name, struct str node) {
    const struct api_object *pod = scheduler__pod(s, name);
    if (pod)
        send_patch(s, pod, NULL, node);
}
