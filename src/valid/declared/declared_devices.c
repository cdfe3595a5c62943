/*
 * What is declared of devices: their classes, claims and slices.
 *
 * Follows k8s.io/kubernetes pkg/apis/resource/v1, func Validate_DeviceClass,
 * func Validate_DeviceTaintRule, func Validate_ResourceClaim, func Validate_ResourceClaimTemplate,
 * func Validate_ResourceSlice.
 * Follows k8s.io/kubernetes pkg/apis/resource/v1beta1, func Validate_ResourceClaim,
 * func Validate_ResourceSlice.
 */
#include "valid/declared/declared_rows_int.h"

#define ROWS (const struct declared_row[])
#define UNITED(...)         \
    (const char *const[]) { \
        __VA_ARGS__, NULL   \
    }

enum { MOST_REQUESTS = 32, MOST_SELECTORS = 32, MOST_CONFIGS = 32, MOST_BINDING_CONDITIONS = 4 };

static const char *const effects[] = {"NoExecute", "NoSchedule", "None", NULL};
static const char *const operators[] = {"Equal", "Exists", NULL};
static const char *const modes[] = {"All", "ExactCount", NULL};
static const char *const sources[] = {"FromClaim", "FromClass", NULL};
static const char *const operations[] = {"*", "NodePrepareResources", "NodeUnprepareResources",
                                         NULL};

/* Fields that several types have, with the same rules. */
#define INSIDE(json) \
    { .field = json, .rules = D_BETA }
#define MOST(json, n) \
    { .field = json, .rules = D_BETA | D_MOST_ITEMS, .most = n }
#define KEYED_BY(json, key, n) \
    { .field = json, .rules = D_BETA | D_MOST_ITEMS | D_UNIQUE, .most = n, .keys = key }
#define REQUESTS \
    { .field = "requests", .rules = D_BETA | D_MOST_ITEMS | D_UNIQUE, .most = MOST_REQUESTS }
#define DRIVER                                                                      \
    {                                                                               \
        .field = "driver", .rules = D_BETA | D_REQUIRED | D_MOST_RUNES, .most = 63, \
        .format = F_LONG_NAME_CASELESS                                              \
    }
#define SHARE \
    { .field = "shareID", .rules = D_BETA, .format = F_UUID }
#define BINDING                                         \
    MOST("bindingConditions", MOST_BINDING_CONDITIONS), \
        MOST("bindingFailureConditions", MOST_BINDING_CONDITIONS)
#define OPERATIONS \
    { .field = "skipNodeOperations", .rules = D_UNIQUE, .choices = operations }
#define ASKED_FOR                                                                                \
    MOST("selectors", MOST_SELECTORS),                                                           \
        {.field = "allocationMode", .rules = D_BETA, .choices = modes}, INSIDE("tolerations"), { \
        .field = "derivedAttributes", .rules = D_MOST_ITEMS, .most = 32                          \
    }
#define COUNTERS(json)                                                       \
    {.field = json, .rules = D_BETA | D_REQUIRED, .format = F_SHORT_NAME}, { \
        .field = "counters", .rules = D_BETA | D_REQUIRED | D_FORMAT_INSIDE, \
        .format = F_SHORT_NAME                                               \
    }
#define DEVICE                                                                             \
    INSIDE("attributes"), KEYED_BY("consumesCounters", "counterSet", 2), INSIDE("taints"), \
        BINDING, {                                                                         \
        .field = "nodeAllocatableResources"                                                \
    }
#define SUB_REQUEST                                                                        \
    ROWS {                                                                                 \
        {.field = "deviceClassName", .rules = D_BETA | D_REQUIRED, .format = F_LONG_NAME}, \
            ASKED_FOR, {                                                                   \
            0                                                                              \
        }                                                                                  \
    }
#define CLAIM                                                                           \
    ROWS {                                                                              \
        KEYED_BY("requests", "name", MOST_REQUESTS), MOST("constraints", MOST_CONFIGS), \
            MOST("config", MOST_CONFIGS), {                                             \
            0                                                                           \
        }                                                                               \
    }
#define CONFIGURATION \
    { .field = "DeviceConfiguration", .rules = D_BETA }
#define IMMUTABLE_SPEC \
    { .field = "spec", .rules = D_BETA | D_IMMUTABLE }
#define SLICE                                                         \
    ROWS {                                                            \
        INSIDE("devices"), KEYED_BY("sharedCounters", "name", 8),     \
            {.field = "partitionTypeAttribute",                       \
             .format = F_FULLY_QUALIFIED,                             \
             .gate = FORBIDDEN_WITHOUT(DRAPartitionableDevicesType)}, \
            OPERATIONS, {                                             \
            0                                                         \
        }                                                             \
    }
#define ONLY(json)      \
    ROWS {              \
        INSIDE(json), { \
            0           \
        }               \
    }

static const struct declared_type types[] = {
    /* ---- classes, and taints ---- */
    [API_T_device_class] = {.rows = ONLY("spec")},
    [API_T_device_class_spec] = {.rows = ROWS{MOST("selectors", MOST_SELECTORS),
                                              MOST("config", MOST_CONFIGS),
                                              {.field = "extendedResourceName",
                                               .rules = D_BETA,
                                               .format = F_EXTENDED_RESOURCE},
                                              {0}}},
    [API_T_device_class_configuration] = {.rows = ROWS{CONFIGURATION, {0}}},
    [API_T_device_configuration] = {.rows = ONLY("opaque")},
    [API_T_opaque_device_configuration] = {.rows = ROWS{{.field = "driver",
                                                         .rules = D_BETA | D_REQUIRED |
                                                                  D_MOST_RUNES | D_LENGTH_FIRST,
                                                         .most = 63,
                                                         .format = F_LONG_NAME_CASELESS},
                                                        {0}}},
    [API_T_device_taint_rule] = {.rows = ONLY("spec")},
    [API_T_device_taint_rule_spec] = {.rows = ONLY("taint")},
    [API_T_device_taint] =
        {.rows = ROWS{{.field = "effect", .rules = D_BETA | D_REQUIRED, .choices = effects}, {0}}},

    /* ---- claims ---- */
    [API_T_resource_resource_claim] = {.rows = ROWS{IMMUTABLE_SPEC, INSIDE("status"), {0}}},
    [API_T_resource_claim_v1beta1] = {.rows = ROWS{IMMUTABLE_SPEC, INSIDE("status"), {0}}},
    [API_T_resource_claim_template] = {.rows = ONLY("spec")},
    [API_T_resource_claim_template_v1beta1] = {.rows = ONLY("spec")},
    [API_T_resource_claim_template_spec] = {.rows = ONLY("spec")},
    [API_T_resource_claim_template_spec_v1beta1] = {.rows = ONLY("spec")},
    [API_T_resource_claim_spec] = {.rows = ONLY("devices")},
    [API_T_resource_claim_spec_v1beta1] = {.rows = ONLY("devices")},
    [API_T_device_claim] = {.rows = CLAIM},
    [API_T_device_claim_v1beta1] = {.rows = CLAIM},
    [API_T_device_request] = {.rows = ROWS{INSIDE("exactly"),
                                           KEYED_BY("firstAvailable", "name", 8),
                                           {0}}},
    [API_T_device_request_v1beta1] =
        {.rows = ROWS{MOST("selectors", MOST_SELECTORS),
                      {.field = "allocationMode", .rules = D_BETA, .choices = modes},
                      KEYED_BY("firstAvailable", "name", 8),
                      INSIDE("tolerations"),
                      {.field = "derivedAttributes", .rules = D_MOST_ITEMS, .most = 32},
                      {0}}},
    [API_T_exact_device_request] = {.rows = ROWS{ASKED_FOR, {0}}},
    [API_T_device_sub_request] = {.rows = SUB_REQUEST},
    [API_T_device_sub_request_v1beta1] = {.rows = SUB_REQUEST},
    [API_T_device_derived_attribute] =
        {.rows = ROWS{{.field = "name", .rules = D_REQUIRED, .format = F_FULLY_QUALIFIED},
                      {.field = "expression", .rules = D_REQUIRED},
                      {0}}},
    [API_T_device_constraint] =
        {.rows =
             ROWS{REQUESTS,
                  {.field = "matchAttribute", .rules = D_BETA, .format = F_FULLY_QUALIFIED},
                  {.field = "distinctAttribute", .rules = D_BETA, .format = F_FULLY_QUALIFIED},
                  {0}}},
    [API_T_device_claim_configuration] = {.rows = ROWS{REQUESTS, CONFIGURATION, {0}}},
    [API_T_device_toleration] =
        {.rows = ROWS{{.field = "key", .rules = D_BETA, .format = F_LABEL_KEY},
                      {.field = "operator", .rules = D_BETA | D_REQUIRED, .choices = operators},
                      {.field = "effect", .rules = D_BETA, .choices = effects},
                      {0}}},

    /* ---- their status ---- */
    [API_T_resource_claim_status] = {.rows = ROWS{{.field = "allocation",
                                                   .rules = D_BETA | D_NO_MODIFY},
                                                  KEYED_BY("reservedFor", "uid", 256),
                                                  {.field = "devices",
                                                   .rules = D_BETA | D_UNIQUE,
                                                   .keys = "driver,device,pool,shareID"},
                                                  {0}}},
    [API_T_allocation_result] = {.rows = ONLY("devices")},
    [API_T_device_allocation_result] = {.rows = ROWS{MOST("results", 32), MOST("config", 64), {0}}},
    [API_T_device_request_allocation_result] =
        {.rows = ROWS{DRIVER,
                      {.field = "pool", .rules = D_BETA | D_REQUIRED, .format = F_POOL_NAME},
                      INSIDE("tolerations"),
                      BINDING,
                      SHARE,
                      OPERATIONS,
                      {0}}},
    [API_T_device_allocation_configuration] =
        {.rows = ROWS{{.field = "source", .rules = D_BETA | D_REQUIRED, .choices = sources},
                      REQUESTS,
                      CONFIGURATION,
                      {0}}},
    [API_T_allocated_device_status] = {.rows = ROWS{SHARE, INSIDE("networkData"), {0}}},
    [API_T_network_device_data] =
        {.rows = ROWS{{.field = "interfaceName", .rules = D_BETA | D_MOST_BYTES, .most = 256},
                      {.field = "ips", .rules = D_BETA | D_MOST_ITEMS | D_UNIQUE, .most = 16},
                      {.field = "hardwareAddress", .rules = D_BETA | D_MOST_BYTES, .most = 128},
                      {0}}},

    /* ---- slices ---- */
    [API_T_resource_slice] = {.rows = ONLY("spec")},
    [API_T_resource_slice_v1beta1] = {.rows = ONLY("spec")},
    [API_T_resource_slice_spec] = {.rows = SLICE},
    [API_T_resource_slice_spec_v1beta1] = {.rows = SLICE},
    [API_T_device] = {.rows = ROWS{DEVICE, {0}}},
    [API_T_device_v1beta1] = {.rows = ONLY("basic")},
    [API_T_basic_device] = {.rows = ROWS{DEVICE, {0}}},
    [API_T_device_attribute] = {.united = UNITED("int", "bool", "string", "version", "ints",
                                                 "bools", "strings", "versions"),
                                .is_united_in_beta = true},
    [API_T_counter_set] = {.rows = ROWS{COUNTERS("name"), {0}}},
    [API_T_device_counter_consumption] = {.rows = ROWS{COUNTERS("counterSet"),
                                                       {.field = "compatibilityGroups",
                                                        .rules = D_MOST_ITEMS | D_UNIQUE |
                                                                 D_FORMAT_INSIDE,
                                                        .most = 2,
                                                        .format = F_SHORT_NAME},
                                                       {0}}},
    [API_T_node_allocatable_resource] = {.rows = ROWS{{.field = "mapping"}, {0}}},
    [API_T_node_allocatable_mapping] = {.united = UNITED("capacityKey", "deviceMultiplier")},
};

const struct declared_type *valid__declared_devices(enum api_type_id type) {
    const struct declared_type *t = type < sizeof types / sizeof *types ? &types[type] : NULL;
    return t && (t->rows || t->united) ? t : NULL;
}
