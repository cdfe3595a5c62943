/*
 * Which plug-ins run where, and in which order: the default list, changed by multiPoint and by the
 * sets of single extension points, as upstream's defaulting and its framework do one after the
 * other.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/apis/config/v1, func mergePlugins,
 * func getDefaultPlugins.
 * Follows k8s.io/kubernetes pkg/scheduler/framework/runtime,
 * func (*frameworkImpl) expandMultiPointPlugins.
 */
#include <assert.h>

#include "base/limits.h"
#include "sched/config/config_int.h"

/* Upstream's points in the order in which its framework looks at them; `point` is where the core
 * asks plug-ins. */
static const struct point {
    const char *field, *type;
    int point; /* enum sched_point, or -1 */
} points[] = {
    {"preFilter", "PreFilterPlugin", SCHED_PRE_FILTER},
    {"filter", "FilterPlugin", SCHED_FILTER},
    {"postFilter", "PostFilterPlugin", SCHED_POST_FILTER},
    {"reserve", "ReservePlugin", -1},
    {"preScore", "PreScorePlugin", SCHED_PRE_SCORE},
    {"score", "ScorePlugin", SCHED_SCORE},
    {"preBind", "PreBindPlugin", -1},
    {"bind", "BindPlugin", -1},
    {"postBind", "PostBindPlugin", -1},
    {"permit", "PermitPlugin", -1},
    {"preEnqueue", "PreEnqueuePlugin", SCHED_PRE_ENQUEUE},
    {"queueSort", "QueueSortPlugin", -1},
    {"placementGenerate", "PlacementGeneratePlugin", -1},
    {"placementScore", "PlacementScorePlugin", -1},
    {"podGroupPostFilter", "PodGroupPostFilterPlugin", -1},
};

enum {
    PRE_FILTER,
    FILTER,
    POST_FILTER,
    RESERVE,
    PRE_SCORE,
    SCORE,
    PRE_BIND,
    BIND,
    PRE_ENQUEUE = 10,
    QUEUE_SORT,
    POINTS = sizeof points / sizeof *points,
    MULTI_POINT = POINTS
};

#define FILTERS (1U << PRE_FILTER | 1U << FILTER)
#define SCORES  (1U << PRE_SCORE | 1U << SCORE)

static const uint32_t extends[SCHED_PLUGIN_COUNT] = {
    [SCHED_SCHEDULING_GATES] = 1U << PRE_ENQUEUE,
    [SCHED_PRIORITY_SORT] = 1U << QUEUE_SORT,
    [SCHED_NODE_NAME] = FILTERS,
    [SCHED_NODE_UNSCHEDULABLE] = FILTERS,
    [SCHED_TAINT_TOLERATION] = FILTERS | SCORES,
    [SCHED_NODE_AFFINITY] = FILTERS | SCORES,
    [SCHED_NODE_PORTS] = FILTERS,
    [SCHED_FIT] = FILTERS | SCORES,
    [SCHED_VOLUME_RESTRICTIONS] = FILTERS,
    [SCHED_VOLUME_LIMITS] = FILTERS,
    [SCHED_VOLUME_BINDING] = FILTERS | SCORES | 1U << RESERVE | 1U << PRE_BIND,
    [SCHED_VOLUME_ZONE] = FILTERS,
    [SCHED_SPREAD] = FILTERS | SCORES,
    [SCHED_INTER_POD_AFFINITY] = FILTERS | SCORES,
    [SCHED_PREEMPTION] = 1U << POST_FILTER | 1U << PRE_ENQUEUE,
    [SCHED_BALANCED] = SCORES,
    [SCHED_IMAGE_LOCALITY] = 1U << SCORE,
    [SCHED_BINDER] = 1U << BIND,
    [SCHED_DECLARED_FEATURES] = FILTERS,
};

static const int32_t default_weights[SCHED_PLUGIN_COUNT] = {
#define PLUGIN(id, lower, name, weight) weight,
#include "sched/plugins.def"
#undef PLUGIN
};

struct named {
    struct str name;
    int32_t weight;
};

struct set {
    struct named *enabled;
    size_t enabled_count;
    struct str *disabled;
    size_t disabled_count;
    uint32_t disabled_plugins; /* a bit for each plug-in that is known */
    bool disables_all;         /* "*" */
};

static_assert(SCHED_PLUGIN_COUNT <= 32, "a plug-in is a bit");

struct sched__plugin_sets {
    struct set v[POINTS + 1]; /* the last is multiPoint, merged with the default */
};

/* ---- reading ---- */

/* Names and weights of a list of plug-ins. */
static struct named *read_list(struct sched__reading *r, struct sched__at at, const char *name,
                               size_t *count) {
    static const char *const known[] = {"name", "weight", NULL};
    struct sched__at list = sched__config_member(r, at, name, JSON_ARRAY);
    *count = list.v ? list.v->n : 0;
    struct named *v = arena_array(r->a, struct named, *count);
    for (size_t i = 0; i < *count; i++) {
        struct sched__at item = {&list.v->items[i], sched__config_item(r, list.path, i)};
        if (!sched__config_is_object(r, item))
            continue;
        sched__config_known(r, item, "", known);
        sched__config_str(r, item, "name", &v[i].name);
        sched__config_i32(r, item, "weight", &v[i].weight);
    }
    return v;
}

static void read_set(struct sched__reading *r, struct sched__at plugins, const char *name,
                     struct set *set) {
    static const char *const known[] = {"enabled", "disabled", NULL};
    struct sched__at at = sched__config_member(r, plugins, name, JSON_OBJECT);
    sched__config_known(r, at, "", known);
    set->enabled = read_list(r, at, "enabled", &set->enabled_count);
    struct named *disabled = read_list(r, at, "disabled", &set->disabled_count);
    set->disabled = arena_array(r->a, struct str, set->disabled_count);
    for (size_t i = 0; i < set->disabled_count; i++) {
        enum sched_plugin plugin;
        set->disabled[i] = disabled[i].name;
        if (sched_plugin_find(disabled[i].name, &plugin))
            set->disabled_plugins |= 1U << plugin;
        set->disables_all |= str_is(disabled[i].name, "*");
    }
}

/* Plug-ins that were there once. */
static void check_removed(struct sched__reading *r, struct sched__at plugins, const char *name,
                          const struct set *set) {
    static const char *const removed[] = {"AzureDiskLimits", "CinderLimits", "EBSLimits",
                                          "GCEPDLimits"};
    struct str path = sched__config_path(r, sched__config_path(r, plugins.path, name), "enabled");
    for (size_t i = 0; i < set->enabled_count; i++)
        for (size_t k = 0; k < sizeof removed / sizeof *removed; k++)
            if (str_is(set->enabled[i].name, removed[k]))
                sched__config_invalid(r, sched__config_item(r, path, i), set->enabled[i].name,
                                      "was invalid in version \"kubescheduler.config.k8s.io/v1\" "
                                      "(KubeSchedulerConfiguration is version "
                                      "\"kubescheduler.config.k8s.io/v1\")");
}

static bool is_disabled(const struct set *set, enum sched_plugin plugin) {
    return set->disabled_plugins >> plugin & 1;
}

/* The last mention of a plug-in in the set, or its length. */
static size_t find_last(const struct set *set, struct str name) {
    for (size_t i = set->enabled_count; i-- > 0;)
        if (str_eq(set->enabled[i].name, name))
            return i;
    return set->enabled_count;
}

/* Puts the default plug-ins before those of the set, each in place of its mention there. */
static void merge_default(struct arena *a, struct set *set) {
    size_t most = SCHED_PLUGIN_COUNT + set->enabled_count, n = 0;
    struct named *merged = arena_array(a, struct named, most);
    bool *used = arena_array(a, bool, set->enabled_count);
    for (int i = 0; !set->disables_all && i < SCHED_PLUGIN_COUNT; i++) {
        struct str name = sched_plugin_name((enum sched_plugin)i);
        size_t at = find_last(set, name);
        if (is_disabled(set, (enum sched_plugin)i))
            continue;
        bool mentioned = at < set->enabled_count;
        if (mentioned)
            used[at] = true;
        merged[n++] = mentioned ? set->enabled[at] : (struct named){name, default_weights[i]};
    }
    for (size_t i = 0; i < set->enabled_count; i++)
        if (!used[i])
            merged[n++] = set->enabled[i];
    set->enabled = merged;
    set->enabled_count = n;
}

struct sched__plugin_sets *sched__plugin_sets_read(struct sched__reading *r, struct sched__at at) {
    const char *known[POINTS + 2] = {NULL};
    struct sched__plugin_sets *sets = arena_new(r->a, struct sched__plugin_sets);
    for (size_t i = 0; i < POINTS; i++) {
        known[i] = points[i].field;
        read_set(r, at, points[i].field, &sets->v[i]);
        check_removed(r, at, points[i].field, &sets->v[i]);
    }
    known[POINTS] = "multiPoint";
    sched__config_known(r, at, "", known);
    read_set(r, at, "multiPoint", &sets->v[MULTI_POINT]);
    merge_default(r->a, &sets->v[MULTI_POINT]);
    return sets;
}

/* ---- queueSort ---- */

static bool same_set(const struct set *a, const struct set *b) {
    if (a->enabled_count != b->enabled_count || a->disabled_count != b->disabled_count)
        return false;
    for (size_t i = 0; i < a->enabled_count; i++)
        if (!str_eq(a->enabled[i].name, b->enabled[i].name) ||
            a->enabled[i].weight != b->enabled[i].weight)
            return false;
    for (size_t i = 0; i < a->disabled_count; i++)
        if (!str_eq(a->disabled[i], b->disabled[i]))
            return false;
    return true;
}

static void write_named(struct buf *out, size_t i, struct named named) {
    buf_add(out, i ? STR(",{\"Name\":") : STR("{\"Name\":"));
    json_write_str(out, named.name, false);
    buf_addf(out, ",\"Weight\":%d}", named.weight);
}

/* What an error shows of a set. */
enum { LONGEST_SET = 300 };

/* As Go prints the set in an error. */
static void write_set(struct buf *out, const struct set *set) {
    buf_add(out, set->enabled_count ? STR("{\"Enabled\":[") : STR("{\"Enabled\":null"));
    for (size_t i = 0; i < set->enabled_count; i++)
        write_named(out, i, set->enabled[i]);
    buf_add(out, set->enabled_count ? STR("],\"Disabled\":") : STR(",\"Disabled\":"));
    buf_add(out, set->disabled_count ? STR("[") : STR("null}"));
    for (size_t i = 0; i < set->disabled_count; i++)
        write_named(out, i, (struct named){set->disabled[i], 0});
    if (set->disabled_count)
        buf_add(out, STR("]}"));
}

void sched__plugin_sets_check_sort(struct sched__reading *r, const struct sched__plugin_sets *first,
                                   const struct sched__plugin_sets *sets, struct str path) {
    const struct set *set = &sets->v[QUEUE_SORT];
    if (sets == first && set->enabled_count > 1)
        sched__config_invalid_int(r, sched__config_path(r, path, "plugins.queueSort.Enabled"),
                                  (int64_t)set->enabled_count,
                                  "only one queue sort plugin can be enabled");
    if (same_set(&first->v[QUEUE_SORT], set))
        return;
    AUTO(buf_release) struct buf value = BUF_INIT(LIMIT_OBJECT_BYTES);
    write_set(&value, set);
    size_t shown = sched__config_cut(buf_view(&value), LONGEST_SET);
    sched__config_error(r, sched__config_path(r, path, "plugins.queueSort"),
                        "Invalid value: %.*s%s: must be the same for all profiles", (int)shown,
                        value.p, shown < value.n ? "..." : "");
}

/* ---- orders and weights ---- */

bool sched__plugin_sets_need(const struct sched__plugin_sets *sets, enum sched_plugin plugin) {
    for (size_t i = 0; i <= MULTI_POINT; i++)
        if (find_last(&sets->v[i], sched_plugin_name(plugin)) < sets->v[i].enabled_count)
            return true;
    return false;
}

bool sched_order_has(const struct sched_order *order, enum sched_plugin plugin) {
    for (size_t i = 0; i < order->n; i++)
        if (order->v[i] == plugin)
            return true;
    return false;
}

static void append(struct sched_order *order, enum sched_plugin plugin) {
    order->v[order->n++] = (uint8_t)plugin;
}

static int missing(size_t point, struct str name, struct err *err) {
    return err_set(err, ERR_INVALID, "%s \"" SCHED__CUT "\" does not exist", points[point].type,
                   SCHED__CUT_ARG(name));
}

static int twice(size_t point, struct str name, struct err *err) {
    return err_set(err, ERR_INVALID, "plugin \"%.*s\" already registered as \"%s\"", STR_ARG(name),
                   points[point].type);
}

/* The plug-ins that the point's own set enables. */
static int own_order(const struct set *set, size_t point, struct sched_order *out,
                     struct err *err) {
    for (size_t i = 0; i < set->enabled_count; i++) {
        struct str name = set->enabled[i].name;
        enum sched_plugin plugin;
        if (!sched_plugin_find(name, &plugin))
            return missing(point, name, err);
        if (!(extends[plugin] >> point & 1))
            return err_set(err, ERR_INVALID, "plugin \"%.*s\" does not extend %s plugin",
                           STR_ARG(name), points[point].type);
        if (sched_order_has(out, plugin))
            return twice(point, name, err);
        append(out, plugin);
    }
    return 0;
}

/* Adds what multiPoint enables: plug-ins in both come first, in the order of the point's own set,
 * then those of multiPoint alone, then the rest of the own ones. */
static int expand(const struct set *multi, const struct set *set, size_t point,
                  struct sched_order *order, struct err *err) {
    struct sched_order both = {0}, alone = {0}, out = {0};
    if (set->disables_all)
        return 0;
    for (size_t i = 0; i < multi->enabled_count; i++) {
        struct str name = multi->enabled[i].name;
        enum sched_plugin plugin;
        if (!sched_plugin_find(name, &plugin))
            return missing(point, name, err);
        if (!(extends[plugin] >> point & 1) || is_disabled(set, plugin))
            continue;
        if (sched_order_has(order, plugin)) {
            if (!sched_order_has(&both, plugin))
                append(&both, plugin);
        } else if (sched_order_has(&alone, plugin)) {
            return twice(point, name, err);
        } else {
            append(&alone, plugin);
        }
    }
    for (size_t i = 0; i < order->n; i++)
        if (sched_order_has(&both, order->v[i]))
            append(&out, order->v[i]);
    for (size_t i = 0; i < alone.n; i++)
        append(&out, alone.v[i]);
    for (size_t i = 0; i < order->n; i++)
        if (!sched_order_has(&both, order->v[i]))
            append(&out, order->v[i]);
    *order = out;
    return 0;
}

static void take_weights(const struct set *set, struct sched_profile *p) {
    for (size_t i = 0; i < set->enabled_count; i++) {
        enum sched_plugin plugin;
        if (sched_plugin_find(set->enabled[i].name, &plugin) && extends[plugin] >> SCORE & 1 &&
            p->weights[plugin] == 0)
            p->weights[plugin] = set->enabled[i].weight ? set->enabled[i].weight : 1;
    }
}

int sched__plugin_sets_apply(const struct sched__plugin_sets *sets, struct sched_profile *p,
                             struct err *err) {
    const struct set *multi = &sets->v[MULTI_POINT];
    struct sched_order orders[POINTS] = {0};
    for (size_t i = 0; i < POINTS; i++)
        if (own_order(&sets->v[i], i, &orders[i], err) < 0)
            return -1;
    for (size_t i = 0; multi->enabled_count && i < POINTS; i++)
        if (expand(multi, &sets->v[i], i, &orders[i], err) < 0)
            return -1;
    if (orders[QUEUE_SORT].n != 1)
        return err_set(err, ERR_INVALID,
                       "only one queue sort plugin required for profile with scheduler name "
                       "\"" SCHED__CUT "\", but got %d",
                       SCHED__CUT_ARG(p->scheduler_name), orders[QUEUE_SORT].n);
    if (orders[BIND].n == 0)
        return err_set(err, ERR_INVALID,
                       "at least one bind plugin is needed for profile with scheduler name "
                       "\"" SCHED__CUT "\"",
                       SCHED__CUT_ARG(p->scheduler_name));
    for (size_t i = 0; i < POINTS; i++)
        if (points[i].point >= 0)
            p->points[points[i].point] = orders[i];
    take_weights(&sets->v[SCORE], p);
    take_weights(multi, p);
    return 0;
}
