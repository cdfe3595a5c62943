/* What the strings library shares with the validators and between its files. */
#ifndef CEL_LIB_STRINGS_INT_H
#define CEL_LIB_STRINGS_INT_H

#include "cel/syntax/ast_int.h"

/* "...".format([...]), evaluated. */
struct cel_value cel__format(struct cel_eval *ev, const struct cel_value *args);

/* Reports what can be known to be wrong with a call of format whose text, and perhaps list, are
 * literals. */
void cel__format_check(struct cel_ast *ast, const struct cel_expr *call);

#endif
