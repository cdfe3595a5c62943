/*
 * The well-known messages of protobuf that an expression can build: their fields' types, and the
 * values they become.
 *
 * Follows github.com/google/cel-go common/types, func (*Registry) NewValue,
 * func (*Registry) FindStructFieldType.
 */
#include "base/limits.h"
#include "base/utf8.h"
#include "cel/run/plan_int.h"
#include "cel/run/text_int.h"
#include "cel/types_int.h"

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

/* Of a JSONPatch upstream knows every field, but not what type the others have: theirs has no name,
 * and no value has it. */
static const struct cel_type *nameless(const struct cel_type *t) {
    static const struct cel_type no_type = {.kind = CEL_T_BYTES, .name = STR_INIT("")};
    return t->fields && str_is(t->name, "JSONPatch") ? &no_type : NULL;
}

const struct cel_type *cel__field_type(struct arena *a, const struct cel_type *t,
                                       struct str message, struct str field) {
    if (t->open)
        return cel__type(CEL_T_DYN);
    for (uint32_t i = t->field_count; i-- > 0;)
        if (str_eq(t->fields[i].name, field))
            return t->fields[i].type;
    const struct message_field *f = find_field(message, field);
    struct str text = str_of(f ? f->type : NULL);
    return f ? cel__type_read(a, &text) : nameless(t);
}

/* ---- values that come as dyn ---- */

/* A list or map where the message has the other one, or neither. */
static struct cel_value refuse_type(struct cel_eval *ev, const struct message_field *f,
                                    struct cel_value v) {
    return cel__error(ev, "unsupported field type for %s.%s: %.*s%s", f->message, f->field,
                      STR_ARG(cel_type_name_of(v)), cel__type_params(v));
}

/* The value as the field holds it, or an error. */
static struct cel_value convert(struct cel_eval *ev, const struct message_field *f,
                                struct cel_value v) {
    if (!f->native && v.kind != f->kind)
        return refuse_type(ev, f, v);
    v = cel__to_native(ev, v, f->native, f->kind);
    if (v.kind != CEL_ERROR)
        return v;
    return cel__error(ev, "field type conversion error for %s.%s value type: %.*s", f->message,
                      f->field, STR_ARG(cel_str(v)));
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

/* As protobuf's text format has it. */
static void write_quoted(struct buf *out, struct str s) {
    buf_add_char(out, '"');
    for (size_t len; s.n; s = str_sub(s, len, s.n)) {
        uint32_t c = utf8_decode(s, &len);
        if (c == '\n' || c == '\r' || c == '\t')
            buf_addf(out, "\\%c", c == '\n' ? 'n' : c == '\r' ? 'r' : 't');
        else if (c == '"' || c == '\\')
            buf_addf(out, "\\%c", (char)c);
        else if (c == UTF8_INVALID || c < ' ' || c == 0x7f)
            buf_addf(out, "\\x%02x", (uint8_t)s.p[0]);
        else if (c >= 0x80 && c < 0xa0)
            buf_addf(out, "\\u%04x", c);
        else
            buf_add(out, str_sub(s, 0, len));
    }
    buf_add_char(out, '"');
}

/* What is in an Any cannot be known: upstream fails, and shows it. */
static struct cel_value refuse_any(struct cel_eval *ev, const struct str *names,
                                   const struct cel_value *values, uint32_t n) {
    static const char *const members[] = {"type_url", "value"};
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CEL_EVAL_BYTES);
    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        const struct cel_value *v = field(names, values, n, members[i]);
        if (!v || v->n == 0)
            continue;
        buf_addf(&text, "%s%s:", buf_view(&text).n ? " " : "", members[i]);
        write_quoted(&text, cel_str(*v));
    }
    return cel__error(ev, "unsupported conversion to ref.Val: (*dynamicpb.Message)%.*s",
                      STR_ARG(buf_view(&text)));
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
        return refuse_any(ev, names, values, n);
    v = field(names, values, n, "value");
    return v ? *v : zero_of(type);
}
