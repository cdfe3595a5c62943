/*
 * Names and amounts of resources, in nodes, volumes and quotas as in containers.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateResourceQuantityValue,
 * func validateResourceQuantityHugePageValue, func validateResourceName,
 * func ValidateContainerResourceName.
 */
#include <string.h>

#include "base/limits.h"
#include "valid/resource_int.h"
#include "valid/valid_int.h"

struct str valid__quantity_text(struct arena *a, const struct quantity *q) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    quantity_write(&text, q);
    return arena_str(a, buf_view(&text));
}

bool valid__is_huge_page(struct str name) {
    return str_starts(name, STR("hugepages-"));
}

bool valid__is_native_resource(struct str name) {
    return str_find_char(name, '/') == STR_NONE ||
           str_find(name, STR("kubernetes.io/")) != STR_NONE;
}

/* Does "requests." before the name, as quotas write it, leave it a qualified name? Those are much
 * shorter than the room here. */
static bool fits_quotas(struct str name) {
    static const struct str prefix = STR_INIT("requests.");
    char quota[512];
    if (name.n > sizeof quota - prefix.n)
        return false;
    memcpy(quota, prefix.p, prefix.n);
    memcpy(quota + prefix.n, name.p, name.n);
    return !names_check_label_key((struct str){quota, prefix.n + name.n}).n;
}

bool valid__is_extended_resource(struct str name) {
    return !valid__is_native_resource(name) && !str_starts(name, STR("requests.")) &&
           fits_quotas(name);
}

bool valid__may_overcommit(struct str name) {
    return valid__is_native_resource(name) && !valid__is_huge_page(name);
}

static bool is_standard(struct str name) {
    static const char *const standard[] = {"cpu",
                                           "memory",
                                           "ephemeral-storage",
                                           "requests.cpu",
                                           "requests.memory",
                                           "requests.ephemeral-storage",
                                           "limits.cpu",
                                           "limits.memory",
                                           "limits.ephemeral-storage",
                                           "pods",
                                           "resourcequotas",
                                           "services",
                                           "replicationcontrollers",
                                           "secrets",
                                           "configmaps",
                                           "persistentvolumeclaims",
                                           "storage",
                                           "requests.storage",
                                           "services.nodeports",
                                           "services.loadbalancers",
                                           NULL};
    return valid__one_of(name, standard) || valid__is_huge_page(name) ||
           str_starts(name, STR("requests.hugepages-"));
}

bool valid__resource_name(struct valid *v, const struct path *p, struct str name) {
    struct names_errs errs = names_check_label_key(name);
    for (size_t i = 0; i < errs.n; i++)
        valid__invalid(v, p, VALUE_NAMED(name), "%.*s", STR_ARG(errs.v[i]));
    if (errs.n)
        return false;
    if (str_find_char(name, '/') != STR_NONE || is_standard(name))
        return true;
    valid__invalid(v, p, VALUE_NAMED(name), "must be a standard resource type or fully qualified");
    return false;
}

void valid__container_resource_name(struct valid *v, const struct path *p, struct str name) {
    static const char *const standard[] = {"cpu", "ephemeral-storage", "memory", NULL};
    if (valid__one_of(name, standard))
        return;
    valid__resource_name(v, p, name);
    if (str_find_char(name, '/') == STR_NONE) {
        if (!valid__is_huge_page(name))
            valid__invalid(v, p, VALUE_NAMED(name), "must be a standard resource for containers");
    } else if (!valid__is_native_resource(name) && !valid__is_extended_resource(name)) {
        valid__invalid(v, p, VALUE_NAMED(name), "doesn't follow extended resource name standard");
    }
}

static bool is_counted(struct str name) {
    static const char *const counted[] = {"pods",
                                          "resourcequotas",
                                          "services",
                                          "replicationcontrollers",
                                          "secrets",
                                          "configmaps",
                                          "persistentvolumeclaims",
                                          "services.nodeports",
                                          "services.loadbalancers",
                                          NULL};
    return valid__one_of(name, counted) || valid__is_extended_resource(name);
}

void valid__resource_amount(struct valid *v, const struct path *p,
                            const struct api_quantity *amount) {
    const struct quantity *q = &amount->value;
    struct arena *a = v->errs->a;
    if (quantity_sign(q) < 0)
        valid__invalid(v, p, VALUE_Q(valid__quantity_text(a, q)),
                       "must be greater than or equal to 0");
    if (is_counted(amount->key) && quantity_milli_value(q) % 1000 != 0)
        valid__invalid(v, p, VALUE_NAMED(valid__quantity_text(a, q)), "must be an integer");
}
