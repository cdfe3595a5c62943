/* DaemonSets at work. */
#include "managed.h"

#define DS "daemonset-controller"
#define SPEC(more, image)                                                                     \
    "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: log}, spec: {" more              \
    "selector: {matchLabels: {app: log}}, template: {metadata: {labels: {app: log}}, spec: {" \
    "containers: [{name: c, image: " image "}]}}}}"

static const struct api_daemon_set_status *status_of(struct managed *m) {
    const struct api_object *o = world_get(&m->w, API_T_daemon_set, "log");
    assert_non_null(o);
    return &((const struct api_daemon_set *)o->body)->status;
}

static void add_node(struct managed *m, const char *name, const char *more) {
    world_create(&m->w,
                 arena_printf(&m->w.arena, "{apiVersion: v1, kind: Node, metadata: {name: %s%s}}",
                              name, more)
                     .p);
    /* A new node is not ready; this one is. */
    world_patch(&m->w, API_T_node, name, NULL, "{\"spec\":{\"taints\":null}}");
}

static void add_nodes(struct managed *m, int n) {
    for (int i = 0; i < n; i++)
        add_node(m, arena_printf(&m->w.arena, "node%d", i).p, "");
}

/* Pods by image. */
struct tally {
    const char *image;
    size_t pods, ready;
};

static void count_pod(void *arg, const struct api_object *o) {
    struct tally *t = arg;
    const struct api_pod *pod = o->body;
    if (!str_is(pod->spec.containers.v[0].image, t->image))
        return;
    t->pods++;
    t->ready += pod->status.conditions.n > 0;
}

static struct tally tally(struct managed *m, const char *image) {
    struct tally t = {.image = image};
    world_each(&m->w, API_T_pod, count_pod, &t);
    return t;
}

static void roll(struct managed *m, int seconds) {
    for (int i = 0; i < seconds; i++) {
        managed_pods_run(m, true);
        world_run(&m->w, 1);
    }
}

static void set_image(struct managed *m, const char *image) {
    world_patch(&m->w, API_T_daemon_set, "log", NULL,
                arena_printf(&m->w.arena,
                             "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\","
                             "\"image\":\"%s\"}]}}}}",
                             image)
                    .p);
}

static void check_pod(void *arg, const struct api_object *o) {
    const struct api_pod *pod = o->body;
    (void)arg;
    const struct api_node_selector *required = pod->spec.affinity->node_affinity->required;
    const struct api_node_selector_requirement *field =
        &required->node_selector_terms.v[0].match_fields.v[0];
    assert_true(str_is(field->key, "metadata.name"));
    assert_true(str_starts(field->values.v[0], STR("node")));
    assert_non_null(labels_find(&o->meta->labels, STR("controller-revision-hash")));
    assert_true(pod->spec.tolerations.n >= 6);
    assert_true(str_is(o->meta->generate_name, "log-"));
}

/* Clients compare what a revision keeps byte by byte with what upstream's code makes of the set. */
static void check_revision(void *arg, const struct api_object *o) {
    const struct api_controller_revision *r = o->body;
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    (void)arg;
    json_write(&text, &r->data, NULL);
    assert_true(str_find(buf_view(&text),
                         STR("{\"spec\":{\"template\":{\"$patch\":\"replace\",\"metadata\":{")) ==
                0);
    assert_true(str_find(buf_view(&text), STR("\"image\":\"one\",\"imagePullPolicy\":"
                                              "\"Always\",\"name\":\"c\",\"resources\":{}")) !=
                STR_NONE);
}

static void every_node_has_one(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, DS, "");
    add_nodes(&m, 5);
    world_create(&m.w, SPEC("", "one"));
    world_run(&m.w, 1);
    assert_int_equal(world_each(&m.w, API_T_pod, check_pod, NULL), 5);
    assert_int_equal(world_each(&m.w, API_T_controller_revision, check_revision, NULL), 1);
    assert_int_equal(status_of(&m)->desired_number_scheduled, 5);
    assert_int_equal(status_of(&m)->current_number_scheduled, 5);
    assert_int_equal(status_of(&m)->updated_number_scheduled, 5);
    assert_int_equal(status_of(&m)->number_unavailable, 5);
    assert_int_equal(status_of(&m)->observed_generation, 1);
    const struct api_event *e = world_event(&m.w, "SuccessfulCreate", "log");
    assert_true(str_is(e->source.component, "daemonset-controller"));
    roll(&m, 2);
    assert_int_equal(status_of(&m)->number_ready, 5);
    assert_int_equal(status_of(&m)->number_available, 5);
    assert_int_equal(status_of(&m)->number_unavailable, 0);
    add_node(&m, "node9", "");
    world_run(&m.w, 1);
    assert_int_equal(world_count(&m.w, API_T_pod), 6);
    size_t sent = m.counting.sent[REGISTRY_VERB_UPDATE];
    world_run(&m.w, 600);
    assert_int_equal(m.counting.sent[REGISTRY_VERB_UPDATE], sent);
    managed_stop(&m);
}

static void nodes_are_chosen(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, DS, "");
    add_node(&m, "node0", ", labels: {disk: ssd}");
    add_node(&m, "node1", "");
    add_node(&m, "node2", ", labels: {disk: ssd}");
    world_patch(&m.w, API_T_node, "node2", NULL,
                "{\"spec\":{\"taints\":[{\"key\":\"a\",\"effect\":\"NoSchedule\"}]}}");
    world_create(&m.w, "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: log}, spec: "
                       "{selector: {matchLabels: {app: log}}, template: {metadata: {labels: {app: "
                       "log}}, spec: {nodeSelector: {disk: ssd}, containers: [{name: c, image: "
                       "i}]}}}}");
    world_run(&m.w, 1);
    assert_int_equal(world_count(&m.w, API_T_pod), 1);
    world_patch(&m.w, API_T_node, "node1", NULL, "{\"metadata\":{\"labels\":{\"disk\":\"ssd\"}}}");
    world_run(&m.w, 1);
    assert_int_equal(world_count(&m.w, API_T_pod), 2);
    world_patch(&m.w, API_T_node, "node1", NULL, "{\"metadata\":{\"labels\":{\"disk\":\"no\"}}}");
    world_run(&m.w, 1);
    assert_int_equal(world_count(&m.w, API_T_pod), 1);
    assert_int_equal(status_of(&m)->desired_number_scheduled, 1);
    /* NoSchedule lets a pod stay that is there. */
    world_patch(&m.w, API_T_node, "node0", NULL,
                "{\"spec\":{\"taints\":[{\"key\":\"a\",\"effect\":\"NoSchedule\"}]}}");
    world_run(&m.w, 1);
    assert_int_equal(world_count(&m.w, API_T_pod), 1);
    assert_int_equal(status_of(&m)->number_misscheduled, 1);
    world_delete(&m.w, API_T_node, "node0");
    world_run(&m.w, 1);
    assert_int_equal(world_count(&m.w, API_T_pod), 0); /* it was not bound yet */
    managed_stop(&m);
}

/* At most two nodes of six are without one that is ready. */
static void a_change_rolls_from_node_to_node(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, DS, "");
    add_nodes(&m, 6);
    world_create(&m.w, SPEC("updateStrategy: {rollingUpdate: {maxUnavailable: 2}}, ", "one"));
    roll(&m, 3);
    set_image(&m, "two");
    world_run(&m.w, 0.5);
    assert_int_equal(tally(&m, "one").pods, 4);
    for (int i = 0; i < 10; i++) {
        assert_true(tally(&m, "one").pods + tally(&m, "two").ready >= 4);
        roll(&m, 1);
    }
    assert_int_equal(tally(&m, "two").pods, 6);
    assert_int_equal(status_of(&m)->updated_number_scheduled, 6);
    assert_int_equal(world_count(&m.w, API_T_controller_revision), 2);
    managed_stop(&m);
}

static void a_surge_makes_the_new_one_first(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, DS, "");
    add_nodes(&m, 4);
    world_create(
        &m.w, SPEC("updateStrategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}, ", "one"));
    roll(&m, 3);
    set_image(&m, "two");
    world_run(&m.w, 5);
    assert_int_equal(tally(&m, "one").pods, 4);
    assert_int_equal(tally(&m, "two").pods, 1);
    roll(&m, 10);
    assert_int_equal(tally(&m, "one").pods, 0);
    assert_int_equal(tally(&m, "two").pods, 4);
    managed_stop(&m);
}

static void on_delete_waits(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, DS, "");
    add_nodes(&m, 2);
    world_create(&m.w, SPEC("updateStrategy: {type: OnDelete}, ", "one"));
    roll(&m, 3);
    set_image(&m, "two");
    roll(&m, 3);
    assert_int_equal(tally(&m, "two").pods, 0);
    assert_int_equal(status_of(&m)->updated_number_scheduled, 0);
    struct managed_names names = managed_names(&m, API_T_pod);
    world_delete(&m.w, API_T_pod, names.v.v[0]);
    world_run(&m.w, 1);
    assert_int_equal(tally(&m, "two").pods, 1);
    vec_release(&names.v);
    managed_stop(&m);
}

static void failed_ones_are_replaced_with_care(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, DS, "");
    add_nodes(&m, 1);
    world_create(&m.w, SPEC("", "one"));
    world_run(&m.w, 1);
    for (int i = 0; i < 120; i++) { /* every new one fails at once */
        struct managed_names names = managed_names(&m, API_T_pod);
        for (size_t k = 0; k < names.v.n; k++)
            world_patch(&m.w, API_T_pod, names.v.v[k], "status",
                        "{\"status\":{\"phase\":\"Failed\"}}");
        vec_release(&names.v);
        world_run(&m.w, 1);
    }
    assert_in_range(m.counting.sent[REGISTRY_VERB_CREATE], 6, 10);
    const struct api_event *e = world_event(&m.w, "FailedDaemonPod", "log");
    assert_non_null(e);
    assert_true(str_starts(e->message, STR("Found failed daemon pod default/log-")));
    assert_true(str_ends(e->message, STR(" on node node0, will try to kill it")));
    managed_stop(&m);
}

static void old_revisions_go(void **state) {
    static const char *const images[] = {"i1", "i2", "i3", "i4", "i1"};
    struct managed m;
    (void)state;
    managed_start(&m, DS, "");
    add_nodes(&m, 1);
    world_create(&m.w, SPEC("revisionHistoryLimit: 1, ", "i0"));
    roll(&m, 2);
    for (size_t i = 0; i < 5; i++) {
        set_image(&m, images[i]);
        roll(&m, 3);
    }
    assert_int_equal(world_count(&m.w, API_T_controller_revision), 2);
    managed_stop(&m);
}

/* A template that comes back has its revision again, with a new number. */
static void a_revision_comes_back(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, DS, "");
    add_nodes(&m, 1);
    world_create(&m.w, SPEC("", "one"));
    roll(&m, 2);
    struct managed_names names = managed_names(&m, API_T_controller_revision);
    set_image(&m, "two");
    roll(&m, 3);
    set_image(&m, "one");
    roll(&m, 3);
    assert_int_equal(world_count(&m.w, API_T_controller_revision), 2);
    const struct api_object *o = world_get(&m.w, API_T_controller_revision, names.v.v[0]);
    assert_int_equal(((const struct api_controller_revision *)o->body)->revision, 3);
    assert_int_equal(tally(&m, "one").pods, 1);
    vec_release(&names.v);
    managed_stop(&m);
}

/* A second revision of the same template, made by somebody else, stays until there is another
 * reason to look at the DaemonSet: then one is kept. */
static void others_make_revisions(void **state) {
    struct managed m;
    (void)state;
    managed_start(&m, DS, "");
    add_nodes(&m, 1);
    world_create(&m.w, SPEC("", "one"));
    roll(&m, 3);
    struct managed_names names = managed_names(&m, API_T_controller_revision);
    struct api_object *draft =
        api_object_derive(world_get(&m.w, API_T_controller_revision, names.v.v[0]));
    api_own_meta(draft)->name = STR("log-other");
    api_own_meta(draft)->resource_version = STR("");
    ((struct api_controller_revision *)api_own_body(draft))->revision = 2;
    struct client_request r = {.verb = REGISTRY_VERB_CREATE,
                               .kind = draft->kind,
                               .namespace = STR("default"),
                               .object = draft};
    assert_int_equal(world_send(&m.w, &r)->code, ERR_NONE);
    world_run(&m.w, 10);
    assert_int_equal(world_count(&m.w, API_T_controller_revision), 2);
    add_node(&m, "late", "");
    roll(&m, 3);
    assert_int_equal(world_count(&m.w, API_T_controller_revision), 1);
    assert_non_null(world_get(&m.w, API_T_controller_revision, "log-other"));
    vec_release(&names.v);
    managed_stop(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_node_has_one),
        cmocka_unit_test(nodes_are_chosen),
        cmocka_unit_test(a_change_rolls_from_node_to_node),
        cmocka_unit_test(a_surge_makes_the_new_one_first),
        cmocka_unit_test(on_delete_waits),
        cmocka_unit_test(failed_ones_are_replaced_with_care),
        cmocka_unit_test(old_revisions_go),
        cmocka_unit_test(a_revision_comes_back),
        cmocka_unit_test(others_make_revisions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
