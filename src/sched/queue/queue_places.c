/*
 * Where pods of the queue are: heaps, groups of unschedulable pods, the list of those in flight,
 * and the events that these have not seen.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/backend/queue, func newActiveQueue, func newBackoffQueue,
 * func newUnschedulableEntities.
 */
#include "sched/queue/queue_int.h"

static const struct sched__queued *queued_at(const struct heap_node *node) {
    return heap_const_entry(node, struct sched__queued, node);
}

static bool active_before(const struct heap_node *a, const struct heap_node *b) {
    return sched__sort_before(queued_at(a), queued_at(b));
}

static bool backoff_before(const struct heap_node *a, const struct heap_node *b) {
    const struct sched__queued *x = queued_at(a), *y = queued_at(b);
    return x->expiry != y->expiry ? x->expiry < y->expiry : sched__sort_before(x, y);
}

static bool unschedulable_before(const struct heap_node *a, const struct heap_node *b) {
    const struct sched__queued *x = queued_at(a), *y = queued_at(b);
    int64_t s = sched__waits_since(x), t = sched__waits_since(y);
    return s != t ? s < t : x->order < y->order;
}

void sched__places_init(struct sched__queue *q, uint64_t seed) {
    q->active.before = active_before;
    q->backoff.before = q->error_backoff.before = backoff_before;
    q->unschedulable_pods.before = unschedulable_before;
    q->groups = MAP_INIT(seed);
}

/* ---- in flight ---- */

static void link_last(struct sched__queued **first, struct sched__queued **last,
                      struct sched__queued *p) {
    p->prev = *last;
    p->next = NULL;
    *(*last ? &(*last)->next : first) = p;
    *last = p;
}

static void unlink_from(struct sched__queued **first, struct sched__queued **last,
                        struct sched__queued *p) {
    *(p->prev ? &p->prev->next : first) = p->next;
    *(p->next ? &p->next->prev : last) = p->prev;
    p->prev = p->next = NULL;
}

/* Forgets events that the oldest pod in flight has seen. */
static void drop_events(struct sched__queue *q) {
    uint64_t until = q->held_base + q->held.n;
    if (q->first_in_flight)
        until = q->first_in_flight->popped_at;
    size_t n = (size_t)(until - q->held_base);
    if (n == 0)
        return;
    for (size_t i = 0; i < n; i++) {
        api_object_unref(q->held.v[i].event.before);
        api_object_unref(q->held.v[i].event.after);
    }
    q->held.n -= n;
    q->held_base = until;
    memmove(q->held.v, q->held.v + n, q->held.n * sizeof *q->held.v);
    vec_shrink(&q->held);
}

/* ---- groups ---- */

static struct str group_key(const struct sched__group *g) {
    return (struct str){(const char *)&g->key, sizeof g->key};
}

static void join_group(struct sched__queue *q, struct sched__queued *p) {
    struct sched__group wanted = {.key = {p->pod->cls, p->rejecting}};
    struct sched__group *g = map_get(&q->groups, group_key(&wanted));
    if (!g) {
        g = xmalloc(sizeof *g);
        *g = wanted;
        map_put(&q->groups, group_key(g), g);
    }
    link_last(&g->first, &g->last, p);
    p->group = g;
}

static void leave_group(struct sched__queue *q, struct sched__queued *p) {
    struct sched__group *g = p->group;
    unlink_from(&g->first, &g->last, p);
    p->group = NULL;
    if (g->first)
        return;
    map_del(&q->groups, group_key(g));
    free(g);
}

/* ---- places ---- */

static struct heap *heap_of(struct sched__queue *q, const struct sched__queued *p) {
    struct heap *heaps[SCHED__PLACE_COUNT] = {[SCHED__ACTIVE] = &q->active,
                                              [SCHED__BACKOFF] = &q->backoff,
                                              [SCHED__ERROR_BACKOFF] = &q->error_backoff,
                                              [SCHED__UNSCHEDULABLE_PODS] = &q->unschedulable_pods};
    return heaps[p->place];
}

void sched__places_leave(struct sched__queue *q, struct sched__queued *p) {
    if (heap_of(q, p) && p->node.place)
        heap_remove(heap_of(q, p), &p->node);
    if (p->place == SCHED__UNSCHEDULABLE_PODS)
        leave_group(q, p);
    q->gated -= p->place == SCHED__GATED;
    if (p->place == SCHED__IN_FLIGHT) {
        q->in_flight--;
        unlink_from(&q->first_in_flight, &q->last_in_flight, p);
        drop_events(q);
    }
}

void sched__places_fix(struct sched__queue *q, struct sched__queued *p) {
    heap_fix(heap_of(q, p), &p->node);
}

void sched__places_enter(struct sched__queue *q, struct sched__queued *p, enum sched__place place) {
    p->place = (uint8_t)place;
    if (heap_of(q, p))
        heap_push(heap_of(q, p), &p->node);
    if (place == SCHED__UNSCHEDULABLE_PODS)
        join_group(q, p);
    q->gated += place == SCHED__GATED;
    if (place == SCHED__IN_FLIGHT) {
        q->in_flight++;
        p->popped_at = q->held_base + q->held.n;
        link_last(&q->first_in_flight, &q->last_in_flight, p);
    }
}

void sched__places_release(struct sched__queue *q) {
    struct map_entry *e;
    for (size_t at = 0; (e = map_next(&q->groups, &at));)
        free(e->value);
    q->first_in_flight = NULL;
    drop_events(q);
    vec_release(&q->held);
    heap_release(&q->active);
    heap_release(&q->backoff);
    heap_release(&q->error_backoff);
    heap_release(&q->unschedulable_pods);
    map_release(&q->groups);
}
