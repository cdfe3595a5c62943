/*
 * PodTopologySpread: which events may make a pod fit that it refused on all nodes.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/podtopologyspread,
 * func (*PodTopologySpread) isSchedulableAfterAssignedPodChange,
 * func (*PodTopologySpread) isSchedulableAfterNodeChange.
 */
#include "sched/plugins/pod_topology_spread_int.h"

/* ---- pods ---- */

/* Pods without a node, and in other namespaces, are not counted. */
static bool is_counted(const struct api_object *o, bool has_node, const struct sched_pod *target) {
    return has_node && str_eq(o->meta->namespace, target->cls->pod->metadata.namespace);
}

static bool matches_any(const struct sched__spread_rules *rules, const struct labels *labels) {
    for (size_t i = 0; i < rules->n; i++)
        if (selector_matches(rules->v[i].selector, labels))
            return true;
    return false;
}

static bool labels_matter(const struct sched__spread_rules *rules, const struct labels *before,
                          const struct labels *after) {
    if (labels_equal(before, after))
        return false;
    for (size_t i = 0; i < rules->n; i++)
        if (selector_matches(rules->v[i].selector, before) !=
            selector_matches(rules->v[i].selector, after))
            return true;
    return false;
}

static bool honors_taints(const struct sched__spread_rules *rules) {
    for (size_t i = 0; i < rules->n; i++)
        if (rules->v[i].honors_taints)
            return true;
    return false;
}

static bool same_toleration(const struct api_toleration *a, const struct api_toleration *b) {
    return str_eq(a->key, b->key) && str_eq(a->operator, b->operator) &&
           str_eq(a->value, b->value) && str_eq(a->effect, b->effect) &&
           str_eq(a->expression, b->expression) &&
           a->toleration_seconds.set == b->toleration_seconds.set &&
           a->toleration_seconds.v == b->toleration_seconds.v;
}

static bool tolerations_differ(const struct api_object *before, const struct api_object *after) {
    const struct api_toleration_list *a = &((const struct api_pod *)before->body)->spec.tolerations;
    const struct api_toleration_list *b = &((const struct api_pod *)after->body)->spec.tolerations;
    if (a->n != b->n)
        return true;
    for (size_t i = 0; i < a->n; i++)
        if (!same_toleration(&a->v[i], &b->v[i]))
            return true;
    return false;
}

static bool target_matters(const struct sched__spread_rules *rules,
                           const struct sched__event *event) {
    if (honors_taints(rules) && tolerations_differ(event->before, event->after))
        return true;
    return labels_matter(rules, &event->before->meta->labels, &event->after->meta->labels);
}

static bool pod_matters(const struct sched__spread_rules *rules, const struct sched_pod *target,
                        const struct sched__event *event) {
    const struct api_object *before = event->before, *after = event->after;
    if ((after && !is_counted(after, event->has_node, target)) ||
        (before && !is_counted(before, event->had_node, target)))
        return false;
    if (before && after)
        return labels_matter(rules, &before->meta->labels, &after->meta->labels);
    const struct api_object *o = after ? after : before;
    return o && matches_any(rules, &o->meta->labels);
}

/* ---- nodes ---- */

static bool has_labels(const struct sched__spread_rules *rules, const struct api_object *node) {
    for (size_t i = 0; node && i < rules->n; i++)
        if (!labels_find(&node->meta->labels, rules->v[i].label))
            return false;
    return node != NULL;
}

/* Both nodes have all labels. */
static bool domains_differ(const struct sched__spread_rules *rules, const struct api_object *a,
                           const struct api_object *b) {
    for (size_t i = 0; i < rules->n; i++)
        if (!str_eq(labels_find(&a->meta->labels, rules->v[i].label)->value,
                    labels_find(&b->meta->labels, rules->v[i].label)->value))
            return true;
    return false;
}

static bool taints_differ(const struct api_object *a, const struct api_object *b) {
    const struct api_taint_list *x = &((const struct api_node *)a->body)->spec.taints;
    const struct api_taint_list *y = &((const struct api_node *)b->body)->spec.taints;
    return !sched__taints_equal(x, y);
}

static bool node_matters(const struct sched__spread_rules *rules,
                         const struct sched__event *event) {
    const struct api_object *before = event->before, *after = event->after;
    bool was = has_labels(rules, before), is = has_labels(rules, after);
    if (before && after)
        return was != is ||
               (is && (domains_differ(rules, before, after) || taints_differ(before, after)));
    return was || is;
}

/* ---- the question ---- */

bool sched__spread_hint(struct sched *s, struct sched_pod *pod, const struct sched__event *event) {
    const struct sched__spread *d = sched__spread_refresh(s, pod->cls);
    struct sched__event e = sched__event_as_seen(event);
    const struct api_object *o = e.after ? e.after : e.before;
    if (!d)
        return false;
    if (d->hard.error.p || !o || e.bits & SCHED__EVERYTHING)
        return true;
    if (o->type == &api_types[API_T_node])
        return node_matters(&d->hard, &e);
    return e.own && e.before && e.after ? target_matters(&d->hard, &e)
                                        : pod_matters(&d->hard, pod, &e);
}
