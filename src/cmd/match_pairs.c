/* Pods and nodes, kept as match wants them. */
#include "cmd/match_pairs.h"

#include <stdlib.h>

#include "api/object.h"
#include "base/map.h"
#include "tolexpr/tolexpr.h"

enum { LONGEST_NAME = 253 };

void match_pairs_init(struct match_pairs *p, const struct feature_config *gates,
                      const struct clock *clock) {
    *p = (struct match_pairs){.atoms = intern_new(map_random_seed()),
                              .expressions = tolexpr_new(&(struct tolexpr_opts){
                                  gates->min_compat, clock, map_random_seed(), 0})};
    p->match = match_new(p->atoms, &gates->enabled, tolexpr_match_engine(p->expressions),
                         map_random_seed());
}

void match_pairs_release(struct match_pairs *p) {
    for (size_t i = 0; i < p->pods.n; i++)
        match_affinity_free(p->pods.v[i].affinity);
    for (size_t i = 0; i < p->hosts.n; i++)
        if (p->hosts.v[i].node)
            match_node_free(p->hosts.v[i].node);
    vec_release(&p->pods);
    vec_release(&p->hosts);
    match_free(p->match);
    tolexpr_free(p->expressions);
    intern_free(p->atoms);
    arena_release(&p->arena);
}

static struct match_tolerations *hold_tolerations(struct match_pairs *p,
                                                  const struct api_toleration_list *list) {
    struct match_tolerations *t = match_tolerations_get(p->match, list);
    match_ref(&t->list);
    return t;
}

static struct match_taints *hold_taints(struct match_pairs *p, const struct api_taint_list *list) {
    struct match_taints *t = match_taints_get(p->match, list);
    match_ref(&t->list);
    return t;
}

static int cmp_places(const void *a, const void *b) {
    const struct match_place *x = a, *y = b;
    if (x->key != y->key)
        return x->key < y->key ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static struct match_place *sort_by_key(struct match_pairs *p, const struct match_tolerations *all) {
    struct match_place *v = arena_array(&p->arena, struct match_place, all->n);
    for (uint32_t i = 0; i < all->n; i++)
        v[i] = (struct match_place){all->v[i].key ? all->v[i].key->id + 1 : 0, i};
    if (all->n)
        qsort(v, all->n, sizeof *v, cmp_places);
    return v;
}

/* Adds a pod whose names and affinity are known. */
static void push_pod(struct match_pairs *p, struct match_pod pod,
                     const struct api_toleration_list *tolerations) {
    pod.tolerations = hold_tolerations(p, tolerations);
    pod.by_key = sort_by_key(p, pod.tolerations);
    vec_push(&p->pods, pod);
}

void match_pairs_add_tolerations(struct match_pairs *p, const struct api_toleration_list *list) {
    push_pod(p, (struct match_pod){0}, list);
}

void match_pairs_add_taints(struct match_pairs *p, const struct api_taint_list *list) {
    vec_push(&p->hosts, (struct match_host){.taints = hold_taints(p, list)});
}

/* A name as reports show it, once for each pair: no API server takes a longer one. */
static struct str shown_name(struct match_pairs *p, struct str name) {
    size_t n = name.n;
    if (n <= LONGEST_NAME)
        return arena_str(&p->arena, name);
    for (n = LONGEST_NAME; n && ((unsigned char)name.p[n] & 0xC0) == 0x80;) /* inside a character */
        n--;
    return arena_printf(&p->arena, "%.*s...", (int)n, name.p);
}

static void add_pod(struct match_pairs *p, const struct api_object *o) {
    const struct api_pod_spec *spec = &((const struct api_pod *)o->body)->spec;
    const struct api_node_affinity *affinity =
        spec->affinity ? spec->affinity->node_affinity : NULL;
    struct match_pod pod = {
        .namespace = shown_name(p, o->meta->namespace.n ? o->meta->namespace : STR("default")),
        .name = shown_name(p, o->meta->name),
    };
    if (spec->node_selector.n || affinity)
        pod.affinity = match_affinity_new(p->match, &spec->node_selector, affinity);
    push_pod(p, pod, &spec->tolerations);
}

#define UNSCHEDULABLE "node.kubernetes.io/unschedulable"

struct api_taint_list match_node_taints(struct arena *a, const struct api_node_spec *spec) {
    struct api_taint_list all = {arena_array(a, struct api_taint, spec->taints.n + 1), 0};
    bool listed = !spec->unschedulable;
    for (size_t i = 0; i < spec->taints.n; i++) {
        all.v[all.n++] = spec->taints.v[i];
        listed |= str_is(spec->taints.v[i].key, UNSCHEDULABLE);
    }
    if (!listed)
        all.v[all.n++] = (struct api_taint){.key = STR(UNSCHEDULABLE), .effect = STR("NoSchedule")};
    return all;
}

static void add_node(struct match_pairs *p, const struct api_object *o) {
    AUTO(arena_release) struct arena a = {0};
    struct api_taint_list taints = match_node_taints(&a, &((const struct api_node *)o->body)->spec);
    vec_push(&p->hosts, (struct match_host){
                            .name = shown_name(p, o->meta->name),
                            .taints = hold_taints(p, &taints),
                            .node = match_node_new(p->match, o->meta->name, &o->meta->labels),
                        });
}

void match_pairs_add_object(struct match_pairs *p, const struct api_object *o) {
    if (o->type == &api_types[API_T_pod])
        add_pod(p, o);
    else if (o->type == &api_types[API_T_node])
        add_node(p, o);
}
