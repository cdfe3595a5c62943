/*
 * InterPodAffinity: which events may make a pod fit that it refused on all nodes. Like upstream's,
 * these questions take every namespace for one without labels.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/interpodaffinity,
 * func (*InterPodAffinity) isSchedulableAfterAssignedPodChange,
 * func (*InterPodAffinity) isSchedulableAfterNodeChange.
 */
#include "sched/plugins/inter_pod_affinity_int.h"

static const struct labels no_labels;

static bool matches_all(const struct sched__affinity_terms *terms, const struct api_object *pod) {
    for (size_t i = 0; i < terms->n; i++)
        if (!sched__podterm_matches(&terms->v[i].term, pod->meta, &no_labels))
            return false;
    return terms->n > 0;
}

static bool matches_any(const struct sched__affinity_terms *terms, const struct api_object *pod) {
    for (size_t i = 0; i < terms->n; i++)
        if (sched__podterm_matches(&terms->v[i].term, pod->meta, &no_labels))
            return true;
    return false;
}

/* ---- pods ---- */

/* Does the pod that went keep the other one away? */
static bool kept_away(const struct api_object *gone, const struct sched_pod *pod) {
    const struct api_affinity *affinity = ((const struct api_pod *)gone->body)->spec.affinity;
    if (!affinity || !affinity->pod_anti_affinity)
        return false;
    const struct api_pod_affinity_term_list *terms = &affinity->pod_anti_affinity->required;
    struct arena a = {0};
    bool found = false;
    for (size_t i = 0; i < terms->n && !found; i++) {
        struct sched__podterm t;
        struct err err;
        found = sched__podterm_compile(&a, gone->meta->namespace, &terms->v[i], &t, &err) < 0 ||
                sched__podterm_matches(&t, &pod->cls->pod->metadata, &no_labels);
    }
    arena_release(&a);
    return found;
}

static bool pod_matters(const struct sched__affinity *d, const struct sched_pod *pod,
                        const struct sched__event *event) {
    const struct api_object *before = event->before, *after = event->after;
    if ((after && !event->has_node) || (before && !event->had_node))
        return false;
    if (before && after)
        return (!matches_all(&d->affinity, before) && matches_all(&d->affinity, after)) ||
               (matches_any(&d->anti, before) && !matches_any(&d->anti, after));
    if (after)
        return matches_all(&d->affinity, after);
    return before && (matches_any(&d->anti, before) || kept_away(before, pod));
}

/* ---- nodes ---- */

static const struct label *find(const struct api_object *node, struct str key) {
    return node ? labels_find(&node->meta->labels, key) : NULL;
}

static bool differ(const struct label *a, const struct label *b) {
    return a && b && !str_eq(a->value, b->value);
}

/* Pods that want others profit from a label that is new; those that do not, from one that went. */
static bool node_matters(const struct sched__affinity *d, const struct sched__event *event) {
    for (size_t i = 0; i < d->affinity.n; i++) {
        const struct label *was = find(event->before, d->affinity.v[i].label);
        const struct label *is = find(event->after, d->affinity.v[i].label);
        if ((!was && is) || differ(was, is))
            return true;
    }
    for (size_t i = 0; i < d->anti.n; i++) {
        const struct label *was = find(event->before, d->anti.v[i].label);
        const struct label *is = find(event->after, d->anti.v[i].label);
        if (!event->before || (was && !is) || differ(was, is))
            return true;
    }
    return false;
}

/* ---- the question ---- */

bool sched__affinity_hint(struct sched *s, struct sched_pod *pod,
                          const struct sched__event *event) {
    (void)s;
    const struct sched__affinity *d = pod->cls->data[SCHED_INTER_POD_AFFINITY];
    struct sched__event e = sched__event_as_seen(event);
    const struct api_object *o = e.after ? e.after : e.before;
    if (!d || d->error.p || !o || e.bits & SCHED__EVERYTHING)
        return true;
    if (o->type == &api_types[API_T_node])
        return node_matters(d, &e);
    return e.own || pod_matters(d, pod, &e);
}
