/*
 * Volumes that could be an unbound claim's own: upstream's FindMatchingVolume.
 *
 * What does not depend on the node is settled once; what is left are candidates, best first, of
 * which a node takes the first whose node affinity it passes. Most volumes there are many of want a
 * single value of a label, such as the host's name, so candidates are sorted into bins by the value
 * that they want: a node looks at its own bin and at those that want something else.
 */
#include "api/selector.h"
#include "sched/volumes/state_int.h"

/* Everything that decides whether a volume suits a claim, read once. */
struct wish {
    const struct sched__claim *claim;
    struct str class_name, mode, attributes;
    const struct selector *selector; /* NULL: any */
    bool attributes_on;              /* gate VolumeAttributesClass */
};

static struct str mode_of(struct str mode) {
    return mode.p ? mode : STR("Filesystem");
}

/* What even a volume that is bound to the claim already must satisfy. */
static bool could_hold(const struct wish *w, const struct sched__pv *pv) {
    const struct api_persistent_volume_spec *spec = &pv->body->spec;
    struct str attributes = spec->volume_attributes_class_name;
    return quantity_cmp(&pv->size, &w->claim->size) >= 0 &&
           str_eq(mode_of(spec->volume_mode), w->mode) &&
           (w->attributes_on ? str_eq(attributes, w->attributes) : !attributes.n) &&
           !pv->body->metadata.deletion_timestamp.set;
}

/* What a volume that nobody has must satisfy beyond that. */
static bool suits(const struct wish *w, const struct sched__pv *pv) {
    return str_is(pv->body->status.phase, "Available") &&
           (!w->selector || selector_matches(w->selector, &pv->body->metadata.labels)) &&
           sched__strs_cover(&pv->body->spec.access_modes, &w->claim->body->spec.access_modes);
}

/* The smallest first; among equals the one that was there first. */
static int compare_size(const void *a, const void *b) {
    const struct sched__pv *x = *(struct sched__pv *const *)a, *y = *(struct sched__pv *const *)b;
    int order = quantity_cmp(&x->size, &y->size);
    return order ? order : (x->order > y->order) - (x->order < y->order);
}

/* Volumes that are bound to the claim come first, in the order in which they are listed. */
static void add_candidate(struct sched__claim *c, struct sched__pv *pv, bool prebound) {
    if (prebound) {
        c->candidates[c->candidate_count] = c->candidates[c->prebound_count];
        c->candidates[c->prebound_count++] = pv;
        c->candidate_count++;
    } else {
        c->candidates[c->candidate_count++] = pv;
    }
}

static bool are_sorted(struct sched__pv *const *v, size_t n) {
    for (size_t i = 1; i < n; i++)
        if (compare_size(&v[i - 1], &v[i]) > 0)
            return false;
    return true;
}

static void list_candidates(struct sched *s, struct arena *a, const struct wish *w,
                            struct sched__claim *c) {
    c->candidates = arena_array(a, struct sched__pv *, s->store.volumes.live);
    size_t at = 0;
    uint32_t order = 0;
    for (struct map_entry *e; (e = map_next(&s->store.volumes, &at));) {
        struct api_object *object = e->value;
        if (!str_eq(sched__volume_class(object), w->class_name))
            continue;
        struct sched__pv *pv = sched__pv_of(s, object);
        struct sched__holder holder;
        bool taken = sched__pv_holder(s, pv, &holder);
        bool prebound = taken && sched__holder_is(&holder, c->object);
        pv->order = order++;
        if (could_hold(w, pv) && (prebound || (!taken && suits(w, pv))))
            add_candidate(c, pv, prebound);
    }
    struct sched__pv **rest = c->candidates + c->prebound_count;
    size_t n = c->candidate_count - c->prebound_count;
    if (!are_sorted(rest, n))
        qsort(rest, n, sizeof *rest, compare_size);
}

/* ---- bins ---- */

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

/* The label that bins go by: that of the first candidate that wants values of one. */
static struct str choose_label(const struct sched__claim *c) {
    struct str key = {0};
    for (size_t i = c->prebound_count; i < c->candidate_count; i++)
        if (wanted_values(c->candidates[i], &key))
            break;
    return key;
}

/* Counts a candidate into each of its bins, and puts it there if there is an `out`. Bin 0 is for
 * those that all nodes look at. */
static void each_bin(const struct sched__claim *c, uint32_t place, uint32_t *bins, uint32_t *out) {
    struct str key = intern_text(c->bins->label->key);
    const struct api_strs *values = wanted_values(c->candidates[place], &key);
    for (size_t i = 0; i < (values ? values->n : 1); i++) {
        const struct map *numbers = &c->bins->label->numbers;
        uintptr_t bin = values ? (uintptr_t)map_get(numbers, values->v[i]) : 0;
        if (values && !bin)
            continue; /* no node has that value */
        if (out)
            out[bins[bin]] = place;
        bins[bin]++;
    }
}

/* Counts first, then turns counts into places, then fills in. */
static void fill_bins(struct arena *a, struct sched__claim *c) {
    size_t n = c->bins->label->values.n + 2;
    uint32_t *ends = arena_array(a, uint32_t, n), sum = 0;
    for (size_t i = c->prebound_count; i < c->candidate_count; i++)
        each_bin(c, (uint32_t)i, ends, NULL);
    for (size_t i = 0; i < n; i++) {
        uint32_t count = ends[i];
        ends[i] = sum;
        sum += count;
    }
    c->bins->starts = arena_copy(a, ends, n * sizeof *ends);
    c->bins->places = arena_array(a, uint32_t, sum + 1U);
    for (size_t i = c->prebound_count; i < c->candidate_count; i++)
        each_bin(c, (uint32_t)i, ends, c->bins->places);
}

static void sort_into_bins(struct sched *s, struct arena *a, struct sched__claim *c) {
    enum { WORTH_IT = 8 };
    struct str label = c->candidate_count < WORTH_IT ? (struct str){0} : choose_label(c);
    if (!label.n)
        return;
    c->bins = arena_new(a, struct sched__bins);
    c->bins->label = sched__topology_get(s, label);
    fill_bins(a, c);
}

/* ---- the choice ---- */

static bool is_chosen(const struct sched__volume_plan *plan, const struct sched__pv *pv) {
    return pv->chosen < plan->binding_count && plan->bindings[pv->chosen].pv == pv;
}

static bool is_reached(const struct sched__pv *pv, const struct match_node *node) {
    return !pv->affinity || match_affinity_required(pv->affinity, node, NULL);
}

/* Candidates that a node has to look at, from the best on: two lists of places, both rising. */
struct walk {
    const uint32_t *v[2], *end[2];
};

static struct walk walk_bins(const struct sched__bins *bins, uint32_t slot) {
    uint32_t own = bins->label->domain[slot];
    const uint32_t *starts = bins->starts, *places = bins->places;
    struct walk w = {{places + starts[0], places + starts[own]},
                     {places + starts[1], places + starts[own + 1]}};
    if (!own)
        w.v[1] = w.end[1];
    return w;
}

static bool walk_next(struct walk *w, size_t *place) {
    bool has_first = w->v[0] < w->end[0], has_second = w->v[1] < w->end[1];
    if (!has_first && !has_second)
        return false;
    int from = has_first && (!has_second || *w->v[0] < *w->v[1]) ? 0 : 1;
    *place = *w->v[from]++;
    return true;
}

struct sched__pv *sched__candidates_choose(struct sched *s, const struct sched__claim *c,
                                           const struct sched__volume_plan *plan, uint32_t slot) {
    const struct match_node *node = s->nodes.v[slot].labels;
    for (size_t i = 0; i < c->prebound_count; i++)
        if (!is_chosen(plan, c->candidates[i]))
            return is_reached(c->candidates[i], node) ? c->candidates[i] : NULL;
    struct walk w = c->bins ? walk_bins(c->bins, slot) : (struct walk){0};
    size_t place = c->prebound_count;
    while (c->bins ? walk_next(&w, &place) : place < c->candidate_count) {
        struct sched__pv *pv = c->candidates[place++];
        if (!is_chosen(plan, pv) && is_reached(pv, node))
            return pv;
    }
    return NULL;
}

/* ---- all of it ---- */

struct str sched__candidates_find(struct sched *s, struct arena *a, struct sched__claim *c) {
    const struct api_persistent_volume_claim_spec *spec = &c->body->spec;
    const struct api_object_meta *meta = c->object->meta;
    struct wish w = {.claim = c, .class_name = sched__claim_class(c->object)};
    w.mode = mode_of(spec->volume_mode);
    w.attributes = spec->volume_attributes_class_name;
    w.attributes_on = feature_enabled(&s->gates, FEATURE_VolumeAttributesClass);
    if (!w.attributes_on && w.attributes.n)
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
    w.selector = selector;
    list_candidates(s, a, &w, c);
    sort_into_bins(s, a, c);
    return (struct str){0};
}
