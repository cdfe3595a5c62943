/*
 * PodDisruptionBudgets, as DefaultPreemption asks about them: which pods cannot go without breaking
 * one?
 *
 * Budgets are compiled once, and again when one of them changed. Upstream asks them in the order in
 * which its informer's map gives them, which is none; here the one that allows least comes first.
 * So a budget that a node's pods cannot exhaust is never asked, nor is any that comes after it.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/preemption, func FilterVictimsWithPDBViolation.
 */
#include <stdlib.h>

#include "api/selector_index.h"
#include "base/alloc.h"
#include "sched/preempt_int.h"
#include "sched/topology/count_int.h"

struct budget {
    const struct api_pod_disruption_budget *body; /* borrowed from the store */
    struct selector *selector;
    size_t order;  /* in the store */
    uint64_t node; /* the node that was asked about last, by number, and: */
    int64_t left;  /* what it still allows there */
};

struct sched__budgets {
    uint64_t generation; /* of the store's budgets, when all this was made */
    struct arena arena;
    struct budget **v; /* in the order of the index */
    size_t n;
    struct selector_index index; /* struct budget by namespace and selector */
    struct selector_search search;
    uint64_t node;    /* number of the node whose pods are asked about */
    size_t breakable; /* that many of the first budgets can be exhausted by its pods */
};

/* ---- compiling ---- */

static int64_t allowed_by(const struct budget *b) {
    return b->body->status.disruptions_allowed;
}

static int compare_allowed(const void *a, const void *b) {
    const struct budget *x = *(struct budget *const *)a, *y = *(struct budget *const *)b;
    if (allowed_by(x) != allowed_by(y))
        return allowed_by(x) < allowed_by(y) ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Lists the budgets that cover any pods: no selector and an empty one match none. */
static void compile_all(struct sched__budgets *x, const struct map *objects) {
    size_t at = 0;
    x->v = arena_array(&x->arena, struct budget *, objects->live);
    for (struct map_entry *e; (e = map_next(objects, &at));) {
        struct budget *b = arena_new(&x->arena, struct budget);
        b->body = ((const struct api_object *)e->const_value)->body;
        b->order = x->n;
        if (selector_compile(&x->arena, b->body->spec.selector, &b->selector, NULL) == 0 &&
            b->selector && b->selector->n)
            x->v[x->n++] = b;
    }
    qsort(x->v, x->n, sizeof *x->v, compare_allowed);
}

/* What tells which pods a budget covers, in the buffer. */
static struct str write_coverage(struct buf *out, const struct budget *b) {
    buf_clear(out);
    sched__key_add(out, b->body->metadata.namespace);
    selector_write(out, b->selector);
    return buf_view(out);
}

/* Leaves out each budget that covers the same pods as one before it: whoever comes to it has come
 * past the other one, which allows no more, and so is exhausted no later. */
static void drop_repetitions(struct sched__budgets *x, uint64_t seed) {
    AUTO(buf_release) struct buf coverage = BUF_INIT(SIZE_MAX);
    struct map strictest = MAP_INIT(seed);
    size_t kept = 0;
    for (size_t i = 0; i < x->n; i++) {
        struct budget *b = x->v[i];
        struct str key = write_coverage(&coverage, b);
        if (map_get(&strictest, key))
            continue;
        if (!b->body->status.disrupted_pods.n)
            map_put(&strictest, arena_str(&x->arena, key), b);
        x->v[kept++] = b;
    }
    x->n = kept;
    map_release(&strictest);
}

static void budgets_free(struct sched__budgets *x) {
    selector_search_release(&x->search);
    selector_index_release(&x->index);
    arena_release(&x->arena);
    free(x);
}

static struct sched__budgets *budgets_new(const struct sched *s) {
    struct sched__budgets *x = xcalloc(1, sizeof *x);
    x->generation = s->budgets_generation;
    x->index = SELECTOR_INDEX_INIT(s->seed);
    compile_all(x, &s->store.budgets);
    drop_repetitions(x, s->seed);
    for (size_t i = 0; i < x->n; i++)
        selector_index_add(&x->index, x->v[i]->body->metadata.namespace, x->v[i]->selector,
                           x->v[i]);
    selector_index_seal(&x->index);
    return x;
}

struct sched__budgets *sched__budgets_get(struct sched *s) {
    sched__budgets_sweep(s);
    if (!s->budgets)
        s->budgets = budgets_new(s);
    return s->budgets;
}

void sched__budgets_release(struct sched *s) {
    if (s->budgets)
        budgets_free(s->budgets);
    s->budgets = NULL;
}

void sched__budgets_sweep(struct sched *s) {
    if (s->budgets && s->budgets->generation != s->budgets_generation)
        sched__budgets_release(s);
}

/* ---- asking ---- */

void sched__budgets_start(struct sched__budgets *x, size_t pods) {
    size_t low = 0, high = x->n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (allowed_by(x->v[mid]) < (int64_t)pods)
            low = mid + 1;
        else
            high = mid;
    }
    x->breakable = low;
    x->node++;
}

static int compare_name(const void *name, const void *entry) {
    return str_cmp(*(const struct str *)name, ((const struct api_time_entry *)entry)->key);
}

/* Has the API server already granted that the pod goes? Maps are in the order of their keys. */
static bool is_disrupted(const struct budget *b, struct str name) {
    const struct api_times *pods = &b->body->status.disrupted_pods;
    return pods->n && bsearch(&name, pods->v, pods->n, sizeof *pods->v, compare_name);
}

/* Counts one pod more that goes; false: the budget did not allow that. */
static bool spend(const struct sched__budgets *x, struct budget *b) {
    if (b->node != x->node) {
        b->node = x->node;
        b->left = allowed_by(b);
    }
    return --b->left >= 0;
}

bool sched__budgets_break(struct sched__budgets *x, const struct sched_pod *pod) {
    const struct api_object_meta *meta = &pod->cls->pod->metadata; /* but for the name */
    struct str ns, name;
    if (!meta->labels.n || !x->breakable)
        return false;
    str_cut(pod->key, '/', &ns, &name);
    selector_search_start(&x->search, &x->index, ns, &meta->labels, x->breakable);
    for (struct budget *b; (b = selector_search_next(&x->search));)
        if (!is_disrupted(b, name) && !spend(x, b))
            return true;
    return false;
}
