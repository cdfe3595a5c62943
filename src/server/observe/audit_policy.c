/* Rules are read once into lists of texts; the first one that matches counts. */
#include "server/audit_policy.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "codec/yml.h"

const char *const server_audit_levels[] = {"None", "Metadata", "Request", "RequestResponse", NULL};
const char *const server_audit_stages[] = {"RequestReceived", "ResponseStarted", "ResponseComplete",
                                           "Panic", NULL};

struct resources {
    struct str group;
    struct api_strs resources, names;
};

struct rule {
    struct server_audit_rule what;
    struct api_strs users, groups, verbs, namespaces, urls;
    struct resources *resources;
    size_t n;
};

struct server_audit_policy {
    struct arena arena;
    struct rule *rules;
    size_t n;
    uint32_t omitted;
    bool omits_managed_fields;
};

/* ---- reading ---- */

struct reader {
    struct server_audit_policy *policy;
    struct err *err;
};

static int find_name(const char *const *names, struct str name) {
    for (int i = 0; names[i]; i++)
        if (str_is(name, names[i]))
            return i;
    return -1;
}

static int read_strings(struct reader *r, const struct json *v, struct api_strs *out) {
    if (v->kind == JSON_NULL)
        return 0;
    if (v->kind != JSON_ARRAY)
        return err_set(r->err, ERR_INVALID, "a list of texts is expected");
    *out = (struct api_strs){arena_array(&r->policy->arena, struct str, v->n), 0};
    for (uint32_t i = 0; i < v->n; i++) {
        const struct json *item = &v->items[i];
        if (item->kind != JSON_STRING)
            return err_set(r->err, ERR_INVALID, "a list of texts is expected");
        out->v[out->n++] = json_str(item);
    }
    return 0;
}

static int read_stages(struct reader *r, const struct json *v, uint32_t *out) {
    struct api_strs names = {0};
    if (read_strings(r, v, &names) < 0)
        return -1;
    for (size_t i = 0; i < names.n; i++) {
        int stage = find_name(server_audit_stages, names.v[i]);
        if (stage < 0)
            return err_set(r->err, ERR_INVALID,
                           "Unsupported value: \"%.*s\": supported values: \"Panic\", "
                           "\"RequestReceived\", \"ResponseComplete\", \"ResponseStarted\"",
                           STR_ARG(names.v[i]));
        *out |= 1u << stage;
    }
    return 0;
}

static int read_bool(struct reader *r, const struct json *v, bool *out) {
    if (v->kind != JSON_BOOL)
        return err_set(r->err, ERR_INVALID, "true or false is expected");
    *out = v->b;
    return 0;
}

static int read_group(struct reader *r, const struct json *v, struct resources *out) {
    if (v->kind != JSON_OBJECT)
        return err_set(r->err, ERR_INVALID, "a group with its resources is expected");
    for (uint32_t i = 0; i < v->n; i++) {
        struct str key = v->members[i].key;
        const struct json *value = &v->members[i].value;
        int rc = 0;
        if (str_is(key, "group") && value->kind == JSON_STRING)
            out->group = json_str(value);
        else if (str_is(key, "resources"))
            rc = read_strings(r, value, &out->resources);
        else if (str_is(key, "resourceNames"))
            rc = read_strings(r, value, &out->names);
        else
            rc = err_set(r->err, ERR_INVALID, "unknown field or bad value");
        if (rc < 0)
            return err_wrap(r->err, "%.*s", STR_ARG(key));
    }
    if (out->names.n && !out->resources.n)
        return err_set(r->err, ERR_INVALID, "using resourceNames requires at least one resource");
    return 0;
}

static int read_resources(struct reader *r, const struct json *v, struct rule *out) {
    if (v->kind != JSON_ARRAY)
        return err_set(r->err, ERR_INVALID, "a list of groups is expected");
    out->resources = arena_array(&r->policy->arena, struct resources, v->n);
    for (uint32_t i = 0; i < v->n; i++) {
        struct resources *group = &out->resources[out->n++];
        *group = (struct resources){0};
        if (read_group(r, &v->items[i], group) < 0)
            return err_wrap(r->err, "resources[%u]", i);
    }
    return 0;
}

static int read_level(struct reader *r, const struct json *v, struct rule *out) {
    int level = v->kind == JSON_STRING ? find_name(server_audit_levels, json_str(v)) : -1;
    if (level < 0)
        return err_set(r->err, ERR_INVALID,
                       "Unsupported value: supported values: \"Metadata\", \"None\", "
                       "\"Request\", \"RequestResponse\"");
    out->what.level = (enum server_audit_level)level;
    return 0;
}

static int read_member(struct reader *r, struct str key, const struct json *v, struct rule *out) {
    const struct {
        const char *name;
        struct api_strs *list;
    } lists[] = {
        {"users", &out->users},           {"userGroups", &out->groups},    {"verbs", &out->verbs},
        {"namespaces", &out->namespaces}, {"nonResourceURLs", &out->urls},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (str_is(key, lists[i].name))
            return read_strings(r, v, lists[i].list);
    if (str_is(key, "level"))
        return read_level(r, v, out);
    if (str_is(key, "resources"))
        return read_resources(r, v, out);
    if (str_is(key, "omitStages"))
        return read_stages(r, v, &out->what.omitted);
    if (str_is(key, "omitManagedFields"))
        return read_bool(r, v, &out->what.omits_managed_fields);
    return err_set(r->err, ERR_INVALID, "unknown field");
}

static int read_rule(struct reader *r, const struct json *v, struct rule *out) {
    if (v->kind != JSON_OBJECT || !json_get(v, STR("level")))
        return err_set(r->err, ERR_INVALID, "level: Required value");
    for (uint32_t i = 0; i < v->n; i++)
        if (read_member(r, v->members[i].key, &v->members[i].value, out) < 0)
            return err_wrap(r->err, "%.*s", STR_ARG(v->members[i].key));
    if (out->urls.n && (out->n || out->namespaces.n))
        return err_set(r->err, ERR_INVALID,
                       "nonResourceURLs: Invalid value: rules cannot apply to both regular "
                       "resources and non-resource URLs");
    return 0;
}

static int read_rules(struct reader *r, const struct json *v) {
    struct server_audit_policy *policy = r->policy;
    if (!v || v->kind != JSON_ARRAY || !v->n)
        return err_set(r->err, ERR_INVALID, "loaded illegal policy with 0 rules");
    policy->rules = arena_array(&policy->arena, struct rule, v->n);
    for (uint32_t i = 0; i < v->n; i++) {
        struct rule *rule = &policy->rules[policy->n++];
        *rule = (struct rule){.what.omits_managed_fields = policy->omits_managed_fields};
        if (read_rule(r, &v->items[i], rule) < 0)
            return err_wrap(r->err, "rules[%u]", i);
        rule->what.omitted |= policy->omitted;
    }
    return 0;
}

static int read_policy(struct reader *r, const struct json *tree) {
    const struct json *version = json_get(tree, STR("apiVersion")),
                      *kind = json_get(tree, STR("kind")),
                      *stages = json_get(tree, STR("omitStages")),
                      *managed = json_get(tree, STR("omitManagedFields"));
    if (!version || version->kind != JSON_STRING || !str_is(json_str(version), "audit.k8s.io/v1") ||
        !kind || kind->kind != JSON_STRING || !str_is(json_str(kind), "Policy"))
        return err_set(r->err, ERR_INVALID, "it is no Policy of audit.k8s.io/v1");
    if (stages && read_stages(r, stages, &r->policy->omitted) < 0)
        return err_wrap(r->err, "omitStages");
    if (managed && read_bool(r, managed, &r->policy->omits_managed_fields) < 0)
        return err_wrap(r->err, "omitManagedFields");
    return read_rules(r, json_get(tree, STR("rules")));
}

int server_audit_policy_read(struct str text, struct server_audit_policy **out, struct err *err) {
    struct server_audit_policy *policy = xcalloc(1, sizeof *policy);
    struct reader r = {policy, err};
    struct json tree;
    if (text.n > LIMIT_AUDIT_POLICY_BYTES) {
        free(policy);
        return err_set(err, ERR_TOO_LARGE, "it has more than %u bytes", LIMIT_AUDIT_POLICY_BYTES);
    }
    text = arena_str(&policy->arena, text);
    if (yml_parse(&policy->arena, text, &tree, err) < 0 || read_policy(&r, &tree) < 0) {
        server_audit_policy_free(policy);
        return -1;
    }
    *out = policy;
    return 0;
}

void server_audit_policy_free(struct server_audit_policy *policy) {
    if (policy)
        arena_release(&policy->arena);
    free(policy);
}

/* ---- matching ---- */

static bool has(const struct api_strs *list, struct str text) {
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i], text))
            return true;
    return false;
}

/* pods, pods/log, *, a star before or behind the slash. */
static bool resource_matches(struct str pattern, const struct auth_attributes *q) {
    struct str resource, sub;
    bool has_slash = str_cut(pattern, '/', &resource, &sub);
    if (str_is(pattern, "*"))
        return true;
    if (!has_slash)
        return str_eq(pattern, q->resource) && !q->subresource.n;
    if (str_is(sub, "*") && str_eq(resource, q->resource))
        return true;
    return q->subresource.n && str_eq(sub, q->subresource) &&
           (str_is(resource, "*") || str_eq(resource, q->resource));
}

static bool group_matches(const struct resources *g, const struct auth_attributes *q) {
    if (!str_eq(g->group, q->group))
        return false;
    if (!g->resources.n)
        return true;
    for (size_t i = 0; i < g->resources.n; i++)
        if ((!g->names.n || has(&g->names, q->name)) && resource_matches(g->resources.v[i], q))
            return true;
    return false;
}

static bool resources_match(const struct rule *r, const struct auth_attributes *q) {
    if (!q->is_resource || (r->namespaces.n && !has(&r->namespaces, q->namespace)))
        return false;
    for (size_t i = 0; i < r->n; i++)
        if (group_matches(&r->resources[i], q))
            return true;
    return r->n == 0;
}

static bool urls_match(const struct rule *r, const struct auth_attributes *q) {
    for (size_t i = 0; i < r->urls.n && !q->is_resource; i++) {
        struct str url = r->urls.v[i];
        if (str_eq(url, q->path))
            return true;
        if (url.n && url.p[url.n - 1] == '*' && str_starts(q->path, str_sub(url, 0, url.n - 1)))
            return true;
    }
    return false;
}

static bool groups_match(const struct rule *r, const struct auth_attributes *q) {
    for (size_t i = 0; i < q->user->groups.n; i++)
        if (has(&r->groups, q->user->groups.v[i]))
            return true;
    return false;
}

static bool rule_matches(const struct rule *r, const struct auth_attributes *q) {
    if ((r->users.n && !has(&r->users, q->user->name)) || (r->groups.n && !groups_match(r, q)) ||
        (r->verbs.n && !has(&r->verbs, q->verb)))
        return false;
    if (r->namespaces.n || r->n)
        return resources_match(r, q);
    return !r->urls.n || urls_match(r, q);
}

struct server_audit_rule server_audit_policy_find(const struct server_audit_policy *policy,
                                                  const struct auth_attributes *q) {
    for (size_t i = 0; i < policy->n; i++)
        if (rule_matches(&policy->rules[i], q))
            return policy->rules[i].what;
    return (struct server_audit_rule){.level = SERVER_AUDIT_NONE};
}
