/* What the checks of matching share: a context with the line's gates, and decoding. */
#ifndef TEST_VECTORS_MATCH_VECTORS_H
#define TEST_VECTORS_MATCH_VECTORS_H

#include "api/object.h"
#include "match/match.h"
#include "members.h"

struct match_vectors {
    struct intern *atoms;
    struct tolexpr *expressions;
    struct match *m;
};

/* A context whose gates are the defaults, the line's "gates", and its "comparison_operators". */
void match_vectors_init(struct match_vectors *v, const struct json *line);
void match_vectors_release(struct match_vectors *v);

/* Decodes a value of the line into a zeroed struct of that type; a missing one leaves it zeroed.
 * On failure the text is in why. */
int match_vectors_decode(struct arena *a, enum api_type_id type, const struct json *value,
                         void *body, struct buf *why);

/* A copy of a text, or null when it is absent. */
struct json match_vectors_text_or_null(struct arena *a, struct str s);

#endif
