#include "api/object.h"

#include <stdlib.h>
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
    struct api_object *o = xcalloc(1, sizeof *o);
    o->refs = 1;
    o->kind = kind;
    o->type = kind ? kind->type : &api_types[API_T_unknown];
    arena_start(&o->arena, o->type->size + first_bytes);
    o->body = arena_calloc(&o->arena, 1, o->type->size);
    o->names = &((struct any_object *)o->body)->names;
    const struct api_field *next = o->type->fields;
    struct api_found meta = api_field_find(o->type, STR("metadata"), &next);
    if (meta.field->type == &api_types[API_T_object_meta])
        o->meta = (void *)((char *)o->body + meta.offset);
    return o;
}

static int refuse_problems(const struct api_problems *problems, struct err *err) {
    struct buf b = BUF_INIT(LIMIT_OBJECT_BYTES);
    for (size_t i = 0; i < problems->n; i++) {
        if (i)
            buf_add(&b, STR(", "));
        buf_add(&b, problems->v[i]);
    }
    err_set(err, ERR_INVALID, "strict decoding error: %.*s", STR_ARG(buf_view(&b)));
    buf_release(&b);
    return -1;
}

/* Kinds without a schema have no unknown fields, only fields that nobody looks at. */
static int decode_body(struct api_object *o, const struct json *tree,
                       const struct api_decode_opts *opts, struct err *err) {
    struct api_problems problems;
    problems.n = 0;
    if (api__struct_decode(&o->arena, o->type, tree, o->body, &problems, opts->duplicates, err) < 0)
        return -1;
    if (!o->kind)
        problems.n = 0;
    if (opts->problems)
        *opts->problems = problems;
    return opts->strict && problems.n ? refuse_problems(&problems, err) : 0;
}

static struct str version_of(struct str api_version) {
    struct str group, version;
    return str_cut(api_version, '/', &group, &version) ? version : api_version;
}

int api_object_decode(const struct json *tree, const struct api_decode_opts *opts,
                      struct api_object **out, struct err *err) {
    static const struct api_decode_opts lenient;
    if (!opts)
        opts = &lenient;
    if (tree->kind != JSON_OBJECT)
        return err_set(err, ERR_INVALID, "not an object");
    struct str kind = string_member(tree, STR("kind"), opts->kind);
    struct str api_version = string_member(tree, STR("apiVersion"), opts->api_version);
    if (!kind.n)
        return err_set(err, ERR_INVALID, "Object 'Kind' is missing");
    if (!api_version.n)
        return err_set(err, ERR_INVALID, "Object 'apiVersion' is missing");
    struct api_object *o = object_new(api_kind_find(api_version, kind), FIRST_BYTES);
    if (decode_body(o, tree, opts, err) < 0 || api__check_conversion(o, err) < 0) {
        api_object_unref(o);
        struct str version = version_of(api_version);
        return err_wrap(err, "%.*s in version \"%.*s\" cannot be handled as a %.*s", STR_ARG(kind),
                        STR_ARG(version), STR_ARG(kind));
    }
    o->names->kind = arena_str(&o->arena, kind);
    o->names->api_version = arena_str(&o->arena, api_version);
    *out = o;
    return 0;
}

struct api_object *api_object_new(const struct api_kind *kind) {
    struct api_object *o = object_new(kind, FIRST_BYTES);
    o->names->kind = str_of(kind->kind);
    o->names->api_version = str_of(kind->api_version);
    return o;
}

struct api_object *api_object_copy(const struct api_object *o) {
    struct api_object *copy = object_new(o->kind, FIRST_BYTES);
    api_struct_copy(&copy->arena, o->type, o->body, copy->body);
    return copy;
}

struct api_object *api_object_derive(struct api_object *o) {
    struct api_object *derived = object_new(o->kind, DERIVED_BYTES);
    memcpy(derived->body, o->body, o->type->size);
    derived->base = api_object_ref(o);
    return derived;
}

struct api_object *api_object_ref(struct api_object *o) {
    __atomic_fetch_add(&o->refs, 1, __ATOMIC_RELAXED);
    return o;
}

void api_object_unref(struct api_object *o) {
    while (o && __atomic_sub_fetch(&o->refs, 1, __ATOMIC_ACQ_REL) == 0) {
        struct api_object *base = o->base;
        arena_release(&o->arena);
        free(o);
        o = base;
    }
}
