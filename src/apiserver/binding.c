/*
 * Binding a pod to a node.
 *
 * Follows k8s.io/kubernetes pkg/registry/core/pod/storage, func (*BindingREST) Create,
 * func (*BindingREST) setPodNodeAndMetadata.
 */
#include "apiserver/apiserver_int.h"

/* Why the pod cannot be bound. */
static struct str obstacle(const struct apiserver__call *c, const struct api_object *stored) {
    const struct api_pod *pod = stored->body;
    struct str name = stored->meta->name;
    if (stored->meta->deletion_timestamp.set)
        return arena_printf(c->r->arena, "pod %.*s is being deleted, cannot be assigned to a host",
                            STR_ARG(name));
    if (pod->spec.node_name.n)
        return arena_printf(c->r->arena, "pod %.*s is already assigned to node \"%.*s\"",
                            STR_ARG(name), STR_ARG(pod->spec.node_name));
    if (pod->spec.scheduling_gates.n)
        return arena_printf(c->r->arena, "pod %.*s has non-empty .spec.schedulingGates",
                            STR_ARG(name));
    return (struct str){0};
}

static struct registry_failure conflict(const struct apiserver__call *c, struct str why) {
    struct registry_failure f =
        registry_conflict(c->r->arena, c->r->resource->kind, c->r->name, why);
    f.kind = STR("pods/binding");
    f.message =
        arena_printf(c->r->arena, "Operation cannot be fulfilled on pods/binding \"%.*s\": %.*s",
                     STR_ARG(c->r->name), STR_ARG(why));
    return f;
}

static struct registry_failure check_binding(const struct apiserver__call *c,
                                             const struct api_binding *b) {
    struct arena *a = c->r->arena;
    if (!str_eq(b->metadata.name, c->r->name))
        return registry_bad_request(STR("name in URL does not match name in Binding object"));
    if (b->target.kind.n && !str_is(b->target.kind, "Node"))
        return apiserver__failure(a, ERR_UNTOLD,
                                  "target.kind: Unsupported value: \"%.*s\": supported values: "
                                  "\"Node\", \"<empty>\"",
                                  STR_ARG(b->target.kind));
    if (!b->target.name.n)
        return apiserver__failure(a, ERR_UNTOLD, "target.name: Required value");
    return (struct registry_failure){.code = ERR_NONE};
}

static struct registry_failure check_pod(const struct apiserver__call *c,
                                         const struct api_binding *b,
                                         const struct api_object *stored) {
    struct registry_failure f = apiserver__check_uid(c, b->metadata.uid, stored);
    if (!f.code)
        f = apiserver__check_version(c, b->metadata.resource_version, stored);
    if (f.code)
        return f;
    struct str why = obstacle(c, stored);
    return why.p ? conflict(c, why) : (struct registry_failure){.code = ERR_NONE};
}

static void add_all(struct arena *a, struct labels *to, const struct labels *from) {
    for (size_t i = 0; i < from->n; i++)
        labels_put(a, to,
                   (struct label){arena_str(a, from->v[i].key), arena_str(a, from->v[i].value)});
}

/* Sets a condition of the pod, whose list becomes a new one. True when it is another than before.
 */
static void set_scheduled(struct api_object *o, struct api_time now) {
    struct api_pod_status *status = &((struct api_pod *)api_own_body(o))->status;
    struct api_pod_condition_list old = status->conditions, list;
    list.v = arena_array(&o->arena, struct api_pod_condition, old.n + 1);
    list.n = 0;
    for (size_t i = 0; i < old.n; i++)
        if (!str_is(old.v[i].type, "PodScheduled"))
            list.v[list.n++] = old.v[i];
    list.v[list.n++] = (struct api_pod_condition){
        .type = STR("PodScheduled"), .status = STR("True"), .last_transition_time = now};
    status->conditions = list;
}

static void bind(struct apiserver__call *c, const struct api_binding *b,
                 const struct api_object *stored) {
    struct api_object *o = api_object_copy(stored);
    struct api_pod *pod = api_own_body(o);
    pod->spec.node_name = arena_str(&o->arena, b->target.name);
    pod->status.nominated_node_name = STR("");
    add_all(&o->arena, &pod->metadata.annotations, &b->metadata.annotations);
    add_all(&o->arena, &pod->metadata.labels, &b->metadata.labels);
    set_scheduled(o, c->request.now);
    apiserver__put(c, o, 201);
}

void apiserver__bind(struct apiserver__call *c) {
    const struct api_binding *b = c->r->object->body;
    struct registry_failure f = registry_admit_posted(&c->s->registry, &c->request, c->r->arena,
                                                      c->r->resource->kind, c->r->object);
    if (!f.code)
        f = check_binding(c, b);
    const struct api_object *stored = apiserver__stored(c);
    if (!f.code)
        f = stored ? check_pod(c, b, stored)
                   : registry_not_found(c->r->arena, c->r->resource->kind, c->r->name);
    if (f.code) {
        apiserver__fail(c->out, f);
        return;
    }
    bind(c, b, stored);
    c->out->answer = APISERVER_SUCCESS;
}
