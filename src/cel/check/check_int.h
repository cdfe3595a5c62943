/* The checker's type variables: shared by check.c, unify.c and the messages of run/. */
#ifndef CEL_CHECK_CHECK_INT_H
#define CEL_CHECK_CHECK_INT_H

#include "cel/syntax/ast_int.h"

/* What the type variables of one check stand for; number n is at [n - 1], NULL while free. */
struct cel_subst {
    struct arena *arena;
    VEC(const struct cel_type *) of;
    VEC(struct cel_subst_undo {
        uint32_t at;
        const struct cel_type *was;
    })
    trail;
};

/* A new type variable. */
const struct cel_type *cel__subst_fresh(struct cel_subst *s);

/* Can a value of one type be used as the other? Variables are bound on success, and left alone on
 * failure. */
bool cel__assignable(struct cel_subst *s, const struct cel_type *a, const struct cel_type *b);
bool cel__assignable_all(struct cel_subst *s, const struct cel_type *const *a,
                         const struct cel_type *const *b, uint32_t n);

/* The type with its variables replaced; free ones stay, or become dyn. */
const struct cel_type *cel__substitute(const struct cel_subst *s, const struct cel_type *t,
                                       bool free_to_dyn);

/* The type with the letters of a row replaced by variables: letters[0] for A and so on, made when
 * first met. */
const struct cel_type *cel__instantiate(struct cel_subst *s, const struct cel_type *t,
                                        const struct cel_type *letters[26]);

/* The more general of two types that are assignable to each other. */
const struct cel_type *cel__most_general(const struct cel_type *a, const struct cel_type *b);

#endif
