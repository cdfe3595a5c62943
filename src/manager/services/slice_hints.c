/*
 * Where the endpoints of a slice had better be used from: hints for zones and nodes, as the
 * service's trafficDistribution asks for them.
 *
 * Follows k8s.io/endpointslice trafficdist, func ReconcileHints.
 * Follows k8s.io/endpointslice topologycache, func RemoveHintsFromSlices.
 */
#include "manager/services/slice_plan_int.h"

static bool is_ready(const struct api_endpoint *e) {
    return e->conditions.ready.set && e->conditions.ready.v;
}

static bool wants_zone(const struct slice_plan *p, const struct api_endpoint *e) {
    return p->prefers_zone && e->zone.p;
}

static bool wants_node(const struct slice_plan *p, const struct api_endpoint *e) {
    return p->prefers_node && e->node_name.p;
}

static bool has_zone(const struct api_endpoint *e, bool wanted) {
    size_t n = e->hints ? e->hints->for_zones.n : 0;
    return wanted ? n == 1 && str_eq(e->hints->for_zones.v[0].name, e->zone) : !n;
}

static bool has_node(const struct api_endpoint *e, bool wanted) {
    size_t n = e->hints ? e->hints->for_nodes.n : 0;
    return wanted ? n == 1 && str_eq(e->hints->for_nodes.v[0].name, e->node_name) : !n;
}

/* Are the hints of an endpoint what they should be? Those of one that is not ready are not looked
 * at while there are any. */
static bool is_right(const struct slice_plan *p, const struct api_endpoint *e) {
    if (!p->prefers_zone)
        return !e->hints;
    return !is_ready(e) || (has_zone(e, wants_zone(p, e)) && has_node(e, wants_node(p, e)));
}

static void set_hints(const struct slice_plan *p, struct api_endpoint *e) {
    bool zone = wants_zone(p, e), node = wants_node(p, e);
    if (p->prefers_zone && !is_ready(e))
        return;
    e->hints = NULL;
    if (!zone && !node)
        return;
    e->hints = arena_new(p->arena, struct api_endpoint_hints);
    if (zone) {
        e->hints->for_zones =
            (struct api_for_zone_list){arena_new(p->arena, struct api_for_zone), 1};
        e->hints->for_zones.v->name = e->zone;
    }
    if (node) {
        e->hints->for_nodes =
            (struct api_for_node_list){arena_new(p->arena, struct api_for_node), 1};
        e->hints->for_nodes.v->name = e->node_name;
    }
}

static bool has_right_hints(const struct slice_plan *p, const struct slice_draft *d) {
    for (size_t i = 0; i < d->endpoints.n; i++)
        if (!is_right(p, &d->endpoints.v[i]))
            return false;
    return true;
}

void slice_plan__set_hints(struct slice_plan *plan) {
    for (size_t i = 0; i < plan->n; i++) {
        struct slice_draft *d = plan->v[i];
        if (d->fate == SLICE_KEPT && !has_right_hints(plan, d))
            d->fate = SLICE_UPDATED;
        if (d->fate == SLICE_CREATED || d->fate == SLICE_UPDATED)
            for (size_t k = 0; k < d->endpoints.n; k++)
                set_hints(plan, &d->endpoints.v[k]);
    }
}
