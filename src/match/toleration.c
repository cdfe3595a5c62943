/*
 * One toleration against one taint.
 *
 * The order of the tests is upstream's, and part of the verdict: effect, key, then the operator. An
 * expression decides alone, before these. All operators are one comparison of ranks: what a
 * comparison comes to is the operator's row. What cannot match because of the toleration itself (an
 * unknown operator, a gate that is off, a threshold that is no number) is known when it is
 * compiled, and is then what every comparison comes to.
 */
#include <string.h>

#include "match/match_int.h"

/* What comes of it when the taint's value is less, the same, greater, or cannot be compared. */
#define SAME(not_same, none) \
    { not_same, MATCH_YES, not_same, none }
#define LESS(none) \
    { MATCH_YES, MATCH_NOT_LESS, MATCH_NOT_LESS, none }
#define GREATER(none) \
    { MATCH_NOT_GREATER, MATCH_NOT_GREATER, MATCH_YES, none }

#define NUMERIC FEATURE_TaintTolerationComparisonOperators, MATCH_BY_NUMBER
#define SEMVER  FEATURE_TolerationAffinitySemverOperators, MATCH_BY_VERSION
#define TEXT    FEATURE_COUNT, MATCH_BY_TEXT

static const struct match__operator operators[] = {
    {STR_INIT(""), "==", TEXT, SAME(MATCH_VALUE_DIFFERS, MATCH_VALUE_DIFFERS)},
    {STR_INIT("Equal"), "==", TEXT, SAME(MATCH_VALUE_DIFFERS, MATCH_VALUE_DIFFERS)},
    {STR_INIT("Exists"), NULL, TEXT, SAME(MATCH_YES, MATCH_YES)},
    {STR_INIT("Lt"), "<", NUMERIC, LESS(MATCH_TAINT_NO_NUMBER)},
    {STR_INIT("Gt"), ">", NUMERIC, GREATER(MATCH_TAINT_NO_NUMBER)},
    {STR_INIT("SemverLt"), "<", SEMVER, LESS(MATCH_TAINT_NO_VERSION)},
    {STR_INIT("SemverGt"), ">", SEMVER, GREATER(MATCH_TAINT_NO_VERSION)},
    {STR_INIT("SemverEq"), "==", SEMVER, SAME(MATCH_VERSIONS_DIFFER, MATCH_TAINT_NO_VERSION)},
};

const struct match__operator *match__operator_find(struct str name) {
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (str_eq(name, operators[i].name))
            return &operators[i];
    return NULL;
}

/* ---- compiling ---- */

/* The value's rank; false if it cannot be compared this way. */
static bool rank_value(struct atom *value, enum match_way way, uint64_t *rank) {
    int64_t number;
    switch (way) {
    case MATCH_BY_NUMBER:
        if (!intern_decimal(value, &number))
            return false;
        *rank = (uint64_t)number ^ UINT64_C(1) << 63; /* negative numbers come first */
        return true;
    case MATCH_BY_VERSION:
        return intern_version_word(value, rank);
    default:
        *rank = value->id;
        return true;
    }
}

void match__taint_compile(const struct match *m, struct match_taint *taint) {
    bool versions = feature_enabled(&m->gates, FEATURE_TolerationAffinitySemverOperators);
    enum match_way end = versions ? MATCH_WAYS : MATCH_BY_VERSION;
    for (enum match_way way = MATCH_BY_TEXT; way < end; way++)
        if (rank_value(taint->value, way, &taint->ranks[way]))
            taint->ways |= (uint8_t)(1u << way);
}

static void always(struct match_toleration *t, enum match_code why) {
    t->way = MATCH_BY_TEXT;
    memset(t->outcome, (int)why, sizeof t->outcome);
}

static void compile_expression(const struct match *m, struct match_toleration *t) {
    if (!feature_enabled(&m->gates, FEATURE_TaintTolerationCEL)) {
        always(t, MATCH_GATE_OFF);
    } else if (!m->engine) {
        always(t, MATCH_NO_ENGINE);
    } else {
        always(t, MATCH_EXPRESSION_ERROR); /* unless it compiles */
        t->engine = m->engine;
        t->program = m->engine->compile(m->engine->ctx, intern_text(t->expression), NULL);
    }
}

void match__toleration_compile(const struct match *m, struct match_toleration *t) {
    if (t->expression) {
        compile_expression(m, t);
        return;
    }
    const struct match__operator *op = match__operator_find(intern_text(t->op_name));
    if (!op) {
        always(t, MATCH_UNKNOWN_OPERATOR);
    } else if (op->gate != FEATURE_COUNT && !feature_enabled(&m->gates, op->gate)) {
        always(t, MATCH_GATE_OFF);
    } else if (!rank_value(t->value, op->way, &t->rank)) {
        always(t, op->way == MATCH_BY_NUMBER ? MATCH_TOLERATION_NO_NUMBER
                                             : MATCH_TOLERATION_NO_VERSION);
    } else {
        t->way = (uint8_t)op->way;
        memcpy(t->outcome, op->outcome, sizeof t->outcome);
    }
}

/* ---- matching ---- */

/* Kept apart: a call inside match_toleration_check would cost all operators saved registers. */
#define APART __attribute__((noinline))

APART static enum match_code check_expression(const struct match_toleration *t,
                                              const struct match_taint *taint) {
    if (!t->program)
        return t->outcome[0];
    int verdict = t->engine->eval(t->engine->ctx, t->program, taint, NULL);
    if (verdict < 0)
        return MATCH_EXPRESSION_ERROR;
    return verdict ? MATCH_YES : MATCH_EXPRESSION_FALSE;
}

/* Of versions that begin alike. */
APART static enum match_code check_long_version(const struct match_toleration *t,
                                                const struct match_taint *taint) {
    return t->outcome[1 + intern_version_cmp(taint->value, t->value, 1)];
}

enum match_code match_toleration_check(const struct match_toleration *t,
                                       const struct match_taint *taint) {
    if (t->expression)
        return check_expression(t, taint);
    if (t->effect && t->effect != taint->effect)
        return MATCH_EFFECT_DIFFERS;
    if (t->key && t->key != taint->key)
        return MATCH_KEY_DIFFERS;
    if (!(taint->ways >> t->way & 1))
        return t->outcome[3];
    uint64_t rank = taint->ranks[t->way];
    if (rank == t->rank && t->way == MATCH_BY_VERSION && rank & SEMVER_KEY_MORE)
        return check_long_version(t, taint);
    return t->outcome[1 + (rank > t->rank) - (rank < t->rank)];
}
