/*
 * The places a pending pod can be in and its ways between them, as upstream's priority queue has
 * them. Time is the wall time of s->clock; what upstream does in the background, every second and
 * every half minute, is done when the queue is asked for a pod.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/backend/queue, func (*PriorityQueue) Add,
 * func (*PriorityQueue) Pop, func (*PriorityQueue) MoveAllToActiveOrBackoffQueue.
 */
#include "sched/queue/queue_int.h"
#include "sched/times_int.h"

#include <assert.h>

#include "base/clock.h"
#include "sched/metrics_int.h"

#define LONGEST_IN_POOL (300 * CLOCK_SECOND)
#define FLUSH_INTERVAL  (30 * CLOCK_SECOND)
#define NEVER           INT64_MIN

_Static_assert(sizeof(struct sched__queued) <= 200, "100,000 pods may wait");

/* What an event means for a pod; FRESH: it is new, or its back-off is over. */
enum verdict { FRESH, STAY, MOVE };

struct sched__queue *sched__queue_new(struct sched *s) {
    struct sched__queue *q = xcalloc(1, sizeof *q);
    sched__places_init(q, s->seed);
    q->next_flush = clock_wall(s->clock) + FLUSH_INTERVAL;
    q->initial_backoff = s->config->initial_backoff_seconds * CLOCK_SECOND;
    q->max_backoff = s->config->max_backoff_seconds * CLOCK_SECOND;
    q->pop_backoff = feature_enabled(&s->gates, FEATURE_SchedulerPopFromBackoffQ);
    q->rejected = xcalloc(size_mul(s->config->profile_count, SCHED_PLUGIN_COUNT), sizeof(uint32_t));
    for (int i = 0; i < SCHED_PLUGIN_COUNT; i++)
        q->plugins[i] = sched__plugin_at((enum sched_plugin)i);
    return q;
}

/* ---- counting ---- */

/* The part of the queue that a place counts for when pods come in. */
static const uint8_t queue_labels[SCHED__PLACE_COUNT] = {
    [SCHED__ACTIVE] = SCHED__QUEUE_ACTIVE,
    [SCHED__BACKOFF] = SCHED__QUEUE_BACKOFF,
    [SCHED__ERROR_BACKOFF] = SCHED__QUEUE_BACKOFF,
    [SCHED__UNSCHEDULABLE_PODS] = SCHED__QUEUE_UNSCHEDULABLE,
    [SCHED__GATED] = SCHED__QUEUE_UNSCHEDULABLE,
};

static void count_incoming(struct sched *s, enum sched__place place, enum sched__event_id id,
                           enum verdict why) {
    uint8_t queue = queue_labels[place];
    sched__metrics_add(s->metrics, SCHED__METRIC_INCOMING_PODS, SCHED__LABELS(id, queue), 1);
    /* upstream counts entities only where they end up elsewhere than the verdict says */
    if (why == FRESH || queue != (why == MOVE ? SCHED__QUEUE_BACKOFF : SCHED__QUEUE_UNSCHEDULABLE))
        sched__metrics_add(s->metrics, SCHED__METRIC_INCOMING_ENTITIES, SCHED__LABELS(id, queue),
                           1);
}

/* The pod counts for these plug-ins, or no longer does. */
static void count_rejected(struct sched *s, const struct sched__queued *p, uint32_t plugins,
                           int delta) {
    uint32_t *counts = s->queue->rejected + p->profile * SCHED_PLUGIN_COUNT;
    for (int i = 0; i < SCHED_PLUGIN_COUNT; i++)
        if (plugins >> i & 1)
            counts[i] += (uint32_t)delta;
}

/* ---- back-off ---- */

static int64_t whole_second(int64_t t) {
    int64_t rest = t % CLOCK_SECOND;
    return t - (rest < 0 ? rest + CLOCK_SECOND : rest);
}

static int64_t aligned(const struct sched__queue *q, int64_t t) {
    return q->pop_backoff ? whole_second(t) : t;
}

static int64_t backoff_end(const struct sched__queue *q, const struct sched__queued *p) {
    uint32_t count = p->errors ? p->errors : p->rejections;
    if (q->max_backoff == 0 || count == 0)
        return NEVER;
    uint32_t shift = count - 1;
    bool most = shift > 62 || q->initial_backoff > q->max_backoff >> shift;
    return aligned(q, p->timestamp + (most ? q->max_backoff : q->initial_backoff << shift));
}

static bool backs_off(const struct sched *s, const struct sched__queued *p) {
    return p->expiry >= aligned(s->queue, clock_wall(s->clock));
}

/* ---- ways ---- */

/* Puts a pod that is nowhere where the verdict says; PreEnqueue may hold it back. */
static void requeue(struct sched *s, struct sched__queued *p, enum verdict verdict,
                    enum sched__event_id id) {
    const uint32_t gates = 1U << SCHED_SCHEDULING_GATES;
    enum sched__place place = SCHED__ACTIVE;
    if (verdict == STAY)
        place = SCHED__UNSCHEDULABLE_PODS;
    else if (verdict == MOVE && backs_off(s, p))
        place = p->rejecting ? SCHED__BACKOFF : SCHED__ERROR_BACKOFF;
    if (place != SCHED__UNSCHEDULABLE_PODS && sched__gates_hold(p->pod)) {
        place = SCHED__GATED;
        count_rejected(s, p, gates & ~p->rejecting, 1);
        p->rejecting |= gates;
        p->flushed = false;
    }
    if (place == SCHED__ACTIVE && p->first_active == NEVER)
        p->first_active = clock_wall(s->clock);
    sched__places_enter(s->queue, p, place);
    count_incoming(s, place, id, verdict);
}

static void flush_backoff(struct sched *s, struct heap *heap, int64_t now) {
    struct heap_node *node;
    while ((node = heap_peek(heap)) && sched__queued_of(node)->expiry < whole_second(now)) {
        struct sched__queued *p = sched__queued_of(heap_pop(heap));
        sched__places_enter(s->queue, p, SCHED__ACTIVE);
        count_incoming(s, SCHED__ACTIVE, SCHED__EVENT_BACKOFF_COMPLETE, FRESH);
    }
}

/* The first regular moment after t at which the unschedulable pods are flushed. */
static int64_t flush_after(const struct sched__queue *q, int64_t t) {
    return t < q->next_flush
               ? q->next_flush
               : q->next_flush + ((t - q->next_flush) / FLUSH_INTERVAL + 1) * FLUSH_INTERVAL;
}

/* What happens at a regular moment: whoever has waited too long by then is tried again. */
static void flush_pool(struct sched *s, int64_t moment) {
    struct sched__queue *q = s->queue;
    struct heap_node *node;
    while ((node = heap_peek(&q->unschedulable_pods)) &&
           moment - sched__waits_since(sched__queued_of(node)) > LONGEST_IN_POOL) {
        struct sched__queued *p = sched__queued_of(node);
        sched__places_leave(q, p);
        p->flushed = true;
        p->flushed_at = moment;
        requeue(s, p, MOVE, SCHED__EVENT_UNSCHEDULABLE_TIMEOUT);
    }
}

static void pass_time(struct sched *s) {
    struct sched__queue *q = s->queue;
    int64_t now = clock_wall(s->clock);
    flush_backoff(s, &q->backoff, now);
    flush_backoff(s, &q->error_backoff, now);
    if (now >= q->next_flush) {
        q->next_flush = flush_after(q, now);
        flush_pool(s, q->next_flush - FLUSH_INTERVAL);
    }
    if (q->next_flush > now + FLUSH_INTERVAL) /* the clock was set back */
        q->next_flush = now + FLUSH_INTERVAL;
}

/* ---- events ---- */

static void hold_event(struct sched__queue *q, enum sched__event_id id, uint64_t target,
                       const struct sched__event *event) {
    if (!q->in_flight)
        return;
    if (event->before)
        api_object_ref(event->before);
    if (event->after)
        api_object_ref(event->after);
    vec_push(&q->held, (struct sched__held_event){(uint8_t)id, target, *event});
}

/* The pod was changed since the plug-in rejected it, and now has nothing that concerns it. */
static bool has_lost_interest(const struct sched__plugin *plugin, enum sched_plugin id,
                              const struct sched_pod *pod) {
    return plugin->compile && !pod->cls->data[id];
}

/* Does this plug-in's hint take the event for good news? */
static bool hint_says_queue(struct sched *s, enum sched_plugin plugin, struct sched_pod *pod,
                            const struct sched__event *event, enum sched__event_id id) {
    const struct sched__plugin *row = s->queue->plugins[plugin];
    int64_t start = sched__stopwatch_read(s);
    bool queue = !row->hint || has_lost_interest(row, plugin, pod) || row->hint(s, pod, event);
    double seconds = (double)(sched__stopwatch_read(s) - start) / (double)CLOCK_SECOND;
    sched__metrics_observe(s->metrics, SCHED__METRIC_HINT_SECONDS,
                           SCHED__LABELS(id, queue ? SCHED__HINT_QUEUE : SCHED__HINT_SKIP, plugin),
                           seconds);
    return queue;
}

static enum verdict judge(struct sched *s, struct sched_pod *pod, uint32_t rejecting,
                          const struct sched__event *event, enum sched__event_id id) {
    if (event->bits & SCHED__EVERYTHING)
        return MOVE;
    for (int i = 0; i < SCHED_PLUGIN_COUNT; i++)
        if (rejecting >> i & 1 && s->queue->plugins[i]->events & event->bits &&
            hint_says_queue(s, (enum sched_plugin)i, pod, event, id))
            return MOVE;
    return STAY;
}

static void move_group(struct sched *s, struct sched__group *g, enum sched__event_id id,
                       int32_t priority) {
    for (struct sched__queued *p = g->first, *next; p; p = next) {
        next = p->next;
        if (p->pod->priority > priority)
            continue;
        sched__places_leave(s->queue, p); /* the last one frees the group */
        requeue(s, p, MOVE, id);
    }
}

static bool anyone_registers(const struct sched__queue *q, uint32_t bit) {
    for (int i = 0; i < SCHED_PLUGIN_COUNT; i++)
        if (q->plugins[i]->events & bit)
            return true;
    return bit & SCHED__EVERYTHING;
}

static void tell(struct sched *s, const struct sched__event *event, enum sched__event_id id,
                 int32_t priority) {
    const struct map_entry *e;
    if (!anyone_registers(s->queue, event->bits))
        return;
    for (size_t at = 0; (e = map_next(&s->queue->groups, &at));) {
        struct sched__group *g = e->value;
        if (judge(s, g->first->pod, (uint32_t)g->key.rejecting, event, id) == MOVE)
            move_group(s, g, id, priority);
    }
    hold_event(s->queue, id, 0, event);
}

void sched__queue_event_up_to(struct sched *s, const struct sched__event *event, int32_t priority) {
    for (int id = 0; id < SCHED__EVENT_COUNT; id++) {
        const struct sched__event_row *row = &sched__event_rows[id];
        if (row->own || !(row->bit & event->bits))
            continue;
        struct sched__event one = *event;
        one.bits = row->bit;
        int64_t start = sched__stopwatch_read(s);
        tell(s, &one, (enum sched__event_id)id, priority);
        sched__metrics_observe(s->metrics, SCHED__METRIC_EVENT_SECONDS, SCHED__LABELS((uint16_t)id),
                               (double)(sched__stopwatch_read(s) - start) / (double)CLOCK_SECOND);
    }
}

void sched__queue_event(struct sched *s, const struct sched__event *event) {
    sched__queue_event_up_to(s, event, INT32_MAX);
}

/* Has something happened since the pod was popped that is good news for it? */
static enum verdict judge_flight(struct sched *s, const struct sched__queued *p,
                                 uint32_t rejecting) {
    const struct sched__queue *q = s->queue;
    for (size_t i = (size_t)(p->popped_at - q->held_base); i < q->held.n; i++) {
        const struct sched__held_event *h = &q->held.v[i];
        if (h->target && h->target != p->order)
            continue;
        if (judge(s, p->pod, rejecting, &h->event, (enum sched__event_id)h->id) == MOVE)
            return MOVE;
    }
    return STAY;
}

/* ---- what the core tells and asks ---- */

static void stamp(struct sched *s, struct sched__queued *p) {
    p->timestamp = clock_wall(s->clock);
    p->order = ++s->queue->last_order;
}

static void take_nomination(struct sched *s, struct sched_pod *pod) {
    sched__unnominate(s, pod);
    if (pod->nominated_node_name)
        sched__nominate(s, pod, sched__node_get(s, intern_text(pod->nominated_node_name)));
}

/* What a pod was nominated to is free for others that are not more important than it was. */
void sched__queue_freed(struct sched *s, const struct sched_pod *pod) {
    struct sched__event event = {
        .bits = SCHED__ASSIGNED_POD_DELETE, .before = pod->cls->sample, .had_node = true};
    if (pod->nominated_node_name)
        sched__queue_event_up_to(s, &event, pod->priority);
}

void sched__queue_add(struct sched *s, struct sched_pod *pod) {
    assert(!pod->queued);
    struct sched__queued *p = xcalloc(1, sizeof *p);
    p->pod = pod;
    p->profile = sched__profile_label(s, pod->cls->profile);
    p->expiry = p->first_active = p->flushed_at = NEVER;
    pod->queued = p;
    stamp(s, p);
    take_nomination(s, pod);
    requeue(s, p, FRESH, SCHED__EVENT_PENDING_POD_ADD);
}

/* The first own event of these bits that makes an unschedulable pod move, or none. */
static enum verdict judge_own(struct sched *s, struct sched__queued *p, uint32_t bits,
                              const struct sched_pod *before, int *id) {
    for (*id = 0; *id < SCHED__EVENT_COUNT; ++*id) {
        const struct sched__event_row *row = &sched__event_rows[*id];
        if (!row->own || !(row->bit & bits))
            continue;
        struct sched__event event = {.bits = row->bit,
                                     .before = before->cls->sample,
                                     .after = p->pod->cls->sample,
                                     .own = true,
                                     .had_node = sched__pod_has_node(before),
                                     .has_node = sched__pod_has_node(p->pod)};
        if (p->place == SCHED__IN_FLIGHT)
            hold_event(s->queue, (enum sched__event_id) * id, p->order, &event);
        else if (judge(s, p->pod, p->rejecting, &event, (enum sched__event_id) * id) == MOVE)
            return MOVE;
    }
    return STAY;
}

/* The pod itself is another one: it may have to go elsewhere, or to another group. */
static void revise(struct sched *s, struct sched__queued *p, const struct sched_pod *before) {
    struct sched__queue *q = s->queue;
    int id;
    if (p->place <= SCHED__ERROR_BACKOFF) {
        sched__places_fix(q, p);
        return;
    }
    uint32_t bits = sched__own_bits(s, before, p->pod);
    enum verdict verdict = judge_own(s, p, bits, before, &id);
    if (p->place == SCHED__IN_FLIGHT)
        return;
    enum sched__place place = (enum sched__place)p->place;
    sched__places_leave(q, p);
    if (verdict == MOVE)
        requeue(s, p, MOVE, (enum sched__event_id)id);
    else
        sched__places_enter(q, p, place);
}

void sched__queue_update(struct sched *s, struct sched_pod *pod, const struct sched_pod *before) {
    if (!pod->queued) {
        sched__queue_add(s, pod);
        return;
    }
    if (before->nominated_node_name ||
        pod->nominated_node_name) /* else it may have one that is not in the object yet */
        take_nomination(s, pod);
    revise(s, pod->queued, before);
    if (before->nominated_node_name != pod->nominated_node_name)
        sched__queue_freed(s, before);
}

void sched__queue_skip(struct sched *s, struct sched_pod *pod) {
    sched__places_leave(s->queue, pod->queued);
    free(pod->queued);
    pod->queued = NULL;
}

void sched__queue_remove(struct sched *s, struct sched_pod *pod) {
    sched__unnominate(s, pod);
    if (!pod->queued)
        return;
    count_rejected(s, pod->queued, pod->queued->rejecting, -1);
    sched__queue_skip(s, pod);
}

struct sched_pod *sched__queue_pop(struct sched *s) {
    struct sched__queue *q = s->queue;
    pass_time(s);
    struct heap_node *node = heap_pop(&q->active);
    if (!node && q->pop_backoff && (node = heap_pop(&q->backoff)))
        count_incoming(s, SCHED__ACTIVE, SCHED__EVENT_POP_FROM_BACKOFF, FRESH);
    if (!node)
        return NULL;
    struct sched__queued *p = sched__queued_of(node);
    p->attempts++;
    count_rejected(s, p, p->rejecting, -1);
    p->rejecting = 0;
    sched__places_enter(q, p, SCHED__IN_FLIGHT);
    return p->pod;
}

void sched__queue_failed(struct sched *s, struct sched_pod *pod, uint32_t rejecting,
                         bool is_error) {
    struct sched__queued *p = pod->queued;
    assert(p && (p->place == SCHED__IN_FLIGHT || (p->place == SCHED__BINDING && is_error)));
    if (is_error)
        rejecting = 0;
    enum verdict verdict = rejecting ? judge_flight(s, p, rejecting) : MOVE;
    sched__places_leave(s->queue, p);
    p->rejecting = rejecting;
    p->rejections += rejecting != 0;
    p->errors = rejecting ? 0 : p->errors + 1;
    p->flushed = false;
    p->flushed_at = NEVER;
    stamp(s, p);
    p->expiry = backoff_end(s->queue, p);
    count_rejected(s, p, rejecting, 1);
    requeue(s, p, verdict, SCHED__EVENT_ATTEMPT_FAILURE);
}

void sched__queue_done(struct sched *s, struct sched_pod *pod, double seconds) {
    struct sched__queued *p = pod->queued;
    assert(p && p->place == SCHED__IN_FLIGHT);
    sched__unnominate(s, pod);
    p->seconds = seconds;
    sched__places_leave(s->queue, p);
    sched__places_enter(s->queue, p, SCHED__BINDING);
}

void sched__queue_bound(struct sched *s, struct sched_pod *pod) {
    struct sched__queued *p = pod->queued;
    assert(p && p->place == SCHED__BINDING);
    uint16_t attempts = (uint16_t)(p->attempts < 15 ? p->attempts - 1 : 14);
    double seconds = (double)(clock_wall(s->clock) - p->first_active) / (double)CLOCK_SECOND;
    sched__metrics_observe(s->metrics, SCHED__METRIC_SLI_SECONDS, SCHED__LABELS(attempts), seconds);
    sched__metrics_observe(s->metrics, SCHED__METRIC_POD_ATTEMPTS, SCHED__LABELS(0), p->attempts);
    sched__metrics_add(s->metrics, SCHED__METRIC_AFTER_FLUSH, SCHED__LABELS(0), p->flushed);
    sched__metrics_attempt(s, p->profile, SCHED_SCHEDULED, p->seconds);
    sched__unnominate(s, pod);
    sched__queue_skip(s, pod);
}

/* Follows k8s.io/kubernetes pkg/scheduler/backend/queue, func (*PriorityQueue) Activate. */
bool sched__queue_activate(struct sched *s, struct sched_pod *pod) {
    struct sched__queued *p = pod->queued;
    bool waits = p && p->place >= SCHED__BACKOFF && p->place <= SCHED__UNSCHEDULABLE_PODS;
    if (!waits)
        return false;
    sched__places_leave(s->queue, p);
    requeue(s, p, FRESH, SCHED__EVENT_FORCE_ACTIVATE);
    return true;
}

static int64_t min_time(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* When the first pod of a back-off heap becomes active. */
static int64_t backoff_time(const struct heap *heap) {
    struct heap_node *node = heap_peek(heap);
    return node ? whole_second(sched__queued_of(node)->expiry) + CLOCK_SECOND : INT64_MAX;
}

int64_t sched__queue_next_time(const struct sched *s) {
    const struct sched__queue *q = s->queue;
    int64_t now = clock_wall(s->clock);
    if (q->active.n || (q->pop_backoff && q->backoff.n))
        return now;
    int64_t t = min_time(backoff_time(&q->backoff), backoff_time(&q->error_backoff));
    struct heap_node *oldest = heap_peek(&q->unschedulable_pods);
    if (oldest)
        t = min_time(
            t, flush_after(q, sched__waits_since(sched__queued_of(oldest)) + LONGEST_IN_POOL));
    return t > now ? t : now;
}

void sched__queue_free(struct sched *s) {
    struct sched__queue *q = s->queue;
    struct map_entry *e;
    if (!q)
        return;
    for (size_t at = 0; (e = map_next(&s->pods, &at));) {
        struct sched_pod *pod = e->value;
        free(pod->queued);
        pod->queued = NULL;
    }
    sched__places_release(q);
    free(q->rejected);
    free(q);
    s->queue = NULL;
}
