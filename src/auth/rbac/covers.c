/*
 * Which parts of some rules others do not cover.
 *
 * Follows k8s.io/component-helpers auth/rbac/validation, func Covers, func BreakdownRule.
 */
#include "auth/rbac_int.h"
#include "base/goquote.h"
#include "base/limits.h"
#include "base/vec.h"

static const struct str all = STR_INIT("*");

static bool has(const struct api_strs *list, struct str text) {
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i], text))
            return true;
    return false;
}

/* ---- parts ---- */

/* A part of a rule: one group, resource, verb and perhaps name; or one URL and verb. */
struct part {
    const struct str *group, *resource, *url, *name, *verb; /* NULL: has none */
};

static bool covers_resource(const struct api_strs *list, struct str resource) {
    if (has(list, all) || has(list, resource))
        return true;
    size_t slash = str_find_char(resource, '/');
    if (slash == STR_NONE)
        return false;
    struct str rest = str_sub(resource, slash, resource.n);
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i].n == rest.n + 1 && list->v[i].p[0] == '*' && str_ends(list->v[i], rest))
            return true;
    return false;
}

static bool covers_url(const struct api_strs *list, struct str url) {
    for (size_t i = 0; i < list->n; i++) {
        struct str held = list->v[i];
        if (str_eq(held, url))
            return true;
        if (!str_ends(held, all))
            continue;
        while (str_ends(held, all))
            held.n--;
        if (str_starts(url, held))
            return true;
    }
    return false;
}

static bool covers_text(const struct api_strs *list, const struct str *text) {
    return !text || has(list, all) || has(list, *text);
}

/* A rule for some names covers no part that is for all. */
static bool covers_name(const struct api_strs *names, const struct str *name) {
    return names->n == 0 || (name && has(names, *name));
}

static bool covers(const struct api_policy_rule *held, const struct part *p) {
    return covers_text(&held->verbs, p->verb) && covers_text(&held->api_groups, p->group) &&
           (!p->resource || covers_resource(&held->resources, *p->resource)) &&
           (!p->url || covers_url(&held->non_resource_urls, *p->url)) &&
           covers_name(&held->resource_names, p->name);
}

/* ---- the comparison ---- */

struct comparison {
    struct arena *a;
    const struct api_policy_rule *const *held;
    size_t held_count;
    struct auth__rules_list *missing;
    size_t steps; /* that are left */
};

static struct api_strs list_of_one(struct arena *a, const struct str *text) {
    if (!text)
        return (struct api_strs){0};
    return (struct api_strs){.v = arena_copy(a, text, sizeof *text), .n = 1};
}

static void add_missing(struct comparison *c, const struct part *p) {
    vec_push(c->missing, (struct api_policy_rule){
                             .verbs = list_of_one(c->a, p->verb),
                             .api_groups = list_of_one(c->a, p->group),
                             .resources = list_of_one(c->a, p->resource),
                             .resource_names = list_of_one(c->a, p->name),
                             .non_resource_urls = list_of_one(c->a, p->url),
                         });
}

/* Strings that a rule has, all of which a part may be compared with. */
static size_t size_of(const struct api_policy_rule *r) {
    return 1 + r->verbs.n + r->api_groups.n + r->resources.n + r->resource_names.n +
           r->non_resource_urls.n;
}

/* False when that took too many steps. */
static bool look_for(struct comparison *c, const struct part *p) {
    for (size_t i = 0; i < c->held_count; i++) {
        size_t steps = size_of(c->held[i]);
        if (steps > c->steps)
            return false;
        c->steps -= steps;
        if (covers(c->held[i], p))
            return true;
    }
    if (!c->steps)
        return false;
    c->steps--;
    add_missing(c, p);
    return true;
}

static bool look_for_names(struct comparison *c, const struct api_policy_rule *r, struct part *p) {
    if (!r->resource_names.n)
        return look_for(c, p);
    for (size_t i = 0; i < r->resource_names.n; i++) {
        p->name = &r->resource_names.v[i];
        if (!look_for(c, p))
            return false;
    }
    p->name = NULL;
    return true;
}

static bool look_for_resource(struct comparison *c, const struct api_policy_rule *r,
                              struct part *p) {
    for (size_t i = 0; i < r->verbs.n; i++) {
        p->verb = &r->verbs.v[i];
        if (!look_for_names(c, r, p))
            return false;
    }
    return true;
}

static bool look_for_resources(struct comparison *c, const struct api_policy_rule *r) {
    struct part p = {0};
    for (size_t g = 0; g < r->api_groups.n; g++)
        for (size_t i = 0; i < r->resources.n; i++) {
            p.group = &r->api_groups.v[g];
            p.resource = &r->resources.v[i];
            if (!look_for_resource(c, r, &p))
                return false;
        }
    return true;
}

static bool look_for_urls(struct comparison *c, const struct api_policy_rule *r) {
    for (size_t i = 0; i < r->non_resource_urls.n; i++)
        for (size_t k = 0; k < r->verbs.n; k++) {
            struct part p = {.url = &r->non_resource_urls.v[i], .verb = &r->verbs.v[k]};
            if (!look_for(c, &p))
                return false;
        }
    return true;
}

bool auth__rules_missing(struct arena *a, const struct api_policy_rule *const *held,
                         size_t held_count, const struct api_policy_rule_list *wanted,
                         struct auth__rules_list *missing) {
    struct comparison c = {.a = a,
                           .held = held,
                           .held_count = held_count,
                           .missing = missing,
                           .steps = LIMIT_AUTH_COVER_STEPS};
    for (size_t i = 0; i < wanted->n; i++)
        if (!look_for_resources(&c, &wanted->v[i]) || !look_for_urls(&c, &wanted->v[i]))
            return false;
    return true;
}

void auth__strs_write(struct buf *out, const struct api_strs *list) {
    buf_add_char(out, '[');
    for (size_t i = 0; i < list->n; i++) {
        if (i)
            buf_add_char(out, ' ');
        goquote_write(out, list->v[i]);
    }
    buf_add_char(out, ']');
}
