/*
 * PodTolerationRestriction: a namespace gives its pods tolerations, and says which they may have.
 *
 * Follows k8s.io/kubernetes plugin/pkg/admission/podtolerationrestriction, func (*Plugin) Admit,
 * func (*Plugin) Validate, func extractNSTolerations.
 */
#include "registry/admission/admission_int.h"

#define DEFAULTS STR("scheduler.alpha.kubernetes.io/defaultTolerations")
#define ALLOWED  STR("scheduler.alpha.kubernetes.io/tolerationsWhitelist")

/* What Go calls a value that is no list. */
static const char *go_name(const struct json *value) {
    if (value->kind == JSON_BOOL)
        return "bool";
    if (value->kind == JSON_STRING)
        return "string";
    return value->kind == JSON_OBJECT ? "object" : "number";
}

/* The one decoder of tolerations is that of a pod. */
static struct api_object *decode(struct arena *a, struct json list) {
    struct json spec = {.kind = JSON_OBJECT}, tree = {.kind = JSON_OBJECT};
    struct api_object *o = NULL;
    json_add(a, &spec, STR("tolerations"), list);
    json_add(a, &tree, STR("apiVersion"), json_of_str(STR("v1")));
    json_add(a, &tree, STR("kind"), json_of_str(STR("Pod")));
    json_add(a, &tree, STR("spec"), spec);
    return api_object_decode(&tree, NULL, &o, NULL) < 0 ? NULL : o;
}

/* Reads a list of tolerations in JSON. */
static int read_list(struct arena *a, struct str text, struct api_toleration_list *out,
                     struct err *err) {
    static const char no_list[] = "json: cannot unmarshal %s into Go value of type []v1.Toleration";
    struct json list;
    if (json_parse(a, text, NULL, &list, err) < 0)
        return -1;
    if (list.kind != JSON_ARRAY && list.kind != JSON_NULL)
        return err_set(err, ERR_INVALID, no_list, go_name(&list));
    struct api_object *o = decode(a, list);
    if (!o)
        return err_set(err, ERR_INVALID, no_list, "array");
    const struct api_toleration_list *read = &((const struct api_pod *)o->body)->spec.tolerations;
    *out = (struct api_toleration_list){arena_array(a, struct api_toleration, read->n), read->n};
    for (size_t i = 0; i < read->n; i++)
        api_struct_copy(a, &api_types[API_T_toleration], &read->v[i], &out->v[i]);
    api_object_free(o);
    return 0;
}

/* The tolerations of an annotation of the namespace, none if it has it not. */
static bool of_namespace(struct registry__admission *m, struct str key,
                         struct api_toleration_list *out) {
    const struct api_kind *kind = registry__kind("v1", "Namespace");
    struct str name = registry__namespace_of(m);
    const struct api_object *ns = registry_view_get(m->registry->view, kind, STR(""), name);
    struct err err;
    *out = (struct api_toleration_list){0};
    if (!ns)
        return registry__miss(m, kind, name);
    const struct label *l = labels_find(&ns->meta->annotations, key);
    if (!l || !l->value.n || read_list(m->a, l->value, out, &err) == 0)
        return true;
    return registry__break_off(m, "%s", err.msg);
}

static bool validate(struct registry__admission *m) {
    const struct api_toleration_list *own = &((const struct api_pod *)m->o->body)->spec.tolerations;
    struct api_toleration_list allowed;
    if (!own->n)
        return true;
    if (!of_namespace(m, ALLOWED, &allowed))
        return false;
    if (registry__tolerations_allowed(own, &allowed))
        return true;
    return registry__break_off(m, "pod tolerations (possibly merged with namespace default "
                                  "tolerations) conflict with its namespace whitelist");
}

static struct str qos_of(const struct registry__admission *m) {
    const struct api_pod *pod = m->o->body;
    return pod->status.qos_class.n ? pod->status.qos_class
                                   : valid_qos_class(&pod->spec, m->registry->gates);
}

static void merge(struct registry__admission *m, const struct api_toleration_list *more) {
    registry__tolerations_merge(&m->o->arena,
                                &((struct api_pod *)api_own_body(m->o))->spec.tolerations, more);
}

/* The defaults of a namespace are for new pods; what has a claim to memory may stay where it is
 * short. */
static bool mutate(struct registry__admission *m) {
    struct api_toleration pressure = {.key = STR("node.kubernetes.io/memory-pressure"),
                                      .operator= STR("Exists"),
                                      .effect = STR("NoSchedule")};
    struct api_toleration_list more = {0}, all;
    if (m->operation == REGISTRY_CREATE && !of_namespace(m, DEFAULTS, &more))
        return false;
    all = (struct api_toleration_list){arena_array(m->a, struct api_toleration, more.n + 1), 0};
    for (; all.n < more.n; all.n++)
        all.v[all.n] = more.v[all.n];
    if (!str_is(qos_of(m), "BestEffort"))
        all.v[all.n++] = pressure;
    if (all.n)
        merge(m, &all);
    return validate(m);
}

const struct registry__admission_plugin registry__pod_toleration_restriction = {
    .name = "PodTolerationRestriction",
    .mutate = {[REGISTRY_CREATE] = mutate, [REGISTRY_UPDATE] = mutate},
    .validate = {[REGISTRY_CREATE] = validate, [REGISTRY_UPDATE] = validate},
    .type = API_T_pod,
    .is_off = true};
