/*
 * NodeRestriction: a kubelet writes to its own node, and to the pods that run on it.
 *
 * Follows k8s.io/kubernetes plugin/pkg/admission/noderestriction, func (*Plugin) Admit,
 * func (*Plugin) admitPod, func (*Plugin) admitPodCreate, func (*Plugin) admitPodStatus,
 * func (*Plugin) admitPodEviction, func (*Plugin) admitPVCStatus, func (*Plugin) admitLease,
 * func (*Plugin) admitCSINode, func (*Plugin) admitResourceSlice, func (*Plugin) admitCSR.
 * Follows k8s.io/kubernetes pkg/auth/nodeidentifier, func (defaultNodeIdentifier) NodeIdentity.
 */
#include "registry/admission/node_restriction_int.h"

#define QUOTED STR_ARG(node->quoted)

static bool refuse_operation(struct registry__admission *m) {
    static const char *const names[] = {"CREATE", "UPDATE", "DELETE"};
    return registry__forbid(m, "unexpected operation \"%s\"", names[m->operation]);
}

/* ---- pods ---- */

bool registry__node_has_pod(struct registry__admission *m, struct str name,
                            const struct api_object **out) {
    const struct api_kind *kind = registry__kind("v1", "Pod");
    *out = registry_view_get(m->registry->view, kind, registry__namespace_of(m), name);
    return *out || registry__miss_cached(m, kind, name);
}

static bool runs_here(const struct api_object *pod, const struct registry__node *node) {
    return str_eq(((const struct api_pod *)pod->body)->spec.node_name, node->name);
}

static bool check_owner(struct registry__admission *m, const struct registry__node *node,
                        const struct api_owner_reference *owner) {
    const struct api_kind *kind = registry__kind("v1", "Node");
    if (!str_is(owner->api_version, "v1") || !str_is(owner->kind, "Node") ||
        !str_eq(owner->name, node->name))
        return registry__forbid(
            m, "node %.*s can only create pods with an owner reference set to itself", QUOTED);
    if (!owner->controller.v)
        return registry__forbid(m,
                                "node %.*s can only create pods with a controller owner reference "
                                "set to itself",
                                QUOTED);
    if (owner->block_owner_deletion.v)
        return registry__forbid(
            m, "node %.*s must not set blockOwnerDeletion on an owner reference", QUOTED);
    const struct api_object *o = registry_view_get(m->registry->view, kind, STR(""), node->name);
    if (!o)
        return registry__miss_cached(m, kind, node->name);
    return str_eq(o->meta->uid, owner->uid) ||
           registry__forbid(m, "node %.*s UID mismatch: expected %.*s got %.*s",
                            STR_ARG(node->name), STR_ARG(owner->uid), STR_ARG(o->meta->uid));
}

static bool check_references(struct registry__admission *m, const struct registry__node *node) {
    struct registry__reference r =
        registry__pod_reference(&((const struct api_pod *)m->o->body)->spec);
    if (r.unknown)
        return registry__forbid(m, "error checking mirror pod for API references: %s %.*s",
                                r.unknown, STR_ARG(registry__quote(m->a, r.volume)));
    return !r.what ||
           registry__forbid(m, "node %.*s can not create pods that reference %s", QUOTED, r.what);
}

static bool create_pod(struct registry__admission *m, const struct registry__node *node) {
    const struct api_owner_reference_list *owners = &m->o->meta->owner_references;
    if (!registry__is_mirror(m->o))
        return registry__forbid(m,
                                "pod does not have \"kubernetes.io/config.mirror\" annotation, "
                                "node %.*s can only create mirror pods",
                                QUOTED);
    if (!runs_here(m->o, node))
        return registry__forbid(
            m, "node %.*s can only create pods with spec.nodeName set to itself", QUOTED);
    if (owners->n > 1)
        return registry__forbid(m,
                                "node %.*s can only create pods with a single owner reference set "
                                "to itself",
                                QUOTED);
    if (!owners->n)
        return registry__forbid(
            m, "node %.*s can only create pods with an owner reference set to itself", QUOTED);
    return check_owner(m, node, &owners->v[0]) && check_references(m, node);
}

static bool admit_pod(struct registry__admission *m, const struct registry__node *node) {
    if (m->operation == REGISTRY_CREATE)
        return create_pod(m, node);
    if (m->operation == REGISTRY_UPDATE)
        return registry__forbid(m,
                                "unexpected operation \"UPDATE\", node %.*s can only create and "
                                "delete mirror pods",
                                QUOTED);
    return runs_here(m->o, node) ||
           registry__forbid(m, "node %.*s can only delete pods with spec.nodeName set to itself",
                            QUOTED);
}

static bool admit_pod_status(struct registry__admission *m, const struct registry__node *node) {
    if (m->operation != REGISTRY_UPDATE)
        return refuse_operation(m);
    const struct api_pod_status *is = &((const struct api_pod *)m->o->body)->status;
    const struct api_pod_status *was = &((const struct api_pod *)m->old->body)->status;
    if (!runs_here(m->old, node))
        return registry__forbid(m,
                                "node %.*s can only update pod status for pods with spec.nodeName "
                                "set to itself",
                                QUOTED);
    if (!labels_equal(&m->old->meta->labels, &m->o->meta->labels))
        return registry__forbid(m, "node %.*s cannot update labels through pod status", QUOTED);
    if (!valid_equal_lists(API_T_pod_resource_claim_status, &was->resource_claim_statuses,
                           &is->resource_claim_statuses))
        return registry__forbid(m, "node %.*s cannot update resource claim statues", QUOTED);
    if (!valid_equal(API_T_pod_extended_resource_claim_status, was->extended_resource_claim_status,
                     is->extended_resource_claim_status))
        return registry__forbid(m, "node %.*s cannot update extended resource claim status",
                                QUOTED);
    return valid_equal_lists(API_T_node_allocatable_resource_claim_status,
                             &was->node_allocatable_resource_claim_statuses,
                             &is->node_allocatable_resource_claim_statuses) ||
           registry__forbid(m, "node %.*s cannot update node allocatable resource claim statuses",
                            QUOTED);
}

static bool admit_eviction(struct registry__admission *m, const struct registry__node *node) {
    const struct api_object *pod;
    struct str name = registry__name_of(m);
    if (!name.n)
        return registry__forbid(m, "could not determine pod from request data");
    if (!registry__node_has_pod(m, name, &pod))
        return false;
    return runs_here(pod, node) ||
           registry__forbid(m, "node %.*s can only evict pods with spec.nodeName set to itself",
                            STR_ARG(node->name));
}

static bool admit_pods(struct registry__admission *m, const struct registry__node *node) {
    struct str part = m->request->subresource;
    if (!part.n)
        return admit_pod(m, node);
    if (str_is(part, "status"))
        return admit_pod_status(m, node);
    if (str_is(part, "eviction"))
        return admit_eviction(m, node);
    return registry__forbid(m,
                            "unexpected pod subresource %.*s, only 'status' and 'eviction' are "
                            "allowed",
                            STR_ARG(registry__quote(m->a, part)));
}

/* ---- claims of volumes ---- */

/* A copy of a claim without what a kubelet may change. */
static struct api_object *bare_claim(const struct registry__admission *m,
                                     const struct api_object *o) {
    struct api_object *copy = api_object_copy(o);
    struct api_persistent_volume_claim *claim = api_own_body(copy);
    claim->metadata.resource_version = STR("");
    claim->metadata.managed_fields = (struct api_managed_fields_entry_list){0};
    claim->status.capacity = (struct api_quantities){0};
    claim->status.conditions = (struct api_persistent_volume_claim_condition_list){0};
    if (feature_enabled(m->registry->gates, FEATURE_RecoverVolumeExpansionFailure)) {
        claim->status.allocated_resource_statuses = (struct labels){0};
        claim->status.allocated_resources = (struct api_quantities){0};
    }
    return copy;
}

/* Upstream shows what is different behind this. */
static bool admit_claims(struct registry__admission *m, const struct registry__node *node) {
    if (!str_is(m->request->subresource, "status"))
        return registry__forbid(m, "may only update PVC status");
    if (m->operation != REGISTRY_UPDATE)
        return refuse_operation(m);
    struct api_object *is = bare_claim(m, m->o), *was = bare_claim(m, m->old);
    bool same = valid_equal(API_T_persistent_volume_claim, was->body, is->body);
    api_object_free(is);
    api_object_free(was);
    return same || registry__forbid(m,
                                    "node %.*s is not allowed to update fields other than "
                                    "status.quantity and status.conditions",
                                    QUOTED);
}

/* ---- what is called as the node ---- */

static bool admit_leases(struct registry__admission *m, const struct registry__node *node) {
    if (!str_is(registry__namespace_of(m), "kube-node-lease"))
        return registry__forbid(m, "can only access leases in the \"kube-node-lease\" system "
                                   "namespace");
    return str_eq(m->o->meta->name, node->name) ||
           registry__forbid(m, "can only access node lease with the same name as the requesting "
                               "node");
}

static bool admit_csi_nodes(struct registry__admission *m, const struct registry__node *node) {
    if (!str_eq(m->o->meta->name, node->name))
        return registry__forbid(m, "can only access CSINode with the same name as the requesting "
                                   "node");
    if (!str_is(m->request->subresource, "status"))
        return true;
    if (!feature_enabled(m->registry->gates, FEATURE_CSIVolumeHealth))
        return registry__forbid(m, "CSIVolumeHealth feature gate is disabled");
    if (m->operation != REGISTRY_UPDATE)
        return refuse_operation(m);
    const struct api_csi_node *is = m->o->body, *was = m->old->body;
    return valid_equal(API_T_csi_node_spec, &was->spec, &is->spec) ||
           registry__forbid(m, "node %.*s is not allowed to modify CSINode spec via status",
                            QUOTED);
}

static bool admit_slices(struct registry__admission *m, const struct registry__node *node) {
    const struct api_resource_slice *slice = m->o->body;
    bool creates = m->operation == REGISTRY_CREATE;
    if (m->operation == REGISTRY_UPDATE || str_eq(slice->spec.node_name, node->name))
        return true;
    return registry__forbid(m,
                            "can only %s ResourceSlice with the same NodeName as the requesting "
                            "node",
                            creates ? "create" : "delete");
}

static bool admit_certificates(struct registry__admission *m, const struct registry__node *node) {
    const struct api_certificate_signing_request *csr = m->o->body;
    struct registry__csr_subject subject;
    struct err err;
    if (m->operation != REGISTRY_CREATE ||
        feature_enabled(m->registry->gates, FEATURE_AllowInsecureKubeletCertificateSigningRequests))
        return true;
    if (!str_is(csr->spec.signer_name, "kubernetes.io/kubelet-serving") &&
        !str_is(csr->spec.signer_name, "kubernetes.io/kube-apiserver-client-kubelet"))
        return true;
    if (registry__csr_read(m->a, csr->spec.request, &subject, &err) < 0)
        return registry__forbid(m, "unable to parse csr: %s", err.msg);
    if (str_eq(subject.common_name, arena_printf(m->a, "system:node:%.*s", STR_ARG(node->name))))
        return true;
    return registry__forbid(m, "can only create a node CSR with CN=system:node:%.*s",
                            STR_ARG(node->name));
}

/* ---- all of them ---- */

static const struct {
    enum api_type_id type; /* of the resource */
    bool (*admit)(struct registry__admission *m, const struct registry__node *node);
} restricted[] = {
    {API_T_pod, admit_pods},
    {API_T_node, registry__admit_nodes},
    {API_T_persistent_volume_claim, admit_claims},
    {API_T_service_account, registry__admit_tokens},
    {API_T_pod_certificate_request, registry__admit_pod_certificates},
    {API_T_lease, admit_leases},
    {API_T_csi_node, admit_csi_nodes},
    {API_T_resource_slice, admit_slices},
    {API_T_certificate_signing_request, admit_certificates},
};

static bool is_member(const struct valid_user *user, const char *group) {
    for (size_t i = 0; i < user->groups.n; i++)
        if (str_is(user->groups.v[i], group))
            return true;
    return false;
}

static bool mutate(struct registry__admission *m) {
    const struct valid_user *user = m->request->user;
    struct str prefix = STR("system:node:");
    const struct api_type *type = m->resource ? m->resource->type : m->o->type;
    if (!user || !str_starts(user->name, prefix) || !is_member(user, "system:nodes"))
        return true;
    struct registry__node node = {.name = str_sub(user->name, prefix.n, user->name.n)};
    node.quoted = registry__quote(m->a, node.name);
    if (!node.name.n)
        return registry__forbid(m, "could not determine node from user %.*s",
                                STR_ARG(registry__quote(m->a, user->name)));
    for (size_t i = 0; i < sizeof restricted / sizeof *restricted; i++)
        if (type == &api_types[restricted[i].type])
            return restricted[i].admit(m, &node);
    return true;
}

const struct registry__admission_plugin registry__node_restriction = {
    .name = "NodeRestriction",
    .mutate = {[REGISTRY_CREATE] = mutate, [REGISTRY_UPDATE] = mutate, [REGISTRY_DELETE] = mutate},
    .type = API_TYPES,
    .subresources = "*",
    .is_off = true};
