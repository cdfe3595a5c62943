/*
 * The scheduler's life: what informers tell goes to the core, and what the core decides to those
 * who carry it out.
 *
 * Follows k8s.io/kubernetes pkg/scheduler, func addAllEventHandlers, func (*Scheduler) Run.
 */
#include "scheduler/scheduler.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/limits.h"
#include "sched/metrics.h"
#include "scheduler/scheduler_int.h"

/* Decisions of one turn: so many, and no new one after so long. */
enum { PORTION = 64 };
#define PORTION_TIME (2 * CLOCK_SECOND / 1000)

/* The time of the day may be set: the queue is looked at this often, if anything waits there; and
 * not more often. */
#define LONGEST_SLEEP  (10 * CLOCK_SECOND)
#define SHORTEST_SLEEP (CLOCK_SECOND / 1000)

/* What the core looks at; kinds whose informers are asked later have their place. */
static const struct watched {
    enum api_type_id type;
    size_t place; /* of a struct informer * in struct scheduler; 0: nobody asks it */
} watched[] = {
    {API_T_namespace, 0},
    {API_T_node, offsetof(struct scheduler, nodes)},
    {API_T_persistent_volume, offsetof(struct scheduler, volumes)},
    {API_T_persistent_volume_claim, offsetof(struct scheduler, claims)},
    {API_T_storage_class, 0},
    {API_T_csi_node, 0},
    {API_T_csi_driver, 0},
    {API_T_csi_storage_capacity, 0},
    {API_T_volume_attachment, 0},
    {API_T_service, 0},
    {API_T_replication_controller, 0},
    {API_T_replica_set, 0},
    {API_T_stateful_set, 0},
    {API_T_pod_disruption_budget, 0},
    {API_T_pod, offsetof(struct scheduler, pods)},
};
enum { WATCHED = sizeof watched / sizeof *watched };

/* ---- small questions ---- */

void scheduler__wake(struct scheduler *s) {
    net_loop_defer(s->loop, &s->turn);
}

bool scheduler_has_synced(const struct scheduler *s) {
    return s->unsynced == 0;
}

const struct api_object *scheduler__pod(const struct scheduler *s,
                                        const struct sched_pod_name *pod) {
    const struct api_object *o = informer_get(s->pods, pod->namespace, pod->name);
    return o && str_eq(o->meta->uid, pod->uid) ? o : NULL;
}

struct events *scheduler__events(const struct scheduler *s, struct str scheduler_name) {
    for (size_t i = 0; i < s->config->profile_count; i++)
        if (str_eq(s->config->profiles[i].scheduler_name, scheduler_name))
            return s->events[i];
    return s->events[0];
}

struct sched_pod_name scheduler__name_copy(struct arena *a, const struct sched_pod_name *name) {
    return (struct sched_pod_name){arena_str(a, name->namespace), arena_str(a, name->name),
                                   arena_str(a, name->uid)};
}

/* ---- what informers tell ---- */

static bool is_about_volumes(const struct api_object *o) {
    return api_object_is(o, API_T_persistent_volume) ||
           api_object_is(o, API_T_persistent_volume_claim);
}

static void note_change(struct scheduler *s, const struct api_object *o) {
    scheduler__wake(s);
    if (s->waiting && is_about_volumes(o))
        net_loop_defer(s->loop, &s->look);
}

static void on_set(void *arg, const struct api_object *old, const struct api_object *o) {
    struct scheduler *s = arg;
    (void)old;
    const struct api_object *seen =
        api_object_is(o, API_T_pod) ? scheduler__seen_by_core(s, o) : api_object_ref(o);
    sched_set(s->core, seen);
    api_object_unref(seen);
    note_change(s, o);
}

static void on_deleted(void *arg, const struct api_object *last) {
    struct scheduler *s = arg;
    sched_delete(s->core, last);
    note_change(s, last);
}

static void on_synced(void *arg) {
    struct scheduler *s = arg;
    s->unsynced--;
    scheduler__wake(s);
}

void scheduler_warm(struct informers *informers) {
    for (size_t i = 0; i < WATCHED; i++)
        informers_of(informers, client_kind(watched[i].type));
}

/* An informer may tell at once what it knows already. */
static void listen(struct scheduler *s, struct informers *informers) {
    struct informer *all[WATCHED];
    for (size_t i = 0; i < WATCHED; i++) {
        all[i] = informers_of(informers, client_kind(watched[i].type));
        if (watched[i].place)
            *(struct informer **)(void *)((char *)s + watched[i].place) = all[i];
        s->unsynced += !informer_has_synced(all[i]);
    }
    for (size_t i = 0; i < WATCHED; i++) {
        bool has_synced = informer_has_synced(all[i]);
        informer_listen(all[i], &(struct informer_handler){.set = on_set,
                                                           .deleted = on_deleted,
                                                           .synced = has_synced ? NULL : on_synced,
                                                           .arg = s});
    }
}

/* ---- decisions ---- */

static void carry_out(struct scheduler *s, const struct sched_result *r) {
    switch (r->outcome) {
    case SCHED_SCHEDULED:
        scheduler__bind(s, r);
        break;
    case SCHED_UNSCHEDULABLE:
        scheduler__report(s, &r->pod, "Unschedulable", r->message, r->nominated);
        scheduler__preempt(s, r);
        break;
    case SCHED_FAILED:
        scheduler__report(s, &r->pod, "SchedulerError", r->message, r->nominated);
        break;
    case SCHED_SKIPPED:
        scheduler__report_skipped(s, &r->pod, r->message);
        break;
    }
}

static void sleep_until_due(struct scheduler *s) {
    int64_t at = sched_next_time(s->core);
    if (at == INT64_MAX)
        return;
    int64_t delay = at - clock_wall(net_loop_clock(s->loop));
    delay = delay < SHORTEST_SLEEP ? SHORTEST_SLEEP : delay > LONGEST_SLEEP ? LONGEST_SLEEP : delay;
    net_timer_start(s->loop, &s->wake, net_loop_now(s->loop) + delay);
}

/* A portion of decisions. When there is no room for more requests, an answer goes on with it. */
static void decide(void *arg) {
    struct scheduler *s = arg;
    const struct clock *clock = net_loop_clock(s->loop);
    int64_t end = clock_mono(clock) + PORTION_TIME;
    struct sched_result r;
    net_timer_stop(s->loop, &s->wake);
    for (int i = 0; i < PORTION && clock_mono(clock) <= end; i++) {
        if (s->unsynced || s->under_way >= LIMIT_SCHEDULER_CALLS)
            return;
        if (!sched_next(s->core, &r)) {
            sleep_until_due(s);
            return;
        }
        carry_out(s, &r);
    }
    scheduler__wake(s);
}

static void on_wake(void *arg) {
    scheduler__wake(arg);
}

/* ---- life ---- */

static void make_events(struct scheduler *s) {
    s->events = arena_array(&s->arena, struct events *, s->config->profile_count);
    for (size_t i = 0; i < s->config->profile_count; i++) {
        struct str name = s->config->profiles[i].scheduler_name;
        s->events[i] = events_new(
            &(struct events_opts){.client = s->client,
                                  .log = s->log,
                                  .component = arena_printf(&s->arena, "%.*s", STR_ARG(name)).p});
    }
}

struct scheduler *scheduler_new(const struct scheduler_opts *opts) {
    struct scheduler *s = xcalloc(1, sizeof *s);
    *s = (struct scheduler){.client = opts->client,
                            .loop = client_loop(opts->client),
                            .log = opts->log,
                            .gates = *opts->gates,
                            .turn = {.fn = decide, .arg = s},
                            .wake = {.fn = on_wake, .arg = s},
                            .look = {.fn = scheduler__volumes_look, .arg = s},
                            .poll = {.fn = scheduler__volumes_look, .arg = s},
                            .flights = MAP_INIT(opts->seed),
                            .victims = MAP_INIT(opts->seed)};
    s->config = opts->config ? opts->config : sched_config_default(&s->arena);
    make_events(s);
    s->core = sched_new(&(struct sched_opts){.gates = opts->gates,
                                             .engine = opts->engine,
                                             .config = s->config,
                                             .clock = net_loop_clock(s->loop),
                                             .stopwatch = opts->stopwatch,
                                             .log = opts->log,
                                             .seed = opts->seed,
                                             .tie_seed = opts->tie_seed});
    listen(s, opts->informers);
    return s;
}

/* Flights that wait for their volumes have no call. */
static void free_waiting(struct scheduler *s) {
    while (s->waiting) {
        struct scheduler__flight *f = s->waiting;
        scheduler__volumes_leave(f);
        scheduler__flight_free(&f->call);
    }
}

void scheduler_free(struct scheduler *s) {
    if (!s)
        return;
    while (s->calls) {
        struct scheduler__call *c = s->calls;
        scheduler__call_stop(c);
        c->type->free(c);
    }
    free_waiting(s);
    net_loop_undefer(s->loop, &s->turn);
    net_loop_undefer(s->loop, &s->look);
    net_timer_stop(s->loop, &s->wake);
    net_timer_stop(s->loop, &s->poll);
    for (size_t i = 0; i < s->config->profile_count; i++)
        events_free(s->events[i]);
    sched_free(s->core);
    map_release(&s->flights);
    map_release(&s->victims);
    arena_release(&s->arena);
    free(s);
}

void scheduler_metrics_write(const struct scheduler *s, struct buf *out) {
    sched_metrics_write(s->core, out);
}
