/*
 * Every failure of a kubelet with its operands and texts: each line of test/kubelet/admit.jsonl is
 * a node, the pods that it admitted before, one more pod, and the failures in their order.
 * What upstream says about such pods is compared in test/vectors.
 */
#include "../data.h"

#include "../cost.h"
#include "api/object.h"
#include "kubelet/kubelet.h"
#include "match/match.h"

typedef void write_fn(struct buf *out, const struct kubelet_failure *f);

static struct json render(struct arena *a, write_fn *write, const struct kubelet_failure *f) {
    AUTO(buf_release) struct buf text = BUF_INIT(4096);
    write(&text, f);
    return json_of_str(arena_str(a, buf_view(&text)));
}

static struct json encode_failure(struct arena *a, const struct kubelet_failure *f) {
    struct json o = {.kind = JSON_OBJECT};
    json_add(a, &o, STR("reason"), render(a, kubelet_failure_write_reason, f));
    json_add(a, &o, STR("message"), render(a, kubelet_failure_write_message, f));
    if (f->code == KUBELET_RESOURCE) {
        json_add(a, &o, STR("resource"), json_of_str(f->resource));
        json_add(a, &o, STR("requested"), json_of_i64(f->requested));
        json_add(a, &o, STR("used"), json_of_i64(f->used));
        json_add(a, &o, STR("capacity"), json_of_i64(f->capacity));
    }
    if (f->code == KUBELET_TAINT)
        json_add(a, &o, STR("taint"), json_of_i64(f->taint));
    return o;
}

static struct json encode_verdict(struct arena *a, const struct kubelet_verdict *v) {
    struct json list = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < v->n; i++)
        json_append(a, &list, encode_failure(a, &v->v[i]));
    return list;
}

static const void *decode(struct arena *a, enum api_type_id type, size_t size,
                          const struct json *tree) {
    void *body = arena_alloc(a, size);
    memset(body, 0, size);
    assert_non_null(tree);
    assert_int_equal(api_struct_decode(a, &api_types[type], tree, body, NULL), 0);
    return body;
}

static const struct api_pod *decode_pod(struct arena *a, const struct json *tree) {
    return decode(a, API_T_pod, sizeof(struct api_pod), tree);
}

static struct kubelet_state state_of(struct arena *a, const struct json *line) {
    const struct json *pods = json_get(line, STR("pods"));
    size_t n = pods ? pods->n : 0;
    const struct api_pod **list = arena_array(a, const struct api_pod *, n);
    for (size_t i = 0; i < n; i++)
        list[i] = decode_pod(a, &pods->items[i]);
    const struct json *node = json_get(line, STR("node"));
    return (struct kubelet_state){decode(a, API_T_node, sizeof(struct api_node), node), list, n};
}

static void check_line(struct arena *a, const struct json *line) {
    struct feature_set gates = data_gates(line);
    struct intern *atoms = intern_new(1);
    struct match *match = match_new(atoms, &gates, NULL, 1);
    struct kubelet_ctx ctx = {match, &gates, a};
    struct kubelet_state state = state_of(a, line);
    struct kubelet_verdict verdict;
    kubelet_admit(&ctx, &state, decode_pod(a, json_get(line, STR("pod"))), &verdict);
    struct json got = encode_verdict(a, &verdict);
    data_expect_same(data_text(line, "id"), json_get(line, STR("failures")), &got);
    match_free(match);
    intern_free(atoms);
}

static void every_line_fails_as_it_says(void **state) {
    (void)state;
    data_each("test/kubelet/admit.jsonl", 30, check_line);
}

/* A pod of n containers that ask for a device each, which a claim brings to n others. */
static void ask_for_devices(struct cost *c, size_t n) {
    struct arena a = {0};
    struct feature_set gates = data_newest_gates();
    struct intern *atoms = intern_new(1);
    struct match *match = match_new(atoms, &gates, NULL, 1);
    struct kubelet_ctx ctx = {match, &gates, &a};
    struct api_node node = {.metadata.name = STR("n")};
    struct kubelet_state state = {.node = &node};
    struct kubelet_verdict verdict;
    struct api_pod_extended_resource_claim_status claim = {
        .request_mappings = {arena_array(&a, struct api_container_extended_resource_request, n),
                             n}};
    struct api_pod pod = {.spec.containers = {arena_array(&a, struct api_container, n), n},
                          .status.extended_resource_claim_status = &claim};
    struct api_quantity device = {STR("a.b/c"), quantity_of_i64(1, QUANTITY_DECIMAL_SI)};
    for (size_t i = 0; i < n; i++) {
        pod.spec.containers.v[i].name = arena_printf(&a, "c%zu", i);
        pod.spec.containers.v[i].resources.requests = (struct api_quantities){&device, 1};
        claim.request_mappings.v[i] = (struct api_container_extended_resource_request){
            .container_name = arena_printf(&a, "d%zu", i), .resource_name = device.key};
    }
    cost_begin(c);
    kubelet_admit(&ctx, &state, &pod, &verdict);
    cost_end(c);
    match_free(match);
    intern_free(atoms);
    arena_release(&a);
}

static void devices_by_claims(void **state) {
    (void)state;
    double growth = cost_growth(ask_for_devices, 1000);
    if (growth > COST_MOST_GROWTH)
        fail_msg("four times as many containers take %.1f times as long", growth);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_line_fails_as_it_says),
        cmocka_unit_test(devices_by_claims),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
