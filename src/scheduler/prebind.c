/*
 * Volumes of pods that are being bound: volumes and claims are written, then the flight waits until
 * the controller of volumes has bound them.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/volumebinding,
 * func (*volumeBinder) bindAPIUpdate, func (*volumeBinder) checkBindings.
 */
#include "api/volumes.h"
#include "base/clock.h"
#include "scheduler/scheduler_int.h"

#define POLL_INTERVAL CLOCK_SECOND

static struct scheduler__flight *flight_of(struct scheduler__call *c) {
    return heap_entry(c, struct scheduler__flight, call);
}

static uint64_t revision_of(const struct api_object *o) {
    int64_t v;
    return str_to_i64(o->meta->resource_version, &v) && v > 0 ? (uint64_t)v : 0;
}

static const struct api_object *volume_of(const struct scheduler__flight *f,
                                          const struct scheduler__task *t) {
    return informer_get(f->call.s->volumes, STR(""), t->what.volume);
}

static const struct api_object *claim_of(const struct scheduler__flight *f,
                                         const struct scheduler__task *t) {
    return informer_get(f->call.s->claims, f->pod.namespace, t->what.claim);
}

static void fail(struct scheduler__flight *f, struct str why) {
    scheduler__bind_fail(f, arena_printf(&f->arena, "running PreBind plugin \"%s\": %.*s",
                                         "VolumeBinding", STR_ARG(why)));
}

/* ---- writing ---- */

static struct api_object *bound_volume(const struct api_object *volume,
                                       const struct api_object *claim) {
    struct api_object *o = api_object_copy(volume);
    api_volume_bind(o, claim);
    return o;
}

static struct api_object *placed_claim(const struct api_object *claim, struct str node) {
    struct api_object *o = api_object_copy(claim);
    struct label selected = {API_SELECTED_NODE, arena_str(&o->arena, node)};
    labels_put(&o->arena, &api_own_meta(o)->annotations, selected);
    return o;
}

/* The revision of the copy is a precondition: what has changed since is not written. */
static bool make_task(struct scheduler__call *c, struct arena *a, struct client_request *out) {
    struct scheduler__flight *f = flight_of(c);
    const struct scheduler__task *t = &f->tasks[f->written];
    bool provisions = !t->what.volume.n;
    const struct api_object *claim = claim_of(f, t);
    const struct api_object *object = provisions ? claim : volume_of(f, t);
    (void)a;
    if (!claim || !object || !str_eq(claim->meta->uid, t->what.claim_uid)) {
        f->error = provisions || object
                       ? arena_printf(&f->arena,
                                      "could not find v1.PersistentVolumeClaim "
                                      "\"%.*s/%.*s\"",
                                      STR_ARG(f->pod.namespace), STR_ARG(t->what.claim))
                       : arena_printf(&f->arena, "could not find v1.PersistentVolume \"%.*s\"",
                                      STR_ARG(t->what.volume));
        return false;
    }
    *out = (struct client_request){
        .verb = REGISTRY_VERB_UPDATE,
        .kind = client_kind(provisions ? API_T_persistent_volume_claim : API_T_persistent_volume),
        .namespace = object->meta->namespace,
        .name = object->meta->name,
        .object = provisions ? placed_claim(claim, f->node) : bound_volume(object, claim)};
    return true;
}

static void write_next(struct scheduler__flight *f);

static void end_task(struct scheduler__call *c, const struct client_answer *answer) {
    struct scheduler__flight *f = flight_of(c);
    if (!answer || answer->code) {
        fail(f, answer ? answer->message : f->error);
        return;
    }
    f->tasks[f->written++].revision = answer->object ? revision_of(answer->object) : 0;
    write_next(f);
}

static const struct scheduler__call_type tasks = {
    .make = make_task, .done = end_task, .free = scheduler__flight_free};

/* ---- waiting ---- */

static int64_t bind_timeout(const struct scheduler__flight *f) {
    const struct sched_config *config = f->call.s->config;
    for (size_t i = 0; i < config->profile_count; i++)
        if (str_eq(config->profiles[i].scheduler_name, f->scheduler_name))
            return config->profiles[i].bind_timeout_seconds * CLOCK_SECOND;
    return config->profiles[0].bind_timeout_seconds * CLOCK_SECOND;
}

static void wait(struct scheduler__flight *f) {
    struct scheduler *s = f->call.s;
    f->phase = SCHEDULER__WAITING;
    f->deadline = net_loop_now(s->loop) + bind_timeout(f);
    f->next = s->waiting;
    f->link = &s->waiting;
    if (f->next)
        f->next->link = &f->next;
    s->waiting = f;
    net_loop_defer(s->loop, &s->look);
}

static void write_next(struct scheduler__flight *f) {
    if (f->written < f->task_count)
        scheduler__call_start(f->call.s, &f->call, &tasks);
    else
        wait(f);
}

/* Others may want to know early where the pod will be. */
void scheduler__volumes_start(struct scheduler__flight *f) {
    struct scheduler *s = f->call.s;
    f->phase = SCHEDULER__WRITING;
    if (feature_enabled(&s->gates, FEATURE_NominatedNodeNameForExpectation))
        scheduler__nominate(s, &f->pod, f->node);
    write_next(f);
}

void scheduler__volumes_leave(struct scheduler__flight *f) {
    if (!f->link)
        return;
    *f->link = f->next;
    if (f->next)
        f->next->link = f->link;
    f->link = NULL;
}

static bool is_fully_bound(const struct api_object *claim) {
    const struct api_persistent_volume_claim *body = claim->body;
    return body->spec.volume_name.n && labels_find(&claim->meta->annotations, API_BIND_COMPLETED);
}

/* Of one task: true when it is done; false and *why absent: not yet. */
static bool check_volume(struct scheduler__flight *f, const struct scheduler__task *t,
                         const struct api_object *claim, struct str *why) {
    const struct api_object *volume = volume_of(f, t);
    if (!volume) {
        *why = arena_printf(&f->arena,
                            "failed to check binding: could not find "
                            "v1.PersistentVolume \"%.*s\"",
                            STR_ARG(t->what.volume));
        return false;
    }
    if (revision_of(volume) < t->revision)
        return false;
    const struct api_persistent_volume *body = volume->body;
    if (!body->spec.claim_ref || !body->spec.claim_ref->uid.n) {
        *why =
            arena_printf(&f->arena, "ClaimRef got reset for pv \"%.*s\"", STR_ARG(t->what.volume));
        return false;
    }
    return is_fully_bound(claim);
}

static bool check_provision(struct scheduler__flight *f, const struct scheduler__task *t,
                            const struct api_object *claim, struct str *why) {
    if (revision_of(claim) < t->revision)
        return false;
    const struct label *selected = labels_find(&claim->meta->annotations, API_SELECTED_NODE);
    if (!claim->meta->annotations.n)
        *why = arena_printf(&f->arena, "selectedNode annotation reset for PVC \"%.*s\"",
                            STR_ARG(t->what.claim));
    else if (!selected || !str_eq(selected->value, f->node))
        *why =
            arena_printf(&f->arena, "provisioning failed for PVC \"%.*s\"", STR_ARG(t->what.claim));
    return !why->p && is_fully_bound(claim);
}

static bool check_task(struct scheduler__flight *f, const struct scheduler__task *t,
                       struct str *why) {
    const struct api_object *claim = claim_of(f, t);
    if (!claim) {
        *why = arena_printf(&f->arena,
                            "failed to check %s: could not find "
                            "v1.PersistentVolumeClaim \"%.*s/%.*s\"",
                            t->what.volume.n ? "binding" : "provisioning pvc",
                            STR_ARG(f->pod.namespace), STR_ARG(t->what.claim));
        return false;
    }
    return t->what.volume.n ? check_volume(f, t, claim, why) : check_provision(f, t, claim, why);
}

/* Are all volumes of the flight bound? False and *why absent: not yet. */
static bool check(struct scheduler__flight *f, struct str *why) {
    const struct scheduler *s = f->call.s;
    if (!informer_get(s->nodes, STR(""), f->node))
        *why = arena_printf(&f->arena, "failed to get node \"%.*s\": node \"%.*s\" not found",
                            STR_ARG(f->node), STR_ARG(f->node));
    else if (!scheduler__pod(s, &f->pod))
        *why = arena_printf(&f->arena, "pod does not exist any more: pod \"%.*s\" not found",
                            STR_ARG(f->pod.name));
    else if (net_loop_now(s->loop) >= f->deadline)
        *why = STR("context deadline exceeded");
    for (size_t i = 0; i < f->task_count && !why->p; i++)
        if (!check_task(f, &f->tasks[i], why))
            return false;
    return !why->p;
}

static void look_after(struct scheduler__flight *f) {
    struct str why = {0};
    bool is_done = check(f, &why);
    if (why.p)
        fail(f, arena_printf(&f->arena, "binding volumes: %.*s", STR_ARG(why)));
    else if (is_done) {
        scheduler__volumes_leave(f);
        scheduler__bind_pod(f);
    }
}

void scheduler__volumes_look(void *arg) {
    struct scheduler *s = arg;
    for (struct scheduler__flight *f = s->waiting, *next; f; f = next) {
        next = f->next;
        look_after(f);
    }
    if (s->waiting)
        net_timer_start(s->loop, &s->poll, net_loop_now(s->loop) + POLL_INTERVAL);
}
