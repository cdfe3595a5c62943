/* Names that were seen before, for rules about repeated ones and about references. */
#ifndef VALID_SEEN_INT_H
#define VALID_SEEN_INT_H

#include "base/map.h"
#include "base/str.h"

/* Names that were seen: nothing is allocated until there are many. */
struct seen {
    size_t n;
    struct seen_entry {
        struct str name;
        const void *value;
    } few[16];
    struct map many; /* all of them, once there are more */
};
/* Makes *s empty; its entries need no zeroes, and most sets stay empty. */
static inline void seen_init(struct seen *s) {
    s->n = 0;
}
/* Remembers the name, which is borrowed. False when it was there already. */
bool seen_add(struct seen *s, struct str name);
/* Remembers a value (borrowed, not NULL) for the name, unless it has one: false. */
bool seen_put(struct seen *s, struct str name, const void *value);
/* The value of the name, or NULL when it was not seen; some pointer after seen_add. */
const void *seen_get(const struct seen *s, struct str name);
void seen_release(struct seen *s); /* forgets all */

#endif
