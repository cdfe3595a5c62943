/*
 * HorizontalPodAutoscalers of autoscaling/v1, which know one metric and keep everything else of v2
 * in annotations.
 *
 * Follows k8s.io/kubernetes pkg/apis/autoscaling/v1,
 * func Convert_autoscaling_HorizontalPodAutoscaler_To_v1_HorizontalPodAutoscaler,
 * func Convert_v1_HorizontalPodAutoscaler_To_autoscaling_HorizontalPodAutoscaler.
 */
#include "base/ascii.h"
#include "registry/conversion_int.h"

#define ANNOTATION "autoscaling.alpha.kubernetes.io/"

/* ---- members of metrics ---- */

enum need { OPTIONAL, TEXT, AMOUNT, REFERENCE };

/* A member in v1, and where it stands in v2: in `part`, or beside it. */
struct member {
    const char *v1, *part, *v2;
    enum need need;
};

/* A sort of metric; the type of its target in v2 follows from a member of v1. */
struct metric {
    const char *name;
    struct member members[6];
    const char *decides, *if_absent, *if_present;
};

#define CONTAINER \
    { "container", NULL, "container", TEXT }
#define METRIC_NAME \
    { "metricName", "metric", "name", TEXT }
#define NAME \
    { "name", NULL, "name", TEXT }
#define OBJECT \
    { "target", NULL, "describedObject", REFERENCE }
#define SELECTOR \
    { "selector", "metric", "selector", OPTIONAL }

static const struct metric sources[] = {
    {"object",
     {OBJECT,
      METRIC_NAME,
      {"targetValue", "target", "value", AMOUNT},
      SELECTOR,
      {"averageValue", "target", "averageValue", OPTIONAL}},
     "averageValue",
     "Value",
     "AverageValue"},
    {"pods",
     {METRIC_NAME, {"targetAverageValue", "target", "averageValue", AMOUNT}, SELECTOR},
     NULL,
     "AverageValue",
     NULL},
    {"resource",
     {NAME,
      {"targetAverageUtilization", "target", "averageUtilization", OPTIONAL},
      {"targetAverageValue", "target", "averageValue", OPTIONAL}},
     "targetAverageUtilization",
     "AverageValue",
     "Utilization"},
    {"containerResource",
     {NAME,
      {"targetAverageUtilization", "target", "averageUtilization", OPTIONAL},
      {"targetAverageValue", "target", "averageValue", OPTIONAL},
      CONTAINER},
     "targetAverageUtilization",
     "AverageValue",
     "Utilization"},
    {"external",
     {METRIC_NAME,
      {"metricSelector", "metric", "selector", OPTIONAL},
      {"targetValue", "target", "value", OPTIONAL},
      {"targetAverageValue", "target", "averageValue", OPTIONAL}},
     "targetValue",
     "AverageValue",
     "Value"},
    {0},
};

static const struct metric statuses[] = {
    {.name = "object",
     .members = {OBJECT,
                 METRIC_NAME,
                 {"currentValue", "current", "value", AMOUNT},
                 SELECTOR,
                 {"averageValue", "current", "averageValue", OPTIONAL}}},
    {.name = "pods",
     .members = {METRIC_NAME,
                 {"currentAverageValue", "current", "averageValue", AMOUNT},
                 SELECTOR}},
    {.name = "resource",
     .members = {NAME,
                 {"currentAverageUtilization", "current", "averageUtilization", OPTIONAL},
                 {"currentAverageValue", "current", "averageValue", AMOUNT}}},
    {.name = "containerResource",
     .members = {NAME,
                 {"currentAverageUtilization", "current", "averageUtilization", OPTIONAL},
                 {"currentAverageValue", "current", "averageValue", AMOUNT},
                 CONTAINER}},
    {.name = "external",
     .members = {METRIC_NAME,
                 {"metricSelector", "metric", "selector", OPTIONAL},
                 {"currentValue", "current", "value", AMOUNT},
                 {"currentAverageValue", "current", "averageValue", OPTIONAL}}},
    {0},
};

static struct json empty(enum need need, struct arena *a) {
    struct json reference = {.kind = JSON_OBJECT};
    if (need != REFERENCE)
        return json_of_str(need == AMOUNT ? STR("0") : STR(""));
    json_add(a, &reference, STR("kind"), json_of_str(STR("")));
    json_add(a, &reference, STR("name"), json_of_str(STR("")));
    return reference;
}

/* As Go reads members: in any case. */
static const struct json *get(const struct json *of, const char *name) {
    const struct json *exact = of && of->kind == JSON_OBJECT ? json_get(of, str_of(name)) : NULL;
    size_t n = strlen(name);
    for (uint32_t i = 0; !exact && of && of->kind == JSON_OBJECT && i < of->n; i++) {
        struct str key = of->members[i].key;
        size_t same = 0;
        while (key.n == n && same < n && ascii_to_lower(key.p[same]) == ascii_to_lower(name[same]))
            same++;
        if (key.n == n && same == n)
            exact = &of->members[i].value;
    }
    return exact && exact->kind != JSON_NULL ? exact : NULL;
}

/* ---- from v2 to v1 ---- */

static struct json sort_to_v1(struct arena *a, const struct metric *m, const struct json *from) {
    struct json to = {.kind = JSON_OBJECT};
    for (const struct member *r = m->members; r->v1; r++) {
        const struct json *v = get(r->part ? get(from, r->part) : from, r->v2);
        if (v || r->need != OPTIONAL)
            json_add(a, &to, str_of(r->v1), v ? *v : empty(r->need, a));
    }
    return to;
}

static struct json metric_to_v1(struct arena *a, const struct metric *sorts,
                                const struct json *from) {
    const struct json *type = get(from, "type");
    struct json to = {.kind = JSON_OBJECT};
    json_add(a, &to, STR("type"), type ? *type : json_of_str(STR("")));
    for (const struct metric *m = sorts; m->name; m++) {
        const struct json *v = get(from, m->name);
        if (v)
            json_add(a, &to, str_of(m->name), sort_to_v1(a, m, v));
    }
    return to;
}

/* The share of processor time that the metric asks for or tells, or NULL. */
static const struct json *utilization(const struct json *metric, const char *part) {
    const struct json *type = get(metric, "type"), *resource = get(metric, "resource");
    const struct json *name = get(resource, "name");
    if (!type || !name || !str_is(json_str(type), "Resource") || !str_is(json_str(name), "cpu"))
        return NULL;
    return get(get(resource, part), "averageUtilization");
}

/* Behavior as Go writes it without being told names. */
static struct json rename_rules(struct arena *a, const struct json *from);

static struct json spell(struct arena *a, const struct json *from, const char *const *names) {
    struct json to = {.kind = JSON_OBJECT};
    for (; *names; names++) {
        const struct json *v = get(from, *names);
        struct json value = v ? *v : (struct json){.kind = JSON_NULL};
        if (v && v->kind == JSON_OBJECT)
            value = rename_rules(a, v);
        json_add(a, &to, str_of(*names), value);
    }
    return to;
}

static const char *const behavior_names[] = {"ScaleUp", "ScaleDown", NULL};
static const char *const rules_names[] = {"StabilizationWindowSeconds", "SelectPolicy", "Policies",
                                          "Tolerance", NULL};
static const char *const policy_names[] = {"Type", "Value", "PeriodSeconds", NULL};

static struct json rename_rules(struct arena *a, const struct json *from) {
    struct json to = spell(a, from, rules_names), list = {.kind = JSON_ARRAY};
    const struct json *policies = get(from, "policies");
    for (uint32_t i = 0; policies && i < policies->n; i++)
        json_append(a, &list, spell(a, &policies->items[i], policy_names));
    if (policies)
        registry__put(a, &to, STR("Policies"), list);
    return to;
}

static void annotate(struct arena *a, struct json *annotations, const char *name,
                     const struct json *value) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    json_write(&text, value, NULL);
    registry__put(a, annotations, arena_printf(a, ANNOTATION "%s", name),
                  json_of_str(arena_str(a, buf_view(&text))));
}

static void annotate_list(struct arena *a, struct json *annotations, const char *name,
                          const struct json *list) {
    if (list->n)
        annotate(a, annotations, name, list);
}

/* Takes the annotations that conversions write away. */
static struct json other_annotations(struct arena *a, const struct json *meta) {
    static const struct str names[] = {STR_INIT(ANNOTATION "metrics"),
                                       STR_INIT(ANNOTATION "behavior"),
                                       STR_INIT(ANNOTATION "conditions"),
                                       STR_INIT(ANNOTATION "scale-down-tolerance"),
                                       STR_INIT(ANNOTATION "scale-up-tolerance"),
                                       STR_INIT(ANNOTATION "current-metrics")};
    struct json annotations = registry__own(a, get(meta, "annotations"));
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        registry__drop(&annotations, names[i]);
    return annotations;
}

static void set_annotations(struct arena *a, struct json *tree, struct json annotations) {
    struct json meta = registry__own(a, get(tree, "metadata"));
    if (annotations.n)
        registry__put(a, &meta, STR("annotations"), annotations);
    else
        registry__drop(&meta, STR("annotations"));
    registry__put(a, tree, STR("metadata"), meta);
}

static void spec_to_v1(struct arena *a, struct json *spec, struct json *annotations) {
    const struct json *metrics = get(spec, "metrics"), *behavior = get(spec, "behavior");
    struct json others = {.kind = JSON_ARRAY};
    const struct json *percent = NULL;
    for (uint32_t i = 0; metrics && i < metrics->n; i++) {
        const struct json *found = utilization(&metrics->items[i], "target");
        if (!found)
            json_append(a, &others, metric_to_v1(a, sources, &metrics->items[i]));
        else if (!percent)
            percent = found;
    }
    annotate_list(a, annotations, "metrics", &others);
    if (behavior) {
        struct json named = spell(a, behavior, behavior_names);
        annotate(a, annotations, "behavior", &named);
    }
    if (percent)
        json_add(a, spec, STR("targetCPUUtilizationPercentage"), *percent);
    registry__drop(spec, STR("metrics"));
    registry__drop(spec, STR("behavior"));
}

static void status_to_v1(struct arena *a, struct json *status, struct json *annotations) {
    const struct json *metrics = get(status, "currentMetrics");
    const struct json *conditions = get(status, "conditions"), *percent = NULL;
    struct json list = {.kind = JSON_ARRAY};
    for (uint32_t i = 0; metrics && i < metrics->n; i++) {
        const struct json *found = utilization(&metrics->items[i], "current");
        json_append(a, &list, metric_to_v1(a, statuses, &metrics->items[i]));
        percent = found ? found : percent;
    }
    annotate_list(a, annotations, "current-metrics", &list);
    if (conditions)
        annotate_list(a, annotations, "conditions", conditions);
    if (percent)
        json_add(a, status, STR("currentCPUUtilizationPercentage"), *percent);
    registry__drop(status, STR("currentMetrics"));
    registry__drop(status, STR("conditions"));
}

void registry__scaler_to_v1(struct arena *a, struct json *tree) {
    struct json annotations = other_annotations(a, get(tree, "metadata"));
    struct json spec = registry__own(a, get(tree, "spec")),
                status = registry__own(a, get(tree, "status"));
    spec_to_v1(a, &spec, &annotations);
    status_to_v1(a, &status, &annotations);
    registry__put(a, tree, STR("spec"), spec);
    registry__put(a, tree, STR("status"), status);
    set_annotations(a, tree, annotations);
}

/* ---- from v1 to v2 ---- */

static bool is_zero(struct arena *a, const struct json *amount) {
    struct quantity q;
    return amount->kind == JSON_STRING && quantity_parse(a, json_str(amount), &q, NULL) == 0 &&
           quantity_sign(&q) == 0;
}

static void put_inside(struct arena *a, struct json *to, const struct member *r,
                       struct json value) {
    if (!r->part) {
        registry__put(a, to, str_of(r->v2), value);
        return;
    }
    struct json part = registry__own(a, get(to, r->part));
    registry__put(a, &part, str_of(r->v2), value);
    registry__put(a, to, str_of(r->part), part);
}

static struct json sort_to_v2(struct arena *a, const struct metric *m, const struct json *from) {
    struct json to = {.kind = JSON_OBJECT};
    bool averages = m->if_absent && get(from, "averageValue");
    for (const struct member *r = m->members; r->v1; r++) {
        const struct json *v = get(from, r->v1);
        bool is_left_out = averages && r->need == AMOUNT && (!v || is_zero(a, v));
        if ((v || r->need != OPTIONAL) && !is_left_out)
            put_inside(a, &to, r, v ? *v : empty(r->need, a));
    }
    if (m->if_absent) {
        const char *type = m->decides && get(from, m->decides) ? m->if_present : m->if_absent;
        put_inside(a, &to, &(struct member){"", "target", "type", TEXT}, json_of_str(str_of(type)));
    }
    return to;
}

/* A list that an annotation holds, as members of v2; false: it cannot be read, and does not count.
 */
static bool read_list(struct arena *a, const struct json *annotations, const char *name,
                      struct json *out) {
    const struct json *text =
        annotations ? json_get(annotations, arena_printf(a, ANNOTATION "%s", name)) : NULL;
    *out = (struct json){.kind = JSON_ARRAY};
    if (!text ||
        json_parse(a, json_str(text), &(struct json_opts){.allow_duplicates = true}, out, NULL) < 0)
        return false;
    if (out->kind == JSON_NULL)
        *out = (struct json){.kind = JSON_ARRAY};
    for (uint32_t i = 0; out->kind == JSON_ARRAY && i < out->n; i++)
        if (out->items[i].kind == JSON_NULL)
            out->items[i] = (struct json){.kind = JSON_OBJECT};
        else if (out->items[i].kind != JSON_OBJECT)
            return false;
    return out->kind == JSON_ARRAY;
}

/* Is it a struct of the type, to the last member? */
static bool is_good(const struct json *tree, enum api_type_id type) {
    AUTO(arena_release) struct arena a = {0};
    struct api_faults faults;
    void *body = arena_alloc(&a, api_types[type].size);
    memset(body, 0, api_types[type].size);
    api_faults_init(&faults, &a);
    return api_struct_decode(&a, &api_types[type], tree, body, &faults) == 0;
}

static bool read_metrics(struct arena *a, const struct json *annotations, const char *name,
                         const struct metric *sorts, struct json *out) {
    enum api_type_id type = sorts == sources ? API_T_metric_spec : API_T_metric_status;
    struct json list;
    *out = (struct json){.kind = JSON_ARRAY};
    if (!read_list(a, annotations, name, &list))
        return false;
    for (uint32_t i = 0; i < list.n; i++) {
        const struct json *kind = get(&list.items[i], "type");
        struct json to = {.kind = JSON_OBJECT};
        json_add(a, &to, STR("type"), kind ? *kind : json_of_str(STR("")));
        for (const struct metric *m = sorts; m->name; m++) {
            const struct json *v = get(&list.items[i], m->name);
            if (v)
                json_add(a, &to, str_of(m->name), sort_to_v2(a, m, v));
        }
        if (!is_good(&to, type))
            return false;
        json_append(a, out, to);
    }
    return true;
}

/* The metric of v1: a share of processor time. */
static struct json of_processor(struct arena *a, const char *part, struct json percent) {
    struct json metric = {.kind = JSON_OBJECT}, resource = {.kind = JSON_OBJECT};
    struct json inside = {.kind = JSON_OBJECT};
    if (str_is(str_of(part), "target"))
        json_add(a, &inside, STR("type"), json_of_str(STR("Utilization")));
    json_add(a, &inside, STR("averageUtilization"), percent);
    json_add(a, &resource, STR("name"), json_of_str(STR("cpu")));
    json_add(a, &resource, str_of(part), inside);
    json_add(a, &metric, STR("type"), json_of_str(STR("Resource")));
    json_add(a, &metric, STR("resource"), resource);
    return metric;
}

/* Names of v2 instead of those that Go made up. */
static struct json lower(struct arena *a, const struct json *from) {
    struct json to = *from;
    if (from->kind == JSON_ARRAY) {
        to = (struct json){.kind = JSON_ARRAY};
        for (uint32_t i = 0; i < from->n; i++)
            json_append(a, &to, lower(a, &from->items[i]));
    }
    if (from->kind != JSON_OBJECT)
        return to;
    static const char *const *const lists[] = {behavior_names, rules_names, policy_names};
    to = (struct json){.kind = JSON_OBJECT};
    for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
        for (const char *const *name = lists[l]; *name; name++) {
            const struct json *v = get(from, *name);
            char *key = arena_copy(a, *name, strlen(*name) + 1);
            key[0] = ascii_to_lower(key[0]);
            if (v)
                json_add(a, &to, str_of(key), lower(a, v));
        }
    return to;
}

static void read_behavior(struct arena *a, const struct json *annotations, struct json *spec) {
    const struct json *text =
        annotations ? json_get(annotations, STR(ANNOTATION "behavior")) : NULL;
    struct json tree;
    if (!text || json_parse(a, json_str(text), &(struct json_opts){.allow_duplicates = true}, &tree,
                            NULL) < 0)
        return;
    tree = lower(a, &tree);
    if (tree.kind == JSON_OBJECT && tree.n &&
        is_good(&tree, API_T_horizontal_pod_autoscaler_behavior))
        registry__put(a, spec, STR("behavior"), tree);
}

static void spec_to_v2(struct arena *a, struct json *spec, const struct json *annotations) {
    const struct json *percent = get(spec, "targetCPUUtilizationPercentage");
    struct json metrics;
    if (!read_metrics(a, annotations, "metrics", sources, &metrics))
        metrics = (struct json){.kind = JSON_ARRAY};
    if (percent)
        json_append(a, &metrics, of_processor(a, "target", *percent));
    if (!metrics.n)
        json_append(a, &metrics, of_processor(a, "target", json_of_i64(80)));
    read_behavior(a, annotations, spec);
    registry__put(a, spec, STR("metrics"), metrics);
    registry__drop(spec, STR("targetCPUUtilizationPercentage"));
}

static void status_to_v2(struct arena *a, struct json *status, const struct json *annotations) {
    const struct json *percent = get(status, "currentCPUUtilizationPercentage");
    struct json metrics, conditions;
    bool has_metrics = read_metrics(a, annotations, "current-metrics", statuses, &metrics);
    if (!has_metrics && percent) {
        metrics = (struct json){.kind = JSON_ARRAY};
        json_append(a, &metrics, of_processor(a, "current", *percent));
    }
    if (has_metrics || percent)
        registry__put(a, status, STR("currentMetrics"), metrics);
    bool is_readable = read_list(a, annotations, "conditions", &conditions);
    for (uint32_t i = 0; is_readable && i < conditions.n; i++)
        is_readable = is_good(&conditions.items[i], API_T_horizontal_pod_autoscaler_condition);
    if (is_readable)
        registry__put(a, status, STR("conditions"), conditions);
    registry__drop(status, STR("currentCPUUtilizationPercentage"));
}

void registry__scaler_to_v2(struct arena *a, struct json *tree) {
    const struct json *annotations = get(get(tree, "metadata"), "annotations");
    struct json spec = registry__own(a, get(tree, "spec")),
                status = registry__own(a, get(tree, "status"));
    spec_to_v2(a, &spec, annotations);
    status_to_v2(a, &status, annotations);
    registry__put(a, tree, STR("spec"), spec);
    registry__put(a, tree, STR("status"), status);
    set_annotations(a, tree, other_annotations(a, get(tree, "metadata")));
}
