/*
 * The addresses of a service, their families, and how many of them there may be.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateServiceClusterIPsRelatedFields,
 * func validateUpgradeDowngradeClusterIPs, func validateUpgradeDowngradeIPFamilies.
 */
#include "valid/network/network_int.h"

typedef const struct api_service_spec spec;

static struct value ips_value(struct valid *v, spec *s) {
    return valid__strs_value(v->errs->a, &s->cluster_ips);
}

static struct value families_value(struct valid *v, spec *s) {
    return valid__strs_value(v->errs->a, &s->ip_families);
}

static struct value policy_value(spec *s) {
    if (!s->ip_family_policy.p)
        return VALUE_JSON((struct json){.kind = JSON_NULL});
    return VALUE_NAMED(s->ip_family_policy);
}

/* ---- a service by itself ---- */

static void check_agreement(struct valid *v, const struct path *p, spec *s) {
    if (!s->cluster_ip.n && s->cluster_ips.n)
        valid__invalid(v, p, ips_value(v, s), "must be empty when `clusterIP` is not specified");
    else if (s->cluster_ip.n && !s->cluster_ips.n)
        valid__required(v, p, NO_DETAIL);
    else if (s->cluster_ip.n && !str_eq(s->cluster_ips.v[0], s->cluster_ip))
        valid__invalid(v, p, ips_value(v, s), "first value must match `clusterIP`");
}

static void check_families(struct valid *v, const struct path *p, const struct api_strs *families) {
    static const char *const known[] = {"IPv4", "IPv6", NULL};
    struct seen names;
    seen_init(&names);
    for (size_t i = 0; i < families->n; i++) {
        struct value family = VALUE_NAMED(families->v[i]);
        if (!valid__one_of(families->v[i], known))
            valid__not_supported(v, AT_INDEX(p, i), family, known);
        if (!seen_add(&names, families->v[i]))
            valid__duplicate(v, AT_INDEX(p, i), family, NO_DETAIL);
    }
    seen_release(&names);
}

static void check_policy(struct valid *v, const struct path *p, struct str policy) {
    static const char *const known[] = {"PreferDualStack", "RequireDualStack", "SingleStack", NULL};
    if (policy.p && !valid__one_of(policy, known))
        valid__not_supported(v, p, VALUE_NAMED(policy), known);
}

/* False when there is a wrong one, so that nothing can be said about their families. */
static bool check_ips(struct valid *v, const struct path *p, spec *s, const struct seen *old) {
    size_t before = valid__found(v);
    for (size_t i = 0; i < s->cluster_ips.n; i++) {
        struct str ip = s->cluster_ips.v[i];
        if (i || !str_is(ip, "None"))
            valid__ip_but_old(v, AT_INDEX(p, i), ip, old);
        else if (s->cluster_ips.n > 1)
            valid__invalid(v, p, ips_value(v, s), "'None' must be the first and only value");
    }
    bool all_good = valid__found(v) == before;
    if (s->cluster_ips.n > 2)
        valid__invalid(v, p, ips_value(v, s), "may only hold up to 2 values");
    return all_good;
}

/* Both families? False with an error when an address, which an old service has, cannot be read. */
static bool is_dual(struct valid *v, const struct path *p, const struct api_strs *ips) {
    bool v4 = false, v6 = false;
    for (size_t i = 0; i < ips->n; i++) {
        struct ip ip = {.is_v6 = false};
        if (!valid_ip_parse(ips->v[i], &ip)) {
            valid__internal(v, p, "failed to check for dual stack with error:invalid IP[%zu]: %.*s",
                            i, STR_ARG(ips->v[i]));
            return false;
        }
        v6 |= valid_ip_is_v6(&ip);
        v4 |= !valid_ip_is_v6(&ip);
    }
    return v4 && v6;
}

static void check_ip_families(struct valid *v, const struct path *p, spec *s) {
    for (size_t i = 0; i < s->cluster_ips.n && i < s->ip_families.n; i++) {
        struct str ip = s->cluster_ips.v[i], family = s->ip_families.v[i];
        bool is_v6 = valid_ip_is_v6_text(ip);
        if ((str_is(family, "IPv4") && is_v6) || (str_is(family, "IPv6") && !is_v6))
            valid__invalid(v, AT_INDEX(p, i), VALUE_Q(ip),
                           "expected an %.*s value as indicated by `ipFamilies[%zu]`",
                           STR_ARG(family), i);
    }
}

static void check_addresses(struct valid *v, spec *s, const struct seen *old) {
    const struct path *p = AT(NULL, "spec"), *ips = AT(p, "clusterIPs");
    check_agreement(v, ips, s);
    check_families(v, AT(p, "ipFamilies"), &s->ip_families);
    check_policy(v, AT(p, "ipFamilyPolicy"), s->ip_family_policy);
    if (!check_ips(v, ips, s, old))
        return;
    if (s->cluster_ips.n > 1 && !is_dual(v, ips, &s->cluster_ips))
        valid__invalid(v, ips, ips_value(v, s),
                       "may specify no more than one IP for each IP family");
    if (!service_is_headless(s))
        check_ip_families(v, ips, s);
}

void valid__service_addresses(struct valid *v, spec *s, spec *old) {
    struct seen ips;
    if (service_is_external(s))
        return;
    seen_init(&ips);
    if (old)
        valid__remember(&ips, &old->cluster_ips);
    check_addresses(v, s, &ips);
    seen_release(&ips);
}

void valid_service_addresses(const struct api_service_spec *s, const struct api_service_spec *old,
                             const struct feature_set *gates, struct valid_errs *out) {
    struct valid v = {.errs = out, .gates = gates};
    valid__service_addresses(&v, s, old);
}

/* ---- one that replaces another ---- */

#define UNCHANGED "may not change once set"

static bool is_single(spec *s) {
    return str_is(s->ip_family_policy, "SingleStack");
}

static void check_released_ips(struct valid *v, spec *s) {
    const struct path *p = AT(NULL, "spec");
    if (!s->cluster_ips.n)
        valid__invalid(v, AT_INDEX(AT(p, "clusterIPs"), 0), ips_value(v, s),
                       "primary clusterIP can not be unset");
}

static void check_first_ip(struct valid *v, spec *s, spec *old) {
    const struct path *p = AT(NULL, "spec");
    if (s->cluster_ips.n && old->cluster_ips.n &&
        !str_eq(s->cluster_ips.v[0], old->cluster_ips.v[0]))
        valid__invalid(v, AT_INDEX(AT(p, "clusterIPs"), 0), ips_value(v, s), UNCHANGED);
}

static void check_same_ips(struct valid *v, spec *s, spec *old) {
    const struct path *p = AT(AT(NULL, "spec"), "clusterIPs");
    for (size_t i = 0; i < s->cluster_ips.n; i++)
        if (!str_eq(s->cluster_ips.v[i], old->cluster_ips.v[i]))
            valid__invalid(v, AT_INDEX(p, i), ips_value(v, s), UNCHANGED);
}

static void update_ips(struct valid *v, spec *s, spec *old) {
    if (service_is_headless(s) && service_is_headless(old))
        return;
    if (s->cluster_ips.n == old->cluster_ips.n) {
        check_same_ips(v, s, old);
        return;
    }
    bool is_fewer = s->cluster_ips.n < old->cluster_ips.n;
    if (is_fewer)
        check_released_ips(v, s);
    check_first_ip(v, s, old);
    if (is_fewer && s->cluster_ips.n == 1 && !is_single(s))
        valid__invalid(v, AT(AT(NULL, "spec"), "ipFamilyPolicy"), policy_value(s),
                       "must be set to 'SingleStack' when releasing the secondary clusterIP");
}

/* The values that these texts show are upstream's choice. */
static void update_families(struct valid *v, spec *s, spec *old) {
    const struct api_strs *now = &s->ip_families, *was = &old->ip_families;
    const struct path *p = AT(NULL, "spec"), *first = AT_INDEX(AT(p, "ipFamilies"), 0);
    for (size_t i = 0; now->n == was->n && i < now->n; i++)
        if (!str_eq(now->v[i], was->v[i]))
            valid__invalid(v, first, families_value(v, s), UNCHANGED);
    if (now->n < was->n && !s->cluster_ips.n)
        valid__invalid(v, first, families_value(v, s), "primary ipFamily can not be unset");
    if (now->n != was->n && now->n && was->n && !str_eq(now->v[0], was->v[0]))
        valid__invalid(v, first, ips_value(v, s), UNCHANGED);
    if (now->n < was->n && now->n == 1 && !is_single(s))
        valid__invalid(v, AT(p, "ipFamilyPolicy"), policy_value(s),
                       "must be set to 'SingleStack' when releasing the secondary ipFamily");
}

void valid__service_addresses_update(struct valid *v, spec *s, spec *old) {
    if (service_is_external(s) || service_is_external(old))
        return;
    update_ips(v, s, old);
    if (!service_is_headless(s) && !service_is_headless(old))
        update_families(v, s, old);
}
