/*
 * Classes of devices, rules that taint some, and questions about pools of them.
 *
 * Follows k8s.io/kubernetes pkg/apis/resource/validation, func ValidateDeviceClass,
 * func ValidateDeviceClassUpdate, func ValidateDeviceTaintRule, func ValidateDeviceTaintRuleUpdate,
 * func ValidateDeviceTaintRuleStatusUpdate, func ValidateResourcePoolStatusRequestStatusUpdate.
 */
#include "valid/device/device_int.h"
#include "valid/kinds_int.h"
#include "valid/resource_int.h"

enum { MOST_CONFIGS = 32, MOST_CONDITIONS = 8 };

/* ---- classes ---- */

static const struct api_device_class_spec *class_of(const struct api_object *o) {
    return &((const struct api_device_class *)o->body)->spec;
}

static void check_class(struct valid *v, const struct api_device_class_spec *s,
                        const struct api_device_class_spec *old) {
    const struct path *p = AT(NULL, "spec"), *config = AT(p, "config");
    bool same_selectors =
        old && valid__equal_lists(API_T_device_selector, &s->selectors, &old->selectors);
    bool same_config =
        old && valid__equal_lists(API_T_device_class_configuration, &s->config, &old->config);
    valid__device_selectors(v, AT(p, "selectors"), &s->selectors, same_selectors);
    if (!valid__has_too_many(v, config, s->config.n, MOST_CONFIGS))
        for (size_t i = 0; i < s->config.n; i++)
            valid__device_configuration(v, AT_INDEX(config, i),
                                        &s->config.v[i].device_configuration, same_config);
    valid__cover(v, "format=k8s-extended-resource-name");
    if (s->extended_resource_name.p && !valid__is_extended_resource(s->extended_resource_name))
        valid__invalid(v, AT(p, "extendedResourceName"), VALUE_Q(s->extended_resource_name),
                       "must be a valid extended resource name");
    valid__uncover(v);
}

static void create_class(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_class(v, class_of(o), NULL);
}

static void update_class(struct valid *v, const struct api_object *o,
                         const struct api_object *old) {
    valid__metadata_update(v, o, old);
    check_class(v, class_of(o), class_of(old));
}

/* ---- taints ---- */

static const struct api_device_taint_rule_spec *rule_of(const struct api_object *o) {
    return &((const struct api_device_taint_rule *)o->body)->spec;
}

static void check_rule(struct valid *v, const struct api_device_taint_rule_spec *s,
                       const struct api_device_taint_rule_spec *old) {
    const struct path *p = AT(NULL, "spec"), *at = AT(p, "deviceSelector");
    const struct api_device_taint_selector *d = s->device_selector;
    if (d && d->driver.p)
        valid__driver_name(v, AT(at, "driver"), d->driver, false);
    if (d && d->pool.p)
        valid__pool_name(v, AT(at, "pool"), d->pool, false);
    if (d && d->device.p)
        valid__dns_label(v, AT(at, "device"), d->device);
    valid__device_taint(v, AT(p, "taint"), &s->taint, old ? &old->taint : NULL);
}

static void create_rule(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_rule(v, rule_of(o), NULL);
}

static void update_rule(struct valid *v, const struct api_object *o, const struct api_object *old) {
    valid__metadata_update(v, o, old);
    check_rule(v, rule_of(o), rule_of(old));
}

static void status_of_rule(struct valid *v, const struct api_object *o,
                           const struct api_object *old) {
    const struct api_condition_list *list =
        &((const struct api_device_taint_rule *)o->body)->status.conditions;
    const struct path *p = AT(AT(NULL, "status"), "conditions");
    valid__metadata_update(v, o, old);
    valid__conditions(v, p, list);
    if (list->n > MOST_CONDITIONS)
        valid__too_many(v, p, list->n, MOST_CONDITIONS);
}

/* ---- pools ---- */

/* An answer stays as it is. */
static void status_of_pools(struct valid *v, const struct api_object *o,
                            const struct api_object *before) {
    const struct api_resource_pool_status_request_status
        *now = ((const struct api_resource_pool_status_request *)o->body)->status,
        *old = ((const struct api_resource_pool_status_request *)before->body)->status;
    enum api_type_id type = API_T_resource_pool_status_request_status;
    const struct path *p = AT(NULL, "status");
    valid__metadata_update(v, o, before);
    if (old && !valid__equal(type, now, old))
        valid__immutable(v, p, valid__struct_value(v->errs->a, type, now));
    if (!old && now)
        valid__conditions(v, AT(p, "conditions"), &now->conditions);
}

const struct valid_kind valid__device_class = {.type = API_T_device_class,
                                               .create = create_class,
                                               .update = update_class,
                                               .declared = valid__declared_rows};
const struct valid_kind valid__device_taint_rule = {.type = API_T_device_taint_rule,
                                                    .create = create_rule,
                                                    .update = update_rule,
                                                    .status = status_of_rule,
                                                    .declared = valid__declared_rows};
const struct valid_kind valid__resource_pool_status_request = {
    .type = API_T_resource_pool_status_request,
    .create = valid__metadata_create,
    .update = valid__metadata_update,
    .status = status_of_pools,
    .declared = valid__declared_rows};
