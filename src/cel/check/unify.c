/*
 * Type variables: what they stand for, and which types go together. Upstream's rules, in its order.
 *
 * Follows github.com/google/cel-go checker, func internalIsAssignable, func isEqualOrLessSpecific,
 * func substitute.
 */
#include "cel/check/check_int.h"

#include <string.h>

static bool assignable(struct cel_subst *s, const struct cel_type *a, const struct cel_type *b);

const struct cel_type *cel__subst_fresh(struct cel_subst *s) {
    vec_push(&s->of, NULL);
    struct cel_type *t = arena_new(s->arena, struct cel_type);
    t->kind = CEL_T_PARAM;
    t->has_param = true;
    t->number = (uint32_t)s->of.n;
    return t;
}

static const struct cel_type *lookup(const struct cel_subst *s, const struct cel_type *t) {
    return t->kind == CEL_T_PARAM && t->number ? s->of.v[t->number - 1] : NULL;
}

static void assign(struct cel_subst *s, const struct cel_type *var, const struct cel_type *t) {
    uint32_t at = var->number - 1;
    vec_push(&s->trail, (struct cel_subst_undo){at, s->of.v[at]});
    s->of.v[at] = t;
}

static void undo(struct cel_subst *s, size_t mark) {
    while (s->trail.n > mark) {
        struct cel_subst_undo *u = &s->trail.v[--s->trail.n];
        s->of.v[u->at] = u->was;
    }
}

static bool is_dyn(const struct cel_type *t) {
    return t->kind == CEL_T_DYN || t->kind == CEL_T_ANY;
}

static bool is_equal_or_less_specific(const struct cel_type *a, const struct cel_type *b) {
    if (is_dyn(a) || a->kind == CEL_T_PARAM)
        return true;
    if (is_dyn(b) || b->kind == CEL_T_PARAM || a->kind != b->kind)
        return false;
    if (a->kind == CEL_T_TYPE)
        return true;
    if (a->kind != CEL_T_OPAQUE && a->kind != CEL_T_LIST && a->kind != CEL_T_MAP)
        return cel__type_equal(a, b);
    if (!str_eq(a->name, b->name) || a->param_count != b->param_count)
        return false;
    for (size_t i = 0; i < a->param_count; i++)
        if (!is_equal_or_less_specific(a->params[i], b->params[i]))
            return false;
    return true;
}

const struct cel_type *cel__most_general(const struct cel_type *a, const struct cel_type *b) {
    return is_equal_or_less_specific(a, b) ? a : b;
}

/* Does t mention the variable, directly or through what others stand for? */
static bool mentions(const struct cel_subst *s, const struct cel_type *t,
                     const struct cel_type *var) {
    if (cel__type_equal(t, var))
        return true;
    const struct cel_type *sub = lookup(s, t);
    if (sub)
        return mentions(s, sub, var);
    for (size_t i = 0; i < t->param_count; i++)
        if (mentions(s, t->params[i], var))
            return true;
    return false;
}

enum binding { NOT_BOUND, REFUSED, BOUND };

/* Lets the variable stand for t, if it can. */
static enum binding bind(struct cel_subst *s, const struct cel_type *t,
                         const struct cel_type *var) {
    if (cel__type_equal(t, var))
        return BOUND;
    const struct cel_type *sub = lookup(s, var);
    if (!sub) {
        if (mentions(s, t, var))
            return NOT_BOUND;
        assign(s, var, t);
        return BOUND;
    }
    if (cel__type_equal(t, sub))
        return BOUND;
    if (!assignable(s, t, sub))
        return REFUSED;
    const struct cel_type *general = cel__most_general(t, sub);
    if (!mentions(s, general, var))
        assign(s, var, general);
    return BOUND;
}

static bool takes_null(const struct cel_type *t) {
    return t->nullable || t->kind == CEL_T_NULL || t->kind == CEL_T_OPAQUE ||
           t->kind == CEL_T_OBJECT || t->kind == CEL_T_ANY || t->kind == CEL_T_DURATION ||
           t->kind == CEL_T_TIMESTAMP;
}

static bool assignable_params(struct cel_subst *s, const struct cel_type *a,
                              const struct cel_type *b) {
    if (!str_eq(a->name, b->name) || a->param_count != b->param_count)
        return false;
    for (size_t i = 0; i < a->param_count; i++)
        if (!assignable(s, a->params[i], b->params[i]))
            return false;
    return true;
}

static bool assignable(struct cel_subst *s, const struct cel_type *a, const struct cel_type *b) {
    if (b->kind == CEL_T_PARAM) {
        enum binding bound = bind(s, a, b);
        if (bound != NOT_BOUND)
            return bound == BOUND;
    }
    if (a->kind == CEL_T_PARAM)
        return bind(s, b, a) == BOUND;
    if (is_dyn(a) || is_dyn(b) || a->kind == CEL_T_ERROR || b->kind == CEL_T_ERROR)
        return true;
    if (a->kind == CEL_T_NULL)
        return takes_null(b);
    if (b->kind == CEL_T_NULL)
        return takes_null(a);
    if (a->kind != b->kind)
        return false;
    if (a->kind == CEL_T_TYPE)
        return true;
    if (a->kind == CEL_T_OPAQUE || a->kind == CEL_T_LIST || a->kind == CEL_T_MAP)
        return assignable_params(s, a, b);
    return str_eq(a->name, b->name);
}

bool cel__assignable(struct cel_subst *s, const struct cel_type *a, const struct cel_type *b) {
    return cel__assignable_all(s, &a, &b, 1);
}

bool cel__assignable_all(struct cel_subst *s, const struct cel_type *const *a,
                         const struct cel_type *const *b, uint32_t n) {
    size_t mark = s->trail.n;
    for (uint32_t i = 0; i < n; i++) {
        if (assignable(s, a[i], b[i]))
            continue;
        undo(s, mark);
        return false;
    }
    return true;
}

static const struct cel_type *with_params(struct arena *a, const struct cel_type *t,
                                          const struct cel_type *const params[CEL_TYPE_PARAMS]) {
    if (memcmp(params, t->params, sizeof t->params) == 0)
        return t;
    struct cel_type *copy = arena_copy(a, t, sizeof *copy);
    cel__type_set_params(copy, params);
    return copy;
}

const struct cel_type *cel__substitute(const struct cel_subst *s, const struct cel_type *t,
                                       bool free_to_dyn) {
    if (!t->has_param)
        return t;
    const struct cel_type *sub = lookup(s, t);
    if (sub)
        return cel__substitute(s, sub, free_to_dyn);
    if (t->kind == CEL_T_PARAM)
        return free_to_dyn ? cel__type(CEL_T_DYN) : t;
    const struct cel_type *params[CEL_TYPE_PARAMS] = {NULL};
    for (size_t i = 0; i < t->param_count; i++)
        params[i] = cel__substitute(s, t->params[i], free_to_dyn);
    return with_params(s->arena, t, params);
}

const struct cel_type *cel__instantiate(struct cel_subst *s, const struct cel_type *t,
                                        const struct cel_type *letters[26]) {
    if (!t->has_param)
        return t;
    if (t->kind == CEL_T_PARAM) {
        const struct cel_type **letter = &letters[t->name.p[0] - 'A'];
        if (!*letter)
            *letter = cel__subst_fresh(s);
        return *letter;
    }
    const struct cel_type *params[CEL_TYPE_PARAMS] = {NULL};
    for (size_t i = 0; i < t->param_count; i++)
        params[i] = cel__instantiate(s, t->params[i], letters);
    return with_params(s->arena, t, params);
}
