/*
 * Volumes that could be an unbound claim's own: upstream's FindMatchingVolume.
 *
 * Shelves have them by size; what a claim wants beyond that, and the node, is asked of each volume
 * until one is found.
 *
 * Follows k8s.io/component-helpers storage/volume, func FindMatchingVolume.
 */
#include "api/selector.h"
#include "sched/volumes/state_int.h"

/* ---- volumes that are the claim's already ---- */

/* What even such a volume must satisfy. */
static bool could_hold(const struct sched *s, const struct sched__claim *c,
                       const struct sched__pv *pv) {
    const struct api_persistent_volume_spec *spec = &pv->body->spec;
    struct str attributes = spec->volume_attributes_class_name;
    bool attributes_on = feature_enabled(&s->gates, FEATURE_VolumeAttributesClass);
    return quantity_cmp(&pv->size, &c->size) >= 0 &&
           str_eq(api_volume_mode(spec->volume_mode), api_volume_mode(c->body->spec.volume_mode)) &&
           (attributes_on ? str_eq(attributes, c->body->spec.volume_attributes_class_name)
                          : !attributes.n) &&
           !pv->body->metadata.deletion_timestamp.set;
}

static void list_prebound(struct sched *s, struct arena *a, struct sched__shelves *shelves,
                          struct sched__claim *c) {
    const struct sched__held_list *held = sched__shelves_held(shelves, c->object);
    c->prebound = arena_array(a, struct sched__pv *, held ? held->n : 0);
    for (size_t i = 0; held && i < held->n; i++) {
        const struct api_object *object = held->v[i].object;
        struct sched__holder holder;
        if (!str_eq(api_volume_class(object), api_claim_class(c->object)) ||
            !sched__volume_holder(s, object, &holder) || !sched__holder_is(&holder, c->object))
            continue;
        struct sched__pv *pv = sched__pv_of(s, object);
        if (could_hold(s, c, pv))
            c->prebound[c->prebound_count++] = pv;
    }
}

/* ---- volumes that nobody has ---- */

static void list_shelves(struct arena *a, struct sched__shelves *shelves, struct sched__claim *c) {
    const struct sched__shelf_group *group = sched__shelves_find(shelves, c);
    size_t most = group ? group->shelves.n : 0;
    c->shelves = arena_array(a, struct sched__shelf *, most);
    c->labelled = arena_array(a, struct sched__rack *, most);
    for (size_t i = 0; i < most; i++) {
        struct sched__shelf *shelf = group->shelves.v[i];
        if (!sched__strs_cover(shelf->modes, &c->body->spec.access_modes))
            continue;
        if (c->selector)
            c->labelled[c->shelf_count] = sched__shelf_labelled(shelves, shelf, c->selector);
        c->shelves[c->shelf_count++] = shelf;
    }
}

static bool is_selected(const struct sched__claim *c, const struct sched__pv *pv) {
    return !c->selector || selector_matches(c->selector, &pv->body->metadata.labels);
}

/* The place of the first volume that is large enough. */
static size_t find_size(struct sched__pv *const *v, size_t n, const struct quantity *size) {
    size_t low = 0, high = n;
    while (low < high) {
        size_t mid = low + (high - low) / 2;
        if (quantity_cmp(&v[mid]->size, size) < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

const struct sched__suitable *sched__candidates_count(const struct sched__claim *c) {
    struct sched__suitable *found = c->suitable;
    if (found->known)
        return found;
    found->known = true;
    found->n = c->prebound_count;
    found->first = found->n ? c->prebound[0] : NULL;
    for (size_t i = 0; i < c->shelf_count; i++) {
        const struct sched__shelf *shelf = c->shelves[i];
        for (size_t k = find_size(shelf->all.v, shelf->all.n, &c->size); k < shelf->all.n; k++) {
            if (shelf->all.v[k]->is_held || !is_selected(c, shelf->all.v[k]))
                continue;
            if (!found->n++)
                found->first = shelf->all.v[k];
        }
    }
    return found;
}

/* ---- the choice ---- */

/* What a node is asked, and for which claim. */
struct choice {
    const struct sched__claim *claim;
    const struct sched__volume_plan *plan;
    const struct match_node *node;
};

static bool is_chosen(const struct sched__volume_plan *plan, const struct sched__pv *pv) {
    return pv->chosen < plan->binding_count && plan->bindings[pv->chosen].pv == pv;
}

static bool is_reached(const struct sched__pv *pv, const struct match_node *node) {
    return !pv->affinity || match_affinity_required(pv->affinity, node, NULL);
}

/* The first place from here on whose volume was not seen to be taken. */
static uint32_t skip_taken(struct sched__rack *rack, uint32_t at) {
    uint32_t *next = rack->next.v;
    while (next[at] != at) {
        next[at] = next[next[at]];
        at = next[at];
    }
    return at;
}

/* Where the plan's search in a rack begins: its claims come by size, so what was of no use to one
 * is of none to the next. */
static uint32_t begin(struct sched__rack *rack, const struct choice *x) {
    if (rack->plan != x->plan->serial) {
        rack->plan = x->plan->serial;
        rack->cursor = 0;
    }
    uint32_t at = (uint32_t)find_size(rack->v, rack->n, &x->claim->size);
    return at < rack->cursor ? rack->cursor : at;
}

/* The smallest volume of a rack that the claim can have on the node; NULL: none. */
static struct sched__pv *choose(struct sched__rack *rack, const struct choice *x) {
    bool passed = false; /* a volume that another claim may want */
    if (!rack->n)
        return NULL;
    for (uint32_t i = skip_taken(rack, begin(rack, x)); i < rack->n; i = skip_taken(rack, i + 1)) {
        struct sched__pv *pv = rack->v[i];
        if (pv->is_held) {
            rack->next.v[i] = i + 1;
            continue;
        }
        if (is_chosen(x->plan, pv) || !is_reached(pv, x->node))
            continue;
        if (!passed)
            rack->cursor = i;
        if (is_selected(x->claim, pv))
            return pv;
        passed = true;
    }
    if (!passed)
        rack->cursor = (uint32_t)rack->n;
    return NULL;
}

static struct sched__pv *smaller(struct sched__pv *a, struct sched__pv *b) {
    if (!a || !b)
        return a ? a : b;
    int order = quantity_cmp(&a->size, &b->size);
    return order < 0 || (!order && a->order < b->order) ? a : b;
}

/* How many volumes stand where a node with these labels looks for them. */
static size_t count_on_shelf(const struct sched__shelf *shelf, const struct labels *labels) {
    size_t n = shelf->common.n, at = 0;
    for (const struct sched__rack *rack; (rack = sched__shelf_next_rack(shelf, labels, &at));)
        n += rack->n;
    return n;
}

/* The smallest volume of a shelf that the claim can have on a node with these labels; `labelled`
 * has all that its selector can match, or is NULL. */
static struct sched__pv *choose_on_shelf(struct sched__shelf *shelf, struct sched__rack *labelled,
                                         const struct choice *x, const struct labels *labels) {
    if (labelled && labelled->n < count_on_shelf(shelf, labels))
        return choose(labelled, x);
    struct sched__pv *best = choose(&shelf->common, x);
    size_t at = 0;
    for (struct sched__rack *rack; (rack = sched__shelf_next_rack(shelf, labels, &at));)
        best = smaller(best, choose(rack, x));
    return best;
}

struct sched__pv *sched__candidates_choose(const struct sched__claim *c,
                                           const struct sched__volume_plan *plan,
                                           const struct sched__node *node) {
    struct choice x = {c, plan, node->labels};
    const struct labels *labels = &node->object->meta->labels;
    struct sched__pv *best = NULL;
    for (size_t i = 0; i < c->prebound_count; i++)
        if (!is_chosen(plan, c->prebound[i]))
            return is_reached(c->prebound[i], node->labels) ? c->prebound[i] : NULL;
    for (size_t i = 0; i < c->shelf_count; i++)
        best = smaller(best, choose_on_shelf(c->shelves[i], c->labelled[i], &x, labels));
    return best;
}

/* ---- all of it ---- */

struct str sched__candidates_find(struct sched *s, struct arena *a, struct sched__claim *c) {
    const struct api_persistent_volume_claim_spec *spec = &c->body->spec;
    const struct api_object_meta *meta = c->object->meta;
    if (!feature_enabled(&s->gates, FEATURE_VolumeAttributesClass) &&
        spec->volume_attributes_class_name.n)
        return arena_printf(a,
                            "unsupported volumeAttributesClassName is set on claim %.*s/%.*s when "
                            "the feature-gate VolumeAttributesClass is disabled",
                            STR_ARG(meta->namespace), STR_ARG(meta->name));
    struct selector *selector = NULL;
    struct err err = {0};
    if (selector_compile(a, spec->selector, &selector, &err) < 0)
        return arena_printf(a, "error creating internal label selector for claim: %.*s/%.*s: %.*s",
                            STR_ARG(meta->namespace), STR_ARG(meta->name),
                            STR_ARG(selector->error));
    struct sched__shelves *shelves = sched__shelves_get(s);
    c->selector = selector;
    list_prebound(s, a, shelves, c);
    list_shelves(a, shelves, c);
    return (struct str){0};
}
