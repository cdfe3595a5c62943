/*
 * What kubelets say of nodes and pods: events, worked out from the status that was and the one that
 * is about to be written.
 *
 * Follows k8s.io/kubernetes pkg/kubelet/kuberuntime, func (*kubeGenericRuntimeManager)
 * startContainer, func (*kubeGenericRuntimeManager) killContainer,
 * func (*kubeGenericRuntimeManager) doBackOff.
 * Follows k8s.io/kubernetes pkg/volume/util/operationexecutor, func (*operationGenerator)
 * GenerateMountVolumeFunc.
 */
#include "base/clock.h"
#include "nodes/kubelets_int.h"
#include "nodes/life_int.h"
#include "nodes/pod_sources_int.h"

/* Many pods that start at once say little more than one: so much is said of pods at once, and so
 * much in a second. Kubelets have such a limit each. */
enum { BURST = 1000, PER_SECOND = 100 };

/* Of more containers of a pod nothing is said. */
enum { MOST_CONTAINERS = 64 };

static bool may_speak(struct nodes *n) {
    int64_t now = net_loop_now(n->loop);
    int64_t seconds = n->event_filled ? (now - n->event_filled) / CLOCK_SECOND : BURST;
    if (seconds > 0) {
        n->event_filled = now;
        n->event_tokens += seconds < BURST ? seconds * PER_SECOND : BURST;
    }
    if (n->event_tokens > BURST)
        n->event_tokens = BURST;
    if (!n->event_tokens)
        return false;
    n->event_tokens--;
    return true;
}

/* ---- nodes ---- */

static void say_of_node(struct nodes *n, const struct api_object *node, enum events_type type,
                        const char *reason, struct str message) {
    struct events_subject subject = {node->kind, STR(""), node->meta->name, node->meta->uid};
    struct events_place place = {.host = node->meta->name};
    events_say_at(n->events, &subject, &place, type, reason, "%.*s", STR_ARG(message));
}

static bool is_ready(const struct api_node_status *status) {
    for (size_t i = 0; i < status->conditions.n; i++)
        if (str_is(status->conditions.v[i].type, "Ready"))
            return str_is(status->conditions.v[i].status, "True");
    return false;
}

void nodes__tell_status(struct nodes *n, const struct api_object *node,
                        const struct api_node_status *status) {
    AUTO(arena_release) struct arena a = {0};
    if (is_ready(status) && !is_ready(&((const struct api_node *)node->body)->status))
        say_of_node(
            n, node, EVENTS_NORMAL, "NodeReady",
            arena_printf(&a, "Node %.*s status is now: NodeReady", STR_ARG(node->meta->name)));
}

void nodes__tell_start(struct nodes *n, const struct api_object *node, struct str boot_id) {
    AUTO(arena_release) struct arena a = {0};
    say_of_node(n, node, EVENTS_NORMAL, "Starting", STR("Starting kubelet."));
    if (boot_id.n)
        say_of_node(n, node, EVENTS_WARNING, "Rebooted",
                    arena_printf(&a, "Node %.*s has been rebooted, boot id: %.*s",
                                 STR_ARG(node->meta->name), STR_ARG(boot_id)));
}

void nodes__tell_annotations(struct nodes *n, const struct api_object *old,
                             const struct api_object *o) {
    enum { MOST = 8 };
    AUTO(arena_release) struct arena a = {0};
    struct str faults[MOST];
    if (old && labels_equal(&old->meta->annotations, &o->meta->annotations))
        return;
    size_t count = nodes__annotation_faults(&a, o, faults, MOST);
    for (size_t i = 0; i < count && may_speak(n); i++)
        events_say(n->events, o, EVENTS_WARNING, "InvalidAnnotation", "%.*s", STR_ARG(faults[i]));
}

/* ---- containers ---- */

/* Somebody who says something about a container. */
struct speaker {
    struct nodes *n;
    struct arena *a;
    const struct api_object *pod;
    struct events_subject subject;
    struct events_place place;
};

static void say(struct speaker *s, enum events_type type, const char *reason, struct str message) {
    if (may_speak(s->n))
        events_say_at(s->n->events, &s->subject, &s->place, type, reason, "%.*s", STR_ARG(message));
}

static void turn_to_pod(struct speaker *s) {
    const struct api_pod *pod = s->pod->body;
    s->subject = (struct events_subject){
        .kind = s->pod->kind,
        .namespace = s->pod->meta->namespace,
        .name = s->pod->meta->name,
        .uid = s->pod->meta->uid,
    };
    s->place = (struct events_place){.host = pod->spec.node_name};
}

static void turn_to(struct speaker *s, const struct nodes__container *c) {
    static const char *const lists[] = {[NODES__INIT] = "initContainers",
                                        [NODES__SIDECAR] = "initContainers",
                                        [NODES__MAIN] = "containers",
                                        [NODES__EPHEMERAL] = "ephemeralContainers"};
    turn_to_pod(s);
    s->place.field_path =
        arena_printf(s->a, "spec.%s{%.*s}", lists[c->role], STR_ARG(c->spec->name));
}

static const struct api_container_status *find(const struct api_container_status_list *list,
                                               struct str name) {
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i].name, name))
            return &list->v[i];
    return NULL;
}

static const struct api_container_status *status_of(const struct api_pod_status *status,
                                                    const struct nodes__container *c) {
    if (c->role == NODES__MAIN)
        return find(&status->container_statuses, c->spec->name);
    return find(c->role == NODES__EPHEMERAL ? &status->ephemeral_container_statuses
                                            : &status->init_container_statuses,
                c->spec->name);
}

static void say_pulled(struct speaker *s, const struct nodes__container *c) {
    say(s, EVENTS_NORMAL, "Pulled",
        arena_printf(s->a,
                     "Container image \"%.*s\" already present on machine and can be accessed by "
                     "the pod",
                     STR_ARG(c->spec->image)));
}

static void say_start(struct speaker *s, const struct nodes__container *c) {
    say_pulled(s, c);
    say(s, EVENTS_NORMAL, "Created", STR("Container created"));
    say(s, EVENTS_NORMAL, "Started", STR("Container started"));
}

/* What became of a container that ran, and that its probes had killed. */
static void say_probes(struct speaker *s, const struct nodes__container *c, bool has_ended,
                       const struct api_container_status *new) {
    const char *what = c->wishes.fails_startup ? "startup" : "liveness";
    if (has_ended && c->wishes.killed < c->wishes.runs && !s->pod->meta->deletion_timestamp.set) {
        say(s, EVENTS_WARNING, "Unhealthy",
            arena_printf(s->a, "%s probe failed: simulated",
                         c->wishes.fails_startup ? "Startup" : "Liveness"));
        say(s, EVENTS_NORMAL, "Killing",
            arena_printf(s->a, "Container %.*s failed %s probe, will be restarted",
                         STR_ARG(c->spec->name), what));
    }
    if (!has_ended && c->is_ready && !new->ready)
        say(s, EVENTS_WARNING, "Unhealthy", STR("Readiness probe failed: simulated"));
}

static void say_backoff(struct speaker *s, const struct nodes__container *c) {
    const struct api_object_meta *meta = s->pod->meta;
    say(s, EVENTS_WARNING, "BackOff",
        arena_printf(s->a, "Back-off restarting failed container %.*s in pod %.*s_%.*s(%.*s)",
                     STR_ARG(c->spec->name), STR_ARG(meta->name), STR_ARG(meta->namespace),
                     STR_ARG(meta->uid)));
}

static bool waits(const struct api_container_status *s) {
    return s && s->state.waiting && str_is(s->state.waiting->reason, "CrashLoopBackOff");
}

static void say_changes(struct speaker *s, const struct nodes__container *was,
                        const struct api_container_status *old,
                        const struct api_container_status *new) {
    bool is_new = new->container_id.n && (!old || !str_eq(old->container_id, new->container_id));
    bool has_ended = was->mode == NODES__RUNNING && (is_new || !new->state.running);
    turn_to(s, was);
    say_probes(s, was, has_ended, new);
    if (is_new)
        say_start(s, was);
    if (waits(new) && !(waits(old) && old->restart_count == new->restart_count))
        say_backoff(s, was);
}

void nodes__tell_pod(struct nodes *n, struct arena *a, const struct nodes__pod *pod,
                     const struct api_pod_status *status) {
    static const struct nodes__pod_facts no_facts;
    const struct api_pod *body = pod->object->body;
    struct nodes__life was = nodes__read_life(a, pod->object, &no_facts);
    struct speaker s = {.n = n, .a = a, .pod = pod->object};
    for (size_t i = 0; i < was.n && i < MOST_CONTAINERS; i++) {
        const struct api_container_status *new = status_of(status, &was.v[i]);
        if (new)
            say_changes(&s, &was.v[i], status_of(&body->status, &was.v[i]), new);
    }
}

static void say_unpulled(struct speaker *s, struct str image) {
    say(s, EVENTS_NORMAL, "Pulling", arena_printf(s->a, "Pulling image \"%.*s\"", STR_ARG(image)));
    say(s, EVENTS_WARNING, "Failed",
        arena_printf(s->a, "Failed to pull image \"%.*s\": " NODES__NO_IMAGE, STR_ARG(image)));
    say(s, EVENTS_WARNING, "Failed", STR("Error: ErrImagePull"));
    say(s, EVENTS_NORMAL, "BackOff",
        arena_printf(s->a, "Back-off pulling image \"%.*s\"", STR_ARG(image)));
}

/* What kubelets say of a container that is not made, by the reason for that. */
static void say_unmade(struct speaker *s, const struct nodes__container *c,
                       const struct api_container_state_waiting *why) {
    struct str error = why->reason;
    if (str_is(why->reason, "CreateContainerConfigError")) {
        say_pulled(s, c);
        error = why->message;
    } else if (str_is(why->reason, "InvalidImageName"))
        say(s, EVENTS_WARNING, "InspectFailed", why->message);
    else if (str_is(why->reason, "ErrImageNeverPull"))
        say(s, EVENTS_WARNING, "ErrImageNeverPull", why->message);
    else if (str_is(why->reason, "ImagePullBackOff"))
        say_unpulled(s, c->spec->image);
    else
        return;
    say(s, EVENTS_WARNING, "Failed", arena_printf(s->a, "Error: %.*s", STR_ARG(error)));
}

void nodes__tell_held(struct nodes *n, struct arena *a, const struct nodes__pod *pod,
                      const struct nodes__pod_next *next, const struct api_pod_status *status) {
    static const struct nodes__pod_facts no_facts;
    struct nodes__life life = nodes__read_life(a, pod->object, &no_facts);
    struct speaker s = {.n = n, .a = a, .pod = pod->object};
    turn_to_pod(&s);
    for (size_t i = 0; i < next->unmounted_count; i++)
        say(&s, EVENTS_WARNING, "FailedMount",
            arena_printf(a, "MountVolume.SetUp failed for volume \"%.*s\" : %.*s",
                         STR_ARG(next->unmounted[i].volume), STR_ARG(next->unmounted[i].why)));
    for (size_t i = 0; i < life.n && i < MOST_CONTAINERS; i++) {
        const struct api_container_status *c = status_of(status, &life.v[i]);
        turn_to(&s, &life.v[i]);
        if (c && c->state.waiting)
            say_unmade(&s, &life.v[i], c->state.waiting);
    }
}

void nodes__tell_stop(struct nodes *n, struct nodes__pod *pod) {
    AUTO(arena_release) struct arena a = {0};
    static const struct nodes__pod_facts no_facts;
    if (pod->is_told_to_stop || !pod->object->meta->deletion_timestamp.set)
        return;
    struct nodes__life life = nodes__read_life(&a, pod->object, &no_facts);
    struct speaker s = {.n = n, .a = &a, .pod = pod->object};
    pod->is_told_to_stop = true;
    for (size_t i = 0; i < life.n && i < MOST_CONTAINERS; i++)
        if (life.v[i].mode == NODES__RUNNING) {
            turn_to(&s, &life.v[i]);
            say(&s, EVENTS_NORMAL, "Killing",
                arena_printf(&a, "Stopping container %.*s", STR_ARG(life.v[i].spec->name)));
        }
}
