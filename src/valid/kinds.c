/*
 * The way through validation: finds the rules of an object's kind and runs them in upstream's
 * order.
 *
 * Follows k8s.io/apiserver pkg/registry/rest, func BeforeCreate, func BeforeUpdate.
 */
#include "valid/metadata_int.h"

static const struct valid_kind *const kinds[] = {
    &valid__pod,         &valid__node,       &valid__namespace,      &valid__persistent_volume,
    &valid__replica_set, &valid__deployment, &valid__daemon_set,     &valid__stateful_set,
    &valid__job,         &valid__cron_job,   &valid__priority_class, &valid__pod_disruption_budget,
};

static const struct valid_kind *find_rules(const struct api_kind *kind) {
    for (size_t i = 0; kind && i < sizeof kinds / sizeof *kinds; i++)
        if (&api_types[kinds[i]->type] == kind->type)
            return kinds[i];
    return NULL;
}

static const struct valid_kind *find(const struct api_kind *kind) {
    const struct valid_kind *rules = find_rules(kind);
    return rules || !kind ? rules : valid__metadata_rules(kind->type);
}

bool valid_knows(const struct api_kind *kind) {
    return find(kind);
}

bool valid_has_rules(const struct api_kind *kind) {
    return find_rules(kind);
}

/* Objects of a namespace are in the one of the request; the others are in none. */
static void set_namespace(struct api_object *o, const struct valid_opts *opts) {
    struct str *namespace = &api_own_meta(o)->namespace;
    if (!o->kind->namespaced)
        *namespace = STR("");
    else if (!namespace->n)
        *namespace = opts->namespace.n ? arena_str(&o->arena, opts->namespace) : STR("default");
}

void valid_prepare_create(struct api_object *o, const struct valid_opts *opts) {
    const struct valid_kind *k = find(o->kind);
    if (!k)
        return;
    set_namespace(o, opts);
    valid__set_system_fields(o, opts);
    api_object_drop_gated(o, NULL, opts->gates);
    if (k->prepare_create)
        k->prepare_create(o, opts);
}

/* The rules of all objects come behind the kind's, and only for objects that are otherwise good:
 * then metadata was judged with the kind's rules, but for what is the concern of URLs. */
void valid_create(const struct api_object *o, const struct valid_opts *opts,
                  struct valid_errs *out) {
    const struct valid_kind *k = find(o->kind);
    if (!k)
        return;
    struct valid v = {.errs = out, .gates = opts->gates, .cel = opts->cel};
    size_t before = out->found;
    k->create(&v, o);
    if (out->found == before && !v.covered)
        valid__meta_names(&v, AT(NULL, "metadata"), o->meta, valid__name_path_segment);
    if (k->declared)
        k->declared(&v, o, NULL);
    valid__note_left_out(out);
}

/* ---- updates ---- */

void valid__prepare(struct api_object *o, const struct api_object *old,
                    const struct valid_opts *opts, valid_prepare_fn *change) {
    set_namespace(o, opts);
    api_own_meta(o)->generation = old->meta->generation;
    api_object_drop_gated(o, old, opts->gates);
    if (change)
        change(o, old, opts);
    valid__keep_system_fields(o, old);
}

void valid_prepare_update(struct api_object *o, const struct api_object *old,
                          const struct valid_opts *opts) {
    const struct valid_kind *k = find(o->kind);
    if (k)
        valid__prepare(o, old, opts, k->prepare_update);
}

/* The spec cannot be written together with the status, whatever the kind. */
static void keep_spec(struct api_object *o, const struct api_object *old) {
    const struct api_field *next = o->type->fields;
    struct api_found spec = api_field_find(o->type, STR("spec"), &next);
    if (spec.field && spec.field->kind == API_OBJ)
        api_struct_copy(&o->arena, spec.field->type, (const char *)old->body + spec.offset,
                        (char *)api_own_body(o) + spec.offset);
}

void valid_prepare_status(struct api_object *o, const struct api_object *old,
                          const struct valid_opts *opts) {
    const struct valid_kind *k = find(o->kind);
    keep_spec(o, old);
    valid__prepare(o, old, opts, k ? k->prepare_status : NULL);
}

/* Here the rules of all objects come first. */
void valid__check(const struct api_object *o, const struct api_object *old,
                  const struct valid_opts *opts, valid_update_fn *rules, struct valid_errs *out) {
    const struct valid_kind *k = find(o->kind);
    struct valid v = {.errs = out, .gates = opts->gates, .cel = opts->cel};
    const struct path *meta = AT(NULL, "metadata");
    valid__any_meta(&v, meta, o->meta, o->kind->namespaced, valid__name_path_segment);
    valid__any_meta_update(&v, meta, o->meta, old->meta);
    if (rules)
        rules(&v, o, old);
    if (k->declared)
        k->declared(&v, o, old);
    valid__note_left_out(out);
}

void valid_update(const struct api_object *o, const struct api_object *old,
                  const struct valid_opts *opts, struct valid_errs *out) {
    const struct valid_kind *k = find(o->kind);
    if (k)
        valid__check(o, old, opts, k->update, out);
}

void valid_status(const struct api_object *o, const struct api_object *old,
                  const struct valid_opts *opts, struct valid_errs *out) {
    const struct valid_kind *k = find(o->kind);
    if (k)
        valid__check(o, old, opts, k->status, out);
}
