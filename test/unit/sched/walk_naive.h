/*
 * The rules of Kubernetes for single nodes, written down once more in the plainest way: names,
 * cordoning, taints, selectors and affinity, host ports and resources. Reads decoded objects and
 * nothing of a scheduler.
 */
#ifndef TEST_SCHED_WALK_NAIVE_H
#define TEST_SCHED_WALK_NAIVE_H

#include "semver/semver.h"
#include "walk_model.h"

static inline bool naive_has_gate(const struct walk *w, enum feature gate) {
    return feature_enabled(&w->gates.enabled, gate);
}

/* Do the texts compare as the operator says, the node's on the left? */
static inline bool naive_compare(const struct walk *w, struct str op, struct str left,
                                 struct str right) {
    struct arena a = {0};
    struct semver v, u;
    int64_t x, y;
    int order = 2; /* one of them is no number, or no version */
    if (!str_starts(op, STR("Semver"))) {
        if (labels_value_to_i64(left, &x) && labels_value_to_i64(right, &y))
            order = (x > y) - (x < y);
    } else if (naive_has_gate(w, FEATURE_TolerationAffinitySemverOperators) &&
               semver_parse_tolerant(&a, left, &v, NULL) == 0 &&
               semver_parse_tolerant(&a, right, &u, NULL) == 0) {
        order = semver_cmp(&v, &u);
    }
    arena_release(&a);
    return order == (str_ends(op, STR("Gt")) ? 1 : str_ends(op, STR("Lt")) ? -1 : 0);
}

/* ---- taints ---- */

static inline bool naive_tolerates(const struct walk *w, const struct api_toleration *t,
                                   const struct api_taint *taint) {
    if (t->expression.n) /* as the engine of walks has it */
        return naive_has_gate(w, FEATURE_TaintTolerationCEL) && taint->value.n &&
               taint->value.n < t->expression.n % 8 + 1;
    if ((t->effect.n && !str_eq(t->effect, taint->effect)) ||
        (t->key.n && !str_eq(t->key, taint->key)))
        return false;
    if (str_is(t->operator, "Exists"))
        return true;
    if (!t->operator.n || str_is(t->operator, "Equal"))
        return str_eq(t->value, taint->value);
    if ((str_is(t->operator, "Gt") || str_is(t->operator, "Lt")) &&
        !naive_has_gate(w, FEATURE_TaintTolerationComparisonOperators))
        return false;
    return naive_compare(w, t->operator, taint->value, t->value);
}

static inline bool naive_is_tolerated(const struct walk *w, const struct api_pod *pod,
                                      const struct api_taint *taint) {
    for (size_t i = 0; i < pod->spec.tolerations.n; i++)
        if (naive_tolerates(w, &pod->spec.tolerations.v[i], taint))
            return true;
    return false;
}

static inline bool naive_taints_fit(const struct walk *w, const struct api_pod *pod,
                                    const struct api_node *node) {
    for (size_t i = 0; i < node->spec.taints.n; i++)
        if (!str_is(node->spec.taints.v[i].effect, "PreferNoSchedule") &&
            !naive_is_tolerated(w, pod, &node->spec.taints.v[i]))
            return false;
    return true;
}

static inline bool naive_is_open(const struct walk *w, const struct api_pod *pod,
                                 const struct api_node *node) {
    struct api_taint cordon = {.key = STR("node.kubernetes.io/unschedulable"),
                               .effect = STR("NoSchedule")};
    return !node->spec.unschedulable || naive_is_tolerated(w, pod, &cordon);
}

/* ---- names, selectors and affinity ---- */

static inline bool naive_name_fits(const struct api_pod *pod, const struct api_node *node) {
    return !pod->spec.node_name.n || str_eq(pod->spec.node_name, node->metadata.name);
}

static inline bool naive_lists(const struct api_strs *values, struct str value) {
    for (size_t i = 0; i < values->n; i++)
        if (str_eq(values->v[i], value))
            return true;
    return false;
}

static inline bool naive_meets(const struct walk *w, const struct api_node_selector_requirement *r,
                               const struct str *value) {
    if (str_is(r->operator, "In"))
        return value && naive_lists(&r->values, *value);
    if (str_is(r->operator, "NotIn"))
        return !value || !naive_lists(&r->values, *value);
    if (str_is(r->operator, "Exists"))
        return value;
    if (str_is(r->operator, "DoesNotExist"))
        return !value;
    return value && naive_compare(w, r->operator, * value, r->values.v[0]);
}

static inline bool naive_term_matches(const struct walk *w, const struct api_node_selector_term *t,
                                      const struct api_node *node) {
    for (size_t i = 0; i < t->match_expressions.n; i++) {
        const struct api_node_selector_requirement *r = &t->match_expressions.v[i];
        const struct label *label = labels_find(&node->metadata.labels, r->key);
        if (!naive_meets(w, r, label ? &label->value : NULL))
            return false;
    }
    for (size_t i = 0; i < t->match_fields.n; i++)
        if (!naive_meets(w, &t->match_fields.v[i], &node->metadata.name))
            return false;
    return t->match_expressions.n || t->match_fields.n;
}

static inline bool naive_affinity_fits(const struct walk *w, const struct api_pod *pod,
                                       const struct api_node *node) {
    const struct labels *selector = &pod->spec.node_selector;
    for (size_t i = 0; i < selector->n; i++) {
        const struct label *label = labels_find(&node->metadata.labels, selector->v[i].key);
        if (!label || !str_eq(label->value, selector->v[i].value))
            return false;
    }
    const struct api_affinity *affinity = pod->spec.affinity;
    if (!affinity || !affinity->node_affinity || !affinity->node_affinity->required)
        return true;
    const struct api_node_selector_term_list *terms =
        &affinity->node_affinity->required->node_selector_terms;
    for (size_t i = 0; i < terms->n; i++)
        if (naive_term_matches(w, &terms->v[i], node))
            return true;
    return false;
}

/* ---- containers: those of init first ---- */

static inline const struct api_container *naive_container(const struct api_pod *pod, size_t i) {
    size_t inits = pod->spec.init_containers.n;
    if (i < inits)
        return &pod->spec.init_containers.v[i];
    return i - inits < pod->spec.containers.n ? &pod->spec.containers.v[i - inits] : NULL;
}

static inline bool naive_stays(const struct api_pod *pod, size_t i) {
    return i >= pod->spec.init_containers.n ||
           str_is(pod->spec.init_containers.v[i].restart_policy, "Always");
}

static inline struct str naive_or(struct str text, struct str otherwise) {
    return text.n ? text : otherwise;
}

/* Does the pod use this port of its host? */
static inline bool naive_uses(const struct api_pod *pod, const struct api_container_port *port) {
    struct str any = STR("0.0.0.0"), ip = naive_or(port->host_ip, any);
    const struct api_container *c;
    for (size_t i = 0; (c = naive_container(pod, i)); i++)
        for (size_t k = 0; naive_stays(pod, i) && k < c->ports.n; k++) {
            struct str own = naive_or(c->ports.v[k].host_ip, any);
            if (port->host_port && c->ports.v[k].host_port == port->host_port &&
                str_eq(c->ports.v[k].protocol, port->protocol) &&
                (str_eq(own, ip) || str_eq(own, any) || str_eq(ip, any)))
                return true;
        }
    return false;
}

static inline bool naive_clash(const struct api_pod *a, const struct api_pod *b) {
    const struct api_container *c;
    for (size_t i = 0; (c = naive_container(a, i)); i++)
        for (size_t k = 0; naive_stays(a, i) && k < c->ports.n; k++)
            if (naive_uses(b, &c->ports.v[k]))
                return true;
    return false;
}

static inline int64_t naive_amount(const struct api_quantities *list, struct str name) {
    for (size_t i = 0; i < list->n; i++)
        if (str_eq(list->v[i].key, name))
            return str_is(name, "cpu") ? quantity_milli_value(&list->v[i].value)
                                       : quantity_value(&list->v[i].value);
    return 0;
}

/* Init containers run one after the other beside the sidecars that were started before. */
static inline int64_t naive_request(const struct walk *w, const struct api_pod *pod,
                                    struct str name) {
    int64_t sum = str_is(name, "pods"), sidecars = 0, most = 0, whole = 0;
    const struct api_container *c;
    for (size_t i = 0; (c = naive_container(pod, i)); i++) {
        int64_t own = naive_amount(&c->resources.requests, name);
        if (i < pod->spec.init_containers.n && most < own + sidecars)
            most = own + sidecars;
        sum += naive_stays(pod, i) ? own : 0;
        sidecars = sum;
    }
    if (pod->spec.resources && naive_has_gate(w, FEATURE_PodLevelResources))
        whole = naive_amount(&pod->spec.resources->requests, name);
    return (whole ? whole : sum > most ? sum : most) + naive_amount(&pod->spec.overhead, name);
}

/* ---- one node ---- */

/* The pod that is on this node by its entry, or NULL. */
static inline const struct api_pod *naive_resident(const struct walk_entry *e, struct str node) {
    if (e->spec.kind != WALK_POD || walk_has_ended(e->object))
        return NULL;
    const struct api_pod *pod = walk_pod_body(e->object);
    unsigned where = e->assumed && !e->left ? e->assumed : walk_node_of(pod->spec.node_name);
    return where == walk_node_of(node) ? pod : NULL;
}

/* Resources that a status tells of are left to others. */
static inline bool naive_is_unsure(const struct api_pod *pod) {
    return pod->status.container_statuses.n ||
           pod->status.node_allocatable_resource_claim_statuses.n;
}

struct naive_verdict {
    const char *plugin; /* that rejects first; NULL: none of these does */
    enum sched_code code;
    char reasons[256]; /* of NodeResourcesFit */
    bool unsure;
};

static inline void naive_fit(const struct walk *w, const struct api_pod *pod,
                             const struct api_node *node, struct naive_verdict *out) {
    static const char *const names[] = {
        "pods", "cpu", "memory", "ephemeral-storage", "ex.io/fpga", "ex.io/gpu", "hugepages-2Mi"};
    unsigned era = walk_read_name(pod->metadata.name).era;
    /* Its profile ignores fpgas by the name that these have in the first era. */
    bool packs = str_is(pod->spec.scheduler_name, "packer") && !era;
    for (size_t r = 0; r < sizeof names / sizeof *names; r++) {
        char text[64];
        snprintf(text, sizeof text, era && strchr(names[r], '/') ? "%se%u" : "%s", names[r], era);
        struct str name = str_of(text);
        int64_t have = naive_amount(&node->status.allocatable, name), used = 0;
        int64_t want = packs && r == 4 ? 0 : naive_request(w, pod, name);
        for (size_t i = 0; i < w->known_count; i++) {
            const struct api_pod *other = naive_resident(w->known[i], node->metadata.name);
            used += other ? naive_request(w, other, name) : 0;
        }
        if (!want || want <= have - used)
            continue;
        out->plugin = "NodeResourcesFit";
        out->code = r && want > have ? SCHED_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE : out->code;
        strcat(strcat(out->reasons, r ? ";Insufficient " : ";Too many "), text);
    }
}

static inline struct naive_verdict naive_judge(const struct walk *w, const struct api_pod *pod,
                                               const struct api_node *node) {
    struct naive_verdict v = {.code = SCHED_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE};
    bool unsure = naive_is_unsure(pod);
    v.plugin = !naive_name_fits(pod, node)          ? "NodeName"
               : !naive_is_open(w, pod, node)       ? "NodeUnschedulable"
               : !naive_taints_fit(w, pod, node)    ? "TaintToleration"
               : !naive_affinity_fits(w, pod, node) ? "NodeAffinity"
                                                    : NULL;
    if (v.plugin)
        return v;
    v.code = SCHED_CODE_UNSCHEDULABLE;
    for (size_t i = 0; i < w->known_count; i++) {
        const struct api_pod *other = naive_resident(w->known[i], node->metadata.name);
        if (other && naive_clash(pod, other))
            v.plugin = "NodePorts";
        unsure = unsure || (other && naive_is_unsure(other));
    }
    v.unsure = unsure && !v.plugin;
    if (!v.plugin)
        naive_fit(w, pod, node, &v);
    return v;
}

/* ---- comparing ---- */

static inline bool naive_same_reasons(const char *expected, const struct sched_status *status) {
    struct buf text = BUF_INIT(WALK_MOST_TEXT);
    for (size_t i = 0; i < status->reason_count; i++)
        buf_addf(&text, ";%.*s", STR_ARG(status->reasons[i]));
    bool same = str_is(buf_view(&text), expected);
    buf_release(&text);
    return same;
}

static inline bool naive_agrees(struct walk *w, const struct api_pod *pod,
                                const struct api_node *node, const struct sched_node_report *r) {
    static const char *const judged[] = {"NodeName",     "NodeUnschedulable", "TaintToleration",
                                         "NodeAffinity", "NodePorts",         "NodeResourcesFit"};
    struct naive_verdict v = naive_judge(w, pod, node);
    if (r->absent)
        return !naive_name_fits(pod, node) || !naive_affinity_fits(w, pod, node);
    if (v.unsure)
        return true;
    if (v.plugin)
        return str_is(r->status.plugin, v.plugin) && r->status.code == v.code &&
               (!*v.reasons || naive_same_reasons(v.reasons, &r->status));
    for (size_t i = 0; i < sizeof judged / sizeof *judged; i++)
        if (str_is(r->status.plugin, judged[i]))
            return false;
    return true;
}

static inline bool naive_has_nominated(const struct walk *w, unsigned node) {
    for (size_t i = 0; i < w->known_count; i++)
        if (w->known[i]->spec.kind == WALK_POD && w->known[i]->nominated == node)
            return true;
    return false;
}

/* Nodes that are kept free for pods are judged with these, which is left to others; so are nodes
 * that were not asked because the one that the pod is nominated to fits. */
static inline void walk_naive_check(struct walk *w, const struct api_object *pod,
                                    const struct sched_report *report) {
    if (report->error.p || report->rejected.code != SCHED_CODE_SUCCESS)
        return;
    for (size_t i = 0; i < report->node_count; i++) {
        unsigned id = walk_node_of(report->nodes[i].node);
        const struct walk_entry *node = walk_entry(w, WALK_NODE, walk_node_number(id));
        if (naive_has_nominated(w, id) || (report->nominated && i != report->best) ||
            naive_agrees(w, pod->body, node->object->body, &report->nodes[i]))
            continue;
        fprintf(stderr, "the naive checker does not agree about a node:\n");
        walk_print_object("pod", pod);
        walk_print_object("node", node->object);
        walk_print_report("scheduler", report);
        abort();
    }
}

#endif
