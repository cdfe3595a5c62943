/*
 * What is declared of groups of pods, and of the workloads that they belong to.
 *
 * Follows k8s.io/kubernetes pkg/apis/scheduling/v1beta1, func Validate_Workload,
 * func Validate_PodGroup.
 * Follows k8s.io/kubernetes pkg/apis/scheduling/v1alpha3, func Validate_CompositePodGroup.
 */
#include "valid/declared/declared_rows_int.h"

#define ROWS (const struct declared_row[])
#define UNITED(...)         \
    (const char *const[]) { \
        __VA_ARGS__, NULL   \
    }

static const char *const preemption_policies[] = {"Never", "PreemptLowerPriority", NULL};

enum { MOST_PRIORITY = 1000000000, MOST_TEMPLATES = 8, MOST_CLAIMS = 4 };

/* Fields that several types have, with the same rules. */
#define NAME \
    { .field = "name", .rules = D_REQUIRED, .format = F_SHORT_NAME }
#define TOPOLOGY \
    { .field = "topology", .rules = D_MOST_ITEMS, .most = 1 }
#define DISRUPTION \
    { .field = "disruptionMode", .rules = D_IMMUTABLE }
#define PRIORITY                                                                           \
    {.field = "priorityClassName", .rules = D_IMMUTABLE, .format = F_LONG_NAME},           \
        {.field = "priority", .rules = D_IMMUTABLE | D_MOST, .most = MOST_PRIORITY}, {     \
        .field = "preemptionPolicy", .rules = D_IMMUTABLE, .choices = preemption_policies, \
        .gate = FORBIDDEN_WITHOUT(PodGroupPreemptionPolicy)                                \
    }
#define CLAIMS                                                                     \
    {                                                                              \
        .field = "resourceClaims", .rules = D_IMMUTABLE | D_MOST_ITEMS | D_UNIQUE, \
        .most = MOST_CLAIMS, .keys = "name"                                        \
    }
#define TEMPLATES(name)                                                                      \
    .field = name, .rules = D_MOST_ITEMS | D_FIXED_ITEMS | D_UNIQUE, .most = MOST_TEMPLATES, \
    .keys = "name"

static const struct declared_type types[] = {
    [API_T_workload] = {.rows = ROWS{{.field = "spec"}, {0}}},
    [API_T_workload_spec] = {.united = UNITED("podGroupTemplates", "compositePodGroupTemplates"),
                             .rows = ROWS{{.field = "controllerRef", .rules = D_IMMUTABLE},
                                          {TEMPLATES("podGroupTemplates")},
                                          {TEMPLATES("compositePodGroupTemplates"),
                                           .gate = FORBIDDEN_WITHOUT(CompositePodGroup)},
                                          {0}}},
    [API_T_scheduling_typed_local_object_reference] =
        {.rows = ROWS{{.field = "apiGroup", .format = F_LONG_NAME},
                      {.field = "kind", .rules = D_REQUIRED, .format = F_PATH_SEGMENT},
                      {.field = "name", .rules = D_REQUIRED, .format = F_PATH_SEGMENT},
                      {0}}},
    [API_T_pod_group_template] = {.rows = ROWS{NAME,
                                               {.field = "schedulingPolicy"},
                                               {.field = "schedulingConstraints",
                                                .rules = D_IMMUTABLE,
                                                .gate = FORBIDDEN_WITHOUT(
                                                    TopologyAwareWorkloadScheduling)},
                                               CLAIMS,
                                               DISRUPTION,
                                               PRIORITY,
                                               {0}}},
    [API_T_composite_pod_group_template] = {.rows = ROWS{NAME,
                                                         {.field = "schedulingPolicy"},
                                                         {.field = "schedulingConstraints",
                                                          .rules = D_IMMUTABLE},
                                                         DISRUPTION,
                                                         PRIORITY,
                                                         {TEMPLATES("podGroupTemplates")},
                                                         {TEMPLATES("compositePodGroupTemplates")},
                                                         {0}}},
    [API_T_pod_group_scheduling_policy] = {.united = UNITED("basic", "gang"),
                                           .rows = ROWS{{.field = "basic", .rules = D_IMMUTABLE},
                                                        {.field = "gang",
                                                         .rules = D_NO_SET | D_NO_UNSET},
                                                        {0}}},
    [API_T_gang_scheduling_policy] =
        {.rows = ROWS{{.field = "minCount", .rules = D_REQUIRED | D_LEAST, .least = 1}, {0}}},
    [API_T_composite_pod_group_scheduling_policy] =
        {.united = UNITED("basic", "gang"),
         .rows = ROWS{{.field = "basic", .rules = D_IMMUTABLE},
                      {.field = "gang", .rules = D_NO_SET | D_NO_UNSET},
                      {0}}},
    [API_T_composite_gang_scheduling_policy] =
        {.rows = ROWS{{.field = "minGroupCount", .rules = D_REQUIRED | D_LEAST, .least = 1}, {0}}},
    [API_T_pod_group_resource_claim] =
        {
            .united = UNITED("resourceClaimName", "resourceClaimTemplateName"),
            .rows = ROWS{NAME,
                         {.field = "resourceClaimName", .format = F_LONG_NAME},
                         {.field = "resourceClaimTemplateName", .format = F_LONG_NAME},
                         {0}}},
    [API_T_disruption_mode] = {.united = UNITED("single", "all")},
    [API_T_composite_disruption_mode] = {.united = UNITED("single", "all")},
    [API_T_pod_group_scheduling_constraints] = {.rows = ROWS{TOPOLOGY, {0}}},
    [API_T_composite_pod_group_scheduling_constraints] = {.rows = ROWS{TOPOLOGY, {0}}},
    [API_T_scheduling_topology_constraint] =
        {.rows = ROWS{{.field = "key", .rules = D_REQUIRED, .format = F_LABEL_KEY}, {0}}},

    [API_T_pod_group] = {.rows = ROWS{{.field = "spec"}, {.field = "status"}, {0}}},
    [API_T_pod_group_spec] = {.rows =
                                  ROWS{{.field = "parentCompositePodGroupName",
                                        .rules = D_IMMUTABLE,
                                        .format = F_LONG_NAME,
                                        .gate = FORBIDDEN_WITHOUT(CompositePodGroup)},
                                       {.field = "workloadRef", .rules = D_IMMUTABLE},
                                       {.field = "schedulingPolicy"},
                                       {.field = "schedulingConstraints",
                                        .rules = D_IMMUTABLE | D_GATED,
                                        .gate = FORBIDDEN_WITHOUT(TopologyAwareWorkloadScheduling)},
                                       CLAIMS,
                                       DISRUPTION,
                                       PRIORITY,
                                       {0}}},
    [API_T_workload_reference] =
        {.rows = ROWS{{.field = "workloadName", .rules = D_REQUIRED, .format = F_LONG_NAME},
                      {.field = "templateName", .rules = D_REQUIRED, .format = F_SHORT_NAME},
                      {0}}},
    [API_T_pod_group_status] = {.rows = ROWS{{.field = "resourceClaimStatuses",
                                              .rules = D_MOST_ITEMS | D_UNIQUE,
                                              .most = MOST_CLAIMS,
                                              .keys = "name"},
                                             {0}}},
    [API_T_pod_group_resource_claim_status] = {.rows = ROWS{{.field = "resourceClaimName",
                                                             .format = F_LONG_NAME},
                                                            {0}}},

    [API_T_composite_pod_group] = {.rows = ROWS{{.field = "spec"}, {0}}},
    [API_T_composite_pod_group_spec] =
        {.rows = ROWS{{.field = "parentCompositePodGroupName",
                       .rules = D_IMMUTABLE,
                       .format = F_LONG_NAME},
                      {.field = "workloadRef", .rules = D_REQUIRED | D_IMMUTABLE},
                      {.field = "schedulingPolicy", .rules = D_IMMUTABLE},
                      {.field = "schedulingConstraints", .rules = D_IMMUTABLE},
                      DISRUPTION,
                      PRIORITY,
                      {0}}},
};

const struct declared_type *valid__declared_groups(enum api_type_id type) {
    const struct declared_type *t = type < sizeof types / sizeof *types ? &types[type] : NULL;
    return t && (t->rows || t->united) ? t : NULL;
}
