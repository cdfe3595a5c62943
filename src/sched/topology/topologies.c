/* Labels of nodes as columns: one for each label that somebody spreads or packs by. */
#include <stdlib.h>

#include "base/alloc.h"
#include "sched/sched_int.h"

/* Fewer columns than this are not worth a sweep. */
enum { LEAST_COLUMNS = 16 };

/* ---- values ---- */

/* The number that was given back last comes first, so that a value that leaves for a while gets its
 * number again. */
static uint32_t take_number(struct sched__topology *t) {
    if (t->free.n)
        return t->free.v[--t->free.n];
    vec_push(&t->values, NULL);
    vec_push(&t->nodes, 0);
    return (uint32_t)t->values.n;
}

static uint32_t domain_number(struct sched *s, struct sched__topology *t, struct str value) {
    uintptr_t found = (uintptr_t)map_get(&t->numbers, value);
    if (found)
        return (uint32_t)found;
    uint32_t number = take_number(t);
    struct atom *atom = intern_ref(intern_get(s->atoms, value));
    t->values.v[number - 1] = atom;
    map_put(&t->numbers, intern_text(atom), (void *)(uintptr_t)number);
    return number;
}

/* One node less has the value. */
static void leave_domain(struct sched__topology *t, uint32_t number) {
    if (!number || --t->nodes.v[number - 1])
        return;
    struct atom *value = t->values.v[number - 1];
    map_del(&t->numbers, intern_text(value));
    intern_unref(value);
    t->values.v[number - 1] = NULL;
    vec_push(&t->free, number);
}

/* The new value comes first, so that a number never changes its meaning while partitions have the
 * node still counted there. */
static void set_domain(struct sched *s, struct sched__topology *t, uint32_t slot) {
    const struct api_object *node = s->nodes.v[slot].object;
    const struct label *label = node ? labels_find(&node->meta->labels, intern_text(t->key)) : NULL;
    uint32_t old = t->domain[slot];
    t->domain[slot] = label ? domain_number(s, t, label->value) : 0;
    if (t->domain[slot])
        t->nodes.v[t->domain[slot] - 1]++;
    leave_domain(t, old);
}

/* ---- columns ---- */

struct sched__topology *sched__topology_get(struct sched *s, struct str key) {
    struct sched__nodes *nodes = &s->nodes;
    struct sched__topology *t = map_get(&nodes->topologies, key);
    if (t)
        return t;
    t = xcalloc(1, sizeof *t);
    t->key = intern_ref(intern_get(s->atoms, key));
    t->numbers = MAP_INIT(s->seed);
    if (nodes->cap)
        t->domain = xcalloc(nodes->cap, sizeof *t->domain);
    for (uint32_t slot = 0; slot < nodes->n; slot++)
        set_domain(s, t, slot);
    map_put(&nodes->topologies, intern_text(t->key), t);
    return t;
}

void sched__topologies_set(struct sched *s, uint32_t slot) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->nodes.topologies, &at));)
        set_domain(s, e->value, slot);
}

/* Forgets the numbers at the end that no value has. */
static void drop_free_numbers(struct sched__topology *t) {
    size_t kept = 0;
    while (t->values.n && !t->values.v[t->values.n - 1])
        t->values.n = --t->nodes.n;
    for (size_t i = 0; i < t->free.n; i++)
        if (t->free.v[i] <= t->values.n)
            t->free.v[kept++] = t->free.v[i];
    t->free.n = kept;
    vec_shrink(&t->values);
    vec_shrink(&t->nodes);
    vec_shrink(&t->free);
}

void sched__topologies_resize(struct sched *s, uint32_t cap) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->nodes.topologies, &at));) {
        struct sched__topology *t = e->value;
        t->domain = sched__column_resize(t->domain, s->nodes.cap, cap, sizeof *t->domain);
        if (cap < s->nodes.cap)
            drop_free_numbers(t);
    }
}

static void topology_free(struct sched__topology *t) {
    for (size_t i = 0; i < t->values.n; i++)
        intern_unref(t->values.v[i]);
    intern_unref(t->key);
    free(t->domain);
    map_release(&t->numbers);
    vec_release(&t->values);
    vec_release(&t->nodes);
    vec_release(&t->free);
    free(t);
}

void sched__topologies_sweep(struct sched *s) {
    struct map *all = &s->nodes.topologies;
    size_t at = 0;
    if (all->live < s->nodes.topologies_due || all->live < LEAST_COLUMNS)
        return;
    for (struct map_entry *e; (e = map_next(all, &at));) {
        struct sched__topology *t = e->value;
        if (t->refs)
            continue;
        map_del(all, e->key);
        topology_free(t);
    }
    s->nodes.topologies_due = 2 * all->live;
}

void sched__topologies_release(struct sched *s) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->nodes.topologies, &at));)
        topology_free(e->value);
    map_release(&s->nodes.topologies);
}
