/*
 * More about verdicts in words: for explanations that look inside expressions, or that must not
 * tell values.
 */
#ifndef MATCH_SENTENCE_H
#define MATCH_SENTENCE_H

#include "match/match.h"

/*
 * What find_false of an engine does: appends the first condition of an expression, one of
 * those that && joins, that is not true of the taint: "int(taint.value) > 950 is false", or
 * "size(x) > 1 fails: no such key". The expression is one that is false of the taint as a whole.
 */

/* What can follow the sentence of match_verdict_write: ": " and that condition. Appends nothing for
 * verdicts that are about no expression, and when no engine can tell. */
void match_verdict_write_condition(struct buf *out, const struct match_tolerations *tolerations,
                                   const struct match_taints *taints,
                                   const struct match_verdict *v);

/* As match_taint_write, with *** for the value. */
void match_taint_write_redacted(struct buf *out, const struct match_taint *taint);

#endif
