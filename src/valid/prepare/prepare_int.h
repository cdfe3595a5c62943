/*
 * Between the walk that prepares objects, the table of what is done for which kind, and the
 * functions of kinds that have something of their own.
 */
#ifndef VALID_PREPARE_PREPARE_INT_H
#define VALID_PREPARE_PREPARE_INT_H

#include "valid/valid_int.h"

/* What most kinds have in common. */
enum valid__strategy_flags {
    NEW_STATUS = 1,       /* a new object has an empty status, whatever it says */
    OLD_STATUS = 2,       /* an update leaves the status as it is */
    FIRST_GENERATION = 4, /* the generation of a new object is 1; else it is what the object says */
    COMPARED_EARLY = 8,   /* before gates and the kind's own functions have changed the object */
    COMPARED_EXACTLY = 16, /* an empty list is not the same as none */
    OLD_META = 32, /* a write to the status leaves labels, annotations, owners and so on alone */
    HAS_STATUS = NEW_STATUS | OLD_STATUS,
};

/* Changes a new object. */
typedef void valid__create_fn(struct api_object *o, const struct valid_opts *opts);

struct valid__strategy {
    enum api_type_id type;
    unsigned flags;
    /* The member whose change makes a new generation; NULL: none does. */
    const char *compared;
    /* What is special, each may be NULL: behind the flags and the gates. */
    valid__create_fn *create;
    valid_prepare_fn *update;
    valid_prepare_fn *status; /* the spec is old's already */
    /* What upstream does when it decodes a body: before everything else, on create and update. */
    valid__create_fn *decoded;
};

/* The row of a type; NULL: nothing is changed. */
const struct valid__strategy *valid__strategy_of(const struct api_type *type);

/* ---- tools ---- */

/* Gives the object a copy of old's struct at the same place. */
void valid__keep_part(struct api_object *o, const void *old, const void *part,
                      enum api_type_id type);

/* Does the member differ from old's? Nil and empty lists are the same, unless it is exact. */
bool valid__member_changed(const struct api_object *o, const struct api_object *old,
                           const char *member, bool exact);

/* ---- kinds with something of their own ---- */

valid__create_fn valid__create_autoscaler, valid__create_claim, valid__create_csr,
    valid__create_crd, valid__create_api_service, valid__create_endpoint_slice, valid__create_lease,
    valid__create_limit_range, valid__create_pod_template, valid__create_replication_controller,
    valid__create_service_account, valid__create_service_cidr, valid__create_workload;

valid_prepare_fn valid__update_autoscaler, valid__update_claim, valid__update_csr,
    valid__update_crd, valid__update_device_taint_rule, valid__update_endpoint_slice,
    valid__update_lease, valid__update_pod_template, valid__update_replication_controller,
    valid__update_secret, valid__update_service, valid__update_service_account,
    valid__update_service_cidr, valid__update_workload;

valid_prepare_fn valid__status_api_service, valid__status_claim, valid__status_csr,
    valid__status_flow_control, valid__status_pod_group, valid__status_resource_claim,
    valid__status_volume_attachment, valid__approve_csr;

valid__create_fn valid__drop_empty_webhook, valid__join_cidrs, valid__merge_string_data,
    valid__time_taint_rule, valid__time_slice, valid__time_slice_v1beta1;

#endif
