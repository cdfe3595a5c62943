/*
 * Models: the schemas of a document, made from the rows.
 *
 * Follows k8s.io/kube-openapi pkg/builder3, func BuildOpenAPISpec.
 */
#include <stdlib.h>
#include <string.h>

#include "base/ascii.h"
#include "openapi/openapi_int.h"

#define REF "#/components/schemas/"

static const struct {
    const char *name, *schema;
} models[] = {
#define MODEL(model_name, text) {model_name, text},
#include "openapi/models.def"
#undef MODEL
};

/* ---- names and references ---- */

static struct str group_of(struct str api_version, struct str *version) {
    struct str group;
    if (str_cut(api_version, '/', &group, version))
        return group;
    *version = api_version;
    return STR("");
}

struct json openapi__gvk(struct arena *a, struct str api_version, struct str kind) {
    struct str version, group = group_of(api_version, &version);
    struct json gvk = {.kind = JSON_OBJECT};
    openapi__add_str(a, &gvk, "group", group);
    openapi__add_str(a, &gvk, "kind", kind);
    openapi__add_str(a, &gvk, "version", version);
    return gvk;
}

void openapi__add_str(struct arena *a, struct json *object, const char *key, struct str text) {
    json_add(a, object, str_of(key), json_of_str(text));
}

/* A type that is the same in several versions has its name in that of the document. */
static struct str model_name(const struct openapi__models *m, const struct api_type *type) {
    const char *name = strchr(type->go, '.') + 1;
    struct str version = {type->go, (size_t)(name - type->go) - 1};
    if (!version.n)
        version = m->of->version;
    return arena_printf(m->a, "%s.%.*s.%s", type->package, STR_ARG(version), name);
}

static struct json reference(struct openapi__models *m, struct str name) {
    struct json ref = {.kind = JSON_OBJECT};
    openapi__add_str(m->a, &ref, "$ref", arena_printf(m->a, REF "%.*s", STR_ARG(name)));
    return ref;
}

struct json openapi__ref_of_type(struct openapi__models *m, const struct api_type *type) {
    if (!m->made[type->id]) {
        m->made[type->id] = true;
        m->wanted[m->wanted_count++] = type->id;
    }
    return reference(m, model_name(m, type));
}

/* Events and options to delete are registered in every version. */
static void add_own_gvk(struct openapi__models *m, struct json *schema, const char *kind) {
    struct json list = {.kind = JSON_ARRAY};
    json_append(m->a, &list, openapi__gvk(m->a, STR("v1"), str_of(kind)));
    if (m->of->group.n)
        json_append(m->a, &list, openapi__gvk(m->a, m->of->api_version, str_of(kind)));
    json_add(m->a, schema, STR("x-kubernetes-group-version-kind"), list);
}

static void want_references(struct openapi__models *m, const struct json *v);

static void add_model(struct openapi__models *m, size_t at) {
    struct json schema;
    struct str name = str_of(models[at].name);
    if (json_get(&m->schemas, name) ||
        json_parse(m->a, str_of(models[at].schema), NULL, &schema, NULL) < 0)
        return;
    struct json copy = {.kind = JSON_OBJECT};
    for (uint32_t i = 0; i < schema.n; i++)
        json_add(m->a, &copy, schema.members[i].key, schema.members[i].value);
    if (str_ends(name, STR("WatchEvent")))
        add_own_gvk(m, &copy, "WatchEvent");
    json_add(m->a, &m->schemas, name, copy);
    want_references(m, &schema);
}

struct json openapi__ref(struct openapi__models *m, const char *name) {
    for (size_t i = 0; i < sizeof models / sizeof *models; i++)
        if (strcmp(models[i].name, name) == 0)
            add_model(m, i);
    return reference(m, str_of(name));
}

/* The models of models.def name each other. */
static void want_references(struct openapi__models *m, const struct json *v) {
    for (uint32_t i = 0; v->kind == JSON_ARRAY && i < v->n; i++)
        want_references(m, &v->items[i]);
    for (uint32_t i = 0; v->kind == JSON_OBJECT && i < v->n; i++) {
        const struct json_member *member = &v->members[i];
        struct str ref = json_str(&member->value);
        if (str_is(member->key, "$ref"))
            openapi__ref(m, arena_str(m->a, str_sub(ref, sizeof REF - 1, ref.n)).p);
        else
            want_references(m, &member->value);
    }
}

/* ---- properties ---- */

static struct json simple(struct arena *a, const char *type, const char *format) {
    struct json schema = {.kind = JSON_OBJECT};
    if (format)
        openapi__add_str(a, &schema, "format", str_of(format));
    openapi__add_str(a, &schema, "type", str_of(type));
    return schema;
}

/* Raw values have three types. */
static const char *raw_model(const struct api_type *in, const struct api_field *f) {
    if (str_ends(str_of(in->package), STR(".apiextensions")))
        return "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.JSON";
    if (str_is(f->json, "fieldsV1"))
        return "io.k8s.apimachinery.pkg.apis.meta.v1.FieldsV1";
    return "io.k8s.apimachinery.pkg.runtime.RawExtension";
}

static const struct value_kind {
    const char *type, *format; /* of a plain value, or ... */
    const char *model;         /* ... */
    enum { ONE, LIST, MAP, MAP_OF_LISTS } form;
} value_kinds[API_FIELD_KINDS] = {
    [API_STR] = {.type = "string"},
    [API_PSTR] = {.type = "string"},
    [API_BOOL] = {.type = "boolean"},
    [API_PBOOL] = {.type = "boolean"},
    [API_I32] = {.type = "integer", .format = "int32"},
    [API_PI32] = {.type = "integer", .format = "int32"},
    [API_I64] = {.type = "integer", .format = "int64"},
    [API_PI64] = {.type = "integer", .format = "int64"},
    [API_PF64] = {.type = "number", .format = "double"},
    [API_BYTES] = {.type = "string", .format = "byte"},
    [API_TIME] = {.model = "io.k8s.apimachinery.pkg.apis.meta.v1.Time"},
    [API_PTIME] = {.model = "io.k8s.apimachinery.pkg.apis.meta.v1.Time"},
    [API_MICROTIME] = {.model = "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime"},
    [API_PMICROTIME] = {.model = "io.k8s.apimachinery.pkg.apis.meta.v1.MicroTime"},
    [API_QUANTITY] = {.model = "io.k8s.apimachinery.pkg.api.resource.Quantity"},
    [API_PQUANTITY] = {.model = "io.k8s.apimachinery.pkg.api.resource.Quantity"},
    [API_INTSTR] = {.model = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"},
    [API_PINTSTR] = {.model = "io.k8s.apimachinery.pkg.util.intstr.IntOrString"},
    [API_LSTR] = {.type = "string", .form = LIST},
    [API_LI32] = {.type = "integer", .format = "int32", .form = LIST},
    [API_LI64] = {.type = "integer", .format = "int64", .form = LIST},
    [API_LBOOL] = {.type = "boolean", .form = LIST},
    [API_LQUANTITY] = {.model = "io.k8s.apimachinery.pkg.api.resource.Quantity", .form = LIST},
    [API_LRAW] = {.form = LIST},
    [API_MSTR] = {.type = "string", .form = MAP},
    [API_MBYTES] = {.type = "string", .format = "byte", .form = MAP},
    [API_MLSTR] = {.type = "string", .form = MAP_OF_LISTS},
    [API_MQUANTITY] = {.model = "io.k8s.apimachinery.pkg.api.resource.Quantity", .form = MAP},
    [API_MTIME] = {.model = "io.k8s.apimachinery.pkg.apis.meta.v1.Time", .form = MAP},
    [API_LIST] = {.form = LIST},
    [API_MOBJ] = {.form = MAP},
};

static struct json value_schema(struct openapi__models *m, const struct api_type *in,
                                const struct api_field *f) {
    const struct value_kind *kind = &value_kinds[f->kind];
    if (kind->type)
        return simple(m->a, kind->type, kind->format);
    if (f->type)
        return openapi__ref_of_type(m, f->type);
    return openapi__ref(m, kind->model ? kind->model : raw_model(in, f));
}

static struct json array_of(struct arena *a, struct json item) {
    struct json array = {.kind = JSON_OBJECT};
    json_add(a, &array, STR("items"), item);
    openapi__add_str(a, &array, "type", STR("array"));
    return array;
}

static struct json map_of(struct arena *a, struct json value) {
    struct json map = {.kind = JSON_OBJECT};
    json_add(a, &map, STR("additionalProperties"), value);
    openapi__add_str(a, &map, "type", STR("object"));
    return map;
}

/* A reference that has anything beside it stands in an allOf. */
static struct json schema_of(struct openapi__models *m, const struct api_type *in,
                             const struct api_field *f) {
    struct json value = value_schema(m, in, f), all = {.kind = JSON_ARRAY}, out;
    switch (value_kinds[f->kind].form) {
    case LIST:
        return array_of(m->a, value);
    case MAP:
        return map_of(m->a, value);
    case MAP_OF_LISTS:
        return map_of(m->a, array_of(m->a, value));
    default:
        if (!json_get(&value, STR("$ref")))
            return value;
        out = (struct json){.kind = JSON_OBJECT};
        json_append(m->a, &all, value);
        json_add(m->a, &out, STR("allOf"), all);
        return out;
    }
}

static bool is_required(const struct api_field *f) {
    return f->flags & API_OMIT ? f->flags & API_NEEDED : !(f->flags & API_OPTIONAL);
}

/* The zero value of what is always written, and what is said to be shown. */
static bool default_of(struct arena *a, const struct api_field *f, struct json *out) {
    bool shown = f->flags & API_SHOWN, written = !(f->flags & API_OMIT);
    const char *text = f->kind == API_OBJ                         ? "{}"
                       : f->kind == API_PTR && shown              ? "{\"single\":{}}"
                       : shown && f->def                          ? f->def
                       : f->kind == API_STR && (written || shown) ? ""
                       : f->kind == API_BOOL && written           ? "false"
                       : (f->kind == API_I32 || f->kind == API_I64) && (written || shown) ? "0"
                                                                                          : NULL;
    if (!text)
        return false;
    if (f->kind == API_STR || f->kind == API_PSTR)
        *out = json_of_str(str_of(text));
    else
        json_parse(a, str_of(text), NULL, out, NULL);
    return true;
}

static void add_keys(struct arena *a, struct json *schema, const char *keys) {
    struct json list = {.kind = JSON_ARRAY};
    struct str rest = str_of(keys), key;
    while (rest.n) {
        str_cut(rest, ',', &key, &rest);
        json_append(a, &list, json_of_str(key));
    }
    json_add(a, schema, STR("x-kubernetes-list-map-keys"), list);
}

static void add_strategy(struct arena *a, struct json *schema, const struct api_field *f) {
    static const char *const names[] = {
        [API_PATCH_MERGE] = "merge",
        [API_PATCH_REPLACE] = "replace",
        [API_PATCH_RETAINKEYS] = "retainKeys",
        [API_PATCH_MERGE | API_PATCH_RETAINKEYS] = "merge,retainKeys",
    };
    if (f->merge_key)
        openapi__add_str(a, schema, "x-kubernetes-patch-merge-key", str_of(f->merge_key));
    if (f->patch)
        openapi__add_str(a, schema, "x-kubernetes-patch-strategy", str_of(names[f->patch]));
}

static void add_extensions(struct arena *a, struct json *schema, const struct api_field *f) {
    static const char *const lists[] = {"atomic", "set", "map"};
    static const char *const maps[] = {"", "atomic", "granular"};
    if (f->keys)
        add_keys(a, schema, f->keys);
    if (value_kinds[f->kind].form == LIST)
        openapi__add_str(a, schema, "x-kubernetes-list-type", str_of(lists[f->list]));
    if (f->map)
        openapi__add_str(a, schema, "x-kubernetes-map-type", str_of(maps[f->map]));
    add_strategy(a, schema, f);
}

static struct json property(struct openapi__models *m, const struct api_type *in,
                            const struct api_field *f) {
    struct json schema = schema_of(m, in, f), value;
    struct str doc = openapi_doc(in, f);
    if (doc.n)
        openapi__add_str(m->a, &schema, "description", doc);
    if (default_of(m->a, f, &value))
        json_add(m->a, &schema, STR("default"), value);
    add_extensions(m->a, &schema, f);
    return schema;
}

static void add_properties(struct openapi__models *m, const struct api_type *type,
                           struct json *properties, struct json *required) {
    for (size_t i = 0; i < type->field_count; i++) {
        const struct api_field *f = &type->fields[i];
        if (f->kind == API_INLINE) {
            add_properties(m, f->type, properties, required);
            continue;
        }
        json_add(m->a, properties, f->json, property(m, type, f));
        if (is_required(f))
            json_append(m->a, required, json_of_str(f->json));
    }
}

/* ---- models ---- */

/* Types of which one field at most is set, and which field tells which. */
static const struct {
    enum api_type_id type;
    const char *discriminator;
} unions[] = {
    {API_T_app_armor_profile, "type"},
    {API_T_composite_disruption_mode, NULL},
    {API_T_composite_pod_group_scheduling_policy, NULL},
    {API_T_disruption_mode, NULL},
    {API_T_eviction_request_target, NULL},
    {API_T_eviction_target, NULL},
    {API_T_flowcontrol_subject, "kind"},
    {API_T_limit_response, "type"},
    {API_T_pod_group_scheduling_policy, NULL},
    {API_T_pod_scheduling_group, NULL},
    {API_T_priority_level_configuration_spec, "type"},
    {API_T_seccomp_profile, "type"},
    {API_T_workload_pod_group_disruption_mode, NULL},
    {API_T_workload_pod_group_scheduling_policy, NULL},
};

static struct json union_of(struct arena *a, const struct api_type *type, const char *by) {
    struct json one = {.kind = JSON_OBJECT}, fields = {.kind = JSON_OBJECT};
    for (size_t i = 0; i < type->field_count; i++) {
        struct str name = type->fields[i].json;
        char *go = arena_copy(a, name.p, name.n);
        go[0] = (char)(go[0] - 'a' + 'A');
        if (!by || !str_is(name, by))
            openapi__add_str(a, &fields, arena_str(a, name).p, (struct str){go, name.n});
    }
    if (by)
        openapi__add_str(a, &one, "discriminator", str_of(by));
    json_add(a, &one, STR("fields-to-discriminateBy"), fields);
    struct json list = {.kind = JSON_ARRAY};
    json_append(a, &list, one);
    return list;
}

static void add_union(struct arena *a, const struct api_type *type, struct json *schema) {
    for (size_t i = 0; i < sizeof unions / sizeof *unions; i++)
        if (type->id == unions[i].type)
            json_add(a, schema, STR("x-kubernetes-unions"),
                     union_of(a, type, unions[i].discriminator));
}

/* Is this the kind that the document means by the type? */
static bool is_kind_here(const struct openapi__models *m, const struct api_kind *k,
                         const struct api_type *type) {
    struct str version;
    group_of(str_of(k->api_version), &version);
    return k->type == type && (type->go[0] != '.' || str_eq(version, m->of->version));
}

static void add_kind(struct openapi__models *m, const struct api_type *type, struct json *schema) {
    if (type->id == API_T_delete_options) {
        add_own_gvk(m, schema, "DeleteOptions");
        return;
    }
    for (const struct api_kind *k = api_kinds; k->kind; k++) {
        if (!is_kind_here(m, k, type))
            continue;
        struct json list = {.kind = JSON_ARRAY};
        json_append(m->a, &list, openapi__gvk(m->a, str_of(k->api_version), str_of(k->kind)));
        json_add(m->a, schema, STR("x-kubernetes-group-version-kind"), list);
        return;
    }
}

static struct json model_of(struct openapi__models *m, const struct api_type *type) {
    struct json schema = {.kind = JSON_OBJECT}, properties = {.kind = JSON_OBJECT};
    struct json required = {.kind = JSON_ARRAY};
    struct str doc = openapi_doc(type, NULL);
    if (doc.n)
        openapi__add_str(m->a, &schema, "description", doc);
    if (type->bare)
        return schema;
    add_properties(m, type, &properties, &required);
    if (properties.n)
        json_add(m->a, &schema, STR("properties"), properties);
    if (required.n)
        json_add(m->a, &schema, STR("required"), required);
    openapi__add_str(m->a, &schema, "type", STR("object"));
    add_kind(m, type, &schema);
    if (type->map == API_MAP_ATOMIC)
        openapi__add_str(m->a, &schema, "x-kubernetes-map-type", STR("atomic"));
    add_union(m->a, type, &schema);
    return schema;
}

/* PodList: all lists are alike. */
struct json openapi__ref_of_list(struct openapi__models *m, const struct api_kind *kind) {
    struct str item = model_name(m, kind->type);
    struct str name = arena_printf(m->a, "%.*sList", STR_ARG(item));
    if (json_get(&m->schemas, name))
        return reference(m, name);
    struct json schema = {.kind = JSON_OBJECT}, properties = {.kind = JSON_OBJECT};
    struct json required = {.kind = JSON_ARRAY}, gvks = {.kind = JSON_ARRAY};
    add_properties(m, &api_types[API_T_list], &properties, &required);
    struct json items = array_of(m->a, openapi__ref_of_type(m, kind->type));
    openapi__add_str(m->a, &items, "description", STR("The objects that were found."));
    for (uint32_t i = 0; i < properties.n; i++)
        if (str_is(properties.members[i].key, "items"))
            properties.members[i].value = items;
    json_append(
        m->a, &gvks,
        openapi__gvk(m->a, str_of(kind->api_version), arena_printf(m->a, "%sList", kind->kind)));
    openapi__add_str(m->a, &schema, "description",
                     arena_printf(m->a, "A list of objects of the kind %s.", kind->kind));
    json_add(m->a, &schema, STR("properties"), properties);
    json_add(m->a, &schema, STR("required"), required);
    openapi__add_str(m->a, &schema, "type", STR("object"));
    json_add(m->a, &schema, STR("x-kubernetes-group-version-kind"), gvks);
    json_add(m->a, &m->schemas, name, schema);
    return reference(m, name);
}

void openapi__models_finish(struct openapi__models *m) {
    while (m->wanted_count) {
        const struct api_type *type = &api_types[m->wanted[--m->wanted_count]];
        json_add(m->a, &m->schemas, model_name(m, type), model_of(m, type));
    }
}
