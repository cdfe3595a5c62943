/*
 * The scheduler: what it is told of objects, and its decisions.
 *
 * Follows k8s.io/kubernetes pkg/scheduler, func (*Scheduler) ScheduleOne,
 * func (*Scheduler) schedulingCycle, func (*Scheduler) handleSchedulingFailure.
 */
#include "sched/sched.h"

#include <string.h>

#include "api/object.h"
#include "base/alloc.h"
#include "base/clock.h"
#include "sched/eval_int.h"
#include "sched/metrics_int.h"
#include "sched/plugin_int.h"
#include "sched/preempt_int.h"
#include "sched/queue/queue_int.h"
#include "sched/times_int.h"
#include "sched/topology/count_int.h"
#include "sched/topology/services_int.h"
#include "sched/volumes/volumes_int.h"

static void hold(struct sched *s, const struct sched_weighted_resource *v, size_t n) {
    for (size_t i = 0; i < n; i++)
        sched__resource_ref(s, sched__resource_get(s, v[i].name));
}

/* Resources that the configuration scores have columns, whether or not pods ask for them. */
static void hold_scored(struct sched *s) {
    for (size_t i = 0; i < s->config->profile_count; i++) {
        const struct sched_profile *p = &s->config->profiles[i];
        hold(s, p->fit_resources, p->fit_resource_count);
        hold(s, p->balanced_resources, p->balanced_resource_count);
    }
}

struct sched *sched_new(const struct sched_opts *opts) {
    struct sched *s = xcalloc(1, sizeof *s);
    s->gates = *opts->gates;
    s->config = opts->config ? opts->config : sched_config_default(&s->arena);
    s->clock = opts->clock;
    s->stopwatch = opts->stopwatch ? opts->stopwatch : opts->clock;
    s->times = opts->stopwatch ? xcalloc(1, sizeof *s->times) : NULL;
    s->seed = opts->seed;
    s->tie_state = opts->tie_seed;
    s->key = BUF_INIT(SIZE_MAX);
    s->atoms = intern_new(s->seed);
    s->engine = opts->engine;
    s->match = match_new(s->atoms, &s->gates, opts->engine, s->seed);
    match_set_log(s->match, opts->log);
    s->pods = MAP_INIT(s->seed);
    s->pod_classes = MAP_INIT(s->seed);
    s->podsets = MAP_INIT(s->seed);
    s->partitions = MAP_INIT(s->seed);
    s->eligibles = MAP_INIT(s->seed);
    s->existing_terms = MAP_INIT(s->seed);
    s->facets = (struct sched__facets){.classes = MAP_INIT(s->seed),
                                       .podsets = MAP_INIT(s->seed),
                                       .existing_terms = MAP_INIT(s->seed)};
    sched__store_init(s);
    sched__nodes_init(s);
    hold_scored(s);
    s->metrics = sched__metrics_new(s);
    s->queue = sched__queue_new(s);
    return s;
}

/* A buffer for keys that one large pod has made larger than this is not kept. */
enum { MOST_KEY = 1 << 16 };

/* Gives back what came and went. Nobody counts on anything uncounted between two calls from
 * outside. Each sweep is due when so much was made that it costs a constant time for each; what is
 * stale goes at once. */
static void sweep(struct sched *s) {
    if (s->key.cap > MOST_KEY)
        buf_release(&s->key);
    sched__nodes_sweep(s);
    sched__tallies_sweep(s);
    sched__topologies_sweep(s);
    sched__services_sweep(s);
    sched__budgets_sweep(s);
    sched__volumes_sweep(s);
    if (match_wants_sweep(s->match))
        match_sweep(s->match);
    if (intern_wants_sweep(s->atoms))
        intern_sweep(s->atoms);
}

/* Pods that wait for such a thing are tried again. */
static void tell(struct sched *s, const struct api_object *before, const struct api_object *after) {
    struct sched__event event = {
        .bits = sched__event_bits(before, after), .before = before, .after = after};
    if (event.bits)
        sched__queue_event(s, &event);
}

/* ---- pods ---- */

static struct sched_pod *pod_find(struct sched *s, const struct api_object_meta *meta) {
    buf_clear(&s->key);
    buf_add(&s->key, meta->namespace);
    buf_add_char(&s->key, '/');
    buf_add(&s->key, meta->name);
    struct sched_pod *p = map_get(&s->pods, buf_view(&s->key));
    return p;
}

/* A pod whose key pod_find left in s->key. */
static struct sched_pod *pod_new(struct sched *s, struct str uid) {
    struct str key = buf_view(&s->key);
    struct sched_pod *p = xcalloc(1, sizeof *p + key.n + uid.n);
    char *text = (char *)(p + 1);
    memcpy(text, key.p, key.n);
    p->key = (struct str){text, key.n};
    if (uid.n)
        memcpy(text + key.n, uid.p, uid.n);
    p->uid = (struct str){text + key.n, uid.n};
    p->node = p->nominated = SCHED__NONE;
    map_put(&s->pods, p->key, p);
    return p;
}

static void pod_free(struct sched *s, struct sched_pod *p) {
    uint32_t slot = p->node;
    if (sched__queue_is_binding(p))
        sched__volumes_forget(s, p);
    sched__queue_remove(s, p);
    if (slot != SCHED__NONE) {
        sched__pod_unplace(s, p);
        sched__node_drop_idle(s, slot);
    }
    map_del(&s->pods, p->key);
    sched__pod_class_unref(s, p->cls);
    intern_unref(p->nominated_node_name);
    api_object_unref(p->latest);
    free(p);
}

/* Takes the pod as it is now; it is on no node. */
static void pod_adopt(struct sched *s, struct sched_pod *p, const struct api_object *object) {
    struct sched__pod_class *old = p->cls;
    if (p->nominated != SCHED__NONE) {
        sched__beside_forget(s, p->nominated);
        sched__node_touch(s, p->nominated);
    }
    p->cls = sched__pod_class_get(s, object);
    if (old)
        sched__pod_class_unref(s, old);
    sched__pod_read(s, p, object);
}

/* The pod as it was, to be compared with what it is then: its class and atoms stay. */
static struct sched_pod remember(const struct sched_pod *p) {
    struct sched_pod before = *p;
    if (before.cls)
        sched__pod_class_ref(before.cls);
    if (before.nominated_node_name)
        intern_ref(before.nominated_node_name);
    return before;
}

static void release(struct sched *s, struct sched_pod *before) {
    if (before->cls)
        sched__pod_class_unref(s, before->cls);
    intern_unref(before->nominated_node_name);
}

static void drop_latest(struct sched_pod *p) {
    api_object_unref(p->latest);
    p->latest = NULL;
}

static void set_placed(struct sched *s, struct sched_pod *p, const struct api_object *object) {
    const struct api_pod *body = object->body;
    uint32_t before = p->node;
    if (sched__queue_is_binding(p))
        sched__queue_bound(s, p);
    sched__queue_remove(s, p);
    if (before != SCHED__NONE)
        sched__pod_unplace(s, p);
    pod_adopt(s, p, object);
    drop_latest(p);
    p->assumed = false;
    sched__pod_place(s, p, sched__node_get(s, body->spec.node_name));
    if (before != SCHED__NONE && before != p->node)
        sched__node_drop_idle(s, before);
}

/* Pods that wait may have what the pod, as it was, took on its node or of volumes. */
static void tell_freed(struct sched *s, const struct sched_pod *was) {
    sched__queue_event(s, &(struct sched__event){.bits = SCHED__ASSIGNED_POD_DELETE,
                                                 .before = was->cls->sample,
                                                 .had_node = sched__pod_has_node(was)});
}

/* The node that the pod was assumed to be on is free of it. */
static void unassume(struct sched *s, struct sched_pod *p) {
    uint32_t slot = p->node;
    sched__pod_unplace(s, p);
    p->assumed = false;
    sched__node_drop_idle(s, slot);
}

/* The binding of a pod whose deletion has begun goes on, and will fail: its node is free at once,
 * its volumes are when that is known. All other news of the pending self of a pod that is being
 * bound matter only if the binding fails.
 *
 * Follows k8s.io/kubernetes pkg/scheduler, func (*Scheduler) handleAssumedPodDeletion. */
static void set_binding(struct sched *s, struct sched_pod *p, const struct api_object *object) {
    drop_latest(p);
    p->latest = api_object_ref(object);
    if (!p->assumed || !object->meta->deletion_timestamp.set)
        return;
    struct sched_pod last = remember(p);
    unassume(s, p);
    tell_freed(s, &last);
    release(s, &last);
}

static void set_pending(struct sched *s, struct sched_pod *p, const struct api_object *object) {
    if (sched__queue_is_binding(p)) {
        set_binding(s, p, object);
        return;
    }
    struct sched_pod before = remember(p);
    if (p->node != SCHED__NONE) {
        sched__pod_unplace(s, p);
        sched__node_drop_idle(s, before.node);
    }
    pod_adopt(s, p, object);
    if (sched__pod_class_is_ignored(p->cls))
        sched__queue_remove(s, p);
    else if (!before.cls)
        sched__queue_add(s, p);
    else
        sched__queue_update(s, p, &before);
    release(s, &before);
}

static void delete_pod(struct sched *s, struct sched_pod *p) {
    struct sched_pod last = remember(p);
    bool frees = p->node != SCHED__NONE || sched__queue_is_binding(p);
    pod_free(s, p);
    if (frees) /* whether or not its object knows of a node */
        tell_freed(s, &last);
    else
        sched__queue_freed(s, &last);
    release(s, &last);
}

/* The pod of that name, if it is the one; NULL: it is not there. */
static struct sched_pod *pod_named(struct sched *s, const struct sched_pod_name *pod) {
    struct api_object_meta meta = {.namespace = pod->namespace, .name = pod->name};
    struct sched_pod *p = pod_find(s, &meta);
    return p && str_eq(p->uid, pod->uid) ? p : NULL;
}

bool sched_activate(struct sched *s, const struct sched_pod_name *pod) {
    struct sched_pod *p = pod_named(s, pod);
    return p && sched__queue_activate(s, p);
}

bool sched_forget(struct sched *s, const struct sched_pod_name *pod) {
    struct sched_pod *p = pod_named(s, pod);
    if (!p || !sched__queue_is_binding(p))
        return false;
    struct sched_pod last = remember(p);
    sched__metrics_attempt(s, p->queued->profile, SCHED_FAILED, p->queued->seconds);
    sched__volumes_forget(s, p);
    if (p->assumed)
        unassume(s, p);
    tell_freed(s, &last);
    release(s, &last);
    if (p->latest)
        pod_adopt(s, p, p->latest);
    drop_latest(p);
    if (sched__pod_class_is_ignored(p->cls))
        sched__queue_remove(s, p);
    else
        sched__queue_failed(s, p, 0, true);
    return true;
}

/* Pods that wait are told of a pod on its node; before: what it was there, or on no node. */
static void tell_placed(struct sched *s, const struct sched_pod *before,
                        const struct sched_pod *p) {
    bool is_new = before->node == SCHED__NONE || before->assumed; /* on a node */
    struct sched__event event = {.bits = sched__pod_bits(s, is_new ? NULL : before, p),
                                 .before = is_new ? NULL : before->cls->sample,
                                 .after = p->cls->sample,
                                 .had_node = !is_new,
                                 .has_node = true};
    if (event.bits)
        sched__queue_event(s, &event);
}

static void set_pod(struct sched *s, const struct api_object *object) {
    const struct api_pod *body = object->body;
    struct sched_pod *p = pod_find(s, object->meta);
    bool other = p && !str_eq(p->uid, object->meta->uid); /* nobody told of its end */
    if (p && (other || api_pod_has_ended(body))) {
        delete_pod(s, p);
        p = pod_find(s, object->meta);
    }
    if (api_pod_has_ended(body))
        return;
    if (!p)
        p = pod_new(s, object->meta->uid);
    if (!body->spec.node_name.n) {
        set_pending(s, p, object);
        return;
    }
    struct sched_pod before = remember(p);
    set_placed(s, p, object);
    tell_placed(s, &before, p);
    release(s, &before);
}

/* ---- other objects ---- */

static void set_node(struct sched *s, const struct api_object *object) {
    uint32_t slot = sched__node_find(s, object->meta->name);
    const struct api_object *before = slot == SCHED__NONE ? NULL : s->nodes.v[slot].object;
    if (before)
        api_object_ref(before);
    sched__node_set(s, object);
    tell(s, before, object);
    api_object_unref(before);
}

static bool is_kind(const struct api_object *o, const char *kind) {
    return o->kind && strcmp(o->kind->kind, kind) == 0;
}

void sched_set(struct sched *s, const struct api_object *object) {
    sweep(s);
    if (is_kind(object, "Pod")) {
        set_pod(s, object);
    } else if (is_kind(object, "Node")) {
        set_node(s, object);
    } else {
        const struct api_object *before = sched__store_set(s, object);
        tell(s, before, object);
        api_object_unref(before);
    }
}

void sched_delete(struct sched *s, const struct api_object *object) {
    sweep(s);
    if (is_kind(object, "Pod")) {
        struct sched_pod *p = pod_find(s, object->meta);
        if (p)
            delete_pod(s, p);
    } else if (is_kind(object, "Node")) {
        uint32_t slot = sched__node_find(s, object->meta->name);
        const struct api_object *before = slot == SCHED__NONE ? NULL : s->nodes.v[slot].object;
        if (!before)
            return;
        api_object_ref(before);
        sched__node_delete(s, object->meta->name);
        tell(s, before, NULL);
        api_object_unref(before);
    } else {
        const struct api_object *before = sched__store_delete(s, object);
        if (before)
            tell(s, before, NULL);
        api_object_unref(before);
    }
}

void sched_free(struct sched *s) {
    if (!s)
        return;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->pods, &at));)
        pod_free(s, e->value);
    sched__evals_release(s);
    sched__queue_free(s);
    sched__metrics_free(s->metrics);
    free(s->times);
    sched__count_release(s);
    sched__nodes_release(s);
    sched__volumes_release(s);
    sched__budgets_release(s);
    sched__store_release(s);
    map_release(&s->pods);
    map_release(&s->pod_classes);
    vec_release(&s->changes);
    match_free(s->match);
    intern_free(s->atoms);
    arena_release(&s->cycle);
    arena_release(&s->scratch);
    arena_release(&s->arena);
    buf_release(&s->key);
    free(s);
}

/* ---- decisions ---- */

/* The pod is on its node from now on, as far as the next decisions are concerned. */
static void assume(struct sched *s, struct sched_pod *p, uint32_t slot, struct sched_result *out) {
    sched__unnominate(s, p);
    sched__volumes_assume(s, p, slot, out);
    sched__pod_place(s, p, slot);
    p->assumed = true;
}

/* PreFilter; false: the pod is rejected, or it failed. */
static bool pre_filter(struct sched__cycle *cy) {
    int64_t start = sched__stopwatch_read(cy->s);
    sched__cycle_pre_filter(cy);
    enum sched_code code = cy->error.p ? SCHED_CODE_ERROR : cy->rejected.code;
    sched__metrics_point(cy, SCHED_PRE_FILTER, code, sched__stopwatch_read(cy->s) - start);
    return code == SCHED_CODE_SUCCESS;
}

/* Filter. Its time is without that of scores: a node that is asked again is scored at once. */
static void filter(struct sched__cycle *cy) {
    int64_t start = sched__stopwatch_read(cy->s);
    sched__cycle_ask_nodes(cy);
    int64_t scores = sched__times_sum(cy, SCHED_PRE_SCORE) + sched__times_sum(cy, SCHED_SCORE);
    sched__metrics_point(cy, SCHED_FILTER, cy->error.p ? SCHED_CODE_ERROR : SCHED_CODE_SUCCESS,
                         sched__stopwatch_read(cy->s) - start - scores);
}

/* PreScore and Score, if there is a choice. */
static uint32_t choose(struct sched__cycle *cy) {
    int64_t start = sched__stopwatch_read(cy->s);
    int64_t prepared = sched__times_sum(cy, SCHED_PRE_SCORE);
    int64_t scored = sched__times_sum(cy, SCHED_SCORE);
    uint32_t slot = sched__cycle_choose(cy);
    if (cy->feasible < 2)
        return slot;
    int64_t taken = sched__stopwatch_read(cy->s) - start;
    int64_t preparing = sched__times_sum(cy, SCHED_PRE_SCORE);
    enum sched_code code = cy->error.p ? SCHED_CODE_ERROR : SCHED_CODE_SUCCESS;
    sched__metrics_point(cy, SCHED_PRE_SCORE, code, preparing);
    if (code == SCHED_CODE_SUCCESS)
        sched__metrics_point(cy, SCHED_SCORE, code, scored + taken - (preparing - prepared));
    return slot;
}

/* PostFilter. What filters are asked there is its own time, not theirs. */
static void preempt(struct sched__cycle *cy, struct sched_result *out) {
    struct sched__times *times = cy->times;
    cy->times = NULL;
    int64_t start = sched__stopwatch_read(cy->s);
    enum sched_code code = sched__preempt(cy, out);
    int64_t taken = sched__stopwatch_read(cy->s) - start;
    sched__metrics_point(cy, SCHED_POST_FILTER, code, taken);
    cy->times = times;
    if (times && sched_order_has(&cy->profile->points[SCHED_POST_FILTER], SCHED_PREEMPTION))
        sched__metrics_plugin(cy, SCHED_POST_FILTER, SCHED_PREEMPTION, code, taken);
}

static void decide(struct sched__cycle *cy, struct sched_result *out) {
    struct sched *s = cy->s;
    if (!s->nodes.live) {
        out->outcome = SCHED_UNSCHEDULABLE;
        out->message = STR("no nodes available to schedule pods");
        sched__unnominate(s, cy->pod);
        return;
    }
    if (pre_filter(cy))
        filter(cy);
    if (cy->feasible && !cy->error.p) {
        uint32_t slot = choose(cy);
        if (slot != SCHED__NONE) {
            out->outcome = SCHED_SCHEDULED;
            out->node = arena_str(cy->arena, intern_text(s->nodes.v[slot].name));
            assume(s, cy->pod, slot, out);
            return;
        }
    }
    if (cy->error.p) {
        out->outcome = SCHED_FAILED;
        out->message = cy->error;
        sched__unnominate(s, cy->pod);
        return;
    }
    out->outcome = SCHED_UNSCHEDULABLE;
    out->message = sched__cycle_message(cy);
    preempt(cy, out);
}

/* Which plug-ins rejected the pod on some node: their events are worth another try. */
static uint32_t rejecting_plugins(const struct sched__cycle *cy) {
    uint32_t mask = 0;
    enum sched_plugin plugin;
    if (sched_plugin_find(cy->rejected.plugin, &plugin))
        mask |= 1U << plugin;
    bool given[SCHED__REASON_COUNT] = {0};
    for (uint32_t i = 0; cy->verdict && i < cy->s->nodes.n; i++)
        given[cy->verdict[i]] = true;
    if (given[SCHED__ABSENT])
        mask |= 1U << SCHED_NODE_AFFINITY;
    for (enum sched__reason r = SCHED__ABSENT + 1; r < SCHED__REASON_COUNT; r++)
        if (given[r])
            mask |= 1U << sched__reason_row(r)->plugin;
    return mask;
}

/* Follows k8s.io/kubernetes pkg/scheduler, func (*Scheduler) skipPodSchedule. */
static void skip(struct sched *s, struct sched_pod *p, struct sched_result *out) {
    *out = (struct sched_result){.pod = sched__pod_name(p, &s->cycle), .outcome = SCHED_SKIPPED};
    out->message = arena_printf(&s->cycle, "skip schedule deleting pod: %.*s", STR_ARG(p->key));
    sched__queue_skip(s, p);
}

bool sched_next(struct sched *s, struct sched_result *out) {
    sweep(s);
    struct sched_pod *p = sched__queue_pop(s);
    if (!p)
        return false;
    arena_reset(&s->cycle);
    if (p->terminating) {
        skip(s, p, out);
        return true;
    }
    struct sched__cycle cy = {
        .s = s, .pod = p, .cls = p->cls, .profile = p->cls->profile, .arena = &s->cycle};
    sched__times_start(&cy);
    *out = (struct sched_result){.pod = sched__pod_name(p, &s->cycle)};
    int64_t start = sched__stopwatch_read(s);
    decide(&cy, out);
    double seconds = (double)(sched__stopwatch_read(s) - start) / (double)CLOCK_SECOND;
    sched__metrics_cycle(&cy, seconds);
    sched__times_tell(&cy);
    sched__metrics_operators(&cy, out->outcome);
    if (p->nominated != SCHED__NONE)
        out->nominated = arena_str(&s->cycle, intern_text(s->nodes.v[p->nominated].name));
    if (out->outcome == SCHED_SCHEDULED) {
        sched__queue_done(s, p, seconds);
        return true;
    }
    sched__metrics_attempt(s, p->queued->profile, out->outcome, seconds);
    sched__queue_failed(s, p, rejecting_plugins(&cy), out->outcome == SCHED_FAILED);
    return true;
}

int64_t sched_next_time(const struct sched *s) {
    return sched__queue_next_time(s);
}
