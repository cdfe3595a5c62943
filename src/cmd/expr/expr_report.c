/* What came of an expression, for people and for programs. */
#include <inttypes.h>

#include "api/types.h"
#include "base/limits.h"
#include "base/printable.h"
#include "cmd/expr/expr.h"
#include "codec/json.h"

/* The parts of an expression share what it may cost once more. */
static struct expr_outcome eval_part(const struct expr_report *r, const struct expr_part *part,
                                     const struct expr_taint *t, struct arena *a) {
    uint64_t evaluations = (uint64_t)t->count * r->parts->list.n;
    return expr_eval(&part->expr, t->taint, evaluations, a, r->clock);
}

/* How many parts are told of beside a report of this length; *omitted: how many are not. */
static size_t count_shown(const struct expr_report *r, const struct buf *out, size_t *omitted) {
    size_t n = r->parts && out->n < LIMIT_CEL_REPORT_BYTES ? r->parts->list.n : 0;
    *omitted = r->parts ? r->parts->list.n - n + r->parts->omitted : 0;
    return n;
}

/* ---- text ---- */

static void add_time(struct buf *out, int64_t ns) {
    static const struct {
        const char *name;
        int64_t ns;
    } units[] = {{"s", CLOCK_SECOND}, {"ms", 1000000}, {"\xc2\xb5s", 1000}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (ns >= units[i].ns || units[i].ns == 1000) {
            buf_addf(out, "%.1f %s", (double)ns / (double)units[i].ns, units[i].name);
            return;
        }
}

static void add_cost(struct buf *out, uint64_t cost) {
    if (cost == UINT64_MAX)
        buf_add(out, STR("unbounded"));
    else
        buf_add_u64(out, cost);
}

static void add_estimate(struct buf *out, struct cel_range cost) {
    buf_add(out, STR("estimated cost: "));
    add_cost(out, cost.min);
    if (cost.max != cost.min) {
        buf_add(out, STR(" to "));
        add_cost(out, cost.max);
    }
    buf_add_char(out, '\n');
}

static void text_node(void *ctx, const struct cel_part *n) {
    struct buf *out = ctx;
    buf_add_fill(out, ' ', 2 + 2 * (size_t)n->depth);
    buf_add(out, str_of(n->kind));
    if (n->name.n) {
        buf_add_char(out, ' ');
        printable_add(out, n->name);
    }
    if (n->type.n)
        buf_addf(out, ": %.*s", STR_ARG(n->type));
    buf_add_char(out, '\n');
}

static void add_outcome(struct buf *out, const struct expr_outcome *o) {
    buf_add(out, o->error.n ? STR(": error: ") : STR(": "));
    printable_add(out, o->error.n ? o->error : o->result);
}

static void text_parts(struct buf *out, const struct expr_report *r, const struct expr_taint *t) {
    size_t omitted, n = count_shown(r, out, &omitted);
    for (size_t i = 0; i < n; i++) {
        AUTO(arena_release) struct arena a = {0};
        const struct expr_part *part = &r->parts->list.v[i];
        struct expr_outcome o = eval_part(r, part, t, &a);
        buf_add_fill(out, ' ', 2 + 2 * (size_t)part->depth);
        printable_add(out, part->expr.text);
        add_outcome(out, &o);
        buf_add_char(out, '\n');
    }
    if (omitted)
        buf_addf(out, "  %zu further parts are not listed\n", omitted);
}

static void add_taint(struct buf *out, const struct expr_taint *t) {
    buf_add(out, t->node.n ? STR("node/") : STR(""));
    printable_add(out, t->node);
    buf_add(out, t->node.n ? STR(": taint ") : STR("taint "));
    printable_add(out, t->taint->key);
    buf_add(out, t->taint->value.n ? STR("=") : STR(""));
    printable_add(out, t->taint->value);
    buf_add_char(out, ':');
    printable_add(out, t->taint->effect);
}

static bool text_taint(struct buf *out, const struct expr_report *r, const struct expr_taint *t,
                       int64_t *ns) {
    AUTO(arena_release) struct arena a = {0};
    struct expr_outcome o = expr_eval(r->expr, t->taint, t->count, &a, r->clock);
    *ns += o.ns;
    add_taint(out, t);
    add_outcome(out, &o);
    buf_addf(out, " (cost %" PRIu64 ")\n", o.cost);
    text_parts(out, r, t);
    return o.holds;
}

static void text_check(struct buf *out, const struct expr_report *r) {
    const struct expr *e = r->expr;
    buf_addf(out, "type: %.*s\n", STR_ARG(e->type));
    add_estimate(out, e->cost);
    buf_add(out, STR("in a toleration: "));
    buf_addf(out, e->unusable.n ? "refused, %.*s\n" : "accepted%.*s\n", STR_ARG(e->unusable));
    if (r->ast) {
        AUTO(arena_release) struct arena a = {0};
        buf_add(out, STR("tree:\n"));
        cel_ast_visit(e->ast, &a, text_node, out);
    }
    if (e->plan_error.n) {
        buf_add(out, STR("error: "));
        printable_add(out, e->plan_error);
        buf_add_char(out, '\n');
    }
}

static void text_times(struct buf *out, const struct expr_report *r, int64_t eval_ns) {
    buf_add(out, STR("time: "));
    add_time(out, r->expr->compile_ns);
    buf_add(out, STR(" to compile"));
    if (r->taint_count && r->expr->program) {
        buf_add(out, STR(", "));
        add_time(out, eval_ns / (int64_t)r->taint_count);
        buf_add(out, STR(" for each taint"));
    }
    buf_add_char(out, '\n');
}

bool expr_report_write_text(struct buf *out, const struct expr_report *r) {
    bool good = r->expr->unusable.n == 0;
    int64_t ns = 0;
    if (r->expr->issues.n) {
        printable_add_lines(out, r->expr->issues);
        buf_add_char(out, '\n');
        return false;
    }
    text_check(out, r);
    for (size_t i = 0; r->expr->program && i < r->taint_count; i++)
        good &= text_taint(out, r, &r->taints[i], &ns);
    text_times(out, r, ns);
    return good;
}

/* ---- JSON ---- */

static void add_str(struct arena *a, struct json *to, const char *key, struct str value) {
    json_add(a, to, str_of(key), json_of_str(value));
}

static void add_u64(struct arena *a, struct json *to, const char *key, uint64_t v) {
    add_str(a, to, key, arena_printf(a, "%" PRIu64, v));
}

static void add_result(struct arena *a, struct json *to, const struct expr_outcome *o) {
    if (o->error.n) {
        add_str(a, to, "error", o->error);
    } else {
        add_str(a, to, "result", o->result);
        add_str(a, to, "resultType", o->type);
    }
    json_add(a, to, STR("cost"), json_of_u64(o->cost));
}

struct json_nodes {
    struct arena *arena;
    struct json list;
};

static void json_node(void *ctx, const struct cel_part *n) {
    struct json_nodes *to = ctx;
    struct json o = {.kind = JSON_OBJECT};
    json_add(to->arena, &o, STR("depth"), json_of_i64(n->depth));
    add_str(to->arena, &o, "kind", str_of(n->kind));
    add_str(to->arena, &o, "name", n->name);
    add_str(to->arena, &o, "type", n->type);
    json_append(to->arena, &to->list, o);
}

static struct json json_parts(struct arena *a, const struct expr_report *r,
                              const struct expr_taint *t, size_t n) {
    struct json list = {.kind = JSON_ARRAY};
    for (size_t i = 0; i < n; i++) {
        const struct expr_part *part = &r->parts->list.v[i];
        struct expr_outcome outcome = eval_part(r, part, t, a);
        struct json o = {.kind = JSON_OBJECT};
        json_add(a, &o, STR("depth"), json_of_i64(part->depth));
        add_str(a, &o, "expression", part->expr.text);
        add_result(a, &o, &outcome);
        json_append(a, &list, o);
    }
    return list;
}

static struct json json_taint(struct arena *a, const struct api_taint *t) {
    struct json o = {.kind = JSON_OBJECT};
    add_str(a, &o, "key", t->key);
    add_str(a, &o, "value", t->value);
    add_str(a, &o, "effect", t->effect);
    return o;
}

/* Makes the item that is printed behind `out`. */
static struct json json_item(struct arena *a, const struct buf *out, const struct expr_report *r,
                             const struct expr_taint *t, bool *good) {
    struct json item = {.kind = JSON_OBJECT};
    size_t omitted, shown = count_shown(r, out, &omitted);
    struct expr_outcome o = expr_eval(r->expr, t->taint, t->count, a, r->clock);
    *good &= o.holds;
    if (t->node.n)
        add_str(a, &item, "node", t->node);
    json_add(a, &item, STR("taint"), json_taint(a, t->taint));
    add_result(a, &item, &o);
    json_add(a, &item, STR("nanoseconds"), json_of_i64(o.ns));
    if (r->parts)
        json_add(a, &item, STR("parts"), json_parts(a, r, t, shown));
    if (omitted)
        json_add(a, &item, STR("partsOmitted"), json_of_u64(omitted));
    return item;
}

static void json_check(struct arena *a, struct json *to, const struct expr_report *r) {
    struct json cost = {.kind = JSON_OBJECT};
    add_u64(a, &cost, "min", r->expr->cost.min);
    add_u64(a, &cost, "max", r->expr->cost.max);
    add_str(a, to, "type", r->expr->type);
    json_add(a, to, STR("estimatedCost"), cost);
    if (r->expr->plan_error.n)
        add_str(a, to, "programError", r->expr->plan_error);
    if (r->ast) {
        struct json_nodes nodes = {a, {.kind = JSON_ARRAY}};
        cel_ast_visit(r->expr->ast, a, json_node, &nodes);
        json_add(a, to, STR("tree"), nodes.list);
    }
}

static struct json json_head(struct arena *a, const struct expr_report *r) {
    const struct expr *e = r->expr;
    struct json o = {.kind = JSON_OBJECT};
    add_str(a, &o, "apiVersion", STR("berth.dev/v1alpha1"));
    add_str(a, &o, "kind", STR("ExpressionReport"));
    add_str(a, &o, "expression", e->text);
    json_add(a, &o, STR("compileNanoseconds"), json_of_i64(e->compile_ns));
    if (e->unusable.n)
        add_str(a, &o, "refused", e->unusable);
    if (e->issues.n)
        add_str(a, &o, "issues", e->issues);
    else
        json_check(a, &o, r);
    return o;
}

bool expr_report_write_json(struct buf *out, const struct expr_report *r) {
    static const struct json_style style = {.raw_html = true};
    AUTO(arena_release) struct arena a = {0};
    bool good = r->expr->unusable.n == 0;
    struct json head = json_head(&a, r);
    json_write(out, &head, &style);
    out->n -= out->n > 0; /* its closing brace: there is more to come */
    buf_add(out, STR(",\"items\":["));
    for (size_t i = 0; r->expr->program && i < r->taint_count; i++) {
        arena_reset(&a);
        struct json item = json_item(&a, out, r, &r->taints[i], &good);
        buf_add(out, i == 0 ? STR("\n") : STR(",\n"));
        json_write(out, &item, &style);
    }
    buf_addf(out, "\n],\"good\":%s}\n", good ? "true" : "false");
    return good;
}
