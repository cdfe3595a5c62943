/*
 * DaemonSets, whose pods have nodes of their own.
 *
 * Follows k8s.io/kubernetes pkg/controller/daemon, func (*DaemonSetsController) manage.
 */
#include <stdlib.h>

#include "api/names.h"
#include "base/alloc.h"
#include "controller/controller.h"
#include "controller/expand_int.h"
#include "intern/intern.h"
#include "match/match.h"

struct expand_daemons {
    struct intern *atoms;
    struct match *match;
    VEC(struct controller_node) nodes;
    VEC(struct match_node *) labels;
    VEC(struct api_node_selector *) aims; /* what only the node itself matches, for its daemons */
};

/* A selector that only the node of this name matches, which is borrowed. */
static struct api_node_selector *aim_new(struct arena *a, struct str node) {
    struct api_node_selector *required = arena_new(a, struct api_node_selector);
    struct api_node_selector_term *term = arena_new(a, struct api_node_selector_term);
    struct api_node_selector_requirement *field =
        arena_new(a, struct api_node_selector_requirement);
    struct str *value = arena_new(a, struct str);
    *value = node;
    *field = (struct api_node_selector_requirement){
        .key = STR("metadata.name"), .operator= STR("In"), .values = {value, 1}};
    term->match_fields = (struct api_node_selector_requirement_list){field, 1};
    required->node_selector_terms = (struct api_node_selector_term_list){term, 1};
    return required;
}

static void add_node(struct expand *e, struct expand_daemons *d, const struct api_object *o) {
    const struct api_node *node = o->body;
    struct match_node *labels = match_node_new(d->match, o->meta->name, &o->meta->labels);
    struct match_taints *taints = match_taints_get(d->match, &node->spec.taints);
    match_ref(&taints->list);
    vec_push(&d->labels, labels);
    vec_push(&d->nodes, (struct controller_node){o->meta->name, labels, taints});
    vec_push(&d->aims, aim_new(e->c->arena, arena_str(e->c->arena, o->meta->name)));
}

/* The nodes, compiled when the first DaemonSet comes. */
static struct expand_daemons *daemons_of(struct expand *e) {
    if (e->daemons)
        return e->daemons;
    struct expand_daemons *d = xcalloc(1, sizeof *d);
    d->atoms = intern_new(map_random_seed());
    d->match = match_new(d->atoms, e->c->gates, e->c->engine, map_random_seed());
    for (size_t i = 0; i < e->object_count; i++) {
        const struct api_object *o = e->objects[i].object;
        if (o && o->type == &api_types[API_T_node])
            add_node(e, d, o);
    }
    return e->daemons = d;
}

void expand__daemons_free(struct expand_daemons *d) {
    if (!d)
        return;
    for (size_t i = 0; i < d->labels.n; i++)
        match_node_free(d->labels.v[i]);
    vec_release(&d->labels);
    vec_release(&d->nodes);
    vec_release(&d->aims);
    match_free(d->match);
    intern_free(d->atoms);
    free(d);
}

/* An affinity of the pod's own: that of its template, for this node. All daemons of a node share
 * the selector. */
static void aim_at(struct arena *a, struct api_pod_spec *spec, struct api_node_selector *node) {
    struct api_affinity *affinity = arena_new(a, struct api_affinity);
    struct api_node_affinity *node_affinity = arena_new(a, struct api_node_affinity);
    if (spec->affinity)
        *affinity = *spec->affinity;
    if (affinity->node_affinity)
        *node_affinity = *affinity->node_affinity;
    node_affinity->required = node;
    affinity->node_affinity = node_affinity;
    spec->affinity = affinity;
}

struct str expand__daemon_node(const struct api_object *pod) {
    const struct api_pod_spec *spec = &((const struct api_pod *)pod->body)->spec;
    if (spec->node_name.n)
        return spec->node_name;
    const struct api_node_affinity *affinity =
        spec->affinity ? spec->affinity->node_affinity : NULL;
    if (!affinity || !affinity->required || !affinity->required->node_selector_terms.n)
        return STR("");
    const struct api_node_selector_term *term = &affinity->required->node_selector_terms.v[0];
    if (!term->match_fields.n || !term->match_fields.v[0].values.n)
        return STR("");
    return term->match_fields.v[0].values.v[0];
}

static void note_served(struct map *served, const struct expand_owned *owned) {
    for (size_t i = 0; owned && i < owned->pods.n; i++) {
        const struct api_object *pod = owned->pods.v[i];
        if (expand__is_active(pod) && expand__daemon_node(pod).n)
            map_put(served, expand__daemon_node(pod), served);
    }
}

/* A set that is being expanded. */
struct daemons {
    struct expand_members members;
    struct str revision; /* absent until the first is made */
};

/* A node that a server stored may have a name that a pod cannot ask for: that pod is judged. */
static bool make_daemon(struct expand *e, struct daemons *all, size_t node) {
    struct expand_members *members = &all->members;
    struct str number = arena_printf(e->c->arena, "%zu", node);
    if (!expand__may(e, 1) || !expand__members_pay(e, members, EXPAND__DAEMON_BYTES))
        return false;
    if (!all->revision.p)
        all->revision = controller_template_hash(e->c->arena, members->template, NULL);
    if (names_check_dns1123_subdomain(e->daemons->nodes.v[node].name).n)
        members->model = NULL;
    struct str name = arena_printf(e->c->arena, "%.*s-%.*s", STR_ARG(members->owner->meta->name),
                                   STR_ARG(number));
    struct api_object *made = expand__member_new(members, name, number);
    struct api_pod_spec *spec = &((struct api_pod *)api_own_body(made))->spec;
    if (!members->model) {
        struct api_toleration_list tolerations;
        struct label revision = {STR("controller-revision-hash"), all->revision};
        expand__set_labels(e->c->arena, &api_own_meta(made)->labels, &revision, 1);
        controller_daemon_tolerations(&made->arena, spec, &tolerations);
        spec->tolerations = tolerations;
    }
    aim_at(e->c->arena, spec, e->daemons->aims.v[node]);
    return expand__member_add(e, members, made);
}

/* The nodes that are to run a daemon, in the order of the input. */
struct places {
    VEC(size_t) nodes;
    struct map continues; /* of a rollout: names of nodes on which a daemon may stay */
};

static void find_places(struct expand *e, const struct api_object *o, struct places *out) {
    const struct api_daemon_set *set = o->body;
    struct expand_daemons *d = daemons_of(e);
    struct controller_daemon *daemon = controller_daemon_new(d->match, &set->spec.template.spec);
    *out = (struct places){.continues = MAP_INIT(map_random_seed())};
    for (size_t i = 0; i < d->nodes.n; i++) {
        struct controller_daemon_verdict v = controller_daemon_check(daemon, &d->nodes.v[i]);
        if (v.should_run)
            vec_push(&out->nodes, i);
        if (v.should_continue && e->before)
            map_put(&out->continues, d->nodes.v[i].name, d);
    }
    controller_daemon_free(daemon);
}

static void places_release(struct places *p) {
    vec_release(&p->nodes);
    map_release(&p->continues);
}

/* Makes daemons on the nodes that are not served. False when one is refused. */
static bool make_daemons(struct expand *e, const struct api_object *o, const struct places *places,
                         const struct map *served) {
    const struct api_daemon_set *set = o->body;
    const struct controller_node *nodes = e->daemons->nodes.v;
    int64_t missing = 0;
    for (size_t i = 0; i < places->nodes.n; i++)
        missing += !map_get(served, nodes[places->nodes.v[i]].name);
    struct daemons all = {
        .members = {.owner = o, .template = &set->spec.template, .unpaid = missing}};
    for (size_t i = 0; i < places->nodes.n; i++) {
        size_t node = places->nodes.v[i];
        if (!map_get(served, nodes[node].name) && !make_daemon(e, &all, node))
            return false;
    }
    return true;
}

void expand__daemon_set(struct expand *e, const struct api_object *o) {
    struct places places;
    struct map served = MAP_INIT(map_random_seed());
    find_places(e, o, &places);
    note_served(&served, expand__owned(e, o));
    make_daemons(e, o, &places, &served);
    map_release(&served);
    places_release(&places);
}

/* ---- rollouts ---- */

/* The daemons that are there. Those that stay serve their nodes; those that are to be replaced or
 * have to go are old. */
static void add_daemons(struct expand *e, const struct api_object *o, const struct places *places,
                        struct controller_rollout *r, struct map *served) {
    const struct api_daemon_set *set = o->body, *before = e->before->body;
    const struct expand_owned *owned = expand__owned(e, o);
    bool replaced = expand__replaces(e, set->spec.update_strategy.type, &set->spec.template,
                                     &before->spec.template);
    for (size_t i = 0; owned && i < owned->pods.n; i++) {
        const struct api_object *pod = owned->pods.v[i];
        struct str node = expand__daemon_node(pod);
        if (!expand__is_active(pod))
            continue;
        bool stays = !replaced && map_get(&places->continues, node);
        expand__roll_add(r, pod, stays);
        if (stays)
            map_put(served, node, r);
    }
}

bool expand__roll_daemon_set(struct expand *e, const struct api_object *o) {
    struct places places;
    struct map served = MAP_INIT(map_random_seed());
    struct controller_rollout r = {.maker = e->maker};
    find_places(e, o, &places);
    controller_rollout_of_daemon_set(&r, o->body, (int64_t)places.nodes.n);
    add_daemons(e, o, &places, &r, &served);
    bool rolls = r.pods.n > 0;
    if (rolls) {
        expand__roll_begin(e, &r);
        expand__roll_end(e, make_daemons(e, o, &places, &served));
    }
    controller_rollout_release(&r);
    map_release(&served);
    places_release(&places);
    return rolls;
}
