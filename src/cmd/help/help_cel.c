/* The reference of CEL's functions, written from the engine's own rows. */
#include "cel/cel.h"
#include "cmd/expr/expr.h"
#include "cmd/help/help.h"

static const char *const titles[CEL_LIBS] = {
    [CEL_LIB_STD] = "Standard library",
    [CEL_LIB_STRINGS] = "Strings",
    [CEL_LIB_LISTS] = "Lists",
    [CEL_LIB_SETS] = "Sets",
    [CEL_LIB_OPTIONAL] = "Optional values",
    [CEL_LIB_TWOVAR] = "Comprehensions with two variables",
    [CEL_LIB_REGEX] = "Regular expressions",
    [CEL_LIB_URL] = "URLs",
    [CEL_LIB_IP] = "IP addresses",
    [CEL_LIB_CIDR] = "Networks",
    [CEL_LIB_QUANTITY] = "Quantities",
    [CEL_LIB_SEMVER] = "Versions",
    [CEL_LIB_FORMAT] = "Named formats",
    [CEL_LIB_K8S_LISTS] = "Kubernetes' lists",
    [CEL_LIB_INCLUDES] = "Kubernetes' lists, from 1.37",
    [CEL_LIB_AUTHZ] = "Authorizer (declared, but a toleration has no `authorizer`)",
    [CEL_LIB_BIND] = "Bindings",
    [CEL_LIB_PATCH] = "Patches (in mutating policies of admission alone)",
};

struct page {
    struct buf *out;
    const char *title; /* until it is printed */
};

static void add_cell(struct buf *out, const char *text) {
    for (const char *c = text; *c; c++)
        if (*c == '|')
            buf_add(out, STR("\\|"));
        else
            buf_add_char(out, *c);
}

static void add_row(void *ctx, const struct cel_fn_info *fn) {
    struct page *p = ctx;
    if (p->title)
        buf_addf(p->out, "\n## %s\n\n| function | types | |\n|---|---|---|\n", p->title);
    p->title = NULL;
    buf_add(p->out, STR("| `"));
    add_cell(p->out, fn->name);
    buf_addf(p->out, "` | `%s` | ", fn->sig);
    add_cell(p->out, fn->doc ? fn->doc : "");
    buf_add(p->out, STR(" |\n"));
}

void help_print_cel(struct buf *out) {
    buf_add(out,
            STR("# Functions of CEL\n\n<!-- Written by `berth help --cel`; do not edit. -->\n\n"
                "Everything that an expression may call, by library; operators are named by "
                "the places of their operands. `string.(int)` is called as "
                "`'text'.function(1)`, `(int)` as `function(1)`; capital letters stand for "
                "any type, the same one wherever they recur. Macros are in "
                "[cel.md](cel.md#macros).\n"));
    for (unsigned lib = 0; lib < CEL_LIBS; lib++) {
        struct page page = {out, titles[lib]};
        struct cel_env *env = cel_env_new(&(struct cel_env_opts){.libs = 1U << lib});
        cel_env_visit(env, add_row, &page);
        cel_env_free(env);
    }
}
