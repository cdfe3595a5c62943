/*
 * What changes of objects mean to pending pods: test/sched/events.jsonl has objects before and
 * after a change, and the labels of the events that it is; `own` ones are changes of a pod that is
 * pending itself.
 */
#include "objects.h"
#include "pod_event.h"

static void run_case(struct arena *a, const struct json *c) {
    struct sched s = {.gates = data_newest_gates(), .atoms = intern_new(1)};
    const struct api_object *before = object_publish(object_of_json(json_get(c, STR("before"))));
    const struct api_object *after = object_publish(object_of_json(json_get(c, STR("after"))));
    bool own = json_get(c, STR("own"));
    bool is_pod = (after ? after : before)->type == &api_types[API_T_pod];
    uint32_t bits =
        is_pod ? pod_event(&s, before, after, own).bits : sched__event_bits(before, after);
    struct json got = {.kind = JSON_ARRAY};
    for (int i = 0; i < SCHED__EVENT_COUNT; i++)
        if (sched__event_rows[i].own == own && sched__event_rows[i].bit & bits)
            json_append(a, &got, json_of_str(sched__event_rows[i].label));
    data_expect_same(data_text(c, "name"), json_get(c, STR("events")), &got);
    api_object_unref(before);
    api_object_unref(after);
    arena_release(&s.scratch);
    intern_free(s.atoms);
}

static void changes_are_the_events_of_the_file(void **state) {
    (void)state;
    data_each("test/sched/events.jsonl", 40, run_case);
}

static void each_bit_has_one_label(void **state) {
    (void)state;
    uint32_t seen[2] = {0};
    for (int i = 0; i < SCHED__EVENT_COUNT; i++) {
        const struct sched__event_row *row = &sched__event_rows[i];
        assert_false(row->bit & seen[row->own]);
        seen[row->own] |= row->bit;
        for (int k = 0; k < i; k++)
            assert_false(str_eq(sched__event_rows[k].label, row->label));
    }
    assert_int_equal(seen[0] | seen[1], ((1U << 26) - 1) | SCHED__EVERYTHING);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_the_events_of_the_file),
        cmocka_unit_test(each_bit_has_one_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
