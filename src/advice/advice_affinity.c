/* Affinity and topology spread: requirements that cannot hold, and those that hold too well. */
#include "advice/advice_int.h"
#include "api/names.h"
#include "api/selector.h"

/* ---- affinity-never-matches ---- */

static bool is_semver_operator(struct str operator) {
    return str_is(operator, "SemverLt") || str_is(operator, "SemverGt") ||
           str_is(operator, "SemverEq");
}

/* Why no label can satisfy a comparison with this value; absent when one can. */
static struct str why_never(struct advisor *w, struct str operator, struct str value) {
    int64_t number;
    struct semver version;
    struct err err;
    if (is_semver_operator(operator)) {
        if (semver_parse_tolerant(w->out->a, value, &version, &err) == 0)
            return (struct str){0};
        return arena_printf(w->out->a, "is not a version (%s)", err.msg);
    }
    if (!labels_value_to_i64(value, &number))
        return STR("is not an integer");
    return names_check_label_value(value).n ? STR("cannot be the value of a label")
                                            : (struct str){0};
}

static void check_term(struct advisor *w, const struct api_node_selector_term *term,
                       struct advice_place at) {
    for (size_t i = 0; i < term->match_expressions.n; i++) {
        const struct api_node_selector_requirement *r = &term->match_expressions.v[i];
        bool compares = str_is(r->operator, "Gt") || str_is(r->operator, "Lt") ||
                        is_semver_operator(r->operator);
        if (!compares || r->values.n != 1)
            continue;
        struct str why = why_never(w, r->operator, r->values.v[0]);
        if (why.n)
            advice__say(w,
                        advice__path(w, ".%s[%zu]%s.matchExpressions[%zu].values[0]", at.list,
                                     at.index, at.tail, i),
                        "%.*s %.*s matches no node: %.*s %.*s, and the API server does not check "
                        "it",
                        STR_ARG(r->operator), STR_ARG(r->values.v[0]), STR_ARG(r->values.v[0]),
                        STR_ARG(why));
    }
}

static void check_required(struct advisor *w, const struct api_node_selector *required) {
    for (size_t i = 0; required && i < required->node_selector_terms.n; i++) {
        const struct api_node_selector_term *term = &required->node_selector_terms.v[i];
        struct advice_place at = ADVICE_REQUIRED_NODE_TERM(i);
        check_term(w, term, at);
        if (!term->match_expressions.n && !term->match_fields.n)
            advice__say(w, advice__path(w, ".%s[%zu]", at.list, at.index),
                        "a term without requirements matches no node, not every node; leave it out "
                        "or give it a requirement");
    }
}

void advice__affinity_never_matches(struct advisor *w) {
    const struct api_affinity *a = w->spec->affinity;
    if (!a || !a->node_affinity)
        return;
    check_required(w, a->node_affinity->required);
    const struct api_preferred_scheduling_term_list *preferred = &a->node_affinity->preferred;
    for (size_t i = 0; i < preferred->n; i++)
        check_term(w, &preferred->v[i].preference, ADVICE_PREFERRED_NODE_TERM(i));
}

/* ---- label-not-a-version ---- */

static void check_labels(struct advisor *w, const struct api_node_selector_requirement *r,
                         struct advice_place at, size_t index) {
    struct err why;
    for (size_t i = 0; i < w->run->labels.n; i++) {
        const struct advice_label *l = &w->run->labels.v[i];
        if (!str_eq(l->key, r->key) || !advice__is_bad_version(w->out->a, l->value, &why))
            continue;
        advice__say(
            w,
            advice__path(w, ".%s[%zu]%s.matchExpressions[%zu]", at.list, at.index, at.tail, index),
            "%.*s never matches node %.*s: its label is %.*s, which is not a version (%s)",
            STR_ARG(r->operator), STR_ARG(l->node), STR_ARG(l->value), why.msg);
        return;
    }
}

static void check_versions(struct advisor *w, const struct api_node_selector_term *term,
                           struct advice_place at) {
    for (size_t i = 0; i < term->match_expressions.n; i++)
        if (is_semver_operator(term->match_expressions.v[i].operator))
            check_labels(w, &term->match_expressions.v[i], at, i);
}

void advice__label_not_a_version(struct advisor *w) {
    const struct api_affinity *a = w->spec->affinity;
    if (!a || !a->node_affinity || w->run->labels.n == 0)
        return;
    const struct api_node_selector *required = a->node_affinity->required;
    for (size_t i = 0; required && i < required->node_selector_terms.n; i++)
        check_versions(w, &required->node_selector_terms.v[i], ADVICE_REQUIRED_NODE_TERM(i));
    const struct api_preferred_scheduling_term_list *preferred = &a->node_affinity->preferred;
    for (size_t i = 0; i < preferred->n; i++)
        check_versions(w, &preferred->v[i].preference, ADVICE_PREFERRED_NODE_TERM(i));
}

/* ---- anti-affinity-rollout ---- */

/* A number or a percentage of total, rounded down or up; -1 when it is neither. */
static int64_t resolve(const struct api_int_or_str *x, int64_t total, bool up) {
    int64_t percent;
    if (!x || !x->is_str)
        return x ? x->i : 0;
    if (!str_ends(x->s, STR("%")) || !str_to_i64(str_sub(x->s, 0, x->s.n - 1), &percent) ||
        percent < 0 || percent > 100)
        return -1;
    return (total * percent + (up ? 99 : 0)) / 100;
}

/* Must a new pod be running before an old one may go? */
static bool surges_only(const struct api_deployment_spec *spec) {
    const struct api_rolling_update_deployment *rolling = spec->strategy.rolling_update;
    int64_t replicas = spec->replicas.set ? spec->replicas.v : 1;
    if (!str_is(spec->strategy.type, "RollingUpdate") || !rolling || replicas <= 0)
        return false;
    /* When both come to 0, upstream makes one pod unavailable. */
    return resolve(rolling->max_unavailable, replicas, false) == 0 &&
           resolve(rolling->max_surge, replicas, true) > 0;
}

static bool has_key(const struct api_strs *keys, const char *key) {
    for (size_t i = 0; i < keys->n; i++)
        if (str_is(keys->v[i], key))
            return true;
    return false;
}

static bool reaches_own_namespace(const struct advisor *w, const struct api_pod_affinity_term *t) {
    struct str own = w->o->meta->namespace.n ? w->o->meta->namespace : STR("default");
    if (t->namespace_selector)
        return !t->namespace_selector->match_labels.n &&
               !t->namespace_selector->match_expressions.n;
    for (size_t i = 0; i < t->namespaces.n; i++)
        if (str_eq(t->namespaces.v[i], own))
            return true;
    return t->namespaces.n == 0;
}

/* Does the term keep new pods of the deployment away from its old ones? */
static bool repels_own_pods(struct advisor *w, const struct api_pod_affinity_term *t) {
    struct selector *selector;
    struct err err;
    if (!t->label_selector || has_key(&t->match_label_keys, "pod-template-hash") ||
        !reaches_own_namespace(w, t) ||
        selector_compile(w->out->a, t->label_selector, &selector, &err) < 0)
        return false;
    return selector_matches(selector, w->labels);
}

void advice__anti_affinity_rollout(struct advisor *w) {
    const struct api_deployment_spec *deployment =
        &((const struct api_deployment *)w->o->body)->spec;
    const struct api_affinity *a = w->spec->affinity;
    if (!a || !a->pod_anti_affinity || !surges_only(deployment))
        return;
    const struct api_pod_affinity_term_list *required = &a->pod_anti_affinity->required;
    for (size_t i = 0; i < required->n; i++)
        if (repels_own_pods(w, &required->v[i]))
            advice__say(w,
                        advice__path(w,
                                     ".affinity.podAntiAffinity."
                                     "requiredDuringSchedulingIgnoredDuringExecution[%zu]",
                                     i),
                        "keeps new pods away from the old ones, and maxUnavailable comes to 0 of "
                        "%d: a rolling update needs a %.*s that is free, or waits for ever; add "
                        "matchLabelKeys: [pod-template-hash], or set maxUnavailable to 1",
                        deployment->replicas.set ? deployment->replicas.v : 1,
                        STR_ARG(required->v[i].topology_key));
}

/* ---- label-key-missing ---- */

/* Labels that controllers give their pods beyond the template. */
static const struct {
    enum api_type_id owner;
    const char *key;
} given[] = {
    {API_T_deployment, "pod-template-hash"},
    {API_T_replica_set, "pod-template-hash"},
    {API_T_daemon_set, "controller-revision-hash"},
    {API_T_daemon_set, "pod-template-generation"},
    {API_T_stateful_set, "controller-revision-hash"},
    {API_T_stateful_set, "statefulset.kubernetes.io/pod-name"},
    {API_T_stateful_set, "apps.kubernetes.io/pod-index"},
    {API_T_job, "batch.kubernetes.io/job-name"},
    {API_T_job, "batch.kubernetes.io/controller-uid"},
    {API_T_job, "batch.kubernetes.io/job-completion-index"},
    {API_T_job, "job-name"},
    {API_T_job, "controller-uid"},
};

static bool is_given(const struct advisor *w, struct str key) {
    const struct api_type *owner =
        w->o->type == &api_types[API_T_cron_job] ? &api_types[API_T_job] : w->o->type;
    for (size_t i = 0; i < sizeof given / sizeof *given; i++)
        if (owner == &api_types[given[i].owner] && str_is(key, given[i].key))
            return true;
    return false;
}

static void check_keys(struct advisor *w, const struct api_strs *keys, struct advice_place at,
                       const char *field) {
    for (size_t i = 0; i < keys->n; i++) {
        if (labels_find(w->labels, keys->v[i]) || is_given(w, keys->v[i]))
            continue;
        advice__say(w, advice__path(w, ".%s[%zu]%s.%s[%zu]", at.list, at.index, at.tail, field, i),
                    "the pod has no label %.*s, so the key adds nothing to the selector; add the "
                    "label to the pod or take the key out",
                    STR_ARG(keys->v[i]));
    }
}

static void check_pod_term(struct advisor *w, const struct api_pod_affinity_term *t,
                           struct advice_place at) {
    check_keys(w, &t->match_label_keys, at, "matchLabelKeys");
    check_keys(w, &t->mismatch_label_keys, at, "mismatchLabelKeys");
}

/* The names of both lists, as paths have them. */
#define REQUIRED(kind)  "affinity." kind ".requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED(kind) "affinity." kind ".preferredDuringSchedulingIgnoredDuringExecution"

static void check_required_terms(struct advisor *w, const char *name,
                                 const struct api_pod_affinity_term_list *list) {
    for (size_t i = 0; i < list->n; i++)
        check_pod_term(w, &list->v[i], (struct advice_place){name, i, ""});
}

static void check_preferred_terms(struct advisor *w, const char *name,
                                  const struct api_weighted_pod_affinity_term_list *list) {
    for (size_t i = 0; i < list->n; i++)
        check_pod_term(w, &list->v[i].pod_affinity_term,
                       (struct advice_place){name, i, ".podAffinityTerm"});
}

void advice__label_key_missing(struct advisor *w) {
    const struct api_affinity *a = w->spec->affinity;
    if (a && a->pod_affinity) {
        check_required_terms(w, REQUIRED("podAffinity"), &a->pod_affinity->required);
        check_preferred_terms(w, PREFERRED("podAffinity"), &a->pod_affinity->preferred);
    }
    if (a && a->pod_anti_affinity) {
        check_required_terms(w, REQUIRED("podAntiAffinity"), &a->pod_anti_affinity->required);
        check_preferred_terms(w, PREFERRED("podAntiAffinity"), &a->pod_anti_affinity->preferred);
    }
    const struct api_topology_spread_constraint_list *spread =
        &w->spec->topology_spread_constraints;
    for (size_t i = 0; i < spread->n; i++)
        check_keys(w, &spread->v[i].match_label_keys,
                   (struct advice_place){"topologySpreadConstraints", i, ""}, "matchLabelKeys");
}
