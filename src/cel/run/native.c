/*
 * Values on their way into the fields of protobuf's messages: what becomes of them inside
 * google.protobuf.Value, which knows JSON's types only, and why some cannot go there. The names of
 * types are Go's, because the errors have them.
 *
 * Follows github.com/google/cel-go common/types, func (*baseList) ConvertToNative,
 * func (*baseMap) ConvertToNative, func (String) ConvertToNative.
 */
#include <stdio.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "cel/opaque_int.h"
#include "cel/run/plan_int.h"
#include "cel/run/text_int.h"
#include "codec/base64.h"

#define UINT_OVERFLOW CEL_FAIL("unsigned integer overflow")

/* The error of a value that cannot become this type. */
static struct cel_value refuse(struct cel_eval *ev, struct cel_value v, const char *native) {
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
    struct str head, tail;
    AUTO(buf_release) struct buf why = BUF_INIT(256);
    bool named = str_cut(str_of(words[v.kind]), '%', &head, &tail);
    buf_add(&why, head);
    buf_add(&why, named ? str_of(native) : STR(""));
    buf_add(&why, str_sub(tail, 1, tail.n));
    return cel__error(ev, "%.*s", STR_ARG(buf_view(&why)));
}

static struct cel_value unwrapped(struct cel_value v) {
    while (v.kind == CEL_OPTIONAL && v.opt)
        v = *v.opt;
    return v;
}

/* ---- JSON ---- */

static struct cel_value json_list(struct cel_eval *ev, struct cel_value list) {
    struct cel_value *items = cel__alloc_values(ev, list.n);
    if (list.n && !items)
        return CEL_TOO_BIG;
    for (uint32_t i = 0; i < list.n; i++) {
        items[i] = cel__to_json(ev, list.items[i]);
        if (items[i].kind == CEL_ERROR)
            return items[i];
    }
    return cel__list(items, list.n);
}

static struct cel_value json_map(struct cel_eval *ev, const struct cel_map *map) {
    struct cel_map_builder b = {.ev = ev};
    for (uint32_t i = 0; i < map->n; i++) {
        struct cel_value key = map->entries[i].key;
        if (key.kind != CEL_STRING)
            return refuse(ev, key, "string");
        struct cel_value v = cel__to_json(ev, map->entries[i].value);
        if (v.kind == CEL_ERROR)
            return v;
        if (!cel__map_put(&b, key, v))
            return CEL_TOO_BIG;
    }
    return cel__map_done(&b);
}

/* Times as texts, bytes in base64, integers in decimal. */
static struct cel_value json_text(struct cel_eval *ev, struct cel_value v) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CEL_EVAL_BYTES);
    if (v.kind == CEL_DURATION)
        cel__write_duration(&text, v.i);
    else if (v.kind == CEL_TIMESTAMP)
        cel__write_timestamp(&text, v);
    else if (v.kind == CEL_BYTES)
        base64_write(&text, cel_str(v));
    else
        cel__write_plain(ev, &text, v);
    return cel__string(ev, buf_view(&text));
}

/* An integer is a number as long as a double holds it and its neighbours. */
static struct cel_value json_int(struct cel_eval *ev, struct cel_value v) {
    const int64_t most = (INT64_C(1) << 53) - 1;
    if (v.kind == CEL_INT && v.i >= -most && v.i <= most)
        return cel_of_double((double)v.i);
    if (v.kind == CEL_UINT && v.u <= (uint64_t)most)
        return cel_of_double((double)v.u);
    return json_text(ev, v);
}

struct cel_value cel__to_json(struct cel_eval *ev, struct cel_value v) {
    v = unwrapped(v);
    switch (v.kind) {
    case CEL_NULL:
    case CEL_BOOL:
    case CEL_DOUBLE:
    case CEL_STRING:
        return v;
    case CEL_INT:
    case CEL_UINT:
        return json_int(ev, v);
    case CEL_BYTES:
    case CEL_DURATION:
    case CEL_TIMESTAMP:
        return json_text(ev, v);
    case CEL_LIST:
        return json_list(ev, v);
    case CEL_MAP:
        return json_map(ev, v.map);
    default:
        return refuse(ev, v, "*structpb.Value");
    }
}

/* ---- maps as Go's structs, lists as bytes ---- */

/* snake_case to UpperCamelCase. */
static void write_go_name(struct buf *out, struct str name) {
    char before = '_';
    name = utf8_trim_space(name);
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i], was = before;
        before = c;
        if (c == '_' || c == '-')
            continue;
        if ((was == '_' || was == '-') && ascii_is_lower(c))
            c = (char)(c - 'a' + 'A');
        else if (was != '_' && was != '-' && !ascii_is_lower(was))
            c = ascii_to_lower(c);
        buf_add_char(out, c);
    }
}

/* A map is taken for the fields of the Go struct, which has one. */
static struct cel_value map_to_list(struct cel_eval *ev, const struct cel_map *map) {
    struct cel_value list = cel__list(NULL, 0);
    for (uint32_t i = 0; i < map->n; i++) {
        AUTO(buf_release) struct buf key = BUF_INIT(LIMIT_CEL_EVAL_BYTES);
        AUTO(buf_release) struct buf name = BUF_INIT(LIMIT_CEL_EVAL_BYTES);
        if (map->entries[i].key.kind == CEL_NULL)
            buf_add(&key, STR("null"));
        else
            cel__write_plain(ev, &key, map->entries[i].key);
        write_go_name(&name, buf_view(&key));
        if (!str_is(buf_view(&name), "Values"))
            return cel__error(
                ev, "type conversion error, no such field '%.*s' in type 'structpb.ListValue'",
                STR_ARG(buf_view(&name)));
        list = unwrapped(map->entries[i].value);
        list = list.kind == CEL_LIST ? json_list(ev, list) : refuse(ev, list, "[]*structpb.Value");
        if (list.kind == CEL_ERROR)
            return list;
    }
    return list;
}

static struct cel_value list_to_bytes(struct cel_eval *ev, struct cel_value list) {
    char *bytes = cel__alloc(ev, list.n);
    if (list.n && !bytes)
        return CEL_TOO_BIG;
    for (uint32_t i = 0; i < list.n; i++) {
        struct cel_value v = unwrapped(list.items[i]);
        if (v.kind != CEL_UINT)
            return refuse(ev, v, "uint8");
        if (v.u > UINT8_MAX)
            return UINT_OVERFLOW;
        bytes[i] = (char)v.u;
    }
    return cel__bytes((struct str){bytes, list.n});
}

/* ---- a field ---- */

static struct cel_value opaque_to_string(struct cel_eval *ev, struct cel_value v) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CEL_EVAL_BYTES);
    cel__opaque_write(&text, v);
    return cel__string(ev, buf_view(&text));
}

/* A value of the right kind, which may be too large for the type. */
static struct cel_value narrow(struct cel_value v, struct str native) {
    bool is_int32 = str_is(native, "int32") || str_is(native, "protoreflect.EnumNumber");
    if (is_int32 && (v.i < INT32_MIN || v.i > INT32_MAX))
        return CEL_OVERFLOW;
    if (str_is(native, "uint32") && v.u > UINT32_MAX)
        return UINT_OVERFLOW;
    if (str_is(native, "float32"))
        v.d = (double)(float)v.d;
    return v;
}

struct cel_value cel__to_native(struct cel_eval *ev, struct cel_value v, const char *native,
                                enum cel_kind kind) {
    v = unwrapped(v);
    if (v.kind == kind)
        return kind == CEL_LIST || kind == CEL_MAP ? cel__to_json(ev, v)
                                                   : narrow(v, str_of(native));
    if (kind == CEL_STRING && v.kind >= CEL_QUANTITY && v.kind != CEL_FORMAT)
        return opaque_to_string(ev, v);
    if (kind == CEL_BYTES && v.kind == CEL_LIST)
        return list_to_bytes(ev, v);
    if (kind == CEL_LIST && v.kind == CEL_MAP)
        return map_to_list(ev, v.map);
    return refuse(ev, v, native);
}
