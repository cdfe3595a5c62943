/*
 * For the tests of matching: a context with chosen gates, and an engine for toy expressions.
 */
#ifndef TEST_MATCH_CONTEXT_H
#define TEST_MATCH_CONTEXT_H

#include "../data.h"
#include "api/object.h"
#include "match/match.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- toy expressions: true, false, fails, or value=TEXT; `one more` is one too many, and anything
 * else does not compile ---- */

struct toy_program {
    struct str text; /* borrowed from the atom */
    unsigned *live;
};

static inline void *toy_compile(void *ctx, struct str expression, size_t *spent, struct err *err) {
    if (str_is(expression, "one more"))
        *spent = SIZE_MAX;
    if (!str_is(expression, "true") && !str_is(expression, "false") &&
        !str_is(expression, "fails") && !str_starts(expression, STR("value="))) {
        err_set(err, ERR_INVALID, "undeclared reference to '%.*s'", STR_ARG(expression));
        return NULL;
    }
    struct toy_program *p = xmalloc(sizeof *p);
    *p = (struct toy_program){expression, ctx};
    ++*p->live;
    return p;
}

static inline int toy_eval(void *ctx, void *program, const struct match_taint *taint,
                           uint64_t evaluations, struct err *err) {
    (void)evaluations;
    const struct toy_program *p = program;
    (void)ctx;
    if (str_is(p->text, "fails"))
        return err_set(err, ERR_INVALID, "no such overload");
    if (str_starts(p->text, STR("value=")))
        return str_eq(intern_text(taint->value), str_sub(p->text, 6, p->text.n));
    return str_is(p->text, "true");
}

static inline void toy_free(void *ctx, void *program) {
    --*(unsigned *)ctx;
    free(program);
}

/* ---- context ---- */

struct context {
    struct arena arena;
    struct intern *atoms;
    struct match *m;
    struct match_engine engine;
    unsigned programs; /* alive */
};

enum { NO_ENGINE = 1 };

/* gates: names separated by spaces. */
static inline void context_open(struct context *c, const char *gates, int flags) {
    struct feature_config config;
    struct str rest = str_of(gates), name;
    *c = (struct context){
        .engine = {
            .ctx = &c->programs, .compile = toy_compile, .eval = toy_eval, .free = toy_free}};
    feature_config_init(&config, FEATURE_NEWEST);
    for (bool more = rest.n > 0; more;) {
        enum feature f;
        more = str_cut(rest, ' ', &name, &rest);
        assert_true(feature_find(name, &f));
        feature_set_put(&config.enabled, f, true);
    }
    c->atoms = intern_new(1);
    c->m = match_new(c->atoms, &config.enabled, flags & NO_ENGINE ? NULL : &c->engine, 1);
}

#define ALL_GATES                                                           \
    "TaintTolerationComparisonOperators TolerationAffinitySemverOperators " \
    "TaintTolerationCEL"

static inline void context_close(struct context *c) {
    match_free(c->m);
    assert_int_equal(c->programs, 0);
    intern_free(c->atoms);
    arena_release(&c->arena);
}

static inline void context_decode(struct context *c, enum api_type_id type, const struct json *v,
                                  void *body) {
    if (v && api_struct_decode(&c->arena, &api_types[type], v, body, NULL) < 0)
        fail_msg("cannot be decoded");
}

static inline struct json *context_parse(struct context *c, const char *text) {
    struct json *v = arena_new(&c->arena, struct json);
    struct err err;
    if (json_parse(&c->arena, str_of(text), NULL, v, &err) < 0)
        fail_msg("%s: %s", text, err.msg);
    return v;
}

/* Lists from JSON: [{"key":"a","operator":"Exists"}]. */
static inline struct match_tolerations *context_tolerations(struct context *c, const char *text) {
    struct json object = {.kind = JSON_OBJECT};
    struct api_pod_spec spec = {0};
    json_add(&c->arena, &object, STR("tolerations"), *context_parse(c, text));
    context_decode(c, API_T_pod_spec, &object, &spec);
    return match_tolerations_get(c->m, &spec.tolerations);
}

static inline struct match_taints *context_taints(struct context *c, const char *text) {
    struct json object = {.kind = JSON_OBJECT};
    struct api_node_spec spec = {0};
    json_add(&c->arena, &object, STR("taints"), *context_parse(c, text));
    context_decode(c, API_T_node_spec, &object, &spec);
    return match_taints_get(c->m, &spec.taints);
}

#endif
