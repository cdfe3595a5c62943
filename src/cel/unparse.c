/* A tree back to text. */
#include "cel/ast_int.h"

void cel_ast_write(struct buf *out, const struct cel_ast *ast) {
    buf_add(out, ast->source.text);
}
