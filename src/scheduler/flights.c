/*
 * Flights: pods on their way to the node that they are assumed to be on.
 *
 * A binding may have been made though nobody says so: the server ended before its answer. Other
 * than upstream's, the pod then stays assumed until a server has told whether it is bound; its room
 * would be given away a second time before informers know.
 *
 * Follows k8s.io/kubernetes pkg/scheduler, func (*Scheduler) bindingCycle,
 * func (*Scheduler) handleBindingCycleError.
 */
#include "base/alloc.h"
#include "base/log.h"
#include "scheduler/scheduler_int.h"

static struct scheduler__flight *flight_of(struct scheduler__call *c) {
    return heap_entry(c, struct scheduler__flight, call);
}

void scheduler__flight_free(struct scheduler__call *c) {
    struct scheduler__flight *f = flight_of(c);
    arena_release(&f->arena);
    free(f);
}

/* The flight is over, and nobody knows it any more. */
static void land(struct scheduler__flight *f) {
    scheduler__call_stop(&f->call);
    scheduler__volumes_leave(f);
    map_del(&f->call.s->flights, f->pod.uid);
    scheduler__flight_free(&f->call);
}

static struct scheduler__flight *flight_new(struct scheduler *s, const struct sched_result *r) {
    struct scheduler__flight *f = xcalloc(1, sizeof *f);
    const struct api_object *pod = scheduler__pod(s, &r->pod);
    f->call.s = s;
    f->pod = scheduler__name_copy(&f->arena, &r->pod);
    f->node = arena_str(&f->arena, r->node);
    if (pod)
        f->scheduler_name =
            arena_str(&f->arena, ((const struct api_pod *)pod->body)->spec.scheduler_name);
    f->tasks = arena_array(&f->arena, struct scheduler__task, r->volume_count);
    f->task_count = r->volume_count;
    for (size_t i = 0; i < r->volume_count; i++) {
        struct sched_volume_task *what = &f->tasks[i].what;
        what->claim = arena_str(&f->arena, r->volumes[i].claim);
        what->claim_uid = arena_str(&f->arena, r->volumes[i].claim_uid);
        what->volume = arena_str(&f->arena, r->volumes[i].volume);
    }
    map_put(&s->flights, f->pod.uid, f);
    return f;
}

void scheduler__bind(struct scheduler *s, const struct sched_result *r) {
    struct scheduler__flight *f = flight_new(s, r);
    if (f->task_count)
        scheduler__volumes_start(f);
    else
        scheduler__bind_pod(f);
}

void scheduler__bind_fail(struct scheduler__flight *f, struct str why) {
    struct scheduler *s = f->call.s;
    if (sched_forget(s->core, &f->pod))
        scheduler__report(s, &f->pod, "SchedulerError", why, STR(""));
    scheduler__wake(s);
    land(f);
}

/* ---- the binding ---- */

static bool make_binding(struct scheduler__call *c, struct arena *a, struct client_request *out) {
    const struct scheduler__flight *f = flight_of(c);
    struct api_object *o = api_object_new(client_kind(API_T_binding));
    struct api_binding *binding = api_own_body(o);
    (void)a;
    binding->metadata.namespace = arena_str(&o->arena, f->pod.namespace);
    binding->metadata.name = arena_str(&o->arena, f->pod.name);
    binding->metadata.uid = arena_str(&o->arena, f->pod.uid);
    binding->target.kind = STR("Node");
    binding->target.name = arena_str(&o->arena, f->node);
    *out = (struct client_request){.verb = REGISTRY_VERB_CREATE,
                                   .kind = client_kind(API_T_pod),
                                   .subresource = "binding",
                                   .namespace = f->pod.namespace,
                                   .name = f->pod.name,
                                   .object = o};
    return true;
}

static void say_scheduled(const struct scheduler__flight *f) {
    struct events_subject subject = {client_kind(API_T_pod), f->pod.namespace, f->pod.name,
                                     f->pod.uid};
    events_say_of(scheduler__events(f->call.s, f->scheduler_name), &subject, EVENTS_NORMAL,
                  "Scheduled", "Successfully assigned %.*s/%.*s to %.*s", STR_ARG(f->pod.namespace),
                  STR_ARG(f->pod.name), STR_ARG(f->node));
}

/* Could the pod be bound in spite of this answer, by this try or one before it? */
static bool is_open(const struct scheduler__flight *f, const struct client_answer *answer) {
    return f->call.tries > 1 || answer->status == 0 || answer->code == ERR_CONFLICT ||
           answer->code == ERR_INTERNAL || answer->code == ERR_IO || answer->code == ERR_TIMEOUT ||
           answer->code == ERR_UNAVAILABLE;
}

static bool make_reading(struct scheduler__call *c, struct arena *a, struct client_request *out) {
    const struct scheduler__flight *f = flight_of(c);
    (void)a;
    *out = (struct client_request){.verb = REGISTRY_VERB_GET,
                                   .kind = client_kind(API_T_pod),
                                   .namespace = f->pod.namespace,
                                   .name = f->pod.name};
    return true;
}

/* A pod that is bound, here or elsewhere, stays assumed: informers will tell where it is. */
static void end_reading(struct scheduler__call *c, const struct client_answer *answer) {
    struct scheduler__flight *f = flight_of(c);
    const struct api_object *pod = answer->object;
    if (answer->code || !pod || !str_eq(pod->meta->uid, f->pod.uid) ||
        !((const struct api_pod *)pod->body)->spec.node_name.n) {
        scheduler__bind_fail(f, f->error);
        return;
    }
    if (str_eq(((const struct api_pod *)pod->body)->spec.node_name, f->node))
        say_scheduled(f);
    land(f);
}

static const struct scheduler__call_type readings = {
    .make = make_reading, .done = end_reading, .free = scheduler__flight_free, .is_patient = true};

/* What the core makes of it, informers tell. */
static void end_binding(struct scheduler__call *c, const struct client_answer *answer) {
    struct scheduler__flight *f = flight_of(c);
    if (!answer->code) {
        say_scheduled(f);
        land(f);
        return;
    }
    log_info(c->s->log, 1, "Failed to bind pod", LOG_STR("namespace", f->pod.namespace),
             LOG_STR("pod", f->pod.name), LOG_STR("err", answer->message));
    f->error = arena_printf(&f->arena, "running Bind plugin \"%s\": %.*s", "DefaultBinder",
                            STR_ARG(answer->message));
    if (is_open(f, answer))
        scheduler__call_start(c->s, &f->call, &readings);
    else
        scheduler__bind_fail(f, f->error);
}

static const struct scheduler__call_type bindings = {
    .make = make_binding, .done = end_binding, .free = scheduler__flight_free};

void scheduler__bind_pod(struct scheduler__flight *f) {
    f->phase = SCHEDULER__BINDING;
    scheduler__call_start(f->call.s, &f->call, &bindings);
}
