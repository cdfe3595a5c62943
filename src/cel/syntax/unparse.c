/*
 * A tree back to text that parses into the same tree. Macros are written as they were called;
 * parentheses stand only where they are needed.
 *
 * Follows github.com/google/cel-go parser, func Unparse, func (*unparser) visitCall,
 * func (*unparser) visitMaybeNested.
 */
#include "cel/syntax/ast_int.h"

#include "base/ascii.h"
#include "base/goquote.h"

/* Lower binds less. */
enum level { COND = 1, OR, AND, RELATION, SUM, PRODUCT, UNARY, MEMBER };

static const struct {
    const char *fn, *text;
    enum level level;
} binary[] = {
    {CEL_OP_OR, " || ", OR},       {CEL_OP_AND, " && ", AND},     {CEL_OP_LT, " < ", RELATION},
    {CEL_OP_LE, " <= ", RELATION}, {CEL_OP_GT, " > ", RELATION},  {CEL_OP_GE, " >= ", RELATION},
    {CEL_OP_EQ, " == ", RELATION}, {CEL_OP_NE, " != ", RELATION}, {CEL_OP_IN, " in ", RELATION},
    {CEL_OP_ADD, " + ", SUM},      {CEL_OP_SUB, " - ", SUM},      {CEL_OP_MUL, " * ", PRODUCT},
    {CEL_OP_DIV, " / ", PRODUCT},  {CEL_OP_MOD, " % ", PRODUCT},
};

enum { BINARY_COUNT = sizeof binary / sizeof *binary };

static size_t find_binary(const struct cel_expr *e) {
    size_t i = 0;
    while (i < BINARY_COUNT &&
           (e->kind != CEL_E_CALL || e->member || e->count != 2 || !str_is(e->name, binary[i].fn)))
        i++;
    return i;
}

static bool is_call(const struct cel_expr *e, const char *fn, uint32_t count) {
    return e->kind == CEL_E_CALL && !e->member && e->count == count && str_is(e->name, fn);
}

static bool is_unary(const struct cel_expr *e) {
    return is_call(e, CEL_OP_NOT, 1) || is_call(e, CEL_OP_NEG, 1);
}

static bool is_negative(const struct cel_expr *e) {
    if (e->kind != CEL_E_LITERAL)
        return false;
    return (e->literal.kind == CEL_INT && e->literal.i < 0) ||
           (e->literal.kind == CEL_DOUBLE && __builtin_signbit(e->literal.d));
}

static enum level level_of(const struct cel_expr *e) {
    if (e->macro)
        return MEMBER;
    if (is_call(e, CEL_OP_COND, 3))
        return COND;
    size_t i = find_binary(e);
    if (i < BINARY_COUNT)
        return binary[i].level;
    return is_unary(e) ? UNARY : MEMBER;
}

/* The expression, in parentheses when it binds less than its place asks for. */
static void write_at(struct buf *out, const struct cel_expr *e, enum level least) {
    bool parens = level_of(e) < least;
    buf_add(out, parens ? STR("(") : STR(""));
    cel__expr_write(out, e);
    buf_add(out, parens ? STR(")") : STR(""));
}

static void write_binary(struct buf *out, const struct cel_expr *e, size_t row) {
    enum level level = binary[row].level;
    bool chain = level == OR || level == AND;
    write_at(out, e->args[0], level);
    buf_add(out, str_of(binary[row].text));
    write_at(out, e->args[1], chain ? level : level + 1);
}

/* What the text of an expression begins with: a of a.b[0].c(). */
static const struct cel_expr *first_part(const struct cel_expr *e) {
    for (;;) {
        if (e->macro)
            e = e->macro;
        if (e->kind == CEL_E_SELECT || (e->kind == CEL_E_CALL && e->member))
            e = e->operand;
        else if (is_call(e, CEL_OP_INDEX, 2) || is_call(e, CEL_OP_OPT_INDEX, 2) ||
                 is_call(e, CEL_OP_OPT_SELECT, 2))
            e = e->args[0];
        else
            return e;
    }
}

/* A minus in front of a number would become a part of it, whatever is called on the number. */
static void write_unary(struct buf *out, const struct cel_expr *e) {
    const struct cel_expr *operand = e->args[0], *first = first_part(operand);
    bool number = first->kind == CEL_E_LITERAL && first->literal.kind != CEL_STRING;
    bool minus = str_is(e->name, CEL_OP_NEG);
    bool parens = level_of(operand) <= UNARY || is_negative(operand) || (minus && number);
    buf_add(out, minus ? STR("-") : STR("!"));
    buf_add(out, parens ? STR("(") : STR(""));
    cel__expr_write(out, operand);
    buf_add(out, parens ? STR(")") : STR(""));
}

/* ---- names ---- */

static bool is_plain_name(struct str s) {
    static const char *const tokens[] = {"in", "true", "false", "null"};
    for (size_t i = 0; i < 4; i++)
        if (str_is(s, tokens[i]))
            return false;
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i];
        bool letter = ascii_is_letter(c) || c == '_';
        if (!letter && (i == 0 || !ascii_is_digit(c)))
            return false;
    }
    return s.n > 0;
}

static void write_field(struct buf *out, struct str name) {
    struct str quote = is_plain_name(name) ? STR("") : STR("`");
    buf_add(out, quote);
    buf_add(out, name);
    buf_add(out, quote);
}

/* ---- the rest ---- */

static void write_list(struct buf *out, struct cel_expr *const *items, uint32_t n,
                       const bool *optional) {
    for (uint32_t i = 0; i < n; i++) {
        buf_add(out, i > 0 ? STR(", ") : STR(""));
        buf_add(out, optional && optional[i] ? STR("?") : STR(""));
        cel__expr_write(out, items[i]);
    }
}

static void write_items(struct buf *out, const struct cel_expr *e) {
    buf_add_char(out, '{');
    for (uint32_t i = 0; i < e->count; i++) {
        const struct cel_item *item = &e->entries[i];
        buf_add(out, i > 0 ? STR(", ") : STR(""));
        buf_add(out, item->optional ? STR("?") : STR(""));
        if (item->key)
            cel__expr_write(out, item->key);
        else
            write_field(out, item->field);
        buf_add(out, STR(": "));
        cel__expr_write(out, item->value);
    }
    buf_add_char(out, '}');
}

static void write_index(struct buf *out, const struct cel_expr *e, const char *open) {
    write_at(out, e->args[0], MEMBER);
    buf_add(out, str_of(open));
    cel__expr_write(out, e->args[1]);
    buf_add_char(out, ']');
}

static void write_call(struct buf *out, const struct cel_expr *e) {
    size_t row = find_binary(e);
    if (row < BINARY_COUNT) {
        write_binary(out, e, row);
    } else if (is_unary(e)) {
        write_unary(out, e);
    } else if (is_call(e, CEL_OP_COND, 3)) {
        write_at(out, e->args[0], OR);
        buf_add(out, STR(" ? "));
        write_at(out, e->args[1], OR);
        buf_add(out, STR(" : "));
        cel__expr_write(out, e->args[2]);
    } else if (is_call(e, CEL_OP_INDEX, 2)) {
        write_index(out, e, "[");
    } else if (is_call(e, CEL_OP_OPT_INDEX, 2)) {
        write_index(out, e, "[?");
    } else if (is_call(e, CEL_OP_OPT_SELECT, 2)) {
        write_at(out, e->args[0], MEMBER);
        buf_add(out, STR(".?"));
        write_field(out, cel_str(e->args[1]->literal));
    } else {
        if (e->member) {
            write_at(out, e->operand, MEMBER);
            buf_add_char(out, '.');
        }
        buf_add(out, e->name);
        buf_add_char(out, '(');
        write_list(out, e->args, e->count, NULL);
        buf_add_char(out, ')');
    }
}

void cel__expr_write(struct buf *out, const struct cel_expr *e) {
    if (e->macro) {
        write_call(out, e->macro);
        return;
    }
    switch ((enum cel_expr_kind)e->kind) {
    case CEL_E_LITERAL:
        cel_write(out, e->literal);
        return;
    case CEL_E_IDENT:
        buf_add(out, e->name);
        return;
    case CEL_E_SELECT:
        write_at(out, e->operand, MEMBER);
        buf_add_char(out, '.');
        write_field(out, e->name);
        return;
    case CEL_E_CALL:
        write_call(out, e);
        return;
    case CEL_E_LIST:
        buf_add_char(out, '[');
        write_list(out, e->args, e->count, e->optional);
        buf_add_char(out, ']');
        return;
    case CEL_E_STRUCT:
        buf_add(out, e->name);
        write_items(out, e);
        return;
    case CEL_E_MAP:
        write_items(out, e);
        return;
    case CEL_E_FOLD:
    case CEL_E_ERROR:
        buf_add(out, STR("<error>"));
    }
}

void cel_ast_write(struct buf *out, const struct cel_ast *ast) {
    cel__expr_write(out, ast->root);
}
