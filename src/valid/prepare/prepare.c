/*
 * What a server changes in an object before it judges it: namespace, uid and times, the status, the
 * generation, fields behind gates, and what is special to the kind.
 *
 * Follows k8s.io/apiserver pkg/registry/rest, func BeforeCreate, func BeforeUpdate.
 * Follows k8s.io/apimachinery pkg/apis/meta/v1, func ResetObjectMetaForStatus.
 */
#include <string.h>

#include "valid/kinds_int.h"
#include "valid/metadata_int.h"
#include "valid/prepare/prepare_int.h"
#include "valid/subresource_int.h"

/* ---- members by their names ---- */

static struct api_found member_of(const struct api_object *o, const char *name) {
    const struct api_field *next = o->type->fields;
    return api_field_find(o->type, str_of(name), &next);
}

static bool is_pointer(const struct api_found *m) {
    return m->field->kind == API_PTR;
}

static void clear_member(struct api_object *o, const char *name) {
    struct api_found m = member_of(o, name);
    char *slot = (char *)api_own_body(o) + m.offset;
    memset(slot, 0, is_pointer(&m) ? sizeof(void *) : m.field->type->size);
}

static void keep_pointer(struct api_object *o, const struct api_type *type, void **to,
                         const void *from) {
    *to = from ? arena_alloc(&o->arena, type->size) : NULL;
    if (from)
        api_struct_copy(&o->arena, type, from, *to);
}

static void keep_member(struct api_object *o, const struct api_object *old, const char *name) {
    struct api_found m = member_of(o, name);
    const char *from = (const char *)old->body + m.offset;
    void *to = (char *)api_own_body(o) + m.offset;
    if (is_pointer(&m))
        keep_pointer(o, m.field->type, to, *(void *const *)(const void *)from);
    else
        api_struct_copy(&o->arena, m.field->type, from, to);
}

void valid__keep_part(struct api_object *o, const void *old, const void *part,
                      enum api_type_id type) {
    const char *body = o->body, *at = part;
    size_t offset = (size_t)(at - body);
    api_struct_copy(&o->arena, &api_types[type], (const char *)old + offset,
                    (char *)api_own_body(o) + offset);
}

bool valid__member_changed(const struct api_object *o, const struct api_object *old,
                           const char *member, bool exact) {
    struct api_found m = member_of(o, member);
    const char *now = (const char *)o->body + m.offset, *was = (const char *)old->body + m.offset;
    bool is_list = m.field->kind == API_LIST;
    enum api_type_id type = m.field->type->id;
    if (!(is_list ? valid__equal_lists(type, now, was) : valid__equal(type, now, was)))
        return true;
    return exact && !(is_list ? valid__same_lists(type, now, was) : valid__same(type, now, was));
}

/* ---- objects of all kinds ---- */

/* Objects of a namespace are in the one of the request; the others are in none. */
static void set_namespace(struct api_object *o, const struct valid_opts *opts) {
    struct str *namespace = &api_own_meta(o)->namespace;
    if (!o->kind->namespaced)
        *namespace = STR("");
    else if (!namespace->n)
        *namespace = opts->namespace.n ? arena_str(&o->arena, opts->namespace) : STR("default");
}

static const struct valid__strategy *strategy_of(const struct api_object *o) {
    static const struct valid__strategy none;
    const struct valid__strategy *s = valid__strategy_of(o->type);
    return s ? s : &none;
}

void valid_decoded(struct api_object *o, const struct valid_opts *opts) {
    const struct valid__strategy *s = strategy_of(o);
    if (valid__rules_of(o->kind) && s->decoded)
        s->decoded(o, opts);
}

void valid_prepare_create(struct api_object *o, const struct valid_opts *opts) {
    const struct valid_kind *k = valid__rules_of(o->kind);
    const struct valid__strategy *s = strategy_of(o);
    if (!k)
        return;
    set_namespace(o, opts);
    valid__set_system_fields(o, opts);
    if (s->decoded)
        s->decoded(o, opts);
    if (s->flags & NEW_STATUS)
        clear_member(o, "status");
    if (s->flags & FIRST_GENERATION)
        api_own_meta(o)->generation = 1;
    api_object_drop_gated(o, NULL, opts->gates);
    if (s->create)
        s->create(o, opts);
    if (k->prepare_create)
        k->prepare_create(o, opts);
}

static void count_generation(const struct valid__strategy *s, struct api_object *o,
                             const struct api_object *old) {
    if (s->compared && valid__member_changed(o, old, s->compared, s->flags & COMPARED_EXACTLY))
        api_own_meta(o)->generation++;
}

void valid_prepare_update(struct api_object *o, const struct api_object *old,
                          const struct valid_opts *opts) {
    const struct valid_kind *k = valid__rules_of(o->kind);
    const struct valid__strategy *s = strategy_of(o);
    if (!k)
        return;
    set_namespace(o, opts);
    api_own_meta(o)->generation = old->meta->generation;
    if (s->decoded)
        s->decoded(o, opts);
    if (s->flags & OLD_STATUS)
        keep_member(o, old, "status");
    if (s->flags & COMPARED_EARLY)
        count_generation(s, o, old);
    api_object_drop_gated_but_status(o, old, opts->gates);
    if (s->update)
        s->update(o, old, opts);
    if (k->prepare_update)
        k->prepare_update(o, old, opts);
    if (!(s->flags & COMPARED_EARLY))
        count_generation(s, o, old);
    valid__keep_system_fields(o, old);
}

/* ---- subresources ---- */

/* The spec cannot be written together with the status, whatever the kind. */
static void keep_spec(struct api_object *o, const struct api_object *old) {
    struct api_found spec = member_of(o, "spec");
    if (spec.field && spec.field->kind == API_OBJ)
        keep_member(o, old, "spec");
}

void valid__keep_meta(struct api_object *o, const struct api_object *old) {
    struct api_object_meta *m = api_own_meta(o), was;
    api_struct_copy(&o->arena, &api_types[API_T_object_meta], old->meta, &was);
    m->deletion_timestamp = was.deletion_timestamp;
    m->self_link = was.self_link;
    m->labels = was.labels;
    m->annotations = was.annotations;
    m->finalizers = was.finalizers;
    m->owner_references = was.owner_references;
}

void valid__prepare(struct api_object *o, const struct api_object *old,
                    const struct valid_opts *opts, valid_prepare_fn *change) {
    set_namespace(o, opts);
    api_own_meta(o)->generation = old->meta->generation;
    api_object_drop_gated(o, old, opts->gates);
    change(o, old, opts);
    valid__keep_system_fields(o, old);
}

static void prepare_part(struct api_object *o, const struct api_object *old,
                         const struct valid_opts *opts, valid_prepare_fn *special) {
    const struct valid_kind *k = valid__rules_of(o->kind);
    keep_spec(o, old);
    set_namespace(o, opts);
    api_own_meta(o)->generation = old->meta->generation;
    if (strategy_of(o)->flags & OLD_META)
        valid__keep_meta(o, old);
    api_object_drop_gated(o, old, opts->gates);
    if (special)
        special(o, old, opts);
    if (k && k->prepare_status)
        k->prepare_status(o, old, opts);
    valid__keep_system_fields(o, old);
}

void valid_prepare_status(struct api_object *o, const struct api_object *old,
                          const struct valid_opts *opts) {
    prepare_part(o, old, opts, strategy_of(o)->status);
}

void valid_prepare_approval(struct api_object *o, const struct api_object *old,
                            const struct valid_opts *opts) {
    prepare_part(o, old, opts, valid__approve_csr);
}
