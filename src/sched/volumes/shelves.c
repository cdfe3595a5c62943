/*
 * PersistentVolumes as claims look for them, sorted once for all claims.
 *
 * Volumes that nobody has stand on shelves: one for each storage class, mode, attributes class and
 * set of access modes. A shelf has its volumes by size. Where there are many volumes, most want a
 * value of some label, such as the name of the host or the zone. A volume is put on the racks of
 * the label whose values the fewest others want, so that a node finds it under its own labels and
 * finds few others there. Volumes that were bound to a claim, or taken for one, are found by the
 * claim.
 *
 * All of it is made again when a volume changed, or one that was taken came back. One that is taken
 * meanwhile stays, and is left out from when it is met.
 *
 * Follows k8s.io/component-helpers storage/volume, func FindMatchingVolume, func CheckAccessModes.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "sched/topology/count_int.h"
#include "sched/volumes/state_int.h"

/* ---- sorting ---- */

static void write_group_key(struct buf *out, struct str class_name, struct str mode,
                            struct str attributes) {
    buf_clear(out);
    sched__key_add(out, class_name);
    sched__key_add(out, api_volume_mode(mode));
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

static struct sched__shelf *shelf_get(struct sched__shelves *x, const struct sched__pv *pv) {
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
        map_put(&x->shelves, arena_str(&x->arena, buf_view(&x->key)), shelf);
        vec_push(&group->shelves, shelf);
    }
    return shelf;
}

/* Valid until the next key is written. */
static struct str label_key(struct sched__shelves *x, struct str key, struct str value) {
    buf_clear(&x->key);
    sched__key_add(&x->key, key);
    sched__key_add(&x->key, value);
    return buf_view(&x->key);
}

/* ---- what volumes want of nodes ---- */

/* The shelf whose volumes are put on racks. */
struct filling {
    struct sched__shelves *x;
    struct sched__shelf *shelf;
    struct map rows;    /* struct sched__rack_row by key */
    struct map demand;  /* size_t by label and value: how many volumes want it */
    struct arena arena; /* of what does not outlive the filling */
};

/* The terms of which a node must satisfy one, if there are any. */
static struct api_node_selector_term_list terms_of(const struct sched__pv *pv) {
    const struct api_volume_node_affinity *affinity = pv->body->spec.node_affinity;
    return affinity && affinity->required ? affinity->required->node_selector_terms
                                          : (struct api_node_selector_term_list){0};
}

static bool wants_values(const struct api_node_selector_requirement *r) {
    return str_is(r->operator, "In");
}

/* How many volumes want that value of the label; to be counted up. */
static size_t *demand_for(struct filling *f, struct str key, struct str value) {
    struct str text = label_key(f->x, key, value);
    size_t *n = map_get(&f->demand, text);
    if (!n) {
        n = arena_new(&f->arena, size_t);
        map_put(&f->demand, arena_str(&f->arena, text), n);
    }
    return n;
}

static void count_demand(struct filling *f, const struct api_node_selector_term *term) {
    const struct api_node_selector_requirement_list *list = &term->match_expressions;
    for (size_t i = 0; i < list->n; i++)
        for (size_t k = 0; wants_values(&list->v[i]) && k < list->v[i].values.n; k++)
            ++*demand_for(f, list->v[i].key, list->v[i].values.v[k]);
}

/* The most that one of the values is wanted. */
static size_t highest_demand(struct filling *f, const struct api_node_selector_requirement *r) {
    size_t most = 0;
    for (size_t i = 0; i < r->values.n; i++) {
        size_t n = *demand_for(f, r->key, r->values.v[i]);
        most = most < n ? n : most;
    }
    return most;
}

/* The requirement whose values the fewest volumes want; NULL: the term wants values of no label. */
static const struct api_node_selector_requirement *
choose_label(struct filling *f, const struct api_node_selector_term *term) {
    const struct api_node_selector_requirement *best = NULL;
    size_t least = SIZE_MAX;
    for (size_t i = 0; i < term->match_expressions.n; i++) {
        const struct api_node_selector_requirement *r = &term->match_expressions.v[i];
        size_t most = wants_values(r) ? highest_demand(f, r) : SIZE_MAX;
        if (most >= least)
            continue;
        least = most;
        best = r;
    }
    return best;
}

/* ---- racks ---- */

static struct sched__rack *rack_get(struct filling *f, struct str key, struct str value) {
    struct sched__rack_row *row = map_get(&f->rows, key);
    if (!row) {
        row = arena_new(&f->x->arena, struct sched__rack_row);
        *row = (struct sched__rack_row){key, MAP_INIT(f->rows.seed)};
        map_put(&f->rows, key, row);
        vec_push(&f->shelf->rows, row);
    }
    struct sched__rack *rack = map_get(&row->racks, value);
    if (!rack) {
        rack = arena_new(&f->x->arena, struct sched__rack);
        map_put(&row->racks, value, rack);
    }
    return rack;
}

/* Volumes come by size; one that wants the same value twice comes twice in a row. */
static void put_on_rack(struct sched__rack *rack, struct sched__pv *pv) {
    if (rack->n && rack->v[rack->n - 1] == pv)
        return;
    if (!rack->n)
        vec_push(&rack->next, 0);
    vec_push(rack, pv);
    vec_push(&rack->next, (uint32_t)rack->n);
}

/* Puts a volume on the racks of one label for each term, if all terms want values of some. */
static void put_on_racks(struct filling *f, struct sched__pv *pv) {
    struct api_node_selector_term_list terms = terms_of(pv);
    bool is_common = !terms.n;
    for (size_t i = 0; i < terms.n && !is_common; i++)
        is_common = !choose_label(f, &terms.v[i]);
    if (is_common)
        put_on_rack(&f->shelf->common, pv);
    for (size_t i = 0; i < terms.n && !is_common; i++) {
        const struct api_node_selector_requirement *label = choose_label(f, &terms.v[i]);
        for (size_t k = 0; k < label->values.n; k++)
            put_on_rack(rack_get(f, label->key, label->values.v[k]), pv);
    }
}

static int compare_rows(const void *a, const void *b) {
    const struct sched__rack_row *x = *(struct sched__rack_row *const *)a;
    const struct sched__rack_row *y = *(struct sched__rack_row *const *)b;
    return str_cmp(x->key, y->key);
}

static void fill_racks(struct sched__shelves *x, struct sched__shelf *shelf) {
    struct filling f = {.x = x,
                        .shelf = shelf,
                        .rows = MAP_INIT(x->shelves.seed),
                        .demand = MAP_INIT(x->shelves.seed)};
    qsort(shelf->all.v, shelf->all.n, sizeof *shelf->all.v, compare_size);
    for (size_t i = 0; i < shelf->all.n; i++) {
        struct api_node_selector_term_list terms = terms_of(shelf->all.v[i]);
        for (size_t k = 0; k < terms.n; k++)
            count_demand(&f, &terms.v[k]);
    }
    for (size_t i = 0; i < shelf->all.n; i++)
        put_on_racks(&f, shelf->all.v[i]);
    if (shelf->rows.n)
        qsort(shelf->rows.v, shelf->rows.n, sizeof *shelf->rows.v, compare_rows);
    map_release(&f.rows);
    map_release(&f.demand);
    arena_release(&f.arena);
}

static int compare_key(const void *key, const void *row) {
    return str_cmp(*(const struct str *)key, (*(struct sched__rack_row *const *)row)->key);
}

static const struct sched__rack_row *find_row(const struct sched__shelf *shelf, struct str key) {
    struct sched__rack_row *const *row =
        bsearch(&key, shelf->rows.v, shelf->rows.n, sizeof *shelf->rows.v, compare_key);
    return row ? *row : NULL;
}

/* The fewer ones are looked up among the others. */
struct sched__rack *sched__shelf_next_rack(const struct sched__shelf *shelf,
                                           const struct labels *labels, size_t *at) {
    bool by_row = shelf->rows.n <= labels->n;
    size_t n = by_row ? shelf->rows.n : labels->n;
    for (struct sched__rack *rack; *at < n;) {
        size_t i = (*at)++;
        const struct sched__rack_row *row =
            by_row ? shelf->rows.v[i] : find_row(shelf, labels->v[i].key);
        const struct label *label = by_row ? labels_find(labels, row->key) : &labels->v[i];
        if (row && label && (rack = map_get(&row->racks, label->value)))
            return rack;
    }
    return NULL;
}

/* ---- volumes by their own labels ---- */

static void add_labelled(struct sched__shelves *x, struct sched__shelf *shelf,
                         const struct label *label, struct sched__pv *pv) {
    struct str key = label_key(x, label->key, label->value);
    struct sched__rack *rack = map_get(&shelf->labelled, key);
    if (!rack) {
        rack = arena_new(&x->arena, struct sched__rack);
        map_put(&shelf->labelled, arena_str(&x->arena, key), rack);
    }
    put_on_rack(rack, pv);
}

static void fill_labelled(struct sched__shelves *x, struct sched__shelf *shelf) {
    shelf->is_labelled = true;
    shelf->labelled = MAP_INIT(x->shelves.seed);
    for (size_t i = 0; i < shelf->all.n; i++) {
        const struct labels *labels = &shelf->all.v[i]->body->metadata.labels;
        for (size_t k = 0; k < labels->n; k++)
            add_labelled(x, shelf, &labels->v[k], shelf->all.v[i]);
    }
}

static bool is_equality(const struct selector_req *r) {
    return r->value_count == 1 &&
           (r->op == SELECTOR_IN || r->op == SELECTOR_EQUALS || r->op == SELECTOR_DOUBLE_EQUALS);
}

struct sched__rack *sched__shelf_labelled(struct sched__shelves *x, struct sched__shelf *shelf,
                                          const struct selector *selector) {
    struct sched__rack *smallest = NULL;
    for (size_t i = 0; i < selector->n; i++) {
        const struct selector_req *r = &selector->reqs[i];
        if (!is_equality(r))
            continue;
        if (!shelf->is_labelled)
            fill_labelled(x, shelf);
        struct sched__rack *rack = map_get(&shelf->labelled, label_key(x, r->key, r->values[0]));
        if (!rack)
            return &x->nothing;
        smallest = !smallest || rack->n < smallest->n ? rack : smallest;
    }
    return smallest;
}

/* ---- volumes that somebody has ---- */

static struct str claim_key(struct sched__shelves *x, struct str ns, struct str name) {
    buf_clear(&x->key);
    sched__key_add(&x->key, ns);
    sched__key_add(&x->key, name);
    return buf_view(&x->key);
}

/* Adds a volume to those of its holder, in the order of the store. */
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

void sched__shelves_hold(struct sched *s, struct sched__pv *pv,
                         const struct sched__holder *holder) {
    struct sched__shelves *x = &s->volumes->shelves;
    pv->is_held = true;
    if (x->made && x->generation == s->volumes_generation)
        hold(x, holder, (struct sched__held){pv->object, pv->order});
}

/* ---- all of it ---- */

static void release_rack(struct sched__rack *rack) {
    vec_release(&rack->next);
    vec_release(rack);
}

static void release_racks(struct map *racks) {
    size_t at = 0;
    for (struct map_entry *e; (e = map_next(racks, &at));)
        release_rack(e->value);
    map_release(racks);
}

static void release_shelf(struct sched__shelf *shelf) {
    for (size_t i = 0; i < shelf->rows.n; i++)
        release_racks(&shelf->rows.v[i]->racks);
    vec_release(&shelf->rows);
    release_rack(&shelf->common);
    release_racks(&shelf->labelled);
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
    x->made = false;
}

static void add_volume(struct sched *s, struct sched__shelves *x, const struct api_object *object,
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
    pv->is_held = false;
    vec_push(&shelf_get(x, pv)->all, pv);
}

struct sched__shelves *sched__shelves_get(struct sched *s) {
    struct sched__shelves *x = &sched__volumes_get(s)->shelves;
    if (x->made && x->generation == s->volumes_generation)
        return x;
    sched__shelves_release(x);
    *x = (struct sched__shelves){.made = true,
                                 .generation = s->volumes_generation,
                                 .groups = MAP_INIT(s->seed),
                                 .shelves = MAP_INIT(s->seed),
                                 .held = MAP_INIT(s->seed),
                                 .key = BUF_INIT(SIZE_MAX)};
    size_t at = 0;
    uint32_t order = 0;
    for (struct map_entry *e; (e = map_next(&s->store.volumes, &at));)
        add_volume(s, x, e->const_value, order++);
    at = 0;
    for (struct map_entry *e; (e = map_next(&x->shelves, &at));)
        fill_racks(x, e->value);
    return x;
}

const struct sched__shelf_group *sched__shelves_find(struct sched__shelves *x,
                                                     const struct sched__claim *c) {
    write_group_key(&x->key, api_claim_class(c->object), c->body->spec.volume_mode,
                    c->body->spec.volume_attributes_class_name);
    return map_get(&x->groups, buf_view(&x->key));
}

const struct sched__held_list *sched__shelves_held(struct sched__shelves *x,
                                                   const struct api_object *claim) {
    return map_get(&x->held, claim_key(x, claim->meta->namespace, claim->meta->name));
}
