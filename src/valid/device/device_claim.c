/*
 * What is asked for of devices: in claims, and in what claims are made of.
 *
 * Follows k8s.io/kubernetes pkg/apis/resource/validation, func validateDeviceClaim,
 * func validateDeviceRequest, func validateDeviceConstraint, func validateRequestNameRef,
 * func gatherConstraintAttributes, func validateDeviceDerivedAttribute.
 */
#include "valid/device/device_int.h"
#include "valid/kinds_int.h"
#include "valid/volume/volume_int.h"

enum { MOST_REQUESTS = 32, MOST_CONSTRAINTS = 32, MOST_CONFIGS = 32, MOST_SUB_REQUESTS = 8 };
enum { MOST_EXPRESSION_BYTES = 10 * 1024, MOST_DERIVED_COST = 1000000 };

/* ---- requests by their names ---- */

void valid__request_names_init(struct request_names *names, struct arena *a,
                               const struct api_device_claim *claim) {
    seen_init(&names->requests);
    seen_init(&names->subrequests);
    for (size_t i = claim->requests.n; i > 0; i--) { /* of the same name the last one counts */
        const struct api_device_request *r = &claim->requests.v[i - 1];
        bool is_new = seen_add(&names->requests, r->name);
        for (size_t k = 0; is_new && k < r->first_available.n; k++)
            seen_add(&names->subrequests, arena_printf(a, "%.*s/%.*s", STR_ARG(r->name),
                                                       STR_ARG(r->first_available.v[k].name)));
    }
}

void valid__request_names_release(struct request_names *names) {
    seen_release(&names->requests);
    seen_release(&names->subrequests);
}

#define NO_REQUEST                                                                          \
    "must be the name of a request in the claim or the name of a request and a subrequest " \
    "separated by '/'"

void valid__request_reference(struct valid *v, const struct path *p, struct str name,
                              const struct request_names *names) {
    struct str request, sub;
    bool has_sub = str_cut(name, '/', &request, &sub), is_odd = str_find_char(sub, '/') != STR_NONE;
    if (!is_odd)
        valid__dns_label(v, p, request);
    if (!is_odd && has_sub)
        valid__dns_label(v, p, sub);
    if (is_odd || !seen_get(has_sub ? &names->subrequests : &names->requests, name))
        valid__invalid(v, p, VALUE_Q(name), NO_REQUEST);
}

void valid__request_references(struct valid *v, const struct path *p, const struct api_strs *list,
                               const struct request_names *names) {
    if (valid__has_too_many(v, p, list->n, MOST_REQUESTS))
        return;
    for (size_t i = 0; i < list->n; i++)
        valid__request_reference(v, AT_INDEX(p, i), list->v[i], names);
    valid__repeated(v, p, list);
}

/* ---- which attributes constraints look at ---- */

struct asked {
    struct valid *v;
    struct seen attributes; /* request and attribute, for all that constraints name */
    uint64_t *derived_cost; /* of the expressions that derive attributes */
};

static struct str constrained_key(struct arena *a, struct str request, struct str attribute) {
    return valid__join_keys(a, (struct str[]){request, attribute}, 2);
}

static void add_constrained(struct asked *q, const struct api_device_constraint *c) {
    struct str name = c->match_attribute.p ? c->match_attribute : c->distinct_attribute;
    struct arena *a = q->v->errs->a;
    if (!name.p)
        return;
    if (!c->requests.n)
        seen_add(&q->attributes, constrained_key(a, STR(""), name));
    for (size_t i = 0; i < c->requests.n; i++)
        seen_add(&q->attributes, constrained_key(a, c->requests.v[i], name));
}

/* By all requests, by this one, or by that which it is an alternative of. */
static bool is_constrained(const struct asked *q, struct str attribute, struct str request) {
    struct arena *a = q->v->errs->a;
    struct str parent, rest;
    if (seen_get(&q->attributes, constrained_key(a, STR(""), attribute)) ||
        seen_get(&q->attributes, constrained_key(a, request, attribute)))
        return true;
    return str_cut(request, '/', &parent, &rest) &&
           seen_get(&q->attributes, constrained_key(a, parent, attribute));
}

/* ---- expressions ---- */

/* The most that an evaluation may cost, which wraps around as upstream's sum does. */
static uint64_t check_expression(struct valid *v, const struct path *p, struct str expression,
                                 enum valid_cel_place place) {
    if (expression.n <= MOST_EXPRESSION_BYTES)
        return valid__expression(v, p, expression,
                                 &(struct valid_cel_ask){.place = place, .expression = expression});
    valid__too_long(v, p, MOST_EXPRESSION_BYTES);
    return 0;
}

void valid__device_selectors(struct valid *v, const struct path *p,
                             const struct api_device_selector_list *list, bool is_stored) {
    if (valid__has_too_many(v, p, list->n, 32))
        return;
    for (size_t i = 0; i < list->n; i++) {
        const struct path *at = AT(AT_INDEX(p, i), "cel");
        if (!list->v[i].cel)
            valid__required(v, at, NO_DETAIL);
        else if (!is_stored)
            check_expression(v, AT(at, "expression"), list->v[i].cel->expression,
                             VALID_CEL_DEVICE_SELECTOR);
    }
}

static void check_derived(const struct asked *q, const struct path *p,
                          const struct api_device_derived_attribute_list *list,
                          struct str request) {
    AUTO(seen_release) struct seen names;
    seen_init(&names);
    for (size_t i = 0; i < list->n; i++) {
        const struct api_device_derived_attribute *d = &list->v[i];
        if (d->name.n && !is_constrained(q, d->name, request))
            valid__invalid(q->v, AT(AT_INDEX(p, i), "name"), VALUE_NAMED(d->name),
                           "must be referenced by at least one matchAttribute or "
                           "distinctAttribute constraint targeting this request");
        if (d->expression.n)
            *q->derived_cost += check_expression(q->v, AT(AT_INDEX(p, i), "expression"),
                                                 d->expression, VALID_CEL_DERIVED_ATTRIBUTE);
    }
    for (size_t i = 0; i < list->n; i++)
        if (!seen_add(&names, list->v[i].name))
            valid__duplicate(q->v, AT_INDEX(p, i), VALUE_Q(list->v[i].name), NO_DETAIL);
}

/* ---- requests ---- */

static void check_mode(struct valid *v, const struct path *p, struct str mode, int64_t count) {
    static const char *const modes[] = {"All", "ExactCount", NULL};
    if (str_is(mode, "All") && count)
        valid__invalid(v, AT(p, "count"), VALUE_I64(count),
                       "must not be specified when allocationMode is 'All'");
    else if (str_is(mode, "ExactCount") && count <= 0)
        valid__invalid(v, AT(p, "count"), VALUE_I64(count), "must be greater than zero");
    valid__cover(v, "");
    if (!valid__one_of(mode, modes))
        valid__not_supported(v, AT(p, "allocationMode"), VALUE_NAMED(mode), modes);
    valid__uncover(v);
}

static void check_class(struct valid *v, const struct path *p, struct str name, bool is_covered) {
    if (is_covered)
        valid__cover(v, name.n ? ORIGIN_LONG_NAME : "");
    if (name.n)
        valid__dns_subdomain(v, p, name);
    else
        valid__required(v, p, NO_DETAIL);
    valid__uncover(v);
}

static void check_sub_request(const struct asked *q, const struct path *p,
                              const struct api_device_sub_request *r, struct str parent) {
    struct valid *v = q->v;
    struct str name = arena_printf(v->errs->a, "%.*s/%.*s", STR_ARG(parent), STR_ARG(r->name));
    valid__dns_label(v, AT(p, "name"), r->name);
    check_class(v, AT(p, "deviceClassName"), r->device_class_name, true);
    valid__device_selectors(v, AT(p, "selectors"), &r->selectors, false);
    check_derived(q, AT(p, "derivedAttributes"), &r->derived_attributes, name);
    check_mode(v, p, r->allocation_mode, r->count);
    valid__device_toleration(v, AT(p, "tolerations"), &r->tolerations);
}

static void check_exactly(const struct asked *q, const struct path *p,
                          const struct api_exact_device_request *r, struct str name) {
    struct valid *v = q->v;
    check_class(v, AT(p, "deviceClassName"), r->device_class_name, false);
    valid__device_selectors(v, AT(p, "selectors"), &r->selectors, false);
    check_derived(q, AT(p, "derivedAttributes"), &r->derived_attributes, name);
    check_mode(v, p, r->allocation_mode, r->count);
    valid__device_toleration(v, AT(p, "tolerations"), &r->tolerations);
}

static void check_alternatives(const struct asked *q, const struct path *p,
                               const struct api_device_request *r) {
    const struct api_device_sub_request_list *list = &r->first_available;
    struct api_strs names = {arena_array(q->v->errs->a, struct str, list->n + 1), list->n};
    if (valid__has_too_many(q->v, p, list->n, MOST_SUB_REQUESTS))
        return;
    for (size_t i = 0; i < list->n; i++) {
        check_sub_request(q, AT_INDEX(p, i), &list->v[i], r->name);
        names.v[i] = list->v[i].name;
    }
    valid__repeated(q->v, p, &names);
}

#define ONE_OF "exactly one of `exactly` or `firstAvailable` is required"

static void check_request(const struct asked *q, const struct path *p,
                          const struct api_device_request *r) {
    struct valid *v = q->v;
    valid__dns_label(v, AT(p, "name"), r->name);
    if (r->exactly && r->first_available.n)
        valid__invalid(v, p, VALUE_JSON((struct json){.kind = JSON_NULL}),
                       ONE_OF ", but multiple fields are set");
    else if (r->first_available.n)
        check_alternatives(q, AT(p, "firstAvailable"), r);
    else if (r->exactly)
        check_exactly(q, AT(p, "exactly"), r->exactly, r->name);
    else
        valid__required(v, p, ONE_OF);
}

static void check_requests(const struct asked *q, const struct path *p,
                           const struct api_device_request_list *list) {
    if (valid__has_too_many(q->v, p, list->n, MOST_REQUESTS))
        return;
    struct api_strs names = {arena_array(q->v->errs->a, struct str, list->n + 1), list->n};
    for (size_t i = 0; i < list->n; i++) {
        check_request(q, AT_INDEX(p, i), &list->v[i]);
        names.v[i] = list->v[i].name;
    }
    valid__repeated(q->v, p, &names);
}

/* ---- constraints ---- */

static void check_constraint(struct valid *v, const struct path *p,
                             const struct api_device_constraint *c,
                             const struct request_names *names) {
    valid__request_references(v, AT(p, "requests"), &c->requests, names);
    valid__cover(v, "format=k8s-resource-fully-qualified-name");
    if (c->match_attribute.p)
        valid__fully_qualified_name(v, AT(p, "matchAttribute"), c->match_attribute);
    else if (c->distinct_attribute.p)
        valid__fully_qualified_name(v, AT(p, "distinctAttribute"), c->distinct_attribute);
    valid__uncover(v);
    if (c->match_attribute.p || c->distinct_attribute.p)
        return;
    if (feature_enabled(v->gates, FEATURE_DRAConsumableCapacity))
        valid__required(v, p,
                        "exactly one of \"matchAttribute\" or \"distinctAttribute\" is required, "
                        "but multiple fields are set");
    else
        valid__required(v, AT(p, "matchAttribute"), NO_DETAIL);
}

static void check_constraints(struct valid *v, const struct path *p,
                              const struct api_device_claim *claim,
                              const struct request_names *names) {
    if (valid__has_too_many(v, p, claim->constraints.n, MOST_CONSTRAINTS))
        return;
    for (size_t i = 0; i < claim->constraints.n; i++)
        check_constraint(v, AT_INDEX(p, i), &claim->constraints.v[i], names);
}

static void check_configs(struct valid *v, const struct path *p,
                          const struct api_device_claim *claim, const struct request_names *names) {
    if (valid__has_too_many(v, p, claim->config.n, MOST_CONFIGS))
        return;
    for (size_t i = 0; i < claim->config.n; i++) {
        const struct api_device_claim_configuration *c = &claim->config.v[i];
        valid__request_references(v, AT(AT_INDEX(p, i), "requests"), &c->requests, names);
        valid__device_configuration(v, AT_INDEX(p, i), &c->device_configuration, false);
    }
}

static void check_claim(struct valid *v, const struct path *p,
                        const struct api_device_claim *claim) {
    uint64_t derived_cost = 0;
    struct asked q = {.v = v, .derived_cost = &derived_cost};
    struct request_names names;
    seen_init(&q.attributes);
    for (size_t i = 0; i < claim->constraints.n; i++)
        add_constrained(&q, &claim->constraints.v[i]);
    valid__request_names_init(&names, v->errs->a, claim);
    check_requests(&q, AT(p, "requests"), &claim->requests);
    check_constraints(v, AT(p, "constraints"), claim, &names);
    check_configs(v, AT(p, "config"), claim, &names);
    if (derived_cost > MOST_DERIVED_COST)
        valid__forbidden(v, p,
                         "too complex, total cost of derived attribute CEL expressions in the "
                         "claim exceeds cost limit");
    valid__request_names_release(&names);
    seen_release(&q.attributes);
}

/* ---- claims ---- */

void valid__create_device_claim(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_claim(v, AT(AT(NULL, "spec"), "devices"), valid__asked_devices(v->errs->a, o));
}

/* Nothing else is looked at: nothing else can change. */
void valid__update_device_claim(struct valid *v, const struct api_object *o,
                                const struct api_object *old) {
    struct arena *a = v->errs->a;
    const struct api_device_claim *now = valid__asked_devices(a, o),
                                  *was = valid__asked_devices(a, old);
    struct api_resource_claim_spec spec = {.devices = *now};
    valid__metadata_update(v, o, old);
    valid__cover(v, "immutable");
    if (!valid__equal(API_T_device_claim, now, was))
        valid__immutable(v, AT(NULL, "spec"),
                         valid__struct_value(a, API_T_resource_claim_spec, &spec));
    valid__uncover(v);
}

/* ---- templates ---- */

/* The spec as v1 has it. */
static struct api_resource_claim_template_spec template_of(struct arena *a,
                                                           const struct api_object *o) {
    struct api_resource_claim_template_spec spec = {
        .spec = {.devices = *valid__asked_devices(a, o)}};
    spec.metadata =
        api_object_is(o, API_T_resource_claim_template)
            ? ((const struct api_resource_claim_template *)o->body)->spec.metadata
            : ((const struct api_resource_claim_template_v1beta1 *)o->body)->spec.metadata;
    return spec;
}

static void create_template(struct valid *v, const struct api_object *o) {
    struct api_resource_claim_template_spec spec = template_of(v->errs->a, o);
    const struct path *p = AT(NULL, "spec");
    valid__metadata_create(v, o);
    valid__template_meta(v, AT(p, "metadata"), &spec.metadata);
    check_claim(v, AT(AT(p, "spec"), "devices"), &spec.spec.devices);
}

static void update_template(struct valid *v, const struct api_object *o,
                            const struct api_object *old) {
    struct api_resource_claim_template_spec now = template_of(v->errs->a, o),
                                            was = template_of(v->errs->a, old);
    create_template(v, o);
    if (!valid__equal(API_T_resource_claim_template_spec, &now, &was))
        valid__immutable(v, AT(NULL, "spec"),
                         valid__struct_value(v->errs->a, API_T_resource_claim_template_spec, &now));
}

const struct valid_kind valid__resource_claim_template = {.type = API_T_resource_claim_template,
                                                          .create = create_template,
                                                          .update = update_template,
                                                          .declared = valid__declared_rows};
const struct valid_kind valid__resource_claim_template_v1beta1 = {
    .type = API_T_resource_claim_template_v1beta1,
    .create = create_template,
    .update = update_template,
    .declared = valid__declared_rows};
