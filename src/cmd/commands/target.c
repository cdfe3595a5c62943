/* Kinds by the names that kubectl has for them, and pods by theirs. */
#include "cmd/commands/target.h"

#include "api/object.h"
#include "cli/spelling.h"

/* As kubectl has them. */
static const struct {
    const char *kind, *plural, *shorter;
} kinds[] = {
    {"pod", "pods", "po"},
    {"deployment", "deployments", "deploy"},
    {"replicaset", "replicasets", "rs"},
    {"statefulset", "statefulsets", "sts"},
    {"daemonset", "daemonsets", "ds"},
    {"job", "jobs", "job"},
    {"cronjob", "cronjobs", "cj"},
    {"replicationcontroller", "replicationcontrollers", "rc"},
};

static int find_kind(struct str typed, struct target *out, struct err *err) {
    struct str kind, group;
    str_cut(typed, '.', &kind, &group);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (str_is(kind, kinds[i].kind) || str_is(kind, kinds[i].plural) ||
            str_is(kind, kinds[i].shorter)) {
            out->kind = kinds[i].kind;
            return 0;
        }
    return err_set(err, ERR_USAGE, "only pods and workloads can be explained, not \"%.*s\"",
                   STR_ARG(typed));
}

int target_read(struct str typed, struct target *out, struct err *err) {
    struct str kind = STR("pod");
    out->name = typed;
    if (str_find_char(typed, '/') != STR_NONE)
        str_cut(typed, '/', &kind, &out->name);
    return find_kind(kind, out, err);
}

bool target_is_pod(const struct target *target) {
    return str_is(str_of(target->kind), "pod");
}

/* Says where there is such a pod, or what pods are called like that. */
static int fail_missing(const struct sim_cluster *c, struct str name, struct err *err) {
    AUTO(arena_release) struct arena a = {0};
    struct str namespace = c->opts.namespace;
    struct suggest suggest = {.typed = name};
    err_set(err, ERR_NOT_FOUND, "pods \"%.*s\" not found in namespace \"%.*s\"", STR_ARG(name),
            STR_ARG(namespace));
    for (size_t i = 0; i < c->items.n; i++) {
        const struct api_object *o = c->items.v[i].object;
        if (!o || !api_object_is(o, API_T_pod))
            continue;
        struct str other = o->meta->namespace;
        if (str_eq(other, namespace))
            suggest_offer(&suggest, arena_printf(&a, "%.*s", STR_ARG(o->meta->name)).p);
        else if (str_eq(o->meta->name, name))
            suggest_offer(&suggest,
                          arena_printf(&a, "%.*s -n %.*s", STR_ARG(name), STR_ARG(other)).p);
    }
    return suggest_fail(&suggest, "pod/", err);
}

int target_find_pod(const struct sim_cluster *c, struct str name, const struct api_object **out,
                    struct err *err) {
    struct str namespace = c->opts.namespace;
    *out = sim_cluster_find(c, API_T_pod, namespace, name);
    if (!*out && sim_cluster_has_refused(c, "Pod", namespace, name))
        return err_set(err, ERR_INVALID,
                       "pods \"%.*s\" in namespace \"%.*s\" was refused, see above", STR_ARG(name),
                       STR_ARG(namespace));
    if (!*out)
        return fail_missing(c, name, err);
    for (size_t i = 0; i < c->items.n; i++)
        if (c->items.v[i].object == *out)
            return sim_cluster_check_pending(&c->items.v[i], err);
    return 0;
}
