/*
 * Types: read from the texts of the rows, compared, printed, and found for values.
 *
 * Follows github.com/google/cel-go common/types, func (*Type) IsAssignableType,
 * func (*Type) IsExactType.
 * Follows github.com/google/cel-go checker, func FormatCELType.
 */
#include <string.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "cel/cel_int.h"
#include "cel/syntax/ast_int.h"

#define NAMED(k, text) \
    { .kind = (k), .name = STR_INIT(text) }

static const struct cel_type dyn_type = NAMED(CEL_T_DYN, "dyn");

/* By name; the first of a kind is what cel__type gives. */
static const struct cel_type *const named[] = {
    &dyn_type,
    &(const struct cel_type)NAMED(CEL_T_STRING, "string"),
    &(const struct cel_type)NAMED(CEL_T_ERROR, "!error!"),
    &(const struct cel_type)NAMED(CEL_T_NULL, "null_type"),
    &(const struct cel_type)NAMED(CEL_T_BOOL, "bool"),
    &(const struct cel_type)NAMED(CEL_T_INT, "int"),
    &(const struct cel_type)NAMED(CEL_T_UINT, "uint"),
    &(const struct cel_type)NAMED(CEL_T_DOUBLE, "double"),
    &(const struct cel_type)NAMED(CEL_T_BYTES, "bytes"),
    &(const struct cel_type)NAMED(CEL_T_DURATION, "google.protobuf.Duration"),
    &(const struct cel_type)NAMED(CEL_T_TIMESTAMP, "google.protobuf.Timestamp"),
    &(const struct cel_type)NAMED(CEL_T_DURATION, "duration"),
    &(const struct cel_type)NAMED(CEL_T_TIMESTAMP, "timestamp"),
    &(const struct cel_type)NAMED(CEL_T_ANY, "google.protobuf.Any"),
    &(const struct cel_type)NAMED(CEL_T_ANY, "any"),
    &(const struct cel_type)NAMED(CEL_T_TYPE, "type"),
    &(const struct cel_type){
        .kind = CEL_T_LIST, .param_count = 1, .name = STR_INIT("list"), .params = {&dyn_type}},
    &(const struct cel_type){.kind = CEL_T_MAP,
                             .param_count = 2,
                             .name = STR_INIT("map"),
                             .params = {&dyn_type, &dyn_type}},
};

/* Opaque types that values have; everything else with a dot in its name is an object. */
static const struct {
    struct cel_type type;
    enum cel_kind kind;
} opaque[] = {
    {NAMED(CEL_T_OPAQUE, "net.IP"), CEL_IP},
    {NAMED(CEL_T_OPAQUE, "net.CIDR"), CEL_CIDR},
    {NAMED(CEL_T_OBJECT, "kubernetes.Quantity"), CEL_QUANTITY},
    {NAMED(CEL_T_OBJECT, "kubernetes.Semver"), CEL_SEMVER},
    {NAMED(CEL_T_OBJECT, "kubernetes.URL"), CEL_URL},
    {NAMED(CEL_T_OBJECT, "kubernetes.NamedFormat"), CEL_FORMAT},
};

static const struct cel_type optional_type = {.kind = CEL_T_OPAQUE,
                                              .param_count = 1,
                                              .name = STR_INIT("optional_type"),
                                              .params = {&dyn_type}};

const struct cel_type *cel__type(enum cel_type_kind kind) {
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (named[i]->kind == kind)
            return named[i];
    return NULL;
}

static struct cel_type *new_type(struct arena *a, enum cel_type_kind kind, struct str name,
                                 uint8_t params) {
    struct cel_type *t = arena_new(a, struct cel_type);
    t->kind = (uint8_t)kind;
    t->name = name;
    t->param_count = params;
    return t;
}

/* Whatever is done with a type walks over all of it, and expressions can double one with a few
 * bytes. */
void cel__type_set_params(struct cel_type *t, const struct cel_type *const *params) {
    t->size = 1;
    for (uint8_t i = 0; i < t->param_count; i++)
        t->size += params[i]->size ? params[i]->size : 1;
    bool fits = t->size <= LIMIT_CEL_TYPE_SIZE;
    t->has_param = false;
    for (uint8_t i = 0; i < t->param_count; i++) {
        t->params[i] = fits ? params[i] : &dyn_type;
        t->has_param |= t->params[i]->has_param;
    }
    if (!fits)
        t->size = 1U + t->param_count;
}

const struct cel_type *cel__type_list(struct arena *a, const struct cel_type *elem) {
    struct cel_type *t = new_type(a, CEL_T_LIST, STR("list"), 1);
    cel__type_set_params(t, &elem);
    return t;
}

const struct cel_type *cel__type_map(struct arena *a, const struct cel_type *key,
                                     const struct cel_type *value) {
    struct cel_type *t = new_type(a, CEL_T_MAP, STR("map"), 2);
    cel__type_set_params(t, (const struct cel_type *[]){key, value});
    return t;
}

const struct cel_type *cel__type_optional(struct arena *a, const struct cel_type *of) {
    struct cel_type *t = new_type(a, CEL_T_OPAQUE, STR("optional_type"), 1);
    cel__type_set_params(t, &of);
    return t;
}

const struct cel_type *cel__type_of_type(struct arena *a, const struct cel_type *of) {
    struct cel_type *t = new_type(a, CEL_T_TYPE, STR("type"), 1);
    cel__type_set_params(t, &of);
    return t;
}

bool cel__type_is_optional(const struct cel_type *t) {
    return t->kind == CEL_T_OPAQUE && str_is(t->name, "optional_type");
}

/* ---- reading ---- */

static bool is_name_char(char c) {
    return ascii_is_alnum(c) || c == '_' || c == '.' || c == '!';
}

static struct str read_name(struct str *text) {
    size_t n = 0;
    while (n < text->n && is_name_char(text->p[n]))
        n++;
    struct str name = {text->p, n};
    *text = str_sub(*text, n, text->n);
    return name;
}

static const struct cel_type *find_named(struct arena *a, struct str name) {
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (str_eq(named[i]->name, name))
            return cel__type(named[i]->kind);
    for (size_t i = 0; i < sizeof opaque / sizeof *opaque; i++)
        if (str_eq(opaque[i].type.name, name))
            return &opaque[i].type;
    bool variable = name.n == 1 && ascii_is_upper(name.p[0]);
    struct cel_type *t = new_type(a, variable ? CEL_T_PARAM : CEL_T_OBJECT, arena_str(a, name), 0);
    t->has_param = variable;
    return t;
}

/* The parameters in parentheses, if any; false when they are ill-formed. */
static bool read_params(struct arena *a, struct str *text, struct cel_type *t) {
    if (text->n == 0 || text->p[0] != '(')
        return true;
    const struct cel_type *params[CEL_TYPE_PARAMS];
    t->param_count = 0;
    do {
        *text = str_trim(str_sub(*text, 1, text->n));
        if (t->param_count == CEL_TYPE_PARAMS ||
            !(params[t->param_count++] = cel__type_read(a, text)))
            return false;
    } while (text->n > 0 && text->p[0] == ',');
    if (text->n == 0 || text->p[0] != ')')
        return false;
    *text = str_sub(*text, 1, text->n);
    cel__type_set_params(t, params);
    return true;
}

/* The size in brackets, if any; false when it is ill-formed. */
static bool read_size(struct str *text, struct cel_type *t) {
    if (text->n == 0 || text->p[0] != '[')
        return true;
    size_t i = 1;
    for (; i < text->n && ascii_is_digit(text->p[i]); i++)
        t->max = t->max * 10 + (uint64_t)(text->p[i] - '0');
    if (i == text->n || text->p[i] != ']')
        return false;
    *text = str_sub(*text, i + 1, text->n);
    return true;
}

const struct cel_type *cel__type_read(struct arena *a, struct str *text) {
    struct str name = read_name(text);
    if (name.n == 0)
        return NULL;
    struct cel_type *t = arena_copy(a, find_named(a, name), sizeof *t);
    if (str_is(name, "optional_type"))
        *t = optional_type;
    if (!read_params(a, text, t) || !read_size(text, t))
        return NULL;
    if (t->kind == CEL_T_OBJECT && t->param_count)
        t->kind = CEL_T_OPAQUE;
    if (!str_is(name, "wrapper") || t->param_count != 1)
        return t;
    struct cel_type *wrapped = arena_copy(a, t->params[0], sizeof *wrapped);
    wrapped->nullable = true;
    return wrapped;
}

/* ---- comparing, printing ---- */

bool cel__type_equal(const struct cel_type *a, const struct cel_type *b) {
    if (a == b)
        return true;
    if (a->kind != b->kind || a->number != b->number || a->param_count != b->param_count ||
        !str_eq(a->name, b->name))
        return false;
    for (size_t i = 0; i < a->param_count; i++)
        if (!cel__type_equal(a->params[i], b->params[i]))
            return false;
    return true;
}

static void write_params(struct buf *out, const struct cel_type *t,
                         void (*write)(struct buf *, const struct cel_type *)) {
    for (size_t i = 0; i < t->param_count; i++) {
        buf_add(out, i == 0 ? STR("(") : STR(", "));
        write(out, t->params[i]);
    }
    if (t->param_count > 0)
        buf_add_char(out, ')');
}

void cel__type_write(struct buf *out, const struct cel_type *t) {
    if (t->nullable)
        buf_add(out, STR("wrapper("));
    if (t->kind == CEL_T_PARAM && t->number)
        buf_addf(out, "_var%u", t->number - 1);
    else
        buf_add(out, t->name);
    write_params(out, t, cel__type_write);
    if (t->nullable)
        buf_add_char(out, ')');
}

void cel__type_show(struct buf *out, const struct cel_type *t) {
    static const struct {
        enum cel_type_kind kind;
        struct str name;
    } shown[] = {{CEL_T_ANY, STR_INIT("any")},
                 {CEL_T_DURATION, STR_INIT("duration")},
                 {CEL_T_TIMESTAMP, STR_INIT("timestamp")},
                 {CEL_T_NULL, STR_INIT("null")}};
    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++) {
        if (t->kind == shown[i].kind) {
            buf_add(out, shown[i].name);
            return;
        }
    }
    if (t->param_count == 0) {
        cel__type_write(out, t);
        return;
    }
    buf_add(out, t->name);
    write_params(out, t, cel__type_show);
}

/* ---- types of values ---- */

static const uint8_t kind_types[CEL_KINDS] = {
    [CEL_ERROR] = CEL_T_ERROR,   [CEL_NULL] = CEL_T_NULL,           [CEL_BOOL] = CEL_T_BOOL,
    [CEL_INT] = CEL_T_INT,       [CEL_UINT] = CEL_T_UINT,           [CEL_DOUBLE] = CEL_T_DOUBLE,
    [CEL_STRING] = CEL_T_STRING, [CEL_BYTES] = CEL_T_BYTES,         [CEL_DURATION] = CEL_T_DURATION,
    [CEL_TYPE] = CEL_T_TYPE,     [CEL_TIMESTAMP] = CEL_T_TIMESTAMP, [CEL_LIST] = CEL_T_LIST,
    [CEL_MAP] = CEL_T_MAP,
};

const struct cel_type *cel__type_of(struct cel_value v) {
    if (v.kind == CEL_OPTIONAL)
        return &optional_type;
    for (size_t i = 0; i < sizeof opaque / sizeof *opaque; i++)
        if (opaque[i].kind == v.kind)
            return &opaque[i].type;
    return cel__type(kind_types[v.kind]);
}

struct str cel_type_name_of(struct cel_value v) {
    return cel__type_of(v)->name;
}

const char *cel__type_params(struct cel_value v) {
    return v.kind == CEL_LIST || v.kind == CEL_OPTIONAL ? "(dyn)"
           : v.kind == CEL_MAP                          ? "(dyn, dyn)"
                                                        : "";
}

uint32_t cel__type_kinds(const struct cel_type *t) {
    const uint32_t all = (1U << CEL_KINDS) - 1 - (1U << CEL_ERROR);
    uint32_t null = t->nullable ? 1U << CEL_NULL : 0;
    if (t->kind == CEL_T_DYN || t->kind == CEL_T_PARAM || t->kind == CEL_T_ANY)
        return all;
    if (cel__type_is_optional(t))
        return 1U << CEL_OPTIONAL;
    for (size_t i = 0; i < sizeof opaque / sizeof *opaque; i++)
        if (str_eq(opaque[i].type.name, t->name))
            return 1U << opaque[i].kind;
    for (uint32_t kind = CEL_NULL; kind < CEL_KINDS; kind++)
        if (kind_types[kind] && kind_types[kind] == t->kind)
            return 1U << kind | null;
    return 0;
}

bool cel__type_accepts(const struct cel_type *t, struct cel_value v) {
    if (!(cel__type_kinds(t) >> v.kind & 1))
        return false;
    if (v.kind == CEL_LIST && t->kind == CEL_T_LIST)
        return v.n == 0 || cel__type_accepts(t->params[0], v.items[0]);
    if (v.kind == CEL_MAP && t->kind == CEL_T_MAP)
        return v.map->n == 0 || (cel__type_accepts(t->params[0], v.map->entries[0].key) &&
                                 cel__type_accepts(t->params[1], v.map->entries[0].value));
    return true;
}
