/*
 * What comes next in the life of a pod: a function of its object and the time.
 *
 * Follows k8s.io/kubernetes pkg/kubelet, func getPhase.
 */
#include "nodes/life_int.h"

#include "base/clock.h"
#include "nodes/kubelets_int.h"

/* How processes end that are told to: by SIGTERM. */
enum { STOPPED_EXIT_CODE = 143 };

/* As kubelets have it: from 10 s to 5 min, and none after a run of 10 min. */
enum { FIRST_BACKOFF = 10, MOST_BACKOFF = 300, LONG_RUN = 600 };

int64_t nodes__backoff_seconds(int32_t restarts) {
    int64_t seconds = FIRST_BACKOFF;
    for (int32_t i = 1; i < restarts && seconds < MOST_BACKOFF; i++)
        seconds *= 2;
    return seconds < MOST_BACKOFF ? seconds : MOST_BACKOFF;
}

/* ---- from a status ---- */

static struct nodes__run run_of(const struct api_container_state_terminated *t) {
    return (struct nodes__run){t->started_at.sec, t->finished_at.sec, t->exit_code};
}

static void read_state(const struct api_container_status *c, bool has_ended,
                       struct nodes__life *life) {
    if (c->last_state.terminated)
        life->last = run_of(c->last_state.terminated);
    if (c->state.running) {
        life->mode = NODES__RUNNING;
        life->run.started = c->state.running->started_at.sec;
    } else if (c->state.terminated && has_ended) {
        life->mode = NODES__ENDED;
        life->run = run_of(c->state.terminated);
    } else if (c->state.terminated) {
        life->mode = NODES__BACKOFF;
        life->last = run_of(c->state.terminated);
    } else if (c->last_state.terminated)
        life->mode = NODES__BACKOFF;
}

struct nodes__life nodes__read_life(const struct api_pod *pod) {
    const struct api_pod_status *s = &pod->status;
    struct nodes__life life = {.mode = NODES__NEW};
    if (!s->start_time.set)
        return life;
    life.mode = NODES__CREATING;
    life.begun = s->start_time.sec;
    if (s->container_statuses.n) {
        life.restarts = s->container_statuses.v[0].restart_count;
        read_state(&s->container_statuses.v[0], api_pod_has_ended(pod), &life);
    }
    return life;
}

/* ---- a step further ---- */

/* What is asked of the pod. */
struct wishes {
    int64_t now, start_delay, stop_delay; /* in nanoseconds */
    struct api_opt_i64 run_seconds;
    int32_t exit_code;
    struct str restart_policy;
    struct api_opt_i64 deadline_seconds;
    bool is_deleted;
    int64_t deleted_at, grace; /* wall time and nanoseconds */
};

static struct api_opt_i64 read_number(const struct api_object *pod, struct str key, int64_t most) {
    const struct label *l = labels_find(&pod->meta->annotations, key);
    struct api_opt_i64 out = {0};
    out.set = l && str_to_i64(l->value, &out.v) && out.v >= 0 && out.v <= most;
    return out;
}

static int64_t delay_of(const struct api_object *pod, struct str key, int64_t otherwise) {
    struct api_opt_i64 seconds = read_number(pod, key, INT32_MAX);
    return seconds.set ? seconds.v * CLOCK_SECOND : otherwise;
}

static struct wishes read_wishes(const struct api_object *object,
                                 const struct nodes__pod_facts *facts) {
    const struct api_pod *pod = object->body;
    const struct api_object_meta *meta = object->meta;
    struct wishes w = {
        .now = facts->now,
        .start_delay = delay_of(object, STR("berth.dev/start-seconds"), facts->start_delay),
        .stop_delay = delay_of(object, STR("berth.dev/stop-seconds"), facts->stop_delay),
        .run_seconds = read_number(object, STR("berth.dev/run-seconds"), INT32_MAX),
        .exit_code = (int32_t)read_number(object, STR("berth.dev/exit-code"), 255).v,
        .restart_policy = pod->spec.restart_policy,
        .deadline_seconds = pod->spec.active_deadline_seconds,
        .is_deleted = meta->deletion_timestamp.set,
        .grace = meta->deletion_grace_period_seconds.v * CLOCK_SECOND,
    };
    w.deleted_at = meta->deletion_timestamp.sec * CLOCK_SECOND - w.grace;
    return w;
}

static int64_t seconds_of(int64_t ns) {
    return ns / CLOCK_SECOND;
}

static void start_run(struct nodes__life *life, const struct wishes *w) {
    life->mode = NODES__RUNNING;
    life->run = (struct nodes__run){.started = seconds_of(w->now)};
}

static void end_run(struct nodes__life *life, const struct wishes *w, int32_t exit_code) {
    life->mode = NODES__ENDED;
    life->run.finished = seconds_of(w->now);
    life->run.exit_code = exit_code;
}

static bool is_restarted(const struct wishes *w) {
    if (str_is(w->restart_policy, "OnFailure"))
        return w->exit_code != 0;
    return !str_is(w->restart_policy, "Never");
}

/* The containers have ended by themselves. The first time they are restarted at once. */
static void exit_run(struct nodes__life *life, const struct wishes *w) {
    end_run(life, w, w->exit_code);
    if (!is_restarted(w))
        return;
    bool at_once = life->restarts == 0 || life->run.finished - life->run.started >= LONG_RUN;
    life->last = life->run;
    life->mode = NODES__BACKOFF;
    if (at_once) {
        life->restarts++;
        start_run(life, w);
    }
}

/* When the mode that the life is in will be over; INT64_MAX: not by itself. */
static int64_t end_of_mode(const struct nodes__life *life, const struct wishes *w) {
    switch (life->mode) {
    case NODES__NEW:
        return w->now;
    case NODES__CREATING:
        return life->begun * CLOCK_SECOND + w->start_delay;
    case NODES__RUNNING:
        return w->run_seconds.set ? (life->run.started + w->run_seconds.v) * CLOCK_SECOND
                                  : INT64_MAX;
    case NODES__BACKOFF:
        return (life->last.finished + nodes__backoff_seconds(life->restarts)) * CLOCK_SECOND;
    case NODES__ENDED:
        break;
    }
    return INT64_MAX;
}

static void leave_mode(struct nodes__life *life, const struct wishes *w) {
    switch (life->mode) {
    case NODES__NEW:
        life->mode = NODES__CREATING;
        life->begun = seconds_of(w->now);
        break;
    case NODES__CREATING:
        start_run(life, w);
        break;
    case NODES__RUNNING:
        exit_run(life, w);
        break;
    case NODES__BACKOFF:
        life->restarts++;
        start_run(life, w);
        break;
    case NODES__ENDED:
        break;
    }
}

/* A start without delay is a start now, though startTime is in whole seconds. */
static int64_t lead(struct nodes__life *life, const struct wishes *w) {
    for (int steps = 0; steps < 4 && end_of_mode(life, w) <= w->now; steps++)
        leave_mode(life, w);
    int64_t at = end_of_mode(life, w);
    if (!w->deadline_seconds.set || life->mode == NODES__ENDED)
        return at;
    int64_t deadline = (life->begun + w->deadline_seconds.v) * CLOCK_SECOND;
    if (deadline > w->now)
        return at < deadline ? at : deadline;
    end_run(life, w, STOPPED_EXIT_CODE);
    life->is_late = true;
    return INT64_MAX;
}

/* Of a pod that is deleted: containers that run are told to stop, and have their time for it. */
static int64_t stop(struct nodes__life *life, const struct wishes *w) {
    int64_t delay = w->stop_delay < w->grace ? w->stop_delay : w->grace;
    if (life->mode == NODES__RUNNING && w->now < w->deleted_at + delay)
        return w->deleted_at + delay;
    if (life->mode == NODES__RUNNING)
        end_run(life, w, STOPPED_EXIT_CODE);
    return INT64_MAX;
}

static bool is_same(struct arena *a, const struct api_pod_status *x,
                    const struct api_pod_status *y) {
    const struct api_type *type = &api_types[API_T_pod_status];
    struct json left = api_struct_encode(a, type, x), right = api_struct_encode(a, type, y);
    return json_equal(&left, &right);
}

struct nodes__pod_next nodes__next_of_pod(struct arena *a, const struct api_object *pod,
                                          const struct nodes__pod_facts *facts,
                                          struct api_pod_status *status) {
    const struct api_pod *body = pod->body;
    struct wishes wishes = read_wishes(pod, facts);
    struct nodes__life life = nodes__read_life(body);
    struct nodes__pod_next next = {NODES__POD_WAITS, INT64_MAX};
    bool has_ended = api_pod_has_ended(body);
    if (wishes.is_deleted && (has_ended || life.mode != NODES__RUNNING)) {
        /* Without grace it was deleted already, and waits for others. */
        next.step = wishes.grace ? NODES__POD_GOES : NODES__POD_WAITS;
        return next;
    }
    if (has_ended)
        return next;
    next.at = wishes.is_deleted ? stop(&life, &wishes) : lead(&life, &wishes);
    struct nodes__ips ips = {facts->host_ip, facts->pod_ip};
    *status = body->status;
    nodes__write_life(a, pod, &life, &ips, seconds_of(facts->now), status);
    if (!is_same(a, status, &body->status))
        next.step = NODES__POD_WRITES;
    return next;
}
