/*
 * Semantic versions.
 *
 * Follows k8s.io/apiserver pkg/cel/library, func SemverLib, func stringToSemver,
 * func normalizeAndParse.
 */
#include "cel/opaque_int.h"
#include "semver/semver.h"

#define T "kubernetes.Semver"

typedef int parse_fn(struct arena *a, struct str text, struct semver *out, struct err *err);

static struct cel_value parse(struct cel_eval *ev, struct cel_value text, parse_fn *fn) {
    struct semver *v = cel__alloc(ev, sizeof *v);
    struct err err;
    if (!v)
        return CEL_TOO_BIG;
    if (fn(ev->arena, cel_str(text), v, &err) < 0)
        return cel__error(ev, "%s", err.msg);
    return cel__opaque(CEL_SEMVER, v);
}

static struct cel_value call_semver(struct cel_eval *ev, const struct cel_value *args) {
    return parse(ev, args[0], semver_parse);
}

static struct cel_value call_semver_normalize(struct cel_eval *ev, const struct cel_value *args) {
    return parse(ev, args[0], args[1].b ? semver_parse_normalized : semver_parse);
}

static struct cel_value is_semver(struct cel_eval *ev, struct cel_value text, parse_fn *fn) {
    struct semver v;
    return cel_of_bool(fn(ev->arena, cel_str(text), &v, NULL) == 0);
}

static struct cel_value call_is_semver(struct cel_eval *ev, const struct cel_value *args) {
    return is_semver(ev, args[0], semver_parse);
}

static struct cel_value call_is_semver_normalize(struct cel_eval *ev,
                                                 const struct cel_value *args) {
    return is_semver(ev, args[0], args[1].b ? semver_parse_normalized : semver_parse);
}

static const struct semver *version(struct cel_value v) {
    return v.opaque;
}

/* A pre-release may be as long as any text, and all of it is compared. */
static int compare(struct cel_eval *ev, const struct cel_value *args) {
    const struct semver *a = version(args[0]), *b = version(args[1]);
    if (a->pre_count && b->pre_count && !cel__work(ev, cel__opaque_bytes(args[0])))
        return 0;
    return semver_cmp(a, b);
}

static struct cel_value call_compare(struct cel_eval *ev, const struct cel_value *args) {
    return cel_of_int(compare(ev, args));
}

static struct cel_value call_greater(struct cel_eval *ev, const struct cel_value *args) {
    return cel_of_bool(compare(ev, args) > 0);
}

static struct cel_value call_less(struct cel_eval *ev, const struct cel_value *args) {
    return cel_of_bool(compare(ev, args) < 0);
}

/* Upstream reinterprets 64 bits: numbers above 2^63 - 1 become negative. */
static struct cel_value call_major(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel_of_int((int64_t)version(args[0])->major);
}

static struct cel_value call_minor(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel_of_int((int64_t)version(args[0])->minor);
}

static struct cel_value call_patch(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    return cel_of_int((int64_t)version(args[0])->patch);
}

enum { NAME = CEL_FN_COST_BY_NAME };

static const struct cel_fn fns[] = {
    {"semver", "string_to_semver", "(string) -> " T, call_semver, cel__est_arg, cel__cost_walk,
     NAME, "the version that the text is; an error when it is none"},
    {"semver", "string_bool_to_semver", "(string, bool) -> " T, call_semver_normalize, cel__est_arg,
     cel__cost_walk, NAME, "the same; true: also with a leading v, zeros, or missing numbers"},
    {"isSemver", "is_semver_string", "(string) -> bool", call_is_semver, cel__est_arg,
     cel__cost_walk, NAME, "is the text a version?"},
    {"isSemver", "is_semver_string_bool", "(string, bool) -> bool", call_is_semver_normalize,
     cel__est_arg, cel__cost_walk, NAME, "would semver take the text and the flag?"},
    {"isGreaterThan", "semver_is_greater_than", T ".(" T ") -> bool", call_greater, NULL, NULL,
     NAME, "is this version later?"},
    {"isLessThan", "semver_is_less_than", T ".(" T ") -> bool", call_less, NULL, NULL, NAME,
     "is this version earlier?"},
    {"compareTo", "semver_compare_to", T ".(" T ") -> int", call_compare, NULL, NULL, NAME,
     "-1, 0 or 1: earlier, equal, later"},
    {"major", "semver_major", T ".() -> int", call_major, NULL, NULL, NAME, "the first number"},
    {"minor", "semver_minor", T ".() -> int", call_minor, NULL, NULL, NAME, "the second number"},
    {"patch", "semver_patch", T ".() -> int", call_patch, NULL, NULL, NAME, "the third number"},
};

const struct cel_library cel__lib_semver = {CEL_LIB_SEMVER, fns, sizeof fns / sizeof *fns};
