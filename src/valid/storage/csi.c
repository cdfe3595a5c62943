/*
 * CSI: drivers, what nodes and clusters say about them, and how much storage they have left.
 *
 * Follows k8s.io/kubernetes pkg/apis/storage/validation, func ValidateCSINode,
 * func ValidateCSINodeUpdate, func ValidateCSINodeStatusUpdate, func ValidateCSIDriver,
 * func ValidateCSIDriverUpdate, func ValidateCSIStorageCapacity,
 * func ValidateCSIStorageCapacityUpdate.
 */
#include "valid/declared_int.h"
#include "valid/kind_warnings_int.h"
#include "valid/kinds_int.h"
#include "valid/pod/container_int.h"
#include "valid/resource_int.h"

enum {
    MOST_NODE_ID_BYTES = 256,
    LEAST_UPDATE_SECONDS = 10,
    LEAST_TOKEN_SECONDS = 600,
    MOST_CONDITIONS = 16,
    MOST_REASON_BYTES = 256,
    MOST_MESSAGE_BYTES = 1024,
};

/* ---- drivers of nodes ---- */

static void check_topology_keys(struct valid *v, const struct path *p,
                                const struct api_strs *list) {
    struct seen keys;
    seen_init(&keys);
    for (size_t i = 0; i < list->n; i++) {
        if (!list->v[i].n)
            valid__required(v, p, NO_DETAIL);
        if (!seen_add(&keys, list->v[i]))
            valid__duplicate(v, p, VALUE_Q(list->v[i]), NO_DETAIL);
        valid__label_key(v, p, list->v[i]);
    }
    seen_release(&keys);
}

static void check_node_driver(struct valid *v, const struct path *p,
                              const struct api_csi_node_driver *d, struct seen *names) {
    valid__csi_driver_name(v, AT(p, "name"), d->name);
    if (!d->node_id.n)
        valid__required(v, AT(p, "nodeID"), NO_DETAIL);
    if (d->node_id.n > MOST_NODE_ID_BYTES)
        valid__invalid(v, AT(p, "nodeID"), VALUE_Q(d->node_id), "must be %d characters or less",
                       MOST_NODE_ID_BYTES);
    if (d->allocatable && d->allocatable->count.set)
        valid__not_negative(v, AT(AT(p, "allocatable"), "count"), d->allocatable->count.v);
    if (!seen_add(names, d->name))
        valid__duplicate(v, AT(p, "name"), VALUE_Q(d->name), NO_DETAIL);
    check_topology_keys(v, p, &d->topology_keys);
}

static void check_node(struct valid *v, const struct api_csi_node *node) {
    const struct path *p = AT(AT(NULL, "spec"), "drivers");
    struct seen names;
    seen_init(&names);
    for (size_t i = 0; i < node->spec.drivers.n; i++)
        check_node_driver(v, AT_INDEX(p, i), &node->spec.drivers.v[i], &names);
    seen_release(&names);
}

static void create_node(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_node(v, o->body);
}

/* A driver stays as it is, but for how many volumes it can attach, if a gate allows that. */
static struct api_csi_node_driver kept_part(const struct valid *v,
                                            const struct api_csi_node_driver *d) {
    struct api_csi_node_driver kept = *d;
    if (feature_enabled(v->gates, FEATURE_MutableCSINodeAllocatableCount))
        kept.allocatable = NULL;
    return kept;
}

static bool is_kept(const struct valid *v, const struct api_csi_node_driver *now,
                    const struct api_csi_node_driver *old) {
    struct api_csi_node_driver a = kept_part(v, now), b = kept_part(v, old);
    return valid__equal(API_T_csi_node_driver, &a, &b);
}

static void keep_driver(struct valid *v, const struct api_csi_node_driver *now,
                        const struct api_csi_node_driver *old) {
    struct api_csi_node_driver kept = kept_part(v, now);
    if (!is_kept(v, now, old))
        valid__immutable(v, AT(AT(NULL, "spec"), "drivers"),
                         valid__struct_value(v->errs->a, API_T_csi_node_driver, &kept));
}

/* Drivers of one name: there should be one. */
struct namesakes {
    const struct api_csi_node_driver *first, *other; /* of the old ones: two that differ */
    size_t now, last;                                /* of the new ones: as places from 1 on */
};

/* The groups of all drivers, and which name has which. */
struct groups {
    struct namesakes *v;
    size_t n;
    struct seen by_name;
};

static struct namesakes *group_of(struct groups *g, struct str name) {
    if (seen_put(&g->by_name, name, &g->v[g->n]))
        return &g->v[g->n++];
    const struct namesakes *found = seen_get(&g->by_name, name);
    return &g->v[found - g->v];
}

/* Each old driver is held against each new one of its name. One that equals the first of them
 * differs from the next that does not, and others were told of then. */
static void keep_drivers(struct valid *v, struct arena *a,
                         const struct api_csi_node_driver_list *now,
                         const struct api_csi_node_driver_list *old) {
    size_t *next = arena_array(a, size_t, now->n + 1);
    struct groups groups = {.v = arena_array(a, struct namesakes, now->n + old->n + 1)};
    seen_init(&groups.by_name);
    for (size_t i = 0; i < now->n; i++) {
        struct namesakes *n = group_of(&groups, now->v[i].name);
        *(n->last ? &next[n->last - 1] : &n->now) = i + 1;
        n->last = i + 1;
    }
    for (size_t i = 0; i < old->n; i++) {
        struct namesakes *n = group_of(&groups, old->v[i].name);
        if (n->other || (n->first && is_kept(v, n->first, &old->v[i])))
            continue;
        *(n->first ? &n->other : &n->first) = &old->v[i];
        for (size_t at = n->now; at; at = next[at - 1])
            keep_driver(v, &now->v[at - 1], &old->v[i]);
    }
    seen_release(&groups.by_name);
}

static void update_node(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_csi_node *node = o->body, *was = old->body;
    AUTO(arena_release) struct arena scratch = {0};
    valid__metadata_update(v, o, old);
    check_node(v, node);
    keep_drivers(v, &scratch, &node->spec.drivers, &was->spec.drivers);
}

/* ---- the health of storage ---- */

static void check_reason(struct valid *v, const struct path *p, struct str reason) {
    if (!reason.n) {
        valid__required(v, p, NO_DETAIL);
        return;
    }
    valid__condition_reason(v, p, reason);
    if (reason.n > MOST_REASON_BYTES)
        valid__too_long(v, p, MOST_REASON_BYTES);
}

static void check_condition(struct valid *v, const struct path *p,
                            const struct api_storage_health_condition *c) {
    static const char *const statuses[] = {"StorageDegraded", "StorageUnreachable", NULL};
    static const char *const access[] = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                         "ReadWriteOncePod", NULL};
    static const char *const modes[] = {"Filesystem", "Block", NULL};
    if (!valid__one_of(c->status, statuses))
        valid__not_supported(v, AT(p, "status"), VALUE_NAMED(c->status), statuses);
    check_reason(v, AT(p, "reason"), c->reason);
    if (c->message.n > MOST_MESSAGE_BYTES)
        valid__too_long(v, AT(p, "message"), MOST_MESSAGE_BYTES);
    if (c->access_mode.p && !valid__one_of(c->access_mode, access))
        valid__not_supported(v, AT(p, "accessMode"), VALUE_NAMED(c->access_mode), access);
    if (c->volume_mode.p && !valid__one_of(c->volume_mode, modes))
        valid__not_supported(v, AT(p, "volumeMode"), VALUE_NAMED(c->volume_mode), modes);
}

static void check_health(struct valid *v, const struct path *p,
                         const struct api_storage_health *h) {
    const struct path *at = AT(p, "healthConditions");
    valid__csi_driver_name(v, AT(p, "name"), h->name);
    if (h->health_conditions.n > MOST_CONDITIONS) {
        valid__too_many(v, at, h->health_conditions.n, MOST_CONDITIONS);
        return;
    }
    for (size_t i = 0; i < h->health_conditions.n; i++)
        check_condition(v, AT_INDEX(at, i), &h->health_conditions.v[i]);
}

static void status_node(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_storage_health_list *list =
        &((const struct api_csi_node *)o->body)->status.storage_health;
    const struct path *p = AT(AT(NULL, "status"), "storageHealth");
    struct seen names;
    (void)old;
    seen_init(&names);
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    for (size_t i = 0; i < list->n; i++) {
        if (!seen_add(&names, list->v[i].name))
            valid__duplicate(v, AT_INDEX(p, i), VALUE_Q(list->v[i].name), NO_DETAIL);
        check_health(v, AT_INDEX(p, i), &list->v[i]);
    }
    seen_release(&names);
}

/* ---- drivers ---- */

static void check_tokens(struct valid *v, const struct path *p,
                         const struct api_token_request_list *list) {
    struct seen audiences;
    seen_init(&audiences);
    for (size_t i = 0; i < list->n; i++) {
        const struct path *at = AT(AT_INDEX(p, i), "expirationSeconds");
        struct api_opt_i64 seconds = list->v[i].expiration_seconds;
        if (!seen_add(&audiences, list->v[i].audience)) {
            valid__duplicate(v, AT(AT_INDEX(p, i), "audience"), VALUE_Q(list->v[i].audience),
                             NO_DETAIL);
            continue;
        }
        if (seconds.set && seconds.v < LEAST_TOKEN_SECONDS)
            valid__invalid(v, at, VALUE_I64(seconds.v),
                           "may not specify a duration less than 10 minutes");
        if (seconds.set && seconds.v > INT64_C(1) << 32)
            valid__invalid(v, at, VALUE_I64(seconds.v),
                           "may not specify a duration larger than 2^32 seconds");
    }
    seen_release(&audiences);
}

static void need(struct valid *v, const struct path *p, struct api_opt_bool value) {
    if (!value.set)
        valid__required(v, p, NO_DETAIL);
}

static void check_modes(struct valid *v, const struct path *p, const struct api_strs *modes) {
    static const char *const supported[] = {"Persistent", "Ephemeral", NULL};
    for (size_t i = 0; i < modes->n; i++)
        if (!valid__one_of(modes->v[i], supported))
            valid__not_supported(v, p, VALUE_NAMED(modes->v[i]), supported);
}

static void check_gated(struct valid *v, const struct path *p,
                        const struct api_csi_driver_spec *s) {
    struct api_opt_i64 period = s->node_allocatable_update_period_seconds;
    struct api_opt_bool in_secrets = s->service_account_token_in_secrets;
    if (feature_enabled(v->gates, FEATURE_SELinuxMountReadWriteOncePod))
        need(v, AT(p, "seLinuxMount"), s->se_linux_mount);
    if (period.set && period.v < LEAST_UPDATE_SECONDS)
        valid__invalid(v, AT(p, "nodeAllocatableUpdatePeriodSeconds"), VALUE_I64(period.v),
                       "must be greater than or equal to %d seconds", LEAST_UPDATE_SECONDS);
    if (in_secrets.set && !s->token_requests.n)
        valid__invalid(v, AT(p, "serviceAccountTokenInSecrets"), VALUE_BOOL(in_secrets.v),
                       "serviceAccountTokenInSecrets is set but no tokenRequests are specified");
    if (feature_enabled(v->gates, FEATURE_VolumeLimitScaling))
        need(v, AT(p, "preventPodSchedulingIfMissing"), s->prevent_pod_scheduling_if_missing);
}

static void check_driver(struct valid *v, const struct api_csi_driver_spec *s) {
    static const char *const policies[] = {"File", "None", "ReadWriteOnceWithFSType", NULL};
    const struct path *p = AT(NULL, "spec");
    need(v, AT(p, "attachedRequired"), s->attach_required);
    need(v, AT(p, "podInfoOnMount"), s->pod_info_on_mount);
    need(v, AT(p, "storageCapacity"), s->storage_capacity);
    if (s->fs_group_policy.p && !valid__one_of(s->fs_group_policy, policies))
        valid__not_supported(v, AT(p, "fsGroupPolicy"), VALUE_NAMED(s->fs_group_policy), policies);
    check_tokens(v, AT(p, "tokenRequests"), &s->token_requests);
    check_modes(v, AT(p, "volumeLifecycleModes"), &s->volume_lifecycle_modes);
    check_gated(v, p, s);
}

static void create_driver(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_driver(v, &((const struct api_csi_driver *)o->body)->spec);
}

static bool same_strs(const struct api_strs *a, const struct api_strs *b) {
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (!str_eq(a->v[i], b->v[i]))
            return false;
    return a->n == b->n;
}

static void update_driver(struct valid *v, const struct api_object *o,
                          const struct api_object *old) {
    const struct api_csi_driver_spec *s = &((const struct api_csi_driver *)o->body)->spec;
    const struct api_csi_driver_spec *was = &((const struct api_csi_driver *)old->body)->spec;
    const struct path *p = AT(NULL, "spec");
    struct value none = VALUE_JSON((struct json){.kind = JSON_NULL});
    valid__metadata_update(v, o, old);
    check_driver(v, s);
    if (s->attach_required.set != was->attach_required.set ||
        s->attach_required.v != was->attach_required.v)
        valid__immutable(v, AT(p, "attachedRequired"),
                         s->attach_required.set ? VALUE_BOOL(s->attach_required.v) : none);
    if (!same_strs(&s->volume_lifecycle_modes, &was->volume_lifecycle_modes))
        valid__immutable(v, AT(p, "volumeLifecycleModes"),
                         valid__strs_value(v->errs->a, &s->volume_lifecycle_modes));
}

/* ---- capacities ---- */

static bool has_bad_selector(const struct valid *v, const struct api_label_selector *s) {
    AUTO(arena_release) struct arena a = {0};
    struct valid_errs errs = VALID_ERRS_INIT(&a);
    struct valid trial = {.errs = &errs, .gates = v->gates};
    valid__label_selector(&trial, NULL, s, &(struct selector_rules){0});
    return errs.found;
}

static void check_capacity(struct valid *v, const struct api_csi_storage_capacity *c,
                           const struct selector_rules *rules) {
    valid__label_selector(v, AT(NULL, "nodeTopology"), c->node_topology, rules);
    valid__dns_subdomain(v, AT(NULL, "storageClassName"), c->storage_class_name);
    if (c->capacity && quantity_sign(c->capacity) < 0)
        valid__invalid(v, AT(NULL, "capacity"),
                       VALUE_Q(valid__quantity_text(v->errs->a, c->capacity)),
                       "must be greater than or equal to 0");
}

static void create_capacity(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_capacity(v, o->body, &(struct selector_rules){0});
}

static bool same_selectors(const struct api_label_selector *a, const struct api_label_selector *b) {
    return a && b ? valid__equal(API_T_label_selector, a, b) : a == b;
}

static void update_capacity(struct valid *v, const struct api_object *o,
                            const struct api_object *old) {
    const struct api_csi_storage_capacity *c = o->body, *was = old->body;
    struct selector_rules rules = {has_bad_selector(v, was->node_topology)};
    valid__metadata_update(v, o, old);
    check_capacity(v, c, &rules);
    if (!same_selectors(c->node_topology, was->node_topology))
        valid__immutable(v, AT(NULL, "nodeTopology"),
                         valid__struct_value(v->errs->a, API_T_label_selector, c->node_topology));
    if (!str_eq(c->storage_class_name, was->storage_class_name))
        valid__immutable(v, AT(NULL, "storageClassName"), VALUE_Q(c->storage_class_name));
}

const struct valid_kind valid__csi_node = {
    .type = API_T_csi_node, .create = create_node, .update = update_node, .status = status_node};
const struct valid_kind valid__csi_driver = {.type = API_T_csi_driver,
                                             .create = create_driver,
                                             .update = update_driver,
                                             .warn = valid__warn_csi_driver};
const struct valid_kind valid__csi_storage_capacity = {.type = API_T_csi_storage_capacity,
                                                       .create = create_capacity,
                                                       .update = update_capacity,
                                                       .warn = valid__warn_storage_capacity};
