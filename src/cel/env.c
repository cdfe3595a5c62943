/*
 * Environments: which functions, variables and types an expression can name. The rows of the
 * libraries are read once, when the environment is made.
 *
 * Follows k8s.io/apiserver pkg/cel/environment, func MustBaseEnvSet, func (*EnvSet) Extend.
 * Follows github.com/google/cel-go checker, func (*Env) resolveSimpleIdent,
 * func (*Env) lookupFunction.
 */
#include <string.h>

#include "cel/syntax/ast_int.h"

/* The overloads of a function are tried in this order, which is upstream's. The lists of Kubernetes
 * stand before the strings, and from their version 1 on behind all. */
static const struct cel_library *const libraries[] = {
    &cel__lib_std,      &cel__lib_matches, &cel__lib_convert, &cel__lib_time,  &cel__lib_k8s_lists,
    &cel__lib_optional, &cel__lib_strings, &cel__lib_sets,    &cel__lib_lists, &cel__lib_includes,
    &cel__lib_twovar,   &cel__lib_regex,   &cel__lib_url,     &cel__lib_ip,    &cel__lib_cidr,
    &cel__lib_quantity, &cel__lib_semver,  &cel__lib_format,  &cel__lib_authz, &cel__lib_k8s_lists,
};

static bool is_used(const struct cel_env *env, size_t i) {
    bool behind = env->libs >> CEL_LIB_INCLUDES & 1;
    bool last = i + 1 == sizeof libraries / sizeof *libraries;
    if (libraries[i] == &cel__lib_k8s_lists && behind != last)
        return false;
    return env->libs >> libraries[i]->lib & 1;
}

uint32_t cel_libs_at(unsigned minor) {
    static const struct {
        enum cel_lib lib;
        unsigned since;
    } rows[] = {
        {CEL_LIB_STD, 0},       {CEL_LIB_URL, 0},      {CEL_LIB_REGEX, 0},
        {CEL_LIB_K8S_LISTS, 0}, {CEL_LIB_AUTHZ, 27},   {CEL_LIB_OPTIONAL, 28},
        {CEL_LIB_QUANTITY, 28}, {CEL_LIB_STRINGS, 29}, {CEL_LIB_SETS, 29},
        {CEL_LIB_IP, 30},       {CEL_LIB_CIDR, 30},    {CEL_LIB_FORMAT, 31},
        {CEL_LIB_TWOVAR, 32},   {CEL_LIB_SEMVER, 33},  {CEL_LIB_LISTS, 34},
        {CEL_LIB_INCLUDES, 37},
    };
    uint32_t libs = 0;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].since <= minor)
            libs |= 1U << rows[i].lib;
    return libs;
}

/* ---- functions ---- */

static const struct cel_type *read_type(struct arena *a, struct str *text) {
    const struct cel_type *t = cel__type_read(a, text);
    if (!t)
        BUG("a row's signature cannot be read");
    return t;
}

static void skip(struct str *text, struct str what) {
    *text = str_trim(*text);
    if (!str_starts(*text, what))
        BUG("a row's signature cannot be read");
    *text = str_trim(str_sub(*text, what.n, text->n));
}

static void add_param(struct cel_overload *o, const struct cel_type *t) {
    o->kinds[o->count] = cel__type_kinds(t);
    o->params[o->count++] = t;
}

/* "target.(a, b) -> result" or "(a, b) -> result" */
static struct cel_overload *read_overload(struct arena *a, const struct cel_fn *fn) {
    struct cel_overload *o = arena_new(a, struct cel_overload);
    struct str sig = str_of(fn->sig);
    size_t paren = str_find(sig, STR(".("));
    o->fn = fn;
    o->member = paren != STR_NONE;
    if (o->member) {
        struct str target = str_sub(sig, 0, paren);
        add_param(o, read_type(a, &target));
        sig = str_sub(sig, paren + 1, sig.n);
    }
    skip(&sig, STR("("));
    while (!str_starts(sig, STR(")"))) {
        add_param(o, read_type(a, &sig));
        if (str_starts(sig, STR(",")))
            skip(&sig, STR(","));
    }
    skip(&sig, STR(")"));
    skip(&sig, STR("->"));
    o->result = read_type(a, &sig);
    return o;
}

static void add_function(struct cel_env *env, const struct cel_fn *fn) {
    struct str name = str_of(fn->name);
    struct cel_function *f = map_get(&env->functions, name);
    if (!f) {
        f = arena_new(&env->arena, struct cel_function);
        f->name = name;
        map_put(&env->functions, name, f);
    }
    vec_push(&f->overloads, read_overload(&env->arena, fn));
}

static void add_decl(struct cel_env *env, const struct cel_decl *decl) {
    struct cel_fn *fn = arena_new(&env->arena, struct cel_fn);
    *fn = (struct cel_fn){.name = decl->name, .id = decl->id, .sig = decl->sig};
    add_function(env, fn);
}

const struct cel_function *cel__env_function(const struct cel_env *env, struct str name) {
    return map_get(&env->functions, name);
}

/* ---- names ---- */

static struct cel_var_decl *add_name(struct cel_env *env, struct str name) {
    struct cel_var_decl *d = arena_new(&env->arena, struct cel_var_decl);
    d->name = arena_str(&env->arena, name);
    d->slot = -1;
    map_put(&env->names, d->name, d);
    return d;
}

static void add_type_name(struct cel_env *env, const char *name, const char *type) {
    struct str text = str_of(type);
    struct cel_var_decl *d = add_name(env, str_of(name));
    d->value = read_type(&env->arena, &text);
    d->type = cel__type_of_type(&env->arena, d->value);
}

/* The one enumeration value that an expression can name. */
static void add_null_value(struct cel_env *env) {
    struct cel_var_decl *d = add_name(env, STR("google.protobuf.NullValue.NULL_VALUE"));
    d->type = cel__type(CEL_T_INT);
    d->constant = true;
}

/* Upstream's checker knows these names of types, its planner does not. */
static void add_unusable_names(struct cel_env *env) {
    static const struct {
        const char *name, *type;
    } rows[] = {
        {"timestamp", "timestamp"},
        {"duration", "duration"},
        {"google.protobuf.Any", "any"},
        {"google.protobuf.BoolValue", "wrapper(bool)"},
        {"google.protobuf.BytesValue", "wrapper(bytes)"},
        {"google.protobuf.DoubleValue", "wrapper(double)"},
        {"google.protobuf.FloatValue", "wrapper(double)"},
        {"google.protobuf.Int32Value", "wrapper(int)"},
        {"google.protobuf.Int64Value", "wrapper(int)"},
        {"google.protobuf.UInt32Value", "wrapper(uint)"},
        {"google.protobuf.UInt64Value", "wrapper(uint)"},
        {"google.protobuf.StringValue", "wrapper(string)"},
        {"google.protobuf.ListValue", "list(dyn)"},
        {"google.protobuf.Struct", "map(string, dyn)"},
        {"google.protobuf.Value", "dyn"},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        add_type_name(env, rows[i].name, rows[i].type);
        struct cel_var_decl *d = map_get(&env->names, str_of(rows[i].name));
        d->unusable = true;
    }
}

static void add_type_names(struct cel_env *env) {
    static const struct {
        const char *name, *type;
        int lib; /* only with this library; -1: always */
    } rows[] = {
        {"bool", "bool", -1},
        {"bytes", "bytes", -1},
        {"double", "double", -1},
        {"int", "int", -1},
        {"list", "list(dyn)", -1},
        {"map", "map(dyn, dyn)", -1},
        {"null_type", "null_type", -1},
        {"string", "string", -1},
        {"type", "type", -1},
        {"uint", "uint", -1},
        {"google.protobuf.Duration", "duration", -1},
        {"google.protobuf.Timestamp", "timestamp", -1},
        {"net.IP", "net.IP", CEL_LIB_IP},
        {"net.CIDR", "net.CIDR", CEL_LIB_CIDR},
        {"optional_type", "optional_type(dyn)", CEL_LIB_OPTIONAL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].lib < 0 || env->libs >> rows[i].lib & 1)
            add_type_name(env, rows[i].name, rows[i].type);
    add_null_value(env);
    add_unusable_names(env);
}

static const struct cel_type *object_type(struct cel_env *env, const struct cel_var *var) {
    struct cel_type *t = arena_new(&env->arena, struct cel_type);
    t->kind = CEL_T_OBJECT;
    t->name = arena_str(&env->arena, var->type);
    t->field_count = var->field_count;
    struct cel_field *fields =
        arena_copy(&env->arena, var->fields, var->field_count * sizeof *fields);
    for (uint32_t i = 0; i < var->field_count; i++)
        fields[i].name = arena_str(&env->arena, fields[i].name);
    t->fields = fields;
    return t;
}

static void add_variable(struct cel_env *env, const struct cel_var *var) {
    struct str text = arena_str(&env->arena, var->type);
    const struct cel_type *type =
        var->fields ? object_type(env, var) : read_type(&env->arena, &text);
    struct cel_var_decl *d = add_name(env, var->name);
    d->type = type;
    d->slot = (int32_t)env->var_count++;
    if (!var->fields)
        return;
    struct cel_var_decl *of_type = add_name(env, type->name);
    of_type->value = type;
    of_type->type = cel__type_of_type(&env->arena, type);
    of_type->unusable = true;
}

const struct cel_var_decl *cel__env_name(const struct cel_env *env, struct str name) {
    return map_get(&env->names, name);
}

const void *cel__resolve(struct arena *a, struct str container, struct str name, cel_find_fn *find,
                         const void *ctx) {
    if (str_starts(name, STR(".")))
        return find(ctx, str_sub(name, 1, name.n));
    while (container.n > 0) {
        const void *found = find(ctx, cel__dotted_name(a, container, name));
        if (found)
            return found;
        size_t dot = container.n;
        while (dot > 0 && container.p[dot - 1] != '.')
            dot--;
        container.n = dot > 0 ? dot - 1 : 0;
    }
    return find(ctx, name);
}

/* ---- life ---- */

struct cel_env *cel_env_new(const struct cel_env_opts *opts) {
    struct cel_env *env = xcalloc(1, sizeof *env);
    env->libs = opts->libs;
    env->seed = opts->seed;
    env->container = arena_str(&env->arena, opts->container);
    env->functions = MAP_INIT(1);
    env->names = MAP_INIT(1);
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries; i++)
        for (size_t k = 0; is_used(env, i) && k < libraries[i]->n; k++)
            add_function(env, &libraries[i]->fns[k]);
    for (size_t i = 0; i < opts->decl_count; i++)
        add_decl(env, &opts->decls[i]);
    add_type_names(env);
    for (size_t i = 0; i < opts->var_count; i++)
        add_variable(env, &opts->vars[i]);
    return env;
}

void cel_env_free(struct cel_env *env) {
    if (!env)
        return;
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&env->functions, &at));) {
        struct cel_function *f = e->value;
        vec_release(&f->overloads);
    }
    map_release(&env->functions);
    map_release(&env->names);
    arena_release(&env->arena);
    free(env);
}
