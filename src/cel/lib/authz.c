/*
 * The authorizer's functions. Nothing in a placement has an authorizer, so they can be named but
 * never called; they are here because an error text depends on whether a name is declared.
 */
#include "cel/cel_int.h"

#define A          "kubernetes.authorization."
#define AUTHORIZER A "Authorizer"
#define PATH       A "PathCheck"
#define GROUP      A "GroupCheck"
#define RESOURCE   A "ResourceCheck"
#define DECISION   A "Decision"

#define DECLARED(name, id, sig, doc) \
    { name, id, sig, NULL, NULL, NULL, 0, doc }

static const struct cel_fn fns[] = {
    DECLARED("path", "authorizer_path", AUTHORIZER ".(string) -> " PATH, "a check of a URL path"),
    DECLARED("group", "authorizer_group", AUTHORIZER ".(string) -> " GROUP,
             "a check of an API group"),
    DECLARED("serviceAccount", "authorizer_serviceaccount",
             AUTHORIZER ".(string, string) -> " AUTHORIZER, "for a service account"),
    DECLARED("resource", "groupcheck_resource", GROUP ".(string) -> " RESOURCE, "of a resource"),
    DECLARED("subresource", "resourcecheck_subresource", RESOURCE ".(string) -> " RESOURCE,
             "of a subresource"),
    DECLARED("namespace", "resourcecheck_namespace", RESOURCE ".(string) -> " RESOURCE,
             "in a namespace"),
    DECLARED("name", "resourcecheck_name", RESOURCE ".(string) -> " RESOURCE, "of this name"),
    DECLARED("check", "pathcheck_check", PATH ".(string) -> " DECISION, "is the verb allowed?"),
    DECLARED("check", "resourcecheck_check", RESOURCE ".(string) -> " DECISION,
             "is the verb allowed?"),
    DECLARED("errored", "decision_errored", DECISION ".() -> bool", "did the check fail?"),
    DECLARED("error", "decision_error", DECISION ".() -> string", "why it failed"),
    DECLARED("allowed", "decision_allowed", DECISION ".() -> bool", "the answer"),
    DECLARED("reason", "decision_reason", DECISION ".() -> string", "why"),
    DECLARED("fieldSelector", "authorizer_fieldselector", RESOURCE ".(string) -> " RESOURCE,
             "with a field selector"),
    DECLARED("labelSelector", "authorizer_labelselector", RESOURCE ".(string) -> " RESOURCE,
             "with a label selector"),
};

const struct cel_library cel__lib_authz = {CEL_LIB_AUTHZ, fns, sizeof fns / sizeof *fns};
