/*
 * Node selectors and affinity: test/match/nodes.jsonl has verdicts with their texts, errors and
 * scores; test/match/versions.jsonl pairs of versions as blang/semver orders them.
 */
#include <string.h>

#include "context.h"

#include "api/names.h"
#include "base/limits.h"
#include "match/match_int.h"

/* ---- verdicts ---- */

static unsigned seen_codes;

static void expect_number(const struct json *line, const char *key, int64_t got) {
    const struct json *want = json_get(line, str_of(key));
    if (!want || want->i != got)
        fail_msg("%.*s: %s is %lld", STR_ARG(data_text(line, "id")), key, (long long)got);
}

/* The sentence on each term, joined by line breaks, when the nodeSelector is satisfied. */
static void write_terms(struct buf *out, const struct match_affinity *a, enum match_node_part part,
                        const struct match_node *node) {
    for (uint32_t i = 0; i < match_affinity_term_count(a, part); i++) {
        struct match_node_verdict v = match_affinity_check_term(a, part, i, node);
        if (i > 0)
            buf_add_char(out, '\n');
        match_node_verdict_write(out, a, node, &v);
        seen_codes |= 1U << v.code;
    }
}

static void check_required(const struct json *line, const struct match_affinity *a,
                           const struct match_node *node) {
    struct match_node_verdict v;
    AUTO(buf_release) struct buf text = BUF_INIT(8192);
    bool match = match_affinity_required(a, node, &v);
    const struct json *want = json_get(line, STR("match"));
    if (!want || want->b != match)
        fail_msg("%.*s: match", STR_ARG(data_text(line, "id")));
    assert_int_equal(match, match_affinity_required(a, node, NULL));
    match_node_verdict_write(&text, a, node, &v);
    seen_codes |= 1U << v.code;
    data_expect(line, "text", buf_view(&text));
    data_expect(line, "error", match_affinity_error(a, MATCH_NODE_REQUIRED));
}

static void check_preferred(const struct json *line, const struct match_affinity *a,
                            const struct match_node *node) {
    AUTO(buf_release) struct buf text = BUF_INIT(8192);
    write_terms(&text, a, MATCH_NODE_PREFERRED, node);
    data_expect(line, "preferred_text", buf_view(&text));
    data_expect(line, "preferred_error", match_affinity_error(a, MATCH_NODE_PREFERRED));
    expect_number(line, "score", match_affinity_score(a, node));
    assert_int_equal(match_affinity_fails(a, MATCH_NODE_PREFERRED),
                     json_get(line, STR("score_fails")) != NULL);
}

static void check_node(struct arena *arena, const struct json *line) {
    struct context c;
    struct api_pod_spec pod = {0};
    struct api_node_affinity spec = {0};
    struct api_object_meta meta = {0};
    context_open(&c, arena_str(arena, data_text(line, "gates")).p, 0);
    context_decode(&c, API_T_object_meta, json_get(line, STR("node")), &meta);
    context_decode(&c, API_T_pod_spec, line, &pod);
    context_decode(&c, API_T_node_affinity, line, &spec);
    struct match_node *node = match_node_new(c.m, meta.name, &meta.labels);
    struct match_affinity *a = match_affinity_new(c.m, &pod.node_selector, &spec);
    check_required(line, a, node);
    if (spec.preferred.v)
        check_preferred(line, a, node);
    match_affinity_free(a);
    match_node_free(node);
    context_close(&c);
}

static void verdicts_errors_and_scores(void **state) {
    (void)state;
    data_each("test/match/nodes.jsonl", 30, check_node);
    assert_int_equal(seen_codes, (1U << (MATCH_NODE_NO_TERMS + 1)) - 1);
}

/* ---- versions ---- */

/* The first compiled term of one expression on the label "v". */
static struct match_affinity *compile_one(struct context *c, const char *op, struct str value) {
    struct api_node_selector_requirement expression = {
        .key = STR("v"), .operator= str_of(op), .values = {&value, 1}};
    struct api_node_selector_term term = {.match_expressions = {&expression, 1}};
    struct api_node_selector selector = {.node_selector_terms = {&term, 1}};
    return match_affinity_new(c->m, NULL, &(struct api_node_affinity){.required = &selector});
}

static bool one_matches(struct context *c, const char *op, struct str label_value,
                        struct str value) {
    struct label label = {STR("v"), label_value};
    struct match_node *node = match_node_new(c->m, STR("n"), &(struct labels){&label, 1});
    struct match_affinity *a = compile_one(c, op, value);
    bool match = match_affinity_required(a, node, NULL);
    match_affinity_free(a);
    match_node_free(node);
    return match;
}

static bool volume_matches(struct context *c, const char *op, struct str label_value,
                           struct str value) {
    struct label label = {STR("v"), label_value};
    struct api_node_selector_requirement expression = {
        .key = STR("v"), .operator= str_of(op), .values = {&value, 1}};
    struct api_node_selector_term term = {.match_expressions = {&expression, 1}};
    struct api_node_selector selector = {.node_selector_terms = {&term, 1}};
    struct match_node *node = match_node_new(c->m, STR("n"), &(struct labels){&label, 1});
    struct match_affinity *a =
        match_affinity_new_volume(c->m, &(struct api_volume_node_affinity){.required = &selector});
    bool match = match_affinity_volume_error(a, node).p == NULL;
    match_affinity_free(a);
    match_node_free(node);
    return match;
}

/* T9: scheduler, kubelet and controllers each have their own gates, and so their own answer. */
static void components_read_their_own_gates(void **state) {
    (void)state;
    static const struct {
        const char *op, *label, *value;
        bool gated;
    } rows[] = {
        {"SemverGt", "5.15.0", "5.10.0", true}, {"SemverLt", "5.4.0", "5.10.0", true},
        {"SemverEq", "v5.10", "5.10.0", true},  {"Gt", "64", "32", false},
        {"In", "5.10.0", "5.10.0", false},
    };
    struct context on, off;
    context_open(&on, "TolerationAffinitySemverOperators", 0);
    context_open(&off, "TaintTolerationComparisonOperators TaintTolerationCEL", 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct str label = str_of(rows[i].label), value = str_of(rows[i].value);
        assert_true(one_matches(&on, rows[i].op, label, value));
        assert_true(volume_matches(&on, rows[i].op, label, value));
        assert_int_equal(one_matches(&off, rows[i].op, label, value), !rows[i].gated);
        assert_int_equal(volume_matches(&off, rows[i].op, label, value), !rows[i].gated);
    }
    context_close(&on);
    context_close(&off);
}

static unsigned compared;

static void check_versions(struct arena *arena, const struct json *line) {
    static const struct {
        const char *op;
        int64_t order;
    } rows[] = {{"SemverLt", -1}, {"SemverEq", 0}, {"SemverGt", 1}};
    const struct json *order = json_get(line, STR("order"));
    struct str label = data_text(line, "taint"), value = data_text(line, "toleration");
    bool is_label_value = names_check_label_value(value).n == 0;
    struct context on, off;
    (void)arena;
    context_open(&on, "TolerationAffinitySemverOperators", 0);
    context_open(&off, "", 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        bool want = order->kind == JSON_INT && order->i == rows[i].order && is_label_value;
        if (one_matches(&on, rows[i].op, label, value) != want)
            fail_msg("%.*s: %s", STR_ARG(data_text(line, "id")), rows[i].op);
        assert_false(one_matches(&off, rows[i].op, label, value));
        compared += want;
    }
    context_close(&on);
    context_close(&off);
}

static void versions_are_ordered_as_blang_semver_does(void **state) {
    (void)state;
    data_each("test/match/versions.jsonl", 500, check_versions);
    assert_true(compared > 100);
}

/* ---- volumes, profiles ---- */

static struct match_node *make_node(struct context *c, struct str name, struct str zone) {
    struct label labels[] = {{STR("zone"), zone}};
    return match_node_new(c->m, name, &(struct labels){labels, 1});
}

static void volumes_see_labels_but_no_names(void **state) {
    (void)state;
    static const struct {
        const char *spec, *error; /* NULL: the node matches */
    } rows[] = {
        {"{}", NULL},
        {"{\"required\":{\"nodeSelectorTerms\":[]}}", "no matching NodeSelectorTerms"},
        {"{\"required\":{\"nodeSelectorTerms\":[{}]}}", "no matching NodeSelectorTerms"},
        {"{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\","
         "\"operator\":\"In\",\"values\":[\"a\"]}]}]}}",
         NULL},
        {"{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\","
         "\"operator\":\"In\",\"values\":[\"b\"]}]}]}}",
         "no matching NodeSelectorTerms"},
        {"{\"required\":{\"nodeSelectorTerms\":[{\"matchFields\":[{\"key\":\"metadata.name\","
         "\"operator\":\"In\",\"values\":[\"other\"]}]}]}}",
         NULL},
        {"{\"required\":{\"nodeSelectorTerms\":[{\"matchExpressions\":[{\"key\":\"zone\","
         "\"operator\":\"in\"}]}]}}",
         "nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: \"in\": supported "
         "values: \"In\", \"NotIn\", \"Exists\", \"DoesNotExist\", \"Gt\", \"Lt\""},
    };
    struct context c;
    context_open(&c, "", 0);
    struct match_node *node = make_node(&c, STR("node-1"), STR("a"));
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct api_volume_node_affinity spec = {0};
        context_decode(&c, API_T_volume_node_affinity, context_parse(&c, rows[i].spec), &spec);
        struct match_affinity *a = match_affinity_new_volume(c.m, &spec);
        struct str error = match_affinity_volume_error(a, node);
        assert_int_equal(error.p == NULL, rows[i].error == NULL);
        assert_true(!rows[i].error || str_is(error, rows[i].error));
        match_affinity_free(a);
    }
    struct match_affinity *none = match_affinity_new_volume(c.m, NULL);
    assert_null(match_affinity_volume_error(none, node).p);
    match_affinity_free(none);
    match_affinity_free(NULL);
    match_node_free(node);
    match_node_free(NULL);
    context_close(&c);
}

#define GOOD_TERM "{\"matchExpressions\":[{\"key\":\"zone\",\"operator\":\"Exists\"}]}"
#define BAD_TERM  "{\"matchFields\":[{\"key\":\"spec.x\",\"operator\":\"In\",\"values\":[]}]}"
#define SEMVER_TERM \
    "{\"matchExpressions\":[{\"key\":\"v\",\"operator\":\"SemverGt\",\"values\":[\"1.0.0\"]}]}"
#define REQUIRED(term) \
    "\"requiredDuringSchedulingIgnoredDuringExecution\":{\"nodeSelectorTerms\":[" term "]}"
#define PREFERRED(term) \
    "\"preferredDuringSchedulingIgnoredDuringExecution\":[{\"weight\":1,\"preference\":" term "}]"

static void added_affinity_must_be_good(void **state) {
    (void)state;
    static const struct {
        const char *spec, *why;
    } rows[] = {
        {"{}", ""},
        {"{" REQUIRED(GOOD_TERM) "," PREFERRED(GOOD_TERM) "}", ""},
        {"{" REQUIRED(BAD_TERM) "," PREFERRED(BAD_TERM) "}",
         "parsing addedAffinity.requiredDuringSchedulingIgnoredDuringExecution: "
         "nodeSelectorTerms[0].matchFields[0].values: Invalid value: []: must have one element"},
        {"{" REQUIRED(GOOD_TERM) "," PREFERRED(BAD_TERM) "}",
         "parsing addedAffinity.preferredDuringSchedulingIgnoredDuringExecution: "
         "[0].matchFields[0].values: Invalid value: []: must have one element"},
        {"{" PREFERRED(SEMVER_TERM) "}", ""}, /* counts 0 while the gate is off */
    };
    struct context c;
    context_open(&c, "", 0);
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct api_node_affinity spec = {0};
        AUTO(buf_release) struct buf why = BUF_INIT(1000);
        context_decode(&c, API_T_node_affinity, context_parse(&c, rows[i].spec), &spec);
        struct match_affinity *a = match_affinity_new(c.m, NULL, &spec);
        assert_int_equal(match_affinity_check_added(a, &why), rows[i].why[0] ? -1 : 0);
        assert_true(str_is(buf_view(&why), rows[i].why));
        match_affinity_free(a);
    }
    context_close(&c);
}

/* ---- sizes ---- */

static void many_values_and_labels_are_found(void **state) {
    (void)state;
    enum { MANY = 1000 };
    struct context c;
    struct str values[MANY];
    struct label labels[MANY];
    context_open(&c, "", 0);
    for (int i = 0; i < MANY; i++) {
        values[i] = arena_printf(&c.arena, "v%d", i);
        labels[i] = (struct label){arena_printf(&c.arena, "k%03d", i), values[i]};
    }
    struct match_node *node = match_node_new(c.m, STR(""), &(struct labels){labels, MANY});
    for (int i = 0; i < MANY; i++) {
        struct api_node_selector_requirement expression = {
            .key = labels[i].key, .operator= STR("In"), .values = {values + MANY / 2, MANY / 2}};
        struct api_node_selector_term term = {.match_expressions = {&expression, 1}};
        struct api_node_selector selector = {.node_selector_terms = {&term, 1}};
        struct match_affinity *a =
            match_affinity_new(c.m, NULL, &(struct api_node_affinity){.required = &selector});
        assert_int_equal(match_affinity_required(a, node, NULL), i >= MANY / 2);
        match_affinity_free(a);
    }
    match_node_free(node);
    context_close(&c);
}

static void error_texts_are_cut_but_verdicts_stay_right(void **state) {
    (void)state;
    enum { MANY = LIMIT_NODE_SELECTOR_ERROR_BYTES / 300 };
    struct context c;
    context_open(&c, "", 0);
    struct match_node *node = make_node(&c, STR("n"), STR("a"));
    for (size_t count = MANY / 2; count <= 2 * MANY; count *= 4) {
        struct str *values = arena_array(&c.arena, struct str, count), zone = STR("a");
        for (size_t i = 0; i < count; i++)
            values[i] = STR("-");
        struct api_node_selector_requirement expressions[] = {
            {.key = STR("zone"), .operator= STR("In"), .values = {values, count}},
            {.key = STR("zone"), .operator= STR("In"), .values = {values, 1}},
            {.key = STR("zone"), .operator= STR("In"), .values = {&zone, 1}},
        };
        struct api_node_selector_term terms[] = {{.match_expressions = {&expressions[0], 1}},
                                                 {.match_expressions = {&expressions[1], 1}},
                                                 {.match_expressions = {&expressions[2], 1}}};
        struct api_node_selector selector = {.node_selector_terms = {terms, 3}};
        struct api_node_affinity spec = {.required = &selector};
        struct match_affinity *a = match_affinity_new(c.m, NULL, &spec);
        struct str error = match_affinity_error(a, MATCH_NODE_REQUIRED);
        assert_true(error.n <= LIMIT_NODE_SELECTOR_ERROR_BYTES);
        assert_int_equal(str_ends(error, STR(")]")), count < MANY);
        assert_true(match_affinity_required(a, node, NULL)); /* by the last term */
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(match_affinity_check_term(a, MATCH_NODE_REQUIRED, i, node).code,
                             i < 2 ? MATCH_NODE_INVALID_TERM : MATCH_NODE_YES);
        match_affinity_free(a);
    }
    match_node_free(node);
    context_close(&c);
}

static void atoms_are_given_back(void **state) {
    (void)state;
    struct context c;
    struct intern_stats before, after;
    context_open(&c, "TolerationAffinitySemverOperators", 0);
    intern_stats(c.atoms, &before);
    struct match_node *node = make_node(&c, STR("node-1"), STR("a"));
    struct match_affinity *a = compile_one(&c, "SemverGt", STR("1.2.3"));
    intern_stats(c.atoms, &after);
    assert_int_equal(after.held, before.held + 5);
    match_affinity_free(a);
    match_node_free(node);
    intern_stats(c.atoms, &after);
    assert_int_equal(after.held, before.held);
    context_close(&c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(verdicts_errors_and_scores),
        cmocka_unit_test(versions_are_ordered_as_blang_semver_does),
        cmocka_unit_test(components_read_their_own_gates),
        cmocka_unit_test(volumes_see_labels_but_no_names),
        cmocka_unit_test(added_affinity_must_be_good),
        cmocka_unit_test(many_values_and_labels_are_found),
        cmocka_unit_test(error_texts_are_cut_but_verdicts_stay_right),
        cmocka_unit_test(atoms_are_given_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
