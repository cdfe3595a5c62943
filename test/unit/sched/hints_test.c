/*
 * What changes of objects mean to pending pods: test/sched/events.jsonl has objects before and
 * after a change, and the labels of the events that it is; `own` ones are changes of a pod that is
 * pending itself.
 */
#include "lines.h"
#include "pod_event.h"

static struct api_object *object(const struct json *c, const char *member) {
    const struct json *tree = json_get(c, str_of(member));
    struct api_object *o = NULL;
    struct err err;
    if (!tree)
        return NULL;
    if (api_object_decode(tree, NULL, &o, &err) < 0)
        fail_msg("%.*s: %s", STR_ARG(json_str(json_get(c, STR("name")))), err.msg);
    return o;
}

static void run_case(struct arena *a, const struct json *c) {
    struct sched s = {0};
    struct feature_config gates;
    feature_config_init(&gates, FEATURE_NEWEST);
    s.gates = gates.enabled;
    s.atoms = intern_new(1);
    struct api_object *before = object(c, "before"), *after = object(c, "after");
    bool own = json_get(c, STR("own"));
    bool is_pod = (after ? after : before)->type == &api_types[API_T_pod];
    uint32_t bits =
        is_pod ? pod_event(&s, before, after, own).bits : sched__event_bits(before, after);
    struct json got = {.kind = JSON_ARRAY};
    for (int i = 0; i < SCHED__EVENT_COUNT; i++)
        if (sched__event_rows[i].own == own && sched__event_rows[i].bit & bits)
            json_append(a, &got, json_of_str(sched__event_rows[i].label));
    if (!json_equal(&got, json_get(c, STR("events")))) {
        AUTO(buf_release) struct buf text = BUF_INIT(4096);
        json_write(&text, &got, NULL);
        fail_msg("%.*s: %.*s", STR_ARG(json_str(json_get(c, STR("name")))),
                 STR_ARG(buf_view(&text)));
    }
    api_object_unref(before);
    api_object_unref(after);
    arena_release(&s.scratch);
    intern_free(s.atoms);
}

static void changes_are_the_events_of_the_file(void **state) {
    (void)state;
    assert_true(run_lines("test/sched/events.jsonl", run_case) >= 40);
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
    assert_int_equal(seen[0] | seen[1], ((1U << 25) - 1) | SCHED__EVERYTHING);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(changes_are_the_events_of_the_file),
        cmocka_unit_test(each_bit_has_one_label),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
