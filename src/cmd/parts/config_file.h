/* The scheduler's configuration, from a file. */
#ifndef CMD_CONFIG_FILE_H
#define CMD_CONFIG_FILE_H

#include "cmd/cmd.h"
#include "sched/config.h"

/* What --config names, or upstream's default. It lives in the call's arena. */
int config_file_read(struct cmd_call *call, const struct opt_list *files, struct sched_config **out,
                     struct err *err);

#endif
