/*
 * Horizontal pod autoscalers: what is scaled, between which bounds, by which metrics, and how fast.
 *
 * Follows k8s.io/kubernetes pkg/apis/autoscaling/validation, func ValidateHorizontalPodAutoscaler,
 * func ValidateHorizontalPodAutoscalerUpdate, func ValidateHorizontalPodAutoscalerStatusUpdate.
 * Follows k8s.io/kubernetes pkg/registry/autoscaling/horizontalpodautoscaler,
 * func validationOptionsForHorizontalPodAutoscaler.
 */
#include "valid/declared_int.h"
#include "valid/kinds_int.h"
#include "valid/resource_int.h"

enum { MOST_PERIOD_SECONDS = 1800, MOST_WINDOW_SECONDS = 3600 };

/* What an old autoscaler has already may stay. */
struct scaler_rules {
    bool any_target_version, target_without_group; /* of what is scaled */
    bool any_object_version;                       /* of objects with metrics */
    int32_t least_replicas;
};

/* ---- references ---- */

struct reference_rules {
    bool any_version, without_group;
};

/* What is wrong with an apiVersion; empty: nothing. */
static struct str version_fault(struct arena *a, struct str version,
                                const struct reference_rules *rules) {
    struct str group, rest;
    if (rules->any_version)
        return STR("");
    bool has_group = str_cut(version, '/', &group, &rest);
    if (has_group && str_find_char(rest, '/') != STR_NONE)
        return arena_printf(a, "unexpected GroupVersion string: %.*s", STR_ARG(version));
    if (!rules->without_group && (!has_group || !group.n))
        return STR("apiVersion must specify API group");
    return STR("");
}

static void check_segment(struct valid *v, const struct path *p, struct str name,
                          const char *required) {
    struct names_errs errs = valid__name_path_segment(name, false);
    if (!name.n)
        valid__required(v, p, "%s", required);
    else
        valid__names(v, p, name, &errs);
}

static void check_reference(struct valid *v, const struct path *p,
                            const struct api_cross_version_object_reference *r,
                            const struct reference_rules *rules) {
    struct str fault = version_fault(v->errs->a, r->api_version, rules);
    check_segment(v, AT(p, "kind"), r->kind, "");
    check_segment(v, AT(p, "name"), r->name, "");
    if (fault.n)
        valid__add(v, VALID_INVALID, AT(p, "apiVersion"), &VALUE_Q(r->api_version), fault);
}

/* ---- metrics ---- */

static void check_positive(struct valid *v, const struct path *p, const struct quantity *q) {
    if (q && quantity_sign(q) <= 0)
        valid__invalid(v, p, VALUE_NAMED(valid__quantity_text(v->errs->a, q)), "must be positive");
}

static void check_target(struct valid *v, const struct path *p, const struct api_metric_target *t) {
    static const char *const types[] = {"Utilization", "Value", "AverageValue", NULL};
    if (!t->type.n)
        valid__required(v, AT(p, "type"), "must specify a metric target type");
    if (!valid__one_of(t->type, types))
        valid__invalid(v, AT(p, "type"), VALUE_NAMED(t->type),
                       "must be either Utilization, Value, or AverageValue");
    check_positive(v, AT(p, "value"), t->value);
    check_positive(v, AT(p, "averageValue"), t->average_value);
    if (t->average_utilization.set && t->average_utilization.v < 1)
        valid__invalid(v, AT(p, "averageUtilization"), VALUE_I64(t->average_utilization.v),
                       "must be greater than 0");
}

static void check_metric_name(struct valid *v, const struct path *p,
                              const struct api_metric_identifier *metric) {
    check_segment(v, AT(AT(p, "metric"), "name"), metric->name, "must specify a metric name");
}

static void check_object(struct valid *v, const struct path *p,
                         const struct api_object_metric_source *s,
                         const struct scaler_rules *rules) {
    struct reference_rules reference = {.any_version = rules->any_object_version,
                                        .without_group = true};
    check_reference(v, AT(p, "describedObject"), &s->described_object, &reference);
    check_metric_name(v, p, &s->metric);
    check_target(v, AT(p, "target"), &s->target);
    if (!s->target.value && !s->target.average_value)
        valid__required(v, AT(AT(p, "target"), "averageValue"),
                        "must set either a target value or averageValue");
}

static void check_external(struct valid *v, const struct path *p,
                           const struct api_external_metric_source *s) {
    const struct path *target = AT(p, "target");
    check_metric_name(v, p, &s->metric);
    check_target(v, target, &s->target);
    if (!s->target.value && !s->target.average_value)
        valid__required(v, AT(target, "averageValue"),
                        "must set either a target value for metric or a per-pod target");
    if (s->target.value && s->target.average_value)
        valid__forbidden(v, AT(target, "value"),
                         "may not set both a target value for metric and a per-pod target");
}

static void check_pods(struct valid *v, const struct path *p,
                       const struct api_pods_metric_source *s) {
    check_metric_name(v, p, &s->metric);
    check_target(v, AT(p, "target"), &s->target);
    if (!s->target.average_value)
        valid__required(v, AT(AT(p, "target"), "averageValue"),
                        "must specify a positive target averageValue");
}

/* A resource is measured by its amount, or by its share of what was asked for. */
static void check_resource_target(struct valid *v, const struct path *p,
                                  const struct api_metric_target *t) {
    check_target(v, p, t);
    if (!t->average_utilization.set && !t->average_value)
        valid__required(v, AT(p, "averageUtilization"),
                        "must set either a target raw value or a target utilization");
    if (t->average_utilization.set && t->average_value)
        valid__forbidden(v, AT(p, "averageValue"),
                         "may not set both a target raw value and a target utilization");
}

static void check_resource(struct valid *v, const struct path *p,
                           const struct api_resource_metric_source *s) {
    if (!s->name.n)
        valid__required(v, AT(p, "name"), "must specify a resource name");
    check_resource_target(v, AT(p, "target"), &s->target);
}

static void check_container(struct valid *v, const struct path *p,
                            const struct api_container_resource_metric_source *s) {
    if (!s->name.n)
        valid__required(v, AT(p, "name"), "must specify a resource name");
    else
        valid__container_resource_name(v, AT(p, "name"), s->name);
    if (!s->container.n)
        valid__required(v, AT(p, "container"), "must specify a container");
    else
        valid__dns_label(v, AT(p, "container"), s->container);
    check_resource_target(v, AT(p, "target"), &s->target);
}

/* The first source that is there is looked at. */
static void check_source(struct valid *v, const struct path *p, const struct api_metric_spec *m,
                         const struct scaler_rules *rules) {
    if (m->object)
        check_object(v, AT(p, "object"), m->object, rules);
    else if (m->external)
        check_external(v, AT(p, "external"), m->external);
    else if (m->pods)
        check_pods(v, AT(p, "pods"), m->pods);
    else if (m->resource)
        check_resource(v, AT(p, "resource"), m->resource);
    else if (m->container_resource)
        check_container(v, AT(p, "containerResource"), m->container_resource);
}

/* There is the source that the type names, and no other. */
static void check_sources(struct valid *v, const struct path *p, const struct api_metric_spec *m) {
    const struct {
        const char *type, *name;
        bool is_set;
    } sources[] = {{"ContainerResource", "containerResource", m->container_resource},
                   {"External", "external", m->external},
                   {"Object", "object", m->object},
                   {"Pods", "pods", m->pods},
                   {"Resource", "resource", m->resource}};
    enum { SOURCE_COUNT = sizeof sources / sizeof *sources };
    size_t set = 0;
    for (size_t i = 0; i < SOURCE_COUNT; i++) {
        set += sources[i].is_set;
        if (!sources[i].is_set && str_is(m->type, sources[i].type))
            valid__required(v, AT(p, sources[i].name),
                            "must populate information for the given metric source");
    }
    for (size_t i = 0; set != 1 && i < SOURCE_COUNT; i++)
        if (sources[i].is_set && !str_is(m->type, sources[i].type))
            valid__forbidden(v, AT(p, sources[i].name),
                             "must populate the given metric source only");
}

static void check_metric(struct valid *v, const struct path *p, const struct api_metric_spec *m,
                         const struct scaler_rules *rules) {
    static const char *const types[] = {"ContainerResource", "External", "Object", "Pods",
                                        "Resource",          NULL};
    if (!m->type.n)
        valid__required(v, AT(p, "type"), "must specify a metric source type");
    if (!valid__one_of(m->type, types))
        valid__not_supported(v, AT(p, "type"), VALUE_NAMED(m->type), types);
    check_source(v, p, m, rules);
    check_sources(v, p, m);
}

static void check_metrics(struct valid *v, const struct path *p,
                          const struct api_horizontal_pod_autoscaler_spec *s,
                          const struct scaler_rules *rules) {
    bool has_others = false;
    for (size_t i = 0; i < s->metrics.n; i++) {
        struct str type = s->metrics.v[i].type;
        check_metric(v, AT_INDEX(p, i), &s->metrics.v[i], rules);
        has_others |= str_is(type, "Object") || str_is(type, "External");
    }
    if (s->min_replicas.set && s->min_replicas.v == 0 && !has_others)
        valid__forbidden(v, p,
                         "must specify at least one Object or External metric to support scaling "
                         "to zero replicas");
}

/* ---- behaviour ---- */

static void check_policy(struct valid *v, const struct path *p,
                         const struct api_hpa_scaling_policy *policy) {
    static const char *const types[] = {"Percent", "Pods", NULL};
    if (!valid__one_of(policy->type, types))
        valid__not_supported(v, AT(p, "type"), VALUE_NAMED(policy->type), types);
    if (policy->value <= 0)
        valid__invalid(v, AT(p, "value"), VALUE_I64(policy->value), "must be greater than zero");
    if (policy->period_seconds <= 0)
        valid__invalid(v, AT(p, "periodSeconds"), VALUE_I64(policy->period_seconds),
                       "must be greater than zero");
    if (policy->period_seconds > MOST_PERIOD_SECONDS)
        valid__invalid(v, AT(p, "periodSeconds"), VALUE_I64(policy->period_seconds),
                       "must be less than or equal to %d", MOST_PERIOD_SECONDS);
}

static void check_window(struct valid *v, const struct path *p, struct api_opt_i32 seconds) {
    if (seconds.set && seconds.v < 0)
        valid__invalid(v, p, VALUE_I64(seconds.v), "must be greater than or equal to zero");
    if (seconds.set && seconds.v > MOST_WINDOW_SECONDS)
        valid__invalid(v, p, VALUE_I64(seconds.v), "must be less than or equal to %d",
                       MOST_WINDOW_SECONDS);
}

static void check_speed(struct valid *v, const struct path *p,
                        const struct api_hpa_scaling_rules *r) {
    static const char *const selections[] = {"Disabled", "Max", "Min", NULL};
    if (!r)
        return;
    check_window(v, AT(p, "stabilizationWindowSeconds"), r->stabilization_window_seconds);
    if (r->select_policy.p && !valid__one_of(r->select_policy, selections))
        valid__not_supported(v, AT(p, "selectPolicy"), VALUE_NAMED(r->select_policy), selections);
    if (!r->policies.n)
        valid__required(v, AT(p, "policies"), "must specify at least one Policy");
    for (size_t i = 0; i < r->policies.n; i++)
        check_policy(v, AT_INDEX(AT(p, "policies"), i), &r->policies.v[i]);
    if (r->tolerance && quantity_sign(r->tolerance) < 0)
        valid__invalid(v, AT(p, "tolerance"),
                       VALUE_Q(valid__quantity_text(v->errs->a, r->tolerance)),
                       "must be greater than or equal to 0");
}

/* ---- the spec ---- */

static void check_bounds(struct valid *v, const struct path *p,
                         const struct api_horizontal_pod_autoscaler_spec *s,
                         const struct scaler_rules *rules) {
    const struct path *most = AT(p, "maxReplicas");
    struct api_opt_i32 least = s->min_replicas;
    valid__cover(v, "minimum");
    if (least.set && least.v < rules->least_replicas)
        valid__invalid(v, AT(p, "minReplicas"), VALUE_I64(least.v),
                       "must be greater than or equal to %d", rules->least_replicas);
    if (s->max_replicas < 0)
        valid__invalid(v, most, VALUE_I64(s->max_replicas), "must be greater than or equal to 1");
    valid__cover(v, "");
    if (!s->max_replicas)
        valid__required(v, most, "must be set and greater than 0");
    valid__uncover(v);
    if (least.set && s->max_replicas < least.v)
        valid__invalid(v, most, VALUE_I64(s->max_replicas),
                       "must be greater than or equal to `minReplicas`");
}

static void check_spec(struct valid *v, const struct api_horizontal_pod_autoscaler_spec *s,
                       const struct scaler_rules *rules) {
    const struct path *p = AT(NULL, "spec");
    struct reference_rules target = {.any_version = rules->any_target_version,
                                     .without_group = rules->target_without_group};
    check_bounds(v, p, s, rules);
    check_reference(v, AT(p, "scaleTargetRef"), &s->scale_target_ref, &target);
    check_metrics(v, AT(p, "metrics"), s, rules);
    if (!s->behavior)
        return;
    check_speed(v, AT(AT(p, "behavior"), "scaleUp"), s->behavior->scale_up);
    check_speed(v, AT(AT(p, "behavior"), "scaleDown"), s->behavior->scale_down);
}

static bool scales_to_zero(const struct valid *v,
                           const struct api_horizontal_pod_autoscaler_spec *old) {
    return feature_enabled(v->gates, FEATURE_HPAScaleToZero) ||
           (old && old->min_replicas.set && old->min_replicas.v == 0);
}

static bool has_bad_object(struct arena *a, const struct api_metric_spec_list *metrics) {
    struct reference_rules rules = {.without_group = true};
    for (size_t i = 0; i < metrics->n; i++) {
        const struct api_metric_spec *m = &metrics->v[i];
        if (str_is(m->type, "Object") && m->object &&
            version_fault(a, m->object->described_object.api_version, &rules).n)
            return true;
    }
    return false;
}

static struct scaler_rules rules_for(const struct valid *v,
                                     const struct api_horizontal_pod_autoscaler_spec *s,
                                     const struct api_horizontal_pod_autoscaler_spec *old) {
    const struct api_cross_version_object_reference *now = &s->scale_target_ref;
    bool is_target_kept = old && str_eq(now->kind, old->scale_target_ref.kind) &&
                          str_eq(now->api_version, old->scale_target_ref.api_version);
    return (struct scaler_rules){
        .any_target_version = is_target_kept,
        .target_without_group = !is_target_kept && str_is(now->kind, "ReplicationController"),
        .any_object_version = old && has_bad_object(v->errs->a, &old->metrics),
        .least_replicas = scales_to_zero(v, old) ? 0 : 1};
}

/* ---- the kind, in two versions ---- */

/* The spec, as v2 has it. In v1 there is one metric; it stands in `room`. */
struct v1_room {
    struct api_metric_spec metric;
    struct api_resource_metric_source cpu;
};

static struct api_horizontal_pod_autoscaler_spec spec_of(const struct api_object *o,
                                                         struct v1_room *room) {
    if (api_object_is(o, API_T_horizontal_pod_autoscaler))
        return ((const struct api_horizontal_pod_autoscaler *)o->body)->spec;
    const struct api_horizontal_pod_autoscaler_spec_v1 *s =
        &((const struct api_horizontal_pod_autoscaler_v1 *)o->body)->spec;
    struct api_opt_i32 share = s->target_cpu_utilization_percentage;
    room->cpu = (struct api_resource_metric_source){
        .name = STR("cpu"), .target = {.type = STR("Utilization"), .average_utilization = share}};
    room->metric = (struct api_metric_spec){.type = STR("Resource"), .resource = &room->cpu};
    return (struct api_horizontal_pod_autoscaler_spec){
        .scale_target_ref = s->scale_target_ref,
        .min_replicas = s->min_replicas,
        .max_replicas = s->max_replicas,
        .metrics = {&room->metric, share.set},
    };
}

static void create(struct valid *v, const struct api_object *o) {
    struct v1_room room;
    struct api_horizontal_pod_autoscaler_spec s = spec_of(o, &room);
    struct scaler_rules rules = rules_for(v, &s, NULL);
    valid__metadata_create(v, o);
    check_spec(v, &s, &rules);
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *before) {
    struct v1_room room, old_room;
    struct api_horizontal_pod_autoscaler_spec s = spec_of(o, &room),
                                              old = spec_of(before, &old_room);
    struct scaler_rules rules = rules_for(v, &s, &old);
    valid__metadata_update(v, o, before);
    check_spec(v, &s, &rules);
}

static void declared(struct valid *v, const struct api_object *o, const struct api_object *before) {
    struct v1_room room, old_room;
    struct api_horizontal_pod_autoscaler_spec s = spec_of(o, &room), old = {0};
    const struct path *p = AT(NULL, "spec");
    if (before)
        old = spec_of(before, &old_room);
    bool is_least_kept = before && s.min_replicas.set == old.min_replicas.set &&
                         s.min_replicas.v == old.min_replicas.v;
    if (s.min_replicas.set && !is_least_kept)
        valid__least(v, AT(p, "minReplicas"), s.min_replicas.v,
                     scales_to_zero(v, before ? &old : NULL) ? 0 : 1);
    if (before && s.max_replicas == old.max_replicas)
        return;
    if (!s.max_replicas)
        valid__say_required(v, AT(p, "maxReplicas"));
    else
        valid__least(v, AT(p, "maxReplicas"), s.max_replicas, 1);
}

/* ---- status ---- */

static void check_replicas(struct valid *v, int32_t current, int32_t desired) {
    const struct path *p = AT(NULL, "status");
    valid__not_negative(v, AT(p, "currentReplicas"), current);
    valid__not_negative(v, AT(p, "desiredReplicas"), desired);
}

static void status(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_horizontal_pod_autoscaler_status *s =
        &((const struct api_horizontal_pod_autoscaler *)o->body)->status;
    const struct path *p = AT(AT(NULL, "status"), "conditions");
    (void)old;
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    for (size_t i = 0; i < s->conditions.n; i++)
        if (s->conditions.v[i].observed_generation.set)
            valid__not_negative(v, AT(AT_INDEX(p, i), "observedGeneration"),
                                s->conditions.v[i].observed_generation.v);
    check_replicas(v, s->current_replicas, s->desired_replicas);
}

static void status_v1(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_horizontal_pod_autoscaler_status_v1 *s =
        &((const struct api_horizontal_pod_autoscaler_v1 *)o->body)->status;
    (void)old;
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    check_replicas(v, s->current_replicas, s->desired_replicas);
}

const struct valid_kind valid__horizontal_pod_autoscaler = {.type = API_T_horizontal_pod_autoscaler,
                                                            .create = create,
                                                            .update = update,
                                                            .status = status,
                                                            .declared = declared};
const struct valid_kind valid__horizontal_pod_autoscaler_v1 = {
    .type = API_T_horizontal_pod_autoscaler_v1,
    .create = create,
    .update = update,
    .status = status_v1,
    .declared = declared};
