/*
 * The authorizer's functions. Nothing in a placement has an authorizer, so no call of them
 * succeeds; they are here because errors and costs depend on whether a name is declared.
 *
 * Follows k8s.io/apiserver pkg/cel/library, func Authz, func AuthzSelectors.
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
#define CHECK(id, sig) \
    { "check", id, sig, NULL, est_check, cost_check, CEL_FN_COST_BY_NAME, "is the verb allowed?" }
#define SELECTOR(name, id, doc)                                                         \
    {                                                                                   \
        name, id, RESOURCE ".(string) -> " RESOURCE, NULL, est_selector, cost_selector, \
            CEL_FN_COST_BY_NAME, doc                                                    \
    }

/* Behind dyn even these can be called; that fails, and costs what upstream says. */
enum { CHECK_COST = 350000, SELECTOR_COST = 10, REQUIREMENT_COST = 50 };

static struct cel_estimated est_check(const struct cel_call_est *call) {
    (void)call;
    return (struct cel_estimated){.cost = cel__fixed(CHECK_COST)};
}

static uint64_t cost_check(struct cel_eval *ev, const struct cel_value *args,
                           const struct cel_value *result) {
    (void)ev;
    (void)args, (void)result;
    return CHECK_COST;
}

/* Parsing, and as many requirements as half of the text may have. */
static struct cel_range selector_cost(struct cel_range size) {
    struct cel_range requirements = cel__range_scale(size, 0.5);
    return cel__range_add(cel__fixed(SELECTOR_COST),
                          cel__range_add(cel__range_scale(size, 0.1),
                                         cel__range_scale(requirements, REQUIREMENT_COST)));
}

static struct cel_estimated est_selector(const struct cel_call_est *call) {
    struct cel_range size = cel__operand_size(&call->args[0]);
    return (struct cel_estimated){.cost = selector_cost(size)};
}

static uint64_t cost_selector(struct cel_eval *ev, const struct cel_value *args,
                              const struct cel_value *result) {
    (void)ev;
    (void)result;
    return selector_cost(cel__fixed(cel__size_of(args[1]))).max;
}

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
    CHECK("pathcheck_check", PATH ".(string) -> " DECISION),
    CHECK("resourcecheck_check", RESOURCE ".(string) -> " DECISION),
    DECLARED("errored", "decision_errored", DECISION ".() -> bool", "did the check fail?"),
    DECLARED("error", "decision_error", DECISION ".() -> string", "why it failed"),
    DECLARED("allowed", "decision_allowed", DECISION ".() -> bool", "the answer"),
    DECLARED("reason", "decision_reason", DECISION ".() -> string", "why"),
    SELECTOR("fieldSelector", "authorizer_fieldselector", "with a field selector"),
    SELECTOR("labelSelector", "authorizer_labelselector", "with a label selector"),
};

const struct cel_library cel__lib_authz = {CEL_LIB_AUTHZ, fns, sizeof fns / sizeof *fns};
