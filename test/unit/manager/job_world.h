/* Jobs on virtual time, and pods of theirs that end. */
#ifndef TEST_UNIT_MANAGER_JOB_WORLD_H
#define TEST_UNIT_MANAGER_JOB_WORLD_H

#include "managed.h"

#define JOB(name, spec)                                                                        \
    "{apiVersion: batch/v1, kind: Job, metadata: {name: " name "}, spec: {" spec "template: {" \
    "spec: {restartPolicy: Never, containers: [{name: c, image: i}]}}}}"

#define FINALIZER "batch.kubernetes.io/job-tracking"
#define INDEX     "batch.kubernetes.io/job-completion-index"

static inline const struct api_job_status *job_status(struct managed *m, const char *name) {
    const struct api_object *o = world_get(&m->w, API_T_job, name);
    assert_non_null(o);
    return &((const struct api_job *)o->body)->status;
}

/* The condition of this type that is True, or NULL. */
static inline const struct api_job_condition *job_condition(struct managed *m, const char *name,
                                                            const char *type) {
    const struct api_job_status *s = job_status(m, name);
    for (size_t i = 0; i < s->conditions.n; i++)
        if (str_is(s->conditions.v[i].type, type) && str_is(s->conditions.v[i].status, "True"))
            return &s->conditions.v[i];
    return NULL;
}

/* The Job has ended like this, or, if type is NULL, has not ended. */
static inline void check_end(struct managed *m, const char *name, const char *type,
                             const char *reason, const char *message) {
    const struct api_job_condition *c = job_condition(m, name, type ? type : "Complete");
    if (!type) {
        assert_null(c);
        assert_null(job_condition(m, name, "Failed"));
        return;
    }
    if (!c)
        fail_msg("%s is not %s", name, type);
    if (!str_is(c->reason, reason) || !str_is(c->message, message))
        fail_msg("%s: %.*s: %.*s", name, STR_ARG(c->reason), STR_ARG(c->message));
    const struct api_job_status *s = job_status(m, name);
    assert_int_equal(s->uncounted_terminated_pods->succeeded.n, 0);
    assert_int_equal(s->uncounted_terminated_pods->failed.n, 0);
    assert_int_equal(s->active, 0);
    assert_int_equal(s->terminating.v, 0);
    const char *before = strcmp(type, "Failed") == 0 ? "FailureTarget" : "SuccessCriteriaMet";
    c = job_condition(m, name, before);
    assert_non_null(c);
    assert_true(str_is(c->reason, reason));
}

static inline bool has_finalizer(const struct api_object *o) {
    for (size_t i = 0; i < o->meta->finalizers.n; i++)
        if (str_is(o->meta->finalizers.v[i], FINALIZER))
            return true;
    return false;
}

/* ---- pods ---- */

static inline void job__living(void *arg, const struct api_object *o) {
    if (!api_pod_has_ended(o->body) && !o->meta->deletion_timestamp.set)
        managed__name(arg, o);
}

/* The names of pods that neither have ended nor go; release names.v. */
static inline struct managed_names living_pods(struct managed *m) {
    struct managed_names names = {.w = &m->w};
    world_each(&m->w, API_T_pod, job__living, &names);
    return names;
}

static inline size_t count_living(struct managed *m) {
    struct managed_names names = living_pods(m);
    size_t n = names.v.n;
    vec_release(&names.v);
    return n;
}

/* Ends a pod now: its container with this code. */
static inline void end_pod(struct managed *m, const char *name, int code) {
    struct buf patch = BUF_INIT(4096), at = BUF_INIT(64);
    time_write(&at, (struct time_instant){.seconds = m->w.clock.wall_ns / CLOCK_SECOND});
    buf_addf(&patch,
             "{\"status\":{\"phase\":\"%s\",\"containerStatuses\":[{\"name\":\"c\",\"image\":\"i\","
             "\"imageID\":\"i\",\"ready\":false,\"restartCount\":0,\"state\":{\"terminated\":{"
             "\"exitCode\":%d,\"startedAt\":\"%.*s\",\"finishedAt\":\"%.*s\"}}}]}}",
             code ? "Failed" : "Succeeded", code, STR_ARG(buf_view(&at)), STR_ARG(buf_view(&at)));
    world_patch(&m->w, API_T_pod, name, "status", arena_str(&m->w.arena, buf_view(&patch)).p);
    buf_release(&patch);
    buf_release(&at);
}

/* Ends all that live. */
static inline void end_pods(struct managed *m, int code) {
    struct managed_names names = living_pods(m);
    for (size_t i = 0; i < names.v.n; i++)
        end_pod(m, names.v.v[i], code);
    vec_release(&names.v);
}

struct job__search {
    const char *index, *found;
    struct world *w;
};

static inline void job__match(void *arg, const struct api_object *o) {
    struct job__search *s = arg;
    const struct label *l = labels_find(&o->meta->annotations, STR(INDEX));
    if (!api_pod_has_ended(o->body) && !o->meta->deletion_timestamp.set && l &&
        str_is(l->value, s->index))
        s->found = arena_str(&s->w->arena, o->meta->name).p;
}

/* The pod of this index that lives, or NULL. */
static inline const char *pod_of_index(struct managed *m, const char *index) {
    struct job__search s = {index, NULL, &m->w};
    world_each(&m->w, API_T_pod, job__match, &s);
    return s.found;
}

#endif
