/*
 * Deleting: conditions, admission, grace, and the finalizers that stand for garbage collection.
 *
 * Follows k8s.io/apiserver pkg/registry/rest, func BeforeDelete.
 * Follows k8s.io/apiserver pkg/registry/generic/registry, func (*Store) Delete,
 * func (*Store) updateForGracefulDeletionAndFinalizers,
 * func deletionFinalizersForGarbageCollection, func markAsDeleting, func ShouldDeleteDuringUpdate.
 */
#include <assert.h>

#include "registry/admission/admission_int.h"

#define ORPHAN     STR("orphan")
#define FOREGROUND STR("foregroundDeletion")

/* ---- what kinds do differently ---- */

/* What becomes of dependents when neither the request nor a finalizer says so. */
enum dependents {
    DEPENDENTS_DELETED,
    DEPENDENTS_ORPHANED,
    DEPENDENTS_NONE, /* the garbage collector does not know the kind */
};

/* The grace period of an object, given the one that was asked for. */
typedef int64_t grace_fn(const struct api_object *o, struct api_opt_i64 asked);

struct strategy {
    enum api_type_id type;
    enum dependents dependents;
    grace_fn *grace; /* NULL: there is none */
};

/* Follows k8s.io/kubernetes pkg/registry/core/pod, func (podStrategy) CheckGracefulDelete. */
static int64_t pod_grace(const struct api_object *o, struct api_opt_i64 asked) {
    const struct api_pod *pod = o->body;
    int64_t period = asked.set ? asked.v : pod->spec.termination_grace_period_seconds.v;
    if (!pod->spec.node_name.n || api_pod_has_ended(pod))
        return 0;
    return period < 0 ? 1 : period;
}

static const struct strategy strategies[] = {
    {API_T_pod, DEPENDENTS_DELETED, pod_grace},
    {API_T_job, DEPENDENTS_ORPHANED, NULL},
    {API_T_replication_controller, DEPENDENTS_ORPHANED, NULL},
    {API_T_event, DEPENDENTS_NONE, NULL},
};

static const struct strategy *strategy_of(const struct api_object *o) {
    static const struct strategy others;
    for (size_t i = 0; i < sizeof strategies / sizeof *strategies; i++)
        if (api_object_is(o, strategies[i].type))
            return &strategies[i];
    return &others;
}

/* ---- one deletion ---- */

struct deletion {
    struct registry__admission admission;
    const struct strategy *strategy;
    const struct api_delete_options *options;
    struct api_opt_i64 grace; /* as asked for or worked out; never negative */
    struct api_time now;
    struct api_object_meta *meta;
};

/* Seconds that do not fit into Go's nanoseconds wrap around as they do there. */
static struct api_time later(struct api_time t, int64_t seconds) {
    enum { BILLION = 1000000000 };
    int64_t ns = (int64_t)((uint64_t)seconds * BILLION);
    int64_t rest = t.nsec + ns % BILLION;
    int64_t carry = rest < 0 ? -1 : rest >= BILLION;
    return (struct api_time){.sec = t.sec + ns / BILLION + carry,
                             .nsec = (int32_t)(rest - carry * BILLION),
                             .set = true};
}

static bool is_before(struct api_time a, struct api_time b) {
    return a.sec != b.sec ? a.sec < b.sec : a.nsec < b.nsec;
}

static void set_grace(struct api_object_meta *m, struct api_time end, int64_t period) {
    m->deletion_timestamp = end;
    m->deletion_grace_period_seconds = (struct api_opt_i64){true, period};
}

/* A first mark is news to controllers; objects without a generation do not count them. */
static void count_mark(struct api_object_meta *m) {
    if (!m->deletion_timestamp.set && m->generation > 0)
        m->generation++;
}

/* ---- grace ---- */

enum grace { GRACE_NONE, GRACE_GIVEN, GRACE_RUNNING };

/* Of a deletion that has begun, the grace period can only become shorter, and end now at best. */
static enum grace shorten_grace(struct deletion *d) {
    struct api_object_meta *m = d->meta;
    int64_t old = m->deletion_grace_period_seconds.v, period = d->grace.v;
    if (!old)
        return GRACE_NONE;
    if (!d->grace.set || period >= old)
        return GRACE_RUNNING;
    struct api_time end = later(later(m->deletion_timestamp, -old), period);
    if (is_before(end, d->now)) {
        end = d->now;
        period = period ? 1 : 0;
    }
    set_grace(m, end, period);
    return GRACE_GIVEN;
}

static enum grace give_grace(struct deletion *d) {
    if (!d->strategy->grace)
        return GRACE_NONE;
    if (d->meta->deletion_timestamp.set)
        return shorten_grace(d);
    d->grace = (struct api_opt_i64){true, d->strategy->grace(d->admission.o, d->grace)};
    count_mark(d->meta);
    set_grace(d->meta, later(d->now, d->grace.v), d->grace.v);
    return GRACE_GIVEN;
}

/* ---- finalizers of the garbage collector ---- */

static bool has_finalizer(const struct api_strs *list, struct str name) {
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i], name))
            return true;
    return false;
}

/* What was asked for goes before what the object has, and that before what its kind does. */
static bool wants_orphans(const struct deletion *d) {
    const struct api_delete_options *options = d->options;
    if (options->orphan_dependents.set)
        return options->orphan_dependents.v;
    if (options->propagation_policy.p)
        return str_is(options->propagation_policy, "Orphan");
    for (size_t i = 0; i < d->meta->finalizers.n; i++) {
        bool orphan = str_eq(d->meta->finalizers.v[i], ORPHAN);
        if (orphan || str_eq(d->meta->finalizers.v[i], FOREGROUND))
            return orphan;
    }
    return d->strategy->dependents == DEPENDENTS_ORPHANED;
}

static bool wants_foreground(const struct deletion *d) {
    const struct api_delete_options *options = d->options;
    if (options->orphan_dependents.set)
        return false;
    if (options->propagation_policy.p)
        return str_is(options->propagation_policy, "Foreground");
    for (size_t i = 0; i < d->meta->finalizers.n; i++) {
        bool foreground = str_eq(d->meta->finalizers.v[i], FOREGROUND);
        if (foreground || str_eq(d->meta->finalizers.v[i], ORPHAN))
            return foreground;
    }
    return false;
}

/* The finalizers without those two, and then with those that are wanted. As a set that is the same
 * as before it stays in its order. */
static struct api_strs with_wanted(const struct deletion *d, bool orphan, bool foreground) {
    const struct api_strs *old = &d->meta->finalizers;
    bool had_orphan = has_finalizer(old, ORPHAN), had_foreground = has_finalizer(old, FOREGROUND);
    if (orphan == had_orphan && foreground == had_foreground)
        return *old;
    struct api_strs list = {arena_array(&d->admission.o->arena, struct str, old->n + 2), 0};
    for (size_t i = 0; i < old->n; i++)
        if (!str_eq(old->v[i], ORPHAN) && !str_eq(old->v[i], FOREGROUND))
            list.v[list.n++] = old->v[i];
    if (orphan)
        list.v[list.n++] = ORPHAN;
    if (foreground)
        list.v[list.n++] = FOREGROUND;
    return list;
}

static struct api_strs finalizers_of(const struct deletion *d) {
    bool collected = d->strategy->dependents != DEPENDENTS_NONE;
    return with_wanted(d, collected && wants_orphans(d), collected && wants_foreground(d));
}

/* ---- the object goes, or is marked ---- */

static void mark_as_deleting(struct deletion *d) {
    struct api_time end = d->meta->deletion_timestamp;
    count_mark(d->meta);
    set_grace(d->meta, end.set && !is_before(d->now, end) ? end : d->now, 0);
}

/* What goes without having been marked is seen last as it was stored. */
static enum registry_deletion delete_stored(struct deletion *d) {
    enum grace grace = give_grace(d);
    if (grace == GRACE_RUNNING)
        return REGISTRY_DELETION_PENDING;
    struct api_strs finalizers = finalizers_of(d);
    if (grace == GRACE_NONE && !finalizers.n)
        return REGISTRY_DELETION_NOW;
    d->meta->finalizers = finalizers;
    if (grace == GRACE_NONE)
        mark_as_deleting(d);
    return finalizers.n || (grace == GRACE_GIVEN && d->grace.v > 0) ? REGISTRY_DELETION_MARKED
                                                                    : REGISTRY_DELETION_NOW;
}

/*
 * A namespace is emptied by its controller first: it is marked, and goes when its own finalizers
 * are gone.
 *
 * Follows k8s.io/kubernetes pkg/registry/core/namespace/storage, func (*REST) Delete.
 */
static enum registry_deletion delete_namespace(struct deletion *d) {
    struct api_namespace *ns = api_own_body(d->admission.o);
    const struct api_delete_options *options = d->options;
    struct str policy = options->propagation_policy;
    bool orphan = has_finalizer(&d->meta->finalizers, ORPHAN);
    bool foreground = has_finalizer(&d->meta->finalizers, FOREGROUND);
    if (d->meta->deletion_timestamp.set)
        return ns->spec.finalizers.n ? REGISTRY_DELETION_PENDING : delete_stored(d);
    if (options->orphan_dependents.set) {
        orphan = options->orphan_dependents.v;
        foreground = !orphan;
    } else if (policy.p) {
        orphan = str_is(policy, "Orphan");
        foreground = str_is(policy, "Foreground");
    }
    d->meta->deletion_timestamp = d->now;
    d->meta->finalizers = with_wanted(d, orphan, foreground);
    ns->status.phase = STR("Terminating");
    return REGISTRY_DELETION_MARKED;
}

/* ---- conditions ---- */

/* What is said around the value that was asked for and the one that is. */
struct condition {
    struct str before, between, after;
};

enum { CONDITION_UID, CONDITION_VERSION };

static const struct condition conditions[] = {
    [CONDITION_UID] = {STR_INIT("the UID in the precondition ("),
                       STR_INIT(") does not match the UID in record ("),
                       STR_INIT("). The object might have been deleted and then recreated")},
    [CONDITION_VERSION] = {STR_INIT("the ResourceVersion in the precondition ("),
                           STR_INIT(") does not match the ResourceVersion in record ("),
                           STR_INIT("). The object might have been modified")},
};

static const struct condition namespace_conditions[] = {
    [CONDITION_UID] = {STR_INIT("Precondition failed: UID in precondition: "),
                       STR_INIT(", UID in object meta: "), STR_INIT("")},
    [CONDITION_VERSION] = {STR_INIT("Precondition failed: ResourceVersion in precondition: "),
                           STR_INIT(", ResourceVersion in object meta: "), STR_INIT("")},
};

/* Holds what was asked for, if anything was, against what is. */
static struct registry_failure require(const struct deletion *d, int which, struct str asked,
                                       struct str is) {
    const struct api_object *o = d->admission.o;
    if (!asked.p || str_eq(asked, is))
        return (struct registry_failure){.code = ERR_NONE};
    AUTO(buf_release) struct buf why = BUF_INIT(SIZE_MAX);
    bool is_namespace = api_object_is(o, API_T_namespace);
    const struct condition *c = is_namespace ? &namespace_conditions[which] : &conditions[which];
    buf_add(&why, c->before);
    buf_add(&why, asked);
    buf_add(&why, c->between);
    buf_add(&why, is);
    buf_add(&why, c->after);
    return registry__conflict(
        d->admission.a, o, is_namespace ? str_of(o->kind->plural) : o->names->kind, buf_view(&why));
}

static struct registry_failure check_request(const struct deletion *d) {
    struct arena *a = d->admission.a;
    const struct api_preconditions *conditions_of = d->options->preconditions;
    struct valid_errs *errs = arena_new(a, struct valid_errs);
    *errs = VALID_ERRS_INIT(a);
    valid_delete_options(d->options, errs);
    if (errs->n)
        return registry_invalid_options(a, STR("DeleteOptions"), errs);
    if (!conditions_of)
        return (struct registry_failure){.code = ERR_NONE};
    struct registry_failure f = require(d, CONDITION_UID, conditions_of->uid, d->meta->uid);
    return f.code ? f
                  : require(d, CONDITION_VERSION, conditions_of->resource_version,
                            d->meta->resource_version);
}

struct registry_failure registry_delete(const struct registry *r,
                                        const struct registry_request *request, struct arena *a,
                                        const struct api_delete_options *options,
                                        struct api_object *o, enum registry_deletion *out) {
    struct deletion d = {
        .admission =
            {.registry = r, .request = request, .a = a, .operation = REGISTRY_DELETE, .o = o},
        .strategy = strategy_of(o),
        .options = options,
        .grace = options->grace_period_seconds,
        .now = request->now,
        .meta = api_own_meta(o),
    };
    assert(request->now.set);
    struct registry_failure failure = check_request(&d);
    if (failure.code)
        return failure;
    if (d.grace.v < 0)
        d.grace.v = 1;
    *out = api_object_is(o, API_T_namespace) ? delete_namespace(&d) : delete_stored(&d);
    if (*out != REGISTRY_DELETION_PENDING && registry__mutate(&d.admission))
        registry__validate(&d.admission);
    return d.admission.failure;
}

bool registry_update_ends(const struct api_object *o, const struct api_object *old) {
    const struct api_namespace *ns = api_object_is(o, API_T_namespace) ? o->body : NULL;
    return !o->meta->finalizers.n && old->meta->deletion_timestamp.set &&
           !old->meta->deletion_grace_period_seconds.v && !(ns && ns->spec.finalizers.n);
}
