/*
 * One rule, and whether it allows what is asked.
 *
 * Follows k8s.io/kubernetes plugin/pkg/auth/authorizer/rbac, func RuleAllows.
 * Follows k8s.io/kubernetes pkg/apis/rbac/v1, func VerbMatches, func ResourceMatches,
 * func NonResourceURLMatches.
 */
#include "auth/rbac_int.h"

static const struct str all = STR_INIT("*");

/* ---- sieves ---- */

/* The bit that stands for a text: those that differ in length or at an end mostly differ in it. */
static uint64_t bit_of(size_t n, unsigned char first, unsigned char last) {
    return UINT64_C(1) << ((n * 5 + first * 3U + last) & 63);
}

static uint64_t bit_of_text(struct str s) {
    return s.n ? bit_of(s.n, (unsigned char)s.p[0], (unsigned char)s.p[s.n - 1]) : bit_of(0, 0, 0);
}

static uint64_t bits_of(const struct api_strs *list) {
    uint64_t bits = 0;
    for (size_t i = 0; i < list->n; i++)
        bits |= str_eq(list->v[i], all) ? UINT64_MAX : bit_of_text(list->v[i]);
    return bits;
}

/* Whatever may stand for several things has all bits. */
static uint64_t bits_of_patterns(const struct api_strs *list, bool (*is_pattern)(struct str)) {
    for (size_t i = 0; i < list->n; i++)
        if (is_pattern(list->v[i]))
            return UINT64_MAX;
    return bits_of(list);
}

static bool is_any_subresource(struct str resource) {
    return str_starts(resource, STR("*/"));
}

static bool is_prefix(struct str url) {
    return str_ends(url, all);
}

struct auth__sieve auth__sieve_of_rule(const struct api_policy_rule *rule) {
    return (struct auth__sieve){
        .verbs = bits_of(&rule->verbs),
        .groups = bits_of(&rule->api_groups),
        .resources = bits_of_patterns(&rule->resources, is_any_subresource),
        .urls = bits_of_patterns(&rule->non_resource_urls, is_prefix),
    };
}

/* The bit of resource/subresource, or of the resource alone. */
static uint64_t bit_of_resource(const struct auth_attributes *q) {
    if (!q->subresource.n)
        return bit_of_text(q->resource);
    size_t n = q->resource.n + 1 + q->subresource.n;
    return bit_of(n, (unsigned char)(q->resource.n ? q->resource.p[0] : '/'),
                  (unsigned char)q->subresource.p[q->subresource.n - 1]);
}

struct auth__sieve auth__sieve_of_question(const struct auth_attributes *q) {
    struct auth__sieve s = {.verbs = bit_of_text(q->verb)};
    if (q->is_resource) {
        s.groups = bit_of_text(q->group);
        s.resources = bit_of_resource(q);
    } else {
        s.urls = bit_of_text(q->path);
    }
    return s;
}

bool auth__sieve_lets(const struct auth__sieve *rule, const struct auth__sieve *question,
                      bool is_resource) {
    if (!(rule->verbs & question->verbs))
        return false;
    return is_resource
               ? (rule->groups & question->groups) && (rule->resources & question->resources)
               : (rule->urls & question->urls) != 0;
}

/* ---- rules ---- */

/* Is the text in the list, or everything? */
static bool lists(const struct api_strs *list, struct str text) {
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i], all) || str_eq(list->v[i], text))
            return true;
    return false;
}

/* Is it resource/subresource, or the resource alone if there is no subresource? */
static bool is_combined(struct str text, const struct auth_attributes *q) {
    if (!q->subresource.n)
        return str_eq(text, q->resource);
    return text.n == q->resource.n + 1 + q->subresource.n && str_starts(text, q->resource) &&
           text.p[q->resource.n] == '/' && str_ends(text, q->subresource);
}

/* Is it the subresource of any resource: * and a slash before it? */
static bool is_subresource_of_all(struct str text, struct str subresource) {
    return subresource.n && text.n == subresource.n + 2 && str_starts(text, STR("*/")) &&
           str_ends(text, subresource);
}

static bool lists_resource(const struct api_strs *list, const struct auth_attributes *q) {
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i], all) || is_combined(list->v[i], q) ||
            is_subresource_of_all(list->v[i], q->subresource))
            return true;
    return false;
}

static bool lists_name(const struct api_strs *list, struct str name) {
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i], name))
            return true;
    return list->n == 0;
}

/* A URL that ends in stars stands for all that begin with what is before them. */
static bool url_covers(struct str url, struct str path) {
    if (str_eq(url, path))
        return true;
    if (!str_ends(url, all))
        return false;
    while (str_ends(url, all))
        url.n--;
    return str_starts(path, url);
}

static bool lists_url(const struct api_strs *list, struct str path) {
    for (size_t i = 0; i < list->n; i++)
        if (url_covers(list->v[i], path))
            return true;
    return false;
}

bool auth__rule_allows(const struct api_policy_rule *rule, const struct auth_attributes *q) {
    if (!lists(&rule->verbs, q->verb))
        return false;
    if (!q->is_resource)
        return lists_url(&rule->non_resource_urls, q->path);
    return lists(&rule->api_groups, q->group) && lists_resource(&rule->resources, q) &&
           lists_name(&rule->resource_names, q->name);
}
