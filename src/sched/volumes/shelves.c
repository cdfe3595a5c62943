/*
 * PersistentVolumes as claims look for them, sorted once for all claims.
 *
 * Volumes that nobody has stand on shelves: one for each storage class, mode, attributes class and
 * set of access modes. A shelf has its volumes by size. Most volumes there are many of want a
 * single value of a label, such as the host's name, so a shelf has racks by the value that they
 * want: a node looks at its own rack and at that of volumes which want something else. Volumes that
 * were bound to a claim, or taken for one, are found by the claim.
 *
 * All of it is made again when a volume changed, or one that was taken came back. One that is taken
 * meanwhile stays, and is left out from when it is met.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "sched/cluster/count_int.h"
#include "sched/volumes/state_int.h"

/* ---- sorting ---- */

static struct str mode_of(struct str mode) {
    return mode.p ? mode : STR("Filesystem");
}

static void write_group_key(struct buf *out, struct str class_name, struct str mode,
                            struct str attributes) {
    buf_clear(out);
    sched__key_add(out, class_name);
    sched__key_add(out, mode_of(mode));
    sched__key_add(out, attributes);
}

/* Appends the modes as a set. */
static void write_modes(struct buf *out, const struct api_strs *modes) {
    struct arena a = {0};
    struct str *sorted = arena_copy(&a, modes->v, modes->n * sizeof *modes->v);
    if (modes->n)
        qsort(sorted, modes->n, sizeof *sorted, str_cmp_qsort);
    for (size_t i = 0; i < modes->n; i++)
        if (!i || !str_eq(sorted[i], sorted[i - 1]))
            sched__key_add(out, sorted[i]);
    arena_release(&a);
}

/* The smallest first; among equals the one that was there first. */
static int compare_size(const void *a, const void *b) {
    const struct sched__pv *x = *(struct sched__pv *const *)a, *y = *(struct sched__pv *const *)b;
    int order = quantity_cmp(&x->size, &y->size);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

static struct sched__shelf *shelf_get(struct sched *s, struct sched__shelves *x,
                                      const struct sched__pv *pv) {
    const struct api_persistent_volume_spec *spec = &pv->body->spec;
    write_group_key(&x->key, pv->class_name, spec->volume_mode, spec->volume_attributes_class_name);
    struct sched__shelf_group *group = map_get(&x->groups, buf_view(&x->key));
    if (!group) {
        group = arena_new(&x->arena, struct sched__shelf_group);
        map_put(&x->groups, arena_str(&x->arena, buf_view(&x->key)), group);
    }
    write_modes(&x->key, &spec->access_modes);
    struct sched__shelf *shelf = map_get(&x->shelves, buf_view(&x->key));
    if (!shelf) {
        shelf = arena_new(&x->arena, struct sched__shelf);
        shelf->modes = &spec->access_modes;
        shelf->racks = MAP_INIT(s->seed);
        map_put(&x->shelves, arena_str(&x->arena, buf_view(&x->key)), shelf);
        vec_push(&group->shelves, shelf);
    }
    return shelf;
}

/* ---- racks ---- */

/* The values that a volume wants of a label, if it wants nothing else instead; NULL: it is not so.
 * An empty key: of any label, and *key becomes that. */
static const struct api_strs *wanted_values(const struct sched__pv *pv, struct str *key) {
    const struct api_volume_node_affinity *affinity = pv->body->spec.node_affinity;
    if (!affinity || !affinity->required || affinity->required->node_selector_terms.n != 1)
        return NULL;
    const struct api_node_selector_requirement_list *list =
        &affinity->required->node_selector_terms.v[0].match_expressions;
    for (size_t i = 0; i < list->n; i++) {
        if (!str_is(list->v[i].operator, "In") || (key->n && !str_eq(list->v[i].key, *key)))
            continue;
        *key = list->v[i].key;
        return &list->v[i].values;
    }
    return NULL;
}

/* The label that racks go by: that of the first volume that wants values of one. */
static struct str choose_label(const struct sched__shelf *shelf) {
    struct str key = {0};
    for (size_t i = 0; i < shelf->all.n; i++)
        if (wanted_values(shelf->all.v[i], &key))
            break;
    return key;
}

static void put_on_rack(struct sched__rack *rack, struct sched__pv *pv) {
    if (!rack->n)
        vec_push(&rack->next, 0);
    vec_push(rack, pv);
    vec_push(&rack->next, (uint32_t)rack->n);
}

static struct sched__rack *rack_get(struct arena *a, struct sched__shelf *shelf, struct str value) {
    struct sched__rack *rack = map_get(&shelf->racks, value);
    if (!rack) {
        rack = arena_new(a, struct sched__rack);
        map_put(&shelf->racks, value, rack);
    }
    return rack;
}

static void fill_racks(struct arena *a, struct sched__shelf *shelf) {
    qsort(shelf->all.v, shelf->all.n, sizeof *shelf->all.v, compare_size);
    shelf->label = choose_label(shelf);
    for (size_t i = 0; i < shelf->all.n; i++) {
        struct sched__pv *pv = shelf->all.v[i];
        struct str key = shelf->label;
        const struct api_strs *values = shelf->label.n ? wanted_values(pv, &key) : NULL;
        for (size_t k = 0; values && k < values->n; k++)
            put_on_rack(rack_get(a, shelf, values->v[k]), pv);
        if (!values)
            put_on_rack(&shelf->common, pv);
    }
}

/* ---- volumes that somebody has ---- */

static struct str claim_key(struct sched__shelves *x, struct str ns, struct str name) {
    buf_clear(&x->key);
    sched__key_add(&x->key, ns);
    sched__key_add(&x->key, name);
    return buf_view(&x->key);
}

/* In the order in which volumes are listed. */
static void hold(struct sched__shelves *x, const struct sched__holder *holder,
                 struct sched__held volume) {
    struct str key = claim_key(x, holder->ns, holder->name);
    struct sched__held_list *list = map_get(&x->held, key);
    if (!list) {
        list = arena_new(&x->arena, struct sched__held_list);
        map_put(&x->held, arena_str(&x->arena, key), list);
    }
    vec_push(list, volume);
    for (size_t i = list->n - 1; i && list->v[i - 1].order > volume.order; i--) {
        list->v[i] = list->v[i - 1];
        list->v[i - 1] = volume;
    }
}

void sched__shelves_hold(struct sched *s, const struct sched__pv *pv,
                         const struct sched__holder *holder) {
    struct sched__shelves *x = &s->volumes->shelves;
    if (x->generation == s->volumes_generation)
        hold(x, holder, (struct sched__held){pv->object, pv->order});
}

/* ---- all of it ---- */

static void release_rack(struct sched__rack *rack) {
    vec_release(&rack->next);
    vec_release(rack);
}

static void release_shelf(struct sched__shelf *shelf) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&shelf->racks, &at));)
        release_rack(e->value);
    map_release(&shelf->racks);
    release_rack(&shelf->common);
    vec_release(&shelf->all);
}

void sched__shelves_release(struct sched__shelves *x) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(&x->shelves, &at));)
        release_shelf(e->value);
    at = 0;
    for (struct map_entry *e; (e = map_next(&x->groups, &at));)
        vec_release(&((struct sched__shelf_group *)e->value)->shelves);
    at = 0;
    for (struct map_entry *e; (e = map_next(&x->held, &at));)
        vec_release((struct sched__held_list *)e->value);
    map_release(&x->shelves);
    map_release(&x->groups);
    map_release(&x->held);
    buf_release(&x->key);
    arena_release(&x->arena);
}

static void add_volume(struct sched *s, struct sched__shelves *x, struct api_object *object,
                       uint32_t order) {
    const struct api_persistent_volume *body = object->body;
    struct sched__holder holder;
    if (sched__volume_holder(s, object, &holder)) {
        hold(x, &holder, (struct sched__held){object, order});
        return;
    }
    if (!str_is(body->status.phase, "Available") || body->metadata.deletion_timestamp.set)
        return;
    struct sched__pv *pv = sched__pv_of(s, object);
    pv->order = order;
    vec_push(&shelf_get(s, x, pv)->all, pv);
}

struct sched__shelves *sched__shelves_get(struct sched *s) {
    struct sched__shelves *x = &sched__volumes_get(s)->shelves;
    if (x->generation == s->volumes_generation && x->key.max)
        return x;
    sched__shelves_release(x);
    *x = (struct sched__shelves){.generation = s->volumes_generation,
                                 .groups = MAP_INIT(s->seed),
                                 .shelves = MAP_INIT(s->seed),
                                 .held = MAP_INIT(s->seed),
                                 .key = BUF_INIT(SIZE_MAX)};
    size_t at = 0;
    uint32_t order = 0;
    for (struct map_entry *e; (e = map_next(&s->store.volumes, &at));)
        add_volume(s, x, e->value, order++);
    at = 0;
    for (struct map_entry *e; (e = map_next(&x->shelves, &at));)
        fill_racks(&x->arena, e->value);
    return x;
}

const struct sched__shelf_group *sched__shelves_find(struct sched__shelves *x,
                                                     const struct sched__claim *c) {
    write_group_key(&x->key, sched__claim_class(c->object), c->body->spec.volume_mode,
                    c->body->spec.volume_attributes_class_name);
    return map_get(&x->groups, buf_view(&x->key));
}

const struct sched__held_list *sched__shelves_held(struct sched__shelves *x,
                                                   const struct api_object *claim) {
    return map_get(&x->held, claim_key(x, claim->meta->namespace, claim->meta->name));
}
