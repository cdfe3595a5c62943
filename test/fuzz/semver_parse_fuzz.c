/*
 * Three texts, a line each, read in every way. What parses is written and parses back to the same;
 * strict versions are tolerant ones too; white space before them, which only the careful reader
 * takes, changes nothing; the order is one, and keys agree with it. What does not parse has a text.
 */
#include <assert.h>
#include <string.h>

#include "base/limits.h"
#include "semver/semver.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

typedef int parse_fn(struct arena *a, struct str text, struct semver *out, struct err *err);

static bool same(const struct semver *a, const struct semver *b) {
    return semver_cmp(a, b) == 0 && a->build_length == b->build_length &&
           (a->build_length == 0 || memcmp(a->build, b->build, a->build_length) == 0);
}

static void check_writes_back(struct arena *a, const struct semver *v) {
    struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES), again = BUF_INIT(LIMIT_OBJECT_BYTES);
    struct semver back;
    semver_write(&text, v);
    assert(semver_parse(a, buf_view(&text), &back, NULL) == 0);
    assert(same(v, &back));
    semver_write(&again, &back);
    assert(str_eq(buf_view(&text), buf_view(&again)));
    buf_release(&text);
    buf_release(&again);
}

static bool read(struct arena *a, parse_fn *parse, struct str text, struct semver *out) {
    struct err err = {0};
    struct arena before = *a;
    if (parse(a, text, out, &err) < 0) {
        assert(err.code == ERR_INVALID && err.msg[0]);
        assert(a->bytes == before.bytes && a->cur == before.cur);
        return false;
    }
    assert(err.code == ERR_NONE);
    check_writes_back(a, out);
    return true;
}

static void check_spaced(struct arena *a, struct str text, const struct semver *v) {
    struct semver spaced;
    struct err plain_err = {0}, spaced_err = {0};
    char *copy = arena_alloc(a, text.n + 1);
    copy[0] = ' ';
    if (text.n)
        memcpy(copy + 1, text.p, text.n);
    int rc = semver_parse_tolerant(a, (struct str){copy, text.n + 1}, &spaced, &spaced_err);
    assert((rc == 0) == (v != NULL));
    assert(!v || same(v, &spaced));
    assert(v || semver_parse_tolerant(a, text, &spaced, &plain_err) < 0);
    assert(strcmp(plain_err.msg, spaced_err.msg) == 0);
}

/* Zero, one or two versions come of a text; returns the tolerant one. */
static bool read_all_ways(struct arena *a, struct str text, struct semver *out) {
    struct semver strict, normalized;
    bool is_strict = read(a, semver_parse, text, &strict);
    bool is_normalized = read(a, semver_parse_normalized, text, &normalized);
    bool is_tolerant = read(a, semver_parse_tolerant, text, out);
    assert(!is_strict || (is_normalized && same(&strict, &normalized)));
    assert(!is_normalized || (is_tolerant && same(&normalized, out)));
    check_spaced(a, text, is_tolerant ? out : NULL);
    return is_tolerant;
}

static void check_keys(const struct semver *x, const struct semver *y) {
    struct semver_key a = semver_key_of(x), b = semver_key_of(y);
    for (size_t i = 0; i < SEMVER_KEY_WORDS; i++) {
        if (a.words[i] != b.words[i]) {
            assert(semver_cmp(x, y) == (a.words[i] < b.words[i] ? -1 : 1));
            return;
        }
        if (!(a.words[i] & SEMVER_KEY_MORE)) {
            assert(semver_cmp(x, y) == 0);
            return;
        }
    }
}

static void check_order(const struct semver *x, const struct semver *y, const struct semver *z) {
    assert(semver_cmp(x, x) == 0);
    assert(semver_cmp(x, y) == -semver_cmp(y, x));
    check_keys(x, y);
    if (semver_cmp(x, y) <= 0 && semver_cmp(y, z) <= 0)
        assert(semver_cmp(x, z) <= 0);
    if (semver_cmp(x, y) == 0)
        assert(semver_cmp(x, z) == semver_cmp(y, z));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct arena a = {0};
    struct str rest = {(const char *)data, size}, line;
    struct semver v[3];
    size_t n = 0;
    for (int i = 0; i < 3; i++) {
        if (i < 2)
            str_cut(rest, '\n', &line, &rest);
        else
            line = rest;
        n += read_all_ways(&a, line, &v[n]);
    }
    for (size_t i = 0; i < n * n * n; i++)
        check_order(&v[i % n], &v[i / n % n], &v[i / n / n]);
    arena_release(&a);
    return 0;
}
