/*
 * Binding a pod to a node.
 *
 * Follows k8s.io/kubernetes pkg/registry/core/pod/storage, func (*BindingREST) Create,
 * func (*BindingREST) setPodNodeAndMetadata, func (*LegacyBindingREST) Create.
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

/* All errors in one text, as Go's aggregates have it. */
static struct registry_failure refuse(struct arena *a, const struct valid_errs *errs) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < errs->n; i++) {
        buf_add(&text, i ? STR(", ") : STR(""));
        buf_add(&text, errs->v[i].text);
    }
    struct str all = buf_view(&text);
    return apiserver__failure(a, ERR_UNTOLD, errs->n > 1 ? "[%.*s]" : "%.*s", STR_ARG(all));
}

static struct registry_failure check_binding(const struct apiserver__call *c,
                                             const struct api_binding *b) {
    struct valid_errs errs = VALID_ERRS_INIT(c->r->arena);
    if (!str_eq(b->metadata.name, c->r->name))
        return registry_bad_request(STR("name in URL does not match name in Binding object"));
    valid_pod_binding(b, &errs);
    return errs.n ? refuse(c->r->arena, &errs) : (struct registry_failure){.code = ERR_NONE};
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
    struct labels more = labels_copy(a, from);
    labels_merge(a, to, more.v, more.n);
}

/* Follows k8s.io/kubernetes pkg/api/v1/pod, func UpdatePodCondition. */
static void set_scheduled(struct api_object *o, struct api_time now) {
    struct api_pod_status *status = &((struct api_pod *)api_own_body(o))->status;
    struct api_pod_condition_list old = status->conditions, list = {0};
    struct api_pod_condition scheduled = {
        .type = STR("PodScheduled"), .status = STR("True"), .last_transition_time = now};
    size_t at = old.n;
    list.v = arena_array(&o->arena, struct api_pod_condition, old.n + 1);
    for (; list.n < old.n; list.n++) {
        list.v[list.n] = old.v[list.n];
        if (at == old.n && str_is(old.v[list.n].type, "PodScheduled"))
            at = list.n;
    }
    if (at == old.n)
        list.n++;
    else if (str_is(old.v[at].status, "True"))
        scheduled.last_transition_time = old.v[at].last_transition_time;
    list.v[at] = scheduled;
    status->conditions = list;
}

static void bind(struct apiserver__call *c, const struct api_binding *b,
                 const struct api_object *stored) {
    const struct feature_set *gates = c->s->opts.gates;
    struct api_object *o = api_object_copy(stored);
    struct api_pod *pod = api_own_body(o);
    pod->spec.node_name = arena_str(&o->arena, b->target.name);
    if (feature_enabled(gates, FEATURE_ClearingNominatedNodeNameAfterBinding))
        pod->status.nominated_node_name = STR("");
    add_all(&o->arena, &pod->metadata.annotations, &b->metadata.annotations);
    if (feature_enabled(gates, FEATURE_PodTopologyLabelsAdmission))
        add_all(&o->arena, &pod->metadata.labels, &b->metadata.labels);
    set_scheduled(o, c->request.now);
    apiserver__put(c, o, 201);
}

void apiserver__bind(struct apiserver__call *c) {
    const struct api_binding *b = c->r->object->body;
    struct registry_failure f = registry_admit(
        &c->s->registry, &c->request, c->r->arena,
        &(struct registry_subject){.resource = c->r->resource->kind, .object = c->r->object});
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

void apiserver__bind_any(struct apiserver__call *c) {
    struct apiserver_request of_pod = *c->r;
    struct apiserver__call call = *c;
    of_pod.resource =
        apiserver_catalog_of(c->s->opts.catalog, api_kind_find(STR("v1"), STR("Pod")));
    of_pod.name = c->r->object->meta->name;
    api_own_meta(c->r->object)->uid = STR(""); /* a name is all that it says of the pod */
    call.r = &of_pod;
    call.request.name = of_pod.name;
    call.request.subresource = STR("binding"); /* which admission knows */
    apiserver__bind(&call);
}
