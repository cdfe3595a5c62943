/*
 * The status of a claim: which devices it has got, for whom, and what their drivers say of them.
 *
 * Follows k8s.io/kubernetes pkg/apis/resource/validation, func validateResourceClaimStatusUpdate,
 * func validateAllocationResult, func validateDeviceRequestAllocationResult,
 * func validateDeviceStatus, func validateNetworkDeviceData, func validateUID.
 * Follows github.com/google/uuid, func Validate.
 */
#include "base/ascii.h"
#include "valid/device/device_int.h"
#include "valid/ip.h"
#include "valid/kinds_int.h"

enum {
    MOST_CONSUMERS = 256,
    MOST_RESULTS = 32,
    MOST_CONFIGS = 64,
    MOST_CONDITIONS = 8,
    MOST_IPS = 16,
    MOST_INTERFACE_BYTES = 256,
    MOST_ADDRESS_BYTES = 128,
    UUID_BYTES = 36,
};

typedef const struct api_resource_claim_status status;

/* ---- UUIDs ---- */

static bool is_hex(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_digit(s.p[i]) && !(s.p[i] >= 'a' && s.p[i] <= 'f') &&
            !(s.p[i] >= 'A' && s.p[i] <= 'F'))
            return false;
    return true;
}

static bool is_standard_uuid(struct str s) {
    static const size_t groups[] = {8, 4, 4, 4, 12};
    size_t at = 0;
    for (size_t i = 0; i < sizeof groups / sizeof *groups; i++) {
        if (!is_hex(str_sub(s, at, at + groups[i])))
            return false;
        at += groups[i];
        if (at < s.n && s.p[at++] != '-')
            return false;
    }
    return true;
}

/* What keeps a text from being one in any of four forms, in the arena; empty: nothing. */
static struct str uuid_fault(struct arena *a, struct str s) {
    static const char urn[] = "urn:uuid:";
    enum { URN = sizeof urn - 1 };
    if (s.n == UUID_BYTES + URN) {
        struct str prefix = str_sub(s, 0, URN);
        if (!str_is(valid__lower(a, prefix), urn))
            return arena_printf(a, "invalid urn prefix: %.*s",
                                STR_ARG(valid__go_quoted(a, prefix)));
        s = str_sub(s, URN, s.n);
    } else if (s.n == UUID_BYTES + 2) {
        if (s.p[0] != '{' || s.p[s.n - 1] != '}')
            return STR("invalid bracketed UUID format");
        s = str_sub(s, 1, s.n - 1);
    } else if (s.n == 32) {
        return is_hex(s) ? STR("") : STR("invalid UUID format");
    } else if (s.n != UUID_BYTES) {
        return arena_printf(a, "invalid UUID length: %zu", s.n);
    }
    return is_standard_uuid(s) ? STR("") : STR("invalid UUID format");
}

static void check_share(struct valid *v, const struct path *p, struct str id) {
    struct arena *a = v->errs->a;
    if (!id.p)
        return;
    struct str fault = uuid_fault(a, id);
    valid__cover(v, "format=k8s-uuid");
    if (fault.n)
        valid__invalid(v, p, VALUE_Q(id), "error validating uid: %.*s", STR_ARG(fault));
    else if (id.n != UUID_BYTES || !str_eq(id, valid__lower(a, id)))
        valid__invalid(v, p, VALUE_Q(id),
                       "uid must be in RFC 4122 normalized form, "
                       "`xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx` with lowercase hexadecimal "
                       "characters");
    valid__uncover(v);
}

/* ---- for whom ---- */

static void check_consumers(struct valid *v, const struct path *p,
                            const struct api_resource_claim_consumer_reference_list *list) {
    if (valid__has_too_many(v, p, list->n, MOST_CONSUMERS))
        return;
    struct api_strs uids = {arena_array(v->errs->a, struct str, list->n + 1), list->n};
    for (size_t i = 0; i < list->n; i++) {
        const struct api_resource_claim_consumer_reference *r = &list->v[i];
        if (!r->resource.n)
            valid__required(v, AT(AT_INDEX(p, i), "resource"), NO_DETAIL);
        if (!r->name.n)
            valid__required(v, AT(AT_INDEX(p, i), "name"), NO_DETAIL);
        if (!r->uid.n)
            valid__required(v, AT(AT_INDEX(p, i), "uid"), NO_DETAIL);
        uids.v[i] = r->uid;
    }
    valid__repeated(v, p, &uids);
}

static struct str consumer_key(struct arena *a,
                               const struct api_resource_claim_consumer_reference *r) {
    return valid__join_keys(a, (struct str[]){r->api_group, r->resource, r->name, r->uid}, 4);
}

static bool has_new_consumer(struct arena *a, status *now, status *old) {
    AUTO(seen_release) struct seen known;
    seen_init(&known);
    for (size_t i = 0; i < old->reserved_for.n; i++)
        seen_add(&known, consumer_key(a, &old->reserved_for.v[i]));
    for (size_t i = 0; i < now->reserved_for.n; i++)
        if (!seen_get(&known, consumer_key(a, &now->reserved_for.v[i])))
            return true;
    return false;
}

static void check_reserved(struct valid *v, const struct path *p, const struct api_object *o,
                           status *old) {
    status *now = valid__claim_status(o);
    if (!now->reserved_for.n)
        return;
    if (!now->allocation)
        valid__forbidden(v, p, "may not be specified when `allocated` is not set");
    else if (o->meta->deletion_timestamp.set && has_new_consumer(v->errs->a, now, old))
        valid__forbidden(v, p,
                         "new entries may not be added while `deallocationRequested` or "
                         "`deletionTimestamp` are set");
}

/* ---- what was allocated ---- */

static void check_result(struct valid *v, const struct path *p,
                         const struct api_device_request_allocation_result *r,
                         const struct request_names *names) {
    valid__request_reference(v, AT(p, "request"), r->request, names);
    valid__driver_name(v, AT(p, "driver"), r->driver, true);
    valid__pool_name(v, AT(p, "pool"), r->pool, true);
    valid__dns_label(v, AT(p, "device"), r->device);
    valid__binding_conditions(v, p, &r->binding_conditions, &r->binding_failure_conditions);
    valid__device_toleration(v, AT(p, "tolerations"), &r->tolerations);
    check_share(v, AT(p, "shareID"), r->share_id);
    valid__skipped_operations(v, AT(p, "skipNodeOperations"), &r->skip_node_operations);
}

static void check_config(struct valid *v, const struct path *p,
                         const struct api_device_allocation_configuration *c,
                         const struct request_names *names) {
    static const char *const sources[] = {"FromClaim", "FromClass", NULL};
    valid__cover(v, "");
    valid__choice(v, AT(p, "source"), c->source, sources);
    valid__uncover(v);
    valid__request_references(v, AT(p, "requests"), &c->requests, names);
    valid__device_configuration(v, p, &c->device_configuration, false);
}

static void check_allocation(struct valid *v, const struct path *p,
                             const struct api_allocation_result *r,
                             const struct request_names *names) {
    const struct path *results = AT(AT(p, "devices"), "results"),
                      *configs = AT(AT(p, "devices"), "config");
    struct pod_rules rules = valid__pod_rules(v->gates, NULL, NULL);
    if (!valid__has_too_many(v, results, r->devices.results.n, MOST_RESULTS))
        for (size_t i = 0; i < r->devices.results.n; i++)
            check_result(v, AT_INDEX(results, i), &r->devices.results.v[i], names);
    if (!valid__has_too_many(v, configs, r->devices.config.n, MOST_CONFIGS))
        for (size_t i = 0; i < r->devices.config.n; i++)
            check_config(v, AT_INDEX(configs, i), &r->devices.config.v[i], names);
    if (r->node_selector)
        valid__node_selector(v, AT(p, "nodeSelector"), r->node_selector, &rules);
}

/* ---- what drivers say ---- */

static void check_address(struct valid *v, const struct path *p, struct str text) {
    struct cidr c;
    if (!valid_cidr_parse(text, &c)) {
        valid__invalid(v, p, VALUE_Q(text),
                       "must be a valid address in CIDR form, (e.g. 10.9.8.7/24 or "
                       "2001:db8::1/64)");
        return;
    }
    enum { MAPPED_BITS = 96, IPV4_BITS = 32 };
    unsigned bits = c.bits;
    if (c.ip.is_v6 && valid_ip_is_mapped(&c.ip) && bits > IPV4_BITS)
        bits -= MAPPED_BITS;
    struct str canonical =
        arena_printf(v->errs->a, "%.*s/%u", STR_ARG(valid_ip_text(v->errs->a, &c.ip)), bits);
    if (!str_eq(text, canonical))
        valid__invalid(v, p, VALUE_Q(text), "must be in canonical form (\"%.*s\")",
                       STR_ARG(canonical));
}

static void check_network(struct valid *v, const struct path *p,
                          const struct api_network_device_data *d) {
    if (!d)
        return;
    valid__cover(v, "maxBytes");
    if (d->interface_name.n > MOST_INTERFACE_BYTES)
        valid__too_long(v, AT(p, "interfaceName"), MOST_INTERFACE_BYTES);
    if (d->hardware_address.n > MOST_ADDRESS_BYTES)
        valid__too_long(v, AT(p, "hardwareAddress"), MOST_ADDRESS_BYTES);
    valid__uncover(v);
    if (valid__has_too_many(v, AT(p, "ips"), d->ips.n, MOST_IPS))
        return;
    for (size_t i = 0; i < d->ips.n; i++)
        check_address(v, AT_INDEX(AT(p, "ips"), i), d->ips.v[i]);
    valid__repeated(v, AT(p, "ips"), &d->ips);
}

/* A device, or a share of it, as one key; and as errors show it, by its parts. */
static struct str device_key(struct arena *a, const struct str parts[4]) {
    return valid__join_keys(a, parts, 4);
}

static struct value device_value(struct arena *a, const struct str parts[4]) {
    static const char *const names[] = {"Driver", "Pool", "Device", "ShareID"};
    struct json object = {.kind = JSON_OBJECT};
    for (size_t i = 0; i < 4; i++)
        json_add(a, &object, str_of(names[i]), json_of_str(parts[i]));
    return VALUE_JSON(object);
}

#define PARTS(d) ((const struct str[4]){(d)->driver, (d)->pool, (d)->device, (d)->share_id})

static void check_device(struct valid *v, const struct path *p,
                         const struct api_allocated_device_status *d, const struct seen *known) {
    struct arena *a = v->errs->a;
    valid__driver_name(v, AT(p, "driver"), d->driver, false);
    valid__pool_name(v, AT(p, "pool"), d->pool, false);
    valid__dns_label(v, AT(p, "device"), d->device);
    check_share(v, AT(p, "shareID"), d->share_id);
    if (!seen_get(known, device_key(a, PARTS(d))))
        valid__invalid(v, p, device_value(a, PARTS(d)), "must be an allocated device in the claim");
    if (d->conditions.n > MOST_CONDITIONS)
        valid__too_many(v, AT(p, "conditions"), d->conditions.n, MOST_CONDITIONS);
    valid__conditions(v, AT(p, "conditions"), &d->conditions);
    if (d->data.kind != JSON_NULL)
        valid__device_parameters(v, AT(p, "data"), &d->data, false);
    check_network(v, AT(p, "networkData"), d->network_data);
}

static void check_devices(struct valid *v, const struct path *p, status *s) {
    struct arena *a = v->errs->a;
    AUTO(seen_release) struct seen known;
    AUTO(seen_release) struct seen once;
    seen_init(&known);
    seen_init(&once);
    for (size_t i = 0; s->allocation && i < s->allocation->devices.results.n; i++)
        seen_add(&known, device_key(a, PARTS(&s->allocation->devices.results.v[i])));
    for (size_t i = 0; i < s->devices.n; i++)
        check_device(v, AT_INDEX(p, i), &s->devices.v[i], &known);
    valid__cover(v, "");
    for (size_t i = 0; i < s->devices.n; i++)
        if (!seen_add(&once, device_key(a, PARTS(&s->devices.v[i]))))
            valid__duplicate(v, AT_INDEX(p, i), device_value(a, PARTS(&s->devices.v[i])),
                             NO_DETAIL);
    valid__uncover(v);
}

/* ---- all of it ---- */

static void status_of_claim(struct valid *v, const struct api_object *o,
                            const struct api_object *before) {
    status *now = valid__claim_status(o), *old = valid__claim_status(before);
    const struct path *p = AT(NULL, "status"), *allocation = AT(p, "allocation");
    struct request_names names;
    valid__request_names_init(&names, v->errs->a, valid__asked_devices(v->errs->a, o));
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    check_consumers(v, AT(p, "reservedFor"), &now->reserved_for);
    check_devices(v, AT(p, "devices"), now);
    check_reserved(v, AT(p, "reservedFor"), o, old);
    valid__cover(v, "update");
    if (old->allocation && now->allocation &&
        !valid__equal(API_T_allocation_result, now->allocation, old->allocation))
        valid__immutable(v, allocation,
                         valid__struct_value(v->errs->a, API_T_allocation_result, now->allocation));
    valid__uncover(v);
    if (!old->allocation && now->allocation)
        check_allocation(v, allocation, now->allocation, &names);
    valid__request_names_release(&names);
}

const struct valid_kind valid__resource_claim = {.type = API_T_resource_resource_claim,
                                                 .create = valid__create_device_claim,
                                                 .update = valid__update_device_claim,
                                                 .status = status_of_claim,
                                                 .declared = valid__declared_rows};
const struct valid_kind valid__resource_claim_v1beta1 = {.type = API_T_resource_claim_v1beta1,
                                                         .create = valid__create_device_claim,
                                                         .update = valid__update_device_claim,
                                                         .status = status_of_claim,
                                                         .declared = valid__declared_rows};
