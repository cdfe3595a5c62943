/* The queue: order, back-off, unschedulable pods and what wakes them, gates, pods in flight. */
#include "queue_world.h"

static void higher_priority_then_longer_wait_then_order_of_coming(void **state) {
    (void)state;
    struct world w;
    world_start(&w, NULL, NULL);
    const struct api_object *o = pod_object(&w, "", "", "");
    struct sched_pod *low = add(&w, o, -5), *first = add(&w, o, 0), *second = add(&w, o, 0);
    advance(&w, 1);
    struct sched_pod *later = add(&w, o, 0), *high = add(&w, o, 7);
    struct sched_pod *wanted[] = {high, first, second, later, low};
    for (size_t i = 0; i < 5; i++) {
        struct sched_pod *got = sched__queue_pop(&w.s);
        assert_ptr_equal(got, wanted[i]);
        sched__queue_done(&w.s, got, 0);
        sched__queue_bound(&w.s, got);
        assert_null(got->queued);
    }
    assert_null(sched__queue_pop(&w.s));
    assert_int_equal(next_second(&w), -1);
    world_end(&w);
}

static void a_new_priority_counts_at_once(void **state) {
    (void)state;
    struct world w;
    world_start(&w, NULL, NULL);
    const struct api_object *o = pod_object(&w, "", "", "");
    struct sched_pod *a = add(&w, o, 1), *b = add(&w, o, 0);
    b->priority = 2;
    become(&w, b, o);
    assert_ptr_equal(sched__queue_pop(&w.s), b);
    assert_ptr_equal(sched__queue_pop(&w.s), a);
    world_end(&w);
}

static void a_pod_that_is_not_there_is_added_by_an_update(void **state) {
    (void)state;
    struct world w;
    world_start(&w, NULL, NULL);
    const struct api_object *o = pod_object(&w, "", "", "");
    struct sched_pod *pod = pod_new(&w, o, 0);
    sched__queue_remove(&w.s, pod);
    become(&w, pod, o);
    assert_ptr_equal(sched__queue_pop(&w.s), pod);
    world_end(&w);
}

static void errors_back_off_1_2_4_8_10_seconds(void **state) {
    (void)state;
    const int64_t wanted[] = {1, 2, 4, 8, 10, 10, 10};
    struct world w;
    world_start(&w, NULL, NULL);
    struct sched_pod *pod = add(&w, pod_object(&w, "", "", ""), 0);
    clock_manual_advance(&w.clock, CLOCK_SECOND / 2);
    for (size_t i = 0; i < 7; i++) {
        int64_t now = clock_wall(w.s.clock);
        assert_ptr_equal(sched__queue_pop(&w.s), pod);
        sched__queue_failed(&w.s, pod, 1U << A, true);
        assert_int_equal(place_of(pod), SCHED__ERROR_BACKOFF);
        int64_t second = now / CLOCK_SECOND;
        assert_int_equal(pod->queued->expiry, (second + wanted[i]) * CLOCK_SECOND);
        int64_t until = (second + wanted[i] + 1) * CLOCK_SECOND;
        assert_int_equal(sched__queue_next_time(&w.s), until);
        clock_manual_advance(&w.clock, until - now - 1);
        assert_null(sched__queue_pop(&w.s));
        clock_manual_advance(&w.clock, 1);
    }
    for (uint32_t i = 8; i < 200; i++) {
        assert_ptr_equal(sched__queue_pop(&w.s), pod);
        sched__queue_failed(&w.s, pod, 0, false);
        assert_int_equal(pod->queued->errors, i);
        advance(&w, 11);
    }
    world_end(&w);
}

static void an_attempt_that_is_rejected_ends_a_row_of_errors(void **state) {
    (void)state;
    struct world w;
    world_start(&w, NULL, NULL);
    struct sched_pod *pod = add(&w, pod_object(&w, "", "", ""), 0);
    for (int i = 0; i < 3; i++) {
        fail_next(&w, pod, 0);
        advance(&w, 20);
    }
    fail_next(&w, pod, 1U << A);
    assert_int_equal(place_of(pod), SCHED__UNSCHEDULABLE_PODS);
    assert_int_equal(pod->queued->errors, 0);
    assert_int_equal(pod->queued->expiry, clock_wall(w.s.clock) + CLOCK_SECOND);
    assert_int_equal(pod->queued->attempts, 4);
    world_end(&w);
}

static void without_a_longest_backoff_there_is_none(void **state) {
    (void)state;
    struct world w;
    struct arena a = {0};
    struct sched_config *config = sched_config_default(&a);
    config->max_backoff_seconds = 0;
    world_start(&w, NULL, config);
    struct sched_pod *pod = add(&w, pod_object(&w, "", "", ""), 0);
    for (int i = 0; i < 5; i++)
        fail_next(&w, pod, 0);
    world_end(&w);
    arena_release(&a);
}

/* Two pods are woken while they back off, a less important one whose time comes first. */
static void wake_two(struct world *w, struct sched_pod **early, struct sched_pod **important) {
    const struct api_object *o = pod_object(w, "", "", "");
    *early = add(w, o, 0);
    fail_next(w, *early, 1U << A);
    *important = add(w, o, 9);
    clock_manual_advance(&w->clock, CLOCK_SECOND / 4);
    fail_next(w, *important, 1U << A);
    happens(w, SCHED__NODE_ADD, NULL, node_object(w, ""));
    assert_int_equal(place_of(*early), SCHED__BACKOFF);
    assert_int_equal(place_of(*important), SCHED__BACKOFF);
}

static void pods_that_back_off_are_tried_when_there_is_nothing_else(void **state) {
    (void)state;
    struct world w;
    struct sched_pod *early, *important;
    world_start(&w, NULL, NULL);
    wake_two(&w, &early, &important);
    assert_int_equal(next_second(&w), 0);
    /* both end in the same second, in which the order is that of active pods */
    assert_ptr_equal(sched__queue_pop(&w.s), important);
    struct sched_pod *fresh = add(&w, early->cls->sample, -1);
    assert_ptr_equal(sched__queue_pop(&w.s), fresh);
    assert_ptr_equal(sched__queue_pop(&w.s), early);
    world_end(&w);
}

static void with_the_gate_off_backoff_is_waited_for(void **state) {
    (void)state;
    struct world w;
    struct sched_pod *early, *important;
    world_start(&w, "SchedulerPopFromBackoffQ", NULL);
    wake_two(&w, &early, &important);
    assert_null(sched__queue_pop(&w.s));
    assert_int_equal(early->queued->expiry, 1001 * CLOCK_SECOND);
    assert_int_equal(important->queued->expiry, 1001 * CLOCK_SECOND + CLOCK_SECOND / 4);
    assert_int_equal(next_second(&w), 2);
    advance(&w, 1);
    assert_null(sched__queue_pop(&w.s));
    advance(&w, 1);
    assert_ptr_equal(sched__queue_pop(&w.s), important);
    assert_ptr_equal(sched__queue_pop(&w.s), early);
    world_end(&w);
}

static void events_move_whom_they_concern(void **state) {
    (void)state;
    struct world w;
    world_start(&w, NULL, NULL);
    const struct api_object *o = pod_object(&w, "", "", "");
    const struct api_object *yes = node_object(&w, ""),
                            *no = node_object(&w, ",'labels':{'no':''}");
    struct sched_pod *a = add(&w, o, 0), *b = add(&w, o, 0), *both = add(&w, o, 0);
    fail_next(&w, a, 1U << A);
    fail_next(&w, b, 1U << B);
    fail_next(&w, both, 1U << A | 1U << B);
    advance(&w, 5);
    happens(&w, SCHED__NODE_TAINT, yes, no);
    happens(&w, SCHED__NODE_CONDITION | SCHED__ASSIGNED_POD_DELETE, yes, yes);
    assert_null(sched__queue_pop(&w.s));
    happens(&w, SCHED__NODE_TAINT, no, yes);
    assert_int_equal(place_of(a), SCHED__ACTIVE);
    assert_int_equal(place_of(b), SCHED__UNSCHEDULABLE_PODS);
    assert_int_equal(place_of(both), SCHED__ACTIVE);
    happens(&w, SCHED__EVERYTHING, NULL, NULL);
    assert_int_equal(place_of(b), SCHED__ACTIVE);
    world_end(&w);
}

static uint64_t hints_called(struct world *w, enum sched__event_id id, int plugin) {
    uint64_t n = 0;
    for (uint16_t answer = 0; answer < 2; answer++)
        n += sched__metrics_value(w->s.metrics, SCHED__METRIC_HINT_SECONDS,
                                  SCHED__LABELS(id, answer, (uint16_t)plugin));
    return n;
}

static void equal_pods_share_a_hint(void **state) {
    enum { MANY = 100000 };
    (void)state;
    struct world w;
    world_start(&w, NULL, NULL);
    const struct api_object *o = pod_object(&w, "", "", ""), *other = pod_object(&w, "", "", "");
    for (int i = 0; i < MANY; i++)
        add(&w, i == 7 ? other : o, 0);
    for (int i = 0; i < MANY; i++) {
        struct sched_pod *pod = sched__queue_pop(&w.s);
        sched__queue_failed(&w.s, pod, 1U << A | (i == 9 ? 1U << B : 0), false);
    }
    assert_int_equal(w.s.queue->groups.live, 3);
    happens(&w, SCHED__NODE_TAINT, NULL, node_object(&w, ",'labels':{'no':''}"));
    assert_int_equal(hints_called(&w, SCHED__EVENT_NODE_TAINT, A), 3);
    assert_int_equal(w.s.queue->unschedulable_pods.n, MANY);
    advance(&w, 2);
    happens(&w, SCHED__NODE_ADD, NULL, node_object(&w, ""));
    assert_int_equal(hints_called(&w, SCHED__EVENT_NODE_ADD, A), 3);
    assert_int_equal(hints_called(&w, SCHED__EVENT_NODE_ADD, B), 0); /* A said yes already */
    assert_int_equal(w.s.queue->active.n, MANY);
    for (size_t i = 0; i < MANY; i++)
        assert_ptr_equal(sched__queue_pop(&w.s), w.pods.v[i]);
    world_end(&w);
}

static void pods_leave_the_pool_after_five_minutes(void **state) {
    (void)state;
    struct world w;
    world_start(&w, NULL, NULL);
    const struct api_object *o = pod_object(&w, "", "", "");
    struct sched_pod *first = add(&w, o, 0), *second = add(&w, o, 0);
    fail_next(&w, first, 1U << A);
    assert_int_equal(next_second(&w), 0);
    advance(&w, 29);
    fail_next(&w, second, 1U << A);
    assert_int_equal(next_second(&w), 330); /* at 300 it is not longer than five minutes */
    advance(&w, 300);
    assert_null(sched__queue_pop(&w.s));
    advance(&w, 1);
    assert_ptr_equal(sched__queue_pop(&w.s), first);
    assert_ptr_equal(sched__queue_pop(&w.s), second);
    sched__queue_failed(&w.s, second, 1U << A, false);
    assert_int_equal(next_second(&w), 660);
    sched__queue_done(&w.s, first, 0);
    sched__queue_bound(&w.s, first);
    assert_int_equal(sched__metrics_value(w.s.metrics, SCHED__METRIC_AFTER_FLUSH, SCHED__LABELS(0)),
                     1);
    w.clock.wall_ns -= 500 * CLOCK_SECOND; /* somebody sets the clock */
    assert_null(sched__queue_pop(&w.s));
    assert_true(w.s.queue->next_flush <= clock_wall(w.s.clock) + 30 * CLOCK_SECOND);
    world_end(&w);
}

static void gates_hold_a_pod_until_all_are_gone(void **state) {
    (void)state;
    struct world w;
    world_start(&w, NULL, NULL);
    const struct api_object *two =
        pod_object(&w, "", "'schedulingGates':[{'name':'a'},{'name':'b'}]", "");
    const struct api_object *one = pod_object(&w, "", "'schedulingGates':[{'name':'b'}]", "");
    const struct api_object *none = pod_object(&w, "", "", "");
    struct sched_pod *pod = add(&w, two, 0);
    assert_int_equal(place_of(pod), SCHED__GATED);
    assert_int_equal(w.s.queue->rejected[SCHED_SCHEDULING_GATES], 1);
    happens(&w, SCHED__EVERYTHING, NULL, NULL);
    advance(&w, 1000);
    assert_null(sched__queue_pop(&w.s));
    assert_int_equal(next_second(&w), -1);
    become(&w, pod, one);
    assert_int_equal(place_of(pod), SCHED__GATED);
    become(&w, pod, none);
    assert_ptr_equal(sched__queue_pop(&w.s), pod);
    assert_int_equal(w.s.queue->rejected[SCHED_SCHEDULING_GATES], 0);
    world_end(&w);
}

static void gates_mean_nothing_where_the_plugin_does_not_run(void **state) {
    (void)state;
    struct world w;
    struct arena a = {0};
    struct sched_config *config = sched_config_default(&a);
    config->profiles[0].points[SCHED_PRE_ENQUEUE].n = 0;
    world_start(&w, NULL, config);
    struct sched_pod *pod = add(&w, pod_object(&w, "", "'schedulingGates':[{'name':'a'}]", ""), 0);
    assert_ptr_equal(sched__queue_pop(&w.s), pod);
    world_end(&w);
    arena_release(&a);
}

static void events_during_an_attempt_are_not_missed(void **state) {
    (void)state;
    struct world w;
    world_start(&w, NULL, NULL);
    const struct api_object *o = pod_object(&w, "", "", "");
    const struct api_object *yes = node_object(&w, ""),
                            *no = node_object(&w, ",'labels':{'no':''}");
    struct sched_pod *a = add(&w, o, 0), *b = add(&w, o, 0);
    happens(&w, SCHED__NODE_ADD, NULL, yes);
    assert_int_equal(w.s.queue->held.n, 0);
    sched__queue_pop(&w.s);
    happens(&w, SCHED__NODE_ADD, NULL, no);
    sched__queue_pop(&w.s);
    happens(&w, SCHED__NODE_LABEL, no, yes);
    happens(&w, SCHED__NODE_CONDITION, no, yes); /* nobody asks for it */
    assert_int_equal(w.s.queue->held.n, 2);
    sched__queue_failed(&w.s, a, 1U << A, false);
    assert_int_equal(place_of(a), SCHED__UNSCHEDULABLE_PODS);
    assert_int_equal(w.s.queue->held.n, 1);
    sched__queue_failed(&w.s, b, 1U << B, false);
    assert_int_equal(place_of(b), SCHED__BACKOFF);
    assert_int_equal(w.s.queue->held.n, 0);
    world_end(&w);
}

static void own_changes_during_an_attempt_are_not_missed(void **state) {
    (void)state;
    struct world w;
    world_start(&w, NULL, NULL);
    const struct api_object *o = pod_object(&w, "", "", "");
    const struct api_object *tolerant =
        pod_object(&w, "", "'tolerations':[{'operator':'Exists'}]", "");
    struct sched_pod *a = add(&w, o, 0), *b = add(&w, o, 0);
    sched__queue_pop(&w.s);
    sched__queue_pop(&w.s);
    become(&w, a, tolerant);
    sched__queue_failed(&w.s, b, 1U << A, false);
    sched__queue_failed(&w.s, a, 1U << A, false);
    assert_int_equal(place_of(b), SCHED__UNSCHEDULABLE_PODS);
    assert_int_equal(place_of(a), SCHED__BACKOFF);
    world_end(&w);
}

static void own_changes_wake_a_pod_of_the_pool(void **state) {
    (void)state;
    struct world w;
    world_start(&w, NULL, NULL);
    const struct api_object *o = pod_object(&w, "", "", "");
    const struct api_object *labelled = pod_object(&w, "'labels':{'a':'b'}", "", "");
    const struct api_object *tolerant =
        pod_object(&w, "", "'tolerations':[{'operator':'Exists'}]", "");
    struct sched_pod *pod = add(&w, o, 0), *other = add(&w, o, 0);
    fail_next(&w, pod, 1U << A);
    fail_next(&w, other, 1U << A);
    become(&w, pod, labelled);
    assert_int_equal(place_of(pod), SCHED__UNSCHEDULABLE_PODS);
    assert_int_equal(w.s.queue->groups.live, 2);
    advance(&w, 3);
    become(&w, pod, tolerant);
    assert_int_equal(place_of(pod), SCHED__ACTIVE);
    assert_int_equal(place_of(other), SCHED__UNSCHEDULABLE_PODS);
    assert_int_equal(
        sched__metrics_value(w.s.metrics, SCHED__METRIC_INCOMING_PODS,
                             SCHED__LABELS(SCHED__EVENT_OWN_TOLERATION, SCHED__QUEUE_ACTIVE)),
        1);
    world_end(&w);
}

static void pods_are_removed_from_anywhere(void **state) {
    (void)state;
    struct world w;
    struct sched_pod *pods[SCHED__PLACE_COUNT];
    world_start(&w, NULL, NULL);
    const struct api_object *o = pod_object(&w, "", "", "");
    const struct api_object *gated = pod_object(&w, "", "'schedulingGates':[{'name':'a'}]", "");
    pods[SCHED__BACKOFF] = add(&w, o, 0);
    fail_next(&w, pods[SCHED__BACKOFF], 1U << A);
    happens(&w, SCHED__NODE_ADD, NULL, NULL);
    pods[SCHED__ERROR_BACKOFF] = add(&w, o, 0);
    fail_next(&w, pods[SCHED__ERROR_BACKOFF], 0);
    pods[SCHED__UNSCHEDULABLE_PODS] = add(&w, o, 0);
    fail_next(&w, pods[SCHED__UNSCHEDULABLE_PODS], 1U << A);
    pods[SCHED__GATED] = add(&w, gated, 0);
    pods[SCHED__BINDING] = add(&w, o, 0);
    sched__queue_done(&w.s, sched__queue_pop(&w.s), 0);
    pods[SCHED__IN_FLIGHT] = add(&w, o, 0);
    sched__queue_pop(&w.s);
    pods[SCHED__ACTIVE] = add(&w, o, 0);
    happens(&w, SCHED__NODE_LABEL, NULL, node_object(&w, ""));
    assert_int_equal(w.s.queue->held.n, 1);
    for (int i = 0; i < SCHED__PLACE_COUNT; i++) {
        assert_int_equal(place_of(pods[i]), i);
        sched__queue_remove(&w.s, pods[i]);
        assert_null(pods[i]->queued);
    }
    assert_int_equal(w.s.queue->held.n, 0);
    assert_int_equal(w.s.queue->gated, 0);
    advance(&w, 1000);
    assert_null(sched__queue_pop(&w.s));
    world_end(&w);
}

static void what_is_left_is_freed_with_the_queue(void **state) {
    (void)state;
    struct world w;
    world_start(&w, NULL, NULL);
    const struct api_object *o = pod_object(&w, "", "", "");
    struct sched_pod *waits = add(&w, o, 0);
    fail_next(&w, waits, 1U << A);
    struct sched_pod *flies = add(&w, o, 0);
    sched__queue_pop(&w.s);
    happens(&w, SCHED__NODE_LABEL, o, o);
    map_put(&w.s.pods, STR("a/waits"), waits);
    map_put(&w.s.pods, STR("a/flies"), flies);
    sched__queue_free(&w.s);
    assert_null(waits->queued);
    assert_null(flies->queued);
    sched__queue_free(&w.s);
    w.s.queue = sched__queue_new(&w.s);
    world_end(&w);
}

static void nominations_follow_the_objects(void **state) {
    (void)state;
    struct world w;
    world_start(&w, NULL, NULL);
    const struct api_object *o = pod_object(&w, "", "", "");
    const struct api_object *to_1 = pod_object(&w, "", "'priority':5", "'nominatedNodeName':'n1'");
    const struct api_object *to_2 = pod_object(&w, "", "'priority':5", "'nominatedNodeName':'n2'");
    struct sched_pod *less = add(&w, o, 5), *more = add(&w, o, 6);
    fail_next(&w, more, 1U << C);
    fail_next(&w, less, 1U << C);
    advance(&w, 3);
    struct sched_pod *a = add(&w, to_1, 5), *b = add(&w, o, 0);
    sched__nominate(&w.s, b, 1);
    assert_int_equal(w.s.nominated, 2);
    assert_ptr_equal(w.nodes[1].nominated.v[0], a);
    assert_ptr_equal(w.nodes[1].nominated.v[1], b);
    assert_int_equal(w.touches[1], 2);
    become(&w, a, to_2);
    assert_int_equal(a->nominated, 2);
    assert_ptr_equal(w.nodes[1].nominated.v[0], b);
    assert_int_equal(place_of(less), SCHED__ACTIVE); /* for them n1 is as good as freed */
    assert_int_equal(place_of(more), SCHED__UNSCHEDULABLE_PODS);
    become(&w, b, o); /* the object does not know yet */
    assert_int_equal(b->nominated, 1);
    become(&w, a, o);
    assert_int_equal(a->nominated, SCHED__NONE);
    sched__queue_remove(&w.s, b);
    assert_int_equal(w.s.nominated, 0);
    sched__queue_freed(&w.s, a);
    assert_int_equal(place_of(more), SCHED__UNSCHEDULABLE_PODS);
    world_end(&w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(higher_priority_then_longer_wait_then_order_of_coming),
        cmocka_unit_test(a_new_priority_counts_at_once),
        cmocka_unit_test(a_pod_that_is_not_there_is_added_by_an_update),
        cmocka_unit_test(errors_back_off_1_2_4_8_10_seconds),
        cmocka_unit_test(an_attempt_that_is_rejected_ends_a_row_of_errors),
        cmocka_unit_test(without_a_longest_backoff_there_is_none),
        cmocka_unit_test(pods_that_back_off_are_tried_when_there_is_nothing_else),
        cmocka_unit_test(with_the_gate_off_backoff_is_waited_for),
        cmocka_unit_test(events_move_whom_they_concern),
        cmocka_unit_test(equal_pods_share_a_hint),
        cmocka_unit_test(pods_leave_the_pool_after_five_minutes),
        cmocka_unit_test(gates_hold_a_pod_until_all_are_gone),
        cmocka_unit_test(gates_mean_nothing_where_the_plugin_does_not_run),
        cmocka_unit_test(events_during_an_attempt_are_not_missed),
        cmocka_unit_test(own_changes_during_an_attempt_are_not_missed),
        cmocka_unit_test(own_changes_wake_a_pod_of_the_pool),
        cmocka_unit_test(pods_are_removed_from_anywhere),
        cmocka_unit_test(what_is_left_is_freed_with_the_queue),
        cmocka_unit_test(nominations_follow_the_objects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
