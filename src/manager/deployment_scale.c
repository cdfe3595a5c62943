/*
 * How many replicas each ReplicaSet of a Deployment has.
 *
 * Follows k8s.io/kubernetes pkg/controller/deployment, func (*DeploymentController) scale.
 * Follows k8s.io/kubernetes pkg/controller/deployment, func (*DeploymentController) rolloutRolling.
 */
#include <math.h>
#include <stdlib.h>

#include "manager/deployment_int.h"

static int32_t stored(const struct deployment__set *set) {
    return set->body->spec.replicas.set ? set->body->spec.replicas.v : 1;
}

bool deployment__is_active(const struct deployment__set *set) {
    return stored(set) > 0;
}

int32_t deployment__number(int64_t n) {
    return n > INT32_MAX ? INT32_MAX : n < INT32_MIN ? INT32_MIN : (int32_t)n;
}

int32_t deployment__sum(const struct deployment__view *v) {
    int64_t sum = 0;
    for (size_t i = 0; i < v->n; i++)
        sum += stored(&v->sets[i]);
    return deployment__number(sum);
}

/* Of those that have replicas, and of the current one. */
static int32_t sum_available(const struct deployment__view *v) {
    int64_t sum = 0;
    for (size_t i = 0; i < v->n; i++)
        if (deployment__is_active(&v->sets[i]) || &v->sets[i] == v->current)
            sum += v->sets[i].body->status.available_replicas;
    return deployment__number(sum);
}

/* Plans a size; true if it is another one. */
static bool resize(struct deployment__set *set, int32_t replicas) {
    set->replicas = replicas;
    set->is_updated = stored(set) != replicas;
    return set->is_updated;
}

/* ---- in proportion ---- */

/* The one that is active, or the newest if none is; NULL: several are, or there is none. */
static struct deployment__set *active_or_latest(struct deployment__view *v) {
    struct deployment__set *active = NULL, *latest = v->current;
    size_t count = 0;
    for (size_t i = 0; i < v->n; i++) {
        if (deployment__is_active(&v->sets[i])) {
            active = &v->sets[i];
            count++;
        }
        if (!v->current)
            latest = &v->sets[i];
    }
    return count == 0 ? latest : count == 1 ? active : NULL;
}

static bool is_saturated(const struct deployment__view *v) {
    int32_t desired;
    return v->current && deployment__annotated(v->current, DEPLOYMENT_DESIRED, &desired) &&
           stored(v->current) == v->wanted && desired == v->wanted &&
           v->current->body->status.available_replicas == v->wanted;
}

/* Larger ones first; of equal ones the older first. */
static int by_size(const void *x, const void *y) {
    const struct deployment__set *a = *(struct deployment__set *const *)x;
    const struct deployment__set *b = *(struct deployment__set *const *)y;
    if (stored(a) != stored(b))
        return stored(a) > stored(b) ? -1 : 1;
    return a < b ? -1 : 1; /* both stand in the view, in the order of their creation */
}

static int by_size_newer(const void *x, const void *y) {
    const struct deployment__set *a = *(struct deployment__set *const *)x;
    const struct deployment__set *b = *(struct deployment__set *const *)y;
    return stored(a) != stored(b) ? by_size(x, y) : by_size(y, x);
}

/* How much a ReplicaSet grows, or shrinks, when the whole does. */
static int32_t fraction(const struct deployment__view *v, const struct deployment__set *set) {
    int32_t before;
    if (v->wanted == 0)
        return -stored(set);
    if (!deployment__annotated(set, DEPLOYMENT_MAX, &before) || before == 0)
        before = v->body->status.replicas;
    if (before == 0)
        return 0;
    double size = (double)stored(set) * v->most / before;
    return size < INT32_MAX ? (int32_t)floor(size + 0.5) - stored(set) : INT32_MAX - stored(set);
}

static int32_t share(const struct deployment__view *v, const struct deployment__set *set,
                     int32_t to_add, int32_t added) {
    int32_t part = fraction(v, set), allowed = to_add - added;
    if (allowed == 0)
        return 0;
    if (to_add > 0)
        return part < allowed ? part : allowed;
    return part > allowed ? part : allowed;
}

static void scale_in_proportion(struct deployment__view *v) {
    struct deployment__set **sets = arena_array(v->arena, struct deployment__set *, v->n);
    size_t n = 0;
    int32_t to_add = (v->wanted > 0 ? v->most : 0) - deployment__sum(v);
    int32_t added = 0;
    for (size_t i = 0; i < v->n; i++)
        if (deployment__is_active(&v->sets[i]))
            sets[n++] = &v->sets[i];
    qsort(sets, n, sizeof *sets, to_add > 0 ? by_size_newer : by_size);
    for (size_t i = 0; i < n; i++) {
        int32_t part = to_add ? share(v, sets[i], to_add, added) : 0;
        sets[i]->replicas = stored(sets[i]) + part;
        sets[i]->is_updated = true; /* their annotations are, at least */
        added += part;
    }
    if (n)
        sets[0]->replicas += to_add - added;
    if (n && sets[0]->replicas < 0)
        sets[0]->replicas = 0;
}

void deployment__scale(struct deployment__view *v) {
    struct deployment__set *one = active_or_latest(v);
    if (one) {
        resize(one, v->wanted);
    } else if (is_saturated(v)) {
        for (size_t i = 0; i < v->n; i++)
            if (&v->sets[i] != v->current)
                resize(&v->sets[i], 0);
    } else if (v->is_rolling) {
        scale_in_proportion(v);
    }
}

/* ---- rolling ---- */

int32_t deployment__new_replicas(const struct deployment__view *v, int32_t has) {
    int32_t room = v->most - deployment__sum(v);
    int32_t missing = v->wanted - has;
    if (!v->is_rolling)
        return v->wanted;
    if (room <= 0)
        return has;
    return has + (room < missing ? room : missing);
}

bool deployment__roll_up(struct deployment__view *v) {
    int32_t has = stored(v->current);
    if (has == v->wanted)
        return false;
    return resize(v->current, has > v->wanted ? v->wanted : deployment__new_replicas(v, has));
}

/* Takes from old ReplicaSets, oldest first: at most so many, and of each what `may` allows. -1: one
 * may give less than nothing. */
static int32_t take(struct deployment__view *v, int32_t most,
                    int32_t (*may)(const struct deployment__set *set)) {
    int32_t taken = 0;
    for (size_t i = 0; i < v->n && taken < most; i++) {
        struct deployment__set *set = &v->sets[i];
        int32_t count = set == v->current || set->replicas == 0 ? 0 : may(set);
        if (count < 0)
            return -1;
        count = count < most - taken ? count : most - taken;
        if (count > 0)
            resize(set, set->replicas - count);
        taken += count;
    }
    return taken;
}

static int32_t unhealthy(const struct deployment__set *set) {
    return set->replicas - set->body->status.available_replicas;
}

static int32_t all(const struct deployment__set *set) {
    return set->replicas;
}

/* Replicas that are not available go first: that makes nothing worse. A ReplicaSet that was made
 * smaller and whose status still counts the pods that go is waited for: they would count as
 * available. */
bool deployment__roll_down(struct deployment__view *v) {
    int32_t least = v->wanted - v->max_unavailable;
    int64_t starting = stored(v->current) - v->current->body->status.available_replicas;
    int32_t most = deployment__number(deployment__sum(v) - least - starting);
    if (most <= 0)
        return false;
    int32_t taken = take(v, most, unhealthy);
    return taken >= 0 && take(v, sum_available(v) - least, all) + taken > 0;
}
