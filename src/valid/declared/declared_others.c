/*
 * What is declared of requests for evictions, and of questions about pools of devices.
 *
 * Follows k8s.io/kubernetes pkg/apis/lifecycle/v1alpha1, func Validate_EvictionRequest.
 * Follows k8s.io/kubernetes pkg/apis/resource/v1alpha3, func Validate_ResourcePoolStatusRequest.
 */
#include "valid/declared/declared_rows_int.h"

#define ROWS (const struct declared_row[])
#define UNITED(...)         \
    (const char *const[]) { \
        __VA_ARGS__, NULL   \
    }

enum { MOST_EVICTION_CONDITIONS = 100, MOST_POOLS = 1000 };

static const char *const intents[] = {"Eviction", "Withdrawn", NULL};
/* Fields that several types have, with the same rules. */
#define NAMED(json, how) \
    { .field = json, .rules = D_REQUIRED, .format = how }
#define COUNT(json, rule) \
    { .field = json, .rules = (rule) | D_LEAST, .least = 0 }
#define GENERATION \
    { .field = "observedGeneration", .rules = D_LEAST | D_MONOTONIC | D_NO_UNSET, .least = 1 }
#define CONDITIONS(n) \
    { .field = "conditions", .rules = D_MOST_ITEMS, .most = n }

static const struct declared_type types[] = {
    [API_T_eviction_request] = {.rows = ROWS{{.field = "spec"}, {.field = "status"}, {0}}},
    [API_T_eviction_request_spec] =
        {.rows = ROWS{{.field = "target", .rules = D_IMMUTABLE},
                      {.field = "requester",
                       .rules = D_REQUIRED | D_IMMUTABLE,
                       .format = F_FOREIGN_LABEL_KEY},
                      {.field = "intent", .rules = D_REQUIRED, .choices = intents},
                      {0}}},
    [API_T_eviction_request_target] = {.united = UNITED("pod"),
                                       .rows = ROWS{{.field = "pod"}, {0}}},
    [API_T_eviction_request_pod_reference] = {.rows = ROWS{NAMED("name", F_LONG_NAME),
                                                           NAMED("uid", F_UUID),
                                                           {0}}},
    [API_T_eviction_request_status] = {.rows = ROWS{CONDITIONS(MOST_EVICTION_CONDITIONS),
                                                    GENERATION,
                                                    {0}}},

    [API_T_resource_pool_status_request] = {.rows = ROWS{{.field = "spec", .rules = D_IMMUTABLE},
                                                         {.field = "status"},
                                                         {0}}},
    [API_T_resource_pool_status_request_spec] =
        {.rows = ROWS{NAMED("driver", F_LONG_NAME_CASELESS),
                      {.field = "poolName", .format = F_POOL_NAME},
                      {.field = "limit", .rules = D_LEAST | D_MOST, .least = 1, .most = MOST_POOLS},
                      {.field = "defaultPartitionTypeAttribute",
                       .format = F_FULLY_QUALIFIED,
                       .gate = FORBIDDEN_WITHOUT(DRAPartitionableDevicesType)},
                      {0}}},
    [API_T_resource_pool_status_request_status] =
        {.rows = ROWS{COUNT("poolCount", D_REQUIRED),
                      {.field = "pools", .rules = D_MOST_ITEMS, .most = MOST_POOLS},
                      CONDITIONS(10),
                      {0}}},
    [API_T_pool_status] = {.rows =
                               ROWS{
                                   NAMED("driver", F_LONG_NAME_CASELESS),
                                   NAMED("poolName", F_POOL_NAME),
                                   COUNT("generation", D_REQUIRED),
                                   {.field = "resourceSliceCount", .rules = D_LEAST, .least = 1},
                                   COUNT("totalDevices", 0),
                                   COUNT("allocatedDevices", 0),
                                   COUNT("availableDevices", 0),
                                   COUNT("unavailableDevices", 0),
                                   {.field = "nodeName", .format = F_LONG_NAME},
                                   {.field = "validationError", .rules = D_MOST_BYTES, .most = 256},
                                   {.field = "partitionSummary",
                                    .rules = D_MOST_ITEMS | D_UNIQUE,
                                    .most = 32,
                                    .keys = "attribute,type"},
                                   {.field = "shareableSummary"},
                                   {0}}},
    [API_T_partition_type_status] = {.rows = ROWS{NAMED("attribute", F_ANY),
                                                  NAMED("type", F_ANY),
                                                  COUNT("total", D_REQUIRED),
                                                  COUNT("allocatable", D_REQUIRED),
                                                  {0}}},
    [API_T_shareable_summary_status] =
        {.rows = ROWS{COUNT("fullyAvailableDevices", D_REQUIRED),
                      COUNT("partiallyAvailableDevices", D_REQUIRED),
                      {.field = "capacity", .rules = D_MOST_ITEMS, .most = 32},
                      {0}}},
    [API_T_shareable_capacity_status] = {.rows = ROWS{NAMED("name", F_ANY),
                                                      NAMED("total", F_ANY),
                                                      NAMED("consumed", F_ANY),
                                                      NAMED("available", F_ANY),
                                                      {0}}},
};

const struct declared_type *valid__declared_others(enum api_type_id type) {
    const struct declared_type *t = type < sizeof types / sizeof *types ? &types[type] : NULL;
    return t && (t->rows || t->united) ? t : NULL;
}
