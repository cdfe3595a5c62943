/*
 * Patterns: which ones RE2 takes for certain, so that the program of an expression need not make
 * them before they are asked for; what is changed for RE2 to take those that Go takes; and their
 * life in a program.
 *
 * Follows std regexp/syntax, func Parse.
 */
#include "cel/kit/pattern_int.h"

#include <string.h>

#include "base/ascii.h"
#include "base/limits.h"
#include "cel/kit/regex_int.h"

/* ---- plain patterns ---- */

/* Without counts, a pattern takes a few dozen instructions for a byte of it, and a level of nesting
 * for two: with so many bytes it is far from all of RE2's limits. */
enum { MOST_PLAIN_BYTES = 256 };

static bool is_one_of(char c, const char *chars) {
    return c != '\0' && strchr(chars, c) != NULL;
}

/* Does it stand for itself, in a class and outside? */
static bool is_plain_char(char c) {
    return ascii_is_alnum(c) || is_one_of(c, "_/:.,;=@ #%&~!\"'<>");
}

/* Each of these gives the length of what p starts with; 0 when that is not plain.
 *
 * An escaped sign, or a class such as \d. */
static size_t plain_escape(struct str p) {
    return p.n > 1 && is_one_of(p.p[1], "./-+*?()[]{}|^$\\dswDSW") ? 2 : 0;
}

/* A character or a rising range in a class; a '-' must be its first or last. */
static size_t plain_class_item(struct str p, bool first) {
    char c = p.p[0], next = p.n > 1 ? p.p[1] : '\0';
    if (c == '\\')
        return plain_escape(p);
    if (c == '-')
        return first || next == ']';
    if (next == '-' && p.n > 2 && p.p[2] != ']')
        return ascii_is_alnum(c) && ascii_is_alnum(p.p[2]) && c <= p.p[2] ? 3 : 0;
    return is_plain_char(c);
}

static size_t plain_class(struct str p) {
    size_t first = str_starts(p, STR("[^")) ? 2 : 1, i = first;
    for (size_t n; i < p.n && p.p[i] != ']'; i += n) {
        n = plain_class_item(str_sub(p, i, p.n), i == first);
        if (n == 0)
            return 0;
    }
    return i > first && i < p.n ? i + 1 : 0;
}

/* What can be repeated, of a group only its end. */
static size_t plain_atom(struct str p) {
    char c = p.p[0];
    if (is_plain_char(c) || c == '-' || c == ')')
        return 1;
    if (c == '[')
        return plain_class(p);
    return c == '\\' ? plain_escape(p) : 0;
}

/* An atom and its repetition, or what cannot be repeated: an anchor, an alternative, the start of a
 * group. */
static size_t plain_part(struct str p) {
    size_t n = plain_atom(p);
    if (n == 0)
        return str_starts(p, STR("(?:")) ? 3 : is_one_of(p.p[0], "^$|(");
    n += n < p.n && is_one_of(p.p[n], "*+?");
    return n + (n < p.n && p.p[n] == '?'); /* as few as possible */
}

bool cel__pattern_plain(struct str p) {
    size_t open = 0, n = 1;
    if (p.n > MOST_PLAIN_BYTES)
        return false;
    for (; p.n > 0 && n > 0; p = str_sub(p, n, p.n)) {
        open += p.p[0] == '(';
        if (p.p[0] == ')' && open-- == 0)
            return false;
        n = plain_part(p);
    }
    return n > 0 && open == 0;
}

/* ---- patterns for RE2 ---- */

static bool is_name_char(char c) {
    return ascii_is_alnum(c) || c == '_';
}

#define ANY_BYTE "\\C"

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
 * asks for them. False when it has an escape that only RE2 takes: any byte, be it of a character.
 */
static bool adapt(struct buf *out, struct str pattern) {
    while (pattern.n > 0) {
        size_t n = group_name(pattern);
        if (n == 0 && str_starts(pattern, STR(ANY_BYTE)))
            return false;
        if (n) {
            buf_add_char(out, '(');
        } else {
            n = skip_part(pattern);
            buf_add(out, str_sub(pattern, 0, n));
        }
        pattern = str_sub(pattern, n, pattern.n);
    }
    return true;
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
    struct cel_regex *re = NULL;
    if (!adapt(&text, pattern))
        e = (struct cel_regex_error){CEL_REGEX_BAD_ESCAPE, ANY_BYTE, strlen(ANY_BYTE)};
    else if (*steps > 0)
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

/* ---- patterns of programs ---- */

const struct cel_regex *cel__pattern_regex(struct cel_pattern *p, struct buf *error) {
    struct cel_regex *re = __atomic_load_n(&p->re, __ATOMIC_ACQUIRE), *other = NULL;
    if (re)
        return re;
    size_t steps = LIMIT_CEL_REGEX_STEPS;
    re = cel__regex_new(p->text, &steps, error);
    if (__atomic_compare_exchange_n(&p->re, &other, re, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return re;
    cel__regex_free(re);
    return other;
}
