/*
 * Which field a key of a strategic merge patch means, and how it is merged.
 *
 * Follows k8s.io/apimachinery pkg/util/strategicpatch, func (PatchMetaFromStruct)
 * LookupPatchMetadataForStruct, func (PatchMetaFromStruct) LookupPatchMetadataForSlice.
 * Follows k8s.io/apimachinery third_party/forked/golang/json, func LookupPatchMetadataForStruct.
 */
#include "api/patch/strategic_int.h"
#include "base/ascii.h"
#include "base/goquote.h"

/* Go's kinds of the fields that rows describe: of the field itself, of what it points to, and of
 * its items if it is a list. */
static const struct {
    const char *kind, *base, *item;
} kinds[API_FIELD_KINDS] = {
    [API_STR] = {"string", "string", NULL},
    [API_PSTR] = {"ptr", "string", NULL},
    [API_BOOL] = {"bool", "bool", NULL},
    [API_PBOOL] = {"ptr", "bool", NULL},
    [API_I32] = {"int32", "int32", NULL},
    [API_PI32] = {"ptr", "int32", NULL},
    [API_I64] = {"int64", "int64", NULL},
    [API_PI64] = {"ptr", "int64", NULL},
    [API_TIME] = {"struct", "struct", NULL},
    [API_PTIME] = {"ptr", "struct", NULL},
    [API_MICROTIME] = {"struct", "struct", NULL},
    [API_PMICROTIME] = {"ptr", "struct", NULL},
    [API_PF64] = {"ptr", "float64", NULL},
    [API_BYTES] = {"slice", "slice", "uint8"},
    [API_QUANTITY] = {"struct", "struct", NULL},
    [API_PQUANTITY] = {"ptr", "struct", NULL},
    [API_INTSTR] = {"struct", "struct", NULL},
    [API_PINTSTR] = {"ptr", "struct", NULL},
    [API_RAW] = {"struct", "struct", NULL},
    [API_PRAW] = {"ptr", "struct", NULL},
    [API_LSTR] = {"slice", "slice", "string"},
    [API_LI32] = {"slice", "slice", "int32"},
    [API_LI64] = {"slice", "slice", "int64"},
    [API_LBOOL] = {"slice", "slice", "bool"},
    [API_LQUANTITY] = {"slice", "slice", "struct"},
    [API_LRAW] = {"slice", "slice", "struct"},
    [API_MSTR] = {"map", "map", NULL},
    [API_MBYTES] = {"map", "map", NULL},
    [API_MLSTR] = {"map", "map", NULL},
    [API_MQUANTITY] = {"map", "map", NULL},
    [API_MTIME] = {"map", "map", NULL},
    [API_OBJ] = {"struct", "struct", NULL},
    [API_PTR] = {"ptr", "struct", NULL},
    [API_LIST] = {"slice", "slice", "struct"},
    [API_MOBJ] = {"map", "map", NULL},
};

static bool equal_fold(struct str a, struct str b) {
    if (a.n != b.n)
        return false;
    for (size_t i = 0; i < a.n; i++)
        if (ascii_to_lower(a.p[i]) != ascii_to_lower(b.p[i]))
            return false;
    return true;
}

/* Go's last resort. */
static const struct api_field *find_folded(const struct api_type *type, struct str json) {
    for (size_t i = 0; i < type->field_count; i++) {
        const struct api_field *f = &type->fields[i];
        const struct api_field *inner = f->kind == API_INLINE ? find_folded(f->type, json) : NULL;
        if (inner || (f->kind != API_INLINE && equal_fold(f->json, json)))
            return inner ? inner : f;
    }
    return NULL;
}

/* Types that read themselves have other fields in Go, which no patch names. */
static const struct api_field *find_field(const struct api_type *type, struct str json) {
    if (!type || type->bare)
        return NULL;
    const struct api_field *next = type->fields;
    struct api_found found = api_field_find(type, json, &next);
    return found.field ? found.field : find_folded(type, json);
}

static const char *behind_dot(const char *go) {
    const char *dot = go ? strrchr(go, '.') : NULL;
    return dot ? dot + 1 : "RawExtension";
}

static int no_field(struct api__patching *p, struct api__shape in, struct str json) {
    AUTO(buf_release) struct buf quoted = BUF_INIT(4 * json.n + 2);
    goquote_write(&quoted, json);
    return api__patch_fail(p, ERR_UNTOLD,
                           "unable to find api field in struct %s for the json field %.*s",
                           in.type ? behind_dot(in.type->go) : in.name, STR_ARG(buf_view(&quoted)));
}

int api__merge_field_find(struct api__patching *p, struct api__shape in, struct str json,
                          struct api__merge_field *out) {
    if (!str_is(str_of(in.base), "struct"))
        return api__patch_fail(
            p, ERR_UNTOLD, "merging an object in json but data type is not struct, instead is: %s",
            in.base);
    const struct api_field *f = find_field(in.type, json);
    if (!f)
        return no_field(p, in, json);
    *out = (struct api__merge_field){.shape = {.type = f->kind == API_MOBJ ? NULL : f->type,
                                               .kind = kinds[f->kind].kind,
                                               .base = kinds[f->kind].base,
                                               .name = behind_dot(f->go)},
                                     .merges = f->patch & API_PATCH_MERGE,
                                     .replaces = f->patch & API_PATCH_REPLACE,
                                     .key = str_of(f->merge_key)};
    if (kinds[f->kind].item)
        out->shape.name = kinds[f->kind].item;
    return 0;
}

int api__merge_list_find(struct api__patching *p, struct api__shape in, struct str json,
                         struct api__merge_field *out) {
    if (api__merge_field_find(p, in, json, out) < 0)
        return -1;
    struct api__shape *shape = &out->shape;
    if (str_is(str_of(shape->kind), "slice"))
        shape->kind = shape->base = shape->name;
    else if (str_is(str_of(shape->kind), "ptr"))
        shape->kind = shape->base;
    else
        return api__patch_fail(p, ERR_UNTOLD, "expected slice or array type, but got: %s", in.kind);
    return 0;
}
