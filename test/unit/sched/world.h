/* For tests of a whole scheduler: its gates, a clock that is moved by hand, and what it is told. */
#ifndef TEST_SCHED_WORLD_H
#define TEST_SCHED_WORLD_H

#include "base/clock.h"
#include "objects.h"
#include "sched/sched.h"

struct world {
    struct sched *s;
    struct clock_manual clock;
    struct feature_set gates;
};

/* A scheduler with the world's gates and clock, which may not move; the rest as `opts` say. */
static inline struct sched *world_sched(struct world *w, struct sched_opts opts) {
    opts.gates = &w->gates;
    opts.clock = &w->clock.clock;
    return sched_new(&opts);
}

/* The end is sched_free(w->s). */
static inline void world_start(struct world *w, struct feature_set gates, struct sched_opts opts) {
    w->gates = gates;
    clock_manual_init(&w->clock, 1000 * CLOCK_SECOND);
    w->s = world_sched(w, opts);
}

/* Gives an object its defaults and publishes it; NULL is fine. */
static inline const struct api_object *world_publish(struct world *w, struct api_object *o) {
    if (o)
        api_object_default(o, &w->gates);
    return object_publish(o);
}

/* The object, which is taken, gets its defaults, and the scheduler is told that it is there. */
static inline void world_set(struct world *w, struct api_object *o) {
    const struct api_object *shared = world_publish(w, o);
    sched_set(w->s, shared);
    api_object_unref(shared);
}

/* Tells it that the object, which is taken, is gone. */
static inline void world_delete(struct world *w, struct api_object *o) {
    sched_delete(w->s, o);
    api_object_free(o);
}

/* ---- what the scheduler says, as files of cases have it ---- */

/* [] for a node that is fine, else ["Plugin Code", reason, …]. */
static inline struct json world_status_json(struct arena *a, const struct sched_status *status) {
    struct json list = {.kind = JSON_ARRAY};
    if (status->code == SCHED_CODE_SUCCESS)
        return list;
    struct str code = sched_code_name(status->code);
    json_append(a, &list,
                json_of_str(arena_printf(a, "%.*s %.*s", STR_ARG(status->plugin), STR_ARG(code))));
    for (size_t i = 0; i < status->reason_count; i++)
        json_append(a, &list, json_of_str(status->reasons[i]));
    return list;
}

/* {"error": …} or {"rejected": …} with what the attempt ended, or {"nodes": {name: status, …}}. */
static inline struct json world_report_json(struct arena *a, const struct sched_report *report) {
    struct json result = {.kind = JSON_OBJECT}, nodes = {.kind = JSON_OBJECT};
    if (report->error.p) {
        json_add(a, &result, STR("error"), json_of_str(report->error));
        return result;
    }
    if (report->rejected.code != SCHED_CODE_SUCCESS) {
        assert_int_equal(report->rejected.code, SCHED_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE);
        json_add(a, &result, STR("rejected"), json_of_str(report->rejected.reasons[0]));
        return result;
    }
    for (size_t i = 0; i < report->node_count; i++)
        json_add(a, &nodes, report->nodes[i].node, world_status_json(a, &report->nodes[i].status));
    json_add(a, &result, STR("nodes"), nodes);
    return result;
}

#endif
