/*
 * What a container does: as its annotations, its probes and its command tell.
 *
 * Follows k8s.io/kubernetes pkg/kubelet/prober, func (*worker) doProbe.
 */
#include "base/clock.h"
#include "base/limits.h"
#include "nodes/kubelets_int.h"
#include "nodes/life_int.h"

static int64_t nanos(int64_t seconds) {
    int64_t ns;
    return __builtin_mul_overflow(seconds, CLOCK_SECOND, &ns) ? INT64_MAX : ns;
}

static int64_t most(int64_t a, int64_t b) {
    return a > b ? a : b;
}

/* ---- annotations ---- */

struct source {
    const struct labels *annotations;
    struct str container;
    bool is_alike; /* what is said of the pod is said of the container */
};

/* NAME.berth.dev/KEY is of one container, berth.dev/KEY of all. */
static const struct label *find(const struct source *s, const char *key) {
    if (!s->annotations->n)
        return NULL;
    AUTO(buf_release) struct buf name = BUF_INIT(LIMIT_OBJECT_BYTES);
    buf_addf(&name, "%.*s.berth.dev/%s", STR_ARG(s->container), key);
    const struct label *l = labels_find(s->annotations, buf_view(&name));
    if (l || !s->is_alike)
        return l;
    return labels_find(s->annotations,
                       str_sub(buf_view(&name), s->container.n + 1, buf_view(&name).n));
}

static struct api_opt_i64 number(const struct source *s, const char *key, int64_t largest) {
    const struct label *l = find(s, key);
    struct api_opt_i64 out = {0};
    out.set = l && str_to_i64(l->value, &out.v) && out.v >= 0 && out.v <= largest;
    return out;
}

/* Seconds, or 0. */
static int64_t seconds(const struct source *s, const char *key) {
    return number(s, key, INT32_MAX).v;
}

/* ---- probes ---- */

/* How long a probe that fails is asked until something is done. */
static int64_t patience(const struct api_probe *p) {
    return (int64_t)p->period_seconds * (p->failure_threshold > 0 ? p->failure_threshold : 1);
}

static void read_startup(const struct source *s, const struct api_container *c,
                         struct nodes__wishes *w) {
    const struct api_probe *p = c->startup_probe;
    w->has_startup = p;
    if (!p)
        return;
    int64_t at = most(p->initial_delay_seconds, seconds(s, "startup-seconds"));
    int64_t limit = p->initial_delay_seconds + patience(p);
    w->fails_startup = at > limit;
    w->started = w->fails_startup ? INT64_MAX : nanos(at);
    w->killed = w->fails_startup ? nanos(limit) : INT64_MAX;
}

static void read_readiness(const struct source *s, const struct api_container *c,
                           struct nodes__wishes *w) {
    const struct api_probe *p = c->readiness_probe;
    const struct label *said = find(s, "ready");
    int64_t at = seconds(s, "ready-seconds");
    w->has_readiness = p;
    if (p && p->success_threshold > 1)
        at = most(at, p->initial_delay_seconds +
                          (int64_t)p->period_seconds * (p->success_threshold - 1));
    else if (p)
        at = most(at, p->initial_delay_seconds);
    w->ready = said && str_is(said->value, "false") ? INT64_MAX : most(w->started, nanos(at));
}

static void read_liveness(const struct source *s, const struct api_container *c,
                          struct nodes__wishes *w) {
    const struct api_probe *p = c->liveness_probe;
    struct api_opt_i64 lives = number(s, "live-seconds", INT32_MAX);
    w->has_liveness = p;
    if (!p || !lives.set || w->started == INT64_MAX)
        return;
    int64_t from = most(most(lives.v, p->initial_delay_seconds), w->started / CLOCK_SECOND);
    int64_t at = nanos(from + patience(p));
    w->killed = at < w->killed ? at : w->killed;
}

/* ---- its own end ---- */

/* What has to end before others begin ends at once, unless more is known. */
static void read_end(struct arena *a, const struct source *s, const struct api_container *c,
                     enum nodes__role role, struct nodes__wishes *w) {
    struct source of_main = *s;
    of_main.is_alike = role == NODES__MAIN;
    struct api_opt_i64 runs = number(&of_main, "run-seconds", INT32_MAX);
    struct api_opt_i64 code = number(&of_main, "exit-code", 255);
    w->runs = role == NODES__INIT ? 0 : INT64_MAX;
    if (!runs.set)
        w->has_program = nodes__read_program(a, c, &w->program);
    if (runs.set)
        w->runs = nanos(runs.v);
    else if (w->has_program) {
        w->runs = w->program.runs;
        w->exit_code = w->program.exit_code;
    }
    if (code.set)
        w->exit_code = (int32_t)code.v;
}

static int64_t hook_seconds(const struct api_container *c) {
    const struct api_lifecycle *l = c->lifecycle;
    const struct api_lifecycle_handler *h = l ? l->pre_stop : NULL;
    return h && h->sleep && h->sleep->seconds > 0 ? h->sleep->seconds : 0;
}

struct nodes__wishes nodes__read_wishes(struct arena *a, const struct api_object *pod,
                                        const struct api_container *c, enum nodes__role role,
                                        const struct nodes__pod_facts *facts) {
    struct source s = {&pod->meta->annotations, c->name, false};
    struct nodes__wishes w = {.killed = INT64_MAX};
    struct api_opt_i64 start = number(&s, "start-seconds", INT32_MAX);
    w.waits_in_turn = start.set;
    s.is_alike = true;
    if (!start.set)
        start = number(&s, "start-seconds", INT32_MAX);
    w.start_delay = start.set ? nanos(start.v) : facts->start_delay;
    struct api_opt_i64 stop = number(&s, "stop-seconds", INT32_MAX);
    w.stop_delay = stop.set ? nanos(stop.v) : facts->stop_delay;
    if (__builtin_add_overflow(w.stop_delay, nanos(hook_seconds(c)), &w.stop_delay))
        w.stop_delay = INT64_MAX;
    const struct label *image = find(&s, "image");
    w.lacks_image = image && str_is(image->value, "missing");
    read_startup(&s, c, &w);
    read_readiness(&s, c, &w);
    read_liveness(&s, c, &w);
    read_end(a, &s, c, role, &w);
    return w;
}
