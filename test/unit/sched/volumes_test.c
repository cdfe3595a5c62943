/*
 * The volume plug-ins against the real scheduler: test/sched/volumes.jsonl has one cluster to a
 * line, and pods that are looked at one after the other. Of each it says what upstream's default
 * profile made of every node: plug-in, code and reasons, or with what the whole attempt ended, and
 * the scores of VolumeBinding. A pod with "place" then goes there, unless "forget" takes that back.
 * Sentences of explanations are ours, as are verdicts about versions ("ours").
 *
 * test/sched/volume_hints.jsonl has changes of objects, and whether upstream's plug-in would have a
 * pod that it rejected tried again.
 */
// clang-format off
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
// clang-format on
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "pod_event.h"
#include "sched/plugins/volume_state_int.h"

static struct str read_file(struct arena *a, const char *path) {
    enum { MOST = 1 << 20 };
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    char *p = arena_alloc(a, MOST);
    size_t n = fread(p, 1, MOST, f);
    assert_true(n < MOST);
    fclose(f);
    return (struct str){p, n};
}

static struct api_object *decode(const struct json *tree, const struct feature_set *gates) {
    struct api_object *o;
    struct err err;
    if (api_object_decode(tree, &(struct api_decode_opts){.strict = true}, &o, &err) < 0)
        fail_msg("%s", err.msg);
    api_object_default(o, gates);
    return o;
}

static struct feature_set read_gates(const struct json *gates) {
    struct feature_config config;
    feature_config_init(&config, FEATURE_NEWEST);
    for (size_t i = 0; gates && i < gates->n; i++) {
        enum feature f;
        assert_true(feature_find(gates->members[i].key, &f));
        feature_set_put(&config.enabled, f, gates->members[i].value.b);
    }
    return config.enabled;
}

/* One case while it runs. */
struct run {
    struct sched *s;
    struct feature_set gates;
    struct str name;
    struct arena arena;
    struct sched_config *config;        /* NULL: upstream's default */
    VEC(struct sched__class *) classes; /* held, so that what nodes made of them is remembered */
};

static void start(struct run *r, const struct json *c, struct clock_fake *clock) {
    *r = (struct run){.name = json_str(json_get(c, STR("name")))};
    r->gates = read_gates(json_get(c, STR("gates")));
    const struct json *config = json_get(c, STR("config"));
    struct err err;
    if (config && sched_config_read(&r->arena, config, &r->config, &err) < 0)
        fail_msg("%s", err.msg);
    clock_fake_init(clock, 0);
    r->s = sched_new(&(struct sched_opts){
        .gates = &r->gates, .config = r->config, .clock = &clock->clock, .seed = 7});
    const struct json *objects = json_get(c, STR("objects"));
    for (size_t i = 0; i < objects->n; i++) {
        struct api_object *o = decode(&objects->items[i], &r->gates);
        sched_set(r->s, o);
        api_object_unref(o);
    }
}

static void finish(struct run *r) {
    for (size_t i = 0; i < r->classes.n; i++)
        sched__class_unref(r->s, r->classes.v[i]);
    vec_release(&r->classes);
    sched_free(r->s);
    arena_release(&r->arena);
}

/* What was said about a pod, in the shape of the file. */
static struct json say_status(struct run *r, const struct sched_status *status) {
    struct json list = {.kind = JSON_ARRAY};
    if (status->code == SCHED_SUCCESS)
        return list;
    struct str code = sched_code_name(status->code);
    json_append(
        &r->arena, &list,
        json_of_str(arena_printf(&r->arena, "%.*s %.*s", STR_ARG(status->plugin), STR_ARG(code))));
    for (size_t i = 0; i < status->reason_count; i++)
        json_append(&r->arena, &list, json_of_str(status->reasons[i]));
    return list;
}

static struct json say(struct run *r, const struct sched_report *report, bool with_scores) {
    struct json result = {.kind = JSON_OBJECT};
    if (report->error.p) {
        json_add(&r->arena, &result, STR("error"), json_of_str(report->error));
        return result;
    }
    if (report->rejected.code != SCHED_SUCCESS) {
        assert_int_equal(report->rejected.code, SCHED_REJECTED_FOR_GOOD);
        json_add(&r->arena, &result, STR("rejected"), json_of_str(report->rejected.reasons[0]));
        return result;
    }
    struct json nodes = {.kind = JSON_OBJECT}, scores = {.kind = JSON_OBJECT};
    for (size_t i = 0; i < report->node_count; i++) {
        const struct sched_node_report *n = &report->nodes[i];
        json_add(&r->arena, &nodes, n->node, say_status(r, &n->status));
        if (n->status.code == SCHED_SUCCESS)
            json_add(&r->arena, &scores, n->node, json_of_i64(n->scores[SCHED_VOLUME_BINDING]));
    }
    json_add(&r->arena, &result, STR("nodes"), nodes);
    if (with_scores)
        json_add(&r->arena, &result, STR("scores"), scores);
    return result;
}

static void compare(struct run *r, const struct json *got, const struct json *wanted) {
    if (json_equal(got, wanted))
        return;
    struct buf texts = BUF_INIT(1 << 20);
    json_write(&texts, got, NULL);
    buf_add(&texts, STR("\ninstead of\n"));
    json_write(&texts, wanted, NULL);
    fail_msg("%.*s:\n%.*s", STR_ARG(r->name), STR_ARG(buf_view(&texts)));
}

/* A cycle of the pod's own, as far as explanations need it. */
static void explain(struct run *r, struct sched_pod *p, const struct json *sentences, bool fails) {
    struct sched__cycle cy = {
        .s = r->s, .pod = p, .cls = p->cls, .profile = p->cls->profile, .arena = &r->arena};
    sched__cycle_filter(&cy);
    assert_int_equal(cy.error.p != NULL, fails); /* a failure is not remembered as a verdict */
    for (uint32_t slot = 0; cy.verdict && !cy.error.p && slot < r->s->nodes.n; slot++) {
        struct buf text = BUF_INIT(1 << 16);
        const struct sched__reason_row *row = sched__reason_row(cy.verdict[slot]);
        if (cy.verdict[slot] <= SCHED__ABSENT)
            continue;
        sched__plugin_at(row->plugin)->explain(&cy, slot, &text);
        const struct json *wanted =
            sentences ? json_get(sentences, intern_text(r->s->nodes.v[slot].name)) : NULL;
        if (text.n < 20 || (wanted && !str_eq(json_str(wanted), buf_view(&text))))
            fail_msg("%.*s: %.*s", STR_ARG(r->name), STR_ARG(buf_view(&text)));
        buf_release(&text);
    }
}

static void place(struct run *r, const struct json *step, struct sched_pod *p) {
    struct str node = json_str(json_get(step, STR("place")));
    uint32_t slot = sched__node_find(r->s, node);
    assert_true(slot != SCHED__NONE);
    sched__volumes_assume(r->s, p, slot);
    if (json_get(step, STR("forget"))) {
        sched__volumes_forget(r->s, p);
        return;
    }
    struct api_object *placed = decode(json_get(step, STR("pod")), &r->gates);
    ((struct api_pod *)placed->body)->spec.node_name = arena_str(&placed->arena, node);
    sched_set(r->s, placed);
    api_object_unref(placed);
}

/* Every pod is looked at twice: the second time most of it is remembered. */
static void run_step(struct run *r, const struct json *step) {
    struct api_object *pod = decode(json_get(step, STR("pod")), &r->gates);
    const struct json *wanted = json_get(step, STR("result"));
    struct sched__class *class = sched__class_get(r->s, pod);
    vec_push(&r->classes, class);
    for (int i = 0; i < 2; i++) {
        struct sched_report report;
        sched_examine(r->s, pod, &r->arena, &report);
        struct json got = say(r, &report, json_get(wanted, STR("scores")));
        compare(r, &got, wanted);
    }
    struct sched_pod p = {
        .key = pod->meta->name, .cls = class, .node = SCHED__NONE, .nominated = SCHED__NONE};
    explain(r, &p, json_get(step, STR("explain")), json_get(wanted, STR("error")));
    if (json_get(step, STR("place")))
        place(r, step, &p);
    api_object_unref(pod);
}

static void run_case(const struct json *c) {
    struct clock_fake clock;
    struct run r;
    start(&r, c, &clock);
    const struct json *steps = json_get(c, STR("steps"));
    for (size_t i = 0; i < steps->n; i++)
        run_step(&r, &steps->items[i]);
    finish(&r);
}

/* Runs every line of a file; returns how many there are. */
static size_t run_file(const char *path, void run(const struct json *)) {
    struct arena a = {0};
    struct str rest = read_file(&a, path), line;
    size_t count = 0;
    for (; rest.n; count++) {
        struct json c;
        struct err err;
        str_cut(rest, '\n', &line, &rest);
        assert_int_equal(json_parse(&a, line, NULL, &c, &err), 0);
        run(&c);
    }
    arena_release(&a);
    return count;
}

static void cases_of_the_file(void **state) {
    (void)state;
    assert_true(run_file("test/sched/volumes.jsonl", run_case) > 130);
}

/* ---- hints ---- */

static const struct {
    const char *name;
    uint32_t bits;
} events[] = {
    {"NODE_ADD", SCHED__NODE_ADD},
    {"NODE_LABEL", SCHED__NODE_LABEL},
    {"NODE_TAINT", SCHED__NODE_TAINT},
    {"ASSIGNED_POD_ADD", SCHED__ASSIGNED_POD_ADD},
    {"ASSIGNED_POD_DELETE", SCHED__ASSIGNED_POD_DELETE},
    {"CLAIM_ADD", SCHED__CLAIM_ADD},
    {"CLAIM_UPDATE", SCHED__CLAIM_UPDATE},
    {"VOLUME_ADD", SCHED__VOLUME_ADD},
    {"VOLUME_UPDATE", SCHED__VOLUME_UPDATE},
    {"STORAGE_CLASS_ADD", SCHED__STORAGE_CLASS_ADD},
    {"STORAGE_CLASS_UPDATE", SCHED__STORAGE_CLASS_UPDATE},
    {"CSI_NODE_ADD", SCHED__CSI_NODE_ADD},
    {"CSI_NODE_UPDATE", SCHED__CSI_NODE_UPDATE},
    {"CSI_DRIVER", SCHED__CSI_DRIVER},
    {"CAPACITY", SCHED__CAPACITY},
    {"ATTACHMENT_DELETE", SCHED__ATTACHMENT_DELETE},
};

static uint32_t find_event(struct str name) {
    for (size_t i = 0; i < sizeof events / sizeof *events; i++)
        if (str_is(name, events[i].name))
            return events[i].bits;
    fail_msg("%.*s", STR_ARG(name));
    return 0;
}

static struct api_object *decode_if_there(const struct json *tree,
                                          const struct feature_set *gates) {
    return tree ? decode(tree, gates) : NULL;
}

static void run_hint(const struct json *c) {
    struct feature_set gates = read_gates(NULL);
    enum sched_plugin id;
    assert_true(sched_plugin_find(json_str(json_get(c, STR("plugin"))), &id));
    const struct sched__plugin *plugin = sched__plugin_at(id);
    struct api_object *pod = decode(json_get(c, STR("pod")), &gates);
    struct api_object *before = decode_if_there(json_get(c, STR("before")), &gates);
    struct api_object *after = decode_if_there(json_get(c, STR("after")), &gates);
    struct sched__class cls = {.sample = pod, .pod = pod->body};
    struct sched_pod p = {.cls = &cls};
    struct sched__event event = {.bits = find_event(json_str(json_get(c, STR("event")))),
                                 .before = before,
                                 .after = after,
                                 .sat = is_on_node(before)};
    bool queue = (plugin->events & event.bits) && plugin->hint(NULL, &p, &event);
    if (queue != json_get(c, STR("queue"))->b)
        fail_msg("%.*s: %.*s: %d", STR_ARG(json_str(json_get(c, STR("plugin")))),
                 STR_ARG(json_str(json_get(c, STR("name")))), queue);
    api_object_unref(pod);
    api_object_unref(before);
    api_object_unref(after);
}

static void hints_of_the_file(void **state) {
    (void)state;
    assert_true(run_file("test/sched/volume_hints.jsonl", run_hint) > 200);
}

/* ---- what is remembered ---- */

/* A cluster of objects that are made here, line by line. */
struct world {
    struct clock_fake clock;
    struct feature_set gates;
    struct sched *s;
    struct arena arena;
};

static void world_init(struct world *w) {
    *w = (struct world){.gates = read_gates(NULL)};
    clock_fake_init(&w->clock, 0);
    w->s = sched_new(&(struct sched_opts){.gates = &w->gates, .clock = &w->clock.clock, .seed = 3});
}

static void world_release(struct world *w) {
    sched_free(w->s);
    arena_release(&w->arena);
}

static struct api_object *make(struct world *w, struct str text) {
    struct json tree;
    struct err err;
    if (json_parse(&w->arena, text, NULL, &tree, &err) < 0)
        fail_msg("%s", err.msg);
    return decode(&tree, &w->gates);
}

static void set(struct world *w, struct str text) {
    struct api_object *o = make(w, text);
    sched_set(w->s, o);
    api_object_unref(o);
}

static struct str node_text(struct world *w, const char *name) {
    return arena_printf(&w->arena,
                        "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":\"%s\","
                        "\"labels\":{\"host\":\"%s\"}},\"status\":{\"allocatable\":{\"cpu\":\"8\","
                        "\"memory\":\"8Gi\",\"pods\":\"99\"}}}",
                        name, name);
}

static struct str class_text(void) {
    return STR("{\"apiVersion\":\"storage.k8s.io/v1\",\"kind\":\"StorageClass\",\"metadata\":{"
               "\"name\":\"s\"},\"provisioner\":\"kubernetes.io/no-provisioner\","
               "\"volumeBindingMode\":\"WaitForFirstConsumer\"}");
}

static struct str volume_text(struct world *w, const char *name, const char *node,
                              const char *version) {
    return arena_printf(
        &w->arena,
        "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolume\",\"metadata\":{\"name\":\"%s\","
        "\"resourceVersion\":\"%s\"},\"spec\":{\"capacity\":{\"storage\":\"1Gi\"},"
        "\"accessModes\":[\"ReadWriteOnce\"],\"local\":{\"path\":\"/a\"},"
        "\"storageClassName\":\"s\",\"nodeAffinity\":{\"required\":{\"nodeSelectorTerms\":[{"
        "\"matchExpressions\":[{\"key\":\"host\",\"operator\":\"In\",\"values\":[\"%s\"]}]}]}}},"
        "\"status\":{\"phase\":\"Available\"}}",
        name, version, node);
}

static struct str claim_text(struct world *w, const char *name, const char *mode) {
    return arena_printf(&w->arena,
                        "{\"apiVersion\":\"v1\",\"kind\":\"PersistentVolumeClaim\",\"metadata\":{"
                        "\"name\":\"%s\",\"namespace\":\"d\"},\"spec\":{\"accessModes\":[\"%s\"],"
                        "\"storageClassName\":\"s\",\"resources\":{\"requests\":{\"storage\":"
                        "\"1Gi\"}}}}",
                        name, mode);
}

static struct str pod_text(struct world *w, const char *name, const char *claim, const char *node) {
    return arena_printf(&w->arena,
                        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\","
                        "\"namespace\":\"d\"},\"spec\":{\"nodeName\":\"%s\",\"containers\":[{"
                        "\"name\":\"c\",\"image\":\"i\"}],\"volumes\":[{\"name\":\"v\","
                        "\"persistentVolumeClaim\":{\"claimName\":\"%s\"}}]}}",
                        name, node, claim);
}

/* On how many nodes a pod with the claim would fit. */
static size_t count_fits(struct world *w, const char *claim) {
    struct sched_report report;
    struct api_object *pod = make(w, pod_text(w, "asking", claim, ""));
    sched_examine(w->s, pod, &w->arena, &report);
    api_object_unref(pod);
    return report.feasible;
}

static void decisions_take_volumes(void **state) {
    (void)state;
    struct world w;
    struct sched_result r;
    world_init(&w);
    set(&w, class_text());
    set(&w, node_text(&w, "n1"));
    set(&w, node_text(&w, "n2"));
    set(&w, volume_text(&w, "a", "n1", "1"));
    set(&w, volume_text(&w, "b", "n2", "1"));
    set(&w, claim_text(&w, "x", "ReadWriteOnce"));
    set(&w, claim_text(&w, "y", "ReadWriteOnce"));
    set(&w, claim_text(&w, "z", "ReadWriteOnce"));
    const char *claims[] = {"x", "y", "z"};
    for (int i = 0; i < 3; i++)
        set(&w, pod_text(&w, claims[i], claims[i], ""));
    assert_true(sched_next(w.s, &r));
    assert_true(str_is(r.node, "n1"));
    assert_true(sched_next(w.s, &r));
    assert_true(str_is(r.node, "n2"));
    assert_true(sched_next(w.s, &r));
    assert_int_equal(r.outcome, SCHED_UNSCHEDULABLE);
    assert_true(str_starts(r.message, STR("0/2 nodes are available: 2 node(s) didn't find "
                                          "available persistent volumes to bind.")));
    /* The volume comes back with another version, and nobody has it. */
    assert_int_equal(count_fits(&w, "z"), 0);
    set(&w, volume_text(&w, "a", "n1", "1"));
    assert_int_equal(count_fits(&w, "z"), 0);
    set(&w, volume_text(&w, "a", "n1", "2"));
    assert_int_equal(count_fits(&w, "z"), 1);
    set(&w, volume_text(&w, "b", "n1", "2"));
    assert_int_equal(count_fits(&w, "z"), 1);
    set(&w, volume_text(&w, "b", "n2", "3"));
    assert_int_equal(count_fits(&w, "z"), 2);
    world_release(&w);
}

/* The pod that was decided on goes before its binding is confirmed: its volume is free again. */
static void pods_that_go_give_back(void **state) {
    (void)state;
    struct world w;
    struct sched_result r;
    world_init(&w);
    set(&w, class_text());
    set(&w, node_text(&w, "n1"));
    set(&w, volume_text(&w, "a", "n1", "1"));
    set(&w, claim_text(&w, "x", "ReadWriteOnce"));
    set(&w, claim_text(&w, "y", "ReadWriteOnce"));
    struct api_object *pod = make(&w, pod_text(&w, "p", "x", ""));
    sched_set(w.s, pod);
    assert_true(sched_next(w.s, &r));
    assert_int_equal(count_fits(&w, "y"), 0);
    sched_delete(w.s, pod);
    assert_int_equal(count_fits(&w, "y"), 1);
    /* A pod that is bound leaves its volume with its claim. */
    sched_set(w.s, pod);
    assert_true(sched_next(w.s, &r));
    set(&w, pod_text(&w, "p", "x", "n1"));
    sched_delete(w.s, pod);
    assert_int_equal(count_fits(&w, "y"), 0);
    assert_int_equal(count_fits(&w, "x"), 1);
    api_object_unref(pod);
    world_release(&w);
}

static void claims_for_one_pod_are_counted(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    set(&w, class_text());
    set(&w, node_text(&w, "n1"));
    set(&w, node_text(&w, "n2"));
    set(&w, claim_text(&w, "x", "ReadWriteOncePod"));
    set(&w, volume_text(&w, "a", "n1", "1"));
    struct api_object *asking = make(&w, pod_text(&w, "asking", "x", ""));
    struct sched__class *held = sched__class_get(w.s, asking);
    uint64_t before = w.s->storage_generation;
    struct api_object *pod = make(&w, pod_text(&w, "p", "x", "n2"));
    sched_set(w.s, pod);
    assert_true(w.s->storage_generation > before);
    assert_int_equal(sched__claim_users(w.s, STR("d"), STR("x")), 1);
    set(&w, pod_text(&w, "q", "x", "n1"));
    assert_int_equal(sched__claim_users(w.s, STR("d"), STR("x")), 2);
    sched_delete(w.s, pod);
    assert_int_equal(sched__claim_users(w.s, STR("d"), STR("x")), 1);
    assert_int_equal(sched__claim_users(w.s, STR("e"), STR("x")), 0);
    sched__class_unref(w.s, held);
    api_object_unref(asking);
    api_object_unref(pod);
    world_release(&w);
}

static void compiled_volumes_do_not_pile_up(void **state) {
    (void)state;
    struct world w;
    world_init(&w);
    set(&w, class_text());
    set(&w, node_text(&w, "n1"));
    set(&w, claim_text(&w, "x", "ReadWriteOnce"));
    for (int i = 0; i < 300; i++) {
        struct str name = arena_printf(&w.arena, "v%d", i);
        struct api_object *volume = make(&w, volume_text(&w, name.p, "n1", "1"));
        sched_set(w.s, volume);
        assert_int_equal(count_fits(&w, "x"), 1);
        sched_delete(w.s, volume);
        assert_int_equal(count_fits(&w, "x"), 0);
        api_object_unref(volume);
    }
    assert_in_range(w.s->volumes->compiled.live, 1, 100);
    world_release(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_of_the_file),
        cmocka_unit_test(hints_of_the_file),
        cmocka_unit_test(decisions_take_volumes),
        cmocka_unit_test(pods_that_go_give_back),
        cmocka_unit_test(claims_for_one_pod_are_counted),
        cmocka_unit_test(compiled_volumes_do_not_pile_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
