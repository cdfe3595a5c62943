/* Which nodes daemons run on: verdicts with their texts, and the tolerations that are added. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "api/object.h"
#include "controller/controller.h"
#include "feature/feature.h"
#include "match/match.h"

struct context {
    struct intern *atoms;
    struct match *match;
    struct arena arena;
};

static void context_open(struct context *c) {
    struct feature_config config;
    feature_config_init(&config, FEATURE_NEWEST);
    c->arena = (struct arena){0};
    c->atoms = intern_new(1);
    c->match = match_new(c->atoms, &config.enabled, NULL, 1);
}

static void context_close(struct context *c) {
    match_free(c->match);
    intern_free(c->atoms);
    arena_release(&c->arena);
}

static void decode(struct context *c, enum api_type_id type, const char *text, void *body) {
    struct json tree;
    struct err err;
    assert_int_equal(json_parse(&c->arena, str_of(text), NULL, &tree, &err), 0);
    assert_int_equal(api_struct_decode(&c->arena, &api_types[type], &tree, body, NULL), 0);
}

static const struct row {
    const char *template, *node;
    enum controller_daemon_code code;
    bool should_run, should_continue;
    const char *text;
} rows[] = {
    {"{}", "{\"metadata\":{\"name\":\"a\"}}", CONTROLLER_DAEMON_RUNS, true, true, "runs here"},
    {"{\"nodeName\":\"b\"}", "{\"metadata\":{\"name\":\"a\"}}", CONTROLLER_DAEMON_OTHER_NODE, false,
     false, "template wants node b"},
    {"{\"nodeSelector\":{\"zone\":\"x\"}}",
     "{\"metadata\":{\"name\":\"a\",\"labels\":{\"zone\":\"y\"}}}", CONTROLLER_DAEMON_AFFINITY,
     false, false, "nodeSelector: zone In [x]: y is not among them"},
    {"{}", "{\"spec\":{\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoSchedule\"}]}}",
     CONTROLLER_DAEMON_TAINT, false, true,
     "taint k=v:NoSchedule is not tolerated; pods that are there stay"},
    {"{}", "{\"spec\":{\"taints\":[{\"key\":\"k\",\"value\":\"v\",\"effect\":\"NoExecute\"}]}}",
     CONTROLLER_DAEMON_TAINT, false, false, "taint k=v:NoExecute is not tolerated"},
};

static void check_row(const struct row *row) {
    struct context c;
    context_open(&c);
    struct api_pod_spec template = {0};
    struct api_node node = {0};
    decode(&c, API_T_pod_spec, row->template, &template);
    decode(&c, API_T_node, row->node, &node);
    struct match_node *labels = match_node_new(c.match, node.metadata.name, &node.metadata.labels);
    struct controller_node at = {node.metadata.name, labels,
                                 match_taints_get(c.match, &node.spec.taints)};
    struct controller_daemon *d = controller_daemon_new(c.match, &template);
    struct controller_daemon_verdict v = controller_daemon_check(d, &at);
    AUTO(buf_release) struct buf text = BUF_INIT(4096);
    controller_daemon_verdict_write(&text, d, &at, &v);
    buf_add_char(&text, '\0');
    assert_string_equal(text.p, row->text);
    assert_int_equal(v.code, row->code);
    assert_int_equal(v.should_run, row->should_run);
    assert_int_equal(v.should_continue, row->should_continue);
    controller_daemon_free(d);
    match_node_free(labels);
    context_close(&c);
}

static void verdicts_and_their_texts(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        check_row(&rows[i]);
    controller_daemon_free(NULL);
}

/* ---- tolerations ---- */

static void check_tolerations(const char *template, const char *want) {
    struct context c;
    context_open(&c);
    struct api_pod_spec spec = {0};
    struct api_toleration_list list;
    decode(&c, API_T_pod_spec, template, &spec);
    controller_daemon_tolerations(&c.arena, &spec, &list);
    AUTO(buf_release) struct buf text = BUF_INIT(4096);
    for (size_t i = 0; i < list.n; i++)
        buf_addf(&text, "%.*s:%.*s%s ", STR_ARG(list.v[i].key), STR_ARG(list.v[i].effect),
                 list.v[i].toleration_seconds.set ? "!" : "");
    buf_add_char(&text, '\0');
    assert_string_equal(text.p, want);
    context_close(&c);
}

#define N "node.kubernetes.io/"
#define PRESSURES                                                                                \
    N "disk-pressure:NoSchedule " N "memory-pressure:NoSchedule " N "pid-pressure:NoSchedule " N \
      "unschedulable:NoSchedule "

static void tolerations_added_and_replaced(void **state) {
    (void)state;
    check_tolerations("{}", N "not-ready:NoExecute " N "unreachable:NoExecute " PRESSURES);
    check_tolerations("{\"hostNetwork\":true}",
                      N "not-ready:NoExecute " N "unreachable:NoExecute " PRESSURES N
                        "network-unavailable:NoSchedule ");
    /* one that is there loses its seconds and keeps its place; one with a value is another */
    check_tolerations("{\"tolerations\":[{\"key\":\"" N "unreachable\",\"operator\":\"Exists\","
                      "\"effect\":\"NoExecute\",\"tolerationSeconds\":5},"
                      "{\"key\":\"" N "not-ready\",\"operator\":\"Exists\",\"value\":\"x\","
                      "\"effect\":\"NoExecute\",\"tolerationSeconds\":5}]}",
                      N "unreachable:NoExecute " N "not-ready:NoExecute! " N
                        "not-ready:NoExecute " PRESSURES);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_and_their_texts),
        cmocka_unit_test(tolerations_added_and_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
