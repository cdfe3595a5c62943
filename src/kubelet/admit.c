/*
 * The kubelet's checks in their order, and the texts of their failures.
 *
 * Follows k8s.io/kubernetes pkg/kubelet/lifecycle, func (*predicateAdmitHandler) Admit,
 * func generalFilter, func rejectPodAdmissionBasedOnOSSelector.
 */
#include <inttypes.h>

#include "kubelet/kubelet_int.h"
#include "match/match.h"

#define OS_LABEL STR("kubernetes.io/os")

void kubelet__fail(struct kubelet__check *c, const struct kubelet_failure *f) {
    struct kubelet_verdict *out = c->out;
    if (out->n == c->cap) {
        struct kubelet_failure *old = out->v;
        c->cap = c->cap ? 2 * c->cap : 4;
        out->v = arena_array(c->ctx->arena, struct kubelet_failure, c->cap);
        for (size_t i = 0; i < out->n; i++)
            out->v[i] = old[i];
    }
    out->v[out->n++] = *f;
}

static void fail(struct kubelet__check *c, enum kubelet_code code) {
    kubelet__fail(c, &(struct kubelet_failure){.code = code});
}

/* ---- checks that nothing on the node can help ---- */

static bool has_other_os_label(const struct api_pod *pod) {
    const struct label *os = labels_find(&pod->metadata.labels, OS_LABEL);
    return os && !str_is(os->value, "linux");
}

static bool has_other_os_field(const struct api_pod *pod) {
    return pod->spec.os && !str_is(pod->spec.os->name, "linux");
}

static bool has_unsupported_groups(const struct api_pod *pod, const struct api_node *node) {
    const struct api_pod_security_context *security = pod->spec.security_context;
    const struct api_node_features *features = node->status.features;
    return security && str_is(security->supplemental_groups_policy, "Strict") &&
           !(features && features->supplemental_groups_policy.v);
}

static bool check_unfixable(struct kubelet__check *c) {
    if (has_other_os_label(c->pod))
        fail(c, KUBELET_OS_LABEL);
    else if (has_other_os_field(c->pod))
        fail(c, KUBELET_OS_FIELD);
    else if (has_unsupported_groups(c->pod, c->state->node))
        fail(c, KUBELET_GROUPS);
    return c->out->n == 0;
}

/* ---- the general filter ---- */

/* Node labels as the kubelet sees them: if there are any, it says itself what its system is. */
static struct labels node_labels(const struct kubelet__check *c) {
    struct labels labels = c->state->node->metadata.labels;
    if (labels.n > 0)
        labels_put(c->ctx->arena, &labels, (struct label){OS_LABEL, STR("linux")});
    return labels;
}

static bool matches_affinity(const struct kubelet__check *c, const struct labels *labels) {
    const struct api_pod_spec *spec = &c->pod->spec;
    struct match *m = c->ctx->match;
    struct match_node *node = match_node_new(m, c->state->node->metadata.name, labels);
    struct match_affinity *affinity = match_affinity_new(
        m, &spec->node_selector, spec->affinity ? spec->affinity->node_affinity : NULL);
    bool matches = match_affinity_required(affinity, node, NULL);
    match_affinity_free(affinity);
    match_node_free(node);
    return matches;
}

static bool is_on_other_node(const struct kubelet__check *c) {
    struct str name = c->pod->spec.node_name;
    return name.n > 0 && !str_eq(name, c->state->node->metadata.name);
}

static bool is_static(const struct api_pod *pod) {
    const struct label *source =
        labels_find(&pod->metadata.annotations, STR("kubernetes.io/config.source"));
    return source && !str_is(source->value, "api");
}

static void check_taints(struct kubelet__check *c) {
    struct match *m = c->ctx->match;
    uint32_t taint =
        match_find_untolerated(match_tolerations_get(m, &c->pod->spec.tolerations),
                               match_taints_get(m, &c->state->node->spec.taints), MATCH_NO_EXECUTE);
    if (taint != MATCH_NONE)
        kubelet__fail(c, &(struct kubelet_failure){.code = KUBELET_TAINT, .taint = taint});
}

/* Upstream then reads the node again, and forgets what it had put over the label of the system. */
static bool is_affinity_alone(const struct kubelet_verdict *v) {
    return v->n == 1 && v->v[0].code == KUBELET_AFFINITY;
}

void kubelet_admit(const struct kubelet_ctx *ctx, const struct kubelet_state *state,
                   const struct api_pod *pod, struct kubelet_verdict *out) {
    *out = (struct kubelet_verdict){0};
    struct kubelet__check c = {ctx, state, pod, out, 0};
    if (!check_unfixable(&c))
        return;
    kubelet__check_resources(&c);
    struct labels seen = node_labels(&c);
    if (!matches_affinity(&c, &seen))
        fail(&c, KUBELET_AFFINITY);
    if (is_on_other_node(&c))
        fail(&c, KUBELET_NODE_NAME);
    if (kubelet__has_port_conflict(&c))
        fail(&c, KUBELET_PORTS);
    if (!is_static(pod))
        check_taints(&c);
    if (is_affinity_alone(out) && matches_affinity(&c, &state->node->metadata.labels))
        out->n = 0;
}

/* ---- texts ---- */

static const struct text {
    struct str reason, message;
} texts[] = {
    [KUBELET_OS_LABEL] = {STR_INIT("PodOSSelectorNodeLabelDoesNotMatch"),
                          STR_INIT("Failed to admit pod as the `kubernetes.io/os` label doesn't "
                                   "match node label")},
    [KUBELET_OS_FIELD] = {STR_INIT("PodOSNotSupported"),
                          STR_INIT("Failed to admit pod as the OS field doesn't match node OS")},
    [KUBELET_GROUPS] = {STR_INIT("SupplementalGroupsPolicyNotSupported"),
                        STR_INIT("SupplementalGroupsPolicy=Strict is not supported in this node")},
    [KUBELET_AFFINITY] = {STR_INIT("NodeAffinity"),
                          STR_INIT("Predicate NodeAffinity failed: node(s) didn't match Pod's node "
                                   "affinity/selector")},
    [KUBELET_NODE_NAME] = {STR_INIT("NodeName"),
                           STR_INIT("Predicate NodeName failed: node(s) didn't match the requested "
                                    "node name")},
    [KUBELET_PORTS] = {STR_INIT("NodePorts"),
                       STR_INIT("Predicate NodePorts failed: node(s) didn't have free ports for "
                                "the requested pod ports")},
    [KUBELET_TAINT] = {STR_INIT("TaintToleration"),
                       STR_INIT("Predicate TaintToleration failed: node(s) had taints that the pod "
                                "didn't tolerate")},
};

void kubelet_failure_write_reason(struct buf *out, const struct kubelet_failure *f) {
    if (f->code == KUBELET_RESOURCE)
        buf_addf(out, "OutOf%.*s", STR_ARG(f->resource));
    else
        buf_add(out, texts[f->code].reason);
}

void kubelet_failure_write_message(struct buf *out, const struct kubelet_failure *f) {
    if (f->code == KUBELET_RESOURCE)
        buf_addf(out,
                 "Node didn't have enough resource: %.*s, requested: %" PRId64 ", used: %" PRId64
                 ", capacity: %" PRId64,
                 STR_ARG(f->resource), f->requested, f->used, f->capacity);
    else
        buf_add(out, texts[f->code].message);
}
