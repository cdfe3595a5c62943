/*
 * A gate is switched off while workloads rely on it: their pods are refused from then on. However
 * many pods are missing, what controllers ask for is bounded, and the pods come back with the gate.
 */
#include "managed.h"

#define GATE "TolerationAffinitySemverOperators"
#define POD(policy)                                                                         \
    "{metadata: {labels: {a: b}}, spec: {" policy                                           \
    "tolerations: [{key: version, operator: SemverGt, value: 1.2.3, effect: NoSchedule}], " \
    "containers: [{name: c, image: i}]}}"
#define SET(kind, spec)                                                       \
    "{apiVersion: apps/v1, kind: " kind ", metadata: {name: w}, spec: {" spec \
    "selector: {matchLabels: {a: b}}, template: " POD("") "}}"

enum { PODS = 20, MINUTES = 10 };

static const struct {
    const char *controllers, *object;
    enum api_type_id type;
    int most, most_later; /* creations that are refused in ten minutes; and in each but the first */
    const char *condition;
    int longest_wait; /* seconds until it is tried again */
} rows[] = {
    {"replicaset-controller", SET("ReplicaSet", "replicas: 20, "), API_T_replica_set, 25, 2,
     "ReplicaFailure", 1000},
    {"replicationcontroller-controller",
     "{apiVersion: v1, kind: ReplicationController, metadata: {name: w}, spec: {replicas: 20, "
     "selector: {a: b}, template: " POD("") "}}",
     API_T_replication_controller, 25, 2, "ReplicaFailure", 1000},
    {"statefulset-controller", SET("StatefulSet", "replicas: 20, podManagementPolicy: Parallel, "),
     API_T_stateful_set, 25, 2, NULL, 1000},
    {"daemonset-controller", SET("DaemonSet", ""), API_T_daemon_set, 25, 2, NULL, 1000},
    {"job-controller",
     "{apiVersion: batch/v1, kind: Job, metadata: {name: w}, spec: {parallelism: 20, completions: "
     "99, backoffLimit: 99, template: " POD("restartPolicy: Never, ") "}}",
     API_T_job, 25, 2, NULL, 60},
};

static void add_nodes(struct managed *m) {
    for (int i = 0; i < PODS; i++) {
        const char *name = arena_printf(&m->w.arena, "node-%d", i).p;
        world_create(&m->w, arena_printf(&m->w.arena,
                                         "{apiVersion: v1, kind: Node, metadata: {name: %s}}", name)
                                .p);
        /* A new node is not ready; this one is. */
        world_patch(&m->w, API_T_node, name, NULL, "{\"spec\":{\"taints\":null}}");
    }
}

/* Pods that are taken away are not the Job's failures. */
static void remove_pods(struct managed *m) {
    struct managed_names names = managed_names(m, API_T_pod);
    for (size_t i = 0; i < names.v.n; i++) {
        world_patch(&m->w, API_T_pod, names.v.v[i], NULL, "{\"metadata\":{\"finalizers\":null}}");
        world_delete(&m->w, API_T_pod, names.v.v[i]);
    }
    vec_release(&names.v);
}

static bool has_condition(const struct api_object *o, const char *type) {
    const struct api_replica_set_condition_list *a =
        &((const struct api_replica_set *)o->body)->status.conditions;
    const struct api_replication_controller_condition_list *b =
        &((const struct api_replication_controller *)o->body)->status.conditions;
    bool is_set = api_object_is(o, API_T_replica_set);
    for (size_t i = 0; i < (is_set ? a->n : b->n); i++)
        if (str_is(is_set ? a->v[i].type : b->v[i].type, type))
            return true;
    return false;
}

static void check_said(struct managed *m, size_t row) {
    const struct api_event *e = world_event(&m->w, "FailedCreate", "w");
    assert_non_null(e);
    assert_true(str_is(e->type, "Warning"));
    assert_true(str_find(e->message, STR("Unsupported value: \"SemverGt\"")) != STR_NONE);
    if (rows[row].condition)
        assert_true(has_condition(world_get(&m->w, rows[row].type, "w"), rows[row].condition));
}

static void refused_pods_are_asked_for_ever_less_often(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct managed m;
        managed_start(&m, rows[i].controllers, GATE "=true");
        add_nodes(&m);
        world_create(&m.w, rows[i].object);
        world_run(&m.w, 3);
        assert_int_equal(world_count(&m.w, API_T_pod), PODS);
        feature_set_put(&m.w.gates.enabled, FEATURE_TolerationAffinitySemverOperators, false);
        size_t before = m.counting.sent[REGISTRY_VERB_CREATE], began = before;
        remove_pods(&m);
        for (int minute = 0; minute < MINUTES; minute++) {
            world_run(&m.w, 60);
            size_t now = m.counting.sent[REGISTRY_VERB_CREATE];
            if (minute && now - before > (size_t)rows[i].most_later)
                fail_msg("%s: %zu in minute %d", rows[i].controllers, now - before, minute);
            before = now;
        }
        assert_in_range(before - began, 3, rows[i].most);
        assert_int_equal(world_count(&m.w, API_T_pod), 0);
        check_said(&m, i);
        feature_set_put(&m.w.gates.enabled, FEATURE_TolerationAffinitySemverOperators, true);
        world_run(&m.w, rows[i].longest_wait + 2);
        assert_int_equal(world_count(&m.w, API_T_pod), PODS);
        managed_stop(&m);
    }
}

/* A client whose patches are refused; how many there were. */
struct refusing {
    struct client base;
    struct world *w;
    size_t patches;
};

struct refusal {
    client_answer_fn *done;
    void *arg;
};

static void refuse(void *arg, const struct client_answer *answer) {
    const struct refusal *r = arg;
    (void)answer;
    r->done(r->arg,
            &(struct client_answer){.code = ERR_FORBIDDEN, .status = 403, .message = STR("no")});
}

static struct client_call *send_or_refuse(struct client *c, const struct client_request *request,
                                          client_answer_fn *done, void *arg) {
    struct refusing *refusing = (struct refusing *)(void *)c;
    struct world *w = refusing->w;
    if (request->verb != REGISTRY_VERB_PATCH)
        return client_send(w->client, request, done, arg);
    struct refusal *r = arena_new(&w->arena, struct refusal);
    *r = (struct refusal){done, arg};
    refusing->patches++;
    return client_send(w->client,
                       &(struct client_request){.verb = REGISTRY_VERB_GET,
                                                .kind = client_kind(API_T_node),
                                                .name = STR("nobody")},
                       refuse, r);
}

static void cancel(struct client_call *call) {
    client_cancel(call);
}

/* A pod that may not be adopted is asked for ever less often, too. */
static void refused_adoptions_are_asked_for_ever_less_often(void **state) {
    static const struct client_carrier carrier = {.send = send_or_refuse, .cancel = cancel};
    (void)state;
    for (size_t i = 0; i < 3; i++) { /* of sets */
        struct managed m;
        struct str name = str_of(rows[i].controllers);
        managed_start(&m, "ttl-controller", GATE "=true");
        world_create(&m.w, "{apiVersion: v1, kind: Pod, metadata: {name: w-0, labels: {a: b}}, "
                           "spec: {containers: [{name: c, image: i}]}}");
        world_create(&m.w, rows[i].object);
        struct refusing refusing = {.base = {.carrier = &carrier, .loop = m.w.loop}, .w = &m.w};
        struct manager *manager = manager_new(&(struct manager_opts){.client = &refusing.base,
                                                                     .informers = m.w.informers,
                                                                     .log = &m.w.log,
                                                                     .gates = &m.w.gates.enabled,
                                                                     .seed = 1,
                                                                     .controllers = &name,
                                                                     .controller_count = 1},
                                              NULL);
        world_run(&m.w, 60 * MINUTES);
        assert_in_range(refusing.patches, 3, rows[i].most);
        manager_free(manager);
        managed_stop(&m);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refused_pods_are_asked_for_ever_less_often),
        cmocka_unit_test(refused_adoptions_are_asked_for_ever_less_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
