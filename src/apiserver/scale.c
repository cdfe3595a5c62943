/*
 * Scale: how many replicas a workload has, as an object of its own.
 *
 * Follows k8s.io/kubernetes pkg/registry/apps/deployment/storage, func scaleFromDeployment,
 * func (*scaleUpdatedObjectInfo) UpdatedObject.
 */
#include "api/patch.h"
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

/* The Scale that a patch of the stored one gives. NULL: it was refused. */
static struct api_object *patched(struct apiserver__call *c, const struct api_object *stored) {
    struct arena *a = c->r->arena;
    struct api_object *old = apiserver__scale_of(stored), *o = NULL;
    struct json tree = api_object_encode(old, a);
    struct api_patch_body body = {c->r->patch, c->r->patch_has_duplicates, NULL};
    struct api_patched out;
    struct api_patch_failure f;
    struct api_faults faults;
    if (c->r->patch_type == APISERVER_JSON_PATCH)
        f = api_patch_json(a, &tree, &body, &out);
    else if (c->r->patch_type == APISERVER_STRATEGIC_PATCH)
        f = api_patch_strategic(a, old->type, &tree, &body, &out);
    else
        f = api_patch_merge(a, &tree, &body, &out);
    api_faults_init(&faults, a);
    if (f.code)
        apiserver__fail(c->out, (struct registry_failure){.code = f.code, .message = f.message});
    else if (api_object_decode(&out.tree, NULL, &o, &faults) < 0)
        apiserver__fail(c->out, registry_refuse_faults(&faults));
    api_object_free(old);
    return o;
}

static struct registry_failure check(const struct apiserver__call *c, const struct api_scale *scale,
                                     const struct api_object *stored) {
    if (scale->spec.replicas < 0)
        return registry_invalid_scale(c->r->arena, stored->meta->name, scale->spec.replicas);
    return apiserver__check_uid(c, scale->metadata.uid, stored);
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
    struct api_object *wanted;
    if (!stored) {
        apiserver__not_found(c);
        return;
    }
    wanted = c->r->verb == REGISTRY_VERB_PATCH ? patched(c, stored) : c->r->object;
    if (!wanted)
        return;
    c->r->object = wanted;
    const struct api_scale *scale = wanted->body;
    struct registry_failure f = {.code = ERR_NONE};
    if (c->r->verb == REGISTRY_VERB_UPDATE)
        f = apiserver__check_name(c, wanted);
    if (!f.code)
        f = check(c, scale, stored);
    if (f.code) {
        apiserver__fail(c->out, f);
        return;
    }
    struct api_object *draft = api_object_copy(stored);
    struct parts p;
    if (!find_parts(api_own_body(draft), draft->type, &p))
        BUG("a kind without replicas has a scale");
    *p.replicas = (struct api_opt_i32){true, scale->spec.replicas};
    api_own_meta(draft)->resource_version =
        arena_str(&draft->arena, scale->metadata.resource_version);
    apiserver__replace(c, draft, stored);
    show_scale(c);
}
