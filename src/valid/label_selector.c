/*
 * Labels and label selectors, wherever an object has some.
 *
 * Follows k8s.io/apimachinery pkg/apis/meta/v1/validation, func ValidateLabelSelector,
 * func ValidateLabels.
 */
#include "valid/valid_int.h"

/* Upstream's path does not say which of the labels is wrong. */
void valid__labels(struct valid *v, const struct path *p, const struct labels *labels) {
    for (size_t i = 0; i < labels->n; i++) {
        const struct label *label = &labels->v[i];
        valid__label_key(v, p, label->key);
        struct names_errs errs = names_check_label_value(label->value);
        valid__names(v, p, label->value, &errs);
    }
}

static void check_operator(struct valid *v, const struct path *p,
                           const struct api_label_selector_requirement *r) {
    if (str_is(r->operator, "In") || str_is(r->operator, "NotIn")) {
        if (!r->values.n)
            valid__required(v, AT(p, "values"),
                            "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (str_is(r->operator, "Exists") || str_is(r->operator, "DoesNotExist")) {
        if (r->values.n)
            valid__forbidden(v, AT(p, "values"),
                             "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else {
        valid__invalid(v, AT(p, "operator"), VALUE_NAMED(r->operator),
                       "not a valid selector operator");
    }
}

static void check_requirement(struct valid *v, const struct path *p,
                              const struct api_label_selector_requirement *r,
                              const struct selector_rules *rules) {
    check_operator(v, p, r);
    valid__label_key(v, AT(p, "key"), r->key);
    for (size_t i = 0; i < r->values.n && !rules->allow_invalid_values; i++) {
        struct names_errs errs = names_check_label_value(r->values.v[i]);
        valid__names(v, AT_INDEX(AT(p, "values"), i), r->values.v[i], &errs);
    }
}

void valid__label_selector(struct valid *v, const struct path *p,
                           const struct api_label_selector *s, const struct selector_rules *rules) {
    if (!s)
        return;
    valid__labels(v, AT(p, "matchLabels"), &s->match_labels);
    for (size_t i = 0; i < s->match_expressions.n; i++)
        check_requirement(v, AT_INDEX(AT(p, "matchExpressions"), i), &s->match_expressions.v[i],
                          rules);
}

bool valid__selector_has_invalid_value(const struct api_label_selector *s) {
    for (size_t i = 0; s && i < s->match_expressions.n; i++) {
        const struct api_strs *values = &s->match_expressions.v[i].values;
        for (size_t j = 0; j < values->n; j++)
            if (names_check_label_value(values->v[j]).n)
                return true;
    }
    return false;
}
