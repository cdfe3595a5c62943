/*
 * Namespaces that go: everything in them is deleted, pods first, and then the namespace is let go.
 *
 * Follows k8s.io/kubernetes pkg/controller/namespace/deletion, func (*namespacedResourcesDeleter)
 * Delete.
 */
#include "base/clock.h"
#include "manager/controller_int.h"
#include "manager/namespace_deletion_int.h"
#include "manager/pods_int.h"

/* So much later a namespace is looked at: what is created at the last minute shall be seen. */
#define GRACE (5 * CLOCK_SECOND)

/* What has finalizers may be gone after so many seconds. */
enum { FINALIZER_ESTIMATE = 15 };

/* One piece of work, in its arena. */
struct sync {
    struct manager__base *c;
    struct work *work;
    struct str name;
    int64_t deleted_at; /* nanoseconds since the Unix epoch */
    struct namespace__content content;
    size_t unfinished; /* resources */
};

/* One resource whose objects are deleted. */
struct removal {
    struct sync *sync;
    const struct registry_resource *resource;
    int64_t estimate; /* seconds that its objects may take */
};

static bool is_pods(const struct removal *r) {
    return r->resource->kind->type == &api_types[API_T_pod];
}

/* ---- the end ---- */

static const char kubernetes[] = "kubernetes";

static void send_finalize(struct sync *s, const struct api_object *o) {
    struct api_object *draft = api_object_derive(o);
    struct api_namespace *ns = api_own_body(draft);
    struct api_strs old = ns->spec.finalizers;
    ns->spec.finalizers = (struct api_strs){arena_array(&draft->arena, struct str, old.n), 0};
    for (size_t i = 0; i < old.n; i++)
        if (!str_is(old.v[i], kubernetes))
            ns->spec.finalizers.v[ns->spec.finalizers.n++] = old.v[i];
    work_update(s->work, draft, "finalize", NULL, NULL);
}

static void conclude(struct sync *s, const struct api_object *o) {
    struct namespace__content *found = &s->content;
    if (found->errors.n)
        work_fail(s->work, "%.*s", STR_ARG(found->errors.first->text));
    else if (found->estimate > 0)
        work_again_after(s->work, (found->estimate / 2 + 1) * CLOCK_SECOND);
    else
        send_finalize(s, o);
}

static void status_answered(void *arg, struct work *w, const struct client_answer *answer) {
    struct sync *s = arg;
    if (answer->code == ERR_NONE)
        conclude(s, answer->object);
    else
        work_fail_by(w, answer);
}

static void send_status(struct sync *s, const struct api_object *o,
                        const struct api_namespace_status *status, work_answer_fn *answered) {
    struct api_object *draft = api_object_derive(o);
    struct api_namespace *ns = api_own_body(draft);
    api_struct_copy(&draft->arena, &api_types[API_T_namespace_status], status, &ns->status);
    work_update(s->work, draft, "status", answered, s);
}

/* Tells what was found. `totals`: all resources were looked at, not only pods. */
static void finish(struct sync *s, bool totals) {
    const struct api_object *o = informer_get(s->c->informer, STR(""), s->name);
    if (!o)
        return;
    struct api_namespace_status status = ((const struct api_namespace *)o->body)->status;
    if (namespace__conditions(work_arena(s->work), &s->content, totals, manager__now(s->c->manager),
                              &status))
        send_status(s, o, &status, status_answered);
    else
        conclude(s, o);
}

/* ---- one resource ---- */

static void remove_others(struct sync *s);

static void removal_done(struct removal *r) {
    struct sync *s = r->sync;
    if (r->estimate > s->content.estimate)
        s->content.estimate = r->estimate;
    if (--s->unfinished > 0)
        return;
    if (!is_pods(r))
        finish(s, true);
    else if (s->content.resources.n)
        finish(s, false); /* the rest waits for the pods */
    else
        remove_others(s);
}

static void removal_failed(struct removal *r, const struct client_answer *answer) {
    namespace__add(work_arena(r->sync->work), &r->sync->content.errors, answer->message, 1);
    removal_done(r);
}

static void note_remaining(struct removal *r, const struct client_answer *answer) {
    struct namespace__content *found = &r->sync->content;
    struct arena *a = work_arena(r->sync->work);
    struct str version = str_of(r->resource->kind->api_version);
    struct str group = registry_group_of(version);
    const char *plural = r->resource->kind->plural;
    size_t finalizers = 0;
    for (size_t i = 0; i < answer->item_count; i++) {
        finalizers += answer->items[i]->meta->finalizers.n;
        namespace__add_finalizers(a, found, answer->items[i]);
    }
    namespace__add(a, &found->resources, arena_printf(a, "%s.%.*s", plural, STR_ARG(group)),
                   answer->item_count);
    if (r->estimate)
        return;
    if (finalizers)
        r->estimate = FINALIZER_ESTIMATE;
    else
        namespace__add(
            a, &found->errors,
            arena_printf(a,
                         "unexpected items still remain in namespace: %.*s for gvr: %.*s/%.*s, "
                         "Resource=%s",
                         STR_ARG(r->sync->name), STR_ARG(group),
                         STR_ARG(str_sub(version, group.n ? group.n + 1 : 0, version.n)), plural),
            1);
}

static void remaining_listed(void *arg, struct work *w, const struct client_answer *answer) {
    struct removal *r = arg;
    (void)w;
    if (answer->code) {
        removal_failed(r, answer);
        return;
    }
    if (answer->item_count)
        note_remaining(r, answer);
    else
        r->estimate = 0;
    removal_done(r);
}

static void send_list(struct removal *r, work_answer_fn *answered) {
    work_send(r->sync->work,
              &(struct client_request){.verb = REGISTRY_VERB_LIST,
                                       .kind = r->resource->kind,
                                       .selection.namespace = r->sync->name},
              answered, r);
}

static void collection_deleted(void *arg, struct work *w, const struct client_answer *answer) {
    struct removal *r = arg;
    (void)w;
    if (answer->code)
        removal_failed(r, answer);
    else
        send_list(r, remaining_listed);
}

static void delete_collection(struct removal *r) {
    work_send(r->sync->work,
              &(struct client_request){.verb = REGISTRY_VERB_DELETE_COLLECTION,
                                       .kind = r->resource->kind,
                                       .namespace = r->sync->name,
                                       .deletion.propagation = STR("Background"),
                                       .selection.namespace = r->sync->name},
              collection_deleted, r);
}

/* How long pods may take: the longest grace of those that run, from the deletion of the namespace
 * on. */
static void pods_listed(void *arg, struct work *w, const struct client_answer *answer) {
    struct removal *r = arg;
    (void)w;
    if (answer->code) {
        removal_failed(r, answer);
        return;
    }
    for (size_t i = 0; i < answer->item_count; i++) {
        const struct api_pod *pod = answer->items[i]->body;
        struct api_opt_i64 grace = pod->spec.termination_grace_period_seconds;
        if (!api_pod_has_ended(pod) && grace.set && grace.v > r->estimate)
            r->estimate = grace.v;
    }
    if (manager__now(r->sync->c->manager) - r->sync->deleted_at >= r->estimate * CLOCK_SECOND)
        r->estimate = 0;
    delete_collection(r);
}

static struct removal *removal_new(struct sync *s, const struct registry_resource *resource) {
    struct removal *r = arena_new(work_arena(s->work), struct removal);
    *r = (struct removal){.sync = s, .resource = resource};
    s->unfinished++;
    return r;
}

static void remove_others(struct sync *s) {
    size_t n;
    const struct registry_resource *rows = registry_resources(&n);
    for (size_t i = 0; i < n; i++)
        if (rows[i].kind->namespaced && manager__is_deletable(&rows[i]) &&
            rows[i].kind->type != &api_types[API_T_pod])
            delete_collection(removal_new(s, &rows[i]));
}

/* ---- one namespace ---- */

static void sync(void *self, struct work *work, const struct api_object *o) {
    if (!o->meta->deletion_timestamp.set)
        return;
    const struct api_namespace *ns = o->body;
    struct sync *s = arena_new(work_arena(work), struct sync);
    s->c = self;
    s->work = work;
    s->name = work_name(work);
    s->deleted_at = manager__time_ns(o->meta->deletion_timestamp);
    if (!str_is(ns->status.phase, "Terminating")) {
        struct api_namespace_status status = ns->status;
        status.phase = STR("Terminating");
        send_status(s, o, &status, NULL);
    } else if (ns->spec.finalizers.n) {
        send_list(removal_new(s, registry_resource_of(client_kind(API_T_pod))), pods_listed);
    }
}

static void namespace_set(void *self, const struct api_object *old, const struct api_object *o) {
    struct manager__base *c = self;
    (void)old;
    if (o->meta->deletion_timestamp.set)
        workqueue_add_after(c->queue, STR(""), o->meta->name, GRACE);
}

const struct manager__controller manager__namespace = {
    .size = sizeof(struct manager__base),
    .queues = {{"namespace", sync, .names = API_T_namespace, .workers = 10,
                .most_delay = 60 * CLOCK_SECOND}},
    .kinds = {{API_T_namespace, .set = namespace_set}},
};
