/*
 * Fields that an object type gets from expressions, one after the other: the `variables` of
 * policies.
 *
 * Follows k8s.io/apiserver pkg/admission/plugin/cel, func (*compositionState) AddField,
 * func convertCelTypeToDeclType.
 */
#include <stdlib.h>

#include "base/map.h"
#include "cel/syntax/ast_int.h"

struct cel_fields {
    struct arena arena;
    struct str object;
    struct map types; /* by the field's name */
};

struct cel_fields *cel_fields_new(struct str object, uint64_t seed) {
    struct cel_fields *f = xcalloc(1, sizeof *f);
    f->object = arena_str(&f->arena, object);
    f->types = MAP_INIT(seed);
    return f;
}

void cel_fields_free(struct cel_fields *f) {
    if (!f)
        return;
    map_release(&f->types);
    arena_release(&f->arena);
    free(f);
}

/* The type as far as a field can have it. What other fields have is shared: a chain of fields, each
 * made of the one before, takes one type more for each. */
static const struct cel_type *kept(struct cel_fields *f, const struct cel_type *t) {
    if (t->keeper == f)
        return t;
    switch ((enum cel_type_kind)t->kind) {
    case CEL_T_LIST:
    case CEL_T_MAP:
        break;
    case CEL_T_DYN:
    case CEL_T_ERROR:
    case CEL_T_PARAM:
    case CEL_T_TYPE:
    case CEL_T_OPAQUE:
    case CEL_T_OBJECT:
        return cel__type(CEL_T_DYN);
    default:
        return cel__type(t->nullable ? CEL_T_DYN : t->kind);
    }
    const struct cel_type *params[CEL_TYPE_PARAMS];
    for (uint8_t i = 0; i < t->param_count; i++)
        params[i] = kept(f, t->params[i]);
    struct cel_type *own = arena_new(&f->arena, struct cel_type);
    *own = (struct cel_type){
        .kind = t->kind, .param_count = t->param_count, .name = t->name, .keeper = f};
    cel__type_set_params(own, params);
    return own;
}

void cel_fields_add(struct cel_fields *f, struct str name, const struct cel_ast *ast) {
    map_put_const(&f->types, arena_str(&f->arena, name),
                  ast ? kept(f, ast->root->type) : cel__type(CEL_T_DYN));
}

const struct cel_type *cel__late_field(const struct cel_fields *fields,
                                       const struct cel_type *object, struct str name) {
    bool is_theirs = fields && str_eq(fields->object, object->name);
    return is_theirs ? map_get_const(&fields->types, name) : NULL;
}
