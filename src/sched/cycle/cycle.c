/*
 * One pod's way through the plug-ins: PreFilter, Filter, and what to say when nothing fits. Scores
 * and the choice are in choose.c.
 *
 * Follows k8s.io/kubernetes pkg/scheduler, func (*Scheduler) schedulePod,
 * func (*Scheduler) findNodesThatFitPod, func (*Scheduler) evaluateNominatedNode.
 * Follows k8s.io/kubernetes pkg/scheduler/framework/runtime,
 * func (*frameworkImpl) RunFilterPluginsWithNominatedPods.
 */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sched/eval_int.h"
#include "sched/plugin_int.h"
#include "sched/times_int.h"

/* ---- tables ---- */

static const struct sched__plugin *const plugins[SCHED_PLUGIN_COUNT] = {
#define PLUGIN(id, lower, name, weight) &sched__##lower,
#include "sched/plugins.def"
#undef PLUGIN
};

const struct sched__plugin *sched__plugin_at(enum sched_plugin plugin) {
    return plugins[plugin];
}

#define UNSCHEDULABLE                  SCHED_CODE_UNSCHEDULABLE
#define UNSCHEDULABLE_AND_UNRESOLVABLE SCHED_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE
static const struct sched__reason_row reasons[SCHED__REASON_COUNT] = {
#define REASON(id, name, verdict, words) \
    [SCHED__REASON_##id] = {.plugin = SCHED_##name, .code = verdict, .text = words},
#include "sched/reasons.def"
#undef REASON
};

const struct sched__reason_row *sched__reason_row(enum sched__reason reason) {
    return &reasons[reason];
}

struct str sched_code_name(enum sched_code code) {
    static const struct str names[] = {
        [SCHED_CODE_SUCCESS] = STR_INIT("Success"),
        [SCHED_CODE_UNSCHEDULABLE] = STR_INIT("Unschedulable"),
        [SCHED_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE] = STR_INIT("UnschedulableAndUnresolvable"),
        [SCHED_CODE_ERROR] = STR_INIT("Error"),
    };
    return names[code];
}

/* ---- PreFilter ---- */

/* A class that the plug-in compiled to nothing is none of its business. */
static bool concerns(const struct sched__cycle *cy, enum sched_plugin p) {
    return !plugins[p]->compile || cy->cls->data[p];
}

/* A verdict that preemption cannot change ends it at once; others are remembered, the last wins. */
void sched__cycle_pre_filter(struct sched__cycle *cy) {
    const struct sched_order *order = &cy->profile->points[SCHED_PRE_FILTER];
    for (size_t i = 0; i < order->n; i++) {
        if (!plugins[order->v[i]]->pre_filter || !concerns(cy, order->v[i]))
            continue;
        int64_t start = sched__time_start(cy);
        plugins[order->v[i]]->pre_filter(cy);
        sched__time_stop(cy, SCHED_PRE_FILTER, order->v[i], start);
        if (cy->error.p || cy->rejected.code == SCHED_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE)
            return;
    }
}

/* ---- Filter ---- */

/* Does the plug-in look at all nodes, and has it to do with this cycle? */
static bool filters_cluster(const struct sched__cycle *cy, enum sched_plugin p) {
    return plugins[p]->scope == SCHED__SCOPE_CLUSTER && plugins[p]->filter && cy->data[p];
}

static bool is_last(const struct sched_order *order, size_t place) {
    while (++place < order->n)
        if (plugins[order->v[place]]->scope == SCHED__SCOPE_NODE)
            return false;
    return true;
}

/* Is this the verdict of a filter behind that place? */
static bool is_later(const struct sched_order *order, size_t place, enum sched__reason verdict) {
    while (verdict > SCHED__ABSENT && ++place < order->n)
        if (order->v[place] == reasons[verdict].plugin)
            return true;
    return false;
}

/* A profile can have plug-ins that look at all nodes before others, which were asked already: a
 * node that both reject has the reason of the first. */
static void filter_before_others(struct sched__cycle *cy, size_t place, uint32_t from,
                                 uint32_t to) {
    const struct sched_order *order = &cy->profile->points[SCHED_FILTER];
    const uint8_t *others = arena_copy(cy->arena, cy->verdict + from, to - from);
    for (uint32_t i = from; i < to; i++)
        if (is_later(order, place, cy->verdict[i]))
            cy->verdict[i] = SCHED__FITS;
    plugins[order->v[place]]->filter(cy, from, to);
    for (uint32_t i = from; i < to; i++)
        if (!cy->verdict[i])
            cy->verdict[i] = others[i - from];
}

static void run_cluster_filters(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    const struct sched_order *order = &cy->profile->points[SCHED_FILTER];
    for (size_t i = 0; i < order->n; i++) {
        if (!filters_cluster(cy, order->v[i]))
            continue;
        int64_t start = sched__time_start(cy);
        if (is_last(order, i))
            plugins[order->v[i]]->filter(cy, from, to);
        else
            filter_before_others(cy, i, from, to);
        sched__time_stop(cy, SCHED_FILTER, order->v[i], start);
    }
}

/* Can no plug-in that looks at all nodes change this verdict of one that does not? */
static bool is_final(const struct sched__cycle *cy, enum sched__reason verdict) {
    const struct sched_order *order = &cy->profile->points[SCHED_FILTER];
    for (size_t i = 0; i < order->n; i++)
        if (filters_cluster(cy, order->v[i]) && is_later(order, i, verdict))
            return false;
    return verdict != SCHED__FITS;
}

static bool has_cluster_filters(const struct sched__cycle *cy) {
    for (enum sched_plugin p = 0; p < SCHED_PLUGIN_COUNT; p++)
        if (plugins[p]->scope == SCHED__SCOPE_CLUSTER && cy->data[p])
            return true;
    return false;
}

void sched__cycle_own_verdicts(struct sched__cycle *cy) {
    if (cy->verdict == cy->cls->eval->verdict)
        cy->verdict = arena_copy(cy->arena, cy->verdict, cy->s->nodes.n);
}

static uint32_t count_feasible(const struct sched__cycle *cy) {
    uint32_t n = 0;
    for (uint32_t i = 0; i < cy->s->nodes.n; i++)
        n += !cy->verdict[i];
    return n;
}

/* Places the pods that are nominated to the node and at least as important: preemption made room
 * for them, and the pod must fit beside them. Returns how many; *added is in the cycle's arena. */
static size_t place_nominated(struct sched__cycle *cy, uint32_t slot, struct sched_pod ***added) {
    struct sched__node *node = &cy->s->nodes.v[slot];
    size_t n = 0;
    *added = arena_array(cy->arena, struct sched_pod *, node->nominated.n);
    for (size_t i = 0; i < node->nominated.n; i++) {
        struct sched_pod *p = node->nominated.v[i];
        if (str_eq(p->key, cy->pod->key) || p->priority < cy->pod->priority ||
            p->node != SCHED__NONE)
            continue;
        sched__pod_place(cy->s, p, slot);
        (*added)[n++] = p;
    }
    return n;
}

/* Do the verdicts on pods of this class depend on nothing of others but what they ask for? */
static bool looks_at_requests_alone(const struct sched__cycle *cy) {
    return !cy->cls->port_count && !cy->cls->has_volumes && !has_cluster_filters(cy);
}

/* The nominated pods that are on a node while it is tried. */
struct company {
    /* What they ask for, counted on the node in their place, without that of the pod itself, if it
     * is one of them; NULL: they are placed. */
    const struct sched__beside *beside;
    const struct sched_pod *self;
    struct sched_pod **placed;
    size_t n;
    bool was_trying;
};

static int64_t request_of(const struct sched_pod *p, uint32_t resource) {
    for (size_t i = 0; p && i < p->cls->requests.n; i++)
        if (p->cls->requests.v[i].resource == resource)
            return p->cls->requests.v[i].amount;
    return 0;
}

/* Counts what the class looks at of them on the node, or counts it off again. */
static void count_requests(struct sched__cycle *cy, uint32_t slot, const struct company *c,
                           int sign) {
    for (size_t i = 0; i < cy->cls->asked.n; i++) {
        uint32_t r = cy->cls->asked.v[i].resource;
        int64_t sum = r < c->beside->amounts.n ? c->beside->amounts.v[r] : 0;
        sum = wrap_sub_i64(sum, request_of(c->self, r));
        sched__resource_use(cy->s, r, slot, wrap_mul_i64(sign, sum));
    }
    cy->s->nodes.pods[slot] += sign * (int32_t)c->n;
}

static void sum_up_nominated(struct sched__cycle *cy, uint32_t slot, struct company *c) {
    const struct sched_pod *self = map_get(&cy->s->pods, cy->pod->key);
    c->beside = sched__beside_get(cy->s, slot, cy->pod->priority);
    if (self && self->nominated == slot && self->priority >= cy->pod->priority)
        c->self = self;
    c->n = (size_t)(c->beside->pods - (c->self ? 1 : 0));
    count_requests(cy, slot, c, 1);
}

/* Puts the nominated pods on the node that the pod must fit beside; false: there are none. */
static bool add_nominated(struct sched__cycle *cy, uint32_t slot, struct company *c) {
    *c = (struct company){.was_trying = cy->s->trying};
    if (!cy->s->nodes.v[slot].nominated.n)
        return false;
    cy->s->trying = true;
    if (looks_at_requests_alone(cy))
        sum_up_nominated(cy, slot, c);
    else
        c->n = place_nominated(cy, slot, &c->placed);
    return c->n > 0;
}

static void remove_nominated(struct sched__cycle *cy, uint32_t slot, const struct company *c) {
    if (c->beside)
        count_requests(cy, slot, c, -1);
    for (size_t i = c->n; c->placed && i--;)
        sched__pod_unplace(cy->s, c->placed[i]);
    cy->s->trying = c->was_trying;
}

static enum sched__reason try_with_nominated(struct sched__cycle *cy, uint32_t slot) {
    struct company c;
    enum sched__reason verdict =
        add_nominated(cy, slot, &c) ? sched__cycle_try(cy, slot) : SCHED__FITS;
    remove_nominated(cy, slot, &c);
    return verdict;
}

/* Has nothing changed since a pod of the same class and priority asked, and is that all that the
 * verdict depends on? */
static bool is_as_asked(const struct sched__cycle *cy, uint32_t slot) {
    const struct sched__node *node = &cy->s->nodes.v[slot];
    return node->asked.cls == cy->cls->serial && node->asked.at == node->touched &&
           node->asked.priority == cy->pod->priority;
}

/* The same for a pod that looks at many nodes; `own` is the one that it is nominated to itself. */
static enum sched__reason ask_with_nominated(struct sched__cycle *cy, uint32_t slot, uint32_t own) {
    struct sched__node *node = &cy->s->nodes.v[slot];
    if (slot == own || cy->cls->has_volumes || has_cluster_filters(cy))
        return try_with_nominated(cy, slot);
    if (!is_as_asked(cy, slot))
        node->asked = (struct sched__asked){.cls = cy->cls->serial,
                                            .at = node->touched,
                                            .priority = cy->pod->priority,
                                            .verdict = (uint8_t)try_with_nominated(cy, slot)};
    return node->asked.verdict;
}

enum sched__reason sched__cycle_fits(struct sched__cycle *cy, uint32_t slot) {
    enum sched__reason verdict = try_with_nominated(cy, slot);
    return verdict ? verdict : sched__cycle_try(cy, slot);
}

static bool is_asked(enum sched__reason verdict) {
    return verdict != SCHED__GONE && verdict != SCHED__ABSENT;
}

/* A node is first asked with the pods that are nominated to it: if they are in the way, that is its
 * verdict. */
static void honour_nominations(struct sched__cycle *cy) {
    const struct sched_pod *known = cy->s->nominated ? map_get(&cy->s->pods, cy->pod->key) : NULL;
    uint32_t own = known ? known->nominated : SCHED__NONE;
    for (uint32_t i = 0; cy->s->nominated && i < cy->s->nodes.n; i++) {
        if (!cy->s->nodes.v[i].nominated.n || !is_asked(cy->verdict[i]))
            continue;
        enum sched__reason verdict = ask_with_nominated(cy, i, own);
        if (!verdict || verdict == cy->verdict[i])
            continue;
        sched__cycle_own_verdicts(cy);
        cy->verdict[i] = (uint8_t)verdict;
    }
}

/* The verdict of the node that the pod itself is nominated to, which is asked before all others and
 * even if PreFilter leaves it out; SCHED__GONE: there is no such node. */
static enum sched__reason ask_nomination(struct sched__cycle *cy) {
    uint32_t slot = cy->pod->nominated;
    if (slot == SCHED__NONE || !(cy->s->nodes.state[slot] & SCHED__NODE_THERE))
        return SCHED__GONE;
    return sched__cycle_fits(cy, slot);
}

/* A nominated node that fits is taken: there is nothing to choose, and no other node is asked. */
static void take_nomination(struct sched__cycle *cy) {
    cy->verdict = arena_array(cy->arena, uint8_t, cy->s->nodes.n);
    memset(cy->verdict, SCHED__GONE, cy->s->nodes.n);
    cy->verdict[cy->pod->nominated] = SCHED__FITS;
    cy->feasible = 1;
    cy->nominated = true;
}

/* A nominated node that does not fit keeps that verdict where PreFilter leaves the node out. */
static void keep_nomination(struct sched__cycle *cy, enum sched__reason verdict) {
    uint32_t slot = cy->pod->nominated;
    if (verdict == SCHED__GONE || cy->verdict[slot] != SCHED__ABSENT)
        return;
    sched__cycle_own_verdicts(cy);
    cy->verdict[slot] = (uint8_t)verdict;
}

void sched__cycle_ask_nodes(struct sched__cycle *cy) {
    enum sched__reason nominated = ask_nomination(cy);
    if (nominated == SCHED__FITS) {
        take_nomination(cy);
        return;
    }
    const struct sched__eval *ev = sched__eval_refresh(cy);
    if (!ev)
        return;
    cy->feasible = ev->feasible;
    if (has_cluster_filters(cy)) {
        sched__cycle_own_verdicts(cy);
        run_cluster_filters(cy, 0, cy->s->nodes.n);
    }
    honour_nominations(cy);
    keep_nomination(cy, nominated);
    if (cy->verdict != cy->cls->eval->verdict)
        cy->feasible = count_feasible(cy);
}

void sched__cycle_filter(struct sched__cycle *cy) {
    sched__cycle_pre_filter(cy);
    if (!cy->error.p && cy->rejected.code == SCHED_CODE_SUCCESS)
        sched__cycle_ask_nodes(cy);
}

enum sched__reason sched__cycle_try(struct sched__cycle *cy, uint32_t slot) {
    struct sched__cycle again = *cy;
    memset(again.data, 0, sizeof again.data);
    again.verdict = cy->s->trial;
    sched__eval_try(&again, slot);
    if (is_final(cy, again.verdict[slot]))
        return again.verdict[slot];
    for (enum sched_plugin p = 0; p < SCHED_PLUGIN_COUNT; p++)
        if (plugins[p]->scope == SCHED__SCOPE_CLUSTER && plugins[p]->pre_filter && cy->data[p])
            plugins[p]->pre_filter(&again);
    run_cluster_filters(&again, slot, slot + 1);
    return again.verdict[slot];
}

/* ---- what to say ---- */

/* The list has room for the next power of two, so that n reasons cost n steps. */
void sched__status_add(struct sched__cycle *cy, struct sched_status *status, struct str reason) {
    size_t n = status->reason_count;
    if ((n & (n - 1)) == 0) {
        struct str *grown = arena_array(cy->arena, struct str, n ? 2 * n : 1);
        if (n)
            memcpy(grown, status->reasons, n * sizeof *grown);
        status->reasons = grown;
    }
    status->reasons[status->reason_count++] = reason;
}

void sched__prefilter_reject(struct sched__cycle *cy, enum sched_plugin plugin, struct str text) {
    cy->rejected = (struct sched_status){.code = SCHED_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE,
                                         .plugin = sched_plugin_name(plugin)};
    sched__status_add(cy, &cy->rejected, text);
}

void sched__prefilter_fail(struct sched__cycle *cy, enum sched_plugin plugin, struct str text) {
    struct str name = sched_plugin_name(plugin);
    cy->error = arena_printf(cy->arena, "running PreFilter plugin \"%.*s\": %.*s", STR_ARG(name),
                             STR_ARG(text));
}

/* Plug-ins that leave nodes out, as bits. Upstream adds who rejected the node that the pod is
 * nominated to, as it was asked before. */
static uint32_t plugins_behind_absence(const struct sched__cycle *cy) {
    const struct sched_order *order = &cy->profile->points[SCHED_PRE_FILTER];
    uint32_t mask = 0, slot = cy->pod->nominated;
    for (size_t i = 0; i < order->n; i++)
        if (plugins[order->v[i]]->restricts && plugins[order->v[i]]->restricts(cy->cls))
            mask |= 1U << order->v[i];
    if (slot != SCHED__NONE && cy->verdict[slot] > SCHED__ABSENT)
        mask |= 1U << reasons[cy->verdict[slot]].plugin;
    return mask;
}

/* Their names, as Go prints a sorted slice of them. */
static struct str absent_reason(struct sched__cycle *cy) {
    struct str names[SCHED_PLUGIN_COUNT], text = STR("node(s) didn't satisfy plugin(s) [");
    uint32_t mask = plugins_behind_absence(cy);
    size_t n = 0;
    for (enum sched_plugin p = 0; p < SCHED_PLUGIN_COUNT; p++)
        if (mask >> p & 1)
            names[n++] = sched_plugin_name(p);
    qsort(names, n, sizeof *names, str_cmp_qsort);
    for (size_t i = 0; i < n; i++)
        text =
            arena_printf(cy->arena, "%.*s%s%.*s", STR_ARG(text), i ? " " : "", STR_ARG(names[i]));
    return arena_printf(cy->arena, "%.*s]", STR_ARG(text));
}

/* The node was asked with the nominated pods first; if they give no reason, it has one without. */
static void ask_reasons(struct sched__cycle *cy, uint32_t slot, enum sched_plugin plugin,
                        struct sched_status *out) {
    struct company c;
    bool any = add_nominated(cy, slot, &c);
    plugins[plugin]->reasons(cy, slot, out);
    remove_nominated(cy, slot, &c);
    if (any && !out->reason_count)
        plugins[plugin]->reasons(cy, slot, out);
}

struct sched_status sched__cycle_status(struct sched__cycle *cy, uint32_t slot) {
    enum sched__reason reason = cy->verdict[slot];
    struct sched_status status = {0};
    if (reason == SCHED__FITS || reason == SCHED__GONE)
        return status;
    if (reason == SCHED__ABSENT) {
        status.code = SCHED_CODE_UNSCHEDULABLE_AND_UNRESOLVABLE;
        sched__status_add(cy, &status, absent_reason(cy));
        return status;
    }
    const struct sched__reason_row *row = &reasons[reason];
    status.code = row->code;
    status.plugin = sched_plugin_name(row->plugin);
    if (row->text)
        sched__status_add(cy, &status, str_of(row->text));
    else
        ask_reasons(cy, slot, row->plugin, &status);
    return status;
}
