/*
 * Workloads, and the groups of pods that they are made of. Most of their rules are declared ones.
 *
 * Follows k8s.io/kubernetes pkg/apis/scheduling/validation, func ValidateWorkload,
 * func ValidateWorkloadUpdate, func ValidateWorkloadSpec, func ValidatePodGroup,
 * func ValidatePodGroupStatusUpdate, func ValidateCompositePodGroupStatusUpdate.
 */
#include "valid/declared_int.h"
#include "valid/kinds_int.h"

enum { MOST_DEPTH = 4 };

typedef const struct api_composite_pod_group_template composite;
typedef const struct api_composite_pod_group_template_list composites;
typedef const struct api_pod_group_template_list templates;

#define COMPOSITES "compositePodGroupTemplates"

static const struct value null = {.kind = VALUE_TREE, .json = {.kind = JSON_NULL}};

/* ---- names: each once in all of the tree; in one list that is declared ---- */

static void check_name(struct valid *v, const struct path *p, struct str name,
                       const struct seen *names) {
    if (seen_get(names, name))
        valid__duplicate(v, AT(p, "name"), VALUE_Q(name), NO_DETAIL);
}

static void check_children(struct valid *v, const struct path *p, composites *list,
                           struct seen *names);

static void check_templates(struct valid *v, const struct path *p, templates *list,
                            struct seen *names) {
    for (size_t i = 0; i < list->n; i++)
        check_name(v, AT_INDEX(AT(p, "podGroupTemplates"), i), list->v[i].name, names);
    for (size_t i = 0; i < list->n; i++)
        seen_add(names, list->v[i].name);
}

/* The depth of these walks is that of the tree that was decoded, which is limited. */
static void check_children(struct valid *v, const struct path *p, composites *list,
                           struct seen *names) {
    const struct path *at = AT(p, COMPOSITES);
    for (size_t i = 0; i < list->n; i++)
        check_name(v, AT_INDEX(at, i), list->v[i].name, names);
    for (size_t i = 0; i < list->n; i++)
        seen_add(names, list->v[i].name);
    for (size_t i = 0; i < list->n; i++) {
        check_templates(v, AT_INDEX(at, i), &list->v[i].pod_group_templates, names);
        check_children(v, AT_INDEX(at, i), &list->v[i].composite_pod_group_templates, names);
    }
}

static void check_names(struct valid *v, const struct path *p, const struct api_workload_spec *s) {
    AUTO(seen_release) struct seen names;
    seen_init(&names);
    for (size_t i = 0; i < s->pod_group_templates.n; i++)
        seen_add(&names, s->pod_group_templates.v[i].name);
    check_children(v, p, &s->composite_pod_group_templates, &names);
}

/* ---- depth ---- */

static bool is_too_deep(composite *c, int depth) {
    if (depth == MOST_DEPTH)
        return true;
    for (size_t i = 0; i < c->composite_pod_group_templates.n; i++)
        if (is_too_deep(&c->composite_pod_group_templates.v[i], depth + 1))
            return true;
    return false;
}

static void check_depth(struct valid *v, const struct path *p, composites *list) {
    for (size_t i = 0; i < list->n; i++)
        if (is_too_deep(&list->v[i], 1))
            valid__invalid(v, AT_INDEX(p, i),
                           valid__list_value(v->errs->a, API_T_composite_pod_group_template,
                                             &list->v[i].composite_pod_group_templates),
                           "maximum template hierarchy depth is %d", MOST_DEPTH);
}

/* ---- priorities: one for all ---- */

struct priority {
    bool is_known;
    struct str class;
    struct api_opt_i32 value;
};

static bool is_same_priority(struct priority *first, struct str class, struct api_opt_i32 value) {
    if (!first->is_known) {
        *first = (struct priority){true, class, value};
        return true;
    }
    return str_eq(first->class, class) && first->value.set == value.set &&
           (!value.set || first->value.v == value.v);
}

static bool has_one_priority(struct priority *first, templates *list) {
    for (size_t i = 0; i < list->n; i++)
        if (!is_same_priority(first, list->v[i].priority_class_name, list->v[i].priority))
            return false;
    return true;
}

static bool have_one_priority(struct priority *first, composites *list) {
    for (size_t i = 0; i < list->n; i++) {
        composite *c = &list->v[i];
        if (!is_same_priority(first, c->priority_class_name, c->priority) ||
            !have_one_priority(first, &c->composite_pod_group_templates) ||
            !has_one_priority(first, &c->pod_group_templates))
            return false;
    }
    return true;
}

static void check_priority(struct valid *v, const struct path *p,
                           const struct api_workload_spec *s) {
    struct priority first = {0};
    if (!has_one_priority(&first, &s->pod_group_templates))
        valid__invalid(v, p, null, "detected multiple priority configurations");
    else if (!have_one_priority(&first, &s->composite_pod_group_templates))
        valid__invalid(v, p, null,
                       "all priority and priorityClassName values must be identical, detected "
                       "multiple values");
}

/* ---- children ---- */

static void check_childless(struct valid *v, const struct path *p, composites *list) {
    for (size_t i = 0; i < list->n; i++) {
        composite *c = &list->v[i];
        if (!c->pod_group_templates.n && !c->composite_pod_group_templates.n)
            valid__invalid(v, AT_INDEX(p, i), VALUE_Q(c->name),
                           "must have at least one child PodGroupTemplate or "
                           "CompositePodGroupTemplate");
        check_childless(v, AT(AT_INDEX(p, i), COMPOSITES), &c->composite_pod_group_templates);
    }
}

/* ---- workloads ---- */

static void check_workload(struct valid *v, const struct api_object *o) {
    const struct api_workload_spec *s = &((const struct api_workload *)o->body)->spec;
    const struct path *p = AT(NULL, "spec");
    check_names(v, p, s);
    check_depth(v, AT(p, COMPOSITES), &s->composite_pod_group_templates);
    check_priority(v, p, s);
    check_childless(v, AT(p, COMPOSITES), &s->composite_pod_group_templates);
}

static void create_workload(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_workload(v, o);
}

static void update_workload(struct valid *v, const struct api_object *o,
                            const struct api_object *old) {
    valid__metadata_update(v, o, old);
    check_workload(v, o);
}

/* ---- groups ---- */

static void create_group(struct valid *v, const struct api_object *o) {
    const struct api_pod_group *group = o->body;
    valid__metadata_create(v, o);
    if (group->spec.parent_composite_pod_group_name.p && !group->spec.workload_ref)
        valid__required(v, AT(AT(NULL, "spec"), "workloadRef"),
                        "must be set when parentCompositePodGroupName is set");
}

static void status_of_group(struct valid *v, const struct api_object *o,
                            const struct api_object *old) {
    const struct api_pod_group *group = o->body;
    const struct api_pod_group_resource_claim_status_list *list =
        &group->status.resource_claim_statuses;
    const struct path *p = AT(NULL, "status");
    AUTO(seen_release) struct seen claims;
    seen_init(&claims);
    valid__metadata_update(v, o, old);
    valid__conditions(v, AT(p, "conditions"), &group->status.conditions);
    for (size_t i = 0; i < group->spec.resource_claims.n; i++)
        seen_add(&claims, group->spec.resource_claims.v[i].name);
    for (size_t i = 0; i < list->n; i++)
        if (!seen_get(&claims, list->v[i].name))
            valid__invalid(v, AT(AT_INDEX(AT(p, "resourceClaimStatuses"), i), "name"),
                           VALUE_Q(list->v[i].name),
                           "must match the name of an entry in `spec.resourceClaims`");
}

static void status_of_composite(struct valid *v, const struct api_object *o,
                                const struct api_object *old) {
    const struct api_composite_pod_group *group = o->body;
    valid__metadata_update(v, o, old);
    valid__conditions(v, AT(AT(NULL, "status"), "conditions"), &group->status.conditions);
}

const struct valid_kind valid__workload = {.type = API_T_workload,
                                           .create = create_workload,
                                           .update = update_workload,
                                           .declared = valid__declared_rows};
const struct valid_kind valid__pod_group = {.type = API_T_pod_group,
                                            .create = create_group,
                                            .update = valid__metadata_update,
                                            .status = status_of_group,
                                            .declared = valid__declared_rows};
const struct valid_kind valid__composite_pod_group = {.type = API_T_composite_pod_group,
                                                      .create = valid__metadata_create,
                                                      .update = valid__metadata_update,
                                                      .status = status_of_composite,
                                                      .declared = valid__declared_rows};
