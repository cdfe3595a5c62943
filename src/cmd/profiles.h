/* The scheduler's configuration, for the commands that have --config. */
#ifndef CMD_PROFILES_H
#define CMD_PROFILES_H

#include "cmd/input.h"
#include "sched/config.h"

/* Reads what --config names, or gives upstream's default. *out lives in the call's arena and
 * borrows from *file, which the caller frees with input_free, also on failure; it is NULL without
 * --config. */
int profiles_read(struct cmd_call *call, const struct opt_list *files, struct input **file,
                  struct sched_config **out, struct err *err);

#endif
