/*
 * Webhooks that are asked about requests.
 *
 * Follows k8s.io/kubernetes pkg/apis/admissionregistration/validation,
 * func ValidateValidatingWebhookConfiguration, func ValidateValidatingWebhookConfigurationUpdate,
 * func ValidateMutatingWebhookConfiguration, func ValidateMutatingWebhookConfigurationUpdate.
 * Follows k8s.io/apiserver pkg/util/webhook, func ValidateWebhookURL, func ValidateWebhookService.
 */
#include "base/ascii.h"
#include "valid/admission/webhook_int.h"
#include "valid/kinds_int.h"
#include "valid/pod/container_int.h"

#define FORM "; desired format: https://host[/path]"

enum { MOST_SECONDS = 30 };

/* What old webhooks have already may stay. */
struct hook_rules {
    bool any_side_effects, any_versions, repeated_names, conditions_kept;
    struct selector_rules selectors;
    struct stored_expressions stored;
};

/* ---- where they are ---- */

/* The parts of a URL that the rules ask for. */
struct url {
    struct str scheme, host, user, fragment, query;
    bool has_user;
};

static struct url parse_url(struct str text) {
    struct url u = {0};
    struct str rest, authority;
    if (str_cut(text, '#', &text, &rest))
        u.fragment = rest;
    size_t colon = str_find_char(text, ':'), slash = str_find_char(text, '/');
    if (colon != STR_NONE && colon > 0 && (slash == STR_NONE || colon < slash) &&
        ascii_is_letter(text.p[0])) {
        u.scheme = str_sub(text, 0, colon);
        text = str_sub(text, colon + 1, text.n);
    }
    if (str_cut(text, '?', &text, &rest))
        u.query = rest;
    if (!str_starts(text, STR("//")))
        return u;
    str_cut(str_sub(text, 2, text.n), '/', &authority, &rest);
    u.host = authority;
    for (size_t i = authority.n; i-- > 0 && !u.has_user;)
        if (authority.p[i] == '@') {
            u.has_user = true;
            u.user = str_sub(authority, 0, i);
            u.host = str_sub(authority, i + 1, authority.n);
        }
    return u;
}

static void check_url(struct valid *v, const struct path *p, struct str text) {
    struct url u = parse_url(text);
    struct str scheme = valid__lower(v->errs->a, u.scheme);
    if (!str_is(scheme, "https"))
        valid__invalid(v, p, VALUE_Q(scheme), "'https' is the only allowed URL scheme" FORM);
    if (!u.host.n)
        valid__invalid(v, p, VALUE_Q(u.host), "host must be specified" FORM);
    if (u.has_user)
        valid__invalid(v, p, VALUE_Q(u.user), "user information is not permitted in the URL");
    if (u.fragment.n)
        valid__invalid(v, p, VALUE_Q(u.fragment), "fragments are not permitted in the URL");
    if (u.query.n)
        valid__invalid(v, p, VALUE_Q(u.query), "query parameters are not permitted in the URL");
}

static void check_steps(struct valid *v, const struct path *p, struct str path) {
    struct str step, rest = str_sub(path, 1, path.n);
    if (str_ends(rest, STR("/")))
        rest = str_sub(rest, 0, rest.n - 1);
    bool more = true;
    for (size_t i = 0; more; i++) {
        more = str_cut(rest, '/', &step, &rest);
        struct names_errs errs = names_check_dns1123_subdomain(step);
        if (!step.n)
            valid__invalid(v, p, VALUE_Q(path), "segment[%zu] may not be empty", i);
        for (size_t k = 0; step.n && k < errs.n; k++)
            valid__invalid(v, p, VALUE_Q(path), "segment[%zu]: %.*s", i, STR_ARG(errs.v[k]));
    }
}

static void check_service_path(struct valid *v, const struct path *p, struct str path) {
    if (!path.n || str_is(path, "/"))
        return;
    if (str_is(path, "//")) {
        valid__invalid(v, p, VALUE_Q(path), "segment[0] may not be empty");
        return;
    }
    if (path.p[0] != '/')
        valid__invalid(v, p, VALUE_Q(path), "must start with a '/'");
    check_steps(v, p, path);
}

/* Upstream takes the one name for the other. */
static void check_service(struct valid *v, const struct path *p,
                          const struct api_service_reference *s) {
    int32_t port = s->port.set ? s->port.v : 0;
    if (!s->namespace.n)
        valid__required(v, AT(p, "name"), NO_DETAIL);
    if (!s->name.n)
        valid__required(v, AT(p, "namespace"), NO_DETAIL);
    if (port < 1 || port > 65535)
        valid__invalid(v, AT(p, "port"), VALUE_I64(port),
                       "port is not valid: must be between 1 and 65535, inclusive");
    check_service_path(v, AT(p, "path"), s->path);
}

static void check_client(struct valid *v, const struct path *p,
                         const struct api_webhook_client_config *c) {
    if (!c->url.p == !c->service)
        valid__required(v, p, "exactly one of url or service is required");
    else if (c->url.p)
        check_url(v, AT(p, "url"), c->url);
    else
        check_service(v, AT(p, "service"), c->service);
}

/* ---- one webhook ---- */

/* "a.b.c" at least. */
static void check_name(struct valid *v, const struct path *p, struct str name) {
    struct names_errs errs = names_check_dns1123_subdomain(name);
    size_t dots = 0;
    for (size_t i = 0; i < name.n; i++)
        dots += name.p[i] == '.';
    AUTO(buf_release) struct buf text = BUF_INIT(1024);
    names_errs_join(&text, &errs, STR(","));
    if (!name.n)
        valid__required(v, p, NO_DETAIL);
    else if (errs.n)
        valid__invalid(v, p, VALUE_Q(name), "%.*s", STR_ARG(buf_view(&text)));
    else if (dots < 2)
        valid__invalid(v, p, VALUE_Q(name),
                       "should be a domain with at least three segments separated by dots");
}

static const char *const no_effects[] = {"None", "NoneOnDryRun", NULL};
static const char *const all_effects[] = {"None", "NoneOnDryRun", "Some", "Unknown", NULL};

static void check_effects(struct valid *v, const struct path *p, struct str effects, bool any) {
    if (!effects.p)
        valid__required(v, p, "must specify one of %s",
                        any ? "None, NoneOnDryRun, Some, Unknown" : "None, NoneOnDryRun");
    valid__optional_choice(v, p, effects, any ? all_effects : no_effects);
}

static const char *const known_versions[] = {"v1", "v1beta1", NULL};

static void check_versions(struct valid *v, const struct path *p, const struct api_strs *list,
                           bool any) {
    struct seen seen;
    bool has_known = false;
    seen_init(&seen);
    if (!list->n)
        valid__required(v, p, "must specify one of v1, v1beta1");
    for (size_t i = 0; i < list->n; i++) {
        struct names_errs errs = names_check_dns1035_label(list->v[i]);
        has_known |= valid__one_of(list->v[i], known_versions);
        if (!seen_add(&seen, list->v[i]))
            valid__invalid(v, AT_INDEX(p, i), VALUE_Q(list->v[i]), "duplicate version");
        else
            valid__names(v, AT_INDEX(p, i), list->v[i], &errs);
    }
    if (list->n && !has_known && !any)
        valid__invalid(v, p, valid__strs_value(v->errs->a, list),
                       "must include at least one of v1, v1beta1");
    seen_release(&seen);
}

/* Both kinds of webhooks, as the one that has more. */
static struct api_mutating_webhook as_mutating(const struct api_validating_webhook *h) {
    return (struct api_mutating_webhook){
        .name = h->name,
        .client_config = h->client_config,
        .rules = h->rules,
        .failure_policy = h->failure_policy,
        .match_policy = h->match_policy,
        .namespace_selector = h->namespace_selector,
        .object_selector = h->object_selector,
        .side_effects = h->side_effects,
        .timeout_seconds = h->timeout_seconds,
        .admission_review_versions = h->admission_review_versions,
        .match_conditions = h->match_conditions,
    };
}

static void check_hook(struct valid *v, const struct path *p, const struct api_mutating_webhook *h,
                       const struct hook_rules *rules) {
    struct api_opt_i32 seconds = h->timeout_seconds;
    check_name(v, AT(p, "name"), h->name);
    for (size_t i = 0; i < h->rules.n; i++)
        valid__rule_with_operations(v, AT_INDEX(AT(p, "rules"), i), &h->rules.v[i]);
    valid__optional_choice(v, AT(p, "failurePolicy"), h->failure_policy, valid__failure_policies);
    valid__optional_choice(v, AT(p, "matchPolicy"), h->match_policy, valid__match_policies);
    check_effects(v, AT(p, "sideEffects"), h->side_effects, rules->any_side_effects);
    if (seconds.set && (seconds.v < 1 || seconds.v > MOST_SECONDS))
        valid__invalid(v, AT(p, "timeoutSeconds"), VALUE_I64(seconds.v),
                       "the timeout value must be between 1 and 30 seconds");
    valid__label_selector(v, AT(p, "namespaceSelector"), h->namespace_selector, &rules->selectors);
    valid__label_selector(v, AT(p, "objectSelector"), h->object_selector, &rules->selectors);
    valid__optional_choice(v, AT(p, "reinvocationPolicy"), h->reinvocation_policy,
                           valid__reinvocation_policies);
    check_client(v, AT(p, "clientConfig"), &h->client_config);
    if (!rules->conditions_kept)
        valid__match_conditions(v, AT(p, "matchConditions"), &h->match_conditions, false,
                                &rules->stored);
    check_versions(v, AT(p, "admissionReviewVersions"), &h->admission_review_versions,
                   rules->any_versions);
}

/* ---- both kinds ---- */

/* The webhooks of an object, in the arena. */
static struct api_mutating_webhook_list hooks_of(struct arena *a, const struct api_object *o) {
    if (api_object_is(o, API_T_mutating_webhook_configuration))
        return ((const struct api_mutating_webhook_configuration *)o->body)->webhooks;
    const struct api_validating_webhook_list *from =
        &((const struct api_validating_webhook_configuration *)o->body)->webhooks;
    struct api_mutating_webhook_list list = {
        arena_array(a, struct api_mutating_webhook, from->n + 1), from->n};
    for (size_t i = 0; i < from->n; i++)
        list.v[i] = as_mutating(&from->v[i]);
    return list;
}

static void check(struct valid *v, const struct api_mutating_webhook_list *hooks,
                  const struct hook_rules *rules) {
    const struct path *p = AT(NULL, "webhooks");
    struct seen names;
    seen_init(&names);
    for (size_t i = 0; i < hooks->n; i++) {
        struct str name = hooks->v[i].name;
        check_hook(v, AT_INDEX(p, i), &hooks->v[i], rules);
        if (name.n && !seen_add(&names, name) && !rules->repeated_names)
            valid__duplicate(v, AT(AT_INDEX(p, i), "name"), VALUE_Q(name), NO_DETAIL);
    }
    seen_release(&names);
}

static void create(struct valid *v, const struct api_object *o) {
    struct api_mutating_webhook_list hooks = hooks_of(v->errs->a, o);
    struct hook_rules rules = {0};
    valid__metadata_create(v, o);
    check(v, &hooks, &rules);
    valid__static_suffix(v, o);
}

static bool has_bad_selector(const struct valid *v, const struct api_mutating_webhook *h) {
    AUTO(arena_release) struct arena a = {0};
    struct valid_errs errs = VALID_ERRS_INIT(&a);
    struct valid trial = {.errs = &errs, .gates = v->gates};
    valid__label_selector(&trial, NULL, h->namespace_selector, &(struct selector_rules){0});
    valid__label_selector(&trial, NULL, h->object_selector, &(struct selector_rules){0});
    return errs.found;
}

static bool has_known_version(const struct api_strs *versions) {
    for (size_t i = 0; i < versions->n; i++)
        if (valid__one_of(versions->v[i], known_versions))
            return true;
    return !versions->n;
}

/* Go takes an empty list for another one than none. */
static bool are_conditions_kept(const struct api_mutating_webhook_list *now,
                                const struct api_mutating_webhook_list *old) {
    for (size_t i = 0; i < now->n && i < old->n; i++)
        if (!valid__equal_lists(API_T_match_condition, &now->v[i].match_conditions,
                                &old->v[i].match_conditions) ||
            !now->v[i].match_conditions.v != !old->v[i].match_conditions.v)
            return false;
    return now->n == old->n;
}

/* Whoever asks releases what is stored. */
static struct hook_rules rules_for(const struct valid *v,
                                   const struct api_mutating_webhook_list *now,
                                   const struct api_mutating_webhook_list *old) {
    struct hook_rules rules = {.conditions_kept = are_conditions_kept(now, old)};
    struct seen names;
    seen_init(&names);
    for (size_t i = 0; i < old->n; i++) {
        const struct api_mutating_webhook *h = &old->v[i];
        rules.any_side_effects |= !valid__one_of(h->side_effects, no_effects);
        rules.any_versions |= !has_known_version(&h->admission_review_versions);
        rules.repeated_names |= !seen_add(&names, h->name);
        rules.selectors.allow_invalid_values |= has_bad_selector(v, h);
        valid__store_conditions(&rules.stored, &h->match_conditions);
    }
    seen_release(&names);
    return rules;
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    struct api_mutating_webhook_list hooks = hooks_of(v->errs->a, o),
                                     was = hooks_of(v->errs->a, old);
    struct hook_rules rules = rules_for(v, &hooks, &was);
    valid__metadata_update(v, o, old);
    check(v, &hooks, &rules);
    valid__stored_release(&rules.stored);
}

const struct valid_kind valid__validating_webhook_configuration = {
    .type = API_T_validating_webhook_configuration, .create = create, .update = update};
const struct valid_kind valid__mutating_webhook_configuration = {
    .type = API_T_mutating_webhook_configuration, .create = create, .update = update};
