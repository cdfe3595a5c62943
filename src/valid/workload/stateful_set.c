/*
 * Stateful sets. Their pods get volumes from the claim templates, and hostname and subdomain from
 * the controller, so the template is validated as if it had them already.
 *
 * Follows k8s.io/kubernetes pkg/apis/apps/validation, func ValidateStatefulSet,
 * func ValidateStatefulSetUpdate.
 * Follows k8s.io/kubernetes pkg/registry/apps/statefulset,
 * func (statefulSetStrategy) PrepareForUpdate.
 */
#include "valid/kinds_int.h"
#include "valid/pod/pod_int.h"
#include "valid/workload/workload_int.h"

/* How strictly a spec is looked at: updates tolerate what older servers let through. */
struct strictness {
    bool any_service_name;
    bool any_claim_templates;
    bool any_template;
    bool recreate; /* updateStrategy may be Recreate */
};

static void check_rolling_update(struct valid *v, const struct path *p,
                                 const struct api_rolling_update_stateful_set_strategy *r) {
    const struct path *here = AT(p, "maxUnavailable");
    if (r->partition.set)
        valid__not_negative(v, AT(p, "partition"), r->partition.v);
    if (!r->max_unavailable)
        return;
    valid__int_or_percent(v, here, r->max_unavailable);
    if (valid__is_zero(r->max_unavailable))
        valid__invalid(v, here, valid__int_or_str_value(r->max_unavailable), "cannot be 0");
    valid__not_above_100_percent(v, here, r->max_unavailable);
}

static void check_strategy(struct valid *v, const struct path *p,
                           const struct api_stateful_set_update_strategy *s, bool recreate) {
    const struct path *rolling = AT(p, "rollingUpdate");
    struct arena *a = v->errs->a;
    if (str_is(s->type, "RollingUpdate")) {
        if (s->rolling_update)
            check_rolling_update(v, rolling, s->rolling_update);
    } else if (str_is(s->type, "OnDelete") || (recreate && str_is(s->type, "Recreate"))) {
        if (s->rolling_update)
            valid__invalid(v, rolling,
                           valid__struct_value(a, API_T_rolling_update_stateful_set_strategy,
                                               s->rolling_update),
                           "only allowed for updateStrategy 'RollingUpdate'");
    } else {
        valid__invalid(v, p, valid__struct_value(a, API_T_stateful_set_update_strategy, s), "%s",
                       recreate ? "must be 'RollingUpdate', 'OnDelete', or 'Recreate'"
                                : "must be 'RollingUpdate' or 'OnDelete'");
    }
}

static void check_retention(struct valid *v, const struct path *p, struct str policy) {
    static const char *const policies[] = {"Retain", "Delete", NULL};
    if (!valid__one_of(policy, policies))
        valid__not_supported(v, p, VALUE_NAMED(policy), policies);
}

static void check_policies(struct valid *v, const struct path *p,
                           const struct api_stateful_set_spec *spec, bool recreate) {
    static const char *const management[] = {"OrderedReady", "Parallel", NULL};
    const struct api_stateful_set_persistent_volume_claim_retention_policy *retention =
        spec->persistent_volume_claim_retention_policy;
    const struct path *here = AT(p, "persistentVolumeClaimRetentionPolicy");
    if (!valid__one_of(spec->pod_management_policy, management))
        valid__invalid(v, AT(p, "podManagementPolicy"), VALUE_NAMED(spec->pod_management_policy),
                       "must be 'OrderedReady' or 'Parallel'");
    check_strategy(v, AT(p, "updateStrategy"), &spec->update_strategy, recreate);
    if (retention) {
        check_retention(v, AT(here, "whenDeleted"), retention->when_deleted);
        check_retention(v, AT(here, "whenScaled"), retention->when_scaled);
    }
}

/* ---- the template with its claims ---- */

static int compare_names(const void *a, const void *b) {
    return str_cmp(((const struct api_volume *)a)->name, ((const struct api_volume *)b)->name);
}

/* Upstream puts the claims' volumes into a Go map: any order, each name once. */
static struct api_volume_list
claim_volumes(struct arena *a, const struct api_persistent_volume_claim_list *claims, size_t room) {
    struct api_volume_list list = {arena_array(a, struct api_volume, claims->n + room), 0};
    struct seen names;
    seen_init(&names);
    for (size_t i = 0; i < claims->n; i++) {
        struct str name = claims->v[i].metadata.name;
        if (!seen_add(&names, name))
            continue;
        struct api_persistent_volume_claim_volume_source *claim =
            arena_new(a, struct api_persistent_volume_claim_volume_source);
        claim->claim_name = name;
        list.v[list.n++] =
            (struct api_volume){.name = name, .volume_source.persistent_volume_claim = claim};
    }
    seen_release(&names);
    qsort(list.v, list.n, sizeof *list.v, compare_names);
    return list;
}

static void add_other_volumes(struct api_volume_list *list, const struct api_volume_list *others) {
    struct seen names;
    seen_init(&names);
    for (size_t i = 0; i < list->n; i++)
        seen_add(&names, list->v[i].name);
    for (size_t i = 0; i < others->n; i++)
        if (!seen_get(&names, others->v[i].name))
            list->v[list->n++] = others->v[i];
    seen_release(&names);
}

static struct api_pod_template_spec full_template(struct arena *a,
                                                  const struct api_stateful_set_spec *spec) {
    struct api_pod_template_spec t = spec->template;
    t.spec.hostname = t.spec.subdomain = STR("");
    if (spec->volume_claim_templates.n) {
        t.spec.volumes = claim_volumes(a, &spec->volume_claim_templates, t.spec.volumes.n);
        add_other_volumes(&t.spec.volumes, &spec->template.spec.volumes);
    }
    return t;
}

static void check_template(const struct workload *w, const struct selector *selector,
                           const struct strictness *strictness) {
    const struct path *p = AT(w->spec_path, "template"), *here = AT(p, "annotations");
    const struct api_object_meta *meta = &w->template->metadata;
    const struct api_label_selector *s = w->selector;
    if (!s || s->match_labels.n + s->match_expressions.n)
        valid__template_matches(w, selector);
    if (!strictness->any_template)
        valid__pod_template(w->v, p, w->template, w->rules);
    valid__labels(w->v, AT(p, "labels"), &meta->labels);
    valid__annotations(w->v, here, &meta->annotations);
    valid__pod_annotations(w->v, here, &meta->annotations, &w->template->spec, w->rules);
}

/* ---- all of it ---- */

static void check_claims(struct valid *v, const struct path *p,
                         const struct api_persistent_volume_claim_list *claims) {
    for (size_t i = 0; i < claims->n; i++)
        valid__volume_claim_spec(v, AT(AT_INDEX(p, i), "spec"), &claims->v[i].spec);
}

static void check_numbers(struct valid *v, const struct path *p,
                          const struct api_stateful_set_spec *spec) {
    valid__optional_not_negative(v, AT(p, "replicas"), &spec->replicas);
    valid__not_negative(v, AT(p, "minReadySeconds"), spec->min_ready_seconds);
    if (spec->ordinals)
        valid__not_negative(v, AT(p, "ordinals.start"), spec->ordinals->start);
}

static void check_spec(struct valid *v, const struct api_stateful_set_spec *spec,
                       const struct pod_rules *rules, const struct strictness *strictness) {
    const struct path *p = AT(NULL, "spec");
    struct api_pod_template_spec template = full_template(v->errs->a, spec);
    struct workload w = {v, p, spec->selector, &template, rules};
    const struct selector *selector;
    check_policies(v, p, spec, strictness->recreate);
    if (!strictness->any_claim_templates)
        check_claims(v, AT(p, "volumeClaimTemplates"), &spec->volume_claim_templates);
    check_numbers(v, p, spec);
    if (!strictness->any_service_name && spec->service_name.n)
        valid__dns_label(v, AT(p, "serviceName"), spec->service_name);
    valid__workload_selector(&w, "statefulset");
    if (valid__compile_selector(v, spec->selector, &selector))
        check_template(&w, selector, strictness);
    else
        valid__invalid(v, AT(p, "selector"),
                       valid__struct_value(v->errs->a, API_T_label_selector, spec->selector),
                       NO_DETAIL);
    valid__template_runs_forever(&w, "StatefulSet");
}

static bool allows_recreate(const struct valid *v, const struct api_stateful_set_spec *old) {
    return feature_enabled(v->gates, FEATURE_StatefulSetRecreateStrategy) ||
           (old && str_is(old->update_strategy.type, "Recreate"));
}

static void create(struct valid *v, const struct api_object *o) {
    const struct api_stateful_set *set = o->body;
    struct pod_rules rules = valid__pod_rules(v->gates, NULL, NULL);
    valid__object_meta(v, AT(NULL, "metadata"), o->meta, true, valid__name_label);
    check_spec(v, &set->spec, &rules, &(struct strictness){.recreate = allows_recreate(v, NULL)});
}

static bool has_errors(const struct valid *v, const struct api_stateful_set_spec *spec,
                       const struct pod_rules *rules, const struct strictness *strictness) {
    struct valid_errs errs = VALID_ERRS_INIT(v->errs->a);
    struct valid apart = *v;
    apart.errs = &errs;
    check_spec(&apart, spec, rules, strictness);
    return errs.found > 0;
}

/* The claim templates as the API server has them inside: whether they say their kind, which they
 * need not, is forgotten. */
static struct api_persistent_volume_claim_list
unnamed_claims(struct arena *a, const struct api_stateful_set_spec *spec) {
    struct api_persistent_volume_claim_list list = spec->volume_claim_templates;
    if (list.n)
        list.v = arena_copy(a, list.v, list.n * sizeof *list.v);
    for (size_t i = 0; i < list.n; i++)
        list.v[i].type_meta = (struct api_type_meta){0};
    return list;
}

static void check_claims_kept(struct valid *v, const struct path *p,
                              const struct api_stateful_set_spec *spec,
                              const struct api_stateful_set_spec *old) {
    enum api_type_id claim = API_T_persistent_volume_claim;
    struct api_persistent_volume_claim_list claims = unnamed_claims(v->errs->a, spec),
                                            was = unnamed_claims(v->errs->a, old);
    if (!valid__equal_lists(claim, &claims, &was))
        valid__immutable(v, p, valid__list_value(v->errs->a, claim, &claims));
}

static void check_kept(struct valid *v, const struct path *p,
                       const struct api_stateful_set_spec *spec,
                       const struct api_stateful_set_spec *old) {
    valid__selector_kept(v, p, spec->selector, old->selector);
    check_claims_kept(v, AT(p, "volumeClaimTemplates"), spec, old);
    if (!str_eq(spec->service_name, old->service_name))
        valid__immutable(v, AT(p, "serviceName"), VALUE_Q(spec->service_name));
    if (!str_eq(spec->pod_management_policy, old->pod_management_policy))
        valid__immutable(v, AT(p, "podManagementPolicy"), VALUE_NAMED(spec->pod_management_policy));
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_stateful_set *set = o->body, *was = old->body;
    struct pod_rules rules =
        valid__pod_rules(v->gates, &was->spec.template.spec, &was->spec.template.metadata);
    struct strictness strictness = {.any_service_name = true,
                                    .any_claim_templates = true,
                                    .recreate = allows_recreate(v, &was->spec)};
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    strictness.any_template = has_errors(v, &was->spec, &rules, &strictness);
    check_spec(v, &set->spec, &rules, &strictness);
    check_kept(v, AT(NULL, "spec"), &set->spec, &was->spec);
}

/* ---- before validation ---- */

/* Templates of claims say what they are. */
static void name_claims(struct api_persistent_volume_claim_list *claims) {
    for (size_t i = 0; i < claims->n; i++) {
        claims->v[i].type_meta.api_version = STR("v1");
        claims->v[i].type_meta.kind = STR("PersistentVolumeClaim");
    }
}

static void prepare_create(struct api_object *o, const struct valid_opts *opts) {
    struct api_stateful_set *set = api_own_body(o);
    name_claims(&set->spec.volume_claim_templates);
    valid__prepare_template(&set->spec.template, NULL, opts);
}

static bool has_changed(struct arena *a, const struct api_stateful_set_spec *spec,
                        const struct api_stateful_set_spec *old) {
    struct api_stateful_set_spec now = *spec, was = *old;
    now.volume_claim_templates = unnamed_claims(a, spec);
    was.volume_claim_templates = unnamed_claims(a, old);
    return !valid__equal(API_T_stateful_set_spec, &now, &was);
}

static void prepare_update(struct api_object *o, const struct api_object *old,
                           const struct valid_opts *opts) {
    struct api_stateful_set *set = api_own_body(o);
    const struct api_stateful_set *was = old->body;
    name_claims(&set->spec.volume_claim_templates);
    valid__prepare_template(&set->spec.template, &was->spec.template, opts);
    if (has_changed(&o->arena, &set->spec, &was->spec))
        set->metadata.generation++;
}

static void declared(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_stateful_set *set = o->body, *was = old ? old->body : NULL;
    valid__declared_template(v, &set->spec.template, was ? &was->spec.template : NULL);
}

const struct valid_kind valid__stateful_set = {
    .type = API_T_stateful_set,
    .prepare_create = prepare_create,
    .create = create,
    .prepare_update = prepare_update,
    .update = update,
    .status = valid__stateful_set_status,
    .declared = declared,
    .warn = valid__warn_stateful_set,
};
