/*
 * Objects that say by their kind alone what becomes of them: kinds that nobody serves, those that
 * have no say in where pods go, and custom resources, of which some would make pods.
 */
#include "api/object.h"
#include "sim/cluster.h"

static struct str text_at(const struct json *object, struct str key, struct str fallback) {
    const struct json *v = object ? json_get(object, key) : NULL;
    return v && v->kind == JSON_STRING && v->n ? json_str(v) : fallback;
}

/* What a server says to a kind that no resource has. */
static void refuse_unmapped(struct sim_cluster *c, const struct api_type_meta *names,
                            const struct sim_source *at, const struct registry_failure *f) {
    c->refused++;
    c->opts.remark(c->opts.ctx, &(struct sim_remark){.at = *at, .failure = f, .names = names});
}

bool sim_cluster_needs(const struct api_kind *kind) {
    static const enum api_type_id types[] = {
        API_T_pod,
        API_T_node,
        API_T_namespace,
        API_T_persistent_volume,
        API_T_service,
        API_T_persistent_volume_claim,
        API_T_replica_set,
        API_T_replication_controller,
        API_T_deployment,
        API_T_daemon_set,
        API_T_stateful_set,
        API_T_job,
        API_T_cron_job,
        API_T_pod_disruption_budget,
        API_T_storage_class,
        API_T_priority_class,
        API_T_csi_node,
        API_T_csi_driver,
        API_T_csi_storage_capacity,
        API_T_volume_attachment,
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (kind->type == &api_types[types[i]])
            return true;
    return false;
}

/* Is there a template with containers in it, as Rollouts and their like have one? */
static bool has_pod_template(const struct json *v, unsigned depth) {
    enum { DEEPEST_TEMPLATE = 8 };
    if ((v->kind != JSON_OBJECT && v->kind != JSON_ARRAY) || depth > DEEPEST_TEMPLATE)
        return false;
    const struct json *spec = v->kind == JSON_OBJECT ? json_get(v, STR("spec")) : NULL;
    const struct json *containers =
        depth && spec && spec->kind == JSON_OBJECT ? json_get(spec, STR("containers")) : NULL;
    if (containers && containers->kind == JSON_ARRAY)
        return true;
    for (uint32_t i = 0; i < v->n; i++)
        if (has_pod_template(v->kind == JSON_ARRAY ? &v->items[i] : &v->members[i].value,
                             depth + 1))
            return true;
    return false;
}

static void keep_custom(struct sim_cluster *c, const struct json *tree, struct str api_version,
                        struct str kind, const struct sim_source *source) {
    const struct json *meta = json_get(tree, STR("metadata"));
    struct sim_custom custom = {.api_version = arena_str(&c->arena, api_version),
                                .kind = arena_str(&c->arena, kind),
                                .name = arena_str(&c->arena, text_at(meta, STR("name"), STR(""))),
                                .uid = arena_str(&c->arena, text_at(meta, STR("uid"), STR(""))),
                                .source = *source};
    custom.source.file = arena_str(&c->arena, source->file);
    if (has_pod_template(tree, 0))
        vec_push(&c->customs, custom);
}

bool sim__take_by_kind(struct sim_cluster *c, const struct json *tree,
                       const struct api_decode_opts *decode, const struct sim_source *source) {
    AUTO(arena_release) struct arena a = {0};
    struct str kind = text_at(tree, STR("kind"), decode->kind);
    struct str api_version = text_at(tree, STR("apiVersion"), decode->api_version);
    const struct json *meta = json_get(tree, STR("metadata"));
    const struct api_kind *known = api_kind_find(api_version, kind);
    if (!kind.n || !api_version.n || (known && sim_cluster_needs(known)))
        return false;
    enum registry_standing standing = registry_standing_of(api_version, kind);
    bool is_stored = text_at(meta, STR("uid"), STR("")).n;
    if (standing == REGISTRY_CUSTOM)
        keep_custom(c, tree, api_version, kind, source);
    if (standing == REGISTRY_UNMAPPED && !is_stored) {
        struct registry_failure f =
            registry_no_match(&a, api_version, kind, text_at(meta, STR("namespace"), STR("")),
                              text_at(meta, STR("name"), STR("")));
        refuse_unmapped(c, &(struct api_type_meta){.api_version = api_version, .kind = kind},
                        source, &f);
    }
    return true;
}

/* ---- custom resources, when all is known ---- */

static bool owns_anything(const struct sim_cluster *c, struct str uid) {
    for (size_t i = 0; uid.n && i < c->items.n; i++) {
        const struct api_object *o = c->items.v[i].object;
        for (size_t j = 0; o && j < o->meta->owner_references.n; j++)
            if (str_eq(o->meta->owner_references.v[j].uid, uid))
                return true;
    }
    return false;
}

/* Whoever has a template of pods would have pods, and nobody knows which: unless its controller has
 * made some, and they are in the input. */
void sim__check_customs(struct sim_cluster *c) {
    for (size_t i = 0; i < c->customs.n; i++) {
        const struct sim_custom *m = &c->customs.v[i];
        AUTO(arena_release) struct arena a = {0};
        if (owns_anything(c, m->uid))
            continue;
        sim__refuse(c, &m->source,
                    arena_printf(&a,
                                 "%.*s \"%.*s\": its pods are not made: %.*s is not a kind that "
                                 "Berth knows; add the pods that its controller makes, or a "
                                 "Deployment with its template, or go on without them: --skip=%.*s",
                                 STR_ARG(m->kind), STR_ARG(m->name), STR_ARG(m->kind),
                                 STR_ARG(m->kind)));
    }
}
