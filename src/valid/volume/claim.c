/*
 * Persistent volume claims: what may be asked for, and what of it may change.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidatePersistentVolumeClaim,
 * func ValidatePersistentVolumeClaimUpdate, func ValidatePersistentVolumeClaimStatusUpdate,
 * func ValidationOptionsForPersistentVolumeClaim.
 */
#include "valid/declared_int.h"
#include "valid/kind_warnings_int.h"
#include "valid/kinds_int.h"
#include "valid/pod/container_int.h"
#include "valid/resource_int.h"
#include "valid/volume/volume_int.h"

#define CLASS_ANNOTATION STR("volume.beta.kubernetes.io/storage-class")

enum { MOST_CONDITIONS = 16, MOST_REASON_BYTES = 256, MOST_MESSAGE_BYTES = 1024 };

static const struct api_persistent_volume_claim *claim_of(const struct api_object *o) {
    return o->body;
}

/* ---- what the old claim allows ---- */

static bool has_bad_selector(const struct valid *v, const struct api_label_selector *s) {
    AUTO(arena_release) struct arena a = {0};
    struct valid_errs errs = VALID_ERRS_INIT(&a);
    struct valid trial = {.errs = &errs, .gates = v->gates};
    valid__label_selector(&trial, NULL, s, &(struct selector_rules){0});
    return errs.found;
}

static struct claim_rules rules_for(const struct valid *v,
                                    const struct api_persistent_volume_claim *old) {
    struct claim_rules rules = {
        .attributes_class = feature_enabled(v->gates, FEATURE_VolumeAttributesClass),
        .may_shrink = feature_enabled(v->gates, FEATURE_RecoverVolumeExpansionFailure)};
    if (!old)
        return rules;
    const struct api_persistent_volume_claim_spec *s = &old->spec;
    rules.any_api_group = (s->data_source && s->data_source->api_group.p) ||
                          (s->data_source_ref && s->data_source_ref->api_group.p);
    rules.attributes_class |= s->volume_attributes_class_name.p != NULL;
    rules.selectors.allow_invalid_values = has_bad_selector(v, s->selector);
    rules.may_shrink |=
        old->status.allocated_resources.v || old->status.allocated_resource_statuses.v;
    return rules;
}

/* ---- what stays as it is ---- */

static bool same_optional(struct str a, struct str b) {
    return !a.p == !b.p && str_eq(a, b);
}

static const struct label *class_annotation(const struct api_persistent_volume_claim *c) {
    return labels_find(&c->metadata.annotations, CLASS_ANNOTATION);
}

/* A class that an annotation named may move to the field for it. */
static bool is_class_moved(const struct api_persistent_volume_claim *c,
                           const struct api_persistent_volume_claim *old) {
    const struct label *was = class_annotation(old), *now = class_annotation(c);
    struct str name = c->spec.storage_class_name;
    return was && !old->spec.storage_class_name.p && name.p && str_eq(name, was->value) &&
           (!now || str_eq(now->value, was->value));
}

/* One that nobody had named may be named later. */
static bool is_class_given(const struct api_persistent_volume_claim *c,
                           const struct api_persistent_volume_claim *old) {
    const struct label *was = class_annotation(old);
    struct str name = c->spec.storage_class_name;
    return name.p && !old->spec.storage_class_name.p && (!was || str_eq(name, was->value));
}

static struct quantity size_of(const struct api_quantities *amounts) {
    const struct quantity *q = valid__find_quantity(amounts, STR("storage"));
    return q ? *q : (struct quantity){0};
}

/* The requests with another size. */
static struct api_quantities with_size(struct arena *a, const struct api_quantities *requests,
                                       struct quantity size) {
    struct api_quantities copy = {arena_array(a, struct api_quantity, requests->n + 1), 0};
    struct api_quantity storage = {STR("storage"), size};
    size_t i = 0;
    for (; i < requests->n && str_cmp(requests->v[i].key, storage.key) < 0; i++)
        copy.v[copy.n++] = requests->v[i];
    copy.v[copy.n++] = storage;
    i += i < requests->n && str_eq(requests->v[i].key, storage.key);
    for (; i < requests->n; i++)
        copy.v[copy.n++] = requests->v[i];
    return copy;
}

static void keep_annotation(struct valid *v, const struct api_persistent_volume_claim *c,
                            const struct api_persistent_volume_claim *old) {
    const struct label *now = class_annotation(c), *was = class_annotation(old);
    struct str value = now ? now->value : STR("");
    if (!str_eq(value, was ? was->value : STR("")))
        valid__immutable(v, AT_DOTTED(AT(AT(NULL, "metadata"), "annotations"), CLASS_ANNOTATION),
                         VALUE_Q(value));
}

/* The spec is the same, but for what a claim is given once, and for what a bound one may have more
 * of. */
static void keep_spec(struct valid *v, const struct api_persistent_volume_claim *c,
                      const struct api_persistent_volume_claim *old) {
    struct api_persistent_volume_claim_spec now = c->spec, was = old->spec;
    bool is_bound = str_is(c->status.phase, "Bound");
    valid__complete_sources(v->errs->a, &was);
    if (!was.volume_name.n)
        was.volume_name = now.volume_name;
    if (is_class_moved(c, old)) {
        now.storage_class_name = (struct str){0};
    } else {
        keep_annotation(v, c, old);
        if (is_class_given(c, old))
            now.storage_class_name = was.storage_class_name;
    }
    if (is_bound && now.resources.requests.v)
        now.resources.requests =
            with_size(v->errs->a, &now.resources.requests, size_of(&was.resources.requests));
    if (is_bound)
        now.volume_attributes_class_name = was.volume_attributes_class_name;
    if (valid__equal(API_T_persistent_volume_claim_spec, &now, &was))
        return;
    struct str diff = valid__diff(v->errs->a, API_T_persistent_volume_claim_spec, &was, &now);
    valid__forbidden(v, AT(NULL, "spec"),
                     "spec is immutable after creation except resources.requests and "
                     "volumeAttributesClassName for bound claims%.*s",
                     STR_ARG(diff));
}

static void keep_size(struct valid *v, const struct api_persistent_volume_claim *c,
                      const struct api_persistent_volume_claim *old, bool may_shrink) {
    const struct path *p = AT(AT(AT(AT(NULL, "spec"), "resources"), "requests"), "storage");
    struct quantity now = size_of(&c->spec.resources.requests),
                    was = size_of(&old->spec.resources.requests),
                    there = size_of(&old->status.capacity);
    if (quantity_cmp(&now, &was) >= 0)
        return;
    if (!may_shrink)
        valid__forbidden(v, p, "field can not be less than previous value");
    else if (quantity_cmp(&now, &there) <= 0)
        valid__forbidden(v, p, "field can not be less than status.capacity");
}

static void keep_attributes(struct valid *v, const struct api_persistent_volume_claim *c,
                            const struct api_persistent_volume_claim *old, bool is_looked_at) {
    const struct path *p = AT(AT(NULL, "spec"), "volumeAttributesClassName");
    struct str now = c->spec.volume_attributes_class_name;
    if (same_optional(now, old->spec.volume_attributes_class_name))
        return;
    if (!feature_enabled(v->gates, FEATURE_VolumeAttributesClass))
        valid__forbidden(
            v, p, "update is forbidden when the VolumeAttributesClass feature gate is disabled");
    if (is_looked_at && old->status.current_volume_attributes_class_name.p && !now.n)
        valid__forbidden(v, p,
                         "update to %s is forbidden when status.currentVolumeAttributesClassName "
                         "is not nil",
                         now.p ? "empty string" : "nil");
}

/* ---- the kind ---- */

static void create(struct valid *v, const struct api_object *o) {
    struct claim_rules rules = rules_for(v, NULL);
    valid__metadata_create(v, o);
    valid__claim_spec(v, AT(NULL, "spec"), &claim_of(o)->spec, &rules);
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *before) {
    const struct api_persistent_volume_claim *c = claim_of(o), *old = claim_of(before);
    struct value none = VALUE_JSON((struct json){.kind = JSON_NULL});
    struct claim_rules rules = rules_for(v, old);
    valid__metadata_update(v, o, before);
    valid__claim_spec(v, AT(NULL, "spec"), &c->spec, &rules);
    keep_spec(v, c, old);
    keep_size(v, c, old, rules.may_shrink);
    if (!same_optional(c->spec.volume_mode, old->spec.volume_mode))
        valid__immutable(v, AT(NULL, "volumeMode"),
                         c->spec.volume_mode.p ? VALUE_NAMED(c->spec.volume_mode) : none);
    keep_attributes(v, c, old, rules.attributes_class);
}

/* ---- status ---- */

static void check_size(struct valid *v, const struct path *p, const struct quantity *q) {
    if (quantity_value(q) < 0)
        valid__invalid(v, p, VALUE_I64(quantity_value(q)), "must be a valid resource quantity");
}

/* Of the resources of Kubernetes itself a claim knows one. */
static bool check_resource(struct valid *v, const struct path *p, struct str name) {
    static const char *const supported[] = {"storage", NULL};
    size_t before = valid__found(v);
    valid__label_key(v, p, name);
    if (valid__found(v) == before && valid__is_native_resource(name) && !str_is(name, "storage"))
        valid__not_supported(v, p, VALUE_Q(name), supported);
    return valid__found(v) == before;
}

static void check_allocated(struct valid *v, const struct api_persistent_volume_claim_status *s) {
    static const char *const states[] = {"ControllerResizeInProgress", "ControllerResizeInfeasible",
                                         "NodeResizeInProgress",       "NodeResizeInfeasible",
                                         "NodeResizePending",          NULL};
    const struct path *statuses = AT(AT(NULL, "status"), "allocatedResourceStatuses");
    const struct path *amounts = AT(AT(NULL, "status"), "allocatedResources");
    for (size_t i = 0; i < s->allocated_resource_statuses.n; i++) {
        const struct label *l = &s->allocated_resource_statuses.v[i];
        check_resource(v, statuses, l->key);
        if (!valid__one_of(l->value, states))
            valid__not_supported(v, statuses, VALUE_NAMED(l->key), states);
    }
    for (size_t i = 0; i < s->allocated_resources.n; i++)
        if (check_resource(v, amounts, s->allocated_resources.v[i].key))
            check_size(v, AT_KEY(amounts, s->allocated_resources.v[i].key),
                       &s->allocated_resources.v[i].value);
}

static void status(struct valid *v, const struct api_object *o, const struct api_object *before) {
    const struct api_persistent_volume_claim *c = claim_of(o);
    const struct path *p = AT(NULL, "status");
    struct claim_rules rules = rules_for(v, claim_of(before));
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    if (!o->meta->resource_version.n)
        valid__required(v, AT(NULL, "resourceVersion"), NO_DETAIL);
    if (!c->spec.access_modes.n)
        valid__required(v, AT(AT(NULL, "Spec"), "accessModes"), NO_DETAIL);
    for (size_t i = 0; i < c->status.capacity.n; i++)
        check_size(v, AT_KEY(AT(p, "capacity"), c->status.capacity.v[i].key),
                   &c->status.capacity.v[i].value);
    for (size_t i = 0; c->status.health_status && i < c->status.health_status->health_conditions.n;
         i++) {
        struct str reason = c->status.health_status->health_conditions.v[i].reason;
        const struct path *at = AT_INDEX(AT(AT(p, "healthStatus"), "healthConditions"), i);
        if (reason.n)
            valid__condition_reason(v, AT(at, "reason"), reason);
    }
    if (rules.may_shrink)
        check_allocated(v, &c->status);
}

/* ---- the health of volumes: declared ---- */

static bool same_condition(const struct api_volume_health_condition *a,
                           const struct api_volume_health_condition *b) {
    return str_eq(a->status, b->status) && str_eq(a->reason, b->reason);
}

static bool has_condition(const struct api_volume_health_condition_list *list, size_t n,
                          const struct api_volume_health_condition *c, bool whole) {
    for (size_t i = 0; i < n; i++)
        if (same_condition(&list->v[i], c) && (!whole || str_eq(list->v[i].message, c->message)))
            return true;
    return false;
}

static void declare_condition(struct valid *v, const struct path *p,
                              const struct api_volume_health_condition *c) {
    static const char *const states[] = {"DataLoss", "Degraded", "Inaccessible", NULL};
    if (!c->status.n)
        valid__say_required(v, AT(p, "status"));
    else
        valid__say_choice(v, AT(p, "status"), c->status, states);
    if (!c->reason.n)
        valid__say_required(v, AT(p, "reason"));
    valid__most_bytes(v, AT(p, "reason"), c->reason, MOST_REASON_BYTES);
    valid__most_bytes(v, AT(p, "message"), c->message, MOST_MESSAGE_BYTES);
}

static void declared(struct valid *v, const struct api_object *o, const struct api_object *old) {
    static const struct api_volume_health_condition_list none;
    const struct api_volume_health_status *s = claim_of(o)->status.health_status;
    const struct api_volume_health_status *was = old ? claim_of(old)->status.health_status : NULL;
    const struct api_volume_health_condition_list *list = s ? &s->health_conditions : &none;
    const struct api_volume_health_condition_list *before = was ? &was->health_conditions : &none;
    const struct path *p = AT(AT(AT(NULL, "status"), "healthStatus"), "healthConditions");
    v->is_standard = true;
    if (old && valid__equal_lists(API_T_volume_health_condition, list, before))
        return;
    valid__most_items(v, p, list->n, MOST_CONDITIONS);
    if (list->n > MOST_CONDITIONS)
        return;
    for (size_t i = 0; i < list->n; i++)
        if (has_condition(list, i, &list->v[i], false))
            valid__say_duplicate(
                v, AT_INDEX(p, i),
                VALUE_JSON(api_struct_encode(v->errs->a, &api_types[API_T_volume_health_condition],
                                             &list->v[i])));
    for (size_t i = 0; i < list->n; i++)
        if (!has_condition(before, before->n, &list->v[i], true))
            declare_condition(v, AT_INDEX(p, i), &list->v[i]);
}

const struct valid_kind valid__persistent_volume_claim = {.type = API_T_persistent_volume_claim,
                                                          .create = create,
                                                          .update = update,
                                                          .status = status,
                                                          .declared = declared,
                                                          .warn = valid__warn_claim};
