/*
 * What comes next in the life of a pod: a function of its object and the time.
 *
 * Follows k8s.io/kubernetes pkg/kubelet, func getPhase.
 */
#include "nodes/life_int.h"

#include "base/clock.h"
#include "nodes/kubelets_int.h"
#include "nodes/pod_sources_int.h"
#include "valid/valid.h"

/* How processes end that are told to, by SIGTERM; those that do not do it in time; and those whose
 * machine is gone. */
enum { STOPPED_EXIT_CODE = 143, KILLED_EXIT_CODE = 137, LOST_EXIT_CODE = 255 };

/* As kubelets have it: from 10 s to 5 min, and none after a run of 10 min. */
enum { FIRST_BACKOFF = 10, MOST_BACKOFF = 300, LONG_RUN = 600 };

/* How long it is until resources that were not there are asked for again. */
#define DEFERRED_FOR (10 * CLOCK_SECOND)

/* What may happen to a container within one second: it is made, ends, is restarted and ends. */
enum { MOST_STEPS = 6 };

int64_t nodes__backoff_seconds(int32_t restarts) {
    int64_t seconds = FIRST_BACKOFF;
    for (int32_t i = 1; i < restarts && seconds < MOST_BACKOFF; i++)
        seconds *= 2;
    return seconds < MOST_BACKOFF ? seconds : MOST_BACKOFF;
}

/* Anybody may write times into a status. */
int64_t nodes__after(int64_t second, int64_t ns) {
    int64_t at;
    if (ns == INT64_MAX)
        return INT64_MAX;
    if (__builtin_mul_overflow(second, CLOCK_SECOND, &at) || __builtin_add_overflow(at, ns, &at))
        return second < 0 ? INT64_MIN : INT64_MAX;
    return at;
}

static int64_t seconds_of(int64_t ns) {
    return ns / CLOCK_SECOND;
}

/* ---- one container ---- */

/* A pod on its way to `now`. */
struct walk {
    struct arena *a;
    const struct api_object *pod;
    const struct api_pod_spec *spec;
    struct nodes__life *life;
    int64_t now; /* nanoseconds */
    int64_t at;  /* when what happens now happens: earlier, if nobody could tell then */
    const struct nodes__pod_facts *facts;
    int64_t turn; /* the second since which the next container may start */
    int64_t next; /* nanoseconds: when something happens by itself */
};

static void look_at(struct walk *w, int64_t at) {
    if (at > w->now && at < w->next)
        w->next = at;
}

static void start_run(struct walk *w, struct nodes__container *c) {
    c->mode = NODES__RUNNING;
    c->run = (struct nodes__run){.started = seconds_of(w->at)};
}

/* A count that somebody wrote may have no next one. */
static void restart(struct walk *w, struct nodes__container *c) {
    if (c->restarts < INT32_MAX)
        c->restarts++;
    start_run(w, c);
}

static void end_run(struct walk *w, struct nodes__container *c, int32_t exit_code) {
    c->mode = NODES__ENDED;
    c->run.finished = seconds_of(w->at);
    c->run.exit_code = exit_code;
    c->is_started = c->is_ready = false;
}

/* Did it run on a machine that is gone? */
static bool is_lost(const struct walk *w, const struct nodes__container *c) {
    return c->mode == NODES__RUNNING && c->run.started < w->facts->booted;
}

/* Is something missing that it is made of, before each of its runs? */
static bool is_held(struct walk *w, struct nodes__container *c) {
    struct nodes__sources *sources = w->facts->sources;
    if (!sources || (c->mode != NODES__WAITING && c->mode != NODES__BACKOFF))
        return false;
    c->reason = nodes__image_reason(w->a, c->spec, &c->wishes, &c->fault);
    if (!c->reason.n) {
        c->reason = STR("CreateContainerConfigError");
        c->fault = nodes__env_fault(w->a, sources, w->pod, c->spec);
    }
    c->is_held = c->fault.p;
    return c->is_held;
}

/* The container has ended. The first time it is restarted at once. */
static void leave_run(struct walk *w, struct nodes__container *c, int32_t exit_code) {
    bool was_lost = is_lost(w, c);
    end_run(w, c, exit_code);
    if (!nodes__is_restarted(w->spec, c, exit_code))
        return;
    bool at_once = was_lost || c->restarts == 0 || c->run.finished - c->run.started >= LONG_RUN;
    c->last = c->run;
    c->mode = NODES__BACKOFF;
    if (at_once && !is_held(w, c))
        restart(w, c);
}

static int64_t start_of(const struct walk *w, const struct nodes__container *c) {
    return nodes__after(c->wishes.waits_in_turn ? w->turn : w->life->begun, c->wishes.start_delay);
}

/* When the mode that it is in will be over; INT64_MAX: not by itself. */
static int64_t end_of_mode(const struct walk *w, const struct nodes__container *c) {
    int64_t killed = nodes__after(c->run.started, c->wishes.killed);
    int64_t ended = nodes__after(c->run.started, c->wishes.runs);
    switch (c->mode) {
    case NODES__WAITING:
        return start_of(w, c);
    case NODES__RUNNING:
        if (is_lost(w, c))
            return nodes__after(w->facts->booted, 0);
        return killed < ended ? killed : ended;
    case NODES__BACKOFF:
        return nodes__after(c->last.finished, nodes__backoff_seconds(c->restarts) * CLOCK_SECOND);
    case NODES__ENDED:
        break;
    }
    return INT64_MAX;
}

static int32_t exit_code_of(const struct walk *w, const struct nodes__container *c) {
    if (is_lost(w, c))
        return LOST_EXIT_CODE;
    return c->wishes.killed < c->wishes.runs ? STOPPED_EXIT_CODE : c->wishes.exit_code;
}

static void leave_mode(struct walk *w, struct nodes__container *c) {
    switch (c->mode) {
    case NODES__WAITING:
        start_run(w, c);
        break;
    case NODES__RUNNING:
        leave_run(w, c, exit_code_of(w, c));
        break;
    case NODES__BACKOFF:
        restart(w, c);
        break;
    case NODES__ENDED:
        break;
    }
}

static void ask_probes(struct walk *w, struct nodes__container *c) {
    if (c->mode != NODES__RUNNING)
        return;
    int64_t started = nodes__after(c->run.started, c->wishes.started);
    int64_t ready = nodes__after(c->run.started, c->wishes.ready);
    c->is_started = started <= w->now;
    c->is_ready = c->is_started && ready <= w->now;
    look_at(w, started);
    look_at(w, ready);
}

static void lead(struct walk *w, struct nodes__container *c) {
    int64_t at = end_of_mode(w, c);
    for (int steps = 0; steps < MOST_STEPS && at <= w->now && !is_held(w, c); steps++) {
        w->at = at > 0 && at < w->facts->away_until ? at : w->now; /* none were away in 1969 */
        leave_mode(w, c);
        at = end_of_mode(w, c);
    }
    w->at = w->now;
    if (c->mode == NODES__BACKOFF && !c->restarts) /* it would have been restarted at once */
        (void)is_held(w, c);
    if (at <= w->now)
        at = c->is_held ? INT64_MAX : w->now + CLOCK_SECOND;
    look_at(w, at);
    ask_probes(w, c);
}

/* ---- all of a pod ---- */

bool nodes__has_begun(const struct nodes__container *v, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (v[i].mode != NODES__WAITING)
            return true;
    return false;
}

bool nodes__has_sandbox(const struct nodes__life *life) {
    for (size_t i = 0; i < life->n; i++)
        if (life->v[i].mode != NODES__WAITING || life->v[i].fault.n)
            return true;
    return false;
}

/* May what stands behind it begin? *turn: since when. */
static bool lets_others_begin(const struct nodes__container *c, int64_t *turn) {
    if (c->role == NODES__SIDECAR) {
        *turn = c->run.started + seconds_of(c->wishes.started);
        return c->mode == NODES__RUNNING && c->is_started;
    }
    *turn = c->run.finished;
    return c->mode == NODES__ENDED && c->run.exit_code == 0;
}

/* The first containers, one after the other; true: the others may begin. */
static bool lead_inits(struct walk *w, bool is_initialised) {
    struct nodes__life *life = w->life;
    for (size_t i = 0; i < life->inits; i++) {
        struct nodes__container *c = &life->v[i];
        if (is_initialised && c->role == NODES__INIT)
            continue;
        lead(w, c);
        if (!lets_others_begin(c, &w->turn) && !is_initialised)
            return false;
    }
    return true;
}

static bool has_failed_init(const struct nodes__life *life) {
    for (size_t i = 0; i < life->inits; i++)
        if (life->v[i].role == NODES__INIT && life->v[i].mode == NODES__ENDED &&
            life->v[i].run.exit_code)
            return true;
    return false;
}

static bool have_mains_ended(const struct nodes__life *life) {
    for (size_t i = 0; i < life->mains; i++)
        if (life->v[life->inits + i].mode != NODES__ENDED)
            return false;
    return life->mains > 0;
}

static void end_all(struct walk *w) {
    w->life->is_over = true;
    w->next = INT64_MAX;
    for (size_t i = 0; i < w->life->n; i++)
        if (w->life->v[i].mode == NODES__RUNNING)
            end_run(w, &w->life->v[i], STOPPED_EXIT_CODE);
}

static void lead_all(struct walk *w) {
    struct nodes__life *life = w->life;
    struct nodes__container *mains = life->v + life->inits;
    bool is_initialised = nodes__has_begun(mains, life->mains);
    if (lead_inits(w, is_initialised))
        for (size_t i = 0; i < life->mains; i++)
            lead(w, &mains[i]);
    bool has_begun = nodes__has_begun(life->v, life->inits + life->mains);
    for (size_t i = life->inits + life->mains; i < life->n && has_begun; i++)
        lead(w, &life->v[i]);
    if (has_failed_init(life) || have_mains_ended(life))
        end_all(w);
}

/* ---- what it lacks ---- */

/* Volumes that cannot be set up. They are once, before the first container is made. */
static bool lacks_volumes(struct walk *w, struct nodes__pod_next *next) {
    struct nodes__sources *sources = w->facts->sources;
    struct nodes__mount_fault faults[NODES__MOST_LACKING], *copy;
    if (!sources || nodes__has_begun(w->life->v, w->life->n))
        return false;
    size_t n = nodes__mount_faults(w->a, sources, w->pod, faults);
    if (!n)
        return false;
    copy = arena_array(w->a, struct nodes__mount_fault, n);
    for (size_t i = 0; i < n; i++)
        if (faults[i].why.n)
            copy[next->unmounted_count++] = faults[i];
    next->unmounted = copy;
    return true;
}

static uint64_t hash_lacks(const struct nodes__life *life, const struct nodes__pod_next *next) {
    uint64_t hash = 0;
    for (size_t i = 0; i < next->unmounted_count; i++)
        hash = str_hash(next->unmounted[i].why, str_hash(next->unmounted[i].volume, hash));
    for (size_t i = 0; i < life->n; i++)
        if (life->v[i].fault.n)
            hash = str_hash(life->v[i].fault, str_hash(life->v[i].spec->name, hash));
    return hash;
}

/* The time of the pod is over, whatever its containers do. */
static void meet_deadline(struct walk *w) {
    struct api_opt_i64 seconds = w->spec->active_deadline_seconds;
    int64_t limit;
    if (!seconds.set || w->life->is_over ||
        __builtin_add_overflow(w->life->begun, seconds.v, &limit))
        return;
    int64_t at = nodes__after(limit, 0);
    look_at(w, at);
    if (at > w->now)
        return;
    end_all(w);
    w->life->is_late = true;
}

/* ---- a pod that is deleted ---- */

/* When it was, in nanoseconds, and its grace. The timestamp tells the second alone: within it, it
 * is when the deletion was seen. */
static int64_t deleted_at(const struct walk *w, const struct api_object_meta *meta,
                          int64_t *grace) {
    int64_t second, seen = w->facts->stop_seen;
    *grace = nodes__after(meta->deletion_grace_period_seconds.v, 0);
    if (__builtin_sub_overflow(meta->deletion_timestamp.sec, meta->deletion_grace_period_seconds.v,
                               &second))
        second = 0;
    int64_t first = nodes__after(second, 0), last = nodes__after(second, CLOCK_SECOND);
    return seen < first ? first : seen < last ? seen : last;
}

static int64_t end_of_stop(const struct nodes__container *c, int64_t deleted, int64_t grace) {
    int64_t at, delay = c->wishes.stop_delay < grace ? c->wishes.stop_delay : grace;
    return delay == INT64_MAX || __builtin_add_overflow(deleted, delay, &at) ? deleted : at;
}

static bool any_runs(const struct nodes__life *life) {
    for (size_t i = 0; i < life->n; i++)
        if (life->v[i].mode == NODES__RUNNING)
            return true;
    return false;
}

/* Containers that run are told to stop, and have their time for it; sidecars go last. */
static void stop(struct walk *w, const struct api_object_meta *meta) {
    struct nodes__life *life = w->life;
    int64_t grace, deleted = deleted_at(w, meta, &grace), others = INT64_MIN;
    for (size_t i = life->n; i-- > 0;) {
        struct nodes__container *c = &life->v[i];
        if (c->mode != NODES__RUNNING)
            continue;
        int64_t at = end_of_stop(c, deleted, grace);
        if (c->role == NODES__MAIN)
            others = at > others ? at : others;
        else if (at < others)
            at = others;
        look_at(w, at);
        if (at <= w->now)
            end_run(w, c, c->wishes.stop_delay > grace ? KILLED_EXIT_CODE : STOPPED_EXIT_CODE);
        else
            ask_probes(w, c);
    }
    life->is_over = !any_runs(life);
}

/* ---- the next step ---- */

/* Does a status say what another one says? When the conditions were told, and in which order, does
 * not matter.
 *
 * Follows k8s.io/kubernetes pkg/kubelet/status, func isPodStatusByKubeletEqual. */
static bool is_same(const struct api_pod_status *x, const struct api_pod_status *y) {
    struct api_pod_status left = *x, right = *y;
    left.conditions = right.conditions = (struct api_pod_condition_list){0};
    return nodes__have_same_conditions(&x->conditions, &y->conditions) &&
           valid_equal(API_T_pod_status, &left, &right);
}

struct nodes__pod_next nodes__next_of_pod(struct arena *a, const struct api_object *pod,
                                          const struct nodes__pod_facts *facts,
                                          struct api_pod_status *status) {
    const struct api_pod *body = pod->body;
    struct nodes__pod_next next = {.step = NODES__POD_WAITS, .at = INT64_MAX};
    struct nodes__life life = nodes__read_life(a, pod, facts);
    struct walk w = {.a = a,
                     .pod = pod,
                     .spec = &body->spec,
                     .life = &life,
                     .now = facts->now,
                     .at = facts->now,
                     .facts = facts,
                     .next = INT64_MAX};
    bool is_deleted = pod->meta->deletion_timestamp.set, has_ended = api_pod_has_ended(body);
    if (has_ended) {
        /* Without grace it was deleted already, and waits for others. */
        if (is_deleted && pod->meta->deletion_grace_period_seconds.v)
            next.step = NODES__POD_GOES;
        return next;
    }
    if (!life.is_begun)
        life.begun = seconds_of(facts->now);
    w.turn = life.begun;
    if (is_deleted)
        stop(&w, pod->meta);
    else {
        if (!lacks_volumes(&w, &next))
            lead_all(&w);
        meet_deadline(&w);
    }
    next.lacks = hash_lacks(&life, &next);
    if (facts->deferred.n)
        look_at(&w, facts->now + DEFERRED_FOR);
    next.at = w.next;
    *status = body->status;
    nodes__write_life(a, pod, &life, facts, status);
    if (!is_same(status, &body->status))
        next.step = NODES__POD_WRITES;
    return next;
}
