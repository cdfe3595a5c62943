/*
 * ReplicaSets and ReplicationControllers: as many pods as they ask for.
 *
 * Follows k8s.io/kubernetes pkg/controller/replicaset, func (*ReplicaSetController) syncReplicaSet.
 */
#include "base/clock.h"
#include "base/map.h"
#include "controller/controller.h"
#include "feature/feature.h"
#include "manager/members_int.h"
#include "manager/pod_control_int.h"
#include "manager/pods_int.h"
#include "manager/replicaset_int.h"

struct replicas {
    struct manager__base base; /* keys: ReplicaSets, or ReplicationControllers */
    struct informer *pods;
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
    return manager__current(s->c, &s->pods.subject);
}

static const struct replicas__kind *kind_of(const struct replicas *c) {
    return c->base.row->variant;
}

/* ---- the status, at the end ---- */

static void send_status(struct sync *s, const struct api_object *o,
                        const struct api_replica_set_status *status) {
    struct api_object *draft = api_object_derive(o);
    kind_of(s->c)->write_status(draft, status);
    work_update(s->work, draft, "status", NULL, NULL);
}

static void finish(void *arg) {
    struct sync *s = arg;
    const struct api_object *o = current(s);
    struct arena *a = work_arena(s->work);
    struct api_replica_set_status status;
    if (!o)
        return;
    if (replicas__status(a, kind_of(s->c)->read(a, o), &s->counts, s->generation, &s->pods.failure,
                         manager__now(s->c->base.manager), &status))
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
    const struct api_replica_set *set = kind_of(s->c)->read(work_arena(s->work), o);
    struct api_object *pod = controller_pod_new(o, &set->spec.template, STR(""));
    api_own_meta(pod)->generate_name = manager__pod_prefix(&pod->arena, o->meta->name);
    return pod;
}

/* ---- too many ---- */

/* The pods of all ReplicaSets of one Deployment, each once, counted by their nodes. */
static void count_related(struct sync *s, const struct api_object *o, struct map *nodes,
                          int64_t *counts) {
    const struct replicas *c = s->c;
    struct manager *m = c->base.manager;
    struct members *all = manager__members(m, c->pods, false);
    AUTO(map_release) struct map seen = MAP_INIT(m->seed);
    size_t n, used = 0;
    const struct api_object *const *sets =
        informer_find(c->base.informer, INFORMER_BY_CONTROLLER, api_object_controller(o)->uid, &n);
    for (size_t i = 0; i < n; i++) {
        struct manager__objects pods = members__find(all, work_arena(s->work), o->meta->namespace,
                                                     manager__selector(c, sets[i]));
        for (size_t k = 0; k < pods.n; k++) {
            struct str node = ((const struct api_pod *)pods.v[k]->body)->spec.node_name;
            if (!manager__pod_is_active(pods.v[k]) ||
                map_put_const(&seen, pods.v[k]->meta->uid, pods.v[k]))
                continue;
            int64_t *count = map_get(nodes, node);
            if (!count)
                map_put(nodes, node, count = &counts[used++]);
            ++*count;
        }
    }
}

static void relate(struct sync *s, const struct api_object *o, struct manager__candidate *v,
                   size_t n) {
    if (!api_object_controller(o))
        return;
    AUTO(map_release) struct map nodes = MAP_INIT(s->c->base.manager->seed);
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
        manager__rank_for_deletion(v, pods->n, manager__now(s->c->base.manager),
                                   s->c->base.manager->gates);
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
    if (!kind_of(c)->tells_terminating ||
        !feature_enabled(c->base.manager->gates, FEATURE_DeploymentReplicaSetTerminatingReplicas))
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
        .manager = c->base.manager,
        .work = work,
        .events = c->base.events,
        .subject = manager__subject(work, o),
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

static void sync(void *self, struct work *work, const struct api_object *o) {
    struct replicas *c = self;
    struct manager__objects pods;
    struct arena *a = work_arena(work);
    const struct selector *selector = manager__selector(c, o);
    if (!manager__claim(&(struct manager__claim){.manager = c->base.manager,
                                                 .work = work,
                                                 .owner = o,
                                                 .members = c->pods,
                                                 .kind = client_kind(API_T_pod),
                                                 .selector = selector,
                                                 .considers = is_active},
                        &pods))
        return;
    struct sync *s = sync_new(c, work, o);
    const struct api_replica_set *set = kind_of(c)->read(a, o);
    int64_t now = manager__now(c->base.manager);
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

static const struct api_label_selector *replica_set_selector(struct arena *a,
                                                             const struct api_object *o) {
    (void)a;
    return ((const struct api_replica_set *)o->body)->spec.selector;
}

/* ---- both ---- */

static const struct replicas__kind replica_sets = {
    .tells_terminating = true,
    .read = read_replica_set,
    .write_status = write_replica_set_status,
};

const struct manager__controller manager__replicaset = {
    .size = sizeof(struct replicas),
    .variant = &replica_sets,
    .component = "replicaset-controller",
    .queues = {{"replicaset", sync, .names = API_T_replica_set}},
    .kinds = {{API_T_replica_set, .set = manager__add_set, .deleted = manager__add_deleted},
              {API_T_pod, .at = offsetof(struct replicas, pods), .set = manager__member_set,
               .deleted = manager__member_deleted}},
    .selector = replica_set_selector,
};
const struct manager__controller manager__replicationcontroller = {
    .size = sizeof(struct replicas),
    .variant = &replicas__controllers,
    .component = "replication-controller",
    .queues = {{"replicationmanager", sync, .names = API_T_replication_controller}},
    .kinds = {{API_T_replication_controller, .set = manager__add_set,
               .deleted = manager__add_deleted},
              {API_T_pod, .at = offsetof(struct replicas, pods), .set = manager__member_set,
               .deleted = manager__member_deleted}},
    .selector = replicas__controller_selector,
};
