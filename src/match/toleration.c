/*
 * One toleration against one taint.
 *
 * The order of the tests is upstream's, and part of the verdict: effect, key, then the operator. An
 * expression decides alone, before these. What cannot match because of the toleration itself (an
 * unknown operator, a gate that is off, a threshold that is no number) is known when it is
 * compiled.
 */
#include "match/match_int.h"
#include "semver/semver.h"

/* A row per operator. */
static const struct {
    struct str name;
    enum match__op op;
    enum feature gate;
} operators[] = {
    {STR_INIT(""), MATCH__EQUAL, FEATURE_COUNT},
    {STR_INIT("Equal"), MATCH__EQUAL, FEATURE_COUNT},
    {STR_INIT("Exists"), MATCH__EXISTS, FEATURE_COUNT},
    {STR_INIT("Lt"), MATCH__LT, FEATURE_TaintTolerationComparisonOperators},
    {STR_INIT("Gt"), MATCH__GT, FEATURE_TaintTolerationComparisonOperators},
    {STR_INIT("SemverLt"), MATCH__SEMVER_LT, FEATURE_TolerationAffinitySemverOperators},
    {STR_INIT("SemverGt"), MATCH__SEMVER_GT, FEATURE_TolerationAffinitySemverOperators},
    {STR_INIT("SemverEq"), MATCH__SEMVER_EQ, FEATURE_TolerationAffinitySemverOperators},
};

enum feature match__operator_find(struct str name, enum match__op *op) {
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (str_eq(name, operators[i].name)) {
            *op = operators[i].op;
            return operators[i].gate;
        }
    }
    *op = MATCH__NEVER;
    return FEATURE_COUNT;
}

/* ---- compiling ---- */

void match__taint_compile(const struct match *m, struct match_taint *taint) {
    taint->is_number = intern_decimal(taint->value, &taint->number);
    if (feature_enabled(&m->gates, FEATURE_TolerationAffinitySemverOperators))
        taint->version = intern_version(taint->value);
}

static void never(struct match_toleration *t, enum match_code why) {
    t->op = MATCH__NEVER;
    t->never = (uint8_t)why;
}

static void compile_expression(const struct match *m, struct match_toleration *t) {
    t->op = MATCH__EXPRESSION;
    if (!feature_enabled(&m->gates, FEATURE_TaintTolerationCEL)) {
        t->never = MATCH_GATE_OFF;
    } else if (!m->engine) {
        t->never = MATCH_NO_ENGINE;
    } else {
        t->never = MATCH_EXPRESSION_ERROR; /* unless it compiles */
        t->engine = m->engine;
        t->program = m->engine->compile(m->engine->ctx, intern_text(t->expression), NULL);
    }
}

static void compile_threshold(struct match_toleration *t) {
    if (t->op == MATCH__LT || t->op == MATCH__GT) {
        if (!intern_decimal(t->value, &t->number))
            never(t, MATCH_TOLERATION_NO_NUMBER);
    } else if (t->op != MATCH__EQUAL && t->op != MATCH__EXISTS) {
        t->version = intern_version(t->value);
        if (!t->version)
            never(t, MATCH_TOLERATION_NO_VERSION);
    }
}

void match__toleration_compile(const struct match *m, struct match_toleration *t) {
    if (t->expression) {
        compile_expression(m, t);
        return;
    }
    enum match__op op;
    enum feature gate = match__operator_find(intern_text(t->op_name), &op);
    t->op = (uint8_t)op;
    if (op == MATCH__NEVER)
        t->never = MATCH_UNKNOWN_OPERATOR;
    else if (gate != FEATURE_COUNT && !feature_enabled(&m->gates, gate))
        never(t, MATCH_GATE_OFF);
    else
        compile_threshold(t);
}

/* ---- matching ---- */

static enum match_code check_expression(const struct match_toleration *t,
                                        const struct match_taint *taint) {
    if (!t->program)
        return t->never;
    int verdict = t->engine->eval(t->engine->ctx, t->program, taint, NULL);
    if (verdict < 0)
        return MATCH_EXPRESSION_ERROR;
    return verdict ? MATCH_YES : MATCH_EXPRESSION_FALSE;
}

static enum match_code check_number(const struct match_toleration *t,
                                    const struct match_taint *taint) {
    if (!taint->is_number)
        return MATCH_TAINT_NO_NUMBER;
    if (t->op == MATCH__LT)
        return taint->number < t->number ? MATCH_YES : MATCH_NOT_LESS;
    return taint->number > t->number ? MATCH_YES : MATCH_NOT_GREATER;
}

static enum match_code check_version(const struct match_toleration *t,
                                     const struct match_taint *taint) {
    if (!taint->version)
        return MATCH_TAINT_NO_VERSION;
    int order = semver_cmp(taint->version, t->version);
    if (t->op == MATCH__SEMVER_LT)
        return order < 0 ? MATCH_YES : MATCH_NOT_LESS;
    if (t->op == MATCH__SEMVER_GT)
        return order > 0 ? MATCH_YES : MATCH_NOT_GREATER;
    return order == 0 ? MATCH_YES : MATCH_VERSIONS_DIFFER;
}

enum match_code match_toleration_check(const struct match_toleration *t,
                                       const struct match_taint *taint) {
    if (t->op == MATCH__EXPRESSION)
        return check_expression(t, taint);
    if (t->effect && t->effect != taint->effect)
        return MATCH_EFFECT_DIFFERS;
    if (t->key && t->key != taint->key)
        return MATCH_KEY_DIFFERS;
    switch (t->op) {
    case MATCH__EQUAL:
        return t->value == taint->value ? MATCH_YES : MATCH_VALUE_DIFFERS;
    case MATCH__EXISTS:
        return MATCH_YES;
    case MATCH__LT:
    case MATCH__GT:
        return check_number(t, taint);
    case MATCH__NEVER:
        return t->never;
    default:
        return check_version(t, taint);
    }
}
