/* "Did you mean this?": the names that are close to what was typed. */
#ifndef CMD_SUGGEST_H
#define CMD_SUGGEST_H

#include "base/buf.h"

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

/* Appends the names, each behind `prefix`, under the question; nothing when there are none. */
void suggest_print(const struct suggest *s, const char *prefix, struct buf *out);

/* Insertions, deletions and replacements that turn a into b; SIZE_MAX when either is longer than
 * any name here. */
size_t suggest_distance(struct str a, struct str b);

#endif
