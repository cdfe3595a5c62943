/*
 * Policies of the network: who may talk to whom.
 *
 * Follows k8s.io/kubernetes pkg/apis/networking/validation, func ValidateNetworkPolicy,
 * func ValidateNetworkPolicyUpdate, func ValidateNetworkPolicySpec, func ValidateIPBlock.
 * Follows k8s.io/kubernetes pkg/apis/networking/v1, func Validate_NetworkPolicy.
 */
#include "valid/kinds_int.h"
#include "valid/network/network_int.h"
#include "valid/pod/container_int.h"

typedef const struct api_network_policy_spec spec;
typedef const struct api_network_policy_peer_list peers;
typedef const struct api_network_policy_port_list ports;

/* What an old policy has already is allowed to stay. */
struct policy_rules {
    struct selector_rules selectors;
    const struct seen *cidrs; /* NULL on create */
};

static spec *spec_of(const struct api_object *o) {
    return &((const struct api_network_policy *)o->body)->spec;
}

/* ---- ports ---- */

static void check_numbers(struct valid *v, const struct path *p,
                          const struct api_network_policy_port *port) {
    valid__port_number(v, AT(p, "port"), port->port->i);
    if (!port->end_port.set)
        return;
    if (port->end_port.v < port->port->i)
        valid__invalid(v, AT(p, "endPort"), VALUE_I64(port->end_port.v),
                       "must be greater than or equal to `port`");
    valid__port_number(v, AT(p, "endPort"), port->end_port.v);
}

static void check_port(struct valid *v, const struct path *p,
                       const struct api_network_policy_port *port) {
    static const char *const protocols[] = {"TCP", "UDP", "SCTP", NULL};
    struct value end = VALUE_I64(port->end_port.v);
    if (port->protocol.p && !valid__one_of(port->protocol, protocols))
        valid__not_supported(v, AT(p, "protocol"), VALUE_NAMED(port->protocol), protocols);
    if (port->port && !port->port->is_str)
        check_numbers(v, p, port);
    else if (port->end_port.set)
        valid__invalid(v, AT(p, "endPort"), end, "may not be specified when `port` is %s",
                       port->port ? "non-numeric" : "not specified");
    if (port->port && port->port->is_str)
        valid__port_name(v, AT(p, "port"), port->port->s);
}

/* ---- peers ---- */

/* A range of addresses that stand for those of IPv4, as such a range. */
static struct cidr as_v4(struct cidr c) {
    enum { MAPPED_BYTES = 12 };
    struct cidr v4 = {.bits = c.bits - 8 * MAPPED_BYTES};
    for (size_t i = 0; i < 4; i++)
        v4.ip.bytes[i] = c.ip.bytes[MAPPED_BYTES + i];
    return valid_ip_is_mapped(&c.ip) ? v4 : c;
}

/* Is one range a part of the other, and not all of it? Both are masked. */
static bool is_within(struct cidr part, struct cidr whole) {
    if (valid_ip_is_v6(&part.ip) != valid_ip_is_v6(&whole.ip) || part.bits <= whole.bits)
        return false;
    part = as_v4(part), whole = as_v4(whole);
    part.bits = whole.bits;
    valid_cidr_mask(&part);
    for (size_t i = 0; i < sizeof part.ip.bytes; i++)
        if (part.ip.bytes[i] != whole.ip.bytes[i])
            return false;
    return true;
}

static void check_excepted(struct valid *v, const struct path *p, struct str text,
                           const struct cidr *whole, const struct seen *old) {
    struct cidr part;
    valid__cidr_but_old(v, p, text, old);
    if (!valid_cidr_parse(text, &part))
        return;
    valid_cidr_mask(&part);
    if (!is_within(part, *whole))
        valid__invalid(v, p, VALUE_Q(text), "must be a strict subset of `cidr`");
}

static void check_block(struct valid *v, const struct path *p, const struct api_ip_block *b,
                        const struct seen *old, bool is_declared) {
    struct cidr whole;
    if (!b->cidr.n) {
        if (!valid__covers(v, is_declared))
            valid__required(v, AT(p, "cidr"), NO_DETAIL);
        return;
    }
    valid__cidr_but_old(v, AT(p, "cidr"), b->cidr, old);
    if (!valid_cidr_parse(b->cidr, &whole))
        return;
    valid_cidr_mask(&whole);
    for (size_t i = 0; i < b->except.n; i++)
        check_excepted(v, AT_INDEX(AT(p, "except"), i), b->except.v[i], &whole, old);
}

static void check_peer(struct valid *v, const struct path *p,
                       const struct api_network_policy_peer *peer, const struct policy_rules *rules,
                       bool is_declared) {
    valid__label_selector(v, AT(p, "podSelector"), peer->pod_selector, &rules->selectors);
    valid__label_selector(v, AT(p, "namespaceSelector"), peer->namespace_selector,
                          &rules->selectors);
    if (peer->ip_block)
        check_block(v, AT(p, "ipBlock"), peer->ip_block, rules->cidrs, is_declared);
    bool is_selected = peer->pod_selector || peer->namespace_selector;
    if (!is_selected && !peer->ip_block)
        valid__required(v, p, "must specify a peer");
    else if (is_selected && peer->ip_block)
        valid__forbidden(v, p, "may not specify both ipBlock and another peer");
}

/* ---- directions: what is alike for what comes in and what goes out ---- */

struct direction {
    const char *rules, *peers;
};
static const struct direction in = {"ingress", "from"}, out = {"egress", "to"};

struct rule {
    ports *ports;
    peers *peers;
};

static size_t count(spec *s, const struct direction *d) {
    return d == &in ? s->ingress.n : s->egress.n;
}

static struct rule rule_at(spec *s, const struct direction *d, size_t i) {
    if (d == &in)
        return (struct rule){&s->ingress.v[i].ports, &s->ingress.v[i].from};
    return (struct rule){&s->egress.v[i].ports, &s->egress.v[i].to};
}

/* Blocks without a range are found by a declared rule, but where nothing changes. */
static bool is_declared(const struct valid *v, spec *s, spec *old, const struct direction *d) {
    if (!valid__has_declared(v) || !old)
        return valid__has_declared(v);
    return d == &in
               ? !valid__equal_lists(API_T_network_policy_ingress_rule, &s->ingress, &old->ingress)
               : !valid__equal_lists(API_T_network_policy_egress_rule, &s->egress, &old->egress);
}

static void check_direction(struct valid *v, spec *s, const struct direction *d,
                            const struct policy_rules *rules, bool declared) {
    for (size_t i = 0; i < count(s, d); i++) {
        const struct path *p = AT_INDEX(AT(AT(NULL, "spec"), d->rules), i);
        struct rule r = rule_at(s, d, i);
        for (size_t j = 0; j < r.ports->n; j++)
            check_port(v, AT_INDEX(AT(p, "ports"), j), &r.ports->v[j]);
        for (size_t j = 0; j < r.peers->n; j++)
            check_peer(v, AT_INDEX(AT(p, d->peers), j), &r.peers->v[j], rules, declared);
    }
}

static void declare_direction(struct valid *v, spec *s, const struct direction *d) {
    for (size_t i = 0; i < count(s, d); i++) {
        const struct path *p = AT(AT_INDEX(AT(AT(NULL, "spec"), d->rules), i), d->peers);
        struct rule r = rule_at(s, d, i);
        for (size_t j = 0; j < r.peers->n; j++)
            if (r.peers->v[j].ip_block && !r.peers->v[j].ip_block->cidr.n)
                valid__required(v, AT(AT(AT_INDEX(p, j), "ipBlock"), "cidr"), NO_DETAIL);
    }
}

static void remember(struct seen *cidrs, spec *s, const struct direction *d) {
    for (size_t i = 0; i < count(s, d); i++) {
        peers *list = rule_at(s, d, i).peers;
        for (size_t j = 0; j < list->n; j++) {
            const struct api_ip_block *b = list->v[j].ip_block;
            if (!b)
                continue;
            seen_add(cidrs, b->cidr);
            valid__remember(cidrs, &b->except);
        }
    }
}

/* ---- policies ---- */

static void check_types(struct valid *v, const struct path *p, const struct api_strs *types) {
    static const char *const known[] = {"Ingress", "Egress", NULL};
    if (types->n > 2) {
        valid__invalid(v, p, valid__strs_value(v->errs->a, types),
                       "may not specify more than two policyTypes");
        return;
    }
    for (size_t i = 0; i < types->n; i++)
        if (!valid__one_of(types->v[i], known))
            valid__not_supported(v, AT_INDEX(p, i), VALUE_NAMED(types->v[i]), known);
}

static void check_spec(struct valid *v, spec *s, spec *old, const struct policy_rules *rules) {
    const struct path *p = AT(NULL, "spec");
    valid__label_selector(v, AT(p, "podSelector"), &s->pod_selector, &rules->selectors);
    check_direction(v, s, &in, rules, is_declared(v, s, old, &in));
    check_direction(v, s, &out, rules, is_declared(v, s, old, &out));
    check_types(v, AT(p, "policyTypes"), &s->policy_types);
}

static void create(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_spec(v, spec_of(o), NULL, &(struct policy_rules){.cidrs = NULL});
}

/* Does the selector break rules? Then others may have wrong values, too. */
static bool is_selector_bad(const struct valid *v, spec *s) {
    AUTO(arena_release) struct arena a = {0};
    struct valid_errs errs = VALID_ERRS_INIT(&a);
    struct valid trial = {.errs = &errs, .gates = v->gates};
    valid__label_selector(&trial, NULL, &s->pod_selector, &(struct selector_rules){0});
    return errs.found;
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    struct seen cidrs;
    seen_init(&cidrs);
    remember(&cidrs, spec_of(old), &in);
    remember(&cidrs, spec_of(old), &out);
    struct policy_rules rules = {{is_selector_bad(v, spec_of(old))}, &cidrs};
    valid__metadata_update(v, o, old);
    check_spec(v, spec_of(o), spec_of(old), &rules);
    seen_release(&cidrs);
}

static void declared(struct valid *v, const struct api_object *o, const struct api_object *old) {
    spec *now = spec_of(o), *was = old ? spec_of(old) : NULL;
    if (is_declared(v, now, was, &in))
        declare_direction(v, now, &in);
    if (is_declared(v, now, was, &out))
        declare_direction(v, now, &out);
}

const struct valid_kind valid__network_policy = {.type = API_T_network_policy,
                                                 .create = create,
                                                 .update = update,
                                                 .declared = declared,
                                                 .warn = valid__warn_network_policy};
