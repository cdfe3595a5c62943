/*
 * Kubernetes' validators: what is refused although its types are right.
 *
 * Follows github.com/google/cel-go cel, func ValidateDurationLiterals,
 * func ValidateTimestampLiterals, func ValidateRegexLiterals.
 * Follows github.com/google/cel-go cel, func ValidateHomogeneousAggregateLiterals.
 */
#include "base/limits.h"
#include "cel/kit/pattern_int.h"
#include "cel/kit/timestamp_int.h"
#include "cel/lib/strings_int.h"

static void report_mismatch(struct cel_ast *ast, const struct cel_expr *e,
                            const struct cel_type *want, const struct cel_type *got) {
    AUTO(buf_release) struct buf w = BUF_INIT(1U << 20);
    AUTO(buf_release) struct buf g = BUF_INIT(1U << 20);
    cel__type_show(&w, want);
    cel__type_show(&g, got);
    cel__issue(&ast->source, e->pos, "expected type '%.*s' but found '%.*s'", STR_ARG(buf_view(&w)),
               STR_ARG(buf_view(&g)));
}

/* The type of an element; of one behind a '?', what is in the optional. */
static const struct cel_type *elem_type(const struct cel_expr *e, bool optional) {
    return optional && e->type->param_count ? e->type->params[0] : e->type;
}

/* All elements have the type of the first. */
static void check_list(struct cel_ast *ast, const struct cel_expr *e) {
    const struct cel_type *first = NULL;
    for (uint32_t i = 0; i < e->count; i++) {
        const struct cel_type *t = elem_type(e->args[i], e->optional && e->optional[i]);
        if (!first) {
            first = t;
        } else if (!cel__type_equal(first, t)) {
            report_mismatch(ast, e->args[i], first, t);
            return;
        }
    }
}

static void check_map(struct cel_ast *ast, const struct cel_expr *e) {
    const struct cel_type *key = NULL, *value = NULL;
    for (uint32_t i = 0; i < e->count; i++) {
        const struct cel_item *item = &e->entries[i];
        const struct cel_type *k = item->key->type, *v = elem_type(item->value, item->optional);
        if (!key) {
            key = k;
            value = v;
            continue;
        }
        if (!cel__type_equal(key, k))
            report_mismatch(ast, item->key, key, k);
        if (!cel__type_equal(value, v))
            report_mismatch(ast, item->value, value, v);
    }
}

/* ---- literal arguments ---- */

static bool good_duration(struct cel_expr *literal, size_t *steps) {
    (void)steps;
    struct cel_value v = literal->literal;
    int64_t ns;
    return v.kind != CEL_NULL && (v.kind != CEL_STRING || cel__parse_duration(cel_str(v), &ns));
}

static bool good_timestamp(struct cel_expr *literal, size_t *steps) {
    (void)steps;
    struct cel_value v = literal->literal, t = {.i = v.i};
    if (v.kind == CEL_STRING && !cel__parse_timestamp(cel_str(v), &t))
        return false;
    return v.kind != CEL_NULL && t.i >= CEL_MIN_SECONDS && t.i <= CEL_MAX_SECONDS;
}

static bool good_pattern(struct cel_expr *literal, size_t *steps) {
    struct str pattern = cel_str(literal->literal);
    if (cel__pattern_plain(pattern))
        return true;
    AUTO(buf_release) struct buf error = BUF_INIT(4096);
    struct cel_regex *re = cel__regex_new(pattern, steps, &error);
    cel__regex_free(re);
    literal->compiles = re != NULL;
    return literal->compiles;
}

static const struct {
    const char *fn;
    bool (*good)(struct cel_expr *literal, size_t *steps);
} literals[] = {
    {"duration", good_duration}, {"timestamp", good_timestamp}, {"matches", good_pattern}};

/* Upstream looks at the first argument, which in the global form of matches is the text. */
static void check_literal_arg(struct cel_ast *ast, const struct cel_expr *e, size_t *steps) {
    if (e->count == 0 || e->args[0]->kind != CEL_E_LITERAL)
        return;
    for (size_t i = 0; i < sizeof literals / sizeof *literals; i++)
        if (str_is(e->name, literals[i].fn) && !literals[i].good(e->args[0], steps))
            cel__issue(&ast->source, e->args[0]->pos, "invalid %s argument", literals[i].fn);
}

/* ---- the walk ---- */

struct walk {
    struct cel_ast *ast;
    size_t steps;   /* that are left for patterns */
    bool in_format; /* literals inside a format call are exempt */
    VEC(const struct cel_expr *) formats;
};

static void visit(struct walk *w, struct cel_expr *e);

static void visit_call(struct walk *w, struct cel_expr *e) {
    bool outside = w->in_format, format = str_is(e->name, "format") && e->member;
    w->in_format |= format;
    if (e->operand)
        visit(w, e->operand);
    for (uint32_t i = 0; i < e->count; i++)
        visit(w, e->args[i]);
    w->in_format = outside;
    check_literal_arg(w->ast, e, &w->steps);
    if (format)
        vec_push(&w->formats, e);
}

static void visit_items(struct walk *w, struct cel_expr *e) {
    for (uint32_t i = 0; i < e->count; i++) {
        if (e->entries[i].key)
            visit(w, e->entries[i].key);
        visit(w, e->entries[i].value);
    }
}

static void visit_fold(struct walk *w, const struct cel_fold *f) {
    visit(w, f->range);
    visit(w, f->init);
    visit(w, f->cond);
    visit(w, f->step);
    visit(w, f->result);
}

/* What is inside comes first, and formats come last of all: of several errors at one place, the
 * first that was found is shown first. */
static void visit(struct walk *w, struct cel_expr *e) {
    switch ((enum cel_expr_kind)e->kind) {
    case CEL_E_SELECT:
        visit(w, e->operand);
        return;
    case CEL_E_CALL:
        visit_call(w, e);
        return;
    case CEL_E_LIST:
        for (uint32_t i = 0; i < e->count; i++)
            visit(w, e->args[i]);
        if (!w->in_format)
            check_list(w->ast, e);
        return;
    case CEL_E_MAP:
        visit_items(w, e);
        if (!w->in_format)
            check_map(w->ast, e);
        return;
    case CEL_E_STRUCT:
        visit_items(w, e);
        return;
    case CEL_E_FOLD:
        visit_fold(w, e->fold);
        return;
    case CEL_E_LITERAL:
    case CEL_E_IDENT:
    case CEL_E_ERROR:
        return;
    }
}

/* Here, and by the first evaluation that comes to it. */
enum { TIMES_COMPILED = 2 };

void cel__validate(struct cel_ast *ast) {
    struct walk w = {.ast = ast, .steps = LIMIT_CEL_REGEX_STEPS};
    visit(&w, ast->root);
    for (size_t i = 0; i < w.formats.n; i++)
        cel__format_check(ast, w.formats.v[i]);
    vec_release(&w.formats);
    *ast->pattern_steps += TIMES_COMPILED * (LIMIT_CEL_REGEX_STEPS - w.steps);
}
