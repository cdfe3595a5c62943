/*
 * What the kinds that make pods share: selectors over their template's labels, rollouts in numbers
 * or percents, and what happens to a template before validation.
 */
#ifndef VALID_WORKLOAD_WORKLOAD_INT_H
#define VALID_WORKLOAD_WORKLOAD_INT_H

#include "api/selector.h"
#include "valid/valid_int.h"

/* What a server warns of. */
valid_warn_fn valid__warn_deployment, valid__warn_replica_set, valid__warn_replication_controller,
    valid__warn_pod_template, valid__warn_daemon_set, valid__warn_stateful_set, valid__warn_job,
    valid__warn_cron_job;

/* The parts of a workload that all of them have. */
struct workload {
    struct valid *v;
    const struct path *spec_path;
    const struct api_label_selector *selector;
    const struct api_pod_template_spec *template;
    const struct pod_rules *rules;
};

/* The selector, compiled, in the list's arena: NULL when there is none, which matches nothing.
 * False when it cannot be compiled. */
bool valid__compile_selector(struct valid *v, const struct api_label_selector *s,
                             const struct selector **out);

/* `selector` does not match template `labels` */
void valid__template_matches(const struct workload *w, const struct selector *selector);

/* Pods of this workload are restarted always and have no deadline. `kind` is for the text. */
void valid__template_runs_forever(const struct workload *w, const char *kind);

/* A selector that must be there and not be empty; `kind` is for the text. */
void valid__workload_selector(const struct workload *w, const char *kind);

/* Selectors do not change. */
void valid__selector_kept(struct valid *v, const struct path *spec_path,
                          const struct api_label_selector *s, const struct api_label_selector *old);

/* A number or percentage: not negative; at most 100 %; is it zero? */
void valid__int_or_percent(struct valid *v, const struct path *p, const struct api_int_or_str *n);
void valid__not_above_100_percent(struct valid *v, const struct path *p,
                                  const struct api_int_or_str *n);
bool valid__is_zero(const struct api_int_or_str *n);

/* The number, if it is set, must not be negative. */
void valid__optional_not_negative(struct valid *v, const struct path *p,
                                  const struct api_opt_i32 *n);

/* Prepares a template: fields behind gates that are off. old is NULL on create. */
void valid__prepare_template(struct api_pod_template_spec *t,
                             const struct api_pod_template_spec *old,
                             const struct valid_opts *opts);

/* What is declared of spec.template; old is NULL on create. */
void valid__declared_template(struct valid *v, const struct api_pod_template_spec *t,
                              const struct api_pod_template_spec *old);

/* A job's spec at p, apart from its selector; shared with templates of cron jobs. */
void valid__job_spec(struct valid *v, const struct path *p, const struct api_job_spec *spec,
                     const struct pod_rules *rules);

/* What is declared of a job's spec at p; old is NULL on create. */
void valid__declared_job_spec(struct valid *v, const struct path *p,
                              const struct api_job_spec *spec, const struct api_job_spec *old);

/* scheduling of a job at p: what is not declared, and what may not change. */
void valid__job_scheduling(struct valid *v, const struct path *p, const struct api_job_spec *spec);
void valid__job_scheduling_kept(struct valid *v, const struct path *p,
                                const struct api_job_spec *spec, const struct api_job_spec *old);

/* podFailurePolicy and successPolicy of a job at p. */
void valid__pod_failure_policy(struct valid *v, const struct path *p,
                               const struct api_job_spec *spec);
void valid__success_policy(struct valid *v, const struct path *p, const struct api_job_spec *spec);

/* The status of each workload that is a list of counts, and of a budget and a job. */
valid_update_fn valid__replica_set_status, valid__deployment_status, valid__daemon_set_status,
    valid__stateful_set_status, valid__budget_status, valid__job_status,
    valid__replication_controller_status;
valid_prepare_fn valid__prepare_replica_set_status, valid__prepare_deployment_status;

/* Gives a DaemonSet that was read the annotation of its template's generation, which upstream's
 * conversion writes always. */
void valid__name_generation(struct api_object *o, const struct valid_opts *opts);

#endif
