/*
 * ReplicaSets and ReplicationControllers: as many pods as they ask for.
 *
 * Follows k8s.io/kubernetes pkg/controller/replicaset, func (*ReplicaSetController) syncReplicaSet.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/map.h"
#include "controller/controller.h"
#include "feature/feature.h"
#include "manager/pod_control_int.h"
#include "manager/pods_int.h"
#include "manager/replicaset_int.h"

struct replicas {
    struct manager *manager;
    const struct replicas__kind *kind;
    const struct api_kind *pod_kind;
    struct events *events;
    struct informer *pods;
    struct manager__owners owners;
};

/* One piece of work, in its arena. Informers may have younger objects when answers come. */
struct sync {
    struct replicas *c;
    struct work *work;
    struct manager__pods pods;
    int64_t generation;
    struct replicas__counts counts;
    int64_t next_check; /* in nanoseconds; 0: none is needed */
};

/* The object that is worked on as it is now, or NULL when it is gone. */
static const struct api_object *current(const struct sync *s) {
    const struct api_object *o =
        informer_get(s->c->owners.informer, s->pods.subject.namespace, s->pods.subject.name);
    return o && str_eq(o->meta->uid, s->pods.subject.uid) ? o : NULL;
}

/* ---- the status, at the end ---- */

static void send_status(struct sync *s, const struct api_object *o,
                        const struct api_replica_set_status *status) {
    struct api_object *draft = api_object_derive(o);
    s->c->kind->write_status(draft, status);
    work_send(s->work,
              &(struct client_request){.verb = REGISTRY_VERB_UPDATE,
                                       .kind = o->kind,
                                       .subresource = "status",
                                       .namespace = s->pods.subject.namespace,
                                       .name = s->pods.subject.name,
                                       .object = draft},
              NULL, NULL);
}

static void finish(void *arg) {
    struct sync *s = arg;
    const struct api_object *o = current(s);
    struct arena *a = work_arena(s->work);
    struct api_replica_set_status status;
    if (!o)
        return;
    if (replicas__status(a, s->c->kind->read(a, o), &s->counts, s->generation, &s->pods.failure,
                         manager__now(s->c->manager), &status))
        send_status(s, o, &status);
    if (s->pods.failure.reason)
        work_fail(s->work, "%.*s", STR_ARG(s->pods.failure.message));
    else if (s->next_check)
        work_again_after(s->work, s->next_check);
}

/* ---- too few ---- */

static struct api_object *make(void *arg, size_t place) {
    struct sync *s = arg;
    const struct api_object *o = current(s);
    (void)place;
    if (!o)
        return NULL;
    const struct api_replica_set *set = s->c->kind->read(work_arena(s->work), o);
    struct api_object *pod = controller_pod_new(o, &set->spec.template, STR(""));
    api_own_meta(pod)->generate_name = manager__pod_prefix(&pod->arena, o->meta->name);
    return pod;
}

/* ---- too many ---- */

/* The pods of all ReplicaSets of one Deployment, counted by their nodes. */
static void count_related(struct sync *s, const struct api_object *o, struct map *nodes,
                          int64_t *counts) {
    const struct api_owner_reference *ref = api_object_controller(o);
    struct arena *a = work_arena(s->work);
    size_t n, pod_count, used = 0;
    const struct api_object *const *sets =
        informer_find(s->c->owners.informer, INFORMER_BY_CONTROLLER, ref->uid, &n);
    const struct api_object *const *pods =
        informer_find(s->c->pods, INFORMER_BY_NAMESPACE, o->meta->namespace, &pod_count);
    const struct selector **selectors = arena_array(a, const struct selector *, n);
    for (size_t i = 0; i < n; i++)
        selectors[i] = s->c->owners.selector(a, sets[i]);
    for (size_t i = 0; i < pod_count; i++) {
        struct str node = ((const struct api_pod *)pods[i]->body)->spec.node_name;
        size_t k = 0;
        while (k < n && !selector_matches(selectors[k], &pods[i]->meta->labels))
            k++;
        if (k == n || !manager__pod_is_active(pods[i]))
            continue;
        int64_t *count = map_get(nodes, node);
        if (!count)
            map_put(nodes, node, count = &counts[used++]);
        ++*count;
    }
}

static void relate(struct sync *s, const struct api_object *o, struct manager__candidate *v,
                   size_t n) {
    if (!api_object_controller(o))
        return;
    AUTO(map_release) struct map nodes = MAP_INIT(s->c->manager->seed);
    count_related(s, o, &nodes,
                  arena_array(work_arena(s->work), int64_t, informer_count(s->c->pods) + 1));
    for (size_t i = 0; i < n; i++) {
        const struct api_pod *pod = v[i].pod->body;
        const int64_t *count = map_get(&nodes, pod->spec.node_name);
        v[i].related = count ? *count : 0;
    }
}

static void send_deletions(struct sync *s, const struct api_object *o,
                           const struct manager__objects *pods, size_t surplus) {
    struct manager__candidate *v =
        arena_array(work_arena(s->work), struct manager__candidate, pods->n);
    for (size_t i = 0; i < pods->n; i++)
        v[i].pod = pods->v[i];
    if (surplus < pods->n) {
        relate(s, o, v, pods->n);
        manager__rank_for_deletion(v, pods->n, manager__now(s->c->manager), s->c->manager->gates);
    }
    struct str *names = arena_array(work_arena(s->work), struct str, surplus);
    for (size_t i = 0; i < surplus; i++)
        names[i] = arena_str(work_arena(s->work), v[i].pod->meta->name);
    manager__pods_delete(&s->pods, names, surplus);
}

/* ---- one piece of work ---- */

static void manage(struct sync *s, const struct api_object *o, int32_t wanted,
                   const struct manager__objects *pods) {
    int64_t surplus = (int64_t)pods->n - wanted;
    if (o->meta->deletion_timestamp.set || surplus == 0) {
        finish(s);
    } else if (surplus < 0) {
        manager__pods_create(&s->pods, (size_t)-surplus);
    } else {
        send_deletions(s, o, pods, (size_t)surplus);
    }
}

/* How many pods that belong to it are on their way out. */
static struct api_opt_i32 count_terminating(const struct replicas *c, const struct api_object *o,
                                            const struct selector *selector) {
    size_t n;
    struct api_opt_i32 count = {.set = true};
    if (!c->kind->tells_terminating ||
        !feature_enabled(c->manager->gates, FEATURE_DeploymentReplicaSetTerminatingReplicas))
        return (struct api_opt_i32){0};
    const struct api_object *const *pods =
        informer_find(c->pods, INFORMER_BY_CONTROLLER, o->meta->uid, &n);
    for (size_t i = 0; i < n; i++)
        count.v += manager__pod_is_terminating(pods[i]) &&
                   selector_matches(selector, &pods[i]->meta->labels);
    return count;
}

static bool is_active(const struct api_object *owner, const struct api_object *pod) {
    (void)owner;
    return manager__pod_is_active(pod);
}

static struct sync *sync_new(struct replicas *c, struct work *work, const struct api_object *o) {
    struct sync *s = arena_new(work_arena(work), struct sync);
    s->c = c;
    s->work = work;
    s->pods = (struct manager__pods){
        .manager = c->manager,
        .work = work,
        .events = c->events,
        .subject = {o->kind, work_namespace(work), work_name(work),
                    arena_str(work_arena(work), o->meta->uid)},
        .make = make,
        .done = finish,
        .arg = s,
    };
    s->generation = o->meta->generation;
    return s;
}

static void plan_next_check(struct sync *s, const struct api_replica_set *set,
                            const struct manager__objects *pods, int64_t now) {
    int32_t seconds = set->spec.min_ready_seconds;
    if (seconds <= 0 || s->counts.ready == s->counts.available)
        return;
    s->next_check = replicas__next_check(pods, seconds, now);
    if (!s->next_check)
        s->next_check = seconds * CLOCK_SECOND;
}

static void sync(void *arg, struct work *work) {
    struct replicas *c = arg;
    const struct api_object *o =
        informer_get(c->owners.informer, work_namespace(work), work_name(work));
    struct manager__objects pods;
    if (!o)
        return;
    struct arena *a = work_arena(work);
    const struct selector *selector = c->owners.selector(a, o);
    if (!selector || !manager__claim(&(struct manager__claim){.work = work,
                                                              .owner = o,
                                                              .members = c->pods,
                                                              .kind = c->pod_kind,
                                                              .selector = selector,
                                                              .considers = is_active},
                                     &pods))
        return;
    struct sync *s = sync_new(c, work, o);
    const struct api_replica_set *set = c->kind->read(a, o);
    int64_t now = manager__now(c->manager);
    s->counts.terminating = count_terminating(c, o, selector);
    replicas__count(&s->counts, set, &pods, now);
    plan_next_check(s, set, &pods, now);
    manage(s, o, set->spec.replicas.set ? set->spec.replicas.v : 1, &pods);
}

/* ---- ReplicaSets ---- */

static const struct api_replica_set *read_replica_set(struct arena *a, const struct api_object *o) {
    (void)a;
    return o->body;
}

static void write_replica_set_status(struct api_object *draft,
                                     const struct api_replica_set_status *status) {
    struct api_replica_set *set = api_own_body(draft);
    api_struct_copy(&draft->arena, &api_types[API_T_replica_set_status], status, &set->status);
}

static const struct selector *replica_set_selector(struct arena *a, const struct api_object *o) {
    struct selector *selector;
    const struct api_replica_set *set = o->body;
    return selector_compile(a, set->spec.selector, &selector, NULL) < 0 ? NULL : selector;
}

void *replicas__start(struct manager *m, const struct replicas__kind *kind) {
    struct replicas *c = xcalloc(1, sizeof *c);
    c->manager = m;
    c->kind = kind;
    c->pod_kind = client_kind(API_T_pod);
    c->events = manager__events(m, kind->component);
    c->pods = manager__informer(m, API_T_pod);
    c->owners = (struct manager__owners){
        .queue = workqueue_new(&(struct workqueue_opts){.name = kind->queue,
                                                        .client = m->client,
                                                        .informers = m->informers,
                                                        .log = m->log,
                                                        .sync = sync,
                                                        .arg = c}),
        .kind = client_kind(kind->type),
        .informer = manager__informer(m, kind->type),
        .selector = kind->selector,
    };
    manager__owners_listen(&c->owners);
    manager__members_listen(&c->owners, c->pods);
    return c;
}

void replicas__stop(void *self) {
    struct replicas *c = self;
    workqueue_free(c->owners.queue);
    events_free(c->events);
    free(c);
}

static void *start_replica_sets(struct manager *m) {
    static const struct replicas__kind kind = {
        .type = API_T_replica_set,
        .queue = "replicaset",
        .component = "replicaset-controller",
        .tells_terminating = true,
        .read = read_replica_set,
        .write_status = write_replica_set_status,
        .selector = replica_set_selector,
    };
    return replicas__start(m, &kind);
}

const struct manager__controller manager__replicaset = {start_replica_sets, replicas__stop};
