/*
 * Jobs while their controller's requests fail by chance, executed or not, and while it is started
 * anew: each pod that has ended counts once, and the Job comes to its end.
 */
#include "job_world.h"

/* A client of which some requests fail. */
struct faulty {
    struct client base;
    struct world *w;
    struct informers *informers; /* of the controller that runs now */
    struct manager *manager;
    uint64_t random;
    uint32_t percent; /* of requests that are not reads */
};

/* A request that fails. */
struct fault {
    client_answer_fn *done;
    void *arg;
};

static uint32_t draw(uint64_t *random, uint32_t below) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*random >> 33) % below;
}

static void answer_badly(void *arg, const struct client_answer *answer) {
    const struct fault *f = arg;
    (void)answer;
    f->done(f->arg, &(struct client_answer){.code = ERR_TIMEOUT,
                                            .status = 504,
                                            .message = STR("nobody knows what became of it")});
}

static struct client_call *send_or_not(struct client *c, const struct client_request *request,
                                       client_answer_fn *done, void *arg) {
    struct faulty *faulty = (struct faulty *)(void *)c;
    struct world *w = faulty->w;
    if (request->verb == REGISTRY_VERB_GET || draw(&faulty->random, 100) >= faulty->percent)
        return client_send(w->client, request, done, arg);
    struct fault *f = arena_new(&w->arena, struct fault);
    *f = (struct fault){done, arg};
    if (draw(&faulty->random, 2))
        return client_send(w->client, request, answer_badly, f);
    api_object_free(request->object);
    return client_send(w->client,
                       &(struct client_request){.verb = REGISTRY_VERB_GET,
                                                .kind = client_kind(API_T_node),
                                                .name = STR("nobody")},
                       answer_badly, f);
}

static void cancel(struct client_call *call) {
    client_cancel(call);
}

static const struct client_carrier carrier = {.send = send_or_not, .cancel = cancel};

static void stop(struct faulty *faulty) {
    manager_free(faulty->manager);
    informers_free(faulty->informers);
}

static void start(struct faulty *faulty) {
    struct str name = STR("job-controller");
    struct world *w = faulty->w;
    faulty->informers = informers_new(w->client, &w->log);
    faulty->manager = manager_new(&(struct manager_opts){.client = &faulty->base,
                                                         .informers = faulty->informers,
                                                         .log = &w->log,
                                                         .gates = &w->gates.enabled,
                                                         .seed = 1,
                                                         .controllers = &name,
                                                         .controller_count = 1},
                                  NULL);
}

struct ends {
    size_t succeeded, failed;
};

static void count_end(void *arg, const struct api_object *o) {
    struct ends *ends = arg;
    const struct api_pod *pod = o->body;
    ends->succeeded += str_is(pod->status.phase, "Succeeded");
    ends->failed += str_is(pod->status.phase, "Failed");
    assert_false(api_pod_has_ended(pod) && has_finalizer(o));
}

/* Takes away a pod that lives; it stays until it is counted. True: it is to be counted. */
static bool take_away(struct managed *m, const char *name) {
    bool counts = has_finalizer(world_get(&m->w, API_T_pod, name));
    world_delete(&m->w, API_T_pod, name);
    return counts;
}

/* Ends some of the pods that live; how many were taken away. */
static size_t end_some(struct managed *m, uint64_t *random) {
    struct managed_names names = living_pods(m);
    size_t taken = 0;
    for (size_t i = 0; i < names.v.n; i++)
        if (draw(random, 3) == 0)
            end_pod(m, names.v.v[i], draw(random, 4) == 0);
        else if (draw(random, 10) == 0)
            taken += take_away(m, names.v.v[i]);
    vec_release(&names.v);
    return taken;
}

static void check_counts(struct managed *m, size_t taken) {
    const struct api_job_status *s = job_status(m, "pi");
    struct ends ends = {0};
    world_each(&m->w, API_T_pod, count_end, &ends);
    assert_int_equal(s->succeeded, ends.succeeded);
    assert_int_equal(s->failed, ends.failed + taken);
}

static void walk(const char *spec, uint64_t seed) {
    struct managed m;
    struct faulty faulty = {.random = seed, .percent = 25};
    uint64_t random = seed + 1;
    size_t taken = 0;
    managed_start(&m, "ttl-controller", "");
    faulty.base = (struct client){.carrier = &carrier, .loop = m.w.loop};
    faulty.w = &m.w;
    start(&faulty);
    world_create(&m.w, spec);
    for (int i = 0; i < 2000 && !job_condition(&m, "pi", "Complete"); i++) {
        taken += end_some(&m, &random);
        world_run(&m.w, 1 + draw(&random, 20));
        if (draw(&random, 10) == 0) {
            stop(&faulty);
            start(&faulty);
        }
    }
    check_end(&m, "pi", "Complete", "CompletionsReached",
              "Reached expected number of succeeded pods");
    check_counts(&m, taken);
    assert_int_equal(count_living(&m), 0);
    stop(&faulty);
    managed_stop(&m);
}

static void each_pod_counts_once_whatever_fails(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 15; seed++)
        walk(JOB("pi", "completions: 20, parallelism: 6, backoffLimit: 1000, "), seed);
}

static void each_index_is_done_once_whatever_fails(void **state) {
    (void)state;
    for (uint64_t seed = 1; seed <= 15; seed++)
        walk(JOB("pi", "completionMode: Indexed, completions: 12, parallelism: 5, "
                       "backoffLimit: 1000, "),
             seed);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_pod_counts_once_whatever_fails),
        cmocka_unit_test(each_index_is_done_once_whatever_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
