/*
 * Conversions: int(x), string(x) and so on. Their errors name both types, and never the value.
 *
 * Follows github.com/google/cel-go common/types, func (Int) ConvertToType,
 * func (Double) ConvertToType, func (String) ConvertToType.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "base/utf8.h"
#include "cel/kit/timestamp_int.h"
#include "cel/opaque_int.h"
#include "cel/run/text_int.h"

static struct cel_value conversion_error(struct cel_eval *ev, struct cel_value from,
                                         const char *to) {
    return cel__error(ev, "type conversion error from '%.*s' to '%s'",
                      STR_ARG(cel_type_name_of(from)), to);
}

static struct cel_value identity(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return args[0];
}

/* ---- to bool, bytes ---- */

static struct cel_value string_to_bool(struct cel_eval *ev, const struct cel_value *args) {
    static const char *const words[2][6] = {{"0", "f", "F", "FALSE", "false", "False"},
                                            {"1", "t", "T", "TRUE", "true", "True"}};
    for (int b = 0; b < 2; b++)
        for (int i = 0; i < 6; i++)
            if (str_is(cel_str(args[0]), words[b][i]))
                return cel_of_bool(b);
    return conversion_error(ev, args[0], "bool");
}

static struct cel_value string_to_bytes(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel__bytes(cel_str(args[0]));
}

/* ---- to numbers ---- */

/* Go's ParseInt and ParseUint in base 10: no white space, no underscores. */
static bool read_u64(struct str s, uint64_t *out) {
    uint64_t v = 0;
    if (s.n == 0)
        return false;
    for (size_t i = 0; i < s.n; i++) {
        if (!ascii_is_digit(s.p[i]) || __builtin_mul_overflow(v, 10, &v) ||
            __builtin_add_overflow(v, (uint64_t)(s.p[i] - '0'), &v))
            return false;
    }
    *out = v;
    return true;
}

static struct cel_value string_to_int(struct cel_eval *ev, const struct cel_value *args) {
    struct str s = cel_str(args[0]);
    bool negative = str_starts(s, STR("-"));
    uint64_t v;
    if (negative || str_starts(s, STR("+")))
        s = str_sub(s, 1, s.n);
    if (!read_u64(s, &v) || v > (uint64_t)INT64_MAX + negative)
        return conversion_error(ev, args[0], "int");
    return cel_of_int(negative ? (int64_t)(0 - v) : (int64_t)v);
}

static struct cel_value double_to_int(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    double d = args[0].d;
    bool in_range = d > -0x1p63 && d < 0x1p63;
    return in_range ? cel_of_int((int64_t)d) : CEL_OVERFLOW;
}

static struct cel_value uint_to_int(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return args[0].u > INT64_MAX ? CEL_OVERFLOW : cel_of_int((int64_t)args[0].u);
}

/* Nanoseconds of a duration, seconds of a timestamp. */
static struct cel_value time_to_int(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel_of_int(args[0].i);
}

static struct cel_value string_to_uint(struct cel_eval *ev, const struct cel_value *args) {
    uint64_t v;
    return read_u64(cel_str(args[0]), &v) ? cel_of_uint(v) : conversion_error(ev, args[0], "uint");
}

#define UINT_OVERFLOW CEL_FAIL("unsigned integer overflow")

static struct cel_value double_to_uint(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    double d = args[0].d;
    return d >= 0 && d < 0x1p64 ? cel_of_uint((uint64_t)d) : UINT_OVERFLOW;
}

static struct cel_value int_to_uint(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return args[0].i < 0 ? UINT_OVERFLOW : cel_of_uint((uint64_t)args[0].i);
}

static struct cel_value int_to_double(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel_of_double((double)args[0].i);
}

static struct cel_value uint_to_double(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel_of_double((double)args[0].u);
}

static struct cel_value string_to_double(struct cel_eval *ev, const struct cel_value *args) {
    double d;
    if (!cel__work(ev, (uint64_t)args[0].n * CEL_WORK_BYTE))
        return CEL_TOO_BIG;
    return cel__go_parse_float(cel_str(args[0]), &d) ? cel_of_double(d)
                                                     : conversion_error(ev, args[0], "double");
}

/* ---- to string ---- */

static struct cel_value written(struct cel_eval *ev, const struct buf *text) {
    return cel__string(ev, buf_view(text));
}

static struct cel_value plain_to_string(struct cel_eval *ev, const struct cel_value *args) {
    AUTO(buf_release) struct buf text = BUF_INIT(1024);
    switch (args[0].kind) {
    case CEL_DURATION:
        cel__write_duration(&text, args[0].i);
        break;
    case CEL_TIMESTAMP:
        cel__write_timestamp(&text, args[0]);
        break;
    default:
        cel__write_plain(ev, &text, args[0]);
    }
    return written(ev, &text);
}

static struct cel_value bytes_to_string(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    struct str s = cel_str(args[0]);
    if (utf8_valid_prefix(s) < s.n)
        return CEL_FAIL("invalid UTF-8 in bytes, cannot convert to string");
    return cel_of_str(s);
}

/* ---- to times ---- */

static struct cel_value string_to_duration(struct cel_eval *ev, const struct cel_value *args) {
    int64_t ns;
    if (!cel__work(ev, (uint64_t)args[0].n * CEL_WORK_BYTE))
        return CEL_TOO_BIG;
    return cel__parse_duration(cel_str(args[0]), &ns)
               ? cel__duration(ns)
               : conversion_error(ev, args[0], "google.protobuf.Duration");
}

static struct cel_value int_to_timestamp(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    int64_t s = args[0].i;
    if (s < CEL_MIN_SECONDS || s > CEL_MAX_SECONDS)
        return CEL_FAIL("timestamp overflow");
    return (struct cel_value){.kind = CEL_TIMESTAMP, .i = s};
}

static struct cel_value string_to_timestamp(struct cel_eval *ev, const struct cel_value *args) {
    struct cel_value t;
    if (!cel__work(ev, (uint64_t)args[0].n * CEL_WORK_BYTE))
        return CEL_TOO_BIG;
    if (!cel__parse_timestamp(cel_str(args[0]), &t))
        return conversion_error(ev, args[0], "google.protobuf.Timestamp");
    if (t.i < CEL_MIN_SECONDS || t.i > CEL_MAX_SECONDS)
        return CEL_FAIL("timestamp overflow");
    return t;
}

/* ---- rows ---- */

static struct cel_estimated est_to_bytes(const struct cel_call_est *call) {
    struct cel_estimated e = cel__est_arg_keep(call);
    e.size.max *= 4; /* wraps around, as upstream's does */
    return e;
}

static struct cel_estimated est_to_string(const struct cel_call_est *call) {
    struct cel_estimated e = cel__est_arg_keep(call);
    e.size.min /= 4;
    return e;
}

enum { CONV = CEL_FN_CONVERSION };

static const struct cel_fn fns[] = {
    {"bool", "bool_to_bool", "(bool) -> bool", identity, NULL, NULL, CONV, "the value itself"},
    {"bool", "string_to_bool", "(string) -> bool", string_to_bool, NULL, NULL, CONV,
     "1 t T TRUE true True, or 0 f F FALSE false False"},
    {"bytes", "bytes_to_bytes", "(bytes) -> bytes", identity, NULL, NULL, CONV, "the value itself"},
    {"bytes", "string_to_bytes", "(string) -> bytes", string_to_bytes, est_to_bytes, cel__cost_walk,
     CONV, "the UTF-8 bytes"},
    {"double", "double_to_double", "(double) -> double", identity, NULL, NULL, CONV,
     "the value itself"},
    {"double", "int64_to_double", "(int) -> double", int_to_double, NULL, NULL, CONV,
     "the nearest double"},
    {"double", "string_to_double", "(string) -> double", string_to_double, NULL, NULL, CONV,
     "the number that the text is"},
    {"double", "uint64_to_double", "(uint) -> double", uint_to_double, NULL, NULL, CONV,
     "the nearest double"},
    {"duration", "duration_to_duration", "(duration) -> duration", identity, NULL, NULL, CONV,
     "the value itself"},
    {"duration", "string_to_duration", "(string) -> duration", string_to_duration, NULL, NULL, CONV,
     "the duration that the text is, as \"1h30m\""},
    {"int", "int64_to_int64", "(int) -> int", identity, NULL, NULL, CONV, "the value itself"},
    {"int", "double_to_int64", "(double) -> int", double_to_int, NULL, NULL, CONV,
     "the number without its fraction"},
    {"int", "duration_to_int64", "(duration) -> int", time_to_int, NULL, NULL, CONV, "nanoseconds"},
    {"int", "string_to_int64", "(string) -> int", string_to_int, NULL, NULL, CONV,
     "the decimal number that the text is"},
    {"int", "timestamp_to_int64", "(timestamp) -> int", time_to_int, NULL, NULL, CONV,
     "seconds since 1970"},
    {"int", "uint64_to_int64", "(uint) -> int", uint_to_int, NULL, NULL, CONV, "the same number"},
    {"string", "string_to_string", "(string) -> string", identity, NULL, NULL, CONV,
     "the value itself"},
    {"string", "bool_to_string", "(bool) -> string", plain_to_string, NULL, NULL, CONV,
     "\"true\" or \"false\""},
    {"string", "bytes_to_string", "(bytes) -> string", bytes_to_string, est_to_string,
     cel__cost_walk, CONV, "the bytes, which must be UTF-8"},
    {"string", "double_to_string", "(double) -> string", plain_to_string, NULL, NULL, CONV,
     "as few digits as read back"},
    {"string", "duration_to_string", "(duration) -> string", plain_to_string, NULL, NULL, CONV,
     "seconds, as \"5400s\""},
    {"string", "int64_to_string", "(int) -> string", plain_to_string, NULL, NULL, CONV, "decimal"},
    {"string", "timestamp_to_string", "(timestamp) -> string", plain_to_string, NULL, NULL, CONV,
     "RFC 3339"},
    {"string", "uint64_to_string", "(uint) -> string", plain_to_string, NULL, NULL, CONV,
     "decimal"},
    {"timestamp", "timestamp_to_timestamp", "(timestamp) -> timestamp", identity, NULL, NULL, CONV,
     "the value itself"},
    {"timestamp", "int64_to_timestamp", "(int) -> timestamp", int_to_timestamp, NULL, NULL, CONV,
     "seconds since 1970"},
    {"timestamp", "string_to_timestamp", "(string) -> timestamp", string_to_timestamp, NULL, NULL,
     CONV, "the moment that an RFC 3339 text is"},
    {"uint", "uint64_to_uint64", "(uint) -> uint", identity, NULL, NULL, CONV, "the value itself"},
    {"uint", "double_to_uint64", "(double) -> uint", double_to_uint, NULL, NULL, CONV,
     "the number without its fraction"},
    {"uint", "int64_to_uint64", "(int) -> uint", int_to_uint, NULL, NULL, CONV, "the same number"},
    {"uint", "string_to_uint64", "(string) -> uint", string_to_uint, NULL, NULL, CONV,
     "the decimal number that the text is"},
};

const struct cel_library cel__lib_convert = {CEL_LIB_STD, fns, sizeof fns / sizeof *fns};
