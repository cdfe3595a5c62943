/* Regular expressions: matches, find, findAll. */
#include <string.h>

#include "cel/cel_int.h"

#include "base/limits.h"
#include "base/utf8.h"
#include "cel/pattern_int.h"
#include "cel/regex_int.h"

/* ---- patterns ---- */

static bool is_name_char(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Behind the name of a group that starts at p ("(?P<name>" or "(?<name>"); 0 when none does. */
static size_t group_name(struct str p) {
    size_t i = str_starts(p, STR("(?P<")) ? 4 : str_starts(p, STR("(?<")) ? 3 : 0, start = i;
    while (start && i < p.n && is_name_char(p.p[i]))
        i++;
    return start && i > start && i < p.n && p.p[i] == '>' ? i + 1 : 0;
}

/* Behind \\Q...\\E, an escape, or a character class that starts at p. */
static size_t skip_part(struct str p) {
    if (str_starts(p, STR("\\Q"))) {
        size_t end = str_find(p, STR("\\E"));
        return end == STR_NONE ? p.n : end + 2;
    }
    if (p.p[0] == '\\')
        return p.n > 1 ? 2 : 1;
    if (p.p[0] != '[')
        return 1;
    size_t i = str_starts(p, STR("[^")) ? 2 : 1;
    for (i += i < p.n && p.p[i] == ']'; i < p.n && p.p[i] != ']'; i++)
        i += p.p[i] == '\\';
    return i < p.n ? i : 1;
}

/* The pattern without the names of its groups: Go takes names that RE2 refuses, and nothing here
 * asks for them. */
static void drop_names(struct buf *out, struct str pattern) {
    while (pattern.n > 0) {
        size_t n = group_name(pattern);
        if (n) {
            buf_add_char(out, '(');
        } else {
            n = skip_part(pattern);
            buf_add(out, str_sub(pattern, 0, n));
        }
        pattern = str_sub(pattern, n, pattern.n);
    }
}

/* What a pattern that was too large has taken before that was known. */
enum { STEPS_OF_TOO_LARGE = LIMIT_CEL_REGEX_BYTES / 64 };

/* Takes the instructions of a pattern from those that are left; false when there are too few. */
static bool take_steps(size_t *steps, const struct cel_regex *re, const char *code) {
    size_t n = 0;
    if (re)
        n = cel__regex_steps(re);
    else if (strcmp(code, CEL_REGEX_TOO_LARGE) == 0)
        n = STEPS_OF_TOO_LARGE;
    bool enough = n <= *steps;
    *steps -= enough ? n : *steps;
    return enough;
}

struct cel_regex *cel__regex_new(struct str pattern, size_t *steps, struct buf *error) {
    struct cel_regex_error e = {.code = CEL_REGEX_TOO_LARGE};
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_CEL_EVAL_BYTES);
    drop_names(&text, pattern);
    struct cel_regex *re = NULL;
    if (*steps > 0)
        re = cel__regex_compile(text.p ? text.p : "", text.n, &e);
    if (!take_steps(steps, re, e.code) && re) {
        cel__regex_free(re);
        re = NULL;
    }
    if (!re)
        buf_addf(error, "error parsing regexp: %s: `%.*s`", e.code, (int)e.n, e.piece);
    return re;
}

void cel__regex_free(struct cel_regex *re) {
    cel__regex_delete(re);
}

bool cel__regex_find(const struct cel_regex *re, struct str text, size_t from, size_t *begin,
                     size_t *end) {
    size_t bounds[2];
    if (!cel__regex_search(re, text.p, text.n, from, bounds))
        return false;
    *begin = bounds[0];
    *end = bounds[1];
    return true;
}

bool cel__regex_matches(const struct cel_regex *re, struct str text) {
    return cel__regex_search(re, text.p, text.n, 0, NULL);
}

/* The pattern of a call, compiled before or now; NULL with *error when it is none. */
struct pattern {
    const struct cel_regex *re;
    struct cel_regex *own;
};

/* Work of compiling a pattern, in bytes read in the same time. */
enum { PER_PATTERN = 1024, PER_STEP = 256 };

static bool open_pattern(struct cel_eval *ev, struct cel_value text, const char *prefix,
                         struct pattern *out, struct cel_value *error) {
    *out = (struct pattern){.re = ev->regex};
    if (out->re)
        return true;
    AUTO(buf_release) struct buf why = BUF_INIT(4096);
    size_t steps = LIMIT_CEL_REGEX_STEPS;
    out->re = out->own = cel__regex_new(cel_str(text), &steps, &why);
    if (!out->re)
        *error = cel__error(ev, "%s%.*s", prefix, STR_ARG(buf_view(&why)));
    cel__work(ev, PER_PATTERN + PER_STEP * (LIMIT_CEL_REGEX_STEPS - steps));
    return out->re != NULL;
}

/* ---- functions ---- */

static struct cel_value call_matches(struct cel_eval *ev, const struct cel_value *args) {
    struct pattern p;
    struct cel_value error;
    if (args[0].kind != CEL_STRING)
        return CEL_FAIL("no such overload: matches");
    if (args[1].kind != CEL_STRING)
        return CEL_NO_OVERLOAD;
    if (!open_pattern(ev, args[1], "", &p, &error))
        return error;
    bool found = cel__regex_matches(p.re, cel_str(args[0]));
    cel__regex_free(p.own);
    return cel_of_bool(found);
}

static struct cel_value call_find(struct cel_eval *ev, const struct cel_value *args) {
    struct pattern p;
    struct cel_value error;
    if (!open_pattern(ev, args[1], "Illegal regex: ", &p, &error))
        return error;
    size_t begin = 0, end = 0;
    cel__regex_find(p.re, cel_str(args[0]), 0, &begin, &end);
    cel__regex_free(p.own);
    return cel_of_str(str_sub(cel_str(args[0]), begin, end));
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
        if (!cel__work(ev, (text.n - bounds[1]) / 4))
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
    if (!open_pattern(ev, args[1], "Illegal regex: ", &p, &error))
        return error;
    struct cel_value list = find_all(ev, p.re, cel_str(args[0]), limit);
    cel__regex_free(p.own);
    return list;
}

static struct cel_value call_find_all(struct cel_eval *ev, const struct cel_value *args) {
    return find_all_limited(ev, args, -1);
}

static struct cel_value call_find_all_n(struct cel_eval *ev, const struct cel_value *args) {
    return find_all_limited(ev, args, args[2].i);
}

static struct cel_estimated est_find(const struct cel_call_est *call) {
    struct cel_estimated e = cel__est_regex(call);
    e.size = (struct cel_range){0, cel__operand_size(call, call->target).max};
    e.sized = true;
    return e;
}

enum { FIND = CEL_FN_REGEX | CEL_FN_COST_BY_NAME, MATCH = CEL_FN_REGEX | CEL_FN_SINGLETON };

static const struct cel_fn matches_fns[] = {
    {"matches", "matches", "(string, string) -> bool", call_matches, cel__est_regex,
     cel__cost_regex, MATCH, "has a match of the RE2 pattern"},
    {"matches", "matches_string", "string.(string) -> bool", call_matches, cel__est_regex,
     cel__cost_regex, MATCH, "has a match of the RE2 pattern"},
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
