/* The well-known messages of protobuf that an expression can build: their fields' types, and the
 * values they become. */
#include "cel/check_int.h"
#include "cel/plan_int.h"

static const struct {
    const char *message, *field, *type;
} fields[] = {
    {"google.protobuf.BoolValue", "value", "bool"},
    {"google.protobuf.BytesValue", "value", "bytes"},
    {"google.protobuf.DoubleValue", "value", "double"},
    {"google.protobuf.FloatValue", "value", "double"},
    {"google.protobuf.Int32Value", "value", "int"},
    {"google.protobuf.Int64Value", "value", "int"},
    {"google.protobuf.UInt32Value", "value", "uint"},
    {"google.protobuf.UInt64Value", "value", "uint"},
    {"google.protobuf.StringValue", "value", "string"},
    {"google.protobuf.Duration", "seconds", "int"},
    {"google.protobuf.Duration", "nanos", "int"},
    {"google.protobuf.Timestamp", "seconds", "int"},
    {"google.protobuf.Timestamp", "nanos", "int"},
    {"google.protobuf.ListValue", "values", "list(dyn)"},
    {"google.protobuf.Struct", "fields", "map(string, dyn)"},
    {"google.protobuf.Value", "null_value", "int"},
    {"google.protobuf.Value", "number_value", "double"},
    {"google.protobuf.Value", "string_value", "string"},
    {"google.protobuf.Value", "bool_value", "bool"},
    {"google.protobuf.Value", "struct_value", "map(string, dyn)"},
    {"google.protobuf.Value", "list_value", "list(dyn)"},
    {"google.protobuf.Any", "type_url", "string"},
    {"google.protobuf.Any", "value", "bytes"},
};

const struct cel_type *cel__field_type(struct arena *a, const struct cel_type *t,
                                       struct str message, struct str field) {
    for (uint32_t i = 0; i < t->field_count; i++)
        if (str_eq(t->fields[i].name, field))
            return t->fields[i].type;
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        if (!str_is(message, fields[i].message) || !str_is(field, fields[i].field))
            continue;
        struct str text = str_of(fields[i].type);
        return cel__type_read(a, &text);
    }
    return NULL;
}

/* ---- values ---- */

static const struct cel_value *field(const struct str *names, const struct cel_value *values,
                                     uint32_t n, const char *name) {
    for (uint32_t i = n; i-- > 0;)
        if (str_is(names[i], name))
            return &values[i];
    return NULL;
}

static int64_t int_field(const struct str *names, const struct cel_value *values, uint32_t n,
                         const char *name) {
    const struct cel_value *v = field(names, values, n, name);
    return v && v->kind == CEL_INT ? v->i : 0;
}

static struct cel_value make_duration(int64_t seconds, int64_t nanos) {
    int64_t ns;
    if (__builtin_mul_overflow(seconds, 1000000000, &ns) || __builtin_add_overflow(ns, nanos, &ns))
        return CEL_OVERFLOW;
    return cel__duration(ns);
}

static struct cel_value make_timestamp(int64_t seconds, int64_t nanos) {
    return (struct cel_value){.kind = CEL_TIMESTAMP, .i = seconds, .n = (uint32_t)nanos};
}

/* The zero of a wrapper: what it holds when its field was not given. */
static struct cel_value zero_of(struct str type) {
    if (str_is(type, "google.protobuf.BoolValue"))
        return cel_of_bool(false);
    if (str_is(type, "google.protobuf.StringValue"))
        return cel_of_str(STR(""));
    if (str_is(type, "google.protobuf.BytesValue"))
        return cel__bytes(STR(""));
    if (str_is(type, "google.protobuf.DoubleValue") || str_is(type, "google.protobuf.FloatValue"))
        return cel_of_double(0);
    if (str_starts(type, STR("google.protobuf.UInt")))
        return cel_of_uint(0);
    return cel_of_int(0);
}

/* Values that do not fit into the 32 bits of their wrapper. */
static struct cel_value check_width(struct cel_eval *ev, struct str type, struct cel_value v) {
    if (str_is(type, "google.protobuf.Int32Value") && (v.i < INT32_MIN || v.i > INT32_MAX))
        return CEL_OVERFLOW;
    if (str_is(type, "google.protobuf.UInt32Value") && v.u > UINT32_MAX)
        return CEL_FAIL("unsigned integer overflow");
    if (str_is(type, "google.protobuf.FloatValue"))
        v.d = (double)(float)v.d;
    (void)ev;
    return v;
}

struct cel_value cel__message(struct cel_eval *ev, struct str type, const struct str *names,
                              const struct cel_value *values, uint32_t n) {
    static const struct cel_map empty;
    const struct cel_value *v;
    if (str_is(type, "google.protobuf.Duration"))
        return make_duration(int_field(names, values, n, "seconds"),
                             int_field(names, values, n, "nanos"));
    if (str_is(type, "google.protobuf.Timestamp"))
        return make_timestamp(int_field(names, values, n, "seconds"),
                              int_field(names, values, n, "nanos"));
    if (str_is(type, "google.protobuf.Struct")) {
        v = field(names, values, n, "fields");
        return v ? *v : cel_of_map(&empty);
    }
    if (str_is(type, "google.protobuf.ListValue")) {
        v = field(names, values, n, "values");
        return v ? *v : cel__list(NULL, 0);
    }
    if (str_is(type, "google.protobuf.Value"))
        return n && !str_is(names[n - 1], "null_value") ? values[n - 1] : cel_of_null();
    if (!str_starts(type, STR("google.protobuf.")))
        return cel__error(ev, "unknown type '%.*s'", STR_ARG(type));
    if (str_is(type, "google.protobuf.Any"))
        return CEL_FAIL("unsupported conversion to ref.Val: (*dynamicpb.Message)");
    v = field(names, values, n, "value");
    return check_width(ev, type, v && v->kind != CEL_NULL ? *v : zero_of(type));
}
