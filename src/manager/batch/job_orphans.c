/* Pods that nobody counts lose the finalizer of Jobs. */
#include "manager/batch/job_orphans_int.h"

#include "api/selector.h"
#include "feature/feature.h"
#include "manager/batch/job_int.h"

const struct api_object *job__of_pod(const struct informer *jobs, const struct api_object *pod) {
    const struct api_owner_reference *ref = api_object_controller(pod);
    if (!ref || !str_is(ref->kind, "Job"))
        return NULL;
    const struct api_object *job = informer_get(jobs, pod->meta->namespace, ref->name);
    return job && str_eq(job->meta->uid, ref->uid) ? job : NULL;
}

bool job__is_foreign(const struct api_object *job, const struct feature_set *gates) {
    struct str name = ((const struct api_job *)job->body)->spec.managed_by;
    return feature_enabled(gates, FEATURE_JobManagedBy) && name.p && !str_is(name, JOB__CONTROLLER);
}

static bool is_orphan(const struct job__orphans *o, const struct api_object *pod) {
    const struct api_owner_reference *ref = api_object_controller(pod);
    if (!job__has_finalizer(pod))
        return false;
    if (!ref)
        return true;
    if (!str_is(ref->kind, "Job") || !str_is(ref->api_version, "batch/v1"))
        return false;
    const struct api_object *job = job__of_pod(o->jobs, pod);
    return !job || (!job__is_foreign(job, o->gates) &&
                    job__finished(&((const struct api_job *)job->body)->status));
}

void job__orphans_sync(const struct job__orphans *o, struct work *w, const struct api_object *pod) {
    static const struct str text = STR_INIT(
        "{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"" JOB__FINALIZER "\"]}}");
    if (is_orphan(o, pod))
        work_patch(w, pod, &(struct work_patch){CLIENT_PATCH_STRATEGIC, NULL, text},
                   work_answered_or_gone, NULL);
}

void job__orphans_add(struct job__orphans *o, const struct api_object *pod) {
    if (job__has_finalizer(pod))
        workqueue_add_object(o->queue, pod);
}

static void add_matching(struct job__orphans *o, const struct api_object *job, struct str owner) {
    AUTO(arena_release) struct arena a = {0};
    const struct api_job *body = job->body;
    struct selector *selector;
    size_t n;
    if (selector_compile(&a, body->spec.selector, &selector, NULL) < 0)
        return;
    const struct api_object *const *pods =
        informer_find(o->pods, INFORMER_BY_CONTROLLER, owner, &n);
    for (size_t i = 0; i < n; i++)
        if (str_eq(pods[i]->meta->namespace, job->meta->namespace) &&
            selector_matches(selector, &pods[i]->meta->labels))
            job__orphans_add(o, pods[i]);
}

void job__orphans_add_of(struct job__orphans *o, const struct api_object *job) {
    add_matching(o, job, job->meta->uid);
    add_matching(o, job, STR(""));
}
