/*
 * Pods of a Job: what is asked of one that is there, and how a new one is made.
 *
 * Follows k8s.io/kubernetes pkg/controller/job, func getFinishedTime, func isPodFailed.
 * Follows k8s.io/kubernetes pkg/controller/job, func addCompletionIndexEnvVariables.
 */
#include "base/goatoi.h"
#include "controller/controller.h"
#include "manager/batch/job_int.h"
#include "manager/pods_int.h"

/* ---- annotations ---- */

/* A number that is not negative; `otherwise` when there is none. */
static int32_t read_number(const struct api_object *pod, struct str key, int32_t otherwise) {
    const struct label *l = labels_find(&pod->meta->annotations, key);
    int64_t v;
    return l && !goatoi_read(l->value, &v) && v >= 0 && v <= INT32_MAX ? (int32_t)v : otherwise;
}

bool job__has_finalizer(const struct api_object *pod) {
    const struct api_strs *list = &pod->meta->finalizers;
    for (size_t i = 0; i < list->n; i++)
        if (str_is(list->v[i], JOB__FINALIZER))
            return true;
    return false;
}

/* ---- when it has ended ---- */

/* Did all these containers end? Then *last is when the last one did. */
static bool have_ended(const struct api_container_status_list *list, int64_t *last) {
    for (size_t i = 0; i < list->n; i++) {
        const struct api_container_state_terminated *t = list->v[i].state.terminated;
        if (!t || !t->finished_at.set)
            return false;
        int64_t at = manager__time_ns(t->finished_at);
        *last = at > *last ? at : *last;
    }
    return true;
}

/* Did all sidecars end? Then *last is when the last one did, unless another was later. */
static bool have_sidecars_ended(const struct api_pod *pod, int64_t *last) {
    const struct api_container_status_list *inits = &pod->status.init_container_statuses;
    struct manager__sidecars sidecars;
    bool have = true;
    manager__sidecars_init(&sidecars, pod);
    for (size_t i = 0; have && i < inits->n; i++)
        have = !manager__sidecars_have(&sidecars, i, inits->v[i].name) ||
               have_ended(&(struct api_container_status_list){&inits->v[i], 1}, last);
    manager__sidecars_release(&sidecars);
    return have;
}

/* When the last container ended; 0: not all have, or there are none. */
static int64_t end_of_containers(const struct api_pod *pod) {
    int64_t last = 0;
    if (!have_ended(&pod->status.container_statuses, &last))
        last = 0;
    return have_sidecars_ended(pod, &last) ? last : 0;
}

static int64_t begin_of_deletion(const struct api_object_meta *meta) {
    struct api_time t = meta->deletion_timestamp;
    if (__builtin_sub_overflow(t.sec, meta->deletion_grace_period_seconds.v, &t.sec))
        t.sec = 0;
    return manager__time_ns(t);
}

static int64_t end_of_pod(const struct api_object *pod) {
    int64_t at = end_of_containers(pod->body);
    const struct api_pod_condition *ready = manager__pod_condition(pod, "Ready");
    if (at)
        return at;
    if (ready && str_is(ready->status, "False") && ready->last_transition_time.set)
        return manager__time_ns(ready->last_transition_time);
    if (pod->meta->deletion_timestamp.set)
        return begin_of_deletion(pod->meta);
    return manager__time_ns(pod->meta->creation_timestamp);
}

/* ---- what it is ---- */

static int64_t restarts_in(const struct api_container_status_list *list) {
    int64_t sum = 0;
    for (size_t i = 0; i < list->n; i++)
        sum += list->v[i].restart_count;
    return sum;
}

/* The nearest number that can be told: anybody may write a status. */
static int32_t restarts_of(const struct api_pod *pod) {
    if (!str_is(pod->status.phase, "Running") && !str_is(pod->status.phase, "Pending"))
        return 0;
    int64_t sum = restarts_in(&pod->status.init_container_statuses) +
                  restarts_in(&pod->status.container_statuses);
    return sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : (int32_t)sum;
}

static bool has_failed(const struct api_job_spec *job, const struct api_object *pod) {
    const struct api_pod *body = pod->body;
    if (str_is(body->status.phase, "Failed"))
        return true;
    return !str_is(job->pod_replacement_policy, "Failed") && pod->meta->deletion_timestamp.set &&
           !str_is(body->status.phase, "Succeeded");
}

void job__read_pod(struct arena *a, const struct api_job_spec *job, const struct api_object *pod,
                   struct job__pod *out) {
    const struct api_pod *body = pod->body;
    bool is_indexed = str_is(job->completion_mode, "Indexed");
    int32_t index = read_number(pod, STR(JOB__INDEX), JOB__NO_INDEX);
    *out = (struct job__pod){
        .name = arena_str(a, pod->meta->name),
        .uid = arena_str(a, pod->meta->uid),
        .object = pod,
        .index = is_indexed && index < job->completions.v ? index : JOB__NO_INDEX,
        .has_finalizer = job__has_finalizer(pod),
        .is_active = manager__pod_is_active(pod),
        .is_ready = manager__pod_is_ready(pod),
        .is_terminating = manager__pod_is_terminating(pod),
        .has_succeeded = str_is(body->status.phase, "Succeeded"),
        .has_failed = has_failed(job, pod),
        .finished_at = end_of_pod(pod),
        .restarts = restarts_of(body),
        .failures = read_number(pod, STR(JOB__FAILURES), 0),
        .ignored = read_number(pod, STR(JOB__IGNORED), 0),
    };
    out->counts = !is_indexed || out->index != JOB__NO_INDEX;
    out->action = job__match_failure_policy(a, job->pod_failure_policy, pod, &out->why);
}

/* ---- a new one ---- */

static void add_finalizer(struct arena *a, struct api_strs *list) {
    struct api_strs old = *list;
    for (size_t i = 0; i < old.n; i++)
        if (str_is(old.v[i], JOB__FINALIZER))
            return;
    *list = (struct api_strs){arena_array(a, struct str, old.n + 1), old.n + 1};
    for (size_t i = 0; i < old.n; i++)
        list->v[i] = old.v[i];
    list->v[old.n] = STR(JOB__FINALIZER);
}

static void add_variable(struct arena *a, struct api_container *c) {
    struct api_env_var_list old = c->env;
    for (size_t i = 0; i < old.n; i++)
        if (str_is(old.v[i].name, "JOB_COMPLETION_INDEX"))
            return;
    c->env = (struct api_env_var_list){arena_array(a, struct api_env_var, old.n + 1), old.n + 1};
    for (size_t i = 0; i < old.n; i++)
        c->env.v[i] = old.v[i];
    struct api_env_var *v = &c->env.v[old.n];
    v->name = STR("JOB_COMPLETION_INDEX");
    v->value_from = arena_new(a, struct api_env_var_source);
    v->value_from->field_ref = arena_new(a, struct api_object_field_selector);
    v->value_from->field_ref->field_path = STR("metadata.labels['" JOB__INDEX "']");
}

static void put_number(struct arena *a, struct labels *labels, struct str key, int32_t value) {
    labels_put(a, labels, (struct label){key, arena_printf(a, "%d", (int)value)});
}

/* Counts how often the index has failed, on the pod that replaces the last one. */
static void put_failures(struct arena *a, struct labels *annotations,
                         const struct job__pod *replaced) {
    bool is_ignored = replaced && replaced->action == JOB__IGNORE;
    int32_t failures = replaced ? replaced->failures : 0,
            ignored = replaced ? replaced->ignored : 0;
    if (is_ignored)
        ignored += ignored < INT32_MAX;
    else if (replaced)
        failures += failures < INT32_MAX;
    put_number(a, annotations, STR(JOB__FAILURES), failures);
    if (ignored)
        put_number(a, annotations, STR(JOB__IGNORED), ignored);
}

/* Follows k8s.io/kubernetes pkg/controller/job, func podGenerateNameWithIndex. */
static struct str indexed_prefix(struct arena *a, struct str job, int32_t index) {
    enum { LONGEST = 58 };
    struct str tail = arena_printf(a, "-%d-", (int)index);
    size_t most = job.n + tail.n > LONGEST ? LONGEST - tail.n : job.n;
    return arena_printf(a, "%.*s%.*s", STR_ARG(str_sub(job, 0, most)), STR_ARG(tail));
}

static void put_index(struct arena *a, struct api_pod *pod, const struct api_object *job,
                      int32_t index) {
    put_number(a, &pod->metadata.annotations, STR(JOB__INDEX), index);
    put_number(a, &pod->metadata.labels, STR(JOB__INDEX), index);
    pod->metadata.generate_name = indexed_prefix(a, job->meta->name, index);
    pod->spec.hostname = arena_printf(a, "%.*s-%d", STR_ARG(job->meta->name), (int)index);
    for (size_t i = 0; i < pod->spec.init_containers.n; i++)
        add_variable(a, &pod->spec.init_containers.v[i]);
    for (size_t i = 0; i < pod->spec.containers.n; i++)
        add_variable(a, &pod->spec.containers.v[i]);
}

struct api_object *job__new_pod(const struct api_object *job, int32_t index,
                                const struct job__pod *replaced) {
    const struct api_job *body = job->body;
    struct api_object *made = controller_pod_new(job, &body->spec.template, STR(""));
    struct api_pod *pod = api_own_body(made);
    struct arena *a = &made->arena;
    pod->metadata.generate_name = manager__pod_prefix(a, job->meta->name);
    add_finalizer(a, &pod->metadata.finalizers);
    if (index == JOB__NO_INDEX)
        return made;
    put_index(a, pod, job, index);
    if (body->spec.backoff_limit_per_index.set)
        put_failures(a, &pod->metadata.annotations, replaced);
    return made;
}
