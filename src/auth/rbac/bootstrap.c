/*
 * Objects from the table of roles and bindings that every cluster has.
 *
 * Follows k8s.io/kubernetes plugin/pkg/auth/authorizer/rbac/bootstrappolicy, func ClusterRoles,
 * func ClusterRoleBindings, func ControllerRoles, func NamespaceRoles.
 */
#include "auth/bootstrap.h"

#include "base/arena.h"

#define GROUP  "rbac.authorization.k8s.io"
#define PREFIX "system:controller:" /* of the names of roles for controllers */

enum row_kind {
    ROW_CLUSTER_ROLE,
    ROW_CONTROLLER,
    ROW_ROLE,
    ROW_RULE,
    ROW_URLS,
    ROW_CLUSTER_BINDING,
    ROW_BINDING,
};

/* A line of the table; texts that a line does not have are NULL. */
struct row {
    enum row_kind kind;
    const char *namespace, *name;
    const char *labels, *aggregates;          /* of a role */
    const char *verbs, *groups, *what, *only; /* of a rule: resources or URLs, and names */
    const char *role, *subjects;              /* of a binding */
};

#define READ       "get,list,watch"
#define WRITE      "create,delete,deletecollection,patch,update"
#define READ_WRITE "create,delete,deletecollection,get,list,patch,update,watch"
#define EVENTS     RULE("create,patch,update", ",events.k8s.io", "events")

#define ROW(row_kind, ...)    {.kind = ROW_##row_kind, __VA_ARGS__},
#define CLUSTER_ROLE(n)       ROW(CLUSTER_ROLE, .name = n)
#define LABELLED(n, l)        ROW(CLUSTER_ROLE, .name = n, .labels = l)
#define AGGREGATED(n, l, a)   ROW(CLUSTER_ROLE, .name = n, .labels = l, .aggregates = a)
#define CONTROLLER(n)         ROW(CONTROLLER, .name = n)
#define ROLE(s, n)            ROW(ROLE, .namespace = s, .name = n)
#define RULE(v, g, r)         ROW(RULE, .verbs = v, .groups = g, .what = r)
#define NAMED(v, g, r, o)     ROW(RULE, .verbs = v, .groups = g, .what = r, .only = o)
#define URLS(v, u)            ROW(URLS, .verbs = v, .what = u)
#define CLUSTER_BINDING(n, s) ROW(CLUSTER_BINDING, .name = n, .role = n, .subjects = s)
#define BINDING(s, n, r, w)   ROW(BINDING, .namespace = s, .name = n, .role = r, .subjects = w)

static const struct row rows[] = {
#include "auth/rbac/bootstrap.def"
};
enum { ROWS = sizeof rows / sizeof *rows };

/* ---- lists ---- */

/* How many items a list of the table has; an empty one of groups has one. */
static size_t count_items(const char *list) {
    size_t n = 1;
    for (; *list; list++)
        n += *list == ',';
    return n;
}

static struct api_strs items_of(struct arena *a, const char *list) {
    struct api_strs items = {0};
    struct str rest = str_of(list);
    if (!list)
        return items;
    items.v = arena_array(a, struct str, count_items(list));
    for (bool more = true; more;)
        more = str_cut(rest, ',', &items.v[items.n++], &rest);
    return items;
}

/* ---- objects ---- */

static void label(struct arena *a, struct labels *labels, const char *key, const char *value) {
    labels_put(a, labels, (struct label){str_of(key), str_of(value)});
}

static struct labels labels_of(struct arena *a, const char *list) {
    struct labels labels = {0};
    struct api_strs keys = items_of(a, list && *list ? list : NULL);
    for (size_t i = 0; i < keys.n; i++)
        label(a, &labels, arena_printf(a, GROUP "/%.*s", STR_ARG(keys.v[i])).p, "true");
    return labels;
}

static struct api_object *make(const char *kind, const struct row *row, struct str name) {
    struct api_object *o = api_object_new(api_kind_find(STR(GROUP "/v1"), str_of(kind)));
    struct api_object_meta *m = api_own_meta(o);
    m->name = name;
    m->namespace = row->namespace ? str_of(row->namespace) : STR("");
    m->labels = labels_of(&o->arena, row->labels);
    label(&o->arena, &m->labels, "kubernetes.io/bootstrapping", "rbac-defaults");
    label(&o->arena, &m->annotations, "rbac.authorization.kubernetes.io/autoupdate", "true");
    return o;
}

/* The rules behind the row of a role. */
static struct api_policy_rule_list rules_of(struct arena *a, const struct row *role) {
    const struct row *end = role + 1;
    while (end < rows + ROWS && (end->kind == ROW_RULE || end->kind == ROW_URLS))
        end++;
    size_t n = (size_t)(end - role - 1);
    if (!n)
        return (struct api_policy_rule_list){0};
    struct api_policy_rule_list rules = {.v = arena_array(a, struct api_policy_rule, n), .n = n};
    for (size_t i = 0; i < n; i++) {
        const struct row *row = role + 1 + i;
        struct api_policy_rule *rule = &rules.v[i];
        rule->verbs = items_of(a, row->verbs);
        rule->api_groups = items_of(a, row->groups);
        rule->resource_names = items_of(a, row->only);
        *(row->kind == ROW_URLS ? &rule->non_resource_urls : &rule->resources) =
            items_of(a, row->what);
    }
    return rules;
}

static struct api_aggregation_rule *aggregation_of(struct arena *a, const char *list) {
    if (!list)
        return NULL;
    struct api_aggregation_rule *rule = arena_new(a, struct api_aggregation_rule);
    rule->cluster_role_selectors.n = 1;
    rule->cluster_role_selectors.v = arena_array(a, struct api_label_selector, 1);
    rule->cluster_role_selectors.v[0].match_labels = labels_of(a, list);
    return rule;
}

/* The name of what belongs to a controller, which stands behind a prefix. */
static struct str full_name(struct arena *a, const struct row *row) {
    return row->kind == ROW_CONTROLLER ? arena_printf(a, PREFIX "%s", row->name)
                                       : str_of(row->name);
}

static struct api_object *make_cluster_role(const struct row *row) {
    struct api_object *o = make("ClusterRole", row, STR(""));
    struct api_cluster_role *role = api_own_body(o);
    role->metadata.name = full_name(&o->arena, row);
    role->rules = rules_of(&o->arena, row);
    role->aggregation_rule = aggregation_of(&o->arena, row->aggregates);
    return o;
}

static struct api_object *make_role(const struct row *row) {
    struct api_object *o = make("Role", row, str_of(row->name));
    ((struct api_role *)api_own_body(o))->rules = rules_of(&o->arena, row);
    return o;
}

/* User NAME, Group NAME or ServiceAccount NAMESPACE/NAME */
static struct api_subject subject_of(struct str text) {
    struct api_subject s = {0};
    str_cut(text, ' ', &s.kind, &s.name);
    if (str_is(s.kind, "ServiceAccount"))
        str_cut(s.name, '/', &s.namespace, &s.name);
    else
        s.api_group = STR(GROUP);
    return s;
}

static struct api_subject_list subjects_of(struct arena *a, const char *list) {
    struct api_strs texts = items_of(a, list && *list ? list : NULL);
    struct api_subject_list subjects = {.n = texts.n};
    if (texts.n)
        subjects.v = arena_array(a, struct api_subject, texts.n);
    for (size_t i = 0; i < texts.n; i++)
        subjects.v[i] = subject_of(texts.v[i]);
    return subjects;
}

static struct api_role_ref ref_to(const char *kind, struct str name) {
    return (struct api_role_ref){.api_group = STR(GROUP), .kind = str_of(kind), .name = name};
}

static struct api_object *make_cluster_binding(const struct row *row) {
    struct api_object *o = make("ClusterRoleBinding", row, STR(""));
    struct api_cluster_role_binding *b = api_own_body(o);
    bool of_controller = row->kind == ROW_CONTROLLER;
    b->metadata.name = full_name(&o->arena, row);
    b->role_ref = ref_to("ClusterRole", b->metadata.name);
    b->subjects = subjects_of(
        &o->arena, of_controller
                       ? arena_printf(&o->arena, "ServiceAccount kube-system/%s", row->name).p
                       : row->subjects);
    return o;
}

static struct api_object *make_binding(const struct row *row) {
    struct api_object *o = make("RoleBinding", row, str_of(row->name));
    struct api_role_binding *b = api_own_body(o);
    b->role_ref = ref_to("Role", str_of(row->role));
    b->subjects = subjects_of(&o->arena, row->subjects);
    return o;
}

void auth_bootstrap_each(auth_bootstrap_fn *visit, void *ctx) {
    static const struct {
        enum row_kind kinds[2];
        struct api_object *(*make)(const struct row *row);
    } passes[] = {{{ROW_CLUSTER_ROLE, ROW_CONTROLLER}, make_cluster_role},
                  {{ROW_CLUSTER_BINDING, ROW_CONTROLLER}, make_cluster_binding},
                  {{ROW_ROLE, ROW_ROLE}, make_role},
                  {{ROW_BINDING, ROW_BINDING}, make_binding}};
    for (size_t p = 0; p < sizeof passes / sizeof *passes; p++)
        for (size_t i = 0; i < ROWS; i++)
            if (rows[i].kind == passes[p].kinds[0] || rows[i].kind == passes[p].kinds[1])
                visit(ctx, passes[p].make(&rows[i]));
}
