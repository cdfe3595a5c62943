/*
 * Queueing hints of spreading and pod affinity against upstream's: test/sched/topology_hints.jsonl
 * has a pod that waits, an object before and after a change, and which of the two plug-ins take
 * that for a reason to try the pod again.
 */
#include "pod_event.h"
#include "world.h"

struct run {
    struct world w;
    size_t line, asked[2]; /* answers no and yes */
};

static const struct api_object *member(struct run *r, const struct json *c, const char *name) {
    return world_publish(&r->w, object_of_json(json_get(c, str_of(name))));
}

static void ask(struct run *r, enum sched_plugin p, struct sched_pod *pod,
                const struct sched__event *event, const struct json *wanted) {
    const struct sched__plugin *plugin = sched__plugin_at(p);
    bool queue = (plugin->events & event->bits) && plugin->hint(r->w.s, pod, event);
    const struct json *answer = json_get(wanted, sched_plugin_name(p));
    assert_non_null(answer);
    if (queue != answer->b)
        fail_msg("line %zu: %.*s says %s", r->line, STR_ARG(sched_plugin_name(p)),
                 queue ? "queue" : "skip");
    r->asked[queue]++;
}

static bool is_target(const struct api_object *o, const struct api_object *pod) {
    return o && str_eq(o->meta->name, pod->meta->name);
}

static void run_line(struct run *r, const struct json *c) {
    const struct api_object *object = member(r, c, "pod");
    struct sched_pod pod = {.cls = sched__pod_class_get(r->w.s, object), .node = SCHED__NONE};
    const struct api_object *before = member(r, c, "before");
    const struct api_object *after = member(r, c, "after");
    struct sched__event event = {.before = before, .after = after};
    if ((after ? after : before)->type == &api_types[API_T_pod])
        event = pod_event(r->w.s, before, after, is_target(after, object));
    else
        event.bits = sched__event_bits(before, after);
    ask(r, SCHED_SPREAD, &pod, &event, json_get(c, STR("queue")));
    ask(r, SCHED_INTER_POD_AFFINITY, &pod, &event, json_get(c, STR("queue")));
    api_object_unref(before);
    api_object_unref(after);
    sched__pod_class_unref(r->w.s, pod.cls);
    api_object_unref(object);
}

static void upstream_agrees(void **state) {
    (void)state;
    struct data_lines d;
    struct run r = {0};
    struct feature_set gates = data_newest_gates();
    feature_set_put(&gates, FEATURE_TaintTolerationComparisonOperators, true);
    world_start(&r.w, gates, (struct sched_opts){.seed = 7});
    const char *path = getenv("TOPOLOGY_HINTS");
    data_lines_start(&d, path ? path : "test/sched/topology_hints.jsonl");
    while (data_lines_next(&d)) {
        r.line = d.count;
        run_line(&r, &d.line);
    }
    data_lines_end(&d, 1);
    assert_true(r.asked[0] > 20 && r.asked[1] > 20);
    sched_free(r.w.s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(upstream_agrees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
