/*
 * Daemon sets.
 *
 * Follows k8s.io/kubernetes pkg/apis/apps/validation, func ValidateDaemonSet,
 * func ValidateDaemonSetUpdate.
 */
#include "valid/kinds_int.h"
#include "valid/workload/workload_int.h"

static void check_rolling_update(struct valid *v, const struct path *p,
                                 const struct api_rolling_update_daemon_set *r) {
    static const struct api_int_or_str zero = {0};
    const struct api_int_or_str *unavailable = r->max_unavailable ? r->max_unavailable : &zero;
    const struct api_int_or_str *surge = r->max_surge ? r->max_surge : &zero;
    const struct path *unavailable_path = AT(p, "maxUnavailable"), *surge_path = AT(p, "maxSurge");
    valid__int_or_percent(v, unavailable_path, unavailable);
    valid__int_or_percent(v, surge_path, surge);
    valid__not_above_100_percent(v, unavailable_path, unavailable);
    valid__not_above_100_percent(v, surge_path, surge);
    if (!valid__is_zero(unavailable) && !valid__is_zero(surge))
        valid__invalid(v, surge_path, valid__int_or_str_value(surge),
                       "may not be set when maxUnavailable is non-zero");
    else if (valid__is_zero(unavailable) && valid__is_zero(surge))
        valid__required(v, unavailable_path, "cannot be 0 when maxSurge is 0");
}

static void check_strategy(struct valid *v, const struct path *p,
                           const struct api_daemon_set_update_strategy *s) {
    static const char *const types[] = {"RollingUpdate", "OnDelete", NULL};
    if (!valid__one_of(s->type, types))
        valid__not_supported(
            v, p, valid__struct_value(v->errs->a, API_T_daemon_set_update_strategy, s), types);
    if (!str_is(s->type, "RollingUpdate"))
        return;
    if (s->rolling_update)
        check_rolling_update(v, AT(p, "rollingUpdate"), s->rolling_update);
    else
        valid__required(v, AT(p, "rollingUpdate"), NO_DETAIL);
}

static void check_selector(const struct workload *w, const struct selector_rules *rules) {
    const struct path *p = AT(w->spec_path, "selector");
    const struct api_label_selector *s = w->selector;
    const struct selector *selector;
    valid__label_selector(w->v, p, s, rules);
    if (valid__compile_selector(w->v, s, &selector))
        valid__template_matches(w, selector);
    if (s && s->match_labels.n + s->match_expressions.n == 0)
        valid__invalid(w->v, p, valid__struct_value(w->v->errs->a, API_T_label_selector, s),
                       "empty selector is invalid for daemonset");
}

/* ---- the generation of the template, which is an annotation since apps/v1 ---- */

enum { FIRST_TEMPLATE = 1 };

#define GENERATION STR("deprecated.daemonset.template.generation")

static int64_t old_generation(const struct api_daemon_set *ds) {
    const struct label *a = labels_find(&ds->metadata.annotations, GENERATION);
    int64_t generation = 0;
    if (a)
        labels_value_to_i64(a->value, &generation);
    return generation;
}

/* The server counts; at the end of 64 bits its sum wraps around, as Go's. */
static int64_t next_generation(const struct api_daemon_set *ds, const struct api_daemon_set *old) {
    int64_t generation = old_generation(old);
    bool kept = valid__equal(API_T_pod_template_spec, &ds->spec.template, &old->spec.template);
    return kept ? generation : (int64_t)((uint64_t)generation + 1);
}

/* Whatever a client says, the annotation is the server's. */
static void set_generation(struct api_object *o, int64_t generation) {
    struct labels *map = &api_own_meta(o)->annotations;
    struct label entry = {GENERATION, arena_printf(&o->arena, "%lld", (long long)generation)};
    struct label *copy = arena_array(&o->arena, struct label, map->n + 1);
    size_t n = 0, i = 0;
    for (; i < map->n && str_cmp(map->v[i].key, entry.key) < 0; i++)
        copy[n++] = map->v[i];
    copy[n++] = entry;
    for (i += i < map->n && str_eq(map->v[i].key, entry.key); i < map->n; i++)
        copy[n++] = map->v[i];
    *map = (struct labels){copy, n};
}

/* There is one from the start. */
void valid__name_generation(struct api_object *o, const struct valid_opts *opts) {
    (void)opts;
    set_generation(o, old_generation(o->body));
}

/* ---- all of it ---- */

static void check_spec(struct valid *v, const struct api_daemon_set_spec *spec,
                       int64_t template_generation, const struct pod_rules *rules) {
    const struct selector_rules selector_rules = {rules->invalid_selectors};
    const struct path *p = AT(NULL, "spec");
    struct workload w = {v, p, spec->selector, &spec->template, rules};
    check_selector(&w, &selector_rules);
    valid__pod_template(v, AT(p, "template"), &spec->template, rules);
    valid__template_runs_forever(&w, "DaemonSet");
    valid__not_negative(v, AT(p, "minReadySeconds"), spec->min_ready_seconds);
    valid__not_negative(v, AT(p, "templateGeneration"), template_generation);
    check_strategy(v, AT(p, "updateStrategy"), &spec->update_strategy);
    valid__optional_not_negative(v, AT(p, "revisionHistoryLimit"), &spec->revision_history_limit);
}

static void create(struct valid *v, const struct api_object *o) {
    const struct api_daemon_set *ds = o->body;
    struct pod_rules rules = valid__pod_rules(v->gates, NULL, NULL);
    valid__object_meta(v, AT(NULL, "metadata"), o->meta, true, valid__name_subdomain);
    check_spec(v, &ds->spec, FIRST_TEMPLATE, &rules);
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_daemon_set *ds = o->body, *was = old->body;
    struct pod_rules rules =
        valid__pod_rules(v->gates, &was->spec.template.spec, &was->spec.template.metadata);
    rules.invalid_selectors |= valid__selector_has_invalid_value(was->spec.selector);
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    int64_t generation = next_generation(ds, was);
    if (generation < old_generation(was))
        valid__invalid(v, AT(AT(NULL, "spec"), "templateGeneration"), VALUE_I64(generation),
                       "must not be decremented");
    valid__selector_kept(v, AT(NULL, "spec"), ds->spec.selector, was->spec.selector);
    check_spec(v, &ds->spec, generation, &rules);
}

static void prepare_create(struct api_object *o, const struct valid_opts *opts) {
    struct api_daemon_set *ds = api_own_body(o);
    set_generation(o, FIRST_TEMPLATE);
    valid__prepare_template(&ds->spec.template, NULL, opts);
}

static void prepare_update(struct api_object *o, const struct api_object *old,
                           const struct valid_opts *opts) {
    struct api_daemon_set *ds = api_own_body(o);
    const struct api_daemon_set *was = old->body;
    valid__prepare_template(&ds->spec.template, &was->spec.template, opts);
    set_generation(o, next_generation(ds, was));
}

static void prepare_status(struct api_object *o, const struct api_object *old,
                           const struct valid_opts *opts) {
    (void)opts;
    set_generation(o, old_generation(old->body));
}

static void declared(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_daemon_set *set = o->body, *was = old ? old->body : NULL;
    valid__declared_template(v, &set->spec.template, was ? &was->spec.template : NULL);
}

const struct valid_kind valid__daemon_set = {
    .type = API_T_daemon_set,
    .prepare_create = prepare_create,
    .create = create,
    .prepare_update = prepare_update,
    .update = update,
    .prepare_status = prepare_status,
    .status = valid__daemon_set_status,
    .declared = declared,
    .warn = valid__warn_daemon_set,
};
