/*
 * Updates of pods: nearly all of a spec is fixed. Images and deadlines may change, tolerations may
 * come, scheduling gates may go, and while there are gates the choice of nodes may get narrower.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidatePodUpdate,
 * func validateOnlyAddedTolerations, func validateNodeAffinityMutation.
 */
#include "base/limits.h"
#include "valid/pod/pod_int.h"

/* ---- what may change ---- */

/* False when the lists cannot be compared one by one, and nothing more is to be said. */
static bool check_images(struct valid *v, const struct path *p,
                         const struct api_container_list *list,
                         const struct api_container_list *old) {
    if (list->n != old->n) {
        valid__forbidden(v, p, "pod updates may not add or remove containers");
        return false;
    }
    for (size_t i = 0; i < list->n; i++)
        if (!list->v[i].image.n)
            valid__required(v, AT(AT_INDEX(p, i), "image"), NO_DETAIL);
    valid__container_images(v, p, list);
    return true;
}

/* May be set, and made shorter. False: nothing more is to be said. */
static bool check_deadline(struct valid *v, const struct path *p, struct api_opt_i64 deadline,
                           struct api_opt_i64 old) {
    static const int64_t range[2] = {0, INT32_MAX};
    size_t before = valid__found(v);
    if (!deadline.set) {
        if (old.set)
            valid__invalid(v, p, VALUE_JSON((struct json){.kind = JSON_NULL}),
                           "must not update from a positive integer to nil value");
        return true;
    }
    valid__range(v, p, deadline.v, range);
    if (valid__found(v) == before && old.set && old.v < deadline.v)
        valid__invalid(v, p, VALUE_I64(deadline.v), "must be less than or equal to previous value");
    return valid__found(v) == before;
}

/* Everything that may not change in a toleration, with lengths, so that texts do not run together.
 */
static struct str identity(struct arena *a, const struct api_toleration *t) {
    AUTO(buf_release) struct buf text = BUF_INIT(2 * LIMIT_OBJECT_BYTES);
    const struct str fields[] = {t->key, t->operator, t->value, t->effect, t->expression};
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        buf_add_u64(&text, fields[i].n);
        buf_add_char(&text, ' ');
        buf_add(&text, fields[i]);
    }
    return arena_str(a, buf_view(&text));
}

static bool has_all(struct arena *a, const struct api_toleration_list *list,
                    const struct api_toleration_list *old) {
    struct seen now;
    seen_init(&now);
    bool all = true;
    for (size_t i = 0; i < list->n; i++)
        seen_add(&now, identity(a, &list->v[i]));
    for (size_t i = 0; i < old->n && all; i++)
        all = seen_get(&now, identity(a, &old->v[i]));
    seen_release(&now);
    return all;
}

/* The new list is valid: that was checked with the rest of the spec. */
static void check_tolerations(struct valid *v, const struct path *p,
                              const struct api_toleration_list *list,
                              const struct api_toleration_list *old) {
    if (old->n && !has_all(v->errs->a, list, old))
        valid__forbidden(v, p,
                         "existing toleration can not be modified except its "
                         "tolerationSeconds");
}

static void forbid_gate(struct valid *v, const struct path *p, struct str name) {
    AUTO(buf_release) struct buf text = BUF_INIT(LIMIT_OBJECT_BYTES);
    buf_add(&text, STR("only deletion is allowed, but found new scheduling gate '"));
    buf_add(&text, name);
    buf_add_char(&text, '\'');
    valid__add(v, VALID_FORBIDDEN, p, NULL, buf_view(&text));
}

/* A new gate that the list has twice is reported once, at its last place. */
static void check_gates(struct valid *v, const struct path *p,
                        const struct api_pod_scheduling_gate_list *list,
                        const struct api_pod_scheduling_gate_list *old) {
    struct seen last;
    seen_init(&last);
    for (size_t i = 0; i < old->n; i++)
        seen_put(&last, old->v[i].name, &old->v[i]);
    for (size_t i = list->n; i-- > 0;)
        seen_put(&last, list->v[i].name, &list->v[i]);
    for (size_t i = 0; i < list->n; i++)
        if (seen_get(&last, list->v[i].name) == &list->v[i])
            forbid_gate(v, AT(AT_INDEX(p, i), "name"), list->v[i].name);
    seen_release(&last);
}

/* ---- narrowing the choice of nodes while there are gates ---- */

static bool has_only_more_labels(const struct labels *labels, const struct labels *old) {
    for (size_t i = 0; i < old->n; i++) {
        const struct label *now = labels_find(labels, old->v[i].key);
        if (!now || !str_eq(now->value, old->v[i].value))
            return false;
    }
    return true;
}

static void check_node_selector(struct valid *v, const struct path *p, const struct labels *labels,
                                const struct labels *old) {
    if (!has_only_more_labels(labels, old))
        valid__invalid(v, p, valid__labels_value(v->errs->a, labels),
                       "only additions to spec.nodeSelector are allowed (no mutations or "
                       "deletions)");
}

/* Does the list begin with all of old? */
static bool continues(struct api_node_selector_requirement_list list,
                      const struct api_node_selector_requirement_list *old) {
    if (list.n < old->n)
        return false;
    list.n = old->n;
    return valid__equal_lists(API_T_node_selector_requirement, &list, old);
}

/* A term without requirements matches nothing; with some it would match more. */
static bool has_only_additions(const struct api_node_selector_term *term,
                               const struct api_node_selector_term *old) {
    if (!old->match_expressions.n && !old->match_fields.n)
        return !term->match_expressions.n && !term->match_fields.n;
    return continues(term->match_expressions, &old->match_expressions) &&
           continues(term->match_fields, &old->match_fields);
}

static void check_node_terms(struct valid *v, const struct path *p,
                             const struct api_node_selector_term_list *terms,
                             const struct api_node_selector_term_list *old) {
    if (old->n && old->n != terms->n) {
        valid__invalid(v, p, valid__list_value(v->errs->a, API_T_node_selector_term, terms),
                       "no additions/deletions to non-empty NodeSelectorTerms list are allowed");
        return;
    }
    for (size_t i = 0; i < old->n; i++)
        if (!has_only_additions(&terms->v[i], &old->v[i]))
            valid__invalid(v, AT_INDEX(p, i),
                           valid__struct_value(v->errs->a, API_T_node_selector_term, &terms->v[i]),
                           "only additions are allowed (no mutations or deletions)");
}

static void check_node_affinity(struct valid *v, const struct path *p,
                                const struct api_node_affinity *affinity,
                                const struct api_node_affinity *old) {
    static const struct api_node_selector_term_list none = {0};
    if (!old || !old->required)
        return;
    const struct path *required = AT(p, "requiredDuringSchedulingIgnoredDuringExecution");
    check_node_terms(v, AT(required, "nodeSelectorTerms"),
                     affinity && affinity->required ? &affinity->required->node_selector_terms
                                                    : &none,
                     &old->required->node_selector_terms);
}

static struct api_node_affinity *node_affinity_of(const struct api_pod_spec *spec) {
    return spec->affinity ? spec->affinity->node_affinity : NULL;
}

/* The affinity of the new spec, but with the old choice of nodes. */
static struct api_affinity *with_old_nodes(struct arena *a, const struct api_pod_spec *spec,
                                           const struct api_pod_spec *old) {
    const struct api_affinity *now = spec->affinity;
    if (now && !old->affinity && !now->pod_affinity && !now->pod_anti_affinity)
        return NULL;
    if (!now && !node_affinity_of(old))
        return NULL;
    struct api_affinity *mixed = arena_new(a, struct api_affinity);
    if (now)
        *mixed = *now;
    mixed->node_affinity = node_affinity_of(old);
    return mixed;
}

/* Checks the choice of nodes of a gated pod, and then takes it out of the comparison. */
static void check_narrowing(struct valid *v, const struct path *p, struct api_pod_spec *spec,
                            const struct api_pod_spec *old) {
    const struct api_node_affinity *now = node_affinity_of(spec), *was = node_affinity_of(old);
    check_node_selector(v, AT(p, "nodeSelector"), &spec->node_selector, &old->node_selector);
    spec->node_selector = old->node_selector;
    if (valid__equal(API_T_node_affinity, now, was))
        return;
    check_node_affinity(v, AT(AT(p, "affinity"), "nodeAffinity"), now, was);
    spec->affinity = with_old_nodes(v->errs->a, spec, old);
}

/* ---- what may not change ---- */

static struct api_container_list with_old_images(struct arena *a,
                                                 const struct api_container_list *list,
                                                 const struct api_container_list *old) {
    struct api_container_list mixed = {arena_copy(a, list->v, list->n * sizeof *list->v), list->n};
    for (size_t i = 0; i < mixed.n; i++)
        mixed.v[i].image = old->v[i].image;
    return mixed;
}

static void check_rest(struct valid *v, const struct path *p, const struct api_pod_spec *spec,
                       const struct api_pod_spec *old) {
    if (valid__equal(API_T_pod_spec, spec, old))
        return;
    struct arena *a = v->errs->a;
    struct api_pod_spec mixed = *spec;
    mixed.containers = with_old_images(a, &spec->containers, &old->containers);
    mixed.init_containers = with_old_images(a, &spec->init_containers, &old->init_containers);
    mixed.active_deadline_seconds = old->active_deadline_seconds;
    mixed.scheduling_gates = old->scheduling_gates;
    mixed.tolerations = old->tolerations;
    const struct api_opt_i64 *grace = &old->termination_grace_period_seconds;
    struct api_opt_i64 *now = &mixed.termination_grace_period_seconds;
    if (grace->set && grace->v < 0 && now->set && now->v == 1)
        *now = *grace;
    if (old->scheduling_gates.n)
        check_narrowing(v, p, &mixed, old);
    if (valid__equal(API_T_pod_spec, &mixed, old))
        return;
    struct str diff = valid__diff(a, API_T_pod_spec, old, &mixed);
    valid__forbidden(v, p,
                     "pod updates may not change fields other than "
                     "`spec.containers[*].image`,`spec.initContainers[*].image`,"
                     "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
                     "existing tolerations),`spec.terminationGracePeriodSeconds` (allow it to "
                     "be set to 1 if it was previously negative)%.*s",
                     STR_ARG(diff));
}

static void check_spec(struct valid *v, const struct path *p, const struct api_pod_spec *spec,
                       const struct api_pod_spec *old) {
    if (!check_images(v, AT(p, "containers"), &spec->containers, &old->containers) ||
        !check_images(v, AT(p, "initContainers"), &spec->init_containers, &old->init_containers) ||
        !check_deadline(v, AT(p, "activeDeadlineSeconds"), spec->active_deadline_seconds,
                        old->active_deadline_seconds))
        return;
    check_tolerations(v, AT(p, "tolerations"), &spec->tolerations, &old->tolerations);
    check_gates(v, AT(p, "schedulingGates"), &spec->scheduling_gates, &old->scheduling_gates);
    check_rest(v, p, spec, old);
}

void valid__pod_update(struct valid *v, const struct api_object *o, const struct api_object *old) {
    const struct api_pod *pod = o->body, *was = old->body;
    const struct path *meta = AT(NULL, "metadata");
    struct pod_rules rules = valid__pod_rules(v->gates, &was->spec, &was->metadata);
    valid__finalizer_names(v, AT(meta, "finalizers"), &pod->metadata.finalizers);
    valid__pod_meta_and_spec(v, pod, &rules);
    valid__pod_annotations_update(v, AT(meta, "annotations"), &pod->metadata.annotations,
                                  &was->metadata.annotations);
    check_spec(v, AT(NULL, "spec"), &pod->spec, &was->spec);
}
