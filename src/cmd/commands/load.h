/* Manifests and dumps into a server that nobody asks yet. */
#ifndef CMD_COMMANDS_LOAD_H
#define CMD_COMMANDS_LOAD_H

#include "cmd/input/input.h"
#include "cmd/serve.h"

/* Stores what the files hold: what others need first, such as namespaces, before the rest. What is
 * there already stays. What is refused is told on standard error, and -1 comes back behind all. */
int load_files(struct serve *s, const struct input_opts *files, struct err *err);

/* Makes a StorageClass `standard`, the default one, unless there is a StorageClass. */
void load_standard_class(struct serve *s);

#endif
