/*
 * Slices: the devices that a driver has, on which nodes, and what they share.
 *
 * Follows k8s.io/kubernetes pkg/apis/resource/validation, func validateResourceSliceSpec,
 * func validatePartitionTypeAttribute, func validateCounterSet, func validateResourcePool.
 * Follows k8s.io/kubernetes pkg/registry/resource/resourceslice, func (resourceSliceStrategy)
 * WarningsOnCreate.
 */
#include "valid/device/device_int.h"
#include "valid/device/slice_int.h"
#include "valid/kinds_int.h"
#include "valid/warnings_int.h"

enum { MOST_DEVICES = 128, MOST_RICH_DEVICES = 64, MOST_COUNTER_SETS = 8 };

typedef const struct api_resource_slice_spec spec;

/* ---- what some devices have ---- */

static bool has_list(const struct api_device *d) {
    for (size_t i = 0; i < d->attributes.n; i++) {
        const struct api_device_attribute *a = &d->attributes.v[i].value;
        if (a->bool_values.v || a->int_values.v || a->string_values.v || a->version_values.v)
            return true;
    }
    return false;
}

static bool consumes_counters(spec *s) {
    for (size_t i = 0; i < s->devices.n; i++)
        if (s->devices.v[i].consumes_counters.n)
            return true;
    return false;
}

static bool is_rich(spec *s) {
    const struct api_device *d = s->devices.v;
    for (size_t i = 0; d && i < s->devices.n; i++)
        if (d[i].taints.n || d[i].consumes_counters.n || has_list(&d[i]))
            return true;
    return false;
}

/* ---- pools and nodes ---- */

static void check_pool(struct valid *v, const struct path *p,
                       const struct api_resource_pool *pool) {
    valid__pool_name(v, AT(p, "name"), pool->name, false);
    if (pool->resource_slice_count <= 0)
        valid__invalid(v, AT(p, "resourceSliceCount"), VALUE_I64(pool->resource_slice_count),
                       "must be greater than zero");
    if (pool->generation < 0)
        valid__invalid(v, AT(p, "generation"), VALUE_I64(pool->generation),
                       "must be greater than or equal to zero");
}

static struct value optional_text(struct str s) {
    return VALUE_JSON(s.p ? json_of_str(s) : (struct json){.kind = JSON_NULL});
}

static void keep(struct valid *v, const struct path *p, spec *now, spec *was) {
    bool same_node =
        !now->node_name.p == !was->node_name.p && str_eq(now->node_name, was->node_name);
    if (!str_eq(now->pool.name, was->pool.name))
        valid__immutable(v, AT(AT(p, "pool"), "name"), VALUE_Q(now->pool.name));
    if (!str_eq(now->driver, was->driver))
        valid__immutable(v, AT(p, "driver"), VALUE_Q(now->driver));
    if (!same_node)
        valid__immutable(v, AT(p, "nodeName"), optional_text(now->node_name));
}

void valid__node_choice(struct valid *v, const struct path *p, const struct node_choice *c) {
    AUTO(buf_release) struct buf names = BUF_INIT(256);
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++)
        if (c->is_set[i]) {
            buf_addf(&names, "%s`%s`", n ? ", " : "", c->names[i]);
            n++;
        }
    struct str all = arena_printf(v->errs->a, "{%.*s}", STR_ARG(buf_view(&names)));
    if (n == 0)
        valid__required(v, p, "%s", c->one_of);
    if (n > 1)
        valid__invalid(v, p, VALUE_Q(all), "%s%s", c->one_of, c->several);
}

void valid__chosen_node(struct valid *v, const struct path *p, struct str name, const char *empty) {
    if (name.p && !name.n)
        valid__invalid(v, AT(p, "nodeName"), VALUE_Q(name), "%s", empty);
    if (name.n)
        valid__dns_subdomain(v, AT(p, "nodeName"), name);
}

void valid__chosen_truth(struct valid *v, const struct path *p, struct api_opt_bool truth) {
    if (truth.set && !truth.v)
        valid__invalid(v, p, VALUE_BOOL(false), "must be either unset or set to true");
}

static void check_nodes(struct valid *v, const struct path *p, spec *s) {
    const struct path *selector = AT(p, "nodeSelector");
    struct pod_rules rules = valid__pod_rules(v->gates, NULL, NULL);
    valid__chosen_node(v, p, s->node_name, "must be either unset or set to a non-empty string");
    if (s->node_selector) {
        valid__node_selector(v, selector, s->node_selector, &rules);
        if (s->node_selector->node_selector_terms.n != 1)
            valid__invalid(v, AT(selector, "nodeSelectorTerms"),
                           valid__list_value(v->errs->a, API_T_node_selector_term,
                                             &s->node_selector->node_selector_terms),
                           "must have exactly one node selector term");
    }
    valid__chosen_truth(v, AT(p, "allNodes"), s->all_nodes);
    valid__chosen_truth(v, AT(p, "perDeviceNodeSelection"), s->per_device_node_selection);
    valid__node_choice(
        v, p,
        &(struct node_choice){
            .names = {"nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection"},
            .is_set = {s->node_name.n, s->node_selector, s->all_nodes.v,
                       s->per_device_node_selection.v},
            .n = 4,
            .one_of = "exactly one of `nodeName`, `nodeSelector`, `allNodes`, "
                      "`perDeviceNodeSelection` is required",
            .several = ", but multiple fields are set"});
}

/* ---- devices ---- */

static void check_devices(struct valid *v, const struct path *p, spec *s, spec *old) {
    AUTO(seen_release) struct seen before;
    AUTO(seen_release) struct seen names;
    size_t most = is_rich(s) ? MOST_RICH_DEVICES : MOST_DEVICES;
    seen_init(&before);
    seen_init(&names);
    if (s->devices.n > most) {
        valid__too_many(v, p, s->devices.n, most);
        return;
    }
    for (size_t i = 0; old && i < old->devices.n; i++)
        seen_put(&before, old->devices.v[i].name, &old->devices.v[i]);
    for (size_t i = 0; i < s->devices.n; i++)
        valid__device(v, AT_INDEX(p, i), &s->devices.v[i], seen_get(&before, s->devices.v[i].name),
                      s->per_device_node_selection.v);
    for (size_t i = 0; i < s->devices.n; i++)
        if (!seen_add(&names, s->devices.v[i].name))
            valid__duplicate(v, AT_INDEX(p, i), VALUE_Q(s->devices.v[i].name), NO_DETAIL);
}

/* ---- counters ---- */

static void check_counter_sets(struct valid *v, const struct path *p,
                               const struct api_counter_set_list *list) {
    struct api_strs names = {arena_array(v->errs->a, struct str, list->n + 1), list->n};
    if (!list->v || valid__has_too_many(v, p, list->n, MOST_COUNTER_SETS))
        return;
    for (size_t i = 0; i < list->n; i++) {
        valid__counters(v, AT_INDEX(p, i), AT(AT_INDEX(p, i), "name"), list->v[i].name,
                        &list->v[i].counters);
        names.v[i] = list->v[i].name;
    }
    valid__repeated(v, p, &names);
}

/* ---- types of partitions ---- */

static const struct api_device_attribute *find_attribute(const struct api_device *d,
                                                         struct str name) {
    for (size_t i = 0; i < d->attributes.n; i++)
        if (str_eq(d->attributes.v[i].key, name))
            return &d->attributes.v[i].value;
    return NULL;
}

/* Before names of the driver's own the domain can be left out. */
static struct str bare_name(spec *s) {
    struct str name = s->partition_type_attribute;
    bool is_own = str_starts(name, s->driver) && name.n > s->driver.n && name.p[s->driver.n] == '/';
    return is_own ? str_sub(name, s->driver.n + 1, name.n) : name;
}

static void check_partition(struct valid *v, const struct path *p, const struct api_device *d,
                            spec *s) {
    const struct path *at = AT_KEY(AT(p, "attributes"), s->partition_type_attribute);
    const struct api_device_attribute *a = find_attribute(d, s->partition_type_attribute);
    struct str bare = bare_name(s);
    if (!a && bare.n)
        a = find_attribute(d, bare);
    if (!a)
        valid__required(v, at,
                        "device consumes counters and `partitionTypeAttribute` names this "
                        "attribute, so it must be set");
    else if (!a->string_value.p)
        valid__invalid(v, at, valid__struct_value(v->errs->a, API_T_device_attribute, a),
                       "must be a string value because `partitionTypeAttribute` names this "
                       "attribute");
}

static void check_partitions(struct valid *v, const struct path *p, spec *s) {
    if (!s->partition_type_attribute.p)
        return;
    if (!consumes_counters(s)) {
        valid__invalid(v, AT(p, "partitionTypeAttribute"), VALUE_Q(s->partition_type_attribute),
                       "may only be set on a slice which declares devices that consume counters");
        return;
    }
    if (!valid__is_fully_qualified(v, s->partition_type_attribute))
        return;
    for (size_t i = 0; i < s->devices.n; i++)
        if (s->devices.v[i].consumes_counters.n)
            check_partition(v, AT_INDEX(AT(p, "devices"), i), &s->devices.v[i], s);
}

/* ---- all of it ---- */

static void check_slice(struct valid *v, spec *s, spec *old) {
    const struct path *p = AT(NULL, "spec");
    valid__driver_name(v, AT(p, "driver"), s->driver, false);
    check_pool(v, AT(p, "pool"), &s->pool);
    if (old)
        keep(v, p, s, old);
    check_nodes(v, p, s);
    if (s->shared_counters.v && s->devices.v)
        valid__invalid(v, p, VALUE_Q(STR("")),
                       "only one of `sharedCounters` or `devices` is allowed");
    check_devices(v, AT(p, "devices"), s, old);
    check_counter_sets(v, AT(p, "sharedCounters"), &s->shared_counters);
    check_partitions(v, p, s);
    valid__skipped_operations(v, AT(p, "skipNodeOperations"), &s->skip_node_operations);
}

static void create_slice(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_slice(v, valid__slice_spec(v->errs->a, o), NULL);
}

static void update_slice(struct valid *v, const struct api_object *o,
                         const struct api_object *old) {
    valid__metadata_update(v, o, old);
    check_slice(v, valid__slice_spec(v->errs->a, o), valid__slice_spec(v->errs->a, old));
}

static void warn_of_slice(struct valid_warnings *w, const struct api_object *o,
                          const struct api_object *old) {
    struct str driver = valid__slice_spec(w->a, o)->driver;
    (void)old;
    if (!str_eq(driver, valid__lower(w->a, driver)))
        valid__warn(w,
                    "spec.driver: driver names should be lowercase; %.*s contains uppercase "
                    "characters",
                    STR_ARG(valid__go_quoted(w->a, driver)));
}

const struct valid_kind valid__resource_slice = {.type = API_T_resource_slice,
                                                 .create = create_slice,
                                                 .update = update_slice,
                                                 .declared = valid__declared_rows,
                                                 .warn = warn_of_slice};
const struct valid_kind valid__resource_slice_v1beta1 = {.type = API_T_resource_slice_v1beta1,
                                                         .create = create_slice,
                                                         .update = update_slice,
                                                         .declared = valid__declared_rows,
                                                         .warn = warn_of_slice};
