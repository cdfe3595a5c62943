/*
 * certificatesigningrequests/approval and /status: who may say that a request is approved, and who
 * may not. The request itself never changes.
 *
 * Follows k8s.io/kubernetes pkg/apis/certificates/validation,
 * func validateCertificateSigningRequestUpdate, func validateConditions.
 */
#include "valid/seen_int.h"
#include "valid/valid_int.h"

/* What only an approver says. */
static const char *const approvals[] = {"Approved", "Denied", NULL};
/* What is true, or not said at all. */
static const char *const only_true[] = {"Approved", "Denied", "Failed", NULL};

/* The first condition of the type at this place or behind it; the number of all: none. */
static size_t next_of(const struct api_certificate_signing_request_condition_list *list,
                      struct str type, size_t from) {
    while (from < list->n && !str_eq(list->v[from].type, type))
        from++;
    return from;
}

static size_t count(const struct api_certificate_signing_request_condition_list *list,
                    struct str type) {
    size_t n = 0;
    for (size_t i = next_of(list, type, 0); i < list->n; i = next_of(list, type, i + 1))
        n++;
    return n;
}

/* What may be wrong now, since it was so before. */
struct allowances {
    bool repeated, untyped;
};

static struct allowances
allowances_of(const struct api_certificate_signing_request_condition_list *was) {
    struct allowances a = {0};
    struct seen types;
    seen_init(&types);
    for (size_t i = 0; i < was->n; i++) {
        a.untyped |= !was->v[i].type.n;
        a.repeated |= !seen_add(&types, was->v[i].type);
    }
    seen_release(&types);
    return a;
}

static void check_status(struct valid *v, const struct path *p,
                         const struct api_certificate_signing_request_condition *c) {
    static const char *const any[] = {"False", "True", "Unknown", NULL};
    static const char *const yes[] = {"True", NULL};
    const char *const *allowed = valid__one_of(c->type, only_true) ? yes : any;
    if (!c->status.n)
        valid__required(v, p, NO_DETAIL);
    else if (!valid__one_of(c->status, allowed))
        valid__not_supported(v, p, VALUE_NAMED(c->status), allowed);
}

static void check_conditions(struct valid *v, const struct path *p,
                             const struct api_certificate_signing_request_condition_list *list,
                             const struct allowances *allowed) {
    struct seen types;
    seen_init(&types);
    for (size_t i = 0; i < list->n; i++) {
        const struct api_certificate_signing_request_condition *c = &list->v[i];
        const struct path *at = AT_INDEX(p, i);
        if (!c->type.n && !allowed->untyped)
            valid__required(v, AT(at, "type"), NO_DETAIL);
        check_status(v, AT(at, "status"), c);
        if (!seen_add(&types, c->type) && !allowed->repeated)
            valid__duplicate(v, AT(at, "type"), VALUE_NAMED(c->type), NO_DETAIL);
    }
    seen_release(&types);
}

static void check_removals(struct valid *v, const struct path *p,
                           const struct api_certificate_signing_request_condition_list *now,
                           const struct api_certificate_signing_request_condition_list *was) {
    for (size_t i = 0; only_true[i]; i++)
        if (count(now, str_of(only_true[i])) < count(was, str_of(only_true[i])))
            valid__forbidden(v, p, "updates may not remove a condition of type \"%s\"",
                             only_true[i]);
}

static void check_both(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_certificate_signing_request *csr = o->body, *was = old->body;
    const struct path *p = AT(AT(NULL, "status"), "conditions");
    struct allowances allowed = allowances_of(&was->status.conditions);
    check_conditions(v, p, &csr->status.conditions, &allowed);
    check_removals(v, p, &csr->status.conditions, &was->status.conditions);
}

/* Of the two only one may be said, unless both were. The rule is declared beside the field. */
static void check_decision(struct valid *v, const struct api_object *o,
                           const struct api_object *old) {
    const struct api_certificate_signing_request *csr = o->body, *was = old->body;
    bool is_both = true, was_both = true;
    for (size_t i = 0; approvals[i]; i++) {
        is_both = is_both && count(&csr->status.conditions, str_of(approvals[i]));
        was_both = was_both && count(&was->status.conditions, str_of(approvals[i]));
    }
    if (is_both && !was_both)
        valid__invalid(v, AT(AT(NULL, "status"), "conditions"),
                       VALUE_Q(STR("{conditions[{\"type\": \"Approved\"}], "
                                   "conditions[{\"type\": \"Denied\"}]}")),
                       "must specify at most one of: `conditions[{\"type\": \"Approved\"}]`, "
                       "`conditions[{\"type\": \"Denied\"}]`");
}

void valid__approval_check(struct valid *v, const struct api_object *o,
                           const struct api_object *old) {
    check_both(v, o, old);
    check_decision(v, o, old);
}

void valid__certificate_check(struct valid *v, const struct api_object *o,
                              const struct api_object *old) {
    const struct api_certificate_signing_request *csr = o->body, *was = old->body;
    const struct path *status = AT(NULL, "status");
    check_both(v, o, old);
    for (size_t i = 0; approvals[i]; i++)
        if (count(&csr->status.conditions, str_of(approvals[i])) >
            count(&was->status.conditions, str_of(approvals[i])))
            valid__forbidden(v, AT(status, "conditions"),
                             "updates may not add a condition of type \"%s\"", approvals[i]);
    if (was->status.certificate.n && !str_eq(csr->status.certificate, was->status.certificate))
        valid__forbidden(v, AT(status, "certificate"),
                         "updates may not modify existing certificate content");
    check_decision(v, o, old);
}
