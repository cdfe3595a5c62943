/*
 * Text to version: one strict reader over three parts, and the tolerant readings in front of it.
 *
 * Upstream's tolerant parse rewrites the text and parses it again. Here a part carries a mark
 * instead ("a zero stands before it"), so nothing is copied, and errors still name what upstream
 * would have parsed.
 */
#include <string.h>

#include "base/goquote.h"
#include "base/utf8.h"
#include "semver/semver.h"

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

static bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

/* The characters of identifiers: 0-9 A-Z a-z and '-'. */
static bool is_id_char(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}

static bool all_chars(struct str s, bool (*is)(char)) {
    for (size_t i = 0; i < s.n; i++)
        if (!is(s.p[i]))
            return false;
    return true;
}

static bool has_leading_zero(struct str digits) {
    return digits.n > 1 && digits.p[0] == '0';
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
    if (p.zero || !all_chars(p.text, is_digit))
        return fail(err, number_texts[which].invalid, p, "");
    if (has_leading_zero(p.text))
        return fail(err, number_texts[which].zeroes, p, "");
    return parse_uint(p.text, out, err);
}

static int parse_pre_id(struct str text, struct semver_id *out, struct err *err) {
    struct part what = {.text = text};
    if (text.n == 0)
        return err_set(err, ERR_INVALID, "Prerelease is empty");
    if (all_chars(text, is_digit)) {
        if (has_leading_zero(text))
            return fail(err, "Numeric PreRelease version must not contain leading zeroes ", what,
                        "");
        *out = (struct semver_id){.text = NULL};
        return parse_uint(text, &out->number, err);
    }
    if (!all_chars(text, is_id_char))
        return fail(err, "Invalid character(s) found in prerelease ", what, "");
    *out = (struct semver_id){.text = text.p, .number = text.n};
    return 0;
}

static int check_pre(struct str dotted, size_t *count, struct err *err) {
    bool more = dotted.p != NULL;
    while (more) {
        struct str text;
        struct semver_id id;
        more = str_cut(dotted, '.', &text, &dotted);
        if (parse_pre_id(text, &id, err) < 0)
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
        if (!all_chars(text, is_id_char))
            return fail(err, "Invalid character(s) found in build meta data ",
                        (struct part){.text = text}, "");
    }
    return 0;
}

static const struct semver_id *copy_pre(struct arena *a, struct str dotted, size_t count) {
    struct semver_id *ids = arena_array(a, struct semver_id, count);
    dotted = arena_str(a, dotted);
    for (size_t i = 0; i < count; i++) {
        struct str text;
        str_cut(dotted, '.', &text, &dotted);
        (void)parse_pre_id(text, &ids[i], NULL);
    }
    return ids;
}

/* Pre-release and build, each absent or what stands behind its mark. Both are checked before
 * anything is copied: a bad text leaves nothing in the arena. */
static int parse_tails(struct arena *a, struct str pre, struct str build, struct semver *out,
                       struct err *err) {
    if (check_pre(pre, &out->pre_count, err) < 0 || check_build(build, err) < 0)
        return -1;
    if (out->pre_count)
        out->pre = copy_pre(a, pre, out->pre_count);
    out->build = arena_copy(a, build.p, build.n);
    out->build_length = build.n;
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
    if (parse_number(parts[MAJOR], MAJOR, &v.major, err) < 0 ||
        parse_number(parts[MINOR], MINOR, &v.minor, err) < 0)
        return -1;
    struct str build = cut_tail(&parts[PATCH].text, '+');
    struct str pre = cut_tail(&parts[PATCH].text, '-');
    if (parse_number(parts[PATCH], PATCH, &v.patch, err) < 0 ||
        parse_tails(a, pre, build, &v, err) < 0)
        return -1;
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

int semver_parse(struct arena *a, struct str text, struct semver *out, struct err *err) {
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
    p->zero = p->text.n == 0 || !is_digit(p->text.p[0]);
}

static int parse_normalized(struct arena *a, struct str text, const char *short_text,
                            struct semver *out, struct err *err) {
    if (str_starts(text, STR("v")))
        text = str_sub(text, 1, text.n);
    struct part parts[PARTS];
    int n = split(text, parts);
    struct str last = parts[n - 1].text;
    if (n < PARTS && (str_find_char(last, '+') != STR_NONE || str_find_char(last, '-') != STR_NONE))
        return err_set(err, ERR_INVALID, "%s", short_text);
    for (int i = 0; i < n; i++)
        drop_zeros(&parts[i]);
    while (n < PARTS)
        parts[n++] = (struct part){.zero = true};
    return parse_parts(a, parts, out, err);
}

int semver_parse_tolerant(struct arena *a, struct str text, struct semver *out, struct err *err) {
    return parse_normalized(a, utf8_trim_space(text),
                            "Short version cannot contain PreRelease/Build meta data", out, err);
}

int semver_parse_normalized(struct arena *a, struct str text, struct semver *out, struct err *err) {
    return parse_normalized(a, text, "short version cannot contain PreRelease/Build meta data", out,
                            err);
}
