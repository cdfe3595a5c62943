/*
 * NodeAffinity: nodeSelector and node affinity of the pod, and what the profile adds. Terms that
 * all pin the node's name leave other nodes out before any filter runs, as upstream's PreFilter
 * does.
 */
#include "base/alloc.h"
#include "sched/plugin_int.h"

struct node_affinity {
    struct match_affinity *added; /* the profile's; NULL: none */
    bool has_filter, has_score;
    bool pinned;         /* only nodes with these names are looked at */
    struct atom **names; /* may be none: the terms contradict themselves */
    size_t name_count;
};

/* ---- names that all terms pin ---- */

static bool pins_name(const struct api_node_selector_requirement *r) {
    return str_is(r->key, "metadata.name") && str_is(r->operator, "In");
}

static bool lists(const struct api_strs *values, struct str name) {
    for (size_t i = 0; i < values->n; i++)
        if (str_eq(values->v[i], name))
            return true;
    return false;
}

/* Does every requirement of the term that pins names list this one? */
static bool term_allows(const struct api_node_selector_term *term, struct str name) {
    for (size_t i = 0; i < term->match_fields.n; i++)
        if (pins_name(&term->match_fields.v[i]) && !lists(&term->match_fields.v[i].values, name))
            return false;
    return true;
}

static const struct api_strs *term_names(const struct api_node_selector_term *term) {
    for (size_t i = 0; i < term->match_fields.n; i++)
        if (pins_name(&term->match_fields.v[i]))
            return &term->match_fields.v[i].values;
    return NULL;
}

static void collect_names(struct sched *s, struct sched__class *c, struct node_affinity *d,
                          const struct api_node_selector *required) {
    const struct api_node_selector_term_list *terms = &required->node_selector_terms;
    size_t most = 0;
    for (size_t i = 0; i < terms->n; i++) {
        const struct api_strs *names = term_names(&terms->v[i]);
        if (!names)
            return;
        most += names->n;
    }
    d->pinned = terms->n > 0;
    d->names = arena_array(&c->arena, struct atom *, most);
    for (size_t i = 0; i < terms->n; i++) {
        const struct api_strs *names = term_names(&terms->v[i]);
        for (size_t j = 0; j < names->n; j++)
            if (term_allows(&terms->v[i], names->v[j]))
                d->names[d->name_count++] = intern_ref(intern_get(s->atoms, names->v[j]));
    }
}

/* ---- compile ---- */

static void *compile(struct sched *s, struct sched__class *c) {
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
    for (size_t i = 0; i < d->name_count; i++)
        if (d->names[i] == name)
            return true;
    return false;
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

static bool restricts(const struct sched__class *c) {
    const struct node_affinity *d = c->data[SCHED_NODE_AFFINITY];
    return d && d->pinned;
}

static void restrict_to(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    const struct node_affinity *d = cy->cls->data[SCHED_NODE_AFFINITY];
    for (uint32_t i = from; d->pinned && i < to; i++)
        if (!cy->verdict[i] && !is_named(d, cy->s->nodes.v[i].name))
            cy->verdict[i] = SCHED__ABSENT;
}

static enum sched__reason check(const struct sched__class *c, const struct node_affinity *d,
                                const struct match_node *node) {
    if (d->added && !match_affinity_required(d->added, node, NULL))
        return SCHED__REASON_ADDED_AFFINITY;
    return match_affinity_required(c->affinity, node, NULL) ? SCHED__FITS : SCHED__REASON_AFFINITY;
}

static void filter(struct sched__cycle *cy, uint32_t from, uint32_t to) {
    const struct node_affinity *d = cy->cls->data[SCHED_NODE_AFFINITY];
    for (uint32_t i = from; d->has_filter && i < to; i++)
        if (!cy->verdict[i])
            cy->verdict[i] = (uint8_t)check(cy->cls, d, cy->s->nodes.v[i].labels);
}

static void write_verdict(const struct sched__cycle *cy, struct buf *out,
                          const struct match_affinity *a, const struct match_node *node,
                          struct match_node_verdict why) {
    why.redact = cy->redact;
    match_node_verdict_write(out, a, node, &why);
}

static void explain(struct sched__cycle *cy, uint32_t slot, struct buf *out) {
    const struct node_affinity *d = cy->cls->data[SCHED_NODE_AFFINITY];
    const struct match_node *node = cy->s->nodes.v[slot].labels;
    const struct match_affinity *a =
        cy->verdict[slot] == SCHED__REASON_ADDED_AFFINITY ? d->added : cy->cls->affinity;
    struct match_node_verdict why;
    match_affinity_required(a, node, &why);
    uint32_t n =
        why.part == MATCH_NODE_REQUIRED ? match_affinity_term_count(a, MATCH_NODE_REQUIRED) : 0;
    for (uint32_t i = 0; i < n && !out->full; i++) {
        buf_add(out, i ? STR("; ") : STR(""));
        write_verdict(cy, out, a, node, match_affinity_check_term(a, why.part, i, node));
    }
    if (!n)
        write_verdict(cy, out, a, node, why);
}

/* ---- score ---- */

static bool fail_score(struct sched__cycle *cy, const struct match_affinity *a) {
    if (!a || !match_affinity_score_fails(a))
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
        scores[i] = match_affinity_score(cy->cls->affinity, node) +
                    (d->added ? match_affinity_score(d->added, node) : 0);
    }
}

/* ---- hints ---- */

static bool matches(struct sched *s, const struct sched_pod *pod, const struct api_object *object) {
    const struct node_affinity *d = pod->cls->data[SCHED_NODE_AFFINITY];
    struct match_node *node = match_node_new(s->match, object->meta->name, &object->meta->labels);
    bool fits = !check(pod->cls, d, node);
    match_node_free(node);
    return fits;
}

static bool hint(struct sched *s, struct sched_pod *pod, const struct sched__event *event) {
    if (!event->after || !matches(s, pod, event->after))
        return false;
    return !event->before || !matches(s, pod, event->before);
}

const struct sched__plugin sched__node_affinity = {
    .compile = compile,
    .discard = discard,
    .pre_filter = pre_filter,
    .restrict_to = restrict_to,
    .restricts = restricts,
    .filter = filter,
    .explain = explain,
    .pre_score = pre_score,
    .score = score,
    .scale = SCHED__SCALE_UP,
    .events = SCHED__NODE_ADD | SCHED__NODE_LABEL,
    .hint = hint,
};
