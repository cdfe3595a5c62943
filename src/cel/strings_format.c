/* "...".format([...]): texts with %s, %d and so on. */
#include "cel/strings_int.h"

struct cel_value cel__format(struct cel_eval *ev, const struct cel_value *args) {
    (void)ev;
    (void)args;
    return CEL_NO_OVERLOAD;
}

void cel__format_check(struct cel_ast *ast, const struct cel_expr *call) {
    (void)ast;
    (void)call;
}
