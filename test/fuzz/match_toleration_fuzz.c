/*
 * Any tolerations and taints, as {"gates": 7, "tolerations": […], "taints": […]}: what is compiled,
 * interned and remembered gives the verdicts of a plain implementation that reads the texts anew
 * for each comparison.
 */
#include <stdlib.h>

#include "api/object.h"
#include "check.h"
#include "feature/feature.h"
#include "match/match.h"
#include "semver/semver.h"

enum { MOST = 200 }; /* entries of a list: all pairs are compared */

/* ---- expressions: the length decides ---- */

enum { DOES_NOT_COMPILE, FAILS, IS_FALSE }; /* else it is true when long enough for the value */

static void *compile(void *ctx, struct str expression, size_t *spent, struct err *err) {
    (void)spent;
    (void)ctx;
    if (expression.n % 5 == DOES_NOT_COMPILE) {
        err_set(err, ERR_INVALID, "bad length");
        return NULL;
    }
    size_t *program = malloc(sizeof *program);
    *program = expression.n;
    return program;
}

static int eval_length(size_t length, struct str value, struct err *err) {
    if (length % 5 == FAILS)
        return err_set(err, ERR_INVALID, "fails");
    return length % 5 != IS_FALSE && length > value.n;
}

static int eval(void *ctx, void *program, const struct match_taint *taint, uint64_t evaluations,
                struct err *err) {
    (void)evaluations;
    (void)ctx;
    return eval_length(*(size_t *)program, intern_text(taint->value), err);
}

static void free_program(void *ctx, void *program) {
    (void)ctx;
    free(program);
}

static const struct match_engine engine = {.compile = compile, .eval = eval, .free = free_program};

/* ---- the plain implementation ---- */

struct gates {
    bool numbers, versions, expressions;
};

static bool compare_numbers(struct str taint, struct str toleration, bool less) {
    int64_t a, b;
    if (str_is(taint, "-0") || str_is(toleration, "-0") || !str_to_i64(toleration, &b) ||
        !str_to_i64(taint, &a))
        return false;
    return less ? a < b : a > b;
}

static bool compare_versions(struct str taint, struct str toleration, int want) {
    struct arena a = {0};
    struct semver x, y;
    bool match = semver_parse_tolerant(&a, toleration, &y, NULL) == 0 &&
                 semver_parse_tolerant(&a, taint, &x, NULL) == 0 && semver_cmp(&x, &y) == want;
    arena_release(&a);
    return match;
}

static bool tolerates(const struct api_toleration *t, const struct api_taint *taint,
                      struct gates gates) {
    if (t->expression.n)
        return gates.expressions && t->expression.n % 5 != DOES_NOT_COMPILE &&
               eval_length(t->expression.n, taint->value, NULL) == 1;
    if (t->effect.n && !str_eq(t->effect, taint->effect))
        return false;
    if (t->key.n && !str_eq(t->key, taint->key))
        return false;
    if (!t->operator.n || str_is(t->operator, "Equal"))
        return str_eq(t->value, taint->value);
    if (str_is(t->operator, "Lt") || str_is(t->operator, "Gt"))
        return gates.numbers && compare_numbers(taint->value, t->value, str_is(t->operator, "Lt"));
    if (str_is(t->operator, "SemverLt"))
        return gates.versions && compare_versions(taint->value, t->value, -1);
    if (str_is(t->operator, "SemverEq"))
        return gates.versions && compare_versions(taint->value, t->value, 0);
    if (str_is(t->operator, "SemverGt"))
        return gates.versions && compare_versions(taint->value, t->value, 1);
    return str_is(t->operator, "Exists");
}

static uint32_t find(const struct api_toleration_list *list, const struct api_taint *taint,
                     struct gates gates) {
    for (uint32_t i = 0; i < list->n; i++)
        if (tolerates(&list->v[i], taint, gates))
            return i;
    return MATCH_NONE;
}

static bool is_effect(const struct api_taint *taint, const char *name) {
    return str_is(taint->effect, name);
}

/* As upstream's controller: gather the first matches, then look for the least time. */
static int64_t eviction_ns(const struct api_toleration_list *list,
                           const struct api_taint_list *taints, struct gates gates) {
    int64_t least = INT64_MAX;
    bool any = false, zero = false;
    for (size_t i = 0; i < taints->n; i++) {
        if (!is_effect(&taints->v[i], "NoExecute"))
            continue;
        uint32_t at = find(list, &taints->v[i], gates);
        any = true;
        if (at == MATCH_NONE)
            return -2;
        struct api_opt_i64 seconds = list->v[at].toleration_seconds;
        if (seconds.set && seconds.v <= 0)
            zero = true;
        else if (seconds.set && seconds.v < least)
            least = seconds.v;
    }
    if (!any || (!zero && least == INT64_MAX))
        return -1;
    int64_t ns = zero ? 0 : (int64_t)((uint64_t)least * 1000000000U);
    return ns < 0 ? -1 : ns;
}

static void check_fit(struct match_fit fit, const struct api_toleration_list *list,
                      const struct api_taint_list *taints, struct gates gates) {
    uint32_t untolerated = MATCH_NONE, prefer = 0;
    for (uint32_t i = 0; i < taints->n; i++) {
        const struct api_taint *t = &taints->v[i];
        if (find(list, t, gates) != MATCH_NONE)
            continue;
        prefer += is_effect(t, "PreferNoSchedule");
        if (untolerated == MATCH_NONE && (is_effect(t, "NoSchedule") || is_effect(t, "NoExecute")))
            untolerated = i;
    }
    int64_t ns = eviction_ns(list, taints, gates);
    CHECK(fit.untolerated == untolerated);
    CHECK(fit.intolerable == prefer);
    CHECK(fit.eviction == (ns == -2   ? MATCH_EVICT_NOW
                           : ns == -1 ? MATCH_EVICT_NEVER
                                      : MATCH_EVICT_AFTER));
    CHECK(fit.eviction_ns == (ns < 0 ? 0 : ns));
    CHECK((fit.untolerated_execute != MATCH_NONE) == (ns == -2));
}

/* ---- comparison ---- */

static void check_lists(struct match *m, const struct api_toleration_list *list,
                        const struct api_taint_list *taint_list, struct gates gates) {
    struct match_tolerations *tolerations = match_tolerations_get(m, list);
    struct match_taints *taints = match_taints_get(m, taint_list);
    CHECK(tolerations->n == list->n && taints->n == taint_list->n);
    struct buf text = BUF_INIT(1 << 16);
    for (uint32_t i = 0; i < list->n; i++) {
        for (uint32_t j = 0; j < taints->n; j++) {
            enum match_code code = match_toleration_check(&tolerations->v[i], &taints->v[j]);
            CHECK((code == MATCH_YES) == tolerates(&list->v[i], &taint_list->v[j], gates));
            CHECK((code == MATCH_YES) == match_tolerates(&tolerations->v[i], &taints->v[j]));
            buf_clear(&text);
            match_verdict_write(&text, tolerations, taints, &(struct match_verdict){code, i, j});
            CHECK(text.n > 0);
        }
    }
    buf_release(&text);
    check_fit(match_fit(m, tolerations, taints), list, taint_list, gates);
    check_fit(match_fit(m, tolerations, taints), list, taint_list, gates);
    CHECK(match_tolerations_get(m, list) == tolerations);
    CHECK(match_taints_get(m, taint_list) == taints);
}

static void check(const struct api_pod_spec *pod, const struct api_node_spec *node,
                  struct gates gates) {
    struct feature_set set = {0};
    feature_set_put(&set, FEATURE_TaintTolerationComparisonOperators, gates.numbers);
    feature_set_put(&set, FEATURE_TolerationAffinitySemverOperators, gates.versions);
    feature_set_put(&set, FEATURE_TaintTolerationCEL, gates.expressions);
    struct intern *atoms = intern_new(1);
    struct match *m = match_new(atoms, &set, &engine, 1);
    check_lists(m, &pod->tolerations, &node->taints, gates);
    match_sweep(m);
    match_sweep(m);
    intern_sweep(atoms);
    intern_sweep(atoms);
    check_lists(m, &pod->tolerations, &node->taints, gates); /* with ids used again */
    match_free(m);
    intern_free(atoms);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena a = {0};
    struct json tree;
    struct api_pod_spec pod = {0};
    struct api_node_spec node = {0};
    if (json_parse(&a, (struct str){(const char *)data, size}, NULL, &tree, NULL) == 0 &&
        api_struct_decode(&a, &api_types[API_T_pod_spec], &tree, &pod, NULL) == 0 &&
        api_struct_decode(&a, &api_types[API_T_node_spec], &tree, &node, NULL) == 0 &&
        pod.tolerations.n <= MOST && node.taints.n <= MOST) {
        const struct json *gates = json_get(&tree, STR("gates"));
        int64_t bits = gates && gates->kind == JSON_INT ? gates->i : 7;
        check(&pod, &node, (struct gates){bits & 1, bits & 2, bits & 4});
    }
    arena_release(&a);
    return 0;
}
