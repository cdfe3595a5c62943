/* `berth cel` on a terminal: one expression after the other. */
#ifndef CMD_EXPR_CEL_PROMPT_H
#define CMD_EXPR_CEL_PROMPT_H

#include "cmd/expr/expr.h"

/* What is in force until something else is typed. */
struct cel_prompt_opts {
    const struct expr_taint *taints;
    size_t taint_count;
    bool tree, explain;
};

/* Reads lines until the end of the input and answers each; the prompt goes to standard error. An
 * exit code, or -1. */
int cel_prompt(struct cmd_ctx *ctx, const struct cel_prompt_opts *start, struct err *err);

#endif
