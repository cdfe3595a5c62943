/*
 * The inside of the front end: source and issues, the tree, names and overloads of an environment,
 * and the steps from text to program: parse, check, validate, estimate, plan.
 */
#ifndef CEL_SYNTAX_AST_INT_H
#define CEL_SYNTAX_AST_INT_H

#include "base/map.h"
#include "base/vec.h"
#include "cel/cel_int.h"

/* ---- source and issues ---- */

/* A place is an offset in code points; CEL_NOWHERE prints as -1:0. */
#define CEL_NOWHERE UINT32_MAX

struct cel_issue {
    uint32_t pos;
    uint32_t order; /* of its report, so that sorting is stable */
    struct str text;
};

struct cel_source {
    struct str text;
    struct arena *arena;
    VEC(struct cel_issue) issues;
    uint32_t copied; /* nodes, by macros */
};

enum { CEL_ISSUES_SHOWN = 100 };

/* Reports an error at a place. */
__attribute__((format(printf, 3, 4))) void cel__issue(struct cel_source *s, uint32_t pos,
                                                      const char *fmt, ...);

/* Forgets the issues behind the first `keep`, but for those of syntax and limits: what upstream
 * finds in a tree it does not find when it never comes to look at that part of it. */
void cel__forget_issues(struct cel_source *s, size_t keep);

/* Forgets the issues behind a place, which is how far upstream read. */
void cel__forget_unread(struct cel_source *s, uint32_t pos);

/* All issues, sorted and printed with snippets, in the arena. */
struct str cel__issues_print(struct cel_source *s);

/* ---- tree ---- */

enum cel_expr_kind {
    CEL_E_LITERAL,
    CEL_E_IDENT,
    CEL_E_SELECT,
    CEL_E_CALL,
    CEL_E_LIST,
    CEL_E_MAP,
    CEL_E_STRUCT,
    CEL_E_FOLD,
    CEL_E_ERROR, /* what could not be parsed; has been reported */
};

struct cel_overload;

/* An entry of a map or a field of a struct. */
struct cel_item {
    struct cel_expr *key, *value; /* key: NULL for a field */
    struct str field;
    uint32_t pos;
    bool optional;
};

/* A comprehension. */
struct cel_fold {
    struct str iter, iter2, accu; /* iter2 may be absent */
    struct cel_expr *range, *init, *cond, *step, *result;
    uint32_t slot; /* of the accumulator among the locals; the iteration variables follow */
};

struct cel_expr {
    uint8_t kind;    /* enum cel_expr_kind */
    bool test_only;  /* has(a.b) */
    bool member;     /* a call with a target */
    bool hidden;     /* .name, where a comprehension has a variable of that name */
    bool compiles;   /* a literal: the validator compiled it as a pattern */
    uint16_t height; /* of the tree as it was written, in the steps that upstream limits */
    uint32_t pos;
    uint32_t count;              /* arguments, elements, entries */
    uint32_t index;              /* among all nodes of a checked tree */
    const struct cel_type *type; /* set by the checker */
    union {
        struct cel_value literal;
        struct str
            name; /* ident; the field of a select; the function of a call; the type of a struct */
    };
    union {
        struct cel_expr *operand; /* select; call: the target */
        bool *optional;           /* list: by element; NULL when none is */
        struct cel_item *entries; /* map, struct */
        struct cel_fold *fold;
    };
    struct cel_expr **args;                  /* call: arguments; list: elements */
    const struct cel_overload *const *found; /* call: NULL-ended candidates, set by the checker */
    const struct cel_var_decl *var; /* ident, or select that is a qualified name: what it means */
    const struct cel_expr *macro; /* the call as it was written, when this is what a macro became */
};

/* ---- environments ---- */

/* Arguments of any function, the target included. */
enum { CEL_MAX_ARGS = 4 };

struct cel_overload {
    const struct cel_fn *fn;
    bool member;
    uint32_t count; /* arguments, the target included */
    const struct cel_type *params[CEL_MAX_ARGS], *result;
    uint32_t kinds[CEL_MAX_ARGS]; /* bits of cel_kind that each argument may have at run time */
};

/* A function: its overloads in order of declaration. */
struct cel_function {
    struct str name;
    VEC(struct cel_overload *) overloads;
};

/* What a name can stand for: a variable of the environment or of a comprehension, or a type. */
struct cel_var_decl {
    struct str name;
    const struct cel_type *type;
    int32_t slot; /* index among the values of the environment, or among the locals; -1: a type */
    bool local;   /* a variable of a comprehension */
    const struct cel_type *value; /* of a type's name: the type */
    bool constant;                /* the number 0 by another name */
    bool unusable;                /* known to the checker alone */
};

struct cel_env {
    struct arena arena;
    uint32_t libs;
    uint64_t seed; /* of the maps of evaluations */
    struct str container;
    struct map functions; /* name -> struct cel_function */
    struct map names;     /* name -> struct cel_var_decl */
    uint32_t var_count;
};

/* The function of this full name, or NULL. */
const struct cel_function *cel__env_function(const struct cel_env *env, struct str name);
/* What a full name means, or NULL. */
const struct cel_var_decl *cel__env_name(const struct cel_env *env, struct str name);
/* The same for names that an environment makes up: those of the types of patches. In the arena. */
const struct cel_var_decl *cel__env_made_name(const struct cel_env *env, struct arena *a,
                                              struct str name);

/* What a name means in a container: tries a.b.name, a.name, name until `find` gives something. */
typedef const void *cel_find_fn(const void *ctx, struct str name);
const void *cel__resolve(struct arena *a, struct str container, struct str name, cel_find_fn *find,
                         const void *ctx);

/* The operators' names. */
#define CEL_OP_AND        "_&&_"
#define CEL_OP_OR         "_||_"
#define CEL_OP_NOT        "!_"
#define CEL_OP_COND       "_?_:_"
#define CEL_OP_EQ         "_==_"
#define CEL_OP_NE         "_!=_"
#define CEL_OP_LT         "_<_"
#define CEL_OP_LE         "_<=_"
#define CEL_OP_GT         "_>_"
#define CEL_OP_GE         "_>=_"
#define CEL_OP_ADD        "_+_"
#define CEL_OP_SUB        "_-_"
#define CEL_OP_MUL        "_*_"
#define CEL_OP_DIV        "_/_"
#define CEL_OP_MOD        "_%_"
#define CEL_OP_NEG        "-_"
#define CEL_OP_IN         "@in"
#define CEL_OP_INDEX      "_[_]"
#define CEL_OP_OPT_INDEX  "_[?_]"
#define CEL_OP_OPT_SELECT "_?._"
#define CEL_OP_NSF        "@not_strictly_false"
#define CEL_ACCU          "@result"

/* ---- the steps ---- */

struct cel_ast {
    const struct cel_env *env;
    const struct cel_fields *fields; /* may be NULL */
    struct arena *arena;
    struct cel_source source;
    struct cel_expr *root;
    struct str issues;
    /* Slots of comprehension variables. Each has its own: what an accumulator begins with is
     * computed when it is first read, which may be inside other comprehensions. */
    uint32_t locals;
    uint32_t nodes;
    bool checked;
    size_t *pattern_steps; /* instructions of all patterns compiled so far */
};

/* The type of the field of this name, of those that an object got from expressions (which may be
 * NULL); NULL when it got none by this name. */
const struct cel_type *cel__late_field(const struct cel_fields *fields,
                                       const struct cel_type *object, struct str name);

/* cel_ast_write of a part of a tree. */
void cel__expr_write(struct buf *out, const struct cel_expr *e);

/* Calls visit on every node, parents first. */
void cel__walk(struct cel_expr *e, void (*visit)(struct cel_expr *e, void *ctx), void *ctx);

/* a.b.c of a chain of selections that starts at a name; absent when it is not one. */
struct str cel__qualified_name(struct arena *a, const struct cel_expr *e);

/* before.name */
struct str cel__dotted_name(struct arena *a, struct str before, struct str name);

/* Text to tree; issues are in the source. NULL only when nothing could be made of it. */
struct cel_expr *cel__parse(struct cel_source *s, const struct cel_env *env, bool macros);

/* Puts types and overloads on the tree. */
void cel__check(struct cel_ast *ast);

/* Instead of checking: gives names their meaning, and calls all the overloads they might mean. */
void cel__bind(struct cel_ast *ast);

/* Kubernetes' validators, on a tree without type errors. */
void cel__validate(struct cel_ast *ast);

#endif
