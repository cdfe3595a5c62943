/* A pod among others, see outlook.h. */
#include "sim/outlook.h"

#include "base/ascii.h"

/* ---- owners ---- */

static const struct api_owner_reference *controller_of(const struct api_object *o) {
    const struct api_owner_reference_list *list = &o->meta->owner_references;
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i].controller.set && list->v[i].controller.v)
            return &list->v[i];
    return NULL;
}

/* The object itself, if it is one that may have an owner in turn. */
static const struct api_object *find_owner(const struct sim_cluster *c, struct str namespace,
                                           const struct api_owner_reference *ref) {
    if (str_is(ref->kind, "ReplicaSet"))
        return sim_cluster_find(c, API_T_replica_set, namespace, ref->name);
    return str_is(ref->kind, "Job") ? sim_cluster_find(c, API_T_job, namespace, ref->name) : NULL;
}

struct str sim_owner_of(const struct sim_cluster *c, const struct api_object *pod,
                        struct arena *a) {
    const struct api_owner_reference *ref = controller_of(pod);
    if (!ref)
        return (struct str){0};
    const struct api_object *owner = find_owner(c, pod->meta->namespace, ref);
    if (owner && controller_of(owner))
        ref = controller_of(owner);
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    for (size_t i = 0; i < ref->kind.n; i++)
        buf_add_char(&text, ascii_to_lower(ref->kind.p[i]));
    buf_add_char(&text, '/');
    buf_add(&text, ref->name);
    return arena_str(a, buf_view(&text));
}

/* ---- does anybody else matter? ---- */

static int32_t priority_of(const struct api_pod *pod) {
    return pod->spec.priority.set ? pod->spec.priority.v : 0;
}

static bool can_matter(const struct api_pod *other, const struct api_pod *pod) {
    if (api_pod_has_ended(other))
        return false;
    return !other->spec.node_name.n || priority_of(other) < priority_of(pod);
}

bool sim_outlook_matters(const struct sim_cluster *c, const struct api_object *pod) {
    for (size_t i = 0; i < c->items.n; i++) {
        const struct api_object *o = c->items.v[i].object;
        if (o && o != pod && o->type == &api_types[API_T_pod] && can_matter(o->body, pod->body))
            return true;
    }
    return false;
}

/* ---- what became of it ---- */

/* A list on its way. */
struct finder {
    const struct sim_placement *p;
    struct arena *a;
    struct sim_outlook *out;
    struct map by_owner; /* struct sim_outlook_rival */
};

static void add_rival(struct finder *f, const struct api_object *pod) {
    struct str owner = sim_owner_of(f->p->cluster, pod, f->a);
    struct sim_outlook_rival *rival = map_get(&f->by_owner, owner);
    if (!rival) {
        rival = &f->out->rivals[f->out->rival_count++];
        rival->owner = owner;
        map_put(&f->by_owner, owner, rival);
    }
    rival->pods++;
}

static void add_victim(struct finder *f, const struct api_object *pod) {
    f->out->victims[f->out->victim_count++] =
        arena_printf(f->a, "%.*s/%.*s", STR_ARG(pod->meta->namespace), STR_ARG(pod->meta->name));
}

static const struct sim_placement_pod *find(const struct sim_placement *p,
                                            const struct api_object *pod) {
    for (size_t i = 0; i < p->pods.n; i++)
        if (p->pods.v[i].pod == pod)
            return &p->pods.v[i];
    return NULL;
}

void sim_outlook_find(const struct sim_placement *p, const struct api_object *pod,
                      bool (*fits)(void *ctx, struct str node), void *ctx, struct arena *a,
                      struct sim_outlook *out) {
    struct finder f = {.p = p, .a = a, .out = out, .by_owner = MAP_INIT(map_random_seed())};
    const struct sim_placement_pod *own = find(p, pod);
    struct str by = arena_printf(a, "preempted by %.*s/%.*s", STR_ARG(pod->meta->namespace),
                                 STR_ARG(pod->meta->name));
    *out = (struct sim_outlook){.state = own ? own->state : SIM_WAITING};
    out->rivals = arena_array(a, struct sim_outlook_rival, p->pods.n);
    out->victims = arena_array(a, struct str, p->pods.n);
    if (own) {
        out->node = arena_str(a, own->node);
        out->message = arena_str(a, own->message);
    }
    for (size_t i = 0; i < p->pods.n; i++) {
        const struct sim_placement_pod *other = &p->pods.v[i];
        if (other->state == SIM_PREEMPTED && str_eq(other->message, by))
            add_victim(&f, other->pod);
        else if (other != own && other->item && other->state == SIM_SCHEDULED &&
                 fits(ctx, other->node))
            add_rival(&f, other->pod);
    }
    map_release(&f.by_owner);
}
