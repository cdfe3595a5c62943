/*
 * Which families of addresses a service has, and how many.
 *
 * Follows k8s.io/kubernetes pkg/registry/core/service/storage, func (*Allocators)
 * initIPFamilyFields, func isMatchingPreferDualStackClusterIPFields.
 */
#include "registry/service/service_int.h"

typedef const struct api_service_spec spec;

bool registry__same_strs(const struct api_strs *a, const struct api_strs *b) {
    for (size_t i = 0; i < a->n && i < b->n; i++)
        if (!str_eq(a->v[i], b->v[i]))
            return false;
    return a->n == b->n;
}

static bool is_single(spec *s) {
    return str_is(s->ip_family_policy, "SingleStack");
}

bool registry__keeps_families(const struct allocation *x) {
    spec *s = x->s, *old = x->old;
    return old && str_is(s->ip_family_policy, "PreferDualStack") && str_eq(s->type, old->type) &&
           (service_is_on_nodes(s) || str_is(s->type, "ClusterIP")) &&
           (!old->ip_family_policy.p || str_is(old->ip_family_policy, "PreferDualStack")) &&
           registry__same_strs(&s->cluster_ips, &old->cluster_ips) &&
           registry__same_strs(&s->ip_families, &old->ip_families);
}

/* Headless, and nobody says of what. */
static bool is_bare(spec *s) {
    return str_is(s->cluster_ip, "None") && !s->selector.n;
}

static void default_policy(struct allocation *x) {
    struct str *policy = &x->s->ip_family_policy;
    if (policy->p)
        return;
    if (x->old && x->old->ip_family_policy.p)
        *policy = arena_str(&x->o->arena, x->old->ip_family_policy);
    else
        *policy = is_bare(x->s) ? STR("RequireDualStack") : STR("SingleStack");
}

static struct json list_of(struct arena *a, const struct api_strs *strs) {
    struct json list = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < strs->n; i++)
        json_append(a, &list, json_of_str(strs->v[i]));
    return list;
}

static void refuse_policy(struct allocation *x, const char *why) {
    struct json policy = json_of_str(x->s->ip_family_policy);
    valid_refuse(x->errs, STR("spec.ipFamilyPolicy"), &policy, str_of(why));
}

/* Who asks for one family gives the second one back. */
static void reduce(struct allocation *x) {
    struct api_service_spec *s = x->s;
    spec *old = x->old;
    if (is_single(s)) {
        if (s->cluster_ips.n > 1 && registry__same_strs(&old->cluster_ips, &s->cluster_ips))
            s->cluster_ips.n = 1;
        if (s->ip_families.n > 1 && registry__same_strs(&old->ip_families, &s->ip_families))
            s->ip_families.n = 1;
        return;
    }
    if (s->cluster_ips.n && s->cluster_ips.n < old->cluster_ips.n)
        refuse_policy(x, "must be 'SingleStack' to release the secondary cluster IP");
    if (s->ip_families.n && s->ip_families.n < old->ip_families.n)
        refuse_policy(x, "must be 'SingleStack' to release the secondary IP family");
}

static void check_policy(struct allocation *x) {
    static const char ips[] = "must be 'RequireDualStack' or 'PreferDualStack' when multiple "
                              "cluster IPs are specified";
    static const char families[] = "must be 'RequireDualStack' or 'PreferDualStack' when multiple "
                                   "IP families are specified";
    if (is_single(x->s) && x->s->cluster_ips.n == 2)
        refuse_policy(x, ips);
    if (is_single(x->s) && x->s->ip_families.n == 2)
        refuse_policy(x, families);
}

static void append(struct allocation *x, struct str family) {
    struct api_strs *families = &x->s->ip_families;
    struct str *grown = arena_array(&x->o->arena, struct str, families->n + 1);
    for (size_t i = 0; i < families->n; i++)
        grown[i] = families->v[i];
    grown[families->n] = family;
    *families = (struct api_strs){grown, families->n + 1};
}

/* The families of addresses that stand there; there are two at most. */
static void infer(struct allocation *x) {
    const struct api_strs *ips = &x->s->cluster_ips;
    for (size_t i = 0; i < ips->n && !str_is(ips->v[i], "None"); i++) {
        struct str family = valid_ip_is_v6_text(ips->v[i]) ? STR("IPv6") : STR("IPv4");
        if (i < x->s->ip_families.n)
            continue;
        if (registry__has_family(x->registry->ranges, family)) {
            append(x, family);
            continue;
        }
        struct json list = list_of(x->a, ips);
        valid_refuse(x->errs, arena_printf(x->a, "spec.clusterIPs[%zu]", i), &list,
                     arena_printf(x->a, "%.*s is not configured on this cluster", STR_ARG(family)));
    }
}

static void add_other(struct allocation *x) {
    append(x, str_is(x->s->ip_families.v[0], "IPv4") ? STR("IPv6") : STR("IPv4"));
}

static void check_families(struct allocation *x) {
    const struct registry_ranges *ranges = x->registry->ranges;
    if (str_is(x->s->ip_family_policy, "RequireDualStack") && registry__family_count(ranges) < 2)
        refuse_policy(x, "this cluster is not configured for dual-stack services");
    for (size_t i = 0; i < x->s->ip_families.n; i++) {
        struct json family = json_of_str(x->s->ip_families.v[i]);
        if (!registry__has_family(ranges, x->s->ip_families.v[i]))
            valid_refuse(x->errs, arena_printf(x->a, "spec.ipFamilies[%zu]", i), &family,
                         STR("not configured on this cluster"));
    }
}

/* Those that nobody asked for. */
static void fill(struct allocation *x) {
    struct api_service_spec *s = x->s;
    bool has_both = is_bare(s) || registry__family_count(x->registry->ranges) == 2;
    if (!is_bare(s))
        check_families(x);
    if (x->errs->n)
        return;
    if (!s->ip_families.n)
        append(x, registry__first_family(x->registry->ranges));
    if (!is_single(s) && s->ip_families.n == 1 && has_both)
        add_other(x);
}

void registry__init_families(struct allocation *x) {
    if (service_is_external(x->s) || registry__keeps_families(x))
        return;
    default_policy(x);
    valid_service_addresses(x->s, x->old, x->registry->gates, x->errs);
    if (x->errs->n)
        return;
    if (x->old)
        reduce(x);
    check_policy(x);
    infer(x);
    if (!x->errs->n)
        fill(x);
}
