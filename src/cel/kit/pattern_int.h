/* Regular expressions with Go's rules and words, for the library, the planner and the validators.
 */
#ifndef CEL_KIT_PATTERN_INT_H
#define CEL_KIT_PATTERN_INT_H

#include "cel/cel_int.h"

/* Is it one of those that RE2 is known to take? Making the program of a pattern costs more than all
 * the rest of an expression. */
bool cel__pattern_plain(struct str pattern);

/* A constant pattern of a program. One that is plain, or that the validator has compiled, is
 * compiled by the first evaluation that comes to it, any other with the program. */
struct cel_pattern {
    struct str text;
    struct cel_regex *re; /* set once, by any thread; NULL until then */
    struct cel_pattern *next;
};

/* The compiled pattern, which is the program's; NULL and Go's text in *error when it is not one, or
 * too large. */
const struct cel_regex *cel__pattern_regex(struct cel_pattern *p, struct buf *error);

/* Compiles a pattern as Go does, in at most *steps instructions, which it takes from them. NULL and
 * Go's text in *error when it is not one, or too large. */
struct cel_regex *cel__regex_new(struct str pattern, size_t *steps, struct buf *error);
/* re may be NULL. */
void cel__regex_free(struct cel_regex *re);

/* The leftmost match at or behind `from`: true, and its bounds in *begin and *end. */
bool cel__regex_find(const struct cel_regex *re, struct str text, size_t from, size_t *begin,
                     size_t *end);

/* Is there a match anywhere in the text? */
bool cel__regex_matches(const struct cel_regex *re, struct str text);

#endif
