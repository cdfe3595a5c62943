/*
 * How much a namespace may have: quotas and ranges of limits.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateResourceQuotaSpec,
 * func ValidateResourceQuotaUpdate, func ValidateResourceQuotaStatusUpdate,
 * func ValidateLimitRange.
 * Follows k8s.io/kubernetes pkg/apis/core/helper, func IsResourceQuotaScopeValidForResource.
 */
#include <math.h>

#include "valid/kinds_int.h"
#include "valid/metadata_int.h"
#include "valid/resource_int.h"

/* ---- quotas: resources ---- */

static bool is_quota_resource(struct str name) {
    static const char *const names[] = {"cpu",
                                        "memory",
                                        "ephemeral-storage",
                                        "requests.cpu",
                                        "requests.memory",
                                        "requests.storage",
                                        "requests.ephemeral-storage",
                                        "limits.cpu",
                                        "limits.memory",
                                        "limits.ephemeral-storage",
                                        "pods",
                                        "resourcequotas",
                                        "services",
                                        "replicationcontrollers",
                                        "secrets",
                                        "persistentvolumeclaims",
                                        "configmaps",
                                        "services.nodeports",
                                        "services.loadbalancers",
                                        NULL};
    return valid__one_of(name, names) || valid__is_huge_page(name) ||
           str_starts(name, STR("requests.hugepages-"));
}

static void check_amounts(struct valid *v, const struct path *p,
                          const struct api_quantities *list) {
    for (size_t i = 0; i < list->n; i++) {
        const struct path *at = AT_KEY(p, list->v[i].key);
        struct str name = list->v[i].key;
        valid__resource_name(v, at, name);
        if (str_find_char(name, '/') == STR_NONE && !is_quota_resource(name))
            valid__invalid(v, at, VALUE_NAMED(name), "must be a standard resource for quota");
        valid__resource_amount(v, at, &list->v[i]);
    }
}

/* ---- quotas: scopes ---- */

static const char *const pod_resources[] = {
    "pods",          "cpu",          "memory",          "limits.cpu",
    "limits.memory", "requests.cpu", "requests.memory", NULL};
static const char *const pod_count[] = {"pods", NULL};
static const char *const claim_resources[] = {"persistentvolumeclaims", "requests.storage", NULL};

/* A scope, and of which resources it can choose some. */
static const struct scope {
    const char *name;
    const char *const *resources;
    bool must_exist; /* it has no values */
} scopes[] = {
    {"Terminating", pod_resources, true},
    {"NotTerminating", pod_resources, true},
    {"BestEffort", pod_count, true},
    {"NotBestEffort", pod_resources, true},
    {"PriorityClass", pod_resources, false},
    {"VolumeAttributesClass", claim_resources, false},
    {"CrossNamespacePodAffinity", pod_resources, true},
};

static const struct scope *find_scope(struct str name) {
    for (size_t i = 0; i < sizeof scopes / sizeof *scopes; i++)
        if (str_is(name, scopes[i].name))
            return &scopes[i];
    return NULL;
}

enum { SCOPES = sizeof scopes / sizeof *scopes };

/* A quota whose scopes are looked at: how many of its resources each cannot choose from. */
struct scoped {
    const struct api_quantities *hard;
    bool is_known[SCOPES];
    size_t misfits[SCOPES];
};

static size_t misfits_of(struct scoped *s, const struct scope *scope) {
    size_t place = (size_t)(scope - scopes);
    for (size_t i = s->is_known[place] ? s->hard->n : 0; i < s->hard->n; i++) {
        struct str name = s->hard->v[i].key;
        s->misfits[place] += is_quota_resource(name) && !valid__one_of(name, scope->resources);
    }
    s->is_known[place] = true;
    return s->misfits[place];
}

/* All that is wrong with a scope is said in the same words: when the list of errors has no room,
 * the others need not be tried. */
static void check_scope(struct valid *v, const struct path *p, const struct scope *scope,
                        struct scoped *s, struct value value) {
    struct valid_errs *errs = v->errs;
    size_t left_out = errs->left_out;
    for (size_t n = scope ? misfits_of(s, scope) : 0; n > 0 && errs->left_out == left_out; n--) {
        valid__invalid(v, p, value, "unsupported scope applied to resource");
        if (errs->left_out > left_out) {
            errs->left_out += n - 1;
            errs->found += n - 1;
        }
    }
}

/* Scopes of a quota, as bits of their places in the table. */
static void check_conflicts(struct valid *v, const struct path *p, unsigned used,
                            struct value value) {
    static const unsigned efforts = 3u << 2, terminations = 3u;
    if ((used & efforts) == efforts)
        valid__invalid(v, p, value, "conflicting scopes");
    if ((used & terminations) == terminations)
        valid__invalid(v, p, value, "conflicting scopes");
}

static unsigned bit_of(const struct scope *scope) {
    return scope ? 1u << (scope - scopes) : 0;
}

static void check_scopes(struct valid *v, const struct path *spec,
                         const struct api_resource_quota_spec *s) {
    const struct path *p = AT(spec, "scopes");
    struct scoped scoped = {.hard = &s->hard};
    struct value value = valid__strs_value(v->errs->a, &s->scopes);
    unsigned used = 0;
    for (size_t i = 0; i < s->scopes.n; i++) {
        const struct scope *scope = find_scope(s->scopes.v[i]);
        if (!scope)
            valid__invalid(v, p, value, "unsupported scope");
        check_scope(v, p, scope, &scoped, value);
        used |= bit_of(scope);
    }
    check_conflicts(v, p, used, value);
}

static void check_operator(struct valid *v, const struct path *p,
                           const struct api_scoped_resource_selector_requirement *r) {
    if (str_is(r->operator, "In") || str_is(r->operator, "NotIn")) {
        if (!r->values.n)
            valid__required(v, AT(p, "values"),
                            "must be at least one value when `operator` is 'In' or 'NotIn' for "
                            "scope selector");
    } else if (str_is(r->operator, "Exists") || str_is(r->operator, "DoesNotExist")) {
        if (r->values.n)
            valid__invalid(v, AT(p, "values"), valid__strs_value(v->errs->a, &r->values),
                           "must be no value when `operator` is 'Exist' or 'DoesNotExist' for "
                           "scope selector");
    } else
        valid__invalid(v, AT(p, "operator"), VALUE_NAMED(r->operator),
                       "not a valid selector operator");
}

static void check_requirement(struct valid *v, const struct path *p,
                              const struct api_scoped_resource_selector_requirement *r,
                              struct scoped *scoped, struct value selector) {
    const struct scope *scope = find_scope(r->scope_name);
    if (!scope)
        valid__invalid(v, AT(p, "scopeName"), VALUE_NAMED(r->scope_name), "unsupported scope");
    check_scope(v, p, scope, scoped, selector);
    if (scope && scope->must_exist && !str_is(r->operator, "Exists"))
        valid__invalid(
            v, AT(p, "operator"), VALUE_NAMED(r->operator),
            "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
            "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
            "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity");
    check_operator(v, p, r);
}

static void check_selector(struct valid *v, const struct path *spec,
                           const struct api_resource_quota_spec *s) {
    const struct path *p = AT(AT(spec, "scopeSelector"), "matchExpressions");
    struct scoped scoped = {.hard = &s->hard};
    unsigned used = 0;
    if (!s->scope_selector)
        return;
    struct value selector =
        valid__struct_value(v->errs->a, API_T_scope_selector, s->scope_selector);
    for (size_t i = 0; i < s->scope_selector->match_expressions.n; i++) {
        check_requirement(v, p, &s->scope_selector->match_expressions.v[i], &scoped, selector);
        used |= bit_of(find_scope(s->scope_selector->match_expressions.v[i].scope_name));
    }
    check_conflicts(v, p, used, valid__strs_value(v->errs->a, &s->scopes));
}

/* ---- quotas ---- */

static const struct api_resource_quota *quota_of(const struct api_object *o) {
    return o->body;
}

static void check_quota(struct valid *v, const struct api_resource_quota_spec *s) {
    const struct path *p = AT(NULL, "spec");
    check_amounts(v, AT(p, "hard"), &s->hard);
    check_scopes(v, p, s);
    check_selector(v, p, s);
}

static void create_quota(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_quota(v, &quota_of(o)->spec);
}

static bool has_all(const struct api_strs *list, const struct api_strs *wanted) {
    struct seen names;
    bool all = true;
    seen_init(&names);
    for (size_t i = 0; i < list->n; i++)
        seen_add(&names, list->v[i]);
    for (size_t i = 0; all && i < wanted->n; i++)
        all = seen_get(&names, wanted->v[i]);
    seen_release(&names);
    return all;
}

static void update_quota(struct valid *v, const struct api_object *o,
                         const struct api_object *old) {
    const struct api_strs *now = &quota_of(o)->spec.scopes, *was = &quota_of(old)->spec.scopes;
    valid__metadata_update(v, o, old);
    check_quota(v, &quota_of(o)->spec);
    if (!has_all(now, was) || !has_all(was, now))
        valid__immutable(v, AT(AT(NULL, "spec"), "scopes"), valid__strs_value(v->errs->a, now));
}

static void quota_status(struct valid *v, const struct api_object *o,
                         const struct api_object *old) {
    const struct path *p = AT(NULL, "status");
    (void)old;
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    if (!o->meta->resource_version.n)
        valid__required(v, AT(NULL, "resourceVersion"), NO_DETAIL);
    check_amounts(v, AT(p, "hard"), &quota_of(o)->status.hard);
    check_amounts(v, AT(p, "used"), &quota_of(o)->status.used);
}

const struct valid_kind valid__resource_quota = {.type = API_T_resource_quota,
                                                 .create = create_quota,
                                                 .update = update_quota,
                                                 .status = quota_status};

/* ---- ranges of limits ---- */

/* The maps of a range, and the entries that a resource has in them. */
enum part { MAX, MIN, DEFAULT, DEFAULT_REQUEST, RATIO, PARTS };

static const char *const part_names[PARTS] = {
    [MAX] = "max",
    [MIN] = "min",
    [DEFAULT] = "default",
    [DEFAULT_REQUEST] = "defaultRequest",
    [RATIO] = "maxLimitRequestRatio",
};

struct limits {
    struct valid *v;
    const struct path *p;
    const struct api_quantities *maps[PARTS]; /* NULL: not looked at */
    const struct api_quantity *of[PARTS];     /* of the resource that is looked at; or NULL */
};

static struct str text_of(const struct limits *l, enum part part) {
    return valid__quantity_text(l->v->errs->a, &l->of[part]->value);
}

/* Both are there, and the first is above the second. */
static bool is_above(const struct limits *l, enum part a, enum part b) {
    return l->of[a] && l->of[b] && quantity_cmp(&l->of[a]->value, &l->of[b]->value) > 0;
}

static const struct path *path_of(const struct limits *l, enum part part, struct path out[2]) {
    out[0] = (struct path){.up = l->p, .name = part_names[part]};
    out[1] = (struct path){.up = &out[0], .key = l->of[part]->key};
    return &out[1];
}

/* Which entry must not be above which, where the error stands and which value it shows, and what
 * the two are called. */
static const struct order {
    enum part low, high, at, shown;
    const char *low_name, *high_name;
} orders[] = {
    {MIN, MAX, MIN, MIN, "min value", "max value"},
    {MIN, DEFAULT_REQUEST, DEFAULT_REQUEST, DEFAULT_REQUEST, "min value", "default request value"},
    {DEFAULT_REQUEST, MAX, DEFAULT_REQUEST, DEFAULT_REQUEST, "default request value", "max value"},
    {DEFAULT_REQUEST, DEFAULT, DEFAULT_REQUEST, DEFAULT_REQUEST, "default request value",
     "default limit value"},
    {MIN, DEFAULT, DEFAULT, MIN, "min value", "default value"},
    {DEFAULT, MAX, DEFAULT, MAX, "default value", "max value"},
};

static void check_orders(const struct limits *l) {
    struct path at[2];
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        const struct order *o = &orders[i];
        if (is_above(l, o->low, o->high))
            valid__invalid(l->v, path_of(l, o->at, at), VALUE_NAMED(text_of(l, o->shown)),
                           "%s %.*s is greater than %s %.*s", o->low_name,
                           STR_ARG(text_of(l, o->low)), o->high_name, STR_ARG(text_of(l, o->high)));
    }
}

/* Amounts are compared in thousandths, unless one of them is too large for that. */
static double ratio_limit(const struct limits *l, double *ratio) {
    static const int64_t most = INT64_MAX / 1000;
    const struct quantity *max = &l->of[MAX]->value, *min = &l->of[MIN]->value;
    const struct quantity *r = &l->of[RATIO]->value;
    if (quantity_value(r) < most && quantity_value(min) < most && quantity_value(max) < most) {
        *ratio = (double)quantity_milli_value(r) / 1000;
        return (double)quantity_milli_value(max) / (double)quantity_milli_value(min);
    }
    *ratio = (double)quantity_value(r);
    return (double)quantity_value(max) / (double)quantity_value(min);
}

/* As Go prints numbers that are none. */
static struct str limit_text(struct arena *a, double limit) {
    if (isnan(limit))
        return STR("NaN");
    return isinf(limit) ? (limit > 0 ? STR("+Inf") : STR("-Inf")) : arena_printf(a, "%f", limit);
}

static void check_ratio(const struct limits *l) {
    struct path at[2];
    struct quantity one = quantity_of_i64(1, QUANTITY_DECIMAL_SI);
    double ratio, limit;
    if (!l->of[RATIO])
        return;
    if (quantity_cmp(&l->of[RATIO]->value, &one) < 0)
        valid__invalid(l->v, path_of(l, RATIO, at), VALUE_NAMED(text_of(l, RATIO)),
                       "ratio %.*s is less than 1", STR_ARG(text_of(l, RATIO)));
    if (!l->of[MIN] || !l->of[MAX])
        return;
    limit = ratio_limit(l, &ratio);
    if (ratio > limit)
        valid__invalid(l->v, path_of(l, RATIO, at), VALUE_NAMED(text_of(l, RATIO)),
                       "ratio %.*s is greater than max/min = %.*s", STR_ARG(text_of(l, RATIO)),
                       STR_ARG(limit_text(l->v->errs->a, limit)));
}

static void check_overcommit(const struct limits *l) {
    const struct api_quantity *limit = l->of[DEFAULT], *request = l->of[DEFAULT_REQUEST];
    struct path at[2];
    if (limit && request && !valid__may_overcommit(limit->key) &&
        quantity_cmp(&limit->value, &request->value))
        valid__invalid(l->v, path_of(l, DEFAULT_REQUEST, at),
                       VALUE_NAMED(text_of(l, DEFAULT_REQUEST)),
                       "default value %.*s must equal to defaultRequest value %.*s in %.*s",
                       STR_ARG(text_of(l, DEFAULT)), STR_ARG(text_of(l, DEFAULT_REQUEST)),
                       STR_ARG(limit->key));
}

/* Takes the entries of the first resource that is left in any of the maps, which are sorted. */
static bool take_resource(struct limits *l, size_t at[PARTS]) {
    const struct str *first = NULL;
    for (size_t i = 0; i < PARTS; i++) {
        l->of[i] = NULL;
        if (l->maps[i] && at[i] < l->maps[i]->n &&
            (!first || str_cmp(l->maps[i]->v[at[i]].key, *first) < 0))
            first = &l->maps[i]->v[at[i]].key;
    }
    for (size_t i = 0; first && i < PARTS; i++)
        if (l->maps[i] && at[i] < l->maps[i]->n && str_eq(l->maps[i]->v[at[i]].key, *first))
            l->of[i] = &l->maps[i]->v[at[i]++];
    return first;
}

static void check_names(const struct limits *l, enum part part, bool of_containers) {
    const struct path *p = AT(l->p, part_names[part]);
    for (size_t i = 0; i < l->maps[part]->n; i++) {
        struct str name = l->maps[part]->v[i].key;
        if (of_containers)
            valid__container_resource_name(l->v, AT_KEY(p, name), name);
        else
            valid__resource_name(l->v, AT_KEY(p, name), name);
    }
}

static void check_type(struct valid *v, const struct path *p, struct str type) {
    static const char *const standard[] = {"Pod", "Container", "PersistentVolumeClaim", NULL};
    struct names_errs errs = names_check_label_key(type);
    for (size_t i = 0; i < errs.n; i++)
        valid__add(v, VALID_INVALID, p, &VALUE_NAMED(type), errs.v[i]);
    if (!errs.n && str_find_char(type, '/') == STR_NONE && !valid__one_of(type, standard))
        valid__invalid(v, p, VALUE_NAMED(type), "must be a standard limit type or fully qualified");
}

/* Pods have no defaults: their containers do. */
static void check_defaults(struct limits *l, bool is_pod, bool of_containers) {
    for (enum part part = DEFAULT; part <= DEFAULT_REQUEST; part++) {
        if (!is_pod) {
            check_names(l, part, of_containers);
            continue;
        }
        if (l->maps[part]->n)
            valid__forbidden(l->v, AT(l->p, part_names[part]),
                             "may not be specified when `type` is 'Pod'");
        l->maps[part] = NULL;
    }
}

static bool has_storage(const struct api_quantities *list) {
    for (size_t i = 0; i < list->n; i++)
        if (str_is(list->v[i].key, "storage"))
            return true;
    return false;
}

static void check_item(struct valid *v, const struct path *p,
                       const struct api_limit_range_item *item) {
    struct limits l = {v,
                       p,
                       {&item->max, &item->min, &item->default_, &item->default_request,
                        &item->max_limit_request_ratio},
                       {0}};
    bool is_pod = str_is(item->type, "Pod");
    bool of_containers = is_pod || str_is(item->type, "Container");
    size_t at[PARTS] = {0};
    check_names(&l, MAX, of_containers);
    check_names(&l, MIN, of_containers);
    check_defaults(&l, is_pod, of_containers);
    if (str_is(item->type, "PersistentVolumeClaim") && !has_storage(&item->min) &&
        !has_storage(&item->max))
        valid__required(v, AT(p, "limits"),
                        "either minimum or maximum storage value is required, but neither was "
                        "provided");
    check_names(&l, RATIO, of_containers);
    while (take_resource(&l, at)) {
        check_orders(&l);
        check_ratio(&l);
        check_overcommit(&l);
    }
}

static void check_range(struct valid *v, const struct api_limit_range *range) {
    const struct path *p = AT(AT(NULL, "spec"), "limits");
    struct seen types;
    seen_init(&types);
    for (size_t i = 0; i < range->spec.limits.n; i++) {
        const struct api_limit_range_item *item = &range->spec.limits.v[i];
        check_type(v, AT(AT_INDEX(p, i), "type"), item->type);
        if (!seen_add(&types, item->type))
            valid__duplicate(v, AT(AT_INDEX(p, i), "type"), VALUE_NAMED(item->type), NO_DETAIL);
        check_item(v, AT_INDEX(p, i), item);
    }
    seen_release(&types);
}

static void create_range(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_range(v, o->body);
}

static void update_range(struct valid *v, const struct api_object *o,
                         const struct api_object *old) {
    valid__metadata_update(v, o, old);
    check_range(v, o->body);
}

const struct valid_kind valid__limit_range = {
    .type = API_T_limit_range, .create = create_range, .update = update_range};
