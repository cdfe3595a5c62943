/* The numbers of a service's ports in pods: by name, shared by pods with the same ports, and not
 * without end. */
#include "managed.h"

#include "../cost.h"
#include "base/limits.h"
#include "manager/services/port_numbers_int.h"

static struct api_object *decoded(struct arena *a, struct buf *text) {
    struct json tree;
    struct err err = {0};
    struct api_object *o;
    const struct json_opts any = {.max_bytes = SIZE_MAX};
    if (json_parse(a, arena_str(a, buf_view(text)), &any, &tree, &err) < 0)
        fail_msg("%s", err.msg);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    buf_release(text);
    return o;
}

/* A service of n ports that are looked up as p0, p1 and so on. */
static struct api_object *service(struct arena *a, size_t n) {
    struct buf out = BUF_INIT(SIZE_MAX);
    buf_addf(&out, "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"s\"},"
                   "\"spec\":{\"ports\":[");
    for (size_t i = 0; i < n; i++)
        buf_addf(&out, "%s{\"port\":%zu,\"protocol\":\"TCP\",\"targetPort\":\"p%zu\"}",
                 i ? "," : "", i + 1, i);
    buf_addf(&out, "]}}");
    return decoded(a, &out);
}

/* A pod with ports of these names, the last one first, whose numbers begin with this one. */
static struct api_object *pod(struct arena *a, size_t n, size_t first) {
    struct buf out = BUF_INIT(SIZE_MAX);
    buf_addf(&out, "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},"
                   "\"spec\":{\"containers\":[{\"name\":\"c\",\"ports\":[");
    for (size_t i = n; i-- > 0;)
        buf_addf(&out, "%s{\"containerPort\":%zu,\"protocol\":\"TCP\",\"name\":\"p%zu\"}",
                 i + 1 < n ? "," : "", i + first, i);
    buf_addf(&out, "]}]}}");
    return decoded(a, &out);
}

static void ports_are_found_by_name(void **state) {
    static const char sidecar[] =
        "{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: [{name: c, ports: [{"
        "containerPort: 5, protocol: UDP, name: p0}, {containerPort: 6, protocol: TCP, name: p1}, {"
        "containerPort: 7, protocol: TCP, name: p1}]}], initContainers: [{name: i, ports: [{"
        "containerPort: 8, protocol: TCP, name: p2}]}, {name: s, restartPolicy: Always, ports: [{"
        "containerPort: 9, protocol: TCP, name: p3}, {containerPort: 10, protocol: TCP, name: p1}]}"
        "]}}";
    struct arena a = {0};
    struct port_numbers x;
    struct json tree;
    struct api_object *s = service(&a, 4), *p = NULL;
    (void)state;
    assert_int_equal(yml_parse(&a, str_of(sidecar), &tree, NULL), 0);
    assert_int_equal(api_object_decode(&tree, NULL, &p, NULL), 0);
    port_numbers__begin(&x, &a, s, 1);
    const struct port_answer *answer = port_numbers__of(&x, p);
    assert_int_equal(answer->n, 2);
    assert_int_equal(answer->v[0], -1);
    assert_int_equal(answer->v[1], 6);
    assert_int_equal(answer->v[2], -1);
    assert_int_equal(answer->v[3], 9);
    port_numbers__end(&x);
    api_object_free(s);
    api_object_free(p);
    arena_release(&a);
}

static void answers_have_at_most_LIMIT_ENDPOINT_PAIRS_numbers(void **state) {
    enum { PORTS = 1 << 16, PODS = LIMIT_ENDPOINT_PAIRS / PORTS };
    struct arena a = {0};
    struct port_numbers x;
    struct api_object *s = service(&a, PORTS), *pods[PODS + 1];
    struct port_answer *first = NULL;
    (void)state;
    port_numbers__begin(&x, &a, s, 1);
    for (size_t i = 0; i <= PODS; i++) {
        pods[i] = pod(&a, 1, i + 1);
        struct port_answer *answer = port_numbers__of(&x, pods[i]);
        assert_int_equal(answer != NULL, i < PODS);
        first = i == 0 ? answer : first;
    }
    assert_ptr_equal(port_numbers__of(&x, pods[0]), first);
    port_numbers__end(&x);
    api_object_free(s);
    for (size_t i = 0; i <= PODS; i++)
        api_object_free(pods[i]);
    arena_release(&a);
}

static void ask(struct cost *c, size_t n) {
    struct arena a = {0};
    struct port_numbers x;
    struct api_object *s = service(&a, n), *p = pod(&a, n, 1);
    cost_begin(c);
    port_numbers__begin(&x, &a, s, 1);
    assert_int_equal(port_numbers__of(&x, p)->n, n);
    port_numbers__end(&x);
    cost_end(c);
    api_object_free(s);
    api_object_free(p);
    arena_release(&a);
}

static void ports_do_not_meet_pair_by_pair(void **state) {
    (void)state;
    assert_true(cost_growth(ask, 2000) < COST_MOST_GROWTH);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ports_are_found_by_name),
        cmocka_unit_test(answers_have_at_most_LIMIT_ENDPOINT_PAIRS_numbers),
        cmocka_unit_test(ports_do_not_meet_pair_by_pair),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
