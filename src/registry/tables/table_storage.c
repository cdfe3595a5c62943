/*
 * Tables of volumes, claims and their classes.
 *
 * Follows k8s.io/kubernetes pkg/printers/internalversion, func printPersistentVolume,
 * func printPersistentVolumeClaim, func printStorageClassInternal, func printCSINode.
 */
#include "registry/tables/table_int.h"

/* RWO,ROX: each mode once, in this order. */
static struct str modes_of(struct arena *a, const struct api_strs *modes) {
    static const struct {
        const char *mode, *shown;
    } rows[] = {{"ReadWriteOnce", "RWO"},
                {"ReadOnlyMany", "ROX"},
                {"ReadWriteMany", "RWX"},
                {"ReadWriteOncePod", "RWOP"}};
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (size_t k = 0; k < modes->n; k++)
            if (str_is(modes->v[k], rows[i].mode)) {
                buf_addf(&text, "%s%s", text.n ? "," : "", rows[i].shown);
                break;
            }
    return arena_str(a, buf_view(&text));
}

static struct str storage_of(struct arena *a, const struct api_quantities *amounts) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < amounts->n; i++)
        if (str_is(amounts->v[i].key, "storage")) {
            quantity_write(&text, &amounts->v[i].value);
            return arena_str(a, buf_view(&text));
        }
    return STR("0");
}

#define CLASS_ANNOTATION STR("volume.beta.kubernetes.io/storage-class")

static struct str class_of(const struct api_object_meta *meta, struct str class) {
    const struct label *old = labels_find(&meta->annotations, CLASS_ANNOTATION);
    return old ? old->value : class;
}

static struct str phase_of(const struct api_object_meta *meta, struct str phase) {
    return meta->deletion_timestamp.set ? STR("Terminating") : phase;
}

static void fill_volume(struct registry__row *r) {
    const struct api_persistent_volume *v = r->o->body;
    const struct api_object_reference *claim = v->spec.claim_ref;
    registry__cell_name(r);
    registry__cell(r, storage_of(r->a, &v->spec.capacity));
    registry__cell(r, modes_of(r->a, &v->spec.access_modes));
    registry__cell(r, v->spec.persistent_volume_reclaim_policy);
    registry__cell(r, phase_of(&v->metadata, v->status.phase));
    if (claim)
        registry__cellf(r, "%.*s/%.*s", STR_ARG(claim->namespace), STR_ARG(claim->name));
    else
        registry__cell(r, STR(""));
    registry__cell(r, class_of(&v->metadata, v->spec.storage_class_name));
    registry__cell(r, v->spec.volume_attributes_class_name.p ? v->spec.volume_attributes_class_name
                                                             : STR("<unset>"));
    registry__cell(r, v->status.reason);
    registry__cell_age(r);
    registry__cell(r, v->spec.volume_mode.p ? v->spec.volume_mode : STR("<unset>"));
}

static const struct registry__column volume_columns[] = {
    {"Name", "string", false},         {"Capacity", "string", false},
    {"Access Modes", "string", false}, {"Reclaim Policy", "string", false},
    {"Status", "string", false},       {"Claim", "string", false},
    {"StorageClass", "string", false}, {"VolumeAttributesClass", "string", false},
    {"Reason", "string", false},       {"Age", "string", false},
    {"VolumeMode", "string", true},    {0}};

static void fill_claim(struct registry__row *r) {
    const struct api_persistent_volume_claim *c = r->o->body;
    bool is_bound = c->spec.volume_name.n > 0;
    registry__cell_name(r);
    registry__cell(r, phase_of(&c->metadata, c->status.phase));
    registry__cell(r, c->spec.volume_name);
    registry__cell(r, is_bound ? storage_of(r->a, &c->status.capacity) : STR(""));
    registry__cell(r, is_bound ? modes_of(r->a, &c->status.access_modes) : STR(""));
    registry__cell(r, class_of(&c->metadata, c->spec.storage_class_name));
    registry__cell(r, c->spec.volume_attributes_class_name.p ? c->spec.volume_attributes_class_name
                                                             : STR("<unset>"));
    registry__cell_age(r);
    registry__cell(r, c->spec.volume_mode.p ? c->spec.volume_mode : STR("<unset>"));
}

static const struct registry__column claim_columns[] = {{"Name", "string", false},
                                                        {"Status", "string", false},
                                                        {"Volume", "string", false},
                                                        {"Capacity", "string", false},
                                                        {"Access Modes", "string", false},
                                                        {"StorageClass", "string", false},
                                                        {"VolumeAttributesClass", "string", false},
                                                        {"Age", "string", false},
                                                        {"VolumeMode", "string", true},
                                                        {0}};

static void fill_storage_class(struct registry__row *r) {
    const struct api_storage_class *c = r->o->body;
    const struct label *l =
        labels_find(&c->metadata.annotations, STR("storageclass.kubernetes.io/is-default-class"));
    registry__cellf(r, "%.*s%s", STR_ARG(c->metadata.name),
                    l && str_is(l->value, "true") ? " (default)" : "");
    registry__cell(r, c->provisioner);
    registry__cell(r, c->reclaim_policy.p ? c->reclaim_policy : STR("Delete"));
    registry__cell(r, c->volume_binding_mode.p ? c->volume_binding_mode : STR("Immediate"));
    registry__cell_bool(r, c->allow_volume_expansion.set && c->allow_volume_expansion.v);
    registry__cell_age(r);
}

static const struct registry__column storage_class_columns[] = {
    {"Name", "string", false},
    {"Provisioner", "string", false},
    {"ReclaimPolicy", "string", false},
    {"VolumeBindingMode", "string", false},
    {"AllowVolumeExpansion", "string", false},
    {"Age", "string", false},
    {0}};

static void fill_csi_node(struct registry__row *r) {
    const struct api_csi_node *n = r->o->body;
    registry__cell_name(r);
    registry__cell_i64(r, (int64_t)n->spec.drivers.n);
    registry__cell_age(r);
}

static const struct registry__column csi_node_columns[] = {
    {"Name", "string", false}, {"Drivers", "integer", false}, {"Age", "string", false}, {0}};

const struct registry__table registry__storage_tables[] = {
    {API_T_persistent_volume, volume_columns, fill_volume},
    {API_T_persistent_volume_claim, claim_columns, fill_claim},
    {API_T_storage_class, storage_class_columns, fill_storage_class},
    {API_T_csi_node, csi_node_columns, fill_csi_node},
    {0},
};
