/* The option parser on arbitrary words, with the tables of every command: it ends, and what it
 * refuses has a text. Words are separated by line breaks; the first byte chooses the command. */
#include <stdlib.h>

#include "cmd/cmd.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* More than the struct of the global options needs. */
enum { GLOBALS_BYTES = 256 };

static const struct cmd *choose(uint8_t byte) {
    size_t n = 0;
    while (cmd_table[n])
        n++;
    return cmd_table[byte % n];
}

static struct opt_list words_of(struct arena *a, struct str text) {
    struct opt_list words = {0};
    bool more = text.n > 0;
    while (more) {
        struct str word;
        more = str_cut(text, '\n', &word, &text);
        /* The system hands over words that end at their first NUL. */
        str_cut(word, 0, &word, &(struct str){0});
        opt_list_add(a, &words, arena_str(a, word));
    }
    return words;
}

/* The tables of groups, each with its struct behind `base`. */
static size_t add_targets(const struct opt_group *groups, char *base, struct opt_target *targets,
                          size_t n) {
    for (const struct opt_group *g = groups; g->rows; g++)
        targets[n++] = (struct opt_target){g->rows, base + g->at};
    return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    struct arena a = {0};
    const struct cmd *cmd = choose(data[0]);
    struct opt_list words = words_of(&a, (struct str){(const char *)data + 1, size - 1});
    struct opt_list args = {0};
    struct opt_target targets[CMD_GROUPS + 1];
    size_t n = add_targets(cmd_global_groups, arena_calloc(&a, 1, GLOBALS_BYTES), targets, 0);
    n = add_targets(cmd->groups, arena_calloc(&a, 1, cmd->opts_size), targets, n);
    struct opt_parser parser = {&a, targets, n, data[0] & 0x80};
    struct err err = {0};
    if (opt_parse(&parser, &words, &args, &err) < 0 ? err.msg[0] == 0 : args.n > words.n)
        abort();
    arena_release(&a);
    return 0;
}
