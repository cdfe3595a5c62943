/*
 * Cron jobs: a schedule, a time zone, and the template of a job.
 *
 * Follows k8s.io/kubernetes pkg/apis/batch/validation, func ValidateCronJobCreate,
 * func ValidateCronJobUpdate, func validateTimeZone.
 */
#include <strings.h>

#include "base/ascii.h"
#include "codec/cron.h"
#include "valid/kinds_int.h"
#include "valid/workload/workload_int.h"

/* ---- when ---- */

static void check_schedule(struct valid *v, const struct path *p,
                           const struct api_cron_job_spec *spec,
                           const struct api_cron_job_spec *old) {
    bool had_zone = old && str_find(old->schedule, STR("TZ")) != STR_NONE;
    bool has_zone = str_find(spec->schedule, STR("TZ")) != STR_NONE;
    struct cron cron;
    struct str error = cron_parse(v->errs->a, spec->schedule, &cron);
    if (error.p)
        valid__invalid(v, p, VALUE_Q(spec->schedule), "%.*s", STR_ARG(error));
    if (has_zone && had_zone && spec->time_zone.p)
        valid__invalid(v, p, VALUE_Q(spec->schedule),
                       "cannot use both timeZone field and TZ or CRON_TZ in schedule");
    else if (has_zone && !had_zone)
        valid__invalid(v, p, VALUE_Q(spec->schedule),
                       "cannot use TZ or CRON_TZ in schedule, use timeZone field instead");
}

static bool is_zone_char(char c) {
    return ascii_is_alnum(c) || c == '.' || c == '-' || c == '_' || c == '+';
}

static bool is_zone_part(struct str part) {
    for (size_t i = 0; i < part.n; i++)
        if (!is_zone_char(part.p[i]))
            return false;
    return part.n > 0 && part.n <= 14 && part.p[0] != '-' && !str_is(part, ".") &&
           !str_is(part, "..");
}

static bool is_zone_name(struct str name) {
    struct str part;
    for (bool more = true; more;) {
        more = str_cut(name, '/', &part, &name);
        if (!is_zone_part(part))
            return false;
    }
    return true;
}

static void check_time_zone(struct valid *v, const struct path *p, struct str name) {
    if (!name.n) {
        valid__invalid(v, p, VALUE_NAMED(name), "timeZone must be nil or non-empty string");
        return;
    }
    if (!is_zone_name(name)) {
        valid__invalid(v, p, VALUE_NAMED(name), "unknown time zone %.*s", STR_ARG(name));
        return;
    }
    if (name.n == 5 && strncasecmp(name.p, "Local", 5) == 0)
        valid__invalid(v, p, VALUE_NAMED(name),
                       "timeZone must be an explicit time zone as defined in "
                       "https://www.iana.org/time-zones");
    struct str error = cron_zone_error(v->errs->a, name);
    if (error.p)
        valid__invalid(v, p, VALUE_NAMED(name), "%.*s", STR_ARG(error));
}

static bool same_zone(struct str a, struct str b) {
    return !a.p == !b.p && str_eq(a, b);
}

/* ---- what ---- */

static void check_template(struct valid *v, const struct path *p, const struct api_job_spec *spec,
                           const struct pod_rules *rules) {
    static const char *const not_manual[] = {"nil", "false", NULL};
    valid__job_spec(v, p, spec, rules);
    if (spec->selector)
        valid__invalid(v, AT(p, "selector"),
                       valid__struct_value(v->errs->a, API_T_label_selector, spec->selector),
                       "`selector` will be auto-generated");
    if (spec->manual_selector.set && spec->manual_selector.v)
        valid__not_supported(v, AT(p, "manualSelector"), VALUE_BOOL(true), not_manual);
}

/* That there is a schedule is a declared rule, which may be switched off; what an old object lacks
 * is no concern of such rules. Then the rule is found among the others. */
static bool needs_declared_schedule(const struct valid *v, const struct api_cron_job_spec *old) {
    return feature_enabled(v->gates, FEATURE_DeclarativeValidationBeta) &&
           (!old || old->schedule.n);
}

static void check_spec(struct valid *v, const struct api_cron_job_spec *spec,
                       const struct api_cron_job_spec *old, const struct pod_rules *rules) {
    static const char *const policies[] = {"Allow", "Forbid", "Replace", NULL};
    const struct path *p = AT(NULL, "spec");
    if (spec->schedule.n)
        check_schedule(v, AT(p, "schedule"), spec, old);
    else if (!needs_declared_schedule(v, old))
        valid__required(v, AT(p, "schedule"), NO_DETAIL);
    if (spec->starting_deadline_seconds.set)
        valid__not_negative(v, AT(p, "startingDeadlineSeconds"), spec->starting_deadline_seconds.v);
    if (spec->time_zone.p && !(old && same_zone(spec->time_zone, old->time_zone)))
        check_time_zone(v, AT(p, "timeZone"), spec->time_zone);
    valid__choice(v, AT(p, "concurrencyPolicy"), spec->concurrency_policy, policies);
    check_template(v, AT(AT(p, "jobTemplate"), "spec"), &spec->job_template.spec, rules);
    valid__optional_not_negative(v, AT(p, "successfulJobsHistoryLimit"),
                                 &spec->successful_jobs_history_limit);
    valid__optional_not_negative(v, AT(p, "failedJobsHistoryLimit"),
                                 &spec->failed_jobs_history_limit);
}

static void create(struct valid *v, const struct api_object *o) {
    enum { NAME_MOST = 52 }; /* the name of a job has 11 characters more */
    const struct api_cron_job *cron = o->body;
    struct pod_rules rules = valid__pod_rules(v->gates, NULL, NULL);
    valid__object_meta(v, AT(NULL, "metadata"), o->meta, true, valid__name_subdomain);
    check_spec(v, &cron->spec, NULL, &rules);
    if (o->meta->name.n > NAME_MOST)
        valid__invalid(v, AT(AT(NULL, "metadata"), "name"), VALUE_Q(o->meta->name),
                       "must be no more than %d characters", NAME_MOST);
}

static const struct api_pod_template_spec *template_of(const struct api_cron_job *cron) {
    return &cron->spec.job_template.spec.template;
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_cron_job *cron = o->body, *was = old->body;
    struct pod_rules rules =
        valid__pod_rules(v->gates, &template_of(was)->spec, &template_of(was)->metadata);
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    check_spec(v, &cron->spec, &was->spec, &rules);
}

/* ---- before validation ---- */

static void prepare_create(struct api_object *o, const struct valid_opts *opts) {
    struct api_cron_job *cron = api_own_body(o);
    struct api_job_spec *job = &cron->spec.job_template.spec;
    valid__prepare_template(&job->template, NULL, opts);
}

static void prepare_update(struct api_object *o, const struct api_object *old,
                           const struct valid_opts *opts) {
    struct api_cron_job *cron = api_own_body(o);
    const struct api_cron_job *was = old->body;
    struct api_job_spec *job = &cron->spec.job_template.spec;
    valid__prepare_template(&job->template, template_of(was), opts);
}

static void declared(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_cron_job *cron = o->body, *was = old ? old->body : NULL;
    const struct path *p = AT(NULL, "spec");
    if (!cron->spec.schedule.n && needs_declared_schedule(v, was ? &was->spec : NULL))
        valid__required(v, AT(p, "schedule"), NO_DETAIL);
    valid__declared_job_spec(v, AT(AT(p, "jobTemplate"), "spec"), &cron->spec.job_template.spec,
                             was ? &was->spec.job_template.spec : NULL);
}

const struct valid_kind valid__cron_job = {
    .type = API_T_cron_job,
    .prepare_create = prepare_create,
    .create = create,
    .prepare_update = prepare_update,
    .update = update,
    .declared = declared,
    .warn = valid__warn_cron_job,
};
