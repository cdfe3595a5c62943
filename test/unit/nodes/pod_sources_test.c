/* ConfigMaps and Secrets that pods are made of: who waits for them, and what is said meanwhile. */
#include "cluster.h"

static void wait_for(struct cluster *c, double seconds) {
    world_run(&c->w, seconds);
}

static const struct api_container_state_waiting *waiting_of(struct cluster *c, const char *name) {
    return container_of(pod_of(c, name))->state.waiting;
}

static void is_waiting(struct cluster *c, const char *name, const char *reason,
                       const char *message) {
    const struct api_container_state_waiting *w = waiting_of(c, name);
    assert_non_null(w);
    if (!str_is(w->reason, reason) || !str_is(w->message, message))
        fail_msg("%s: %.*s: %.*s", name, STR_ARG(w->reason), STR_ARG(w->message));
}

static void says(struct cluster *c, const char *pod, const char *reason, const char *message) {
    const struct api_event *e = world_event(&c->w, reason, pod);
    assert_non_null(e);
    if (!str_is(e->message, message))
        fail_msg("%s: %.*s", pod, STR_ARG(e->message));
}

static void add_with(struct cluster *c, const char *name, const char *container,
                     const char *volumes) {
    struct str text = arena_printf(&c->w.arena,
                                   "{apiVersion: v1, kind: Pod, metadata: {name: %s}, spec: "
                                   "{nodeName: node-0, serviceAccountName: default, containers: "
                                   "[{name: c, image: i, %s}], "
                                   "volumes: [%s]}}",
                                   name, container, volumes);
    world_create(&c->w, text.p);
}

static void add_map(struct cluster *c, const char *name, const char *data) {
    world_create(&c->w, arena_printf(&c->w.arena,
                                     "{apiVersion: v1, kind: ConfigMap, metadata: {name: %s}, "
                                     "data: {%s}}",
                                     name, data)
                            .p);
}

static void add_secret(struct cluster *c, const char *name, const char *data) {
    world_create(&c->w, arena_printf(&c->w.arena,
                                     "{apiVersion: v1, kind: Secret, metadata: {name: %s}, "
                                     "stringData: {%s}}",
                                     name, data)
                            .p);
}

#define MOUNT "volumeMounts: [{name: v, mountPath: /v}]"

/* What a container or a volume needs, and what is said while it is not there. */
static const struct {
    const char *container, *volume;
    const char *why; /* of the container; NULL: it runs, or its volume is at fault */
    const char *unmounted;
} rows[] = {
    {"env: [{name: A, value: b}]", "", NULL, NULL},
    {"envFrom: [{configMapRef: {name: gone}}]", "", "configmap \"gone\" not found", NULL},
    {"envFrom: [{configMapRef: {name: gone, optional: true}}]", "", NULL, NULL},
    {"envFrom: [{configMapRef: {name: map}}]", "", NULL, NULL},
    {"envFrom: [{secretRef: {name: gone}}]", "", "secret \"gone\" not found", NULL},
    {"envFrom: [{secretRef: {name: gone, optional: true}}, {secretRef: {name: secret}}]", "", NULL,
     NULL},
    {"env: [{name: A, valueFrom: {configMapKeyRef: {name: gone, key: a}}}]", "",
     "configmap \"gone\" not found", NULL},
    {"env: [{name: A, valueFrom: {configMapKeyRef: {name: map, key: a}}}]", "", NULL, NULL},
    {"env: [{name: A, valueFrom: {configMapKeyRef: {name: map, key: b}}}]", "",
     "couldn't find key b in ConfigMap default/map", NULL},
    {"env: [{name: A, valueFrom: {configMapKeyRef: {name: map, key: b, optional: true}}}]", "",
     NULL, NULL},
    {"env: [{name: A, valueFrom: {configMapKeyRef: {name: gone, key: b, optional: true}}}]", "",
     NULL, NULL},
    {"env: [{name: A, valueFrom: {secretKeyRef: {name: secret, key: a}}}]", "", NULL, NULL},
    {"env: [{name: A, valueFrom: {secretKeyRef: {name: secret, key: b}}}]", "",
     "couldn't find key b in Secret default/secret", NULL},
    {"env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]", "", NULL, NULL},
    {MOUNT, "{name: v, configMap: {name: gone}}", NULL, "configmap \"gone\" not found"},
    {MOUNT, "{name: v, configMap: {name: gone, optional: true, items: [{key: a, path: a}]}}", NULL,
     NULL},
    {MOUNT, "{name: v, configMap: {name: map, items: [{key: b, path: b}]}}", NULL,
     "configmap references non-existent config key: b"},
    {MOUNT, "{name: v, configMap: {name: map, optional: true, items: [{key: b, path: b}]}}", NULL,
     NULL},
    {MOUNT, "{name: v, secret: {secretName: gone}}", NULL, "secret \"gone\" not found"},
    {MOUNT, "{name: v, secret: {secretName: secret, items: [{key: b, path: b}]}}", NULL,
     "references non-existent secret key: b"},
    {MOUNT, "{name: v, secret: {secretName: secret, items: [{key: a, path: b}]}}", NULL, NULL},
    {MOUNT,
     "{name: v, projected: {sources: [{serviceAccountToken: {path: t}}, {configMap: {name: map}}, "
     "{downwardAPI: {items: [{path: name, fieldRef: {fieldPath: metadata.name}}]}}]}}",
     NULL, NULL},
    {MOUNT, "{name: v, projected: {sources: [{configMap: {name: gone}}]}}", NULL,
     "configmap \"gone\" not found"},
    {MOUNT,
     "{name: v, projected: {sources: [{configMap: {name: gone}}, {secret: {name: gone}}, "
     "{configMap: {name: gone, items: [{key: a, path: a}]}}]}}",
     NULL, "[configmap \"gone\" not found, secret \"gone\" not found]"},
    /* Who does not mount it does not need it. */
    {"env: [{name: A, value: b}]", "{name: v, configMap: {name: gone}}", NULL, NULL},
};

static void what_is_missing_is_said(void **state) {
    (void)state;
    struct cluster c = {0};
    begin(&c, 1);
    add_map(&c, "map", "a: x");
    add_secret(&c, "secret", "a: x");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *name = arena_printf(&c.w.arena, "p%zu", i).p;
        add_with(&c, name, rows[i].container, rows[i].volume);
        wait_for(&c, 3);
        if (rows[i].why) {
            is_waiting(&c, name, "CreateContainerConfigError", rows[i].why);
            says(&c, name, "Failed", arena_printf(&c.w.arena, "Error: %s", rows[i].why).p);
            assert_true(pod_of(&c, name)->status.pod_ip.n);
        } else if (rows[i].unmounted) {
            is_waiting(&c, name, "ContainerCreating", "");
            says(&c, name, "FailedMount",
                 arena_printf(&c.w.arena, "MountVolume.SetUp failed for volume \"v\" : %s",
                              rows[i].unmounted)
                     .p);
            assert_int_equal(pod_of(&c, name)->status.pod_ip.n, 0);
        } else if (!str_is(pod_of(&c, name)->status.phase, "Running"))
            fail_msg("row %zu does not run", i);
        world_delete(&c.w, API_T_pod, name);
    }
    end(&c);
}

static bool runs(struct cluster *c, const char *name) {
    return container_of(pod_of(c, name))->state.running;
}

/* It goes on at once when the object comes, or the key. */
static void they_go_on(void **state) {
    (void)state;
    struct cluster c = {0};
    begin(&c, 1);
    add_with(&c, "env", "env: [{name: A, valueFrom: {configMapKeyRef: {name: m, key: k}}}]", "");
    add_with(&c, "vol", MOUNT, "{name: v, secret: {secretName: s}}");
    add_with(&c, "gone", MOUNT, "{name: v, secret: {secretName: s}}");
    wait_for(&c, 200);
    world_delete(&c.w, API_T_pod, "gone");
    add_map(&c, "m", "other: x");
    add_secret(&c, "s", "");
    wait_for(&c, 0.1);
    is_waiting(&c, "env", "CreateContainerConfigError",
               "couldn't find key k in ConfigMap default/m");
    assert_true(runs(&c, "vol"));
    world_patch(&c.w, API_T_config_map, "m", NULL, "{\"data\":{\"k\":\"1\"}}");
    wait_for(&c, 0.1);
    assert_true(runs(&c, "env"));
    /* What runs has all it needs until it is made anew. */
    world_delete(&c.w, API_T_config_map, "m");
    world_delete(&c.w, API_T_secret, "s");
    wait_for(&c, 60);
    assert_true(runs(&c, "env"));
    assert_true(runs(&c, "vol"));
    end(&c);
}

/* A container that is restarted is made anew, while its volumes are there already. */
static void restarts_need_them_again(void **state) {
    (void)state;
    struct cluster c = {0};
    begin(&c, 1);
    add_map(&c, "m", "");
    world_create(&c.w, "{apiVersion: v1, kind: Pod, metadata: {name: p, annotations: "
                       "{berth.dev/run-seconds: '30'}}, spec: {nodeName: node-0, containers: "
                       "[{name: c, image: i, envFrom: [{configMapRef: {name: m}}]}]}}");
    world_create(&c.w, "{apiVersion: v1, kind: Pod, metadata: {name: q, annotations: "
                       "{berth.dev/run-seconds: '30'}}, spec: {nodeName: node-0, containers: "
                       "[{name: c, image: i, " MOUNT "}], volumes: [{name: v, configMap: {name: m}}"
                       "]}}");
    wait_for(&c, 10);
    assert_true(runs(&c, "p"));
    world_delete(&c.w, API_T_config_map, "m");
    wait_for(&c, 30);
    is_waiting(&c, "p", "CreateContainerConfigError", "configmap \"m\" not found");
    assert_true(runs(&c, "q"));
    assert_int_equal(container_of(pod_of(&c, "q"))->restart_count, 1);
    wait_for(&c, 20);
    is_waiting(&c, "p", "CreateContainerConfigError", "configmap \"m\" not found");
    add_map(&c, "m", "");
    wait_for(&c, 0.1);
    assert_true(runs(&c, "p"));
    assert_int_equal(container_of(pod_of(&c, "p"))->restart_count, 1);
    end(&c);
}

/* First ones are made in turn, and what ends a pod ends it while it waits. */
static void others_wait_with_it(void **state) {
    (void)state;
    struct cluster c = {0};
    begin(&c, 1);
    world_create(&c.w, "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {nodeName: node-0, "
                       "initContainers: [{name: first, image: i, envFrom: [{secretRef: {name: s}}]}"
                       "], containers: [{name: c, image: i}]}}");
    world_create(&c.w, "{apiVersion: v1, kind: Pod, metadata: {name: late}, spec: {nodeName: "
                       "node-0, activeDeadlineSeconds: 20, containers: [{name: c, image: i, " MOUNT
                       "}], volumes: [{name: v, configMap: {name: m}}]}}");
    wait_for(&c, 5);
    const struct api_pod_status *status = &pod_of(&c, "p")->status;
    assert_true(str_is(status->init_container_statuses.v[0].state.waiting->reason,
                       "CreateContainerConfigError"));
    is_waiting(&c, "p", "PodInitializing", "");
    wait_for(&c, 30);
    assert_true(str_is(pod_of(&c, "late")->status.phase, "Failed"));
    add_secret(&c, "s", "");
    wait_for(&c, 3);
    assert_true(runs(&c, "p"));
    end(&c);
}

/* It is said again ever less often, so that it can be read as long as the pod waits. */
static void it_is_said_again(void **state) {
    (void)state;
    struct cluster c = {0};
    begin(&c, 1);
    add_with(&c, "p", MOUNT, "{name: v, configMap: {name: m}}");
    wait_for(&c, 70);
    assert_int_equal(world_event(&c.w, "FailedMount", "p")->count, 8); /* at 0, 0.5, 1.5, … 63.5 */
    wait_for(&c, 1000);
    assert_in_range(world_event(&c.w, "FailedMount", "p")->count, 15, 17);
    end(&c);
}

/* A kubelet by itself watches them when the first pod needs them, keeps their keys alone, and does
 * not hold up other pods. */
static void alone(void **state) {
    (void)state;
    struct cluster c;
    begin_as(&c, 1, true);
    add_map(&c, "m", "k: a long text that nobody asks for");
    add_with(&c, "p", "env: [{name: A, valueFrom: {configMapKeyRef: {name: m, key: k}}}]", "");
    add_with(&c, "q", "envFrom: [{secretRef: {name: s}}]", "");
    wait_for(&c, 3);
    assert_true(runs(&c, "p"));
    is_waiting(&c, "q", "CreateContainerConfigError", "secret \"s\" not found");
    add_secret(&c, "s", "x: z");
    wait_for(&c, 0.1);
    assert_true(runs(&c, "q"));
    end(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_missing_is_said),  cmocka_unit_test(they_go_on),
        cmocka_unit_test(restarts_need_them_again), cmocka_unit_test(others_wait_with_it),
        cmocka_unit_test(it_is_said_again),         cmocka_unit_test(alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
