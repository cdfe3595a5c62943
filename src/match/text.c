/* Operands as sentences: what was compared with what, with the values that decided it. */
#include "base/goquote.h"
#include "base/limits.h"
#include "match/match_int.h"
#include "match/sentence.h"

/* A value as it is; between quotes when it is empty or a reader could mistake its bounds. */
static void write_value(struct buf *out, struct str s) {
    bool plain = s.n > 0;
    for (size_t i = 0; i < s.n; i++)
        plain &= s.p[i] > ' ' && s.p[i] < 0x7f && s.p[i] != '"';
    if (plain)
        buf_add(out, s);
    else
        goquote_write(out, s);
}

/* A value that may be nobody's business. */
static void write_guarded(struct buf *out, struct str value, bool redact) {
    if (redact)
        buf_add(out, STR("***"));
    else
        write_value(out, value);
}

/* What is compared, and whether values may be told. */
struct comparison {
    struct str left, right;
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
static void write_not_a(struct buf *out, const char *what, struct str value, struct str why,
                        bool redact) {
    write_guarded(out, value, redact);
    buf_addf(out, " is not a %s", what);
    if (redact)
        return;
    buf_add(out, STR(": "));
    buf_add(out, why);
}

/* ---- taints and tolerations ---- */

/* "sla=940:NoSchedule", without what is empty */
static void write_taint(struct buf *out, const struct match_operands *o, bool redact) {
    buf_add(out, o->key);
    if (o->value.n) {
        buf_add_char(out, '=');
        buf_add(out, redact ? STR("***") : o->value);
        buf_add_char(out, ':');
    } else if (o->effect.n) {
        buf_add_char(out, ':');
    }
    buf_add(out, o->effect);
}

void match_taint_write(struct buf *out, const struct match_taint *taint) {
    const struct match_operands o = {.key = intern_text(taint->key),
                                     .value = intern_text(taint->value),
                                     .effect = intern_text(taint->effect)};
    write_taint(out, &o, false);
}

/* "Gt 950" */
static void write_condition(struct buf *out, const struct match_operands *o, bool redact) {
    if (!o->operator.p) {
        buf_add(out, STR("expression"));
        return;
    }
    write_value(out, o->operator);
    if (!o->wanted.p)
        return;
    buf_add_char(out, ' ');
    write_guarded(out, o->wanted, redact);
}

/* "it fails: why" */
static void write_failure(struct buf *out, struct str what, const struct match_operands *o,
                          bool redact) {
    buf_add(out, what);
    if (redact || !o->detail.n)
        return;
    buf_add(out, STR(": "));
    buf_add(out, o->detail);
}

static void write_yes(struct buf *out, const struct match_operands *o, const struct comparison *c) {
    const char *sign = o->operator.p ? match__operator_find(o->operator)->sign : NULL;
    if (sign)
        write_comparison(out, c, sign, true);
    else
        buf_add(out, o->operator.p ? STR("it matches") : STR("it is true"));
}

/* The sign between values of which the code says that it does not hold; NULL for other codes. */
static const char *sign_of(enum match_code code) {
    if (code == MATCH_NOT_LESS)
        return "<";
    if (code == MATCH_NOT_GREATER)
        return ">";
    return code == MATCH_VALUE_DIFFERS || code == MATCH_VERSIONS_DIFFER ? "==" : NULL;
}

static void write_reason(struct buf *out, const struct match_operands *o, bool redact) {
    const struct comparison c = {o->value, o->wanted, redact};
    switch (o->code) {
    case MATCH_YES:
        write_yes(out, o, &c);
        break;
    case MATCH_EFFECT_DIFFERS:
        buf_add(out, STR("its effect is "));
        write_value(out, o->detail);
        break;
    case MATCH_KEY_DIFFERS:
        buf_add(out, STR("its key is "));
        write_value(out, o->detail);
        break;
    case MATCH_VALUE_DIFFERS:
    case MATCH_VERSIONS_DIFFER:
    case MATCH_NOT_LESS:
    case MATCH_NOT_GREATER:
        write_comparison(out, &c, sign_of(o->code), false);
        break;
    case MATCH_TOLERATION_NO_NUMBER:
        write_not_a(out, "number", o->wanted, o->detail, redact);
        break;
    case MATCH_TAINT_NO_NUMBER:
        write_not_a(out, "number", o->value, o->detail, redact);
        break;
    case MATCH_TOLERATION_NO_VERSION:
        write_not_a(out, "version", o->wanted, o->detail, redact);
        break;
    case MATCH_TAINT_NO_VERSION:
        write_not_a(out, "version", o->value, o->detail, redact);
        break;
    case MATCH_GATE_OFF:
        buf_addf(out, "feature gate %.*s is off", STR_ARG(o->detail));
        break;
    case MATCH_UNKNOWN_OPERATOR:
        buf_add(out, STR("there is no such operator"));
        break;
    case MATCH_EXPRESSION_FALSE:
        write_failure(out, STR("it is false"), o, redact);
        break;
    case MATCH_EXPRESSION_ERROR:
        write_failure(out, STR("it fails"), o, redact);
        break;
    case MATCH_EXPRESSION_INVALID:
        write_failure(out, STR("it does not compile"), o, redact);
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

void match_operands_write(struct buf *out, const struct match_operands *o, bool redact) {
    buf_add(out, STR("taint "));
    write_taint(out, o, redact);
    if (o->toleration == MATCH_NONE) {
        buf_add(out, STR(": no toleration of its key and effect"));
        return;
    }
    buf_addf(out, ": toleration #%u ", o->toleration);
    write_condition(out, o, redact);
    buf_add(out, STR(": "));
    write_reason(out, o, redact);
}

void match_verdict_write(struct buf *out, const struct match_tolerations *tolerations,
                         const struct match_taints *taints, const struct match_verdict *v) {
    AUTO(arena_release) struct arena a = {0};
    struct match_operands o;
    match_verdict_operands(tolerations, taints, v, &a, &o);
    match_operands_write(out, &o, false);
}

/* ---- nodes ---- */

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
static void write_requirement(struct buf *out, const struct match_node_operands *o, bool redact) {
    const struct match_values *values = o->values;
    bool is_set = str_is(o->operator, "In") || str_is(o->operator, "NotIn");
    write_value(out, o->key);
    buf_add_char(out, ' ');
    buf_add(out, o->operator);
    buf_add(out, is_set ? STR(" [") : values->n ? STR(" ") : STR(""));
    for (size_t i = 0; i < values->n && !out->full; i++) {
        if (i > 0)
            buf_add(out, STR(", "));
        write_guarded(out, values->v[i], redact);
    }
    if (values->n < values->all)
        buf_addf(out, ", … and %zu more", values->all - values->n);
    if (is_set)
        buf_add_char(out, ']');
}

/* A field that is not there reads as empty. */
static void write_found(struct buf *out, const struct match_node_operands *o, bool redact) {
    if (o->value.p)
        write_guarded(out, o->value, redact);
    else
        buf_add(out, STR("\"\""));
}

static void write_node_reason(struct buf *out, const struct match_node_operands *o, bool redact) {
    const struct comparison c = {o->value, o->values->n ? o->values->v[0] : STR(""), redact};
    switch (o->verdict.code) {
    case MATCH_NODE_NO_LABEL:
        buf_add(out, STR("the node has no such label"));
        break;
    case MATCH_NODE_HAS_LABEL:
        buf_add(out, STR("the node has "));
        write_found(out, o, redact);
        break;
    case MATCH_NODE_NOT_AMONG:
        write_found(out, o, redact);
        buf_add(out, STR(" is not among them"));
        break;
    case MATCH_NODE_AMONG:
        write_found(out, o, redact);
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
        write_not_a(out, "number", o->value, o->detail, redact);
        break;
    case MATCH_NODE_GATE_OFF:
        buf_addf(out, "feature gate %.*s is off, and so the term matches no node",
                 STR_ARG(o->detail));
        break;
    default: /* the others are about terms */
        write_not_a(out, "version", o->value, o->detail, redact);
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

static void write_requirement_verdict(struct buf *out, const struct match_node_operands *o,
                                      bool redact) {
    const struct match_node_verdict *v = &o->verdict;
    if (v->part != MATCH_NODE_SELECTOR)
        write_item(out, v->is_field ? STR(".matchFields") : STR(".matchExpressions"),
                   v->requirement);
    buf_add(out, STR(": "));
    write_requirement(out, o, redact);
    buf_add(out, STR(": "));
    write_node_reason(out, o, redact);
}

void match_node_operands_write(struct buf *out, const struct match_node_operands *o, bool redact) {
    const char *about_term = term_reason(o->verdict.code);
    if (o->verdict.code == MATCH_NODE_NO_TERMS)
        buf_add(out, STR("nodeSelectorTerms"));
    else
        write_place(out, &o->verdict);
    if (about_term)
        buf_addf(out, ": %s", about_term);
    else
        write_requirement_verdict(out, o, redact);
}

void match_node_verdict_write(struct buf *out, const struct match_affinity *a,
                              const struct match_node *node, const struct match_node_verdict *v) {
    AUTO(arena_release) struct arena arena = {0};
    struct match_node_operands o;
    struct match_values values = {0};
    match_node_verdict_operands(a, node, v, &arena, &o);
    if (match_node_verdict_has_requirement(v))
        values = match_node_verdict_values(a, v, SIZE_MAX, &arena);
    o.values = &values;
    match_node_operands_write(out, &o, false);
}
