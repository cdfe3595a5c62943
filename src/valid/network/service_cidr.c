/*
 * Where services get their addresses from, and the addresses that are taken.
 *
 * Follows k8s.io/kubernetes pkg/apis/networking/validation, func ValidateServiceCIDR,
 * func ValidateServiceCIDRUpdate, func ValidateIPAddress, func ValidateIPAddressUpdate.
 * Follows k8s.io/kubernetes pkg/apis/networking/v1, func Validate_IPAddress.
 * Follows k8s.io/apimachinery pkg/util/validation, func IsValidCIDR.
 */
#include "valid/kinds_int.h"
#include "valid/network/network_int.h"

/* ---- ranges ---- */

static const struct api_service_cidr_spec *spec_of(const struct api_object *o) {
    return &((const struct api_service_cidr *)o->body)->spec;
}

/* A range that is written in the one way to write it, whatever the gate says. */
static void check_cidr(struct valid *v, const struct path *p, struct str text) {
    struct cidr c;
    size_t before = valid__found(v);
    valid__cidr_strict(v, p, text);
    if (valid__found(v) > before || !valid_cidr_parse(text, &c))
        return;
    struct str canonical = valid_cidr_text(v->errs->a, &c);
    if (!str_eq(text, canonical))
        valid__invalid(v, p, VALUE_Q(text), "must be in canonical form (\"%.*s\")",
                       STR_ARG(canonical));
}

static bool are_alike(struct str a, struct str b) {
    struct cidr first, second;
    return valid_cidr_parse(a, &first) && valid_cidr_parse(b, &second) &&
           valid_ip_is_v6(&first.ip) == valid_ip_is_v6(&second.ip);
}

static void check_cidrs(struct valid *v, const struct api_service_cidr_spec *s) {
    const struct path *p = AT(AT(NULL, "spec"), "cidrs");
    const struct api_strs *cidrs = &s->cidrs;
    if (!cidrs->n) {
        valid__required(v, p, "at least one CIDR required");
        return;
    }
    if (cidrs->n > 2) {
        valid__invalid(v, p, valid__struct_value(v->errs->a, API_T_service_cidr_spec, s),
                       "may only hold up to 2 values");
        return;
    }
    for (size_t i = 0; i < cidrs->n; i++)
        check_cidr(v, AT_INDEX(p, i), cidrs->v[i]);
    if (cidrs->n == 2 && are_alike(cidrs->v[0], cidrs->v[1]))
        valid__invalid(v, p, valid__strs_value(v->errs->a, cidrs),
                       "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and "
                       "2001:db8::/64");
}

static void create_cidr(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_cidrs(v, spec_of(o));
}

static void keep(struct valid *v, const struct path *p, const struct api_strs *now,
                 const struct api_strs *was) {
    for (size_t i = 0; i < was->n; i++)
        if (!str_eq(now->v[i], was->v[i]))
            valid__immutable(v, AT_INDEX(p, i), VALUE_Q(now->v[i]));
}

/* A range of the other family can be added, and nothing else can change. */
static void update_cidr(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct path *p = AT(AT(NULL, "spec"), "cidrs");
    const struct api_strs *now = &spec_of(o)->cidrs, *was = &spec_of(old)->cidrs;
    valid__metadata_update(v, o, old);
    if (now->n == was->n) {
        keep(v, p, now, was);
    } else if (was->n == 1 && now->n == 2) {
        keep(v, p, now, was);
        check_cidrs(v, spec_of(o));
    } else {
        valid__immutable(v, p, valid__strs_value(v->errs->a, now));
    }
}

static void status_of_cidr(struct valid *v, const struct api_object *o,
                           const struct api_object *old) {
    (void)old;
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
}

/* ---- addresses ---- */

typedef const struct api_parent_reference parent;

static parent *parent_of(const struct api_object *o) {
    return o ? ((const struct api_ip_address *)o->body)->spec.parent_ref : NULL;
}

static bool is_same(parent *a, parent *b) {
    return a && b ? valid__equal(API_T_parent_reference, a, b) : a == b;
}

/* Are rules about what must be there declared ones? Not while the reference does not change. And in
 * it, when it cannot change? */
static bool is_declared(const struct valid *v, const struct api_object *o,
                        const struct api_object *old) {
    return valid__has_declared(v) && !(old && is_same(parent_of(o), parent_of(old)));
}

static void check_name(struct valid *v, const struct path *p, struct str name, bool is_covered) {
    if (name.n)
        valid__segment(v, p, name);
    else if (!valid__covers(v, is_covered))
        valid__required(v, p, NO_DETAIL);
}

static void check_parent(struct valid *v, const struct api_object *o,
                         const struct api_object *old) {
    const struct path *p = AT(AT(NULL, "spec"), "parentRef");
    parent *ref = parent_of(o);
    bool is_covered = is_declared(v, o, old);
    if (!ref) {
        if (!valid__covers(v, is_covered))
            valid__required(v, p, NO_DETAIL);
        return;
    }
    if (ref->group.n)
        valid__dns_subdomain(v, AT(p, "group"), ref->group);
    check_name(v, AT(p, "resource"), ref->resource, is_covered && !old);
    check_name(v, AT(p, "name"), ref->name, is_covered && !old);
    if (ref->namespace.n)
        valid__segment(v, AT(p, "namespace"), ref->namespace);
}

static void create_address(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_parent(v, o, NULL);
}

static void update_address(struct valid *v, const struct api_object *o,
                           const struct api_object *old) {
    valid__metadata_update(v, o, old);
    check_parent(v, o, old);
    if (!is_same(parent_of(o), parent_of(old)) && !valid__has_declared(v))
        valid__immutable(v, AT(AT(NULL, "spec"), "parentRef"),
                         valid__struct_value(v->errs->a, API_T_parent_reference, parent_of(o)));
}

static void declared(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct path *p = AT(AT(NULL, "spec"), "parentRef");
    parent *ref = parent_of(o);
    if (!is_declared(v, o, old))
        return;
    if (!ref)
        valid__required(v, p, NO_DETAIL);
    if (old)
        valid__immutable(v, p, VALUE_JSON((struct json){.kind = JSON_NULL}));
    if (!ref || old)
        return;
    if (!ref->resource.n)
        valid__required(v, AT(p, "resource"), NO_DETAIL);
    if (!ref->name.n)
        valid__required(v, AT(p, "name"), NO_DETAIL);
}

const struct valid_kind valid__service_cidr = {.type = API_T_service_cidr,
                                               .create = create_cidr,
                                               .update = update_cidr,
                                               .status = status_of_cidr};
const struct valid_kind valid__ip_address = {.type = API_T_ip_address,
                                             .create = create_address,
                                             .update = update_address,
                                             .declared = declared};
