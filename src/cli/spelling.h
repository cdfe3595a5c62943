/* "Did you mean this?": the names that are close to what was typed. */
#ifndef CLI_SPELLING_H
#define CLI_SPELLING_H

#include "base/err.h"
#include "base/str.h"

enum { SUGGEST_MOST = 4 };

/* What was typed and the names found close to it. Start with {.typed = …}. */
struct suggest {
    struct str typed;
    const char *names[SUGGEST_MOST];
    size_t n;
};

/* Remembers name (borrowed) when it begins with what was typed or is at most two edits away from
 * it, letter case aside: cobra's rule. */
void suggest_offer(struct suggest *s, const char *name);

/* Remembers name when the words of the one that was typed (TolerationSemver has two) occur in it in
 * this order, and there are two or more: for names that are put together of many. */
void suggest_offer_words(struct suggest *s, const char *name);

/* Puts the question and the names, each behind `prefix`, under the text of err; nothing when there
 * are none. Always returns -1. */
int suggest_fail(const struct suggest *s, const char *prefix, struct err *err);

/* Insertions, deletions and replacements that turn a into b, letter case aside. SIZE_MAX when more
 * than two are needed and neither begins with the other, or either is longer than any name here:
 * most names are told apart by their first letters. */
size_t suggest_distance(struct str a, struct str b);

#endif
