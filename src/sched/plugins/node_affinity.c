/*
 * NodeAffinity: nodeSelector and node affinity of the pod, and what the profile adds. Terms that
 * all pin the node's name leave other nodes out before any filter runs, as upstream's PreFilter
 * does.
 *
 * Follows k8s.io/kubernetes pkg/scheduler/framework/plugins/nodeaffinity,
 * func (*NodeAffinity) PreFilter, func (*NodeAffinity) Filter, func (*NodeAffinity) Score.
 */
#include <stdlib.h>

#include "base/alloc.h"
#include "sched/findings_int.h"

struct node_affinity {
    struct match_affinity *added; /* the profile's; NULL: none */
    bool has_filter, has_score;
    bool pinned;         /* only nodes with these names are looked at */
    struct atom **names; /* by address; may be none: the terms contradict themselves */
    size_t name_count;
};

/* ---- names that all terms pin ---- */

static bool pins_name(const struct api_node_selector_requirement *r) {
    return str_is(r->key, "metadata.name") && str_is(r->operator, "In");
}

static const struct api_strs *term_names(const struct api_node_selector_term *term) {
    for (size_t i = 0; i < term->match_fields.n; i++)
        if (pins_name(&term->match_fields.v[i]))
            return &term->match_fields.v[i].values;
    return NULL;
}

/* Names of nodes, sorted. */
struct names {
    struct str *v;
    size_t n;
};

static struct names sort_names(struct arena *a, const struct api_strs *values) {
    struct names names = {arena_copy(a, values->v, values->n * sizeof *values->v), values->n};
    if (names.n)
        qsort(names.v, names.n, sizeof *names.v, str_cmp_qsort);
    return names;
}

/* Leaves the names that the requirement lists, too. */
static void intersect(struct arena *a, struct names *names, const struct api_strs *values) {
    struct names other = sort_names(a, values);
    size_t kept = 0, k = 0;
    for (size_t i = 0; i < names->n; i++) {
        while (k < other.n && str_cmp(other.v[k], names->v[i]) < 0)
            k++;
        if (k < other.n && str_eq(other.v[k], names->v[i]))
            names->v[kept++] = names->v[i];
    }
    names->n = kept;
}

/* The names that every requirement of the term lists which pins names. */
static struct names allowed_names(struct arena *a, const struct api_node_selector_term *term) {
    const struct api_strs *first = term_names(term);
    struct names names = sort_names(a, first);
    for (size_t i = 0; i < term->match_fields.n; i++)
        if (pins_name(&term->match_fields.v[i]) && &term->match_fields.v[i].values != first)
            intersect(a, &names, &term->match_fields.v[i].values);
    return names;
}

static int compare_atoms(const void *a, const void *b) {
    uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
    return (x > y) - (x < y);
}

static void collect_names(struct sched *s, struct sched__pod_class *c, struct node_affinity *d,
                          const struct api_node_selector *required) {
    const struct api_node_selector_term_list *terms = &required->node_selector_terms;
    size_t most = 0;
    for (size_t i = 0; i < terms->n; i++) {
        const struct api_strs *names = term_names(&terms->v[i]);
        if (!names)
            return;
        most += names->n;
    }
    struct arena a = {0};
    d->pinned = terms->n > 0;
    d->names = arena_array(&c->arena, struct atom *, most);
    for (size_t i = 0; i < terms->n; i++) {
        struct names names = allowed_names(&a, &terms->v[i]);
        for (size_t k = 0; k < names.n; k++)
            d->names[d->name_count++] = intern_ref(intern_get(s->atoms, names.v[k]));
    }
    if (d->name_count)
        qsort(d->names, d->name_count, sizeof *d->names, compare_atoms);
    arena_release(&a);
}

/* ---- compile ---- */

static void *compile(struct sched *s, struct sched__pod_class *c) {
    const struct api_affinity *affinity = c->pod->spec.affinity;
    const struct api_node_affinity *own = affinity ? affinity->node_affinity : NULL;
    const struct api_node_affinity *added = c->profile ? c->profile->added_affinity : NULL;
    if (!own && !added && !c->pod->spec.node_selector.n)
        return NULL;
    struct node_affinity *d = arena_new(&c->arena, struct node_affinity);
    if (added)
        d->added = match_affinity_new(s->match, NULL, added);
    d->has_filter =
        c->pod->spec.node_selector.n || (own && own->required) || (added && added->required);
    d->has_score = (own && own->preferred.n) || (added && added->preferred.n);
    if (own && own->required)
        collect_names(s, c, d, own->required);
    return d;
}

static void discard(struct sched *s, void *data) {
    struct node_affinity *d = data;
    (void)s;
    match_affinity_free(d->added);
    for (size_t i = 0; i < d->name_count; i++)
        intern_unref(d->names[i]);
}

/* ---- filter ---- */

static bool is_named(const struct node_affinity *d, const struct atom *name) {
    return d->name_count &&
           bsearch(&name, d->names, d->name_count, sizeof *d->names, compare_atoms);
}

/* The pod names a node that its terms leave out. */
static bool contradicts_node_name(const struct sched__cycle *cy, const struct node_affinity *d) {
    struct str name = cy->cls->pod->spec.node_name;
    return d->pinned && name.n && !is_named(d, intern_get(cy->s->atoms, name));
}

static void pre_filter(struct sched__cycle *cy) {
    const struct node_affinity *d = cy->cls->data[SCHED_NODE_AFFINITY];
    if (d->pinned && !d->name_count) {
        sched__prefilter_reject(cy, SCHED_NODE_AFFINITY, STR("pod affinity terms conflict"));
    } else if (contradicts_node_name(cy, d)) {
        sched__prefilter_reject(
            cy, SCHED_NODE_AFFINITY,
            STR("node(s) didn't satisfy plugin(s) [NodeAffinity NodeName] simultaneously"));
        cy->rejected.plugin = STR(""); /* of both, so of neither */
    }
}

static bool restricts(const struct sched__pod_class *c) {
    const struct node_affinity *d = c->data[SCHED_NODE_AFFINITY];
    return d && d->pinned;
}

static void restrict_to(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    const struct node_affinity *d = cy->cls->data[SCHED_NODE_AFFINITY];
    for (uint32_t i = from; d->pinned && i < to; i++)
        if (!cy->verdict[i] && !is_named(d, cy->s->nodes.v[i].name))
            cy->verdict[i] = SCHED__ABSENT;
}

/* Equal names are neighbours. */
static const uint32_t *named(struct sched__cycle *cy, size_t *n) {
    const struct node_affinity *d = cy->cls->data[SCHED_NODE_AFFINITY];
    if (!d->pinned || d->name_count > cy->s->nodes.n / 4)
        return NULL;
    uint32_t *slots = arena_array(cy->arena, uint32_t, d->name_count);
    *n = 0;
    for (size_t i = 0; i < d->name_count; i++) {
        uint32_t slot = sched__node_find(cy->s, intern_text(d->names[i]));
        if (slot != SCHED__NONE && (i == 0 || d->names[i] != d->names[i - 1]))
            slots[(*n)++] = slot;
    }
    return slots;
}

static enum sched__reason check(struct sched *s, const struct sched__pod_class *c,
                                const struct node_affinity *d, const struct match_node *node) {
    if (d->added && !match_affinity_required(d->added, node, NULL))
        return SCHED__REASON_ADDED_AFFINITY;
    if (match_affinity_required(c->affinity, node, NULL))
        return SCHED__FITS;
    match_affinity_log(s->match, c->affinity, MATCH_NODE_REQUIRED, node);
    return match_affinity_fails_versions(c->affinity, node) ? SCHED__REASON_AFFINITY_VERSION
                                                            : SCHED__REASON_AFFINITY;
}

static void filter(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    const struct node_affinity *d = cy->cls->data[SCHED_NODE_AFFINITY];
    for (uint32_t i = from; d->has_filter && i < to; i++)
        if (!cy->verdict[i])
            cy->verdict[i] = (uint8_t)check(cy->s, cy->cls, d, cy->s->nodes.v[i].labels);
}

static void explain(struct sched__cycle *cy, uint32_t slot, struct sched__findings *out) {
    const struct node_affinity *d = cy->cls->data[SCHED_NODE_AFFINITY];
    const struct match_node *node = cy->s->nodes.v[slot].labels;
    bool is_added = cy->verdict[slot] == SCHED__REASON_ADDED_AFFINITY;
    const struct match_affinity *a = is_added ? d->added : cy->cls->affinity;
    enum sched_field field = is_added ? SCHED_FIELD_ADDED_TERMS : SCHED_FIELD_TERMS;
    struct match_node_verdict why;
    match_affinity_required(a, node, &why);
    uint32_t n =
        why.part == MATCH_NODE_REQUIRED ? match_affinity_term_count(a, MATCH_NODE_REQUIRED) : 0;
    if (!n)
        sched__finding_requirement(out, field, a, &why);
    for (uint32_t i = 0; i < n; i++) {
        why = match_affinity_check_term(a, MATCH_NODE_REQUIRED, i, node);
        if (!sched__finding_requirement(out, field, a, &why))
            return;
    }
}

/* ---- score ---- */

static bool fail_score(struct sched__cycle *cy, const struct match_affinity *a) {
    if (!a || !match_affinity_fails(a, MATCH_NODE_PREFERRED))
        return false;
    struct str why = match_affinity_error(a, MATCH_NODE_PREFERRED);
    cy->error =
        arena_printf(cy->arena, "running PreScore plugin \"NodeAffinity\": %.*s", STR_ARG(why));
    return true;
}

static bool pre_score(struct sched__cycle *cy) {
    const struct node_affinity *d = cy->cls->data[SCHED_NODE_AFFINITY];
    return d->has_score && !fail_score(cy, cy->cls->affinity);
}

static void score(struct sched__cycle *cy, int64_t *scores, uint32_t from, uint32_t to) {
    const struct node_affinity *d = cy->cls->data[SCHED_NODE_AFFINITY];
    for (uint32_t i = from; i < to; i++) {
        if (cy->verdict[i])
            continue;
        const struct match_node *node = cy->s->nodes.v[i].labels;
        match_affinity_log(cy->s->match, cy->cls->affinity, MATCH_NODE_PREFERRED, node);
        scores[i] = match_affinity_score(cy->cls->affinity, node) +
                    (d->added ? match_affinity_score(d->added, node) : 0);
    }
}

/* The terms that a node does not match, with what they would have added. */
static bool explain_terms(struct sched__findings *out, enum sched_field field,
                          const struct match_affinity *a,
                          const struct api_preferred_scheduling_term_list *terms) {
    const struct match_node *node = out->cy->s->nodes.v[out->slot].labels;
    for (uint32_t i = 0; i < match_affinity_term_count(a, MATCH_NODE_PREFERRED); i++) {
        struct match_node_verdict why = match_affinity_check_term(a, MATCH_NODE_PREFERRED, i, node);
        if (why.code == MATCH_NODE_YES || why.code == MATCH_NODE_ZERO_WEIGHT)
            continue;
        if (!sched__finding_requirement(out, field, a, &why))
            return false;
        sched__finding_add(out, SCHED_OPERAND_WEIGHT, sched__number(terms->v[i].weight));
    }
    return true;
}

static void explain_score(struct sched__cycle *cy, uint32_t slot, struct sched__findings *out) {
    const struct node_affinity *d = cy->cls->data[SCHED_NODE_AFFINITY];
    const struct api_affinity *own = cy->cls->pod->spec.affinity;
    (void)slot;
    if (own && own->node_affinity &&
        !explain_terms(out, SCHED_FIELD_PREFERRED_TERMS, cy->cls->affinity,
                       &own->node_affinity->preferred))
        return;
    if (d->added)
        explain_terms(out, SCHED_FIELD_ADDED_PREFERRED_TERMS, d->added,
                      &cy->profile->added_affinity->preferred);
}

/* ---- hints ---- */

enum opinion { MATCHES, DIFFERS, CANNOT_TELL };

/* Terms that are wrong are an error where the nodeSelector matches and no other term does. */
static enum opinion judge(const struct match_affinity *a, const struct match_node *node) {
    struct match_node_verdict why;
    if (!a || match_affinity_required(a, node, &why))
        return MATCHES;
    bool failed = why.part == MATCH_NODE_REQUIRED && match_affinity_fails(a, MATCH_NODE_REQUIRED);
    return failed ? CANNOT_TELL : DIFFERS;
}

static enum opinion ask(struct sched *s, const struct match_affinity *a,
                        const struct api_object *object) {
    struct match_node *node = match_node_new(s->match, object->meta->name, &object->meta->labels);
    enum opinion out = judge(a, node);
    match_node_free(node);
    return out;
}

/* Upstream asks the profile's affinity about the node as it is now alone, and queues the pod where
 * it cannot tell. */
static bool hint(struct sched *s, struct sched_pod *pod, const struct sched__event *event) {
    const struct node_affinity *d = pod->cls->data[SCHED_NODE_AFFINITY];
    const struct match_affinity *own = pod->cls->affinity;
    if (!event->after || (d->added && ask(s, d->added, event->after) != MATCHES))
        return false;
    enum opinion now = ask(s, own, event->after);
    if (now != MATCHES || !event->before)
        return now != DIFFERS;
    return ask(s, own, event->before) != MATCHES;
}

const struct sched__plugin sched__node_affinity = {
    .compile = compile,
    .discard = discard,
    .pre_filter = pre_filter,
    .restrict_to = restrict_to,
    .named = named,
    .restricts = restricts,
    .filter = filter,
    .explain = explain,
    .explain_score = explain_score,
    .pre_score = pre_score,
    .score = score,
    .scale = SCHED__SCALE_UP,
    .events = SCHED__NODE_ADD | SCHED__NODE_LABEL,
    .hint = hint,
};
