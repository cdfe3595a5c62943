/* Feeds the scheduler, runs it until it has nothing more to say, and keeps what it said. */
#include "sim/placement.h"

#include "api/object.h"
#include "base/clock.h"

/* ---- the cluster, told in the order in which things must be known ---- */

enum rank { OTHERS, NODES, BOUND, PENDING, LEFT_OUT };

static enum rank pod_rank(const struct api_pod *pod) {
    if (api_pod_has_ended(pod))
        return LEFT_OUT;
    if (pod->spec.node_name.n)
        return BOUND;
    return pod->metadata.deletion_timestamp.set ? LEFT_OUT : PENDING;
}

static enum rank rank_of(const struct api_object *o) {
    if (!o)
        return LEFT_OUT;
    if (o->type == &api_types[API_T_pod])
        return pod_rank(o->body);
    return o->type == &api_types[API_T_node] ? NODES : OTHERS;
}

static struct str name_key(struct arena *a, struct str namespace, struct str name) {
    return arena_printf(a, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(name));
}

static struct str object_key(struct sim_placement *p, const struct api_object *o) {
    return name_key(&p->arena, o->meta->namespace, o->meta->name);
}

static struct sim_placement_pod *add_pod(struct sim_placement *p, const struct api_object *o,
                                         struct str key) {
    vec_push(&p->pods, (struct sim_placement_pod){.pod = api_object_ref(o)});
    map_put(&p->by_name, key, (void *)p->pods.n);
    return &p->pods.v[p->pods.n - 1];
}

static struct sim_placement_pod *find_pod(const struct sim_placement *p, struct str key) {
    uintptr_t place = (uintptr_t)map_get(&p->by_name, key);
    return place ? &p->pods.v[place - 1] : NULL;
}

/* Few of the pods that had their node are ever asked for: those that have to go. */
static void index_bound(struct sim_placement *p) {
    for (size_t i = 0; i < p->cluster->items.n; i++) {
        const struct api_object *o = p->cluster->items.v[i].object;
        if (rank_of(o) == BOUND && !p->cluster->items.v[i].held)
            map_put_const(&p->bound, object_key(p, o), o);
    }
}

/* The pod of that name; one that was on its node before is added. */
static struct sim_placement_pod *get_pod(struct sim_placement *p, struct str namespace,
                                         struct str name) {
    AUTO(arena_release) struct arena a = {0};
    struct str key = name_key(&a, namespace, name);
    struct sim_placement_pod *pod = find_pod(p, key);
    if (pod)
        return pod;
    if (!p->bound.live)
        index_bound(p);
    const struct api_object *bound = map_get_const(&p->bound, key);
    return add_pod(p, bound, object_key(p, bound));
}

static bool has_profile(const struct sched_config *config, struct str scheduler) {
    for (size_t i = 0; i < config->profile_count; i++)
        if (str_eq(config->profiles[i].scheduler_name, scheduler))
            return true;
    return false;
}

/* What can be said of a pending pod before it is tried. */
static void expect(struct sim_placement *p, struct sim_item *item) {
    const struct api_pod_spec *spec = &((const struct api_pod *)item->object->body)->spec;
    struct sim_placement_pod *pod = add_pod(p, item->object, object_key(p, item->object));
    pod->item = item;
    pod->state = SIM_WAITING;
    p->pending++;
    if (!has_profile(p->opts->config, spec->scheduler_name)) {
        pod->state = SIM_IGNORED;
        pod->message =
            arena_printf(&p->arena, "no profile is named \"%.*s\"", STR_ARG(spec->scheduler_name));
    } else if (spec->scheduling_group &&
               feature_enabled(p->cluster->opts.gates, FEATURE_GenericWorkload)) {
        pod->state = SIM_IGNORED;
        pod->message = SCHED_NO_POD_GROUPS;
    } else if (spec->scheduling_gates.n) {
        pod->state = SIM_GATED;
        pod->message = STR("Scheduling is blocked due to non-empty scheduling gates");
    }
}

void sim__placement_begin(struct sim_placement *p, struct sim_item *item) {
    expect(p, item);
    sched_set(p->sched, item->object);
}

static void feed(struct sim_placement *p) {
    for (enum rank rank = p->opts->is_told ? PENDING : OTHERS; rank < LEFT_OUT; rank++)
        for (size_t i = 0; i < p->cluster->items.n; i++) {
            const struct api_object *o = p->cluster->items.v[i].object;
            if (rank_of(o) != rank || p->cluster->items.v[i].held)
                continue;
            if (rank == PENDING)
                sim__placement_begin(p, &p->cluster->items.v[i]);
            else
                sched_set(p->sched, o);
        }
}

/* ---- decisions ---- */

static struct str keep_text(struct sim_placement *p, struct str text) {
    if (!text.p)
        return text;
    struct str *kept = map_get(&p->texts, text);
    if (!kept) {
        kept = arena_new(&p->arena, struct str);
        *kept = arena_str(&p->arena, text);
        map_put(&p->texts, *kept, kept);
    }
    return *kept;
}

struct api_object *sim_placement_pod_now(const struct sim_placement_pod *pod) {
    struct api_object *o = api_object_derive(pod->pod);
    struct api_pod *body = api_own_body(o);
    if (pod->item && pod->node.n) {
        body->spec.node_name = arena_str(&o->arena, pod->node);
        body->status.nominated_node_name = STR("");
    }
    return o;
}

/* The binding, confirmed: others may have waited for this pod to be somewhere. */
static void bind(struct sim_placement *p, const struct sim_placement_pod *pod) {
    const struct api_object *bound = api_publish(sim_placement_pod_now(pod));
    sched_set(p->sched, bound);
    api_object_unref(bound);
}

static void end(struct sim_placement *p, struct sim_placement_pod *pod,
                enum sim_placement_state state, struct str message) {
    pod->state = state;
    if (!pod->item)
        pod->node = keep_text(p, ((const struct api_pod *)pod->pod->body)->spec.node_name);
    pod->message = message;
    pod->nominated = pod->victims = (struct str){0};
    p->last_change = clock_wall(&p->clock->clock);
    sched_delete(p->sched, pod->pod);
    sim__rollouts_note(p, pod->pod, CONTROLLER_POD_GONE);
}

void sim__placement_end(struct sim_placement *p, const struct api_object *o,
                        enum sim_placement_state state, struct str message) {
    end(p, get_pod(p, o->meta->namespace, o->meta->name), state, message);
}

static void evict(struct sim_placement *p, const struct sched_pod_name *victim, struct str message,
                  struct str scheduler) {
    struct sim_placement_pod *pod = get_pod(p, victim->namespace, victim->name);
    end(p, pod, SIM_PREEMPTED, message);
    pod->scheduler = scheduler;
}

static void evict_all(struct sim_placement *p, const struct api_pod *by,
                      const struct sched_result *r) {
    struct str scheduler = keep_text(p, by->spec.scheduler_name);
    struct str message = arena_printf(&p->arena, "preempted by %.*s/%.*s",
                                      STR_ARG(r->pod.namespace), STR_ARG(r->pod.name));
    for (size_t i = 0; i < r->victim_count; i++)
        evict(p, &r->victims[i], message, scheduler);
}

static struct str list_victims(struct sim_placement *p, const struct sched_result *r) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < r->victim_count; i++)
        buf_addf(&text, "%s%.*s/%.*s", i ? ", " : "", STR_ARG(r->victims[i].namespace),
                 STR_ARG(r->victims[i].name));
    return keep_text(p, buf_view(&text));
}

static void reject(struct sim_placement *p, struct sim_placement_pod *pod,
                   const struct sched_result *r) {
    pod->state = r->outcome == SCHED_FAILED ? SIM_FAILED : SIM_UNSCHEDULABLE;
    pod->message = keep_text(p, r->message);
    pod->victims = (struct str){0};
    pod->nominated = keep_text(p, r->nominated);
    if (!r->victim_count)
        return;
    if (p->opts->dry_run) {
        pod->victims = list_victims(p, r);
        return;
    }
    evict_all(p, pod->pod->body, r); /* may move the pods: `pod` is not valid any more */
}

static void take(struct sim_placement *p, const struct sched_result *r) {
    struct sim_placement_pod *pod = get_pod(p, r->pod.namespace, r->pod.name);
    p->decided += pod->state == SIM_WAITING;
    if (r->outcome != SCHED_SCHEDULED) {
        reject(p, pod, r);
        return;
    }
    pod->state = SIM_SCHEDULED;
    pod->node = keep_text(p, r->node);
    pod->message = pod->nominated = pod->victims = (struct str){0};
    p->last_change = clock_wall(&p->clock->clock);
    bind(p, pod);
    sim__rollouts_note(p, pod->pod, CONTROLLER_POD_READY);
}

/* ---- the run ---- */

/* Later than any time that objects tell, so that nothing happened in the future. */
static int64_t time_of(const struct sim_cluster *c) {
    const int64_t most = INT64_MAX / CLOCK_SECOND / 2;
    int64_t latest = 0;
    for (size_t i = 0; i < c->items.n; i++) {
        const struct api_object *o = c->items.v[i].object;
        if (!o)
            continue;
        if (o->meta->creation_timestamp.sec > latest)
            latest = o->meta->creation_timestamp.sec;
        if (o->type == &api_types[API_T_pod] &&
            ((const struct api_pod *)o->body)->status.start_time.sec > latest)
            latest = ((const struct api_pod *)o->body)->status.start_time.sec;
    }
    return (latest > most ? most : latest) * CLOCK_SECOND;
}

/* Does a try at this time make sense? Whoever a change has woken up is tried before the longest
 * back-off is over; nobody else's verdict would be another one. */
static bool is_worth_waiting(const struct sim_placement *p, int64_t until) {
    int64_t longest = p->opts->config->max_backoff_seconds;
    int64_t seconds = (until - p->last_change) / CLOCK_SECOND;
    return until != INT64_MAX && seconds <= longest + 1;
}

void sim__placement_continue(struct sim_placement *p) {
    for (;;) {
        struct sched_result r;
        while (sched_next(p->sched, &r)) {
            take(p, &r);
            if (p->opts->progress)
                p->opts->progress(p->opts->ctx, p->decided, p->pending);
        }
        if (sim__rollouts_step(p))
            continue;
        int64_t now = clock_wall(&p->clock->clock), next = sched_next_time(p->sched);
        if (!is_worth_waiting(p, next))
            break;
        clock_manual_advance(p->clock, next > now ? next - now : CLOCK_SECOND);
    }
}

void sim_placement_run(struct sim_placement *p, struct sim_cluster *c, struct sched *s,
                       struct clock_manual *clock, const struct sim_placement_opts *opts) {
    uint64_t seed = map_random_seed();
    *p = (struct sim_placement){.opts = opts,
                                .cluster = c,
                                .sched = s,
                                .clock = clock,
                                .by_name = MAP_INIT(seed),
                                .bound = MAP_INIT(seed),
                                .rolled = MAP_INIT(seed),
                                .texts = MAP_INIT(seed)};
    clock_manual_init(clock, time_of(c));
    p->last_change = clock_wall(&clock->clock);
    sim__rollouts_begin(p);
    feed(p);
    sim__placement_continue(p);
}

void sim_placement_release(struct sim_placement *p) {
    for (size_t i = 0; i < p->pods.n; i++)
        api_object_unref(p->pods.v[i].pod);
    vec_release(&p->pods);
    map_release(&p->by_name);
    map_release(&p->bound);
    map_release(&p->rolled);
    map_release(&p->texts);
    arena_release(&p->arena);
}

bool sim_placement_is_complete(const struct sim_placement *p) {
    for (size_t i = 0; i < p->pods.n; i++)
        if (p->pods.v[i].item && p->pods.v[i].state != SIM_SCHEDULED &&
            p->pods.v[i].state != SIM_REMOVED)
            return false;
    for (size_t i = 0; i < p->cluster->rollouts.n; i++)
        if (!controller_rollout_is_done(&p->cluster->rollouts.v[i].plan))
            return false;
    return true;
}
