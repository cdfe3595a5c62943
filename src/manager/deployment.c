/*
 * Deployments: looks at one with its ReplicaSets, and carries out what is planned.
 *
 * Follows k8s.io/kubernetes pkg/controller/deployment, func (*DeploymentController) syncDeployment.
 */
#include "controller/controller.h"
#include "manager/adoption_int.h"
#include "manager/deployment_int.h"
#include "manager/pods_int.h"

struct deployments {
    struct manager__base base; /* keys: Deployments */
    struct informer *pods, *sets;
};

/* One piece of work, in its arena. */
struct sync {
    struct deployments *c;
    struct work *work;
    struct events_subject subject;
    struct str version; /* resourceVersion of the Deployment that was looked at */
    struct deployment__plan plan;
    size_t unanswered; /* writes to ReplicaSets */
    bool has_failed;
};

/* The Deployment that was looked at; NULL: it has changed since, or is gone, and is looked at
 * again. */
static const struct api_object *unchanged(const struct sync *s) {
    const struct api_object *o = manager__current(s->c, &s->subject);
    return o && str_eq(o->meta->resource_version, s->version) ? o : NULL;
}

/* ---- the Deployment ---- */

static void send_status(struct sync *s) {
    const struct api_object *o = unchanged(s);
    if (!s->plan.writes_status || !o)
        return;
    struct api_object *draft = api_object_derive(o);
    struct api_deployment *d = api_own_body(draft);
    api_struct_copy(&draft->arena, &api_types[API_T_deployment_status], &s->plan.status,
                    &d->status);
    if (s->plan.revision.n)
        labels_put(
            &draft->arena, &d->metadata.annotations,
            (struct label){STR(DEPLOYMENT_REVISION), arena_str(&draft->arena, s->plan.revision)});
    work_update(s->work, draft, "status", NULL, NULL);
}

/* ---- ReplicaSets that are there ---- */

/* A ReplicaSet that gets another size. */
struct scaling {
    struct sync *sync;
    struct str name;
    int32_t from, to;
};

static void written(struct sync *s, const struct client_answer *answer, bool is_fine) {
    if (!is_fine) {
        s->has_failed = true;
        work_fail(s->work, "%.*s", STR_ARG(answer->message));
    }
    if (--s->unanswered == 0 && !s->has_failed)
        send_status(s);
}

static void set_written(void *arg, struct work *w, const struct client_answer *answer) {
    const struct scaling *op = arg;
    struct sync *s = op->sync;
    (void)w;
    if (answer->code == ERR_NONE && op->from != op->to)
        events_say_of(s->c->base.events, &s->subject, EVENTS_NORMAL, "ScalingReplicaSet",
                      "Scaled %s replica set %.*s from %d to %d", op->from < op->to ? "up" : "down",
                      STR_ARG(op->name), op->from, op->to);
    written(s, answer, answer->code == ERR_NONE);
}

static void set_deleted(void *arg, struct work *w, const struct client_answer *answer) {
    (void)w;
    written(arg, answer, answer->code == ERR_NONE || answer->code == ERR_NOT_FOUND);
}

static void copy_labels(struct arena *a, struct labels *labels) {
    struct labels old = *labels;
    labels->v = arena_array(a, struct label, old.n);
    for (size_t i = 0; i < old.n; i++)
        labels->v[i] = (struct label){arena_str(a, old.v[i].key), arena_str(a, old.v[i].value)};
}

static void send_set(struct sync *s, const struct deployment__view *v,
                     const struct deployment__set *set) {
    struct arena *a = work_arena(s->work);
    struct scaling *op = arena_new(a, struct scaling);
    *op = (struct scaling){s, arena_str(a, set->object->meta->name),
                           set->body->spec.replicas.set ? set->body->spec.replicas.v : 1,
                           set->replicas};
    struct api_object *draft = api_object_derive(set->object);
    struct api_replica_set *body = api_own_body(draft);
    if (set->is_annotated) {
        body->metadata.annotations = set->annotations;
        copy_labels(&draft->arena, &body->metadata.annotations);
        body->spec.min_ready_seconds = v->body->spec.min_ready_seconds;
    } else if (!deployment__annotate_size(v, &draft->arena, &body->metadata.annotations) &&
               op->from == op->to) {
        api_object_free(draft);
        return;
    }
    body->spec.replicas = (struct api_opt_i32){true, set->replicas};
    s->unanswered++;
    work_update(s->work, draft, NULL, set_written, op);
}

static void send_deletion(struct sync *s, const struct deployment__set *set) {
    s->unanswered++;
    work_delete(s->work, set->object, NULL, set_deleted, s);
}

/* ---- a new ReplicaSet ---- */

/* Looks at the Deployment alone, for what follows upon a creation. */
static bool look_again(struct sync *s, struct deployment__view *v) {
    *v = (struct deployment__view){.arena = work_arena(s->work),
                                   .object = unchanged(s),
                                   .gates = s->c->base.manager->gates,
                                   .now = manager__now(s->c->base.manager)};
    if (v->object)
        deployment__look(v);
    return v->object;
}

/* Its name is taken: by itself, then there is nothing to do, or by another template's. */
static void name_is_taken(struct sync *s, const struct deployment__view *v, struct str name) {
    const struct api_object *there = informer_get(s->c->sets, s->subject.namespace, name);
    if (there) {
        const struct api_owner_reference *ref = api_object_controller(there);
        const struct api_replica_set *set = there->body;
        if (ref && str_eq(ref->uid, s->subject.uid) &&
            controller_same_template(&v->body->spec.template, &set->spec.template))
            return;
        api_struct_copy(v->arena, &api_types[API_T_deployment_status], &v->body->status,
                        &s->plan.status);
        s->plan.status.collision_count.set = true;
        s->plan.status.collision_count.v++;
        s->plan.writes_status = true;
        s->plan.revision = STR("");
        send_status(s);
    }
    work_fail(s->work, "replicasets.apps \"%.*s\" already exists", STR_ARG(name));
}

static void creation_failed(struct sync *s, struct deployment__view *v, struct str name,
                            struct str message) {
    struct str text = arena_printf(v->arena, "Failed to create new replica set \"%.*s\": %.*s",
                                   STR_ARG(name), STR_ARG(message));
    s->plan.revision = STR("");
    deployment__plan_refused(v, text, &s->plan);
    if (s->plan.writes_status)
        send_status(s);
    events_say_of(s->c->base.events, &s->subject, EVENTS_WARNING, "ReplicaSetCreateError", "%.*s",
                  STR_ARG(text));
    work_fail(s->work, "%.*s", STR_ARG(message));
}

static void set_created(void *arg, struct work *w, const struct client_answer *answer) {
    const struct scaling *op = arg;
    struct sync *s = op->sync;
    struct deployment__view v;
    bool is_there = look_again(s, &v);
    if (answer->code == ERR_NONE && op->to > 0)
        events_say_of(s->c->base.events, &s->subject, EVENTS_NORMAL, "ScalingReplicaSet",
                      "Scaled up replica set %.*s from 0 to %d", STR_ARG(op->name), op->to);
    if (!is_there)
        return;
    if (answer->code == ERR_NONE) {
        deployment__plan_created(&v, op->name, &s->plan);
        send_status(s);
    } else if (answer->code == ERR_EXISTS) {
        name_is_taken(s, &v, op->name);
    } else if (manager__namespace_goes(answer)) {
        work_fail_by(w, answer);
    } else {
        creation_failed(s, &v, op->name, answer->message);
    }
}

static void send_creation(struct sync *s, const struct deployment__view *v) {
    struct arena *a = work_arena(s->work);
    struct api_object *draft = controller_replica_set_new(v->object);
    struct api_replica_set *body = api_own_body(draft);
    struct labels annotations = {0};
    struct scaling *op = arena_new(a, struct scaling);
    *op = (struct scaling){s, arena_str(a, body->metadata.name), 0, s->plan.replicas};
    deployment__annotate(v, &draft->arena, &annotations);
    deployment__annotate_size(v, &draft->arena, &annotations);
    copy_labels(&draft->arena, &annotations);
    body->metadata.annotations = annotations;
    body->spec.replicas = (struct api_opt_i32){true, s->plan.replicas};
    work_create(s->work, draft, set_created, op);
}

/* ---- one piece of work ---- */

static void carry_out(struct sync *s, struct deployment__view *v) {
    if (s->plan.again_after)
        work_again_after(s->work, s->plan.again_after);
    if (s->plan.creates) {
        send_creation(s, v);
        return;
    }
    for (size_t i = 0; i < v->n; i++) {
        if (v->sets[i].is_deleted)
            send_deletion(s, &v->sets[i]);
        else if (v->sets[i].is_updated || v->sets[i].is_annotated)
            send_set(s, v, &v->sets[i]);
    }
    if (!s->unanswered)
        send_status(s);
}

/* Are there pods of old ReplicaSets that have not ended? */
static bool has_old_pods(const struct sync *s, const struct deployment__view *v) {
    for (size_t i = 0; i < v->n; i++) {
        size_t n;
        const struct api_object *const *pods =
            informer_find(s->c->pods, INFORMER_BY_CONTROLLER, v->sets[i].object->meta->uid, &n);
        for (size_t k = 0; &v->sets[i] != v->current && k < n; k++)
            if (!api_pod_has_ended(pods[k]->body))
                return true;
    }
    return false;
}

static void look(struct sync *s, const struct api_object *o, const struct manager__objects *sets) {
    struct arena *a = work_arena(s->work);
    struct deployment__view v = {.arena = a,
                                 .object = o,
                                 .gates = s->c->base.manager->gates,
                                 .now = manager__now(s->c->base.manager),
                                 .sets = arena_array(a, struct deployment__set, sets->n),
                                 .n = sets->n};
    for (size_t i = 0; i < sets->n; i++)
        v.sets[i].object = sets->v[i];
    deployment__look(&v);
    v.has_old_pods = !v.is_rolling && has_old_pods(s, &v);
    deployment__plan(&v, &s->plan);
    carry_out(s, &v);
}

static void sync(void *self, struct work *work, const struct api_object *o) {
    struct deployments *c = self;
    struct manager__objects sets;
    struct arena *a = work_arena(work);
    if (!manager__claim(&(struct manager__claim){.manager = c->base.manager,
                                                 .work = work,
                                                 .owner = o,
                                                 .members = c->sets,
                                                 .kind = client_kind(API_T_replica_set),
                                                 .selector = manager__selector(c, o)},
                        &sets))
        return;
    struct sync *s = arena_new(a, struct sync);
    s->c = c;
    s->work = work;
    s->subject = manager__subject(work, o);
    s->version = arena_str(a, o->meta->resource_version);
    look(s, o, &sets);
}

/* ---- what informers tell ---- */

static const struct api_label_selector *selector_of(struct arena *a, const struct api_object *o) {
    (void)a;
    return ((const struct api_deployment *)o->body)->spec.selector;
}

/* A Deployment of strategy Recreate waits for its last old pod to go. */
static void pod_deleted(void *self, const struct api_object *pod) {
    struct deployments *c = self;
    const struct api_owner_reference *ref = api_object_controller(pod);
    const struct api_object *set = ref && str_is(ref->kind, "ReplicaSet")
                                       ? informer_get(c->sets, pod->meta->namespace, ref->name)
                                       : NULL;
    if (set && str_eq(set->meta->uid, ref->uid))
        manager__member_deleted(c, set);
}

const struct manager__controller manager__deployment = {
    .size = sizeof(struct deployments),
    .component = "deployment-controller",
    .queues = {{"deployment", sync, .names = API_T_deployment}},
    .kinds = {{API_T_deployment, .set = manager__add_set, .deleted = manager__add_deleted},
              {API_T_replica_set, .at = offsetof(struct deployments, sets),
               .set = manager__member_set, .deleted = manager__member_deleted},
              {API_T_pod, .at = offsetof(struct deployments, pods), .deleted = pod_deleted}},
    .selector = selector_of,
};
