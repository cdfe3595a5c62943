/*
 * One compiled toleration and one compiled taint, and the question between them. It is asked for
 * each taint of each node, so both are compiled for it: the answer is a comparison of two words and
 * a range of ranks, but for few tolerations.
 */
#ifndef MATCH_TOLERATION_H
#define MATCH_TOLERATION_H

#include "intern/intern.h"

struct match_engine;

enum match_effect { MATCH_NO_SCHEDULE = 1, MATCH_PREFER_NO_SCHEDULE = 2, MATCH_NO_EXECUTE = 4 };

/* A value can be compared as a text, as a number and as a version. Each way gives it a rank; ranks
 * of one way compare as the values do, but for versions that begin alike (SEMVER_KEY_MORE). By
 * nothing, all values have the same rank. */
enum match_way { MATCH_BY_NOTHING, MATCH_BY_TEXT, MATCH_BY_NUMBER, MATCH_BY_VERSION, MATCH_WAYS };

/* What a toleration compares with beyond texts, as bits: numbers (KEP-5471), versions (KEP-5721),
 * or by an expression (KEP-5500). */
enum match_kind { MATCH_NUMERIC = 1, MATCH_SEMVER = 2, MATCH_CEL = 4 };

/* What must be the same in a toleration and a taint, as one word. */
union match_mark {
    struct {
        uint32_t key;    /* id of the atom */
        uint8_t effect;  /* enum match_effect; 0 for any other effect */
        uint8_t ways;    /* a bit for each way that the value, and the gate, allows */
        uint16_t taints; /* in the taint's list, or the most that fit; no toleration asks for it */
    };
    uint64_t word;
};

struct match_taint {
    union match_mark mark;
    uint64_t ranks[MATCH_WAYS];
    struct atom *key, *value, *effect;
};

struct match_toleration {
    union match_mark want, mask; /* the taint's mark is as wanted in the bits of the mask */
    union {
        uint64_t low;  /* the least rank that matches */
        void *program; /* of an expression; NULL when it cannot be evaluated */
    };
    uint64_t span; /* the greatest rank that matches is so far above it */
    uint64_t edge; /* of this rank some match and some do not; one that matches: there is none */
    uint8_t range_way; /* enum match_way: of these ranks */
    uint8_t way;       /* enum match_way: of the operator */
    int8_t order;      /* enum match__order: of the operator */
    uint8_t why_not;   /* enum match_code: when the value does not compare so */
    bool has_seconds;
    uint16_t expressions; /* programs in the list of an expression, or the most that fit */
    int64_t seconds;
    struct atom *key, *effect; /* NULL: any */
    struct atom *value;
    struct atom *expression;           /* NULL: none */
    struct atom *op_name;              /* as written */
    const struct match_engine *engine; /* of an expression */
};

/* Whose value is no number or version is in the code's name; the toleration is looked at first. */
enum match_code {
    MATCH_YES,
    MATCH_EFFECT_DIFFERS,
    MATCH_KEY_DIFFERS,
    MATCH_VALUE_DIFFERS,
    MATCH_NOT_LESS,
    MATCH_NOT_GREATER,
    MATCH_VERSIONS_DIFFER,
    MATCH_TOLERATION_NO_NUMBER,
    MATCH_TAINT_NO_NUMBER,
    MATCH_TOLERATION_NO_VERSION,
    MATCH_TAINT_NO_VERSION,
    MATCH_GATE_OFF,
    MATCH_UNKNOWN_OPERATOR,
    MATCH_EXPRESSION_FALSE,
    MATCH_EXPRESSION_ERROR,   /* it failed on this taint */
    MATCH_EXPRESSION_INVALID, /* it does not compile */
    MATCH_NO_ENGINE,          /* nobody here can evaluate expressions */
    MATCH_EXPRESSION_REFUSED, /* those before it are too many or too long */
};

/* Does the toleration match the taint, and if not, why? */
enum match_code match_toleration_check(const struct match_toleration *t,
                                       const struct match_taint *taint);

/* For match_tolerates, on the edge. Pure to the compiler: whatever engines remember, their answers
 * stay. */
__attribute__((pure, cold)) bool match__tolerates_edge(const struct match_toleration *t,
                                                       const struct match_taint *taint);

/* Does the toleration match the taint? */
static inline bool match_tolerates(const struct match_toleration *t,
                                   const struct match_taint *taint) {
    if ((taint->mark.word ^ t->want.word) & t->mask.word)
        return false;
    uint64_t rank = taint->ranks[t->range_way];
    if (rank - t->low <= t->span)
        return true;
    return __builtin_expect(rank == t->edge, false) && match__tolerates_edge(t, taint);
}

#endif
