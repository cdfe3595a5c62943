/*
 * Which members of a StatefulSet are made and deleted next, and its status.
 *
 * Follows k8s.io/kubernetes pkg/controller/statefulset, func (*defaultStatefulSetControl)
 * updateStatefulSet.
 */
#include <stdlib.h>

#include "controller/rollout.h"
#include "feature/feature.h"
#include "manager/pod_control_int.h"
#include "manager/pods_int.h"
#include "manager/revision_int.h"
#include "manager/statefulset_int.h"
#include "valid/valid.h"

/* ---- pods ---- */

int32_t statefulset__ordinal(const struct api_object *pod, struct str *parent) {
    struct str name = pod->meta->name, digits;
    size_t dash = name.n;
    int64_t ordinal = 0;
    while (dash > 0 && name.p[dash - 1] >= '0' && name.p[dash - 1] <= '9')
        dash--;
    *parent = (struct str){0};
    if (dash == name.n || dash == 0 || name.p[dash - 1] != '-')
        return -1;
    *parent = str_sub(name, 0, dash - 1);
    digits = str_sub(name, dash, name.n);
    for (size_t i = 0; i < digits.n && ordinal <= INT32_MAX; i++)
        ordinal = ordinal * 10 + (digits.p[i] - '0');
    return ordinal <= INT32_MAX ? (int32_t)ordinal : -1;
}

static int32_t ordinal_of(const struct api_object *pod) {
    struct str parent;
    return statefulset__ordinal(pod, &parent);
}

static int32_t first_ordinal(const struct api_stateful_set *set) {
    return set->spec.ordinals ? set->spec.ordinals->start : 0;
}

static int32_t wanted(const struct api_stateful_set *set) {
    return set->spec.replicas.set ? set->spec.replicas.v : 1;
}

/* Of ordinals that no int32 has there are none. */
static size_t wanted_places(const struct api_stateful_set *set) {
    int64_t most = (int64_t)INT32_MAX - first_ordinal(set) + 1;
    return (size_t)(wanted(set) < most ? wanted(set) : most);
}

bool statefulset__is_wanted(const struct api_stateful_set *set, const struct api_object *pod) {
    int64_t place = (int64_t)ordinal_of(pod) - first_ordinal(set);
    return place >= 0 && place < wanted(set);
}

static struct str phase_of(const struct api_object *pod) {
    return ((const struct api_pod *)pod->body)->status.phase;
}

static bool goes(const struct api_object *pod) {
    return pod->meta->deletion_timestamp.set;
}

static bool is_running_and_ready(const struct api_object *pod) {
    return str_is(phase_of(pod), "Running") && manager__pod_is_ready(pod);
}

static bool is_available(const struct statefulset__view *v, const struct api_object *pod) {
    return manager__pod_is_available(pod, v->body->spec.min_ready_seconds, v->now);
}

static bool is_unavailable(const struct statefulset__view *v, const struct api_object *pod) {
    return !pod || !is_available(v, pod) || goes(pod);
}

static bool is_updated(const struct statefulset__view *v, const struct api_object *pod) {
    return str_eq(revision__hash(pod), v->update);
}

static bool has_identity(const struct api_object *pod) {
    const struct label *l =
        labels_find(&pod->meta->labels, STR("statefulset.kubernetes.io/pod-name"));
    return l && str_eq(l->value, pod->meta->name);
}

/* ---- members ---- */

/* A member that is there. */
struct place {
    size_t at;    /* from the first ordinal on */
    size_t given; /* of two pods with one ordinal the one that was given last counts */
    const struct api_object *pod;
};

struct members {
    struct place *v; /* by ordinal; those that are missing are left out */
    size_t n;
    size_t wanted;                     /* how many there should be */
    struct manager__objects condemned; /* the highest ordinal first */
    const struct api_object
        *unhealthy; /* the first that is not available; NULL: none, or missing */
    bool is_ordered;
};

static int by_ordinal_down(const void *x, const void *y) {
    int32_t a = ordinal_of(*(const struct api_object *const *)x);
    int32_t b = ordinal_of(*(const struct api_object *const *)y);
    return (a < b) - (a > b);
}

static int by_place(const void *x, const void *y) {
    const struct place *a = x, *b = y;
    return a->at != b->at ? (a->at > b->at) - (a->at < b->at)
                          : (a->given > b->given) - (a->given < b->given);
}

static void sort_places(struct members *m) {
    size_t kept = 0;
    if (m->n)
        qsort(m->v, m->n, sizeof *m->v, by_place);
    for (size_t i = 0; i < m->n; i++) {
        kept -= kept && m->v[kept - 1].at == m->v[i].at;
        m->v[kept++] = m->v[i];
    }
    m->n = kept;
}

static void find_unhealthy(const struct statefulset__view *v, struct members *m) {
    for (size_t i = 0; i < m->n; i++) {
        if (m->v[i].at != i)
            return;
        if (is_unavailable(v, m->v[i].pod)) {
            m->unhealthy = m->v[i].pod;
            return;
        }
    }
    for (size_t i = m->condemned.n; m->n == m->wanted && i-- > 0;)
        if (is_unavailable(v, m->condemned.v[i])) {
            m->unhealthy = m->condemned.v[i];
            return;
        }
}

static struct members sort_members(struct statefulset__view *v) {
    struct members m = {
        .v = arena_array(v->arena, struct place, v->pods.n),
        .wanted = wanted_places(v->body),
        .is_ordered = !str_is(v->body->spec.pod_management_policy, "Parallel"),
    };
    m.condemned.v = arena_array(v->arena, const struct api_object *, v->pods.n);
    for (size_t i = 0; i < v->pods.n; i++) {
        const struct api_object *pod = v->pods.v[i];
        int32_t ordinal = ordinal_of(pod);
        if (statefulset__is_wanted(v->body, pod))
            m.v[m.n++] = (struct place){(size_t)(ordinal - first_ordinal(v->body)), i, pod};
        else if (ordinal >= 0)
            m.condemned.v[m.condemned.n++] = pod;
    }
    sort_places(&m);
    if (m.condemned.n)
        qsort(m.condemned.v, m.condemned.n, sizeof *m.condemned.v, by_ordinal_down);
    find_unhealthy(v, &m);
    return m;
}

/* ---- steps ---- */

static void add(struct manager__objects *list, const struct api_object *pod) {
    list->v[list->n++] = pod;
}

/* Below the partition, and while it has not been updated so far, a member is of the current
 * revision. */
static bool is_made_of_current(const struct statefulset__view *v, size_t place) {
    const struct api_rolling_update_stateful_set_strategy *rolling =
        v->body->spec.update_strategy.rolling_update;
    if (!rolling)
        return str_is(v->body->spec.update_strategy.type, "RollingUpdate") &&
               (int64_t)place < v->body->status.current_replicas;
    return (int64_t)place < (rolling->partition.set ? rolling->partition.v : 0);
}

static void plan_creation(struct statefulset__view *v, size_t place,
                          struct statefulset__plan *plan) {
    int32_t ordinal = first_ordinal(v->body) + (int32_t)place;
    if (!v->may_make || v->may_make(v->arg, ordinal))
        plan->make[plan->make_count++] =
            (struct statefulset__new){ordinal, !is_made_of_current(v, place)};
}

/* Those that are missing in front of a place: the first of them if they are ordered, which the
 * others have to wait for; else as many as are made at a time. The rest follows when these are
 * there. */
static bool plan_missing(struct statefulset__view *v, const struct members *m, size_t from,
                         size_t end, struct statefulset__plan *plan) {
    for (size_t i = from; i < end && plan->make_count < MANAGER__BURST; i++) {
        plan_creation(v, i, plan);
        if (m->is_ordered)
            return true;
    }
    return false;
}

/* Looks at one member; true: those behind it have to wait, if they are ordered. */
static bool plan_member(struct statefulset__view *v, const struct members *m, size_t place,
                        struct statefulset__plan *plan) {
    const struct api_object *pod = m->v[place].pod;
    if (api_pod_has_ended(pod->body)) {
        if (!goes(pod))
            add(&plan->remove, pod);
        return true;
    }
    if (str_is(phase_of(pod), "Pending"))
        add(&plan->pending, pod);
    if (m->is_ordered && (goes(pod) || !is_running_and_ready(pod) || !is_available(v, pod)))
        return true;
    add(&plan->retained, pod);
    if (!has_identity(pod))
        add(&plan->relabeled, pod);
    return false;
}

/* The same for one that is too many. */
static bool plan_condemned(struct statefulset__view *v, const struct members *m, size_t place,
                           struct statefulset__plan *plan) {
    const struct api_object *pod = m->condemned.v[place];
    bool is_healthy = is_running_and_ready(pod) && is_available(v, pod);
    if (goes(pod) || (m->is_ordered && !is_healthy && pod != m->unhealthy))
        return true;
    add(&plan->remove, pod);
    return true;
}

/* Makes the number of members right; false: that has to be waited for. */
static bool plan_members(struct statefulset__view *v, const struct members *m,
                         struct statefulset__plan *plan) {
    for (size_t i = 0, next = 0; i <= m->n; i++) {
        if (plan_missing(v, m, next, i < m->n ? m->v[i].at : m->wanted, plan))
            return false;
        if (i < m->n && plan_member(v, m, i, plan) && m->is_ordered)
            return false;
        next = i < m->n ? m->v[i].at + 1 : m->wanted;
    }
    for (size_t i = 0; i < m->condemned.n; i++)
        add(&plan->retained, m->condemned.v[i]);
    for (size_t i = 0; i < m->condemned.n; i++)
        if (plan_condemned(v, m, i, plan) && m->is_ordered)
            return false;
    return true;
}

/* ---- updates ---- */

static size_t partition_of(const struct statefulset__view *v) {
    const struct api_rolling_update_stateful_set_strategy *rolling =
        v->body->spec.update_strategy.rolling_update;
    return rolling && rolling->partition.set ? (size_t)rolling->partition.v : 0;
}

static void replace(struct statefulset__plan *plan, const struct api_object *pod) {
    add(&plan->remove, pod);
    plan->status.current_replicas--;
}

/* One after the other, from the last down. */
static void roll_one(const struct statefulset__view *v, const struct members *m,
                     struct statefulset__plan *plan) {
    size_t place = m->wanted;
    for (size_t i = m->n; i > 0 && place-- > partition_of(v); i--) {
        const struct api_object *pod = m->v[i - 1].pod;
        if (m->v[i - 1].at != place)
            return;
        if (!is_updated(v, pod) && !goes(pod)) {
            replace(plan, pod);
            return;
        }
        if (is_unavailable(v, pod))
            return;
    }
}

/* Is the member one of those that are updated? */
static bool is_rolled(const struct statefulset__view *v, const struct place *p) {
    return p->at >= partition_of(v) && !is_updated(v, p->pod) && !goes(p->pod);
}

/* As many as may be unavailable; if the order does not matter, first those that are anyway. */
static void roll_many(const struct statefulset__view *v, const struct members *m,
                      struct statefulset__plan *plan) {
    struct controller_rollout limits = {0};
    controller_rollout_of_stateful_set(&limits, v->body);
    int64_t budget = limits.max_unavailable - (int64_t)(m->wanted - m->n);
    bool any = false;
    for (size_t i = 0; i < m->n; i++) {
        const struct api_object *pod = m->v[i].pod;
        bool is_out = is_unavailable(v, pod);
        budget -= is_out;
        any = any || (is_out && !m->is_ordered && !is_updated(v, pod) && !goes(pod));
    }
    if (budget <= 0 && !any)
        return;
    for (size_t i = m->n; !m->is_ordered && i-- > 0;)
        if (is_rolled(v, &m->v[i]) && !is_available(v, m->v[i].pod))
            replace(plan, m->v[i].pod);
    for (size_t i = m->n; budget > 0 && i-- > 0;) {
        if (!is_rolled(v, &m->v[i]) || (!m->is_ordered && !is_available(v, m->v[i].pod)))
            continue;
        replace(plan, m->v[i].pod);
        budget--;
    }
}

/* ---- status ---- */

static void count(const struct statefulset__view *v, struct api_stateful_set_status *s) {
    for (size_t i = 0; i < v->pods.n; i++) {
        const struct api_object *pod = v->pods.v[i];
        bool is_ready = is_running_and_ready(pod);
        s->replicas++;
        s->ready_replicas += is_ready;
        s->available_replicas += is_ready && is_available(v, pod);
        if (goes(pod))
            continue;
        s->current_replicas += str_eq(revision__hash(pod), v->current);
        s->updated_replicas += is_updated(v, pod);
    }
}

/* When all are of the update revision, it is the current one. */
static void complete(const struct statefulset__view *v, struct api_stateful_set_status *s) {
    if (s->updated_replicas != wanted(v->body) || s->ready_replicas != wanted(v->body) ||
        s->replicas != wanted(v->body))
        return;
    s->current_replicas = s->updated_replicas;
    s->current_revision = s->update_revision;
}

static bool differs(const struct api_stateful_set_status *old,
                    const struct api_stateful_set_status *s) {
    return s->observed_generation > old->observed_generation || s->replicas != old->replicas ||
           s->current_replicas != old->current_replicas ||
           s->ready_replicas != old->ready_replicas ||
           s->updated_replicas != old->updated_replicas ||
           s->available_replicas != old->available_replicas ||
           !str_eq(s->current_revision, old->current_revision) ||
           !str_eq(s->update_revision, old->update_revision);
}

static void plan_init(struct statefulset__view *v, struct statefulset__plan *plan) {
    const struct api_stateful_set_status *old = &v->body->status;
    struct manager__objects *lists[] = {&plan->remove, &plan->pending, &plan->relabeled,
                                        &plan->retained};
    *plan = (struct statefulset__plan){
        .make = arena_array(v->arena, struct statefulset__new, MANAGER__BURST),
        .status = {.observed_generation = v->object->meta->generation,
                   .current_revision = v->current,
                   .update_revision = v->update,
                   .collision_count = {true, old->collision_count.v},
                   .conditions = old->conditions},
    };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        lists[i]->v = arena_array(v->arena, const struct api_object *, v->pods.n);
    count(v, &plan->status);
}

void statefulset__plan(struct statefulset__view *v, struct statefulset__plan *plan) {
    plan_init(v, plan);
    struct members m = sort_members(v);
    if (!goes(v->object) && plan_members(v, &m, plan) &&
        str_is(v->body->spec.update_strategy.type, "RollingUpdate")) {
        if (feature_enabled(v->gates, FEATURE_MaxUnavailableStatefulSet))
            roll_many(v, &m, plan);
        else
            roll_one(v, &m, plan);
    }
    complete(v, &plan->status);
    plan->writes_status = differs(&v->body->status, &plan->status);
}
