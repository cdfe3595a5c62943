/*
 * Preemption: victims get the condition DisruptionTarget, then they are deleted.
 *
 * From the decision on, the core sees a victim as one that is being deleted. So its preemptor waits
 * for it, instead of choosing victims again, whenever something has it tried in the meantime. For
 * that upstream keeps the preemptor out of its queue (KEP-4832).
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/preemption, func NewExecutor,
 * func (*Executor) prepareCandidateAsync.
 */
#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "scheduler/scheduler_int.h"

/* A victim on its way to be deleted. */
struct victim {
    struct scheduler__call call;
    struct arena arena;
    struct sched_pod_name pod, preemptor;
    struct str node, scheduler_name; /* the preemptor's */
    struct str patch;                /* absent: the condition is there */
    bool is_patched;
};

static struct victim *victim_of(struct scheduler__call *c) {
    return heap_entry(c, struct victim, call);
}

static void victim_free(struct scheduler__call *c) {
    struct victim *v = victim_of(c);
    arena_release(&v->arena);
    free(v);
}

static struct scheduler__condition condition_of(struct arena *a, struct str scheduler_name) {
    return (struct scheduler__condition){
        "DisruptionTarget", "True", "PreemptionByScheduler",
        arena_printf(a, "%.*s: preempting to accommodate a higher priority pod",
                     STR_ARG(scheduler_name))};
}

static int64_t wall_now(const struct scheduler *s) {
    return clock_wall(net_loop_clock(s->loop));
}

/* One that is being bound may yet succeed: its place is not free before the server says so.
 */
const struct api_object *scheduler__seen_by_core(const struct scheduler *s,
                                                 const struct api_object *pod) {
    AUTO(arena_release) struct arena a = {0};
    const struct victim *v = s->victims.live ? map_get(&s->victims, pod->meta->uid) : NULL;
    bool is_placed = ((const struct api_pod *)pod->body)->spec.node_name.n;
    if (!v || !is_placed || pod->meta->deletion_timestamp.set)
        return api_object_ref(pod);
    struct scheduler__condition condition = condition_of(&a, v->scheduler_name);
    return scheduler__status_doomed(pod, &condition, wall_now(s));
}

static void tell_core(struct scheduler *s, const struct sched_pod_name *name) {
    const struct api_object *pod = scheduler__pod(s, name);
    const struct api_object *seen = pod ? scheduler__seen_by_core(s, pod) : NULL;
    if (seen)
        sched_set(s->core, seen);
    api_object_unref(seen);
}

/* ---- the requests ---- */

static bool make_request(struct scheduler__call *c, struct arena *a, struct client_request *out) {
    const struct victim *v = victim_of(c);
    (void)a;
    *out = (struct client_request){
        .kind = client_kind(API_T_pod), .namespace = v->pod.namespace, .name = v->pod.name};
    if (v->is_patched) {
        out->verb = REGISTRY_VERB_DELETE;
        out->deletion.uid = v->pod.uid;
    } else {
        out->verb = REGISTRY_VERB_PATCH;
        out->subresource = "status";
        out->patch_type = CLIENT_PATCH_STRATEGIC;
        out->patch = v->patch;
    }
    return true;
}

static void say_preempted(const struct scheduler *s, const struct victim *v, const char *more) {
    struct events_subject subject = {client_kind(API_T_pod), v->pod.namespace, v->pod.name,
                                     v->pod.uid};
    events_say_of(scheduler__events(s, v->scheduler_name), &subject, EVENTS_NORMAL, "Preempted",
                  "Preempted by pod %.*s on node %.*s%s", STR_ARG(v->preemptor.uid),
                  STR_ARG(v->node), more);
}

/* The victim stays: the preemptor looks for others. */
static void give_up(struct scheduler *s, const struct victim *v, struct str why) {
    log_error(s->log, "Tried to preempted pod", LOG_STR("namespace", v->pod.namespace),
              LOG_STR("pod", v->pod.name), LOG_STR("preemptor", v->preemptor.name),
              LOG_STR("err", why));
    tell_core(s, &v->pod);
    sched_activate(s->core, &v->preemptor);
    scheduler__wake(s);
}

/* One that is gone has made room in its own way. */
static void end(struct victim *v, const struct client_answer *answer) {
    struct scheduler *s = v->call.s;
    bool is_gone = answer->code == ERR_NOT_FOUND || answer->code == ERR_CONFLICT;
    map_del(&s->victims, v->pod.uid);
    if (!answer->code)
        say_preempted(s, v, "");
    else if (!is_gone)
        give_up(s, v, answer->message);
    victim_free(&v->call);
}

static void on_done(struct scheduler__call *c, const struct client_answer *answer);

static const struct scheduler__call_type requests = {
    .make = make_request, .done = on_done, .free = victim_free};

static void on_done(struct scheduler__call *c, const struct client_answer *answer) {
    struct victim *v = victim_of(c);
    if (v->is_patched || answer->code) {
        end(v, answer);
        return;
    }
    v->is_patched = true;
    scheduler__call_start(c->s, c, &requests);
}

/* ---- victims ---- */

static struct victim *victim_new(struct scheduler *s, const struct sched_result *r,
                                 const struct sched_pod_name *pod) {
    struct victim *v = xcalloc(1, sizeof *v);
    const struct api_object *preemptor = scheduler__pod(s, &r->pod);
    v->pod = scheduler__name_copy(&v->arena, pod);
    v->preemptor = scheduler__name_copy(&v->arena, &r->pod);
    v->node = arena_str(&v->arena, r->nominated);
    if (preemptor)
        v->scheduler_name =
            arena_str(&v->arena, ((const struct api_pod *)preemptor->body)->spec.scheduler_name);
    return v;
}

/* One that waits for its volumes need not be deleted: it is sent back to the queue. */
static bool is_recalled(struct scheduler *s, struct victim *v) {
    struct scheduler__flight *f = map_get(&s->flights, v->pod.uid);
    if (!f || f->phase == SCHEDULER__BINDING)
        return false;
    say_preempted(s, v, " (in kube-scheduler memory).");
    scheduler__bind_fail(
        f, STR("running PreBind plugin \"VolumeBinding\": binding volumes: context canceled"));
    sched_activate(s->core, &v->preemptor);
    return true;
}

static void send(struct scheduler *s, struct victim *v, const struct api_object *pod) {
    struct scheduler__condition condition = condition_of(&v->arena, v->scheduler_name);
    v->patch = scheduler__status_patch(&v->arena, pod, &condition, NULL, wall_now(s));
    v->is_patched = !v->patch.p;
    map_put(&s->victims, v->pod.uid, v);
    tell_core(s, &v->pod);
    scheduler__call_start(s, &v->call, &requests);
}

static void preempt(struct scheduler *s, const struct sched_result *r,
                    const struct sched_pod_name *name) {
    const struct api_object *pod = scheduler__pod(s, name);
    if (!pod || pod->meta->deletion_timestamp.set || map_get(&s->victims, name->uid))
        return; /* it goes already */
    struct victim *v = victim_new(s, r, name);
    if (is_recalled(s, v))
        victim_free(&v->call);
    else
        send(s, v, pod);
}

void scheduler__preempt(struct scheduler *s, const struct sched_result *r) {
    for (size_t i = 0; i < r->outranked_count; i++)
        scheduler__nominate(s, &r->outranked[i], STR(""));
    for (size_t i = 0; i < r->victim_count; i++)
        preempt(s, r, &r->victims[i]);
}
