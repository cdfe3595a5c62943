/* Volumes that nodes have attached: counted when somebody asks, and kept up from then on. */
#include "sched/volumes/state_int.h"
#include "world.h"

static void start(struct world *w) {
    world_start(w, data_newest_gates(), (struct sched_opts){.seed = 3});
    world_set(w, object_of_text("{'apiVersion':'v1','kind':'Node','metadata':{'name':'n'}}"));
    world_set(w, object_of_text("{'apiVersion':'storage.k8s.io/v1','kind':'StorageClass',"
                                "'metadata':{'name':'s'},'provisioner':'y'}"));
}

static void set_volume(struct world *w, const char *name, const char *handle) {
    world_set(w, object_of_text("{'apiVersion':'v1','kind':'PersistentVolume','metadata':{'name':"
                                "'%s'},'spec':{'csi':{'driver':'x','volumeHandle':'%s'}}}",
                                name, handle));
}

/* A claim of this volume; "": it has none yet. */
static void set_claim(struct world *w, const char *name, const char *volume) {
    world_set(w, object_of_text("{'apiVersion':'v1','kind':'PersistentVolumeClaim','metadata':"
                                "{'name':'%s','namespace':'d'},'spec':{'storageClassName':'s',"
                                "'volumeName':'%s'}}",
                                name, volume));
}

static struct api_object *an_attachment(const char *name, const char *volume) {
    return object_of_text("{'apiVersion':'storage.k8s.io/v1','kind':'VolumeAttachment','metadata':"
                          "{'name':'%s'},'spec':{'attacher':'x','nodeName':'n','source':"
                          "{'persistentVolumeName':'%s'}}}",
                          name, volume);
}

/* A pod on the node with a claim. */
static struct api_object *a_pod(const char *name, const char *claim) {
    return object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':"
                          "'d'},'spec':{'nodeName':'n','containers':[{'name':'c','image':'i'}],"
                          "'volumes':[{'name':'v','persistentVolumeClaim':{'claimName':'%s'}}]}}",
                          name, claim);
}

/* A pod on the node with an ephemeral volume. */
static struct api_object *a_pod_with_ephemeral(const char *name) {
    return object_of_text("{'apiVersion':'v1','kind':'Pod','metadata':{'name':'%s','namespace':"
                          "'d'},'spec':{'nodeName':'n','containers':[{'name':'c','image':'i'}],"
                          "'volumes':[{'name':'v','ephemeral':{}}]}}",
                          name);
}

static uint32_t the_node(struct world *w) {
    return sched__node_find(w->s, STR("n"));
}

/* So many volumes of each driver are there, and so many if all are counted again. */
static void expect(struct world *w, size_t x, size_t y) {
    for (int i = 0; i < 2; i++) {
        const struct sched__attached *there = sched__attached_get(w->s, the_node(w));
        assert_int_equal(sched__attached_count(there, STR("x")), x);
        assert_int_equal(sched__attached_count(there, STR("y")), y);
        w->s->attached_generation++;
    }
    sched__attached_get(w->s, the_node(w));
}

static void a_volume_counts_once(void **state) {
    (void)state;
    struct world w;
    start(&w);
    set_volume(&w, "v1", "h1");
    set_volume(&w, "v2", "h2");
    set_volume(&w, "other-v1", "h1");
    set_claim(&w, "c1", "v1");
    set_claim(&w, "c2", "v2");
    expect(&w, 0, 0);
    world_set(&w, a_pod("p1", "c1"));
    expect(&w, 1, 0);
    world_set(&w, a_pod("p2", "c1"));
    world_set(&w, an_attachment("a1", "v1"));
    world_set(&w, an_attachment("a2", "other-v1"));
    expect(&w, 1, 0);
    world_set(&w, an_attachment("a3", "v2"));
    expect(&w, 2, 0);
    world_set(&w, a_pod("p3", "c2"));
    expect(&w, 2, 0);
    world_delete(&w, a_pod("p3", "c2"));
    world_delete(&w, a_pod("p1", "c1"));
    expect(&w, 2, 0);
    world_delete(&w, an_attachment("a1", "v1"));
    world_delete(&w, an_attachment("a2", "other-v1"));
    expect(&w, 2, 0);
    world_delete(&w, a_pod("p2", "c1"));
    expect(&w, 1, 0);
    sched_free(w.s);
}

/* Objects that nobody judged may lack what is required. */
static void an_attachment_without_a_node_counts_nowhere(void **state) {
    (void)state;
    struct world w;
    start(&w);
    set_volume(&w, "v1", "h1");
    world_set(&w, object_of_text("{'apiVersion':'storage.k8s.io/v1','kind':'VolumeAttachment',"
                                 "'metadata':{'name':'a0'},'spec':{'attacher':'x','source':"
                                 "{'persistentVolumeName':'v1'}}}"));
    world_set(&w, object_of_text("{'apiVersion':'storage.k8s.io/v1','kind':'CSINode','metadata':"
                                 "{'name':'n'},'spec':{'drivers':[{'nodeID':'i'}]}}"));
    expect(&w, 0, 0);
    world_set(&w, an_attachment("a1", "v1"));
    expect(&w, 1, 0);
    sched_free(w.s);
}

/* The last of one name counts. */
static void drivers_are_those_of_the_csi_node(void **state) {
    (void)state;
    struct world w;
    start(&w);
    assert_null(sched__attached_driver(sched__attached_get(w.s, the_node(&w)), STR("x")));
    world_set(&w, object_of_text("{'apiVersion':'storage.k8s.io/v1','kind':'CSINode','metadata':"
                                 "{'name':'n'},'spec':{'drivers':[{'name':'x','nodeID':'1'},"
                                 "{'name':'y','nodeID':'2'},{'name':'x','nodeID':'3'}]}}"));
    const struct sched__attached *there = sched__attached_get(w.s, the_node(&w));
    assert_true(str_is(sched__attached_driver(there, STR("x"))->node_id, "3"));
    assert_true(str_is(sched__attached_driver(there, STR("y"))->node_id, "2"));
    assert_null(sched__attached_driver(there, STR("z")));
    sched_free(w.s);
}

static void an_unbound_claim_counts_for_its_class(void **state) {
    (void)state;
    struct world w;
    start(&w);
    set_volume(&w, "v1", "h1");
    set_claim(&w, "c1", "");
    world_set(&w, a_pod("p1", "c1"));
    world_set(&w, a_pod("p2", "missing"));
    expect(&w, 0, 1);
    set_claim(&w, "c1", "v1");
    expect(&w, 1, 0);
    set_claim(&w, "missing", "");
    expect(&w, 1, 1);
    world_delete(&w, a_pod("p2", "missing"));
    expect(&w, 1, 0);
    sched_free(w.s);
}

/* Only what pods have is not attached once more. */
static void an_attachment_is_no_volume_of_a_pod(void **state) {
    (void)state;
    struct world w;
    struct arena a = {0};
    start(&w);
    set_volume(&w, "v1", "h1");
    set_claim(&w, "c1", "v1");
    world_set(&w, an_attachment("a1", "v1"));
    struct api_object *pod = a_pod("p1", "c1");
    struct sched__attach_opts opts = {.has_csi_node = true};
    struct sched__attachables volumes = sched__attachables(w.s, pod, &opts, &a);
    assert_int_equal(volumes.n, 1);
    assert_false(sched__attached_by_pod(sched__attached_get(w.s, the_node(&w)), volumes.v[0].key));
    world_set(&w, pod);
    assert_true(sched__attached_by_pod(sched__attached_get(w.s, the_node(&w)), volumes.v[0].key));
    arena_release(&a);
    sched_free(w.s);
}

/* The first pod on the node whose volumes cannot be told is this one; "": they all can. */
static void expect_failing(struct world *w, const char *name) {
    struct arena a = {0};
    struct str text = {0};
    if (*name)
        text = arena_printf(&a, "PVC d/%s-v was not created for pod d/%s (pod is not owner)", name,
                            name);
    struct str error = sched__attached_error(w->s, the_node(w), &a);
    if (!str_eq(error, text))
        fail_msg("%.*s", STR_ARG(error));
    arena_release(&a);
}

static void the_first_pod_that_fails_is_told(void **state) {
    (void)state;
    struct world w;
    start(&w);
    set_claim(&w, "p1-v", "");
    set_claim(&w, "p2-v", "");
    world_set(&w, a_pod("p0", "c"));
    expect_failing(&w, "");
    world_set(&w, a_pod_with_ephemeral("p1"));
    expect_failing(&w, "p1");
    world_set(&w, a_pod_with_ephemeral("p2"));
    expect_failing(&w, "p1");
    struct sched_pod *first = w.s->nodes.v[the_node(&w)].pods.v[0];
    struct sched__seat seat = sched__pod_take_off(w.s, first);
    expect_failing(&w, "p2"); /* the last one has come to the first place */
    sched__pod_put_back(w.s, first, &seat);
    expect_failing(&w, "p1");
    world_delete(&w, a_pod_with_ephemeral("p1"));
    expect_failing(&w, "p2");
    world_delete(&w, a_pod_with_ephemeral("p2"));
    expect_failing(&w, "");
    sched_free(w.s);
}

/* ---- kept up = counted anew ---- */

enum { NAMES = 4, STEPS = 20000 };

static unsigned next(unsigned *seed, unsigned n) {
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 16) % n;
}

static const char *const names[NAMES] = {"1", "2", "3", "4"};

static struct api_object *any_pod(const char *name, unsigned *seed) {
    return next(seed, 8) ? a_pod(name, names[next(seed, NAMES)]) : a_pod_with_ephemeral(name);
}

/* The node's pods leave it for a while, and come back in the reverse order. */
static void take_off_and_put_back(struct world *w, unsigned *seed) {
    const struct sched__node *node = &w->s->nodes.v[the_node(w)];
    struct sched_pod *pods[NAMES];
    struct sched__seat seats[NAMES];
    struct arena a = {0};
    size_t n = 0;
    while (node->pods.n && next(seed, 3)) {
        pods[n] = node->pods.v[next(seed, (unsigned)node->pods.n)];
        seats[n] = sched__pod_take_off(w->s, pods[n]);
        n++;
        sched__attached_error(w->s, the_node(w), &a);
    }
    while (n--)
        sched__pod_put_back(w->s, pods[n], &seats[n]);
    arena_release(&a);
}

static void change_something(struct world *w, unsigned *seed) {
    const char *name = names[next(seed, NAMES)], *other = names[next(seed, NAMES)];
    switch (next(seed, 16)) {
    case 0:
        set_volume(w, name, other);
        break;
    case 1:
        set_claim(w, name, next(seed, 3) ? other : "");
        break;
    case 2:
        set_claim(w, name[0] < '3' ? "1-v" : "2-v", other);
        break;
    case 3:
        world_set(w, an_attachment(name, other));
        break;
    case 4:
        world_delete(w, an_attachment(name, other));
        break;
    case 5:
        take_off_and_put_back(w, seed);
        break;
    case 6:
    case 7:
    case 8:
    case 9:
    case 10:
        world_delete(w, any_pod(name, seed));
        break;
    default:
        world_set(w, any_pod(name, seed));
        break;
    }
}

/* What is known of the node, as a text. */
static struct str describe(struct world *w, struct arena *a) {
    struct str error = sched__attached_error(w->s, the_node(w), a);
    const struct sched__attached *there = sched__attached_get(w->s, the_node(w));
    struct buf out = BUF_INIT(SIZE_MAX);
    buf_addf(&out, "%zu %zu %.*s", sched__attached_count(there, STR("x")),
             sched__attached_count(there, STR("y")), STR_ARG(error));
    for (size_t i = 0; i < NAMES; i++)
        buf_addf(&out, " %d", sched__attached_by_pod(there, arena_printf(a, "1:x%s", names[i])));
    struct str text = arena_str(a, buf_view(&out));
    buf_release(&out);
    return text;
}

static void what_is_kept_up_is_what_is_counted_anew(void **state) {
    (void)state;
    struct world w;
    struct arena a = {0};
    unsigned seed = 1;
    start(&w);
    for (unsigned i = 0; i < STEPS; i++) {
        change_something(&w, &seed);
        struct str kept = describe(&w, &a);
        if (next(&seed, 4))
            continue;
        w.s->attached_generation++;
        struct str anew = describe(&w, &a);
        if (!str_eq(kept, anew))
            fail_msg("step %u: %.*s, but anew %.*s", i, STR_ARG(kept), STR_ARG(anew));
        arena_reset(&a);
    }
    arena_release(&a);
    sched_free(w.s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_volume_counts_once),
        cmocka_unit_test(an_attachment_without_a_node_counts_nowhere),
        cmocka_unit_test(drivers_are_those_of_the_csi_node),
        cmocka_unit_test(an_unbound_claim_counts_for_its_class),
        cmocka_unit_test(an_attachment_is_no_volume_of_a_pod),
        cmocka_unit_test(the_first_pod_that_fails_is_told),
        cmocka_unit_test(what_is_kept_up_is_what_is_counted_anew),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
