/*
 * Versions exactly as github.com/blang/semver v4 reads, orders and prints them, because that is
 * what Kubernetes' version operators and CEL's semver() are made of.
 *
 * A version is a small value. What does not fit into it (pre-release identifiers, build text) is
 * copied into the arena of the parse, so it depends on nothing else and lives as long as the arena.
 */
#ifndef SEMVER_SEMVER_H
#define SEMVER_SEMVER_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

/* One dot-separated pre-release identifier. */
struct semver_id {
    const char *text; /* NULL: the identifier is a number */
    uint64_t number;  /* the number, or the length of the text */
};

struct semver {
    uint64_t major, minor, patch;
    const struct semver_id *pre; /* pre_count identifiers, left to right */
    const char *build;           /* build_length bytes behind '+', dots included */
    size_t pre_count, build_length;
};

/*
 * Parse (strict): MAJOR.MINOR.PATCH[-PRE][+BUILD] and nothing else. Fails with upstream's text; err
 * may be NULL, which saves the cost of writing it. text is borrowed. A failure takes nothing from
 * the arena and leaves *out as it was.
 */
int semver_parse(struct arena *a, struct str text, struct semver *out, struct err *err);

/*
 * ParseTolerant, for the SemverLt/Gt/Eq operators: also takes Unicode white space around the
 * version, a leading 'v', leading zeros, and missing minor and patch numbers. Otherwise as
 * semver_parse.
 */
int semver_parse_tolerant(struct arena *a, struct str text, struct semver *out, struct err *err);

/*
 * CEL's semver(text, true): as semver_parse_tolerant, but white space is not trimmed, and the text
 * for short versions with a pre-release begins with a small letter.
 */
int semver_parse_normalized(struct arena *a, struct str text, struct semver *out, struct err *err);

/* Order of the pre-releases of two versions whose three numbers are equal: -1, 0, 1. */
int semver_cmp_pre(const struct semver *a, const struct semver *b);

/* Precedence: -1, 0, 1. Build metadata never counts. */
static inline int semver_cmp(const struct semver *a, const struct semver *b) {
    if (a->major != b->major)
        return a->major < b->major ? -1 : 1;
    if (a->minor != b->minor)
        return a->minor < b->minor ? -1 : 1;
    if (a->patch != b->patch)
        return a->patch < b->patch ? -1 : 1;
    return a->pre_count | b->pre_count ? semver_cmp_pre(a, b) : 0;
}

/*
 * The beginning of a version, packed so that keys compare as versions do. Different words decide;
 * equal ones mean equal versions, unless SEMVER_KEY_MORE is set in them: then the next words
 * decide, and after the last ones semver_cmp. Made once, a key saves the walk through numbers and
 * identifiers at each comparison.
 */
enum { SEMVER_KEY_WORDS = 2 };
#define SEMVER_KEY_MORE UINT64_C(1)

struct semver_key {
    uint64_t words[SEMVER_KEY_WORDS];
};

/* The key of a version. */
struct semver_key semver_key_of(const struct semver *v);

/* Appends the version's text, as upstream's String(). */
void semver_write(struct buf *out, const struct semver *v);

#endif
