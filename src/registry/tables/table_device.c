/*
 * Tables of devices and claims, of volumes' plug-ins, quotas, templates and policies.
 *
 * Follows k8s.io/kubernetes pkg/printers/internalversion, func printResourceClaim,
 * func resourceClaimState, func printResourceSlice, func printVolumeAttachment,
 * func printCSIDriver, func printCSIStorageCapacity, func printResourceQuota,
 * func printPodTemplate, func printControllerRevision, func printValidatingAdmissionPolicy.
 */
#include <stdlib.h>

#include "registry/quota/quota_int.h"
#include "registry/tables/table_int.h"

/* ---- devices ---- */

static void fill_named(struct registry__row *r) {
    registry__cell_name(r);
    registry__cell_age(r);
}

static const struct registry__column named_columns[] = {
    {"Name", "string", false}, {"Age", "string", false}, {0}};

static void fill_resource_claim(struct registry__row *r) {
    const struct api_resource_resource_claim *c = r->o->body;
    bool is_deleted = r->o->meta->deletion_timestamp.set;
    registry__cell_name(r);
    if (c->status.allocation)
        registry__cellf(r, "%sallocated%s", is_deleted ? "deleted," : "",
                        c->status.reserved_for.n ? ",reserved" : "");
    else
        registry__cell(r, is_deleted ? STR("deleted") : STR("pending"));
    registry__cell_age(r);
}

static const struct registry__column resource_claim_columns[] = {
    {"Name", "string", false}, {"State", "string", false}, {"Age", "string", false}, {0}};

static void fill_resource_slice(struct registry__row *r) {
    const struct api_resource_slice *s = r->o->body;
    registry__cell_name(r);
    registry__cell(r, s->spec.node_name);
    registry__cell(r, s->spec.driver);
    registry__cell(r, s->spec.pool.name);
    registry__cell_age(r);
}

static const struct registry__column resource_slice_columns[] = {
    {"Name", "string", false}, {"Node", "string", false}, {"Driver", "string", false},
    {"Pool", "string", false}, {"Age", "string", false},  {0}};

/* ---- volumes ---- */

static void fill_volume_attachment(struct registry__row *r) {
    const struct api_volume_attachment *v = r->o->body;
    registry__cell_name(r);
    registry__cell(r, v->spec.attacher);
    registry__cell(r, v->spec.source.persistent_volume_name);
    registry__cell(r, v->spec.node_name);
    registry__cell_bool(r, v->status.attached);
    registry__cell_age(r);
}

static const struct registry__column volume_attachment_columns[] = {{"Name", "string", false},
                                                                    {"Attacher", "string", false},
                                                                    {"PV", "string", false},
                                                                    {"Node", "string", false},
                                                                    {"Attached", "boolean", false},
                                                                    {"Age", "string", false},
                                                                    {0}};

static void cell_joined(struct registry__row *r, const struct api_strs *list) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < list->n; i++) {
        buf_add(&text, i ? STR(",") : STR(""));
        buf_add(&text, list->v[i]);
    }
    registry__cell_or(r, arena_str(r->a, buf_view(&text)), "<none>");
}

static void cell_audiences(struct registry__row *r, const struct api_token_request_list *list) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < list->n; i++) {
        buf_add(&text, i ? STR(",") : STR(""));
        buf_add(&text, list->v[i].audience);
    }
    registry__cell(r, list->n ? arena_str(r->a, buf_view(&text)) : STR("<unset>"));
}

static void fill_csi_driver(struct registry__row *r) {
    const struct api_csi_driver_spec *s = &((const struct api_csi_driver *)r->o->body)->spec;
    registry__cell_name(r);
    registry__cell_bool(r, !s->attach_required.set || s->attach_required.v);
    registry__cell_bool(r, s->pod_info_on_mount.v);
    registry__cell_bool(r, s->storage_capacity.v);
    cell_audiences(r, &s->token_requests);
    registry__cell_bool(r, s->requires_republish.v);
    cell_joined(r, &s->volume_lifecycle_modes);
    registry__cell_age(r);
}

static const struct registry__column csi_driver_columns[] = {
    {"Name", "string", false},
    {"AttachRequired", "boolean", false},
    {"PodInfoOnMount", "boolean", false},
    {"StorageCapacity", "boolean", false},
    {"TokenRequests", "string", false},
    {"RequiresRepublish", "boolean", false},
    {"Modes", "string", false},
    {"Age", "string", false},
    {0}};

/* ---- quotas ---- */

static int by_key(const void *a, const void *b) {
    const struct api_quantity *const *x = a, *const *y = b;
    return str_cmp((*x)->key, (*y)->key);
}

static void add_quota(struct buf *text, const struct api_resource_quota_status *s,
                      const struct api_quantity *hard) {
    static const struct quantity nothing;
    const struct quantity *used = registry__amount_find(&s->used, hard->key);
    buf_addf(text, "%s%.*s: ", text->n ? ", " : "", STR_ARG(hard->key));
    quantity_write(text, used ? used : &nothing);
    buf_add_char(text, '/');
    quantity_write(text, &hard->value);
}

static void fill_resource_quota(struct registry__row *r) {
    const struct api_resource_quota_status *s =
        &((const struct api_resource_quota *)r->o->body)->status;
    AUTO(buf_release) struct buf requests = BUF_INIT(SIZE_MAX), limits = BUF_INIT(SIZE_MAX);
    const struct api_quantity **list = arena_array(r->a, const struct api_quantity *, s->hard.n);
    for (size_t i = 0; i < s->hard.n; i++)
        list[i] = &s->hard.v[i];
    qsort(list, s->hard.n, sizeof *list, by_key);
    for (size_t i = 0; i < s->hard.n; i++)
        add_quota(str_starts(list[i]->key, STR("limits.")) ? &limits : &requests, s, list[i]);
    registry__cell_name(r);
    registry__cell(r, arena_str(r->a, buf_view(&requests)));
    registry__cell(r, arena_str(r->a, buf_view(&limits)));
    registry__cell_age(r);
}

static const struct registry__column resource_quota_columns[] = {{"Name", "string", false},
                                                                 {"Request", "string", false},
                                                                 {"Limit", "string", false},
                                                                 {"Age", "string", false},
                                                                 {0}};

/* ---- templates, revisions, policies ---- */

static void fill_pod_template(struct registry__row *r) {
    const struct api_pod_template *t = r->o->body;
    registry__cell_name(r);
    registry__cells_containers(r, &t->template.spec.containers);
    registry__cell_labels(r, &t->template.metadata.labels);
}

static const struct registry__column pod_template_columns[] = {{"Name", "string", false},
                                                               {"Containers", "string", false},
                                                               {"Images", "string", false},
                                                               {"Pod Labels", "string", false},
                                                               {0}};

/* kind.group/name, as kubectl writes it. */
static void cell_controller(struct registry__row *r) {
    const struct api_owner_reference *c = api_object_controller(r->o);
    if (!c) {
        registry__cell(r, STR("<none>"));
        return;
    }
    struct str group, version;
    str_cut(c->api_version, '/', &group, &version);
    char *kind = arena_alloc(r->a, c->kind.n + 1);
    for (size_t i = 0; i < c->kind.n; i++)
        kind[i] =
            c->kind.p[i] >= 'A' && c->kind.p[i] <= 'Z' ? (char)(c->kind.p[i] + 32) : c->kind.p[i];
    if (version.n)
        registry__cellf(r, "%.*s.%.*s/%.*s", (int)c->kind.n, kind, STR_ARG(group),
                        STR_ARG(c->name));
    else
        registry__cellf(r, "%.*s/%.*s", (int)c->kind.n, kind, STR_ARG(c->name));
}

static void fill_controller_revision(struct registry__row *r) {
    const struct api_controller_revision *c = r->o->body;
    registry__cell_name(r);
    cell_controller(r);
    registry__cell_i64(r, c->revision);
    registry__cell_age(r);
}

static const struct registry__column controller_revision_columns[] = {
    {"Name", "string", false},
    {"Controller", "string", false},
    {"Revision", "string", false},
    {"Age", "string", false},
    {0}};

const struct registry__table registry__device_tables[] = {
    {API_T_device_class, named_columns, fill_named},
    {API_T_resource_claim_template, named_columns, fill_named},
    {API_T_resource_resource_claim, resource_claim_columns, fill_resource_claim},
    {API_T_resource_slice, resource_slice_columns, fill_resource_slice},
    {API_T_volume_attachment, volume_attachment_columns, fill_volume_attachment},
    {API_T_csi_driver, csi_driver_columns, fill_csi_driver},
    {API_T_resource_quota, resource_quota_columns, fill_resource_quota},
    {API_T_pod_template, pod_template_columns, fill_pod_template},
    {API_T_controller_revision, controller_revision_columns, fill_controller_revision},
    {0},
};
