/*
 * Text to version. Versions in their proper form are read in one pass. Whatever that pass refuses
 * goes to the careful reader, which knows what else is tolerated and says what is wrong.
 *
 * Upstream's tolerant parse rewrites the text and parses it again. Here a part carries a mark
 * instead ("a zero stands before it"), so nothing is copied, and errors still name what upstream
 * would have parsed.
 *
 * Follows github.com/blang/semver/v4, func Parse, func ParseTolerant, func NewPRVersion.
 */
#include <string.h>

#include "base/goquote.h"
#include "base/utf8.h"
#include "semver/semver.h"

/* ---- identifiers and numbers ---- */

enum { DIGIT = 1, LETTER = 2 };

#define FIVE(kind)     kind, kind, kind, kind, kind
#define TEN(kind)      FIVE(kind), FIVE(kind)
#define ALPHABET(kind) TEN(kind), TEN(kind), FIVE(kind), kind

/* What identifiers are made of; 0: no part of them. */
static const unsigned char kinds[256] = {
    ['-'] = LETTER,
    ['0'] = TEN(DIGIT),
    ['A'] = ALPHABET(LETTER),
    ['a'] = ALPHABET(LETTER),
};

static inline unsigned kind_of(char c) {
    return kinds[(unsigned char)c];
}

static inline uint64_t add_digit(uint64_t number, char digit) {
    return number * 10 + (uint64_t)(digit - '0');
}

static inline bool has_leading_zero(struct str digits) {
    return digits.n > 1 && digits.p[0] == '0';
}

/* Are these digits the proper form of a number that fits into 64 bits? */
static inline bool is_number(struct str digits) {
    static const char most[] = "18446744073709551615";
    enum { MOST_DIGITS = sizeof most - 1 };
    if (digits.n == 0 || has_leading_zero(digits))
        return false;
    return digits.n < MOST_DIGITS ||
           (digits.n == MOST_DIGITS && memcmp(digits.p, most, MOST_DIGITS) <= 0);
}

/* ---- what does not fit into a version ---- */

/* What stands behind '-' and '+', if anything. */
struct tails {
    struct str pre, build;
    size_t pre_count; /* identifiers */
};

/* Cuts proper identifiers that have a NUL behind the last one. */
static void cut_ids(const char *p, struct semver_id *ids, size_t count) {
    for (size_t i = 0; i < count; i++, p++) {
        const char *start = p;
        uint64_t number = 0;
        unsigned all = 0;
        for (unsigned kind; (kind = kind_of(*p)) != 0; p++) {
            all |= kind;
            number = add_digit(number, *p); /* counts only if all are digits */
        }
        ids[i] = all == DIGIT ? (struct semver_id){NULL, number}
                              : (struct semver_id){start, (uint64_t)(p - start)};
    }
}

/* Copies them in one block: identifiers, the text that these are cut from, build text. */
static void keep_tails(struct arena *a, const struct tails *t, struct semver *out) {
    size_t ids_size = size_mul(t->pre_count, sizeof(struct semver_id));
    struct semver_id *ids = arena_alloc(a, ids_size + t->pre.n + 1 + t->build.n);
    char *pre = (char *)ids + ids_size, *build = pre + t->pre.n + 1;
    if (t->pre_count) {
        memcpy(pre, t->pre.p, t->pre.n);
        pre[t->pre.n] = '\0';
        cut_ids(pre, ids, t->pre_count);
        out->pre = ids;
        out->pre_count = t->pre_count;
    }
    if (t->build.n) {
        out->build = memcpy(build, t->build.p, t->build.n);
        out->build_length = t->build.n;
    }
}

/* ---- the proper form ---- */

/* What is left of the text. */
struct cursor {
    const char *p, *end;
};

static inline struct str since(const struct cursor *c, const char *start) {
    return (struct str){start, (size_t)(c->p - start)};
}

static inline bool skip(struct cursor *c, char what) {
    if (c->p == c->end || *c->p != what)
        return false;
    c->p++;
    return true;
}

static inline bool read_number(struct cursor *c, uint64_t *out) {
    const char *start = c->p;
    uint64_t number = 0;
    for (; c->p < c->end && kind_of(*c->p) == DIGIT; c->p++)
        number = add_digit(number, *c->p);
    *out = number;
    return is_number(since(c, start));
}

/* Identifiers with dots between them: how many, or 0 if one of them is not proper. */
static inline size_t read_ids(struct cursor *c, bool is_pre, struct str *text) {
    const char *first = c->p;
    size_t count = 0;
    do {
        const char *start = c->p;
        unsigned all = 0;
        for (unsigned kind; c->p < c->end && (kind = kind_of(*c->p)) != 0; c->p++)
            all |= kind;
        if (all == 0 || (is_pre && all == DIGIT && !is_number(since(c, start))))
            return 0;
        count++;
    } while (skip(c, '.'));
    *text = since(c, first);
    return count;
}

static inline bool read_tails(struct cursor *c, struct tails *t) {
    if (skip(c, '-')) {
        t->pre_count = read_ids(c, true, &t->pre);
        if (t->pre_count == 0)
            return false;
    }
    if (skip(c, '+') && read_ids(c, false, &t->build) == 0)
        return false;
    return c->p == c->end;
}

/* MAJOR.MINOR.PATCH[-PRE][+BUILD] without any flaw? */
static bool read_proper(struct arena *a, struct str text, struct semver *out) {
    if (text.n == 0)
        return false;
    struct cursor c = {text.p, text.p + text.n};
    struct semver v = {0};
    struct tails tails = {0};
    if (!read_number(&c, &v.major) || !skip(&c, '.') || !read_number(&c, &v.minor) ||
        !skip(&c, '.') || !read_number(&c, &v.patch) || !read_tails(&c, &tails))
        return false;
    if (tails.pre.n || tails.build.n)
        keep_tails(a, &tails, &v);
    *out = v;
    return true;
}

/* ---- the careful reader ---- */

enum { MAJOR, MINOR, PATCH, PARTS };

/* What stands between the dots; when zero is set, text is empty or does not start with a digit. */
struct part {
    struct str text;
    bool zero; /* a '0' is to be read before text */
};

static const struct {
    const char *invalid, *zeroes;
} number_texts[PARTS] = {
    {"Invalid character(s) found in major number ",
     "Major number must not contain leading zeroes "},
    {"Invalid character(s) found in minor number ",
     "Minor number must not contain leading zeroes "},
    {"Invalid character(s) found in patch number ",
     "Patch number must not contain leading zeroes "},
};

/* Fails with: before "<zero>text" after. */
static int fail(struct err *err, const char *before, struct part what, const char *after) {
    if (!err)
        return -1;
    AUTO(buf_release) struct buf quoted = BUF_INIT(4 * ERR_TEXT + 4);
    /* More than ERR_TEXT bytes do not fit into the message in any case. */
    goquote_write(&quoted, str_sub(what.text, 0, ERR_TEXT));
    return err_set(err, ERR_INVALID, "%s\"%s%.*s%s", before, what.zero ? "0" : "",
                   (int)(quoted.n - 1), quoted.p + 1, after);
}

static bool has_only(struct str s, unsigned allowed) {
    for (size_t i = 0; i < s.n; i++)
        if (!(kind_of(s.p[i]) & allowed))
            return false;
    return true;
}

/* Go's strconv.ParseUint on a text that holds nothing but digits. */
static int parse_uint(struct str digits, uint64_t *out, struct err *err) {
    struct part what = {.text = digits};
    if (digits.n == 0)
        return fail(err, "strconv.ParseUint: parsing ", what, ": invalid syntax");
    uint64_t value = 0;
    for (size_t i = 0; i < digits.n; i++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)(digits.p[i] - '0'), &value))
            return fail(err, "strconv.ParseUint: parsing ", what, ": value out of range");
    *out = value;
    return 0;
}

static int parse_number(struct part p, int which, uint64_t *out, struct err *err) {
    if (p.zero && p.text.n == 0) {
        *out = 0;
        return 0;
    }
    if (p.zero || !has_only(p.text, DIGIT))
        return fail(err, number_texts[which].invalid, p, "");
    if (has_leading_zero(p.text))
        return fail(err, number_texts[which].zeroes, p, "");
    return parse_uint(p.text, out, err);
}

static int check_pre_id(struct str text, struct err *err) {
    struct part what = {.text = text};
    if (text.n == 0)
        return err_set(err, ERR_INVALID, "Prerelease is empty");
    if (has_only(text, DIGIT)) {
        uint64_t ignored;
        if (has_leading_zero(text))
            return fail(err, "Numeric PreRelease version must not contain leading zeroes ", what,
                        "");
        return parse_uint(text, &ignored, err);
    }
    if (!has_only(text, DIGIT | LETTER))
        return fail(err, "Invalid character(s) found in prerelease ", what, "");
    return 0;
}

static int check_pre(struct str dotted, size_t *count, struct err *err) {
    bool more = dotted.p != NULL;
    while (more) {
        struct str text;
        more = str_cut(dotted, '.', &text, &dotted);
        if (check_pre_id(text, err) < 0)
            return -1;
        ++*count;
    }
    return 0;
}

static int check_build(struct str dotted, struct err *err) {
    bool more = dotted.p != NULL;
    while (more) {
        struct str text;
        more = str_cut(dotted, '.', &text, &dotted);
        if (text.n == 0)
            return err_set(err, ERR_INVALID, "Build meta data is empty");
        if (!has_only(text, DIGIT | LETTER))
            return fail(err, "Invalid character(s) found in build meta data ",
                        (struct part){.text = text}, "");
    }
    return 0;
}

/* Cuts the tail behind the first mark off *s; absent when there is no mark. */
static struct str cut_tail(struct str *s, char mark) {
    struct str tail;
    return str_cut(*s, mark, s, &tail) ? tail : (struct str){0};
}

static int parse_parts(struct arena *a, struct part parts[PARTS], struct semver *out,
                       struct err *err) {
    struct semver v = {0};
    struct tails tails = {0};
    if (parse_number(parts[MAJOR], MAJOR, &v.major, err) < 0 ||
        parse_number(parts[MINOR], MINOR, &v.minor, err) < 0)
        return -1;
    tails.build = cut_tail(&parts[PATCH].text, '+');
    tails.pre = cut_tail(&parts[PATCH].text, '-');
    if (parse_number(parts[PATCH], PATCH, &v.patch, err) < 0 ||
        check_pre(tails.pre, &tails.pre_count, err) < 0 || check_build(tails.build, err) < 0)
        return -1;
    if (tails.pre.n || tails.build.n)
        keep_tails(a, &tails, &v);
    *out = v;
    return 0;
}

/* Splits at the first two dots and returns how many parts there are. */
static int split(struct str text, struct part parts[PARTS]) {
    int n = 0;
    bool more = true;
    while (more && n < PATCH) {
        parts[n].zero = false;
        more = str_cut(text, '.', &parts[n++].text, &text);
    }
    if (more)
        parts[n++] = (struct part){.text = text};
    return n;
}

static int parse_strict(struct arena *a, struct str text, struct semver *out, struct err *err) {
    struct part parts[PARTS];
    if (text.n == 0)
        return err_set(err, ERR_INVALID, "Version string empty");
    if (split(text, parts) < PARTS)
        return err_set(err, ERR_INVALID, "No Major.Minor.Patch elements found");
    return parse_parts(a, parts, out, err);
}

/* Upstream drops leading zeros and puts one back when no digit follows, also where it dropped none.
 * Parts of a single byte stay as they are. */
static void drop_zeros(struct part *p) {
    if (p->text.n <= 1)
        return;
    while (p->text.n && p->text.p[0] == '0')
        p->text = str_sub(p->text, 1, p->text.n);
    p->zero = p->text.n == 0 || kind_of(p->text.p[0]) != DIGIT;
}

static inline struct str without_v(struct str text) {
    return text.n && text.p[0] == 'v' ? (struct str){text.p + 1, text.n - 1} : text;
}

static int parse_tolerant(struct arena *a, struct str text, const char *short_text,
                          struct semver *out, struct err *err) {
    struct part parts[PARTS];
    int n = split(without_v(text), parts);
    struct str last = parts[n - 1].text;
    if (n < PARTS && (str_find_char(last, '+') != STR_NONE || str_find_char(last, '-') != STR_NONE))
        return err_set(err, ERR_INVALID, "%s", short_text);
    for (int i = 0; i < n; i++)
        drop_zeros(&parts[i]);
    while (n < PARTS)
        parts[n++] = (struct part){.zero = true};
    return parse_parts(a, parts, out, err);
}

/* ---- the door ---- */

int semver_parse(struct arena *a, struct str text, struct semver *out, struct err *err) {
    if (read_proper(a, text, out))
        return 0;
    return parse_strict(a, text, out, err);
}

int semver_parse_tolerant(struct arena *a, struct str text, struct semver *out, struct err *err) {
    if (read_proper(a, without_v(text), out))
        return 0;
    return parse_tolerant(a, utf8_trim_space(text),
                          "Short version cannot contain PreRelease/Build meta data", out, err);
}

int semver_parse_normalized(struct arena *a, struct str text, struct semver *out, struct err *err) {
    if (read_proper(a, without_v(text), out))
        return 0;
    return parse_tolerant(a, text, "short version cannot contain PreRelease/Build meta data", out,
                          err);
}
