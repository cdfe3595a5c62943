/*
 * Templates at work; keys may be missing, as kubectl has it.
 *
 * Follows k8s.io/client-go util/jsonpath, func (*JSONPath) FindResults, func (*JSONPath)
 * PrintResults.
 */
#include "base/utf8.h"
#include "codec/jsonpath/jsonpath_int.h"

/* Ranges inside of ranges; what an error quotes of a value. */
enum { MOST_RANGES = 64, LONGEST_QUOTE = 128 };

struct run {
    const struct jsonpath *path;
    struct arena *a;
    unsigned begin, in, end; /* ranges that begin here, that we are in, that end here */
    size_t last_end;         /* place behind the last {end}; 0: there was none */
    void (*found)(void *ctx, const struct jsonpath_found *results);
    void *ctx;
};

static const struct json nothing = {.kind = JSON_NULL};

/* ---- lists of values ---- */

/* Values found so far, in the arena. */
struct values {
    const struct json **v;
    size_t n, cap;
};

static void push(struct run *r, struct values *to, const struct json *value) {
    if (to->n == to->cap) {
        size_t cap = to->cap ? 2 * to->cap : 8;
        const struct json **v = arena_array(r->a, const struct json *, cap);
        for (size_t i = 0; i < to->n; i++)
            v[i] = to->v[i];
        to->v = v;
        to->cap = cap;
    }
    to->v[to->n++] = value;
}

static const struct json *keep(struct run *r, struct json value) {
    struct json *kept = arena_new(r->a, struct json);
    *kept = value;
    return kept;
}

/* What is in an object, an array, or, as Go has it, in a text: the numbers of its bytes. */
static void push_children(struct run *r, struct values *to, const struct json *value) {
    for (uint32_t i = 0; value->kind == JSON_OBJECT && i < value->n; i++)
        push(r, to, &value->members[i].value);
    for (uint32_t i = 0; value->kind == JSON_ARRAY && i < value->n; i++)
        push(r, to, &value->items[i]);
    for (uint32_t i = 0; value->kind == JSON_STRING && i < value->n; i++)
        push(r, to, keep(r, json_of_i64((unsigned char)value->s[i])));
}

static const char *go_type(const struct json *v) {
    static const char *const names[] = {
        [JSON_NULL] = "<nil>",
        [JSON_BOOL] = "bool",
        [JSON_INT] = "int64",
        [JSON_UINT] = "uint64",
        [JSON_FLOAT] = "float64",
        [JSON_STRING] = "string",
        [JSON_ARRAY] = "[]interface {}",
        [JSON_OBJECT] = "map[string]interface {}",
    };
    return names[v->kind];
}

/* ---- kinds of nodes; what they give is in *out also after a failure, as upstream has it ---- */

static int walk_list(struct run *r, const struct jsonpath__list *list, struct values *values,
                     struct err *err);

static int walk_literal(struct run *r, const struct jsonpath__node *node, const struct values *in,
                        struct values *out, struct err *err) {
    (void)err;
    size_t count = node->is_text ? 1 : in->n;
    for (size_t i = 0; i < count; i++)
        push(r, out, &node->literal);
    return 0;
}

static int walk_field(struct run *r, const struct jsonpath__node *node, const struct values *in,
                      struct values *out, struct err *err) {
    (void)err;
    for (size_t i = 0; i < in->n; i++) {
        const struct json *member = json_get(in->v[i], node->text);
        if (member)
            push(r, out, member);
    }
    return 0;
}

static int walk_wildcard(struct run *r, const struct jsonpath__node *node, const struct values *in,
                         struct values *out, struct err *err) {
    (void)node, (void)err;
    for (size_t i = 0; i < in->n; i++)
        push_children(r, out, in->v[i]);
    return 0;
}

/* The value and all below it that have something in them. Trees are as deep as LIMIT_JSON_DEPTH. */
static void descend(struct run *r, const struct json *value, struct values *out) {
    struct values children = {0};
    if (value->kind == JSON_STRING && value->n)
        push(r, out, value);
    if (value->kind == JSON_STRING || value->kind < JSON_STRING)
        return;
    push_children(r, &children, value);
    if (children.n)
        push(r, out, value);
    for (size_t i = 0; i < children.n; i++)
        descend(r, children.v[i], out);
}

static int walk_recursive(struct run *r, const struct jsonpath__node *node, const struct values *in,
                          struct values *out, struct err *err) {
    (void)node, (void)err;
    for (size_t i = 0; i < in->n; i++)
        descend(r, in->v[i], out);
    return 0;
}

/* The range of the array that is meant: [*from, *to). */
static int find_range(const struct jsonpath__node *node, int64_t n, int64_t *from, int64_t *to,
                      struct err *err) {
    const struct jsonpath__bound *b = node->bounds;
    *from = b[0].is_known ? b[0].v : 0;
    *from += *from < 0 ? n : 0;
    *to = b[1].is_known ? b[1].v : n;
    *to += *to < 0 || (*to == 0 && b[1].is_derived) ? n : 0;
    if (*from == *to)
        return 0;
    if (*from >= n || *from < 0)
        return err_set(err, ERR_INVALID, "array index out of bounds: index %lld, length %lld",
                       (long long)*from, (long long)n);
    if (*to > n || *to < 0)
        return err_set(err, ERR_INVALID, "array index out of bounds: index %lld, length %lld",
                       (long long)(*to - 1), (long long)n);
    if (*from > *to)
        return err_set(err, ERR_INVALID, "starting index %lld is greater than ending index %lld",
                       (long long)*from, (long long)*to);
    return 0;
}

static int push_range(struct run *r, const struct jsonpath__node *node, const struct json *array,
                      struct values *out, struct err *err) {
    int64_t from, to, step = node->bounds[2].is_known ? node->bounds[2].v : 1;
    if (array->kind != JSON_ARRAY)
        return err_set(err, ERR_INVALID, "%s is not array or slice", go_type(array));
    if (find_range(node, array->n, &from, &to, err) < 0)
        return -1;
    if (from != to && step <= 0)
        return err_set(err, ERR_INVALID, "step must be > 0");
    for (int64_t i = from; i < to; i += step) {
        push(r, out, &array->items[i]);
        if (step > to - i)
            break;
    }
    return 0;
}

static int walk_array(struct run *r, const struct jsonpath__node *node, const struct values *in,
                      struct values *out, struct err *err) {
    for (size_t i = 0; i < in->n; i++)
        if (in->v[i]->kind != JSON_NULL && push_range(r, node, in->v[i], out, err) < 0) {
            *out = *in;
            return -1;
        }
    return 0;
}

static int walk_union(struct run *r, const struct jsonpath__node *node, const struct values *in,
                      struct values *out, struct err *err) {
    for (size_t i = 0; i < node->list_count; i++) {
        struct values part = *in;
        part.cap = 0; /* it is not ours to write to */
        if (walk_list(r, &node->lists[i], &part, err) < 0) {
            *out = *in;
            return -1;
        }
        for (size_t k = 0; k < part.n; k++)
            push(r, out, part.v[k]);
    }
    return 0;
}

/* ---- filters ---- */

enum order { ORDER_LESS, ORDER_EQUAL, ORDER_GREATER, ORDER_DIFFERS };

static enum order order_of(int difference) {
    return difference < 0 ? ORDER_LESS : difference > 0 ? ORDER_GREATER : ORDER_EQUAL;
}

static enum order compare_doubles(double a, double b) {
    return a < b ? ORDER_LESS : a > b ? ORDER_GREATER : ORDER_EQUAL;
}

/* Only what has the same basic type can be compared; booleans have no order. */
static int compare(const struct json *a, const struct json *b, enum order *out, struct err *err) {
    if (a->kind == JSON_NULL || b->kind == JSON_NULL || a->kind >= JSON_ARRAY ||
        b->kind >= JSON_ARRAY)
        return err_set(err, ERR_INVALID, "invalid type for comparison");
    if (a->kind != b->kind)
        return err_set(err, ERR_INVALID, "incompatible types for comparison");
    switch (a->kind) {
    case JSON_BOOL:
        *out = a->b == b->b ? ORDER_EQUAL : ORDER_DIFFERS;
        return 0;
    case JSON_INT:
        *out = a->i < b->i ? ORDER_LESS : order_of(a->i > b->i);
        return 0;
    case JSON_STRING:
        *out = order_of(str_cmp(json_str(a), json_str(b)));
        return 0;
    default:
        *out = compare_doubles(json_double(a), json_double(b));
        return 0;
    }
}

static const struct operator_row {
    const char *text;
    bool holds[ORDER_DIFFERS]; /* for less, equal, greater */
    bool is_order;
    bool if_differs;
} operators[] = {
    {"<", {true, false, false}, true, false},   {">", {false, false, true}, true, false},
    {"==", {false, true, false}, false, false}, {"!=", {true, false, true}, false, true},
    {"<=", {true, true, false}, true, false},   {">=", {false, true, true}, true, false},
};

static int judge(struct str operator, const struct json * left, const struct json *right,
                 bool *holds, struct err *err) {
    enum order order = ORDER_EQUAL;
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        const struct operator_row *row = &operators[i];
        if (!str_is(operator, row->text))
            continue;
        if (compare(left, right, &order, err) < 0)
            return -1;
        if (row->is_order && left->kind == JSON_BOOL)
            return err_set(err, ERR_INVALID, "invalid type for comparison");
        *holds = order == ORDER_DIFFERS ? row->if_differs : row->holds[order];
        return 0;
    }
    return err_set(err, ERR_INVALID, "unrecognized filter operator %.*s", STR_ARG(operator));
}

/* Does the item pass? A side that finds nothing lets nothing pass. */
static int passes(struct run *r, const struct jsonpath__node *node, const struct json *item,
                  bool *out, struct err *err) {
    struct values sides[2];
    struct err unused;
    *out = false;
    for (size_t i = 0; i < 2; i++) {
        sides[i] = (struct values){.n = 1, .v = arena_array(r->a, const struct json *, 1)};
        sides[i].v[0] = item;
        if (str_is(node->text, "exists")) {
            (void)walk_list(r, &node->lists[0], &sides[0], &unused);
            *out = sides[0].n > 0;
            return 0;
        }
        if (walk_list(r, &node->lists[i], &sides[i], err) < 0)
            return -1;
        if (sides[i].n == 0)
            return 0;
        if (sides[i].n > 1)
            return err_set(err, ERR_INVALID, "can only compare one element at a time");
    }
    return judge(node->text, sides[0].v[0], sides[1].v[0], out, err);
}

static void write_value(struct buf *out, const struct json *value) {
    if (value->kind == JSON_STRING)
        buf_add(out, json_str(value));
    else
        json_write(out, value, &(struct json_style){.sort_keys = true});
}

static int fail_filter(const struct json *value, struct err *err) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_QUOTE);
    write_value(&text, value);
    return err_set(err, ERR_INVALID, "%.*s is not array or slice and cannot be filtered",
                   STR_ARG(buf_view(&text)));
}

static int filter_items(struct run *r, const struct jsonpath__node *node, const struct json *array,
                        struct values *out, struct err *err) {
    bool does_pass;
    if (array->kind != JSON_ARRAY)
        return fail_filter(array, err);
    for (uint32_t i = 0; i < array->n; i++) {
        if (passes(r, node, &array->items[i], &does_pass, err) < 0)
            return -1;
        if (does_pass)
            push(r, out, &array->items[i]);
    }
    return 0;
}

static int walk_filter(struct run *r, const struct jsonpath__node *node, const struct values *in,
                       struct values *out, struct err *err) {
    for (size_t i = 0; i < in->n; i++)
        if (filter_items(r, node, in->v[i], out, err) < 0) {
            *out = *in;
            return -1;
        }
    return 0;
}

static int walk_word(struct run *r, const struct jsonpath__node *node, const struct values *in,
                     struct values *out, struct err *err) {
    if (str_is(node->text, "range")) {
        r->begin++;
        *out = *in;
        out->cap = 0;
        return 0;
    }
    if (!str_is(node->text, "end"))
        return err_set(err, ERR_INVALID, "unrecognized identifier %.*s", STR_ARG(node->text));
    if (!r->in)
        return err_set(err, ERR_INVALID, "not in range, nothing to end");
    r->end++;
    return 0;
}

/* ---- all of it ---- */

static int (*const walks[])(struct run *r, const struct jsonpath__node *node,
                            const struct values *in, struct values *out, struct err *err) = {
    [JSONPATH_LITERAL] = walk_literal,   [JSONPATH_FIELD] = walk_field,
    [JSONPATH_WILDCARD] = walk_wildcard, [JSONPATH_RECURSIVE] = walk_recursive,
    [JSONPATH_ARRAY] = walk_array,       [JSONPATH_UNION] = walk_union,
    [JSONPATH_FILTER] = walk_filter,     [JSONPATH_WORD] = walk_word,
};

/* Each node walks on from what the one before it found. Depth: see the parser. */
static int walk_list(struct run *r, const struct jsonpath__list *list, struct values *values,
                     struct err *err) {
    for (size_t i = 0; i < list->n; i++) {
        struct values out = {0};
        int rc = walks[list->v[i].kind](r, &list->v[i], values, &out, err);
        *values = out;
        if (rc < 0)
            return -1;
    }
    return 0;
}

static int walk(struct run *r, const struct jsonpath__node *node, const struct json *value,
                struct values *out, struct err *err) {
    struct values in = {.n = 1, .v = arena_array(r->a, const struct json *, 1)};
    in.v[0] = value;
    if (node->kind != JSONPATH_LIST)
        return walk_literal(r, node, &in, out, err);
    *out = in;
    return walk_list(r, node->lists, out, err);
}

static int run_from(struct run *r, size_t from, const struct json *value, bool is_shown,
                    struct err *err);

/* The nodes behind a range, once for each value; without one they are only skipped. */
static int run_range(struct run *r, size_t from, const struct values *values, bool is_shown,
                     struct err *err) {
    if (++r->in > MOST_RANGES)
        return err_set(err, ERR_INVALID, "ranges go more than %d deep", MOST_RANGES);
    for (size_t i = 0; i < values->n; i++)
        if (run_from(r, from, values->v[i], is_shown, err) < 0)
            return -1;
    if (!values->n && run_from(r, from, &nothing, false, err) < 0)
        return -1;
    r->in--;
    return 0;
}

static int run_from(struct run *r, size_t from, const struct json *value, bool is_shown,
                    struct err *err) {
    for (size_t i = from; i < r->path->root.n; i++) {
        struct values results = {0};
        if (walk(r, &r->path->root.v[i], value, &results, err) < 0)
            return -1;
        if (r->end > 0 && r->end <= r->in) {
            r->end--;
            r->last_end = i + 1;
            return 0;
        }
        if (r->begin > 0) {
            r->begin--;
            if (run_range(r, i + 1, &results, is_shown, err) < 0)
                return -1;
            if (r->last_end > i + 1)
                i = r->last_end - 1; /* go on behind the end of the range */
        } else if (is_shown) {
            r->found(r->ctx, &(struct jsonpath_found){results.v, results.n});
        }
    }
    return 0;
}

/* ---- what is found ---- */

static void write_results(void *ctx, const struct jsonpath_found *results) {
    struct buf *out = ctx;
    for (size_t i = 0; i < results->n; i++) {
        if (i)
            buf_add_char(out, ' ');
        write_value(out, results->v[i]);
    }
}

int jsonpath_write(const struct jsonpath *path, const struct json *value, struct arena *a,
                   struct buf *out, struct err *err) {
    struct run r = {.path = path, .a = a, .found = write_results, .ctx = out};
    return run_from(&r, 0, value, true, err);
}

struct collection {
    struct run *run;
    struct values values;
};

static void collect_results(void *ctx, const struct jsonpath_found *results) {
    struct collection *c = ctx;
    for (size_t i = 0; i < results->n; i++)
        push(c->run, &c->values, results->v[i]);
}

int jsonpath_find(const struct jsonpath *path, const struct json *value, struct arena *a,
                  struct jsonpath_found *out, struct err *err) {
    struct run r = {.path = path, .a = a, .found = collect_results};
    struct collection c = {.run = &r};
    r.ctx = &c;
    int rc = run_from(&r, 0, value, true, err);
    *out = (struct jsonpath_found){c.values.v, c.values.n};
    return rc;
}
