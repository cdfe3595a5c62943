/*
 * Expressions in CEL, wherever they stand: what is said of those that are no good.
 *
 * Follows k8s.io/kubernetes pkg/apis/admissionregistration/validation,
 * func convertCELErrorToValidationError.
 * Follows k8s.io/kubernetes pkg/apis/resource/validation, func validateCELExpression.
 */
#include "base/limits.h"
#include "valid/valid_int.h"

static void refuse(struct valid *v, const struct path *p, bool is_pod) {
    valid__forbidden(v, p,
                     "not compiled: the expressions of %s may take %u bytes together, each counted "
                     "as %u at least; join or shorten them",
                     is_pod ? "a pod" : "an object",
                     is_pod ? LIMIT_TOLERATION_COMPILE_BYTES : LIMIT_OBJECT_COMPILE_BYTES,
                     is_pod ? LIMIT_TOLERATION_COMPILE_LEAST : LIMIT_OBJECT_COMPILE_LEAST);
}

uint64_t valid__expression(struct valid *v, const struct path *p, struct str shown,
                           const struct valid_cel_ask *question) {
    if (!v->cel)
        return 0;
    struct valid_cel_ask ask = *question;
    struct value value = VALUE_Q(shown);
    ask.gates = v->gates;
    struct valid_cel_answer r = v->cel->check(v->cel->ctx, &ask, v->errs->a, &v->cel_spent);
    switch (r.fault) {
    case VALID_CEL_GOOD:
        break;
    case VALID_CEL_COMPILE:
        valid__invalid(v, p, value, "compilation failed: %.*s", STR_ARG(r.text));
        break;
    case VALID_CEL_TYPE:
        valid__invalid(v, p, value, "%.*s", STR_ARG(r.text));
        break;
    case VALID_CEL_PROGRAM:
        valid__internal(v, p, "program instantiation failed: %.*s", STR_ARG(r.text));
        break;
    case VALID_CEL_COST:
        valid__forbidden(v, p, "too complex, exceeds cost limit");
        break;
    case VALID_CEL_TOO_MUCH:
        refuse(v, p, ask.place == VALID_CEL_TOLERATION);
        break;
    }
    return r.cost;
}
