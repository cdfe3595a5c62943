/* Tolerations as such: for how long, and what they do not do. */
#include "advice/advice_int.h"

/* ---- comparison-seconds ---- */

void advice__comparison_seconds(struct advisor *w) {
    struct threshold list[ADVICE_MOST_THRESHOLDS];
    size_t n = advice__thresholds(w, list);
    for (size_t i = 0; i < n; i++) {
        const struct api_toleration *t = list[i].t;
        if (!t->toleration_seconds.set)
            continue;
        advice__say(w, advice__path(w, ".tolerations[%zu].tolerationSeconds", list[i].index),
                    "the pod is evicted after %lld seconds even while %.*s %.*s matches, and at "
                    "once when it no longer does; without tolerationSeconds it stays as long as it "
                    "matches",
                    (long long)t->toleration_seconds.v, STR_ARG(t->operator), STR_ARG(t->value));
    }
}

/* ---- default-eviction ---- */

/* The taints of a node in trouble; they have no value and the effect NoExecute. */
static const char *const trouble[] = {"node.kubernetes.io/not-ready",
                                      "node.kubernetes.io/unreachable"};

/* Does the server take the toleration for one of this taint? It looks at no operator or value. */
static bool replaces_default(const struct api_toleration *t, const char *key) {
    return !t->expression.n && (!t->key.n || str_is(t->key, key)) &&
           (!t->effect.n || str_is(t->effect, "NoExecute"));
}

static bool matches_empty_value(const struct api_toleration *t) {
    bool equal = !t->operator.n || str_is(t->operator, "Equal");
    return str_is(t->operator, "Exists") || (equal && !t->value.n);
}

/* What comes of a taint: which toleration replaces the default, and which one matches, if any. */
struct outcome {
    size_t replacing, matching; /* SIZE_MAX: none */
};

static struct outcome outcome_of(const struct api_toleration_list *list, const char *key) {
    struct outcome o = {SIZE_MAX, SIZE_MAX};
    for (size_t i = list->n; i-- > 0;) {
        if (!replaces_default(&list->v[i], key))
            continue;
        o.replacing = i;
        if (matches_empty_value(&list->v[i]))
            o.matching = i;
    }
    return o;
}

static void say_for_ever(struct advisor *w, size_t i, const char *key) {
    const struct api_toleration *t = &w->spec->tolerations.v[i];
    advice__say(w, advice__path(w, ".tolerations[%zu]", i),
                "tolerates %s for ever, so the default of 300 seconds is not added and the pod "
                "stays on a node that is lost; name the keys that are meant, or set "
                "tolerationSeconds with effect NoExecute",
                t->key.n ? key : "every NoExecute taint");
}

static void say_at_once(struct advisor *w, size_t i, const char *key) {
    const struct api_toleration *t = &w->spec->tolerations.v[i];
    advice__say(w, advice__path(w, ".tolerations[%zu]", i),
                "takes the place of the default toleration of %s, and does not match it: %.*s "
                "\"%.*s\" is held against an empty value, so the pod is evicted at once; use "
                "operator Exists",
                key, STR_ARG(t->operator.n ? t->operator: STR("Equal")), STR_ARG(t->value));
}

void advice__default_eviction(struct advisor *w) {
    const struct api_toleration_list *list = &w->spec->tolerations;
    size_t warned = SIZE_MAX;
    for (size_t k = 0; k < 2 && !w->of_daemon_set; k++) {
        struct outcome o = outcome_of(list, trouble[k]);
        if (o.replacing == SIZE_MAX)
            continue;
        if (o.matching == SIZE_MAX)
            say_at_once(w, o.replacing, trouble[k]);
        else if (!list->v[o.matching].toleration_seconds.set && warned != o.matching)
            say_for_ever(w, warned = o.matching, trouble[k]);
    }
}

/* ---- toleration-does-not-attract ---- */

/* Does anything but taints decide where the pod goes? */
static bool is_sent_somewhere(const struct api_pod_spec *spec) {
    const struct api_node_affinity *affinity =
        spec->affinity ? spec->affinity->node_affinity : NULL;
    return spec->node_name.n || spec->node_selector.n || spec->resource_claims.n ||
           (affinity && (affinity->required || affinity->preferred.n));
}

static struct str domain_of(struct str key) {
    struct str domain, name;
    return str_cut(key, '/', &domain, &name) ? domain : (struct str){0};
}

/* Taints that Kubernetes itself sets are tolerated to stay, not to go somewhere. */
static bool is_built_in(struct str key) {
    struct str domain = domain_of(key);
    return str_is(domain, "kubernetes.io") || str_ends(domain, STR(".kubernetes.io")) ||
           str_ends(domain, STR(".k8s.io")) || str_is(key, "CriticalAddonsOnly");
}

/* A device such as nvidia.com/gpu draws the pod to the nodes that have it. */
static bool has_device(const struct api_quantities *list) {
    for (size_t i = 0; i < list->n; i++)
        if (domain_of(list->v[i].key).n && !is_built_in(list->v[i].key))
            return true;
    return false;
}

static bool asks_for_device(const struct api_pod_spec *spec) {
    for (size_t i = 0; i < spec->containers.n; i++) {
        const struct api_resource_requirements *r = &spec->containers.v[i].resources;
        if (has_device(&r->requests) || has_device(&r->limits))
            return true;
    }
    return false;
}

/* The keys that stand for a dedicated kind of node by the look of the toleration. */
static bool is_meant_to_attract(const struct api_toleration *t) {
    return t->key.n && !t->toleration_seconds.set && !str_is(t->effect, "PreferNoSchedule") &&
           !is_built_in(t->key);
}

void advice__does_not_attract(struct advisor *w) {
    const struct api_toleration_list *list = &w->spec->tolerations;
    if (w->of_daemon_set || is_sent_somewhere(w->spec) || asks_for_device(w->spec))
        return;
    for (size_t i = 0; i < list->n; i++) {
        const struct api_toleration *t = &list->v[i];
        if (!is_meant_to_attract(t))
            continue;
        advice__say(w, advice__path(w, ".tolerations[%zu]", i),
                    "lets the pod onto nodes with the taint %.*s and sends it to none: nodes "
                    "without the taint accept it as well; to have it there and nowhere else, add a "
                    "nodeSelector or node affinity",
                    STR_ARG(t->key));
        return; /* once says it */
    }
}
