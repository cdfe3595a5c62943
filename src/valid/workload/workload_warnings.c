/*
 * What a server warns of in the kinds that make pods.
 *
 * Follows k8s.io/kubernetes pkg/registry/apps/deployment, func (deploymentStrategy)
 * WarningsOnCreate, func (deploymentStrategy) WarningsOnUpdate.
 * Follows k8s.io/kubernetes pkg/registry/apps/replicaset, func (rsStrategy) WarningsOnCreate.
 * Follows k8s.io/kubernetes pkg/registry/apps/daemonset, func (daemonSetStrategy) WarningsOnUpdate.
 * Follows k8s.io/kubernetes pkg/registry/apps/statefulset, func (statefulSetStrategy)
 * WarningsOnCreate, func (statefulSetStrategy) WarningsOnUpdate.
 * Follows k8s.io/kubernetes pkg/registry/core/replicationcontroller, func (rcStrategy)
 * WarningsOnUpdate.
 * Follows k8s.io/kubernetes pkg/registry/core/podtemplate, func (podTemplateStrategy)
 * WarningsOnUpdate.
 * Follows k8s.io/kubernetes pkg/registry/batch/cronjob, func (cronJobStrategy) WarningsOnUpdate.
 * Follows k8s.io/kubernetes pkg/api/job, func WarningsForJobSpec.
 */
#include "valid/volume/volume_int.h"
#include "valid/warnings_int.h"
#include "valid/workload/workload_int.h"

static const struct path spec_path = {.name = "spec"};

static void warn_template(struct valid_warnings *w, const struct path *p,
                          const struct api_pod_template_spec *t) {
    valid__warn_pod_parts(w, p, &t->spec, &t->metadata);
}

static void warn_name(struct valid_warnings *w, const struct api_object *o,
                      const struct api_object *old) {
    if (!old)
        valid__warn_name(w, o->meta->name, "Pod names and hostnames");
}

/* Is there something new to say about what is to be? */
static bool has_changed(const struct api_object *o, const struct api_object *old) {
    return !old || o->meta->generation != old->meta->generation;
}

void valid__warn_deployment(struct valid_warnings *w, const struct api_object *o,
                            const struct api_object *old) {
    const struct api_deployment *d = o->body;
    warn_name(w, o, old);
    if (has_changed(o, old))
        warn_template(w, AT(&spec_path, "template"), &d->spec.template);
}

void valid__warn_replica_set(struct valid_warnings *w, const struct api_object *o,
                             const struct api_object *old) {
    const struct api_replica_set *set = o->body;
    warn_name(w, o, old);
    if (has_changed(o, old))
        warn_template(w, AT(&spec_path, "template"), &set->spec.template);
}

/* Of a change it is told what the template was. */
void valid__warn_replication_controller(struct valid_warnings *w, const struct api_object *o,
                                        const struct api_object *old) {
    const struct api_replication_controller *c = old ? old->body : o->body;
    warn_name(w, o, old);
    if (has_changed(o, old) && c->spec.template)
        warn_template(w, AT(&spec_path, "template"), c->spec.template);
}

void valid__warn_pod_template(struct valid_warnings *w, const struct api_object *o,
                              const struct api_object *old) {
    const struct api_pod_template *t = o->body;
    if (has_changed(o, old))
        warn_template(w, AT(NULL, "template"), &t->template);
}

/* The annotation is what upstream keeps spec.templateGeneration in. */
static struct str template_generation(const struct api_object *o) {
    const struct label *found =
        labels_find(&o->meta->annotations, STR("deprecated.daemonset.template.generation"));
    return found ? found->value : STR("0");
}

void valid__warn_daemon_set(struct valid_warnings *w, const struct api_object *o,
                            const struct api_object *old) {
    const struct api_daemon_set *set = o->body;
    if (!old || !str_eq(template_generation(o), template_generation(old)))
        warn_template(w, AT(&spec_path, "template"), &set->spec.template);
}

void valid__warn_stateful_set(struct valid_warnings *w, const struct api_object *o,
                              const struct api_object *old) {
    const struct api_stateful_set_spec *s = &((const struct api_stateful_set *)o->body)->spec;
    const struct path *claims = AT(&spec_path, "volumeClaimTemplates");
    if (has_changed(o, old))
        warn_template(w, AT(&spec_path, "template"), &s->template);
    for (size_t i = 0; i < s->volume_claim_templates.n; i++)
        valid__warn_claim_spec(w, old ? AT(AT_INDEX(claims, i), "Spec") : AT_INDEX(claims, i),
                               &s->volume_claim_templates.v[i].spec);
    if (s->revision_history_limit.set && s->revision_history_limit.v < 0)
        valid__warn_at(w, AT(&spec_path, "revisionHistoryLimit"),
                       "a negative value retains all historical revisions; a value >= 0 is "
                       "recommended");
}

static void warn_job_spec(struct valid_warnings *w, const struct path *p,
                          const struct api_job_spec *s) {
    enum { MANY_COMPLETIONS = 100000, MANY_AT_ONCE = 10000 };
    bool is_indexed = str_is(s->completion_mode, "Indexed");
    if (is_indexed && s->completions.set && s->completions.v > MANY_COMPLETIONS &&
        s->parallelism.set && s->parallelism.v > MANY_AT_ONCE)
        valid__warn_at(w, p,
                       "In Indexed Jobs with a number of completions higher than 10^5 and a "
                       "parallelism higher than 10^4, Kubernetes might not be able to track "
                       "completedIndexes when a big number of indexes fail");
    warn_template(w, AT(p, "template"), &s->template);
}

void valid__warn_job(struct valid_warnings *w, const struct api_object *o,
                     const struct api_object *old) {
    const struct api_job *job = o->body;
    warn_name(w, o, old);
    if (has_changed(o, old))
        warn_job_spec(w, &spec_path, &job->spec);
}

void valid__warn_cron_job(struct valid_warnings *w, const struct api_object *o,
                          const struct api_object *old) {
    const struct api_cron_job *job = o->body;
    warn_name(w, o, old);
    if (has_changed(o, old))
        warn_job_spec(w, AT(AT(&spec_path, "jobTemplate"), "spec"), &job->spec.job_template.spec);
    if (old && str_find(job->spec.schedule, STR("TZ")) != STR_NONE)
        valid__warn(w, "cannot use TZ or CRON_TZ in spec.spec.schedule, use timeZone instead, see "
                       "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for "
                       "more details");
}
