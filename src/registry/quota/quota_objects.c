/*
 * What services, claims and all other objects use of a quota.
 *
 * Follows k8s.io/kubernetes pkg/quota/v1/evaluator/core, func (*serviceEvaluator) Usage,
 * func (*pvcEvaluator) Usage, func (*pvcEvaluator) MatchingResources, func pvcMatchesScopeFunc,
 * func (*claimEvaluator) Usage.
 * Follows k8s.io/apiserver pkg/quota/v1/generic, func NewObjectCountEvaluator.
 */
#include "base/vec.h"
#include "registry/quota/quota_int.h"

struct quantity registry__one(void) {
    return quantity_of_i64(1, QUANTITY_DECIMAL_SI);
}

bool registry__scope_has(const registry__scope *scope, struct str value) {
    bool listed = false;
    for (size_t i = 0; value.n && i < scope->values.n && !listed; i++)
        listed = str_eq(scope->values.v[i], value);
    if (str_is(scope->operator, "In"))
        return listed;
    if (str_is(scope->operator, "NotIn"))
        return !listed;
    return str_is(scope->operator, "Exists") ? value.n : !value.n;
}

static bool creates_or_updates(const struct registry__admission *m) {
    return registry__is_whole(m);
}

static bool is_one_of(struct str name, const char *const *names) {
    while (*names && !str_is(name, *names))
        names++;
    return *names;
}

/* ---- services ---- */

static bool counts_services(const struct registry__admission *m, struct str name) {
    static const char *const names[] = {"count/services", "services", "services.nodeports",
                                        "services.loadbalancers", NULL};
    (void)m;
    return is_one_of(name, names);
}

static int64_t ports_with_numbers(const struct api_service *s) {
    int64_t n = 0;
    for (size_t i = 0; i < s->spec.ports.n; i++)
        n += s->spec.ports.v[i].node_port != 0;
    return n;
}

static int64_t node_ports(const struct api_service *s) {
    bool balanced = str_is(s->spec.type, "LoadBalancer");
    struct api_opt_bool allocate = s->spec.allocate_load_balancer_node_ports;
    if (!balanced && !str_is(s->spec.type, "NodePort"))
        return 0;
    return balanced && allocate.set && !allocate.v ? ports_with_numbers(s)
                                                   : (int64_t)s->spec.ports.n;
}

static struct api_quantities use_service(const struct registry__admission *m,
                                         const struct api_object *o) {
    const struct api_service *s = o->body;
    enum { COUNT = 4 };
    struct api_quantities out = {arena_array(m->a, struct api_quantity, COUNT), COUNT};
    out.v[0] = (struct api_quantity){STR("count/services"), registry__one()};
    out.v[1] = (struct api_quantity){STR("services"), registry__one()};
    out.v[2] = (struct api_quantity){
        STR("services.loadbalancers"),
        quantity_of_i64(str_is(s->spec.type, "LoadBalancer"), QUANTITY_DECIMAL_SI)};
    out.v[3] = (struct api_quantity){STR("services.nodeports"),
                                     quantity_of_i64(node_ports(s), QUANTITY_DECIMAL_SI)};
    return out;
}

const struct registry__evaluator registry__quota_services = {.type = API_T_service,
                                                             .handles = creates_or_updates,
                                                             .counts = counts_services,
                                                             .usage = use_service};

/* ---- claims of volumes ---- */

#define OF_CLASS       ".storageclass.storage.k8s.io/"
#define CLAIMS         "persistentvolumeclaims"
#define CLAIMS_STORAGE "requests.storage"

static bool counts_claims(const struct registry__admission *m, struct str name) {
    static const char *const names[] = {"count/" CLAIMS, CLAIMS, CLAIMS_STORAGE, NULL};
    (void)m;
    return is_one_of(name, names) || str_ends(name, STR(OF_CLASS CLAIMS)) ||
           str_ends(name, STR(OF_CLASS CLAIMS_STORAGE));
}

/* A write to the status may change what is allocated. */
static bool handles_claim(const struct registry__admission *m) {
    return registry__is_whole(m) ||
           (m->operation == REGISTRY_UPDATE && str_is(m->request->subresource, "status") &&
            feature_enabled(m->registry->gates, FEATURE_RecoverVolumeExpansionFailure));
}

/* What was asked for, or allocated if that is more, in whole bytes; NULL: nothing. */
static const struct quantity *storage_of(const struct registry__admission *m,
                                         const struct api_persistent_volume_claim *claim) {
    bool recovers = feature_enabled(m->registry->gates, FEATURE_RecoverVolumeExpansionFailure);
    const struct quantity *asked =
        registry__amount_find(&claim->spec.resources.requests, STR("storage"));
    const struct quantity *given =
        recovers ? registry__amount_find(&claim->status.allocated_resources, STR("storage")) : NULL;
    if (!asked)
        return NULL;
    const struct quantity *most = given && quantity_cmp(given, asked) > 0 ? given : asked;
    struct quantity *rounded = arena_new(m->a, struct quantity);
    *rounded = *most;
    return quantity_round_up(m->a, rounded, 0) ? most : rounded;
}

static struct api_quantities use_claim(const struct registry__admission *m,
                                       const struct api_object *o) {
    enum { MOST = 5 };
    struct api_quantities out = {arena_array(m->a, struct api_quantity, MOST), 0};
    const struct quantity *storage = storage_of(m, o->body);
    struct str class = registry__claim_class(o);
    out.v[out.n++] = (struct api_quantity){STR("count/" CLAIMS), registry__one()};
    out.v[out.n++] = (struct api_quantity){STR(CLAIMS), registry__one()};
    if (class.n)
        out.v[out.n++] = (struct api_quantity){
            arena_printf(m->a, "%.*s" OF_CLASS CLAIMS, STR_ARG(class)), registry__one()};
    if (storage)
        out.v[out.n++] = (struct api_quantity){STR(CLAIMS_STORAGE), *storage};
    if (storage && class.n)
        out.v[out.n++] = (struct api_quantity){
            arena_printf(m->a, "%.*s" OF_CLASS CLAIMS_STORAGE, STR_ARG(class)), *storage};
    registry__amounts_sort(&out);
    return out;
}

/* The claim is in the scope if one of the classes that it has or wants is. */
static bool is_claim_in(const struct registry__admission *m, const struct api_object *o,
                        const registry__scope *scope) {
    const struct api_persistent_volume_claim *claim = o->body;
    const struct api_modify_volume_status *change = claim->status.modify_volume_status;
    struct str classes[] = {claim->spec.volume_attributes_class_name,
                            claim->status.current_volume_attributes_class_name,
                            change ? change->target_volume_attributes_class_name : STR("")};
    bool any = false;
    if (!feature_enabled(m->registry->gates, FEATURE_VolumeAttributesClass) ||
        !str_is(scope->scope_name, "VolumeAttributesClass"))
        return false;
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++) {
        if (classes[i].n && registry__scope_has(scope, classes[i]))
            return true;
        any |= classes[i].n != 0;
    }
    return !any && registry__scope_has(scope, STR(""));
}

const struct registry__evaluator registry__quota_claims = {.type = API_T_persistent_volume_claim,
                                                           .handles = handles_claim,
                                                           .counts = counts_claims,
                                                           .is_in = is_claim_in,
                                                           .usage = use_claim};

/* ---- claims of devices ---- */

#define DEVICES ".deviceclass.resource.k8s.io/devices"

static bool counts_devices(const struct registry__admission *m, struct str name) {
    (void)m;
    return str_is(name, "count/resourceclaims.resource.k8s.io") || str_ends(name, STR(DEVICES));
}

/* All devices that there are, at worst. */
static int64_t devices_of(struct str mode, int64_t count) {
    enum { MOST_DEVICES = 32 };
    if (str_is(mode, "ExactCount"))
        return count;
    return str_is(mode, "All") ? MOST_DEVICES : 0;
}

static struct api_quantities one_amount(struct arena *a, struct str name, struct quantity q) {
    struct api_quantities out = {arena_array(a, struct api_quantity, 1), 1};
    out.v[0] = (struct api_quantity){name, q};
    return out;
}

/* Of alternatives, the most that each class may have to give. */
static struct api_quantities use_alternatives(struct arena *a,
                                              const struct api_device_sub_request_list *list) {
    struct api_quantities out = {arena_array(a, struct api_quantity, list->n), 0};
    for (size_t i = 0; i < list->n; i++) {
        const struct api_device_sub_request *s = &list->v[i];
        struct quantity q =
            quantity_of_i64(devices_of(s->allocation_mode, s->count), QUANTITY_DECIMAL_SI);
        struct str name = arena_printf(a, "%.*s" DEVICES, STR_ARG(s->device_class_name));
        size_t k = 0;
        while (k < out.n && !str_eq(out.v[k].key, name))
            k++;
        if (k == out.n && quantity_sign(&q) > 0)
            out.v[out.n++] = (struct api_quantity){name, q};
        else if (k < out.n && quantity_cmp(&q, &out.v[k].value) > 0)
            out.v[k].value = q;
    }
    registry__amounts_sort(&out);
    return out;
}

static struct api_quantities use_request(struct arena *a, const struct api_device_request *r) {
    if (r->first_available.n || !r->exactly)
        return use_alternatives(a, &r->first_available);
    int64_t n = devices_of(r->exactly->allocation_mode, r->exactly->count);
    return one_amount(a, arena_printf(a, "%.*s" DEVICES, STR_ARG(r->exactly->device_class_name)),
                      quantity_of_i64(n, QUANTITY_DECIMAL_SI));
}

static struct api_quantities use_devices(const struct registry__admission *m,
                                         const struct api_object *o) {
    const struct api_resource_resource_claim *claim = o->body;
    struct api_quantities out =
        one_amount(m->a, STR("count/resourceclaims.resource.k8s.io"), registry__one());
    for (size_t i = 0; i < claim->spec.devices.requests.n; i++) {
        struct api_quantities more = use_request(m->a, &claim->spec.devices.requests.v[i]);
        out = registry__amounts_add(m->a, &out, &more);
    }
    return out;
}

const struct registry__evaluator registry__quota_devices = {.type = API_T_resource_resource_claim,
                                                            .handles = creates_or_updates,
                                                            .counts = counts_devices,
                                                            .usage = use_devices};

/* ---- everything else, by number ---- */

/* configmaps, which older quotas count without a prefix; or nothing */
static struct str alias_of(const struct api_kind *kind) {
    static const char *const names[] = {"configmaps", "resourcequotas", "replicationcontrollers",
                                        "secrets", NULL};
    struct str plural = str_of(kind->plural);
    bool has = str_is(STR("v1"), kind->api_version) && is_one_of(plural, names);
    return has ? plural : STR("");
}

/* count/deployments.apps */
static struct str count_name(struct arena *a, const struct api_kind *kind) {
    struct str group = registry_group_of(str_of(kind->api_version));
    return arena_printf(a, "count/%s%s%.*s", kind->plural, group.n ? "." : "", STR_ARG(group));
}

static bool creates(const struct registry__admission *m) {
    return registry__is_whole(m) && m->operation == REGISTRY_CREATE;
}

static bool counts_object(const struct registry__admission *m, struct str name) {
    struct str alias = alias_of(m->o->kind);
    return (alias.n && str_eq(name, alias)) || str_eq(name, count_name(m->a, m->o->kind));
}

static struct api_quantities use_object(const struct registry__admission *m,
                                        const struct api_object *o) {
    struct str alias = alias_of(o->kind);
    struct api_quantities out = {arena_array(m->a, struct api_quantity, 2), 0};
    out.v[out.n++] = (struct api_quantity){count_name(m->a, o->kind), registry__one()};
    if (alias.n)
        out.v[out.n++] = (struct api_quantity){alias, registry__one()};
    registry__amounts_sort(&out);
    return out;
}

const struct registry__evaluator registry__quota_count = {
    .type = API_TYPES, .handles = creates, .counts = counts_object, .usage = use_object};
