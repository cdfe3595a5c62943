#include "api/object.h"

#include <assert.h>
#include <string.h>

#include "api/object_int.h"
#include "base/alloc.h"
#include "base/limits.h"

/* Beside the body: enough for the texts and lists of a small object, and for the uid of one that
 * shares them. */
enum { FIRST_BYTES = 640, DERIVED_BYTES = 64 };

/* kind and apiVersion stand in the same place of every object. */
struct any_object {
    struct json *extra;
    struct api_type_meta names;
};

/* A member of the tree if it is a string, else the fallback. */
static struct str string_member(const struct json *tree, struct str key, struct str fallback) {
    const struct json *v = json_get(tree, key);
    return v && v->kind == JSON_STRING && v->n ? json_str(v) : fallback;
}

static struct api_object *object_new(const struct api_kind *kind, size_t first_bytes) {
    struct api_life *life = xmalloc(sizeof *life); /* calloc would not take what was freed last */
    *life = (struct api_life){0};
    struct api_object *o = &life->object;
    o->life = life;
    o->kind = kind;
    o->type = kind ? kind->type : &api_types[API_T_unknown];
    arena_start(&o->arena, o->type->size + first_bytes);
    o->body = life->body = arena_calloc(&o->arena, 1, o->type->size);
    o->names = &((const struct any_object *)o->body)->names;
    const struct api_field *next = o->type->fields;
    struct api_found meta = api_field_find(o->type, STR("metadata"), &next);
    if (meta.field->type == &api_types[API_T_object_meta])
        o->meta = life->meta = (void *)((char *)life->body + meta.offset);
    return o;
}

void *api_own_body(struct api_object *o) {
    assert(!o->life->refs);
    return o->life->body;
}

struct api_object_meta *api_own_meta(struct api_object *o) {
    assert(!o->life->refs);
    return o->life->meta;
}

static struct api_type_meta *own_names(struct api_object *o) {
    return &((struct any_object *)api_own_body(o))->names;
}

/* Kinds without a schema have no unknown fields, only fields that nobody looks at. */
static int decode_body(struct api_object *o, const struct json *tree, struct str version,
                       const struct api_decode_opts *opts, struct api_faults *faults) {
    struct api__decode_opts how = {version, opts->duplicates, opts->known_only};
    if (api__struct_decode(&o->arena, o->type, tree, api_own_body(o), &how, faults) < 0)
        return -1;
    if (!o->kind)
        faults->n = 0;
    return opts->strict && faults->n ? -1 : 0;
}

static struct str version_of(struct str api_version) {
    struct str group, version;
    return str_cut(api_version, '/', &group, &version) ? version : api_version;
}

static int refuse(struct api_faults *faults, const char *text) {
    api__fault_add(faults, API_FAULT_VALUE, STR(""), str_of(text));
    return -1;
}

struct str api__fault_subject(struct arena *a, struct str kind, struct str api_version,
                              struct str wanted) {
    struct str version = version_of(api_version);
    return arena_printf(a, "%.*s in version \"%.*s\" cannot be handled as a %.*s", STR_ARG(kind),
                        STR_ARG(version), STR_ARG(wanted.n ? wanted : kind));
}

static int decode_object(const struct json *tree, const struct api_decode_opts *opts,
                         struct api_object **out, struct api_faults *faults) {
    if (tree->kind != JSON_OBJECT) {
        struct str text = api_text_without_kind(faults->a, tree);
        api__fault_add(faults, API_FAULT_VALUE, STR(""), text);
        return -1;
    }
    struct str kind = string_member(tree, STR("kind"), opts->kind);
    struct str api_version = string_member(tree, STR("apiVersion"), opts->api_version);
    if (!kind.n)
        return refuse(faults, "Object 'Kind' is missing");
    if (!api_version.n)
        return refuse(faults, "Object 'apiVersion' is missing");
    struct api_object *o = object_new(api_kind_find(api_version, kind), FIRST_BYTES);
    int rc = decode_body(o, tree, version_of(api_version), opts, faults);
    if (rc == 0)
        rc = api__check_conversion(o, faults);
    if (faults->n)
        faults->subject = api__fault_subject(faults->a, kind, api_version, opts->kind);
    if (rc < 0) {
        api_object_free(o);
        return -1;
    }
    own_names(o)->kind = arena_str(&o->arena, kind);
    own_names(o)->api_version = arena_str(&o->arena, api_version);
    *out = o;
    return 0;
}

int api_object_decode(const struct json *tree, const struct api_decode_opts *opts,
                      struct api_object **out, struct api_faults *faults) {
    static const struct api_decode_opts lenient;
    AUTO(arena_release) struct arena a = {0};
    struct api_faults unread;
    if (!faults)
        faults = &unread;
    api_faults_init(faults, faults == &unread ? &a : faults->a);
    return decode_object(tree, opts ? opts : &lenient, out, faults);
}

struct api_object *api_object_new(const struct api_kind *kind) {
    struct api_object *o = object_new(kind, FIRST_BYTES);
    *own_names(o) = (struct api_type_meta){.kind = str_of(kind->kind),
                                           .api_version = str_of(kind->api_version)};
    return o;
}

/* Beside the body: what a copy of the object needs, if all its texts are its own. */
static size_t bytes_of_parts(const struct api_object *o) {
    size_t used = 0;
    for (const struct api_object *at = o; at; at = at->base)
        used += arena_used(&at->arena);
    return used > o->type->size ? used - o->type->size : 0;
}

struct api_object *api_object_copy(const struct api_object *o) {
    struct api_object *copy = object_new(o->kind, bytes_of_parts(o));
    api_struct_copy(&copy->arena, o->type, o->body, api_own_body(copy));
    return copy;
}

struct api_object *api_object_copy_like(const struct api_object *o, const struct api_object *like,
                                        struct arena *scratch, size_t *shared) {
    assert(!like || o->type == like->type);
    arena_reset(scratch);
    void *body = arena_alloc(scratch, o->type->size);
    *shared = api__struct_copy_like(scratch, o->type, o->body, like ? like->body : NULL, body);
    struct api_object *copy = object_new(o->kind, arena_used(scratch) - o->type->size);
    api__struct_copy_own(&copy->arena, o->type, scratch, body, api_own_body(copy));
    copy->base = like ? api_object_ref(like) : NULL;
    return copy;
}

struct api_object *api_object_derive(const struct api_object *o) {
    struct api_object *derived = object_new(o->kind, DERIVED_BYTES);
    memcpy(api_own_body(derived), o->body, o->type->size);
    derived->base = api_object_ref(o);
    return derived;
}
