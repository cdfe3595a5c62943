/*
 * Queueing hints of spreading and pod affinity against upstream's: test/sched/topology_hints.jsonl
 * has a pod that waits, an object before and after a change, and which of the two plug-ins take
 * that for a reason to try the pod again.
 */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "pod_event.h"

static struct str read_file(struct arena *a, const char *path) {
    enum { MOST = 1 << 26 };
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *p = arena_alloc(a, MOST);
    size_t n = fread(p, 1, MOST, f);
    assert_true(n < MOST);
    fclose(f);
    return (struct str){p, n};
}

struct run {
    struct sched *s;
    struct feature_set gates;
    size_t line, asked[2]; /* answers no and yes */
};

static struct api_object *decode(struct run *r, const struct json *tree) {
    struct api_object *o;
    struct err err;
    if (!tree)
        return NULL;
    if (api_object_decode(tree, &(struct api_decode_opts){.strict = true}, &o, &err) < 0)
        fail_msg("line %zu: %s", r->line, err.msg);
    api_object_default(o, &r->gates);
    return o;
}

static void ask(struct run *r, enum sched_plugin p, struct sched_pod *pod,
                const struct sched__event *event, const struct json *wanted) {
    const struct sched__plugin *plugin = sched__plugin_at(p);
    bool queue = (plugin->events & event->bits) && plugin->hint(r->s, pod, event);
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
    struct api_object *object = decode(r, json_get(c, STR("pod")));
    struct sched_pod pod = {.cls = sched__class_get(r->s, object), .node = SCHED__NONE};
    struct api_object *before = decode(r, json_get(c, STR("before")));
    struct api_object *after = decode(r, json_get(c, STR("after")));
    struct sched__event event = {.before = before, .after = after};
    if ((after ? after : before)->type == &api_types[API_T_pod])
        event = pod_event(r->s, before, after, is_target(after, object));
    else
        event.bits = sched__event_bits(before, after);
    ask(r, SCHED_SPREAD, &pod, &event, json_get(c, STR("queue")));
    ask(r, SCHED_INTER_POD_AFFINITY, &pod, &event, json_get(c, STR("queue")));
    api_object_unref(before);
    api_object_unref(after);
    sched__class_unref(r->s, pod.cls);
    api_object_unref(object);
}

static void upstream_agrees(void **state) {
    (void)state;
    struct arena text = {0}, line = {0};
    struct run r = {0};
    struct feature_config config;
    feature_config_init(&config, FEATURE_NEWEST);
    r.gates = config.enabled;
    feature_set_put(&r.gates, FEATURE_TaintTolerationComparisonOperators, true);
    struct clock_fake clock;
    clock_fake_init(&clock, 0);
    r.s = sched_new(&(struct sched_opts){.gates = &r.gates, .clock = &clock.clock, .seed = 7});
    const char *path = getenv("TOPOLOGY_HINTS");
    struct str rest = read_file(&text, path ? path : "test/sched/topology_hints.jsonl"), head;
    while (rest.n) {
        str_cut(rest, '\n', &head, &rest);
        struct json tree;
        struct err err;
        r.line++;
        if (json_parse(&line, head, NULL, &tree, &err) < 0)
            fail_msg("%s", err.msg);
        run_line(&r, &tree);
        arena_reset(&line);
    }
    assert_true(r.asked[0] > 20 && r.asked[1] > 20);
    sched_free(r.s);
    arena_release(&line);
    arena_release(&text);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(upstream_agrees)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
