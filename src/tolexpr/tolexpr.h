/*
 * Expressions of objects: what stands between the CEL engine, which knows no taints, and matching
 * and validation, which know no CEL. Those of tolerations (KEP-5500) are validated and evaluated,
 * those of devices, webhooks and policies of admission are validated.
 *
 * That of a toleration sees `taint` with its key, value and effect. New ones may use what the
 * oldest server of a cluster understands; stored ones are evaluated with everything there is, so
 * that what was accepted once keeps its meaning after a downgrade. Each distinct one is compiled
 * once and kept in a cache that all matchers of a component share; failures are kept like programs,
 * so that a bad stored expression is not compiled again for every pod. Everything here is for one
 * thread.
 */
#ifndef TOLEXPR_TOLEXPR_H
#define TOLEXPR_TOLEXPR_H

#include <stddef.h>
#include <stdint.h>

#include "feature/feature.h"

struct clock;
struct match_engine;
struct tolexpr;
struct valid_cel;

struct tolexpr_opts {
    struct feature_version compat; /* new expressions may use the libraries of this version */
    const struct clock *clock;     /* stored; for compile_ns */
    uint64_t seed;                 /* as that of intern_new */
    size_t cache_bytes;            /* 0: LIMIT_TOLERATION_CACHE_BYTES */
};

/* A context with an empty cache; the environments are made when first used. Free with
 * tolexpr_free, after the matchers that use its engine. */
struct tolexpr *tolexpr_new(const struct tolexpr_opts *opts);
void tolexpr_free(struct tolexpr *x); /* NULL is fine */

/* The engine for match_new: stored expressions, each evaluation limited by its cost, and figures of
 * the cache that are about them alone. Lives as long as the context. */
const struct match_engine *tolexpr_match_engine(const struct tolexpr *x);

/* The compiler for struct valid_opts: what an expression must be where it stands. Lives as long as
 * the context. */
const struct valid_cel *tolexpr_valid_cel(const struct tolexpr *x);

/* The cost that one of so many evaluations of a pod's expressions on a node's taints may have. */
uint64_t tolexpr_share(uint64_t evaluations);

#endif
