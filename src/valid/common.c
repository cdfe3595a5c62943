/*
 * Rules so small that every kind needs them.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateNonnegativeField,
 * func ValidateImmutableField.
 */
#include "base/ascii.h"
#include "valid/valid_int.h"

void valid__names(struct valid *v, const struct path *p, struct str name,
                  const struct names_errs *errs) {
    for (size_t i = 0; i < errs->n; i++)
        valid__add(v, VALID_INVALID, p, &VALUE_Q(name), errs->v[i]);
}

void valid__dns_label(struct valid *v, const struct path *p, struct str name) {
    struct names_errs errs = names_check_dns1123_label(name);
    valid__names(v, p, name, &errs);
}

void valid__dns_subdomain(struct valid *v, const struct path *p, struct str name) {
    struct names_errs errs = names_check_dns1123_subdomain(name);
    valid__names(v, p, name, &errs);
}

void valid__label_key(struct valid *v, const struct path *p, struct str key) {
    struct names_errs errs = names_check_label_key(key);
    valid__names(v, p, key, &errs);
}

void valid__not_negative(struct valid *v, const struct path *p, int64_t value) {
    if (value < 0)
        valid__invalid(v, p, VALUE_I64(value), "must be greater than or equal to 0");
}

void valid__immutable(struct valid *v, const struct path *p, struct value value) {
    valid__invalid(v, p, value, "field is immutable");
}

void valid__choice(struct valid *v, const struct path *p, struct str text,
                   const char *const *supported) {
    if (!text.n)
        valid__required(v, p, NO_DETAIL);
    else if (!valid__one_of(text, supported))
        valid__not_supported(v, p, VALUE_NAMED(text), supported);
}

void valid__range(struct valid *v, const struct path *p, int64_t value,
                  const int64_t least_and_most[2]) {
    if (value < least_and_most[0] || value > least_and_most[1])
        valid__invalid(v, p, VALUE_I64(value), "must be between %lld and %lld, inclusive",
                       (long long)least_and_most[0], (long long)least_and_most[1]);
}

static bool is_condition_reason(struct str s) {
    bool good = s.n && ascii_is_letter(s.p[0]) && s.p[s.n - 1] != ',' && s.p[s.n - 1] != ':';
    for (size_t i = 0; good && i < s.n; i++)
        good = ascii_is_alnum(s.p[i]) || s.p[i] == '_' || s.p[i] == ',' || s.p[i] == ':';
    return good;
}

void valid__condition_reason(struct valid *v, const struct path *p, struct str reason) {
    if (!is_condition_reason(reason))
        valid__invalid(v, p, VALUE_Q(reason),
                       "a condition reason must start with alphabetic character, optionally "
                       "followed by a string of alphanumeric characters or '_,:', and must end "
                       "with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  or "
                       "'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for "
                       "validation is '[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')");
}
