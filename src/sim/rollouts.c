/*
 * Rollouts at work: whenever the scheduler has nothing more to say, each goes a step further. A pod
 * counts as ready as soon as it is on its node, and one that has to go is gone at once.
 */
#include "api/object.h"
#include "sim/placement.h"

/* A pod of a rollout. */
struct rolled {
    struct sim_rollout *rollout;
    size_t place;
};

/* Pods are known by their objects: what replaces a pod may have its name. The key lives as long as
 * what it is made of. */
static struct str key_of(const struct api_object *const *object) {
    return (struct str){(const char *)object, sizeof *object};
}

void sim__rollouts_begin(struct sim_placement *p) {
    for (size_t i = 0; i < p->cluster->rollouts.n; i++) {
        struct sim_rollout *r = &p->cluster->rollouts.v[i];
        struct rolled *all = arena_array(&p->arena, struct rolled, r->plan.pods.n);
        for (size_t k = 0; k < r->plan.pods.n; k++) {
            all[k] = (struct rolled){r, k};
            map_put(&p->rolled, key_of(&r->plan.pods.v[k].object), &all[k]);
        }
    }
}

void sim__rollouts_note(struct sim_placement *p, const struct api_object *o,
                        enum controller_rollout_state state) {
    const struct rolled *pod = map_get(&p->rolled, key_of(&o));
    if (pod && pod->rollout->plan.pods.v[pod->place].state != state)
        controller_rollout_set(&pod->rollout->plan, pod->place, state);
}

/* Remembers the tightest moment. */
static void observe(struct sim_rollout *r) {
    const struct controller_rollout_counts *c = &r->plan.counts;
    if (c->updated + c->old > r->most)
        r->most = c->updated + c->old;
    if (!r->steps || c->updated_ready + c->old_ready < r->least_ready)
        r->least_ready = c->updated_ready + c->old_ready;
}

static void take_step(struct sim_placement *p, struct sim_rollout *r) {
    const struct controller_rollout_step *step = &r->plan.step;
    struct str message = arena_printf(&p->arena, "by the rollout of %.*s", STR_ARG(r->plan.maker));
    for (size_t i = 0; i < step->remove.n; i++)
        sim__placement_end(p, r->plan.pods.v[step->remove.v[i]].object, SIM_REMOVED, message);
    for (size_t i = 0; i < step->make.n; i++)
        sim__placement_begin(p, &p->cluster->items.v[r->items[step->make.v[i]]]);
    r->steps++;
}

bool sim__rollouts_step(struct sim_placement *p) {
    bool changed = false;
    for (size_t i = 0; i < p->cluster->rollouts.n; i++) {
        struct sim_rollout *r = &p->cluster->rollouts.v[i];
        observe(r);
        if (!controller_rollout_next(&r->plan))
            continue;
        take_step(p, r);
        observe(r);
        changed = true;
    }
    return changed;
}
