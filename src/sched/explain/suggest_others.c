/* Changes against host ports and disks of other pods, spreading and pod affinity. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sched/explain/explain_int.h"

static struct api_pod_spec *own_spec(struct api_object *pod) {
    return &((struct api_pod *)api_own_body(pod))->spec;
}

/* Takes entry `at` out of a list. */
#define TAKE_OUT(list, at)                                                                    \
    (memmove(&(list)->v[at], &(list)->v[(at) + 1], ((list)->n - (at)-1) * sizeof *(list)->v), \
     (void)(list)->n--)

void sched__suggest_delete(struct sched__options *x, const struct sched_pod *pod) {
    if (!pod || pod->node == SCHED__NONE || !sched__option_wanted(x))
        return;
    struct sched__option o = {.kind = SCHED_CHANGE_DELETE};
    o.gone[o.gone_count++] = map_get(&x->cy->s->pods, pod->key);
    o.text = arena_printf(x->cy->arena, "delete pod %.*s from node %.*s", STR_ARG(pod->key),
                          STR_ARG(intern_text(x->cy->s->nodes.v[pod->node].name)));
    sched__option_make(x, &o);
}

/* ---- ports and volumes ---- */

void sched__suggest_ports(struct sched__options *x) {
    sched__suggest_delete(x, sched__ports_rival(x->cy, x->slot));
}

void sched__suggest_disk(struct sched__options *x) {
    sched__suggest_delete(x, sched__disk_rival(x->cy, x->slot));
}

/* ---- spreading ---- */

/* A derived pod's own constraint. */
static struct api_topology_spread_constraint *own_constraint(struct api_object *pod, size_t place) {
    SCHED__OWN_LIST(pod, &own_spec(pod)->topology_spread_constraints);
    return &own_spec(pod)->topology_spread_constraints.v[place];
}

static void raise_skew(struct sched__options *x, const struct sched__spread_violation *v) {
    if (!sched__option_wanted(x))
        return;
    struct api_object *pod = api_object_derive(x->pod);
    own_constraint(pod, v->place)->max_skew = v->skew;
    struct sched__option o = {.kind = SCHED_CHANGE_SKEW, .cost = v->skew, .pod = pod};
    o.text = arena_printf(x->cy->arena,
                          "raise maxSkew of topologySpreadConstraints[%zu] (%.*s) from %d to %d",
                          v->place, STR_ARG(v->label), v->max_skew, v->skew);
    sched__option_make(x, &o);
}

static void loosen_spread(struct sched__options *x, const struct sched__spread_violation *v) {
    if (!sched__option_wanted(x))
        return;
    struct api_object *pod = api_object_derive(x->pod);
    own_constraint(pod, v->place)->when_unsatisfiable = STR("ScheduleAnyway");
    struct sched__option o = {.kind = SCHED_CHANGE_DROP, .pod = pod};
    o.text = arena_printf(
        x->cy->arena,
        "set whenUnsatisfiable of topologySpreadConstraints[%zu] (%.*s) to ScheduleAnyway",
        v->place, STR_ARG(v->label));
    sched__option_make(x, &o);
}

void sched__suggest_spread(struct sched__options *x) {
    struct sched__spread_violation v;
    if (!sched__spread_violated(x->cy, x->slot, &v))
        return;
    if (v.own && v.has_label)
        raise_skew(x, &v);
    if (v.own)
        loosen_spread(x, &v);
}

/* ---- pod affinity ---- */

/* A derived pod's own list of required terms. */
static struct api_pod_affinity_term_list *own_terms(struct api_object *pod, bool anti) {
    struct api_pod_spec *spec = own_spec(pod);
    struct api_pod_affinity_term_list *list;
    SCHED__OWN(pod, spec->affinity);
    if (anti)
        list = &SCHED__OWN(pod, spec->affinity->pod_anti_affinity)->required;
    else
        list = &SCHED__OWN(pod, spec->affinity->pod_affinity)->required;
    SCHED__OWN_LIST(pod, list);
    return list;
}

static void drop_term(struct sched__options *x, const struct sched__affinity_violation *v) {
    if (!sched__option_wanted(x))
        return;
    struct api_object *pod = api_object_derive(x->pod);
    struct api_pod_affinity_term_list *list = own_terms(pod, v->anti);
    TAKE_OUT(list, v->place);
    struct sched__option o = {.kind = SCHED_CHANGE_DROP, .pod = pod};
    o.text = arena_printf(x->cy->arena, "remove %s.required[%zu]",
                          v->anti ? "podAntiAffinity" : "podAffinity", v->place);
    sched__option_make(x, &o);
}

void sched__suggest_pod_affinity(struct sched__options *x) {
    struct sched__affinity_violation v;
    if (!sched__affinity_violated(x->cy, x->slot, &v))
        return;
    if (v.own)
        drop_term(x, &v);
    if (v.rival)
        sched__suggest_delete(x, v.rival);
}
