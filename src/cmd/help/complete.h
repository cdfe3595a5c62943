/* Completion scripts, written from the tables of commands and options. */
#ifndef CMD_HELP_COMPLETE_H
#define CMD_HELP_COMPLETE_H

#include "base/buf.h"

/* Each appends the script for its shell. It works alone: no helper library, no call of berth. */
void complete_bash(struct buf *out);
void complete_zsh(struct buf *out);
void complete_fish(struct buf *out);

#endif
