/*
 * Which objects of the API a pod refers to, as far as pods of a kubelet's own files may not.
 *
 * Follows k8s.io/kubernetes pkg/api/pod, func VisitPodSecretNames, func VisitPodConfigmapNames,
 * func HasAPIObjectReference.
 */
#include "registry/admission/admission_int.h"

bool registry__is_mirror(const struct api_object *pod) {
    return labels_find(&pod->meta->annotations, STR("kubernetes.io/config.mirror"));
}

const struct api_container *registry__container_at(const struct api_pod_spec *spec, size_t i) {
    if (i < spec->init_containers.n)
        return &spec->init_containers.v[i];
    i -= spec->init_containers.n;
    if (i < spec->containers.n)
        return &spec->containers.v[i];
    i -= spec->containers.n;
    return i < spec->ephemeral_containers.n ? &spec->ephemeral_containers.v[i].container : NULL;
}

static bool takes_secret(const struct api_container *c) {
    for (size_t i = 0; i < c->env_from.n; i++)
        if (c->env_from.v[i].secret_ref &&
            c->env_from.v[i].secret_ref->local_object_reference.name.n)
            return true;
    for (size_t i = 0; i < c->env.n; i++) {
        const struct api_env_var_source *from = c->env.v[i].value_from;
        if (from && from->secret_key_ref && from->secret_key_ref->local_object_reference.name.n)
            return true;
    }
    return false;
}

static bool takes_config_map(const struct api_container *c) {
    for (size_t i = 0; i < c->env_from.n; i++)
        if (c->env_from.v[i].config_map_ref &&
            c->env_from.v[i].config_map_ref->local_object_reference.name.n)
            return true;
    for (size_t i = 0; i < c->env.n; i++) {
        const struct api_env_var_source *from = c->env.v[i].value_from;
        if (from && from->config_map_key_ref &&
            from->config_map_key_ref->local_object_reference.name.n)
            return true;
    }
    return false;
}

static bool is_named(const struct api_local_object_reference *ref) {
    return ref && ref->name.n;
}

static bool projects_secret(const struct api_projected_volume_source *p) {
    for (size_t i = 0; i < p->sources.n; i++)
        if (p->sources.v[i].secret && p->sources.v[i].secret->local_object_reference.name.n)
            return true;
    return false;
}

/* A volume has one source; of those that have more, the first in upstream's order counts. */
static bool mounts_secret(const struct api_volume_source *v) {
    if (v->azure_file)
        return v->azure_file->secret_name.n;
    if (v->cephfs)
        return is_named(v->cephfs->secret_ref);
    if (v->cinder)
        return is_named(v->cinder->secret_ref);
    if (v->flex_volume)
        return is_named(v->flex_volume->secret_ref);
    if (v->projected)
        return projects_secret(v->projected);
    if (v->rbd)
        return is_named(v->rbd->secret_ref);
    if (v->secret)
        return v->secret->secret_name.n;
    if (v->scale_io)
        return is_named(v->scale_io->secret_ref);
    if (v->iscsi)
        return is_named(v->iscsi->secret_ref);
    if (v->storageos)
        return is_named(v->storageos->secret_ref);
    return v->csi && is_named(v->csi->node_publish_secret_ref);
}

static bool mounts_config_map(const struct api_volume_source *v) {
    for (size_t i = 0; v->projected && i < v->projected->sources.n; i++) {
        const struct api_config_map_projection *map = v->projected->sources.v[i].config_map;
        if (map && map->local_object_reference.name.n)
            return true;
    }
    return !v->projected && v->config_map && v->config_map->local_object_reference.name.n;
}

bool registry__pod_has_secrets(const struct api_pod_spec *spec) {
    const struct api_container *c;
    for (size_t i = 0; i < spec->image_pull_secrets.n; i++)
        if (spec->image_pull_secrets.v[i].name.n)
            return true;
    for (size_t i = 0; (c = registry__container_at(spec, i)); i++)
        if (takes_secret(c))
            return true;
    for (size_t i = 0; i < spec->volumes.n; i++)
        if (mounts_secret(&spec->volumes.v[i].volume_source))
            return true;
    return false;
}

static bool has_config_maps(const struct api_pod_spec *spec) {
    const struct api_container *c;
    for (size_t i = 0; (c = registry__container_at(spec, i)); i++)
        if (takes_config_map(c))
            return true;
    for (size_t i = 0; i < spec->volumes.n; i++)
        if (mounts_config_map(&spec->volumes.v[i].volume_source))
            return true;
    return false;
}

/* ---- volumes ---- */

/* Sources that need nothing of the API. */
static bool is_plain(const struct api_volume_source *v) {
    return v->aws_elastic_block_store || v->azure_disk || v->cephfs || v->cinder ||
           v->downward_api || v->empty_dir || v->fc || v->flex_volume || v->flocker ||
           v->gce_persistent_disk || v->git_repo || v->host_path || v->image || v->iscsi ||
           v->nfs || v->photon_persistent_disk || v->portworx_volume || v->quobyte || v->rbd ||
           v->scale_io || v->storageos || v->vsphere_volume;
}

static const char *of_projection(const struct api_volume_projection *s) {
    if (s->config_map)
        return "configmaps (via projected volumes)";
    if (s->secret)
        return "secrets (via projected volumes)";
    if (s->service_account_token)
        return "serviceaccounts (via projected volumes)";
    if (s->cluster_trust_bundle)
        return "clustertrustbundles";
    if (s->pod_certificate)
        return "podcertificates";
    return s->downward_api ? NULL : "";
}

static const char *of_projected(const struct api_projected_volume_source *p) {
    for (size_t i = 0; i < p->sources.n; i++) {
        const char *what = of_projection(&p->sources.v[i]);
        if (what)
            return what;
    }
    return NULL;
}

static const char *of_volume(const struct api_volume_source *v) {
    if (is_plain(v))
        return NULL;
    if (v->config_map)
        return "configmaps (via configmap volumes)";
    if (v->secret)
        return "secrets (via secret volumes)";
    if (v->csi)
        return "csidrivers (via CSI volumes)";
    if (v->glusterfs)
        return "endpoints (via glusterFS volumes)";
    if (v->persistent_volume_claim)
        return "persistentvolumeclaims";
    if (v->ephemeral)
        return "persistentvolumeclaims (via ephemeral volumes)";
    if (v->azure_file)
        return "secrets (via azureFile volumes)";
    return v->projected ? of_projected(v->projected) : "";
}

/* A source that nobody knows is an error of its own. */
static struct registry__reference of_volumes(const struct api_pod_spec *spec) {
    for (size_t i = 0; i < spec->volumes.n; i++) {
        const struct api_volume *v = &spec->volumes.v[i];
        const char *what = of_volume(&v->volume_source);
        if (what && *what)
            return (struct registry__reference){.what = what};
        if (what)
            return (struct registry__reference){.unknown = v->volume_source.projected
                                                               ? "unknown source for projected "
                                                                 "volume"
                                                               : "unknown volume type for volume ",
                                                .volume = v->name};
    }
    return (struct registry__reference){0};
}

struct registry__reference registry__pod_reference(const struct api_pod_spec *spec) {
    if (spec->service_account_name.n)
        return (struct registry__reference){.what = "serviceaccounts"};
    if (registry__pod_has_secrets(spec))
        return (struct registry__reference){.what = "secrets"};
    if (has_config_maps(spec))
        return (struct registry__reference){.what = "configmaps"};
    if (spec->resource_claims.n)
        return (struct registry__reference){.what = "resourceclaims"};
    return of_volumes(spec);
}
