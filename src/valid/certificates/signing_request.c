/*
 * Requests for certificates: what may be asked for, who says that it is granted, and who issues the
 * certificate. The request itself never changes.
 *
 * Follows k8s.io/kubernetes pkg/apis/certificates/validation,
 * func validateCertificateSigningRequest, func validateCertificateSigningRequestUpdate,
 * func validateConditions, func getValidationOptions.
 */
#include "codec/base64.h"
#include "valid/certificates/certificates_int.h"
#include "valid/declared_int.h"
#include "valid/kinds_int.h"
#include "valid/subresource_int.h"

enum { LEAST_SECONDS = 600 };

static const struct api_certificate_signing_request *request_of(const struct api_object *o) {
    return o->body;
}

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

/* ---- what may be wrong now, since it was so before ---- */

struct allowances {
    bool repeated, untyped, both; /* of conditions */
    bool legacy_signer, unknown_usages, repeated_usages, any_certificate;
};

static bool has_repeated(const struct api_strs *list) {
    struct seen texts;
    bool is_repeated = false;
    seen_init(&texts);
    for (size_t i = 0; i < list->n; i++)
        is_repeated |= !seen_add(&texts, list->v[i]);
    seen_release(&texts);
    return is_repeated;
}

static const char *const usages[] = {"any",
                                     "cert sign",
                                     "client auth",
                                     "code signing",
                                     "content commitment",
                                     "crl sign",
                                     "data encipherment",
                                     "decipher only",
                                     "digital signature",
                                     "email protection",
                                     "encipher only",
                                     "ipsec end system",
                                     "ipsec tunnel",
                                     "ipsec user",
                                     "key agreement",
                                     "key encipherment",
                                     "microsoft sgc",
                                     "netscape sgc",
                                     "ocsp signing",
                                     "s/mime",
                                     "server auth",
                                     "signing",
                                     "timestamping",
                                     NULL};

static bool has_unknown(const struct api_strs *list) {
    for (size_t i = 0; i < list->n; i++)
        if (!valid__one_of(list->v[i], usages))
            return true;
    return false;
}

#define LEGACY_SIGNER "kubernetes.io/legacy-unknown"

/* What is wrong with a text of certificates; empty: nothing. */
static struct str certificate_fault(struct arena *a, struct str pem) {
    struct pem_block block;
    size_t blocks = 0, count;
    if (!pem.n)
        return STR("");
    for (; valid__pem_next(a, &pem, &block); blocks++) {
        if (!str_is(block.type, "CERTIFICATE")) {
            struct str type = valid__go_quoted(a, block.type);
            return arena_printf(a, "only CERTIFICATE PEM blocks are allowed, found %.*s",
                                STR_ARG(type));
        }
        if (block.has_headers)
            return STR("no PEM block headers are permitted");
        struct str fault = valid__certificates_fault(block.bytes, &count);
        if (fault.n)
            return fault;
        if (!count)
            return STR("found CERTIFICATE PEM block containing 0 certificates");
    }
    return blocks ? STR("") : STR("must contain at least one CERTIFICATE PEM block");
}

/* was is NULL on create. */
static struct allowances allowances_of(struct arena *a,
                                       const struct api_certificate_signing_request *now,
                                       const struct api_certificate_signing_request *was) {
    struct allowances allowed = {0};
    struct seen types;
    if (!was)
        return allowed;
    const struct api_certificate_signing_request_condition_list *list = &was->status.conditions;
    seen_init(&types);
    for (size_t i = 0; i < list->n; i++) {
        allowed.untyped |= !list->v[i].type.n;
        allowed.repeated |= !seen_add(&types, list->v[i].type);
    }
    seen_release(&types);
    allowed.both = count(list, STR("Approved")) && count(list, STR("Denied"));
    allowed.legacy_signer = str_is(was->spec.signer_name, LEGACY_SIGNER);
    allowed.unknown_usages = has_unknown(&was->spec.usages);
    allowed.repeated_usages = has_repeated(&was->spec.usages);
    allowed.any_certificate = str_eq(now->status.certificate, was->status.certificate) ||
                              certificate_fault(a, was->status.certificate).n;
    return allowed;
}

/* ---- conditions ---- */

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

/* Of the two only one may be said. */
static void check_decision(struct valid *v, const struct path *p, struct str type,
                           const struct seen *types) {
    bool has_other = (str_is(type, "Approved") && seen_get(types, STR("Denied"))) ||
                     (str_is(type, "Denied") && seen_get(types, STR("Approved")));
    if (!has_other)
        return;
    valid__cover(v, "zeroOrOneOf");
    valid__invalid(v, p, VALUE_NAMED(type),
                   "Approved and Denied conditions are mutually exclusive");
    valid__uncover(v);
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
        if (!allowed->both)
            check_decision(v, p, c->type, &types);
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

/* The conditions of a type, in the arena. */
struct picked {
    struct api_certificate_signing_request_condition_list list;
};

static struct picked pick(struct arena *a,
                          const struct api_certificate_signing_request_condition_list *list,
                          struct str type) {
    struct picked p = {
        {arena_array(a, struct api_certificate_signing_request_condition, list->n + 1), 0}};
    for (size_t i = next_of(list, type, 0); i < list->n; i = next_of(list, type, i + 1))
        p.list.v[p.list.n++] = list->v[i];
    return p;
}

/* Who may not decide leaves decisions as they are. */
static void keep_decisions(struct valid *v, const struct path *p,
                           const struct api_certificate_signing_request_condition_list *now,
                           const struct api_certificate_signing_request_condition_list *was) {
    for (size_t i = 0; approvals[i]; i++) {
        struct str type = str_of(approvals[i]);
        struct picked a = pick(v->errs->a, now, type), b = pick(v->errs->a, was, type);
        if (a.list.n > b.list.n)
            valid__forbidden(v, p, "updates may not add a condition of type \"%s\"", approvals[i]);
        else if (a.list.n == b.list.n &&
                 !valid__equal_lists(API_T_certificate_signing_request_condition, &a.list, &b.list))
            valid__forbidden(
                v, p, "updates may not modify a condition of type \"%s\"%.*s", approvals[i],
                STR_ARG(valid__list_diff(v->errs->a, API_T_certificate_signing_request_condition,
                                         &b.list, &a.list)));
    }
}

/* ---- the request ---- */

static struct str request_fault(struct arena *a, struct str pem) {
    struct pem_block block;
    if (!valid__pem_next(a, &pem, &block) || !str_is(block.type, "CERTIFICATE REQUEST"))
        return STR("PEM block type must be CERTIFICATE REQUEST");
    return valid__request_fault(a, block.bytes);
}

static void check_request(struct valid *v, const struct path *p, struct str request) {
    struct str fault = request_fault(v->errs->a, request);
    if (!fault.n)
        return;
    AUTO(buf_release) struct buf text = BUF_INIT(2 * request.n + 4);
    base64_write(&text, request);
    struct value value = VALUE_NAMED(arena_str(v->errs->a, buf_view(&text)));
    if (!request.p)
        value = VALUE_JSON((struct json){.kind = JSON_NULL});
    valid__add(v, VALID_INVALID, p, &value, fault);
}

static void check_usages(struct valid *v, const struct path *p, const struct api_strs *list,
                         const struct allowances *allowed) {
    struct seen texts;
    if (!list->n)
        valid__required(v, p, NO_DETAIL);
    for (size_t i = 0; i < list->n && !allowed->unknown_usages; i++)
        if (!valid__one_of(list->v[i], usages))
            valid__not_supported(v, AT_INDEX(p, i), VALUE_NAMED(list->v[i]), usages);
    seen_init(&texts);
    for (size_t i = 0; i < list->n && !allowed->repeated_usages; i++)
        if (!seen_add(&texts, list->v[i]))
            valid__duplicate(v, AT_INDEX(p, i), VALUE_NAMED(list->v[i]), NO_DETAIL);
    seen_release(&texts);
}

static void check_spec(struct valid *v, const struct path *p,
                       const struct api_certificate_signing_request_spec *s,
                       const struct allowances *allowed) {
    check_request(v, AT(p, "request"), s->request);
    check_usages(v, AT(p, "usages"), &s->usages, allowed);
    if (!allowed->legacy_signer && str_is(s->signer_name, LEGACY_SIGNER))
        valid__invalid(v, AT(p, "signerName"), VALUE_Q(s->signer_name),
                       "the legacy signerName is not allowed via this API version");
    else
        valid__signer_name(v, AT(p, "signerName"), s->signer_name);
    if (s->expiration_seconds.set && s->expiration_seconds.v < LEAST_SECONDS)
        valid__invalid(v, AT(p, "expirationSeconds"), VALUE_I64(s->expiration_seconds.v),
                       "may not specify a duration less than 600 seconds (10 minutes)");
}

static void check(struct valid *v, const struct api_certificate_signing_request *r,
                  const struct api_certificate_signing_request *old) {
    const struct path *status = AT(NULL, "status");
    struct allowances allowed = allowances_of(v->errs->a, r, old);
    check_spec(v, AT(NULL, "spec"), &r->spec, &allowed);
    check_conditions(v, AT(status, "conditions"), &r->status.conditions, &allowed);
    struct str fault = STR("");
    if (!allowed.any_certificate)
        fault = certificate_fault(v->errs->a, r->status.certificate);
    if (fault.n)
        valid__add(v, VALID_INVALID, AT(status, "certificate"), &VALUE_Q(STR("<certificate data>")),
                   fault);
}

/* ---- writes ---- */

static void create(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check(v, request_of(o), NULL);
}

/* What a write may do beside: decide, or issue the certificate, once. */
enum right { NOTHING, DECIDE, ISSUE };

static void check_certificate(struct valid *v, struct str now, struct str was, enum right right) {
    const struct path *p = AT(AT(NULL, "status"), "certificate");
    if (str_eq(now, was))
        return;
    if (right != ISSUE)
        valid__forbidden(v, p, "updates may not set certificate content");
    else if (was.n)
        valid__forbidden(v, p, "updates may not modify existing certificate content");
}

static void check_update(struct valid *v, const struct api_object *o, const struct api_object *old,
                         enum right right) {
    const struct api_certificate_signing_request *now = request_of(o), *was = request_of(old);
    const struct path *p = AT(AT(NULL, "status"), "conditions");
    valid__finalizer_names(v, AT(AT(NULL, "metadata"), "finalizers"), &o->meta->finalizers);
    check(v, now, was);
    check_removals(v, p, &now->status.conditions, &was->status.conditions);
    if (right != DECIDE)
        keep_decisions(v, p, &now->status.conditions, &was->status.conditions);
    check_certificate(v, now->status.certificate, was->status.certificate, right);
}

static void update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    check_update(v, o, old, NOTHING);
}

void valid__approval_check(struct valid *v, const struct api_object *o,
                           const struct api_object *old) {
    check_update(v, o, old, DECIDE);
}

void valid__certificate_check(struct valid *v, const struct api_object *o,
                              const struct api_object *old) {
    check_update(v, o, old, ISSUE);
}

/* That there is at most one decision is declared beside the field as well. */
static void declared(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct path *p = AT(AT(NULL, "status"), "conditions");
    const struct api_certificate_signing_request *now = request_of(o),
                                                 *was = old ? request_of(old) : NULL;
    struct union_member members[] = {{.name = "conditions[{\"type\": \"Approved\"}]"},
                                     {.name = "conditions[{\"type\": \"Denied\"}]"}};
    for (size_t i = 0; i < 2; i++) {
        members[i].is_set = count(&now->status.conditions, str_of(approvals[i])) > 0;
        members[i].was_set = was && count(&was->status.conditions, str_of(approvals[i])) > 0;
    }
    valid__say_at_most_one(v, p, members, 2, old);
}

const struct valid_kind valid__certificate_signing_request = {.type =
                                                                  API_T_certificate_signing_request,
                                                              .create = create,
                                                              .update = update,
                                                              .status = valid__certificate_check,
                                                              .declared = declared};
