/*
 * Expressions that mean something: the first byte chooses between text as it is and a grammar whose
 * choices the other bytes make. An evaluation gives the same value and cost each time, within the
 * estimate and the limits of cost and memory, and so does the program of the written form.
 */
#include "cel/syntax/ast_int.h"
#include "cel_fuzz.h"

/* ---- the grammar ---- */

/*
 * A row is a result's type and a text in which $ and the letter of a type stand for an expression,
 * @ for a new variable of an int (it ends with the row), and # for a variable that is in scope.
 * b bool, i int, u uint, d double, s string, y bytes, D duration, T timestamp, I list(int), S
 * list(string), M map(string, int), o optional(int), q quantity, v semver, p ip, c cidr, w url.
 * The first rows of a type end a branch that is deep enough: they have no $.
 */
static const struct {
    char type;
    const char *text;
} grammar[] = {
    {'b', "true"},
    {'b', "false"},
    {'b', "has(taint.value)"},
    {'b', "$b && $b"},
    {'b', "$b || $b"},
    {'b', "!$b"},
    {'b', "($b ? $b : $b)"},
    {'b', "$i == $i"},
    {'b', "$i < $i"},
    {'b', "$i <= $d"},
    {'b', "$u > $i"},
    {'b', "$u != $u"},
    {'b', "$d >= $d"},
    {'b', "$s == $s"},
    {'b', "$s < $s"},
    {'b', "$y == $y"},
    {'b', "$D < $D"},
    {'b', "$T >= $T"},
    {'b', "$I == $I"},
    {'b', "$M != $M"},
    {'b', "$o == $o"},
    {'b', "$q == $q"},
    {'b', "$v == $v"},
    {'b', "$i in $I"},
    {'b', "$s in $S"},
    {'b', "$s in $M"},
    {'b', "$s.contains($s)"},
    {'b', "$s.startsWith($s)"},
    {'b', "$s.endsWith($s)"},
    {'b', "$s.matches($s)"},
    {'b', "$s.matches('^[a-z./]*[0-9]?')"},
    {'b', "$I.all(@, $b)"},
    {'b', "$I.exists(@, $b)"},
    {'b', "$I.exists_one(@, $b)"},
    {'b', "$I.all(@, @, $b)"},
    {'b', "$M.exists(k, @, k == $s || $b)"},
    {'b', "$M.all(k, k < $s)"},
    {'b', "sets.contains($I, $I)"},
    {'b', "sets.equivalent($S, $S)"},
    {'b', "sets.intersects($I, $I)"},
    {'b', "$o.hasValue()"},
    {'b', "$I.isSorted()"},
    {'b', "isQuantity($s)"},
    {'b', "isSemver($s)"},
    {'b', "isIP($s)"},
    {'b', "isCIDR($s)"},
    {'b', "isURL($s)"},
    {'b', "$q.isGreaterThan($q)"},
    {'b', "$q.isInteger()"},
    {'b', "$v.isLessThan($v)"},
    {'b', "$c.containsIP($p)"},
    {'b', "$c.containsCIDR($c)"},
    {'b', "$p.isLoopback()"},
    {'b', "dyn($i) == dyn($s)"},
    {'b', "bool($s)"},
    {'b', "type($i) == type($u)"},
    {'b', "format.dns1123Label().validate($s).hasValue()"},
    {'b', "cel.bind(x, $i, x > $i)"},
    {'i', "0"},
    {'i', "#"},
    {'i', "-1"},
    {'i', "9223372036854775807"},
    {'i', "#"},
    {'i', "1000"},
    {'i', "$i + $i"},
    {'i', "$i - $i"},
    {'i', "$i * $i"},
    {'i', "$i / $i"},
    {'i', "$i % $i"},
    {'i', "-$i"},
    {'i', "($b ? $i : $i)"},
    {'i', "$I[$i]"},
    {'i', "$M[$s]"},
    {'i', "$M.a"},
    {'i', "$o.value()"},
    {'i', "$o.orValue($i)"},
    {'i', "size($s)"},
    {'i', "$I.size()"},
    {'i', "size($M)"},
    {'i', "size($y)"},
    {'i', "int($d)"},
    {'i', "int($u)"},
    {'i', "int($s)"},
    {'i', "int($T)"},
    {'i', "$I.sum()"},
    {'i', "$I.min()"},
    {'i', "$I.max()"},
    {'i', "$I.indexOf($i)"},
    {'i', "$s.indexOf($s, $i)"},
    {'i', "$s.lastIndexOf($s)"},
    {'i', "$q.asInteger()"},
    {'i', "$q.compareTo($q)"},
    {'i', "$v.major()"},
    {'i', "$p.family()"},
    {'i', "$c.prefixLength()"},
    {'i', "$T.getDayOfYear()"},
    {'i', "$T.getHours($s)"},
    {'i', "$D.getMilliseconds()"},
    {'i', "google.protobuf.Int32Value{value: dyn($u)}"},
    {'i', "google.protobuf.Int32Value{value: $i}"},
    {'u', "0u"},
    {'u', "18446744073709551615u"},
    {'u', "uint($i)"},
    {'u', "$u + $u"},
    {'u', "$u * $u"},
    {'u', "$u % $u"},
    {'d', "0.5"},
    {'d', "-1e300"},
    {'d', "double($i)"},
    {'d', "double($s)"},
    {'d', "$d * $d"},
    {'d', "$d / $d"},
    {'d', "-$d"},
    {'d', "$q.asApproximateFloat()"},
    {'d', "google.protobuf.FloatValue{value: $d}"},
    {'d', "google.protobuf.FloatValue{value: dyn($s)}"},
    {'s', "taint.key"},
    {'s', "taint.value"},
    {'s', "taint.effect"},
    {'s', "''"},
    {'s', "'a'"},
    {'s', "'\\u00e9/\\n'"},
    {'s', "'1.2.3-a'"},
    {'s', "'10.0.0.1'"},
    {'s', "'1Mi'"},
    {'s', "$s + $s"},
    {'s', "($b ? $s : $s)"},
    {'s', "string($i)"},
    {'s', "string($d)"},
    {'s', "string($T)"},
    {'s', "string($D)"},
    {'s', "string($y)"},
    {'s', "$S[$i]"},
    {'s', "$S.join($s)"},
    {'s', "$s.charAt($i)"},
    {'s', "$s.substring($i)"},
    {'s', "$s.substring($i, $i)"},
    {'s', "$s.replace($s, $s)"},
    {'s', "$s.replace($s, $s, $i)"},
    {'s', "$s.upperAscii()"},
    {'s', "$s.trim()"},
    {'s', "strings.quote($s)"},
    {'s', "$s.find($s)"},
    {'s', "'%s %d'.format([$s, $i])"},
    {'s', "'%.3f %e %x'.format([$d, $d, $y])"},
    {'s', "'%s'.format([$I])"},
    {'s', "$s.format([$i])"},
    {'s', "$w.getHostname()"},
    {'s', "string($p)"},
    {'y', "b''"},
    {'y', "b'\\xff\\x00a'"},
    {'y', "bytes($s)"},
    {'y', "$y + $y"},
    {'D', "duration('1h2m3.5s')"},
    {'D', "duration('-2562047h')"},
    {'D', "duration($s)"},
    {'D', "$D + $D"},
    {'D', "$T - $T"},
    {'D', "google.protobuf.Duration{seconds: $i, nanos: $i}"},
    {'T', "timestamp('2024-02-29T12:00:00.5Z')"},
    {'T', "timestamp('9999-12-31T23:59:59Z')"},
    {'T', "timestamp($i)"},
    {'T', "timestamp($s)"},
    {'T', "$T + $D"},
    {'T', "$T - $D"},
    {'T', "google.protobuf.Timestamp{seconds: $i, nanos: $i}"},
    {'I', "[]"},
    {'I', "[1, 2, 3]"},
    {'I', "[$i]"},
    {'I', "[$i, $i, #]"},
    {'I', "[?$o, $i]"},
    {'I', "$I + $I"},
    {'I', "$I.map(@, $i)"},
    {'I', "$I.map(@, $b, $i)"},
    {'I', "$I.filter(@, $b)"},
    {'I', "$I.transformList(@, @, $i)"},
    {'I', "$I.sort()"},
    {'I', "$I.sortBy(@, $i)"},
    {'I', "$I.reverse()"},
    {'I', "$I.distinct()"},
    {'I', "$I.slice($i, $i)"},
    {'I', "lists.range($i)"},
    {'I', "lists.range(12)"},
    {'I', "[$I, $I].flatten()"},
    {'I', "optional.unwrap([$o, $o])"},
    {'S', "['a', '']"},
    {'S', "[$s, $s]"},
    {'S', "$s.split($s)"},
    {'S', "$s.split($s, $i)"},
    {'S', "$s.findAll($s)"},
    {'S', "$s.findAll('[a-z]*', $i)"},
    {'S', "$I.map(@, $s)"},
    {'S', "$S + $S"},
    {'S', "$S.sort()"},
    {'S', "$S.distinct()"},
    {'M', "{'a': 1}"},
    {'M', "{$s: $i}"},
    {'M', "{$s: $i, ?$s: $o}"},
    {'M', "$M.transformMap(k, @, $i)"},
    {'M', "$I.transformMapEntry(@, @, {$s: $i})"},
    {'o', "optional.none()"},
    {'o', "optional.of($i)"},
    {'o', "optional.ofNonZeroValue($i)"},
    {'o', "$M.?a"},
    {'o', "$M[?$s]"},
    {'o', "$I[?$i]"},
    {'o', "$I.first()"},
    {'o', "$o.or($o)"},
    {'o', "$o.optMap(@, $i)"},
    {'o', "$o.optFlatMap(@, $o)"},
    {'q', "quantity('1.5Gi')"},
    {'q', "quantity('1e9223372036854775807')"},
    {'q', "quantity($s)"},
    {'q', "$q.add($q)"},
    {'q', "$q.sub($i)"},
    {'v', "semver('1.2.3')"},
    {'v', "semver($s)"},
    {'v', "semver($s, $b)"},
    {'p', "ip('::1')"},
    {'p', "ip($s)"},
    {'p', "$c.ip()"},
    {'c', "cidr('10.0.0.0/8')"},
    {'c', "cidr($s)"},
    {'c', "$c.masked()"},
    {'w', "url('https://user@[::1]:80/a/b?c=d&c=e')"},
    {'w', "url($s)"},
};

/* Less than an evaluation may cost, so that many inputs can be tried. */
enum { MOST_COST = 20000 };

/* Of an expression whose parts are tried, too. */
enum { MOST_NODES = 64 };

enum { ROWS = sizeof grammar / sizeof *grammar, MOST_DEPTH = 7, MOST_TEXT = 10 << 10 };

struct gen {
    const uint8_t *p, *end;
    struct buf out;
    unsigned vars;
    unsigned depth;
};

static unsigned take(struct gen *g) {
    return g->p < g->end ? *g->p++ : 0;
}

static bool is_leaf(const char *text) {
    for (; *text; text++)
        if (*text == '$')
            return false;
    return true;
}

/* The row that the next byte chooses among those of a type. */
static const char *choose(struct gen *g, char type) {
    size_t first = 0, n = 0;
    bool end = g->depth > MOST_DEPTH || g->out.n > MOST_TEXT || g->p == g->end;
    while (grammar[first].type != type)
        first++;
    while (first + n < ROWS && grammar[first + n].type == type &&
           (!end || is_leaf(grammar[first + n].text)))
        n++;
    return grammar[first + take(g) % n].text;
}

static void add_variable(struct gen *g) {
    if (g->vars == 0)
        buf_add(&g->out, STR("7"));
    else
        buf_addf(&g->out, "x%u", take(g) % g->vars);
}

static void generate(struct gen *g, char type) {
    unsigned vars = g->vars;
    g->depth++;
    for (const char *t = choose(g, type); *t; t++) {
        if (*t == '$') {
            bool plain = type == 's' || t[1] == type;
            buf_add(&g->out, plain ? STR("(") : STR(""));
            generate(g, *++t);
            buf_add(&g->out, plain ? STR(")") : STR(""));
        } else if (*t == '@') {
            buf_addf(&g->out, "x%u", g->vars++);
        } else if (*t == '#') {
            add_variable(g);
        } else {
            buf_add_char(&g->out, *t);
        }
    }
    g->depth--;
    g->vars = vars;
}

/* ---- what it may cost ---- */

/*
 * The cost of an evaluation stays within the estimate, but where upstream's own does not. By
 * function: the estimate takes the result of flatten to be no longer than its argument, that of
 * split and findAll no longer than its text (an empty one has one part), the text of validate to be
 * one character shorter than the cost does, the elements of distinct not to be texts, and the
 * fields of dyn to be free; then the parts of the expression are compared instead. By node: a
 * selection or index whose operand is not a name costs one more than estimated, each time.
 */
static const char *const underestimated[] = {"flatten", "split",    "findAll",
                                             "dyn",     "validate", "distinct"};

/* Errors that are absorbed, or the result: one counts as a text of one character in the cost of the
 * calls that it passes, where the estimate may know that the text is empty. */
static const char *const absorbing[] = {CEL_OP_AND, CEL_OP_OR, CEL_OP_NE, "includes"};

struct traits {
    bool underestimated, absorbing, repeats;
    uint64_t dearer; /* selections that cost one more */
};

static bool is_one_of(struct str name, const char *const *names, size_t n) {
    for (size_t i = 0; i < n; i++)
        if (str_is(name, names[i]))
            return true;
    return false;
}

static bool is_name(const struct cel_expr *e) {
    while (e->kind == CEL_E_SELECT)
        e = e->operand;
    return e->kind == CEL_E_IDENT;
}

static void look(struct cel_expr *e, void *ctx) {
    struct traits *t = ctx;
    t->dearer += e->kind == CEL_E_SELECT && !is_name(e);
    t->repeats = t->repeats || e->kind == CEL_E_FOLD;
    if (e->kind != CEL_E_CALL)
        return;
    bool index = str_is(e->name, CEL_OP_INDEX) || str_is(e->name, CEL_OP_OPT_INDEX) ||
                 str_is(e->name, CEL_OP_OPT_SELECT);
    t->dearer += index && !is_name(e->args[0]);
    if (is_one_of(e->name, underestimated, 6))
        t->underestimated = true;
    if (is_one_of(e->name, absorbing, 4))
        t->absorbing = true;
}

/* False when the estimate says nothing about the cost. */
static bool require_cost(const struct cel_ast *ast, uint64_t cost, bool failed) {
    struct cel_range range = cel_estimate(ast);
    struct traits t = {.absorbing = failed};
    cel__walk(ast->root, look, &t);
    if (t.underestimated || (t.repeats && t.dearer))
        return false;
    uint64_t most = range.max > UINT64_MAX / 2 ? UINT64_MAX : range.max + t.dearer;
    CHECK(t.absorbing ? cost / 2 <= most || cost / 2 - most <= ast->nodes : cost <= most);
    return true;
}

/* ---- evaluation ---- */

struct outcome {
    struct str text; /* the value, or what failed */
    uint64_t cost;
    bool planned, failed;
};

/* A taint as they are, and one whose fields are as long as they may be. */
struct taint {
    struct str key, value, effect;
};

static struct outcome evaluate(struct arena *a, const struct cel_ast *ast, struct taint taint) {
    struct outcome out = {0};
    struct cel_program *program = cel_program_new(ast, &out.text);
    if (!program)
        return out;
    struct cel_entry entries[] = {{cel_of_str(STR("key")), cel_of_str(taint.key)},
                                  {cel_of_str(STR("value")), cel_of_str(taint.value)},
                                  {cel_of_str(STR("effect")), cel_of_str(taint.effect)}};
    struct cel_map map = {.entries = entries, .n = 3};
    struct cel_value v = cel_of_map(&map);
    struct arena eval = {0};
    struct cel_result r = cel_eval(program, &v, &eval, MOST_COST);
    /* chunks of an arena double */
    CHECK(eval.bytes <= 2 * (size_t)LIMIT_CEL_EVAL_BYTES + (1U << 20));
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CEL_EVAL_BYTES);
    cel_write(&text, r.value);
    out = (struct outcome){.text = arena_str(a, buf_view(&text)),
                           .cost = r.cost,
                           .planned = true,
                           .failed = r.value.kind == CEL_ERROR};
    arena_release(&eval);
    cel_program_free(program);
    return out;
}

struct whole {
    struct arena *arena;
    struct taint taint;
};

static void try_part(void *ctx, const struct cel_part *part) {
    const struct whole *w = ctx;
    const struct cel_ast *ast = cel_compile(fuzz_env(), w->arena, part->text, 0);
    if (cel_ast_issues(ast).n)
        return; /* it needs the variables of a macro */
    struct outcome out = evaluate(w->arena, ast, w->taint);
    if (out.planned)
        require_cost(ast, out.cost, out.failed);
}

static struct outcome try_cost(struct arena *a, const struct cel_ast *ast, struct taint taint) {
    struct outcome out = evaluate(a, ast, taint);
    struct whole whole = {a, taint};
    if (out.planned && !require_cost(ast, out.cost, out.failed) && ast->nodes <= MOST_NODES)
        cel_ast_visit(ast, a, try_part, &whole);
    return out;
}

static bool same_outcome(struct outcome x, struct outcome y) {
    return x.cost == y.cost && str_eq(x.text, y.text);
}

static void try_largest(struct arena *a, const struct cel_ast *ast) {
    char key[317], value[63];
    for (size_t i = 0; i < sizeof key; i++)
        key[i] = i % 7 == 3 ? '.' : (char)('a' + i % 26);
    for (size_t i = 0; i < sizeof value; i++)
        value[i] = (char)('0' + i % 10);
    try_cost(a, ast,
             (struct taint){{key, sizeof key}, {value, sizeof value}, STR("PreferNoSchedule")});
}

static void try_text(struct str text) {
    static const struct taint taint = {STR_INIT("env.example.com/dev"), STR_INIT("5.15.0"),
                                       STR_INIT("NoSchedule")};
    struct arena a = {0};
    const struct cel_ast *ast = cel_compile(fuzz_env(), &a, text, 0);
    if (cel_ast_issues(ast).n == 0) {
        struct outcome first = try_cost(&a, ast, taint);
        CHECK(same_outcome(first, evaluate(&a, ast, taint)));
        try_largest(&a, ast);
        struct str once = written(&a, ast);
        const struct cel_ast *second = cel_compile(fuzz_env(), &a, once, 0);
        if (once.n <= MOST_CODE_POINTS) {
            CHECK(cel_ast_issues(second).n == 0);
            CHECK(str_eq(cel_ast_type(ast, &a), cel_ast_type(second, &a)));
            CHECK(same_outcome(first, evaluate(&a, second, taint)));
        }
    }
    arena_release(&a);
}

FUZZ_SMALL_INPUTS

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static const char types[] = "bbbbisISMdqTDo";
    if (size == 0)
        return 0;
    if (data[0] >= 128) {
        try_text((struct str){(const char *)data + 1, size - 1});
        return 0;
    }
    struct gen g = {.p = data + 1, .end = data + size, .out = BUF_INIT(1U << 20)};
    generate(&g, types[data[0] % (sizeof types - 1)]);
    try_text(buf_view(&g.out));
    buf_release(&g.out);
    return 0;
}
