/*
 * DefaultPreemption: the node on which a pod that fits nowhere would fit without some less
 * important pods, and as few and unimportant ones as possible.
 *
 * Every node that rejected the pod for a reason that may pass is tried in place: its less important
 * pods are taken off, the filters asked, and pods put back, the most important first, as long as
 * the pod still fits. Whatever comes of it, the node is then as it was.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/defaultpreemption,
 * func (*DefaultPreemption) PostFilter, func (*DefaultPreemption) SelectVictimsOnNode.
 * Follows k8s.io/kubernetes pkg/scheduler/framework/preemption, func (*Evaluator) Preempt,
 * func pickOneNodeForPreemption.
 */
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "sched/metrics_int.h"
#include "sched/preempt_int.h"
#include "sched/queue/queue_int.h"
#include "sched/volumes/attached_int.h"

/* A pod that may have to go. */
struct victim {
    struct sched_pod *pod;
    int64_t start;
    size_t place; /* before sorting: makes the order total */
};

struct candidate {
    uint32_t slot;
    struct victim *victims; /* the most important first */
    size_t n, violations;
};

struct preemption {
    struct sched__cycle *cy;
    struct sched__budgets *budgets;
    int64_t now;
    struct candidate best;
    bool found;
    struct sched__tallied failures;
    struct map errors;      /* of filters, each text once */
    struct buf error_texts; /* all of them, as upstream joins errors */
};

/* ---- importance ---- */

static int64_t start_of(const struct sched_pod *p, int64_t now) {
    return p->start == INT64_MIN ? now : p->start;
}

static int by_importance(const void *a, const void *b) {
    const struct victim *x = a, *y = b;
    if (x->pod->priority != y->pod->priority)
        return x->pod->priority > y->pod->priority ? -1 : 1;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->place > y->place) - (x->place < y->place);
}

static void sort_by_importance(struct victim *victims, size_t n) {
    for (size_t i = 0; i < n; i++)
        victims[i].place = i;
    qsort(victims, n, sizeof *victims, by_importance);
}

/* ---- one node ---- */

/* Moves pods that break a budget to the front, orders kept; returns how many. */
static size_t split_by_budget(struct preemption *p, struct victim *pods, size_t n) {
    struct victim *others = arena_array(p->cy->arena, struct victim, n);
    size_t violating = 0, rest = 0;
    sched__budgets_start(p->budgets, n);
    for (size_t i = 0; i < n; i++)
        if (sched__budgets_break(p->budgets, pods[i].pod))
            pods[violating++] = pods[i];
        else
            others[rest++] = pods[i];
    for (size_t i = 0; i < rest; i++)
        pods[violating + i] = others[i];
    return violating;
}

static void note_error(struct preemption *p, struct str error) {
    if (map_get(&p->errors, error))
        return;
    map_put(&p->errors, error, p);
    buf_add(&p->error_texts, p->error_texts.n ? STR(", ") : STR(""));
    buf_add(&p->error_texts, error);
}

/* Whoever tells the reasons of a filter that failed tells its error, too. */
static void note_failure(struct preemption *p, uint32_t slot) {
    struct sched__cycle tried = *p->cy;
    tried.verdict = p->cy->s->trial;
    struct sched_status status = sched__cycle_status(&tried, slot);
    if (tried.error.p)
        note_error(p, tried.error);
    for (size_t i = 0; i < status.reason_count; i++)
        sched__tallied_add(&p->failures, status.reasons[i], 1);
}

/* Puts pods back one by one while the pod still fits; the others remain as victims. */
static size_t reprieve(struct preemption *p, struct candidate *c, const struct victim *pods,
                       size_t n) {
    size_t lost = 0;
    for (size_t i = 0; i < n; i++) {
        sched__pod_place(p->cy->s, pods[i].pod, c->slot);
        if (!sched__cycle_fits(p->cy, c->slot))
            continue;
        sched__pod_unplace(p->cy->s, pods[i].pod);
        c->victims[c->n++] = pods[i];
        lost++;
    }
    return lost;
}

/* Pods that have not started start now, one after the other. */
static size_t less_important(const struct preemption *p, uint32_t slot, struct victim *out) {
    const struct sched__node *node = &p->cy->s->nodes.v[slot];
    size_t n = 0;
    for (size_t i = 0; i < node->pods.n; i++) {
        struct sched_pod *pod = node->pods.v[i];
        if (pod->priority < p->cy->pod->priority)
            out[n++] = (struct victim){.pod = pod, .start = start_of(pod, p->now + (int64_t)i)};
    }
    return n;
}

/* Pods that came back are the last ones on the node; it matters who was before whom. */
static void restore_order(struct sched *s, uint32_t slot, struct sched_pod *const *order) {
    struct sched__node *node = &s->nodes.v[slot];
    for (size_t i = 0; i < node->pods.n; i++) {
        node->pods.v[i] = order[i];
        order[i]->place = (uint32_t)i;
    }
    sched__attached_reorder(s, slot);
}

static bool find_victims(struct preemption *p, uint32_t slot, struct candidate *c) {
    struct sched *s = p->cy->s;
    struct sched__node *node = &s->nodes.v[slot];
    struct sched_pod **order = arena_copy(p->cy->arena, node->pods.v, node->pods.n * sizeof *order);
    struct victim *pods = arena_array(p->cy->arena, struct victim, node->pods.n);
    size_t n = less_important(p, slot, pods);
    *c = (struct candidate){.slot = slot, .victims = arena_array(p->cy->arena, struct victim, n)};
    s->trying = true;
    for (size_t i = 0; i < n; i++)
        sched__pod_unplace(s, pods[i].pod);
    bool fits = !sched__cycle_fits(p->cy, slot);
    if (fits) {
        sort_by_importance(pods, n);
        size_t violating = split_by_budget(p, pods, n);
        c->violations = reprieve(p, c, pods, violating);
        reprieve(p, c, pods + violating, n - violating);
        for (size_t i = 0; i < c->n; i++)
            sched__pod_place(s, c->victims[i].pod, slot);
        sort_by_importance(c->victims, c->n);
    } else {
        note_failure(p, slot);
        for (size_t i = 0; i < n; i++)
            sched__pod_place(s, pods[i].pod, slot);
    }
    restore_order(s, slot, order);
    s->trying = false;
    return fits && c->n;
}

/* ---- all nodes ---- */

static int64_t priorities(const struct candidate *c) {
    int64_t sum = 0;
    for (size_t i = 0; i < c->n; i++)
        sum += c->victims[i].pod->priority + (INT64_C(1) << 31);
    return sum;
}

/* The earliest start among the most important victims. */
static int64_t earliest_start(const struct preemption *p, const struct candidate *c) {
    int64_t earliest = INT64_MAX;
    for (size_t i = 0; i < c->n && c->victims[i].pod->priority == c->victims[0].pod->priority;
         i++) {
        int64_t start = start_of(c->victims[i].pod, p->now);
        if (start < earliest)
            earliest = start;
    }
    return earliest;
}

/* Is a better than b? The first in the order of nodes wins ties. */
static bool is_better(const struct preemption *p, const struct candidate *a,
                      const struct candidate *b) {
    if (a->violations != b->violations)
        return a->violations < b->violations;
    if (a->victims[0].pod->priority != b->victims[0].pod->priority)
        return a->victims[0].pod->priority < b->victims[0].pod->priority;
    int64_t x = priorities(a), y = priorities(b);
    if (x != y)
        return x < y;
    if (a->n != b->n)
        return a->n < b->n;
    return earliest_start(p, a) > earliest_start(p, b);
}

static uint32_t most_candidates(const struct sched_profile *profile, uint32_t nodes) {
    int64_t n = (int64_t)nodes * profile->min_candidate_nodes_percentage / 100;
    if (n < profile->min_candidate_nodes_absolute)
        n = profile->min_candidate_nodes_absolute;
    return n > nodes ? nodes : (uint32_t)n;
}

/* By verdict: may it be another one without some pods? */
static const bool passes[SCHED__REASON_COUNT] = {
#define UNSCHEDULABLE                    true
#define UNSCHEDULABLE_AND_UNRESOLVABLE   false
#define REASON(id, name, verdict, words) [SCHED__REASON_##id] = verdict,
#include "sched/reasons.def"
#undef REASON
#undef UNSCHEDULABLE_AND_UNRESOLVABLE
#undef UNSCHEDULABLE
};

static bool may_help(const struct sched__cycle *cy, uint32_t slot) {
    return cy->verdict && passes[cy->verdict[slot]];
}

static uint32_t count_potential(const struct sched__cycle *cy) {
    const uint8_t *verdict = cy->verdict;
    uint32_t potential = 0, n = verdict ? cy->s->nodes.n : 0;
    for (uint32_t i = 0; i < n; i++)
        potential += passes[verdict[i]];
    return potential;
}

/* Are no less important pods on the node? The column has their lowest priority, or less. */
static bool is_hopeless(struct sched *s, uint32_t slot, int32_t priority) {
    return s->nodes.lowest_priority[slot] >= priority ||
           sched__node_lowest_priority(s, slot) >= priority;
}

static void try_nodes(struct preemption *p) {
    struct sched *s = p->cy->s;
    const int32_t priority = p->cy->pod->priority;
    uint32_t potential = count_potential(p->cy), candidates = 0, hopeless = 0;
    uint32_t most = most_candidates(p->cy->profile, potential);
    bool harmless = false; /* some candidate breaks no budget */
    for (uint32_t i = 0; potential && i < s->nodes.n && (candidates < most || !harmless); i++) {
        struct candidate c;
        if (!may_help(p->cy, i))
            continue;
        if (is_hopeless(s, i, priority)) {
            hopeless++;
            continue;
        }
        if (!find_victims(p, i, &c))
            continue;
        candidates++;
        harmless = harmless || !c.violations;
        if (!p->found || is_better(p, &c, &p->best))
            p->best = c;
        p->found = true;
    }
    if (hopeless)
        sched__tallied_add(&p->failures, STR("No preemption victims found for incoming pod"),
                           hopeless);
    if (potential < s->nodes.live)
        sched__tallied_add(&p->failures, STR("Preemption is not helpful for scheduling"),
                           s->nodes.live - potential);
}

/* ---- the verdict ---- */

/* A pod of a pod group may have to go with all of its group, and counts with the group's priority:
 * which of them to preempt is not decided here. */
static bool meets_pod_groups(const struct sched__cycle *cy) {
    if (!feature_enabled(&cy->s->gates, FEATURE_GenericWorkload))
        return false;
    for (uint32_t slot = 0; slot < cy->s->nodes.n; slot++) {
        const struct sched__node *node = &cy->s->nodes.v[slot];
        for (size_t i = 0; may_help(cy, slot) && i < node->pods.n; i++)
            if (node->pods.v[i]->cls->grouped)
                return true;
    }
    return false;
}

/* Why the pod must not preempt others, or absent. */
static struct str find_objection(const struct sched__cycle *cy) {
    const struct sched_pod *pod = cy->pod;
    if (str_is(pod->cls->pod->spec.preemption_policy, "Never"))
        return STR("not eligible due to preemptionPolicy=Never.");
    if (meets_pod_groups(cy))
        return STR("not decided: Berth does not decide about pod groups, which are in the way.");
    if (pod->nominated == SCHED__NONE || !may_help(cy, pod->nominated))
        return (struct str){0};
    const struct sched__node *node = &cy->s->nodes.v[pod->nominated];
    for (size_t i = 0; i < node->pods.n; i++)
        if (node->pods.v[i]->priority < pod->priority && node->pods.v[i]->preempted)
            return STR("not eligible due to a terminating pod on the nominated node.");
    return (struct str){0};
}

/* Those that were promised this node and are less important must look for another one. */
static void take_nominations(struct preemption *p, struct sched_result *out) {
    struct sched *s = p->cy->s;
    struct sched__node *node = &s->nodes.v[p->best.slot];
    struct sched_pod_name *outranked =
        arena_array(p->cy->arena, struct sched_pod_name, node->nominated.n);
    out->outranked = outranked;
    for (size_t i = node->nominated.n; i--;) {
        struct sched_pod *pod = node->nominated.v[i];
        if (pod->priority >= p->cy->pod->priority)
            continue;
        outranked[out->outranked_count++] = sched__pod_name(pod, p->cy->arena);
        sched__unnominate(s, pod);
    }
}

static void actuate(struct preemption *p, struct sched_result *out) {
    struct sched *s = p->cy->s;
    struct sched_pod_name *victims = arena_array(p->cy->arena, struct sched_pod_name, p->best.n);
    for (size_t i = 0; i < p->best.n; i++)
        victims[i] = sched__pod_name(p->best.victims[i].pod, p->cy->arena);
    out->victims = victims;
    out->victim_count = p->best.n;
    take_nominations(p, out);
    sched__nominate(s, p->cy->pod, p->best.slot);
}

static struct str tell_errors(const struct preemption *p) {
    struct str texts = buf_view(&p->error_texts);
    return arena_printf(p->cy->arena, p->errors.live > 1 ? "[%.*s]" : "%.*s", STR_ARG(texts));
}

static struct str tell_success(const struct preemption *p, size_t victims) {
    const struct sched__cycle *cy = p->cy;
    return arena_printf(cy->arena,
                        "found a potential placement for pod on node %.*s, preempting %zu victims",
                        STR_ARG(intern_text(cy->s->nodes.v[p->best.slot].name)), victims);
}

/* An error leaves the nomination as it is, and does not matter if another node will do. */
static enum sched_code preempt(struct preemption *p, struct sched_result *out, struct str *text) {
    struct sched__cycle *cy = p->cy;
    *text = find_objection(cy);
    if (text->p)
        return SCHED_CODE_UNSCHEDULABLE;
    p->budgets = sched__budgets_get(cy->s);
    try_nodes(p);
    if (p->found) {
        actuate(p, out);
        *text = tell_success(p, out->victim_count);
        return SCHED_CODE_SUCCESS;
    }
    if (p->errors.live) {
        *text = tell_errors(p);
        return SCHED_CODE_ERROR;
    }
    sched__unnominate(cy->s, cy->pod);
    *text = sched__tallied_write(&p->failures, cy->s->nodes.live, cy->arena);
    return SCHED_CODE_UNSCHEDULABLE;
}

/* Where PreFilter gave up, upstream's DynamicResources finds no state of its own, and its
 * PostFilter, which comes first, fails with this. */
static bool fails_before(const struct sched__cycle *cy) {
    return cy->rejected.code == SCHED_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE &&
           feature_enabled(&cy->s->gates, FEATURE_DynamicResourceAllocation);
}

enum sched_code sched__preempt(struct sched__cycle *cy, struct sched_result *out) {
    struct preemption p = {
        .cy = cy,
        .now = clock_wall(cy->s->clock),
        .failures = {.counts = MAP_INIT(cy->s->seed)},
        .errors = MAP_INIT(cy->s->seed),
        .error_texts = BUF_INIT(LIMIT_MESSAGE_BYTES),
    };
    struct str text;
    if (!sched_order_has(&cy->profile->points[SCHED_POST_FILTER], SCHED_PREEMPTION))
        return SCHED_CODE_UNSCHEDULABLE;
    if (fails_before(cy)) {
        out->message = arena_printf(cy->arena, "%.*s not found", STR_ARG(out->message));
        return SCHED_CODE_ERROR;
    }
    enum sched_code code = preempt(&p, out, &text);
    sched__metrics_preemption(cy->s, out->victim_count);
    out->message =
        arena_printf(cy->arena, "%.*s preemption: %.*s", STR_ARG(out->message), STR_ARG(text));
    map_release(&p.failures.counts);
    map_release(&p.errors);
    buf_release(&p.error_texts);
    return code;
}

const struct sched__plugin sched__default_preemption = {0};
