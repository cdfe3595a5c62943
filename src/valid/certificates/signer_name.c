/*
 * Names of those who sign certificates: example.com/signer-name.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateSignerName,
 * func IsKubernetesSignerName.
 */
#include "valid/certificates/certificates_int.h"

/* Every part between dots must follow the rule; errors about the first that does not. Returns how
 * many parts there are. */
static size_t check_parts(struct valid *v, const struct path *p, struct str text,
                          struct names_errs (*rule)(struct str part)) {
    struct str part, rest = text;
    size_t count = 0, wrong = 0;
    for (bool more = true; more; count++) {
        more = str_cut(rest, '.', &part, &rest);
        struct names_errs errs = rule(part);
        struct str name = valid__go_quoted(v->errs->a, part);
        for (size_t i = 0; i < errs.n && !wrong; i++)
            valid__invalid(v, p, VALUE_Q(text), "validating label %.*s: %.*s", STR_ARG(name),
                           STR_ARG(errs.v[i]));
        wrong += errs.n;
    }
    return count;
}

void valid__signer_name(struct valid *v, const struct path *p, struct str name) {
    enum { DOMAIN_MOST = 253, MOST = 571 };
    struct str domain, path;
    if (!name.n) {
        valid__required(v, p, NO_DETAIL);
        return;
    }
    if (!str_cut(name, '/', &domain, &path) || str_find_char(path, '/') != STR_NONE) {
        valid__invalid(v, p, VALUE_Q(name),
                       "must be a fully qualified domain and path of the form "
                       "'example.com/signer-name'");
        return;
    }
    if (domain.n > DOMAIN_MOST)
        valid__too_long(v, p, DOMAIN_MOST);
    if (check_parts(v, p, domain, names_check_dns1123_label) < 2)
        valid__invalid(v, p, VALUE_Q(domain),
                       "should be a domain with at least two segments separated by dots");
    check_parts(v, p, path, names_check_dns1123_subdomain);
    if (name.n > MOST)
        valid__too_long(v, p, MOST);
}

bool valid__is_kubernetes_signer(struct str name) {
    struct str domain, rest;
    str_cut(name, '/', &domain, &rest);
    return str_is(domain, "kubernetes.io") || str_ends(domain, STR(".kubernetes.io"));
}
