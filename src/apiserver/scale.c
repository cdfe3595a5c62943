/*
 * Scale: how many replicas a workload has, as an object of its own.
 *
 * Follows k8s.io/kubernetes pkg/registry/apps/deployment/storage, func scaleFromDeployment,
 * func (*scaleUpdatedObjectInfo) UpdatedObject.
 */
#include "api/managed.h"
#include "apiserver/apiserver_int.h"

/* Where a workload has what a Scale tells. */
struct parts {
    struct api_opt_i32 *replicas;
    int32_t current;
    const struct api_label_selector *selector;
    const struct labels *labels; /* instead of a selector */
};

static bool find_parts(void *body, const struct api_type *type, struct parts *out) {
    *out = (struct parts){0};
    if (type == &api_types[API_T_deployment]) {
        struct api_deployment *o = body;
        *out = (struct parts){&o->spec.replicas, o->status.replicas, o->spec.selector, NULL};
    } else if (type == &api_types[API_T_replica_set]) {
        struct api_replica_set *o = body;
        *out = (struct parts){&o->spec.replicas, o->status.replicas, o->spec.selector, NULL};
    } else if (type == &api_types[API_T_stateful_set]) {
        struct api_stateful_set *o = body;
        *out = (struct parts){&o->spec.replicas, o->status.replicas, o->spec.selector, NULL};
    } else if (type == &api_types[API_T_replication_controller]) {
        struct api_replication_controller *o = body;
        *out = (struct parts){&o->spec.replicas, o->status.replicas, NULL, &o->spec.selector};
    }
    return out->replicas;
}

static struct str selector_text(struct arena *a, const struct parts *p) {
    AUTO(arena_release) struct arena scratch = {0};
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct selector *sel = NULL;
    if (p->selector && selector_compile(&scratch, p->selector, &sel, NULL) == 0)
        selector_write(&text, sel);
    for (size_t i = 0; p->labels && i < p->labels->n; i++)
        buf_addf(&text, "%s%.*s=%.*s", i ? "," : "", STR_ARG(p->labels->v[i].key),
                 STR_ARG(p->labels->v[i].value));
    return arena_str(a, buf_view(&text));
}

struct api_object *apiserver__scale_of(const struct api_object *o) {
    struct api_object *copy = api_object_copy(o);
    struct api_object *out = api_object_new(api_kind_find(STR("autoscaling/v1"), STR("Scale")));
    struct api_scale *scale = api_own_body(out);
    struct parts p;
    if (!find_parts(api_own_body(copy), o->type, &p))
        BUG("a kind without replicas has a scale");
    scale->metadata = (struct api_object_meta){
        .name = arena_str(&out->arena, o->meta->name),
        .namespace = arena_str(&out->arena, o->meta->namespace),
        .uid = arena_str(&out->arena, o->meta->uid),
        .resource_version = arena_str(&out->arena, o->meta->resource_version),
        .creation_timestamp = o->meta->creation_timestamp,
    };
    scale->spec.replicas = p.replicas->v;
    scale->status.replicas = p.current;
    scale->status.selector = selector_text(&out->arena, &p);
    api_object_free(copy);
    return out;
}

/* ---- writing ---- */

/* What the request makes of the Scale as it is, which has its managers. It is the caller's; NULL:
 * it is refused, and *failure tells why. */
static struct api_object *wanted_scale(struct apiserver__call *c, const struct api_object *now,
                                       const struct api_object *stored,
                                       struct registry_failure *failure) {
    struct api_object *o = NULL;
    *failure = (struct registry_failure){.code = ERR_NONE};
    if (c->r->verb == REGISTRY_VERB_PATCH && c->r->patch_type != APISERVER_APPLY_PATCH)
        return apiserver__patched(c, now, failure);
    if (c->r->verb == REGISTRY_VERB_PATCH) {
        *failure = apiserver__applied(c, now->kind, now, &o);
        return o;
    }
    o = c->r->object;
    c->r->object = NULL;
    *failure = apiserver__check_name(c, o);
    if (!failure->code)
        *failure = apiserver__check_uid(c, o->meta->uid, stored);
    apiserver__note_manager(c, now, o);
    return o;
}

/* Is it meant for this workload? A patch is refused in other words than an update. */
static struct registry_failure check(const struct apiserver__call *c, const struct api_scale *scale,
                                     const struct api_object *stored) {
    const struct api_kind *kind = c->r->resource->kind;
    struct arena *a = c->r->arena;
    struct str group = registry_group_of(str_of(kind->api_version));
    struct str wanted = scale->metadata.uid, is = stored->meta->uid;
    if (scale->spec.replicas < 0)
        return registry_invalid_scale(a, stored->meta->name, scale->spec.replicas);
    if (!wanted.n || str_eq(wanted, is))
        return (struct registry_failure){.code = ERR_NONE};
    struct str resource = arena_printf(a, "%s/scale", kind->plural);
    return (struct registry_failure){
        .code = ERR_CONFLICT,
        .group = group,
        .kind = resource,
        .name = stored->meta->name,
        .message = arena_printf(a,
                                "Operation cannot be fulfilled on %.*s%s%.*s \"%.*s\": "
                                "Precondition failed: UID in precondition: %.*s, UID in object "
                                "meta: %.*s",
                                STR_ARG(resource), group.n ? "." : "", STR_ARG(group),
                                STR_ARG(stored->meta->name), STR_ARG(wanted), STR_ARG(is))};
}

/* The workload with the replicas, the version and the managers of the Scale. */
static struct api_object *scaled(const struct apiserver__call *c, const struct api_object *wanted,
                                 const struct api_object *stored) {
    const struct api_scale *scale = wanted->body;
    struct api_object *draft = api_object_copy(stored);
    struct parts p;
    if (!find_parts(api_own_body(draft), draft->type, &p))
        BUG("a kind without replicas has a scale");
    *p.replicas = (struct api_opt_i32){true, scale->spec.replicas};
    api_own_meta(draft)->resource_version =
        arena_str(&draft->arena, scale->metadata.resource_version);
    api_managed_from_scale(c->r->resource->kind, wanted, stored, draft);
    return draft;
}

/* Answers with the Scale of what was stored instead. */
static void show_scale(struct apiserver__call *c) {
    const struct api_object *stored = c->out->object;
    if (c->out->answer != APISERVER_OBJECT)
        return;
    c->out->object = api_publish(apiserver__scale_of(stored));
    api_object_unref(stored);
}

void apiserver__scale(struct apiserver__call *c) {
    const struct api_object *stored = apiserver__stored(c);
    struct registry_failure f;
    if (!stored) {
        apiserver__not_found(c);
        return;
    }
    struct api_object *now = apiserver__scale_of(stored);
    api_managed_to_scale(c->r->resource->kind, stored, now);
    struct api_object *wanted = wanted_scale(c, now, stored, &f);
    if (!f.code)
        f = check(c, wanted->body, stored);
    if (f.code)
        apiserver__fail(c->out, f);
    else {
        apiserver__replace(c, scaled(c, wanted, stored), stored);
        show_scale(c);
    }
    api_object_free(wanted);
    api_object_free(now);
}
