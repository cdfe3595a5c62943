/*
 * Verdicts as operands, and operands in words.
 *
 * A verdict has places in compiled lists; its operands are the texts that stand there. They outlive
 * the lists if they are copied, can be compared and written as JSON, and one sentence is made of
 * them, with or without values.
 */
#ifndef MATCH_SENTENCE_H
#define MATCH_SENTENCE_H

#include "base/arena.h"
#include "match/match.h"

/* ---- a toleration and a taint ---- */

/* Texts are absent where there is none. */
struct match_operands {
    enum match_code code;
    uint32_t toleration; /* its place; MATCH_NONE: none has the key and effect of the taint */
    struct str key, value, effect; /* of the taint */
    struct str operator, wanted;   /* of the toleration; no operator: it is an expression */
    struct str detail;             /* what the code leaves open: the toleration's key or effect,
                                      the gate, why a text is no number, why an expression fails */
};

/* The operands of a verdict. Texts are borrowed from the lists, but for details: these may be in
 * the arena. */
void match_verdict_operands(const struct match_tolerations *tolerations,
                            const struct match_taints *taints, const struct match_verdict *v,
                            struct arena *a, struct match_operands *out);

/*
 * Of an expression that is false the detail can be the first condition, one of those that && joins,
 * that is not true of the taint: "int(taint.value) > 950 is false", or "size(x) > 1 fails: no such
 * key". An engine's find_false appends it. This asks for it, in the arena; nothing happens for
 * verdicts that are about no expression, and when no engine can tell.
 */
void match_operands_find_condition(const struct match_tolerations *tolerations,
                                   const struct match_taints *taints, const struct match_verdict *v,
                                   struct arena *a, struct match_operands *out);

/* Appends the sentence. With `redact` it says *** for values, and nothing of expressions. */
void match_operands_write(struct buf *out, const struct match_operands *o, bool redact);

/* A stable name of the code, for programs; static. */
struct str match_code_name(enum match_code code);

/* ---- a requirement and a node ---- */

/* The first values of a requirement. */
struct match_values {
    const struct str *v;
    size_t n, all; /* how many are here, and how many there are */
};

struct match_node_operands {
    struct match_node_verdict verdict;
    struct str key, operator;
    struct str value;  /* of the node; absent: it has none */
    struct str detail; /* why that is no number or version; the gate that is off */
    const struct match_values *values;
};

/* The operands of a verdict but for the values, as match_verdict_operands. Of a verdict on a term
 * as a whole there are none. */
void match_node_verdict_operands(const struct match_affinity *a, const struct match_node *node,
                                 const struct match_node_verdict *v, struct arena *arena,
                                 struct match_node_operands *out);

/* Is the verdict about a single requirement? Others are about a term, or all of them. */
bool match_node_verdict_has_requirement(const struct match_node_verdict *v);

/* The first `most` values of the requirement of such a verdict. The list is in the arena, the texts
 * are borrowed. */
struct match_values match_node_verdict_values(const struct match_affinity *a,
                                              const struct match_node_verdict *v, size_t most,
                                              struct arena *arena);

/* Appends the sentence, as match_operands_write does. */
void match_node_operands_write(struct buf *out, const struct match_node_operands *o, bool redact);

/* A stable name of the code, for programs; static. */
struct str match_node_code_name(enum match_node_code code);

#endif
