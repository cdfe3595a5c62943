/*
 * The rules of Kubernetes for single nodes, written down once more in the plainest way: taints,
 * cordoning, selectors and affinity, host ports and resources. Reads decoded objects and nothing of
 * a scheduler.
 */
#ifndef TEST_SCHED_WALK_NAIVE_H
#define TEST_SCHED_WALK_NAIVE_H

#include "semver/semver.h"
#include "walk_model.h"

/* ---- values ---- */

static inline bool naive_has_gate(const struct walk *w, enum feature gate) {
    return feature_enabled(&w->gates.enabled, gate);
}

/* The order of two numbers, or of two versions; false: one of them is none. */
static inline bool naive_order(struct str left, struct str right, bool versions, int *order) {
    struct arena a = {0};
    struct semver v, u;
    int64_t x, y;
    bool good = versions ? semver_parse_tolerant(&a, left, &v, NULL) == 0 &&
                               semver_parse_tolerant(&a, right, &u, NULL) == 0
                         : labels_value_to_i64(left, &x) && labels_value_to_i64(right, &y);
    if (good)
        *order = versions ? semver_cmp(&v, &u) : (x > y) - (x < y);
    arena_release(&a);
    return good;
}

/* Do the texts compare as the operator says, the node's on the left? */
static inline bool naive_compare(const struct walk *w, struct str op, struct str left,
                                 struct str right) {
    bool versions = str_starts(op, STR("Semver"));
    int order;
    if (versions && !naive_has_gate(w, FEATURE_TolerationAffinitySemverOperators))
        return false;
    if (!naive_order(left, right, versions, &order))
        return false;
    return str_ends(op, STR("Gt")) ? order > 0 : str_ends(op, STR("Lt")) ? order < 0 : order == 0;
}

static inline bool naive_lists(const struct api_strs *values, struct str value) {
    for (size_t i = 0; i < values->n; i++)
        if (str_eq(values->v[i], value))
            return true;
    return false;
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

/* ---- selectors and affinity ---- */

static inline bool naive_name_fits(const struct api_pod *pod, const struct api_node *node) {
    return !pod->spec.node_name.n || str_eq(pod->spec.node_name, node->metadata.name);
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

/* ---- pods of a node ---- */

/* Is the pod of this entry on the node? */
static inline bool naive_is_on(const struct walk_entry *e, unsigned node) {
    if (e->spec.kind != WALK_POD || walk_has_ended(e->object))
        return false;
    return e->assumed ? e->assumed == node
                      : walk_node_of(walk_pod_body(e->object)->spec.node_name) == node;
}

static inline bool naive_keeps_running(const struct api_pod *pod, size_t i) {
    return i >= pod->spec.init_containers.n ||
           str_is(pod->spec.init_containers.v[i].restart_policy, "Always");
}

/* Init containers first. */
static inline const struct api_container *naive_container(const struct api_pod *pod, size_t i) {
    size_t inits = pod->spec.init_containers.n;
    return i < inits ? &pod->spec.init_containers.v[i] : &pod->spec.containers.v[i - inits];
}

static inline size_t naive_container_count(const struct api_pod *pod) {
    return pod->spec.init_containers.n + pod->spec.containers.n;
}

/* ---- host ports ---- */

static inline struct str naive_or(struct str text, struct str otherwise) {
    return text.n ? text : otherwise;
}

static inline bool naive_ports_clash(const struct api_container_port *a,
                                     const struct api_container_port *b) {
    struct str x = naive_or(a->host_ip, STR("0.0.0.0")), y = naive_or(b->host_ip, STR("0.0.0.0"));
    return a->host_port && a->host_port == b->host_port &&
           str_eq(naive_or(a->protocol, STR("TCP")), naive_or(b->protocol, STR("TCP"))) &&
           (str_eq(x, y) || str_is(x, "0.0.0.0") || str_is(y, "0.0.0.0"));
}

static inline bool naive_containers_clash(const struct api_container *a,
                                          const struct api_container *b) {
    for (size_t i = 0; i < a->ports.n; i++)
        for (size_t j = 0; j < b->ports.n; j++)
            if (naive_ports_clash(&a->ports.v[i], &b->ports.v[j]))
                return true;
    return false;
}

static inline bool naive_pods_clash(const struct api_pod *a, const struct api_pod *b) {
    for (size_t i = 0; i < naive_container_count(a); i++)
        for (size_t j = 0; j < naive_container_count(b); j++)
            if (naive_keeps_running(a, i) && naive_keeps_running(b, j) &&
                naive_containers_clash(naive_container(a, i), naive_container(b, j)))
                return true;
    return false;
}

/* ---- resources ---- */

static const char *const naive_names[] = {"cpu",           "memory",     "ephemeral-storage",
                                          "hugepages-2Mi", "ex.io/fpga", "ex.io/gpu"};
enum { NAIVE_RESOURCES = sizeof naive_names / sizeof *naive_names, NAIVE_FPGA = 4 };

struct naive_amounts {
    int64_t v[NAIVE_RESOURCES];
};

static inline struct naive_amounts naive_read(const struct api_quantities *list) {
    struct naive_amounts a = {0};
    for (size_t i = 0; i < list->n; i++)
        for (size_t r = 0; r < NAIVE_RESOURCES; r++)
            if (str_is(list->v[i].key, naive_names[r]))
                a.v[r] = r == 0 ? quantity_milli_value(&list->v[i].value)
                                : quantity_value(&list->v[i].value);
    return a;
}

static inline void naive_add(struct naive_amounts *to, const struct naive_amounts *more) {
    for (size_t r = 0; r < NAIVE_RESOURCES; r++)
        to->v[r] += more->v[r];
}

static inline void naive_raise(struct naive_amounts *to, const struct naive_amounts *least) {
    for (size_t r = 0; r < NAIVE_RESOURCES; r++)
        if (to->v[r] < least->v[r])
            to->v[r] = least->v[r];
}

/* Init containers run one after the other beside the sidecars that were started before. */
static inline struct naive_amounts naive_requests(const struct walk *w, const struct api_pod *pod) {
    struct naive_amounts sum = {0}, sidecars = {0}, most = {0};
    for (size_t i = 0; i < naive_container_count(pod); i++) {
        struct naive_amounts own = naive_read(&naive_container(pod, i)->resources.requests);
        if (naive_keeps_running(pod, i))
            naive_add(&sum, &own);
        if (i >= pod->spec.init_containers.n)
            continue;
        naive_add(&own, &sidecars);
        if (naive_keeps_running(pod, i))
            sidecars = own;
        naive_raise(&most, &own);
    }
    naive_raise(&sum, &most);
    if (pod->spec.resources && naive_has_gate(w, FEATURE_PodLevelResources)) {
        struct naive_amounts whole = naive_read(&pod->spec.resources->requests);
        for (size_t r = 0; r < NAIVE_RESOURCES; r++)
            sum.v[r] = whole.v[r] ? whole.v[r] : sum.v[r];
    }
    struct naive_amounts overhead = naive_read(&pod->spec.overhead);
    naive_add(&sum, &overhead);
    return sum;
}

/* ---- one node ---- */

struct naive_verdict {
    const char *plugin; /* that rejects first; NULL: none of these does */
    bool for_good;
    unsigned lacking; /* resources, as bits */
    bool full;
    bool unsure; /* a pod is being resized, and its resources are not looked at */
};

static inline bool naive_is_resized(const struct api_pod *pod) {
    return pod->status.container_statuses.n ||
           pod->status.node_allocatable_resource_claim_statuses.n;
}

static inline void naive_fit(struct walk *w, const struct api_pod *pod, const struct api_node *node,
                             struct naive_verdict *out) {
    struct naive_amounts have = naive_read(&node->status.allocatable), used = {0};
    struct naive_amounts want = naive_requests(w, pod);
    int64_t places = 0;
    for (size_t i = 0; i < node->status.allocatable.n; i++)
        if (str_is(node->status.allocatable.v[i].key, "pods"))
            places = quantity_value(&node->status.allocatable.v[i].value);
    out->unsure = naive_is_resized(pod);
    for (size_t i = 0; i < w->told_count; i++) {
        if (!naive_is_on(w->told[i], walk_node_of(node->metadata.name)))
            continue;
        struct naive_amounts own = naive_requests(w, walk_pod_body(w->told[i]->object));
        naive_add(&used, &own);
        out->unsure = out->unsure || naive_is_resized(walk_pod_body(w->told[i]->object));
        places--;
    }
    out->full = places < 1;
    bool packs = str_is(pod->spec.scheduler_name, "packer"); /* its profile ignores this one */
    for (unsigned r = 0; r < NAIVE_RESOURCES; r++)
        if (want.v[r] > have.v[r] - used.v[r] && want.v[r] > 0 && !(packs && r == NAIVE_FPGA)) {
            out->lacking |= 1U << r;
            out->for_good = out->for_good || want.v[r] > have.v[r];
        }
    if (out->full || out->lacking)
        out->plugin = "NodeResourcesFit";
}

static inline bool naive_has_rival(struct walk *w, const struct api_pod *pod,
                                   const struct api_node *node) {
    for (size_t i = 0; i < w->told_count; i++)
        if (naive_is_on(w->told[i], walk_node_of(node->metadata.name)) &&
            naive_pods_clash(pod, walk_pod_body(w->told[i]->object)))
            return true;
    return false;
}

static inline struct naive_verdict naive_judge(struct walk *w, const struct api_pod *pod,
                                               const struct api_node *node) {
    struct naive_verdict v = {.for_good = true};
    if (!naive_name_fits(pod, node))
        v.plugin = "NodeName";
    else if (!naive_is_open(w, pod, node))
        v.plugin = "NodeUnschedulable";
    else if (!naive_taints_fit(w, pod, node))
        v.plugin = "TaintToleration";
    else if (!naive_affinity_fits(w, pod, node))
        v.plugin = "NodeAffinity";
    else if (v.for_good = false, naive_has_rival(w, pod, node))
        v.plugin = "NodePorts";
    else
        naive_fit(w, pod, node, &v);
    return v;
}

/* ---- comparing ---- */

static inline bool naive_gives(const struct sched_status *status, const char *first,
                               const char *second) {
    char text[64];
    snprintf(text, sizeof text, "%s%s", first, second);
    for (size_t i = 0; i < status->reason_count; i++)
        if (str_is(status->reasons[i], text))
            return true;
    return false;
}

static inline bool naive_reasons_agree(const struct naive_verdict *v,
                                       const struct sched_status *status) {
    size_t n = v->full;
    if (v->full && !naive_gives(status, "Too many pods", ""))
        return false;
    for (unsigned r = 0; r < NAIVE_RESOURCES; r++)
        if (v->lacking >> r & 1) {
            n++;
            if (!naive_gives(status, "Insufficient ", naive_names[r]))
                return false;
        }
    return n == status->reason_count;
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
        return str_is(r->status.plugin, v.plugin) &&
               r->status.code == (v.for_good ? SCHED_REJECTED_FOR_GOOD : SCHED_REJECTED) &&
               (!(v.full || v.lacking) || naive_reasons_agree(&v, &r->status));
    for (size_t i = 0; i < sizeof judged / sizeof *judged; i++)
        if (str_is(r->status.plugin, judged[i]))
            return false;
    return true;
}

static inline bool naive_has_nominated(const struct walk *w, unsigned node) {
    for (size_t i = 0; i < w->told_count; i++)
        if (w->told[i]->spec.kind == WALK_POD && w->told[i]->nominated == node)
            return true;
    return false;
}

/* Nodes that are kept free for pods are judged with these, which is left to others; so are nodes
 * that were not asked because the one that the pod is nominated to fits. */
static inline void walk_naive_check(struct walk *w, const struct api_object *pod,
                                    const struct sched_report *report) {
    if (report->error.p || report->rejected.code != SCHED_SUCCESS)
        return;
    for (size_t i = 0; i < report->node_count; i++) {
        unsigned number = walk_node_of(report->nodes[i].node);
        const struct walk_entry *node = walk_entry(w, WALK_NODE, number - 1);
        if (naive_has_nominated(w, number) || (report->nominated && i != report->best) ||
            naive_agrees(w, pod->body, node->object->body, &report->nodes[i]))
            continue;
        fprintf(stderr, "the naive checker does not agree about n%u:\n", number - 1);
        walk_print_object("pod", pod);
        walk_print_object("node", node->object);
        walk_print_report("scheduler", report);
        abort();
    }
}

#endif
