/*
 * The life of a pod's containers as its status shows it.
 *
 * Follows k8s.io/kubernetes pkg/kubelet, func (*Kubelet) convertToAPIContainerStatuses.
 */
#include "codec/time.h"
#include "nodes/life_int.h"

#include "base/clock.h"
#include "nodes/kubelets_int.h"

struct scene {
    struct arena *a;
    const struct api_object *pod;
    const struct api_pod_spec *spec;
    const struct nodes__life *life;
};

static struct api_time time_of(int64_t seconds) {
    return (struct api_time){.sec = seconds, .set = true};
}

/* A text that differs for each pod, container and run, as those of a runtime do. */
static struct str id_of(const struct scene *s, struct str name, int32_t restarts) {
    struct str what = arena_printf(s->a, "%.*s/%.*s/%d", STR_ARG(s->pod->meta->uid), STR_ARG(name),
                                   (int)restarts);
    unsigned long long v[4];
    for (size_t i = 0; i < 4; i++)
        v[i] = str_hash(what, i);
    return arena_printf(s->a, "containerd://%016llx%016llx%016llx%016llx", v[0], v[1], v[2], v[3]);
}

static struct api_container_state_terminated *ended(const struct scene *s,
                                                    const struct nodes__run *run, struct str id) {
    struct api_container_state_terminated *t =
        arena_new(s->a, struct api_container_state_terminated);
    t->exit_code = run->exit_code;
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

static struct str backoff_message(const struct scene *s, struct str container) {
    AUTO(buf_release) struct buf text = BUF_INIT(64);
    const struct api_object_meta *meta = s->pod->meta;
    time_write_duration(&text, nodes__backoff_seconds(s->life->restarts) * CLOCK_SECOND);
    return arena_printf(s->a, "back-off %.*s restarting failed container=%.*s pod=%.*s_%.*s(%.*s)",
                        STR_ARG(buf_view(&text)), STR_ARG(container), STR_ARG(meta->name),
                        STR_ARG(meta->namespace), STR_ARG(meta->uid));
}

static struct api_container_status new_status(const struct api_container *c) {
    return (struct api_container_status){
        .name = c->name,
        .image = c->image,
        .image_id = c->image,
        .started = {true, false},
    };
}

/* Nothing is scarce: a container has been given what it asks for, also if that has changed. */
static void set_resources(const struct scene *s, const struct api_container *c,
                          struct api_container_status *out) {
    out->allocated_resources = c->resources.requests;
    out->resources = arena_new(s->a, struct api_resource_requirements);
    *out->resources = c->resources;
}

static struct api_container_status lived(const struct scene *s, const struct api_container *c) {
    const struct nodes__life *life = s->life;
    struct api_container_status out = new_status(c);
    bool has_inits = s->spec->init_containers.n > 0;
    out.restart_count = life->restarts;
    out.container_id = id_of(s, c->name, life->restarts);
    if (life->last.finished)
        out.last_state.terminated = ended(s, &life->last, id_of(s, c->name, life->restarts - 1));
    switch (life->mode) {
    case NODES__RUNNING:
        out.state.running = arena_new(s->a, struct api_container_state_running);
        out.state.running->started_at = time_of(life->run.started);
        out.ready = out.started.v = true;
        set_resources(s, c, &out);
        break;
    case NODES__BACKOFF:
        out.state.waiting = waiting(s, STR("CrashLoopBackOff"), backoff_message(s, c->name));
        break;
    case NODES__ENDED:
        out.state.terminated = ended(s, &life->run, out.container_id);
        break;
    case NODES__NEW:
    case NODES__CREATING:
        out.container_id = (struct str){0};
        out.state.waiting = waiting(
            s, has_inits ? STR("PodInitializing") : STR("ContainerCreating"), (struct str){0});
        break;
    }
    return out;
}

/* A container that runs before the others has ended well as soon as these live. */
static struct api_container_status initialised(const struct scene *s,
                                               const struct api_container *c) {
    struct nodes__run run = {s->life->begun, s->life->begun, 0};
    if (str_is(c->restart_policy, "Always") || s->life->mode <= NODES__CREATING)
        return lived(s, c);
    struct api_container_status out = new_status(c);
    out.container_id = id_of(s, c->name, 0);
    out.state.terminated = ended(s, &run, out.container_id);
    out.ready = true;
    return out;
}

static void set_containers(const struct scene *s, struct api_pod_status *status) {
    const struct api_container_list *inits = &s->spec->init_containers;
    const struct api_container_list *all = &s->spec->containers;
    struct api_container_status *v = arena_array(s->a, struct api_container_status, all->n);
    for (size_t i = 0; i < all->n; i++)
        v[i] = lived(s, &all->v[i]);
    status->container_statuses = (struct api_container_status_list){v, all->n};
    if (!inits->n)
        return;
    v = arena_array(s->a, struct api_container_status, inits->n);
    for (size_t i = 0; i < inits->n; i++)
        v[i] = initialised(s, &inits->v[i]);
    status->init_container_statuses = (struct api_container_status_list){v, inits->n};
}

static void set_ips(const struct scene *s, const struct nodes__ips *ips,
                    struct api_pod_status *status) {
    if (ips->host.n && !status->host_ip.n) {
        status->host_ip = ips->host;
        status->host_ips.v = arena_new(s->a, struct api_host_ip);
        status->host_ips.v->ip = ips->host;
        status->host_ips.n = 1;
    }
    struct str ip = s->spec->host_network ? ips->host : ips->pod;
    if (!ip.n || status->pod_ip.n || s->life->mode < NODES__RUNNING)
        return;
    status->pod_ip = ip;
    status->pod_ips.v = arena_new(s->a, struct api_pod_ip);
    status->pod_ips.v->ip = ip;
    status->pod_ips.n = 1;
}

static struct str phase_of(const struct nodes__life *life) {
    switch (life->mode) {
    case NODES__NEW:
    case NODES__CREATING:
        return STR("Pending");
    case NODES__RUNNING:
    case NODES__BACKOFF:
        return STR("Running");
    case NODES__ENDED:
        break;
    }
    return life->run.exit_code || life->is_late ? STR("Failed") : STR("Succeeded");
}

void nodes__write_life(struct arena *a, const struct api_object *pod,
                       const struct nodes__life *life, const struct nodes__ips *ips, int64_t now,
                       struct api_pod_status *status) {
    const struct api_pod *body = pod->body;
    struct scene s = {a, pod, &body->spec, life};
    status->phase = phase_of(life);
    status->observed_generation = pod->meta->generation;
    if (life->is_late) {
        status->reason = STR("DeadlineExceeded");
        status->message = STR("Pod was active on the node longer than the specified deadline");
    }
    if (!status->start_time.set)
        status->start_time = time_of(life->begun);
    set_ips(&s, ips, status);
    set_containers(&s, status);
    nodes__write_conditions(a, pod, life, now, status);
}

void nodes__reject_status(struct arena *a, const struct api_object *pod, struct str reason,
                          struct str message, int64_t now, struct api_pod_status *status) {
    const struct api_pod *body = pod->body;
    *status = body->status;
    status->phase = STR("Failed");
    status->reason = reason;
    status->message = arena_printf(a, "Pod was rejected: %.*s", STR_ARG(message));
    status->observed_generation = pod->meta->generation;
    if (!status->start_time.set)
        status->start_time = nodes__time(now);
    nodes__keep_conditions(a, &status->conditions);
}
