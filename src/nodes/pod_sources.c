/*
 * What is missing of the ConfigMaps and Secrets that a pod refers to.
 *
 * Follows k8s.io/kubernetes pkg/kubelet, func (*Kubelet) makeEnvironmentVariables.
 * Follows k8s.io/kubernetes pkg/volume/configmap, func MakePayload.
 * Follows k8s.io/kubernetes pkg/volume/secret, func MakePayload.
 * Follows k8s.io/kubernetes pkg/volume/projected, func (*projectedVolumeMounter) collectData.
 */
#include "nodes/pod_sources_int.h"

#include "base/limits.h"
#include "base/map.h"

static const struct {
    const char *resource, *kind; /* as errors about objects and about keys have them */
} words[NODES__SOURCES] = {
    [NODES__CONFIG_MAP] = {"configmap", "ConfigMap"},
    [NODES__SECRET] = {"secret", "Secret"},
};

/* Pods say that they can do without. */
static bool is_set(struct api_opt_bool optional) {
    return optional.set && optional.v;
}

/* ---- lookups ---- */

/* Somebody who needs them. */
struct need {
    struct arena *a;
    struct nodes__sources *sources;
    struct str namespace;
};

/* A thing that is looked for. */
struct wanted {
    enum nodes__source source;
    struct str name;
    bool is_optional;
};

static void note_lacking(struct nodes__sources *s, enum nodes__source source, struct str name) {
    for (size_t i = 0; i < s->n; i++)
        if (s->lacking[i].source == source && str_eq(s->lacking[i].name, name))
            return;
    if (s->n < NODES__MOST_LACKING)
        s->lacking[s->n++] = (struct nodes__source_name){source, name};
}

/* The object, or NULL; then *why says what is wrong, unless nothing is: it is optional. */
static const struct api_object *look_up(const struct need *need, const struct wanted *w,
                                        struct str *why) {
    const struct api_object *o = NULL;
    *why = (struct str){0};
    if (!need->sources->find(need->sources->arg, w->source, need->namespace, w->name, &o))
        *why = need->sources->is_late
                   ? arena_printf(need->a,
                                  "failed to sync %s cache: timed out waiting for the condition",
                                  words[w->source].resource)
                   : STR("");
    else if (!o && !w->is_optional)
        *why = arena_printf(need->a, "%s \"%.*s\" not found", words[w->source].resource,
                            STR_ARG(w->name));
    if (why->p)
        note_lacking(need->sources, w->source, w->name);
    return o;
}

static const struct labels *data_of(enum nodes__source source, const struct api_object *o) {
    return source == NODES__SECRET ? &((const struct api_secret *)o->body)->data
                                   : &((const struct api_config_map *)o->body)->data;
}

/* ---- the environment ---- */

static struct str need_all(const struct need *need, const struct wanted *w) {
    struct str why;
    (void)look_up(need, w, &why);
    return why;
}

static struct str need_key(const struct need *need, const struct wanted *w, struct str key) {
    struct str why;
    const struct api_object *o = look_up(need, w, &why);
    if (!o || w->is_optional || labels_find(data_of(w->source, o), key))
        return why;
    note_lacking(need->sources, w->source, w->name);
    return arena_printf(need->a, "couldn't find key %.*s in %s %.*s/%.*s", STR_ARG(key),
                        words[w->source].kind, STR_ARG(need->namespace), STR_ARG(w->name));
}

static struct str env_from_fault(const struct need *need, const struct api_env_from_source *from) {
    const struct api_config_map_env_source *map = from->config_map_ref;
    const struct api_secret_env_source *secret = from->secret_ref;
    if (map)
        return need_all(need, &(struct wanted){NODES__CONFIG_MAP, map->local_object_reference.name,
                                               is_set(map->optional)});
    if (secret)
        return need_all(need, &(struct wanted){NODES__SECRET, secret->local_object_reference.name,
                                               is_set(secret->optional)});
    return (struct str){0};
}

static struct str variable_fault(const struct need *need, const struct api_env_var *variable) {
    const struct api_env_var_source *from = variable->value_from;
    if (variable->value.n || !from)
        return (struct str){0};
    const struct api_config_map_key_selector *map = from->config_map_key_ref;
    const struct api_secret_key_selector *secret = from->secret_key_ref;
    if (map)
        return need_key(need,
                        &(struct wanted){NODES__CONFIG_MAP, map->local_object_reference.name,
                                         is_set(map->optional)},
                        map->key);
    if (secret)
        return need_key(need,
                        &(struct wanted){NODES__SECRET, secret->local_object_reference.name,
                                         is_set(secret->optional)},
                        secret->key);
    return (struct str){0};
}

struct str nodes__env_fault(struct arena *a, struct nodes__sources *sources,
                            const struct api_object *pod, const struct api_container *c) {
    struct need need = {a, sources, pod->meta->namespace};
    struct str why = {0};
    for (size_t i = 0; i < c->env_from.n && !why.p; i++)
        why = env_from_fault(&need, &c->env_from.v[i]);
    for (size_t i = 0; i < c->env.n && !why.p; i++)
        why = variable_fault(&need, &c->env.v[i]);
    return why;
}

/* ---- volumes ---- */

static bool has_key(enum nodes__source source, const struct api_object *o, struct str key) {
    return labels_find(data_of(source, o), key) ||
           (source == NODES__CONFIG_MAP &&
            labels_find(&((const struct api_config_map *)o->body)->binary_data, key));
}

/* Of an object that is not there and need not be, no key is there nor needed. */
static struct str payload_fault(const struct need *need, const struct wanted *w,
                                const struct api_key_to_path_list *items) {
    struct str why;
    const struct api_object *o = look_up(need, w, &why);
    for (size_t i = 0; o && !w->is_optional && i < items->n; i++) {
        if (has_key(w->source, o, items->v[i].key))
            continue;
        note_lacking(need->sources, w->source, w->name);
        return arena_printf(need->a,
                            w->source == NODES__SECRET
                                ? "references non-existent secret key: %.*s"
                                : "configmap references non-existent config key: %.*s",
                            STR_ARG(items->v[i].key));
    }
    return why;
}

static struct str projection_fault(const struct need *need, const struct api_volume_projection *p) {
    if (p->secret)
        return payload_fault(need,
                             &(struct wanted){NODES__SECRET, p->secret->local_object_reference.name,
                                              is_set(p->secret->optional)},
                             &p->secret->items);
    if (p->config_map)
        return payload_fault(need,
                             &(struct wanted){NODES__CONFIG_MAP,
                                              p->config_map->local_object_reference.name,
                                              is_set(p->config_map->optional)},
                             &p->config_map->items);
    return (struct str){0};
}

/* Several faults of a volume are one text, in which each stands once.
 *
 * Follows k8s.io/apimachinery pkg/util/errors, func (aggregate) Error. */
static struct str projected_fault(const struct need *need,
                                  const struct api_projected_volume_source *source) {
    struct str whys[NODES__MOST_LACKING];
    size_t n = 0;
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    for (size_t i = 0; i < source->sources.n && n < NODES__MOST_LACKING; i++) {
        struct str why = projection_fault(need, &source->sources.v[i]);
        if (why.p && !why.n)
            return why;
        for (size_t k = 0; k < n && why.p; k++)
            if (str_eq(whys[k], why))
                why = (struct str){0};
        if (why.p)
            whys[n++] = why;
    }
    if (n < 2)
        return n ? whys[0] : (struct str){0};
    for (size_t i = 0; i < n; i++)
        buf_addf(&text, "%s%.*s", i ? ", " : "[", STR_ARG(whys[i]));
    buf_add_char(&text, ']');
    return arena_str(need->a, buf_view(&text));
}

static struct str volume_fault(const struct need *need, const struct api_volume_source *v) {
    if (v->config_map)
        return payload_fault(need,
                             &(struct wanted){NODES__CONFIG_MAP,
                                              v->config_map->local_object_reference.name,
                                              is_set(v->config_map->optional)},
                             &v->config_map->items);
    if (v->secret)
        return payload_fault(
            need,
            &(struct wanted){NODES__SECRET, v->secret->secret_name, is_set(v->secret->optional)},
            &v->secret->items);
    return v->projected ? projected_fault(need, v->projected) : (struct str){0};
}

static bool has_source(const struct api_volume_source *v) {
    return v->config_map || v->secret || v->projected;
}

static void add_mounts(struct map *mounted, const struct api_container *c) {
    for (size_t i = 0; i < c->volume_mounts.n; i++)
        map_put_const(mounted, c->volume_mounts.v[i].name, c);
}

/* The names of volumes that containers mount: others are left alone.
 *
 * Follows k8s.io/kubernetes pkg/volume/util, func GetPodVolumeNames. */
static void find_mounted(const struct api_pod_spec *spec, struct map *mounted) {
    for (size_t i = 0; i < spec->init_containers.n; i++)
        add_mounts(mounted, &spec->init_containers.v[i]);
    for (size_t i = 0; i < spec->containers.n; i++)
        add_mounts(mounted, &spec->containers.v[i]);
    for (size_t i = 0; i < spec->ephemeral_containers.n; i++)
        add_mounts(mounted, &spec->ephemeral_containers.v[i].container);
}

size_t nodes__mount_faults(struct arena *a, struct nodes__sources *sources,
                           const struct api_object *pod, struct nodes__mount_fault *out) {
    const struct api_pod_spec *spec = &((const struct api_pod *)pod->body)->spec;
    struct need need = {a, sources, pod->meta->namespace};
    struct map mounted = MAP_INIT(sources->seed);
    bool is_known = false;
    size_t n = 0;
    for (size_t i = 0; i < spec->volumes.n && n < NODES__MOST_LACKING; i++) {
        const struct api_volume *v = &spec->volumes.v[i];
        if (!has_source(&v->volume_source))
            continue;
        if (!is_known)
            find_mounted(spec, &mounted);
        is_known = true;
        struct str why = map_get_const(&mounted, v->name) ? volume_fault(&need, &v->volume_source)
                                                          : (struct str){0};
        if (why.p)
            out[n++] = (struct nodes__mount_fault){v->name, why};
    }
    map_release(&mounted);
    return n;
}
