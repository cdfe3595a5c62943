/* The operands of verdicts: which texts stand at the places that a verdict has. */
#include "match/match_int.h"
#include "match/sentence.h"

struct str match_code_name(enum match_code code) {
    static const struct str names[] = {
        [MATCH_YES] = STR_INIT("match"),
        [MATCH_EFFECT_DIFFERS] = STR_INIT("effect-differs"),
        [MATCH_KEY_DIFFERS] = STR_INIT("key-differs"),
        [MATCH_VALUE_DIFFERS] = STR_INIT("value-differs"),
        [MATCH_NOT_LESS] = STR_INIT("not-less"),
        [MATCH_NOT_GREATER] = STR_INIT("not-greater"),
        [MATCH_VERSIONS_DIFFER] = STR_INIT("versions-differ"),
        [MATCH_TOLERATION_NO_NUMBER] = STR_INIT("toleration-not-a-number"),
        [MATCH_TAINT_NO_NUMBER] = STR_INIT("taint-not-a-number"),
        [MATCH_TOLERATION_NO_VERSION] = STR_INIT("toleration-not-a-version"),
        [MATCH_TAINT_NO_VERSION] = STR_INIT("taint-not-a-version"),
        [MATCH_GATE_OFF] = STR_INIT("gate-off"),
        [MATCH_UNKNOWN_OPERATOR] = STR_INIT("unknown-operator"),
        [MATCH_EXPRESSION_FALSE] = STR_INIT("expression-false"),
        [MATCH_EXPRESSION_ERROR] = STR_INIT("expression-error"),
        [MATCH_EXPRESSION_INVALID] = STR_INIT("expression-error"),
        [MATCH_NO_ENGINE] = STR_INIT("expression-not-evaluated"),
        [MATCH_EXPRESSION_REFUSED] = STR_INIT("expression-refused"),
    };
    return names[code];
}

struct str match_node_code_name(enum match_node_code code) {
    static const struct str names[] = {
        [MATCH_NODE_YES] = STR_INIT("match"),
        [MATCH_NODE_NO_LABEL] = STR_INIT("no-label"),
        [MATCH_NODE_HAS_LABEL] = STR_INIT("has-label"),
        [MATCH_NODE_NOT_AMONG] = STR_INIT("not-among"),
        [MATCH_NODE_AMONG] = STR_INIT("among"),
        [MATCH_NODE_NOT_LESS] = STR_INIT("not-less"),
        [MATCH_NODE_NOT_GREATER] = STR_INIT("not-greater"),
        [MATCH_NODE_VERSIONS_DIFFER] = STR_INIT("versions-differ"),
        [MATCH_NODE_NO_NUMBER] = STR_INIT("label-not-a-number"),
        [MATCH_NODE_NO_VERSION] = STR_INIT("label-not-a-version"),
        [MATCH_NODE_GATE_OFF] = STR_INIT("gate-off"),
        [MATCH_NODE_EMPTY_TERM] = STR_INIT("empty-term"),
        [MATCH_NODE_INVALID_TERM] = STR_INIT("invalid-term"),
        [MATCH_NODE_ZERO_WEIGHT] = STR_INIT("zero-weight"),
        [MATCH_NODE_NO_TERMS] = STR_INIT("no-terms"),
    };
    return names[code];
}

/* ---- a toleration and a taint ---- */

typedef int explain_fn(const struct atom *value, struct err *err);

/* Why a text is no number, or no version. */
static struct str explain_value(const struct atom *value, explain_fn *explain, struct arena *a) {
    struct err err = {0};
    explain(value, &err);
    return arena_str(a, str_of(err.msg));
}

static struct str explain_expression(const struct match_toleration *t,
                                     const struct match_taint *taint, struct arena *a) {
    struct err err = {0};
    size_t spent = 0;
    if (t->program)
        match__toleration_eval(t, taint, &err);
    else
        t->engine->compile(t->engine->ctx, intern_text(t->expression), &spent, &err);
    return arena_str(a, str_of(err.msg));
}

static struct str gate_of(const struct match_toleration *t) {
    enum feature gate = t->expression ? FEATURE_TaintTolerationCEL
                                      : match__operator_find(intern_text(t->op_name))->gate;
    return feature_name(gate);
}

static struct str detail_of(enum match_code code, const struct match_toleration *t,
                            const struct match_taint *taint, struct arena *a) {
    switch (code) {
    case MATCH_EFFECT_DIFFERS:
        return intern_text(t->effect);
    case MATCH_KEY_DIFFERS:
        return intern_text(t->key);
    case MATCH_TOLERATION_NO_NUMBER:
        return explain_value(t->value, intern_explain_decimal, a);
    case MATCH_TAINT_NO_NUMBER:
        return explain_value(taint->value, intern_explain_decimal, a);
    case MATCH_TOLERATION_NO_VERSION:
        return explain_value(t->value, intern_explain_version, a);
    case MATCH_TAINT_NO_VERSION:
        return explain_value(taint->value, intern_explain_version, a);
    case MATCH_GATE_OFF:
        return gate_of(t);
    case MATCH_EXPRESSION_ERROR:
    case MATCH_EXPRESSION_INVALID:
        return explain_expression(t, taint, a);
    default: /* the code says all */
        return (struct str){0};
    }
}

/* Does the toleration's value count? It does for operators that nobody knows. */
static bool has_value(struct str operator) {
    const struct match__operator *op = match__operator_find(operator);
    return !op || op->sign;
}

static void set_condition(const struct match_toleration *t, struct match_operands *out) {
    if (t->expression)
        return;
    out->operator= t->op_name->length ? intern_text(t->op_name) : STR("Equal");
    if (has_value(intern_text(t->op_name)))
        out->wanted = intern_text(t->value);
}

void match_verdict_operands(const struct match_tolerations *tolerations,
                            const struct match_taints *taints, const struct match_verdict *v,
                            struct arena *a, struct match_operands *out) {
    const struct match_taint *taint = &taints->v[v->taint];
    *out = (struct match_operands){.code = v->code,
                                   .toleration = v->toleration,
                                   .key = intern_text(taint->key),
                                   .value = intern_text(taint->value),
                                   .effect = intern_text(taint->effect)};
    if (v->toleration == MATCH_NONE)
        return;
    const struct match_toleration *t = &tolerations->v[v->toleration];
    set_condition(t, out);
    out->detail = detail_of(v->code, t, taint, a);
}

void match_operands_find_condition(const struct match_tolerations *tolerations,
                                   const struct match_taints *taints, const struct match_verdict *v,
                                   struct arena *a, struct match_operands *out) {
    const struct match_toleration *t = &tolerations->v[v->toleration];
    if (v->code != MATCH_EXPRESSION_FALSE || !t->engine->find_false)
        return;
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    t->engine->find_false(t->engine->ctx, intern_text(t->expression), &taints->v[v->taint], &text);
    out->detail = arena_str(a, buf_view(&text));
}

/* ---- a requirement and a node ---- */

bool match_node_verdict_has_requirement(const struct match_node_verdict *v) {
    return v->code > MATCH_NODE_YES && v->code < MATCH_NODE_EMPTY_TERM;
}

static const struct match__requirement *requirement_of(const struct match_affinity *a,
                                                       const struct match_node_verdict *v) {
    if (v->part == MATCH_NODE_SELECTOR)
        return &a->selector.v[v->requirement];
    const struct match__terms *terms =
        v->part == MATCH_NODE_REQUIRED ? &a->required : &a->preferred;
    const struct match__term *term = &terms->v[v->term];
    return v->is_field ? &term->fields.v[v->requirement] : &term->expressions.v[v->requirement];
}

/* The node's value, or NULL. */
static const struct atom *value_of(const struct match__requirement *r,
                                   const struct match_node *node, bool is_field) {
    if (!is_field)
        return match__node_label(node, r->key);
    return r->is_name ? node->name : NULL;
}

void match_node_verdict_operands(const struct match_affinity *a, const struct match_node *node,
                                 const struct match_node_verdict *v, struct arena *arena,
                                 struct match_node_operands *out) {
    *out = (struct match_node_operands){.verdict = *v};
    if (!match_node_verdict_has_requirement(v))
        return;
    const struct match__requirement *r = requirement_of(a, v);
    const struct atom *value = value_of(r, node, v->is_field);
    out->key = intern_text(r->key);
    out->operator= match__node_op_name(r->op);
    if (value)
        out->value = intern_text(value);
    if (v->code == MATCH_NODE_NO_NUMBER)
        out->detail = explain_value(value, intern_explain_integer, arena);
    else if (v->code == MATCH_NODE_NO_VERSION)
        out->detail = explain_value(value, intern_explain_version, arena);
    else if (v->code == MATCH_NODE_GATE_OFF)
        out->detail = feature_name(match__node_op_gate(r->op));
}

struct match_values match_node_verdict_values(const struct match_affinity *a,
                                              const struct match_node_verdict *v, size_t most,
                                              struct arena *arena) {
    const struct match__requirement *r = requirement_of(a, v);
    size_t n = r->value_count < most ? r->value_count : most;
    struct str *values = arena_array(arena, struct str, n);
    for (size_t i = 0; i < n; i++)
        values[i] = intern_text(r->values[i]);
    return (struct match_values){values, n, r->value_count};
}
