/*
 * The EndpointSlices that a service should have: as few changes as possible to those it has.
 *
 * Follows k8s.io/endpointslice, func (*Reconciler) reconcileByAddressType,
 * func (*Reconciler) reconcileByPortMapping, func (*Reconciler) finalize.
 */
#include "manager/services/slice_plan_int.h"

#include <stdlib.h>

#include "base/map.h"
#include "controller/controller.h"
#include "manager/pods_int.h"

/* An endpoint that is wanted, until it has a place in a slice. */
struct want {
    const struct api_endpoint *endpoint;
    struct group *group;
    struct want *next; /* of the same group */
    bool has_place;
};

/* Slices and endpoints of the same ports. */
struct group {
    endpoint__ports ports;
    bool is_wanted; /* by some pod */
    struct slice_draft *drafts, **last_draft;
    struct want *wants, **last_want;
    size_t left; /* endpoints without a place */
    struct group *next;
};

struct planning {
    struct slice_plan *plan;
    struct map groups; /* by ports */
    struct map known;  /* the same by where a list is that was seen */
    struct map wants;  /* by endpoint__key */
    struct group *first, **last;
};

/* ---- labels and owners ---- */

static bool is_reserved(struct str key) {
    return str_eq(key, ENDPOINT__SERVICE_NAME) || str_eq(key, ENDPOINT__HEADLESS) ||
           str_is(key, "endpointslice.kubernetes.io/managed-by");
}

struct labels slice_plan__labels(struct arena *a, const struct api_object *service,
                                 struct str manager) {
    const struct labels *own = &service->meta->labels;
    struct labels out = {arena_array(a, struct label, own->n + 3), 0};
    for (size_t i = 0; i < own->n; i++)
        if (!is_reserved(own->v[i].key))
            out.v[out.n++] = own->v[i];
    if (endpoint__is_headless(service))
        out.v[out.n++] = (struct label){ENDPOINT__HEADLESS, STR("")};
    out.v[out.n++] = (struct label){ENDPOINT__SERVICE_NAME, service->meta->name};
    out.v[out.n++] = (struct label){STR("endpointslice.kubernetes.io/managed-by"), manager};
    labels_sort(&out);
    return out;
}

/* Are the labels other than reserved ones the service's? */
static bool has_labels(const struct slice_plan *p, const struct api_object *slice) {
    const struct labels *a = &slice->meta->labels, *b = &p->service->meta->labels;
    size_t i = 0, k = 0;
    for (;;) {
        while (i < a->n && is_reserved(a->v[i].key))
            i++;
        while (k < b->n && is_reserved(b->v[k].key))
            k++;
        if (i == a->n || k == b->n)
            return i == a->n && k == b->n;
        if (!str_eq(a->v[i].key, b->v[k].key) || !str_eq(a->v[i].value, b->v[k].value))
            return false;
        i++;
        k++;
    }
}

bool slice_plan__is_owned(const struct api_object *slice, const struct api_object *service) {
    const struct api_owner_reference_list *refs = &slice->meta->owner_references;
    for (size_t i = 0; i < refs->n; i++)
        if (str_eq(refs->v[i].uid, service->meta->uid) && str_is(refs->v[i].kind, "Service") &&
            str_is(refs->v[i].api_version, "v1"))
            return true;
    return false;
}

/* ---- groups ---- */

static struct group *group_of(struct planning *g, const endpoint__ports *ports) {
    struct str key = endpoint__ports_key(g->plan->arena, ports);
    struct group *group = map_get(&g->groups, key);
    if (group)
        return group;
    group = arena_new(g->plan->arena, struct group);
    group->ports = *ports;
    group->last_draft = &group->drafts;
    group->last_want = &group->wants;
    map_put(&g->groups, key, group);
    *g->last = group;
    g->last = &group->next;
    return group;
}

/* The same for a list that many pods share. */
static struct group *group_of_shared(struct planning *g, const endpoint__ports *ports) {
    struct group *group = map_get(&g->known, (struct str){(const char *)&ports, sizeof ports});
    if (group)
        return group;
    const endpoint__ports **key = arena_new(g->plan->arena, const endpoint__ports *);
    *key = ports;
    group = group_of(g, ports);
    map_put(&g->known, (struct str){(const char *)key, sizeof *key}, group);
    return group;
}

static struct slice_draft *draft_new(struct slice_plan *p, enum slice_fate fate) {
    struct slice_draft *d = arena_new(p->arena, struct slice_draft);
    d->fate = fate;
    p->v[p->n++] = d;
    return d;
}

static void add_slice(struct planning *g, const struct api_object *o) {
    const struct api_endpoint_slice *slice = o->body;
    struct slice_draft *d = draft_new(g->plan, SLICE_DELETED);
    d->was = o;
    d->ports = slice->ports;
    if (!slice_plan__is_owned(o, g->plan->service))
        return;
    struct group *group = group_of(g, &slice->ports);
    *group->last_draft = d;
    group->last_draft = &d->next;
}

static void add_pod(struct planning *g, const struct slice_pod *pod) {
    struct group *group = group_of_shared(g, pod->ports);
    struct str key = endpoint__key(g->plan->arena, &pod->endpoint);
    group->is_wanted = true;
    if (!pod->endpoint.addresses.n || map_get(&g->wants, key))
        return;
    struct want *w = arena_new(g->plan->arena, struct want);
    *w = (struct want){.endpoint = &pod->endpoint, .group = group};
    map_put(&g->wants, key, w);
    *group->last_want = w;
    group->last_want = &w->next;
    group->left++;
}

/* ---- the slices of one group ---- */

static size_t smaller(size_t a, size_t b) {
    return a < b ? a : b;
}

/* Keeps what is wanted of a slice, in the state that is wanted. */
static void check_slice(struct planning *g, struct group *group, struct slice_draft *d) {
    const struct api_endpoint_slice *slice = d->was->body;
    const struct api_endpoint_list *old = &slice->endpoints;
    struct arena *a = g->plan->arena;
    size_t most = smaller(old->n + group->left, SLICE_MOST_ENDPOINTS);
    size_t room = old->n > most ? old->n : most; /* nobody puts more into it */
    bool is_changed = false;
    d->endpoints.v = arena_array(a, struct api_endpoint, room);
    for (size_t i = 0; i < old->n; i++) {
        struct want *w = map_get(&g->wants, endpoint__key(a, &old->v[i]));
        if (!w || w->group != group || w->has_place)
            continue;
        struct api_endpoint *e = &d->endpoints.v[d->endpoints.n++];
        *e = *w->endpoint;
        e->hints = old->v[i].hints;
        is_changed = is_changed || !endpoint__is_same(e, &old->v[i]);
        w->has_place = true;
        group->left--;
    }
    if (!is_changed && old->n == d->endpoints.n) {
        d->fate = has_labels(g->plan, d->was) ? SLICE_KEPT : SLICE_UPDATED;
        return;
    }
    d->fate = d->endpoints.n ? SLICE_UPDATED : SLICE_DELETED;
    for (size_t i = 0; i < d->endpoints.n; i++)
        d->endpoints.v[i].hints = NULL;
}

static void fill(struct group *group, struct slice_draft *d) {
    while (group->left && d->endpoints.n < SLICE_MOST_ENDPOINTS) {
        struct want *w = group->wants;
        group->wants = w->next;
        if (w->has_place)
            continue;
        w->has_place = true;
        group->left--;
        d->endpoints.v[d->endpoints.n++] = *w->endpoint;
    }
}

/* The slice of this fate that has most endpoints, but leaves room for so many; or NULL. */
static struct slice_draft *fullest(const struct group *group, enum slice_fate fate, size_t room) {
    struct slice_draft *best = NULL;
    for (struct slice_draft *d = group->drafts; d; d = d->next)
        if (d->fate == fate && d->endpoints.n + room <= SLICE_MOST_ENDPOINTS &&
            (!best || d->endpoints.n > best->endpoints.n))
            best = d;
    return best;
}

static void place_rest(struct planning *g, struct group *group) {
    for (struct slice_draft *d; group->left && (d = fullest(group, SLICE_UPDATED, 1));)
        fill(group, d);
    while (group->left) {
        struct slice_draft *d =
            group->left < SLICE_MOST_ENDPOINTS ? fullest(group, SLICE_KEPT, group->left) : NULL;
        if (d) {
            d->fate = SLICE_UPDATED;
        } else {
            d = draft_new(g->plan, SLICE_CREATED);
            d->ports = group->ports;
            d->endpoints.v = arena_array(g->plan->arena, struct api_endpoint,
                                         smaller(group->left, SLICE_MOST_ENDPOINTS));
        }
        fill(group, d);
    }
}

/* ---- the end ---- */

static bool is_placeholder(const struct slice_plan *p, const struct api_object *o) {
    const struct api_endpoint_slice *slice = o->body;
    return !slice->ports.n && !slice->endpoints.n && labels_equal(&o->meta->labels, &p->labels);
}

/* When nothing would be left there is one slice without endpoints. */
static void keep_one(struct slice_plan *p) {
    struct slice_draft *deleted = NULL;
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (p->v[i]->fate != SLICE_DELETED)
            return;
        deleted = p->v[i];
        n++;
    }
    if (n == 1 && is_placeholder(p, deleted->was))
        deleted->fate = SLICE_KEPT;
    else
        draft_new(p, SLICE_CREATED);
}

/* Slices that are to be deleted become those that are to be made. */
static void reuse(struct slice_plan *p) {
    size_t made = p->n;
    for (size_t i = 0; i < p->n; i++) {
        struct slice_draft *old = p->v[i];
        if (old->fate != SLICE_DELETED || !slice_plan__is_owned(old->was, p->service))
            continue;
        while (made > 0 && p->v[made - 1]->fate != SLICE_CREATED)
            made--;
        if (!made)
            return;
        struct slice_draft *new = p->v[made - 1];
        old->fate = SLICE_UPDATED;
        old->endpoints = new->endpoints;
        old->ports = new->ports;
        new->fate = SLICE_NONE;
    }
}

void slice_plan__make(struct slice_plan *plan, const struct slice_pod *pods, size_t pod_count,
                      const struct manager__objects *slices, uint64_t seed) {
    struct planning g = {plan, MAP_INIT(seed), MAP_INIT(seed), MAP_INIT(seed), NULL, &g.first};
    plan->v = arena_array(plan->arena, struct slice_draft *, slices->n + pod_count + 1);
    for (size_t i = 0; i < slices->n; i++)
        add_slice(&g, slices->v[i]);
    for (size_t i = 0; i < pod_count; i++)
        add_pod(&g, &pods[i]);
    for (struct group *group = g.first; group; group = group->next) {
        if (!group->is_wanted)
            continue;
        for (struct slice_draft *d = group->drafts; d; d = d->next)
            check_slice(&g, group, d);
        place_rest(&g, group);
    }
    keep_one(plan);
    reuse(plan);
    map_release(&g.groups);
    map_release(&g.known);
    map_release(&g.wants);
}

/* ---- what is written ---- */

static struct api_object *new_object(const struct slice_plan *p) {
    struct api_object *o = api_object_new(client_kind(API_T_endpoint_slice));
    struct api_object_meta *meta = api_own_meta(o);
    meta->namespace = arena_str(&o->arena, p->service->meta->namespace);
    meta->generate_name = manager__pod_prefix(&o->arena, p->service->meta->name);
    controller_owner_set(o, p->service);
    return o;
}

struct api_object *slice_plan__object(const struct slice_plan *plan, const struct slice_draft *d,
                                      struct api_time trigger) {
    struct api_object *o = d->was ? api_object_derive(d->was) : new_object(plan);
    struct api_endpoint_slice *body = api_own_body(o), copy;
    const struct api_endpoint_slice from = {.metadata.labels = plan->labels,
                                            .address_type = plan->address_type,
                                            .endpoints = d->endpoints,
                                            .ports = d->ports};
    api_struct_copy(&o->arena, &api_types[API_T_endpoint_slice], &from, &copy);
    body->metadata.labels = copy.metadata.labels;
    body->address_type = copy.address_type;
    body->endpoints = copy.endpoints;
    body->ports = copy.ports;
    endpoint__set_trigger_time(o, trigger);
    return o;
}
