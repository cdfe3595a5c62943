/*
 * Why an untyped tree is no object of a type, where upstream makes one of the other without going
 * through JSON: what comes of a strategic merge patch, or of what is applied. Rows are walked in
 * the order of the fields, and the first value that does not fit is told, without its path.
 *
 * Follows k8s.io/apimachinery pkg/runtime, func fromUnstructured, func mapFromUnstructured,
 * func sliceFromUnstructured, func structFromUnstructured.
 */
#include <math.h>
#include <string.h>

#include "api/go_text_int.h"
#include "api/object_int.h"
#include "api/patch.h"
#include "base/limits.h"
#include "codec/base64.h"
#include "codec/time.h"

enum { LONGEST_GO_NAME = 256 };

struct restorer {
    struct arena *a;
    struct str version; /* of the object: the package of Go types that have none */
    struct str fault;   /* the first one; empty: none */
};

/* ---- names ---- */

/* What Go's reflection calls a value. */
static const char *kind_of(const struct json *v) {
    static const char *const names[] = {
        [JSON_NULL] = "invalid", [JSON_BOOL] = "bool",     [JSON_INT] = "int64",
        [JSON_UINT] = "float64", [JSON_FLOAT] = "float64", [JSON_STRING] = "string",
        [JSON_ARRAY] = "slice",  [JSON_OBJECT] = "map"};
    return names[v->kind];
}

/* What Go's JSON decoder calls it. */
static const char *json_kind_of(const struct json *v) {
    static const char *const names[] = {
        [JSON_NULL] = "null",   [JSON_BOOL] = "bool",    [JSON_INT] = "number",
        [JSON_UINT] = "number", [JSON_FLOAT] = "number", [JSON_STRING] = "string",
        [JSON_ARRAY] = "array", [JSON_OBJECT] = "object"};
    return names[v->kind];
}

static bool is_number(const struct json *v) {
    return v->kind == JSON_INT || v->kind == JSON_UINT || v->kind == JSON_FLOAT;
}

static struct str name_of(struct restorer *r, const char *name) {
    AUTO(buf_release) struct buf text = BUF_INIT(LONGEST_GO_NAME);
    api__write_go_name(&text, r->version, name);
    return arena_str(r->a, buf_view(&text));
}

/* ---- scalars ---- */

enum base { STRING, BOOL, INTEGER, FLOAT };

static bool is_whole(const struct json *v) {
    double number = json_double(v);
    return number == trunc(number);
}

static bool fits(const struct json *v, enum base base) {
    switch (v->kind) {
    case JSON_STRING:
        return base == STRING;
    case JSON_BOOL:
        return base == BOOL;
    case JSON_INT:
        return base == INTEGER || base == FLOAT;
    case JSON_UINT:
    case JSON_FLOAT:
        return base == FLOAT || (base == INTEGER && is_whole(v));
    default:
        return false;
    }
}

/* Would Go convert a value of this sort, if it were not for JSON? */
static bool is_convertible(const struct json *v, enum base base) {
    return (v->kind == JSON_INT && base == STRING) ||
           ((v->kind == JSON_FLOAT || v->kind == JSON_UINT) && base == INTEGER);
}

static void scalar(struct restorer *r, const struct json *v, enum base base, const char *plain,
                   const char *go) {
    if (v->kind == JSON_NULL || fits(v, base))
        return;
    if (is_convertible(v, base))
        r->fault = arena_printf(r->a, "cannot convert %s to %.*s", kind_of(v),
                                STR_ARG(name_of(r, go ? go : plain)));
    else
        r->fault = arena_printf(r->a, "unrecognized type: %s", plain);
}

/* What a field's value must be: one function for each kind. */
typedef void restore_fn(struct restorer *r, const struct json *v, const struct api_field *f);
static restore_fn *const restorers[API_FIELD_KINDS];

static void text(struct restorer *r, const struct json *v, const struct api_field *f) {
    scalar(r, v, STRING, "string", f->go);
}

static void truth(struct restorer *r, const struct json *v, const struct api_field *f) {
    scalar(r, v, BOOL, "bool", f->go);
}

static void narrow(struct restorer *r, const struct json *v, const struct api_field *f) {
    scalar(r, v, INTEGER, "int32", f->go);
}

static void wide(struct restorer *r, const struct json *v, const struct api_field *f) {
    scalar(r, v, INTEGER, "int64", f->go);
}

static void real(struct restorer *r, const struct json *v, const struct api_field *f) {
    scalar(r, v, FLOAT, "float64", f->go);
}

/* ---- values that parse themselves ---- */

/* A number that is no such number is quoted. */
static void refuse_json(struct restorer *r, const struct json *v, const char *type, bool quotes) {
    AUTO(buf_release) struct buf number = BUF_INIT(LIMIT_OBJECT_BYTES);
    if (quotes && is_number(v)) {
        buf_add_char(&number, ' ');
        json_write(&number, v, NULL);
    }
    r->fault = arena_printf(r->a, "json: cannot unmarshal %s%.*s into Go value of type %s",
                            json_kind_of(v), STR_ARG(buf_view(&number)), type);
}

static void moment(struct restorer *r, const struct json *v, const struct api_field *f) {
    AUTO(buf_release) struct buf why = BUF_INIT(8 * LIMIT_OBJECT_BYTES);
    struct time_instant t;
    bool is_micro = f->kind == API_MICROTIME || f->kind == API_PMICROTIME;
    if (v->kind != JSON_STRING)
        refuse_json(r, v, "string", false);
    else if ((is_micro ? time_parse_micro : time_parse)(json_str(v), &t, &why) < 0)
        r->fault = arena_str(r->a, buf_view(&why));
}

static void amount(struct restorer *r, const struct json *v, const struct api_field *f) {
    struct quantity q;
    struct err err;
    (void)f;
    if (quantity_parse(r->a, api__quantity_text(r->a, v), &q, &err) < 0)
        r->fault = arena_str(r->a, str_of(err.msg));
}

static void int_or_str(struct restorer *r, const struct json *v, const struct api_field *f) {
    bool is_int = v->kind == JSON_INT && v->i >= INT32_MIN && v->i <= INT32_MAX;
    (void)f;
    if (v->kind != JSON_STRING && !is_int)
        refuse_json(r, v, "int32", true);
}

static void bytes(struct restorer *r, const struct json *v, const struct api_field *f) {
    struct str out;
    struct err err;
    (void)f;
    if (v->kind == JSON_STRING && v->n && base64_decode(r->a, json_str(v), &out, &err) < 0)
        r->fault = arena_printf(r->a, "error decoding from json: %s", err.msg);
    if (v->kind != JSON_STRING && v->kind != JSON_ARRAY)
        r->fault = arena_printf(r->a, "cannot restore slice from %s", kind_of(v));
    for (uint32_t i = 0; v->kind == JSON_ARRAY && i < v->n && !r->fault.n; i++)
        scalar(r, &v->items[i], INTEGER, "uint8", NULL);
}

static void anything(struct restorer *r, const struct json *v, const struct api_field *f) {
    (void)r, (void)v, (void)f;
}

/* ---- lists and maps ---- */

static const uint8_t elements[API_FIELD_KINDS] = {
    [API_LSTR] = API_STR,   [API_LI32] = API_I32,           [API_LI64] = API_I64,
    [API_LBOOL] = API_BOOL, [API_LRAW] = API_RAW,           [API_LQUANTITY] = API_QUANTITY,
    [API_LIST] = API_OBJ,   [API_MSTR] = API_STR,           [API_MBYTES] = API_BYTES,
    [API_MLSTR] = API_LSTR, [API_MQUANTITY] = API_QUANTITY, [API_MTIME] = API_TIME,
    [API_MOBJ] = API_OBJ,
};

static void one(struct restorer *r, const struct json *v, const struct api_field *f) {
    if (v->kind != JSON_NULL)
        restorers[f->kind](r, v, f);
}

static void list(struct restorer *r, const struct json *v, const struct api_field *f) {
    struct api_field item = {.kind = elements[f->kind], .type = f->type, .go = f->go};
    if (v->kind != JSON_ARRAY)
        r->fault = arena_printf(r->a, "cannot restore slice from %s", kind_of(v));
    for (uint32_t i = 0; v->kind == JSON_ARRAY && i < v->n && !r->fault.n; i++)
        one(r, &v->items[i], &item);
}

/* Entries are of the type that stands behind the bracket of the map's. */
static void map(struct restorer *r, const struct json *v, const struct api_field *f) {
    const char *bracket = f->go && f->kind != API_MLSTR ? strchr(f->go, ']') : NULL;
    struct api_field entry = {
        .kind = elements[f->kind], .type = f->type, .go = bracket ? bracket + 1 : NULL};
    if (v->kind != JSON_OBJECT)
        r->fault = arena_printf(r->a, "cannot restore map from %s", kind_of(v));
    for (uint32_t i = 0; v->kind == JSON_OBJECT && i < v->n && !r->fault.n; i++)
        one(r, &v->members[i].value, &entry);
}

/* ---- structs ---- */

static void members(struct restorer *r, const struct json *v, const struct api_type *type) {
    if (type->bare)
        return;
    if (v->kind != JSON_OBJECT) {
        r->fault = arena_printf(r->a, "cannot restore struct from: %s", kind_of(v));
        return;
    }
    for (size_t i = 0; i < type->field_count && !r->fault.n; i++) {
        const struct api_field *f = &type->fields[i];
        const struct json *value = f->kind == API_INLINE ? v : json_get(v, f->json);
        if (value)
            one(r, value, f);
    }
}

static void object(struct restorer *r, const struct json *v, const struct api_field *f) {
    members(r, v, f->type);
}

static restore_fn *const restorers[API_FIELD_KINDS] = {
    [API_STR] = text,         [API_PSTR] = text,         [API_BOOL] = truth,
    [API_PBOOL] = truth,      [API_I32] = narrow,        [API_PI32] = narrow,
    [API_I64] = wide,         [API_PI64] = wide,         [API_TIME] = moment,
    [API_PTIME] = moment,     [API_MICROTIME] = moment,  [API_PMICROTIME] = moment,
    [API_PF64] = real,        [API_BYTES] = bytes,       [API_QUANTITY] = amount,
    [API_PQUANTITY] = amount, [API_INTSTR] = int_or_str, [API_PINTSTR] = int_or_str,
    [API_RAW] = anything,     [API_PRAW] = anything,     [API_LSTR] = list,
    [API_LI32] = list,        [API_LI64] = list,         [API_LBOOL] = list,
    [API_LQUANTITY] = list,   [API_LRAW] = list,         [API_MSTR] = map,
    [API_MBYTES] = map,       [API_MLSTR] = map,         [API_MQUANTITY] = map,
    [API_MTIME] = map,        [API_OBJ] = object,        [API_PTR] = object,
    [API_LIST] = list,        [API_MOBJ] = map,          [API_INLINE] = object,
};

struct str api_restore_fault(struct arena *a, const struct api_kind *kind,
                             const struct json *tree) {
    const char *slash = strrchr(kind->api_version, '/');
    struct restorer r = {.a = a, .version = str_of(slash ? slash + 1 : kind->api_version)};
    members(&r, tree, kind->type);
    return r.fault;
}
