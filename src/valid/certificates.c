/*
 * certificatesigningrequests/approval and /status: who may say that a request is approved, and who
 * may not. The request itself never changes.
 *
 * Follows k8s.io/kubernetes pkg/registry/certificates/certificates, func (csrStatusStrategy)
 * PrepareForUpdate, func (csrApprovalStrategy) PrepareForUpdate, func preserveConditionInstances,
 * func populateConditionTimestamps.
 * Follows k8s.io/kubernetes pkg/apis/certificates/validation,
 * func validateCertificateSigningRequestUpdate, func validateConditions.
 */
#include "valid/seen_int.h"
#include "valid/valid_int.h"

/* What only an approver says. */
static const char *const approvals[] = {"Approved", "Denied", NULL};
/* What is true, or not said at all. */
static const char *const only_true[] = {"Approved", "Denied", "Failed", NULL};

/* ---- preparing ---- */

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

/* Conditions of a type stay as they were, if there are as many. */
static void keep_type(struct api_certificate_signing_request_condition_list *now,
                      const struct api_certificate_signing_request_condition_list *was,
                      struct str type) {
    if (count(now, type) != count(was, type))
        return;
    size_t i = next_of(now, type, 0), k = next_of(was, type, 0);
    for (; i < now->n; i = next_of(now, type, i + 1), k = next_of(was, type, k + 1))
        now->v[i] = was->v[k];
}

static struct str key_of(struct arena *a,
                         const struct api_certificate_signing_request_condition *c) {
    return arena_printf(a, "%.*s %.*s", STR_ARG(c->type), STR_ARG(c->status));
}

/* Fills times that a client leaves out: a condition that has not moved keeps its own. */
static void set_times(struct arena *a, struct api_certificate_signing_request_condition_list *list,
                      const struct api_certificate_signing_request_condition_list *was,
                      struct api_time now) {
    struct seen moved;
    seen_init(&moved);
    for (size_t i = 0; i < was->n; i++)
        if (was->v[i].last_transition_time.set)
            seen_put(&moved, key_of(a, &was->v[i]), &was->v[i]);
    for (size_t i = 0; i < list->n; i++) {
        const struct api_certificate_signing_request_condition *old =
            seen_get(&moved, key_of(a, &list->v[i]));
        if (!list->v[i].last_update_time.set)
            list->v[i].last_update_time = now;
        if (!list->v[i].last_transition_time.set)
            list->v[i].last_transition_time = old ? old->last_transition_time : now;
    }
    seen_release(&moved);
}

static struct api_certificate_signing_request copy_of(struct api_object *o,
                                                      const struct api_object *old) {
    struct api_certificate_signing_request copy;
    api_struct_copy(&o->arena, o->type, old->body, &copy);
    return copy;
}

void valid__certificate_prepare(struct api_object *o, const struct api_object *old,
                                const struct valid_opts *opts) {
    struct api_certificate_signing_request *csr = api_own_body(o), was = copy_of(o, old);
    csr->spec = was.spec;
    for (size_t i = 0; approvals[i]; i++)
        keep_type(&csr->status.conditions, &was.status.conditions, str_of(approvals[i]));
    set_times(&o->arena, &csr->status.conditions, &was.status.conditions, opts->now);
}

void valid__approval_prepare(struct api_object *o, const struct api_object *old,
                             const struct valid_opts *opts) {
    struct api_certificate_signing_request *csr = api_own_body(o), was = copy_of(o, old);
    set_times(&o->arena, &csr->status.conditions, &was.status.conditions, opts->now);
    struct api_certificate_signing_request_condition_list wanted = csr->status.conditions;
    csr->spec = was.spec;
    csr->status = was.status;
    csr->status.conditions = wanted;
}

/* ---- rules ---- */

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
