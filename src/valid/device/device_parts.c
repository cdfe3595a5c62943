/*
 * What classes, claims and slices of devices have in common: configurations, taints, tolerations,
 * and the conditions of binding.
 *
 * Follows k8s.io/kubernetes pkg/apis/resource/validation, func validateDeviceConfiguration,
 * func validateRawExtension, func validateDeviceTaint, func validateDeviceToleration,
 * func validateDeviceBindingParameters, func validateSkipNodeOperations.
 */
#include "base/limits.h"
#include "valid/device/device_int.h"

enum { MOST_PARAMETER_BYTES = 10 * 1024, MOST_BINDING_CONDITIONS = 4 };

static const char *const effects[] = {"NoExecute", "NoSchedule", "None", NULL};

/* ---- configurations ---- */

static bool is_too_long(const struct json *raw) {
    AUTO(buf_release) struct buf text = BUF_INIT(MOST_PARAMETER_BYTES + 1);
    json_write(&text, raw, NULL);
    return text.full || text.n > MOST_PARAMETER_BYTES;
}

void valid__device_parameters(struct valid *v, const struct path *p, const struct json *raw,
                              bool is_stored) {
    if (raw->kind == JSON_NULL)
        valid__required(v, p, NO_DETAIL);
    else if (!is_stored && is_too_long(raw))
        valid__too_long(v, p, MOST_PARAMETER_BYTES);
    else if (raw->kind != JSON_OBJECT)
        valid__invalid(v, p, VALUE_Q(STR("<value omitted>")), "must be a valid JSON object");
}

void valid__device_configuration(struct valid *v, const struct path *p,
                                 const struct api_device_configuration *c, bool is_stored) {
    const struct path *at = AT(p, "opaque");
    if (!c->opaque) {
        valid__required(v, at, NO_DETAIL);
        return;
    }
    valid__driver_name(v, AT(at, "driver"), c->opaque->driver, true);
    valid__device_parameters(v, AT(at, "parameters"), &c->opaque->parameters, is_stored);
}

/* ---- taints ---- */

/* An effect that stays as it is may be one of a later version. */
void valid__device_taint(struct valid *v, const struct path *p, const struct api_device_taint *t,
                         const struct api_device_taint *old) {
    valid__label_key(v, AT(p, "key"), t->key);
    if (t->value.n)
        valid__label_value(v, AT(p, "value"), t->value);
    valid__cover(v, "");
    if (!old || !str_eq(old->effect, t->effect))
        valid__choice(v, AT(p, "effect"), t->effect, effects);
    valid__uncover(v);
}

static void check_toleration(struct valid *v, const struct path *p,
                             const struct api_device_toleration *t) {
    static const char *const operators[] = {"Equal", "Exists", NULL};
    valid__cover(v, ORIGIN_LABEL_KEY);
    if (t->key.n)
        valid__label_key(v, AT(p, "key"), t->key);
    valid__uncover(v);
    if (str_is(t->operator, "Exists") && t->value.n)
        valid__invalid(v, AT(p, "value"), VALUE_Q(t->value), "must be empty for operator `Exists`");
    if (str_is(t->operator, "Equal"))
        valid__label_value(v, AT(p, "value"), t->value);
    valid__cover(v, "");
    valid__choice(v, AT(p, "operator"), t->operator, operators);
    if (t->effect.n)
        valid__choice(v, AT(p, "effect"), t->effect, effects);
    valid__uncover(v);
}

void valid__device_toleration(struct valid *v, const struct path *p,
                              const struct api_device_toleration_list *list) {
    for (size_t i = 0; i < list->n; i++)
        check_toleration(v, AT_INDEX(p, i), &list->v[i]);
}

/* ---- binding ---- */

static void check_conditions(struct valid *v, const struct path *p, const struct api_strs *list) {
    if (valid__has_too_many(v, p, list->n, MOST_BINDING_CONDITIONS))
        return;
    for (size_t i = 0; i < list->n; i++)
        valid__label_key(v, AT_INDEX(p, i), list->v[i]);
}

/* Those that repeat others of their list, or are in the other one as well. */
static void check_repeated(struct valid *v, const struct path *p, const struct api_strs *list,
                           const struct seen *others) {
    AUTO(seen_release) struct seen seen;
    seen_init(&seen);
    for (size_t i = 0; i < list->n; i++) {
        if (!seen_add(&seen, list->v[i]))
            valid__duplicate(v, AT_INDEX(p, i), VALUE_Q(list->v[i]), NO_DETAIL);
        if (others && seen_get(others, list->v[i]))
            valid__invalid(v, AT_INDEX(p, i), VALUE_Q(list->v[i]),
                           "bindingFailureConditions must not overlap with bindingConditions");
    }
}

void valid__binding_conditions(struct valid *v, const struct path *p, const struct api_strs *wanted,
                               const struct api_strs *failing) {
    const struct path *w = AT(p, "bindingConditions"), *f = AT(p, "bindingFailureConditions");
    AUTO(seen_release) struct seen all;
    seen_init(&all);
    for (size_t i = 0; i < wanted->n; i++)
        seen_add(&all, wanted->v[i]);
    check_conditions(v, w, wanted);
    check_conditions(v, f, failing);
    check_repeated(v, w, wanted, NULL);
    check_repeated(v, f, failing, &all);
    if (!wanted->n && failing->n)
        valid__invalid(v, w, valid__strs_value(v->errs->a, wanted),
                       "bindingConditions are required to use bindingFailureConditions");
    if (wanted->n && !failing->n)
        valid__invalid(v, f, valid__strs_value(v->errs->a, failing),
                       "bindingFailureConditions are required to use bindingConditions");
}

void valid__skipped_operations(struct valid *v, const struct path *p, const struct api_strs *list) {
    bool prepares = false, others = false;
    for (size_t i = 0; i < list->n; i++) {
        prepares |= str_is(list->v[i], "NodePrepareResources");
        others |= str_is(list->v[i], "NodeUnprepareResources") || str_is(list->v[i], "*");
    }
    if (prepares && !others)
        valid__invalid(v, p, valid__strs_value(v->errs->a, list),
                       "NodePrepareResources cannot be skipped unless NodeUnprepareResources is "
                       "also skipped");
}
