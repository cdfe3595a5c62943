/*
 * What simulated containers print, worked out from their pod as their lives are: nobody keeps it.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "nodes/kubelets_int.h"
#include "nodes/life_int.h"
#include "nodes/nodes.h"

/* A run of a container, and the lines of its log. */
struct diary {
    struct arena *a;
    const struct api_object *pod;
    const struct nodes__container *c;
    struct nodes__run run;
    bool has_ended;
    int32_t number; /* of the run: how often it had been restarted */
    int64_t now;
    struct apiserver_log_line *lines;
    size_t n;
    int64_t next;
};

/* Beside what a program prints: its start, probes, stop and end. */
enum { OWN_LINES = 8 };

/* A line that is said at a time; what lies ahead is said then, and what lies behind the second of
 * the end never. */
static void say(struct diary *d, int64_t at, struct str text) {
    if (d->has_ended && at >= nodes__after(d->run.finished, CLOCK_SECOND))
        return;
    if (at <= d->now)
        d->lines[d->n++] = (struct apiserver_log_line){at, text};
    else if (at < d->next)
        d->next = at;
}

static void say_output(struct diary *d) {
    const struct nodes__program *p = &d->c->wishes.program;
    for (size_t i = 0; i < p->n; i++)
        say(d, nodes__after(d->run.started, p->lines[i].at), p->lines[i].text);
}

/* ---- what happens to it ---- */

static void say_probes(struct diary *d) {
    const struct nodes__wishes *w = &d->c->wishes;
    if (w->has_startup)
        say(d, nodes__after(d->run.started, w->started), STR("simulated: startup probe succeeds"));
    if (w->has_readiness)
        say(d, nodes__after(d->run.started, w->ready), STR("simulated: readiness probe succeeds"));
    say(d, nodes__after(d->run.started, w->killed),
        w->fails_startup ? STR("simulated: startup probe has failed, the container is killed")
                         : STR("simulated: liveness probe has failed, the container is killed"));
}

static void say_stop(struct diary *d) {
    const struct api_object_meta *meta = d->pod->meta;
    int64_t second;
    if (meta->deletion_timestamp.set &&
        !__builtin_sub_overflow(meta->deletion_timestamp.sec, meta->deletion_grace_period_seconds.v,
                                &second) &&
        second >= d->run.started)
        say(d, nodes__after(second, 0), STR("simulated: the container is told to stop"));
}

static void say_life(struct diary *d) {
    say(d, nodes__after(d->run.started, 0),
        d->number ? arena_printf(d->a, "simulated: %.*s is started, restart %d",
                                 STR_ARG(d->c->spec->image), (int)d->number)
                  : arena_printf(d->a, "simulated: %.*s is started", STR_ARG(d->c->spec->image)));
    say_probes(d);
    say_stop(d);
    if (d->has_ended)
        say(d, nodes__after(d->run.finished, 0),
            arena_printf(d->a, "simulated: the container exits with code %d",
                         (int)d->run.exit_code));
}

static int by_time(const void *a, const void *b) {
    const struct apiserver_log_line *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Few lines, in nearly the right order. */
static void sort(struct diary *d) {
    for (size_t i = 1; i < d->n; i++)
        for (size_t k = i; k > 0 && by_time(&d->lines[k - 1], &d->lines[k]) > 0; k--) {
            struct apiserver_log_line line = d->lines[k];
            d->lines[k] = d->lines[k - 1];
            d->lines[k - 1] = line;
        }
}

/* ---- which run ---- */

static const struct nodes__container *find(const struct nodes__life *life, struct str name) {
    for (size_t i = 0; i < life->n; i++)
        if (str_eq(life->v[i].spec->name, name))
            return &life->v[i];
    return NULL;
}

/* The run that the status shows: the one that is or was; of a container that waits to be restarted
 * it is the last one. False: there was none. */
static bool choose_run(struct diary *d, bool is_previous) {
    const struct nodes__container *c = d->c;
    bool is_last = is_previous || c->mode == NODES__BACKOFF;
    if (c->mode == NODES__WAITING || (is_last && !c->last.finished))
        return false;
    d->run = is_last ? c->last : c->run;
    d->has_ended = is_last || c->mode == NODES__ENDED;
    d->number = is_last && c->mode != NODES__BACKOFF ? c->restarts - 1 : c->restarts;
    return true;
}

void nodes_read_log(struct arena *a, const struct api_object *pod, struct str container,
                    bool is_previous, int64_t now, struct apiserver_log *out) {
    static const struct nodes__pod_facts no_facts;
    struct nodes__life life = nodes__read_life(a, pod, &no_facts);
    struct diary d = {
        .a = a, .pod = pod, .c = find(&life, container), .now = now, .next = INT64_MAX};
    if (!d.c || !choose_run(&d, is_previous))
        return;
    d.lines = arena_array(a, struct apiserver_log_line, OWN_LINES + d.c->wishes.program.n);
    if (d.c->wishes.has_program)
        say_output(&d);
    else
        say_life(&d);
    sort(&d);
    *out = (struct apiserver_log){
        .run = nodes__run_id(a, pod, container, d.number),
        .lines = d.lines,
        .n = d.n,
        .next = d.next,
        .is_over = d.has_ended,
    };
}
