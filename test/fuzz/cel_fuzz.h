/*
 * What the fuzzers of CEL share: Kubernetes' environment with a taint, texts written from trees,
 * and a check that ends the program.
 */
#ifndef TEST_FUZZ_CEL_FUZZ_H
#define TEST_FUZZ_CEL_FUZZ_H

#include "base/limits.h"
#include "cel/cel.h"
#include "check.h"

/* Upstream's limit for the text of an expression; a tree can need more text than it was read from.
 */
enum { MOST_CODE_POINTS = 100000 };

/* The one environment of the process; everything is in it, the bindings too. */
static inline const struct cel_env *fuzz_env(void) {
    static const struct cel_var fields[] = {{STR_INIT("key"), STR_INIT("string[317]")},
                                            {STR_INIT("value"), STR_INIT("string[63]")},
                                            {STR_INIT("effect"), STR_INIT("string[16]")}};
    static const struct cel_object taint_object = {STR_INIT("Taint"), fields, 3};
    static const struct cel_var vars[] = {{STR_INIT("taint"), STR_INIT("Taint")}};
    static struct cel_env *env;
    if (!env)
        env = cel_env_new(&(struct cel_env_opts){.libs = cel_libs_at(37) | 1U << CEL_LIB_BIND,
                                                 .objects = &taint_object,
                                                 .object_count = 1,
                                                 .vars = vars,
                                                 .var_count = 1});
    return env;
}

/*
 * libFuzzer's way to change an input, and its door to replace it: most changes of a large input are
 * made to a piece of it, since one large text takes the time of a hundred small ones. Not there,
 * and not called, where a corpus is replayed.
 */
__attribute__((weak)) size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed);

#define FUZZ_SMALL_INPUTS                                                                   \
    size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) { \
        enum { SMALL = 512, LARGE_ONCE_IN = 64 };                                           \
        if (seed % LARGE_ONCE_IN != 0 && max > SMALL)                                       \
            max = SMALL;                                                                    \
        return LLVMFuzzerMutate(data, size < max ? size : max, max);                        \
    }

/* The tree as text, in the arena. */
static inline struct str written(struct arena *a, const struct cel_ast *ast) {
    AUTO(buf_release) struct buf out = BUF_INIT(64U << 20);
    cel_ast_write(&out, ast);
    return arena_str(a, buf_view(&out));
}

static inline bool same_issues(const struct cel_ast *x, const struct cel_ast *y) {
    return str_eq(cel_ast_issues(x), cel_ast_issues(y));
}

#endif
