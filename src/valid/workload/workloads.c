/*
 * What workloads share, and the two simplest ones: replica sets and deployments.
 *
 * Follows k8s.io/kubernetes pkg/apis/apps/validation, func ValidateReplicaSetSpec,
 * func ValidateDeploymentSpec, func ValidatePositiveIntOrPercent.
 */
#include "base/ascii.h"
#include "valid/kinds_int.h"
#include "valid/workload/workload_int.h"

/* ---- selectors and templates ---- */

bool valid__compile_selector(struct valid *v, const struct api_label_selector *s,
                             const struct selector **out) {
    struct selector *selector = NULL;
    struct err err;
    if (selector_compile(v->errs->a, s, &selector, &err) < 0)
        return false;
    *out = selector;
    return true;
}

void valid__template_matches(const struct workload *w, const struct selector *selector) {
    const struct labels *labels = &w->template->metadata.labels;
    if (!selector_matches(selector, labels))
        valid__invalid(w->v, AT(AT(AT(w->spec_path, "template"), "metadata"), "labels"),
                       valid__labels_value(w->v->errs->a, labels),
                       "`selector` does not match template `labels`");
}

void valid__template_runs_forever(const struct workload *w, const char *kind) {
    static const char *const always[] = {"Always", NULL};
    const struct api_pod_spec *spec = &w->template->spec;
    const struct path *p = AT(AT(w->spec_path, "template"), "spec");
    if (!str_is(spec->restart_policy, "Always"))
        valid__not_supported(w->v, AT(p, "restartPolicy"), VALUE_NAMED(spec->restart_policy),
                             always);
    if (spec->active_deadline_seconds.set)
        valid__forbidden(w->v, AT(p, "activeDeadlineSeconds"),
                         "activeDeadlineSeconds in %s is not Supported", kind);
}

static bool is_empty(const struct api_label_selector *s) {
    return s->match_labels.n + s->match_expressions.n == 0;
}

void valid__workload_selector(const struct workload *w, const char *kind) {
    const struct path *p = AT(w->spec_path, "selector");
    if (!w->selector) {
        valid__required(w->v, p, NO_DETAIL);
        return;
    }
    valid__label_selector(w->v, p, w->selector, &(struct selector_rules){0});
    if (is_empty(w->selector))
        valid__invalid(w->v, p,
                       valid__struct_value(w->v->errs->a, API_T_label_selector, w->selector),
                       "empty selector is invalid for %s", kind);
}

void valid__selector_kept(struct valid *v, const struct path *spec_path,
                          const struct api_label_selector *s,
                          const struct api_label_selector *old) {
    if (!valid__equal(API_T_label_selector, s, old))
        valid__immutable(v, AT(spec_path, "selector"),
                         valid__struct_value(v->errs->a, API_T_label_selector, s));
}

/* Selector and template of replica sets, which deployments make. */
static void check_pods(const struct workload *w) {
    const struct selector *selector;
    valid__workload_selector(w, "deployment");
    if (!valid__compile_selector(w->v, w->selector, &selector)) {
        valid__invalid(w->v, AT(w->spec_path, "selector"),
                       valid__struct_value(w->v->errs->a, API_T_label_selector, w->selector),
                       "invalid label selector");
        return;
    }
    if (!w->selector || !is_empty(w->selector))
        valid__template_matches(w, selector);
    valid__pod_template(w->v, AT(w->spec_path, "template"), w->template, w->rules);
    valid__template_runs_forever(w, "ReplicaSet");
}

void valid__prepare_template(struct api_pod_template_spec *t,
                             const struct api_pod_template_spec *old,
                             const struct valid_opts *opts) {
    valid__drop_disabled(&t->spec, &t->metadata.annotations, old ? &old->spec : NULL, opts->gates);
}

void valid__declared_template(struct valid *v, const struct api_pod_template_spec *t,
                              const struct api_pod_template_spec *old) {
    const struct path *spec = AT(AT(AT(NULL, "spec"), "template"), "spec");
    valid__declared_pod_spec(v, spec, &t->spec, old ? &old->spec : NULL);
}

/* ---- numbers and percents ---- */

static bool all_digits(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_digit(s.p[i]))
            return false;
    return s.n > 0;
}

static bool is_percent(const struct api_int_or_str *n) {
    return n->is_str && str_ends(n->s, STR("%")) && all_digits(str_sub(n->s, 0, n->s.n - 1));
}

static struct str without_zeros(struct str digits) {
    while (digits.n && digits.p[0] == '0')
        digits = str_sub(digits, 1, digits.n);
    return digits;
}

void valid__int_or_percent(struct valid *v, const struct path *p, const struct api_int_or_str *n) {
    if (!n->is_str)
        valid__not_negative(v, p, n->i);
    else if (!is_percent(n))
        valid__invalid(v, p, VALUE_NAMED(n->s),
                       "a valid percent string must be a numeric string followed by an ending "
                       "'%%' (e.g. '1%%',  or '93%%', regex used for validation is '[0-9]+%%')");
}

void valid__not_above_100_percent(struct valid *v, const struct path *p,
                                  const struct api_int_or_str *n) {
    if (!is_percent(n))
        return;
    struct str digits = without_zeros(str_sub(n->s, 0, n->s.n - 1));
    if (digits.n > 3 || (digits.n == 3 && !str_is(digits, "100")))
        valid__invalid(v, p, VALUE_NAMED(n->s), "must not be greater than 100%%");
}

/* A text that is no percentage counts as the number that it is, and as zero if it is none. */
bool valid__is_zero(const struct api_int_or_str *n) {
    if (!n->is_str)
        return n->i == 0;
    struct str digits = n->s;
    if (is_percent(n))
        digits.n--;
    else if (str_starts(digits, STR("+")) || str_starts(digits, STR("-")))
        digits = str_sub(digits, 1, digits.n);
    return !all_digits(digits) || without_zeros(digits).n == 0;
}

void valid__optional_not_negative(struct valid *v, const struct path *p,
                                  const struct api_opt_i32 *n) {
    if (n->set)
        valid__not_negative(v, p, n->v);
}

/* ---- replica sets ---- */

static void check_replica_set(struct valid *v, const struct api_replica_set_spec *spec,
                              const struct pod_rules *rules) {
    const struct path *p = AT(NULL, "spec");
    valid__optional_not_negative(v, AT(p, "replicas"), &spec->replicas);
    valid__not_negative(v, AT(p, "minReadySeconds"), spec->min_ready_seconds);
    check_pods(&(struct workload){v, p, spec->selector, &spec->template, rules});
}

static void create_replica_set(struct valid *v, const struct api_object *o) {
    const struct api_replica_set *rs = o->body;
    struct pod_rules rules = valid__pod_rules(v->gates, NULL, NULL);
    valid__object_meta(v, AT(NULL, "metadata"), o->meta, true, valid__name_subdomain);
    check_replica_set(v, &rs->spec, &rules);
}

static void update_replica_set(struct valid *v, const struct api_object *o,
                               const struct api_object *old) {
    const struct api_replica_set *rs = o->body, *was = old->body;
    struct pod_rules rules =
        valid__pod_rules(v->gates, &was->spec.template.spec, &was->spec.template.metadata);
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    check_replica_set(v, &rs->spec, &rules);
    valid__selector_kept(v, AT(NULL, "spec"), rs->spec.selector, was->spec.selector);
}

static void prepare_replica_set(struct api_object *o, const struct valid_opts *opts) {
    struct api_replica_set *rs = api_own_body(o);
    valid__prepare_template(&rs->spec.template, NULL, opts);
}

static void prepare_replica_set_update(struct api_object *o, const struct api_object *old,
                                       const struct valid_opts *opts) {
    struct api_replica_set *rs = api_own_body(o);
    const struct api_replica_set *was = old->body;
    valid__prepare_template(&rs->spec.template, &was->spec.template, opts);
}

static void declared_replica_set(struct valid *v, const struct api_object *o,
                                 const struct api_object *old) {
    const struct api_replica_set *set = o->body, *was = old ? old->body : NULL;
    valid__declared_template(v, &set->spec.template, was ? &was->spec.template : NULL);
}

const struct valid_kind valid__replica_set = {
    .type = API_T_replica_set,
    .prepare_create = prepare_replica_set,
    .create = create_replica_set,
    .prepare_update = prepare_replica_set_update,
    .update = update_replica_set,
    .prepare_status = valid__prepare_replica_set_status,
    .status = valid__replica_set_status,
    .declared = declared_replica_set,
    .warn = valid__warn_replica_set,
};

/* ---- deployments ---- */

static void check_rolling_update(struct valid *v, const struct path *p,
                                 const struct api_rolling_update_deployment *r) {
    static const struct api_int_or_str zero = {0};
    const struct api_int_or_str *unavailable = r->max_unavailable ? r->max_unavailable : &zero;
    const struct api_int_or_str *surge = r->max_surge ? r->max_surge : &zero;
    const struct path *here = AT(p, "maxUnavailable");
    valid__int_or_percent(v, here, unavailable);
    valid__int_or_percent(v, AT(p, "maxSurge"), surge);
    if (valid__is_zero(unavailable) && valid__is_zero(surge))
        valid__invalid(v, here, valid__int_or_str_value(unavailable),
                       "may not be 0 when `maxSurge` is 0");
    valid__not_above_100_percent(v, here, unavailable);
}

static void check_strategy(struct valid *v, const struct path *p,
                           const struct api_deployment_strategy *s) {
    static const char *const types[] = {"Recreate", "RollingUpdate", NULL};
    const struct path *rolling = AT(p, "rollingUpdate");
    if (!valid__one_of(s->type, types))
        valid__not_supported(v, p, valid__struct_value(v->errs->a, API_T_deployment_strategy, s),
                             types);
    else if (str_is(s->type, "RollingUpdate") && !s->rolling_update)
        valid__required(v, rolling, "this should be defaulted and never be nil");
    else if (str_is(s->type, "RollingUpdate"))
        check_rolling_update(v, rolling, s->rolling_update);
    else if (s->rolling_update)
        valid__forbidden(v, rolling, "may not be specified when strategy `type` is 'Recreate'");
}

static void check_progress_deadline(struct valid *v, const struct path *p,
                                    const struct api_deployment_spec *spec) {
    const struct api_opt_i32 *deadline = &spec->progress_deadline_seconds;
    valid__optional_not_negative(v, p, deadline);
    if (deadline->set && deadline->v <= spec->min_ready_seconds)
        valid__invalid(v, p, VALUE_I64(deadline->v), "must be greater than minReadySeconds");
}

/* An annotation that was spec.rollbackTo.revision before apps/v1; decoding sees to it that it is a
 * number, or empty. */
#define ROLLBACK_TO STR("deprecated.deployment.rollback.to")

/* It becomes what it is once it was read as a number: an empty one is none. */
static void settle_rollback(struct api_object *o) {
    struct labels *map = &api_own_meta(o)->annotations, kept = {0};
    int64_t revision;
    if (!labels_find(map, ROLLBACK_TO))
        return;
    kept.v = arena_array(&o->arena, struct label, map->n);
    for (size_t i = 0; i < map->n; i++) {
        struct label a = map->v[i];
        if (!str_eq(a.key, ROLLBACK_TO))
            kept.v[kept.n++] = a;
        else if (labels_value_to_i64(a.value, &revision))
            kept.v[kept.n++] =
                (struct label){a.key, arena_printf(&o->arena, "%lld", (long long)revision)};
    }
    *map = kept.n ? kept : (struct labels){0};
}

static void check_rollback(struct valid *v, const struct path *p,
                           const struct api_object_meta *meta) {
    const struct label *to = labels_find(&meta->annotations, ROLLBACK_TO);
    int64_t revision;
    if (to && labels_value_to_i64(to->value, &revision))
        valid__not_negative(v, AT(p, "version"), revision);
}

static void check_deployment(struct valid *v, const struct api_deployment *d,
                             const struct pod_rules *rules) {
    const struct api_deployment_spec *spec = &d->spec;
    const struct path *p = AT(NULL, "spec");
    valid__optional_not_negative(v, AT(p, "replicas"), &spec->replicas);
    check_pods(&(struct workload){v, p, spec->selector, &spec->template, rules});
    check_strategy(v, AT(p, "strategy"), &spec->strategy);
    valid__not_negative(v, AT(p, "minReadySeconds"), spec->min_ready_seconds);
    valid__optional_not_negative(v, AT(p, "revisionHistoryLimit"), &spec->revision_history_limit);
    check_rollback(v, AT(p, "rollback"), &d->metadata);
    check_progress_deadline(v, AT(p, "progressDeadlineSeconds"), spec);
}

static void create_deployment(struct valid *v, const struct api_object *o) {
    const struct api_deployment *d = o->body;
    struct pod_rules rules = valid__pod_rules(v->gates, NULL, NULL);
    valid__object_meta(v, AT(NULL, "metadata"), o->meta, true, valid__name_subdomain);
    check_deployment(v, d, &rules);
}

static void update_deployment(struct valid *v, const struct api_object *o,
                              const struct api_object *old) {
    const struct api_deployment *d = o->body, *was = old->body;
    struct pod_rules rules =
        valid__pod_rules(v->gates, &was->spec.template.spec, &was->spec.template.metadata);
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    check_deployment(v, d, &rules);
    valid__selector_kept(v, AT(NULL, "spec"), d->spec.selector, was->spec.selector);
}

static void prepare_deployment(struct api_object *o, const struct valid_opts *opts) {
    struct api_deployment *d = api_own_body(o);
    valid__prepare_template(&d->spec.template, NULL, opts);
    settle_rollback(o);
}

/* Annotations count, too: the controller copies them to replica sets. */
static void prepare_deployment_update(struct api_object *o, const struct api_object *old,
                                      const struct valid_opts *opts) {
    struct api_deployment *d = api_own_body(o);
    const struct api_deployment *was = old->body;
    valid__prepare_template(&d->spec.template, &was->spec.template, opts);
    if (!valid__equal(API_T_deployment_spec, &d->spec, &was->spec) ||
        !labels_equal(&d->metadata.annotations, &was->metadata.annotations))
        d->metadata.generation++;
    settle_rollback(o);
}

static void declared_deployment(struct valid *v, const struct api_object *o,
                                const struct api_object *old) {
    const struct api_deployment *d = o->body, *was = old ? old->body : NULL;
    valid__declared_template(v, &d->spec.template, was ? &was->spec.template : NULL);
}

const struct valid_kind valid__deployment = {
    .type = API_T_deployment,
    .prepare_create = prepare_deployment,
    .create = create_deployment,
    .prepare_update = prepare_deployment_update,
    .update = update_deployment,
    .prepare_status = valid__prepare_deployment_status,
    .status = valid__deployment_status,
    .declared = declared_deployment,
    .warn = valid__warn_deployment,
};
