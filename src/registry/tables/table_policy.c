/*
 * Tables of what decides about requests: admission, flow control, certificates.
 *
 * Follows k8s.io/kubernetes pkg/printers/internalversion, func printValidatingAdmissionPolicy,
 * func printValidatingAdmissionPolicyBinding, func printMutatingAdmissionPolicy,
 * func printMutatingAdmissionPolicyBinding, func printMutatingWebhook,
 * func printValidatingWebhook, func printFlowSchema, func printPriorityLevelConfiguration,
 * func printCertificateSigningRequest, func extractCSRStatus, func printClusterTrustBundle,
 * func printPodCertificateRequest.
 */
#include "api/selector.h"
#include "registry/tables/table_int.h"

/* ---- admission ---- */

static void cells_policy(struct registry__row *r, size_t steps, const struct api_param_kind *kind) {
    registry__cell_name(r);
    registry__cell_i64(r, (int64_t)steps);
    if (kind)
        registry__cellf(r, "%.*s/%.*s", STR_ARG(kind->api_version), STR_ARG(kind->kind));
    else
        registry__cell(r, STR("<unset>"));
    registry__cell_age(r);
}

static void fill_validating_policy(struct registry__row *r) {
    const struct api_validating_admission_policy *p = r->o->body;
    cells_policy(r, p->spec.validations.n, p->spec.param_kind);
}

static void fill_mutating_policy(struct registry__row *r) {
    const struct api_mutating_admission_policy *p = r->o->body;
    cells_policy(r, p->spec.mutations.n, p->spec.param_kind);
}

static const struct registry__column validating_policy_columns[] = {
    {"Name", "string", false},
    {"Validations", "integer", false},
    {"ParamKind", "string", false},
    {"Age", "string", false},
    {0}};
static const struct registry__column mutating_policy_columns[] = {{"Name", "string", false},
                                                                  {"Mutations", "integer", false},
                                                                  {"ParamKind", "string", false},
                                                                  {"Age", "string", false},
                                                                  {0}};

/* A selector is told as Go prints the struct. */
static struct str selector_text(struct arena *a, const struct api_label_selector *s) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    buf_add(&text, STR("&LabelSelector{MatchLabels:map[string]string{"));
    for (size_t i = 0; i < s->match_labels.n; i++)
        buf_addf(&text, "%.*s: %.*s,", STR_ARG(s->match_labels.v[i].key),
                 STR_ARG(s->match_labels.v[i].value));
    buf_add(&text, STR("},MatchExpressions:[]LabelSelectorRequirement{"));
    for (size_t i = 0; i < s->match_expressions.n; i++) {
        const struct api_label_selector_requirement *e = &s->match_expressions.v[i];
        buf_addf(&text, "LabelSelectorRequirement{Key:%.*s,Operator:%.*s,Values:[", STR_ARG(e->key),
                 STR_ARG(e->operator));
        for (size_t k = 0; k < e->values.n; k++)
            buf_addf(&text, "%s%.*s", k ? " " : "", STR_ARG(e->values.v[k]));
        buf_add(&text, STR("],},"));
    }
    buf_add(&text, STR("},}"));
    return arena_str(a, buf_view(&text));
}

static void cells_policy_binding(struct registry__row *r, struct str policy,
                                 const struct api_param_ref *p) {
    struct str namespace = p && p->namespace.n ? p->namespace : STR("*");
    registry__cell_name(r);
    registry__cell(r, policy);
    if (p && p->name.n)
        registry__cellf(r, "%.*s/%.*s", STR_ARG(namespace), STR_ARG(p->name));
    else
        registry__cell(r, p && p->selector ? selector_text(r->a, p->selector) : STR("<unset>"));
    registry__cell_age(r);
}

static void fill_validating_policy_binding(struct registry__row *r) {
    const struct api_validating_admission_policy_binding *b = r->o->body;
    cells_policy_binding(r, b->spec.policy_name, b->spec.param_ref);
}

static void fill_mutating_policy_binding(struct registry__row *r) {
    const struct api_mutating_admission_policy_binding *b = r->o->body;
    cells_policy_binding(r, b->spec.policy_name, b->spec.param_ref);
}

static const struct registry__column policy_binding_columns[] = {{"Name", "string", false},
                                                                 {"PolicyName", "string", false},
                                                                 {"ParamRef", "string", false},
                                                                 {"Age", "string", false},
                                                                 {0}};

static void cells_webhooks(struct registry__row *r, size_t n) {
    registry__cell_name(r);
    registry__cell_i64(r, (int64_t)n);
    registry__cell_age(r);
}

static void fill_mutating_webhooks(struct registry__row *r) {
    cells_webhooks(r, ((const struct api_mutating_webhook_configuration *)r->o->body)->webhooks.n);
}

static void fill_validating_webhooks(struct registry__row *r) {
    cells_webhooks(r,
                   ((const struct api_validating_webhook_configuration *)r->o->body)->webhooks.n);
}

static const struct registry__column webhook_columns[] = {
    {"Name", "string", false}, {"Webhooks", "integer", false}, {"Age", "string", false}, {0}};

/* ---- flow control ---- */

/* Whether the level that a schema names is missing; nobody knows without the condition. */
static struct str dangling(const struct api_flow_schema *f) {
    for (size_t i = 0; i < f->status.conditions.n; i++)
        if (str_is(f->status.conditions.v[i].type, "Dangling"))
            return f->status.conditions.v[i].status;
    return STR("?");
}

static void fill_flow_schema(struct registry__row *r) {
    const struct api_flow_schema *f = r->o->body;
    const struct api_flow_distinguisher_method *method = f->spec.distinguisher_method;
    registry__cell_name(r);
    registry__cell(r, f->spec.priority_level_configuration.name);
    registry__cell_i64(r, f->spec.matching_precedence);
    registry__cell(r, method ? method->type : STR("<none>"));
    registry__cell_age(r);
    registry__cell(r, dangling(f));
}

static const struct registry__column flow_schema_columns[] = {
    {"Name", "string", false},
    {"PriorityLevel", "string", false},
    {"MatchingPrecedence", "string", false},
    {"DistinguisherMethod", "string", false},
    {"Age", "string", false},
    {"MissingPL", "string", false},
    {0}};

static void cell_or_none(struct registry__row *r, const int32_t *v) {
    if (v)
        registry__cell_i64(r, *v);
    else
        registry__cell(r, STR("<none>"));
}

static void fill_priority_level(struct registry__row *r) {
    const struct api_priority_level_configuration *p = r->o->body;
    const struct api_limited_priority_level_configuration *l = p->spec.limited;
    const struct api_queuing_configuration *q = l ? l->limit_response.queuing : NULL;
    registry__cell_name(r);
    registry__cell(r, p->spec.type);
    cell_or_none(r, l ? &l->nominal_concurrency_shares.v : NULL);
    cell_or_none(r, q ? &q->queues : NULL);
    cell_or_none(r, q ? &q->hand_size : NULL);
    cell_or_none(r, q ? &q->queue_length_limit : NULL);
    registry__cell_age(r);
}

static const struct registry__column priority_level_columns[] = {
    {"Name", "string", false},
    {"Type", "string", false},
    {"NominalConcurrencyShares", "string", false},
    {"Queues", "string", false},
    {"HandSize", "string", false},
    {"QueueLengthLimit", "string", false},
    {"Age", "string", false},
    {0}};

/* ---- certificates ---- */

static bool has_condition(const struct api_certificate_signing_request *c, const char *type) {
    for (size_t i = 0; i < c->status.conditions.n; i++)
        if (str_is(c->status.conditions.v[i].type, type))
            return true;
    return false;
}

static void fill_signing_request(struct registry__row *r) {
    const struct api_certificate_signing_request *c = r->o->body;
    struct api_opt_i32 seconds = c->spec.expiration_seconds;
    registry__cell_name(r);
    registry__cell_age(r);
    registry__cell_or(r, c->spec.signer_name, "<none>");
    registry__cell(r, c->spec.username);
    registry__cell(r, seconds.set ? registry__human(r->a, seconds.v) : STR("<none>"));
    registry__cellf(r, "%s%s%s",
                    has_condition(c, "Denied")     ? "Denied"
                    : has_condition(c, "Approved") ? "Approved"
                                                   : "Pending",
                    has_condition(c, "Failed") ? ",Failed" : "",
                    c->status.certificate.n ? ",Issued" : "");
}

static const struct registry__column signing_request_columns[] = {
    {"Name", "string", false},
    {"Age", "string", false},
    {"SignerName", "string", false},
    {"Requestor", "string", false},
    {"RequestedDuration", "string", false},
    {"Condition", "string", false},
    {0}};

static void fill_trust_bundle(struct registry__row *r) {
    registry__cell_name(r);
    registry__cell_or(r, ((const struct api_cluster_trust_bundle *)r->o->body)->spec.signer_name,
                      "<none>");
}

static const struct registry__column trust_bundle_columns[] = {
    {"Name", "string", false}, {"SignerName", "string", false}, {0}};

/* The last condition that tells how it ended. */
static struct str certificate_state(const struct api_condition_list *conditions) {
    struct str state = STR("Pending");
    for (size_t i = 0; i < conditions->n; i++) {
        struct str type = conditions->v[i].type;
        if (str_is(type, "Issued") || str_is(type, "Denied") || str_is(type, "Failed"))
            state = type;
    }
    return state;
}

static void fill_pod_certificate(struct registry__row *r) {
    const struct api_pod_certificate_request *p = r->o->body;
    registry__cell_name(r);
    registry__cell(r, p->spec.pod_name);
    registry__cell(r, p->spec.service_account_name);
    registry__cell(r, p->spec.node_name);
    registry__cell(r, p->spec.signer_name);
    registry__cell(r, certificate_state(&p->status.conditions));
    registry__cell_labels(r, &p->spec.unverified_user_annotations);
}

static const struct registry__column pod_certificate_columns[] = {
    {"Name", "string", false},
    {"PodName", "string", false},
    {"ServiceAccountName", "string", false},
    {"NodeName", "string", false},
    {"SignerName", "string", false},
    {"State", "string", false},
    {"UnverifiedUserAnnotations", "string", false},
    {0}};

const struct registry__table registry__policy_tables[] = {
    {API_T_validating_admission_policy, validating_policy_columns, fill_validating_policy},
    {API_T_validating_admission_policy_binding, policy_binding_columns,
     fill_validating_policy_binding},
    {API_T_mutating_admission_policy, mutating_policy_columns, fill_mutating_policy},
    {API_T_mutating_admission_policy_binding, policy_binding_columns, fill_mutating_policy_binding},
    {API_T_mutating_webhook_configuration, webhook_columns, fill_mutating_webhooks},
    {API_T_validating_webhook_configuration, webhook_columns, fill_validating_webhooks},
    {API_T_flow_schema, flow_schema_columns, fill_flow_schema},
    {API_T_priority_level_configuration, priority_level_columns, fill_priority_level},
    {API_T_certificate_signing_request, signing_request_columns, fill_signing_request},
    {API_T_cluster_trust_bundle, trust_bundle_columns, fill_trust_bundle},
    {API_T_pod_certificate_request, pod_certificate_columns, fill_pod_certificate},
    {0},
};
