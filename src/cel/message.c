/* The well-known messages of protobuf that an expression can build: their fields' types, and the
 * values they become. */
#include "base/limits.h"
#include "cel/check_int.h"
#include "cel/opaque_int.h"
#include "cel/plan_int.h"

/* A field: the type that the checker takes it for, Go's type for it (NULL: a list or map of its
 * own), and the kind of value that it holds. */
struct message_field {
    const char *message, *field, *type, *native;
    uint8_t kind;
};

static const struct message_field fields[] = {
    {"google.protobuf.BoolValue", "value", "bool", "bool", CEL_BOOL},
    {"google.protobuf.BytesValue", "value", "bytes", "[]uint8", CEL_BYTES},
    {"google.protobuf.DoubleValue", "value", "double", "float64", CEL_DOUBLE},
    {"google.protobuf.FloatValue", "value", "double", "float32", CEL_DOUBLE},
    {"google.protobuf.Int32Value", "value", "int", "int32", CEL_INT},
    {"google.protobuf.Int64Value", "value", "int", "int64", CEL_INT},
    {"google.protobuf.UInt32Value", "value", "uint", "uint32", CEL_UINT},
    {"google.protobuf.UInt64Value", "value", "uint", "uint64", CEL_UINT},
    {"google.protobuf.StringValue", "value", "string", "string", CEL_STRING},
    {"google.protobuf.Duration", "seconds", "int", "int64", CEL_INT},
    {"google.protobuf.Duration", "nanos", "int", "int32", CEL_INT},
    {"google.protobuf.Timestamp", "seconds", "int", "int64", CEL_INT},
    {"google.protobuf.Timestamp", "nanos", "int", "int32", CEL_INT},
    {"google.protobuf.ListValue", "values", "list(dyn)", NULL, CEL_LIST},
    {"google.protobuf.Struct", "fields", "map(string, dyn)", NULL, CEL_MAP},
    {"google.protobuf.Value", "null_value", "int", "protoreflect.EnumNumber", CEL_INT},
    {"google.protobuf.Value", "number_value", "double", "float64", CEL_DOUBLE},
    {"google.protobuf.Value", "string_value", "string", "string", CEL_STRING},
    {"google.protobuf.Value", "bool_value", "bool", "bool", CEL_BOOL},
    {"google.protobuf.Value", "struct_value", "map(string, dyn)", "*structpb.Struct", CEL_MAP},
    {"google.protobuf.Value", "list_value", "list(dyn)", "*structpb.ListValue", CEL_LIST},
    {"google.protobuf.Any", "type_url", "string", "string", CEL_STRING},
    {"google.protobuf.Any", "value", "bytes", "[]uint8", CEL_BYTES},
};

static const struct message_field *find_field(struct str message, struct str field) {
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
        if (str_is(message, fields[i].message) && str_is(field, fields[i].field))
            return &fields[i];
    return NULL;
}

const struct cel_type *cel__field_type(struct arena *a, const struct cel_type *t,
                                       struct str message, struct str field) {
    for (uint32_t i = 0; i < t->field_count; i++)
        if (str_eq(t->fields[i].name, field))
            return t->fields[i].type;
    const struct message_field *f = find_field(message, field);
    struct str text = str_of(f ? f->type : NULL);
    return f ? cel__type_read(a, &text) : NULL;
}

/* ---- values that come as dyn, and numbers of 32 bits ---- */

static struct cel_value refuse(struct cel_eval *ev, const struct message_field *f, struct str why) {
    return cel__error(ev, "field type conversion error for %s.%s value type: %.*s", f->message,
                      f->field, STR_ARG(why));
}

static struct cel_value refuse_kind(struct cel_eval *ev, const struct message_field *f,
                                    struct cel_value v) {
    static const char *const words[CEL_KINDS] = {
        [CEL_NULL] = "type conversion error from 'null_type' to '%s'",
        [CEL_BOOL] = "type conversion error from bool to '%s'",
        [CEL_INT] = "unsupported type conversion from 'int' to %s",
        [CEL_UINT] = "unsupported type conversion from 'uint' to %s",
        [CEL_DOUBLE] = "type conversion error from Double to '%s'",
        [CEL_STRING] = "unsupported native conversion from string to '%s'",
        [CEL_BYTES] = "type conversion error from Bytes to '%s'",
        [CEL_DURATION] = "type conversion error from 'Duration' to '%s'",
        [CEL_TIMESTAMP] = "type conversion error from 'Timestamp' to '%s'",
        [CEL_TYPE] = "type conversion not supported for 'type'",
        [CEL_LIST] = "type conversion error from list to '%s'",
        [CEL_MAP] = "type conversion error from map to '%s'",
        [CEL_OPTIONAL] = "optional.none() dereference",
        [CEL_QUANTITY] = "type conversion error from 'Quantity' to '%s'",
        [CEL_SEMVER] = "type conversion error from 'Semver' to '%s'",
        [CEL_URL] = "type conversion error from 'URL' to '%s'",
        [CEL_IP] = "type conversion error from 'IP' to '%s'",
        [CEL_CIDR] = "type conversion error from 'CIDR' to '%s'",
        [CEL_FORMAT] = "type conversion error from 'Format' to '%s'"};
    if (!f->native)
        return cel__error(ev, "unsupported field type for %s.%s: %.*s", f->message, f->field,
                          STR_ARG(cel_type_name_of(v)));
    struct str head, tail;
    AUTO(buf_release) struct buf why = BUF_INIT(256);
    bool named = str_cut(str_of(words[v.kind]), '%', &head, &tail);
    buf_add(&why, head);
    buf_add(&why, named ? str_of(f->native) : STR(""));
    buf_add(&why, str_sub(tail, 1, tail.n));
    return refuse(ev, f, buf_view(&why));
}

static struct cel_value narrow(struct cel_eval *ev, const struct message_field *f,
                               struct cel_value v) {
    struct str native = str_of(f->native);
    if (str_is(native, "int32") && (v.i < INT32_MIN || v.i > INT32_MAX))
        return refuse(ev, f, STR("integer overflow"));
    if (str_is(native, "uint32") && v.u > UINT32_MAX)
        return refuse(ev, f, STR("unsigned integer overflow"));
    if (str_is(native, "float32"))
        v.d = (double)(float)v.d;
    return v;
}

/* The value as the field holds it, or an error. */
static struct cel_value convert(struct cel_eval *ev, const struct message_field *f,
                                struct cel_value v) {
    while (v.kind == CEL_OPTIONAL && v.opt)
        v = *v.opt;
    if (v.kind == f->kind)
        return narrow(ev, f, v);
    if (f->kind != CEL_STRING || v.kind < CEL_QUANTITY || v.kind == CEL_FORMAT)
        return refuse_kind(ev, f, v);
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CEL_EVAL_BYTES);
    cel__opaque_write(&text, v);
    return cel__string(ev, buf_view(&text));
}

/* ---- messages ---- */

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
    return v ? v->i : 0;
}

enum { NANOS = 1000000000 };

/* What is too long is as long as a duration can be. */
static struct cel_value make_duration(int64_t seconds, int64_t nanos) {
    int64_t ns;
    if (__builtin_mul_overflow(seconds, NANOS, &ns) || __builtin_add_overflow(ns, nanos, &ns))
        ns = seconds < 0 ? INT64_MIN : INT64_MAX;
    return cel__duration(ns);
}

static struct cel_value make_timestamp(int64_t seconds, int64_t nanos) {
    int64_t more = nanos / NANOS - (nanos % NANOS < 0);
    if (__builtin_add_overflow(seconds, more, &seconds))
        return CEL_OVERFLOW;
    return (struct cel_value){
        .kind = CEL_TIMESTAMP, .i = seconds, .n = (uint32_t)(nanos - more * NANOS)};
}

/* The zero of a wrapper: what it holds when its field was not given. */
static struct cel_value zero_of(struct str type) {
    const struct message_field *f = find_field(type, STR("value"));
    struct cel_value zero = {.kind = f ? f->kind : CEL_INT};
    if (zero.kind == CEL_STRING || zero.kind == CEL_BYTES)
        zero.s = "";
    return zero;
}

struct cel_value cel__message(struct cel_eval *ev, struct str type, const struct str *names,
                              struct cel_value *values, uint32_t n) {
    static const struct cel_map empty;
    const struct cel_value *v;
    for (uint32_t i = 0; i < n; i++) {
        const struct message_field *f = find_field(type, names[i]);
        values[i] = f ? convert(ev, f, values[i]) : values[i];
        if (values[i].kind == CEL_ERROR)
            return values[i];
    }
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
    return v ? *v : zero_of(type);
}
