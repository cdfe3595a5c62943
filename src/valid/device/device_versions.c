/*
 * Claims and slices of v1beta1 as v1 has them: what is asked for stands in a member of its own
 * there, and devices have no inner part.
 *
 * Follows k8s.io/kubernetes pkg/apis/resource/v1beta1,
 * func Convert_v1beta1_DeviceRequest_To_resource_DeviceRequest,
 * func Convert_v1beta1_Device_To_resource_Device,
 * func Convert_v1beta1_ResourceSliceSpec_To_resource_ResourceSliceSpec.
 */
#include "valid/device/device_int.h"

/* ---- claims ---- */

typedef const struct api_device_request_v1beta1 old_request;

static struct api_device_sub_request_list
sub_requests(struct arena *a, const struct api_device_sub_request_v1beta1_list *from) {
    struct api_device_sub_request_list list = {0};
    if (!from->v)
        return list;
    list.v = arena_array(a, struct api_device_sub_request, from->n + 1);
    list.n = from->n;
    for (size_t i = 0; i < from->n; i++) {
        const struct api_device_sub_request_v1beta1 *r = &from->v[i];
        list.v[i] = (struct api_device_sub_request){.name = r->name,
                                                    .device_class_name = r->device_class_name,
                                                    .selectors = r->selectors,
                                                    .allocation_mode = r->allocation_mode,
                                                    .count = r->count,
                                                    .tolerations = r->tolerations,
                                                    .capacity = r->capacity,
                                                    .derived_attributes = r->derived_attributes};
    }
    return list;
}

static bool asks_itself(old_request *r) {
    return r->device_class_name.n || r->selectors.v || r->allocation_mode.n || r->count ||
           r->admin_access.set || r->tolerations.v || r->capacity || r->derived_attributes.v;
}

static struct api_device_request to_request(struct arena *a, old_request *r) {
    struct api_device_request made = {.name = r->name,
                                      .first_available = sub_requests(a, &r->first_available)};
    if (!asks_itself(r))
        return made;
    made.exactly = arena_new(a, struct api_exact_device_request);
    *made.exactly = (struct api_exact_device_request){.device_class_name = r->device_class_name,
                                                      .selectors = r->selectors,
                                                      .allocation_mode = r->allocation_mode,
                                                      .count = r->count,
                                                      .admin_access = r->admin_access,
                                                      .tolerations = r->tolerations,
                                                      .capacity = r->capacity,
                                                      .derived_attributes = r->derived_attributes};
    return made;
}

static const struct api_device_claim *to_claim(struct arena *a,
                                               const struct api_device_claim_v1beta1 *from) {
    struct api_device_claim *claim = arena_new(a, struct api_device_claim);
    claim->constraints = from->constraints;
    claim->config = from->config;
    if (from->requests.v)
        claim->requests.v = arena_array(a, struct api_device_request, from->requests.n + 1);
    claim->requests.n = from->requests.n;
    for (size_t i = 0; from->requests.v && i < from->requests.n; i++)
        claim->requests.v[i] = to_request(a, &from->requests.v[i]);
    return claim;
}

const struct api_device_claim *valid__asked_devices(struct arena *a, const struct api_object *o) {
    const void *body = o->body;
    if (api_object_is(o, API_T_resource_resource_claim))
        return &((const struct api_resource_resource_claim *)body)->spec.devices;
    if (api_object_is(o, API_T_resource_claim_template))
        return &((const struct api_resource_claim_template *)body)->spec.spec.devices;
    if (api_object_is(o, API_T_resource_claim_v1beta1))
        return to_claim(a, &((const struct api_resource_claim_v1beta1 *)body)->spec.devices);
    return to_claim(a,
                    &((const struct api_resource_claim_template_v1beta1 *)body)->spec.spec.devices);
}

const struct api_resource_claim_status *valid__claim_status(const struct api_object *o) {
    return api_object_is(o, API_T_resource_resource_claim)
               ? &((const struct api_resource_resource_claim *)o->body)->status
               : &((const struct api_resource_claim_v1beta1 *)o->body)->status;
}

/* ---- slices ---- */

static struct api_device to_device(const struct api_device_v1beta1 *d) {
    static const struct api_basic_device none;
    const struct api_basic_device *b = d->basic ? d->basic : &none;
    return (struct api_device){.name = d->name,
                               .attributes = b->attributes,
                               .capacity = b->capacity,
                               .consumes_counters = b->consumes_counters,
                               .node_name = b->node_name,
                               .node_selector = b->node_selector,
                               .all_nodes = b->all_nodes,
                               .taints = b->taints,
                               .binds_to_node = b->binds_to_node,
                               .binding_conditions = b->binding_conditions,
                               .binding_failure_conditions = b->binding_failure_conditions,
                               .allow_multiple_allocations = b->allow_multiple_allocations,
                               .node_allocatable_resources = b->node_allocatable_resources};
}

static struct api_device_list to_devices(struct arena *a,
                                         const struct api_device_v1beta1_list *from) {
    struct api_device_list list = {NULL, from->n};
    if (from->v)
        list.v = arena_array(a, struct api_device, from->n + 1);
    for (size_t i = 0; from->v && i < from->n; i++)
        list.v[i] = to_device(&from->v[i]);
    return list;
}

const struct api_resource_slice_spec *valid__slice_spec(struct arena *a,
                                                        const struct api_object *o) {
    if (api_object_is(o, API_T_resource_slice))
        return &((const struct api_resource_slice *)o->body)->spec;
    const struct api_resource_slice_spec_v1beta1 *s =
        &((const struct api_resource_slice_v1beta1 *)o->body)->spec;
    struct api_resource_slice_spec *made = arena_new(a, struct api_resource_slice_spec);
    *made = (struct api_resource_slice_spec){
        .driver = s->driver,
        .pool = s->pool,
        .node_name = s->node_name.n ? s->node_name : (struct str){0},
        .node_selector = s->node_selector,
        .all_nodes = {s->all_nodes, s->all_nodes},
        .devices = to_devices(a, &s->devices),
        .per_device_node_selection = s->per_device_node_selection,
        .shared_counters = s->shared_counters,
        .partition_type_attribute = s->partition_type_attribute,
        .skip_node_operations = s->skip_node_operations};
    return made;
}
