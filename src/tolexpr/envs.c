/*
 * The environments of expressions. What an expression may name depends on where it stands; an
 * environment is put together from parts, each a row here, and made when it is first asked for.
 *
 * Follows k8s.io/apiserver pkg/admission/plugin/cel, func BuildRequestType,
 * func BuildNamespaceType, func NewCompiler, func NewCompositedCompiler.
 * Follows k8s.io/dynamic-resource-allocation cel, func GetCompiler.
 */
#include "tolexpr/tolexpr_int.h"

#include <limits.h>

#define S(text)  STR_INIT(text)
#define COUNT(a) (sizeof(a) / sizeof *(a))

/* ---- tolerations ---- */

/* The order is that of fill_taint; the sizes are what validation lets through: a prefix
 * of 253, a slash and a name of 63; a label value; PreferNoSchedule. */
static const struct cel_var taint_fields[] = {
    {S("key"), S("string[317]")},
    {S("value"), S("string[63]")},
    {S("effect"), S("string[16]")},
};
static const struct cel_object taint_object[] = {
    {S("kubernetes.Taint"), taint_fields, COUNT(taint_fields)}};
static const struct cel_var taint_var[] = {{S("taint"), S("kubernetes.Taint")}};

/* ---- devices ---- */

/* Domains have 63 bytes, ids 32, texts 64; a device has 32 attributes and capacities, and 48 values
 * in lists. Whether it may be shared comes last: a gate tells if it is there. */
#define BY_NAME(value) S("map(string[63], map(string[32], " value ")[32])[32]")
static const struct cel_var device_fields[] = {
    {S("driver"), S("string[63]")},
    {S("attributes"), BY_NAME("any[64]")},
    {S("capacity"), BY_NAME("kubernetes.Quantity")},
    {S("allowMultipleAllocations"), S("bool[1]")},
};
static const struct cel_var list_device_fields[] = {
    {S("driver"), S("string[63]")},
    {S("attributes"), BY_NAME("dyn[64]")},
    {S("capacity"), BY_NAME("kubernetes.Quantity")},
    {S("allowMultipleAllocations"), S("bool[1]")},
};
#define DEVICE "kubernetes.DRADevice"
static const struct cel_object device_object[] = {
    {S(DEVICE), device_fields, COUNT(device_fields) - 1}};
static const struct cel_object shared_device_object[] = {
    {S(DEVICE), device_fields, COUNT(device_fields)}};
static const struct cel_object list_device_object[] = {
    {S(DEVICE), list_device_fields, COUNT(list_device_fields) - 1}};
static const struct cel_object shared_list_device_object[] = {
    {S(DEVICE), list_device_fields, COUNT(list_device_fields)}};
static const struct cel_var device_var[] = {{S("device"), S(DEVICE)}};

/* ---- requests ---- */

static const struct cel_var kind_fields[] = {
    {S("group"), S("string")}, {S("version"), S("string")}, {S("kind"), S("string")}};
static const struct cel_var resource_fields[] = {
    {S("group"), S("string")}, {S("version"), S("string")}, {S("resource"), S("string")}};
static const struct cel_var user_fields[] = {
    {S("username"), S("string")},
    {S("uid"), S("string")},
    {S("groups"), S("list(string)")},
    {S("extra"), S("map(string, list(string))")},
};
static const struct cel_var request_fields[] = {
    {S("kind"), S("kubernetes.GroupVersionKind")},
    {S("resource"), S("kubernetes.GroupVersionResource")},
    {S("subResource"), S("string")},
    {S("requestKind"), S("kubernetes.GroupVersionKind")},
    {S("requestResource"), S("kubernetes.GroupVersionResource")},
    {S("requestSubResource"), S("string")},
    {S("name"), S("string")},
    {S("namespace"), S("string")},
    {S("operation"), S("string")},
    {S("userInfo"), S("kubernetes.UserInfo")},
    {S("dryRun"), S("bool")},
    {S("options"), S("dyn")},
};
static const struct cel_var namespace_spec_fields[] = {{S("finalizers"), S("list(string)")}};
static const struct cel_var condition_fields[] = {
    {S("status"), S("string")},
    {S("type"), S("string")},
    {S("lastTransitionTime"), S("timestamp")},
    {S("message"), S("string")},
    {S("reason"), S("string")},
};
static const struct cel_var namespace_status_fields[] = {
    {S("conditions"), S("list(kubernetes.NamespaceCondition)")}, {S("phase"), S("string")}};
static const struct cel_var metadata_fields[] = {
    {S("name"), S("string")},
    {S("generateName"), S("string")},
    {S("namespace"), S("string")},
    {S("labels"), S("map(string, string)")},
    {S("annotations"), S("map(string, string)")},
    {S("UID"), S("string")},
    {S("creationTimestamp"), S("timestamp")},
    {S("deletionGracePeriodSeconds"), S("int")},
    {S("deletionTimestamp"), S("timestamp")},
    {S("generation"), S("int")},
    {S("resourceVersion"), S("string")},
    {S("finalizers"), S("list(string)")},
};
static const struct cel_var namespace_fields[] = {
    {S("metadata"), S("kubernetes.NamespaceMetadata")},
    {S("spec"), S("kubernetes.NamespaceSpec")},
    {S("status"), S("kubernetes.NamespaceStatus")},
};
static const struct cel_object request_objects[] = {
    {S("kubernetes.GroupVersionKind"), kind_fields, COUNT(kind_fields)},
    {S("kubernetes.GroupVersionResource"), resource_fields, COUNT(resource_fields)},
    {S("kubernetes.UserInfo"), user_fields, COUNT(user_fields)},
    {S("kubernetes.AdmissionRequest"), request_fields, COUNT(request_fields)},
    {S("kubernetes.NamespaceSpec"), namespace_spec_fields, COUNT(namespace_spec_fields)},
    {S("kubernetes.NamespaceCondition"), condition_fields, COUNT(condition_fields)},
    {S("kubernetes.NamespaceStatus"), namespace_status_fields, COUNT(namespace_status_fields)},
    {S("kubernetes.NamespaceMetadata"), metadata_fields, COUNT(metadata_fields)},
    {S("kubernetes.Namespace"), namespace_fields, COUNT(namespace_fields)},
};
static const struct cel_var request_vars[] = {
    {S("object"), S("dyn")},
    {S("oldObject"), S("dyn")},
    {S("namespaceObject"), S("kubernetes.Namespace")},
    {S("request"), S("kubernetes.AdmissionRequest")},
};
static const struct cel_var params_var[] = {{S("params"), S("dyn")}};
static const struct cel_var authorizer_vars[] = {
    {S("authorizer"), S("kubernetes.authorization.Authorizer")},
    {S("authorizer.requestResource"), S("kubernetes.authorization.ResourceCheck")},
};
static const struct cel_object variables_object[] = {{S(TOLEXPR__VARIABLES_TYPE), NULL, 0}};
static const struct cel_var variables_var[] = {{S("variables"), S(TOLEXPR__VARIABLES_TYPE)}};

/* ---- parts ---- */

#define BINDS    (1U << CEL_LIB_BIND)
#define INCLUDES (1U << CEL_LIB_INCLUDES)

#define OBJECTS(list) .objects = (list), .object_count = COUNT(list)
#define VARS(list)    .vars = (list), .var_count = COUNT(list)

/* By enum tolexpr__part. */
static const struct part {
    const struct cel_object *objects;
    size_t object_count;
    const struct cel_var *vars;
    size_t var_count;
    uint32_t libs; /* beside those of the version */
} parts[TOLEXPR__PARTS] = {
    [TOLEXPR__TAINT] = {OBJECTS(taint_object), VARS(taint_var)},
    [TOLEXPR__DEVICE] = {OBJECTS(device_object), VARS(device_var), .libs = BINDS},
    [TOLEXPR__SHARED_DEVICE] = {OBJECTS(shared_device_object), VARS(device_var), .libs = BINDS},
    [TOLEXPR__LIST_DEVICE] = {OBJECTS(list_device_object), VARS(device_var),
                              .libs = BINDS | INCLUDES},
    [TOLEXPR__SHARED_LIST_DEVICE] = {OBJECTS(shared_list_device_object), VARS(device_var),
                                     .libs = BINDS | INCLUDES},
    [TOLEXPR__REQUEST] = {OBJECTS(request_objects), VARS(request_vars)},
    [TOLEXPR__PARAMS] = {VARS(params_var)},
    [TOLEXPR__AUTHORIZER] = {VARS(authorizer_vars)},
    [TOLEXPR__VARIABLES] = {OBJECTS(variables_object), VARS(variables_var)},
    [TOLEXPR__PATCHES] = {.libs = 1U << CEL_LIB_PATCH},
};

/* ---- environments ---- */

enum { MOST_OBJECTS = 16, MOST_VARS = 16 };

static struct cel_env *new_env(const struct tolexpr *x, uint32_t which) {
    struct cel_object objects[MOST_OBJECTS];
    struct cel_var vars[MOST_VARS];
    bool stored = which >> TOLEXPR__STORED_PART & 1;
    struct cel_env_opts opts = {.libs = stored ? cel_libs_at(UINT_MAX) : x->libs,
                                .objects = objects,
                                .vars = vars,
                                .seed = x->seed};
    for (size_t i = 0; i < TOLEXPR__PARTS; i++) {
        if (!(which >> i & 1))
            continue;
        opts.libs |= parts[i].libs;
        for (size_t k = 0; k < parts[i].object_count; k++)
            objects[opts.object_count++] = parts[i].objects[k];
        for (size_t k = 0; k < parts[i].var_count; k++)
            vars[opts.var_count++] = parts[i].vars[k];
    }
    return cel_env_new(&opts);
}

const struct cel_env *tolexpr__env(struct tolexpr *x, uint32_t which) {
    for (size_t i = 0; i < x->envs.n; i++)
        if (x->envs.v[i].which == which)
            return x->envs.v[i].env;
    vec_push(&x->envs, ((struct tolexpr__made_env){which, new_env(x, which)}));
    return x->envs.v[x->envs.n - 1].env;
}
