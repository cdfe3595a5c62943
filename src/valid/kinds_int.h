/* The kinds with rules, for the table of kinds.c. */
#ifndef VALID_KINDS_INT_H
#define VALID_KINDS_INT_H

#include "valid/valid_int.h"

/* Each stands at the end of the file that has the kind's rules. */
extern const struct valid_kind valid__pod, valid__node, valid__namespace, valid__persistent_volume,
    valid__replica_set, valid__deployment, valid__daemon_set, valid__stateful_set, valid__job,
    valid__cron_job, valid__priority_class, valid__pod_disruption_budget, valid__role,
    valid__cluster_role, valid__role_binding, valid__cluster_role_binding, valid__config_map,
    valid__secret, valid__lease, valid__resource_quota, valid__limit_range, valid__event,
    valid__events_event, valid__storage_class, valid__volume_attributes_class, valid__csi_node,
    valid__csi_driver, valid__csi_storage_capacity, valid__volume_attachment,
    valid__persistent_volume_claim, valid__replication_controller, valid__pod_template_kind,
    valid__controller_revision, valid__runtime_class, valid__lease_candidate,
    valid__horizontal_pod_autoscaler, valid__horizontal_pod_autoscaler_v1,
    valid__certificate_signing_request, valid__cluster_trust_bundle, valid__flow_schema,
    valid__priority_level_configuration, valid__validating_webhook_configuration,
    valid__mutating_webhook_configuration, valid__validating_admission_policy,
    valid__mutating_admission_policy, valid__validating_admission_policy_binding,
    valid__mutating_admission_policy_binding, valid__service, valid__endpoints,
    valid__endpoint_slice, valid__ingress, valid__ingress_class, valid__network_policy,
    valid__service_cidr, valid__ip_address, valid__workload, valid__pod_group,
    valid__composite_pod_group, valid__device_class, valid__device_taint_rule,
    valid__resource_pool_status_request, valid__resource_claim, valid__resource_claim_v1beta1,
    valid__resource_claim_template, valid__resource_claim_template_v1beta1, valid__resource_slice,
    valid__resource_slice_v1beta1;

/* The rules of a kind, if only those of metadata; NULL: there are none. */
const struct valid_kind *valid__rules_of(const struct api_kind *kind);

#endif
