/*
 * Evaluation: one small function per kind of node. What is charged, and when, follows upstream's
 * observer step by step; a cost above the limit sets `cancelled`, and whatever could go on for long
 * looks at it.
 *
 * Follows github.com/google/cel-go interpreter, func (*evalFold) Eval, func (*evalAnd) Eval,
 * func (*evalOr) Eval, func (*evalList) Eval, func CostObserver.
 */
#include "cel/run/plan_int.h"

#include <string.h>

#include "base/limits.h"

void cel__cancel(struct cel_eval *ev, struct cel_value reason) {
    if (ev->cancelled)
        return;
    ev->cancelled = true;
    ev->reason = reason;
}

void cel__charge_over(struct cel_eval *ev, uint64_t cost) {
    if (ev->cancelled)
        return;
    ev->cost = cel__add_sat(ev->cost, cost);
    if (ev->cost > ev->limit)
        cel__cancel(ev, CEL_FAIL("operation cancelled: actual cost limit exceeded"));
}

bool cel__work_over(struct cel_eval *ev) {
    ev->work = 0;
    cel__cancel(ev, CEL_FAIL("operation cancelled: too much work"));
    return false;
}

static bool is_error(struct cel_value v) {
    return v.kind == CEL_ERROR;
}

struct cel_value cel__eval_const(struct cel_eval *ev, const struct cel_node *n) {
    (void)ev;
    return ((const struct cel_const_node *)n)->value;
}

/* ---- logic ---- */

/* The decisive value wins over anything; otherwise the first error, or what is no bool. */
static struct cel_value eval_logic(struct cel_eval *ev, const struct cel_node *n, bool decisive) {
    const struct cel_pair_node *p = (const struct cel_pair_node *)n;
    struct cel_value a = cel__node_eval(ev, p->a);
    if (a.kind == CEL_BOOL && a.b == decisive)
        return a;
    if (ev->cancelled)
        return a;
    struct cel_value b = cel__node_eval(ev, p->b);
    if (b.kind == CEL_BOOL && b.b == decisive)
        return b;
    if (a.kind != CEL_BOOL)
        return is_error(a) ? a : CEL_NO_OVERLOAD;
    return b.kind == CEL_BOOL || is_error(b) ? b : CEL_NO_OVERLOAD;
}

struct cel_value cel__eval_and(struct cel_eval *ev, const struct cel_node *n) {
    return eval_logic(ev, n, false);
}

struct cel_value cel__eval_or(struct cel_eval *ev, const struct cel_node *n) {
    return eval_logic(ev, n, true);
}

struct cel_value cel__eval_not_false(struct cel_eval *ev, const struct cel_node *n) {
    struct cel_value v = cel__node_eval(ev, ((const struct cel_pair_node *)n)->a);
    cel__charge(ev, 1);
    return cel_of_bool(v.kind != CEL_BOOL || v.b);
}

/* ---- equality ---- */

/* Kinds whose n is a size. */
enum { SIZED = 1 << CEL_STRING | 1 << CEL_BYTES | 1 << CEL_LIST };

static uint64_t size_in_bytes(struct cel_value v) {
    while (v.kind == CEL_OPTIONAL && v.opt)
        v = *v.opt;
    return SIZED >> v.kind & 1 ? v.n : 0;
}

static bool count_sizes(struct cel_eval *ev, struct cel_value a, struct cel_value b) {
    return cel__work(ev, size_in_bytes(a) + size_in_bytes(b));
}

/* The characters of both are counted, and the cost is that of the shorter one. */
static inline uint64_t equality_cost(struct cel_eval *ev, struct cel_value a, struct cel_value b) {
    bool large = ((a.n | b.n) >= CEL_WORK_LARGE) | (a.kind == CEL_OPTIONAL);
    if (__builtin_expect(large, 0) && !count_sizes(ev, a, b))
        return 0;
    uint64_t n = cel__size_inside(a), m = cel__size_inside(b);
    return cel__scale(n < m ? n : m, 0.1);
}

/* Evaluates both sides; true when neither is an error. */
static bool eval_sides(struct cel_eval *ev, const struct cel_node *n, struct cel_value v[2]) {
    const struct cel_pair_node *p = (const struct cel_pair_node *)n;
    v[0] = cel__node_eval(ev, p->a);
    v[1] = cel__node_eval(ev, p->b);
    return !is_error(v[0]) && !is_error(v[1]);
}

struct cel_value cel__eval_eq(struct cel_eval *ev, const struct cel_node *n) {
    struct cel_value v[2];
    bool good = eval_sides(ev, n, v);
    cel__charge(ev, v[0].kind >= CEL_QUANTITY ? 1 : equality_cost(ev, v[0], v[1]));
    if (good)
        return cel__equal(ev, v[0], v[1]);
    return is_error(v[0]) ? v[0] : v[1];
}

struct cel_value cel__eval_ne(struct cel_eval *ev, const struct cel_node *n) {
    struct cel_value v[2];
    bool good = eval_sides(ev, n, v);
    cel__charge(ev, equality_cost(ev, v[0], v[1]));
    if (good)
        return cel_of_bool(!cel__is_equal(ev, v[0], v[1]));
    return is_error(v[0]) ? v[0] : v[1];
}

/* The key itself; upstream crashes on these, which ends the evaluation. */
static struct cel_value check_key(struct cel_eval *ev, struct cel_value key) {
    if (key.kind != CEL_BYTES && key.kind != CEL_SEMVER && key.kind != CEL_FORMAT)
        return key;
    struct cel_value crash = cel__error(
        ev, "internal error: runtime error: hash of unhashable type %s", cel__go_type(key));
    cel__cancel(ev, crash);
    return crash;
}

struct cel_value cel__eval_in_set(struct cel_eval *ev, const struct cel_node *n) {
    const struct cel_in_set_node *p = (const struct cel_in_set_node *)n;
    struct cel_value v = cel__node_eval(ev, p->a);
    v = is_error(v) ? v : check_key(ev, v);
    if (is_error(v))
        return v;
    if (v.kind >= CEL_QUANTITY)
        return cel_of_bool(false);
    return cel_of_bool(cel__map_get(ev, &p->set, v) != NULL);
}

/* ---- optionals ---- */

static struct cel_value eval_opt(struct cel_eval *ev, const struct cel_node *n, bool unwrap) {
    const struct cel_pair_node *p = (const struct cel_pair_node *)n;
    struct cel_value a = cel__node_eval(ev, p->a);
    if (is_error(a))
        return a;
    if (a.kind != CEL_OPTIONAL)
        return CEL_NO_OVERLOAD;
    if (!a.opt)
        return cel__node_eval(ev, p->b);
    return unwrap ? *a.opt : a;
}

struct cel_value cel__eval_opt_or(struct cel_eval *ev, const struct cel_node *n) {
    return eval_opt(ev, n, false);
}

struct cel_value cel__eval_opt_or_value(struct cel_eval *ev, const struct cel_node *n) {
    return eval_opt(ev, n, true);
}

/* ---- calls ---- */

static bool overload_accepts(const struct cel_overload *o, const struct cel_value *args) {
    for (uint32_t i = 0; i < o->count; i++) {
        if (!(o->kinds[i] >> args[i].kind & 1))
            return false;
        bool aggregate = args[i].kind == CEL_LIST || args[i].kind == CEL_MAP;
        if (aggregate && !cel__type_accepts(o->params[i], args[i]))
            return false;
    }
    return true;
}

const struct cel_overload *cel__dispatch(const struct cel_function *f, const struct cel_value *args,
                                         uint32_t n) {
    for (size_t i = 0; i < f->overloads.n; i++) {
        const struct cel_overload *o = f->overloads.v[i];
        bool any = o->fn->flags & CEL_FN_SINGLETON;
        if (o->count == n && (any || overload_accepts(o, args)))
            return o;
    }
    return NULL;
}

struct cel_value cel__call(struct cel_eval *ev, const struct cel_overload *o,
                           const struct cel_value *args, uint32_t n) {
    bool any = o->fn->flags & CEL_FN_SINGLETON || (o->fn->flags & CEL_FN_REGEX && ev->pattern);
    if (!o->fn->call || (!any && !overload_accepts(o, args)))
        return cel__no_such_overload(ev, o->fn->name, args, n);
    return o->fn->call(ev, args);
}

static struct cel_value call(struct cel_eval *ev, const struct cel_call_node *c,
                             const struct cel_value *args) {
    const struct cel_overload *o =
        c->overload ? c->overload : cel__dispatch(c->function, args, c->count);
    if (!o)
        return cel__no_such_overload(ev, c->function->name.p, args, c->count);
    ev->pattern = c->pattern;
    return cel__call(ev, o, args, c->count);
}

/* Large arguments can take long for a small cost, or for a cost that is known only when the time is
 * spent; both are asked before the call. A cost that depends on the result is then too low. */
static bool affordable(struct cel_eval *ev, const struct cel_call_node *c,
                       const struct cel_value *args) {
    static const struct cel_value no_result = {.kind = CEL_NULL};
    uint64_t n = 0;
    for (uint32_t i = 0; i < c->count; i++)
        n += SIZED >> args[i].kind & 1 ? args[i].n : 0;
    if (n < CEL_WORK_LARGE)
        return true;
    if (!cel__work(ev, n))
        return false;
    uint64_t cost = c->cost ? c->cost(ev, args, &no_result) : 1;
    if (cel__add_sat(ev->cost, cost) <= ev->limit || CEL_COST_CRASHES(cost))
        return true;
    cel__charge(ev, cost);
    return false;
}

/* Upstream's cost function takes the value for a list; it may lack all methods, or all behind Add.
 */
static void crash_no_list(struct cel_eval *ev, struct cel_value v) {
    static const bool adds[CEL_KINDS] = {
        [CEL_INT] = true,   [CEL_UINT] = true,     [CEL_DOUBLE] = true,    [CEL_STRING] = true,
        [CEL_BYTES] = true, [CEL_DURATION] = true, [CEL_TIMESTAMP] = true,
    };
    cel__cancel(ev, cel__error(ev,
                               "internal error: interface conversion: %s is not traits.Lister: "
                               "missing method %s",
                               cel__go_type(v), adds[v.kind] ? "Contains" : "Add"));
}

static void charge_call(struct cel_eval *ev, const struct cel_call_node *c,
                        const struct cel_value *args, const struct cel_value *result) {
    uint64_t cost = c->cost ? c->cost(ev, args, result) : 1;
    if (cost == CEL_COST_NO_LIST || cost == CEL_COST_NO_KEYS)
        crash_no_list(ev, args[cost == CEL_COST_NO_KEYS]);
    else if (cost == CEL_COST_NO_INT)
        cel__cancel(ev, cel__error(ev,
                                   "internal error: interface conversion: ref.Val is %s, not "
                                   "types.Int",
                                   cel__go_type(args[1])));
    else
        cel__charge(ev, cost);
}

static struct cel_value first_error(const struct cel_value *args) {
    while (!is_error(*args))
        args++;
    return *args;
}

/* All arguments are evaluated, and charged even when one is an error, unless the call stops. */
struct cel_value cel__eval_call(struct cel_eval *ev, const struct cel_node *n) {
    const struct cel_call_node *c = (const struct cel_call_node *)n;
    struct cel_value args[CEL_MAX_ARGS], result;
    uint32_t kinds = 0;
    for (uint32_t i = 0; i < c->count; i++) {
        args[i] = cel__node_eval(ev, c->args[i]);
        kinds |= 1U << args[i].kind;
        if (is_error(args[i]) && c->stops && i + 1 < c->count)
            return args[i];
    }
    if (ev->cancelled)
        return CEL_NO_OVERLOAD;
    if (kinds >> CEL_ERROR & 1)
        result = first_error(args);
    else if (kinds & SIZED && !affordable(ev, c, args))
        return CEL_NO_OVERLOAD;
    else
        result = call(ev, c, args);
    charge_call(ev, c, args, &result);
    return result;
}

/* ---- aggregates ---- */

/* What stands behind a '?': 1 a value, 0 none, -1 not an optional. */
static int unwrap(struct cel_value *v) {
    if (v->kind != CEL_OPTIONAL)
        return -1;
    if (!v->opt)
        return 0;
    *v = *v->opt;
    return 1;
}

static struct str plain(struct cel_eval *ev, struct cel_value v) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CEL_ERROR_BYTES);
    cel__write_plain(ev, &text, v);
    return arena_str(ev->arena, buf_view(&text));
}

static struct cel_value eval_list(struct cel_eval *ev, const struct cel_make_node *m) {
    struct cel_value *items = cel__alloc_values(ev, m->count);
    uint32_t n = 0;
    if (!items)
        return CEL_TOO_BIG;
    for (uint32_t i = 0; i < m->count; i++) {
        struct cel_value v = cel__node_eval(ev, m->values[i]);
        if (is_error(v))
            return v;
        if (m->optional && m->optional[i]) {
            int there = unwrap(&v);
            if (there < 0)
                return cel__error(
                    ev, "cannot initialize optional list element from non-optional value %.*s",
                    STR_ARG(plain(ev, v)));
            if (there == 0)
                continue;
        }
        items[n++] = v;
    }
    return cel__list(items, n);
}

struct cel_value cel__eval_list(struct cel_eval *ev, const struct cel_node *n) {
    struct cel_value v = eval_list(ev, (const struct cel_make_node *)n);
    cel__charge(ev, 10);
    return v;
}

static struct cel_value bad_optional(struct cel_eval *ev, struct str key, struct cel_value v) {
    return cel__error(ev, "cannot initialize optional entry '%.*s' from non-optional value %.*s",
                      STR_ARG(key), STR_ARG(plain(ev, v)));
}

static struct cel_value eval_map(struct cel_eval *ev, const struct cel_make_node *m) {
    struct cel_map_builder b = {.ev = ev};
    for (uint32_t i = 0; i < m->count; i++) {
        struct cel_value key = cel__node_eval(ev, m->keys[i]);
        if (is_error(key))
            return key;
        struct cel_value v = cel__node_eval(ev, m->values[i]);
        if (is_error(v))
            return v;
        key = check_key(ev, key);
        if (is_error(key))
            return key;
        int there = m->optional && m->optional[i] ? unwrap(&v) : 1;
        if (there < 0)
            return bad_optional(ev, plain(ev, key), v);
        if (there == 0)
            cel__map_remove(&b, key);
        else if (!cel__map_put(&b, key, v))
            return CEL_TOO_BIG;
    }
    return cel__map_done(&b);
}

struct cel_value cel__eval_map(struct cel_eval *ev, const struct cel_node *n) {
    struct cel_value v = eval_map(ev, (const struct cel_make_node *)n);
    cel__charge(ev, 30);
    return v;
}

static struct cel_value eval_message(struct cel_eval *ev, const struct cel_make_node *m) {
    struct cel_value *values = cel__alloc_values(ev, m->count);
    struct str *names = cel__alloc(ev, m->count * sizeof *names + 1);
    uint32_t n = 0;
    if (!values || !names)
        return CEL_TOO_BIG;
    for (uint32_t i = 0; i < m->count; i++) {
        struct cel_value v = cel__node_eval(ev, m->values[i]);
        if (is_error(v))
            return v;
        int there = m->optional && m->optional[i] ? unwrap(&v) : 1;
        if (there < 0)
            return bad_optional(ev, m->fields[i], v);
        if (there == 0)
            continue;
        names[n] = m->fields[i];
        values[n++] = v;
    }
    return cel__message(ev, m->type_name, names, values, n);
}

struct cel_value cel__eval_message(struct cel_eval *ev, const struct cel_node *n) {
    struct cel_value v = eval_message(ev, (const struct cel_make_node *)n);
    cel__charge(ev, 40);
    return v;
}

/* ---- comprehensions ---- */

/* One round: false when the loop is over. */
static bool fold_step(struct cel_eval *ev, const struct cel_fold_node *f) {
    struct cel_value go = cel__node_eval(ev, f->cond);
    if ((go.kind == CEL_BOOL && !go.b) || ev->cancelled)
        return false;
    struct cel_value accu = cel__node_eval(ev, f->step);
    ev->locals[f->slot] = accu;
    return !ev->cancelled;
}

static void fold_list(struct cel_eval *ev, const struct cel_fold_node *f, struct cel_value list) {
    for (uint32_t i = 0; i < list.n; i++) {
        ev->locals[f->slot + 1] = f->two ? cel_of_int(i) : list.items[i];
        if (f->two)
            ev->locals[f->slot + 2] = list.items[i];
        if (!fold_step(ev, f))
            return;
    }
}

static void fold_map(struct cel_eval *ev, const struct cel_fold_node *f,
                     const struct cel_map *map) {
    for (uint32_t i = 0; i < map->n; i++) {
        ev->locals[f->slot + 1] = map->entries[i].key;
        if (f->two)
            ev->locals[f->slot + 2] = map->entries[i].value;
        if (!fold_step(ev, f))
            return;
    }
}

const char *cel__go_type(struct cel_value v) {
    static const char *const names[CEL_KINDS] = {[CEL_ERROR] = "*types.Err",
                                                 [CEL_NULL] = "types.Null",
                                                 [CEL_BOOL] = "types.Bool",
                                                 [CEL_INT] = "types.Int",
                                                 [CEL_UINT] = "types.Uint",
                                                 [CEL_DOUBLE] = "types.Double",
                                                 [CEL_STRING] = "types.String",
                                                 [CEL_BYTES] = "types.Bytes",
                                                 [CEL_DURATION] = "types.Duration",
                                                 [CEL_TYPE] = "*types.Type",
                                                 [CEL_TIMESTAMP] = "types.Timestamp",
                                                 [CEL_LIST] = "*types.baseList",
                                                 [CEL_MAP] = "*types.baseMap",
                                                 [CEL_OPTIONAL] = "*types.Optional",
                                                 [CEL_QUANTITY] = "cel.Quantity",
                                                 [CEL_SEMVER] = "cel.Semver",
                                                 [CEL_URL] = "cel.URL",
                                                 [CEL_IP] = "cel.IP",
                                                 [CEL_CIDR] = "cel.CIDR",
                                                 [CEL_FORMAT] = "cel.Format"};
    if (v.kind == CEL_QUANTITY && v.flag)
        return "*cel.Quantity";
    if (v.kind == CEL_LIST && v.flag == CEL_CONCATENATED)
        return "*types.concatList";
    return names[v.kind] ? names[v.kind] : "types.Object";
}

struct cel_value cel__eval_fold(struct cel_eval *ev, const struct cel_node *n) {
    const struct cel_fold_node *f = (const struct cel_fold_node *)n;
    struct cel_value range = cel__node_eval(ev, f->range);
    if (is_error(range))
        return range;
    ev->locals[f->slot] = (struct cel_value){.kind = CEL_LAZY, .opaque = f};
    if (range.kind == CEL_LIST)
        fold_list(ev, f, range);
    else if (range.kind == CEL_MAP)
        fold_map(ev, f, range.map);
    else if (f->two)
        return cel__error(ev, "unsupported comprehension range type: %s", cel__go_type(range));
    else
        return cel__error(ev, "got '%s', expected iterable type", cel__go_type(range));
    struct cel_value result = cel__node_eval(ev, f->result);
    if (result.flag == CEL_ACCUMULATOR)
        result.flag = 0; /* it is anybody's now */
    return result;
}

/* Room for one item more behind an accumulator's n, which has room for the next power of two
 * from 4. */
static struct cel_value *grow_accu(struct cel_eval *ev, struct cel_value accu, uint32_t more) {
    uint32_t cap = 4;
    while (cap < accu.n)
        cap *= 2;
    bool own = accu.flag == CEL_ACCUMULATOR;
    if (own && accu.n + more <= cap)
        return accu.growing;
    while (cap < accu.n + more)
        cap *= 2;
    struct cel_value *items = cel__alloc_values(ev, cap);
    if (items && accu.n)
        memcpy(items, accu.items, accu.n * sizeof *items);
    return items;
}

/* accu + [item]: nobody else holds the accumulator, so it grows in place. */
struct cel_value cel__eval_accu_append(struct cel_eval *ev, const struct cel_node *n) {
    const struct cel_pair_node *p = (const struct cel_pair_node *)n;
    struct cel_value a = cel__node_eval(ev, p->a), b = cel__node_eval(ev, p->b);
    cel__charge(ev, 1);
    if (is_error(a))
        return a;
    if (is_error(b))
        return b;
    if (a.kind != CEL_LIST || b.kind != CEL_LIST)
        return CEL_NO_OVERLOAD;
    struct cel_value *items = grow_accu(ev, a, b.n);
    if (!items)
        return CEL_TOO_BIG;
    memcpy(items + a.n, b.items, b.n * sizeof *items);
    a.items = items;
    a.n += b.n;
    a.flag = CEL_ACCUMULATOR;
    return a;
}

/* ---- the whole ---- */

static uint64_t work_of(uint64_t limit) {
    return limit >= CEL_COST_LIMIT ? LIMIT_CEL_EVAL_WORK
                                   : limit * (LIMIT_CEL_EVAL_WORK / CEL_COST_LIMIT);
}

struct cel_result cel_eval(const struct cel_program *program, const struct cel_value *vars,
                           struct arena *a, uint64_t limit) {
    struct cel_value few[8], *locals = few;
    if (program->locals > sizeof few / sizeof *few)
        locals = arena_array(a, struct cel_value, program->locals);
    struct cel_eval ev = {.arena = a,
                          .limit = limit,
                          .work = work_of(limit),
                          .seed = program->env->seed,
                          .vars = vars,
                          .locals = locals};
    struct cel_value v = cel__node_eval(&ev, program->root);
    if (ev.cancelled)
        v = ev.reason;
    return (struct cel_result){v, ev.cost};
}
