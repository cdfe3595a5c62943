/*
 * Arguments of plug-ins: defaults, reading and validation, a reader for each plug-in that has any.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/apis/config/validation,
 * func ValidateInterPodAffinityArgs, func ValidateNodeResourcesFitArgs.
 * Follows k8s.io/kubernetes pkg/scheduler/apis/config/v1, func SetDefaults_PodTopologySpreadArgs.
 */
#include <stdlib.h>

#include "api/names.h"
#include "api/object.h"
#include "base/limits.h"
#include "sched/config/config_int.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- defaults ---- */

static struct sched_weighted_resource *cpu_and_memory(struct arena *a) {
    const struct sched_weighted_resource v[] = {{STR("cpu"), 1}, {STR("memory"), 1}};
    return arena_copy(a, v, sizeof v);
}

void sched__args_default(struct arena *a, struct sched_profile *p) {
    const struct sched_shape_point prefer_less_used[] = {{0, 10}, {100, 0}};
    p->strategy = SCHED_LEAST_ALLOCATED;
    p->fit_resources = cpu_and_memory(a);
    p->balanced_resources = cpu_and_memory(a);
    p->fit_resource_count = p->balanced_resource_count = 2;
    p->system_spread = true;
    p->hard_pod_affinity_weight = 1;
    p->min_candidate_nodes_percentage = 10;
    p->min_candidate_nodes_absolute = 100;
    p->bind_timeout_seconds = 600;
    p->volume_shape = arena_copy(a, prefer_less_used, sizeof prefer_less_used);
    p->volume_shape_count = COUNT_OF(prefer_less_used);
}

/* ---- parts that several plug-ins have ---- */

/* The args of one plug-in. */
struct args {
    struct sched__reading *r; /* where errors go */
    struct sched__at at;
    struct str in; /* "decoding .profiles[0].pluginConfig[1]: …", before unknown fields */
    size_t start;  /* length of what was said about those of others */
    struct sched_profile *p;
};

static struct str child(const struct args *x, struct sched__at at, const char *name) {
    return sched__config_path(x->r, at.path, name);
}

/* Fields are unknown by their place in the args, not in the file. */
static void known(const struct args *x, struct sched__at at, const char *const *names) {
    if (at.path.n > x->at.path.n)
        at.path = str_sub(at.path, x->at.path.n + (x->at.path.n > 0), at.path.n);
    else
        at.path = STR("");
    sched__config_known(x->r, at, x->r->strict.n == x->start ? x->in.p : "", names);
}

/* An item of a list; v is NULL when it is no object. */
static struct sched__at item(const struct args *x, struct sched__at list, size_t i) {
    struct sched__at at = {&list.v->items[i], sched__config_item(x->r, list.path, i)};
    if (!sched__config_is_object(x->r, at))
        at.v = NULL;
    return at;
}

static void read_resources(const struct args *x, struct sched__at at,
                           struct sched_weighted_resource **out, size_t *count) {
    static const char *const names[] = {"name", "weight", NULL};
    struct sched__at list = sched__config_member(x->r, at, "resources", JSON_ARRAY);
    if (!list.v || list.v->n == 0)
        return;
    *out = arena_array(x->r->a, struct sched_weighted_resource, list.v->n);
    *count = list.v->n;
    for (size_t i = 0; i < *count; i++) {
        struct sched__at one = item(x, list, i);
        known(x, one, names);
        sched__config_str(x->r, one, "name", &(*out)[i].name);
        sched__config_i64(x->r, one, "weight", &(*out)[i].weight);
        if ((*out)[i].weight == 0)
            (*out)[i].weight = 1;
    }
}

static void check_shape(const struct args *x, struct str path,
                        const struct sched_shape_point *shape, size_t count) {
    struct sched__reading *r = x->r;
    if (count == 0)
        sched__config_error(r, path, "Required value: at least one point must be specified");
    for (size_t i = 1; i < count; i++)
        if (shape[i - 1].utilization >= shape[i].utilization) {
            sched__config_invalid_int(
                r, sched__config_path(r, sched__config_item(r, path, i), "utilization"),
                shape[i].utilization, "values must be sorted in increasing order");
            break;
        }
    for (size_t i = 0; i < count; i++) {
        struct str point = sched__config_item(r, path, i);
        if (shape[i].utilization < 0 || shape[i].utilization > 100)
            sched__config_invalid_int(r, sched__config_path(r, point, "utilization"),
                                      shape[i].utilization, "not in valid range [0, 100]");
        if (shape[i].score < 0 || shape[i].score > 10)
            sched__config_invalid_int(r, sched__config_path(r, point, "score"), shape[i].score,
                                      "not in valid range [0, 10]");
    }
}

static void read_shape(const struct args *x, struct sched__at at, struct sched_shape_point **out,
                       size_t *count) {
    static const char *const names[] = {"utilization", "score", NULL};
    struct sched__at list = sched__config_member(x->r, at, "shape", JSON_ARRAY);
    if (list.v && list.v->n) {
        *out = arena_array(x->r->a, struct sched_shape_point, list.v->n);
        *count = list.v->n;
    }
    for (size_t i = 0; list.v && i < list.v->n; i++) {
        struct sched__at one = item(x, list, i);
        known(x, one, names);
        sched__config_i32(x->r, one, "utilization", &(*out)[i].utilization);
        sched__config_i32(x->r, one, "score", &(*out)[i].score);
    }
    check_shape(x, list.path, *out, *count);
}

static void check_label_key(const struct args *x, struct str path, struct str key) {
    struct names_errs errs = names_check_label_key(key);
    for (size_t i = 0; i < errs.n; i++)
        sched__config_invalid(x->r, path, key, errs.v[i].p);
}

/* A list of strings, each checked as the key of a label; sorted, as only their presence counts. */
static struct str *read_keys(const struct args *x, const char *name, size_t *count,
                             const char *no_slash) {
    struct sched__at list = sched__config_member(x->r, x->at, name, JSON_ARRAY);
    *count = list.v ? list.v->n : 0;
    struct str *v = arena_array(x->r->a, struct str, *count);
    for (size_t i = 0; i < *count; i++) {
        struct str path = sched__config_item(x->r, list.path, i);
        if (list.v->items[i].kind != JSON_STRING) {
            sched__config_error(x->r, path, "must be a string");
            continue;
        }
        v[i] = json_str(&list.v->items[i]);
        if (no_slash && str_find_char(v[i], '/') != STR_NONE)
            sched__config_invalid(x->r, path, v[i], no_slash);
        check_label_key(x, path, v[i]);
    }
    if (*count)
        qsort(v, *count, sizeof *v, str_cmp_qsort);
    return v;
}

/* ---- one reader for each plug-in ---- */

static void read_preemption(const struct args *x) {
    static const char *const names[] = {"apiVersion", "kind", "minCandidateNodesPercentage",
                                        "minCandidateNodesAbsolute", NULL};
    int32_t *percentage = &x->p->min_candidate_nodes_percentage;
    int32_t *absolute = &x->p->min_candidate_nodes_absolute;
    struct str percentage_path = child(x, x->at, "minCandidateNodesPercentage");
    struct str absolute_path = child(x, x->at, "minCandidateNodesAbsolute");
    known(x, x->at, names);
    sched__config_i32(x->r, x->at, "minCandidateNodesPercentage", percentage);
    sched__config_i32(x->r, x->at, "minCandidateNodesAbsolute", absolute);
    if (*percentage < 0 || *percentage > 100)
        sched__config_invalid_int(x->r, percentage_path, *percentage,
                                  "not in valid range [0, 100]");
    if (*absolute < 0)
        sched__config_invalid_int(x->r, absolute_path, *absolute, "not in valid range [0, inf)");
    if (*percentage || *absolute)
        return;
    sched__config_invalid_int(x->r, percentage_path, 0,
                              "cannot be zero at the same time as minCandidateNodesAbsolute");
    sched__config_invalid_int(x->r, absolute_path, 0,
                              "cannot be zero at the same time as minCandidateNodesPercentage");
}

static void read_inter_pod_affinity(const struct args *x) {
    static const char *const names[] = {"apiVersion", "kind", "hardPodAffinityWeight",
                                        "ignorePreferredTermsOfExistingPods", NULL};
    int32_t *weight = &x->p->hard_pod_affinity_weight;
    known(x, x->at, names);
    sched__config_i32(x->r, x->at, "hardPodAffinityWeight", weight);
    sched__config_bool(x->r, x->at, "ignorePreferredTermsOfExistingPods",
                       &x->p->ignore_preferred_terms_of_existing_pods);
    if (*weight < 0 || *weight > 100)
        sched__config_invalid_int(x->r, child(x, x->at, "hardPodAffinityWeight"), *weight,
                                  "not in valid range [0, 100]");
}

/* Decodes a part of the API; what its schema does not know is an error. */
static void decode(const struct args *x, struct sched__at at, enum api_type_id type, void *body) {
    struct api_faults faults;
    api_faults_init(&faults, x->r->a);
    if (api_struct_decode(x->r->a, &api_types[type], at.v, body, &faults) < 0) {
        sched__config_error(x->r, at.path, "%.*s", STR_ARG(faults.v[faults.n - 1].text));
        return;
    }
    const struct json *extra = *(struct json **)body;
    const char *const none[] = {NULL};
    known(x, (struct sched__at){extra, at.path}, none);
}

/* Every node is held against every term. */
static void check_terms(const struct args *x, struct str path,
                        const struct api_node_affinity *affinity) {
    size_t n = affinity->preferred.n;
    for (size_t i = 0; i < affinity->preferred.n; i++)
        n += affinity->preferred.v[i].preference.match_expressions.n;
    const struct api_node_selector *required = affinity->required;
    for (size_t i = 0; required && i < required->node_selector_terms.n; i++)
        n += 1 + required->node_selector_terms.v[i].match_expressions.n;
    if (n > 2 * LIMIT_CONFIG_ITEMS)
        sched__config_error(x->r, path,
                            "Too many: %zu: must have at most %d terms and requirements", n,
                            2 * LIMIT_CONFIG_ITEMS);
}

static void read_node_affinity(const struct args *x) {
    static const char *const names[] = {"apiVersion", "kind", "addedAffinity", NULL};
    struct sched__at at = sched__config_member(x->r, x->at, "addedAffinity", JSON_OBJECT);
    known(x, x->at, names);
    if (!at.v)
        return;
    struct api_node_affinity *affinity = arena_new(x->r->a, struct api_node_affinity);
    decode(x, at, API_T_node_affinity, affinity);
    check_terms(x, at.path, affinity);
    x->p->added_affinity = affinity;
}

static void read_balanced(const struct args *x) {
    static const char *const names[] = {"apiVersion", "kind", "resources", NULL};
    struct sched_profile *p = x->p;
    struct str path = child(x, x->at, "resources");
    struct map seen = MAP_INIT(map_random_seed());
    known(x, x->at, names);
    read_resources(x, x->at, &p->balanced_resources, &p->balanced_resource_count);
    for (size_t i = 0; i < p->balanced_resource_count; i++) {
        const struct sched_weighted_resource *v = &p->balanced_resources[i];
        struct str at = sched__config_item(x->r, path, i);
        if (sched__config_repeats(&seen, v->name))
            sched__config_error(x->r, sched__config_path(x->r, at, "name"),
                                "Duplicate value: \"" SCHED__CUT "\"", SCHED__CUT_ARG(v->name));
        if (v->weight != 1)
            sched__config_invalid_int(x->r, sched__config_path(x->r, at, "weight"), v->weight,
                                      "must be 1");
    }
    map_release(&seen);
}

static void read_volume_binding(const struct args *x) {
    static const char *const names[] = {"apiVersion", "kind", "bindTimeoutSeconds", "shape", NULL};
    int64_t *timeout = &x->p->bind_timeout_seconds;
    known(x, x->at, names);
    sched__config_i64(x->r, x->at, "bindTimeoutSeconds", timeout);
    if (*timeout < 0)
        sched__config_invalid_int(x->r, child(x, x->at, "bindTimeoutSeconds"), *timeout,
                                  "invalid BindTimeoutSeconds, should not be a negative value");
    read_shape(x, x->at, &x->p->volume_shape, &x->p->volume_shape_count);
}

/* ---- PodTopologySpread ---- */

static void check_action(const struct args *x, struct str path, struct str action) {
    if (action.n == 0)
        sched__config_error(x->r, path, "Required value: can not be empty");
    else if (!str_is(action, "DoNotSchedule") && !str_is(action, "ScheduleAnyway"))
        sched__config_error(x->r, path,
                            "Unsupported value: \"" SCHED__CUT
                            "\": supported values: \"DoNotSchedule\", \"ScheduleAnyway\"",
                            SCHED__CUT_ARG(action));
}

/* Was there a constraint of this key and action before? */
static bool is_repeated(const struct args *x, const struct api_topology_spread_constraint *c,
                        struct map *seen) {
    struct str key = arena_printf(x->r->a, "%zu:%.*s%.*s", c->topology_key.n,
                                  STR_ARG(c->topology_key), STR_ARG(c->when_unsatisfiable));
    return sched__config_repeats(seen, key);
}

static void check_constraint(const struct args *x, struct str path,
                             const struct api_topology_spread_constraint *c, struct map *seen) {
    struct str key = sched__config_path(x->r, path, "topologyKey");
    if (c->max_skew <= 0)
        sched__config_invalid_int(x->r, sched__config_path(x->r, path, "maxSkew"), c->max_skew,
                                  "not in valid range (0, inf)");
    if (c->topology_key.n == 0)
        sched__config_error(x->r, key, "Required value: can not be empty");
    else
        check_label_key(x, key, c->topology_key);
    check_action(x, sched__config_path(x->r, path, "whenUnsatisfiable"), c->when_unsatisfiable);
    if (c->label_selector)
        sched__config_error(x->r, sched__config_path(x->r, path, "labelSelector"),
                            "Forbidden: constraint must not define a selector, as they deduced "
                            "for each pod");
    if (is_repeated(x, c, seen))
        sched__config_error(x->r, path, "Duplicate value: \"{" SCHED__CUT ", " SCHED__CUT "}\"",
                            SCHED__CUT_ARG(c->topology_key), SCHED__CUT_ARG(c->when_unsatisfiable));
}

static void check_defaulting(const struct args *x, struct str type, size_t constraints) {
    struct str path = child(x, x->at, "defaultingType");
    if (!str_is(type, "System") && !str_is(type, "List"))
        sched__config_error(x->r, path,
                            "Unsupported value: \"" SCHED__CUT
                            "\": supported values: \"System\", \"List\"",
                            SCHED__CUT_ARG(type));
    else if (str_is(type, "System") && constraints)
        sched__config_invalid(x->r, path, type, "when .defaultConstraints are not empty");
}

static void read_spread(const struct args *x) {
    static const char *const names[] = {"apiVersion", "kind", "defaultConstraints",
                                        "defaultingType", NULL};
    struct api_topology_spread_constraint_list *all =
        arena_new(x->r->a, struct api_topology_spread_constraint_list);
    struct sched__at list = sched__config_member(x->r, x->at, "defaultConstraints", JSON_ARRAY);
    struct str type = STR("");
    known(x, x->at, names);
    sched__config_str(x->r, x->at, "defaultingType", &type);
    all->n = list.v ? list.v->n : 0;
    all->v = arena_array(x->r->a, struct api_topology_spread_constraint, all->n);
    check_defaulting(x, type.n ? type : STR("System"), all->n);
    struct map seen = MAP_INIT(map_random_seed());
    for (size_t i = 0; i < all->n; i++) {
        struct sched__at one = item(x, list, i);
        if (one.v)
            decode(x, one, API_T_topology_spread_constraint, &all->v[i]);
        check_constraint(x, sched__config_item(x->r, list.path, i), &all->v[i], &seen);
    }
    map_release(&seen);
    x->p->system_spread = !str_is(type, "List");
    x->p->default_spread = x->p->system_spread ? NULL : all;
}

/* ---- NodeResourcesFit ---- */

static void read_strategy_type(const struct args *x, struct sched__at strategy) {
    static const char *const types[] = {"LeastAllocated", "MostAllocated",
                                        "RequestedToCapacityRatio"};
    struct str type = STR("");
    sched__config_str(x->r, strategy, "type", &type);
    for (size_t i = 0; i < COUNT_OF(types); i++) {
        if (!str_is(type, types[i]))
            continue;
        x->p->strategy = (enum sched_strategy)i;
        return;
    }
    sched__config_error(x->r, child(x, strategy, "type"),
                        "Unsupported value: \"" SCHED__CUT
                        "\": supported values: \"LeastAllocated\", \"MostAllocated\", "
                        "\"RequestedToCapacityRatio\"",
                        SCHED__CUT_ARG(type));
}

static void read_ratio(const struct args *x, struct sched__at strategy) {
    static const char *const names[] = {"shape", NULL};
    struct sched__at ratio =
        sched__config_member(x->r, strategy, "requestedToCapacityRatio", JSON_OBJECT);
    bool wanted = x->p->strategy == SCHED_REQUESTED_TO_CAPACITY_RATIO;
    known(x, ratio, names);
    if (wanted && ratio.v)
        read_shape(x, ratio, &x->p->shape, &x->p->shape_count);
    else if (wanted)
        sched__config_error(x->r, ratio.path,
                            "Required value: must be specified when type is "
                            "RequestedToCapacityRatio");
    else if (ratio.v)
        sched__config_error(x->r, ratio.path,
                            "Forbidden: must be nil when type is not RequestedToCapacityRatio");
}

static void read_strategy(const struct args *x) {
    static const char *const names[] = {"type", "resources", "requestedToCapacityRatio", NULL};
    struct sched_profile *p = x->p;
    struct sched__at at = sched__config_member(x->r, x->at, "scoringStrategy", JSON_OBJECT);
    struct str resources = child(x, at, "resources");
    if (!at.v)
        return;
    known(x, at, names);
    read_strategy_type(x, at);
    read_resources(x, at, &p->fit_resources, &p->fit_resource_count);
    for (size_t i = 0; i < p->fit_resource_count; i++) {
        const struct sched_weighted_resource *v = &p->fit_resources[i];
        struct str path = sched__config_item(x->r, resources, i);
        if (v->weight <= 0 || v->weight > 100)
            sched__config_error(x->r, sched__config_path(x->r, path, "weight"),
                                "Invalid value: %lld: resource weight of " SCHED__CUT
                                " not in valid range (0, 100]",
                                (long long)v->weight, SCHED__CUT_ARG(v->name));
    }
    read_ratio(x, at);
}

static void read_fit(const struct args *x) {
    static const char *const names[] = {
        "apiVersion", "kind", "ignoredResources", "ignoredResourceGroups", "scoringStrategy", NULL};
    struct sched_profile *p = x->p;
    known(x, x->at, names);
    p->ignored_resources = read_keys(x, "ignoredResources", &p->ignored_resource_count, NULL);
    p->ignored_resource_groups =
        read_keys(x, "ignoredResourceGroups", &p->ignored_resource_group_count,
                  "resource group name can't contain '/'");
    read_strategy(x);
}

/* Upstream looks at these args only when it makes the plug-in, and then without their path. */
static void read_fit_apart(const struct args *x, struct str *errors) {
    struct sched__reading apart = {.a = x->r->a, .errors = BUF_INIT(64 << 10)};
    struct args y = *x;
    apart.strict = x->r->strict;
    y.r = &apart;
    y.at.path = STR("");
    read_fit(&y);
    x->r->strict = apart.strict;
    bool many = apart.error_count > 1;
    *errors = arena_printf(x->r->a, "%s%.*s%s", many ? "[" : "", STR_ARG(buf_view(&apart.errors)),
                           many ? "]" : "");
    buf_release(&apart.errors);
}

/* ---- pluginConfig ---- */

static const struct {
    enum sched_plugin plugin;
    void (*read)(const struct args *x); /* NULL: NodeResourcesFit */
} readers[] = {
    {SCHED_PREEMPTION, read_preemption},
    {SCHED_INTER_POD_AFFINITY, read_inter_pod_affinity},
    {SCHED_NODE_AFFINITY, read_node_affinity},
    {SCHED_BALANCED, read_balanced},
    {SCHED_FIT, NULL},
    {SCHED_SPREAD, read_spread},
    {SCHED_VOLUME_BINDING, read_volume_binding},
};

/* Do the args say they are those of this plug-in, if they say anything? */
static bool check_kind(const struct args *x, struct str entry, struct str name) {
    struct str kind = STR("");
    sched__config_str(x->r, x->at, "kind", &kind);
    struct str wanted = arena_printf(x->r->a, "%.*sArgs", STR_ARG(name));
    if (kind.n == 0 || str_eq(kind, wanted))
        return true;
    sched__config_error(x->r, arena_printf(x->r->a, "decoding .%.*s", STR_ARG(entry)),
                        "args for plugin " SCHED__CUT " were not of type " SCHED__CUT
                        ".kubescheduler.config.k8s.io, got " SCHED__CUT
                        ".kubescheduler.config.k8s.io",
                        SCHED__CUT_ARG(name), SCHED__CUT_ARG(wanted), SCHED__CUT_ARG(kind));
    return false;
}

static void read_args(struct sched__reading *r, struct sched__at entry, struct str name,
                      struct sched_profile *p, struct str *fit_errors) {
    struct args x = {r, sched__config_member(r, entry, "args", JSON_OBJECT), STR(""), r->strict.n,
                     p};
    if (!x.at.v || !check_kind(&x, entry.path, name))
        return;
    x.in = arena_printf(r->a,
                        "decoding .%.*s: strict decoding error: decoding args for plugin %.*s: "
                        "strict decoding error: ",
                        STR_ARG(entry.path), STR_ARG(name));
    for (size_t i = 0; i < COUNT_OF(readers); i++) {
        if (!str_eq(sched_plugin_name(readers[i].plugin), name))
            continue;
        if (readers[i].read)
            readers[i].read(&x);
        else
            read_fit_apart(&x, fit_errors);
        return;
    }
    sched__config_invalid(r, sched__config_path(r, entry.path, "name"), name,
                          "no supported plugin of this name has args");
}

void sched__args_read(struct sched__reading *r, struct sched__at list, struct sched_profile *p,
                      struct str *fit_errors) {
    static const char *const names[] = {"name", "args", NULL};
    struct map seen = MAP_INIT(map_random_seed());
    for (size_t i = 0; list.v && i < list.v->n; i++) {
        struct sched__at entry = {&list.v->items[i], sched__config_item(r, list.path, i)};
        struct str name = STR("");
        if (!sched__config_is_object(r, entry))
            continue;
        sched__config_known(r, entry, "", names);
        sched__config_str(r, entry, "name", &name);
        if (sched__config_repeats(&seen, name))
            sched__config_error(r, entry.path, "Duplicate value: \"" SCHED__CUT "\"",
                                SCHED__CUT_ARG(name));
        read_args(r, entry, name, p, fit_errors);
    }
    map_release(&seen);
}
