/* Files that a run passes over because their path matches a pattern. */
#ifndef CMD_INPUT_IGNORE_H
#define CMD_INPUT_IGNORE_H

#include "cli/walk.h"

/* Takes the files whose path has a match of one of the patterns out of `files` and adds their paths
 * to `ignored`. Standard input is never ignored. Fails with ERR_USAGE when a pattern is none. */
int ignore_files(struct arena *a, const struct opt_list *patterns, struct walk_files *files,
                 struct opt_list *ignored, struct err *err);

#endif
