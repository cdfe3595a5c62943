/* Completion scripts, written from the tables of commands and options. */
#ifndef CMD_HELP_COMPLETE_H
#define CMD_HELP_COMPLETE_H

#include "cli/opt.h"

/* Each appends the script for its shell. It works alone: no helper library, no call of berth. */
void complete_bash(struct buf *out);
void complete_zsh(struct buf *out);
void complete_fish(struct buf *out);

/* Appends how the last of these words may go on, a line for each way with what it means behind a
 * tab, and at the end what the shell is to do: as kubectl asks plug-ins (cobra's directives). */
void complete_words(const struct opt_list *words, struct buf *out);

#endif
