/*
 * Replication controllers, templates of pods, and what controllers remember of theirs.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/validation, func ValidateReplicationController,
 * func ValidateReplicationControllerUpdate, func ValidateReplicationControllerStatusUpdate,
 * func ValidatePodTemplate, func ValidatePodTemplateUpdate.
 * Follows k8s.io/kubernetes pkg/registry/core/replicationcontroller, func (rcStrategy)
 * ValidateUpdate.
 * Follows k8s.io/kubernetes pkg/apis/apps/validation, func ValidateControllerRevisionCreate,
 * func ValidateControllerRevisionUpdate.
 */
#include "valid/declared_int.h"
#include "valid/kinds_int.h"
#include "valid/workload/workload_int.h"

static const struct api_replication_controller *controller_of(const struct api_object *o) {
    return o->body;
}

static struct pod_rules rules_for(const struct valid *v, const struct api_pod_template_spec *old) {
    struct pod_rules rules =
        valid__pod_rules(v->gates, old ? &old->spec : NULL, old ? &old->metadata : NULL);
    rules.is_template = true;
    return rules;
}

/* ---- replication controllers ---- */

static bool matches(const struct labels *selector, const struct labels *labels) {
    for (size_t i = 0; i < selector->n; i++) {
        const struct label *l = labels_find(labels, selector->v[i].key);
        if (!l || !str_eq(l->value, selector->v[i].value))
            return false;
    }
    return true;
}

static void check_template(struct valid *v, const struct path *spec_path,
                           const struct api_replication_controller_spec *s,
                           const struct pod_rules *rules) {
    const struct path *p = AT(spec_path, "template");
    const struct workload w = {
        .v = v, .spec_path = spec_path, .template = s->template, .rules = rules};
    if (!s->template) {
        valid__required(v, p, NO_DETAIL);
        return;
    }
    if (!matches(&s->selector, &s->template->metadata.labels))
        valid__invalid(v, AT(AT(p, "metadata"), "labels"),
                       valid__labels_value(v->errs->a, &s->template->metadata.labels),
                       "`selector` does not match template `labels`");
    valid__pod_template(v, p, s->template, rules);
    valid__template_runs_forever(&w, "ReplicationController");
}

static void check_spec(struct valid *v, const struct api_replication_controller_spec *s,
                       const struct api_pod_template_spec *old) {
    const struct path *p = AT(NULL, "spec");
    struct pod_rules rules = rules_for(v, old);
    valid__cover(v, "minimum");
    valid__not_negative(v, AT(p, "minReadySeconds"), s->min_ready_seconds);
    valid__uncover(v);
    if (!s->selector.n)
        valid__required(v, AT(p, "selector"), NO_DETAIL);
    valid__cover(v, s->replicas.set ? "minimum" : "");
    if (s->replicas.set)
        valid__not_negative(v, AT(p, "replicas"), s->replicas.v);
    else
        valid__required(v, AT(p, "replicas"), NO_DETAIL);
    valid__uncover(v);
    check_template(v, p, s, &rules);
}

static void create_controller(struct valid *v, const struct api_object *o) {
    valid__metadata_create(v, o);
    check_spec(v, &controller_of(o)->spec, NULL);
}

/* What a version of long ago could not say, by annotations: a selector that stays as it is. */
static void check_broken(struct valid *v, const struct label *l, bool is_selector_kept,
                         const struct labels *selector) {
    struct str name, rest;
    if (!str_starts(l->key, STR("non-convertible.kubernetes.io")) ||
        !str_cut(l->key, '/', &name, &rest) || str_find_char(rest, '/') != STR_NONE)
        return;
    if (str_find(rest, STR("selector")) == STR_NONE) {
        struct path field = {.key = rest, .dotted = true};
        valid__not_found(v, &field, VALUE_Q(l->value), "unknown non-convertible field");
    } else if (!is_selector_kept) {
        valid__invalid(v, AT(AT(NULL, "spec"), "selector"),
                       valid__labels_value(v->errs->a, selector),
                       "cannot update non-convertible selector");
    }
}

static void update_controller(struct valid *v, const struct api_object *o,
                              const struct api_object *before) {
    const struct api_replication_controller *now = controller_of(o), *old = controller_of(before);
    bool is_selector_kept = labels_equal(&now->spec.selector, &old->spec.selector);
    valid__metadata_update(v, o, before);
    check_spec(v, &now->spec, old->spec.template);
    for (size_t i = 0; i < old->metadata.annotations.n; i++)
        check_broken(v, &old->metadata.annotations.v[i], is_selector_kept, &now->spec.selector);
}

static void declared_controller(struct valid *v, const struct api_object *o,
                                const struct api_object *before) {
    const struct api_replication_controller_spec *s = &controller_of(o)->spec;
    const struct api_replication_controller_spec *old =
        before ? &controller_of(before)->spec : NULL;
    const struct path *p = AT(NULL, "spec");
    bool same_replicas =
        old && s->replicas.set == old->replicas.set && s->replicas.v == old->replicas.v;
    valid__metadata_declared(v, o, before);
    if (!s->replicas.set && !same_replicas)
        valid__say_required(v, AT(p, "replicas"));
    if (s->replicas.set && !same_replicas)
        valid__least(v, AT(p, "replicas"), s->replicas.v, 0);
    if (!old || s->min_ready_seconds != old->min_ready_seconds)
        valid__least(v, AT(p, "minReadySeconds"), s->min_ready_seconds, 0);
    valid__uncover(v);
    if (s->template)
        valid__declared_template(v, s->template, old ? old->template : NULL);
}

/* ---- templates ---- */

static const struct api_pod_template *template_of(const struct api_object *o) {
    return o->body;
}

static void create_template(struct valid *v, const struct api_object *o) {
    struct pod_rules rules = rules_for(v, NULL);
    valid__metadata_create(v, o);
    valid__pod_template(v, AT(NULL, "template"), &template_of(o)->template, &rules);
}

static void update_template(struct valid *v, const struct api_object *o,
                            const struct api_object *old) {
    struct pod_rules rules = rules_for(v, &template_of(old)->template);
    valid__metadata_update(v, o, old);
    valid__pod_template(v, AT(NULL, "template"), &template_of(o)->template, &rules);
}

static void declared_template(struct valid *v, const struct api_object *o,
                              const struct api_object *old) {
    valid__declared_pod_spec(v, AT(AT(NULL, "template"), "spec"), &template_of(o)->template.spec,
                             old ? &template_of(old)->template.spec : NULL);
}

/* ---- revisions ---- */

static const struct api_controller_revision *revision_of(const struct api_object *o) {
    return o->body;
}

static void create_revision(struct valid *v, const struct api_object *o) {
    const struct api_controller_revision *r = revision_of(o);
    valid__metadata_create(v, o);
    valid__not_negative(v, AT(NULL, "revision"), r->revision);
    if (r->data.kind == JSON_NULL)
        valid__required(v, AT(NULL, "data"), "data is mandatory");
    else if (r->data.kind != JSON_OBJECT)
        valid__required(v, AT(NULL, "data"), "data must be a valid JSON object");
}

static void update_revision(struct valid *v, const struct api_object *o,
                            const struct api_object *old) {
    const struct api_controller_revision *r = revision_of(o);
    valid__metadata_update(v, o, old);
    valid__not_negative(v, AT(NULL, "revision"), r->revision);
    if (!json_equal(&r->data, &revision_of(old)->data))
        valid__immutable(v, AT(NULL, "data"), VALUE_JSON(r->data));
}

const struct valid_kind valid__replication_controller = {
    .type = API_T_replication_controller,
    .create = create_controller,
    .update = update_controller,
    .status = valid__replication_controller_status,
    .declared = declared_controller,
    .warn = valid__warn_replication_controller,
};
const struct valid_kind valid__pod_template_kind = {
    .type = API_T_pod_template,
    .create = create_template,
    .update = update_template,
    .declared = declared_template,
    .warn = valid__warn_pod_template,
};
const struct valid_kind valid__controller_revision = {
    .type = API_T_controller_revision, .create = create_revision, .update = update_revision};
