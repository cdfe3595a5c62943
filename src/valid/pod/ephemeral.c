/*
 * pods/ephemeralcontainers: containers that are added to a pod that runs, and never change.
 *
 * Follows k8s.io/kubernetes pkg/registry/core/pod, func (podEphemeralContainersStrategy)
 * PrepareForUpdate.
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidatePodEphemeralContainersUpdate.
 */
#include "valid/pod/pod_int.h"

void valid__ephemeral_prepare(struct api_object *o, const struct api_object *old,
                              const struct valid_opts *opts) {
    struct api_pod *pod = api_own_body(o);
    const struct api_pod *was = old->body;
    struct api_ephemeral_container_list wanted = pod->spec.ephemeral_containers;
    api_struct_copy(&o->arena, &api_types[API_T_pod_spec], &was->spec, &pod->spec);
    api_struct_copy(&o->arena, &api_types[API_T_pod_status], &was->status, &pod->status);
    valid__keep_meta(o, old);
    pod->spec.ephemeral_containers = wanted;
    valid__drop_disabled(&pod->spec, &pod->metadata.annotations, &was->spec, opts->gates);
    if (!valid__equal(API_T_pod_spec, &pod->spec, &was->spec))
        pod->metadata.generation++;
}

static void check_kept(struct valid *v, const struct path *p,
                       const struct api_ephemeral_container *was,
                       const struct api_ephemeral_container *now) {
    struct str name = valid__go_quoted(v->errs->a, was->container.name);
    if (!now)
        valid__forbidden(v, p, "existing ephemeral containers %.*s may not be removed\n",
                         STR_ARG(name));
    else if (!valid__equal(API_T_ephemeral_container, was, now)) {
        struct str diff = valid__diff(v->errs->a, API_T_ephemeral_container, was, now);
        valid__forbidden(v, p, "existing ephemeral containers %.*s may not be changed%.*s",
                         STR_ARG(name), STR_ARG(diff));
    }
}

/* Patches do not keep the order, so that containers are found by their names; of two with one name
 * the last counts. */
static void check_containers(struct valid *v, const struct path *p,
                             const struct api_ephemeral_container_list *list,
                             const struct api_ephemeral_container_list *old) {
    struct seen by_name;
    seen_init(&by_name);
    for (size_t i = list->n; i-- > 0;)
        if (!seen_get(&by_name, list->v[i].container.name))
            seen_put(&by_name, list->v[i].container.name, &list->v[i]);
    for (size_t i = 0; i < old->n; i++)
        check_kept(v, p, &old->v[i], seen_get(&by_name, old->v[i].container.name));
    seen_release(&by_name);
}

void valid__ephemeral_check(struct valid *v, const struct api_object *o,
                            const struct api_object *old) {
    const struct api_pod *pod = o->body, *was = old->body;
    const struct path *meta = AT(NULL, "metadata");
    struct pod_rules rules = valid__pod_rules(v->gates, &was->spec, &was->metadata);
    if (labels_find(&was->metadata.annotations, STR("kubernetes.io/config.mirror"))) {
        valid__forbidden(v, AT_KEY(NULL, STR("")),
                         "static pods do not support ephemeral containers");
        return;
    }
    valid__finalizer_names(v, AT(meta, "finalizers"), &pod->metadata.finalizers);
    valid__pod_meta_and_spec(v, pod, &rules);
    valid__pod_annotations_update(v, AT(meta, "annotations"), &pod->metadata.annotations,
                                  &was->metadata.annotations);
    check_containers(v, AT(AT(NULL, "spec"), "ephemeralContainers"),
                     &pod->spec.ephemeral_containers, &was->spec.ephemeral_containers);
}
