/* The folder in which an API server keeps its store and its certificates. */
#ifndef CMD_DATA_DIR_H
#define CMD_DATA_DIR_H

#include "cmd/cmd.h"

/* Chooses the folder: `asked`, or by default berth below $XDG_DATA_HOME or ~/.local/share. The text
 * is in the arena and ends with NUL. Nothing is made. */
int data_dir_choose(struct cmd_ctx *ctx, struct arena *a, struct str asked, struct str *out,
                    struct err *err);

/* Makes the folder, for its owner only, and those above it that are missing. One that is there is
 * fine. */
int data_dir_make(struct arena *a, struct str dir, struct err *err);

/* The path of a file or folder inside, in the arena; it ends with NUL. */
struct str data_dir_inside(struct arena *a, struct str dir, const char *name);

#endif
