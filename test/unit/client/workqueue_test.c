/* Work queues: keys, writes, failures and time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../world.h"
#include "client/events.h"
#include "client/workqueue.h"

/* A controller that wants `wanted` config maps with a prefix, and counts what it does. */
struct maker {
    struct world w;
    struct informer *maps;
    struct workqueue *q;
    int syncs, wanted;
    bool is_refused; /* what it sends is no good */
    int64_t last;    /* when it was last asked */
    int64_t again;
    int more; /* so many times there is more to do behind the work */
};

static void make(struct maker *m, struct work *work, size_t number) {
    struct api_object *o = api_object_new(client_kind(API_T_config_map));
    struct api_object_meta *meta = api_own_meta(o);
    meta->namespace = STR("default");
    meta->name = m->is_refused ? STR("Not A Name") : arena_printf(&o->arena, "map-%zu", number);
    work_create(work, o, NULL, NULL);
}

static void sync(void *arg, struct work *work) {
    struct maker *m = arg;
    size_t n;
    assert_true(str_is(work_name(work), "key"));
    m->syncs++;
    m->last = net_loop_now(m->w.loop);
    informer_find(m->maps, INFORMER_BY_NAMESPACE, STR("default"), &n);
    for (; n < (size_t)m->wanted; n++)
        make(m, work, n);
    if (m->again)
        work_again_after(work, m->again);
    if (m->more) {
        m->more--;
        work_go_on(work);
    }
}

static int set_up(void **state) {
    struct maker *m = xcalloc(1, sizeof *m);
    world_start(&m->w, "");
    m->maps = informers_of(m->w.informers, client_kind(API_T_config_map));
    m->q = workqueue_new(&(struct workqueue_opts){.name = "maker",
                                                  .client = m->w.client,
                                                  .informers = m->w.informers,
                                                  .log = &m->w.log,
                                                  .sync = sync,
                                                  .arg = m});
    *state = m;
    return 0;
}

static int tear_down(void **state) {
    struct maker *m = *state;
    workqueue_free(m->q);
    world_stop(&m->w);
    free(m);
    return 0;
}

static void add(struct maker *m) {
    workqueue_add(m->q, STR("default"), STR("key"));
}

/* However often the key is added meanwhile, no stale state is decided upon. */
static void what_was_written_is_seen_before_the_next_decision(void **state) {
    struct maker *m = *state;
    m->wanted = 7;
    for (int i = 0; i < 20; i++) {
        add(m);
        net_loop_turn(m->w.loop, 0);
    }
    world_run(&m->w, 1);
    assert_int_equal(world_count(&m->w, API_T_config_map), 7);
    assert_true(m->syncs >= 2 && m->syncs <= 20);
    struct workqueue_stats stats = workqueue_stats(m->q);
    assert_int_equal(stats.retries, 0);
    assert_int_equal(stats.depth, 0);
    assert_int_equal(stats.unfinished, 0);
}

static void failures_back_off_and_success_ends_that(void **state) {
    struct maker *m = *state;
    m->wanted = 1;
    m->is_refused = true;
    add(m);
    world_run(&m->w, 60);
    /* 5 ms, 10 ms, … 40.96 s: fourteen tries in the first minute */
    assert_int_equal(m->syncs, 14);
    assert_int_equal(workqueue_failures(m->q, STR("default"), STR("key")), 14);
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    client_metrics_write(m->w.client, &text);
    assert_true(str_find(buf_view(&text), STR("workqueue_retries_total{name=\"maker\"} 14\n")) !=
                STR_NONE);
    assert_true(str_find(buf_view(&text), STR("workqueue_depth{name=\"maker\"} 0\n")) != STR_NONE);
    m->is_refused = false;
    world_run(&m->w, 60);
    assert_int_equal(m->syncs, 15);
    assert_int_equal(workqueue_failures(m->q, STR("default"), STR("key")), 0);
    assert_int_equal(world_count(&m->w, API_T_config_map), 1);
}

static void a_key_may_wait(void **state) {
    struct maker *m = *state;
    workqueue_add_after(m->q, STR("default"), STR("key"), 10 * CLOCK_SECOND);
    workqueue_add_after(m->q, STR("default"), STR("key"), 3 * CLOCK_SECOND);
    world_run(&m->w, 2);
    assert_int_equal(m->syncs, 0);
    world_run(&m->w, 2);
    assert_int_equal(m->syncs, 1);
    world_run(&m->w, 20);
    assert_int_equal(m->syncs, 1);
    workqueue_add_after(m->q, STR("default"), STR("key"), INT64_MAX); /* for ever */
    world_run(&m->w, 20);
    assert_int_equal(m->syncs, 1);
    m->again = 5 * CLOCK_SECOND;
    add(m);
    world_run(&m->w, 21);
    assert_int_equal(m->syncs, 6);
}

static void work_goes_on_at_once_unless_it_fails(void **state) {
    struct maker *m = *state;
    m->more = 3;
    add(m);
    world_run(&m->w, 0);
    assert_int_equal(m->syncs, 4);
    m->more = 1000;
    m->wanted = 1;
    m->is_refused = true;
    add(m);
    world_run(&m->w, 60);
    assert_int_equal(m->syncs, 4 + 14);
}

/* ---- writes by what an object is called ---- */

/* Writes to the map "subject" one way after the other, and counts what came of it. */
struct writer {
    struct world w;
    struct workqueue *q;
    enum { CREATES, UPDATES, PATCHES, GETS, DELETES, DELETES_AGAIN, ENDS } step;
    size_t answers;
};

static void next_step(void *arg, struct work *w, const struct client_answer *answer) {
    struct writer *x = arg;
    assert_int_equal(answer->code, ERR_NONE);
    if (x->step == GETS)
        assert_non_null(labels_find(&answer->object->meta->annotations, STR("patched")));
    x->answers++;
    x->step++;
    work_go_on(w);
}

static const struct api_object *subject(struct writer *x) {
    return informer_get(informers_of(x->w.informers, client_kind(API_T_config_map)), STR("default"),
                        STR("subject"));
}

static void write_on(void *arg, struct work *w) {
    static const struct work_patch patch = {
        .type = CLIENT_PATCH_MERGE,
        .text = STR_INIT("{\"metadata\":{\"annotations\":{\"patched\":\"yes\"}}}")};
    struct writer *x = arg;
    const struct api_object *o = subject(x);
    struct client_deletion how = {0};
    if (o)
        how = work_deletion_by_force(o);
    switch (x->step) {
    case CREATES:
        work_create(w,
                    world_object(&x->w, "{apiVersion: v1, kind: ConfigMap, metadata: {name: "
                                        "subject, namespace: default}}"),
                    next_step, x);
        break;
    case UPDATES:
        work_update(w, api_object_derive(o), NULL, next_step, x);
        break;
    case PATCHES:
        work_patch(w, o, &patch, next_step, x);
        break;
    case GETS:
        work_get(w, o->kind, STR("default"), STR("subject"), next_step, x);
        break;
    case DELETES:
        work_delete(w, o, &how, next_step, x);
        break;
    case DELETES_AGAIN: /* it is gone, which is as good */
        work_get(w, client_kind(API_T_config_map), STR("default"), STR("subject"),
                 work_answered_or_gone, NULL);
        x->step++;
        break;
    case ENDS:
        break;
    }
}

static void objects_are_written_by_what_they_are_called(void **state) {
    struct writer x = {0};
    (void)state;
    world_start(&x.w, "");
    informers_of(x.w.informers, client_kind(API_T_config_map));
    x.q = workqueue_new(&(struct workqueue_opts){.name = "writer",
                                                 .client = x.w.client,
                                                 .informers = x.w.informers,
                                                 .log = &x.w.log,
                                                 .sync = write_on,
                                                 .arg = &x});
    workqueue_add(x.q, STR("default"), STR("subject"));
    world_run(&x.w, 1);
    assert_int_equal(x.answers, 5);
    assert_int_equal(x.step, ENDS);
    assert_int_equal(workqueue_stats(x.q).retries, 0);
    assert_int_equal(world_count(&x.w, API_T_config_map), 0);
    workqueue_free(x.q);
    world_stop(&x.w);
}

/* ---- figures ---- */

static bool shows(struct maker *m, const char *line) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    client_metrics_write(m->w.client, &text);
    return str_find(buf_view(&text), str_of(line)) != STR_NONE;
}

static void how_long_keys_wait_is_counted(void **state) {
    struct maker *m = *state;
    world_run(&m->w, 1);
    add(m);
    add(m); /* it waits already */
    assert_true(shows(m, "workqueue_adds_total{name=\"maker\"} 1\n"));
    assert_true(shows(m, "workqueue_depth{name=\"maker\"} 1\n"));
    clock_manual_advance(&m->w.clock, 3 * CLOCK_SECOND);
    world_run(&m->w, 0);
    assert_int_equal(m->syncs, 1);
    assert_true(shows(m, "workqueue_depth{name=\"maker\"} 0\n"));
    assert_true(shows(m, "workqueue_queue_duration_seconds_bucket{name=\"maker\",le=\"1\"} 0\n"));
    assert_true(shows(m, "workqueue_queue_duration_seconds_bucket{name=\"maker\",le=\"10\"} 1\n"));
    assert_true(shows(m, "workqueue_queue_duration_seconds_sum{name=\"maker\"} 3\n"));
    assert_true(shows(m, "workqueue_queue_duration_seconds_bucket{name=\"maker\","
                         "le=\"9.999999999999999e-06\"} 0\n"));
}

/* One that is added while it is at work waits from then on. */
static void how_long_keys_are_worked_on_is_counted(void **state) {
    struct maker *m = *state;
    m->wanted = 1;
    world_run(&m->w, 1);
    add(m);
    net_loop_turn(m->w.loop, 0); /* it is at work, and its write is not answered */
    assert_int_equal(workqueue_stats(m->q).unfinished, 1);
    clock_manual_advance(&m->w.clock, CLOCK_SECOND);
    add(m);
    assert_true(shows(m, "workqueue_depth{name=\"maker\"} 1\n"));
    clock_manual_advance(&m->w.clock, CLOCK_SECOND);
    assert_true(shows(m, "workqueue_unfinished_work_seconds{name=\"maker\"} 2\n"));
    assert_true(shows(m, "workqueue_longest_running_processor_seconds{name=\"maker\"} 2\n"));
    world_run(&m->w, 1);
    assert_true(shows(m, "workqueue_unfinished_work_seconds{name=\"maker\"} 0\n"));
    assert_true(shows(m, "workqueue_longest_running_processor_seconds{name=\"maker\"} 0\n"));
    assert_true(shows(m, "workqueue_adds_total{name=\"maker\"} 2\n"));
    assert_true(shows(m, "workqueue_work_duration_seconds_sum{name=\"maker\"} 2\n"));
    assert_true(shows(m, "workqueue_work_duration_seconds_count{name=\"maker\"} 2\n"));
    assert_true(shows(m, "workqueue_queue_duration_seconds_sum{name=\"maker\"} 1\n"));
}

/* Two series of the same labels would be no text that Prometheus reads. */
static void queues_of_one_name_are_one_series(void **state) {
    struct maker *m = *state;
    struct workqueue *other = workqueue_new(&(struct workqueue_opts){.name = "maker",
                                                                     .client = m->w.client,
                                                                     .informers = m->w.informers,
                                                                     .log = &m->w.log,
                                                                     .sync = sync,
                                                                     .arg = m});
    add(m);
    workqueue_add(other, STR("default"), STR("key"));
    assert_true(shows(m, "\nworkqueue_adds_total{name=\"maker\"} 2\n# HELP"));
    world_run(&m->w, 1);
    assert_true(shows(m, "workqueue_work_duration_seconds_count{name=\"maker\"} 2\n"));
    workqueue_free(other);
}

static void events_are_counted_and_summed_up(void **state) {
    struct maker *m = *state;
    struct events *e = events_new(
        &(struct events_opts){.client = m->w.client, .log = &m->w.log, .component = "maker"});
    const struct api_object *o =
        world_create(&m->w, "{apiVersion: v1, kind: ConfigMap, metadata: {name: subject}}");
    o = api_object_ref(o);
    for (int i = 0; i < 3; i++)
        events_say(e, o, EVENTS_WARNING, "Odd", "it is %s", "odd");
    world_run(&m->w, 1);
    const struct api_event *event = world_event(&m->w, "Odd", "subject");
    assert_non_null(event);
    assert_int_equal(event->count, 3);
    assert_true(str_is(event->message, "it is odd"));
    assert_true(str_is(event->type, "Warning"));
    assert_true(str_is(event->source.component, "maker"));
    assert_int_equal(world_count(&m->w, API_T_event), 1);
    for (int i = 0; i < 100; i++)
        events_say(e, o, EVENTS_NORMAL, "Many", "number %d", i);
    world_run(&m->w, 1);
    /* nine texts of their own, and one for all others until there are 25 */
    assert_int_equal(world_count(&m->w, API_T_event), 11);
    api_object_unref(o);
    events_free(e);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(what_was_written_is_seen_before_the_next_decision, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(failures_back_off_and_success_ends_that, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_key_may_wait, set_up, tear_down),
        cmocka_unit_test_setup_teardown(work_goes_on_at_once_unless_it_fails, set_up, tear_down),
        cmocka_unit_test(objects_are_written_by_what_they_are_called),
        cmocka_unit_test_setup_teardown(how_long_keys_wait_is_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(how_long_keys_are_worked_on_is_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(queues_of_one_name_are_one_series, set_up, tear_down),
        cmocka_unit_test_setup_teardown(events_are_counted_and_summed_up, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
