/*
 * Tables of classes, leases, roles and what is bound to them.
 *
 * Follows k8s.io/kubernetes pkg/printers/internalversion, func printPriorityClass, func printLease,
 * func printRoleBinding, func printClusterRoleBinding, func printRuntimeClass.
 */
#include "registry/tables/table_int.h"

static void fill_priority_class(struct registry__row *r) {
    const struct api_priority_class *c = r->o->body;
    registry__cell_name(r);
    registry__cell_i64(r, c->value);
    registry__cell_bool(r, c->global_default);
    registry__cell_age(r);
    registry__cell(r, c->preemption_policy);
}

static const struct registry__column priority_class_columns[] = {
    {"Name", "string", false},
    {"Value", "integer", false},
    {"Global-Default", "boolean", false},
    {"Age", "string", false},
    {"PreemptionPolicy", "string", false},
    {0}};

static void fill_lease(struct registry__row *r) {
    registry__cell_name(r);
    registry__cell(r, ((const struct api_lease *)r->o->body)->spec.holder_identity);
    registry__cell_age(r);
}

static const struct registry__column lease_columns[] = {
    {"Name", "string", false}, {"Holder", "string", false}, {"Age", "string", false}, {0}};

static void fill_runtime_class(struct registry__row *r) {
    registry__cell_name(r);
    registry__cell(r, ((const struct api_runtime_class *)r->o->body)->handler);
    registry__cell_age(r);
}

static const struct registry__column runtime_class_columns[] = {
    {"Name", "string", false}, {"Handler", "string", false}, {"Age", "string", false}, {0}};

/* ---- who has a role ---- */

static void cell_subjects(struct registry__row *r, const struct api_subject_list *list,
                          const char *kind) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < list->n; i++) {
        if (!str_is(list->v[i].kind, kind))
            continue;
        buf_add(&text, text.n ? STR(", ") : STR(""));
        if (str_is(list->v[i].kind, "ServiceAccount"))
            buf_addf(&text, "%.*s/", STR_ARG(list->v[i].namespace));
        buf_add(&text, list->v[i].name);
    }
    registry__cell(r, arena_str(r->a, buf_view(&text)));
}

static void cells_binding(struct registry__row *r, const struct api_role_ref *role,
                          const struct api_subject_list *subjects) {
    registry__cell_name(r);
    registry__cellf(r, "%.*s/%.*s", STR_ARG(role->kind), STR_ARG(role->name));
    registry__cell_age(r);
    cell_subjects(r, subjects, "User");
    cell_subjects(r, subjects, "Group");
    cell_subjects(r, subjects, "ServiceAccount");
}

static void fill_role_binding(struct registry__row *r) {
    const struct api_role_binding *b = r->o->body;
    cells_binding(r, &b->role_ref, &b->subjects);
}

static void fill_cluster_role_binding(struct registry__row *r) {
    const struct api_cluster_role_binding *b = r->o->body;
    cells_binding(r, &b->role_ref, &b->subjects);
}

static const struct registry__column binding_columns[] = {{"Name", "string", false},
                                                          {"Role", "string", false},
                                                          {"Age", "string", false},
                                                          {"Users", "string", true},
                                                          {"Groups", "string", true},
                                                          {"ServiceAccounts", "string", true},
                                                          {0}};

const struct registry__table registry__other_tables[] = {
    {API_T_priority_class, priority_class_columns, fill_priority_class},
    {API_T_lease, lease_columns, fill_lease},
    {API_T_runtime_class, runtime_class_columns, fill_runtime_class},
    {API_T_role_binding, binding_columns, fill_role_binding},
    {API_T_cluster_role_binding, binding_columns, fill_cluster_role_binding},
    {0},
};
