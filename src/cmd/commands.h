/* The commands, each at the end of its own file. */
#ifndef CMD_COMMANDS_H
#define CMD_COMMANDS_H

struct cmd;

extern const struct cmd cmd_completion;
extern const struct cmd cmd_convert;
extern const struct cmd cmd_help;
extern const struct cmd cmd_version;

#endif
