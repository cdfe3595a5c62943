/*
 * requeue.jsonl: a pod that fits nowhere, and an object that comes, changes or goes; whether the
 * pod is tried again.
 */
#include "base/clock.h"
#include "cluster.h"
#include "members.h"
#include "sched/sched.h"
#include "vectors.h"

/* Longer than a pod stays in back-off after its first try, and too short for it to be tried again
 * because it has waited for long. */
#define SOON (20 * CLOCK_SECOND)

/* Tells the scheduler what the line says about one object: as it is now, or the names it had. */
static int change(struct cluster *c, struct sched *s, const struct json *line, struct buf *why) {
    struct str kind = arena_printf(c->arena, "%.*s", STR_ARG(vectors_text(line, STR("changed"))));
    const struct json *after = json_get(line, STR("after")), *gone = json_get(line, STR("gone"));
    struct json named = {.kind = JSON_OBJECT};
    if (gone)
        json_add(c->arena, &named, STR("metadata"), *gone);
    const struct api_object *o = cluster_add(c, kind.p, after ? after : &named, why);
    if (!o)
        return -1;
    if (after)
        sched_set(s, o);
    else
        sched_delete(s, o);
    return 0;
}

static int check(struct cluster *c, const struct json *line, struct buf *why) {
    if (cluster_add_line(c, line, why) < 0 ||
        !cluster_add(c, "Pod", json_get(line, STR("pod")), why))
        return -1;
    struct clock_manual clock;
    clock_manual_init(&clock, CLOCK_SECOND);
    struct sched *s = cluster_sched_new(c, &clock.clock);
    for (size_t i = 0; i < c->n; i++)
        sched_set(s, c->objects[i]);
    struct sched_result result = {0};
    sched_next(s, &result);
    int rc = change(c, s, line, why);
    clock_manual_advance(&clock, SOON);
    if (rc == 0) {
        struct json got = {.kind = JSON_OBJECT};
        json_add(c->arena, &got, STR("requeued"), json_of_bool(sched_next(s, &result)));
        rc = vectors_compare_members(line, &got, why);
    }
    sched_free(s);
    return rc;
}

int vectors_check_requeue(struct arena *a, const struct json *line, struct buf *why) {
    return cluster_check(a, line, why, check);
}
