/*
 * What a kubelet may say of its own node: nothing by which work could be drawn to it.
 *
 * Follows k8s.io/kubernetes plugin/pkg/admission/noderestriction, func (*Plugin) admitNode,
 * func (*Plugin) getForbiddenLabels.
 * Follows k8s.io/kubelet pkg/apis, func IsKubeletLabel.
 */
#include "registry/admission/node_restriction_int.h"

static struct str namespace_of(struct str key) {
    struct str head, rest;
    return str_cut(key, '/', &head, &rest) ? head : STR("");
}

/* Is it the domain, or one below it? */
static bool is_below(struct str namespace, struct str domain) {
    return str_eq(namespace, domain) ||
           (str_ends(namespace, domain) && namespace.p[namespace.n - domain.n - 1] == '.');
}

static bool is_kubelets(struct str key) {
    static const char *const labels[] = {
        "kubernetes.io/hostname",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "failure-domain.beta.kubernetes.io/zone",
        "failure-domain.beta.kubernetes.io/region",
        "beta.kubernetes.io/instance-type",
        "node.kubernetes.io/instance-type",
        "kubernetes.io/os",
        "kubernetes.io/arch",
        "beta.kubernetes.io/os",
        "beta.kubernetes.io/arch",
    };
    struct str namespace = namespace_of(key);
    for (size_t i = 0; i < sizeof labels / sizeof *labels; i++)
        if (str_is(key, labels[i]))
            return true;
    return is_below(namespace, STR("kubelet.kubernetes.io")) ||
           is_below(namespace, STR("node.kubernetes.io"));
}

static bool is_forbidden(struct str key) {
    struct str namespace = namespace_of(key);
    bool is_ours = is_below(namespace, STR("kubernetes.io")) || is_below(namespace, STR("k8s.io"));
    return is_below(namespace, STR("node-restriction.kubernetes.io")) ||
           (is_ours && !is_kubelets(key));
}

/* Appends the labels that differ and may not, in the order of their keys. */
static void write_forbidden(struct buf *out, const struct labels *a, const struct labels *b) {
    size_t i = 0, k = 0;
    while (i < a->n || k < b->n) {
        int c = i == a->n ? 1 : k == b->n ? -1 : str_cmp(a->v[i].key, b->v[k].key);
        struct str key = c <= 0 ? a->v[i].key : b->v[k].key;
        bool differs = c || !str_eq(a->v[i].value, b->v[k].value);
        if (differs && is_forbidden(key)) {
            buf_add(out, out->n ? STR(", ") : STR(""));
            buf_add(out, key);
        }
        i += c <= 0;
        k += c >= 0;
    }
}

static bool create(struct registry__admission *m, const struct registry__node *node) {
    static const struct labels none;
    AUTO(buf_release) struct buf labels = BUF_INIT(SIZE_MAX);
    if (((const struct api_node *)m->o->body)->spec.config_source)
        return registry__forbid(m,
                                "node %.*s is not allowed to create pods with a non-nil "
                                "configSource",
                                STR_ARG(node->quoted));
    write_forbidden(&labels, &m->o->meta->labels, &none);
    return !labels.n ||
           registry__forbid(m, "node %.*s is not allowed to set the following labels: %.*s",
                            STR_ARG(node->quoted), STR_ARG(buf_view(&labels)));
}

static bool update(struct registry__admission *m, const struct registry__node *node) {
    const struct api_node_spec *is = &((const struct api_node *)m->o->body)->spec;
    const struct api_node_spec *was = &((const struct api_node *)m->old->body)->spec;
    AUTO(buf_release) struct buf labels = BUF_INIT(SIZE_MAX);
    if (is->config_source &&
        !valid_equal(API_T_node_config_source, is->config_source, was->config_source))
        return registry__forbid(m,
                                "node %.*s is not allowed to update configSource to a new non-nil "
                                "configSource",
                                STR_ARG(node->quoted));
    if (!valid_equal_lists(API_T_taint, &is->taints, &was->taints))
        return registry__forbid(m, "node %.*s is not allowed to modify taints",
                                STR_ARG(node->quoted));
    if (!valid_equal_lists(API_T_owner_reference, &m->o->meta->owner_references,
                           &m->old->meta->owner_references))
        return registry__forbid(m, "node %.*s is not allowed to modify ownerReferences",
                                STR_ARG(node->quoted));
    write_forbidden(&labels, &m->o->meta->labels, &m->old->meta->labels);
    return !labels.n ||
           registry__forbid(m, "is not allowed to modify labels: %.*s", STR_ARG(buf_view(&labels)));
}

bool registry__admit_nodes(struct registry__admission *m, const struct registry__node *node) {
    struct str name = registry__name_of(m);
    if (!str_eq(name, node->name))
        return registry__forbid(m, "node %.*s is not allowed to modify node %.*s",
                                STR_ARG(node->quoted), STR_ARG(registry__quote(m->a, name)));
    if (m->operation == REGISTRY_CREATE)
        return create(m, node);
    return m->operation != REGISTRY_UPDATE || update(m, node);
}
