/* Steps of rolling updates, see rollout.h. */
#include "controller/rollout.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

void controller_rollout_release(struct controller_rollout *r) {
    vec_release(&r->pods);
}

/* ---- limits ---- */

/* A number, or a percentage of the total; 0 for what is neither, which validation refuses. */
static int64_t resolve(const struct api_int_or_str *x, int64_t total, bool round_up) {
    int64_t percent;
    if (!x)
        return 0;
    if (!x->is_str)
        return x->i;
    if (!str_ends(x->s, STR("%")) || !str_to_i64(str_sub(x->s, 0, x->s.n - 1), &percent) ||
        percent < 0 || percent > 100)
        return 0;
    return (total * percent + (round_up ? 99 : 0)) / 100;
}

static int64_t replicas_of(struct api_opt_i32 replicas) {
    return replicas.set ? replicas.v : 1;
}

void controller_rollout_of_deployment(struct controller_rollout *r,
                                      const struct api_deployment *d) {
    const struct api_rolling_update_deployment *rolling = d->spec.strategy.rolling_update;
    r->wanted = replicas_of(d->spec.replicas);
    r->way = CONTROLLER_ROLLOUT_RECREATE;
    if (str_is(d->spec.strategy.type, "Recreate"))
        return;
    r->way = CONTROLLER_ROLLOUT_REPLICAS;
    r->max_surge = rolling ? resolve(rolling->max_surge, r->wanted, true) : 0;
    r->max_unavailable = rolling ? resolve(rolling->max_unavailable, r->wanted, false) : 0;
    if (!r->max_surge && !r->max_unavailable)
        r->max_unavailable = 1; /* otherwise it could never begin */
    if (r->max_unavailable > r->wanted)
        r->max_unavailable = r->wanted;
}

void controller_rollout_of_stateful_set(struct controller_rollout *r,
                                        const struct api_stateful_set *set) {
    const struct api_rolling_update_stateful_set_strategy *rolling =
        set->spec.update_strategy.rolling_update;
    r->way = CONTROLLER_ROLLOUT_MEMBERS;
    r->wanted = replicas_of(set->spec.replicas);
    r->max_unavailable = rolling ? resolve(rolling->max_unavailable, r->wanted, false) : 1;
    if (r->max_unavailable < 1)
        r->max_unavailable = 1;
}

void controller_rollout_of_daemon_set(struct controller_rollout *r,
                                      const struct api_daemon_set *set, int64_t nodes) {
    const struct api_rolling_update_daemon_set *rolling = set->spec.update_strategy.rolling_update;
    r->way = CONTROLLER_ROLLOUT_DAEMONS;
    r->wanted = nodes;
    r->max_surge = rolling ? resolve(rolling->max_surge, nodes, true) : 0;
    r->max_unavailable = rolling ? resolve(rolling->max_unavailable, nodes, true) : 1;
}

/* ---- counting ---- */

static bool is_there(const struct controller_rollout_pod *pod) {
    return pod->state == CONTROLLER_POD_WAITING || pod->state == CONTROLLER_POD_READY;
}

struct controller_rollout_counts controller_rollout_count(const struct controller_rollout *r) {
    struct controller_rollout_counts c = {0};
    for (size_t i = 0; i < r->pods.n; i++) {
        const struct controller_rollout_pod *pod = &r->pods.v[i];
        bool is_ready = pod->state == CONTROLLER_POD_READY;
        *(pod->is_new ? &c.updated : &c.old) += is_there(pod);
        *(pod->is_new ? &c.updated_ready : &c.old_ready) += is_ready;
    }
    return c;
}

bool controller_rollout_is_done(const struct controller_rollout *r) {
    struct controller_rollout_counts c = controller_rollout_count(r);
    return !c.old && c.updated == c.updated_ready && c.updated == r->wanted;
}

/* ---- choosing ---- */

static void make(struct controller_rollout_step *step, size_t place) {
    step->make[step->make_count++] = place;
}

static void remove_pod(struct controller_rollout_step *step, size_t place) {
    step->remove[step->remove_count++] = place;
}

/* The first pods that are not made yet, at most so many. */
static void make_some(const struct controller_rollout *r, struct controller_rollout_step *step,
                      int64_t most) {
    for (size_t i = 0; i < r->pods.n && most > 0; i++)
        if (r->pods.v[i].is_new && r->pods.v[i].state == CONTROLLER_POD_ABSENT) {
            make(step, i);
            most--;
        }
}

/* What decides which replica goes first: the order of the members is the order of the rules. Lower
 * goes first.
 * Follows k8s.io/kubernetes pkg/controller, func (ActivePodsWithRanks) Less. */
struct removal {
    int64_t rules[6];
    size_t place;
};

enum { MOST_PHASES = 3 };

static int64_t phase_rank(struct str phase) {
    static const char *const phases[MOST_PHASES] = {"Pending", "Unknown", "Running"};
    for (int64_t i = 0; i < MOST_PHASES; i++)
        if (str_is(phase, phases[i]))
            return i;
    return 0;
}

static int64_t deletion_cost(const struct api_object *pod) {
    const struct label *cost =
        labels_find(&pod->meta->annotations, STR("controller.kubernetes.io/pod-deletion-cost"));
    int64_t value;
    return cost && str_to_i64(cost->value, &value) ? value : 0;
}

static struct str node_of(const struct controller_rollout_pod *pod) {
    return ((const struct api_pod *)pod->object->body)->spec.node_name;
}

/* How many pods of the rollout are on the node of each; those that crowd a node go first. */
static void count_by_node(const struct controller_rollout *r, struct map *counts) {
    for (size_t i = 0; i < r->pods.n; i++) {
        struct str node = node_of(&r->pods.v[i]);
        if (is_there(&r->pods.v[i]) && node.n)
            map_put(counts, node, (void *)((uintptr_t)map_get(counts, node) + 1));
    }
}

static struct removal removal_of(const struct controller_rollout *r, const struct map *counts,
                                 size_t place) {
    const struct controller_rollout_pod *pod = &r->pods.v[place];
    const struct api_pod *body = pod->object->body;
    struct str node = node_of(pod);
    int64_t crowd = node.n ? (int64_t)(uintptr_t)map_get(counts, node) : 0;
    return (struct removal){{node.n > 0, phase_rank(body->status.phase),
                             pod->state == CONTROLLER_POD_READY, deletion_cost(pod->object), -crowd,
                             -pod->object->meta->creation_timestamp.sec},
                            place};
}

static int compare_removals(const void *x, const void *y) {
    const struct removal *a = x, *b = y;
    for (size_t i = 0; i < sizeof a->rules / sizeof *a->rules; i++)
        if (a->rules[i] != b->rules[i])
            return a->rules[i] < b->rules[i] ? -1 : 1;
    return a->place < b->place ? -1 : a->place > b->place;
}

/* Removes pods of the new or the old template, at most so many, in the order of the rules. */
static void remove_some(const struct controller_rollout *r, struct arena *a,
                        struct controller_rollout_step *step, bool is_new, int64_t most) {
    if (most <= 0)
        return;
    struct removal *all = arena_array(a, struct removal, r->pods.n);
    struct map counts = MAP_INIT(map_random_seed());
    size_t n = 0;
    count_by_node(r, &counts);
    for (size_t i = 0; i < r->pods.n; i++)
        if (r->pods.v[i].is_new == is_new && is_there(&r->pods.v[i]))
            all[n++] = removal_of(r, &counts, i);
    qsort(all, n, sizeof *all, compare_removals);
    for (size_t i = 0; i < n && most-- > 0; i++)
        remove_pod(step, all[i].place);
    map_release(&counts);
}

/* ---- replicas ---- */

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* Old pods that are not ready go first: that costs nothing. Then so many as may be missing. */
static int64_t count_removable(const struct controller_rollout *r,
                               const struct controller_rollout_counts *c) {
    int64_t least_ready = r->wanted - r->max_unavailable;
    int64_t may_go = c->old + c->updated_ready - least_ready;
    int64_t spare = c->old_ready + c->updated_ready - least_ready;
    if (may_go <= 0)
        return 0;
    return least(may_go, c->old - c->old_ready) + (spare > 0 ? spare : 0);
}

static void step_replicas(const struct controller_rollout *r, struct arena *a,
                          struct controller_rollout_step *step) {
    struct controller_rollout_counts c = controller_rollout_count(r);
    int64_t room = r->wanted + r->max_surge - (c.old + c.updated);
    if (c.updated > r->wanted)
        remove_some(r, a, step, true, c.updated - r->wanted);
    else
        make_some(r, step, least(room, r->wanted - c.updated));
    if (!step->make_count && !step->remove_count)
        remove_some(r, a, step, false, count_removable(r, &c));
}

static void step_recreate(const struct controller_rollout *r, struct arena *a,
                          struct controller_rollout_step *step) {
    struct controller_rollout_counts c = controller_rollout_count(r);
    (void)a;
    for (size_t i = 0; i < r->pods.n; i++)
        if (!r->pods.v[i].is_new && is_there(&r->pods.v[i]))
            remove_pod(step, i);
    if (!step->remove_count)
        make_some(r, step, r->wanted - c.updated);
}

/* ---- pods with a place ---- */

/* The pods of one place. */
struct pair {
    const struct controller_rollout_pod *old, *new;
    size_t old_place, new_place;
};

/* All places, in the order in which their first pod stands in the list. */
static size_t list_pairs(const struct controller_rollout *r, struct arena *a, struct pair **out) {
    struct pair *pairs = arena_array(a, struct pair, r->pods.n);
    struct map by_place = MAP_INIT(map_random_seed());
    size_t n = 0;
    for (size_t i = 0; i < r->pods.n; i++) {
        const struct controller_rollout_pod *pod = &r->pods.v[i];
        uintptr_t at = (uintptr_t)map_get(&by_place, pod->place);
        if (!at) {
            at = ++n;
            map_put(&by_place, pod->place, (void *)at);
        }
        *(pod->is_new ? &pairs[at - 1].new : &pairs[at - 1].old) = pod;
        *(pod->is_new ? &pairs[at - 1].new_place : &pairs[at - 1].old_place) = i;
    }
    map_release(&by_place);
    *out = pairs;
    return n;
}

static bool has_old(const struct pair *p) {
    return p->old && is_there(p->old);
}

static bool has_ready(const struct pair *p) {
    return (p->old && p->old->state == CONTROLLER_POD_READY) ||
           (p->new && p->new->state == CONTROLLER_POD_READY);
}

static bool awaits_new(const struct pair *p) {
    return p->new && p->new->state == CONTROLLER_POD_ABSENT;
}

static int64_t count_unready(const struct pair *pairs, size_t n) {
    int64_t unready = 0;
    for (size_t i = 0; i < n; i++)
        unready += !has_ready(&pairs[i]);
    return unready;
}

/* Places without a pod get theirs, and pods go from places that there shall not be any more. */
static bool settle_places(const struct pair *pairs, size_t n,
                          struct controller_rollout_step *step) {
    for (size_t i = 0; i < n; i++) {
        if (awaits_new(&pairs[i]) && !has_old(&pairs[i]))
            make(step, pairs[i].new_place);
        else if (has_old(&pairs[i]) && !pairs[i].new)
            remove_pod(step, pairs[i].old_place);
    }
    return step->make_count || step->remove_count;
}

/* A member that is not ready holds up those behind it, unless it is old itself. */
static void step_members(const struct controller_rollout *r, struct arena *a,
                         struct controller_rollout_step *step) {
    struct pair *pairs;
    size_t n = list_pairs(r, a, &pairs);
    int64_t unready = 0;
    if (settle_places(pairs, n, step))
        return;
    for (size_t i = 0; i < n && unready < r->max_unavailable; i++) {
        bool replace = has_old(&pairs[i]) && awaits_new(&pairs[i]);
        if (replace)
            remove_pod(step, pairs[i].old_place);
        unready += replace || !has_ready(&pairs[i]);
    }
}

/* Old daemons go first, and new ones are made where there is none. */
static void step_daemons(const struct controller_rollout *r, struct arena *a,
                         struct controller_rollout_step *step) {
    struct pair *pairs;
    size_t n = list_pairs(r, a, &pairs);
    if (settle_places(pairs, n, step))
        return;
    int64_t may_go = r->max_unavailable - count_unready(pairs, n);
    for (size_t i = 0; i < n; i++) {
        if (!has_old(&pairs[i]) || !awaits_new(&pairs[i]))
            continue;
        if (!has_ready(&pairs[i]) || may_go-- > 0)
            remove_pod(step, pairs[i].old_place);
    }
}

/* New daemons are made beside old ones, which go when the new ones are ready. */
static void step_surging_daemons(const struct controller_rollout *r, struct arena *a,
                                 struct controller_rollout_step *step) {
    struct pair *pairs;
    size_t n = list_pairs(r, a, &pairs);
    int64_t room = r->max_surge;
    if (settle_places(pairs, n, step))
        return;
    for (size_t i = 0; i < n; i++) {
        const struct pair *p = &pairs[i];
        if (has_old(p) && p->new && p->new->state == CONTROLLER_POD_READY)
            remove_pod(step, p->old_place);
        room -= has_old(p) && p->new && p->new->state == CONTROLLER_POD_WAITING;
    }
    for (size_t i = 0; i < n; i++)
        if (has_old(&pairs[i]) && awaits_new(&pairs[i]) &&
            (pairs[i].old->state != CONTROLLER_POD_READY || room-- > 0))
            make(step, pairs[i].new_place);
}

/* ---- the next step ---- */

bool controller_rollout_next(const struct controller_rollout *r, struct arena *a,
                             struct controller_rollout_step *out) {
    *out = (struct controller_rollout_step){.make = arena_array(a, size_t, r->pods.n),
                                            .remove = arena_array(a, size_t, r->pods.n)};
    if (r->way == CONTROLLER_ROLLOUT_RECREATE)
        step_recreate(r, a, out);
    else if (r->way == CONTROLLER_ROLLOUT_REPLICAS)
        step_replicas(r, a, out);
    else if (r->way == CONTROLLER_ROLLOUT_MEMBERS)
        step_members(r, a, out);
    else if (r->max_surge)
        step_surging_daemons(r, a, out);
    else
        step_daemons(r, a, out);
    return out->make_count || out->remove_count;
}
