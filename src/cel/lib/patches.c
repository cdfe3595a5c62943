/*
 * What the patches of a mutating policy are made with, beside their types.
 *
 * Follows k8s.io/apiserver pkg/cel/library, func JSONPatch.
 */
#include "cel/cel_int.h"

/* A key as a step of a JSON pointer. */
static struct cel_value call_escape_key(struct cel_eval *ev, const struct cel_value *args) {
    struct str key = cel_str(args[0]);
    char *out = cel__alloc(ev, key.n * 2 + 1), *p = out;
    if (!out)
        return CEL_TOO_BIG;
    for (size_t i = 0; i < key.n; i++) {
        char c = key.p[i];
        bool special = c == '/' || c == '~';
        *p++ = special ? '~' : c;
        if (special)
            *p++ = c == '/' ? '1' : '0';
    }
    return cel_of_str((struct str){out, (size_t)(p - out)});
}

static const struct cel_fn fns[] = {
    {"jsonpatch.escapeKey", "string_jsonpatch_escapeKey_string", "(string) -> string",
     call_escape_key, NULL, NULL, 0, "the key as a step of a path"},
};

const struct cel_library cel__lib_patch = {CEL_LIB_PATCH, fns, sizeof fns / sizeof *fns};
