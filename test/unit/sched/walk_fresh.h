/* A scheduler made anew, that is told how things are: objects, and what only decisions show. */
#ifndef TEST_SCHED_WALK_FRESH_H
#define TEST_SCHED_WALK_FRESH_H

#include "sched/volumes/state_int.h"
#include "walk_model.h"

/* Expressions without CEL: one is its length, true of taints with a shorter value, and fails for
 * taints without one. */
static inline void *walk_compile(void *ctx, struct str expression, size_t *spent, struct err *err) {
    (void)ctx;
    (void)spent;
    (void)err;
    return (void *)(uintptr_t)(expression.n % 8 + 1);
}

static inline int walk_eval(void *ctx, void *program, const struct match_taint *taint,
                            uint64_t evaluations, struct err *err) {
    (void)ctx;
    (void)evaluations;
    size_t n = intern_text(taint->value).n;
    if (!n)
        return err ? err_set(err, ERR_INVALID, "no value") : -1;
    return n < (uintptr_t)program;
}

static inline void walk_free(void *ctx, void *program) {
    (void)ctx;
    (void)program;
}

static const struct match_engine walk_engine = {
    .compile = walk_compile, .eval = walk_eval, .free = walk_free};

static inline struct sched *walk_sched(struct walk *w, uint64_t seed) {
    return sched_new(&(struct sched_opts){.gates = &w->gates.enabled,
                                          .engine = &walk_engine,
                                          .config = w->config,
                                          .clock = &w->clock.clock,
                                          .seed = seed});
}

/* ---- what decisions took and no object shows ---- */

static inline const struct api_object *walk_taken_volume(struct sched *s,
                                                         const struct api_object *o) {
    const struct sched__taken *t = sched__volume_taken(s, o);
    if (!t)
        return NULL;
    struct api_object *copy = api_object_copy(o);
    struct api_object_reference *claim = arena_new(&copy->arena, struct api_object_reference);
    claim->namespace = arena_str(&copy->arena, t->claim_ns);
    claim->name = arena_str(&copy->arena, t->claim_name);
    claim->uid = arena_str(&copy->arena, t->claim_uid);
    ((struct api_persistent_volume *)api_own_body(copy))->spec.claim_ref = claim;
    return api_publish(copy);
}

static inline const struct api_object *walk_placed_claim(struct sched *s,
                                                         const struct api_object *o) {
    const struct sched__taken *t = sched__claim_placed(s, o);
    if (!t)
        return NULL;
    struct api_object *copy = api_object_copy(o);
    struct labels *list = &api_own_meta(copy)->annotations;
    struct label *grown = arena_array(&copy->arena, struct label, list->n + 1);
    for (size_t i = 0; i < list->n; i++)
        grown[i] = list->v[i];
    grown[list->n] = (struct label){.key = STR("volume.kubernetes.io/selected-node"),
                                    .value = arena_str(&copy->arena, t->node)};
    *list = (struct labels){.v = grown, .n = list->n + 1};
    return api_publish(copy);
}

/* Notes how things are in the first scheduler. */
static inline void walk_note(struct walk *w) {
    struct sched *s = w->s[0];
    for (size_t i = 0; i < w->known_count; i++) {
        struct walk_entry *e = w->known[i];
        if (walk_is(e, "volume"))
            walk_replace(&e->shadow, walk_taken_volume(s, e->object));
        else if (e->object->type == &api_types[API_T_persistent_volume_claim])
            walk_replace(&e->shadow, walk_placed_claim(s, e->object));
        else if (e->spec.kind == WALK_POD)
            e->nominated = 0;
    }
    for (uint32_t slot = 0; slot < s->nodes.n; slot++)
        for (size_t i = 0; i < s->nodes.v[slot].nominated.n; i++) {
            struct walk_entry *e = walk_pod_keyed(w, s->nodes.v[slot].nominated.v[i]->key);
            e->nominated = walk_node_of(intern_text(s->nodes.v[slot].name));
        }
}

/* ---- telling ---- */

static inline void walk_tell_nodes(const struct sched *s, struct sched *to) {
    for (uint32_t slot = 0; slot < s->nodes.n; slot++)
        if (s->nodes.state[slot] & SCHED__NODE_THERE)
            sched_set(to, s->nodes.v[slot].object);
}

static inline void walk_tell_stored(struct walk *w, struct sched *to) {
    for (size_t i = 0; i < w->known_count; i++) {
        const struct walk_entry *e = w->known[i];
        if (e->spec.kind != WALK_NODE && e->spec.kind != WALK_POD)
            sched_set(to, e->shadow ? e->shadow : e->object);
    }
}

/* In the order in which nodes list them, which is that of the reports and of victims; the order of
 * nodes is turned round now and then, since the first pod of a class stands for all. */
static inline void walk_tell_placed(struct walk *w, struct sched *to,
                                    const struct walk_entry *but) {
    const struct sched__nodes *nodes = &w->s[0]->nodes;
    bool turned = w->stats.comparisons % 2;
    for (uint32_t n = 0; n < nodes->n; n++) {
        uint32_t slot = turned ? nodes->n - 1 - n : n;
        for (size_t i = 0; i < nodes->v[slot].pods.n; i++) {
            struct walk_entry *e = walk_pod_keyed(w, nodes->v[slot].pods.v[i]->key);
            if (e != but)
                sched_set(to, e->shadow ? e->shadow : e->object);
        }
    }
}

/* A pod that waits, with its nomination; gates keep it from being the next one. In a cluster they
 * come with the pod or not at all; here they may come to one that is in the queue already. */
static inline void walk_tell_waiting(struct sched *to, const struct walk_entry *e, bool gated) {
    struct api_object *copy = api_object_copy(e->object);
    struct api_pod *pod = api_own_body(copy);
    pod->status.nominated_node_name = walk_node_name(&copy->arena, e->nominated);
    pod->spec.scheduling_gates.v = arena_new(&copy->arena, struct api_pod_scheduling_gate);
    pod->spec.scheduling_gates.v->name = STR("not-now");
    pod->spec.scheduling_gates.n = gated;
    const struct api_object *shared = api_publish(copy);
    sched_set(to, shared);
    api_object_unref(shared);
}

/* A new scheduler that knows what walk_note noted. The pod `next`, if not NULL, was decided since:
 * it waits, and no other one does. */
static inline struct sched *walk_fresh(struct walk *w, const struct walk_entry *next) {
    struct sched *fresh = walk_sched(w, 77);
    walk_tell_nodes(w->s[0], fresh);
    walk_tell_stored(w, fresh);
    walk_tell_placed(w, fresh, next);
    for (size_t i = 0; i < w->known_count; i++)
        if (w->known[i]->spec.kind == WALK_POD && w->known[i]->nominated && w->known[i] != next)
            walk_tell_waiting(fresh, w->known[i], true);
    if (next)
        walk_tell_waiting(fresh, next, false);
    return fresh;
}

#endif
