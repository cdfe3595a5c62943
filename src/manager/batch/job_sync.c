/*
 * Jobs: looks at one with its pods, carries out what is planned, and writes its status.
 *
 * Follows k8s.io/kubernetes pkg/controller/job, func (*Controller) syncJob.
 *
 * What upstream does in one piece of work once a status is written and finalizers are gone is the
 * next piece of work here, which comes at once: the informers have seen the writes by then.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "manager/batch/job_metrics_int.h"
#include "manager/batch/job_orphans_int.h"
#include "manager/pod_control_int.h"
#include "manager/pods_int.h"

/* The failures of a Job since its last success, under its namespace and name. */
struct record {
    struct job__backoff backoff;
    char key[];
};

struct jobs {
    struct manager__base base; /* keys: Jobs */
    struct informer *pods;
    struct job__orphans orphans;
    struct map records;  /* of struct record */
    struct map expected; /* uids of pods whose finalizer was taken away, which is not seen yet */
    struct job__metrics metrics;
};

/* One piece of work, in its arena. */
struct sync {
    struct jobs *c;
    struct work *work;
    struct manager__pods pods;
    struct job__view view;
    struct job__plan plan;
    struct job__tracked tracked;
    struct str resource_version; /* of the Job that is decided about */
    int64_t begun;
    enum job__did did;
    size_t unanswered; /* finalizers that are taken away */
    bool has_failed;
};

/* The object that was decided about, or NULL when it is another by now, or gone. */
static const struct api_object *current(const struct sync *s) {
    return manager__current(s->c, &s->pods.subject);
}

/* ---- what is remembered ---- */

static struct str record_key(struct arena *a, const struct work *w) {
    return arena_printf(a, "%.*s/%.*s", STR_ARG(work_namespace(w)), STR_ARG(work_name(w)));
}

static void forget_record(void *self, struct work *w) {
    struct jobs *c = self;
    free(map_del(&c->records, record_key(work_arena(w), w)));
}

static void write_record(struct sync *s) {
    struct str key = record_key(work_arena(s->work), s->work);
    struct record *r = map_get(&s->c->records, key);
    if (!r && !s->view.backoff.failures)
        return;
    if (!r) {
        r = xcalloc(1, sizeof *r + key.n);
        memcpy(r->key, key.p, key.n);
        map_put(&s->c->records, (struct str){r->key, key.n}, r);
    }
    r->backoff = s->view.backoff;
}

static void expect(struct jobs *c, struct str uid) {
    if (map_get(&c->expected, uid))
        return;
    char *key = xmalloc(uid.n + 1);
    memcpy(key, uid.p, uid.n);
    map_put(&c->expected, (struct str){key, uid.n}, key);
}

static void expect_no_more(struct jobs *c, struct str uid) {
    free(map_del(&c->expected, uid));
}

/* ---- the end of the work ---- */

static void fail(struct sync *s, struct str why) {
    s->has_failed = true;
    work_fail(s->work, "%.*s", STR_ARG(why));
}

static void conclude(struct sync *s) {
    int64_t now = manager__now(s->c->base.manager);
    if (s->pods.failure.reason)
        fail(s, s->pods.failure.message);
    job__count_sync(&s->c->metrics, s->view.is_indexed, s->has_failed, s->did, now - s->begun);
}

static void tell_end(struct sync *s) {
    const struct job__end *end = &s->view.end;
    const struct events_subject *subject = &s->pods.subject;
    struct api_opt_i32 completions = s->view.completions;
    job__count_end(&s->c->metrics, s->view.is_indexed, end->reason);
    if (!job__condition(&s->view.status, "Complete")) {
        struct str reason = arena_printf(work_arena(s->work), "%.*s", STR_ARG(end->reason));
        events_say_of(s->c->base.events, subject, EVENTS_WARNING, reason.p, "%.*s",
                      STR_ARG(end->message));
        return;
    }
    if (completions.set && s->view.status.succeeded > completions.v)
        events_say_of(s->c->base.events, subject, EVENTS_WARNING, "TooManySucceededPods",
                      "Too many succeeded pods running after completion count reached");
    events_say_of(s->c->base.events, subject, EVENTS_NORMAL, "Completed", "Job completed");
}

/* ---- finalizers ---- */

struct release {
    struct sync *sync;
    const struct job__pod *pod;
};

static void released(void *arg, struct work *w, const struct client_answer *answer) {
    const struct release *r = arg;
    struct sync *s = r->sync;
    bool is_gone = answer->code == ERR_NOT_FOUND;
    if (answer->code && !(is_gone && informer_get(s->c->pods, work_namespace(w), r->pod->name)))
        expect_no_more(s->c, r->pod->uid);
    if (answer->code && !is_gone)
        fail(s, answer->message);
    if (--s->unanswered == 0)
        conclude(s);
}

static const struct str release_patch =
    STR_INIT("{\"metadata\":{\"$deleteFromPrimitiveList/finalizers\":[\"" JOB__FINALIZER "\"]}}");

static void send_release(struct sync *s, const struct job__pod *pod) {
    struct release *r = arena_new(work_arena(s->work), struct release);
    *r = (struct release){s, pod};
    expect(s->c, pod->uid);
    work_send(s->work,
              &(struct client_request){.verb = REGISTRY_VERB_PATCH,
                                       .kind = client_kind(API_T_pod),
                                       .namespace = work_namespace(s->work),
                                       .name = pod->name,
                                       .patch_type = CLIENT_PATCH_STRATEGIC,
                                       .patch = release_patch},
              released, r);
}

/* Behind the write of the status. What is left is done at once, by another look. */
static void release_pods(struct sync *s) {
    const struct job__tracked *t = &s->tracked;
    if (t->released_count || (t->writes && !t->finishes && s->view.end.type))
        work_go_on(s->work);
    s->unanswered = t->released_count;
    for (size_t i = 0; i < t->released_count; i++)
        send_release(s, t->released[i]);
    if (!t->released_count)
        conclude(s);
}

/* ---- the status ---- */

static void status_written(void *arg, struct work *w, const struct client_answer *answer) {
    struct sync *s = arg;
    if (answer->code) {
        fail(s, answer->message);
        conclude(s);
        return;
    }
    write_record(s);
    job__count_status(&s->c->metrics, work_arena(w), &s->view);
    if (s->tracked.finishes)
        tell_end(s);
    release_pods(s);
}

/* What was decided holds for the Job as it was then. */
static void send_status(struct sync *s) {
    const struct api_object *o = current(s);
    if (!o || !str_eq(o->meta->resource_version, s->resource_version)) {
        fail(s, STR("the Job has changed meanwhile"));
        conclude(s);
        return;
    }
    struct api_object *draft = api_object_derive(o);
    struct api_job *job = api_own_body(draft);
    api_struct_copy(&draft->arena, &api_types[API_T_job_status], &s->view.status, &job->status);
    work_update(s->work, draft, "status", status_written, s);
}

static bool same_number(struct api_opt_i32 old, int32_t now) {
    return old.set && old.v == now;
}

static void track(struct sync *s, bool writes) {
    struct job__view *v = &s->view;
    struct api_job_status *status = &v->status;
    writes = writes || v->active != status->active || !same_number(status->ready, v->ready) ||
             !same_number(status->terminating, v->terminating);
    status->active = v->active;
    status->ready = (struct api_opt_i32){true, v->ready};
    status->terminating = (struct api_opt_i32){true, v->terminating};
    job__track(v, writes, &s->tracked);
    for (int i = JOB__IGNORE; i <= JOB__FAIL_JOB; i++)
        s->c->metrics.actions[i] += s->tracked.actions[i];
    if (s->tracked.writes)
        send_status(s);
    else
        release_pods(s);
}

/* ---- pods are made and deleted ---- */

static bool is_complete(const struct job__view *v) {
    if (!v->completions.set)
        return v->succeeded > 0 && v->active == 0;
    return v->succeeded >= v->completions.v && v->active == 0;
}

static bool turn(struct sync *s) {
    enum job__turn turn = job__track_suspension(&s->view);
    if (turn == JOB__SUSPENDED)
        events_say_of(s->c->base.events, &s->pods.subject, EVENTS_NORMAL, "Suspended",
                      "Job suspended");
    else if (turn == JOB__RESUMED)
        events_say_of(s->c->base.events, &s->pods.subject, EVENTS_NORMAL, "Resumed", "Job resumed");
    return turn != JOB__SAME;
}

static void count_deleted(struct sync *s) {
    struct job__view *v = &s->view;
    v->active -= (int32_t)s->pods.succeeded;
    v->terminating += (int32_t)s->pods.succeeded;
    for (size_t i = 0; i < s->plan.count; i++)
        v->ready -= s->plan.goers[i]->is_ready;
}

static void pods_done(void *arg) {
    struct sync *s = arg;
    struct job__view *v = &s->view;
    bool has_turned = false;
    if (s->plan.step == JOB__CREATES) {
        v->active += (int32_t)s->pods.succeeded;
        job__count_creations(&s->c->metrics, v, s->pods.succeeded,
                             s->pods.made - s->pods.succeeded);
    } else if (s->plan.count)
        count_deleted(s);
    if (s->plan.step == JOB__DELETES_ALL) {
        if (s->pods.succeeded != s->plan.count)
            v->end = (struct job__end){0};
    } else if (is_complete(v))
        v->end = (struct job__end){"SuccessCriteriaMet", STR("CompletionsReached"),
                                   STR("Reached expected number of succeeded pods")};
    else if (!v->is_deleted)
        has_turned = turn(s);
    track(s, has_turned);
}

static struct api_object *make(void *arg, size_t place) {
    struct sync *s = arg;
    const struct api_object *o = current(s);
    int32_t index = s->view.is_indexed ? s->plan.indexes[place] : JOB__NO_INDEX;
    return o ? job__new_pod(o, index, job__replaced(&s->view, index)) : NULL;
}

static void delete_pods(struct sync *s) {
    struct str *names = arena_array(work_arena(s->work), struct str, s->plan.count);
    for (size_t i = 0; i < s->plan.count; i++)
        names[i] = s->plan.goers[i]->name;
    if (s->plan.step == JOB__DELETES)
        s->pods.first_patch = release_patch;
    manager__pods_delete_all(&s->pods, names, s->plan.count);
}

static void carry_out(struct sync *s) {
    static const enum job__did dids[] = {
        [JOB__TRACKS] = JOB__DID_TRACK,          [JOB__WAITS] = JOB__DID_CREATE,
        [JOB__CREATES] = JOB__DID_CREATE,        [JOB__DELETES] = JOB__DID_DELETE,
        [JOB__DELETES_ALL] = JOB__DID_RECONCILE,
    };
    int64_t wait = s->plan.wait > JOB__BATCH_PERIOD ? s->plan.wait : JOB__BATCH_PERIOD;
    s->did = s->view.is_deleted ? JOB__DID_RECONCILE : dids[s->plan.step];
    if (s->plan.step == JOB__WAITS)
        work_again_after(s->work, wait);
    if (s->plan.step == JOB__CREATES)
        manager__pods_create(&s->pods, s->plan.count);
    else if (s->plan.step == JOB__DELETES || s->plan.step == JOB__DELETES_ALL)
        delete_pods(s);
    else
        pods_done(s);
}

/* ---- looking ---- */

static void plan_all_active(struct job__view *v, struct job__plan *out) {
    *out = (struct job__plan){.step = JOB__DELETES_ALL};
    out->goers = arena_array(v->a, struct job__pod *, v->pods.n);
    for (size_t i = 0; i < v->pods.n; i++)
        if (v->pods.v[i].is_active)
            out->goers[out->count++] = &v->pods.v[i];
}

static void decide(struct sync *s) {
    job__judge(&s->view);
    int64_t left = job__deadline_in(&s->view);
    if (left)
        work_again_after(s->work, left);
    if (s->view.end.type)
        plan_all_active(&s->view, &s->plan);
    else if (!s->view.is_deleted)
        job__plan(&s->view, &s->plan);
}

static struct sync *sync_new(struct jobs *c, struct work *work, const struct api_object *o) {
    struct arena *a = work_arena(work);
    struct sync *s = arena_new(a, struct sync);
    s->c = c;
    s->work = work;
    s->begun = manager__now(c->base.manager);
    s->resource_version = arena_str(a, o->meta->resource_version);
    s->view = (struct job__view){
        .a = a, .now = s->begun, .seed = c->base.manager->seed, .gates = c->base.manager->gates};
    s->pods = (struct manager__pods){
        .manager = c->base.manager,
        .work = work,
        .events = c->base.events,
        .subject = manager__subject(work, o),
        .make = make,
        .done = pods_done,
        .arg = s,
    };
    return s;
}

/* Is there something to do for the Job? */
static bool is_at_work(struct jobs *c, struct work *work, const struct api_object *o) {
    if (job__finished(&((const struct api_job *)o->body)->status)) {
        forget_record(c, work);
        return false;
    }
    const struct api_job *job = o->body;
    struct str mode = job->spec.completion_mode;
    if (job__is_foreign(o, c->base.manager->gates))
        return false;
    if (!mode.p || str_is(mode, "NonIndexed") || str_is(mode, "Indexed"))
        return true;
    events_say(c->base.events, o, EVENTS_WARNING, "UnknownCompletionMode",
               "Skipped Job sync because completion mode is unknown");
    return false;
}

static void sync(void *self, struct work *work, const struct api_object *o) {
    static const struct job__backoff none;
    struct jobs *c = self;
    struct arena *a = work_arena(work);
    struct manager__objects pods;
    if (!is_at_work(c, work, o) ||
        !manager__claim(&(struct manager__claim){.manager = c->base.manager,
                                                 .work = work,
                                                 .owner = o,
                                                 .members = c->pods,
                                                 .kind = client_kind(API_T_pod),
                                                 .selector = manager__selector(c, o),
                                                 .finalizer = JOB__FINALIZER},
                        &pods))
        return;
    struct sync *s = sync_new(c, work, o);
    const struct record *r = map_get(&c->records, record_key(a, work));
    job__look(&s->view, o, &pods, &c->expected, r ? &r->backoff : &none);
    decide(s);
    carry_out(s);
}

/* ---- what has changed ---- */

static void add_batched(void *self, const struct api_object *job) {
    struct jobs *c = self;
    workqueue_add_after(c->base.queue, job->meta->namespace, job->meta->name, JOB__BATCH_PERIOD);
}

static struct api_opt_i64 deadline_of(const struct api_object *job) {
    return ((const struct api_job *)job->body)->spec.active_deadline_seconds;
}

static void job_set(void *self, const struct api_object *old, const struct api_object *o) {
    struct jobs *c = self;
    if (!old) {
        workqueue_add_object(c->base.queue, o);
    } else if (job__finished(&((const struct api_job *)o->body)->status)) {
        job__orphans_add_of(&c->orphans, o);
        workqueue_add_object(c->base.queue, o);
    } else if (old->meta->generation == o->meta->generation &&
               deadline_of(old).v == deadline_of(o).v) {
        add_batched(c, o);
    } else
        workqueue_add_object(c->base.queue, o);
}

static void job_deleted(void *self, const struct api_object *last) {
    struct jobs *c = self;
    workqueue_add_object(c->base.queue, last);
    job__orphans_add_of(&c->orphans, last);
}

static bool is_ended_and_tracked(const struct api_object *pod) {
    return pod && api_pod_has_ended(pod->body) && job__has_finalizer(pod);
}

static void count_tracked(struct jobs *c, const struct api_object *old,
                          const struct api_object *pod) {
    bool was = is_ended_and_tracked(old), is = is_ended_and_tracked(pod);
    if (was != is)
        c->metrics.tracked[was]++;
}

/* Of a pod that goes, or is gone. */
static void pod_leaves(struct jobs *c, const struct api_object *pod) {
    const struct api_object *job = job__of_pod(c->base.informer, pod);
    if (!api_object_controller(pod) || !job ||
        job__finished(&((const struct api_job *)job->body)->status))
        job__orphans_add(&c->orphans, pod);
    if (job)
        add_batched(c, job);
}

static void pod_set(void *self, const struct api_object *old, const struct api_object *pod) {
    struct jobs *c = self;
    bool moved = old && !manager__same_controller(old, pod);
    count_tracked(c, old, pod);
    if (!job__has_finalizer(pod))
        expect_no_more(c, pod->meta->uid);
    if (pod->meta->deletion_timestamp.set) {
        pod_leaves(c, pod);
        return;
    }
    const struct api_object *before = moved ? job__of_pod(c->base.informer, old) : NULL;
    const struct api_object *job = job__of_pod(c->base.informer, pod);
    if (before)
        add_batched(c, before);
    if (job)
        add_batched(c, job);
    if (api_object_controller(pod))
        return;
    job__orphans_add(&c->orphans, pod);
    if (!old || moved || !labels_equal(&old->meta->labels, &pod->meta->labels))
        manager__each_adopter(c, pod, add_batched);
}

static void pod_deleted(void *self, const struct api_object *last) {
    struct jobs *c = self;
    count_tracked(c, last, NULL);
    expect_no_more(c, last->meta->uid);
    pod_leaves(c, last);
}

/* ---- beginning and end ---- */

static const struct api_label_selector *selector_of(struct arena *a, const struct api_object *o) {
    (void)a;
    return ((const struct api_job *)o->body)->spec.selector;
}

static void sync_orphan(void *self, struct work *w, const struct api_object *pod) {
    job__orphans_sync(&((struct jobs *)self)->orphans, w, pod);
}

static void begin(void *self) {
    struct jobs *c = self;
    c->records = c->expected = MAP_INIT(c->base.manager->seed);
    c->orphans.jobs = c->base.informer;
    c->orphans.pods = c->pods;
    c->orphans.gates = c->base.manager->gates;
}

static void free_values(struct map *m) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(m, &at));)
        free(e->value);
    map_release(m);
}

static void end(void *self) {
    struct jobs *c = self;
    free_values(&c->records);
    free_values(&c->expected);
}

static void write_metrics(const void *self, struct buf *out) {
    job__write_metrics(&((const struct jobs *)self)->metrics, out);
}

const struct manager__controller manager__job = {
    .size = sizeof(struct jobs),
    .component = "job-controller",
    .queues = {{"job", sync, .names = API_T_job, .gone = forget_record, .first_delay = CLOCK_SECOND,
                .most_delay = 60 * CLOCK_SECOND},
               {"job_orphan_pod", sync_orphan, .names = API_T_pod,
                .at = offsetof(struct jobs, orphans.queue), .first_delay = CLOCK_SECOND,
                .most_delay = 60 * CLOCK_SECOND}},
    .kinds = {{API_T_job, .set = job_set, .deleted = job_deleted},
              {API_T_pod, .at = offsetof(struct jobs, pods), .set = pod_set,
               .deleted = pod_deleted}},
    .selector = selector_of,
    .begin = begin,
    .end = end,
    .write_metrics = write_metrics,
};
