/*
 * Metrics: a short history of a queue as text, held against test/sched/metrics.txt, and what holds
 * for all of them.
 */
#include "../data.h"
#include "queue_world.h"

static struct str written(struct world *w, struct buf *out) {
    buf_clear(out);
    sched_metrics_write(&w->s, out);
    assert_false(out->full);
    return buf_view(out);
}

static bool has_line(struct str text, const char *line) {
    struct str rest = text, one;
    while (rest.n) {
        str_cut(rest, '\n', &one, &rest);
        if (str_is(one, line))
            return true;
    }
    return false;
}

/* Three pods: one is scheduled at the second attempt, one waits, one is gated. */
static void live(struct world *w) {
    const struct api_object *o = pod_object(w, "", "", "");
    const struct api_object *gated = pod_object(w, "", "'schedulingGates':[{'name':'a'}]", "");
    struct sched__cycle cy = {
        .s = &w->s, .cls = class_of(w, o), .profile = &w->s.config->profiles[0]};
    struct sched_pod *good = add(w, o, 1), *bad = add(w, o, 0);
    add(w, gated, 0);
    fail_next(w, good, 1U << A | 1U << B);
    sched__metrics_attempt(&w->s, 0, SCHED_UNSCHEDULABLE, 0.0004);
    sched__metrics_cycle(&cy, 0.0004);
    fail_next(w, bad, 1U << A);
    cy.verdict = w->touches;
    sched__metrics_attempt(&w->s, 0, SCHED_UNSCHEDULABLE, 0.002);
    sched__metrics_cycle(&cy, 0.002);
    happens(w, SCHED__NODE_LABEL, NULL, node_object(w, ""));
    advance(w, 2);
    assert_ptr_equal(sched__queue_pop(&w->s), good);
    happens(w, SCHED__NODE_TAINT, NULL, node_object(w, ",'labels':{'no':''}"));
    cy.feasible = 2;
    clock_manual_advance(&w->clock, CLOCK_SECOND / 1000);
    sched__metrics_point(&cy, SCHED_SCORE, SCHED_CODE_SUCCESS, CLOCK_SECOND / 1000);
    sched__metrics_cycle(&cy, 20);
    sched__queue_done(&w->s, good, 20);
    sched__queue_bound(&w->s, good);
    sched__metrics_preemption(&w->s, 0);
    sched__metrics_preemption(&w->s, 3);
    struct sched_pod *flying = add(w, o, 0);
    assert_ptr_equal(sched__queue_pop(&w->s), flying);
    happens(w, SCHED__NODE_LABEL, NULL, o);
    good->node = bad->node = 0;
    good->assumed = true;
    map_put(&w->s.pods, STR("a/good"), good);
    map_put(&w->s.pods, STR("a/bad"), bad);
}

static void the_history_is_that_of_the_file(void **state) {
    (void)state;
    struct world w;
    struct arena a = {0};
    struct sched_config *config = sched_config_default(&a);
    config->profiles[0].scheduler_name = STR("say\n\"hi\"");
    world_start(&w, NULL, config);
    live(&w);
    AUTO(buf_release) struct buf out = BUF_INIT(1 << 20);
    struct str got = written(&w, &out), wanted = data_read(&a, "test/sched/metrics.txt"), x, y;
    while (got.n || wanted.n) {
        str_cut(got, '\n', &x, &got);
        str_cut(wanted, '\n', &y, &wanted);
        if (!str_eq(x, y))
            fail_msg("%.*s\ninstead of\n%.*s", STR_ARG(x), STR_ARG(y));
    }
    world_end(&w);
    arena_release(&a);
}

static void families_are_in_order(void **state) {
    (void)state;
    struct world w;
    world_start(&w, NULL, NULL);
    live(&w);
    AUTO(buf_release) struct buf out = BUF_INIT(1 << 20);
    struct str rest = written(&w, &out), line, last = STR("");
    size_t count = 0;
    while (rest.n) {
        str_cut(rest, '\n', &line, &rest);
        if (!str_starts(line, STR("# TYPE ")))
            continue;
        assert_true(str_cmp(last, line) < 0);
        last = line;
        count++;
    }
    assert_true(count > 20);
    world_end(&w);
}

/* Design documents name metrics that were never there; these are the real ones. */
static void names_are_the_real_ones(void **state) {
    (void)state;
    struct world w;
    world_start(&w, NULL, NULL);
    live(&w);
    AUTO(buf_release) struct buf out = BUF_INIT(1 << 20);
    struct str text = written(&w, &out);
    assert_true(has_line(text, "# TYPE scheduler_scheduling_attempt_duration_seconds histogram"));
    assert_true(has_line(text, "# TYPE scheduler_schedule_attempts_total counter"));
    assert_true(has_line(text, "# TYPE scheduler_numeric_tolerations_total counter"));
    assert_true(has_line(text, "# TYPE scheduler_numeric_taint_mismatches_total counter"));
    assert_int_equal(str_find(text, STR("scheduler_scheduling_duration_seconds")), STR_NONE);
    assert_int_equal(str_find(text, STR("scheduler_scheduling_attempts_total")), STR_NONE);
    world_end(&w);
}

static void numbers_are_written_as_go_writes_them(void **state) {
    (void)state;
    static const struct {
        uint64_t value;
        const char *line;
    } cases[] = {
        {0, "scheduler_preemption_attempts_total 0"},
        {100000, "scheduler_preemption_attempts_total 100000"},
        {900000, "scheduler_preemption_attempts_total 1e+06"},
        {234567, "scheduler_preemption_attempts_total 1.234567e+06"},
    };
    struct world w;
    world_start(&w, NULL, NULL);
    AUTO(buf_release) struct buf out = BUF_INIT(1 << 20);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sched__metrics_add(w.s.metrics, SCHED__METRIC_PREEMPTIONS, SCHED__LABELS(0),
                           cases[i].value);
        assert_true(has_line(written(&w, &out), cases[i].line));
    }
    world_end(&w);
}

static void many_attempts_are_15_or_more(void **state) {
    (void)state;
    struct world w;
    world_start(&w, NULL, NULL);
    struct sched_pod *pod = add(&w, pod_object(&w, "", "", ""), 0);
    for (int i = 0; i < 20; i++) {
        fail_next(&w, pod, 0);
        advance(&w, 12);
    }
    assert_ptr_equal(sched__queue_pop(&w.s), pod);
    sched__queue_done(&w.s, pod, 0);
    sched__queue_bound(&w.s, pod);
    AUTO(buf_release) struct buf out = BUF_INIT(1 << 20);
    struct str text = written(&w, &out);
    assert_true(has_line(text,
                         "scheduler_pod_scheduling_sli_duration_seconds_sum{attempts=\"15+\"} "
                         "240"));
    assert_true(has_line(text, "scheduler_pod_scheduling_attempts_bucket{le=\"16\"} 0"));
    assert_true(has_line(text, "scheduler_pod_scheduling_attempts_bucket{le=\"+Inf\"} 1"));
    world_end(&w);
    sched__metrics_free(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_history_is_that_of_the_file),
        cmocka_unit_test(families_are_in_order),
        cmocka_unit_test(names_are_the_real_ones),
        cmocka_unit_test(numbers_are_written_as_go_writes_them),
        cmocka_unit_test(many_attempts_are_15_or_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
