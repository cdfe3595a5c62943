/*
 * Deployments, ReplicaSets, ReplicationControllers and Jobs, and the way through all workloads.
 *
 * Follows k8s.io/kubernetes pkg/controller/job, func (*Controller) manageJob.
 */
#include "controller/expand_int.h"

#include <assert.h>

#include "api/names.h"
#include "base/limits.h"
#include "codec/json.h"

const struct api_object *expand__find(const struct expand *e, enum api_type_id type,
                                      struct str namespace, struct str name) {
    return e->c->find(e->c->ctx, type, namespace, name);
}

/* ---- who owns whom ---- */

static struct str owner_key(struct arena *a, const char *kind, struct str namespace,
                            struct str name) {
    return arena_printf(a, "%s\n%.*s\n%.*s", kind, STR_ARG(namespace), STR_ARG(name));
}

static void add_owned(struct expand *e, struct str key, const struct api_object *o) {
    struct expand_owned *owned = map_get(&e->owned, key);
    if (!owned) {
        owned = arena_new(&e->arena, struct expand_owned);
        map_put(&e->owned, key, owned);
    }
    if (api_object_is(o, API_T_pod))
        vec_push(&owned->pods, o);
    else
        vec_push(&owned->replica_sets, o);
}

/* web-5d4f8c7b9: the ReplicaSet of a Deployment whose own entry may be missing in a dump. */
static struct str deployment_name(struct str replica_set) {
    size_t dash = replica_set.n;
    while (dash > 0 && replica_set.p[dash - 1] != '-')
        dash--;
    return str_sub(replica_set, 0, dash ? dash - 1 : 0);
}

/* What has a controller is kept under its uid and its name. Pods whose ReplicaSet was not given are
 * kept for the Deployment that it seems to be of. */
static void index_object(struct expand *e, const struct api_object *o) {
    const struct api_owner_reference *ref = api_object_controller(o);
    bool is_pod = api_object_is(o, API_T_pod);
    struct str namespace = o->meta->namespace;
    if (!ref || (!is_pod && !api_object_is(o, API_T_replica_set)))
        return;
    struct arena *a = &e->arena;
    struct str kind = arena_str(a, ref->kind);
    add_owned(e, owner_key(a, kind.p, namespace, ref->name), o);
    add_owned(e, owner_key(a, "uid", namespace, ref->uid), o);
    if (is_pod && str_is(kind, "ReplicaSet") &&
        !expand__find(e, API_T_replica_set, namespace, ref->name))
        add_owned(e, owner_key(a, "orphan", namespace, deployment_name(ref->name)), o);
}

static const struct expand_owned *find_owned(const struct expand *e, const char *kind,
                                             struct str namespace, struct str name) {
    AUTO(arena_release) struct arena a = {0};
    return map_get(&e->owned, owner_key(&a, kind, namespace, name));
}

const struct expand_owned *expand__owned(const struct expand *e,
                                         const struct api_object *workload) {
    const struct api_object_meta *meta = workload->meta;
    if (e->stored)
        return find_owned(e, "uid", meta->namespace, meta->uid);
    return find_owned(e, workload->kind->kind, meta->namespace, meta->name);
}

bool expand__is_active(const struct api_object *pod) {
    return !api_pod_has_ended(pod->body) && !pod->meta->deletion_timestamp.set;
}

int64_t expand__count_active(const struct expand_owned *owned) {
    int64_t n = 0;
    for (size_t i = 0; owned && i < owned->pods.n; i++)
        n += expand__is_active(owned->pods.v[i]);
    return n;
}

/* ---- pods that differ in nothing but their names ---- */

/* The next free name of the form web-0, web-1, … */
static struct str next_name(struct expand *e, const struct api_object *owner, size_t *number) {
    for (;;) {
        struct str name =
            arena_printf(e->c->arena, "%.*s-%zu", STR_ARG(owner->meta->name), (*number)++);
        if (!expand__find(e, API_T_pod, owner->meta->namespace, name))
            return name;
    }
}

/* All but the first share what the first became when it was created: only names differ. */
bool expand__replicas(struct expand *e, const struct api_object *owner,
                      const struct api_pod_template_spec *template, int64_t count) {
    size_t number = 0;
    if (count <= 0)
        return true;
    if (!expand__may(e, count))
        return false;
    struct api_object *draft = controller_pod_new(owner, template, next_name(e, owner, &number));
    if (!expand__afford(e, draft->type->size, count)) {
        api_object_free(draft);
        return false;
    }
    const struct api_object *first = expand__create(e, draft);
    if (!first)
        return false;
    for (int64_t i = 1; i < count; i++)
        expand__adopt(e, expand__derive(first, next_name(e, owner, &number)));
    return true;
}

/* ---- ReplicaSet, ReplicationController ---- */

/* A Deployment that was changed decides itself what becomes of its ReplicaSets. */
static bool is_rolled(const struct expand *e, const struct api_object *replica_set) {
    const struct api_owner_reference *ref = api_object_controller(replica_set);
    return ref && map_get_const(&e->changed, ref->uid);
}

static void expand_replica_set(struct expand *e, const struct api_object *o) {
    const struct api_replica_set *set = o->body;
    int64_t wanted = set->spec.replicas.set ? set->spec.replicas.v : 1;
    if (is_rolled(e, o))
        return;
    expand__replicas(e, o, &set->spec.template, wanted - expand__count_active(expand__owned(e, o)));
}

static void expand_replication_controller(struct expand *e, const struct api_object *o) {
    const struct api_replication_controller *rc = o->body;
    int64_t wanted = rc->spec.replicas.set ? rc->spec.replicas.v : 1;
    if (rc->spec.template)
        expand__replicas(e, o, rc->spec.template,
                         wanted - expand__count_active(expand__owned(e, o)));
}

/* ---- Deployment ---- */

const struct expand_owned *expand__orphans(const struct expand *e, const struct api_object *o) {
    return find_owned(e, "orphan", o->meta->namespace, o->meta->name);
}

/* ReplicaSets that were given ask for their pods themselves. */
static void expand_deployment(struct expand *e, const struct api_object *o) {
    const struct api_deployment *d = o->body;
    int64_t there = expand__count_active(expand__orphans(e, o));
    int64_t missing = (d->spec.replicas.set ? d->spec.replicas.v : 1) - there;
    const struct expand_owned *owned = expand__owned(e, o);
    if ((owned && owned->replica_sets.n) || missing <= 0 || !expand__may(e, missing))
        return;
    const struct api_object *set = expand__create(e, controller_replica_set_new(o));
    if (set)
        expand__replicas(e, set, &((const struct api_replica_set *)set->body)->spec.template,
                         missing);
}

/* ---- Job ---- */

static bool is_finished(const struct api_job *job) {
    for (size_t i = 0; i < job->status.conditions.n; i++) {
        const struct api_job_condition *c = &job->status.conditions.v[i];
        if (str_is(c->status, "True") && (str_is(c->type, "Complete") || str_is(c->type, "Failed")))
            return true;
    }
    return job->spec.suspend.set && job->spec.suspend.v;
}

/* Has the job never run? For one that has, the controller makes no pod group any more. */
static bool is_new(const struct api_job *job, const struct expand_owned *owned) {
    return !owned && !job->status.start_time.set && !job->status.succeeded && !job->status.failed;
}

static bool has_grouped_pod(const struct expand_owned *owned) {
    for (size_t i = 0; owned && i < owned->pods.n; i++)
        if (((const struct api_pod *)owned->pods.v[i]->body)->spec.scheduling_group)
            return true;
    return false;
}

/* Are the pods of this job a pod group? Its group may have been made before and is not in sight:
 * then it shows in what the job says of scheduling, or in the pods that are there. */
static bool is_group(const struct expand *e, const struct api_object *o) {
    const struct api_job *job = o->body;
    const struct expand_owned *owned = expand__owned(e, o);
    if (!feature_enabled(e->c->gates, FEATURE_WorkloadWithJob) ||
        job->spec.template.spec.scheduling_group)
        return false;
    if (api_object_controller(o) &&
        !labels_find(&o->meta->annotations, STR("scheduling.k8s.io/group-template-name")))
        return false;
    return is_new(job, owned) || job->spec.scheduling || has_grouped_pod(owned);
}

/* The template of the job's pods, with the name of their group if they are one. */
static const struct api_pod_template_spec *job_template(struct expand *e,
                                                        const struct api_object *o) {
    const struct api_job *job = o->body;
    if (!is_group(e, o))
        return &job->spec.template;
    struct api_pod_template_spec *template = arena_new(&e->arena, struct api_pod_template_spec);
    *template = job->spec.template;
    template->spec.scheduling_group = arena_new(&e->arena, struct api_pod_scheduling_group);
    template->spec.scheduling_group->pod_group_name = o->meta->name;
    return template;
}

#define INDEX_KEY STR("batch.kubernetes.io/job-completion-index")

/* Notes where ranges of a text such as 1,3-5 begin (1 more from there on) and end (1 less). */
static void note_ranges(int32_t *steps, int64_t count, struct str text) {
    while (text.n) {
        struct str part, from_text, to_text;
        int64_t from, to;
        str_cut(text, ',', &part, &text);
        if (!str_cut(part, '-', &from_text, &to_text))
            to_text = from_text = part;
        if (!str_to_i64(from_text, &from) || !str_to_i64(to_text, &to))
            continue;
        from = from < 0 ? 0 : from;
        to = to < count ? to : count - 1;
        if (from > to)
            continue;
        steps[from]++;
        steps[to + 1]--;
    }
}

static void note_pods(int32_t *steps, int64_t count, const struct expand_owned *owned) {
    for (size_t i = 0; owned && i < owned->pods.n; i++) {
        const struct api_object *o = owned->pods.v[i];
        const struct label *index = labels_find(&o->meta->annotations, INDEX_KEY);
        bool failed = str_is(((const struct api_pod *)o->body)->status.phase, "Failed");
        if (index && !failed && !o->meta->deletion_timestamp.set)
            note_ranges(steps, count, index->value);
    }
}

static bool make_indexed_pod(struct expand *e, struct expand_members *all, int64_t index) {
    struct arena *a = e->c->arena;
    struct label label = {INDEX_KEY, arena_printf(a, "%lld", (long long)index)};
    struct str name =
        arena_printf(a, "%.*s-%.*s", STR_ARG(all->owner->meta->name), STR_ARG(label.value));
    struct api_object *pod = expand__member_new(all, name, label.value);
    expand__set_labels(a, &api_own_meta(pod)->annotations, &label, 1);
    expand__set_labels(a, &api_own_meta(pod)->labels, &label, 1);
    ((struct api_pod *)api_own_body(pod))->spec.hostname = name;
    return expand__member_add(e, all, pod);
}

static void make_indexed(struct expand *e, const struct api_object *o, int64_t wanted) {
    const struct api_job *job = o->body;
    const struct expand_owned *owned = expand__owned(e, o);
    struct expand_members all = {.owner = o, .template = job_template(e, o), .unpaid = wanted};
    int64_t count = job->spec.completions.v;
    if (count <= 0 || wanted <= 0 || !expand__may(e, count))
        return;
    AUTO(arena_release) struct arena a = {0};
    int32_t *steps = arena_array(&a, int32_t, (size_t)count + 1), taken = 0;
    note_ranges(steps, count, job->status.completed_indexes);
    note_ranges(steps, count, job->status.failed_indexes);
    note_pods(steps, count, owned);
    all.differ = expand__asks_own_label(&all.template->spec, INDEX_KEY);
    for (int64_t i = 0; i < count && wanted > 0; i++) {
        taken += steps[i];
        if (taken)
            continue;
        if (!expand__members_pay(e, &all, EXPAND__CLASS_BYTES) || !make_indexed_pod(e, &all, i))
            return;
        wanted--;
    }
}

static int64_t count_succeeded(const struct api_job *job, const struct expand_owned *owned) {
    int64_t n = 0;
    for (size_t i = 0; owned && i < owned->pods.n; i++)
        n += str_is(((const struct api_pod *)owned->pods.v[i]->body)->status.phase, "Succeeded");
    return n > job->status.succeeded ? n : job->status.succeeded;
}

static void expand_job(struct expand *e, const struct api_object *o) {
    const struct api_job *job = o->body;
    const struct expand_owned *owned = expand__owned(e, o);
    int64_t wanted = job->spec.parallelism.set ? job->spec.parallelism.v : 1;
    if (is_finished(job))
        return;
    if (job->spec.completions.set) {
        int64_t left = job->spec.completions.v - count_succeeded(job, owned);
        wanted = left < wanted ? left : wanted;
    }
    wanted -= expand__count_active(owned);
    if (str_is(job->spec.completion_mode, "Indexed") && job->spec.completions.set)
        make_indexed(e, o, wanted);
    else
        expand__replicas(e, o, job_template(e, o), wanted);
}

static void skip_cron_job(struct expand *e, const struct api_object *o) {
    AUTO(arena_release) struct arena a = {0};
    (void)o;
    e->c->note(e->c->ctx,
               arena_printf(&a, "%.*s: skipped: it makes jobs only when its time has come",
                            STR_ARG(e->maker)));
}

/* ---- all of them ---- */

static const struct workload {
    enum api_type_id type;
    const char *resource; /* as kubectl calls one */
    expand_fn *expand;
    expand_roll_fn *roll; /* NULL: changes are no rollout */
} workloads[] = {
    {API_T_deployment, "deployment.apps", expand_deployment, expand__roll_deployment},
    {API_T_replica_set, "replicaset.apps", expand_replica_set, NULL},
    {API_T_replication_controller, "replicationcontroller", expand_replication_controller, NULL},
    {API_T_stateful_set, "statefulset.apps", expand__stateful_set, expand__roll_stateful_set},
    {API_T_daemon_set, "daemonset.apps", expand__daemon_set, expand__roll_daemon_set},
    {API_T_job, "job.batch", expand_job, NULL},
    {API_T_cron_job, "cronjob.batch", skip_cron_job, NULL},
};

static void expand_as(struct expand *e, const struct workload *w, const struct api_object *o) {
    if (o->meta->deletion_timestamp.set)
        return;
    if (!e->before || !w->roll || !w->roll(e, o))
        w->expand(e, o);
}

static void expand_object(struct expand *e, const struct controller_object *it) {
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        if (!api_object_is(it->object, workloads[i].type))
            continue;
        e->stored = it->stored;
        e->before = it->before;
        e->maker = arena_printf(&e->arena, "%s/%.*s", workloads[i].resource,
                                STR_ARG(it->object->meta->name));
        expand_as(e, &workloads[i], it->object);
    }
}

static void release(struct expand *e) {
    size_t at = 0;
    for (struct map_entry *entry; (entry = map_next(&e->owned, &at));) {
        struct expand_owned *owned = entry->value;
        vec_release(&owned->pods);
        vec_release(&owned->replica_sets);
    }
    map_release(&e->owned);
    map_release(&e->changed);
    expand__daemons_free(e->daemons);
    arena_release(&e->arena);
}

void controller_expand(const struct controller_cluster *cluster,
                       const struct controller_object *objects, size_t n,
                       struct controller_made *made) {
    struct expand e = {.c = cluster,
                       .objects = objects,
                       .object_count = n,
                       .made = made,
                       .owned = MAP_INIT(map_random_seed()),
                       .changed = MAP_INIT(map_random_seed())};
    for (size_t i = 0; i < n; i++) {
        if (objects[i].object)
            index_object(&e, objects[i].object);
        if (objects[i].object && objects[i].before)
            map_put_const(&e.changed, objects[i].object->meta->uid, objects[i].object);
    }
    for (size_t i = 0; i < n; i++) {
        cluster->begin(cluster->ctx, i);
        if (objects[i].object)
            expand_object(&e, &objects[i]);
    }
    release(&e);
}
