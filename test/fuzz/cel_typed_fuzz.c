/*
 * Expressions that mean something: the first byte chooses between text as it is and a grammar whose
 * choices the other bytes make. An evaluation gives the same value and cost each time, within the
 * limits of cost and memory, and so does the program of the written form.
 */
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
    {'i', "1000000"},
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
    {'T', "timestamp('2024-02-29T12:00:00.5Z')"},
    {'T', "timestamp('9999-12-31T23:59:59Z')"},
    {'T', "timestamp($i)"},
    {'T', "timestamp($s)"},
    {'T', "$T + $D"},
    {'T', "$T - $D"},
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

/* ---- evaluation ---- */

struct outcome {
    struct str text; /* the value, or what failed */
    uint64_t cost;
};

static struct outcome evaluate(struct arena *a, const struct cel_ast *ast) {
    struct outcome out = {0};
    struct cel_program *program = cel_program_new(ast, &out.text);
    if (!program)
        return out;
    struct cel_entry entries[] = {{cel_of_str(STR("key")), cel_of_str(STR("env.example.com/dev"))},
                                  {cel_of_str(STR("value")), cel_of_str(STR("5.15.0"))},
                                  {cel_of_str(STR("effect")), cel_of_str(STR("NoSchedule"))}};
    struct cel_map map = {.entries = entries, .n = 3};
    struct cel_value v = cel_of_map(&map);
    struct arena eval = {0};
    struct cel_result r = cel_eval(program, &v, &eval, CEL_COST_LIMIT);
    /* chunks of an arena double */
    require(eval.bytes <= 2 * (size_t)LIMIT_CEL_EVAL_BYTES + (1U << 20));
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CEL_EVAL_BYTES);
    cel_write(&text, r.value);
    out = (struct outcome){arena_str(a, buf_view(&text)), r.cost};
    arena_release(&eval);
    cel_program_free(program);
    return out;
}

static bool same_outcome(struct outcome x, struct outcome y) {
    return x.cost == y.cost && str_eq(x.text, y.text);
}

static void try_text(struct str text) {
    struct arena a = {0};
    const struct cel_ast *ast = cel_compile(fuzz_env(), &a, text, 0);
    if (cel_ast_issues(ast).n == 0) {
        struct outcome first = evaluate(&a, ast);
        require(same_outcome(first, evaluate(&a, ast)));
        struct str once = written(&a, ast);
        const struct cel_ast *second = cel_compile(fuzz_env(), &a, once, 0);
        if (once.n <= MOST_CODE_POINTS) {
            require(cel_ast_issues(second).n == 0);
            require(str_eq(cel_ast_type(ast, &a), cel_ast_type(second, &a)));
            require(same_outcome(first, evaluate(&a, second)));
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
