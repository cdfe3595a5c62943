/*
 * Volumes of a pod: names, exactly one source each, and the sources that need only a few words. The
 * table at the end has upstream's order; files, claims and drivers are in files of their own.
 */
#include <stddef.h>
#include <string.h>

#include "base/utf8.h"
#include "valid/container_int.h"

void valid__file_mode(struct valid *v, const struct path *p, const struct api_opt_i32 *mode) {
    if (mode->set && (mode->v < 0 || mode->v > 0777))
        valid__invalid(v, p, VALUE_I64(mode->v),
                       "must be a number between 0 and 0777 (octal), both inclusive");
}

/* ---- on the node ---- */

static void check_empty_dir(const struct volume_view *view, const struct path *p,
                            const void *source) {
    const struct api_empty_dir_volume_source *s = source;
    if (s->size_limit && quantity_sign(s->size_limit) < 0)
        valid__forbidden(view->v, AT(p, "sizeLimit"),
                         "SizeLimit field must be a valid resource quantity");
    if (s->mode.set && (s->mode.v < 0 || s->mode.v > 01777))
        valid__invalid(view->v, AT(p, "mode"), VALUE_I64(s->mode.v),
                       "must be a number between 0 and 01777 (octal), both inclusive");
}

static void check_host_path(const struct volume_view *view, const struct path *p,
                            const void *source) {
    static const char *const types[] = {
        "",     "BlockDevice",  "CharDevice", "Directory", "DirectoryOrCreate",
        "File", "FileOrCreate", "Socket",     NULL};
    const struct api_host_path_volume_source *s = source;
    if (!s->path.n) {
        valid__required(view->v, AT(p, "path"), NO_DETAIL);
        return;
    }
    valid__no_backsteps(view->v, AT(p, "path"), s->path);
    if (s->type.p && !valid__one_of(s->type, types))
        valid__not_supported(view->v, AT(p, "type"), VALUE_NAMED(s->type), types);
}

static void check_git_repo(const struct volume_view *view, const struct path *p,
                           const void *source) {
    const struct api_git_repo_volume_source *s = source;
    valid__descending_path(view->v, AT(p, "directory"), s->directory);
}

static bool had_empty_image(const struct api_pod_spec *old) {
    for (size_t i = 0; old && i < old->volumes.n; i++) {
        const struct api_image_volume_source *image = old->volumes.v[i].volume_source.image;
        if (image && !image->reference.n)
            return true;
    }
    return false;
}

static void check_image(const struct volume_view *view, const struct path *p, const void *source) {
    const struct api_image_volume_source *s = source;
    if (!s->reference.n && !had_empty_image(view->old))
        valid__required(view->v, AT(p, "reference"), NO_DETAIL);
    valid__pull_policy(view->v, AT(p, "pullPolicy"), s->pull_policy);
}

/* ---- on the network ---- */

static void check_nfs(const struct volume_view *view, const struct path *p, const void *source) {
    const struct api_nfs_volume_source *s = source;
    if (!str_starts(s->path, STR("/")))
        valid__invalid(view->v, AT(p, "path"), VALUE_Q(s->path), "must be an absolute path");
}

static bool is_alnum(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

/* Reads one character for each of the pattern, where 9 stands for any digit. */
static bool cut_pattern(struct str *s, const char *pattern) {
    for (; *pattern; pattern++) {
        char c = s->n ? s->p[0] : '\0';
        if (*pattern == '9' ? c < '0' || c > '9' : c != *pattern)
            return false;
        *s = str_sub(*s, 1, s->n);
    }
    return true;
}

/* iqn.2001-04.com.example:storage up to the end of s */
static bool is_iqn(struct str s) {
    size_t domain = 0;
    if (!cut_pattern(&s, "iqn.9999-99."))
        return false;
    while (domain < s.n && (is_alnum(s.p[domain]) || s.p[domain] == '-' || s.p[domain] == '.'))
        domain++;
    if (!domain || domain + 1 >= s.n || s.p[domain] != ':')
        return false;
    for (size_t i = domain + 1; i < s.n; i++)
        if (s.p[i] && strchr(",;*&$| \t\n\f\r", s.p[i]))
            return false;
    return true;
}

/* Upstream looks for the pattern at the end of the name, wherever it starts. */
static bool ends_in_iqn(struct str s) {
    for (; s.n; s = str_sub(s, 1, s.n))
        if (is_iqn(s))
            return true;
    return false;
}

/* eui.<16 letters or digits>, naa.<32 of them>, with any character for the dot. */
static bool is_numbered(struct str s, size_t length) {
    size_t dot = 0;
    s = str_sub(s, 3, s.n);
    if (!s.n || s.p[0] == '\n')
        return false;
    utf8_decode(s, &dot);
    s = str_sub(s, dot, s.n);
    for (size_t i = 0; i < s.n; i++)
        if (!is_alnum(s.p[i]))
            return false;
    return s.n == length;
}

static void check_iscsi_name(struct valid *v, const struct path *p, struct str name) {
    bool good = str_starts(name, STR("iqn"))   ? ends_in_iqn(name)
                : str_starts(name, STR("eui")) ? is_numbered(name, 16)
                : str_starts(name, STR("naa")) ? is_numbered(name, 32)
                                               : false;
    if (good)
        return;
    bool known =
        valid__one_of(str_sub(name, 0, 3), (const char *const[]){"iqn", "eui", "naa", NULL});
    valid__invalid(v, p, VALUE_Q(name), "must be valid format%s",
                   known ? "" : " starting with iqn, eui, or naa");
}

static void check_iscsi(const struct volume_view *view, const struct path *p, const void *source) {
    const struct api_iscsi_volume_source *s = source;
    struct valid *v = view->v;
    if (s->iqn.n)
        check_iscsi_name(v, AT(p, "iqn"), s->iqn);
    valid__range(v, AT(p, "lun"), s->lun, (const int64_t[]){0, 255});
    if ((s->chap_auth_discovery || s->chap_auth_session) && !s->secret_ref)
        valid__required(v, AT(p, "secretRef"), NO_DETAIL);
    if (s->initiator_name.p)
        check_iscsi_name(v, AT(p, "initiatorname"), s->initiator_name);
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

static void check_fc(const struct volume_view *view, const struct path *p, const void *source) {
    const struct api_fc_volume_source *s = source;
    struct valid *v = view->v;
    const struct path *names = AT(p, "targetWWNs");
    if (!s->target_ww_ns.n && !s->wwids.n)
        valid__required(v, names, "must specify either targetWWNs or wwids, but not both");
    if (s->target_ww_ns.n && s->wwids.n)
        valid__invalid(v, names, valid__strs_value(v->errs->a, &s->target_ww_ns),
                       "targetWWNs and wwids can not be specified simultaneously");
    if (s->target_ww_ns.n && !s->lun.set)
        valid__required(v, AT(p, "lun"), "lun is required if targetWWNs is specified");
    else if (s->target_ww_ns.n)
        valid__range(v, AT(p, "lun"), s->lun.v, (const int64_t[]){0, 255});
}

static void check_partition(struct valid *v, const struct path *p, int32_t partition) {
    if (partition < 0 || partition > 255)
        valid__invalid(v, AT(p, "partition"), VALUE_I64(partition),
                       "must be between 1 and 255, inclusive");
}

static void check_gce(const struct volume_view *view, const struct path *p, const void *source) {
    check_partition(view->v, p,
                    ((const struct api_gce_persistent_disk_volume_source *)source)->partition);
}

static void check_aws(const struct volume_view *view, const struct path *p, const void *source) {
    check_partition(view->v, p,
                    ((const struct api_aws_elastic_block_store_volume_source *)source)->partition);
}

static void check_flocker(const struct volume_view *view, const struct path *p,
                          const void *source) {
    const struct api_flocker_volume_source *s = source;
    if (!s->dataset_name.n && !s->dataset_uuid.n)
        valid__required(view->v, p, "one of datasetName and datasetUUID is required");
    if (s->dataset_name.n && s->dataset_uuid.n)
        valid__invalid(view->v, p, VALUE_Q(STR("resource")),
                       "datasetName and datasetUUID can not be specified simultaneously");
    if (str_find_char(s->dataset_name, '/') != STR_NONE)
        valid__invalid(view->v, AT(p, "datasetName"), VALUE_Q(s->dataset_name),
                       "must not contain '/'");
}

static void check_secret_name(struct valid *v, const struct path *p,
                              const struct api_local_object_reference *ref) {
    if (ref && !ref->name.n)
        valid__required(v, AT(AT(p, "secretRef"), "name"), NO_DETAIL);
}

static void check_cinder(const struct volume_view *view, const struct path *p, const void *source) {
    check_secret_name(view->v, p, ((const struct api_cinder_volume_source *)source)->secret_ref);
}

/* As net.SplitHostPort: host:port, where a host with colons stands in brackets. */
static bool is_host_port(struct str s) {
    size_t colon = s.n, from = 0, behind = 0;
    while (colon > 0 && s.p[colon - 1] != ':')
        colon--;
    if (colon-- == 0)
        return false;
    if (s.p[0] == '[') {
        size_t end = str_find_char(s, ']');
        if (end == STR_NONE || end + 1 != colon)
            return false;
        from = 1;
        behind = end + 1;
    } else if (str_find_char(s, ':') != colon) {
        return false;
    }
    return str_find_char(str_sub(s, from, s.n), '[') == STR_NONE &&
           str_find_char(str_sub(s, behind, s.n), ']') == STR_NONE;
}

#define HOSTS_AND_PORTS "must be a host:port pair or multiple pairs separated by commas"

static bool has_bad_host_port(struct str list) {
    struct str pair;
    for (bool more = true; more;) {
        more = str_cut(list, ',', &pair, &list);
        if (!is_host_port(pair))
            return true;
    }
    return false;
}

static void check_quobyte(const struct volume_view *view, const struct path *p,
                          const void *source) {
    const struct api_quobyte_volume_source *s = source;
    struct valid *v = view->v;
    if (!s->registry.n)
        valid__required(v, AT(p, "registry"), HOSTS_AND_PORTS);
    else if (s->tenant.n > 64)
        valid__required(v, AT(p, "tenant"),
                        "must be a UUID and may not exceed a length of 64 characters");
    else if (has_bad_host_port(s->registry))
        valid__invalid(v, AT(p, "registry"), VALUE_Q(s->registry), HOSTS_AND_PORTS);
    if (!s->volume.n)
        valid__required(v, AT(p, "volume"), NO_DETAIL);
}

/* Is this, or does it end in, a domain of Kubernetes itself? Letters of either case. */
static bool is_reserved_domain(struct str s, const char *domain) {
    size_t n = strlen(domain);
    if (s.n < n || strncasecmp(s.p + s.n - n, domain, n) != 0)
        return false;
    return s.n == n || s.p[s.n - n - 1] == '.';
}

static void check_flex(const struct volume_view *view, const struct path *p, const void *source) {
    const struct api_flex_volume_source *s = source;
    for (size_t i = 0; i < s->options.n; i++) {
        struct str key = s->options.v[i].key, domain, rest;
        str_cut(key, '/', &domain, &rest);
        if (is_reserved_domain(domain, "kubernetes.io") || is_reserved_domain(domain, "k8s.io"))
            valid__invalid(view->v, AT_KEY(AT(p, "options"), key), VALUE_Q(key),
                           "kubernetes.io and k8s.io namespaces are reserved");
    }
}

static void check_azure_disk(const struct volume_view *view, const struct path *p,
                             const void *source) {
    static const char *const modes[] = {"None", "ReadOnly", "ReadWrite", NULL};
    static const char *const kinds[] = {"Dedicated", "Managed", "Shared", NULL};
    static const char *const managed[] = {"/subscriptions/{sub-id}/resourcegroups/{group-name}/"
                                          "providers/microsoft.compute/disks/{disk-id}",
                                          NULL};
    static const char *const blob[] = {
        "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd", NULL};
    const struct api_azure_disk_volume_source *s = source;
    struct valid *v = view->v;
    if (s->caching_mode.p && !valid__one_of(s->caching_mode, modes))
        valid__not_supported(v, AT(p, "cachingMode"), VALUE_NAMED(s->caching_mode), modes);
    if (!s->kind.p)
        return;
    if (!valid__one_of(s->kind, kinds))
        valid__not_supported(v, AT(p, "kind"), VALUE_NAMED(s->kind), kinds);
    bool is_managed = str_is(s->kind, "Managed");
    if (!str_starts(s->disk_uri, is_managed ? STR("/subscriptions/") : STR("https://")))
        valid__not_supported(v, AT(p, "diskURI"), VALUE_Q(s->disk_uri),
                             is_managed ? managed : blob);
}

static void check_storageos(const struct volume_view *view, const struct path *p,
                            const void *source) {
    const struct api_storageos_volume_source *s = source;
    if (s->volume_name.n)
        valid__dns_label(view->v, AT(p, "volumeName"), s->volume_name);
    if (s->volume_namespace.n)
        valid__dns_label(view->v, AT(p, "volumeNamespace"), s->volume_namespace);
    check_secret_name(view->v, p, s->secret_ref);
}

/* ---- which sources there are ---- */

struct source {
    size_t offset;    /* of the pointer in struct api_volume_source */
    const char *name; /* in paths */
    const char *odd;  /* in the path of the error that it is one source too many, if not name */
    int type;         /* enum api_type_id */
    const char *required[4];
    volume_rule *rule;   /* for the rest; may be NULL */
    volume_rule *always; /* also when it is one source too many; may be NULL */
};

#define AT_SOURCE(member) .offset = offsetof(struct api_volume_source, member)

static const struct source sources[] = {
    {AT_SOURCE(empty_dir), "emptyDir", .rule = check_empty_dir},
    {AT_SOURCE(host_path), "hostPath", .rule = check_host_path},
    {AT_SOURCE(git_repo), "gitRepo", .type = API_T_git_repo_volume_source,
     .required = {"repository"}, .rule = check_git_repo},
    {AT_SOURCE(gce_persistent_disk), "persistentDisk", .odd = "gcePersistentDisk",
     .type = API_T_gce_persistent_disk_volume_source, .required = {"pdName"}, .rule = check_gce},
    {AT_SOURCE(aws_elastic_block_store), "awsElasticBlockStore",
     .type = API_T_aws_elastic_block_store_volume_source, .required = {"volumeID"},
     .rule = check_aws},
    {AT_SOURCE(secret), "secret", .rule = valid__secret_volume},
    {AT_SOURCE(nfs), "nfs", .type = API_T_nfs_volume_source, .required = {"server", "path"},
     .rule = check_nfs},
    {AT_SOURCE(iscsi), "iscsi", .type = API_T_iscsi_volume_source,
     .required = {"targetPortal", "iqn"}, .rule = check_iscsi, .always = check_iscsi_length},
    {AT_SOURCE(glusterfs), "glusterfs", .type = API_T_glusterfs_volume_source,
     .required = {"endpoints", "path"}},
    {AT_SOURCE(flocker), "flocker", .rule = check_flocker},
    {AT_SOURCE(persistent_volume_claim), "persistentVolumeClaim",
     .type = API_T_persistent_volume_claim_volume_source, .required = {"claimName"}},
    {AT_SOURCE(rbd), "rbd", .type = API_T_rbd_volume_source, .required = {"monitors", "image"}},
    {AT_SOURCE(cinder), "cinder", .type = API_T_cinder_volume_source, .required = {"volumeID"},
     .rule = check_cinder},
    {AT_SOURCE(cephfs), "cephfs", .odd = "cephFS", .type = API_T_ceph_fs_volume_source,
     .required = {"monitors"}},
    {AT_SOURCE(quobyte), "quobyte", .rule = check_quobyte},
    {AT_SOURCE(downward_api), "downwardAPI", .odd = "downwarAPI",
     .rule = valid__downward_api_volume},
    {AT_SOURCE(fc), "fc", .rule = check_fc},
    {AT_SOURCE(flex_volume), "flexVolume", .type = API_T_flex_volume_source, .required = {"driver"},
     .rule = check_flex},
    {AT_SOURCE(config_map), "configMap", .rule = valid__config_map_volume},
    {AT_SOURCE(azure_file), "azureFile", .type = API_T_azure_file_volume_source,
     .required = {"secretName", "shareName"}},
    {AT_SOURCE(vsphere_volume), "vsphereVolume", .type = API_T_vsphere_virtual_disk_volume_source,
     .required = {"volumePath"}},
    {AT_SOURCE(photon_persistent_disk), "photonPersistentDisk",
     .type = API_T_photon_persistent_disk_volume_source, .required = {"pdID"}},
    {AT_SOURCE(portworx_volume), "portworxVolume", .type = API_T_portworx_volume_source,
     .required = {"volumeID"}},
    {AT_SOURCE(azure_disk), "azureDisk", .type = API_T_azure_disk_volume_source,
     .required = {"diskName", "diskURI"}, .rule = check_azure_disk},
    {AT_SOURCE(storageos), "storageos", .type = API_T_storageos_volume_source,
     .required = {"volumeName"}, .rule = check_storageos},
    {AT_SOURCE(projected), "projected", .rule = valid__projected_volume},
    {AT_SOURCE(scale_io), "scaleIO", .type = API_T_scaleio_volume_source,
     .required = {"gateway", "system", "volumeName"}},
    {AT_SOURCE(csi), "csi", .rule = valid__csi_volume},
    {AT_SOURCE(ephemeral), "ephemeral", .rule = valid__ephemeral_volume},
    {AT_SOURCE(image), "image", .rule = check_image},
};

enum { SOURCES = sizeof sources / sizeof *sources };

/* Required fields are texts, or lists of them. */
static bool is_empty(const struct api_type *type, const char *body, const char *json) {
    size_t hint = 0;
    struct api_found found = api_field_find(type, str_of(json), &hint);
    const char *member = body + found.offset;
    if (found.field->kind == API_LSTR)
        return ((const struct api_strs *)(const void *)member)->n == 0;
    return ((const struct str *)(const void *)member)->n == 0;
}

static void check_source(const struct volume_view *view, const struct source *s,
                         const void *source) {
    const struct path *p = AT(view->path, s->name);
    for (size_t i = 0; s->required[i]; i++)
        if (is_empty(&api_types[s->type], source, s->required[i]))
            valid__required(view->v, AT(p, s->required[i]), NO_DETAIL);
    if (s->rule)
        s->rule(view, p, source);
}

static void check_sources(const struct volume_view *view) {
    const char *base = (const char *)&view->volume->volume_source;
    bool found = false;
    for (size_t i = 0; i < SOURCES; i++) {
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
    struct seen names = SEEN_INIT, claims = SEEN_INIT;
    bool *bad = NULL;
    collect_claims(v->errs->a, list, pod_name, &claims);
    for (size_t i = 0; i < list->n; i++) {
        const struct api_volume *volume = &list->v[i];
        const struct api_persistent_volume_claim_volume_source *claim =
            volume->volume_source.persistent_volume_claim;
        const struct path *here = AT_INDEX(p, i);
        size_t before = v->errs->n;
        check_volume(&(struct volume_view){v, here, volume, pod_name, rules->old}, &names);
        if (v->errs->n == before) {
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
