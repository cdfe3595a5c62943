/* Verdicts as sentences: what was compared with what, with the values that decided it. */
#include "base/goquote.h"
#include "base/limits.h"
#include "match/match_int.h"
#include "match/sentence.h"

/* A value as it is; between quotes when it is empty or a reader could mistake its bounds. */
static void write_value(struct buf *out, const struct atom *value) {
    struct str s = intern_text(value);
    bool plain = s.n > 0;
    for (size_t i = 0; i < s.n; i++)
        plain &= s.p[i] > ' ' && s.p[i] < 0x7f && s.p[i] != '"';
    if (plain)
        buf_add(out, s);
    else
        goquote_write(out, s);
}

/* A value that may be nobody's business. */
static void write_guarded(struct buf *out, const struct atom *value, bool redact) {
    if (redact)
        buf_add(out, STR("***"));
    else
        write_value(out, value);
}

/* What is compared, and whether values may be told. */
struct comparison {
    const struct atom *left, *right;
    bool redact;
};

/* "940 > 950 is false" */
static void write_comparison(struct buf *out, const struct comparison *c, const char *sign,
                             bool holds) {
    write_guarded(out, c->left, c->redact);
    buf_addf(out, " %s ", sign);
    write_guarded(out, c->right, c->redact);
    buf_add(out, holds ? STR(" is true") : STR(" is false"));
}

/* "x is not a number: why"; the reason quotes the value. */
static void write_not_a(struct buf *out, const char *what, const struct atom *value, bool redact,
                        int explain(const struct atom *, struct err *)) {
    struct err err = {0};
    explain(value, &err);
    write_guarded(out, value, redact);
    buf_addf(out, " is not a %s", what);
    if (!redact)
        buf_addf(out, ": %s", err.msg);
}

static void write_no_version(struct buf *out, const struct atom *value, bool redact) {
    write_not_a(out, "version", value, redact, intern_explain_version);
}

/* ---- taints and tolerations ---- */

static void write_taint(struct buf *out, const struct match_taint *taint, bool redact) {
    buf_add(out, intern_text(taint->key));
    if (taint->value->length) {
        buf_add_char(out, '=');
        buf_add(out, redact ? STR("***") : intern_text(taint->value));
        buf_add_char(out, ':');
    } else if (taint->effect->length) {
        buf_add_char(out, ':');
    }
    buf_add(out, intern_text(taint->effect));
}

void match_taint_write(struct buf *out, const struct match_taint *taint) {
    write_taint(out, taint, false);
}

void match_taint_write_redacted(struct buf *out, const struct match_taint *taint) {
    write_taint(out, taint, true);
}

/* "Gt 950" */
static void write_condition(struct buf *out, const struct match_toleration *t, bool redact) {
    if (t->expression) {
        buf_add(out, STR("expression"));
        return;
    }
    if (t->op_name->length)
        write_value(out, t->op_name);
    else
        buf_add(out, STR("Equal"));
    const struct match__operator *op = match__operator_find(intern_text(t->op_name));
    if (op && !op->sign)
        return;
    buf_add_char(out, ' ');
    write_guarded(out, t->value, redact);
}

static void write_expression_error(struct buf *out, const struct match_toleration *t,
                                   const struct match_taint *taint, bool redact) {
    struct err err = {0};
    size_t spent = 0;
    if (redact) {
        buf_add(out, t->program ? STR("it fails") : STR("it does not compile"));
        return;
    }
    if (t->program)
        match__toleration_eval(t, taint, &err);
    else
        t->engine->compile(t->engine->ctx, intern_text(t->expression), &spent, &err);
    buf_addf(out, "%s: %s", t->program ? "it fails" : "it does not compile", err.msg);
}

static void write_gate_off(struct buf *out, const struct match_toleration *t) {
    enum feature gate = t->expression ? FEATURE_TaintTolerationCEL
                                      : match__operator_find(intern_text(t->op_name))->gate;
    buf_add(out, STR("feature gate "));
    buf_add(out, feature_name(gate));
    buf_add(out, STR(" is off"));
}

static void write_yes(struct buf *out, const struct match_toleration *t,
                      const struct comparison *c) {
    const char *sign = t->expression ? NULL : match__operator_find(intern_text(t->op_name))->sign;
    if (sign)
        write_comparison(out, c, sign, true);
    else
        buf_add(out, t->expression ? STR("it is true") : STR("it matches"));
}

static void write_reason(struct buf *out, const struct match_verdict *v,
                         const struct match_toleration *t, const struct match_taint *taint) {
    const struct comparison c = {taint->value, t->value, v->redact};
    switch (v->code) {
    case MATCH_YES:
        write_yes(out, t, &c);
        break;
    case MATCH_EFFECT_DIFFERS:
        buf_add(out, STR("its effect is "));
        write_value(out, t->effect);
        break;
    case MATCH_KEY_DIFFERS:
        buf_add(out, STR("its key is "));
        write_value(out, t->key);
        break;
    case MATCH_VALUE_DIFFERS:
    case MATCH_VERSIONS_DIFFER:
        write_comparison(out, &c, "==", false);
        break;
    case MATCH_NOT_LESS:
        write_comparison(out, &c, "<", false);
        break;
    case MATCH_NOT_GREATER:
        write_comparison(out, &c, ">", false);
        break;
    case MATCH_TOLERATION_NO_NUMBER:
        write_not_a(out, "number", t->value, v->redact, intern_explain_decimal);
        break;
    case MATCH_TAINT_NO_NUMBER:
        write_not_a(out, "number", taint->value, v->redact, intern_explain_decimal);
        break;
    case MATCH_TOLERATION_NO_VERSION:
        write_no_version(out, t->value, v->redact);
        break;
    case MATCH_TAINT_NO_VERSION:
        write_no_version(out, taint->value, v->redact);
        break;
    case MATCH_GATE_OFF:
        write_gate_off(out, t);
        break;
    case MATCH_UNKNOWN_OPERATOR:
        buf_add(out, STR("there is no such operator"));
        break;
    case MATCH_EXPRESSION_FALSE:
        buf_add(out, STR("it is false"));
        break;
    case MATCH_EXPRESSION_ERROR:
        write_expression_error(out, t, taint, v->redact);
        break;
    case MATCH_NO_ENGINE:
        buf_add(out, STR("expressions are not evaluated here"));
        break;
    case MATCH_EXPRESSION_REFUSED:
        buf_addf(out,
                 "it is not evaluated: the expressions of a pod may take %u bytes together, each "
                 "counted as %u at least; join or shorten them",
                 LIMIT_TOLERATION_COMPILE_BYTES, LIMIT_TOLERATION_COMPILE_LEAST);
        break;
    }
}

void match_verdict_write(struct buf *out, const struct match_tolerations *tolerations,
                         const struct match_taints *taints, const struct match_verdict *v) {
    const struct match_toleration *t = &tolerations->v[v->toleration];
    const struct match_taint *taint = &taints->v[v->taint];
    buf_add(out, STR("taint "));
    write_taint(out, taint, v->redact);
    buf_addf(out, ": toleration #%u ", v->toleration);
    write_condition(out, t, v->redact);
    buf_add(out, STR(": "));
    write_reason(out, v, t, taint);
}

void match_verdict_write_condition(struct buf *out, const struct match_tolerations *tolerations,
                                   const struct match_taints *taints,
                                   const struct match_verdict *v) {
    const struct match_toleration *t = &tolerations->v[v->toleration];
    if (v->code != MATCH_EXPRESSION_FALSE || v->redact || !t->engine->find_false)
        return;
    buf_add(out, STR(": "));
    t->engine->find_false(t->engine->ctx, intern_text(t->expression), &taints->v[v->taint], out);
}

/* ---- nodes ---- */

/* What a sentence on a node is about; value is NULL when the node has no such label. */
struct node_operands {
    const struct match__requirement *r;
    const struct atom *value;
    bool redact;
};

/* "matchExpressions[1]" */
static void write_item(struct buf *out, struct str list, uint32_t place) {
    buf_add(out, list);
    buf_add_char(out, '[');
    buf_add_u64(out, place);
    buf_add_char(out, ']');
}

static void write_place(struct buf *out, const struct match_node_verdict *v) {
    if (v->part == MATCH_NODE_SELECTOR)
        buf_add(out, STR("nodeSelector"));
    else if (v->part == MATCH_NODE_REQUIRED)
        write_item(out, STR("nodeSelectorTerms"), v->term);
    else
        write_item(out, STR("preferred terms"), v->term);
}

/* "zone In [a, b]" */
static void write_requirement(struct buf *out, const struct match__requirement *r, bool redact) {
    write_value(out, r->key);
    buf_add_char(out, ' ');
    buf_add(out, match__node_op_name(r->op));
    bool is_set = r->op == MATCH__NODE_IN || r->op == MATCH__NODE_NOT_IN;
    buf_add(out, is_set ? STR(" [") : r->value_count ? STR(" ") : STR(""));
    for (uint32_t i = 0; i < r->value_count && !out->full; i++) {
        if (i > 0)
            buf_add(out, STR(", "));
        write_guarded(out, r->values[i], redact);
    }
    if (is_set)
        buf_add_char(out, ']');
}

/* A field that is not there reads as empty. */
static void write_found(struct buf *out, const struct node_operands *o) {
    if (o->value)
        write_guarded(out, o->value, o->redact);
    else
        buf_add(out, STR("\"\""));
}

static void write_node_reason(struct buf *out, enum match_node_code code,
                              const struct node_operands *o) {
    const struct comparison c = {o->value, o->r->value_count ? o->r->values[0] : NULL, o->redact};
    switch (code) {
    case MATCH_NODE_NO_LABEL:
        buf_add(out, STR("the node has no such label"));
        break;
    case MATCH_NODE_HAS_LABEL:
        buf_add(out, STR("the node has "));
        write_found(out, o);
        break;
    case MATCH_NODE_NOT_AMONG:
        write_found(out, o);
        buf_add(out, STR(" is not among them"));
        break;
    case MATCH_NODE_AMONG:
        write_found(out, o);
        buf_add(out, STR(" is among them"));
        break;
    case MATCH_NODE_NOT_LESS:
        write_comparison(out, &c, "<", false);
        break;
    case MATCH_NODE_NOT_GREATER:
        write_comparison(out, &c, ">", false);
        break;
    case MATCH_NODE_VERSIONS_DIFFER:
        write_comparison(out, &c, "==", false);
        break;
    case MATCH_NODE_NO_NUMBER:
        write_not_a(out, "number", o->value, o->redact, intern_explain_integer);
        break;
    default: /* the others are about terms */
        write_no_version(out, o->value, o->redact);
        break;
    }
}

/* What is said about a term or a list of terms as a whole; NULL for the other codes. */
static const char *term_reason(enum match_node_code code) {
    switch (code) {
    case MATCH_NODE_YES:
        return "the node matches";
    case MATCH_NODE_EMPTY_TERM:
        return "an empty term matches no node";
    case MATCH_NODE_INVALID_TERM:
        return "an invalid term matches no node";
    case MATCH_NODE_ZERO_WEIGHT:
        return "a term of weight 0 does not count";
    case MATCH_NODE_NO_TERMS:
        return "without terms no node matches";
    default:
        return NULL;
    }
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

static void write_requirement_verdict(struct buf *out, const struct match_affinity *a,
                                      const struct match_node *node,
                                      const struct match_node_verdict *v) {
    struct node_operands o = {.r = requirement_of(a, v), .redact = v->redact};
    o.value = !v->is_field ? match__node_label(node, o.r->key) : o.r->is_name ? node->name : NULL;
    if (v->part != MATCH_NODE_SELECTOR)
        write_item(out, v->is_field ? STR(".matchFields") : STR(".matchExpressions"),
                   v->requirement);
    buf_add(out, STR(": "));
    write_requirement(out, o.r, v->redact);
    buf_add(out, STR(": "));
    write_node_reason(out, v->code, &o);
}

void match_node_verdict_write(struct buf *out, const struct match_affinity *a,
                              const struct match_node *node, const struct match_node_verdict *v) {
    const char *about_term = term_reason(v->code);
    if (v->code == MATCH_NODE_NO_TERMS)
        buf_add(out, STR("nodeSelectorTerms"));
    else
        write_place(out, v);
    if (about_term)
        buf_addf(out, ": %s", about_term);
    else
        write_requirement_verdict(out, a, node, v);
}
