/* Keys of what pods share: texts that nobody judged must not make different things one. */
#include "sched/cluster/count_int.h"
#include "world.h"

static void start(struct world *w) {
    world_start(w, data_newest_gates(), (struct sched_opts){0});
}

static void namespaces_are_told_apart(void **state) {
    static const struct str one[] = {STR_INIT("x/y")}, two[] = {STR_INIT("x"), STR_INIT("y")};
    (void)state;
    struct world w;
    start(&w);
    struct sched__podterm a = {.namespaces = one, .namespace_count = 1};
    struct sched__podterm b = {.namespaces = two, .namespace_count = 2};
    struct sched__podset *x = sched__podset_get(w.s, &a, 1, false);
    struct sched__podset *y = sched__podset_get(w.s, &b, 1, false);
    struct sched__podset *again = sched__podset_get(w.s, &a, 1, false);
    assert_ptr_not_equal(x, y);
    assert_ptr_equal(x, again);
    sched__podset_unref(w.s, x);
    sched__podset_unref(w.s, y);
    sched__podset_unref(w.s, again);
    sched_free(w.s);
}

static void labels_are_told_apart(void **state) {
    (void)state;
    struct world w;
    start(&w);
    struct label one[] = {{STR_INIT("a"), STR_INIT("b,c=d")}};
    struct label two[] = {{STR_INIT("a"), STR_INIT("b")}, {STR_INIT("c"), STR_INIT("d")}};
    struct api_pod_spec a = {.node_selector = {one, 1}}, b = {.node_selector = {two, 2}};
    struct sched__eligible *x =
        sched__eligible_get(w.s, &(struct sched__eligible_spec){.affinity = &a});
    struct sched__eligible *y =
        sched__eligible_get(w.s, &(struct sched__eligible_spec){.affinity = &b});
    assert_ptr_not_equal(x, y);
    sched__eligible_unref(w.s, x);
    sched__eligible_unref(w.s, y);
    sched_free(w.s);
}

static void required_labels_are_told_apart(void **state) {
    static const struct str one[] = {STR_INIT("a\nb")}, two[] = {STR_INIT("a"), STR_INIT("b")};
    (void)state;
    struct world w;
    start(&w);
    struct sched__eligible *x =
        sched__eligible_get(w.s, &(struct sched__eligible_spec){.must = one, .must_count = 1});
    struct sched__eligible *y =
        sched__eligible_get(w.s, &(struct sched__eligible_spec){.must = two, .must_count = 2});
    assert_ptr_not_equal(x, y);
    sched__eligible_unref(w.s, x);
    sched__eligible_unref(w.s, y);
    sched_free(w.s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(namespaces_are_told_apart),
        cmocka_unit_test(labels_are_told_apart),
        cmocka_unit_test(required_labels_are_told_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
