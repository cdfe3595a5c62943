/*
 * CEL, the Common Expression Language, as Kubernetes runs it: cel-go v0.29 with the libraries of
 * the API server, to the letter of its results, costs and error texts.
 *
 * An environment says which libraries and variables there are; it is immutable and shared. An
 * expression is compiled once into a program, which does not change either, and evaluated as often
 * as needed, by any number of threads, each with an arena of its own. Errors in an expression and
 * errors of an evaluation are data; `struct err` is not used for them.
 */
#ifndef CEL_CEL_H
#define CEL_CEL_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/str.h"

/* Kinds of values. The order matters: kinds up to CEL_BYTES are scalars whose equality needs no
 * memory of others. */
enum cel_kind {
    CEL_ERROR, /* the evaluation failed: s, n is the text */
    CEL_NULL,
    CEL_BOOL,
    CEL_INT,
    CEL_UINT,
    CEL_DOUBLE,
    CEL_STRING, /* valid UTF-8 */
    CEL_BYTES,
    CEL_DURATION,  /* i: nanoseconds */
    CEL_TIMESTAMP, /* i: seconds since 1970, n: nanoseconds, offset: minutes east of UTC that it is
                      printed in */
    CEL_TYPE,
    CEL_LIST,
    CEL_MAP,
    CEL_OPTIONAL,
    CEL_QUANTITY,
    CEL_SEMVER,
    CEL_URL,
    CEL_IP,
    CEL_CIDR,
    CEL_FORMAT,
    CEL_KINDS,
};

struct cel_type;
struct cel_map;

/* A value: 16 bytes, copied freely. What it points to lives in the arena of the evaluation, in the
 * program, or is the caller's, and is never changed. */
struct cel_value {
    uint8_t kind; /* enum cel_kind */
    uint8_t flag; /* CEL_QUANTITY: made by add or sub (see cel_equal); lists and maps: how made */
    int16_t offset;
    uint32_t n; /* bytes of a string, items of a list */
    union {
        bool b;
        int64_t i;
        uint64_t u;
        double d;
        const char *s;
        const struct cel_value *items;
        const struct cel_map *map;
        const struct cel_value *opt; /* NULL: none */
        const struct cel_type *type;
        void *growing;      /* lists and maps that are being built: what was made for them */
        const void *opaque; /* struct quantity, struct semver, ... by kind */
    };
};

struct cel_entry {
    struct cel_value key, value;
};

/* Entries in order of insertion; `index` is only there when there are many. An object handed in as
 * a variable is such a map too: its entries then stand in the order of its type's fields. */
struct cel_map {
    const struct cel_entry *entries;
    uint32_t n;
    uint32_t slots;        /* a power of two, or 0 */
    const uint32_t *index; /* open addressing into entries, offset by one */
};

/* Values from C. Strings are borrowed. */
static inline struct cel_value cel_of_null(void) {
    return (struct cel_value){.kind = CEL_NULL};
}
static inline struct cel_value cel_of_bool(bool b) {
    return (struct cel_value){.kind = CEL_BOOL, .b = b};
}
static inline struct cel_value cel_of_int(int64_t i) {
    return (struct cel_value){.kind = CEL_INT, .i = i};
}
static inline struct cel_value cel_of_uint(uint64_t u) {
    return (struct cel_value){.kind = CEL_UINT, .u = u};
}
static inline struct cel_value cel_of_double(double d) {
    return (struct cel_value){.kind = CEL_DOUBLE, .d = d};
}
static inline struct cel_value cel_of_str(struct str s) {
    return (struct cel_value){.kind = CEL_STRING, .n = (uint32_t)s.n, .s = s.p};
}
static inline struct cel_value cel_of_map(const struct cel_map *map) {
    return (struct cel_value){.kind = CEL_MAP, .map = map};
}

/* The bytes of a string, bytes or error value. */
static inline struct str cel_str(struct cel_value v) {
    return (struct str){v.s, v.n};
}

/* Appends the value as a CEL literal: 1u, "a", [1, 2], duration("1s"), ... */
void cel_write(struct buf *out, struct cel_value v);

/* Its type's name at run time: int, string, google.protobuf.Duration, ... */
struct str cel_type_name_of(struct cel_value v);

/* ---- environments ---- */

/* The libraries that can be in an environment, as bits of cel_env_opts.libs. */
enum cel_lib {
    CEL_LIB_STD,
    CEL_LIB_STRINGS,
    CEL_LIB_LISTS,
    CEL_LIB_SETS,
    CEL_LIB_OPTIONAL,
    CEL_LIB_TWOVAR,
    CEL_LIB_REGEX,
    CEL_LIB_URL,
    CEL_LIB_IP,
    CEL_LIB_CIDR,
    CEL_LIB_QUANTITY,
    CEL_LIB_SEMVER,
    CEL_LIB_FORMAT,
    CEL_LIB_K8S_LISTS,
    CEL_LIB_INCLUDES,   /* kubernetes.lists version 1 */
    CEL_LIB_LISTS_LAST, /* its functions are tried behind those of others */
    CEL_LIB_AUTHZ,
    CEL_LIB_BIND,
    CEL_LIB_PATCH, /* jsonpatch.escapeKey, and the types JSONPatch, Object and Object.* */
    CEL_LIBS,
};

/* The libraries that Kubernetes 1.`minor` lets new expressions use; all but bindings and patches
 * from 1.37 on. */
uint32_t cel_libs_at(unsigned minor);

/*
 * A field of an object, or a variable. Its type is a text: "string", "list(int)", "map(string,
 * dyn)", or the name of an object type. A number in brackets behind a type is the greatest size of
 * its values (code points, entries), for the cost estimate: "map(string[63], string[32])[10]".
 */
struct cel_var {
    struct str name; /* that of a variable may be qualified: a.b.c */
    struct str type;
};

/* An object type: its name is "package.Name". */
struct cel_object {
    struct str name;
    const struct cel_var *fields;
    size_t field_count;
};

/* A function that is declared but cannot be called: "string.(int) -> bool" or, a global one,
 * "(A, list(A)) -> A". */
struct cel_decl {
    const char *name, *id, *sig;
};

struct cel_env_opts {
    uint32_t libs; /* bits 1 << CEL_LIB_* */
    struct str container;
    const struct cel_decl *decls; /* its texts are borrowed for as long as the environment lives */
    size_t decl_count;
    const struct cel_object
        *objects; /* borrowed for the call; what an object is made of comes first */
    size_t object_count;
    const struct cel_var *vars; /* borrowed for the call */
    size_t var_count;
    uint64_t seed; /* of the maps of evaluations; nothing observable depends on it */
};

struct cel_env;

/* A new environment; a type text that cannot be read is a bug. */
struct cel_env *cel_env_new(const struct cel_env_opts *opts);
void cel_env_free(struct cel_env *env);

/* ---- expressions ---- */

/* An expression that was parsed and checked, or why it could not be. */
struct cel_ast;

enum cel_compile_flags {
    CEL_PARSE_ONLY = 1, /* do not check */
    CEL_NO_MACROS = 2,
};

/* Parses and checks text; everything lives in the arena, and `env` must outlive it. text is copied.
 * Never NULL; see cel_ast_issues. */
const struct cel_ast *cel_compile(const struct cel_env *env, struct arena *a, struct str text,
                                  unsigned flags);

/* Fields that an object type of an environment gets from expressions, one after the other: those of
 * `variables` in policies of Kubernetes. */
struct cel_fields;

/* No fields yet, of the object type of this name; seed: of a map. Free with cel_fields_free. */
struct cel_fields *cel_fields_new(struct str object, uint64_t seed);
void cel_fields_free(struct cel_fields *fields); /* NULL is fine */

/* Adds a field of the type that an expression without issues has; what is not made of scalars,
 * lists and maps is dyn, and so is the field when ast is NULL. The texts are copied. */
void cel_fields_add(struct cel_fields *fields, struct str name, const struct cel_ast *ast);

/* cel_compile with more fields; they must live as long as the result. */
const struct cel_ast *cel_compile_with(const struct cel_env *env, struct arena *a, struct str text,
                                       const struct cel_fields *fields);

/* All errors as upstream prints them, with snippets; empty when there are none. */
struct str cel_ast_issues(const struct cel_ast *ast);

/* The result's type as upstream's Type.String() prints it, or as its checker's messages do. */
struct str cel_ast_type(const struct cel_ast *ast, struct arena *a);

/* Is the result's type exactly bool? */
bool cel_ast_is_bool(const struct cel_ast *ast);

/* What compiling it took, in bytes of text that take as long: nodes that macros copied count, and
 * the instructions of patterns, also those of the programs made of it. Equal texts give the same.
 */
size_t cel_ast_weight(const struct cel_ast *ast);

/* Appends the expression, printed from its tree; macros in their own words. */
void cel_ast_write(struct buf *out, const struct cel_ast *ast);

struct cel_range {
    uint64_t min, max;
};

/* What an evaluation may cost, by the sizes of the variables; saturating. The expression must have
 * been checked. */
struct cel_range cel_estimate(const struct cel_ast *ast);

/* ---- programs ---- */

#define CEL_COST_LIMIT UINT64_C(1000000)

struct cel_program;

/* A program for an expression without issues; `env` must outlive it, the ast need not. NULL when a
 * constant part fails, with the text in *error (in the arena of the ast). */
struct cel_program *cel_program_new(const struct cel_ast *ast, struct str *error);
void cel_program_free(struct cel_program *program);

/* Bytes that the program occupies, without what RE2 holds for its patterns. */
size_t cel_program_bytes(const struct cel_program *program);

struct cel_result {
    struct cel_value value; /* of kind CEL_ERROR when the evaluation failed */
    uint64_t cost;
};

/*
 * Evaluates with one value per variable of the environment, in their order. Memory is taken from
 * the arena only for what needs it, and the result may point into it. When the cost passes `limit`
 * the result is an error, and likewise when the work that the cost does not see passes its own
 * limit: LIMIT_CEL_EVAL_WORK, or the part of it that `limit` is of CEL_COST_LIMIT. The first
 * evaluation that comes to a constant pattern may compile it, in memory that then belongs to the
 * program; no later one does, in any thread.
 */
struct cel_result cel_eval(const struct cel_program *program, const struct cel_value *vars,
                           struct arena *a, uint64_t limit);

/* ---- looking inside ---- */

/* A part of an expression as it was written: a macro is one part, whatever it became. */
struct cel_part {
    const char *kind; /* literal, ident, select, call, macro, list, map, struct */
    struct str name;  /* its text, name, field, function or type; empty for lists and maps */
    struct str type;  /* as cel_ast_type; empty where the checker has not been */
    struct str text;  /* the sub-expression */
    uint32_t depth;   /* 0: the root */
    bool bound;       /* inside a macro, where names may be its variables */
};

/* Calls visit on every part of an expression without issues, wholes first. The texts live in the
 * arena. */
typedef void cel_part_fn(void *ctx, const struct cel_part *node);
void cel_ast_visit(const struct cel_ast *ast, struct arena *a, cel_part_fn *visit, void *ctx);

/* An overload that can be written in an expression; the texts are literals. */
struct cel_fn_info {
    const char *name, *id, *sig, *doc; /* doc: one line, or NULL */
};

/* Calls visit on every overload of an environment, those of a function together. */
typedef void cel_fn_info_fn(void *ctx, const struct cel_fn_info *fn);
void cel_env_visit(const struct cel_env *env, cel_fn_info_fn *visit, void *ctx);

#endif
