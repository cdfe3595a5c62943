/* Labels of nodes as columns: one for each label that somebody spreads or packs by. */
#include <stdlib.h>

#include "base/alloc.h"
#include "sched/sched_int.h"

static uint32_t domain_number(struct sched *s, struct sched__topology *t, struct str value) {
    uintptr_t found = (uintptr_t)map_get(&t->numbers, value);
    if (found)
        return (uint32_t)found;
    struct atom *atom = intern_ref(intern_get(s->atoms, value));
    vec_push(&t->values, atom);
    map_put(&t->numbers, intern_text(atom), (void *)(uintptr_t)t->values.n);
    return (uint32_t)t->values.n;
}

static void set_domain(struct sched *s, struct sched__topology *t, uint32_t slot) {
    const struct api_object *node = s->nodes.v[slot].object;
    const struct label *label = node ? labels_find(&node->meta->labels, intern_text(t->key)) : NULL;
    t->domain[slot] = label ? domain_number(s, t, label->value) : 0;
}

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

void sched__topologies_grow(struct sched *s, uint32_t cap) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->nodes.topologies, &at));) {
        struct sched__topology *t = e->value;
        t->domain = sched__column_grow(t->domain, s->nodes.cap, cap, sizeof *t->domain);
    }
}

void sched__topologies_release(struct sched *s) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&s->nodes.topologies, &at));) {
        struct sched__topology *t = e->value;
        free(t->domain);
        map_release(&t->numbers);
        vec_release(&t->values);
        free(t);
    }
    map_release(&s->nodes.topologies);
}
