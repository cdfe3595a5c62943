/*
 * Nodes: which slot each has, and what their objects put into the columns.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/backend/cache, func (*cacheImpl) AddNode,
 * func (*cacheImpl) UpdateNode, func (*cacheImpl) RemoveNode.
 */
#include <string.h>

#include "base/alloc.h"
#include "sched/sched_int.h"
#include "sched/topology/count_int.h"
#include "sched/volumes/attached_int.h"

/* ---- columns ---- */

enum { FIRST_SLOTS = 4 };

void *sched__column_resize(void *column, size_t old, size_t cap, size_t size) {
    char *resized = xrealloc(column, size_mul(cap, size));
    if (cap > old)
        memset(resized + old * size, 0, (cap - old) * size);
    return resized;
}

#define RESIZE(column) ((column) = sched__column_resize((column), old, cap, sizeof *(column)))

static void resize_columns(struct sched *s, uint32_t cap) {
    struct sched__nodes *nodes = &s->nodes;
    uint32_t old = nodes->cap;
    RESIZE(nodes->v);
    RESIZE(nodes->taints);
    RESIZE(nodes->nonzero_cpu);
    RESIZE(nodes->nonzero_memory);
    RESIZE(nodes->pods_most);
    RESIZE(nodes->pods);
    RESIZE(nodes->lowest_priority);
    RESIZE(nodes->state);
    RESIZE(s->scores);
    RESIZE(s->trial);
    sched__resources_resize(s, cap);
    sched__topologies_resize(s, cap);
    nodes->cap = cap;
    sched__count_resize(s, cap);
}

uint32_t sched__node_find(const struct sched *s, struct str name) {
    uintptr_t found = (uintptr_t)map_get(&s->nodes.by_name, name);
    return found ? (uint32_t)(found - 1) : SCHED__NONE;
}

static uint32_t take_slot(struct sched *s) {
    struct sched__nodes *nodes = &s->nodes;
    uint32_t slot = sched__slot_take(nodes);
    if (slot != SCHED__NONE)
        return slot;
    if (nodes->n == nodes->cap)
        resize_columns(s, nodes->cap * 2);
    return nodes->n++;
}

uint32_t sched__node_get(struct sched *s, struct str name) {
    uint32_t slot = sched__node_find(s, name);
    if (slot != SCHED__NONE)
        return slot;
    slot = take_slot(s);
    struct atom *atom = intern_ref(intern_get(s->atoms, name));
    s->nodes.v[slot] = (struct sched__node){.name = atom};
    s->nodes.lowest_priority[slot] = INT32_MAX;
    map_put(&s->nodes.by_name, intern_text(atom), (void *)((uintptr_t)slot + 1));
    return slot;
}

/* Whoever has not read the journal to its end asks all nodes again. */
static void start_journal(struct sched *s) {
    s->changes_base += s->changes.n;
    vec_clear(&s->changes);
    vec_shrink(&s->changes);
}

void sched__node_touch(struct sched *s, uint32_t slot) {
    if (s->trying)
        return;
    s->nodes.v[slot].touched = s->changes_base + s->changes.n + 1;
    if (s->changes.n > 2 * (size_t)s->nodes.cap) /* who is this far behind does so anyway */
        start_journal(s);
    vec_push(&s->changes, slot);
}

/* The journal may name slots that are given back. */
void sched__nodes_sweep(struct sched *s) {
    struct sched__nodes *nodes = &s->nodes;
    if (!nodes->n || nodes->v[nodes->n - 1].name)
        return;
    while (nodes->n && !nodes->v[nodes->n - 1].name)
        nodes->n--;
    start_journal(s);
    while (nodes->cap > FIRST_SLOTS && nodes->n < nodes->cap / 4)
        resize_columns(s, nodes->cap / 2);
}

/* ---- objects ---- */

static bool same_images(const struct api_container_image_list *a,
                        const struct api_container_image_list *b) {
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (a->v[i].size_bytes != b->v[i].size_bytes ||
            !sched__strs_equal(&a->v[i].names, &b->v[i].names))
            return false;
    return true;
}

static void set_images(struct sched *s, struct sched__node *node, const struct api_node *before,
                       const struct api_node *after) {
    if (before && same_images(&before->status.images, &after->status.images))
        return;
    sched__images_set(s, node, &after->status.images);
    s->nodes_generation++;
}

static void set_labels(struct sched *s, uint32_t slot) {
    struct sched__node *node = &s->nodes.v[slot];
    match_node_free(node->labels);
    node->labels = match_node_new(s->match, intern_text(node->name), &node->object->meta->labels);
    sched__topologies_set(s, slot);
}

/* True when the taints are other ones than before. */
static bool set_taints(struct sched *s, uint32_t slot, const struct api_taint_list *spec) {
    struct match_taints *old = s->nodes.taints[slot];
    struct match_taints *taints = match_taints_get(s->match, spec);
    if (taints == old)
        return false;
    match_ref(&taints->list);
    if (old)
        match_unref(&old->list);
    s->nodes.taints[slot] = taints;
    return true;
}

void sched__node_set(struct sched *s, const struct api_object *object) {
    uint32_t slot = sched__node_get(s, object->meta->name);
    struct sched__node *node = &s->nodes.v[slot];
    const struct api_object *old = node->object;
    const struct api_node *before = old ? old->body : NULL, *after = object->body;
    node->object = api_object_ref(object);
    set_images(s, node, before, after);
    bool changed = set_taints(s, slot, &after->spec.taints);
    if (!old || !labels_equal(&old->meta->labels, &object->meta->labels)) {
        set_labels(s, slot);
        changed = true;
    }
    uint8_t state = SCHED__NODE_THERE | (after->spec.unschedulable ? SCHED__NODE_CLOSED : 0);
    bool other = sched__allocatable_set(s, slot, &after->status.allocatable) ||
                 state != s->nodes.state[slot];
    s->nodes.state[slot] = state;
    if (!old) {
        s->nodes.live++;
        s->nodes_generation++;
    }
    if (changed)
        sched__count_node_changed(s, slot);
    if (changed || other)
        sched__node_touch(s, slot);
    api_object_unref(old);
}

/* Forgets the node's object; the slot stays while there are pods on it. */
static void forget_object(struct sched *s, uint32_t slot) {
    struct sched__node *node = &s->nodes.v[slot];
    if (s->nodes.taints[slot])
        match_unref(&s->nodes.taints[slot]->list);
    match_node_free(node->labels);
    sched__images_set(s, node, NULL);
    api_object_unref(node->object);
    s->nodes.taints[slot] = NULL;
    node->labels = NULL;
    node->object = NULL;
    s->nodes.state[slot] = 0;
}

static void release_slot(struct sched *s, uint32_t slot) {
    struct sched__node *node = &s->nodes.v[slot];
    map_del(&s->nodes.by_name, intern_text(node->name));
    intern_unref(node->name);
    vec_release(&node->pods);
    vec_release(&node->port_pods);
    vec_release(&node->nominated);
    vec_release(&node->beside.amounts);
    sched__attached_free(node->attached);
    *node = (struct sched__node){0};
}

void sched__node_delete(struct sched *s, struct str name) {
    static const struct api_quantities none;
    uint32_t slot = sched__node_find(s, name);
    if (slot == SCHED__NONE || !s->nodes.v[slot].object)
        return;
    forget_object(s, slot);
    sched__topologies_set(s, slot);
    sched__allocatable_set(s, slot, &none);
    s->nodes.live--;
    s->nodes_generation++;
    sched__node_touch(s, slot);
    sched__count_node_changed(s, slot);
    sched__node_drop_idle(s, slot);
}

void sched__node_drop_idle(struct sched *s, uint32_t slot) {
    const struct sched__node *node = &s->nodes.v[slot];
    if (node->object || node->pods.n || node->nominated.n)
        return;
    release_slot(s, slot);
    sched__slot_give(&s->nodes, slot);
}

/* ---- all of them ---- */

void sched__nodes_init(struct sched *s) {
    s->nodes.by_name = MAP_INIT(s->seed);
    s->nodes.resource_numbers = MAP_INIT(s->seed);
    s->nodes.topologies = MAP_INIT(s->seed);
    s->nodes.images = MAP_INIT(s->seed);
    sched__ports_init(s);
    resize_columns(s, FIRST_SLOTS);
    static const char *const names[SCHED__SCALARS] = {
        [SCHED__CPU] = "cpu", [SCHED__MEMORY] = "memory", [SCHED__EPHEMERAL] = "ephemeral-storage"};
    for (size_t i = 0; i < SCHED__SCALARS; i++)
        sched__resource_ref(s, sched__resource_get(s, str_of(names[i])));
}

void sched__nodes_release(struct sched *s) {
    struct sched__nodes *nodes = &s->nodes;
    for (uint32_t slot = 0; slot < nodes->n; slot++) {
        if (!nodes->v[slot].name)
            continue;
        forget_object(s, slot);
        release_slot(s, slot);
    }
    sched__resources_release(s);
    sched__topologies_release(s);
    sched__ports_release(s);
    free(nodes->v);
    free(nodes->taints);
    free(nodes->nonzero_cpu);
    free(nodes->nonzero_memory);
    free(nodes->pods_most);
    free(nodes->pods);
    free(nodes->lowest_priority);
    free(nodes->state);
    free(s->scores);
    free(s->trial);
    vec_release(&nodes->free);
    map_release(&nodes->by_name);
    map_release(&nodes->images);
}
