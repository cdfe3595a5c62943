/* What the scheduler keeps of each pod beside the class that it shares with others. */
#include "base/clock.h"
#include "sched/sched_int.h"

/* Times that nanoseconds cannot count, 292 years from 1970, are the first or the last of all. */
static int64_t start_of(const struct api_time *t) {
    int64_t start;
    if (!t->set)
        return INT64_MIN;
    if (__builtin_mul_overflow(t->sec, CLOCK_SECOND, &start) ||
        __builtin_add_overflow(start, t->nsec, &start))
        return t->sec < 0 ? INT64_MIN + 1 : INT64_MAX;
    return start;
}

static bool is_being_preempted(const struct api_pod *pod) {
    const struct api_pod_condition_list *list = &pod->status.conditions;
    for (size_t i = 0; pod->metadata.deletion_timestamp.set && i < list->n; i++)
        if (str_is(list->v[i].type, "DisruptionTarget"))
            return str_is(list->v[i].status, "True") &&
                   str_is(list->v[i].reason, "PreemptionByScheduler");
    return false;
}

/* Is it made again on its node when it goes? */
static bool returns(const struct api_owner_reference_list *owners) {
    for (size_t i = 0; i < owners->n; i++)
        if (str_is(owners->v[i].kind, "DaemonSet") || str_is(owners->v[i].kind, "Node"))
            return true;
    return false;
}

void sched__pod_read(struct sched *s, struct sched_pod *p, const struct api_object *object) {
    const struct api_pod *pod = object->body;
    struct str name = pod->status.nominated_node_name;
    intern_unref(p->nominated_node_name);
    p->nominated_node_name = name.n ? intern_ref(intern_get(s->atoms, name)) : NULL;
    p->start = start_of(&pod->status.start_time);
    p->priority = pod->spec.priority.set ? pod->spec.priority.v : 0;
    p->tolerations = (uint32_t)pod->spec.tolerations.n;
    p->terminating = pod->metadata.deletion_timestamp.set;
    p->preempted = is_being_preempted(pod);
    p->returns = returns(&pod->metadata.owner_references);
}

bool sched__pod_has_node(const struct sched_pod *p) {
    return p->nominated_node_name || (p->node != SCHED__NONE && !p->assumed);
}

struct sched_pod_name sched__pod_name(const struct sched_pod *p, struct arena *a) {
    struct sched_pod_name name;
    str_cut(arena_str(a, p->key), '/', &name.namespace, &name.name);
    name.uid = arena_str(a, p->uid);
    return name;
}
