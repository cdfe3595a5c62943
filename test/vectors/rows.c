/*
 * The schema's rows as lines of tab-separated columns, for whoever holds them against the types of
 * Kubernetes:
 *
 *     kind  apiVersion  Kind  type
 *     type  type  Go name  map
 *     row   type  JSON name  kind  type inside  Go name  number  flags  patch strategy  merge key
 *           list  list keys  map  gate
 */
#include <stdio.h>

#include "api/types.h"
#include "feature/feature.h"
#include "vectors.h"

#define QUOTED2(t) #t
#define QUOTED(t)  QUOTED2(t)

static const char *const type_names[] = {
#define BEGIN(...) QUOTED(T),
#define FIELD(member, json_name, kind, number, ...)
#define OBJECTS(member, json_name, kind, target, number, ...)
#define INLINE(target, ...)
#define END
#include "api/schema/all.def"
#undef BEGIN
#undef FIELD
#undef OBJECTS
#undef INLINE
#undef END
};

static const char *const kind_names[] = {
#define X(kind, type) #kind,
    API_SCALAR_KINDS(X)
#undef X
#define X(kind) #kind,
        API_OBJECT_KINDS(X)
#undef X
};

static const char *const list_names[] = {"atomic", "set", "map"};
static const char *const map_names[] = {"", "atomic", "granular"};
static const char *const flag_names[] = {"", "omitempty", "omitzero", "omitempty,omitzero"};
static const char *const patch_names[] = {
    [0] = "",
    [API_PATCH_MERGE] = "merge",
    [API_PATCH_REPLACE] = "replace",
    [API_PATCH_RETAINKEYS] = "retainKeys",
    [API_PATCH_MERGE | API_PATCH_RETAINKEYS] = "merge,retainKeys",
};

static const char *text(const char *s) {
    return s ? s : "";
}

static struct str gate_name(const struct api_field *f) {
    uint32_t gate = f->flags >> API_GATE_SHIFT;
    return gate ? feature_name((enum feature)(gate - 1)) : STR("");
}

static void write_row(const char *type, const struct api_field *f) {
    printf("row\t%s\t%.*s\t%s\t%s\t%s\t%u\t", type, STR_ARG(f->json), kind_names[f->kind],
           f->type ? type_names[f->type->id] : "", text(f->go), f->number);
    printf("%s\t%s\t%s\t%s\t%s\t%s\t%.*s\n", flag_names[f->flags & (API_OMIT | API_ZERO)],
           patch_names[f->patch], text(f->merge_key), list_names[f->list], text(f->keys),
           map_names[f->map], STR_ARG(gate_name(f)));
}

void vectors_write_rows(void) {
    for (const struct api_kind *k = api_kinds; k->kind; k++)
        printf("kind\t%s\t%s\t%s\n", k->api_version, k->kind, type_names[k->type->id]);
    for (size_t i = 0; i < API_TYPES; i++) {
        const struct api_type *type = &api_types[i];
        printf("type\t%s\t%s\t%s\n", type_names[i], type->go, map_names[type->map]);
        for (size_t j = 0; j < type->field_count; j++)
            write_row(type_names[i], &type->fields[j]);
    }
}
