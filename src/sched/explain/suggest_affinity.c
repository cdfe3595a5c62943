/* Changes against nodeSelector and node affinity: labels of the node, requirements of the pod. */
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "sched/explain/explain_int.h"

static void make(struct sched__options *x, struct sched__option o, struct str text) {
    o.text = text;
    sched__option_make(x, &o);
}

/* ---- the node's labels ---- */

/* Labels that tell what a node is and where it stands: another value would be a lie. */
static bool is_fact(struct str key) {
    static const struct str domains[] = {STR_INIT("kubernetes.io"), STR_INIT("k8s.io")};
    static const struct str words[] = {STR_INIT("version"), STR_INIT("kernel"), STR_INIT("zone"),
                                       STR_INIT("region"),  STR_INIT("rack"),   STR_INIT("host"),
                                       STR_INIT("topology")};
    struct str domain = STR(""), name = key;
    if (str_find_char(key, '/') != STR_NONE)
        str_cut(key, '/', &domain, &name);
    for (size_t i = 0; i < sizeof domains / sizeof *domains; i++)
        if (str_ends(domain, domains[i]) && !str_starts(domain, STR("node-restriction.")))
            return true;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (str_find(key, words[i]) != STR_NONE)
            return true;
    return false;
}

/* Gives the node a label, or another value of it. */
static void suggest_label(struct sched__options *x, struct str key, struct str value) {
    if (is_fact(key) || !sched__option_wanted(x))
        return;
    struct api_object *node = api_object_derive(x->node);
    labels_put(&node->arena, &api_own_meta(node)->labels,
               (struct label){arena_str(&node->arena, key), arena_str(&node->arena, value)});
    make(x, (struct sched__option){.kind = SCHED_CHANGE_LABEL, .node = node},
         arena_printf(x->cy->arena, "label node %.*s with %.*s%s%.*s", STR_ARG(node->meta->name),
                      STR_ARG(key), value.n ? "=" : "",
                      STR_ARG(value.n ? sched__option_shown(x, value) : value)));
}

static void remove_label(struct sched__options *x, struct str key) {
    if (is_fact(key) || !sched__option_wanted(x))
        return;
    struct api_object *node = api_object_derive(x->node);
    struct labels *labels = &api_own_meta(node)->labels;
    size_t kept = 0;
    SCHED__OWN_LIST(node, labels);
    for (size_t i = 0; i < labels->n; i++)
        if (!str_eq(labels->v[i].key, key))
            labels->v[kept++] = labels->v[i];
    labels->n = kept;
    make(x, (struct sched__option){.kind = SCHED_CHANGE_LABEL, .node = node},
         arena_printf(x->cy->arena, "remove the label %.*s from node %.*s", STR_ARG(key),
                      STR_ARG(node->meta->name)));
}

/* ---- the pod's nodeSelector ---- */

static const struct api_pod_spec *spec_of(const struct api_object *pod) {
    return &((const struct api_pod *)pod->body)->spec;
}

static struct api_pod_spec *own_spec(struct api_object *pod) {
    return &((struct api_pod *)api_own_body(pod))->spec;
}

/* A derived pod's own nodeSelector. */
static struct labels *own_selector(struct api_object *pod) {
    struct labels *selector = &own_spec(pod)->node_selector;
    SCHED__OWN_LIST(pod, selector);
    return selector;
}

/* The value that the node has. */
static void change_selector(struct sched__options *x, size_t place, struct str found) {
    if (!sched__option_wanted(x))
        return;
    struct label wanted = spec_of(x->pod)->node_selector.v[place];
    struct api_object *pod = api_object_derive(x->pod);
    own_selector(pod)->v[place].value = arena_str(&pod->arena, found);
    make(x, (struct sched__option){.kind = SCHED_CHANGE_REQUIREMENT, .pod = pod},
         arena_printf(x->cy->arena, "change %.*s in nodeSelector from %.*s to %.*s",
                      STR_ARG(wanted.key), STR_ARG(sched__option_shown(x, wanted.value)),
                      STR_ARG(sched__option_shown(x, found))));
}

static void drop_selector(struct sched__options *x, size_t place) {
    if (!sched__option_wanted(x))
        return;
    struct api_object *pod = api_object_derive(x->pod);
    struct labels *selector = own_selector(pod);
    struct str key = selector->v[place].key;
    memmove(&selector->v[place], &selector->v[place + 1],
            (selector->n - place - 1) * sizeof *selector->v);
    selector->n--;
    make(x, (struct sched__option){.kind = SCHED_CHANGE_DROP, .pod = pod},
         arena_printf(x->cy->arena, "remove %.*s from nodeSelector", STR_ARG(key)));
}

static void suggest_selector(struct sched__options *x, const struct match_node_verdict *why) {
    struct label wanted = spec_of(x->pod)->node_selector.v[why->requirement];
    const struct label *found = labels_find(&x->node->meta->labels, wanted.key);
    if (found)
        change_selector(x, why->requirement, found->value);
    drop_selector(x, why->requirement);
    suggest_label(x, wanted.key, wanted.value);
}

/* ---- the pod's required terms ---- */

/* One requirement of one term of a pod. */
struct place {
    struct api_node_selector_term_list *terms;
    struct api_node_selector_requirement_list *list;
    struct api_node_selector_requirement *r;
};

static struct place place_in(const struct api_pod_spec *spec,
                             const struct match_node_verdict *why) {
    struct place p = {.terms = &spec->affinity->node_affinity->required->node_selector_terms};
    struct api_node_selector_term *term = &p.terms->v[why->term];
    p.list = why->is_field ? &term->match_fields : &term->match_expressions;
    p.r = &p.list->v[why->requirement];
    return p;
}

/* The same in a derived pod, which gets its own of all that leads there. */
static struct place own_place(struct api_object *pod, const struct match_node_verdict *why) {
    struct api_pod_spec *spec = own_spec(pod);
    SCHED__OWN(pod, spec->affinity);
    SCHED__OWN(pod, spec->affinity->node_affinity);
    SCHED__OWN(pod, spec->affinity->node_affinity->required);
    SCHED__OWN_LIST(pod, &spec->affinity->node_affinity->required->node_selector_terms);
    struct place p = place_in(spec, why);
    SCHED__OWN_LIST(pod, p.list);
    return place_in(spec, why);
}

static struct str name_of(struct sched__options *x, const struct match_node_verdict *why) {
    return arena_printf(x->cy->arena, "nodeSelectorTerms[%u].%s[%u]", why->term,
                        why->is_field ? "matchFields" : "matchExpressions", why->requirement);
}

/* Another threshold, or one more value among those that are allowed. */
static void change_requirement(struct sched__options *x, const struct match_node_verdict *why,
                               struct str found) {
    struct place p = place_in(spec_of(x->pod), why);
    bool is_in = str_is(p.r->operator, "In") && !why->is_field;
    struct str value = is_in || why->is_field
                           ? found
                           : sched__suggest_threshold(x->cy->arena, p.r->operator, found);
    if (!value.p || !p.r->values.n || !sched__option_wanted(x))
        return;
    struct str old = p.r->values.v[0];
    struct api_object *pod = api_object_derive(x->pod);
    p = own_place(pod, why);
    struct arena *a = &pod->arena;
    struct str *values = arena_array(a, struct str, p.r->values.n + 1);
    memcpy(values, p.r->values.v, p.r->values.n * sizeof *values);
    values[is_in ? p.r->values.n : 0] = arena_str(a, value);
    p.r->values = (struct api_strs){values, p.r->values.n + is_in};
    struct sched__option o = {.kind = SCHED_CHANGE_REQUIREMENT, .pod = pod};
    struct str shown = sched__option_shown(x, value), name = name_of(x, why);
    o.cost = sched__suggest_distance(old, value);
    o.text = is_in ? arena_printf(x->cy->arena, "add %.*s to the values of %.*s (%.*s)",
                                  STR_ARG(shown), STR_ARG(name), STR_ARG(p.r->key))
                   : arena_printf(x->cy->arena, "change %.*s (%.*s %.*s %.*s) to %.*s",
                                  STR_ARG(name), STR_ARG(p.r->key), STR_ARG(p.r->operator),
                                  STR_ARG(sched__option_shown(x, old)), STR_ARG(shown));
    sched__option_make(x, &o);
}

/* Makes the node's labels meet a requirement, if that is simple. */
static void suggest_label_for(struct sched__options *x,
                              const struct api_node_selector_requirement *r) {
    if (str_is(r->operator, "DoesNotExist") || str_is(r->operator, "NotIn"))
        remove_label(x, r->key);
    else if (str_is(r->operator, "Exists"))
        suggest_label(x, r->key, STR(""));
    else if (str_is(r->operator, "In") && r->values.n)
        suggest_label(x, r->key, r->values.v[0]);
}

/* A term without requirements matches no node: the last one goes with its term. */
static void drop_requirement(struct sched__options *x, const struct match_node_verdict *why) {
    struct place p = place_in(spec_of(x->pod), why);
    const struct api_node_selector_term *term = &p.terms->v[why->term];
    bool last = term->match_fields.n + term->match_expressions.n == 1;
    if ((last && p.terms->n > 1) || !sched__option_wanted(x))
        return;
    struct api_object *pod = api_object_derive(x->pod);
    p = own_place(pod, why);
    struct str key = p.r->key;
    if (last) {
        own_spec(pod)->affinity->node_affinity->required = NULL;
    } else {
        memmove(p.r, p.r + 1, (p.list->n - why->requirement - 1) * sizeof *p.r);
        p.list->n--;
    }
    make(x, (struct sched__option){.kind = SCHED_CHANGE_DROP, .pod = pod},
         arena_printf(x->cy->arena, "remove %.*s (%.*s)", STR_ARG(name_of(x, why)), STR_ARG(key)));
}

static void suggest_term(struct sched__options *x, const struct match_node_verdict *why) {
    const struct api_node_selector_requirement *r = place_in(spec_of(x->pod), why).r;
    const struct label *label = labels_find(&x->node->meta->labels, r->key);
    bool is_off = why->code == MATCH_NODE_GATE_OFF; /* whatever its values are */
    if (why->is_field)
        change_requirement(x, why, x->node->meta->name);
    else if (label && !is_off)
        change_requirement(x, why, label->value);
    drop_requirement(x, why);
    if (!why->is_field && !is_off)
        suggest_label_for(x, r);
}

/* Is the verdict about a requirement, not about a whole term? */
static bool names_requirement(enum match_node_code code) {
    return code > MATCH_NODE_YES && code < MATCH_NODE_EMPTY_TERM;
}

static bool is_by_affinity(enum sched__reason reason) {
    return reason == SCHED__REASON_AFFINITY || reason == SCHED__REASON_AFFINITY_VERSION;
}

void sched__suggest_affinity(struct sched__options *x) {
    const struct match_affinity *a = x->cy->cls->affinity;
    const struct match_node *node = x->cy->s->nodes.v[x->slot].labels;
    struct match_node_verdict why;
    if (!is_by_affinity(x->cy->verdict[x->slot]) || match_affinity_required(a, node, &why))
        return;
    if (why.part == MATCH_NODE_SELECTOR) {
        suggest_selector(x, &why);
        return;
    }
    uint32_t n = match_affinity_term_count(a, MATCH_NODE_REQUIRED);
    for (uint32_t i = 0; i < n && !x->made; i++) {
        why = match_affinity_check_term(a, MATCH_NODE_REQUIRED, i, node);
        if (names_requirement(why.code))
            suggest_term(x, &why);
    }
}
