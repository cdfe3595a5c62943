/*
 * Expressions of tolerations (KEP-5500), looked at as text: enough to see a call of semver() and a
 * chain of comparisons, and silent about everything else.
 */
#include "advice/advice_int.h"
#include "base/ascii.h"

/* ---- words ---- */

struct scan {
    struct str rest;
    struct str word; /* the last one: a name with dots, a string without quotes, or a sign */
    enum { SCAN_END, SCAN_NAME, SCAN_STRING, SCAN_SIGN } kind;
};

static bool is_name_byte(char c) {
    return ascii_is_alnum(c) || c == '_' || c == '.';
}

/* A string up to its closing quote; one with escapes is no simple string. */
static void take_string(struct scan *s) {
    char quote = s->rest.p[0];
    size_t end = str_find_char(str_sub(s->rest, 1, s->rest.n), quote);
    if (end == STR_NONE) {
        s->kind = SCAN_END;
        return;
    }
    s->word = str_sub(s->rest, 1, end + 1);
    s->rest = str_sub(s->rest, end + 2, s->rest.n);
    s->kind = str_find_char(s->word, '\\') == STR_NONE ? SCAN_STRING : SCAN_END;
}

static void next(struct scan *s) {
    s->rest = str_trim(s->rest);
    size_t n = 0;
    if (s->rest.n == 0) {
        s->kind = SCAN_END;
        return;
    }
    if (s->rest.p[0] == '\'' || s->rest.p[0] == '"') {
        take_string(s);
        return;
    }
    while (n < s->rest.n && is_name_byte(s->rest.p[n]))
        n++;
    s->kind = n ? SCAN_NAME : SCAN_SIGN;
    if (!n)
        n = s->rest.n > 1 && strchr("=&|", s->rest.p[0]) && s->rest.p[1] == s->rest.p[0] ? 2 : 1;
    s->word = str_sub(s->rest, 0, n);
    s->rest = str_sub(s->rest, n, s->rest.n);
}

static bool is_sign(const struct scan *s, const char *sign) {
    return s->kind == SCAN_SIGN && str_is(s->word, sign);
}

/* ---- cel-strict-semver ---- */

/* Deeper calls are not looked at: CEL takes no expression that is nested more. */
enum { DEEPEST = 250 };

/* What a parenthesis that is still open belongs to. */
struct call {
    bool is_semver;  /* semver( */
    bool has_begun;  /* there is a word behind the parenthesis */
    bool is_version; /* which is strictly a version */
    bool has_two;    /* there is a second argument */
};

static bool is_version(struct advisor *w, const struct scan *s) {
    struct semver ignored;
    return s->kind == SCAN_STRING && semver_parse(w->out->a, s->word, &ignored, NULL) == 0;
}

/* Is there a call of semver with one argument that is not a string that is strictly a version? Each
 * word is read once. */
static bool has_strict_semver(struct advisor *w, struct str expression) {
    struct scan s = {.rest = expression};
    struct call calls[DEEPEST], *top = NULL;
    size_t depth = 0;
    bool semver = false; /* the word before this one */
    for (next(&s); s.kind != SCAN_END; next(&s)) {
        if (top && !top->has_begun) {
            top->has_begun = true;
            top->is_version = top->is_semver && is_version(w, &s);
        }
        if (is_sign(&s, "(")) {
            if (depth == DEEPEST)
                return false;
            top = &calls[depth++];
            *top = (struct call){.is_semver = semver};
        } else if (top && is_sign(&s, ")")) {
            if (top->is_semver && !top->is_version && !top->has_two)
                return true;
            top = --depth ? &calls[depth - 1] : NULL;
        } else if (top && is_sign(&s, ",")) {
            top->has_two = true;
        }
        semver = s.kind == SCAN_NAME && str_is(s.word, "semver");
    }
    return false;
}

void advice__cel_strict_semver(struct advisor *w) {
    const struct api_toleration_list *list = &w->spec->tolerations;
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i].expression.n && has_strict_semver(w, list->v[i].expression))
            advice__say(w, advice__path(w, ".tolerations[%zu].expression", i),
                        "semver(x) fails on v1.2.3 and on 1.2, where the Semver operators do not, "
                        "and an expression that fails matches nothing, without a word; write "
                        "semver(x, true)");
}

/* ---- expression-boundary ---- */

/* Reads "semver('5.15.0'" behind a parenthesis that was just read. */
static bool take_version(struct scan *s, struct str *version) {
    next(s);
    if (s->kind != SCAN_NAME || !str_is(s->word, "semver"))
        return false;
    next(s);
    if (!is_sign(s, "("))
        return false;
    next(s);
    *version = s->word;
    return s->kind == SCAN_STRING;
}

/* Is it a version X.Y.0? */
static bool is_minor(struct advisor *w, struct str version) {
    struct semver v;
    return semver_parse_tolerant(w->out->a, version, &v, NULL) == 0 && v.patch == 0 &&
           v.pre_count == 0;
}

/* The first version X.Y.0 that something must be greater than. An expression that negates, compares
 * in another way or names the version again has thought of the boundary. */
static bool find_boundary(struct advisor *w, struct str expression, struct str *out) {
    struct scan s = {.rest = expression};
    bool found = false;
    for (next(&s); s.kind != SCAN_END; next(&s)) {
        bool compares = s.kind == SCAN_NAME && str_ends(s.word, STR("compareTo"));
        bool again = found && s.kind == SCAN_STRING && str_eq(s.word, *out);
        if (compares || again || is_sign(&s, "!"))
            return false;
        if (found || s.kind != SCAN_NAME || !str_ends(s.word, STR("isGreaterThan")))
            continue;
        next(&s);
        found = is_sign(&s, "(") && take_version(&s, out) && is_minor(w, *out);
    }
    return found;
}

void advice__expression_boundary(struct advisor *w) {
    const struct api_toleration_list *list = &w->spec->tolerations;
    for (size_t i = 0; i < list->n; i++) {
        struct str version;
        if (list->v[i].expression.n && find_boundary(w, list->v[i].expression, &version))
            advice__say(w, advice__path(w, ".tolerations[%zu].expression", i),
                        "isGreaterThan(semver('%.*s')) does not match %.*s itself; if it is meant "
                        "too, write compareTo(semver('%.*s')) >= 0",
                        STR_ARG(version), STR_ARG(version), STR_ARG(version));
    }
}

/* ---- needless-expression ---- */

/* taint.key == 'a' && taint.value == 'b' && … */
struct equals {
    struct str key, value, effect;
};

static struct str *field_of(struct equals *e, struct str name) {
    if (str_is(name, "taint.key"))
        return &e->key;
    if (str_is(name, "taint.value"))
        return &e->value;
    return str_is(name, "taint.effect") ? &e->effect : NULL;
}

/* One comparison, to the word behind it. */
static bool take_comparison(struct scan *s, struct equals *e) {
    struct str *to = s->kind == SCAN_NAME ? field_of(e, s->word) : NULL;
    if (!to || to->p)
        return false;
    next(s);
    if (!is_sign(s, "=="))
        return false;
    next(s);
    if (s->kind != SCAN_STRING)
        return false;
    *to = s->word;
    next(s);
    return true;
}

static void write_toleration(struct buf *out, const struct equals *e) {
    buf_addf(out, "%s{key: %.*s, operator: %s", out->n ? " and " : "", STR_ARG(e->key),
             e->value.p ? "Equal" : "Exists");
    if (e->value.p)
        buf_addf(out, ", value: \"%.*s\"", STR_ARG(e->value));
    if (e->effect.n)
        buf_addf(out, ", effect: %.*s", STR_ARG(e->effect));
    buf_add_char(out, '}');
}

/* Comparisons joined by && and ||, each alternative with a key: what they are as tolerations. */
static bool rewrite(struct str expression, struct buf *out) {
    struct scan s = {.rest = expression};
    next(&s);
    for (;;) {
        struct equals e = {0};
        bool good = take_comparison(&s, &e);
        while (good && is_sign(&s, "&&")) {
            next(&s);
            good = take_comparison(&s, &e);
        }
        bool ends = s.kind == SCAN_END && s.rest.n == 0;
        if (!good || !e.key.n || (!ends && !is_sign(&s, "||")))
            return false;
        write_toleration(out, &e);
        if (ends)
            return true;
        next(&s);
    }
}

void advice__needless_expression(struct advisor *w) {
    enum { MOST = 4096 };
    const struct api_toleration_list *list = &w->spec->tolerations;
    for (size_t i = 0; i < list->n; i++) {
        AUTO(buf_release) struct buf text = BUF_INIT(MOST);
        if (!list->v[i].expression.n || !rewrite(list->v[i].expression, &text) || text.full)
            continue;
        advice__say(w, advice__path(w, ".tolerations[%zu].expression", i),
                    "no expression is needed, as one matching toleration is enough: write %.*s",
                    STR_ARG(buf_view(&text)));
    }
}
