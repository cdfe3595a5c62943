/*
 * The audit policy: what of which requests is written to the audit log.
 *
 * Follows k8s.io/apiserver pkg/audit/policy, func NewPolicyRuleEvaluator, func LoadPolicyFromBytes.
 */
#ifndef SERVER_AUDIT_POLICY_H
#define SERVER_AUDIT_POLICY_H

#include "auth/auth.h"
#include "base/err.h"

/* How much of a request is written, each with what the one before it has. */
enum server_audit_level {
    SERVER_AUDIT_NONE,
    SERVER_AUDIT_METADATA,
    SERVER_AUDIT_REQUEST,
    SERVER_AUDIT_RESPONSE,
};

enum server_audit_stage {
    SERVER_AUDIT_RECEIVED,
    SERVER_AUDIT_STARTED, /* of watches alone: the headers of the answer were sent */
    SERVER_AUDIT_COMPLETE,
    SERVER_AUDIT_PANIC, /* known to policies; it never happens here */
    SERVER_AUDIT_STAGES,
};

/* Their names: "Metadata", "ResponseComplete". */
extern const char *const server_audit_levels[];
extern const char *const server_audit_stages[];

/* What becomes of one request. */
struct server_audit_rule {
    enum server_audit_level level;
    uint32_t omitted; /* a bit for each stage at which nothing is written */
    bool omits_managed_fields;
};

struct server_audit_policy;

/* Reads a policy, in YAML or JSON. Free it with _free, which accepts NULL. */
int server_audit_policy_read(struct str text, struct server_audit_policy **out, struct err *err);
void server_audit_policy_free(struct server_audit_policy *policy);

/* What the first rule that is about this request says; without one, nothing is written. */
struct server_audit_rule server_audit_policy_find(const struct server_audit_policy *policy,
                                                  const struct auth_attributes *q);

#endif
