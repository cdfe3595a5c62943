/*
 * Pods against what is known of them: each line of test/valid/pods_*.jsonl is a pod, or an old and
 * a new one, and what must be said about it. pods_create and pods_update are verdicts of upstream,
 * the prepared object with them where it is accepted; upstream has nothing to say about the rest.
 */
#include "../data.h"
#include "base/limits.h"
#include "valid/valid.h"

/* ---- a compiler of expressions that finds what the line says ---- */

static struct valid_cel_answer find_fault(void *ctx, const struct valid_cel_ask *ask,
                                          struct arena *a, size_t *spent) {
    static const char *const names[] = {
        [VALID_CEL_GOOD] = "good", [VALID_CEL_COMPILE] = "compile",
        [VALID_CEL_TYPE] = "type", [VALID_CEL_PROGRAM] = "program",
        [VALID_CEL_COST] = "cost", [VALID_CEL_TOO_MUCH] = "too much"};
    const struct json *cel = ctx, *fault = json_get(cel, STR("fault"));
    (void)a;
    (void)spent;
    assert_true(ask->expression.n > 0);
    struct valid_cel_answer r = {
        .text = json_get(cel, STR("text")) ? json_str(json_get(cel, STR("text"))) : STR("")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(json_str(fault), names[i])) {
            r.fault = (enum valid_cel_fault)i;
            return r;
        }
    fail_msg("no fault %.*s", STR_ARG(json_str(fault)));
    return r;
}

/* ---- one line ---- */

static struct api_object *decode(const struct json *tree, const struct valid_opts *opts) {
    struct api_object *o = NULL;
    assert_non_null(tree);
    if (api_object_decode(tree, NULL, &o, NULL) < 0)
        fail_msg("cannot be decoded");
    api_object_default(o, opts->gates);
    return o;
}

static struct api_object *judge(const struct json *line, const struct valid_opts *opts,
                                struct valid_errs *errs) {
    const struct json *old_tree = json_get(line, STR("old"));
    if (!old_tree) {
        struct api_object *o = decode(json_get(line, STR("object")), opts);
        valid_prepare_create(o, opts);
        valid_create(o, opts, errs);
        api_own_meta(o)->uid =
            STR(""); /* random where the lines come from, and not among their members */
        return o;
    }
    struct api_object *o = decode(json_get(line, STR("new")), opts), *old = decode(old_tree, opts);
    valid_prepare_update(o, old, opts);
    valid_update(o, old, opts, errs);
    api_object_free(old);
    return o;
}

static int by_text(const void *a, const void *b) {
    return str_cmp(json_str(a), json_str(b));
}

/* A list of texts; sorted when their order does not count. */
static struct str write_list(struct arena *a, const struct json *list, bool sort) {
    struct json copy = json_clone(a, list);
    if (sort && copy.n)
        qsort(copy.items, copy.n, sizeof *copy.items, by_text);
    struct buf b = BUF_INIT(1 << 24);
    for (uint32_t i = 0; i < copy.n; i++) {
        buf_add(&b, STR("\n    "));
        buf_add(&b, json_str(&copy.items[i]));
    }
    struct str text = b.n ? arena_str(a, buf_view(&b)) : STR("");
    buf_release(&b);
    return text;
}

static struct json texts_of(const struct valid_errs *errs) {
    struct json list = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < errs->n; i++) {
        struct buf b = BUF_INIT(1 << 24);
        buf_add(&b, errs->v[i].field);
        buf_add(&b, STR(": "));
        buf_add(&b, errs->v[i].body);
        json_append(errs->a, &list, json_of_str(arena_str(errs->a, buf_view(&b))));
        buf_release(&b);
    }
    return list;
}

static void compare_object(struct arena *a, struct str id, const struct json *want,
                           const struct api_object *o) {
    struct json got = api_object_encode(o, a);
    if (json_equal(want, &got))
        return;
    struct buf b = BUF_INIT(1 << 24);
    json_write(&b, want, NULL);
    buf_add_char(&b, '\n');
    json_write(&b, &got, NULL);
    fail_msg("%.*s: want, got\n%.*s", STR_ARG(id), STR_ARG(buf_view(&b)));
}

/* Does got have all members of want, and the same items? */
static bool contains(const struct json *got, const struct json *want) {
    if (!got || got->kind != want->kind)
        return false;
    if (want->kind == JSON_OBJECT) {
        for (uint32_t i = 0; i < want->n; i++)
            if (!contains(json_get(got, want->members[i].key), &want->members[i].value))
                return false;
        return true;
    }
    return json_equal(got, want);
}

static void find_parts(struct arena *a, struct str id, const struct json *want,
                       const struct api_object *o) {
    struct json got = api_object_encode(o, a);
    if (contains(&got, want))
        return;
    struct buf b = BUF_INIT(1 << 24);
    json_write(&b, &got, NULL);
    fail_msg("%.*s: got %.*s", STR_ARG(id), STR_ARG(buf_view(&b)));
}

/* The value at a path such as spec.containers.0.image, or NULL. */
static const struct json *value_at(const struct json *v, struct str path) {
    struct str name;
    int64_t index;
    for (bool more = true; v && more;) {
        more = str_cut(path, '.', &name, &path);
        if (v->kind == JSON_ARRAY)
            v = str_to_i64(name, &index) && index < (int64_t)v->n ? &v->items[index] : NULL;
        else
            v = json_get(v, name);
    }
    return v;
}

/* Paths that the prepared object must have, or must not have. */
static void check_paths(struct arena *a, const struct json *line, const struct api_object *o) {
    const struct json *keeps = json_get(line, STR("keeps")), *lacks = json_get(line, STR("lacks"));
    struct str id = json_str(json_get(line, STR("id")));
    struct json got = api_object_encode(o, a);
    for (uint32_t i = 0; keeps && i < keeps->n; i++)
        if (!value_at(&got, json_str(&keeps->items[i])))
            fail_msg("%.*s: does not keep %.*s", STR_ARG(id), STR_ARG(json_str(&keeps->items[i])));
    for (uint32_t i = 0; lacks && i < lacks->n; i++)
        if (value_at(&got, json_str(&lacks->items[i])))
            fail_msg("%.*s: does not lack %.*s", STR_ARG(id), STR_ARG(json_str(&lacks->items[i])));
}

/* null: only what preparing does matters. */
static void check_errors(const struct json *line, const struct valid_errs *errs) {
    const struct json *want = json_get(line, STR("want"));
    struct str id = json_str(json_get(line, STR("id")));
    bool random = json_get(line, STR("random")) != NULL;
    assert_non_null(want);
    if (want->kind == JSON_NULL)
        return;
    struct json got = texts_of(errs);
    struct str want_text = write_list(errs->a, want, random);
    struct str got_text = write_list(errs->a, &got, random);
    if (!str_eq(want_text, got_text))
        fail_msg("%.*s: want%.*s\ngot%.*s", STR_ARG(id), STR_ARG(want_text), STR_ARG(got_text));
}

static void check_line(struct arena *a, const struct json *line) {
    const struct json *after = json_get(line, STR("after")), *has = json_get(line, STR("has"));
    struct str id = json_str(json_get(line, STR("id")));
    const struct json *refused = json_get(line, STR("cel"));
    struct json faults = refused ? *refused : (struct json){0};
    struct valid_cel cel = {.ctx = &faults, .check = find_fault};
    struct feature_set gates = data_gates(line);
    struct valid_opts opts = {.gates = &gates, .cel = refused ? &cel : NULL};
    struct valid_errs errs = VALID_ERRS_INIT(a);
    struct api_object *o = judge(line, &opts, &errs);
    check_errors(line, &errs);
    check_paths(a, line, o);
    if (after)
        compare_object(a, id, after, o);
    if (has)
        find_parts(a, id, has, o);
    api_object_free(o);
}

static void test_creates(void **state) {
    (void)state;
    data_each("test/valid/pods_create.jsonl", 380, check_line);
}

static void test_updates(void **state) {
    (void)state;
    data_each("test/valid/pods_update.jsonl", 85, check_line);
}

static void test_versions(void **state) {
    (void)state;
    data_each("test/valid/pods_semver.jsonl", 30, check_line);
}

static void test_expressions(void **state) {
    (void)state;
    data_each("test/valid/pods_expression.jsonl", 20, check_line);
}

/* Fields behind gates that are off: gone from a new pod, kept where the old one has them. */
static void test_drops(void **state) {
    (void)state;
    data_each("test/valid/pods_drop.jsonl", 80, check_line);
}

/* The examples of the design documents, and of where they contradict upstream or themselves. */
static void test_documents(void **state) {
    (void)state;
    data_each("test/valid/pods_documents.jsonl", 82, check_line);
}

/* ---- how long an expression may be ---- */

/* What is said about a pod whose toleration has an expression of n bytes. */
static void check_length(size_t n, const char *want) {
    struct arena a = {0};
    struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    buf_add(&text, STR("{\"id\":\"length\",\"gates\":{\"TaintTolerationCEL\":true},\"object\":{"
                       "\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},"
                       "\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"x\"}],"
                       "\"tolerations\":[{\"expression\":\""));
    buf_add_fill(&text, 'x', n);
    buf_addf(&text, "\"}]}},\"want\":[%s]}", want);
    struct json line;
    assert_int_equal(json_parse(&a, buf_view(&text), NULL, &line, NULL), 0);
    check_line(&a, &line);
    buf_release(&text);
    arena_release(&a);
}

static void test_expression_length(void **state) {
    (void)state;
    check_length(LIMIT_TOLERATION_EXPRESSION_BYTES, "");
    check_length(LIMIT_TOLERATION_EXPRESSION_BYTES + 1,
                 "\"spec.tolerations[0].expression: Too long: may not be more than 10240 bytes\"");
}

/* Where the design documents contradict each other or upstream: the reading that holds, by the
 * number under which it was settled. */
static void contradictions_are_settled(void **state) {
    (void)state;
    data_each("test/valid/pods_contradictions.jsonl", 9, check_line);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_creates),           cmocka_unit_test(test_updates),
        cmocka_unit_test(test_versions),          cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_documents),         cmocka_unit_test(test_drops),
        cmocka_unit_test(test_expression_length), cmocka_unit_test(contradictions_are_settled),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
