/*
 * Nobody may give others what they do not have: writes to roles and bindings.
 *
 * Follows k8s.io/kubernetes pkg/registry/rbac/validation, func ConfirmNoEscalation,
 * func CompactRules.
 * Follows k8s.io/kubernetes pkg/registry/rbac, func RoleEscalationAuthorized,
 * func BindingAuthorized, func IsOnlyMutatingGCFields.
 * Follows k8s.io/kubernetes pkg/apis/rbac/v1, func CompactString.
 */
#include <stdlib.h>

#include "auth/rbac_int.h"
#include "base/goquote.h"
#include "base/limits.h"
#include "base/vec.h"

#define GROUP "rbac.authorization.k8s.io"

/* ---- the text about what is missing ---- */

/* A line: what is missing of one resource, or of one URL. */
struct line {
    const struct api_policy_rule *first; /* has all but the other verbs */
    VEC(struct str) verbs;
    struct str text;
};

static void write_list(struct buf *out, const char *name, const struct api_strs *list,
                       const char **separator) {
    if (!list->n)
        return;
    buf_addf(out, "%s%s:", *separator, name);
    auth__strs_write(out, list);
    *separator = ", ";
}

static struct str line_text(struct arena *a, const struct line *l) {
    AUTO(buf_release) struct buf b = BUF_INIT(LIMIT_AUTH_ESCALATION_BYTES);
    const char *separator = "";
    struct api_strs verbs = {.v = l->verbs.v, .n = l->verbs.n};
    buf_add_char(&b, '{');
    write_list(&b, "APIGroups", &l->first->api_groups, &separator);
    write_list(&b, "Resources", &l->first->resources, &separator);
    write_list(&b, "NonResourceURLs", &l->first->non_resource_urls, &separator);
    write_list(&b, "ResourceNames", &l->first->resource_names, &separator);
    write_list(&b, "Verbs", &verbs, &separator);
    buf_add_char(&b, '}');
    return arena_str(a, buf_view(&b));
}

/* Parts that differ in their verb alone have the same key; those of URLs are never joined. */
static struct str key_of(struct arena *a, const struct api_policy_rule *r, size_t place) {
    if (r->non_resource_urls.n)
        return arena_printf(a, "%zu", place);
    AUTO(buf_release) struct buf b = BUF_INIT(SIZE_MAX);
    auth__strs_write(&b, &r->api_groups);
    auth__strs_write(&b, &r->resources);
    auth__strs_write(&b, &r->resource_names);
    return arena_str(a, buf_view(&b));
}

static int compare_lines(const void *a, const void *b) {
    const struct line *const *x = a, *const *y = b;
    return str_cmp((*x)->text, (*y)->text);
}

/* Each line once, sorted. */
static void write_lines(struct buf *out, struct line **v, size_t n) {
    if (n)
        qsort(v, n, sizeof *v, compare_lines);
    for (size_t i = 0; i < n; i++) {
        if (i && str_eq(v[i]->text, v[i - 1]->text))
            continue;
        buf_add(out, i ? STR("\n") : STR(""));
        buf_add(out, v[i]->text);
    }
}

static void write_missing(struct buf *out, struct arena *a,
                          const struct auth__rules_list *missing) {
    struct map by_key = MAP_INIT(map_random_seed());
    VEC(struct line *) lines = {0};
    for (size_t i = 0; i < missing->n; i++) {
        struct str key = key_of(a, &missing->v[i], i);
        struct line *l = map_get(&by_key, key);
        if (!l) {
            l = arena_new(a, struct line);
            l->first = &missing->v[i];
            map_put(&by_key, key, l);
            vec_push(&lines, l);
        }
        vec_push(&l->verbs, missing->v[i].verbs.v[0]);
    }
    for (size_t i = 0; i < lines.n; i++) {
        lines.v[i]->text = line_text(a, lines.v[i]);
        vec_release(&lines.v[i]->verbs);
    }
    write_lines(out, lines.v, lines.n);
    vec_release(&lines);
    map_release(&by_key);
}

/* ---- escalation ---- */

static struct str describe(struct arena *a, const struct auth_user *user,
                           const struct auth_granted *held,
                           const struct auth__rules_list *missing) {
    AUTO(buf_release) struct buf b = BUF_INIT(LIMIT_AUTH_ESCALATION_BYTES);
    buf_add(&b, STR("user "));
    goquote_write(&b, user->name);
    buf_add(&b, STR(" (groups="));
    auth__strs_write(&b, &user->groups);
    buf_add(&b, STR(") is attempting to grant RBAC permissions not currently held:\n"));
    write_missing(&b, a, missing);
    if (held->missing.n) {
        buf_add(&b, STR("; resolution errors: ["));
        buf_add(&b, held->missing);
        buf_add_char(&b, ']');
    }
    return arena_str(a, buf_view(&b));
}

/* Why the user may not grant these rules in the namespace; empty when nothing speaks against it. */
static struct str confirm(const struct auth_rules *rules, struct arena *a,
                          const struct auth_user *user, struct str namespace,
                          const struct api_policy_rule_list *wanted) {
    struct auth__rules_list missing = {0};
    struct auth_granted held = auth__rules_granted(rules, a, user, namespace, true);
    struct str why = STR("");
    if (!auth__rules_missing(a, held.v, held.n, wanted, &missing))
        why = STR("the rules are too many to find out whether all of them are currently held");
    else if (missing.n)
        why = describe(a, user, &held, &missing);
    vec_release(&missing);
    return why;
}

/* ---- who may do it all the same ---- */

static bool may(const struct auth_rules *rules, const struct auth_write *w, const char *verb,
                struct auth_attributes q) {
    q.user = w->user;
    q.verb = str_of(verb);
    q.is_resource = true;
    q.version = STR("*");
    return auth_check(rules, &q).allowed;
}

static bool may_escalate(const struct auth_rules *rules, const struct auth_write *w) {
    return may(rules, w, "escalate",
               (struct auth_attributes){.group = STR(GROUP),
                                        .resource = str_of(w->object->kind->plural),
                                        .namespace = w->namespace,
                                        .name = w->name});
}

static bool may_bind(const struct auth_rules *rules, const struct auth_write *w,
                     const struct api_role_ref *ref) {
    bool of_cluster = str_is(ref->kind, "ClusterRole");
    if (!of_cluster && !str_is(ref->kind, "Role"))
        return false;
    return may(rules, w, "bind",
               (struct auth_attributes){.group = ref->api_group,
                                        .resource = of_cluster ? STR("clusterroles") : STR("roles"),
                                        .namespace = w->namespace,
                                        .name = ref->name});
}

/* The object without what the garbage collector writes, and without empty rules, which may be null
 * as well. */
static struct json without_gc_fields(struct arena *a, const struct api_object *o) {
    static const char *const dropped[] = {"ownerReferences", "finalizers", "selfLink",
                                          "managedFields"};
    struct json tree = api_object_encode(o, a), out = {.kind = JSON_OBJECT};
    for (uint32_t i = 0; i < tree.n; i++) {
        struct json_member *m = &tree.members[i];
        if (str_is(m->key, "rules") && m->value.n == 0)
            continue;
        struct json *copy = json_add(a, &out, m->key, m->value);
        if (!str_is(m->key, "metadata"))
            continue;
        *copy = (struct json){.kind = JSON_OBJECT};
        for (uint32_t k = 0; k < m->value.n; k++) {
            bool keep = true;
            for (size_t d = 0; d < sizeof dropped / sizeof *dropped; d++)
                keep = keep && !str_is(m->value.members[k].key, dropped[d]);
            if (keep)
                json_add(a, copy, m->value.members[k].key, m->value.members[k].value);
        }
    }
    return out;
}

static bool changes_gc_fields_alone(struct arena *a, const struct auth_write *w) {
    if (!w->old)
        return false;
    struct json now = without_gc_fields(a, w->object), before = without_gc_fields(a, w->old);
    return json_equal(&now, &before);
}

/* ---- writes ---- */

static struct registry_failure refuse(struct arena *a, const struct auth_write *w, struct str why) {
    return auth_refuse(a, STR(GROUP), str_of(w->object->kind->plural), w->object->meta->name, why);
}

static bool is_aggregated(const struct api_object *o) {
    if (!o || !api_object_is(o, API_T_cluster_role))
        return false;
    const struct api_aggregation_rule *rule =
        ((const struct api_cluster_role *)o->body)->aggregation_rule;
    return rule && rule->cluster_role_selectors.n;
}

/* May the user do everything? Whoever aggregates roles may get anything by it. */
static bool has_full_authority(const struct auth_rules *rules, struct arena *a,
                               const struct auth_write *w) {
    struct str star = STR("*");
    struct api_strs any = {.v = &star, .n = 1};
    struct api_policy_rule all[] = {{.verbs = any, .api_groups = any, .resources = any},
                                    {.verbs = any, .non_resource_urls = any}};
    struct api_policy_rule_list list = {.v = all, .n = 2};
    return !confirm(rules, a, w->user, w->namespace, &list).n;
}

static struct registry_failure confirm_role(const struct auth_rules *rules, struct arena *a,
                                            const struct auth_write *w,
                                            const struct api_policy_rule_list *wanted) {
    if (may_escalate(rules, w) || changes_gc_fields_alone(a, w))
        return (struct registry_failure){0};
    struct str why = confirm(rules, a, w->user, w->namespace, wanted);
    if (why.n)
        return refuse(a, w, why);
    if ((is_aggregated(w->object) || is_aggregated(w->old)) && !has_full_authority(rules, a, w))
        return refuse(a, w, STR("must have cluster-admin privileges to use the aggregationRule"));
    return (struct registry_failure){0};
}

/* The role that is to be bound is missing. */
static struct registry_failure not_found(struct arena *a, const struct api_role_ref *ref) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    auth__role_missing_write(&text, ref, true);
    struct registry_failure f = {.message = arena_str(a, buf_view(&text))};
    bool of_cluster = str_is(ref->kind, "ClusterRole");
    if (!of_cluster && !str_is(ref->kind, "Role")) {
        f.code = ERR_INTERNAL;
        return f;
    }
    f.code = ERR_NOT_FOUND;
    f.group = STR(GROUP);
    f.kind = of_cluster ? STR("clusterroles") : STR("roles");
    f.name = ref->name;
    return f;
}

static struct registry_failure confirm_binding(const struct auth_rules *rules, struct arena *a,
                                               const struct auth_write *w) {
    const struct api_role_ref *ref = auth__role_ref(w->object);
    if (changes_gc_fields_alone(a, w) || may_bind(rules, w, ref))
        return (struct registry_failure){0};
    const struct auth__scope *scope = auth__scope_find(rules, w->namespace);
    const struct auth__role *role = auth__role_find(rules, scope, ref);
    if (!role)
        return not_found(a, ref);
    struct str why = confirm(rules, a, w->user, w->namespace, role->rules);
    return why.n ? refuse(a, w, why) : (struct registry_failure){0};
}

struct registry_failure auth_confirm_write(const struct auth_rules *rules, struct arena *a,
                                           const struct auth_write *w) {
    const struct api_object *o = w->object;
    if (auth_user_is_in(w->user, STR(AUTH_MASTERS)))
        return (struct registry_failure){0};
    if (api_object_is(o, API_T_role))
        return confirm_role(rules, a, w, &((const struct api_role *)o->body)->rules);
    if (api_object_is(o, API_T_cluster_role))
        return confirm_role(rules, a, w, &((const struct api_cluster_role *)o->body)->rules);
    if (api_object_is(o, API_T_role_binding) || api_object_is(o, API_T_cluster_role_binding))
        return confirm_binding(rules, a, w);
    return (struct registry_failure){0};
}
