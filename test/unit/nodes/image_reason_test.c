/* Images that are not there: who waits for them, what is said meanwhile, and that it goes on. */
#include "cluster.h"

static const struct api_container_state_waiting *waiting_of(struct cluster *c, const char *name) {
    const struct api_container_state_waiting *w = container_of(pod_of(c, name))->state.waiting;
    assert_non_null(w);
    return w;
}

static bool runs(struct cluster *c, const char *name) {
    return container_of(pod_of(c, name))->state.running;
}

static void add(struct cluster *c, const char *name, const char *annotations,
                const char *container) {
    world_create(
        &c->w, arena_printf(&c->w.arena,
                            "{apiVersion: v1, kind: Pod, metadata: {name: %s, annotations: {%s}}, "
                            "spec: {nodeName: node-0, containers: [{name: c, %s}]}}",
                            name, annotations, container)
                   .p);
}

/* Has somebody said this of the pod? */
static bool is_said(struct cluster *c, const char *pod, const char *reason, const char *message) {
    const struct api_event *e = world_event(&c->w, reason, pod);
    return e && str_is(e->message, message);
}

static const struct {
    const char *annotations, *container;
    const char *reason, *message;
    const char *event, *said; /* one of what is told */
} rows[] = {
    {"", "image: 'Not an image'", "InvalidImageName",
     "Failed to apply default image tag \"Not an image\": couldn't parse image name \"Not an "
     "image\": invalid reference format: repository name (library/Not an image) must be lowercase",
     "InspectFailed",
     "Failed to apply default image tag \"Not an image\": couldn't parse image name \"Not an "
     "image\": invalid reference format: repository name (library/Not an image) must be lowercase"},
    {"", "image: 'Not an image'", "InvalidImageName", NULL, "Failed", "Error: InvalidImageName"},
    {"berth.dev/image: missing", "image: i", "ImagePullBackOff",
     "Back-off pulling image \"i\": ErrImagePull: simulated: the image is missing", "BackOff",
     "Back-off pulling image \"i\""},
    {"c.berth.dev/image: missing", "image: i", "ImagePullBackOff", NULL, "Pulling",
     "Pulling image \"i\""},
    {"berth.dev/image: missing", "image: i, imagePullPolicy: Never", "ErrImageNeverPull",
     "Container image \"i\" is not present with pull policy of Never", "ErrImageNeverPull",
     "Container image \"i\" is not present with pull policy of Never"},
};

static void what_is_wrong_is_said(void **state) {
    (void)state;
    struct cluster c = {0};
    begin(&c, 1);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = arena_printf(&c.w.arena, "p%zu", i).p;
        add(&c, name, rows[i].annotations, rows[i].container);
        world_run(&c.w, 3);
        const struct api_container_state_waiting *w = waiting_of(&c, name);
        if (!str_is(w->reason, rows[i].reason) ||
            (rows[i].message && !str_is(w->message, rows[i].message)))
            fail_msg("row %zu: %.*s: %.*s", i, STR_ARG(w->reason), STR_ARG(w->message));
        if (!is_said(&c, name, rows[i].event, rows[i].said))
            fail_msg("row %zu: nobody says %s", i, rows[i].said);
        assert_true(str_is(pod_of(&c, name)->status.phase, "Pending"));
        assert_true(pod_of(&c, name)->status.pod_ip.n);
    }
    end(&c);
}

/* A pod goes on with another image, or when it is there; and is deleted as any other. */
static void they_go_on(void **state) {
    (void)state;
    struct cluster c = {0};
    begin(&c, 1);
    add(&c, "name", "", "image: BAD");
    add(&c, "pull", "berth.dev/image: missing", "image: i");
    add(&c, "gone", "", "image: BAD");
    world_run(&c.w, 70);
    assert_int_equal(world_event(&c.w, "InspectFailed", "name")->count, 8); /* ever less often */
    world_patch(&c.w, API_T_pod, "name", NULL,
                "{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"good\"}]}}");
    world_patch(&c.w, API_T_pod, "pull", NULL,
                "{\"metadata\":{\"annotations\":{\"berth.dev/image\":null}}}");
    world_delete(&c.w, API_T_pod, "gone");
    world_run(&c.w, 3);
    assert_true(runs(&c, "name"));
    assert_true(runs(&c, "pull"));
    assert_null(world_get(&c.w, API_T_pod, "gone"));
    end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_wrong_is_said),
        cmocka_unit_test(they_go_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
