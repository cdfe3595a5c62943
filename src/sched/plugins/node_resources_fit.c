/*
 * NodeResourcesFit: what the pod asks for must be free. Scores how full the node would be, by the
 * profile's strategy.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/noderesources, func (*Fit) PreFilter,
 * func (*Fit) Filter, func (*Fit) Score, func fitsRequest.
 */
#include <math.h>
#include <stdlib.h>

#include "sched/cluster/requests_int.h"
#include "sched/findings_int.h"
#include "sched/plugins/node_resources_int.h"

struct fit {
    struct sched__amount *checks; /* requests that count: not those the profile ignores */
    size_t check_count;
    struct sched__scored_list scored;
};

/* ---- compile ---- */

static bool lists(const struct str *names, size_t n, struct str name) {
    return n && bsearch(&name, names, n, sizeof *names, str_cmp_qsort);
}

static bool is_ignored(const struct sched_profile *profile, struct str name) {
    struct str group, rest;
    if (!sched_resource_is_extended(name))
        return false;
    if (lists(profile->ignored_resources, profile->ignored_resource_count, name))
        return true;
    str_cut(name, '/', &group, &rest);
    return lists(profile->ignored_resource_groups, profile->ignored_resource_group_count, group);
}

static void *compile(struct sched *s, struct sched__pod_class *c) {
    struct fit *d = arena_new(&c->arena, struct fit);
    if (!c->profile)
        return d;
    d->checks = arena_array(&c->arena, struct sched__amount, c->asked.n);
    for (size_t i = 0; i < c->asked.n; i++) {
        struct str name = intern_text(s->nodes.resources.v[c->asked.v[i].resource].name);
        if (c->asked.v[i].amount > 0 && !is_ignored(c->profile, name))
            d->checks[d->check_count++] = c->asked.v[i];
    }
    d->scored =
        sched__scored_list(s, c, c->profile->fit_resources, c->profile->fit_resource_count, true);
    return d;
}

/* ---- filter ---- */

/* Resource by resource: what is missing altogether outweighs what is only taken. */
static void check_resource(struct sched__cycle *cy, const struct sched__amount *check,
                           uint32_t from, uint32_t to) {
    const struct sched__resource *r = &cy->s->nodes.resources.v[check->resource];
    for (uint32_t i = from; i < to; i++) {
        if (check->amount <= sched__resource_free(r, i))
            continue;
        if (!cy->verdict[i] || cy->verdict[i] == SCHED__REASON_FIT)
            cy->verdict[i] =
                check->amount > r->alloc[i] ? SCHED__REASON_FIT_NEVER : SCHED__REASON_FIT;
    }
}

/* No node has any of it: a hostile pod can ask for tens of thousands of these. */
static bool is_nowhere(const struct sched__nodes *nodes, const struct sched__amount *check) {
    const struct sched__resource *r = &nodes->resources.v[check->resource];
    return r->alloc == nodes->zeros && r->used == nodes->zeros;
}

static void filter(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    const struct fit *d = cy->cls->data[SCHED_FIT];
    const struct sched__nodes *nodes = &cy->s->nodes;
    bool is_hopeless = false;
    for (uint32_t i = from; i < to; i++)
        if (nodes->pods[i] >= nodes->pods_most[i] && !cy->verdict[i])
            cy->verdict[i] = SCHED__REASON_FIT;
    for (size_t k = 0; k < d->check_count; k++) {
        bool nowhere = is_nowhere(nodes, &d->checks[k]);
        if (!nowhere || !is_hopeless) /* another one changes no verdict */
            check_resource(cy, &d->checks[k], from, to);
        is_hopeless = is_hopeless || nowhere;
    }
}

/* "Insufficient cpu", put into words once in a cycle: a report outlives the pod's class. */
static struct str lack_of(struct sched__cycle *cy, const struct fit *d, size_t check) {
    struct str *texts = cy->data[SCHED_FIT];
    if (!texts)
        cy->data[SCHED_FIT] = texts = arena_array(cy->arena, struct str, d->check_count);
    struct str name = intern_text(cy->s->nodes.resources.v[d->checks[check].resource].name);
    if (!texts[check].p)
        texts[check] = arena_printf(cy->arena, "Insufficient %.*s", STR_ARG(name));
    return texts[check];
}

static void reasons(struct sched__cycle *cy, uint32_t slot, struct sched_status *out) {
    const struct fit *d = cy->cls->data[SCHED_FIT];
    const struct sched__nodes *nodes = &cy->s->nodes;
    if (nodes->pods[slot] >= nodes->pods_most[slot])
        sched__status_add(cy, out, STR("Too many pods"));
    for (size_t k = 0; k < d->check_count; k++) {
        const struct sched__resource *r = &nodes->resources.v[d->checks[k].resource];
        if (d->checks[k].amount > sched__resource_free(r, slot))
            sched__status_add(cy, out, lack_of(cy, d, k));
    }
}

static uint32_t count_lacking(const struct sched__nodes *nodes, const struct sched__amount *check,
                              const uint32_t *slots, uint32_t n) {
    const struct sched__resource *r = &nodes->resources.v[check->resource];
    uint32_t lacking = 0;
    if (is_nowhere(nodes, check))
        return n;
    for (uint32_t i = 0; i < n; i++)
        lacking += check->amount > sched__resource_free(r, slots[i]);
    return lacking;
}

static void tally(struct sched__cycle *cy, const uint32_t *slots, uint32_t n,
                  struct sched__tallied *out) {
    const struct fit *d = cy->cls->data[SCHED_FIT];
    const struct sched__nodes *nodes = &cy->s->nodes;
    uint32_t full = 0;
    for (uint32_t i = 0; i < n; i++)
        full += nodes->pods[slots[i]] >= nodes->pods_most[slots[i]];
    if (full)
        sched__tallied_add(out, STR("Too many pods"), full);
    for (size_t k = 0; k < d->check_count; k++) {
        uint32_t lacking = count_lacking(nodes, &d->checks[k], slots, n);
        if (lacking)
            sched__tallied_add(out, lack_of(cy, d, k), lacking);
    }
}

/* An amount of a resource as an operand. */
static struct sched_operand amount_of(uint32_t resource, int64_t amount) {
    enum sched_operand_kind kind = resource == SCHED__CPU      ? SCHED_MILLI
                                   : resource < SCHED__SCALARS ? SCHED_BYTES
                                                               : SCHED_COUNT;
    return (struct sched_operand){.kind = (uint8_t)kind, .number = amount};
}

static void explain_pods(const struct sched__nodes *nodes, uint32_t slot,
                         struct sched__findings *out) {
    sched__finding_start(out, SCHED_FINDING_PODS, sched__field(SCHED_FIELD_NONE));
    sched__finding_add(out, SCHED_OPERAND_SUBJECT, sched__text(STR("pods")));
    sched__finding_add_of_node(out, SCHED_OPERAND_LEFT, sched__number(nodes->pods[slot]));
    sched__finding_add_of_node(out, SCHED_OPERAND_RIGHT, sched__number(nodes->pods_most[slot]));
}

static bool explain_lack(const struct sched__resource *r, const struct sched__amount *check,
                         uint32_t slot, struct sched__findings *out) {
    if (!sched__finding_start(out, SCHED_FINDING_RESOURCE, sched__field(SCHED_FIELD_REQUESTS)))
        return false;
    sched__finding_add(out, SCHED_OPERAND_SUBJECT, sched__text(intern_text(r->name)));
    sched__finding_add_of_node(out, SCHED_OPERAND_LEFT,
                               amount_of(check->resource, sched__resource_free(r, slot)));
    sched__finding_add(out, SCHED_OPERAND_RIGHT, amount_of(check->resource, check->amount));
    sched__finding_add_of_node(out, SCHED_OPERAND_ALLOCATABLE,
                               amount_of(check->resource, r->alloc[slot]));
    return true;
}

static void explain(struct sched__cycle *cy, uint32_t slot, struct sched__findings *out) {
    const struct fit *d = cy->cls->data[SCHED_FIT];
    const struct sched__nodes *nodes = &cy->s->nodes;
    if (nodes->pods[slot] >= nodes->pods_most[slot])
        explain_pods(nodes, slot, out);
    for (size_t k = 0; k < d->check_count; k++) {
        const struct sched__resource *r = &nodes->resources.v[d->checks[k].resource];
        if (d->checks[k].amount > sched__resource_free(r, slot) &&
            !explain_lack(r, &d->checks[k], slot, out))
            return;
    }
}

int64_t sched__fit_shortage(const struct sched__cycle *cy, uint32_t slot) {
    const struct fit *d = cy->cls->data[SCHED_FIT];
    const struct sched__nodes *nodes = &cy->s->nodes;
    int64_t sum = 0;
    for (size_t k = 0; k < d->check_count; k++) {
        const struct sched__resource *r = &nodes->resources.v[d->checks[k].resource];
        int64_t missing = wrap_sub_i64(d->checks[k].amount, sched__resource_free(r, slot));
        if (missing > 0)
            sum += (int64_t)(1000 * ((double)missing / (double)d->checks[k].amount));
    }
    return sum;
}

/* ---- score ---- */

typedef int64_t strategy_fn(const struct sched_profile *profile, int64_t requested, int64_t cap);

/* Amounts that are negative or beyond all measure give what they give upstream. */
static int64_t percent_of(int64_t part, int64_t cap) {
    return wrap_div_i64(wrap_mul_i64(part, 100), cap);
}

static int64_t least(const struct sched_profile *profile, int64_t requested, int64_t cap) {
    (void)profile;
    return requested > cap ? 0 : percent_of(wrap_sub_i64(cap, requested), cap);
}

static int64_t most(const struct sched_profile *profile, int64_t requested, int64_t cap) {
    (void)profile;
    return percent_of(requested > cap ? cap : requested, cap);
}

static int64_t ratio(const struct sched_profile *profile, int64_t requested, int64_t cap) {
    int64_t percent = requested > cap ? 100 : percent_of(requested, cap);
    return sched__shape_score(profile->shape, profile->shape_count, percent);
}

static strategy_fn *const strategies[] = {
    [SCHED_LEAST_ALLOCATED] = least,
    [SCHED_MOST_ALLOCATED] = most,
    [SCHED_REQUESTED_TO_CAPACITY_RATIO] = ratio,
};

static const int64_t *used_of(const struct sched__nodes *nodes, uint32_t resource) {
    if (resource == SCHED__CPU)
        return nodes->nonzero_cpu;
    if (resource == SCHED__MEMORY)
        return nodes->nonzero_memory;
    return nodes->resources.v[resource].used;
}

static int64_t score_slot(const struct sched__cycle *cy, const struct fit *d, uint32_t slot) {
    const struct sched__nodes *nodes = &cy->s->nodes;
    enum sched_strategy strategy = cy->profile->strategy;
    bool is_ratio = strategy == SCHED_REQUESTED_TO_CAPACITY_RATIO;
    int64_t sum = 0, weights = 0;
    for (size_t k = 0; k < d->scored.n; k++) {
        const struct sched__scored *r = &d->scored.v[k];
        int64_t cap = nodes->resources.v[r->resource].alloc[slot];
        if (!cap)
            continue;
        int64_t requested = wrap_add_i64(used_of(nodes, r->resource)[slot], r->request);
        int64_t score = strategies[strategy](cy->profile, requested, cap);
        if (is_ratio && score <= 0)
            continue;
        sum = wrap_add_i64(sum, wrap_mul_i64(score, r->weight));
        weights += r->weight;
    }
    if (!weights)
        return 0;
    return is_ratio ? (int64_t)round((double)sum / (double)weights) : sum / weights;
}

/* The usual case in columns: LeastAllocated or MostAllocated, and nodes that have the resource, in
 * amounts for which the quotient of doubles is the integer one. Other nodes get -1. */
static const int64_t odd_from = INT64_C(1) << 46;

static void add_share(const struct sched__cycle *cy, const struct sched__scored *r, int64_t *scores,
                      uint32_t from, uint32_t to) {
    const int64_t *alloc = cy->s->nodes.resources.v[r->resource].alloc;
    const int64_t *used = used_of(&cy->s->nodes, r->resource);
    bool is_least = cy->profile->strategy == SCHED_LEAST_ALLOCATED;
    for (uint32_t i = from; i < to; i++) {
        if (cy->verdict[i] || scores[i] < 0)
            continue;
        int64_t cap = alloc[i], requested = wrap_add_i64(used[i], r->request);
        if (cap <= 0 || cap >= odd_from || requested < 0) {
            scores[i] = -1;
            continue;
        }
        int64_t part = requested > cap ? cap : requested;
        part = is_least ? cap - part : part;
        scores[i] += r->weight * (int64_t)((double)(part * 100) / (double)cap);
    }
}

static void score(struct sched__cycle *cy, int64_t *scores, uint32_t from, uint32_t to) {
    const struct fit *d = cy->cls->data[SCHED_FIT];
    int64_t weights = 0;
    bool in_columns = cy->profile->strategy != SCHED_REQUESTED_TO_CAPACITY_RATIO;
    for (uint32_t i = from; i < to; i++)
        scores[i] = in_columns ? 0 : -1;
    for (size_t k = 0; in_columns && k < d->scored.n; k++) {
        add_share(cy, &d->scored.v[k], scores, from, to);
        weights += d->scored.v[k].weight;
    }
    for (uint32_t i = from; i < to; i++) {
        if (cy->verdict[i])
            continue;
        if (scores[i] < 0)
            scores[i] = score_slot(cy, d, i);
        else if (weights > 0)
            scores[i] = (int64_t)((double)scores[i] / (double)weights);
    }
}

/* ---- hints ---- */

static int by_key(const void *x, const void *y) {
    return str_cmp(((const struct api_quantity *)x)->key, ((const struct api_quantity *)y)->key);
}

/* The amounts are sorted by name. */
static const struct quantity *quantity_of(const struct api_quantities *list, struct str name) {
    const struct api_quantity wanted = {.key = name};
    const struct api_quantity *found =
        list->n ? bsearch(&wanted, list->v, list->n, sizeof wanted, by_key) : NULL;
    return found ? &found->value : NULL;
}

static int64_t allocatable(const struct api_node *node, struct str name) {
    const struct quantity *q = quantity_of(&node->status.allocatable, name);
    if (!q)
        return 0;
    return str_is(name, "cpu") ? quantity_milli_value(q) : quantity_value(q);
}

/* Would an empty node of this kind do? Upstream does not look at what the profile ignores here. */
static bool fits_empty(struct sched *s, const struct sched_pod *pod, const struct api_node *node) {
    const struct sched__amounts *asked = &pod->cls->asked;
    for (size_t k = 0; k < asked->n; k++) {
        struct str name = intern_text(s->nodes.resources.v[asked->v[k].resource].name);
        if (asked->v[k].amount > allocatable(node, name))
            return false;
    }
    return allocatable(node, STR("pods")) > 0;
}

/* Does `after` offer more of something that counts for the pod? */
static bool offers_more(struct sched *s, const struct sched_pod *pod, const struct api_node *before,
                        const struct api_node *after) {
    const struct api_quantities *old = &before->status.allocatable;
    const struct api_quantities *now = &after->status.allocatable;
    for (size_t i = 0; i < now->n; i++) {
        const struct quantity *had = quantity_of(old, now->v[i].key);
        if (had && quantity_cmp(&now->v[i].value, had) <= 0)
            continue;
        if (str_is(now->v[i].key, "pods"))
            return true;
        uint32_t resource = sched__resource_find(s, now->v[i].key);
        for (size_t k = 0; k < pod->cls->asked.n; k++)
            if (pod->cls->asked.v[k].resource == resource)
                return true;
    }
    return false;
}

static bool hint(struct sched *s, struct sched_pod *pod, const struct sched__event *event) {
    if (event->bits & SCHED__POD_SCALE_DOWN && !event->own)
        return sched__pod_makes_room(s, event->before->body, event->after->body, pod->cls->pod);
    if (!(event->bits & (SCHED__NODE_ADD | SCHED__NODE_ALLOCATABLE)))
        return true;
    if (!event->after || !fits_empty(s, pod, event->after->body))
        return false;
    return !event->before || offers_more(s, pod, event->before->body, event->after->body);
}

const struct sched__plugin sched__node_resources_fit = {
    .compile = compile,
    .filter = filter,
    .reasons = reasons,
    .tally = tally,
    .explain = explain,
    .score = score,
    .events = SCHED__NODE_ADD | SCHED__NODE_ALLOCATABLE | SCHED__ASSIGNED_POD_DELETE |
              SCHED__POD_SCALE_DOWN,
    .hint = hint,
};
