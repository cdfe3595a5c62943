/*
 * Jobs. Unless told otherwise, a job selects its pods by labels that are made from its uid.
 *
 * Follows k8s.io/kubernetes pkg/apis/batch/validation, func ValidateJobCreate,
 * func ValidateJobUpdate.
 * Follows k8s.io/kubernetes pkg/registry/batch/job, func (jobStrategy) PrepareForCreate,
 * func generateSelector.
 */
#include "base/ascii.h"
#include "valid/kinds_int.h"
#include "valid/workload/workload_int.h"

#define UID_LABEL         STR("batch.kubernetes.io/controller-uid")
#define NAME_LABEL        STR("batch.kubernetes.io/job-name")
#define LEGACY_UID_LABEL  STR("controller-uid")
#define LEGACY_NAME_LABEL STR("job-name")

static bool is_indexed(const struct api_job_spec *spec) {
    return str_is(spec->completion_mode, "Indexed");
}

/* ---- numbers ---- */

static void check_numbers(struct valid *v, const struct path *p, const struct api_job_spec *spec) {
    valid__optional_not_negative(v, AT(p, "parallelism"), &spec->parallelism);
    valid__optional_not_negative(v, AT(p, "completions"), &spec->completions);
    if (spec->active_deadline_seconds.set)
        valid__not_negative(v, AT(p, "activeDeadlineSeconds"), spec->active_deadline_seconds.v);
    valid__optional_not_negative(v, AT(p, "backoffLimit"), &spec->backoff_limit);
    valid__optional_not_negative(v, AT(p, "ttlSecondsAfterFinished"),
                                 &spec->ttl_seconds_after_finished);
    valid__optional_not_negative(v, AT(p, "backoffLimitPerIndex"), &spec->backoff_limit_per_index);
    valid__optional_not_negative(v, AT(p, "maxFailedIndexes"), &spec->max_failed_indexes);
    if (spec->max_failed_indexes.set && !spec->backoff_limit_per_index.set)
        valid__required(v, AT(p, "backoffLimitPerIndex"), "when maxFailedIndexes is specified");
}

enum { MANY_COMPLETIONS = 100000, MOST_PARALLEL = 100000, MOST_FAILED = 100000, FEW = 10000 };

/* Jobs with very many completions and a limit for each index must not grow without bounds. */
static void check_many_completions(struct valid *v, const struct path *p,
                                   const struct api_job_spec *spec) {
    if (!spec->completions.set || spec->completions.v <= MANY_COMPLETIONS ||
        !spec->backoff_limit_per_index.set)
        return;
    static const char text[] = "must be less than or equal to %d when completions are above %d and "
                               "used with backoff limit per index";
    if (!spec->max_failed_indexes.set)
        valid__required(v, AT(p, "maxFailedIndexes"),
                        "must be specified when completions is above %d", MANY_COMPLETIONS);
    if (spec->parallelism.set && spec->parallelism.v > FEW)
        valid__invalid(v, AT(p, "parallelism"), VALUE_I64(spec->parallelism.v), text, FEW,
                       MANY_COMPLETIONS);
    if (spec->max_failed_indexes.set && spec->max_failed_indexes.v > FEW)
        valid__invalid(v, AT(p, "maxFailedIndexes"), VALUE_I64(spec->max_failed_indexes.v), text,
                       FEW, MANY_COMPLETIONS);
}

static void check_indexed(struct valid *v, const struct path *p, const struct api_job_spec *spec) {
    const struct api_opt_i32 *failed = &spec->max_failed_indexes;
    if (!spec->completions.set)
        valid__required(v, AT(p, "completions"), "when completion mode is Indexed");
    if (spec->parallelism.set && spec->parallelism.v > MOST_PARALLEL)
        valid__invalid(v, AT(p, "parallelism"), VALUE_I64(spec->parallelism.v),
                       "must be less than or equal to %d when completion mode is Indexed",
                       MOST_PARALLEL);
    if (spec->completions.set && failed->set && failed->v > spec->completions.v)
        valid__invalid(v, AT(p, "maxFailedIndexes"), VALUE_I64(failed->v),
                       "must be less than or equal to completions");
    if (failed->set && failed->v > MOST_FAILED)
        valid__invalid(v, AT(p, "maxFailedIndexes"), VALUE_I64(failed->v),
                       "must be less than or equal to %d", MOST_FAILED);
    check_many_completions(v, p, spec);
}

static void check_completion_mode(struct valid *v, const struct path *p,
                                  const struct api_job_spec *spec) {
    static const char *const modes[] = {"NonIndexed", "Indexed", NULL};
    static const char text[] = "requires indexed completion mode";
    struct str mode = spec->completion_mode;
    if (mode.p && !valid__one_of(mode, modes))
        valid__not_supported(v, AT(p, "completionMode"), VALUE_NAMED(mode), modes);
    if (is_indexed(spec))
        check_indexed(v, p, spec);
    if (mode.p && !str_is(mode, "NonIndexed"))
        return;
    if (spec->backoff_limit_per_index.set)
        valid__invalid(v, AT(p, "backoffLimitPerIndex"), VALUE_I64(spec->backoff_limit_per_index.v),
                       text);
    if (spec->max_failed_indexes.set)
        valid__invalid(v, AT(p, "maxFailedIndexes"), VALUE_I64(spec->max_failed_indexes.v), text);
}

/* ---- policies ---- */

static bool is_path_char(char c) {
    return ascii_is_alnum(c) || (c && str_find_char(STR("/-._~%!$&'()*+,;=:"), c) != STR_NONE);
}

static bool is_path(struct str s) {
    for (size_t i = 0; i < s.n; i++)
        if (!is_path_char(s.p[i]))
            return false;
    return s.n > 0;
}

/* acme.io/foo */
static void check_manager(struct valid *v, const struct path *p, struct str name) {
    struct str domain, path;
    if (!name.n) {
        valid__required(v, p, NO_DETAIL);
    } else if (!str_cut(name, '/', &domain, &path) || !domain.n || !path.n) {
        valid__invalid(v, p, VALUE_Q(name),
                       "must be a domain-prefixed path (such as \"acme.io/foo\")");
    } else {
        valid__dns_subdomain(v, p, domain);
        if (!is_path(path))
            valid__invalid(v, p, VALUE_Q(path),
                           "Invalid path (regex used for validation is "
                           "'[A-Za-z0-9/\\-._~%%!$&'()*+,;=:]+')");
    }
    if (name.n > 63)
        valid__too_long(v, p, 63);
}

static void check_replacement(struct valid *v, const struct path *p,
                              const struct api_job_spec *spec) {
    static const char *const policies[] = {"Failed", "TerminatingOrFailed", NULL};
    static const char *const only_failed[] = {"Failed", NULL};
    const char *const *allowed = spec->pod_failure_policy ? only_failed : policies;
    if (spec->pod_replacement_policy.p && !valid__one_of(spec->pod_replacement_policy, allowed))
        valid__not_supported(v, p, VALUE_NAMED(spec->pod_replacement_policy), allowed);
}

static void check_policies(struct valid *v, const struct path *p, const struct api_job_spec *spec) {
    if (spec->pod_failure_policy)
        valid__pod_failure_policy(v, AT(p, "podFailurePolicy"), spec);
    if (spec->success_policy && is_indexed(spec))
        valid__success_policy(v, AT(p, "successPolicy"), spec);
    else if (spec->success_policy)
        valid__invalid(v, AT(p, "successPolicy"),
                       valid__struct_value(v->errs->a, API_T_success_policy, spec->success_policy),
                       "requires indexed completion mode");
    check_replacement(v, AT(p, "podReplacementPolicy"), spec);
}

/* ---- specs ---- */

static void check_restart_policy(struct valid *v, const struct path *p,
                                 const struct api_job_spec *spec) {
    static const char *const policies[] = {"OnFailure", "Never", NULL};
    struct str policy = spec->template.spec.restart_policy;
    if (!policy.n || str_is(policy, "Always"))
        valid__required(v, p, "valid values: \"OnFailure\", \"Never\"");
    else if (!valid__one_of(policy, policies))
        valid__not_supported(v, p, VALUE_NAMED(policy), policies);
    else if (spec->pod_failure_policy && !str_is(policy, "Never"))
        valid__invalid(v, p, VALUE_NAMED(policy),
                       "only \"Never\" is supported when podFailurePolicy is specified");
}

void valid__job_spec(struct valid *v, const struct path *p, const struct api_job_spec *spec,
                     const struct pod_rules *rules) {
    const struct path *template = AT(p, "template");
    check_numbers(v, p, spec);
    if (spec->managed_by.p)
        check_manager(v, AT(p, "managedBy"), spec->managed_by);
    check_completion_mode(v, p, spec);
    check_policies(v, p, spec);
    valid__job_scheduling(v, AT(p, "scheduling"), spec);
    valid__pod_template(v, template, &spec->template, rules);
    check_restart_policy(v, AT(AT(template, "spec"), "restartPolicy"), spec);
}

/* With the selector, which jobs have but templates of cron jobs have not. */
static void check_spec(struct valid *v, const struct api_job_spec *spec,
                       const struct pod_rules *rules) {
    const struct path *p = AT(NULL, "spec");
    struct workload w = {v, p, spec->selector, &spec->template, rules};
    const struct selector *selector;
    valid__job_spec(v, p, spec, rules);
    if (spec->selector)
        valid__label_selector(v, AT(p, "selector"), spec->selector,
                              &(struct selector_rules){rules->invalid_selectors});
    else
        valid__required(v, AT(p, "selector"), NO_DETAIL);
    if (valid__compile_selector(v, spec->selector, &selector))
        valid__template_matches(&w, selector);
}

/* ---- labels made from the job ---- */

static void check_has_label(struct valid *v, const struct labels *labels, struct str key,
                            struct str value) {
    const struct path *p =
        AT_KEY(AT(AT(AT(AT(NULL, "spec"), "template"), "metadata"), "labels"), key);
    const struct label *label = labels_find(labels, key);
    if (!label)
        valid__required(v, p, "must be '%.*s'", STR_ARG(value));
    else if (!str_eq(label->value, value))
        valid__invalid(v, p, valid__labels_value(v->errs->a, labels), "must be '%.*s'",
                       STR_ARG(value));
}

/* An exported job still has the labels of the old one: they do not fit the uid of the new one.
 * Upstream also asks for a uid, but the API server has always set one by then. */
static void check_made_labels(struct valid *v, const struct api_job *job) {
    const struct labels *labels = &job->spec.template.metadata.labels;
    struct str uid = job->metadata.uid, name = job->metadata.name;
    struct label made[] = {
        {NAME_LABEL, name}, {UID_LABEL, uid}, {LEGACY_UID_LABEL, uid}, {LEGACY_NAME_LABEL, name}};
    const struct selector *selector;
    if (job->spec.manual_selector.v || !job->spec.selector)
        return;
    check_has_label(v, labels, LEGACY_UID_LABEL, uid);
    check_has_label(v, labels, LEGACY_NAME_LABEL, name);
    check_has_label(v, labels, UID_LABEL, uid);
    check_has_label(v, labels, NAME_LABEL, name);
    struct labels all = {made, sizeof made / sizeof *made};
    labels_sort(&all);
    if (valid__compile_selector(v, job->spec.selector, &selector) &&
        !selector_matches(selector, &all))
        valid__invalid(v, AT(AT(NULL, "spec"), "selector"),
                       valid__struct_value(v->errs->a, API_T_label_selector, job->spec.selector),
                       "`selector` not auto-generated");
}

/* Adds those labels whose keys are not there. */
static void add_labels(struct arena *a, struct labels *labels, const struct label *v, size_t n) {
    struct labels missing = {arena_array(a, struct label, n), 0};
    for (size_t i = 0; i < n; i++)
        if (!labels_find(labels, v[i].key))
            missing.v[missing.n++] = v[i];
    labels_merge(a, labels, missing.v, missing.n);
}

static void make_selector(struct api_object *o) {
    struct api_job *job = api_own_body(o);
    struct labels *labels = &job->spec.template.metadata.labels;
    struct str uid = job->metadata.uid, name = job->metadata.name;
    struct label made[] = {
        {NAME_LABEL, name}, {UID_LABEL, uid}, {LEGACY_UID_LABEL, uid}, {LEGACY_NAME_LABEL, name}};
    /* Defaulting gave the job the labels of its template; Go has one map for both then. */
    bool shared = labels->v && job->metadata.labels.v == labels->v;
    add_labels(&o->arena, labels, made, sizeof made / sizeof *made);
    if (shared)
        job->metadata.labels = *labels;
    if (!job->spec.selector)
        job->spec.selector = arena_new(&o->arena, struct api_label_selector);
    add_labels(&o->arena, &job->spec.selector->match_labels,
               &(struct label){UID_LABEL, job->metadata.uid}, 1);
}

/* ---- new jobs ---- */

/* The last pod of an indexed job has its index in its hostname. */
static void check_hostname(struct valid *v, const struct api_job *job) {
    const struct api_opt_i32 *completions = &job->spec.completions;
    if (!is_indexed(&job->spec) || !completions->set || completions->v <= 0)
        return;
    struct str name = job->metadata.name;
    struct str hostname =
        arena_printf(v->errs->a, "%.*s-%d", STR_ARG(name), (int)(completions->v - 1));
    if (names_check_dns1123_label(hostname).n)
        valid__invalid(v, AT(AT(NULL, "metadata"), "name"), VALUE_Q(name),
                       "will not able to create pod with invalid DNS label: %.*s",
                       STR_ARG(hostname));
}

static void create(struct valid *v, const struct api_object *o) {
    const struct api_job *job = o->body;
    struct pod_rules rules = valid__pod_rules(v->gates, NULL, NULL);
    valid__object_meta(v, AT(NULL, "metadata"), o->meta, true, valid__name_subdomain);
    check_made_labels(v, job);
    check_spec(v, &job->spec, &rules);
    check_hostname(v, job);
}

static void prepare_create(struct api_object *o, const struct valid_opts *opts) {
    struct api_job *job = api_own_body(o);
    if (!job->spec.manual_selector.v)
        make_selector(o);
    if (!feature_enabled(opts->gates, FEATURE_JobManagedBy))
        job->spec.managed_by = (struct str){0};
    valid__prepare_template(&job->spec.template, NULL, opts);
}

/* ---- updates ---- */

static bool is_condition_true(const struct api_job *job, const char *type) {
    for (size_t i = 0; i < job->status.conditions.n; i++)
        if (str_is(job->status.conditions.v[i].type, type) &&
            str_is(job->status.conditions.v[i].status, "True"))
            return true;
    return false;
}

static bool is_suspended(const struct api_job *job) {
    return job->spec.suspend.set && job->spec.suspend.v;
}

/* A suspended job without pods: its template may still change in places. */
static bool is_at_rest(const struct api_job *job) {
    return is_suspended(job) && job->status.active == 0 &&
           (!job->status.start_time.set || is_condition_true(job, "Suspended"));
}

static bool may_reschedule(const struct valid *v, const struct api_job *old) {
    return feature_enabled(v->gates, FEATURE_MutableSchedulingDirectivesForSuspendedJobs)
               ? is_at_rest(old)
               : is_suspended(old) && !old->status.start_time.set;
}

/* Gives a copy of the old affinity the node affinity of the new one. */
static struct api_affinity *with_node_affinity(struct arena *a, const struct api_affinity *old,
                                               const struct api_affinity *new) {
    if (!old && !new)
        return NULL;
    struct api_affinity *copy = arena_new(a, struct api_affinity);
    if (old)
        *copy = *old;
    copy->node_affinity = new ? new->node_affinity : NULL;
    bool empty = !copy->node_affinity && !copy->pod_affinity && !copy->pod_anti_affinity;
    return !new &&empty ? NULL : copy;
}

/* What says where pods run is taken from the new template. */
static void take_directives(struct arena *a, struct api_pod_template_spec *old,
                            const struct api_pod_template_spec *new) {
    old->spec.affinity = with_node_affinity(a, old->spec.affinity, new->spec.affinity);
    old->spec.node_selector = new->spec.node_selector;
    old->spec.tolerations = new->spec.tolerations;
    old->spec.scheduling_gates = new->spec.scheduling_gates;
    old->metadata.annotations = new->metadata.annotations;
    old->metadata.labels = new->metadata.labels;
}

/* A copy of the old containers with the resources of the new ones, where the names agree. */
static struct api_container_list take_resources(struct arena *a,
                                                const struct api_container_list *old,
                                                const struct api_container_list *new) {
    struct api_container_list copy = {arena_array(a, struct api_container, old->n + 1), old->n};
    for (size_t i = 0; i < old->n; i++) {
        copy.v[i] = old->v[i];
        if (old->n == new->n && str_eq(old->v[i].name, new->v[i].name))
            copy.v[i].resources = new->v[i].resources;
    }
    return copy;
}

static void check_template_kept(struct valid *v, const struct path *p, const struct api_job *job,
                                const struct api_job *old) {
    struct arena *a = v->errs->a;
    const struct api_pod_template_spec *new = &job->spec.template;
    struct api_pod_template_spec was = old->spec.template;
    if (may_reschedule(v, old))
        take_directives(a, &was, new);
    if (!feature_enabled(v->gates, FEATURE_MutablePodResourcesForSuspendedJobs) ||
        !is_at_rest(old)) {
        if (!valid__equal(API_T_pod_template_spec, new, &was))
            valid__immutable(v, p, valid__struct_value(a, API_T_pod_template_spec, new));
        return;
    }
    was.spec.containers = take_resources(a, &was.spec.containers, &new->spec.containers);
    was.spec.init_containers =
        take_resources(a, &was.spec.init_containers, &new->spec.init_containers);
    if (!valid__equal(API_T_pod_spec, &new->spec, &was.spec))
        valid__immutable(v, AT(p, "spec"), valid__struct_value(a, API_T_pod_spec, &new->spec));
}

static struct value optional_number(const struct api_opt_i32 *n) {
    return n->set ? VALUE_I64(n->v) : VALUE_JSON((struct json){.kind = JSON_NULL});
}

static struct value optional_text(struct str s) {
    return s.p ? VALUE_NAMED(s) : VALUE_JSON((struct json){.kind = JSON_NULL});
}

static bool same_number(const struct api_opt_i32 *a, const struct api_opt_i32 *b) {
    return a->set == b->set && (!a->set || a->v == b->v);
}

static bool same_text(struct str a, struct str b) {
    return !a.p == !b.p && str_eq(a, b);
}

/* An indexed job may grow and shrink, with its parallelism. */
static void check_completions_kept(struct valid *v, const struct path *p,
                                   const struct api_job_spec *spec,
                                   const struct api_job_spec *old) {
    if (same_number(&spec->completions, &old->completions))
        return;
    if (!is_indexed(spec))
        valid__immutable(v, p, optional_number(&spec->completions));
    else if (spec->completions.set && spec->completions.v != spec->parallelism.v)
        valid__invalid(v, p, VALUE_I64(spec->completions.v),
                       "can only be modified in tandem with spec.parallelism");
}

static void check_kept(struct valid *v, const struct api_job *job, const struct api_job *old) {
    const struct path *p = AT(NULL, "spec");
    const struct api_job_spec *spec = &job->spec, *was = &old->spec;
    struct arena *a = v->errs->a;
    check_completions_kept(v, AT(p, "completions"), spec, was);
    valid__selector_kept(v, p, spec->selector, was->selector);
    check_template_kept(v, AT(p, "template"), job, old);
    if (!same_text(spec->completion_mode, was->completion_mode))
        valid__immutable(v, AT(p, "completionMode"), optional_text(spec->completion_mode));
    if (!valid__equal(API_T_pod_failure_policy, spec->pod_failure_policy, was->pod_failure_policy))
        valid__immutable(
            v, AT(p, "podFailurePolicy"),
            valid__struct_value(a, API_T_pod_failure_policy, spec->pod_failure_policy));
    if (!same_number(&spec->backoff_limit_per_index, &was->backoff_limit_per_index))
        valid__immutable(v, AT(p, "backoffLimitPerIndex"),
                         optional_number(&spec->backoff_limit_per_index));
    if (!same_text(spec->managed_by, was->managed_by))
        valid__immutable(v, AT(p, "managedBy"), optional_text(spec->managed_by));
    if (!valid__equal(API_T_success_policy, spec->success_policy, was->success_policy))
        valid__immutable(v, AT(p, "successPolicy"),
                         valid__struct_value(a, API_T_success_policy, spec->success_policy));
    valid__job_scheduling_kept(v, AT(p, "scheduling"), spec, was);
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_job *job = o->body, *was = old->body;
    struct pod_rules rules =
        valid__pod_rules(v->gates, &was->spec.template.spec, &was->spec.template.metadata);
    rules.invalid_selectors |= valid__selector_has_invalid_value(was->spec.selector);
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    check_spec(v, &job->spec, &rules);
    check_kept(v, job, was);
    check_hostname(v, job);
}

static void prepare_update(struct api_object *o, const struct api_object *old,
                           const struct valid_opts *opts) {
    struct api_job *job = api_own_body(o);
    const struct api_job *was = old->body;
    valid__prepare_template(&job->spec.template, &was->spec.template, opts);
}

static void declared(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_job *job = o->body, *was = old ? old->body : NULL;
    valid__declared_job_spec(v, AT(NULL, "spec"), &job->spec, was ? &was->spec : NULL);
}

const struct valid_kind valid__job = {
    .type = API_T_job,
    .prepare_create = prepare_create,
    .create = create,
    .prepare_update = prepare_update,
    .update = update,
    .status = valid__job_status,
    .declared = declared,
    .warn = valid__warn_job,
};
