/* Steps of rolling updates, see rollout.h. */
#include "controller/rollout.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"

/* The pods of one place, which wait in a list until it is settled. */
struct controller_rollout_pair {
    size_t old, new; /* places in the list of pods; NONE: there is none */
    size_t next_open;
};

#define NONE SIZE_MAX

void controller_rollout_release(struct controller_rollout *r) {
    vec_release(&r->pods);
    vec_release(&r->step.make);
    vec_release(&r->step.remove);
    arena_release(&r->arena);
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
        percent < 0 || percent > INT32_MAX)
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

static void count(struct controller_rollout *r, const struct controller_rollout_pod *pod,
                  int64_t sign) {
    *(pod->is_new ? &r->counts.updated : &r->counts.old) += is_there(pod) ? sign : 0;
    if (pod->state == CONTROLLER_POD_READY)
        *(pod->is_new ? &r->counts.updated_ready : &r->counts.old_ready) += sign;
}

bool controller_rollout_is_done(const struct controller_rollout *r) {
    const struct controller_rollout_counts *c = &r->counts;
    return !c->old && c->updated == c->updated_ready && c->updated == r->wanted;
}

/* ---- the order in which old pods go ---- */

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

/* The pods of the new or the old template that are there, as they would go; in the arena. */
static size_t order_pods(struct controller_rollout *r, bool is_new, size_t **out) {
    struct removal *all = arena_array(&r->arena, struct removal, r->pods.n);
    struct map counts = MAP_INIT(map_random_seed());
    size_t n = 0;
    count_by_node(r, &counts);
    for (size_t i = 0; i < r->pods.n; i++)
        if (r->pods.v[i].is_new == is_new && is_there(&r->pods.v[i]))
            all[n++] = removal_of(r, &counts, i);
    map_release(&counts);
    if (n)
        qsort(all, n, sizeof *all, compare_removals);
    *out = arena_array(&r->arena, size_t, n);
    for (size_t i = 0; i < n; i++)
        (*out)[i] = all[i].place;
    return n;
}

/* ---- places ---- */

static enum controller_rollout_state state_at(const struct controller_rollout *r, size_t pod) {
    return pod == NONE ? CONTROLLER_POD_GONE : r->pods.v[pod].state;
}

static bool has_old(const struct controller_rollout *r, const struct controller_rollout_pair *p) {
    return p->old != NONE && is_there(&r->pods.v[p->old]);
}

static bool has_ready(const struct controller_rollout *r, const struct controller_rollout_pair *p) {
    return state_at(r, p->old) == CONTROLLER_POD_READY ||
           state_at(r, p->new) == CONTROLLER_POD_READY;
}

static bool awaits_new(const struct controller_rollout *r,
                       const struct controller_rollout_pair *p) {
    return state_at(r, p->new) == CONTROLLER_POD_ABSENT;
}

/* Is there the new pod alone, and ready? */
static bool is_done(const struct controller_rollout *r, const struct controller_rollout_pair *p) {
    return state_at(r, p->new) == CONTROLLER_POD_READY && !has_old(r, p);
}

/* Places stand in the order of their first pods. */
static void pair_pods(struct controller_rollout *r) {
    struct map by_place = MAP_INIT(map_random_seed());
    r->pairs = arena_array(&r->arena, struct controller_rollout_pair, r->pods.n);
    for (size_t i = 0; i < r->pods.n; i++) {
        struct controller_rollout_pod *pod = &r->pods.v[i];
        uintptr_t at = (uintptr_t)map_get(&by_place, pod->place);
        if (!at) {
            at = ++r->pair_count;
            r->pairs[at - 1] = (struct controller_rollout_pair){NONE, NONE, at};
            map_put(&by_place, pod->place, (void *)at);
        }
        pod->pair = at - 1;
        *(pod->is_new ? &r->pairs[pod->pair].new : &r->pairs[pod->pair].old) = i;
    }
    map_release(&by_place);
    for (size_t i = 0; i < r->pair_count; i++)
        r->unready += !has_ready(r, &r->pairs[i]);
}

/* ---- life ---- */

static bool has_places(const struct controller_rollout *r) {
    return r->way == CONTROLLER_ROLLOUT_MEMBERS || r->way == CONTROLLER_ROLLOUT_DAEMONS;
}

void controller_rollout_start(struct controller_rollout *r) {
    for (size_t i = 0; i < r->pods.n; i++)
        count(r, &r->pods.v[i], 1);
    if (has_places(r))
        pair_pods(r);
    else
        r->order_count = order_pods(r, false, &r->order);
}

void controller_rollout_set(struct controller_rollout *r, size_t place,
                            enum controller_rollout_state state) {
    struct controller_rollout_pod *pod = &r->pods.v[place];
    const struct controller_rollout_pair *pair = has_places(r) ? &r->pairs[pod->pair] : NULL;
    bool was_ready = pair && has_ready(r, pair);
    count(r, pod, -1);
    pod->state = state;
    count(r, pod, 1);
    if (pair)
        r->unready += was_ready - has_ready(r, pair);
    if (pair && state == CONTROLLER_POD_GONE)
        r->is_settled = false; /* the place may have become empty */
}

static void make(struct controller_rollout *r, size_t place) {
    controller_rollout_set(r, place, CONTROLLER_POD_WAITING);
    vec_push(&r->step.make, place);
}

static void take_off(struct controller_rollout *r, size_t place) {
    bool was_settled = r->is_settled;
    controller_rollout_set(r, place, CONTROLLER_POD_GONE);
    r->is_settled = was_settled; /* what comes in its place is known */
    vec_push(&r->step.remove, place);
}

/* ---- replicas ---- */

static int64_t least(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* The first pods that are not made yet, at most so many. */
static void make_some(struct controller_rollout *r, int64_t most) {
    for (; r->next_new < r->pods.n && most > 0; r->next_new++) {
        const struct controller_rollout_pod *pod = &r->pods.v[r->next_new];
        if (!pod->is_new || pod->state != CONTROLLER_POD_ABSENT)
            continue;
        make(r, r->next_new);
        most--;
    }
}

static void remove_old(struct controller_rollout *r, int64_t most) {
    for (; r->next_old < r->order_count && most > 0; r->next_old++) {
        size_t place = r->order[r->next_old];
        if (!is_there(&r->pods.v[place]))
            continue;
        take_off(r, place);
        most--;
    }
}

/* The replicas were lowered. */
static void remove_surplus(struct controller_rollout *r, int64_t surplus) {
    size_t *order;
    size_t n = order_pods(r, true, &order);
    for (size_t i = 0; i < n && surplus-- > 0; i++)
        take_off(r, order[i]);
}

/* Old pods that are not ready go first: that costs nothing. Then so many as may be missing. */
static int64_t count_removable(const struct controller_rollout *r) {
    const struct controller_rollout_counts *c = &r->counts;
    int64_t least_ready = r->wanted - r->max_unavailable;
    int64_t may_go = c->old + c->updated_ready - least_ready;
    int64_t spare = c->old_ready + c->updated_ready - least_ready;
    if (may_go <= 0)
        return 0;
    return least(may_go, c->old - c->old_ready) + (spare > 0 ? spare : 0);
}

static bool has_step(const struct controller_rollout *r) {
    return r->step.make.n || r->step.remove.n;
}

static void step_replicas(struct controller_rollout *r) {
    const struct controller_rollout_counts *c = &r->counts;
    int64_t room = r->wanted + r->max_surge - (c->old + c->updated);
    if (c->updated > r->wanted)
        remove_surplus(r, c->updated - r->wanted);
    else
        make_some(r, least(room, r->wanted - c->updated));
    if (!has_step(r))
        remove_old(r, count_removable(r));
}

static void step_recreate(struct controller_rollout *r) {
    remove_old(r, r->counts.old);
    if (!has_step(r))
        make_some(r, r->wanted - r->counts.updated);
}

/* ---- pods with a place ---- */

/* Looks at all places once: those without a pod get theirs, and pods go from places that there
 * shall not be any more. */
static void settle_places(struct controller_rollout *r) {
    for (size_t i = 0; i < r->pair_count; i++) {
        const struct controller_rollout_pair *p = &r->pairs[i];
        if (awaits_new(r, p) && !has_old(r, p))
            make(r, p->new);
        else if (has_old(r, p) && p->new == NONE)
            take_off(r, p->old);
    }
    r->is_settled = true;
}

static void replace(struct controller_rollout *r, const struct controller_rollout_pair *p) {
    take_off(r, p->old);
    make(r, p->new);
}

/* The place behind *link in the list of those that are open; NULL at its end. Settled ones leave
 * the list. */
static struct controller_rollout_pair *next_open(struct controller_rollout *r, size_t *link) {
    while (*link < r->pair_count &&
           (is_done(r, &r->pairs[*link]) ||
            (!has_old(r, &r->pairs[*link]) && r->pairs[*link].new == NONE)))
        *link = r->pairs[*link].next_open;
    return *link < r->pair_count ? &r->pairs[*link] : NULL;
}

/* A member that is not ready holds up those behind it, unless it is old itself. */
static void step_members(struct controller_rollout *r) {
    size_t *link = &r->first_open;
    int64_t unready = 0;
    for (struct controller_rollout_pair *p;
         unready < r->max_unavailable && (p = next_open(r, link)); link = &p->next_open) {
        if (has_old(r, p) && awaits_new(r, p))
            replace(r, p);
        unready += !has_ready(r, p);
    }
}

/* Old daemons make room for new ones. Those that are not ready may go at any time, which is looked
 * at when all places are. */
static void step_daemons(struct controller_rollout *r) {
    size_t *link = &r->first_open;
    int64_t may_go = r->max_unavailable - r->unready;
    for (struct controller_rollout_pair *p; may_go > 0 && (p = next_open(r, link));
         link = &p->next_open)
        if (has_old(r, p) && awaits_new(r, p)) {
            replace(r, p);
            may_go--;
        }
}

static void replace_unready_daemons(struct controller_rollout *r) {
    for (size_t i = 0; i < r->pair_count; i++) {
        const struct controller_rollout_pair *p = &r->pairs[i];
        if (has_old(r, p) && awaits_new(r, p) && !has_ready(r, p))
            replace(r, p);
    }
}

/* New daemons are made beside old ones, which go when the new ones are ready. */
static void step_surging_daemons(struct controller_rollout *r) {
    size_t *link = &r->first_open;
    int64_t room = r->max_surge;
    for (struct controller_rollout_pair *p; room > 0 && (p = next_open(r, link));
         link = &p->next_open) {
        bool is_ready = state_at(r, p->new) == CONTROLLER_POD_READY;
        if (is_ready && has_old(r, p))
            take_off(r, p->old);
        if (awaits_new(r, p))
            make(r, p->new);
        room -= !is_ready;
    }
}

static void step_places(struct controller_rollout *r) {
    if (!r->is_settled) {
        settle_places(r);
        if (r->way == CONTROLLER_ROLLOUT_DAEMONS && !r->max_surge)
            replace_unready_daemons(r);
        if (has_step(r))
            return;
    }
    if (r->way == CONTROLLER_ROLLOUT_MEMBERS)
        step_members(r);
    else if (r->max_surge)
        step_surging_daemons(r);
    else
        step_daemons(r);
}

/* ---- the next step ---- */

bool controller_rollout_next(struct controller_rollout *r) {
    vec_clear(&r->step.make);
    vec_clear(&r->step.remove);
    if (r->way == CONTROLLER_ROLLOUT_RECREATE)
        step_recreate(r);
    else if (r->way == CONTROLLER_ROLLOUT_REPLICAS)
        step_replicas(r);
    else
        step_places(r);
    return has_step(r);
}
