/*
 * Rollouts at work: whenever the scheduler has nothing more to say, each goes a step further. A pod
 * counts as ready as soon as it is on its node, and one that has to go is gone at once.
 */
#include "api/object.h"
#include "sim/placement.h"

/* What has become of a pod that is there. */
static enum controller_rollout_state state_of(const struct sim_placement *p,
                                              const struct controller_rollout_pod *pod) {
    const struct sim_placement_pod *known = sim__placement_known(p, pod->object);
    if (!known)
        return pod->state;
    if (known->state == SIM_SCHEDULED)
        return CONTROLLER_POD_READY;
    return known->state == SIM_PREEMPTED ? CONTROLLER_POD_GONE : CONTROLLER_POD_WAITING;
}

/* Looks after the pods, and remembers the tightest moment. */
static void look(const struct sim_placement *p, struct sim_rollout *r) {
    for (size_t i = 0; i < r->plan.pods.n; i++) {
        struct controller_rollout_pod *pod = &r->plan.pods.v[i];
        if (pod->state == CONTROLLER_POD_WAITING || pod->state == CONTROLLER_POD_READY)
            pod->state = state_of(p, pod);
    }
    struct controller_rollout_counts c = controller_rollout_count(&r->plan);
    if (c.updated + c.old > r->most)
        r->most = c.updated + c.old;
    if (!r->steps || c.updated_ready + c.old_ready < r->least_ready)
        r->least_ready = c.updated_ready + c.old_ready;
}

static void take_step(struct sim_placement *p, struct sim_rollout *r,
                      const struct controller_rollout_step *step) {
    struct str message = arena_printf(&p->arena, "by the rollout of %.*s", STR_ARG(r->plan.maker));
    for (size_t i = 0; i < step->remove_count; i++) {
        struct controller_rollout_pod *pod = &r->plan.pods.v[step->remove[i]];
        sim__placement_end(p, pod->object, SIM_REMOVED, message);
        pod->state = CONTROLLER_POD_GONE;
    }
    for (size_t i = 0; i < step->make_count; i++) {
        sim__placement_begin(p, &p->cluster->items.v[r->items[step->make[i]]]);
        r->plan.pods.v[step->make[i]].state = CONTROLLER_POD_WAITING;
    }
}

bool sim__rollouts_step(struct sim_placement *p) {
    bool changed = false;
    for (size_t i = 0; i < p->cluster->rollouts.n; i++) {
        struct sim_rollout *r = &p->cluster->rollouts.v[i];
        AUTO(arena_release) struct arena a = {0};
        struct controller_rollout_step step;
        look(p, r);
        if (!controller_rollout_next(&r->plan, &a, &step))
            continue;
        take_step(p, r, &step);
        r->steps++;
        changed = true;
    }
    return changed;
}
