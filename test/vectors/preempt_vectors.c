/* preempt.jsonl: a pod that fits nowhere; who has to go for it, where, and what is said of it. */
#include "base/clock.h"
#include "cluster.h"
#include "members.h"
#include "sched/sched.h"
#include "vectors.h"

#define LATER (INT64_C(4000000000) * CLOCK_SECOND) /* than any pod of a line started */

static struct json encode_victims(struct arena *a, const struct sched_result *r) {
    struct json out = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < r->victim_count; i++)
        json_append(a, &out,
                    json_of_str(arena_printf(a, "%.*s/%.*s", STR_ARG(r->victims[i].namespace),
                                             STR_ARG(r->victims[i].name))));
    return out;
}

static int compare(struct arena *a, const struct json *want, const struct sched_result *r,
                   struct buf *why) {
    struct json got = {.kind = JSON_OBJECT};
    json_add(a, &got, STR("message"), json_of_str(r->message));
    json_add(a, &got, STR("nominated"), json_of_str(r->nominated));
    json_add(a, &got, STR("victims"), encode_victims(a, r));
    return vectors_compare_members(want, &got, why);
}

/* The pod with the uid that the oracle gives it. */
static const struct api_object *with_uid(const struct api_object *pod) {
    struct api_object *o = api_object_derive(pod);
    api_own_meta(o)->uid = arena_printf(&o->arena, "%.*s/%.*s", STR_ARG(pod->meta->namespace),
                                        STR_ARG(pod->meta->name));
    return api_publish(o);
}

/* Pods that wait beside the one in question have gates: it is the first that is decided. */
static int check(struct cluster *c, const struct json *line, struct buf *why) {
    if (cluster_add_line(c, line, why) < 0)
        return -1;
    const struct api_object *pod = cluster_add(c, "Pod", json_get(line, STR("pod")), why);
    if (!pod)
        return -1;
    c->objects[c->n - 1] = with_uid(pod);
    api_object_unref(pod);
    struct clock_manual clock;
    clock_manual_init(&clock, LATER);
    struct sched *s = cluster_sched_new(c, &clock.clock);
    for (size_t i = 0; i < c->n; i++)
        sched_set(s, c->objects[i]);
    struct sched_result result = {0};
    sched_next(s, &result);
    int rc = compare(c->arena, json_get(line, STR("result")), &result, why);
    sched_free(s);
    return rc;
}

int vectors_check_preempt(struct arena *a, const struct json *line, struct buf *why) {
    return cluster_check(a, line, why, check);
}
