/*
 * Volumes of old kinds as CSI volumes: a node that says so runs a driver in the place of an old
 * plug-in, and then the volume's topology key and its handle are the driver's.
 *
 * Follows k8s.io/csi-translation-lib, func (CSITranslator) TranslateInTreePVToCSI.
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/volumebinding,
 * func isPluginMigratedToCSIOnNode.
 */
#include <stddef.h>

#include "sched/migrated.h"
#include "sched/volumes/state_int.h"

#define ZONE        "topology.kubernetes.io/zone"
#define REGION      "topology.kubernetes.io/region"
#define OLD_ZONE    "failure-domain.beta.kubernetes.io/zone"
#define OLD_REGION  "failure-domain.beta.kubernetes.io/region"
#define UNSPECIFIED "UNSPECIFIED"

#define PV_SOURCE(member)     offsetof(struct api_persistent_volume_source, member)
#define INLINE_SOURCE(member) offsetof(struct api_volume_source, member)

static const struct sched__migration migrations[] = {
    {STR_INIT("kubernetes.io/aws-ebs"), STR_INIT("ebs.csi.aws.com"),
     STR_INIT("topology.ebs.csi.aws.com/zone"), PV_SOURCE(aws_elastic_block_store),
     INLINE_SOURCE(aws_elastic_block_store), true},
    {STR_INIT("kubernetes.io/gce-pd"), STR_INIT("pd.csi.storage.gke.io"),
     STR_INIT("topology.gke.io/zone"), PV_SOURCE(gce_persistent_disk),
     INLINE_SOURCE(gce_persistent_disk), true},
    {STR_INIT("kubernetes.io/cinder"), STR_INIT("cinder.csi.openstack.org"),
     STR_INIT("topology.cinder.csi.openstack.org/zone"), PV_SOURCE(cinder), INLINE_SOURCE(cinder),
     true},
    {STR_INIT("kubernetes.io/azure-disk"), STR_INIT("disk.csi.azure.com"), STR_INIT(""),
     PV_SOURCE(azure_disk), INLINE_SOURCE(azure_disk), true},
    {STR_INIT("kubernetes.io/portworx-volume"), STR_INIT("pxd.portworx.com"), STR_INIT(""),
     PV_SOURCE(portworx_volume), INLINE_SOURCE(portworx_volume), true},
    {STR_INIT("kubernetes.io/azure-file"), STR_INIT("file.csi.azure.com"), STR_INIT(""),
     PV_SOURCE(azure_file), INLINE_SOURCE(azure_file), false},
    {STR_INIT("kubernetes.io/vsphere-volume"), STR_INIT("csi.vsphere.vmware.com"), STR_INIT(""),
     PV_SOURCE(vsphere_volume), INLINE_SOURCE(vsphere_volume), false},
};
enum { MIGRATIONS = sizeof migrations / sizeof *migrations };

/* Is the pointer at this offset of a source set? */
static bool has_source(const void *source, uint16_t offset) {
    void *p;
    memcpy(&p, (const char *)source + offset, sizeof p);
    return p;
}

const struct sched__migration *sched__migration_of_pv(const struct api_persistent_volume *pv) {
    for (size_t i = 0; i < MIGRATIONS; i++)
        if (has_source(&pv->spec.persistent_volume_source, migrations[i].volume))
            return &migrations[i];
    return NULL;
}

const struct sched__migration *sched__migration_of_volume(const struct api_volume *volume) {
    for (size_t i = 0; i < MIGRATIONS; i++)
        if (has_source(&volume->volume_source, migrations[i].inline_volume))
            return &migrations[i];
    return NULL;
}

const struct sched__migration *sched__migration_of_plugin(struct str plugin) {
    for (size_t i = 0; i < MIGRATIONS; i++)
        if (str_eq(migrations[i].plugin, plugin))
            return &migrations[i];
    return NULL;
}

struct str sched_migrated_driver(struct str plugin) {
    const struct sched__migration *m = sched__migration_of_plugin(plugin);
    return m ? m->driver : (struct str){0};
}

bool sched__migration_is_on_node(const struct sched__migration *m,
                                 const struct api_object *csi_node) {
    const struct label *list =
        csi_node ? labels_find(&csi_node->meta->annotations,
                               STR("storage.alpha.kubernetes.io/migrated-plugins"))
                 : NULL;
    struct str name, rest = list ? list->value : (struct str){0};
    for (bool more = rest.n > 0; more;) {
        more = str_cut(rest, ',', &name, &rest);
        if (str_eq(name, m->plugin))
            return true;
    }
    return false;
}

/* ---- handles ---- */

/* Cuts at "__". */
static bool cut_zone(struct str s, struct str *head, struct str *rest) {
    size_t at = str_find(s, STR("__"));
    *head = str_sub(s, 0, at);
    *rest = at == STR_NONE ? (struct str){0} : str_sub(s, at + 2, s.n);
    return at != STR_NONE;
}

/* "aws://zone/vol-1" and "vol-1" are the volume vol-1. */
static int aws_handle(struct arena *a, struct str id, struct str *out, struct str *error) {
    *out = id;
    if (!str_starts(id, STR("aws://")))
        return 0;
    struct str host, path;
    str_cut(str_sub(id, 6, id.n), '/', &host, &path);
    while (path.n && path.p[0] == '/')
        path = str_sub(path, 1, path.n);
    while (path.n && path.p[path.n - 1] == '/')
        path.n--;
    *out = path;
    if (str_starts(path, STR("vol-")) && str_find_char(path, '/') == STR_NONE)
        return 0;
    *error = arena_printf(a,
                          "failed to translate Kubernetes ID to EBS Volume ID Invalid format for "
                          "AWS volume (%.*s)",
                          STR_ARG(id));
    return -1;
}

/* The region "us-central1" of a zone "us-central1-a"; absent if it is no such name. */
static struct str gce_region(struct str zone) {
    size_t first = str_find_char(zone, '-');
    if (first == STR_NONE)
        return (struct str){0};
    size_t second = str_find_char(str_sub(zone, first + 1, zone.n), '-');
    if (second == STR_NONE)
        return (struct str){0};
    second += first + 1;
    bool more = str_find_char(str_sub(zone, second + 1, zone.n), '-') != STR_NONE;
    return more ? (struct str){0} : str_sub(zone, 0, second);
}

/* Sorts names and leaves each once; returns how many are left. */
static size_t sort_unique(struct str *v, size_t n) {
    size_t kept = 0;
    qsort(v, n, sizeof *v, str_cmp_qsort);
    for (size_t i = 0; i < n; i++)
        if (!kept || !str_eq(v[kept - 1], v[i]))
            v[kept++] = v[i];
    return kept;
}

/* As Go prints a set. */
static struct str regions_error(struct arena *a, const struct str *regions, size_t n) {
    struct str text = STR("failed to get region from zones: multiple or no regions gotten from "
                          "zones, got: map[");
    for (size_t i = 0; i < n; i++)
        text = arena_printf(a, "%.*s%s%.*s:{}", STR_ARG(text), i ? " " : "", STR_ARG(regions[i]));
    return arena_printf(a, "%.*s]", STR_ARG(text));
}

/* The one region of several zones; absent, and *error set, if there is no such thing. */
static struct str gce_common_region(struct arena *a, struct str zones, struct str *error) {
    struct str *regions = arena_array(a, struct str, zones.n + 1), zone;
    size_t n = 0;
    for (bool more = true; more && !error->p;) {
        more = cut_zone(zones, &zone, &zones);
        regions[n] = gce_region(zone);
        if (!regions[n++].p)
            *error = arena_printf(a,
                                  "failed to get region from zones: zone in unexpected format, "
                                  "expected: {locale}-{region}-{zone}, got: %.*s",
                                  STR_ARG(zone));
    }
    if (error->p)
        return (struct str){0};
    n = sort_unique(regions, n);
    if (n > 1)
        *error = regions_error(a, regions, n);
    return regions[0];
}

static int gce_handle(struct arena *a, const struct api_object *pv, struct str *out,
                      struct str *error) {
    struct str disk =
        sched__pv_body(pv)->spec.persistent_volume_source.gce_persistent_disk->pd_name;
    const struct label *label = labels_find(&pv->meta->labels, STR(OLD_ZONE));
    if (!label || !label->value.n)
        label = labels_find(&pv->meta->labels, STR(ZONE));
    struct str zones = label ? label->value : (struct str){0};
    const char *kind = "zones";
    struct str place = zones.n ? zones : STR(UNSPECIFIED);
    if (str_find(zones, STR("__")) != STR_NONE) {
        kind = "regions";
        place = gce_common_region(a, zones, error);
        if (error->p)
            return -1;
    }
    *out = arena_printf(a, "projects/" UNSPECIFIED "/%s/%.*s/disks/%.*s", kind, STR_ARG(place),
                        STR_ARG(disk));
    return 0;
}

static bool is_managed(struct str kind) {
    static const char managed[] = "managed";
    bool same = kind.n == sizeof managed - 1;
    for (size_t i = 0; i < kind.n && same; i++)
        same = (kind.p[i] | 0x20) == managed[i];
    return same;
}

static int azure_handle(struct arena *a, const struct api_azure_disk_volume_source *source,
                        struct str *out, struct str *error) {
    *out = source->disk_uri;
    if (!source->kind.p || is_managed(source->kind))
        return 0;
    *error = arena_printf(a, "kind(%.*s) is not supported in csi migration", STR_ARG(source->kind));
    return -1;
}

int sched__migration_handle_pv(struct arena *a, const struct api_object *pv, struct str *out,
                               struct str *error) {
    const struct api_persistent_volume_source *source =
        &sched__pv_body(pv)->spec.persistent_volume_source;
    *out = (struct str){0};
    if (source->aws_elastic_block_store)
        return aws_handle(a, source->aws_elastic_block_store->volume_id, out, error);
    if (source->gce_persistent_disk)
        return gce_handle(a, pv, out, error);
    if (source->azure_disk)
        return azure_handle(a, source->azure_disk, out, error);
    if (source->cinder)
        *out = source->cinder->volume_id;
    else if (source->portworx_volume)
        *out = source->portworx_volume->volume_id;
    return 0;
}

int sched__migration_handle_volume(struct arena *a, const struct api_volume *volume,
                                   struct str *out, struct str *error) {
    const struct api_volume_source *source = &volume->volume_source;
    *out = (struct str){0};
    if (source->aws_elastic_block_store)
        return aws_handle(a, source->aws_elastic_block_store->volume_id, out, error);
    if (source->azure_disk)
        return azure_handle(a, source->azure_disk, out, error);
    if (source->gce_persistent_disk)
        *out = arena_printf(a, "projects/" UNSPECIFIED "/zones/" UNSPECIFIED "/disks/%.*s",
                            STR_ARG(source->gce_persistent_disk->pd_name));
    else if (source->cinder)
        *out = source->cinder->volume_id;
    else if (source->portworx_volume)
        *out = source->portworx_volume->volume_id;
    return 0;
}

/* ---- topology ---- */

/* Does any term have an expression with this key? With values, if so asked. */
static bool has_key(const struct api_node_selector *terms, struct str key, bool with_values) {
    for (size_t i = 0; terms && i < terms->node_selector_terms.n; i++) {
        const struct api_node_selector_requirement_list *list =
            &terms->node_selector_terms.v[i].match_expressions;
        for (size_t j = 0; j < list->n; j++)
            if (str_eq(list->v[j].key, key) && (!with_values || list->v[j].values.n))
                return true;
    }
    return false;
}

static void replace_key(struct api_node_selector *terms, struct str from, struct str to) {
    for (size_t i = 0; i < terms->node_selector_terms.n; i++) {
        struct api_node_selector_requirement_list *list =
            &terms->node_selector_terms.v[i].match_expressions;
        for (size_t j = 0; j < list->n; j++)
            if (str_eq(list->v[j].key, from))
                list->v[j].key = to;
    }
}

static struct api_strs split_zones(struct arena *a, struct str label) {
    struct api_strs zones = {arena_array(a, struct str, label.n + 1), 0};
    struct str zone;
    for (bool more = true; more;) {
        more = cut_zone(label, &zone, &label);
        zone = str_trim(zone);
        if (zone.n)
            zones.v[zones.n++] = zone;
    }
    return zones;
}

/* Adds "key In zones" to every term; a term of its own if there is none. */
static void add_zones(struct arena *a, struct api_node_selector *terms, struct str key,
                      struct api_strs zones) {
    struct api_node_selector_term_list *list = &terms->node_selector_terms;
    if (!list->n)
        *list =
            (struct api_node_selector_term_list){arena_new(a, struct api_node_selector_term), 1};
    for (size_t i = 0; i < list->n; i++) {
        struct api_node_selector_requirement_list *old = &list->v[i].match_expressions;
        struct api_node_selector_requirement *v =
            arena_array(a, struct api_node_selector_requirement, old->n + 1);
        for (size_t j = 0; j < old->n; j++)
            v[j] = old->v[j];
        v[old->n].key = key;
        v[old->n].operator= STR("In");
        v[old->n].values = zones;
        *old = (struct api_node_selector_requirement_list){v, old->n + 1};
    }
}

/* Does the volume speak of zones by the old labels? Its affinity is asked before its labels. */
static bool uses_old_labels(const struct api_object *pv, const struct api_node_selector *terms) {
    if (has_key(terms, STR(ZONE), false))
        return false;
    if (has_key(terms, STR(OLD_ZONE), false))
        return true;
    return !labels_find(&pv->meta->labels, STR(ZONE)) &&
           labels_find(&pv->meta->labels, STR(OLD_ZONE));
}

/* A copy with a list of terms, which may be empty. */
static struct api_volume_node_affinity *copy_affinity(struct arena *a,
                                                      const struct api_volume_node_affinity *from) {
    struct api_volume_node_affinity *to = arena_new(a, struct api_volume_node_affinity);
    if (from)
        api_struct_copy(a, &api_types[API_T_volume_node_affinity], from, to);
    if (!to->required)
        to->required = arena_new(a, struct api_node_selector);
    return to;
}

const struct api_volume_node_affinity *sched__migration_affinity(struct arena *a,
                                                                 const struct api_object *pv) {
    const struct api_volume_node_affinity *from = sched__pv_body(pv)->spec.node_affinity;
    struct str key = sched__migration_of_pv(sched__pv_body(pv))->topology;
    if (!key.n)
        return from;
    bool old = uses_old_labels(pv, from ? from->required : NULL);
    struct str zone = old ? STR(OLD_ZONE) : STR(ZONE);
    const struct label *label = labels_find(&pv->meta->labels, zone);
    struct api_volume_node_affinity *to = copy_affinity(a, from);
    struct api_strs zones = {0};
    if (has_key(to->required, zone, true))
        replace_key(to->required, zone, key);
    else if (label && (zones = split_zones(a, label->value)).n)
        add_zones(a, to->required, key, zones);
    else if (!from || !from->required)
        return from;
    if (old && has_key(to->required, STR(OLD_REGION), true))
        replace_key(to->required, STR(OLD_REGION), STR(REGION));
    return to;
}
