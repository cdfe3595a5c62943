/*
 * Volumes of a pod: names, and exactly one source each. The table has upstream's order; the rules
 * of most sources are those of sources.c, the others are in files of their own.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateVolumes,
 * func validateVolumeSource.
 */
#include <stddef.h>

#include "valid/pod/container_int.h"

void valid__file_mode(struct valid *v, const struct path *p, const struct api_opt_i32 *mode) {
    if (mode->set && (mode->v < 0 || mode->v > 0777))
        valid__invalid(v, p, VALUE_I64(mode->v),
                       "must be a number between 0 and 0777 (octal), both inclusive");
}

/* ---- sources that look at more than themselves ---- */

bool valid__had_empty_image(const struct api_pod_spec *old) {
    for (size_t i = 0; i < old->volumes.n; i++) {
        const struct api_image_volume_source *image = old->volumes.v[i].volume_source.image;
        if (image && !image->reference.n)
            return true;
    }
    return false;
}

static void check_image(const struct volume_view *view, const struct path *p, const void *source) {
    const struct api_image_volume_source *s = source;
    if (!s->reference.n && !view->had.empty_image)
        valid__required(view->v, AT(p, "reference"), NO_DETAIL);
    valid__pull_policy(view->v, AT(p, "pullPolicy"), s->pull_policy);
}

/* Checked even for a volume that has another source, too. */
static void check_iscsi_length(const struct volume_view *view, const struct path *p,
                               const void *source) {
    const struct api_iscsi_volume_source *s = source;
    (void)p;
    if (s->initiator_name.p && view->volume->name.n + 1 + s->target_portal.n > 64)
        valid__invalid(view->v, AT(view->path, "name"), VALUE_Q(view->volume->name),
                       "Total length of <volume name>:<iscsi.targetPortal> must be under 64 "
                       "characters if iscsi.initiatorName is specified.");
}

/* ---- which sources there are ---- */

struct source {
    size_t offset;    /* of the pointer in struct api_volume_source */
    const char *name; /* in paths */
    const char *odd;  /* in the path of the error that it is one source too many, if not name */
    int type;         /* enum api_type_id, for valid__volume_source, if there is no rule */
    volume_rule *rule;
    volume_rule *always; /* also when it is one source too many; may be NULL */
};

#define PLAIN(member, name, type) \
    { offsetof(struct api_volume_source, member), name, NULL, API_T_##type, NULL, NULL }
#define ODD(member, name, odd, type) \
    { offsetof(struct api_volume_source, member), name, odd, API_T_##type, NULL, NULL }
#define RULE(member, name, odd, rule) \
    { offsetof(struct api_volume_source, member), name, odd, 0, rule, NULL }

static const struct source sources[] = {
    PLAIN(empty_dir, "emptyDir", empty_dir_volume_source),
    PLAIN(host_path, "hostPath", host_path_volume_source),
    PLAIN(git_repo, "gitRepo", git_repo_volume_source),
    ODD(gce_persistent_disk, "persistentDisk", "gcePersistentDisk",
        gce_persistent_disk_volume_source),
    PLAIN(aws_elastic_block_store, "awsElasticBlockStore", aws_elastic_block_store_volume_source),
    RULE(secret, "secret", NULL, valid__secret_volume),
    PLAIN(nfs, "nfs", nfs_volume_source),
    {offsetof(struct api_volume_source, iscsi), "iscsi", NULL, API_T_iscsi_volume_source, NULL,
     check_iscsi_length},
    PLAIN(glusterfs, "glusterfs", glusterfs_volume_source),
    PLAIN(flocker, "flocker", flocker_volume_source),
    PLAIN(persistent_volume_claim, "persistentVolumeClaim", persistent_volume_claim_volume_source),
    PLAIN(rbd, "rbd", rbd_volume_source),
    PLAIN(cinder, "cinder", cinder_volume_source),
    ODD(cephfs, "cephfs", "cephFS", ceph_fs_volume_source),
    PLAIN(quobyte, "quobyte", quobyte_volume_source),
    RULE(downward_api, "downwardAPI", "downwarAPI", valid__downward_api_volume),
    PLAIN(fc, "fc", fc_volume_source),
    PLAIN(flex_volume, "flexVolume", flex_volume_source),
    RULE(config_map, "configMap", NULL, valid__config_map_volume),
    PLAIN(azure_file, "azureFile", azure_file_volume_source),
    PLAIN(vsphere_volume, "vsphereVolume", vsphere_virtual_disk_volume_source),
    PLAIN(photon_persistent_disk, "photonPersistentDisk", photon_persistent_disk_volume_source),
    PLAIN(portworx_volume, "portworxVolume", portworx_volume_source),
    PLAIN(azure_disk, "azureDisk", azure_disk_volume_source),
    PLAIN(storageos, "storageos", storageos_volume_source),
    RULE(projected, "projected", NULL, valid__projected_volume),
    PLAIN(scale_io, "scaleIO", scaleio_volume_source),
    RULE(csi, "csi", NULL, valid__csi_volume),
    RULE(ephemeral, "ephemeral", NULL, valid__ephemeral_volume),
    RULE(image, "image", NULL, check_image),
};

static void check_source(const struct volume_view *view, const struct source *s,
                         const void *source) {
    const struct path *p = AT(view->path, s->name);
    if (s->rule)
        s->rule(view, p, source);
    else
        valid__volume_source(view->v, p, &api_types[s->type], source);
}

static void check_sources(const struct volume_view *view) {
    const char *base = (const char *)&view->volume->volume_source;
    bool found = false;
    for (size_t i = 0; i < sizeof sources / sizeof *sources; i++) {
        const struct source *s = &sources[i];
        const void *source = *(void *const *)(const void *)(base + s->offset);
        if (!source)
            continue;
        if (found)
            valid__forbidden(view->v, AT(view->path, s->odd ? s->odd : s->name),
                             "may not specify more than 1 volume type");
        else
            check_source(view, s, source);
        if (s->always)
            s->always(view, AT(view->path, s->name), source);
        found = true;
    }
    if (!found)
        valid__required(view->v, view->path, "must specify a volume type");
}

/* ---- all volumes ---- */

/* Claims that will be made for the pod's ephemeral volumes: a volume cannot be one of them. */
static void collect_claims(struct arena *a, const struct api_volume_list *list, struct str pod_name,
                           struct seen *claims) {
    for (size_t i = 0; pod_name.n && i < list->n; i++)
        if (list->v[i].volume_source.ephemeral)
            seen_add(claims,
                     arena_printf(a, "%.*s-%.*s", STR_ARG(pod_name), STR_ARG(list->v[i].name)));
}

static void check_volume(const struct volume_view *view, struct seen *names) {
    struct valid *v = view->v;
    const struct path *p = AT(view->path, "name");
    struct str name = view->volume->name;
    check_sources(view);
    if (name.n)
        valid__dns_label(v, p, name);
    else
        valid__required(v, p, NO_DETAIL);
    if (seen_get(names, name))
        valid__duplicate(v, p, VALUE_Q(name), NO_DETAIL);
}

const bool *valid__volumes(struct valid *v, const struct path *p,
                           const struct api_volume_list *list, struct str pod_name,
                           const struct pod_rules *rules) {
    struct seen names, claims;
    seen_init(&names);
    seen_init(&claims);
    struct ratchets had = valid__ratchets(v->errs->a, rules->old);
    bool *bad = NULL;
    collect_claims(v->errs->a, list, pod_name, &claims);
    for (size_t i = 0; i < list->n; i++) {
        const struct api_volume *volume = &list->v[i];
        const struct api_persistent_volume_claim_volume_source *claim =
            volume->volume_source.persistent_volume_claim;
        const struct path *here = AT_INDEX(p, i);
        size_t before = valid__found(v);
        check_volume(&(struct volume_view){v, here, volume, pod_name, had}, &names);
        if (valid__found(v) == before) {
            seen_add(&names, volume->name);
        } else {
            bad = bad ? bad : arena_array(v->errs->a, bool, list->n);
            bad[i] = true;
        }
        if (claim && seen_get(&claims, claim->claim_name))
            valid__invalid(v, AT(AT(here, "persistentVolumeClaim"), "claimName"),
                           VALUE_Q(claim->claim_name),
                           "must not reference a PVC that gets created for an ephemeral volume");
    }
    seen_release(&names);
    seen_release(&claims);
    return bad;
}
