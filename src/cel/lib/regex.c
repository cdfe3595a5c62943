/*
 * Regular expressions: matches, find, findAll.
 *
 * Follows k8s.io/apiserver pkg/cel/library, func Regex, func find, func findAll.
 * Follows github.com/google/cel-go common/types, func (String) Match.
 */
#include "cel/cel_int.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "cel/kit/pattern_int.h"
#include "cel/kit/regex_int.h"

/* ---- patterns ---- */

/* The pattern of a call, compiled before or now; NULL with *error when it is none. */
struct pattern {
    const struct cel_regex *re;
    struct cel_regex *own;
};

/* Work of compiling a pattern, in bytes read in the same time. */
enum { PER_PATTERN = 16 << 10, PER_STEP = 512 };

static struct cel_regex *compile_now(struct cel_eval *ev, struct str text, struct buf *why) {
    size_t steps = LIMIT_CEL_REGEX_STEPS;
    struct cel_regex *re = cel__regex_new(text, &steps, why);
    cel__work(ev, PER_PATTERN + PER_STEP * (LIMIT_CEL_REGEX_STEPS - steps));
    return re;
}

static bool open_pattern(struct cel_eval *ev, struct cel_value text, const char *prefix,
                         struct pattern *out, struct cel_value *error) {
    AUTO(buf_release) struct buf why = BUF_INIT(4096);
    bool constant = ev->pattern != NULL;
    out->own = constant ? NULL : compile_now(ev, cel_str(text), &why);
    out->re = constant ? cel__pattern_regex(ev->pattern, &why) : out->own;
    if (!out->re) /* a constant one fails in the words of the planner */
        *error = cel__error(ev, "%s%.*s", constant ? "" : prefix, STR_ARG(buf_view(&why)));
    return out->re != NULL;
}

/* Small programs read a byte in a few nanoseconds, whatever they are. Large ones may go through all
 * their instructions for each. */
enum { SMALL_STEPS = 64 };

static void count_search(struct cel_eval *ev, const struct cel_regex *re, struct str text) {
    size_t steps = cel__regex_steps(re);
    cel__work(ev, steps > SMALL_STEPS ? cel__mul_sat(text.n, steps) : text.n);
}

/* ---- functions ---- */

/* Where the pattern is constant, upstream takes whatever is a string for Go. */
static bool go_string(struct cel_value v, struct str *out) {
    while (v.kind == CEL_OPTIONAL && v.opt)
        v = *v.opt;
    *out = v.kind == CEL_TYPE ? v.type->name : v.kind == CEL_STRING ? cel_str(v) : STR("");
    return v.kind == CEL_TYPE || v.kind == CEL_STRING;
}

static struct cel_value call_matches(struct cel_eval *ev, const struct cel_value *args) {
    struct pattern p;
    struct cel_value error;
    struct str text;
    if (!ev->pattern && args[0].kind != CEL_STRING)
        return cel__no_operator(args[0], STR("no such overload: matches"));
    if (!go_string(args[0], &text) || args[1].kind != CEL_STRING)
        return CEL_NO_OVERLOAD;
    if (!open_pattern(ev, args[1], "", &p, &error))
        return error;
    count_search(ev, p.re, text);
    bool found = !ev->cancelled && cel__regex_matches(p.re, text);
    cel__regex_free(p.own);
    return cel_of_bool(found);
}

/* The text and the pattern of find and findAll; false with the error. */
static bool open_find(struct cel_eval *ev, const struct cel_value *args, struct str *text,
                      struct pattern *p, struct cel_value *error) {
    *error = CEL_NO_OVERLOAD;
    return go_string(args[0], text) && open_pattern(ev, args[1], "Illegal regex: ", p, error);
}

static struct cel_value call_find(struct cel_eval *ev, const struct cel_value *args) {
    struct pattern p;
    struct cel_value error;
    struct str text;
    if (!open_find(ev, args, &text, &p, &error))
        return error;
    size_t begin = 0, end = 0;
    count_search(ev, p.re, text);
    if (!ev->cancelled)
        cel__regex_find(p.re, text, 0, &begin, &end);
    cel__regex_free(p.own);
    return cel_of_str(str_sub(text, begin, end));
}

/* The next place to look behind an empty match. */
static size_t step(struct str text, size_t at) {
    size_t len = 1;
    if (at < text.n)
        utf8_decode(str_sub(text, at, text.n), &len);
    return at + len;
}

/* The next match at or behind *at that is not empty right behind the one before, which ended at
 * `last`. */
static bool next_match(const struct cel_regex *re, struct str text, size_t *at, size_t last,
                       size_t bounds[2]) {
    while (*at <= text.n && cel__regex_find(re, text, *at, &bounds[0], &bounds[1])) {
        bool empty = bounds[0] == bounds[1];
        *at = bounds[1] > *at ? bounds[1] : step(text, *at);
        if (!empty || bounds[0] != last)
            return true;
    }
    return false;
}

static struct cel_value find_all(struct cel_eval *ev, const struct cel_regex *re, struct str text,
                                 int64_t limit) {
    size_t at = 0, last = SIZE_MAX, bounds[2], n = 0, cap = 0;
    struct cel_value *items = NULL;
    while ((limit < 0 || (int64_t)n < limit) && next_match(re, text, &at, last, bounds)) {
        /* a search may look at all of the rest to find a short match */
        if (!cel__work(ev, (text.n - bounds[1]) * 4))
            return CEL_TOO_BIG;
        if (n == cap) {
            cap = cap ? cap * 2 : 8;
            struct cel_value *more = cel__alloc_values(ev, cap);
            if (!more)
                return CEL_TOO_BIG;
            for (size_t i = 0; i < n; i++)
                more[i] = items[i];
            items = more;
        }
        items[n++] = cel_of_str(str_sub(text, bounds[0], bounds[1]));
        last = bounds[1];
    }
    return cel__list(items, n);
}

static struct cel_value find_all_limited(struct cel_eval *ev, const struct cel_value *args,
                                         int64_t limit) {
    struct pattern p;
    struct cel_value error;
    struct str text;
    if (!open_find(ev, args, &text, &p, &error))
        return error;
    count_search(ev, p.re, text);
    struct cel_value list = find_all(ev, p.re, text, ev->cancelled ? 0 : limit);
    cel__regex_free(p.own);
    return list;
}

static struct cel_value call_find_all(struct cel_eval *ev, const struct cel_value *args) {
    return find_all_limited(ev, args, -1);
}

static struct cel_value call_find_all_n(struct cel_eval *ev, const struct cel_value *args) {
    struct cel_value limit = args[2];
    while (limit.kind == CEL_OPTIONAL && limit.opt)
        limit = *limit.opt;
    return limit.kind == CEL_INT ? find_all_limited(ev, args, limit.i) : CEL_NO_OVERLOAD;
}

static struct cel_estimated est_find(const struct cel_call_est *call) {
    struct cel_estimated e = cel__est_regex(call);
    e.size = (struct cel_range){0, cel__operand_size(call->target).max};
    e.sized = true;
    return e;
}

enum { FIND = CEL_FN_REGEX | CEL_FN_COST_BY_NAME, MATCH = CEL_FN_REGEX | CEL_FN_SINGLETON };

static const struct cel_fn matches_fns[] = {
    {"matches", "matches", "(string, string) -> bool", call_matches, cel__est_regex,
     cel__cost_regex_inside, MATCH, "has a match of the RE2 pattern"},
    {"matches", "matches_string", "string.(string) -> bool", call_matches, cel__est_regex,
     cel__cost_regex_inside, MATCH, "has a match of the RE2 pattern"},
};

const struct cel_library cel__lib_matches = {CEL_LIB_STD, matches_fns,
                                             sizeof matches_fns / sizeof *matches_fns};

static const struct cel_fn fns[] = {
    {"find", "string_find_string", "string.(string) -> string", call_find, est_find,
     cel__cost_regex, FIND, "the first match of the RE2 pattern, or an empty string"},
    {"findAll", "string_find_all_string", "string.(string) -> list(string)", call_find_all,
     est_find, cel__cost_regex, FIND, "all matches of the RE2 pattern"},
    {"findAll", "string_find_all_string_int", "string.(string, int) -> list(string)",
     call_find_all_n, est_find, cel__cost_regex, FIND, "the first n matches of the RE2 pattern"},
};

const struct cel_library cel__lib_regex = {CEL_LIB_REGEX, fns, sizeof fns / sizeof *fns};
