/* For the tests of toleration expressions: matching with the engine. */
#ifndef TEST_TOLEXPR_CONTEXT_H
#define TEST_TOLEXPR_CONTEXT_H

#include <string.h>

#include "../data.h"
#include "api/object.h"
#include "base/clock.h"
#include "base/limits.h"
#include "match/match.h"
#include "tolexpr/tolexpr_int.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* A matcher that uses the engine of x, which may serve others as well. */
struct matcher {
    struct intern *atoms;
    struct match *m;
};

static inline struct feature_set gates_with(bool cel) {
    struct feature_config config;
    feature_config_init(&config, FEATURE_NEWEST);
    feature_set_put(&config.enabled, FEATURE_TaintTolerationCEL, cel);
    return config.enabled;
}

static inline void matcher_open(struct matcher *m, const struct tolexpr *x, bool gate) {
    struct feature_set gates = gates_with(gate);
    m->atoms = intern_new(1);
    m->m = match_new(m->atoms, &gates, tolexpr_match_engine(x), 1);
}

static inline void matcher_close(struct matcher *m) {
    match_free(m->m);
    intern_free(m->atoms);
}

static inline const struct match_tolerations *matcher_expression(struct matcher *m,
                                                                 const char *expression) {
    struct api_toleration t = {.expression = str_of(expression)};
    return match_tolerations_get(m->m, &(struct api_toleration_list){&t, 1});
}

static inline const struct match_taints *matcher_taint(struct matcher *m, const char *key,
                                                       const char *value) {
    struct api_taint t = {.key = str_of(key), .value = str_of(value), .effect = STR("NoSchedule")};
    return match_taints_get(m->m, &(struct api_taint_list){&t, 1});
}

/* Of new and stored expressions together. */
static inline struct match_cache_stats stats_of(const struct tolexpr *x) {
    struct match_cache_stats sum = x->cache.stats[TOLEXPR__NEW];
    const struct match_cache_stats *stored = &x->cache.stats[TOLEXPR__STORED];
    sum.entries += stored->entries;
    sum.bytes += stored->bytes;
    sum.hits += stored->hits;
    sum.misses += stored->misses;
    sum.evictions += stored->evictions;
    sum.compile_ns += stored->compile_ns;
    assert_int_equal(sum.bytes, x->cache.bytes);
    return sum;
}

static inline struct tolexpr *new_context(size_t cache_bytes) {
    return tolexpr_new(&(struct tolexpr_opts){{1, 36}, &clock_system, 1, cache_bytes});
}

#endif
