/*
 * Defaulting: walks an object and sets what its maker left out.
 *
 * Constant defaults are a column of the schema's rows. Those that depend on other fields are rules,
 * one per type (default_rules.c). For each struct the constants come first, then its rule, then the
 * structs inside it: the order in which upstream's defaulting functions see each other's work. What
 * the schema knows to have no default inside is not visited.
 *
 * Follows k8s.io/kubernetes pkg/apis/core/v1, func SetObjectDefaults_Pod,
 * func SetDefaults_ResourceList.
 */
#include <string.h>

#include "api/default_int.h"
#include "base/alloc.h"

static int64_t number(const char *text) {
    int64_t v = 0;
    if (!str_to_i64(str_of(text), &v))
        BUG("a default in the schema is not a number");
    return v;
}

static void set_constant(const struct api_field *f, void *slot) {
    switch (f->kind) {
    case API_STR:
        if (!((struct str *)slot)->n)
            *(struct str *)slot = str_of(f->def);
        break;
    case API_PSTR:
        if (!((struct str *)slot)->p)
            *(struct str *)slot = str_of(f->def);
        break;
    case API_PBOOL:
        if (!((struct api_opt_bool *)slot)->set)
            *(struct api_opt_bool *)slot = (struct api_opt_bool){true, strcmp(f->def, "true") == 0};
        break;
    case API_I32:
        if (!*(int32_t *)slot)
            *(int32_t *)slot = (int32_t)number(f->def);
        break;
    case API_PI32:
        if (!((struct api_opt_i32 *)slot)->set)
            *(struct api_opt_i32 *)slot = (struct api_opt_i32){true, (int32_t)number(f->def)};
        break;
    case API_PI64:
        if (!((struct api_opt_i64 *)slot)->set)
            *(struct api_opt_i64 *)slot = (struct api_opt_i64){true, number(f->def)};
        break;
    default:
        BUG("a default in the schema for a kind that has none");
    }
}

/* Resource amounts have milli precision: more is rounded up. */
static void round_quantities(struct defaulter *d, struct api_quantities *list) {
    for (size_t i = 0; i < list->n; i++)
        quantity_round_up(d->a, &list->v[i].value, -3);
}

static void walk(struct defaulter *d, const struct api_type *type, char *body);

static void walk_list(struct defaulter *d, const struct api_type *type, void *slot) {
    struct {
        char *v;
        size_t n;
    } list;
    memcpy(&list, slot, sizeof list);
    for (size_t i = 0; i < list.n; i++)
        walk(d, type, list.v + i * type->size);
}

static void walk_map(struct defaulter *d, const struct api_type *type, void *slot) {
    struct {
        char *v;
        size_t n;
    } map;
    memcpy(&map, slot, sizeof map);
    size_t size = sizeof(struct str) + type->size;
    for (size_t i = 0; i < map.n; i++)
        walk(d, type, map.v + i * size + sizeof(struct str));
}

static void walk_field(struct defaulter *d, const struct api_field *f, char *slot) {
    switch (f->kind) {
    case API_OBJ:
    case API_INLINE:
        walk(d, f->type, slot);
        break;
    case API_PTR:
        walk(d, f->type, *(char **)(void *)slot);
        break;
    case API_LIST:
        walk_list(d, f->type, slot);
        break;
    case API_MOBJ:
        walk_map(d, f->type, slot);
        break;
    case API_MQUANTITY:
        if (!(f->flags & API_EXACT))
            round_quantities(d, (void *)slot);
        break;
    default:
        BUG("a field without anything inside");
    }
}

static void walk(struct defaulter *d, const struct api_type *type, char *body) {
    uint64_t inside = 0;
    for (uint64_t rows = type->defaulted; rows; rows &= rows - 1) {
        const struct api_field *f = &type->fields[__builtin_ctzll(rows)];
        if (f->def)
            set_constant(f, body + f->offset);
        else
            inside |= rows & -rows;
    }
    if (api__default_rules[type->id])
        api__default_rules[type->id](d, body);
    for (uint64_t rows = inside; rows; rows &= rows - 1) {
        const struct api_field *f = &type->fields[__builtin_ctzll(rows)];
        if (!api_field_is_absent(f, body + f->offset))
            walk_field(d, f, body + f->offset);
    }
}

void api_object_default(struct api_object *o, const struct feature_set *gates) {
    struct str group, version;
    bool has_group = str_cut(o->names->api_version, '/', &group, &version);
    struct defaulter d = {&o->arena, gates, has_group ? version : group};
    walk(&d, o->type, api_own_body(o));
}
