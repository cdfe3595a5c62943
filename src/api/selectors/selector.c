/*
 * Building, matching and printing of selectors; the two forms they come in are read elsewhere
 * (selector_parse.c, selector_spec.c).
 *
 * Follows k8s.io/apimachinery pkg/labels, func (*Requirement) Matches, func (*Requirement) String,
 * func NewRequirement.
 */
#include "api/selector.h"

#include <stdlib.h>
#include <string.h>

#include "api/selectors/selector_int.h"
#include "base/goquote.h"
#include "base/limits.h"
#include "codec/json.h"

/* With so many requirements for each label, labels look for theirs. */
enum { LONG_SELECTOR = 16 };

/* A row per operator: how it is printed and which values it takes. */
static const struct {
    struct str infix;          /* between key and values */
    bool is_set, is_threshold; /* values in parentheses; an integer as value */
    size_t least, most;        /* number of values */
    struct str wrong_count;    /* what upstream says about any other number */
} ops[] = {
#define SET \
    true, false, 1, SIZE_MAX, STR_INIT("for 'in', 'notin' operators, values set can't be empty")
#define EXACT false, false, 1, 1, STR_INIT("exact-match compatibility requires one single value")
#define THRESHOLD \
    false, true, 1, 1, STR_INIT("for 'Gt', 'Lt' operators, exactly one value is required")
#define NO_VALUES \
    false, false, 0, 0, STR_INIT("values set must be empty for exists and does not exist")
    [SELECTOR_IN] = {STR_INIT(" in "), SET},
    [SELECTOR_NOT_IN] = {STR_INIT(" notin "), SET},
    [SELECTOR_EQUALS] = {STR_INIT("="), EXACT},
    [SELECTOR_DOUBLE_EQUALS] = {STR_INIT("=="), EXACT},
    [SELECTOR_NOT_EQUALS] = {STR_INIT("!="), EXACT},
    [SELECTOR_GREATER_THAN] = {STR_INIT(">"), THRESHOLD},
    [SELECTOR_LESS_THAN] = {STR_INIT("<"), THRESHOLD},
    [SELECTOR_EXISTS] = {STR_INIT(""), NO_VALUES},
    [SELECTOR_DOES_NOT_EXIST] = {STR_INIT(""), NO_VALUES},
};

void selector_init(struct selector *sel, struct arena *a) {
    *sel = (struct selector){.arena = a};
}

void selector__add_invalid(struct buf *out, struct str name, const struct names_errs *errs) {
    buf_add(out, STR("Invalid value: "));
    goquote_write(out, name);
    buf_add(out, STR(": "));
    names_errs_join(out, errs, STR("; "));
}

int selector__fail(struct selector *sel, struct str text, struct err *err) {
    sel->error = arena_str(sel->arena, text);
    return err_set(err, ERR_INVALID, "%.*s", STR_ARG(text));
}

/* What is wrong with one requirement, as upstream lists it: `first`, or `[first, second]`. */
struct faults {
    struct buf *text; /* starts with the bracket, in case there will be a second one */
    size_t n;
};

/* Starts a fault at a child of the requirement's path. */
static struct buf *add_fault(struct faults *f, const struct selector *sel, struct str child) {
    buf_add(f->text, f->n++ ? STR(", ") : STR("["));
    if (sel->path.p) {
        buf_add(f->text, sel->path);
        buf_add_char(f->text, '.');
    }
    buf_add(f->text, child);
    return f->text;
}

static int report(struct selector *sel, const struct faults *f, struct err *err) {
    if (f->n > 1)
        buf_add_char(f->text, ']');
    struct str text = buf_view(f->text);
    return selector__fail(sel, f->n > 1 ? text : str_sub(text, 1, text.n), err);
}

static void check_key(struct faults *f, const struct selector *sel, struct str key) {
    struct names_errs errs = names_check_label_key(key);
    if (errs.n == 0)
        return;
    struct buf *out = add_fault(f, sel, STR("key: "));
    selector__add_invalid(out, key, &errs);
}

/* The values as Go's encoder prints a slice of strings. */
static void add_values_as_json(struct buf *out, const struct selector_req *req) {
    if (!req->values) {
        buf_add(out, STR("null"));
        return;
    }
    buf_add_char(out, '[');
    for (size_t i = 0; i < req->value_count && !out->full; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        json_write_str(out, req->values[i], false);
    }
    buf_add_char(out, ']');
}

static void check_count(struct faults *f, const struct selector *sel,
                        const struct selector_req *req) {
    size_t n = req->value_count;
    if (n >= ops[req->op].least && n <= ops[req->op].most)
        return;
    struct buf *out = add_fault(f, sel, STR("values: Invalid value: "));
    add_values_as_json(out, req);
    buf_add(out, STR(": "));
    buf_add(out, ops[req->op].wrong_count);
}

static void check_threshold(struct faults *f, const struct selector *sel,
                            struct selector_req *req) {
    if (!ops[req->op].is_threshold)
        return;
    for (size_t i = 0; i < req->value_count && !f->text->full; i++) {
        if (labels_value_to_i64(req->values[i], &req->threshold))
            continue;
        struct buf *out = add_fault(f, sel, STR("values"));
        buf_addf(out, "[%zu]: Invalid value: ", i);
        goquote_write(out, req->values[i]);
        buf_add(out, STR(": for 'Gt', 'Lt' operators, the value must be an integer"));
    }
}

static void check_values(struct faults *f, const struct selector *sel,
                         const struct selector_req *req) {
    for (size_t i = 0; i < req->value_count && !f->text->full; i++) {
        struct names_errs errs = names_check_label_value(req->values[i]);
        if (errs.n == 0)
            continue;
        struct buf *out = add_fault(f, sel, STR("values"));
        buf_addf(out, "[%zu][", i);
        buf_add(out, req->key);
        buf_add(out, STR("]: "));
        selector__add_invalid(out, req->values[i], &errs);
    }
}

static struct selector_req *add_req(struct selector *sel) {
    if (sel->n == sel->cap) {
        size_t cap = sel->cap ? sel->cap * 2 : 4;
        struct selector_req *reqs = arena_array(sel->arena, struct selector_req, cap);
        if (sel->n > 0)
            memcpy(reqs, sel->reqs, sel->n * sizeof *reqs);
        sel->reqs = reqs;
        sel->cap = cap;
    }
    return &sel->reqs[sel->n++];
}

int selector_require(struct selector *sel, struct str key, enum selector_op op,
                     const struct str *values, size_t value_count, struct err *err) {
    struct selector_req req = {key, op, (uint32_t)sel->n, values, value_count, 0};
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_SELECTOR_ERROR_BYTES);
    struct faults faults = {&text, 0};
    check_key(&faults, sel, key);
    check_count(&faults, sel, &req);
    check_threshold(&faults, sel, &req);
    check_values(&faults, sel, &req);
    if (faults.n > 0)
        return report(sel, &faults, err);
    struct str *sorted = arena_copy(sel->arena, values, size_mul(value_count, sizeof *values));
    if (value_count > 1)
        qsort(sorted, value_count, sizeof *sorted, str_cmp_qsort);
    req.values = sorted;
    *add_req(sel) = req;
    return 0;
}

/* Requirements on the same key stay as they were given. Upstream's sort promises no order among
 * them; in practice it is this one as long as there are no more than twelve requirements. */
static int by_key_then_order(const void *a, const void *b) {
    const struct selector_req *x = a, *y = b;
    int order = str_cmp(x->key, y->key);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* In the order of keys, then of all else that counts, then in the order that was given. */
static int by_all_then_order(const void *a, const void *b) {
    const struct selector_req *x = a, *y = b;
    int order = str_cmp(x->key, y->key);
    if (!order)
        order = (x->op > y->op) - (x->op < y->op);
    if (!order)
        order = (x->value_count > y->value_count) - (x->value_count < y->value_count);
    for (size_t i = 0; !order && i < x->value_count; i++)
        order = str_cmp(x->values[i], y->values[i]);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static bool are_same(const struct selector_req *x, const struct selector_req *y) {
    if (!str_eq(x->key, y->key) || x->op != y->op || x->value_count != y->value_count)
        return false;
    for (size_t i = 0; i < x->value_count; i++)
        if (!str_eq(x->values[i], y->values[i]))
            return false;
    return true;
}

static bool is_positive(const struct selector_req *req) {
    return req->op != SELECTOR_NOT_IN && req->op != SELECTOR_NOT_EQUALS &&
           req->op != SELECTOR_DOES_NOT_EXIST;
}

void selector_seal(struct selector *sel) {
    if (sel->n > 1)
        qsort(sel->reqs, sel->n, sizeof *sel->reqs, by_key_then_order);
    sel->positive = 0;
    for (size_t i = 0; i < sel->n; i++)
        sel->positive += is_positive(&sel->reqs[i]);
}

void selector_drop_repeated(struct selector *sel) {
    size_t n = 0;
    if (sel->n > 1)
        qsort(sel->reqs, sel->n, sizeof *sel->reqs, by_all_then_order);
    for (size_t i = 0; i < sel->n; i++)
        if (!n || !are_same(&sel->reqs[i], &sel->reqs[n - 1]))
            sel->reqs[n++] = sel->reqs[i];
    sel->n = n;
    selector_seal(sel);
}

static bool has_value(const struct selector_req *req, struct str value) {
    if (req->value_count == 1)
        return str_eq(req->values[0], value);
    return bsearch(&value, req->values, req->value_count, sizeof value, str_cmp_qsort);
}

/* How the label's number compares with the threshold: -1, 0, 1; 0 also when it is no number. */
static int compare_threshold(const struct selector_req *req, struct str value) {
    int64_t number;
    if (!labels_value_to_i64(value, &number))
        return 0;
    return (number > req->threshold) - (number < req->threshold);
}

/* label is the one with the requirement's key, or NULL. */
static bool is_satisfied(const struct selector_req *req, const struct label *label) {
    switch (req->op) {
    case SELECTOR_IN:
    case SELECTOR_EQUALS:
    case SELECTOR_DOUBLE_EQUALS:
        return label && has_value(req, label->value);
    case SELECTOR_NOT_IN:
    case SELECTOR_NOT_EQUALS:
        return !label || !has_value(req, label->value);
    case SELECTOR_GREATER_THAN:
        return label && compare_threshold(req, label->value) > 0;
    case SELECTOR_LESS_THAN:
        return label && compare_threshold(req, label->value) < 0;
    case SELECTOR_EXISTS:
        return label;
    case SELECTOR_DOES_NOT_EXIST:
        return !label;
    }
    BUG("unknown selector operator");
}

/* The first requirement whose key is not smaller. */
static size_t find_key(const struct selector *sel, struct str key) {
    size_t lo = 0, hi = sel->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (str_cmp(sel->reqs[mid].key, key) < 0)
            lo = mid + 1;
        else
            hi = mid;
    }
    return hi;
}

/* The same as below for a long selector and few labels: the requirements of each label are looked
 * up, and all others must be such that an absent label satisfies them. */
static bool matches_few(const struct selector *sel, const struct labels *labels) {
    size_t met = 0;
    for (size_t i = 0; i < labels->n; i++) {
        const struct label *l = &labels->v[i];
        for (size_t k = find_key(sel, l->key); k < sel->n && str_eq(sel->reqs[k].key, l->key);
             k++) {
            if (!is_satisfied(&sel->reqs[k], l))
                return false;
            met += is_positive(&sel->reqs[k]);
        }
    }
    return met == sel->positive;
}

bool selector_matches(const struct selector *sel, const struct labels *labels) {
    if (!sel || sel->error.p)
        return false;
    if (sel->n / LONG_SELECTOR > labels->n)
        return matches_few(sel, labels);
    size_t at = 0;
    for (size_t i = 0; i < sel->n; i++)
        if (!is_satisfied(&sel->reqs[i], labels_next(labels, &at, sel->reqs[i].key)))
            return false;
    return true;
}

static void write_req(struct buf *out, const struct selector_req *req) {
    if (req->op == SELECTOR_DOES_NOT_EXIST)
        buf_add_char(out, '!');
    buf_add(out, req->key);
    buf_add(out, ops[req->op].infix);
    if (ops[req->op].is_set)
        buf_add_char(out, '(');
    for (size_t i = 0; i < req->value_count; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        buf_add(out, req->values[i]);
    }
    if (ops[req->op].is_set)
        buf_add_char(out, ')');
}

void selector_write(struct buf *out, const struct selector *sel) {
    for (size_t i = 0; sel && i < sel->n; i++) {
        if (i > 0)
            buf_add_char(out, ',');
        write_req(out, &sel->reqs[i]);
    }
}
