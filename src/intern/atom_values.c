/*
 * What an atom means: as a number to the two kinds of Lt and Gt, and as a version.
 *
 * Follows std strconv, func ParseInt.
 * Follows github.com/blang/semver/v4, func ParseTolerant.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/arena.h"
#include "base/ascii.h"
#include "base/goquote.h"
#include "intern/intern_int.h"

/* ---- numbers ---- */

enum verdict { READ, BAD_SYNTAX, OUT_OF_RANGE };

/* strconv.ParseInt(s, 10, 64); *out is untouched unless READ. As there, what follows a number that
 * passes uint64 is not looked at. */
static enum verdict read_integer(struct str s, int64_t *out) {
    bool negative = s.n && s.p[0] == '-', sign = negative || (s.n && s.p[0] == '+');
    uint64_t value = 0, most = (uint64_t)INT64_MAX + negative;
    if (s.n == sign)
        return BAD_SYNTAX;
    for (size_t i = sign; i < s.n; i++) {
        int digit = s.p[i] - '0';
        if (digit < 0 || digit > 9)
            return BAD_SYNTAX;
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value))
            return OUT_OF_RANGE;
    }
    if (value > most)
        return OUT_OF_RANGE;
    *out = (int64_t)(negative ? 0 - value : value);
    return READ;
}

/* Is it spelled as the shortest decimal of its value? Nothing is said about its size. */
static bool is_canonical(struct str s) {
    bool negative = s.n && s.p[0] == '-';
    struct str digits = str_sub(s, negative, s.n);
    if (digits.n == 0 || (digits.p[0] == '0' && (negative || digits.n > 1)))
        return false;
    for (size_t i = 0; i < digits.n; i++)
        if (!ascii_is_digit(digits.p[i]))
            return false;
    return true;
}

void intern__read_number(struct atom *a) {
    a->state |= INTERN__NUMBER;
    if (read_integer(intern_text(a), &a->number) != READ)
        return;
    a->state |= INTERN__INTEGER;
    if (is_canonical(intern_text(a)))
        a->state |= INTERN__DECIMAL;
}

int intern_explain_integer(const struct atom *a, struct err *err) {
    int64_t ignored;
    enum verdict verdict = read_integer(intern_text(a), &ignored);
    if (verdict == READ)
        return 0;
    AUTO(buf_release) struct buf quoted = BUF_INIT(4 * ERR_TEXT + 4);
    goquote_write(&quoted, str_sub(intern_text(a), 0, ERR_TEXT));
    return err_set(err, ERR_INVALID, "strconv.ParseInt: parsing %.*s: %s",
                   STR_ARG(buf_view(&quoted)),
                   verdict == BAD_SYNTAX ? "invalid syntax" : "value out of range");
}

int intern_explain_decimal(const struct atom *a, struct err *err) {
    if (a->length == 0)
        return err_set(err, ERR_INVALID, "must be non-empty");
    if (!is_canonical(intern_text(a)))
        return err_set(err, ERR_INVALID, "must be a valid decimal integer in canonical form");
    return intern_explain_integer(a, err);
}

/* ---- versions ---- */

/* Bytes of identifier and build texts, which stand behind the identifiers in a version's block. */
static size_t text_bytes(const struct semver *v) {
    size_t n = v->build_length;
    for (size_t i = 0; i < v->pre_count; i++)
        n += v->pre[i].text ? v->pre[i].number : 0;
    return n;
}

static size_t block_bytes(const struct semver *v) {
    return sizeof(struct intern__version) + v->pre_count * sizeof *v->pre + text_bytes(v);
}

static const char *copy_text(char **end, const char *text, size_t n) {
    char *copy = *end;
    if (n)
        memcpy(copy, text, n);
    *end += n;
    return copy;
}

/* The version and all it points to, in one block that is freed with the atom. */
static struct intern__version *copy_version(const struct semver *v) {
    struct intern__version *copy = xmalloc(block_bytes(v));
    struct semver_id *ids = (struct semver_id *)(copy + 1);
    char *end = (char *)(ids + v->pre_count);
    for (size_t i = 0; i < v->pre_count; i++) {
        ids[i] = v->pre[i];
        if (ids[i].text)
            ids[i].text = copy_text(&end, v->pre[i].text, v->pre[i].number);
    }
    *copy = (struct intern__version){semver_key_of(v), *v};
    copy->semver.pre = ids;
    copy->semver.build = copy_text(&end, v->build, v->build_length);
    return copy;
}

void intern__read_version(struct atom *a) {
    struct arena scratch = {0};
    struct semver v;
    a->state |= INTERN__VERSION;
    if (semver_parse_tolerant(&scratch, intern_text(a), &v, NULL) == 0)
        a->version = copy_version(&v);
    arena_release(&scratch);
}

int intern_explain_version(const struct atom *a, struct err *err) {
    struct arena scratch = {0};
    struct semver ignored;
    int rc = semver_parse_tolerant(&scratch, intern_text(a), &ignored, err);
    arena_release(&scratch);
    return rc;
}

size_t intern__version_bytes(const struct atom *a) {
    return a->version ? block_bytes(&a->version->semver) : 0;
}
