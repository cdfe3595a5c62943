/*
 * The strings library, version 2. All places are counted in code points.
 *
 * Follows github.com/google/cel-go ext, func Strings, func charAt, func indexOf, func substr,
 * func replace.
 */
#include <math.h>
#include <string.h>

#include "base/limits.h"
#include "base/utf8.h"
#include "cel/lib/strings_int.h"

/* ---- places ---- */

static bool is_start(char c) {
    return ((unsigned char)c & 0xC0) != 0x80;
}

/* The byte at which code point `n` begins; the length when there are only n. */
static size_t byte_at(struct str s, uint64_t n) {
    size_t i = 0;
    for (; i < s.n; i++)
        if (is_start(s.p[i]) && n-- == 0)
            break;
    return i;
}

static int64_t length(struct str s) {
    return (int64_t)cel__size_of(cel_of_str(s));
}

static struct cel_value out_of_range(struct cel_eval *ev, int64_t i) {
    return cel__error(ev, "index out of range: %lld", (long long)i);
}

static struct cel_value part(struct str s, int64_t from, int64_t to) {
    size_t begin = byte_at(s, (uint64_t)from);
    size_t n = byte_at(str_sub(s, begin, s.n), (uint64_t)(to - from));
    return cel_of_str(str_sub(s, begin, begin + n));
}

static struct cel_value call_char_at(struct cel_eval *ev, const struct cel_value *args) {
    struct str s = cel_str(args[0]);
    int64_t i = args[1].i, n = length(s);
    if (i < 0 || i > n)
        return out_of_range(ev, i);
    return part(s, i, i < n ? i + 1 : n);
}

static struct cel_value call_substring(struct cel_eval *ev, const struct cel_value *args) {
    struct str s = cel_str(args[0]);
    int64_t n = length(s);
    return args[1].i < 0 || args[1].i > n ? out_of_range(ev, args[1].i) : part(s, args[1].i, n);
}

static struct cel_value call_substring_range(struct cel_eval *ev, const struct cel_value *args) {
    struct str s = cel_str(args[0]);
    int64_t from = args[1].i, to = args[2].i, n = length(s);
    if (from > to)
        return cel__error(ev, "invalid substring range. start: %lld, end: %lld", (long long)from,
                          (long long)to);
    if (from < 0 || from > n)
        return out_of_range(ev, from);
    return to > n ? out_of_range(ev, to) : part(s, from, to);
}

/* ---- searching ---- */

static struct cel_value index_of(struct cel_eval *ev, const struct cel_value *args, int64_t from) {
    struct str s = cel_str(args[0]), needle = cel_str(args[1]);
    int64_t n = length(s);
    if (from < 0)
        return out_of_range(ev, from);
    if (needle.n == 0)
        return cel_of_int(from > n ? n : from);
    if (from >= n)
        return cel_of_int(-1);
    size_t skip = byte_at(s, (uint64_t)from);
    size_t found = str_find(str_sub(s, skip, s.n), needle);
    if (found == STR_NONE)
        return cel_of_int(-1);
    return cel_of_int(from + length(str_sub(s, skip, skip + found)));
}

static struct cel_value call_index_of(struct cel_eval *ev, const struct cel_value *args) {
    return index_of(ev, args, 0);
}

static struct cel_value call_index_of_from(struct cel_eval *ev, const struct cel_value *args) {
    return index_of(ev, args, args[2].i);
}

/* The last match that begins at code point `last` or before. */
static int64_t find_last(struct str s, struct str needle, int64_t last) {
    size_t at = byte_at(s, (uint64_t)last) + 1;
    while (at-- > 0)
        if (at + needle.n <= s.n && is_start(s.p[at]) && memcmp(s.p + at, needle.p, needle.n) == 0)
            return length(str_sub(s, 0, at));
    return -1;
}

static struct cel_value last_index_of(struct cel_eval *ev, const struct cel_value *args,
                                      int64_t last) {
    struct str s = cel_str(args[0]), needle = cel_str(args[1]);
    int64_t n = length(s);
    if (last < 0)
        return out_of_range(ev, last);
    if (needle.n == 0)
        return cel_of_int(last > n ? n : last);
    return cel_of_int(last >= n ? -1 : find_last(s, needle, last));
}

static struct cel_value call_last_index_of(struct cel_eval *ev, const struct cel_value *args) {
    int64_t n = length(cel_str(args[0]));
    if (args[1].n == 0)
        return cel_of_int(n);
    return n == 0 ? cel_of_int(-1) : last_index_of(ev, args, n - 1);
}

static struct cel_value call_last_index_of_from(struct cel_eval *ev, const struct cel_value *args) {
    return last_index_of(ev, args, args[2].i);
}

/* ---- changing ---- */

static struct cel_value change_case(struct cel_eval *ev, struct cel_value v, char from, char to) {
    char *out = cel__alloc(ev, v.n + 1U);
    if (!out)
        return CEL_TOO_BIG;
    for (uint32_t i = 0; i < v.n; i++) {
        char c = v.s[i];
        out[i] = c >= from && c < from + 26 ? (char)(c - from + to) : c;
    }
    return cel_of_str((struct str){out, v.n});
}

static struct cel_value call_lower(struct cel_eval *ev, const struct cel_value *args) {
    return change_case(ev, args[0], 'A', 'a');
}

static struct cel_value call_upper(struct cel_eval *ev, const struct cel_value *args) {
    return change_case(ev, args[0], 'a', 'A');
}

static struct cel_value call_trim(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel_of_str(utf8_trim_space(cel_str(args[0])));
}

/* The result that was written, which may be thrown away: its bytes count. */
static struct cel_value finish(struct cel_eval *ev, const struct buf *out) {
    cel__work(ev, 4 * out->n);
    return out->full ? CEL_TOO_BIG : cel__string(ev, buf_view(out));
}

/* Where the next piece to replace or to split at begins; an empty one stands between code points.
 */
static size_t find_piece(struct str rest, struct str piece, bool first) {
    if (piece.n > 0)
        return str_find(rest, piece);
    if (first)
        return 0;
    return rest.n > 0 ? byte_at(rest, 1) : STR_NONE;
}

static struct cel_value replace(struct cel_eval *ev, const struct cel_value *args, int64_t limit) {
    struct str rest = cel_str(args[0]), old = cel_str(args[1]), with = cel_str(args[2]);
    AUTO(buf_release) struct buf out = BUF_INIT(LIMIT_CEL_EVAL_BYTES / 2);
    for (int64_t n = 0; n != limit && !out.full; n++) {
        size_t at = find_piece(rest, old, n == 0);
        if (at == STR_NONE)
            break;
        buf_add(&out, str_sub(rest, 0, at));
        buf_add(&out, with);
        rest = str_sub(rest, at + old.n, rest.n);
    }
    buf_add(&out, rest);
    return finish(ev, &out);
}

static struct cel_value call_replace(struct cel_eval *ev, const struct cel_value *args) {
    return replace(ev, args, -1);
}

static struct cel_value call_replace_n(struct cel_eval *ev, const struct cel_value *args) {
    return replace(ev, args, args[3].i < 0 ? -1 : args[3].i);
}

static size_t count_pieces(struct str s, struct str sep) {
    if (sep.n == 0)
        return (size_t)length(s);
    size_t n = 1, at;
    for (; (at = str_find(s, sep)) != STR_NONE; n++)
        s = str_sub(s, at + sep.n, s.n);
    return n;
}

static struct cel_value split(struct cel_eval *ev, const struct cel_value *args, int64_t limit) {
    struct str rest = cel_str(args[0]), sep = cel_str(args[1]);
    size_t n = count_pieces(rest, sep);
    if (limit >= 0 && (size_t)limit < n)
        n = (size_t)limit;
    struct cel_value *items = cel__alloc_values(ev, n);
    if (!items)
        return CEL_TOO_BIG;
    for (size_t i = 0; i < n; i++) {
        size_t at = i + 1 == n ? rest.n : sep.n ? str_find(rest, sep) : byte_at(rest, 1);
        items[i] = cel_of_str(str_sub(rest, 0, at));
        rest = str_sub(rest, at + sep.n, rest.n);
    }
    return cel__list(items, n);
}

static struct cel_value call_split(struct cel_eval *ev, const struct cel_value *args) {
    return split(ev, args, -1);
}

static struct cel_value call_split_n(struct cel_eval *ev, const struct cel_value *args) {
    return split(ev, args, args[2].i);
}

static struct cel_value join(struct cel_eval *ev, struct cel_value list, struct str sep) {
    AUTO(buf_release) struct buf out = BUF_INIT(LIMIT_CEL_EVAL_BYTES / 2);
    for (uint32_t i = 0; i < list.n; i++) {
        if (i > 0)
            buf_add(&out, sep);
        if (list.items[i].kind != CEL_STRING || out.full) {
            cel__work(ev, 4 * out.n);
            if (out.full)
                return CEL_TOO_BIG;
            buf_clear(&out);
            cel__write_plain(ev, &out, list.items[i]);
            return cel__error(ev, "join: invalid input: %.*s", STR_ARG(buf_view(&out)));
        }
        buf_add(&out, cel_str(list.items[i]));
    }
    return finish(ev, &out);
}

static struct cel_value call_join(struct cel_eval *ev, const struct cel_value *args) {
    return join(ev, args[0], STR(""));
}

static struct cel_value call_join_with(struct cel_eval *ev, const struct cel_value *args) {
    return join(ev, args[0], cel_str(args[1]));
}

static struct cel_value call_quote(struct cel_eval *ev, const struct cel_value *args) {
    static const char plain[] = "\a\b\f\n\r\t\v\\\"", letters[] = "abfnrtv\\\"";
    AUTO(buf_release) struct buf out = BUF_INIT(LIMIT_CEL_EVAL_BYTES / 2);
    buf_add_char(&out, '"');
    for (uint32_t i = 0; i < args[0].n; i++) {
        char c = args[0].s[i];
        const char *found = c ? strchr(plain, c) : NULL;
        if (found)
            buf_add_char(&out, '\\');
        buf_add_char(&out, found ? letters[found - plain] : c);
    }
    buf_add_char(&out, '"');
    return finish(ev, &out);
}

/* ---- costs ---- */

static struct cel_estimated est_quote(const struct cel_call_est *call) {
    struct cel_estimated e = cel__est_arg_keep(call);
    e.size = (struct cel_range){e.size.min + 2, e.size.max * 2 + 2}; /* wraps, as upstream's does */
    return e;
}

/* How often the old text can be replaced, and how much of the text is kept, at one end of the
 * ranges: all of it where replacing makes it no longer, or no shorter. */
static uint64_t replaced_size(uint64_t size, uint64_t old, uint64_t with, bool kept) {
    if (old == 0)
        return cel__add_sat(cel__mul_sat(cel__add_sat(size, 1), with), size);
    if (kept)
        return size;
    double times = ceil((double)size / (double)old);
    return cel__mul_sat(times >= 0x1p64 ? UINT64_MAX : (uint64_t)times, with);
}

static struct cel_estimated est_replace(const struct cel_call_est *call) {
    struct cel_range size = cel__operand_size(call->target);
    struct cel_range old = cel__operand_size(&call->args[0]);
    struct cel_range with = cel__operand_size(&call->args[1]);
    struct cel_range result;
    result.max = replaced_size(size.max, old.min, with.max, with.max <= old.min);
    result.min = replaced_size(size.min, old.max, with.min, old.max <= with.min);
    return (struct cel_estimated){cel__range_scale(size, 0.2), result, true};
}

static struct cel_estimated est_split(const struct cel_call_est *call) {
    struct cel_estimated e = cel__est_target_twice(call);
    const struct cel_value *limit = call->n > 1 ? cel__operand_literal(&call->args[1]) : NULL;
    e.size = (struct cel_range){0, cel__operand_size(call->target).max};
    if (limit && limit->kind == CEL_INT)
        e.size.max = (uint64_t)limit->i;
    e.sized = true;
    return e;
}

static struct cel_estimated est_join(const struct cel_call_est *call) {
    struct cel_range list = cel__operand_size(call->target), size = {0, 0};
    struct cel_operand elem;
    if (cel__operand_elem(call->target, &elem))
        size = cel__range_mul(list, cel__operand_size(&elem));
    if (call->n > 0) {
        struct cel_range gaps = {list.min ? list.min - 1 : 0, list.max ? list.max - 1 : 0};
        size = cel__range_add(size, cel__range_mul(cel__operand_size(&call->args[0]), gaps));
    }
    return (struct cel_estimated){cel__range_scale(size, 0.1), size, true};
}

static uint64_t cost_join(struct cel_eval *ev, const struct cel_value *args,
                          const struct cel_value *result) {
    (void)ev;
    (void)args;
    return cel__scale(cel__size_of(*result), 0.2);
}

/* ---- rows ---- */

enum { NAME = CEL_FN_COST_BY_NAME };

static const struct cel_fn fns[] = {
    {"charAt", "string_char_at_int", "string.(int) -> string", call_char_at, NULL, NULL, 0,
     "the character at a place"},
    {"indexOf", "string_index_of_string", "string.(string) -> int", call_index_of,
     cel__est_traverse, cel__cost_traverse, NAME, "where the text occurs first, or -1"},
    {"indexOf", "string_index_of_string_int", "string.(string, int) -> int", call_index_of_from,
     cel__est_traverse, cel__cost_traverse, NAME, "the same, from a place on"},
    {"lastIndexOf", "string_last_index_of_string", "string.(string) -> int", call_last_index_of,
     cel__est_traverse, cel__cost_traverse, NAME, "where the text occurs last, or -1"},
    {"lastIndexOf", "string_last_index_of_string_int", "string.(string, int) -> int",
     call_last_index_of_from, cel__est_traverse, cel__cost_traverse, NAME,
     "the same, up to a place"},
    {"lowerAscii", "string_lower_ascii", "string.() -> string", call_lower, cel__est_target_keep,
     cel__cost_walk, NAME, "with small ASCII letters"},
    {"upperAscii", "string_upper_ascii", "string.() -> string", call_upper, cel__est_target_keep,
     cel__cost_walk, NAME, "with capital ASCII letters"},
    {"replace", "string_replace_string_string", "string.(string, string) -> string", call_replace,
     est_replace, cel__cost_walk_twice, NAME, "with every occurrence of the first text replaced"},
    {"replace", "string_replace_string_string_int", "string.(string, string, int) -> string",
     call_replace_n, est_replace, cel__cost_walk_twice, NAME, "the same, at most n times"},
    {"split", "string_split_string", "string.(string) -> list(string)", call_split, est_split,
     cel__cost_walk_twice, NAME, "the pieces between the separators"},
    {"split", "string_split_string_int", "string.(string, int) -> list(string)", call_split_n,
     est_split, cel__cost_walk_twice, NAME, "the same, at most n pieces"},
    {"substring", "string_substring_int", "string.(int) -> string", call_substring,
     cel__est_target_keep, cel__cost_walk, NAME, "from a place to the end"},
    {"substring", "string_substring_int_int", "string.(int, int) -> string", call_substring_range,
     cel__est_target_keep, cel__cost_walk, NAME, "between two places"},
    {"trim", "string_trim", "string.() -> string", call_trim, cel__est_target_keep, cel__cost_walk,
     NAME, "without white space at both ends"},
    {"format", "string_format", "string.(list(dyn)) -> string", cel__format, cel__est_target,
     cel__cost_walk_inside, CEL_FN_ANY_COUNT,
     "the text with its clauses (%s, %d, %f, %e, %b, %x, %X, %o) filled in"},
    {"strings.quote", "strings_quote", "(string) -> string", call_quote, est_quote,
     cel__cost_walk_inside, 0, "in quotes, with escapes"},
    {"join", "list_join", "list(string).() -> string", call_join, est_join, cost_join, NAME,
     "all elements, one behind the other"},
    {"join", "list_join_string", "list(string).(string) -> string", call_join_with, est_join,
     cost_join, NAME, "all elements, with a separator between them"},
};

const struct cel_library cel__lib_strings = {CEL_LIB_STRINGS, fns, sizeof fns / sizeof *fns};
