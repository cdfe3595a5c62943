/*
 * What controllers make of the template of a workload: pods, and a short text that tells templates
 * apart.
 *
 * Follows k8s.io/kubernetes pkg/controller, func GetPodFromTemplate.
 * Follows k8s.io/kubernetes pkg/controller, func ComputeHash.
 *
 * The letters are upstream's, but what is hashed is JSON and not Go's structs, so that the texts
 * are others.
 */
#include "api/names.h"
#include "api/object.h"
#include "codec/json.h"
#include "controller/controller.h"

void controller_owner_set(struct api_object *o, const struct api_object *owner) {
    struct api_owner_reference *ref = arena_new(&o->arena, struct api_owner_reference);
    *ref = (struct api_owner_reference){
        .api_version = str_of(owner->kind->api_version),
        .kind = str_of(owner->kind->kind),
        .name = arena_str(&o->arena, owner->meta->name),
        .uid = arena_str(&o->arena, owner->meta->uid),
        .controller = {true, true},
        .block_owner_deletion = {true, true},
    };
    api_own_meta(o)->owner_references = (struct api_owner_reference_list){ref, 1};
}

struct api_object *controller_pod_new(const struct api_object *owner,
                                      const struct api_pod_template_spec *template,
                                      struct str name) {
    struct api_object *o = api_object_new(api_kind_find(STR("v1"), STR("Pod")));
    struct api_pod *pod = api_own_body(o);
    struct api_object_meta meta;
    api_struct_copy(&o->arena, &api_types[API_T_object_meta], &template->metadata, &meta);
    api_struct_copy(&o->arena, &api_types[API_T_pod_spec], &template->spec, &pod->spec);
    pod->metadata = (struct api_object_meta){
        .name = name,
        .namespace = arena_str(&o->arena, owner->meta->namespace),
        .labels = meta.labels,
        .annotations = meta.annotations,
        .finalizers = meta.finalizers,
    };
    controller_owner_set(o, owner);
    return o;
}

enum { LONGEST_TEMPLATE = 64 << 20 };

static uint32_t fnv1a(uint32_t hash, const void *bytes, size_t n) {
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const unsigned char *)bytes)[i]) * 16777619U;
    return hash;
}

struct str controller_template_hash(struct arena *a, const struct api_pod_template_spec *template,
                                    const int32_t *collisions) {
    static const char alphabet[] = NAMES_LETTERS;
    AUTO(arena_release) struct arena scratch = {0};
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_TEMPLATE);
    struct json tree = api_struct_encode(&scratch, &api_types[API_T_pod_template_spec], template);
    json_write(&text, &tree, NULL);
    if (collisions)
        buf_add_i64(&text, *collisions);
    struct str digits = arena_printf(&scratch, "%u", fnv1a(2166136261U, text.p, text.n));
    char *letters = arena_alloc(a, digits.n);
    for (size_t i = 0; i < digits.n; i++)
        letters[i] = alphabet[(unsigned char)digits.p[i] % (sizeof alphabet - 1)];
    return (struct str){letters, digits.n};
}

static void write_template(struct buf *out, const struct api_pod_template_spec *template) {
    AUTO(arena_release) struct arena a = {0};
    struct api_pod_template_spec copy = *template;
    struct labels labels = {arena_array(&a, struct label, template->metadata.labels.n), 0};
    for (size_t i = 0; i < template->metadata.labels.n; i++)
        if (!str_is(template->metadata.labels.v[i].key, "pod-template-hash"))
            labels.v[labels.n++] = template->metadata.labels.v[i];
    copy.metadata.labels = labels;
    struct json tree = api_struct_encode(&a, &api_types[API_T_pod_template_spec], &copy);
    json_write(out, &tree, NULL);
}

/* Follows k8s.io/kubernetes pkg/controller/deployment/util, func EqualIgnoreHash. */
bool controller_same_template(const struct api_pod_template_spec *x,
                              const struct api_pod_template_spec *y) {
    AUTO(buf_release) struct buf a = BUF_INIT(LONGEST_TEMPLATE);
    AUTO(buf_release) struct buf b = BUF_INIT(LONGEST_TEMPLATE);
    write_template(&a, x);
    write_template(&b, y);
    return str_eq(buf_view(&a), buf_view(&b));
}

/* Follows k8s.io/kubernetes pkg/controller/deployment, func generateReplicaSetName. */
static struct str replica_set_name(struct arena *a, struct str deployment, struct str hash) {
    enum { LONGEST_NAME = 253 };
    struct str head = str_sub(deployment, 0, LONGEST_NAME - 1 - hash.n);
    return arena_printf(a, "%.*s-%.*s", STR_ARG(head), STR_ARG(hash));
}

struct api_object *controller_replica_set_new(const struct api_object *o) {
    const struct api_deployment *d = o->body;
    const struct api_opt_i32 *collisions = &d->status.collision_count;
    struct api_object *made = api_object_new(api_kind_find(STR("apps/v1"), STR("ReplicaSet")));
    struct api_replica_set *set = api_own_body(made);
    struct arena *a = &made->arena;
    struct label hash = {
        STR("pod-template-hash"),
        controller_template_hash(a, &d->spec.template, collisions->set ? &collisions->v : NULL)};
    set->metadata.name = replica_set_name(a, o->meta->name, hash.value);
    set->metadata.namespace = arena_str(a, o->meta->namespace);
    set->spec.replicas = d->spec.replicas;
    set->spec.min_ready_seconds = d->spec.min_ready_seconds;
    api_struct_copy(a, &api_types[API_T_pod_template_spec], &d->spec.template, &set->spec.template);
    labels_put(a, &set->spec.template.metadata.labels, hash);
    set->metadata.labels = set->spec.template.metadata.labels;
    set->spec.selector = arena_new(a, struct api_label_selector);
    if (d->spec.selector)
        api_struct_copy(a, &api_types[API_T_label_selector], d->spec.selector, set->spec.selector);
    labels_put(a, &set->spec.selector->match_labels, hash);
    controller_owner_set(made, o);
    return made;
}
