/*
 * The life of a pod's containers as its status shows it.
 *
 * Follows k8s.io/kubernetes pkg/kubelet, func (*Kubelet) convertToAPIContainerStatuses.
 */
#include "nodes/life_int.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "codec/time.h"
#include "nodes/kubelets_int.h"

/* Of more containers of a pod a change of resources is taken as it comes. */
enum { MOST_RESIZED = 64 };

/* Bytes of a log that kubelets take for a message. */
enum { LONGEST_WORDS = 2048 };

struct scene {
    struct arena *a;
    const struct api_object *pod;
    const struct api_pod_spec *spec;
    const struct nodes__life *life;
    const struct nodes__pod_facts *facts;
};

static struct api_time time_of(int64_t seconds) {
    return (struct api_time){.sec = seconds, .set = true};
}

/* A text that differs for each pod, container and run, as those of a runtime do. */
struct str nodes__run_id(struct arena *a, const struct api_object *pod, struct str container,
                         int32_t restarts) {
    struct str what =
        arena_printf(a, "%.*s/%.*s/%d", STR_ARG(pod->meta->uid), STR_ARG(container), (int)restarts);
    unsigned long long v[4];
    for (size_t i = 0; i < 4; i++)
        v[i] = str_hash(what, i);
    return arena_printf(a, "containerd://%016llx%016llx%016llx%016llx", v[0], v[1], v[2], v[3]);
}

/* Does the status tell of the run that follows so many restarts? A container that was another
 * kubelet's has an id and an image that only its runtime knows. */
static bool is_told(const struct nodes__container *c, int32_t restarts) {
    return c->told && c->told->container_id.n && c->told->restart_count == restarts;
}

static struct str id_of(const struct scene *s, const struct nodes__container *c, int32_t restarts) {
    return is_told(c, restarts) ? c->told->container_id
                                : nodes__run_id(s->a, s->pod, c->spec->name, restarts);
}

/* The end of what a program printed, if a failure is to be told so.
 *
 * Follows k8s.io/kubernetes pkg/kubelet/kuberuntime, func getTerminationMessage. */
static struct str last_words(const struct scene *s, const struct nodes__container *c,
                             const struct nodes__run *run) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    const struct nodes__program *p = &c->wishes.program;
    if (!run->exit_code || !c->wishes.has_program ||
        !str_is(c->spec->termination_message_policy, "FallbackToLogsOnError"))
        return STR("");
    for (size_t i = 0; i < p->n; i++)
        if (nodes__after(run->started, p->lines[i].at) < nodes__after(run->finished + 1, 0))
            buf_addf(&text, "%s%.*s", text.n ? "\n" : "", STR_ARG(p->lines[i].text));
    size_t from = text.n > LONGEST_WORDS ? text.n - LONGEST_WORDS : 0;
    return arena_str(s->a, str_sub(buf_view(&text), from, text.n));
}

static bool is_end_of(const struct api_container_state_terminated *t,
                      const struct nodes__run *run) {
    return t && t->started_at.sec == run->started && t->finished_at.sec == run->finished &&
           t->exit_code == run->exit_code;
}

/* The end of a run. What the status tells of it already, and why it came, stays. */
static struct api_container_state_terminated *ended(const struct scene *s,
                                                    const struct nodes__container *c,
                                                    const struct nodes__run *run, struct str id) {
    const struct api_container_status *old = c->told;
    if (old && is_end_of(old->state.terminated, run))
        return old->state.terminated;
    if (old && is_end_of(old->last_state.terminated, run))
        return old->last_state.terminated;
    struct api_container_state_terminated *t =
        arena_new(s->a, struct api_container_state_terminated);
    t->exit_code = run->exit_code;
    t->message = last_words(s, c, run);
    t->reason = run->exit_code ? STR("Error") : STR("Completed");
    t->started_at = time_of(run->started);
    t->finished_at = time_of(run->finished);
    t->container_id = id;
    return t;
}

static struct api_container_state_waiting *waiting(const struct scene *s, struct str reason,
                                                   struct str message) {
    struct api_container_state_waiting *w = arena_new(s->a, struct api_container_state_waiting);
    w->reason = reason;
    w->message = message;
    return w;
}

static struct str backoff_message(const struct scene *s, const struct nodes__container *c) {
    AUTO(buf_release) struct buf text = BUF_INIT(64);
    const struct api_object_meta *meta = s->pod->meta;
    time_write_duration(&text, nodes__backoff_seconds(c->restarts) * CLOCK_SECOND);
    return arena_printf(s->a, "back-off %.*s restarting failed container=%.*s pod=%.*s_%.*s(%.*s)",
                        STR_ARG(buf_view(&text)), STR_ARG(c->spec->name), STR_ARG(meta->name),
                        STR_ARG(meta->namespace), STR_ARG(meta->uid));
}

/* ---- resources ---- */

static const struct api_container_status *find(const struct api_container_status_list *list,
                                               struct str name) {
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i].name, name))
            return &list->v[i];
    return NULL;
}

static bool are_equal(const struct api_quantities *x, const struct api_quantities *y) {
    bool equal = x->n == y->n;
    for (size_t i = 0; equal && i < x->n; i++)
        equal =
            str_eq(x->v[i].key, y->v[i].key) && quantity_cmp(&x->v[i].value, &y->v[i].value) == 0;
    return equal;
}

static bool was_given(const struct api_container_status *old) {
    return old && old->state.running && old->resources;
}

bool nodes__wants_resize(const struct api_pod *pod) {
    for (size_t i = 0; i < pod->spec.containers.n && i < MOST_RESIZED; i++) {
        const struct api_container *c = &pod->spec.containers.v[i];
        const struct api_container_status *old = find(&pod->status.container_statuses, c->name);
        if (was_given(old) && !are_equal(&old->allocated_resources, &c->resources.requests))
            return true;
    }
    return false;
}

/* A container has what it asks for; also if that has changed, unless there is not enough of it. */
static void set_resources(const struct scene *s, const struct nodes__container *c,
                          struct api_container_status *out) {
    if (s->facts->deferred.n && was_given(c->told)) {
        out->allocated_resources = c->told->allocated_resources;
        out->resources = c->told->resources;
        return;
    }
    out->allocated_resources = c->spec->resources.requests;
    out->resources = arena_new(s->a, struct api_resource_requirements);
    *out->resources = c->spec->resources;
}

static void set_state(const struct scene *s, const struct nodes__container *c,
                      struct api_container_status *out) {
    bool waits_for_others = s->life->inits && c->role != NODES__EPHEMERAL;
    out->state = (struct api_container_state){0};
    if (c->fault.n) {
        out->state.waiting = waiting(s, c->reason, c->fault);
        return;
    }
    switch (c->mode) {
    case NODES__RUNNING:
        out->state.running = arena_new(s->a, struct api_container_state_running);
        out->state.running->started_at = time_of(c->run.started);
        break;
    case NODES__BACKOFF:
        out->state.waiting = waiting(s, STR("CrashLoopBackOff"), backoff_message(s, c));
        break;
    case NODES__ENDED:
        out->state.terminated = ended(s, c, &c->run, out->container_id);
        break;
    case NODES__WAITING:
        out->state.waiting =
            waiting(s, waits_for_others ? STR("PodInitializing") : STR("ContainerCreating"),
                    (struct str){0});
        break;
    }
}

/* Is what was told about resources and the image that of the spec as it is now? */
static bool is_current(const struct scene *s, const struct nodes__container *c) {
    const struct api_pod_status *status = &((const struct api_pod *)s->pod->body)->status;
    return status->observed_generation == s->pod->meta->generation &&
           (!c->told->resources ||
            are_equal(&c->told->allocated_resources, &c->spec->resources.requests));
}

static void set_given(const struct scene *s, const struct nodes__container *c,
                      struct api_container_status *out) {
    if (is_told(c, c->restarts) && is_current(s, c))
        return;
    out->image = out->image_id = c->spec->image;
    if (c->mode != NODES__WAITING)
        set_resources(s, c, out);
}

/* What the status tells of the run that goes on stays as it is. */
static struct api_container_status status_of(const struct scene *s,
                                             const struct nodes__container *c) {
    struct api_container_status out = {.name = c->spec->name};
    if (is_told(c, c->restarts))
        out = *c->told;
    set_given(s, c, &out);
    out.restart_count = c->restarts;
    out.started = (struct api_opt_bool){true, c->mode == NODES__RUNNING && c->is_started};
    out.ready = c->mode == NODES__RUNNING && c->is_ready;
    if (c->role == NODES__INIT)
        out.ready = c->mode == NODES__ENDED && !c->run.exit_code;
    if (c->role == NODES__EPHEMERAL) /* they have no probes */
        out.ready = out.started.set = false;
    if (c->mode != NODES__WAITING)
        out.container_id = id_of(s, c, c->restarts);
    if (c->last.finished)
        out.last_state.terminated =
            ended(s, c, &c->last, id_of(s, c, c->restarts - (c->mode != NODES__BACKOFF)));
    set_state(s, c, &out);
    return out;
}

static int by_name(const void *a, const void *b) {
    return str_cmp(((const struct api_container_status *)a)->name,
                   ((const struct api_container_status *)b)->name);
}

/* The first ones stand in the order in which they run, others by name. */
static struct api_container_status_list statuses_of(const struct scene *s, size_t first, size_t n,
                                                    bool is_sorted) {
    struct api_container_status_list list = {arena_array(s->a, struct api_container_status, n), n};
    for (size_t i = 0; i < n; i++)
        list.v[i] = status_of(s, &s->life->v[first + i]);
    if (n && is_sorted)
        qsort(list.v, n, sizeof *list.v, by_name);
    return list;
}

static void set_ips(const struct scene *s, struct api_pod_status *status) {
    const struct nodes__pod_facts *facts = s->facts;
    if (facts->host_ip.n && !status->host_ip.n) {
        status->host_ip = facts->host_ip;
        status->host_ips.v = arena_new(s->a, struct api_host_ip);
        status->host_ips.v->ip = facts->host_ip;
        status->host_ips.n = 1;
    }
    struct str ip = s->spec->host_network ? facts->host_ip : facts->pod_ip;
    if (!ip.n || status->pod_ip.n || !nodes__has_sandbox(s->life))
        return;
    status->pod_ip = ip;
    status->pod_ips.v = arena_new(s->a, struct api_pod_ip);
    status->pod_ips.v->ip = ip;
    status->pod_ips.n = 1;
}

void nodes__write_life(struct arena *a, const struct api_object *pod,
                       const struct nodes__life *life, const struct nodes__pod_facts *facts,
                       struct api_pod_status *status) {
    const struct api_pod *body = pod->body;
    struct scene s = {a, pod, &body->spec, life, facts};
    size_t begun = life->inits + life->mains;
    status->phase = nodes__phase_of(life);
    status->observed_generation = pod->meta->generation;
    if (life->is_late) {
        status->reason = STR("DeadlineExceeded");
        status->message = STR("Pod was active on the node longer than the specified deadline");
    }
    if (!status->start_time.set)
        status->start_time = time_of(life->begun);
    set_ips(&s, status);
    status->init_container_statuses = statuses_of(&s, 0, life->inits, false);
    status->container_statuses = statuses_of(&s, life->inits, life->mains, true);
    status->ephemeral_container_statuses = statuses_of(&s, begun, life->n - begun, true);
    nodes__write_conditions(a, pod, life, facts, status);
}

void nodes__reject_status(struct arena *a, const struct api_object *pod, struct str reason,
                          struct str message, int64_t now, struct api_pod_status *status) {
    const struct api_pod_status *old = &((const struct api_pod *)pod->body)->status;
    *status = (struct api_pod_status){
        .observed_generation = pod->meta->generation,
        .phase = STR("Failed"),
        .reason = reason,
        .message = arena_printf(a, "Pod was rejected: %.*s", STR_ARG(message)),
        .conditions = old->conditions,
        .start_time = old->start_time.set ? old->start_time : nodes__time(now),
        .qos_class = old->qos_class,
        .resource_claim_statuses = old->resource_claim_statuses,
        .extended_resource_claim_status = old->extended_resource_claim_status,
        .node_allocatable_resource_claim_statuses = old->node_allocatable_resource_claim_statuses,
        .volume_health = old->volume_health,
    };
    nodes__keep_conditions(a, &status->conditions);
}
