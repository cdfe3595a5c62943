/*
 * Tables of groups of pods, of addresses and of what else is seldom looked at.
 *
 * Follows k8s.io/kubernetes pkg/printers/internalversion, func printWorkload, func printPodGroup,
 * func printCompositePodGroup, func printServiceCIDR, func printIPAddress,
 * func printStorageVersionMigration, func printLeaseCandidate, func printVolumeAttributesClass,
 * func printDeviceTaint.
 */
#include "base/ascii.h"
#include "registry/tables/table_int.h"

/* ---- groups of pods ---- */

static const struct api_condition *find_condition(const struct api_condition_list *list,
                                                  const char *type) {
    const struct api_condition *found = NULL;
    for (size_t i = 0; i < list->n; i++)
        if (str_is(list->v[i].type, type))
            found = &list->v[i];
    return found;
}

static struct str group_status(const struct api_pod_group *g) {
    const struct api_condition_list *list = &g->status.conditions;
    const struct api_condition *scheduled = find_condition(list, "PodGroupInitiallyScheduled");
    const struct api_condition *disrupted = find_condition(list, "DisruptionTarget");
    if (disrupted)
        return disrupted->reason;
    if (!scheduled)
        return STR("Pending");
    return str_is(scheduled->status, "True") ? STR("Scheduled") : STR("Unschedulable");
}

static void cells_group(struct registry__row *r, bool is_gang,
                        const struct api_workload_reference *workload) {
    registry__cell_name(r);
    registry__cell(r, is_gang ? STR("Gang") : STR("Basic"));
    registry__cell(r, workload ? workload->workload_name : STR("<none>"));
}

static void fill_pod_group(struct registry__row *r) {
    const struct api_pod_group *g = r->o->body;
    cells_group(r, g->spec.scheduling_policy.gang, g->spec.workload_ref);
    registry__cell(r, group_status(g));
    registry__cell_age(r);
}

static const struct registry__column pod_group_columns[] = {
    {"Name", "string", false},   {"Policy", "string", false}, {"Workload", "string", false},
    {"Status", "string", false}, {"Age", "string", false},    {0}};

static void fill_composite_group(struct registry__row *r) {
    const struct api_composite_pod_group *g = r->o->body;
    cells_group(r, g->spec.scheduling_policy.gang, g->spec.workload_ref);
    registry__cell_age(r);
}

static const struct registry__column composite_group_columns[] = {{"Name", "string", false},
                                                                  {"Policy", "string", false},
                                                                  {"Workload", "string", false},
                                                                  {"Age", "string", false},
                                                                  {0}};

static void fill_workload(struct registry__row *r) {
    registry__cell_name(r);
    registry__cell_age(r);
}

static const struct registry__column workload_columns[] = {
    {"Name", "string", false}, {"Age", "string", false}, {0}};

/* ---- addresses ---- */

static void fill_service_cidr(struct registry__row *r) {
    const struct api_service_cidr *s = r->o->body;
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < s->spec.cidrs.n; i++)
        buf_addf(&text, "%s%.*s", i ? "," : "", STR_ARG(s->spec.cidrs.v[i]));
    registry__cell_name(r);
    registry__cell(r, arena_str(r->a, buf_view(&text)));
    registry__cell_age(r);
}

static const struct registry__column service_cidr_columns[] = {
    {"Name", "string", false}, {"CIDRs", "string", false}, {"Age", "string", false}, {0}};

/* services/default/kubernetes: the resource and its group in small letters. */
static struct str parent_text(struct arena *a, const struct api_parent_reference *p) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    buf_addf(&text, "%.*s%s%.*s", STR_ARG(p->resource), p->group.n ? "." : "", STR_ARG(p->group));
    for (size_t i = 0; i < text.n; i++)
        text.p[i] = ascii_to_lower(text.p[i]);
    if (p->namespace.n)
        buf_addf(&text, "/%.*s", STR_ARG(p->namespace));
    buf_addf(&text, "/%.*s", STR_ARG(p->name));
    return arena_str(a, buf_view(&text));
}

/* Upstream gives the age a cell and no column. */
static void fill_ip_address(struct registry__row *r) {
    const struct api_parent_reference *p =
        ((const struct api_ip_address *)r->o->body)->spec.parent_ref;
    registry__cell_name(r);
    registry__cell(r, p ? parent_text(r->a, p) : STR("<none>"));
    registry__cell_age(r);
}

static const struct registry__column ip_address_columns[] = {
    {"Name", "string", false}, {"ParentRef", "string", false}, {0}};

/* ---- others ---- */

static bool is_progress(struct str type) {
    return str_is(type, "Running") || str_is(type, "Failed") || str_is(type, "Succeeded");
}

static void fill_migration(struct registry__row *r) {
    const struct api_storage_version_migration *m = r->o->body;
    const struct api_condition_list *list = &m->status.conditions;
    const struct api_group_resource *of = &m->spec.resource;
    struct str status = STR("Unknown");
    for (size_t i = 0; i < list->n; i++)
        if (str_is(list->v[i].status, "True") && is_progress(list->v[i].type))
            status = list->v[i].type;
    registry__cell_name(r);
    registry__cellf(r, "%.*s%s%.*s", STR_ARG(of->resource), of->group.n ? "." : "",
                    STR_ARG(of->group));
    registry__cell(r, status);
}

static const struct registry__column migration_columns[] = {
    {"Name", "string", false}, {"Resource", "string", false}, {"Status", "string", false}, {0}};

static void fill_lease_candidate(struct registry__row *r) {
    const struct api_lease_candidate *c = r->o->body;
    registry__cell_name(r);
    registry__cell(r, c->spec.lease_name);
    registry__cell(r, c->spec.binary_version);
    registry__cell(r, c->spec.emulation_version);
    registry__cell_age(r);
}

static const struct registry__column lease_candidate_columns[] = {
    {"Name", "string", false},          {"LeaseName", "string", false},
    {"BinaryVersion", "string", false}, {"EmulationVersion", "string", false},
    {"Age", "string", false},           {0}};

static void fill_attributes_class(struct registry__row *r) {
    registry__cell_name(r);
    registry__cell(r, ((const struct api_volume_attributes_class *)r->o->body)->driver_name);
    registry__cell_age(r);
}

static const struct registry__column attributes_class_columns[] = {
    {"Name", "string", false}, {"DriverName", "string", false}, {"Age", "string", false}, {0}};

static void fill_taint_rule(struct registry__row *r) {
    const struct api_device_taint *t =
        &((const struct api_device_taint_rule *)r->o->body)->spec.taint;
    registry__cell_name(r);
    registry__cell(r, t->key);
    registry__cell(r, t->value);
    registry__cell(r, t->effect);
    if (t->time_added.set)
        registry__cell_since(r, t->time_added);
    else
        registry__cell(r, STR(""));
    registry__cell_age(r);
}

static const struct registry__column taint_rule_columns[] = {{"Name", "string", false},
                                                             {"Key", "string", false},
                                                             {"Value", "string", false},
                                                             {"Effect", "string", false},
                                                             {"TimeAdded", "string", false},
                                                             {"Age", "string", false},
                                                             {0}};

const struct registry__table registry__group_tables[] = {
    {API_T_pod_group, pod_group_columns, fill_pod_group},
    {API_T_composite_pod_group, composite_group_columns, fill_composite_group},
    {API_T_workload, workload_columns, fill_workload},
    {API_T_service_cidr, service_cidr_columns, fill_service_cidr},
    {API_T_ip_address, ip_address_columns, fill_ip_address},
    {API_T_storage_version_migration, migration_columns, fill_migration},
    {API_T_lease_candidate, lease_candidate_columns, fill_lease_candidate},
    {API_T_volume_attributes_class, attributes_class_columns, fill_attributes_class},
    {API_T_device_taint_rule, taint_rule_columns, fill_taint_rule},
    {0},
};
