/*
 * One toleration against one taint.
 *
 * The order of the tests is upstream's, and part of the verdict: effect, key, then the operator. An
 * expression decides alone, before these. All operators are one comparison of ranks, and match a
 * range of them. What cannot match because of the toleration itself (an unknown operator, a gate
 * that is off, a threshold that is no number) is known when it is compiled.
 *
 * match_tolerates reads what is compiled; match_toleration_check, which says why not, compares
 * anew.
 *
 * Follows k8s.io/api core/v1, func (*Toleration) ToleratesTaint.
 */
#include "match/match_int.h"

static const struct {
    struct str name;
    enum match_effect bit;
} effects[] = {
    {STR_INIT("NoSchedule"), MATCH_NO_SCHEDULE},
    {STR_INIT("PreferNoSchedule"), MATCH_PREFER_NO_SCHEDULE},
    {STR_INIT("NoExecute"), MATCH_NO_EXECUTE},
};

static uint8_t effect_bit(const struct atom *name) {
    for (size_t i = 0; i < sizeof effects / sizeof *effects; i++)
        if (str_eq(intern_text(name), effects[i].name))
            return (uint8_t)effects[i].bit;
    return 0;
}

#define NUMERIC FEATURE_TaintTolerationComparisonOperators, MATCH_BY_NUMBER
#define SEMVER  FEATURE_TolerationAffinitySemverOperators, MATCH_BY_VERSION
#define TEXT    FEATURE_COUNT, MATCH_BY_TEXT
#define NOTHING FEATURE_COUNT, MATCH_BY_NOTHING

static const struct match__operator operators[] = {
    {STR_INIT(""), "==", TEXT, MATCH__SAME, MATCH_VALUE_DIFFERS},
    {STR_INIT("Equal"), "==", TEXT, MATCH__SAME, MATCH_VALUE_DIFFERS},
    {STR_INIT("Exists"), NULL, NOTHING, MATCH__SAME, MATCH_YES},
    {STR_INIT("Lt"), "<", NUMERIC, MATCH__LESS, MATCH_NOT_LESS},
    {STR_INIT("Gt"), ">", NUMERIC, MATCH__GREATER, MATCH_NOT_GREATER},
    {STR_INIT("SemverLt"), "<", SEMVER, MATCH__LESS, MATCH_NOT_LESS},
    {STR_INIT("SemverGt"), ">", SEMVER, MATCH__GREATER, MATCH_NOT_GREATER},
    {STR_INIT("SemverEq"), "==", SEMVER, MATCH__SAME, MATCH_VERSIONS_DIFFER},
};

/* When a value has no rank. */
static const struct {
    enum match_code toleration, taint;
} no_rank[MATCH_WAYS] = {
    [MATCH_BY_NUMBER] = {MATCH_TOLERATION_NO_NUMBER, MATCH_TAINT_NO_NUMBER},
    [MATCH_BY_VERSION] = {MATCH_TOLERATION_NO_VERSION, MATCH_TAINT_NO_VERSION},
};

const struct match__operator *match__operator_find(struct str name) {
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (str_eq(name, operators[i].name))
            return &operators[i];
    return NULL;
}

/* ---- compiling ---- */

/* Neither 0 nor the address of a program. */
#define RANK_OF_NOTHING UINT64_MAX

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
    case MATCH_BY_TEXT:
        *rank = value->id;
        return true;
    default:
        *rank = RANK_OF_NOTHING;
        return true;
    }
}

void match__taint_compile(const struct match *m, struct match_taint *taint) {
    taint->mark.key = taint->key->id;
    taint->mark.effect = effect_bit(taint->effect);
    bool versions = feature_enabled(&m->gates, FEATURE_TolerationAffinitySemverOperators);
    enum match_way end = versions ? MATCH_WAYS : MATCH_BY_VERSION;
    for (enum match_way way = MATCH_BY_NOTHING; way < end; way++)
        if (rank_value(taint->value, way, &taint->ranks[way]))
            taint->mark.ways |= (uint8_t)(1u << way);
}

/* Nothing matches, for this reason. */
static void reject(struct match_toleration *t, enum match_code why) {
    t->order = MATCH__NEVER;
    t->why_not = (uint8_t)why;
}

/* Until a range is set, nothing is in it, or on its edge. */
static void set_range(struct match_toleration *t, uint64_t first, uint64_t last) {
    t->range_way = t->way;
    t->low = first;
    t->span = last - first;
}

/* All taints are on the edge: each has this rank. */
static void ask_always(struct match_toleration *t) {
    t->edge = RANK_OF_NOTHING;
}

/* The ranks that surely match. On the edge are versions that begin alike. */
static void compile_range(struct match_toleration *t, uint64_t rank) {
    bool is_long = t->way == MATCH_BY_VERSION && rank & SEMVER_KEY_MORE;
    uint64_t same = is_long ? rank ^ SEMVER_KEY_MORE /* which no version has */ : rank;
    if (t->order == MATCH__LESS && rank > 0)
        set_range(t, 0, rank - 1);
    if (t->order == MATCH__SAME)
        set_range(t, same, same);
    if (t->order == MATCH__GREATER && rank < UINT64_MAX)
        set_range(t, rank + 1, UINT64_MAX);
    t->edge = is_long ? rank : t->low;
}

static void compile_mark(struct match_toleration *t) {
    t->want.ways = t->mask.ways = (uint8_t)(1u << t->way);
    if (t->key) {
        t->want.key = t->key->id;
        t->mask.key = UINT32_MAX;
    }
    if (t->effect) {
        t->want.effect = effect_bit(t->effect);
        t->mask.effect = UINT8_MAX;
    }
}

static void compile_operator(struct match *m, struct match_toleration *t) {
    const struct match__operator *op = match__operator_find(intern_text(t->op_name));
    uint64_t rank;
    if (!op) {
        reject(t, MATCH_UNKNOWN_OPERATOR);
    } else if (op->gate != FEATURE_COUNT && !feature_enabled(&m->gates, op->gate)) {
        reject(t, MATCH_GATE_OFF);
    } else if (!rank_value(t->value, op->way, &rank)) {
        reject(t, no_rank[op->way].toleration);
        match__log_toleration(m, t, no_rank[op->way].toleration, NULL);
    } else {
        t->way = (uint8_t)op->way;
        t->order = (int8_t)op->order;
        t->why_not = (uint8_t)op->why_not;
        compile_mark(t);
        if (t->effect && t->want.effect == 0) /* marks do not tell strange effects apart */
            ask_always(t);
        else
            compile_range(t, rank);
    }
}

static void compile_expression(struct match *m, struct match_toleration *t, size_t *spent) {
    if (!feature_enabled(&m->gates, FEATURE_TaintTolerationCEL)) {
        reject(t, MATCH_GATE_OFF);
    } else if (!m->engine) {
        reject(t, MATCH_NO_ENGINE);
    } else {
        struct err err;
        reject(t, MATCH_EXPRESSION_INVALID); /* unless it compiles */
        t->engine = m->engine;
        t->program = m->engine->compile(m->engine->ctx, intern_text(t->expression), spent, &err);
        if (t->program) {
            ask_always(t);
            return;
        }
        if (*spent == SIZE_MAX)
            reject(t, MATCH_EXPRESSION_REFUSED);
        match__log_toleration(m, t, t->why_not, &err);
    }
}

void match__toleration_compile(struct match *m, struct match_toleration *t, size_t *spent) {
    if (t->expression)
        compile_expression(m, t, spent);
    else
        compile_operator(m, t);
}

/* ---- matching ---- */

int match__toleration_eval(const struct match_toleration *t, const struct match_taint *taint,
                           struct err *err) {
    uint64_t evaluations = (uint64_t)t->expressions * taint->mark.taints;
    return t->engine->eval(t->engine->ctx, t->program, taint, evaluations, err);
}

static enum match_code check_expression(const struct match_toleration *t,
                                        const struct match_taint *taint) {
    if (!t->program)
        return t->why_not;
    int verdict = match__toleration_eval(t, taint, NULL);
    if (verdict < 0)
        return MATCH_EXPRESSION_ERROR;
    return verdict ? MATCH_YES : MATCH_EXPRESSION_FALSE;
}

int match__cmp_thresholds(const struct match_toleration *a, const struct match_toleration *b) {
    if (a->way == MATCH_BY_VERSION)
        return intern_version_cmp(a->value, b->value, 0);
    uint64_t x = 0, y = 0;
    (void)rank_value(a->value, a->way, &x);
    (void)rank_value(b->value, b->way, &y);
    return (x > y) - (x < y);
}

int match__cmp_values(const struct match_toleration *t, const struct match_taint *taint) {
    if (t->way == MATCH_BY_VERSION)
        return intern_version_cmp(taint->value, t->value, 0);
    uint64_t rank = taint->ranks[t->way], own = 0;
    (void)rank_value(t->value, t->way, &own);
    return (rank > own) - (rank < own);
}

enum match_code match_toleration_check(const struct match_toleration *t,
                                       const struct match_taint *taint) {
    if (t->expression)
        return check_expression(t, taint);
    if (t->effect && t->effect != taint->effect)
        return MATCH_EFFECT_DIFFERS;
    if (t->key && t->key != taint->key)
        return MATCH_KEY_DIFFERS;
    if (!(taint->mark.ways >> t->way & 1))
        return no_rank[t->way].taint;
    return match__cmp_values(t, taint) == t->order ? MATCH_YES : (enum match_code)t->why_not;
}

bool match__tolerates_edge(const struct match_toleration *t, const struct match_taint *taint) {
    if (t->range_way == MATCH_BY_VERSION) /* the first words of the keys are equal */
        return intern_version_cmp(taint->value, t->value, 1) == t->order;
    return match_toleration_check(t, taint) == MATCH_YES;
}
