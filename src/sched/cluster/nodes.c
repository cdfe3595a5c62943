/*
 * Nodes as columns: one array per resource, per label that somebody spreads or packs by, and per
 * figure that filters look at for every node, all indexed by slot.
 */
#include <string.h>

#include "base/alloc.h"
#include "sched/cluster/count_int.h"
#include "sched/sched_int.h"

/* ---- columns ---- */

static void *grow_column(void *column, size_t old, size_t cap, size_t size) {
    char *grown = xrealloc(column, size_mul(cap, size));
    memset(grown + old * size, 0, (cap - old) * size);
    return grown;
}

#define GROW(column) ((column) = grow_column((column), old, cap, sizeof *(column)))

static void grow_columns(struct sched *s, uint32_t cap) {
    struct sched__nodes *nodes = &s->nodes;
    uint32_t old = nodes->cap;
    GROW(nodes->v);
    GROW(nodes->taints);
    GROW(nodes->nonzero_cpu);
    GROW(nodes->nonzero_memory);
    GROW(nodes->pods_most);
    GROW(nodes->pods);
    GROW(nodes->lowest_priority);
    GROW(nodes->state);
    GROW(s->scores);
    GROW(s->trial);
    for (size_t i = 0; i < nodes->resources.n; i++) {
        GROW(nodes->resources.v[i].alloc);
        GROW(nodes->resources.v[i].used);
    }
    for (size_t i = 0; i < nodes->topologies.n; i++)
        GROW(nodes->topologies.v[i]->domain);
    nodes->cap = cap;
    sched__count_grow(s, cap);
}

uint32_t sched__node_find(const struct sched *s, struct str name) {
    uintptr_t found = (uintptr_t)map_get(&s->nodes.by_name, name);
    return found ? (uint32_t)(found - 1) : SCHED__NONE;
}

static uint32_t free_slot(struct sched *s) {
    struct sched__nodes *nodes = &s->nodes;
    if (nodes->by_name.live < nodes->n)
        for (uint32_t i = 0; i < nodes->n; i++)
            if (!nodes->v[i].name)
                return i;
    if (nodes->n == nodes->cap)
        grow_columns(s, nodes->cap ? nodes->cap * 2 : 64);
    return nodes->n++;
}

uint32_t sched__node_get(struct sched *s, struct str name) {
    uint32_t slot = sched__node_find(s, name);
    if (slot != SCHED__NONE)
        return slot;
    slot = free_slot(s);
    struct atom *atom = intern_ref(intern_get(s->atoms, name));
    s->nodes.v[slot] = (struct sched__node){.name = atom};
    s->nodes.lowest_priority[slot] = INT32_MAX;
    map_put(&s->nodes.by_name, intern_text(atom), (void *)((uintptr_t)slot + 1));
    return slot;
}

void sched__node_touch(struct sched *s, uint32_t slot) {
    /* Whoever is this far behind asks all nodes again anyway. */
    if (s->changes.n > 2 * (size_t)s->nodes.cap) {
        s->changes_base += s->changes.n;
        vec_clear(&s->changes);
    }
    vec_push(&s->changes, slot);
}

/* ---- resources ---- */

uint32_t sched__resource_get(struct sched *s, struct str name) {
    struct sched__nodes *nodes = &s->nodes;
    struct atom *atom = intern_get(s->atoms, name);
    for (uint32_t i = 0; i < nodes->resources.n; i++)
        if (nodes->resources.v[i].name == atom)
            return i;
    struct sched__resource r = {.name = intern_ref(atom)};
    if (nodes->cap) {
        r.alloc = xcalloc(nodes->cap, sizeof *r.alloc);
        r.used = xcalloc(nodes->cap, sizeof *r.used);
    }
    vec_push(&nodes->resources, r);
    return (uint32_t)nodes->resources.n - 1;
}

static int compare_key(const void *name, const void *quantity) {
    return str_cmp(*(const struct str *)name, ((const struct api_quantity *)quantity)->key);
}

static const struct quantity *find_quantity(const struct api_quantities *list, struct str name) {
    const struct api_quantity *q =
        list->n ? bsearch(&name, list->v, list->n, sizeof *list->v, compare_key) : NULL;
    return q ? &q->value : NULL;
}

/* What a list offers of a resource. */
static int64_t offered(const struct sched *s, const struct api_quantities *list, uint32_t r) {
    const struct quantity *q = find_quantity(list, intern_text(s->nodes.resources.v[r].name));
    if (!q)
        return 0;
    return r == SCHED__CPU ? quantity_milli_value(q) : quantity_value(q);
}

static int32_t offered_pods(const struct api_quantities *list) {
    const struct quantity *q = find_quantity(list, STR("pods"));
    int64_t most = q ? quantity_value(q) : 0;
    return most > INT32_MAX ? INT32_MAX : most < INT32_MIN ? INT32_MIN : (int32_t)most;
}

/* Sets what the node offers; true when that is something else than before. */
static bool set_allocatable(struct sched *s, uint32_t slot, const struct api_quantities *list) {
    struct sched__nodes *nodes = &s->nodes;
    int32_t pods_most = offered_pods(list);
    bool changed = pods_most != nodes->pods_most[slot];
    nodes->pods_most[slot] = pods_most;
    for (size_t i = 0; i < list->n; i++)
        if (!str_is(list->v[i].key, "pods"))
            sched__resource_get(s, list->v[i].key);
    for (uint32_t r = 0; r < nodes->resources.n; r++) {
        int64_t amount = offered(s, list, r);
        changed = changed || amount != nodes->resources.v[r].alloc[slot];
        nodes->resources.v[r].alloc[slot] = amount;
    }
    return changed;
}

/* ---- topologies ---- */

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
    struct sched__topology *t = map_get(&nodes->topology_of, key);
    if (t)
        return t;
    t = xcalloc(1, sizeof *t);
    t->key = intern_ref(intern_get(s->atoms, key));
    map_put(&nodes->topology_of, intern_text(t->key), t);
    t->numbers = MAP_INIT(s->seed);
    if (nodes->cap)
        t->domain = xcalloc(nodes->cap, sizeof *t->domain);
    for (uint32_t slot = 0; slot < nodes->n; slot++)
        set_domain(s, t, slot);
    vec_push(&nodes->topologies, t);
    return t;
}

/* ---- images ---- */

static struct sched__image *image_get(struct sched *s, struct str name, int64_t size) {
    struct sched__image *image = map_get(&s->images, name);
    if (image)
        return image;
    image = xmalloc(sizeof *image + name.n);
    char *text = (char *)(image + 1);
    memcpy(text, name.p, name.n);
    *image = (struct sched__image){.name = {text, name.n}, .size = size};
    map_put(&s->images, image->name, image);
    return image;
}

static void drop_images(struct sched *s, struct sched__node *node) {
    for (size_t i = 0; i < node->images.n; i++) {
        struct sched__image *image = node->images.v[i];
        if (--image->nodes)
            continue;
        map_del(&s->images, image->name);
        free(image);
    }
    vec_clear(&node->images);
}

static void add_images(struct sched *s, struct sched__node *node,
                       const struct api_container_image_list *images) {
    for (size_t i = 0; i < images->n; i++) {
        const struct api_container_image *spec = &images->v[i];
        for (size_t j = 0; j < spec->names.n; j++) {
            struct sched__image *image = image_get(s, spec->names.v[j], spec->size_bytes);
            if (sched__node_has_image(node, image))
                continue;
            image->nodes++;
            vec_push(&node->images, image);
        }
    }
}

static bool same_images(const struct api_container_image_list *a,
                        const struct api_container_image_list *b) {
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++) {
        if (a->v[i].size_bytes != b->v[i].size_bytes || a->v[i].names.n != b->v[i].names.n)
            return false;
        for (size_t j = 0; j < a->v[i].names.n; j++)
            if (!str_eq(a->v[i].names.v[j], b->v[i].names.v[j]))
                return false;
    }
    return true;
}

static void set_images(struct sched *s, struct sched__node *node, const struct api_node *before,
                       const struct api_node *after) {
    if (before && same_images(&before->status.images, &after->status.images))
        return;
    drop_images(s, node);
    add_images(s, node, &after->status.images);
    s->nodes_generation++;
}

/* ---- objects ---- */

static void set_labels(struct sched *s, uint32_t slot) {
    struct sched__node *node = &s->nodes.v[slot];
    match_node_free(node->labels);
    node->labels = match_node_new(s->match, intern_text(node->name), &node->object->meta->labels);
    for (size_t i = 0; i < s->nodes.topologies.n; i++)
        set_domain(s, s->nodes.topologies.v[i], slot);
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

void sched__node_set(struct sched *s, struct api_object *object) {
    uint32_t slot = sched__node_get(s, object->meta->name);
    struct sched__node *node = &s->nodes.v[slot];
    struct api_object *old = node->object;
    const struct api_node *before = old ? old->body : NULL, *after = object->body;
    node->object = api_object_ref(object);
    set_images(s, node, before, after);
    bool changed = set_taints(s, slot, &after->spec.taints);
    if (!old || !labels_equal(&old->meta->labels, &object->meta->labels)) {
        set_labels(s, slot);
        changed = true;
    }
    uint8_t state = SCHED__NODE_THERE | (after->spec.unschedulable ? SCHED__NODE_CLOSED : 0);
    bool other =
        set_allocatable(s, slot, &after->status.allocatable) || state != s->nodes.state[slot];
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
    drop_images(s, node);
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
    vec_release(&node->images);
    *node = (struct sched__node){0};
}

void sched__node_delete(struct sched *s, struct str name) {
    uint32_t slot = sched__node_find(s, name);
    if (slot == SCHED__NONE || !s->nodes.v[slot].object)
        return;
    forget_object(s, slot);
    for (size_t i = 0; i < s->nodes.topologies.n; i++)
        s->nodes.topologies.v[i]->domain[slot] = 0;
    static const struct api_quantities none;
    set_allocatable(s, slot, &none);
    s->nodes.live--;
    s->nodes_generation++;
    sched__node_touch(s, slot);
    sched__count_node_changed(s, slot);
    sched__node_drop_idle(s, slot);
}

void sched__node_drop_idle(struct sched *s, uint32_t slot) {
    const struct sched__node *node = &s->nodes.v[slot];
    if (!node->object && !node->pods.n && !node->nominated.n)
        release_slot(s, slot);
}

void sched__nodes_release(struct sched *s) {
    struct sched__nodes *nodes = &s->nodes;
    for (uint32_t slot = 0; slot < nodes->n; slot++) {
        if (!nodes->v[slot].name)
            continue;
        forget_object(s, slot);
        release_slot(s, slot);
    }
    for (size_t i = 0; i < nodes->resources.n; i++) {
        free(nodes->resources.v[i].alloc);
        free(nodes->resources.v[i].used);
    }
    for (size_t i = 0; i < nodes->topologies.n; i++) {
        struct sched__topology *t = nodes->topologies.v[i];
        free(t->domain);
        map_release(&t->numbers);
        vec_release(&t->values);
        free(t);
    }
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
    vec_release(&nodes->resources);
    vec_release(&nodes->topologies);
    map_release(&nodes->topology_of);
    map_release(&nodes->by_name);
    map_release(&s->images);
}
