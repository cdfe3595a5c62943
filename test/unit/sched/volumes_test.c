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
#include "pod_event.h"
#include "sched/volumes/state_int.h"
#include "sentences.h"
#include "world.h"

/* One case while it runs. */
struct run {
    struct world w;
    struct str name;
    struct arena arena;
    VEC(struct sched__pod_class *)
    classes; /* held, so that what nodes made of them is remembered */
};

static void start(struct run *r, const struct json *c) {
    *r = (struct run){.name = json_str(json_get(c, STR("name")))};
    const struct json *config = json_get(c, STR("config")), *objects = json_get(c, STR("objects"));
    struct sched_config *read = NULL; /* upstream's default */
    struct err err;
    if (config && sched_config_read(&r->arena, config, &read, &err) < 0)
        fail_msg("%s", err.msg);
    world_start(&r->w, data_gates(c), (struct sched_opts){.config = read, .seed = 7});
    for (size_t i = 0; i < objects->n; i++)
        world_set(&r->w, object_of_json(&objects->items[i]));
}

static void finish(struct run *r) {
    for (size_t i = 0; i < r->classes.n; i++)
        sched__pod_class_unref(r->w.s, r->classes.v[i]);
    vec_release(&r->classes);
    sched_free(r->w.s);
    arena_release(&r->arena);
}

/* What was said about a pod, in the shape of the file. */
static struct json say(struct run *r, const struct sched_report *report, bool with_scores) {
    struct json result = world_report_json(&r->arena, report), scores = {.kind = JSON_OBJECT};
    if (!with_scores)
        return result;
    for (size_t i = 0; i < report->node_count; i++) {
        const struct sched_node_report *n = &report->nodes[i];
        if (n->status.code == SCHED_CODE_SUCCESS)
            json_add(&r->arena, &scores, n->node, json_of_i64(n->scores[SCHED_VOLUME_BINDING]));
    }
    json_add(&r->arena, &result, STR("scores"), scores);
    return result;
}

/* A cycle of the pod's own, as far as explanations need it. */
static void explain(struct run *r, struct sched_pod *p, const struct json *sentences, bool fails) {
    struct sched__cycle cy = {
        .s = r->w.s, .pod = p, .cls = p->cls, .profile = p->cls->profile, .arena = &r->arena};
    sched__cycle_filter(&cy);
    assert_int_equal(cy.error.p != NULL, fails); /* a failure is not remembered as a verdict */
    for (uint32_t slot = 0; cy.verdict && !cy.error.p && slot < r->w.s->nodes.n; slot++) {
        struct buf text = BUF_INIT(1 << 16);
        const struct sched__reason_row *row = sched__reason_row(cy.verdict[slot]);
        if (cy.verdict[slot] <= SCHED__ABSENT)
            continue;
        sentence_write(&cy, row->plugin, slot, &text);
        const struct json *wanted =
            sentences ? json_get(sentences, intern_text(r->w.s->nodes.v[slot].name)) : NULL;
        if (text.n < 20 || (wanted && !str_eq(json_str(wanted), buf_view(&text))))
            fail_msg("%.*s: %.*s", STR_ARG(r->name), STR_ARG(buf_view(&text)));
        buf_release(&text);
    }
}

static void place(struct run *r, const struct json *step, struct sched_pod *p) {
    struct str node = json_str(json_get(step, STR("place")));
    uint32_t slot = sched__node_find(r->w.s, node);
    assert_true(slot != SCHED__NONE);
    sched__volumes_assume(r->w.s, p, slot, &(struct sched_result){0});
    if (json_get(step, STR("forget"))) {
        sched__volumes_forget(r->w.s, p);
        return;
    }
    struct api_object *placed = object_of_json(json_get(step, STR("pod")));
    ((struct api_pod *)api_own_body(placed))->spec.node_name = arena_str(&placed->arena, node);
    world_set(&r->w, placed);
}

/* Every pod is looked at twice: the second time most of it is remembered. */
static void run_step(struct run *r, const struct json *step) {
    const struct api_object *pod = world_publish(&r->w, object_of_json(json_get(step, STR("pod"))));
    const struct json *wanted = json_get(step, STR("result"));
    struct sched__pod_class *class = sched__pod_class_get(r->w.s, pod);
    vec_push(&r->classes, class);
    for (int i = 0; i < 2; i++) {
        struct sched_report report;
        sched_examine(r->w.s, pod, &r->arena, &report);
        struct json got = say(r, &report, json_get(wanted, STR("scores")));
        data_expect_same(r->name, wanted, &got);
    }
    struct sched_pod p = {
        .key = pod->meta->name, .cls = class, .node = SCHED__NONE, .nominated = SCHED__NONE};
    explain(r, &p, json_get(step, STR("explain")), json_get(wanted, STR("error")));
    if (json_get(step, STR("place")))
        place(r, step, &p);
    api_object_unref(pod);
}

static void run_case(struct arena *a, const struct json *c) {
    (void)a;
    struct run r;
    start(&r, c);
    const struct json *steps = json_get(c, STR("steps"));
    for (size_t i = 0; i < steps->n; i++)
        run_step(&r, &steps->items[i]);
    finish(&r);
}

static void cases_of_the_file(void **state) {
    (void)state;
    data_each("test/sched/volumes.jsonl", 131, run_case);
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

/* Published, with defaults; NULL if the case has none. */
static const struct api_object *member(const struct json *c, const char *name) {
    struct feature_set gates = data_newest_gates();
    struct api_object *o = object_of_json(json_get(c, str_of(name)));
    if (o)
        api_object_default(o, &gates);
    return object_publish(o);
}

static void run_hint(struct arena *a, const struct json *c) {
    (void)a;
    enum sched_plugin id;
    assert_true(sched_plugin_find(json_str(json_get(c, STR("plugin"))), &id));
    const struct sched__plugin *plugin = sched__plugin_at(id);
    const struct api_object *pod = member(c, "pod");
    const struct api_object *before = member(c, "before");
    const struct api_object *after = member(c, "after");
    struct sched s = {0};
    struct sched__pod_class cls = {.sample = pod, .pod = pod->body};
    struct sched_pod p = {.cls = &cls};
    struct sched__event event = {.bits = find_event(json_str(json_get(c, STR("event")))),
                                 .before = before,
                                 .after = after,
                                 .had_node = is_on_node(before)};
    bool queue = (plugin->events & event.bits) && plugin->hint(&s, &p, &event);
    if (queue != json_get(c, STR("queue"))->b)
        fail_msg("%.*s: %.*s: %d", STR_ARG(json_str(json_get(c, STR("plugin")))),
                 STR_ARG(json_str(json_get(c, STR("name")))), queue);
    api_object_unref(pod);
    api_object_unref(before);
    api_object_unref(after);
}

static void hints_of_the_file(void **state) {
    (void)state;
    data_each("test/sched/volume_hints.jsonl", 201, run_hint);
}

/* ---- what is remembered ---- */

static struct api_object *a_node(const char *name) {
    return object_of_text("{'apiVersion':'v1','kind':'Node','metadata':{'name':'%s','labels':"
                          "{'host':'%s'}},'status':{'allocatable':{'cpu':'8','memory':'8Gi','pods':"
                          "'99'}}}",
                          name, name);
}

static struct api_object *a_storage_class(void) {
    return object_of_text("{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass','metadata':"
                          "{'name':'s'},'provisioner':'kubernetes.io/no-provisioner',"
                          "'volumeBindingMode':'WaitForFirstConsumer'}");
}

static struct api_object *a_volume(const char *name, const char *host, const char *version) {
    return object_of_text(
        "{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':'%s','resourceVersion':"
        "'%s'},'spec':{'capacity':{'storage':'1Gi'},'accessModes':['ReadWriteOnce'],'local':"
        "{'path':'/a'},'storageClassName':'s','nodeAffinity':{'required':{'nodeSelectorTerms':"
        "[{'matchExpressions':[{'key':'host','operator':'In','values':['%s']}]}]}}},'status':"
        "{'phase':'Available'}}",
        name, version, host);
}

static struct api_object *a_claim(const char *name, const char *mode) {
    return object_of_text("{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':{'name':"
                          "'%s','namespace':'d'},'spec':{'accessModes':['%s'],'storageClassName':"
                          "'s','resources':{'requests':{'storage':'1Gi'}}}}",
                          name, mode);
}

static struct api_object *a_pod(const char *name, const char *claim, const char *host) {
    return object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':'d'"
                          "},'spec':{'nodeName':'%s','containers':[{'name':'c','image':'i'}],"
                          "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'%s'}}]}}",
                          name, host, claim);
}

static void start_world(struct world *w) {
    world_start(w, data_newest_gates(), (struct sched_opts){.seed = 3});
}

/* On how many nodes a pod with the claim would fit. */
static size_t count_fits(struct world *w, const char *claim) {
    struct arena a = {0};
    struct sched_report report;
    const struct api_object *pod = world_publish(w, a_pod("asking", claim, ""));
    sched_examine(w->s, pod, &a, &report);
    api_object_unref(pod);
    arena_release(&a);
    return report.feasible;
}

static void decisions_take_volumes(void **state) {
    (void)state;
    struct world w;
    struct sched_result r;
    start_world(&w);
    world_set(&w, a_storage_class());
    world_set(&w, a_node("n1"));
    world_set(&w, a_node("n2"));
    world_set(&w, a_volume("a", "n1", "1"));
    world_set(&w, a_volume("b", "n2", "1"));
    world_set(&w, a_claim("x", "ReadWriteOnce"));
    world_set(&w, a_claim("y", "ReadWriteOnce"));
    world_set(&w, a_claim("z", "ReadWriteOnce"));
    const char *claims[] = {"x", "y", "z"};
    for (int i = 0; i < 3; i++)
        world_set(&w, a_pod(claims[i], claims[i], ""));
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
    world_set(&w, a_volume("a", "n1", "1"));
    assert_int_equal(count_fits(&w, "z"), 0);
    world_set(&w, a_volume("a", "n1", "2"));
    assert_int_equal(count_fits(&w, "z"), 1);
    world_set(&w, a_volume("b", "n1", "2"));
    assert_int_equal(count_fits(&w, "z"), 1);
    world_set(&w, a_volume("b", "n2", "3"));
    assert_int_equal(count_fits(&w, "z"), 2);
    sched_free(w.s);
}

/* The pod that was decided on goes before its binding is confirmed: its volume is free again. */
static void pods_that_go_give_back(void **state) {
    (void)state;
    struct world w;
    struct sched_result r;
    start_world(&w);
    world_set(&w, a_storage_class());
    world_set(&w, a_node("n1"));
    world_set(&w, a_volume("a", "n1", "1"));
    world_set(&w, a_claim("x", "ReadWriteOnce"));
    world_set(&w, a_claim("y", "ReadWriteOnce"));
    const struct api_object *pod = world_publish(&w, a_pod("p", "x", ""));
    sched_set(w.s, pod);
    assert_true(sched_next(w.s, &r));
    assert_int_equal(count_fits(&w, "y"), 0);
    sched_delete(w.s, pod);
    assert_int_equal(count_fits(&w, "y"), 1);
    /* A pod that is bound leaves its volume with its claim. */
    sched_set(w.s, pod);
    assert_true(sched_next(w.s, &r));
    world_set(&w, a_pod("p", "x", "n1"));
    sched_delete(w.s, pod);
    assert_int_equal(count_fits(&w, "y"), 0);
    assert_int_equal(count_fits(&w, "x"), 1);
    api_object_unref(pod);
    sched_free(w.s);
}

static void claims_for_one_pod_are_counted(void **state) {
    (void)state;
    struct world w;
    start_world(&w);
    world_set(&w, a_storage_class());
    world_set(&w, a_node("n1"));
    world_set(&w, a_node("n2"));
    world_set(&w, a_claim("x", "ReadWriteOncePod"));
    world_set(&w, a_volume("a", "n1", "1"));
    const struct api_object *asking = world_publish(&w, a_pod("asking", "x", ""));
    struct sched__pod_class *held = sched__pod_class_get(w.s, asking);
    uint64_t before = w.s->storage_generation;
    const struct api_object *pod = world_publish(&w, a_pod("p", "x", "n2"));
    sched_set(w.s, pod);
    assert_true(w.s->storage_generation > before);
    assert_int_equal(sched__claim_users(w.s, STR("d"), STR("x")), 1);
    world_set(&w, a_pod("q", "x", "n1"));
    assert_int_equal(sched__claim_users(w.s, STR("d"), STR("x")), 2);
    sched_delete(w.s, pod);
    assert_int_equal(sched__claim_users(w.s, STR("d"), STR("x")), 1);
    assert_int_equal(sched__claim_users(w.s, STR("e"), STR("x")), 0);
    sched__pod_class_unref(w.s, held);
    api_object_unref(asking);
    api_object_unref(pod);
    sched_free(w.s);
}

static void compiled_volumes_do_not_pile_up(void **state) {
    (void)state;
    struct world w;
    start_world(&w);
    world_set(&w, a_storage_class());
    world_set(&w, a_node("n1"));
    world_set(&w, a_claim("x", "ReadWriteOnce"));
    for (int i = 0; i < 300; i++) {
        char name[20];
        snprintf(name, sizeof name, "v%d", i);
        const struct api_object *volume = world_publish(&w, a_volume(name, "n1", "1"));
        sched_set(w.s, volume);
        assert_int_equal(count_fits(&w, "x"), 1);
        sched_delete(w.s, volume);
        assert_int_equal(count_fits(&w, "x"), 0);
        api_object_unref(volume);
    }
    assert_int_equal(w.s->volumes->compiled.live, 0);
    sched_free(w.s);
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
