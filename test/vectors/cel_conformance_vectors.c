/* cel_conformance_k8s.jsonl: the tests of the CEL specification, and what Kubernetes' environment
 * makes of them. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/limits.h"
#include "cel/cel.h"
#include "members.h"
#include "vectors.h"

enum { MAX_VARS = 8 };

/* ---- types and values as the file has them ---- */

static void write_type(struct buf *out, const struct json *t) {
    static const struct {
        const char *k, *v, *text;
    } names[] = {{"primitive", "INT64", "int"},
                 {"primitive", "UINT64", "uint"},
                 {"primitive", "DOUBLE", "double"},
                 {"primitive", "BOOL", "bool"},
                 {"primitive", "STRING", "string"},
                 {"primitive", "BYTES", "bytes"},
                 {"null", NULL, "null_type"},
                 {"dyn", NULL, "dyn"},
                 {"list", NULL, "list"},
                 {"map", NULL, "map"},
                 {"type", NULL, "type"}};
    struct str k = vectors_text(t, STR("k")), v = vectors_text(t, STR("v"));
    const char *text = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (str_is(k, names[i].k) && (!names[i].v || str_is(v, names[i].v)))
            text = names[i].text;
    buf_add(out, text ? str_of(text) : v);
    const struct json *params = json_get(t, STR("p"));
    for (uint32_t i = 0; params && i < params->n; i++) {
        buf_add(out, i == 0 ? STR("(") : STR(", "));
        write_type(out, &params->items[i]);
    }
    if (params && params->n)
        buf_add_char(out, ')');
}

static struct str type_text(struct arena *a, const struct json *t) {
    AUTO(buf_release) struct buf out = BUF_INIT(LIMIT_OBJECT_BYTES);
    write_type(&out, t);
    return arena_str(a, buf_view(&out));
}

static struct str unhex(struct arena *a, struct str hex) {
    char *out = arena_alloc(a, hex.n / 2 + 1);
    for (size_t i = 0; i + 1 < hex.n; i += 2) {
        char pair[3] = {hex.p[i], hex.p[i + 1], '\0'};
        out[i / 2] = (char)strtoul(pair, NULL, 16);
    }
    return (struct str){out, hex.n / 2};
}

static struct cel_value value_of(struct arena *a, const struct json *j);

static struct cel_value list_of(struct arena *a, const struct json *items) {
    struct cel_value *v = arena_array(a, struct cel_value, items->n);
    for (uint32_t i = 0; i < items->n; i++)
        v[i] = value_of(a, &items->items[i]);
    return (struct cel_value){.kind = CEL_LIST, .n = items->n, .items = v};
}

static struct cel_value map_of(struct arena *a, const struct json *items) {
    struct cel_entry *e = arena_array(a, struct cel_entry, items->n);
    struct cel_map *map = arena_new(a, struct cel_map);
    for (uint32_t i = 0; i < items->n; i++) {
        e[i].key = value_of(a, &items->items[i].items[0]);
        e[i].value = value_of(a, &items->items[i].items[1]);
    }
    *map = (struct cel_map){.entries = e, .n = items->n};
    return cel_of_map(map);
}

static struct cel_value value_of(struct arena *a, const struct json *j) {
    struct str k = vectors_text(j, STR("k")), v = vectors_text(j, STR("v"));
    const struct json *raw = json_get(j, STR("v"));
    const char *text = v.p ? arena_str(a, v).p : "";
    if (str_is(k, "int"))
        return cel_of_int(strtoll(text, NULL, 10));
    if (str_is(k, "uint"))
        return cel_of_uint(strtoull(text, NULL, 10));
    if (str_is(k, "double"))
        return cel_of_double(strtod(text, NULL));
    if (str_is(k, "bool"))
        return cel_of_bool(raw && raw->b);
    if (str_is(k, "string"))
        return cel_of_str(unhex(a, v));
    if (str_is(k, "bytes")) {
        struct cel_value bytes = cel_of_str(unhex(a, v));
        bytes.kind = CEL_BYTES;
        return bytes;
    }
    if (str_is(k, "list"))
        return list_of(a, raw);
    return str_is(k, "map") ? map_of(a, raw) : cel_of_null();
}

/* A value as text; NaN and doubles compare as they are printed. */
static struct str print(struct arena *a, struct cel_value v) {
    AUTO(buf_release) struct buf out = BUF_INIT(LIMIT_OBJECT_BYTES);
    cel_write(&out, v);
    return arena_str(a, buf_view(&out));
}

static struct str want_text(struct arena *a, const struct json *value) {
    if (str_is(vectors_text(value, STR("k")), "type"))
        return vectors_text(value, STR("v"));
    return print(a, value_of(a, value));
}

/* ---- environments ---- */

struct setup {
    struct cel_var vars[MAX_VARS];
    struct cel_value values[MAX_VARS];
    struct cel_decl decls[MAX_VARS];
    size_t var_count, decl_count;
};

static void add_decl(struct arena *a, const struct json *decl, struct setup *s) {
    const struct json *o = &json_get(decl, STR("overloads"))->items[0];
    const struct json *params = json_get(o, STR("params"));
    AUTO(buf_release) struct buf sig = BUF_INIT(LIMIT_OBJECT_BYTES);
    buf_add_char(&sig, '(');
    for (uint32_t i = 0; i < params->n; i++) {
        buf_add(&sig, i > 0 ? STR(", ") : STR(""));
        write_type(&sig, &params->items[i]);
    }
    buf_add(&sig, STR(") -> "));
    write_type(&sig, json_get(o, STR("result")));
    s->decls[s->decl_count++] = (struct cel_decl){arena_str(a, vectors_text(decl, STR("name"))).p,
                                                  arena_str(a, vectors_text(o, STR("id"))).p,
                                                  arena_str(a, buf_view(&sig)).p};
}

static void add_var(struct setup *s, struct str name, struct str type, struct cel_value v) {
    s->vars[s->var_count] = (struct cel_var){.name = name, .type = type};
    s->values[s->var_count++] = v;
}

static void read_setup(struct arena *a, const struct json *line, struct setup *s) {
    const struct json *env = json_get(line, STR("type_env"));
    const struct json *bindings = json_get(line, STR("bindings"));
    for (uint32_t i = 0; i < env->n; i++) {
        const struct json *decl = &env->items[i];
        if (json_get(decl, STR("overloads"))) {
            add_decl(a, decl, s);
            continue;
        }
        struct str name = vectors_text(decl, STR("name"));
        const struct json *bound = json_get(bindings, name);
        add_var(s, name, type_text(a, json_get(decl, STR("type"))),
                bound ? value_of(a, bound) : cel_of_null());
    }
    for (uint32_t i = 0; env->n == 0 && i < bindings->n; i++)
        add_var(s, bindings->members[i].key, STR("dyn"), value_of(a, &bindings->members[i].value));
}

/* ---- outcomes ---- */

struct outcome {
    enum { CHECK, PROGRAM, EVAL, VALUE } stage;
    struct str text; /* of the error, or the value as a literal */
    struct str type;
};

static bool flag(const struct json *line, const char *name) {
    const struct json *v = json_get(line, str_of(name));
    return v && v->b;
}

static struct outcome run(struct arena *a, const struct json *line, const struct cel_env *env,
                          const struct setup *s) {
    bool unchecked = flag(line, "disable_check");
    unsigned flags = (unchecked ? CEL_PARSE_ONLY : 0) |
                     (flag(line, "disable_macros") ? (unsigned)CEL_NO_MACROS : 0);
    const struct cel_ast *ast = cel_compile(env, a, vectors_text(line, STR("expr")), flags);
    if (cel_ast_issues(ast).n)
        return (struct outcome){CHECK, cel_ast_issues(ast), {0}};
    struct outcome out = {.stage = VALUE};
    if (!unchecked)
        out.type = cel_ast_type(ast, a);
    if (flag(line, "check_only"))
        return out;
    struct cel_program *program = cel_program_new(ast, &out.text);
    if (!program) {
        out.stage = PROGRAM;
        return out;
    }
    struct cel_result r = cel_eval(program, s->values, a, UINT64_MAX);
    out.stage = r.value.kind == CEL_ERROR ? EVAL : VALUE;
    out.text = out.stage == EVAL ? arena_str(a, cel_str(r.value)) : print(a, r.value);
    cel_program_free(program);
    return out;
}

/* The text with line breaks where it has \\n. */
static struct str unescape_lines(struct arena *a, struct str s) {
    char *out = arena_alloc(a, s.n + 1);
    size_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        bool line = s.p[i] == '\\' && i + 1 < s.n && s.p[i + 1] == 'n';
        out[n++] = line ? '\n' : s.p[i];
        i += line;
    }
    return (struct str){out, n};
}

/* What the recorded detail of a difference says that Kubernetes answers. */
static struct outcome recorded(struct arena *a, struct str detail) {
    detail = unescape_lines(a, detail);
    static const char *const stages[] = {"CHECK ", "PROGRAM ", "EVAL "};
    for (int i = 0; i < 3; i++)
        if (str_starts(detail, str_of(stages[i])))
            return (struct outcome){(unsigned)i, str_sub(detail, strlen(stages[i]), detail.n), {0}};
    size_t got = str_find(detail, STR("got ")), want = str_find(detail, STR(" want "));
    struct str value = str_sub(detail, got + 4, got == 0 && want != STR_NONE ? want : detail.n);
    return (struct outcome){VALUE, value, {0}};
}

static struct outcome expected(struct arena *a, const struct json *line) {
    const struct json *k8s = json_get(line, STR("k8s")), *want = json_get(line, STR("want"));
    if (str_is(vectors_text(k8s, STR("outcome")), "FAIL"))
        return recorded(a, vectors_text(k8s, STR("detail")));
    if (str_is(vectors_text(want, STR("kind")), "error"))
        return (struct outcome){.stage = EVAL};
    struct outcome out = {.stage = VALUE};
    const struct json *value = json_get(want, STR("value")), *type = json_get(want, STR("type"));
    if (value && value->kind == JSON_OBJECT)
        out.text = want_text(a, value);
    if (type)
        out.type = type_text(a, type);
    return out;
}

static bool agrees(const struct outcome *want, const struct outcome *got) {
    if (want->stage != VALUE && got->stage != VALUE)
        return !want->text.p || str_eq(want->text, got->text);
    return want->stage == got->stage && (!want->text.p || str_eq(want->text, got->text)) &&
           (!want->type.p || str_eq(want->type, got->type));
}

int vectors_check_cel_conformance(struct arena *a, const struct json *line, struct buf *why) {
    const struct json *k8s = json_get(line, STR("k8s"));
    if (!str_is(vectors_text(k8s, STR("class")), "applicable"))
        return 0;
    struct setup s = {0};
    read_setup(a, line, &s);
    struct cel_env_opts opts = {.libs = cel_libs_at(36),
                                .container = vectors_text(line, STR("container")),
                                .decls = s.decls,
                                .decl_count = s.decl_count,
                                .vars = s.vars,
                                .var_count = s.var_count};
    struct cel_env *env = cel_env_new(&opts);
    struct outcome want = expected(a, line), got = run(a, line, env, &s);
    int rc = agrees(&want, &got) ? 0 : -1;
    if (rc < 0)
        buf_addf(why, "stage %d (0 check, 1 program, 2 evaluation, 3 value): %.*s %.*s", got.stage,
                 STR_ARG(got.text), STR_ARG(got.type));
    cel_env_free(env);
    return rc;
}
