/*
 * Resources as columns: what nodes offer and what is in use there. A resource has a number and a
 * column for as long as some pod asks for it, or the configuration scores it; what nodes offer
 * beside that costs nothing but a look into their objects when the first pod asks.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework, func (*NodeInfo) SetNode.
 */
#include <stdlib.h>

#include "api/types.h"
#include "base/alloc.h"
#include "sched/sched_int.h"

/* ---- what a node offers ---- */

static int compare_key(const void *name, const void *quantity) {
    return str_cmp(*(const struct str *)name, ((const struct api_quantity *)quantity)->key);
}

static const struct quantity *find_quantity(const struct api_quantities *list, struct str name) {
    const struct api_quantity *q =
        list->n ? bsearch(&name, list->v, list->n, sizeof *list->v, compare_key) : NULL;
    return q ? &q->value : NULL;
}

static int64_t offered(const struct sched *s, const struct api_quantities *list, uint32_t r) {
    const struct quantity *q = find_quantity(list, intern_text(s->nodes.resources.v[r].name));
    if (!q)
        return 0;
    return r == SCHED__CPU ? quantity_milli_value(q) : quantity_value(q);
}

static int32_t offered_pods(const struct api_quantities *list) {
    const struct quantity *q = find_quantity(list, STR("pods"));
    int64_t most = q ? quantity_value(q) : 0;
    return most > INT32_MAX ? INT32_MAX : most < 0 ? 0 : (int32_t)most;
}

/* ---- columns ---- */

/* A hostile pod can ask for tens of thousands of resources that no node has: such columns share
 * one. Before the first amount is written into a column it becomes one of its own. */
static void set_amount(const struct sched__nodes *nodes, int64_t **column, uint32_t slot,
                       int64_t amount) {
    if (*column == nodes->zeros) {
        if (!amount)
            return;
        *column = xcalloc(nodes->cap, sizeof **column);
    }
    (*column)[slot] = amount;
}

static void free_column(const struct sched__nodes *nodes, int64_t *column) {
    if (column != nodes->zeros)
        free(column);
}

static void resize_column(int64_t **column, const int64_t *old_zeros, int64_t *zeros, uint32_t old,
                          uint32_t cap) {
    *column =
        *column == old_zeros ? zeros : sched__column_resize(*column, old, cap, sizeof **column);
}

void sched__resources_resize(struct sched *s, uint32_t cap) {
    struct sched__nodes *nodes = &s->nodes;
    int64_t *zeros = xcalloc(cap, sizeof *zeros);
    for (size_t i = 0; i < nodes->resources.n; i++) {
        resize_column(&nodes->resources.v[i].alloc, nodes->zeros, zeros, nodes->cap, cap);
        resize_column(&nodes->resources.v[i].used, nodes->zeros, zeros, nodes->cap, cap);
    }
    free(nodes->zeros);
    nodes->zeros = zeros;
}

void sched__resource_use(struct sched *s, uint32_t resource, uint32_t slot, int64_t more) {
    struct sched__resource *r = &s->nodes.resources.v[resource];
    set_amount(&s->nodes, &r->used, slot, wrap_add_i64(r->used[slot], more));
}

bool sched__allocatable_set(struct sched *s, uint32_t slot, const struct api_quantities *list) {
    struct sched__nodes *nodes = &s->nodes;
    int32_t pods_most = offered_pods(list);
    bool changed = pods_most != nodes->pods_most[slot];
    nodes->pods_most[slot] = pods_most;
    for (uint32_t i = 0; i < nodes->resources.n; i++) {
        struct sched__resource *r = &nodes->resources.v[i];
        int64_t amount = r->name ? offered(s, list, i) : 0;
        changed = changed || amount != r->alloc[slot];
        set_amount(nodes, &r->alloc, slot, amount);
    }
    return changed;
}

/* ---- numbers ---- */

static void fill_column(struct sched *s, uint32_t number) {
    struct sched__nodes *nodes = &s->nodes;
    for (uint32_t slot = 0; slot < nodes->n; slot++) {
        if (!nodes->v[slot].object)
            continue;
        const struct api_node *node = nodes->v[slot].object->body;
        set_amount(nodes, &nodes->resources.v[number].alloc, slot,
                   offered(s, &node->status.allocatable, number));
    }
}

/* Free numbers from resources.n on are not in use, and not listed twice: the list is empty before
 * resources.n grows. */
static uint32_t take_number(struct sched__nodes *nodes) {
    while (nodes->free_resources.n) {
        uint32_t number = nodes->free_resources.v[--nodes->free_resources.n];
        if (number < nodes->resources.n)
            return number;
    }
    vec_push(&nodes->resources, (struct sched__resource){0});
    return (uint32_t)nodes->resources.n - 1;
}

uint32_t sched__resource_find(const struct sched *s, struct str name) {
    uintptr_t found = (uintptr_t)map_get(&s->nodes.resource_numbers, name);
    return found ? (uint32_t)(found - 1) : SCHED__NONE;
}

uint32_t sched__resource_get(struct sched *s, struct str name) {
    struct sched__nodes *nodes = &s->nodes;
    uint32_t number = sched__resource_find(s, name);
    if (number != SCHED__NONE)
        return number;
    number = take_number(nodes);
    struct atom *atom = intern_ref(intern_get(s->atoms, name));
    nodes->resources.v[number] =
        (struct sched__resource){.name = atom, .alloc = nodes->zeros, .used = nodes->zeros};
    map_put(&nodes->resource_numbers, intern_text(atom), (void *)((uintptr_t)number + 1));
    fill_column(s, number);
    return number;
}

void sched__resource_ref(struct sched *s, uint32_t resource) {
    s->nodes.resources.v[resource].refs++;
}

static void give_number(struct sched__nodes *nodes, uint32_t number) {
    vec_push(&nodes->free_resources, number);
    while (nodes->resources.n && !nodes->resources.v[nodes->resources.n - 1].name)
        nodes->resources.n--;
    vec_shrink(&nodes->resources);
}

/* Nothing is in use any more where the last pod that asked for it is gone. */
void sched__resource_unref(struct sched *s, uint32_t resource) {
    struct sched__nodes *nodes = &s->nodes;
    struct sched__resource *r = &nodes->resources.v[resource];
    if (--r->refs)
        return;
    map_del(&nodes->resource_numbers, intern_text(r->name));
    intern_unref(r->name);
    free_column(nodes, r->alloc);
    free_column(nodes, r->used);
    *r = (struct sched__resource){.alloc = nodes->zeros, .used = nodes->zeros};
    give_number(nodes, resource);
}

void sched__resources_release(struct sched *s) {
    struct sched__nodes *nodes = &s->nodes;
    for (size_t i = 0; i < nodes->resources.n; i++) {
        free_column(nodes, nodes->resources.v[i].alloc);
        free_column(nodes, nodes->resources.v[i].used);
    }
    free(nodes->zeros);
    vec_release(&nodes->resources);
    vec_release(&nodes->free_resources);
    map_release(&nodes->resource_numbers);
}
