/*
 * Fields that an object type gets from expressions, one after the other: the `variables` of
 * policies.
 *
 * Follows k8s.io/apiserver pkg/admission/plugin/cel, func (*compositionState) AddField,
 * func convertCelTypeToDeclType.
 */
#include <stdlib.h>

#include "cel/syntax/ast_int.h"

struct cel_fields {
    struct arena arena;
    struct cel_type type; /* its fields are those of the list */
    VEC(struct cel_typed_field) list;
};

struct cel_fields *cel_fields_new(struct str object) {
    struct cel_fields *f = xcalloc(1, sizeof *f);
    f->type = (struct cel_type){.kind = CEL_T_OBJECT, .name = arena_str(&f->arena, object)};
    return f;
}

void cel_fields_free(struct cel_fields *f) {
    if (!f)
        return;
    vec_release(&f->list);
    arena_release(&f->arena);
    free(f);
}

/* The type as far as a field can have it. */
static const struct cel_type *kept(struct arena *a, const struct cel_type *t) {
    switch ((enum cel_type_kind)t->kind) {
    case CEL_T_LIST:
        return cel__type_list(a, kept(a, t->params[0]));
    case CEL_T_MAP:
        return cel__type_map(a, kept(a, t->params[0]), kept(a, t->params[1]));
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
}

void cel_fields_add(struct cel_fields *f, struct str name, const struct cel_ast *ast) {
    bool good = !cel_ast_issues(ast).n;
    vec_push(&f->list, ((struct cel_typed_field){arena_str(&f->arena, name),
                                                 good ? kept(&f->arena, ast->root->type)
                                                      : cel__type(CEL_T_DYN)}));
    f->type.fields = f->list.v;
    f->type.field_count = (uint32_t)f->list.n;
}

const struct cel_type *cel__with_fields(const struct cel_fields *fields, const struct cel_type *t) {
    return fields && fields->type.fields && str_eq(fields->type.name, t->name) ? &fields->type : t;
}
