/*
 * Tolerations: the classic rules, numbers, versions and expressions, each with the texts of its
 * gate on and off. The odd paths (a bad value is reported at .operator) are upstream's.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateTolerations.
 */
#include "base/ascii.h"
#include "base/goquote.h"
#include "base/limits.h"
#include "semver/semver.h"
#include "valid/pod/pod_int.h"

static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", NULL};
static const char *const plain_operators[] = {"Equal", "Exists", NULL};
static const char *const all_operators[] = {"Equal", "Exists", "Lt", "Gt", NULL};
static const char *const semver_operators[] = {"SemverLt", "SemverGt", "SemverEq", NULL};

bool valid__is_comparison(struct str operator) {
    return str_is(operator, "Lt") || str_is(operator, "Gt");
}

bool valid__is_semver(struct str operator) {
    return valid__one_of(operator, semver_operators);
}

static void check_equal(struct valid *v, const struct path *p, const struct api_toleration *t) {
    struct names_errs errs = names_check_label_value(t->value);
    if (!errs.n)
        return;
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    names_errs_join(&text, &errs, STR(";"));
    valid__invalid(v, AT(p, "operator"), VALUE_Q(t->value), "%.*s", STR_ARG(buf_view(&text)));
}

/* ---- numbers ---- */

/* "0", or digits that do not begin with 0, with '-' before them if need be. */
static bool is_canonical(struct str s) {
    if (s.n > 1 && s.p[0] == '-' && s.p[1] != '0')
        s = str_sub(s, 1, s.n);
    if (s.n == 0 || (s.n > 1 && s.p[0] == '0'))
        return false;
    for (size_t i = 0; i < s.n; i++)
        if (!ascii_is_digit(s.p[i]))
            return false;
    return true;
}

/* Why Go's ParseInt does not read this as an int64; NULL when it does. */
static const char *parse_int_fault(struct str s) {
    const char *const syntax = "invalid syntax", *const range = "value out of range";
    bool negative = s.n > 0 && s.p[0] == '-';
    if (s.n > 0 && (s.p[0] == '-' || s.p[0] == '+'))
        s = str_sub(s, 1, s.n);
    uint64_t n = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (!ascii_is_digit(s.p[i]))
            return syntax;
        if (__builtin_mul_overflow(n, 10, &n) ||
            __builtin_add_overflow(n, (uint64_t)(s.p[i] - '0'), &n))
            return range;
    }
    if (s.n == 0)
        return syntax;
    return n > (uint64_t)INT64_MAX + negative ? range : NULL;
}

static void check_number(struct valid *v, const struct path *p, struct str value) {
    if (!value.n)
        valid__invalid(v, p, VALUE_Q(value), "must be non-empty");
    else if (!is_canonical(value))
        valid__invalid(v, p, VALUE_Q(value), "must be a valid decimal integer in canonical form");
    const char *fault = parse_int_fault(value);
    if (!fault)
        return;
    AUTO(buf_release) struct buf quoted = BUF_INIT(2 * LIMIT_OBJECT_BYTES);
    goquote_write(&quoted, value);
    valid__invalid(v, p, VALUE_Q(value), "strconv.ParseInt: parsing %.*s: %s",
                   STR_ARG(buf_view(&quoted)), fault);
}

static void check_comparison(struct valid *v, const struct path *p, const struct api_toleration *t,
                             const struct pod_rules *rules) {
    if (rules->comparison_operators)
        check_number(v, AT(p, "value"), t->value);
    else
        valid__not_supported(v, AT(p, "operator"), VALUE_NAMED(t->operator), all_operators);
}

/* ---- versions ---- */

void valid__version(struct valid *v, const struct path *p, struct str value) {
    struct semver parsed;
    struct err err;
    if (semver_parse_tolerant(v->errs->a, value, &parsed, &err) < 0)
        valid__invalid(v, p, VALUE_Q(value), "%s", err.msg);
}

/* ---- expressions ---- */

static void collect_expressions(const struct api_pod_spec *spec, struct seen *expressions) {
    for (size_t i = 0; spec && i < spec->tolerations.n; i++)
        if (spec->tolerations.v[i].expression.n)
            seen_add(expressions, spec->tolerations.v[i].expression);
}

/* The expression takes the place of all other fields, so none of their rules is asked. One that is
 * stored already stays, even if it would not compile today. */
static void check_expression(struct valid *v, const struct path *p, const struct api_toleration *t,
                             const struct pod_rules *rules, const struct seen *stored) {
    if (!rules->expressions) {
        valid__forbidden(v, p,
                         "may not be set when the TaintTolerationCEL feature gate is disabled");
        return;
    }
    if (t->key.n || t->operator.n || t->value.n || t->effect.n)
        valid__invalid(v, p, VALUE_Q(t->expression),
                       "expression cannot be used with key, value, operator, or effect fields");
    if (seen_get(stored, t->expression))
        return;
    if (t->expression.n > LIMIT_TOLERATION_EXPRESSION_BYTES)
        valid__too_long(v, p, LIMIT_TOLERATION_EXPRESSION_BYTES);
    else
        valid__expression(
            v, p, t->expression,
            &(struct valid_cel_ask){.place = VALID_CEL_TOLERATION, .expression = t->expression});
}

/* ---- all of it ---- */

static void check_operator(struct valid *v, const struct path *p, const struct api_toleration *t,
                           const struct pod_rules *rules) {
    if (!t->operator.n || str_is(t->operator, "Equal")) {
        check_equal(v, p, t);
    } else if (str_is(t->operator, "Exists")) {
        if (t->value.n)
            valid__invalid(v, AT(p, "operator"), VALUE_Q(t->value),
                           "value must be empty when `operator` is 'Exists'");
    } else if (valid__is_comparison(t->operator)) {
        check_comparison(v, p, t, rules);
    } else if (rules->semver_operators && valid__is_semver(t->operator)) {
        valid__version(v, AT(p, "value"), t->value);
    } else {
        valid__not_supported(v, AT(p, "operator"), VALUE_NAMED(t->operator), plain_operators);
    }
}

static void check_toleration(struct valid *v, const struct path *p, const struct api_toleration *t,
                             const struct pod_rules *rules) {
    if (t->key.n)
        valid__label_key(v, AT(p, "key"), t->key);
    else if (!str_is(t->operator, "Exists"))
        valid__invalid(v, AT(p, "operator"), VALUE_NAMED(t->operator),
                       "operator must be Exists when `key` is empty, which means \"match all "
                       "values and all keys\"");
    if (t->toleration_seconds.set && !str_is(t->effect, "NoExecute"))
        valid__invalid(v, AT(p, "effect"), VALUE_NAMED(t->effect),
                       "effect must be 'NoExecute' when `tolerationSeconds` is set");
    check_operator(v, p, t, rules);
    if (t->effect.n && !valid__one_of(t->effect, effects))
        valid__not_supported(v, AT(p, "effect"), VALUE_NAMED(t->effect), effects);
}

void valid__tolerations(struct valid *v, const struct path *p,
                        const struct api_toleration_list *list, const struct pod_rules *rules) {
    struct seen stored; /* expressions of the old object */
    seen_init(&stored);
    collect_expressions(rules->old, &stored);
    for (size_t i = 0; i < list->n; i++) {
        const struct api_toleration *t = &list->v[i];
        if (t->expression.n)
            check_expression(v, AT(AT_INDEX(p, i), "expression"), t, rules, &stored);
        else
            check_toleration(v, AT_INDEX(p, i), t, rules);
    }
    seen_release(&stored);
}
