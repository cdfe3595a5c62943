/*
 * Where volumes come from: one row for each type of source that a persistent volume or a pod's
 * volume may have. Most rules are that a field must not be empty; a row may have a function for the
 * others. Sources that look at more than themselves are in the files on volumes.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func validateVolumeSource,
 * func ValidatePersistentVolumeSpec, func validateISCSIVolumeSource.
 */
#include "base/alloc.h"
#include "base/ascii.h"
#include "base/utf8.h"
#include "valid/pod/container_int.h"

typedef void source_fn(struct valid *v, const struct path *p, const void *source);

static void require(struct valid *v, const struct path *p, struct str text) {
    if (!text.n)
        valid__required(v, p, NO_DETAIL);
}

static void check_range(struct valid *v, const struct path *p, int64_t n, int64_t least) {
    if (n < 0 || n > 255)
        valid__invalid(v, p, VALUE_I64(n), "must be between %lld and 255, inclusive",
                       (long long)least);
}

/* ---- paths ---- */

static void check_path(struct valid *v, const struct path *p, struct str path) {
    require(v, p, path);
    valid__no_backsteps(v, p, path);
}

static void check_host_path(struct valid *v, const struct path *p, const void *source) {
    static const char *const types[] = {
        "",     "BlockDevice",  "CharDevice", "Directory", "DirectoryOrCreate",
        "File", "FileOrCreate", "Socket",     NULL};
    const struct api_host_path_volume_source *s = source;
    check_path(v, AT(p, "path"), s->path);
    if (s->path.n && s->type.p && !valid__one_of(s->type, types))
        valid__not_supported(v, AT(p, "type"), VALUE_NAMED(s->type), types);
}

static void check_local(struct valid *v, const struct path *p, const void *source) {
    const struct api_local_volume_source *s = source;
    check_path(v, AT(p, "path"), s->path);
}

static void check_nfs(struct valid *v, const struct path *p, const void *source) {
    const struct api_nfs_volume_source *s = source;
    if (!str_starts(s->path, STR("/")))
        valid__invalid(v, AT(p, "path"), VALUE_Q(s->path), "must be an absolute path");
}

static void check_empty_dir(struct valid *v, const struct path *p, const void *source) {
    const struct api_empty_dir_volume_source *s = source;
    if (s->size_limit && quantity_sign(s->size_limit) < 0)
        valid__forbidden(v, AT(p, "sizeLimit"),
                         "SizeLimit field must be a valid resource quantity");
    if (s->mode.set && (s->mode.v < 0 || s->mode.v > 01777))
        valid__invalid(v, AT(p, "mode"), VALUE_I64(s->mode.v),
                       "must be a number between 0 and 01777 (octal), both inclusive");
}

static void check_git_repo(struct valid *v, const struct path *p, const void *source) {
    const struct api_git_repo_volume_source *s = source;
    valid__descending_path(v, AT(p, "directory"), s->directory);
}

/* ---- iSCSI ---- */

static bool all_alnum(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_alnum(s.p[i]))
            return false;
    return true;
}

static bool fits(struct str s, const char *pattern) {
    for (size_t i = 0; pattern[i]; i++) {
        bool is_digit = i < s.n && ascii_is_digit(s.p[i]);
        if (i >= s.n || (pattern[i] == '9' ? !is_digit : s.p[i] != pattern[i]))
            return false;
    }
    return true;
}

/* iqn.2001-04.com.example:storage, from the start of s to its end. */
static bool is_iqn(struct str s) {
    static const char date[] = "iqn.9999-99.";
    size_t at = sizeof date - 1, name = at;
    if (!fits(s, date))
        return false;
    while (at < s.n && (ascii_is_alnum(s.p[at]) || s.p[at] == '-' || s.p[at] == '.'))
        at++;
    if (at == name || at + 1 >= s.n || s.p[at] != ':')
        return false;
    for (at++; at < s.n; at++)
        if (str_find_char(STR(",;*&$|\t\n\f\r "), s.p[at]) != STR_NONE)
            return false;
    return true;
}

/* Upstream's expression may start anywhere. */
static bool has_iqn(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (is_iqn(str_sub(s, i, s.n)))
            return true;
    return false;
}

/* Three letters, any character but a line break, and n letters or digits. */
static bool is_serial(struct str s, size_t n) {
    struct str rest = str_sub(s, 3, s.n);
    size_t len = 0;
    if (!rest.n || utf8_decode(rest, &len) == '\n')
        return false;
    rest = str_sub(rest, len, rest.n);
    return rest.n == n && all_alnum(rest);
}

static bool is_iscsi_name(struct str s) {
    if (str_starts(s, STR("iqn")))
        return has_iqn(s);
    if (str_starts(s, STR("eui")))
        return is_serial(s, 16);
    return str_starts(s, STR("naa")) && is_serial(s, 32);
}

static void check_iscsi_name(struct valid *v, const struct path *p, struct str name) {
    if (!is_iscsi_name(name))
        valid__invalid(v, p, VALUE_Q(name), "must be valid format");
}

static void check_iscsi(struct valid *v, const struct path *p, const void *source) {
    const struct api_iscsi_persistent_volume_source *s = source;
    if (s->iqn.n)
        check_iscsi_name(v, AT(p, "iqn"), s->iqn);
    check_range(v, AT(p, "lun"), s->lun, 0);
    if (s->secret_ref)
        require(v, AT(AT(p, "secretRef"), "name"), s->secret_ref->name);
    else if (s->chap_auth_discovery || s->chap_auth_session)
        valid__required(v, AT(p, "secretRef"), NO_DETAIL);
    if (s->initiator_name.p)
        check_iscsi_name(v, AT(p, "initiatorname"), s->initiator_name);
}

/* Of pods, names that start in no known way get a text of their own. */
static void check_pod_iscsi_name(struct valid *v, const struct path *p, struct str name) {
    static const char *const starts[] = {"iqn", "eui", "naa", NULL};
    if (valid__one_of(str_sub(name, 0, 3), starts))
        check_iscsi_name(v, p, name);
    else
        valid__invalid(v, p, VALUE_Q(name), "must be valid format starting with iqn, eui, or naa");
}

static void check_pod_iscsi(struct valid *v, const struct path *p, const void *source) {
    const struct api_iscsi_volume_source *s = source;
    if (s->iqn.n)
        check_pod_iscsi_name(v, AT(p, "iqn"), s->iqn);
    check_range(v, AT(p, "lun"), s->lun, 0);
    if (!s->secret_ref && (s->chap_auth_discovery || s->chap_auth_session))
        valid__required(v, AT(p, "secretRef"), NO_DETAIL);
    if (s->initiator_name.p)
        check_pod_iscsi_name(v, AT(p, "initiatorname"), s->initiator_name);
}

/* ---- disks and shares ---- */

static void check_gce_disk(struct valid *v, const struct path *p, const void *source) {
    const struct api_gce_persistent_disk_volume_source *s = source;
    check_range(v, AT(p, "partition"), s->partition, 1);
}

static void check_aws_disk(struct valid *v, const struct path *p, const void *source) {
    const struct api_aws_elastic_block_store_volume_source *s = source;
    check_range(v, AT(p, "partition"), s->partition, 1);
}

static void check_glusterfs(struct valid *v, const struct path *p, const void *source) {
    const struct api_glusterfs_persistent_volume_source *s = source;
    const struct path *at = AT(p, "endpointsNamespace");
    if (s->endpoints_namespace.n)
        valid__dns_label(v, at, s->endpoints_namespace);
    else if (s->endpoints_namespace.p)
        valid__invalid(v, at, VALUE_Q(s->endpoints_namespace),
                       "if the endpointnamespace is set, it must be a valid namespace name");
}

static void check_flocker(struct valid *v, const struct path *p, const void *source) {
    const struct api_flocker_volume_source *s = source;
    if (!s->dataset_name.n && !s->dataset_uuid.n)
        valid__required(v, p, "one of datasetName and datasetUUID is required");
    if (s->dataset_name.n && s->dataset_uuid.n)
        valid__invalid(v, p, VALUE_Q(STR("resource")),
                       "datasetName and datasetUUID can not be specified simultaneously");
    if (str_find_char(s->dataset_name, '/') != STR_NONE)
        valid__invalid(v, AT(p, "datasetName"), VALUE_Q(s->dataset_name), "must not contain '/'");
}

static void check_secret_reference(struct valid *v, const struct path *p, struct str name,
                                   struct str namespace) {
    require(v, AT(p, "name"), name);
    require(v, AT(p, "namespace"), namespace);
}

static void check_cinder(struct valid *v, const struct path *p, const void *source) {
    const struct api_cinder_persistent_volume_source *s = source;
    if (s->secret_ref)
        check_secret_reference(v, AT(p, "secretRef"), s->secret_ref->name,
                               s->secret_ref->namespace);
}

static void check_fc(struct valid *v, const struct path *p, const void *source) {
    const struct api_fc_volume_source *s = source;
    if (!s->target_ww_ns.n && !s->wwids.n)
        valid__required(v, AT(p, "targetWWNs"),
                        "must specify either targetWWNs or wwids, but not both");
    if (s->target_ww_ns.n && s->wwids.n)
        valid__invalid(v, AT(p, "targetWWNs"), valid__strs_value(v->errs->a, &s->target_ww_ns),
                       "targetWWNs and wwids can not be specified simultaneously");
    if (s->target_ww_ns.n && !s->lun.set)
        valid__required(v, AT(p, "lun"), "lun is required if targetWWNs is specified");
    else if (s->target_ww_ns.n)
        check_range(v, AT(p, "lun"), s->lun.v, 0);
}

static bool is_reserved(struct arena *a, struct str option) {
    struct str domain, rest;
    str_cut(option, '/', &domain, &rest);
    domain = valid__lower(a, domain);
    return str_is(domain, "kubernetes.io") || str_ends(domain, STR(".kubernetes.io")) ||
           str_is(domain, "k8s.io") || str_ends(domain, STR(".k8s.io"));
}

static void check_options(struct valid *v, const struct path *p, const struct labels *options) {
    for (size_t i = 0; i < options->n; i++) {
        struct str option = options->v[i].key;
        if (is_reserved(v->errs->a, option))
            valid__invalid(v, AT_KEY(p, option), VALUE_Q(option),
                           "kubernetes.io and k8s.io namespaces are reserved");
    }
}

static void check_flex(struct valid *v, const struct path *p, const void *source) {
    const struct api_flex_persistent_volume_source *s = source;
    check_options(v, AT(p, "options"), &s->options);
}

static void check_pod_flex(struct valid *v, const struct path *p, const void *source) {
    const struct api_flex_volume_source *s = source;
    check_options(v, AT(p, "options"), &s->options);
}

static void check_local_secret(struct valid *v, const struct path *p,
                               const struct api_local_object_reference *secret) {
    if (secret)
        require(v, AT(AT(p, "secretRef"), "name"), secret->name);
}

static void check_pod_cinder(struct valid *v, const struct path *p, const void *source) {
    check_local_secret(v, p, ((const struct api_cinder_volume_source *)source)->secret_ref);
}

static void check_azure_file(struct valid *v, const struct path *p, const void *source) {
    const struct api_azure_file_persistent_volume_source *s = source;
    if (s->secret_namespace.p)
        require(v, AT(p, "secretNamespace"), s->secret_namespace);
}

static void check_azure_kind(struct valid *v, const struct path *p,
                             const struct api_azure_disk_volume_source *s) {
    static const char *const kinds[] = {"Dedicated", "Managed", "Shared", NULL};
    static const char *const managed[] = {"/subscriptions/{sub-id}/resourcegroups/{group-name}/"
                                          "providers/microsoft.compute/disks/{disk-id}",
                                          NULL};
    static const char *const blob[] = {"https://{account-name}.blob.core.windows.net/"
                                       "{container-name}/{disk-name}.vhd",
                                       NULL};
    bool is_managed = str_is(s->kind, "Managed");
    if (!valid__one_of(s->kind, kinds))
        valid__not_supported(v, AT(p, "kind"), VALUE_NAMED(s->kind), kinds);
    if (!str_starts(s->disk_uri, is_managed ? STR("/subscriptions/") : STR("https://")))
        valid__not_supported(v, AT(p, "diskURI"), VALUE_Q(s->disk_uri),
                             is_managed ? managed : blob);
}

static void check_azure_disk(struct valid *v, const struct path *p, const void *source) {
    static const char *const modes[] = {"None", "ReadOnly", "ReadWrite", NULL};
    const struct api_azure_disk_volume_source *s = source;
    if (s->caching_mode.p && !valid__one_of(s->caching_mode, modes))
        valid__not_supported(v, AT(p, "cachingMode"), VALUE_NAMED(s->caching_mode), modes);
    if (s->kind.p)
        check_azure_kind(v, p, s);
}

/* host:port as Go's net.SplitHostPort takes it: brackets only around the host. */
static bool is_host_port(struct str s) {
    size_t colon = s.n;
    while (colon > 0 && s.p[colon - 1] != ':')
        colon--;
    if (!colon)
        return false;
    struct str host = str_sub(s, 0, colon - 1), port = str_sub(s, colon, s.n);
    bool is_bracketed = str_starts(host, STR("[")) && str_find_char(host, ']') == host.n - 1;
    if (is_bracketed)
        host = str_sub(host, 1, host.n - 1);
    else if (str_find_char(host, ':') != STR_NONE)
        return false;
    return str_find_char(host, '[') == STR_NONE && str_find_char(host, ']') == STR_NONE &&
           str_find_char(port, '[') == STR_NONE && str_find_char(port, ']') == STR_NONE;
}

static void check_registry(struct valid *v, const struct path *p, struct str registry) {
    struct str pair, rest = registry;
    bool more;
    do {
        more = str_cut(rest, ',', &pair, &rest);
        if (!is_host_port(pair))
            valid__invalid(v, p, VALUE_Q(registry),
                           "must be a host:port pair or multiple pairs separated by commas");
    } while (more);
}

static void check_quobyte(struct valid *v, const struct path *p, const void *source) {
    const struct api_quobyte_volume_source *s = source;
    if (!s->registry.n)
        valid__required(v, AT(p, "registry"),
                        "must be a host:port pair or multiple pairs separated by commas");
    else if (s->tenant.n > 64)
        valid__required(v, AT(p, "tenant"),
                        "must be a UUID and may not exceed a length of 64 characters");
    else
        check_registry(v, AT(p, "registry"), s->registry);
    require(v, AT(p, "volume"), s->volume);
}

static void check_storageos(struct valid *v, const struct path *p, const void *source) {
    const struct api_storageos_persistent_volume_source *s = source;
    if (s->volume_name.n)
        valid__dns_label(v, AT(p, "volumeName"), s->volume_name);
    if (s->volume_namespace.n)
        valid__dns_label(v, AT(p, "volumeNamespace"), s->volume_namespace);
    if (s->secret_ref)
        check_secret_reference(v, AT(p, "secretRef"), s->secret_ref->name,
                               s->secret_ref->namespace);
}

static void check_pod_storageos(struct valid *v, const struct path *p, const void *source) {
    const struct api_storageos_volume_source *s = source;
    if (s->volume_name.n)
        valid__dns_label(v, AT(p, "volumeName"), s->volume_name);
    if (s->volume_namespace.n)
        valid__dns_label(v, AT(p, "volumeNamespace"), s->volume_namespace);
    check_local_secret(v, p, s->secret_ref);
}

/* ---- CSI ---- */

void valid__csi_driver_name(struct valid *v, const struct path *p, struct str driver) {
    require(v, p, driver);
    if (!driver.n)
        return;
    if (driver.n > 63)
        valid__too_long(v, p, 63);
    struct names_errs errs = names_check_dns1123_subdomain(valid__lower(v->errs->a, driver));
    valid__names(v, p, driver, &errs);
}

static void check_csi_secret(struct valid *v, const struct path *p,
                             const struct api_secret_reference *s) {
    if (!s)
        return;
    require(v, AT(p, "name"), s->name);
    if (s->name.n)
        valid__dns_subdomain(v, AT(p, "name"), s->name);
    require(v, AT(p, "namespace"), s->namespace);
    if (s->namespace.n)
        valid__dns_label(v, AT(p, "namespace"), s->namespace);
}

static void check_csi(struct valid *v, const struct path *p, const void *source) {
    const struct api_csi_persistent_volume_source *s = source;
    valid__csi_driver_name(v, AT(p, "driver"), s->driver);
    require(v, AT(p, "volumeHandle"), s->volume_handle);
    check_csi_secret(v, AT(p, "controllerPublishSecretRef"), s->controller_publish_secret_ref);
    check_csi_secret(v, AT(p, "controllerExpandSecretRef"), s->controller_expand_secret_ref);
    check_csi_secret(v, AT(p, "nodePublishSecretRef"), s->node_publish_secret_ref);
    check_csi_secret(v, AT(p, "nodeExpandSecretRef"), s->node_expand_secret_ref);
}

/* ---- the table ---- */

static const struct rules {
    enum api_type_id type;
    const char *required[4]; /* strings and lists, NULL at the end */
    source_fn *check;        /* what else there is, or NULL */
} table[] = {
    {API_T_aws_elastic_block_store_volume_source, {"volumeID"}, check_aws_disk},
    {API_T_azure_disk_volume_source, {"diskName", "diskURI"}, check_azure_disk},
    {API_T_azure_file_persistent_volume_source, {"secretName", "shareName"}, check_azure_file},
    {API_T_azure_file_volume_source, {"secretName", "shareName"}, NULL},
    {API_T_ceph_fs_persistent_volume_source, {"monitors"}, NULL},
    {API_T_ceph_fs_volume_source, {"monitors"}, NULL},
    {API_T_cinder_persistent_volume_source, {"volumeID"}, check_cinder},
    {API_T_cinder_volume_source, {"volumeID"}, check_pod_cinder},
    {API_T_csi_persistent_volume_source, {NULL}, check_csi},
    {API_T_empty_dir_volume_source, {NULL}, check_empty_dir},
    {API_T_fc_volume_source, {NULL}, check_fc},
    {API_T_flex_persistent_volume_source, {"driver"}, check_flex},
    {API_T_flex_volume_source, {"driver"}, check_pod_flex},
    {API_T_flocker_volume_source, {NULL}, check_flocker},
    {API_T_gce_persistent_disk_volume_source, {"pdName"}, check_gce_disk},
    {API_T_git_repo_volume_source, {"repository"}, check_git_repo},
    {API_T_glusterfs_persistent_volume_source, {"endpoints", "path"}, check_glusterfs},
    {API_T_glusterfs_volume_source, {"endpoints", "path"}, NULL},
    {API_T_host_path_volume_source, {NULL}, check_host_path},
    {API_T_iscsi_persistent_volume_source, {"iqn"}, check_iscsi},
    {API_T_iscsi_volume_source, {"targetPortal", "iqn"}, check_pod_iscsi},
    {API_T_local_volume_source, {NULL}, check_local},
    {API_T_nfs_volume_source, {"server", "path"}, check_nfs},
    {API_T_persistent_volume_claim_volume_source, {"claimName"}, NULL},
    {API_T_photon_persistent_disk_volume_source, {"pdID"}, NULL},
    {API_T_portworx_volume_source, {"volumeID"}, NULL},
    {API_T_quobyte_volume_source, {NULL}, check_quobyte},
    {API_T_rbd_persistent_volume_source, {"monitors", "image"}, NULL},
    {API_T_rbd_volume_source, {"monitors", "image"}, NULL},
    {API_T_scaleio_persistent_volume_source, {"gateway", "system", "volumeName"}, NULL},
    {API_T_scaleio_volume_source, {"gateway", "system", "volumeName"}, NULL},
    {API_T_storageos_persistent_volume_source, {"volumeName"}, check_storageos},
    {API_T_storageos_volume_source, {"volumeName"}, check_pod_storageos},
    {API_T_vsphere_virtual_disk_volume_source, {"volumePath"}, NULL},
};

static const struct rules *rules_of(const struct api_type *type) {
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].type == type->id)
            return &table[i];
    BUG("a source of volumes without rules");
}

/* Strings and lists of strings look alike: where it is, and how long. */
static bool is_empty(const struct api_type *type, const void *source, const char *field) {
    const struct api_field *next = type->fields;
    struct api_found found = api_field_find(type, str_of(field), &next);
    return !((const struct str *)(const void *)((const char *)source + found.offset))->n;
}

void valid__volume_source(struct valid *v, const struct path *p, const struct api_type *type,
                          const void *source) {
    const struct rules *r = rules_of(type);
    for (size_t i = 0; r->required[i]; i++)
        if (is_empty(type, source, r->required[i]))
            valid__required(v, AT(p, r->required[i]), NO_DETAIL);
    if (r->check)
        r->check(v, p, source);
}
