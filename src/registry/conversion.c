/*
 * Versions of one kind: one is stored, and the others are made of it, tree to tree.
 *
 * Follows k8s.io/kubernetes pkg/apis/events/v1, func Convert_v1_Event_To_core_Event,
 * func Convert_core_Event_To_v1_Event.
 * Follows k8s.io/kubernetes pkg/apis/policy/v1beta1,
 * func Convert_v1beta1_PodDisruptionBudget_To_policy_PodDisruptionBudget,
 * func Convert_policy_PodDisruptionBudget_To_v1beta1_PodDisruptionBudget.
 */
#include "registry/conversion_int.h"

struct json registry__own(struct arena *a, const struct json *object) {
    struct json own = {.kind = JSON_OBJECT};
    for (uint32_t i = 0; object && object->kind == JSON_OBJECT && i < object->n; i++)
        json_add(a, &own, object->members[i].key, object->members[i].value);
    return own;
}

void registry__put(struct arena *a, struct json *object, struct str key, struct json value) {
    for (uint32_t i = 0; i < object->n; i++)
        if (str_eq(object->members[i].key, key)) {
            object->members[i].value = value;
            return;
        }
    json_add(a, object, key, value);
}

void registry__drop(struct json *object, struct str key) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < object->n; i++)
        if (!str_eq(object->members[i].key, key))
            object->members[kept++] = object->members[i];
    object->n = kept;
}

/* A member that may be changed, or NULL. */
static struct json *find(struct json *object, const char *key) {
    for (uint32_t i = 0; object && object->kind == JSON_OBJECT && i < object->n; i++)
        if (str_is(object->members[i].key, key))
            return &object->members[i].value;
    return NULL;
}

/* ---- events: other names ---- */

/* A member under its names in the two versions. */
struct rename {
    struct str core, events;
};

static const struct rename event_members[] = {
    {STR_INIT("involvedObject"), STR_INIT("regarding")},
    {STR_INIT("message"), STR_INIT("note")},
    {STR_INIT("source"), STR_INIT("deprecatedSource")},
    {STR_INIT("firstTimestamp"), STR_INIT("deprecatedFirstTimestamp")},
    {STR_INIT("lastTimestamp"), STR_INIT("deprecatedLastTimestamp")},
    {STR_INIT("count"), STR_INIT("deprecatedCount")},
    {STR_INIT("reportingComponent"), STR_INIT("reportingController")},
};

static void rename_members(struct json *tree, bool to_core) {
    for (uint32_t i = 0; i < tree->n; i++)
        for (size_t k = 0; k < sizeof event_members / sizeof *event_members; k++) {
            const struct rename *m = &event_members[k];
            if (str_eq(tree->members[i].key, to_core ? m->events : m->core)) {
                tree->members[i].key = to_core ? m->core : m->events;
                break;
            }
        }
}

static void event_to_core(struct arena *a, struct json *tree) {
    (void)a;
    rename_members(tree, true);
}

static void event_to_events(struct arena *a, struct json *tree) {
    (void)a;
    rename_members(tree, false);
}

/* ---- disruption budgets: what an empty selector means ---- */

#define BUDGET_KEY "pdb.kubernetes.io/deprecated-v1beta1-empty-selector-match"

/* Has the selector just this requirement? NULL: nothing at all? */
static bool is_selector(const struct json *selector, const char *operator) {
    const struct json *labels = json_get(selector, STR("matchLabels"));
    const struct json *list = json_get(selector, STR("matchExpressions"));
    if (!selector || selector->kind != JSON_OBJECT || (labels && labels->n))
        return false;
    if (!operator)
        return !list || !list->n;
    if (!list || list->n != 1)
        return false;
    const struct json *values = json_get(&list->items[0], STR("values"));
    return str_is(json_str(json_get(&list->items[0], STR("key"))), BUDGET_KEY) &&
           str_is(json_str(json_get(&list->items[0], STR("operator"))), operator) &&
           (!values || !values->n);
}

static struct json selector_of(struct arena *a, const char *operator) {
    struct json selector = {.kind = JSON_OBJECT}, one = {.kind = JSON_OBJECT};
    if (!operator)
        return selector;
    json_add(a, &one, STR("key"), json_of_str(STR(BUDGET_KEY)));
    json_add(a, &one, STR("operator"), json_of_str(str_of(operator)));
    struct json *list =
        json_add(a, &selector, STR("matchExpressions"), (struct json){.kind = JSON_ARRAY});
    json_append(a, list, one);
    return selector;
}

/* The key never stands beside what users say. */
static void strip(struct json *list) {
    uint32_t kept = 0;
    for (uint32_t i = 0; list && i < list->n; i++)
        if (!str_is(json_str(json_get(&list->items[i], STR("key"))), BUDGET_KEY))
            list->items[kept++] = list->items[i];
    if (list)
        list->n = kept;
}

/* In v1beta1 an empty selector selects nothing, in v1 everything. */
static void budget_to_v1(struct arena *a, struct json *tree) {
    struct json *selector = find(find(tree, "spec"), "selector");
    if (is_selector(selector, NULL))
        *selector = selector_of(a, "Exists");
    else if (is_selector(selector, "DoesNotExist"))
        *selector = selector_of(a, NULL);
    else
        strip(find(selector, "matchExpressions"));
}

static void budget_to_v1beta1(struct arena *a, struct json *tree) {
    struct json *selector = find(find(tree, "spec"), "selector");
    if (is_selector(selector, "Exists"))
        *selector = selector_of(a, NULL);
    else if (is_selector(selector, NULL))
        *selector = selector_of(a, "DoesNotExist");
}

/* ---- the table ---- */

static const struct row {
    const char *kind, *other, *stored;
    registry__conversion *to_other, *to_stored;
} rows[] = {
    {"Event", "events.k8s.io/v1", "v1", event_to_events, event_to_core},
    {"HorizontalPodAutoscaler", "autoscaling/v1", "autoscaling/v2", registry__scaler_to_v1,
     registry__scaler_to_v2},
    {"PodDisruptionBudget", "policy/v1beta1", "policy/v1", budget_to_v1beta1, budget_to_v1},
};

static const struct row *find_row(const struct api_kind *kind) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (str_is(str_of(kind->kind), rows[i].kind) &&
            str_is(str_of(kind->api_version), rows[i].other))
            return &rows[i];
    return NULL;
}

const struct api_kind *registry_stored_as(const struct api_kind *kind) {
    const struct row *row = find_row(kind);
    return row ? api_kind_find(str_of(row->stored), str_of(row->kind)) : kind;
}

struct api_object *registry_convert(const struct api_object *o, const struct api_kind *to) {
    AUTO(arena_release) struct arena a = {0};
    struct json encoded = api_object_encode(o, &a), tree = registry__own(&a, &encoded);
    const struct row *from = find_row(o->kind), *row = from ? from : find_row(to);
    struct api_object *out;
    if (row)
        (from ? row->to_stored : row->to_other)(&a, &tree);
    registry__put(&a, &tree, STR("apiVersion"), json_of_str(str_of(to->api_version)));
    if (api_object_decode(&tree, NULL, &out, NULL) < 0)
        BUG("an object cannot be converted");
    return out;
}
