/*
 * Tolerations that compare. The operators are strict, look from the taint to the toleration, and
 * tolerations are alternatives: each of these is easily taken for the contrary.
 */
#include "advice/advice_int.h"

static const struct {
    const char *operator;
    enum threshold_side side;
    bool is_version;
} operators[] = {
    {"Lt", THRESHOLD_LESS, false},       {"Gt", THRESHOLD_GREATER, false},
    {"SemverLt", THRESHOLD_LESS, true},  {"SemverGt", THRESHOLD_GREATER, true},
    {"SemverEq", THRESHOLD_EQUAL, true},
};

static bool read_threshold(struct advisor *w, const struct api_toleration *t,
                           struct threshold *out) {
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        if (!str_is(t->operator, operators[i].operator))
            continue;
        *out = (struct threshold){
            .t = t, .side = operators[i].side, .is_version = operators[i].is_version};
        if (!out->is_version)
            return str_to_i64(t->value, &out->number);
        return semver_parse_tolerant(w->out->a, t->value, &out->version, NULL) == 0;
    }
    return false;
}

size_t advice__thresholds(struct advisor *w, struct threshold out[ADVICE_MOST_THRESHOLDS]) {
    const struct api_toleration_list *list = &w->spec->tolerations;
    size_t n = 0;
    for (size_t i = 0; i < list->n && n < ADVICE_MOST_THRESHOLDS; i++)
        if (read_threshold(w, &list->v[i], &out[n]))
            out[n++].index = i;
    return n;
}

static int sign_of(int64_t a, int64_t b) {
    return (a > b) - (a < b);
}

bool advice__compare(struct advisor *w, const struct threshold *th, struct str value, int *order) {
    int64_t number;
    struct semver version;
    if (!th->is_version) {
        if (!str_to_i64(value, &number))
            return false;
        *order = sign_of(number, th->number);
        return true;
    }
    if (semver_parse_tolerant(w->out->a, value, &version, NULL) < 0)
        return false;
    *order = semver_cmp(&version, &th->version);
    return true;
}

/* "Gt 950", for texts */
#define CONDITION(th) STR_ARG((th)->t->operator), STR_ARG((th)->t->value)

static struct str place(struct advisor *w, const struct threshold *th, const char *field) {
    return advice__path(w, ".tolerations[%zu].%s", th->index, field);
}

/* ---- threshold-boundary ---- */

/* Does another toleration take the very value of this threshold? */
static bool boundary_is_covered(struct advisor *w, const struct threshold *th) {
    const struct api_toleration_list *list = &w->spec->tolerations;
    for (size_t i = 0; i < list->n; i++) {
        const struct api_toleration *t = &list->v[i];
        int order;
        if (i == th->index || (t->key.n && !str_eq(t->key, th->t->key)))
            continue;
        bool equals =
            !t->operator.n || str_is(t->operator, "Equal") || str_is(t->operator, "SemverEq");
        if (str_is(t->operator, "Exists") ||
            (equals && advice__compare(w, th, t->value, &order) && order == 0))
            return true;
    }
    return false;
}

/* The taints with the threshold's key that went by: is there any, and one on the boundary? */
static bool knows_key(const struct advisor *w, struct str key) {
    for (size_t i = 0; i < w->run->taints.n; i++)
        if (str_eq(w->run->taints.v[i].key, key))
            return true;
    return false;
}

static const struct advice_taint *taint_on_boundary(struct advisor *w, const struct threshold *th) {
    for (size_t i = 0; i < w->run->taints.n; i++) {
        const struct advice_taint *t = &w->run->taints.v[i];
        int order;
        if (str_eq(t->key, th->t->key) && advice__compare(w, th, t->value, &order) && order == 0)
            return t;
    }
    return NULL;
}

/* People choose round numbers for limits that they mean to include; upper ends of versions are
 * left out by custom. */
static bool looks_inclusive(const struct threshold *th) {
    if (th->is_version)
        return th->side == THRESHOLD_GREATER && th->version.patch == 0 && !th->version.pre_count;
    return th->number != 0 && th->number % 5 == 0;
}

static void say_boundary(struct advisor *w, const struct threshold *th,
                         const struct advice_taint *seen) {
    struct arena *a = w->out->a;
    struct str value = th->t->value;
    struct str where =
        seen ? arena_printf(a, ", which node/%.*s has", STR_ARG(seen->node)) : STR("");
    if (th->is_version) {
        advice__say(w, place(w, th, "value"),
                    "%.*s %.*s does not match %.*s%.*s; if %.*s is meant too, add a toleration "
                    "SemverEq %.*s",
                    CONDITION(th), STR_ARG(value), STR_ARG(where), STR_ARG(value), STR_ARG(value));
        return;
    }
    int64_t step = th->side == THRESHOLD_GREATER ? 1 : -1;
    int64_t first_in = th->number + step, instead = th->number - step;
    advice__say(w, place(w, th, "value"),
                "%.*s %.*s does not match %.*s%.*s, only %lld and %s; if %.*s is meant too, write "
                "%.*s %lld",
                CONDITION(th), STR_ARG(value), STR_ARG(where), (long long)first_in,
                step > 0 ? "above" : "below", STR_ARG(value), STR_ARG(th->t->operator),
                (long long)instead);
}

void advice__threshold_boundary(struct advisor *w) {
    struct threshold list[ADVICE_MOST_THRESHOLDS];
    size_t n = advice__thresholds(w, list);
    for (size_t i = 0; i < n; i++) {
        const struct threshold *th = &list[i];
        const struct advice_taint *seen = taint_on_boundary(w, th);
        bool suspicious = seen || (looks_inclusive(th) && !knows_key(w, th->t->key));
        bool extreme = !th->is_version && (th->number == INT64_MAX || th->number == INT64_MIN);
        if (th->side != THRESHOLD_EQUAL && suspicious && !extreme && !boundary_is_covered(w, th))
            say_boundary(w, th, seen);
    }
}

/* ---- threshold-direction ---- */

static bool matches(const struct threshold *th, int order) {
    return th->side == THRESHOLD_LESS ? order < 0 : order > 0;
}

/* A taint that only the opposite operator would match, when the operator matches none. */
static const struct advice_taint *find_opposite(struct advisor *w, const struct threshold *th) {
    const struct advice_taint *found = NULL;
    for (size_t i = 0; i < w->run->taints.n; i++) {
        const struct advice_taint *t = &w->run->taints.v[i];
        int order;
        if (!str_eq(t->key, th->t->key) || !advice__compare(w, th, t->value, &order))
            continue;
        if (matches(th, order))
            return NULL;
        if (order != 0)
            found = t;
    }
    return found;
}

void advice__threshold_direction(struct advisor *w) {
    struct threshold list[ADVICE_MOST_THRESHOLDS];
    size_t n = advice__thresholds(w, list);
    for (size_t i = 0; i < n; i++) {
        const struct threshold *th = &list[i];
        const struct advice_taint *t = th->side == THRESHOLD_EQUAL ? NULL : find_opposite(w, th);
        if (!t)
            continue;
        bool less = th->side == THRESHOLD_LESS;
        advice__say(w, place(w, th, "operator"),
                    "%.*s %.*s matches taints %s than %.*s, and none that was read is: %.*s=%.*s "
                    "of node/%.*s is %s; %s%s %.*s would match it",
                    CONDITION(th), less ? "less" : "greater", STR_ARG(th->t->value),
                    STR_ARG(t->key), STR_ARG(t->value), STR_ARG(t->node), less ? "greater" : "less",
                    th->is_version ? "Semver" : "", less ? "Gt" : "Lt", STR_ARG(th->t->value));
    }
}

/* ---- threshold-never ---- */

void advice__threshold_never(struct advisor *w) {
    struct threshold list[ADVICE_MOST_THRESHOLDS];
    size_t n = advice__thresholds(w, list);
    for (size_t i = 0; i < n; i++) {
        const struct threshold *th = &list[i];
        if (th->is_version)
            continue;
        if (th->side == THRESHOLD_LESS && th->number <= 0)
            advice__say(w, place(w, th, "value"),
                        "%.*s %.*s matches nothing: the value of a taint cannot begin with '-', so "
                        "none is less than 0",
                        CONDITION(th));
        if (th->side == THRESHOLD_GREATER && th->number == INT64_MAX)
            advice__say(w, place(w, th, "value"),
                        "%.*s %.*s matches nothing: it is the greatest number that can be read",
                        CONDITION(th));
    }
}

/* ---- threshold-union ---- */

static bool effects_meet(struct str a, struct str b) {
    return !a.n || !b.n || str_eq(a, b);
}

/* Together they leave nothing out: more than a small one, or less than a large one. */
static bool cover_all(const struct threshold *a, const struct threshold *b) {
    const struct threshold *low = a->side == THRESHOLD_GREATER ? a : b;
    const struct threshold *high = low == a ? b : a;
    if (low->side != THRESHOLD_GREATER || high->side != THRESHOLD_LESS ||
        low->is_version != high->is_version)
        return false;
    return low->is_version ? semver_cmp(&low->version, &high->version) < 0
                           : low->number < high->number;
}

void advice__threshold_union(struct advisor *w) {
    struct threshold list[ADVICE_MOST_THRESHOLDS];
    size_t n = advice__thresholds(w, list);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++) {
            const struct threshold *a = &list[j], *b = &list[i];
            if (!str_eq(a->t->key, b->t->key) || !effects_meet(a->t->effect, b->t->effect) ||
                !cover_all(a, b))
                continue;
            advice__say(w, advice__path(w, ".tolerations[%zu]", b->index),
                        "%.*s %.*s and %.*s %.*s (tolerations[%zu]) together match every %s, "
                        "because one matching toleration is enough; to ask for a range, use node "
                        "affinity, where all expressions of a term must hold",
                        CONDITION(b), CONDITION(a), a->index, a->is_version ? "version" : "number");
        }
}
