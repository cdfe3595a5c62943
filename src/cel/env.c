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
    &cel__lib_std,       &cel__lib_matches, &cel__lib_convert, &cel__lib_time,  &cel__lib_k8s_lists,
    &cel__lib_optional,  &cel__lib_strings, &cel__lib_sets,    &cel__lib_lists, &cel__lib_includes,
    &cel__lib_twovar,    &cel__lib_regex,   &cel__lib_url,     &cel__lib_ip,    &cel__lib_cidr,
    &cel__lib_quantity,  &cel__lib_semver,  &cel__lib_format,  &cel__lib_authz, &cel__lib_patch,
    &cel__lib_k8s_lists,
};

static bool is_used(const struct cel_env *env, size_t i) {
    bool behind = env->libs >> CEL_LIB_LISTS_LAST & 1;
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
        {CEL_LIB_STD, 0},       {CEL_LIB_URL, 0},         {CEL_LIB_REGEX, 0},
        {CEL_LIB_K8S_LISTS, 0}, {CEL_LIB_AUTHZ, 27},      {CEL_LIB_OPTIONAL, 28},
        {CEL_LIB_QUANTITY, 28}, {CEL_LIB_STRINGS, 29},    {CEL_LIB_SETS, 29},
        {CEL_LIB_IP, 30},       {CEL_LIB_CIDR, 30},       {CEL_LIB_FORMAT, 31},
        {CEL_LIB_TWOVAR, 32},   {CEL_LIB_SEMVER, 33},     {CEL_LIB_LISTS, 34},
        {CEL_LIB_INCLUDES, 37}, {CEL_LIB_LISTS_LAST, 37},
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

/* ---- objects ---- */

static void add_object_name(struct cel_env *env, struct str name, const struct cel_type *type) {
    struct cel_var_decl *d = add_name(env, name);
    d->value = type;
    d->type = cel__type_of_type(&env->arena, type);
    d->unusable = true;
}

/* The type with the objects of the environment in it, which a text only names. */
static const struct cel_type *link_objects(struct cel_env *env, const struct cel_type *t) {
    const struct cel_var_decl *d = t->kind == CEL_T_OBJECT ? map_get(&env->names, t->name) : NULL;
    if (d && d->value)
        return d->value;
    struct cel_type *linked = arena_copy(&env->arena, t, sizeof *t);
    for (uint8_t i = 0; i < t->param_count; i++)
        linked->params[i] = link_objects(env, t->params[i]);
    return linked;
}

static const struct cel_type *declared_type(struct cel_env *env, struct str text) {
    struct str copy = arena_str(&env->arena, text);
    return link_objects(env, read_type(&env->arena, &copy));
}

static void add_object(struct cel_env *env, const struct cel_object *o) {
    struct cel_type *t = arena_new(&env->arena, struct cel_type);
    struct cel_typed_field *fields =
        arena_array(&env->arena, struct cel_typed_field, o->field_count + 1);
    for (size_t i = 0; i < o->field_count; i++)
        fields[i] = (struct cel_typed_field){arena_str(&env->arena, o->fields[i].name),
                                             declared_type(env, o->fields[i].type)};
    *t = (struct cel_type){.kind = CEL_T_OBJECT,
                           .name = arena_str(&env->arena, o->name),
                           .fields = fields,
                           .field_count = (uint32_t)o->field_count};
    add_object_name(env, t->name, t);
}

/* Upstream names the lists and maps in an object by the way to them. */
static void add_paths(struct cel_env *env, struct str path, const struct cel_type *t) {
    for (uint32_t i = 0; i < t->field_count; i++) {
        const struct cel_type *field = t->fields[i].type;
        struct str name = cel__dotted_name(&env->arena, path, t->fields[i].name);
        if (field->kind == CEL_T_OBJECT)
            add_paths(env, name, field);
        else if (field->kind == CEL_T_LIST || field->kind == CEL_T_MAP)
            add_object_name(env, name, field);
    }
}

static void add_variable(struct cel_env *env, const struct cel_var *var) {
    const struct cel_type *type = declared_type(env, var->type);
    struct cel_var_decl *d = add_name(env, var->name);
    d->type = type;
    d->slot = (int32_t)env->var_count++;
    if (type->kind == CEL_T_OBJECT)
        add_paths(env, type->name, type);
}

/* The types that patches are made of. */
static void add_patch_types(struct cel_env *env) {
    static const struct cel_var fields[] = {{STR_INIT("op"), STR_INIT("string")},
                                            {STR_INIT("from"), STR_INIT("string")},
                                            {STR_INIT("path"), STR_INIT("string")},
                                            {STR_INIT("value"), STR_INIT("dyn")}};
    static const struct cel_object patch = {STR_INIT("JSONPatch"), fields,
                                            sizeof fields / sizeof *fields};
    add_object(env, &patch);
}

const struct cel_var_decl *cel__env_made_name(const struct cel_env *env, struct arena *a,
                                              struct str name) {
    if (str_starts(name, STR(".")))
        name = str_sub(name, 1, name.n);
    if (!(env->libs >> CEL_LIB_PATCH & 1) ||
        !(str_is(name, "Object") || str_starts(name, STR("Object."))))
        return NULL;
    struct cel_type *t = arena_new(a, struct cel_type);
    *t = (struct cel_type){.kind = CEL_T_OBJECT, .name = name, .open = true};
    struct cel_var_decl *d = arena_new(a, struct cel_var_decl);
    *d = (struct cel_var_decl){
        .name = name, .type = cel__type_of_type(a, t), .slot = -1, .value = t, .unusable = true};
    return d;
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
    if (env->libs >> CEL_LIB_PATCH & 1)
        add_patch_types(env);
    for (size_t i = 0; i < opts->object_count; i++)
        add_object(env, &opts->objects[i]);
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
