/*
 * CSIStorageCapacity objects: is there space on a node for a volume that is to be provisioned?
 *
 * Upstream asks each capacity, for each claim and node, and takes the first that will do in the
 * order of its informer's map, which is none; here it is the order of the store. Which capacities
 * of a storage class a node reaches depends on the labels that their nodeTopology asks for: nodes
 * with the same values of these share what was found, until a capacity changes. Of the capacities
 * that are reached only those count that allow a larger volume than every one before them, so the
 * first that is large enough is found by bisection.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/volumebinding,
 * func (*volumeBinder) hasEnoughCapacity.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "base/limits.h"
#include "sched/topology/count_int.h"
#include "sched/volumes/state_int.h"

/* The offers that count for nodes with certain labels, by rising limit. */
struct reach {
    const struct sched__offer **v;
    size_t n;
};

/* The capacities of one storage class. */
struct class_offers {
    VEC(struct str) keys; /* labels that their selectors ask for, sorted */
    struct map reaches;   /* struct reach by the values that a node has of these */
};

const struct quantity *sched__capacity_limit(const struct api_csi_storage_capacity *capacity) {
    return capacity->maximum_volume_size ? capacity->maximum_volume_size : capacity->capacity;
}

/* ---- compiling ---- */

static struct class_offers *class_get(struct sched__capacities *x, struct str name) {
    struct class_offers *class = map_get(&x->classes, name);
    if (!class) {
        class = arena_new(&x->arena, struct class_offers);
        class->reaches = MAP_INIT(x->classes.seed);
        map_put(&x->classes, name, class);
    }
    return class;
}

/* A capacity without a limit has no space, and one without a valid selector is reached by no node.
 */
static void add_capacity(struct sched__capacities *x,
                         const struct api_csi_storage_capacity *capacity) {
    const struct quantity *limit = sched__capacity_limit(capacity);
    struct selector *nodes = NULL;
    if (!limit || selector_compile(&x->arena, capacity->node_topology, &nodes, NULL) < 0 || !nodes)
        return;
    struct sched__offer *offer = arena_new(&x->arena, struct sched__offer);
    *offer = (struct sched__offer){capacity, quantity_value(limit)};
    selector_index_add(&x->index, capacity->storage_class_name, nodes, offer);
    struct class_offers *class = class_get(x, capacity->storage_class_name);
    for (size_t i = 0; i < nodes->n; i++)
        vec_push(&class->keys, nodes->reqs[i].key);
}

static void sort_keys(struct class_offers *class) {
    size_t kept = 0;
    if (class->keys.n)
        qsort(class->keys.v, class->keys.n, sizeof *class->keys.v, str_cmp_qsort);
    for (size_t i = 0; i < class->keys.n; i++)
        if (!i || !str_eq(class->keys.v[i], class->keys.v[kept - 1]))
            class->keys.v[kept++] = class->keys.v[i];
    class->keys.n = kept;
}

static struct sched__capacities *capacities_new(const struct sched *s) {
    struct sched__capacities *x = xcalloc(1, sizeof *x);
    x->generation = s->capacities_generation;
    x->classes = MAP_INIT(s->seed);
    x->index = SELECTOR_INDEX_INIT(s->seed);
    x->key = BUF_INIT(SIZE_MAX);
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->store.capacities, &at));)
        add_capacity(x, ((const struct api_object *)e->const_value)->body);
    selector_index_seal(&x->index);
    at = 0;
    for (struct map_entry *e; (e = map_next(&x->classes, &at));)
        sort_keys(e->value);
    return x;
}

/* Forgets which nodes reach what. */
static void forget_reaches(struct sched__capacities *x) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&x->classes, &at));)
        map_release(&((struct class_offers *)e->value)->reaches);
    arena_release(&x->found);
    x->found_bytes = 0;
}

void sched__capacities_free(struct sched__capacities *x) {
    size_t at = 0;
    if (!x)
        return;
    forget_reaches(x);
    vec_release(&x->steps);
    for (struct map_entry *e; (e = map_next(&x->classes, &at));)
        vec_release(&((struct class_offers *)e->value)->keys);
    map_release(&x->classes);
    selector_search_release(&x->search);
    selector_index_release(&x->index);
    buf_release(&x->key);
    arena_release(&x->arena);
    free(x);
}

static struct sched__capacities *capacities_get(struct sched *s) {
    struct sched__capacities **x = &sched__volumes_get(s)->capacities;
    if (*x && (*x)->generation == s->capacities_generation)
        return *x;
    sched__capacities_free(*x);
    return *x = capacities_new(s);
}

/* ---- what a node reaches ---- */

static void write_label(struct buf *out, const struct label *label) {
    sched__key_add(out, label->key);
    sched__key_add(out, label->value);
}

/* Those of the labels that the class's selectors ask for, as a key. The shorter of two sorted lists
 * is looked up in the longer one. */
static struct str write_values(struct sched__capacities *x, const struct class_offers *class,
                               const struct labels *labels) {
    size_t at = 0;
    buf_clear(&x->key);
    for (size_t i = 0; class->keys.n <= labels->n && i < class->keys.n; i++) {
        const struct label *label = labels_next(labels, &at, class->keys.v[i]);
        if (label)
            write_label(&x->key, label);
    }
    for (size_t i = 0; class->keys.n > labels->n && i < labels->n; i++)
        if (bsearch(&labels->v[i].key, class->keys.v, class->keys.n, sizeof *class->keys.v,
                    str_cmp_qsort))
            write_label(&x->key, &labels->v[i]);
    return buf_view(&x->key);
}

/* Lists in x->steps the offers that count for nodes with these labels. */
static void find_steps(struct sched__capacities *x, struct str class_name,
                       const struct labels *labels) {
    vec_clear(&x->steps);
    selector_search_start(&x->search, &x->index, class_name, labels, SIZE_MAX);
    for (const struct sched__offer *o; (o = selector_search_next(&x->search));)
        if (!x->steps.n || o->limit > x->steps.v[x->steps.n - 1]->limit)
            vec_push(&x->steps, o);
}

/* Keeps x->steps for nodes with these values of the class's labels. */
static struct reach *remember_steps(struct sched__capacities *x, struct class_offers *class,
                                    struct str values) {
    size_t size = x->steps.n * sizeof *x->steps.v;
    size_t bytes = sizeof(struct reach) + sizeof(struct map_entry) + values.n + size;
    if (x->found_bytes + bytes > LIMIT_SCHED_REACH_BYTES)
        forget_reaches(x);
    struct reach *reach = arena_new(&x->found, struct reach);
    *reach = (struct reach){arena_copy(&x->found, x->steps.v, size), x->steps.n};
    map_put(&class->reaches, arena_str(&x->found, values), reach);
    x->found_bytes += bytes;
    return reach;
}

/* What nodes with these labels reach; NULL: the class has no capacities. */
static const struct reach *reach_get(struct sched__capacities *x, struct str class_name,
                                     const struct labels *labels) {
    struct class_offers *class = map_get(&x->classes, class_name);
    if (!class)
        return NULL;
    struct str values = write_values(x, class, labels);
    const struct reach *reach = map_get(&class->reaches, values);
    if (reach)
        return reach;
    find_steps(x, class_name, labels);
    return remember_steps(x, class, values);
}

const struct api_csi_storage_capacity *sched__capacities_find(struct sched *s,
                                                              struct str class_name, int64_t size,
                                                              const struct labels *labels) {
    const struct reach *reach = reach_get(capacities_get(s), class_name, labels);
    size_t low = 0, high = reach ? reach->n : 0;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (reach->v[mid]->limit < size)
            low = mid + 1;
        else
            high = mid;
    }
    return reach && low < reach->n ? reach->v[low]->capacity : NULL;
}
