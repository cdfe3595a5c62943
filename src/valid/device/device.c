/*
 * A device of a slice: its attributes, capacities, taints and counters, and the nodes that it is
 * on.
 *
 * Follows k8s.io/kubernetes pkg/apis/resource/validation, func validateDevice,
 * func validateDeviceAttribute, func validateNodeAllocatableResources,
 * func validateDeviceCounterConsumption.
 */
#include "base/ascii.h"
#include "valid/device/slice_int.h"
#include "valid/resource_int.h"

enum {
    MOST_ATTRIBUTES_AND_CAPACITIES = 32,
    MOST_ATTRIBUTE_VALUES = 48,
    MOST_VALUE_BYTES = 64,
    MOST_TAINTS = 16,
    MOST_CONSUMPTIONS = 2,
    MOST_COUNTERS = 32,
    MOST_LABEL_BYTES = 63,
    MOST_KEY_BYTES = MOST_DRIVER_BYTES + 1 + MOST_DEVICE_ID_BYTES,
};

/* ---- versions: those of semver.org ---- */

static bool is_number(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_digit(s.p[i]))
            return false;
    return s.n == 1 || (s.n && s.p[0] != '0');
}

static bool is_word(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_alnum(s.p[i]) && s.p[i] != '-')
            return false;
    return s.n;
}

static bool has_letter(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_digit(s.p[i]))
            return true;
    return false;
}

/* Words with dots between them; those of digits alone are numbers unless it is a build. */
static bool are_words(struct str s, bool is_build) {
    struct str word;
    for (bool more = true; more;) {
        more = str_cut(s, '.', &word, &s);
        if (!is_word(word) || (!is_build && !has_letter(word) && !is_number(word)))
            return false;
    }
    return true;
}

static bool is_version(struct str s) {
    struct str build = {0}, release = {0}, major, minor, patch;
    bool has_build = str_cut(s, '+', &s, &build), has_release = str_cut(s, '-', &s, &release);
    return str_cut(s, '.', &major, &minor) && str_cut(minor, '.', &minor, &patch) &&
           is_number(major) && is_number(minor) && is_number(patch) &&
           (!has_release || are_words(release, false)) && (!has_build || are_words(build, true));
}

/* ---- attributes ---- */

static void check_text(struct valid *v, const struct path *p, struct str text) {
    if (text.n > MOST_VALUE_BYTES)
        valid__too_long(v, p, MOST_VALUE_BYTES);
}

static void check_version(struct valid *v, const struct path *p, struct str text) {
    if (!is_version(text))
        valid__invalid(v, p, VALUE_Q(text),
                       "must be a string compatible with semver.org spec "
                       "2.0.0");
    check_text(v, p, text);
}

/* Is a list there? Then it may not be empty. */
static size_t check_list(struct valid *v, const struct path *p, const void *items, size_t n) {
    if (items && !n)
        valid__invalid(v, p, VALUE_JSON((struct json){.kind = JSON_ARRAY}),
                       "must not be empty if specified");
    return items != NULL;
}

static void check_attribute(struct valid *v, const struct path *p,
                            const struct api_device_attribute *a) {
    size_t n = (size_t)a->bool_value.set + a->int_value.set;
    n += (a->string_value.p != NULL) + (size_t)(a->version_value.p != NULL);
    if (a->string_value.p)
        check_text(v, AT(p, "string"), a->string_value);
    if (a->version_value.p)
        check_version(v, AT(p, "version"), a->version_value);
    n += check_list(v, AT(p, "bools"), a->bool_values.v, a->bool_values.n);
    n += check_list(v, AT(p, "ints"), a->int_values.v, a->int_values.n);
    n += check_list(v, AT(p, "strings"), a->string_values.v, a->string_values.n);
    for (size_t i = 0; i < a->string_values.n; i++)
        check_text(v, AT_INDEX(AT(p, "strings"), i), a->string_values.v[i]);
    n += check_list(v, AT(p, "versions"), a->version_values.v, a->version_values.n);
    for (size_t i = 0; i < a->version_values.n; i++)
        check_version(v, AT_INDEX(AT(p, "versions"), i), a->version_values.v[i]);
    struct value value =
        n ? valid__struct_value(v->errs->a, API_T_device_attribute, a) : VALUE_Q(STR(""));
    valid__cover(v, "union");
    if (n != 1)
        valid__invalid(v, p, value, "exactly one value must be specified");
    valid__uncover(v);
}

static size_t count_values(const struct api_device *d) {
    size_t all = 0;
    for (size_t i = 0; i < d->attributes.n; i++) {
        const struct api_device_attribute *a = &d->attributes.v[i].value;
        size_t n = a->bool_values.n + a->int_values.n + a->string_values.n + a->version_values.n;
        all += n ? n : 1;
    }
    return all;
}

static void check_attributes(struct valid *v, const struct path *p, const struct api_device *d) {
    const struct path *at = AT(p, "attributes");
    size_t n = d->attributes.n + d->capacity.n, values = count_values(d);
    if (n > MOST_ATTRIBUTES_AND_CAPACITIES)
        valid__invalid(v, p, VALUE_I64((int64_t)n),
                       "the total number of attributes and capacities must not exceed %d",
                       MOST_ATTRIBUTES_AND_CAPACITIES);
    if (values > MOST_ATTRIBUTE_VALUES)
        valid__invalid(v, p, VALUE_I64((int64_t)values),
                       "the total number of attribute values must not exceed %d",
                       MOST_ATTRIBUTE_VALUES);
    for (size_t i = 0; i < d->attributes.n; i++) {
        struct str key = d->attributes.v[i].key;
        valid__qualified_name(v, at, key);
        check_attribute(v, AT_KEY(at, valid__shown_key(v->errs->a, key, MOST_KEY_BYTES)),
                        &d->attributes.v[i].value);
    }
}

/* ---- counters ---- */

void valid__counters(struct valid *v, const struct path *p, const struct path *name_path,
                     struct str name, const struct api_counter_map *counters) {
    const struct path *at = AT(p, "counters");
    valid__cover(v, name.n ? ORIGIN_SHORT_NAME : "");
    if (name.n)
        valid__dns_label(v, name_path, name);
    else
        valid__required(v, name_path, NO_DETAIL);
    valid__cover(v, "");
    if (!counters->n)
        valid__required(v, at, NO_DETAIL);
    valid__uncover(v);
    if (counters->n > MOST_COUNTERS) {
        valid__too_many(v, at, counters->n, MOST_COUNTERS);
        return;
    }
    valid__cover(v, ORIGIN_SHORT_NAME);
    for (size_t i = 0; i < counters->n; i++)
        valid__dns_label(v, at, counters->v[i].key);
    valid__uncover(v);
}

static void check_consumption(struct valid *v, const struct path *p,
                              const struct api_device_counter_consumption_list *list) {
    if (valid__has_too_many(v, p, list->n, MOST_CONSUMPTIONS))
        return;
    struct api_strs names = {arena_array(v->errs->a, struct str, list->n + 1), list->n};
    for (size_t i = 0; i < list->n; i++) {
        valid__counters(v, AT_INDEX(p, i), AT(AT_INDEX(p, i), "counterSet"), list->v[i].counter_set,
                        &list->v[i].counters);
        names.v[i] = list->v[i].counter_set;
    }
    valid__repeated(v, p, &names);
}

/* ---- nodes ---- */

#define ONE_OF                                                                   \
    "exactly one of `nodeName`, `nodeSelector`, or `allNodes` is required when " \
    "`perDeviceNodeSelection` is set to true in the ResourceSlice spec"

static void check_nodes(struct valid *v, const struct path *p, const struct api_device *d,
                        bool by_device) {
    struct pod_rules rules = valid__pod_rules(v->gates, NULL, NULL);
    if (!by_device) {
        if (d->node_name.p || d->node_selector || d->all_nodes.set)
            valid__invalid(v, p, VALUE_JSON((struct json){.kind = JSON_NULL}),
                           "`nodeName`, `nodeSelector` and `allNodes` can only be set if "
                           "`perDeviceNodeSelection` is set to true in the ResourceSlice spec");
        return;
    }
    valid__chosen_node(v, p, d->node_name, "must not be empty");
    if (d->node_selector)
        valid__node_selector(v, AT(p, "nodeSelector"), d->node_selector, &rules);
    valid__chosen_truth(v, AT(p, "allNodes"), d->all_nodes);
    valid__node_choice(
        v, p,
        &(struct node_choice){.names = {"nodeName", "nodeSelector", "allNodes"},
                              .is_set = {d->node_name.n, d->node_selector, d->all_nodes.v},
                              .n = 3,
                              .one_of = ONE_OF,
                              .several = ""});
}

/* ---- what it takes of a node ---- */

static bool has_capacity(const struct api_device *d, struct str key) {
    for (size_t i = 0; i < d->capacity.n; i++)
        if (str_eq(d->capacity.v[i].key, key))
            return true;
    return false;
}

static void check_sign(struct valid *v, const struct path *p, const struct quantity *q, int least,
                       const char *text) {
    if (q && quantity_sign(q) < least)
        valid__invalid(v, p, VALUE_Q(valid__quantity_text(v->errs->a, q)), "%s", text);
}

static void check_mapping(struct valid *v, const struct path *p,
                          const struct api_node_allocatable_mapping *m,
                          const struct api_device *d) {
    const struct path *key = AT(p, "capacityKey"), *factor = AT(p, "capacityMultiplier");
    if (m->capacity_key.p && !m->capacity_key.n)
        valid__invalid(v, key, VALUE_Q(STR("")), "capacityKey must not be an empty string");
    else if (m->capacity_key.p && !has_capacity(d, m->capacity_key))
        valid__not_found(v, key, VALUE_NAMED(m->capacity_key), NO_DETAIL);
    if (m->capacity_key.p && !m->capacity_multiplier)
        valid__required(v, factor, "capacityMultiplier is required when capacityKey is set");
    if (m->capacity_key.p)
        check_sign(v, factor, m->capacity_multiplier, 1, "must be positive");
    check_sign(v, AT(p, "deviceMultiplier"), m->device_multiplier, 1, "must be positive");
    if (m->capacity_multiplier && !m->capacity_key.p)
        valid__required(v, key, "capacityKey is required when capacityMultiplier is set");
}

static void check_overhead(struct valid *v, const struct path *p,
                           const struct api_node_allocatable_overhead *o) {
    if (!o->per_pod && !o->per_container)
        valid__invalid(v, p, VALUE_Q(STR("")),
                       "at least one of perPod or perContainer must be set");
    check_sign(v, AT(p, "perPod"), o->per_pod, 0, "must be non-negative");
    check_sign(v, AT(p, "perContainer"), o->per_container, 0, "must be non-negative");
}

static void check_allocatable(struct valid *v, const struct path *p, const struct api_device *d) {
    for (size_t i = 0; i < d->node_allocatable_resources.n; i++) {
        struct str name = d->node_allocatable_resources.v[i].key;
        const struct api_node_allocatable_resource *r = &d->node_allocatable_resources.v[i].value;
        const struct path *at = AT_KEY(p, name);
        if (!str_is(name, "cpu") && !str_is(name, "memory") && !valid__is_huge_page(name))
            valid__invalid(v, at, VALUE_NAMED(name), "must be a node allocatable resource name");
        if (!r->mapping && !r->overhead)
            valid__required(v, at, "at least one of mapping or overhead must be set");
        if (r->mapping)
            check_mapping(v, AT(at, "mapping"), r->mapping, d);
        if (r->overhead)
            check_overhead(v, AT(at, "overhead"), r->overhead);
    }
}

/* ---- all of it ---- */

static bool same_capacity(const struct api_device *a, const struct api_device *b) {
    if (a->capacity.n != b->capacity.n)
        return false;
    for (size_t i = 0; i < a->capacity.n; i++)
        if (!str_eq(a->capacity.v[i].key, b->capacity.v[i].key) ||
            !valid__equal(API_T_device_capacity, &a->capacity.v[i].value, &b->capacity.v[i].value))
            return false;
    return true;
}

static void check_taints(struct valid *v, const struct path *p,
                         const struct api_device_taint_list *list) {
    if (list->n > MOST_TAINTS) {
        valid__too_many(v, p, list->n, MOST_TAINTS);
        return;
    }
    for (size_t i = 0; i < list->n; i++)
        valid__device_taint(v, AT_INDEX(p, i), &list->v[i], NULL);
}

void valid__device(struct valid *v, const struct path *p, const struct api_device *d,
                   const struct api_device *old, bool by_device) {
    valid__dns_label(v, AT(p, "name"), d->name);
    check_attributes(v, p, d);
    if (!old || !same_capacity(d, old))
        valid__device_capacity(v, AT(p, "capacity"), d);
    if (!old || !valid__equal_lists(API_T_device_taint, &d->taints, &old->taints))
        check_taints(v, AT(p, "taints"), &d->taints);
    check_consumption(v, AT(p, "consumesCounters"), &d->consumes_counters);
    check_nodes(v, p, d, by_device);
    valid__binding_conditions(v, p, &d->binding_conditions, &d->binding_failure_conditions);
    check_allocatable(v, AT(p, "nodeAllocatableResources"), d);
}
