/* Tolerations and taints as they are written on a command line. */
#ifndef CMD_INPUT_MATCH_ARGS_H
#define CMD_INPUT_MATCH_ARGS_H

#include "api/types.h"
#include "base/arena.h"
#include "base/err.h"

/*
 * Reads a toleration: as JSON, as "KEY OPERATOR [VALUE][:EFFECT]", as "KEY=VALUE[:EFFECT]" or
 * "KEY[:EFFECT]" for Equal and Exists, or as "Exists[:EFFECT]" for one of every taint. What it
 * holds lives in the arena. Errors have code ERR_USAGE.
 */
int match_args_toleration(struct arena *a, struct str text, struct api_toleration *out,
                          struct err *err);

/* Reads a taint as kubectl does: KEY=VALUE:EFFECT or KEY:EFFECT. Otherwise as above. */
int match_args_taint(struct arena *a, struct str text, struct api_taint *out, struct err *err);

#endif
