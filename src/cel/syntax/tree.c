/* Nodes of the tree: made, and copied. */
#include <string.h>

#include "cel/syntax/parse_int.h"

struct cel_expr *cel__new_expr(struct arena *a, enum cel_expr_kind kind, uint32_t pos) {
    struct cel_expr *e = arena_new(a, struct cel_expr);
    e->kind = (uint8_t)kind;
    e->pos = pos;
    return e;
}

struct cel_expr *cel__new_literal(struct arena *a, uint32_t pos, struct cel_value v) {
    struct cel_expr *e = cel__new_expr(a, CEL_E_LITERAL, pos);
    e->literal = v;
    return e;
}

struct cel_expr *cel__new_ident(struct arena *a, uint32_t pos, struct str name) {
    struct cel_expr *e = cel__new_expr(a, CEL_E_IDENT, pos);
    e->name = name;
    return e;
}

struct cel_expr *cel__new_select(struct arena *a, uint32_t pos, struct cel_expr *operand,
                                 struct str field) {
    struct cel_expr *e = cel__new_expr(a, CEL_E_SELECT, pos);
    e->name = field;
    e->operand = operand;
    e->height = (uint16_t)(operand->height + 1);
    return e;
}

static struct cel_expr **copy_args(struct cel_expr *e, struct arena *a,
                                   struct cel_expr *const *args, uint32_t n) {
    for (uint32_t i = 0; i < n; i++)
        if (args[i]->height > e->height)
            e->height = args[i]->height;
    e->count = n;
    return arena_copy(a, args, n * sizeof *args);
}

struct cel_expr *cel__new_call(struct arena *a, uint32_t pos, struct str fn,
                               struct cel_expr *target, struct cel_expr *const *args, uint32_t n) {
    struct cel_expr *e = cel__new_expr(a, CEL_E_CALL, pos);
    e->name = fn;
    e->operand = target;
    e->member = target != NULL;
    if (target)
        e->height = target->height;
    e->args = copy_args(e, a, args, n);
    e->height = (uint16_t)(e->height + e->member);
    return e;
}

struct cel_expr *cel__new_list(struct arena *a, uint32_t pos, struct cel_expr *const *items,
                               uint32_t n) {
    struct cel_expr *e = cel__new_expr(a, CEL_E_LIST, pos);
    e->args = copy_args(e, a, items, n);
    return e;
}

struct cel_expr *cel__new_fold(struct arena *a, uint32_t pos, const struct cel_fold *fold) {
    struct cel_expr *e = cel__new_expr(a, CEL_E_FOLD, pos);
    e->fold = arena_copy(a, fold, sizeof *fold);
    return e;
}

static void walk_entries(struct cel_expr *e, void (*visit)(struct cel_expr *, void *), void *ctx) {
    for (uint32_t i = 0; i < e->count; i++) {
        if (e->entries[i].key)
            cel__walk(e->entries[i].key, visit, ctx);
        cel__walk(e->entries[i].value, visit, ctx);
    }
}

static void walk_fold(struct cel_fold *f, void (*visit)(struct cel_expr *, void *), void *ctx) {
    cel__walk(f->range, visit, ctx);
    cel__walk(f->init, visit, ctx);
    cel__walk(f->cond, visit, ctx);
    cel__walk(f->step, visit, ctx);
    cel__walk(f->result, visit, ctx);
}

void cel__walk(struct cel_expr *e, void (*visit)(struct cel_expr *, void *), void *ctx) {
    visit(e, ctx);
    if (e->kind == CEL_E_SELECT || (e->kind == CEL_E_CALL && e->operand))
        cel__walk(e->operand, visit, ctx);
    if (e->kind == CEL_E_CALL || e->kind == CEL_E_LIST)
        for (uint32_t i = 0; i < e->count; i++)
            cel__walk(e->args[i], visit, ctx);
    if (e->kind == CEL_E_MAP || e->kind == CEL_E_STRUCT)
        walk_entries(e, visit, ctx);
    if (e->kind == CEL_E_FOLD)
        walk_fold(e->fold, visit, ctx);
}

static void count_one(struct cel_expr *e, void *ctx) {
    (void)e;
    ++*(uint32_t *)ctx;
}

uint32_t cel__count(struct cel_expr *e) {
    uint32_t n = 0;
    cel__walk(e, count_one, &n);
    return n;
}

static void copy_children(struct arena *a, struct cel_expr *e, uint32_t pos) {
    if (e->kind == CEL_E_CALL || e->kind == CEL_E_LIST) {
        struct cel_expr **args = arena_copy(a, e->args, e->count * sizeof *e->args);
        for (uint32_t i = 0; i < e->count; i++)
            args[i] = cel__copy(a, args[i], pos);
        e->args = args;
    }
    if (e->kind == CEL_E_SELECT || (e->kind == CEL_E_CALL && e->operand))
        e->operand = cel__copy(a, e->operand, pos);
}

static void copy_entries(struct arena *a, struct cel_expr *e, uint32_t pos) {
    struct cel_item *items = arena_copy(a, e->entries, e->count * sizeof *items);
    for (uint32_t i = 0; i < e->count; i++) {
        items[i].key = items[i].key ? cel__copy(a, items[i].key, pos) : NULL;
        items[i].value = cel__copy(a, items[i].value, pos);
        items[i].pos = pos;
    }
    e->entries = items;
}

static void copy_fold(struct arena *a, struct cel_expr *e, uint32_t pos) {
    struct cel_fold *f = arena_copy(a, e->fold, sizeof *f);
    f->range = cel__copy(a, f->range, pos);
    f->init = cel__copy(a, f->init, pos);
    f->cond = cel__copy(a, f->cond, pos);
    f->step = cel__copy(a, f->step, pos);
    f->result = cel__copy(a, f->result, pos);
    e->fold = f;
}

struct cel_expr *cel__copy(struct arena *a, const struct cel_expr *from, uint32_t pos) {
    struct cel_expr *e = arena_copy(a, from, sizeof *from);
    switch (e->kind) {
    case CEL_E_SELECT:
    case CEL_E_CALL:
    case CEL_E_LIST:
        copy_children(a, e, pos);
        break;
    case CEL_E_MAP:
    case CEL_E_STRUCT:
        copy_entries(a, e, pos);
        break;
    case CEL_E_FOLD:
        copy_fold(a, e, pos);
        break;
    default:
        break;
    }
    return e;
}

/* The bytes of a qualified name; 0 when it is none. */
static size_t qualified_bytes(const struct cel_expr *e) {
    size_t n = 0;
    for (; e->kind == CEL_E_SELECT && !e->test_only; e = e->operand)
        n += e->name.n + 1;
    return e->kind == CEL_E_IDENT ? n + e->name.n : 0;
}

struct str cel__dotted_name(struct arena *a, struct str before, struct str name) {
    char *text = arena_alloc(a, before.n + 1 + name.n);
    memcpy(text, before.p, before.n);
    text[before.n] = '.';
    memcpy(text + before.n + 1, name.p, name.n);
    return (struct str){text, before.n + 1 + name.n};
}

struct str cel__qualified_name(struct arena *a, const struct cel_expr *e) {
    size_t n = qualified_bytes(e);
    if (n == 0 || e->kind == CEL_E_IDENT)
        return n ? e->name : (struct str){0};
    char *text = arena_alloc(a, n), *p = text + n;
    for (; e->kind == CEL_E_SELECT; e = e->operand) {
        p -= e->name.n;
        memcpy(p, e->name.p, e->name.n);
        *--p = '.';
    }
    memcpy(text, e->name.p, e->name.n);
    return (struct str){text, n};
}
