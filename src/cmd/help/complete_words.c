/*
 * Completion of a line whose words are given, from the same tables as the scripts.
 *
 * Follows k8s.io/kubectl pkg/cmd/plugin, func pluginCompletion.
 */
#include "cmd/cmd.h"
#include "cmd/help/complete.h"

enum { MOST_CHOICES_BYTES = 1 << 16 };

/* What the shell is to do, cobra's ShellCompDirective. */
enum { NO_SPACE = 2, NO_FILES = 4, FILES_BY_EXTENSION = 8 };

/* The line: what is before its last word says what that one is. */
struct line {
    const struct cmd *cmd;    /* NULL: the word is a command */
    const struct opt *valued; /* its value is the word, or a part of it; NULL: none */
    size_t arguments;         /* behind the command */
    struct str word;          /* that is typed: of --option=value, the value */
};

/* ---- what is typed ---- */

static const struct opt *find_in(const struct opt_group *groups, struct str name, char letter) {
    for (const struct opt_group *g = groups; g->rows; g++)
        for (const struct opt *o = g->rows; o->name; o++)
            if (letter ? o->letter == letter : str_is(name, o->name))
                return o;
    return NULL;
}

/* The option of a word, "--name" or "-n". */
static const struct opt *find_option(const struct cmd *cmd, struct str word) {
    bool is_long = str_starts(word, STR("--"));
    struct str name = str_sub(word, is_long ? 2 : 1, word.n);
    char letter = !is_long && name.n == 1 ? name.p[0] : '\0';
    const struct opt *o = cmd ? find_in(cmd->groups, name, letter) : NULL;
    return o ? o : find_in(cmd_global_groups, name, letter);
}

static void take_word(struct line *line, struct str word) {
    const struct opt *before = line->valued;
    line->valued = NULL;
    if (before)
        return; /* its value */
    if (str_starts(word, STR("-"))) {
        const struct opt *o = find_option(line->cmd, word);
        line->valued = o && o->kind != OPT_FLAG ? o : NULL;
    } else if (!line->cmd)
        line->cmd = cmd_find(word);
    else
        line->arguments++;
}

static struct line read_line(const struct opt_list *words) {
    struct line line = {.word = words->n ? words->v[words->n - 1] : STR("")};
    struct str name, value;
    for (size_t i = 0; i + 1 < words->n; i++)
        take_word(&line, words->v[i]);
    if (!line.valued && str_starts(line.word, STR("--")) &&
        str_cut(line.word, '=', &name, &value)) {
        line.valued = find_option(line.cmd, name);
        line.word = value;
    }
    return line;
}

/* ---- how it may go on ---- */

static void offer(struct buf *out, const struct line *line, struct str choice, const char *what) {
    if (!str_starts(choice, line->word))
        return;
    buf_add(out, choice);
    if (what)
        buf_addf(out, "\t%s", what);
    buf_add_char(out, '\n');
}

static void offer_commands(struct buf *out, const struct line *line) {
    for (size_t i = 0; cmd_table[i]; i++)
        offer(out, line, str_of(cmd_table[i]->name), cmd_table[i]->summary);
}

static void offer_options(struct buf *out, const struct line *line,
                          const struct opt_group *groups) {
    AUTO(arena_release) struct arena a = {0};
    for (const struct opt_group *g = groups; g->rows; g++)
        for (const struct opt *o = g->rows; o->name; o++)
            if (!o->hidden)
                offer(out, line, arena_printf(&a, o->name[1] ? "--%s" : "-%s", o->name), o->help);
}

/* Choices separated by spaces, behind those that stand in the word already. */
static void offer_choices(struct buf *out, const struct line *line, struct str choices) {
    AUTO(arena_release) struct arena a = {0};
    size_t kept = 0;
    for (size_t i = 0; i < line->word.n && line->valued->kind == OPT_LIST; i++)
        if (line->word.p[i] == ',')
            kept = i + 1;
    while (choices.n) {
        struct str choice;
        str_cut(choices, ' ', &choice, &choices);
        if (choice.n)
            offer(out, line, arena_printf(&a, "%.*s%.*s", (int)kept, line->word.p, STR_ARG(choice)),
                  NULL);
    }
}

static int offer_value(struct buf *out, const struct line *line) {
    AUTO(buf_release) struct buf choices = BUF_INIT(MOST_CHOICES_BYTES);
    const struct opt *o = line->valued;
    if (o->kind == OPT_FILES || str_is(str_of(o->value), "FILE")) {
        buf_add(out, STR("json\nyaml\nyml\n"));
        return FILES_BY_EXTENSION;
    }
    if (o->offer)
        o->offer(&choices);
    for (size_t i = 0; !o->offer && o->words && o->words[i]; i++)
        buf_addf(&choices, "%s ", o->words[i]);
    offer_choices(out, line, buf_view(&choices));
    return o->kind == OPT_LIST ? NO_FILES | NO_SPACE : NO_FILES;
}

static void offer_arguments(struct buf *out, const struct line *line) {
    if (line->cmd->args_are_commands)
        offer_commands(out, line);
    for (size_t i = 0; !line->arguments && line->cmd->arg_words && line->cmd->arg_words[i]; i++)
        offer(out, line, str_of(line->cmd->arg_words[i]), NULL);
}

void complete_words(const struct opt_list *words, struct buf *out) {
    struct line line = read_line(words);
    int directive = NO_FILES;
    if (line.valued) {
        directive = offer_value(out, &line);
    } else if (str_starts(line.word, STR("-"))) {
        if (line.cmd)
            offer_options(out, &line, line.cmd->groups);
        offer_options(out, &line, cmd_global_groups);
    } else if (line.cmd) {
        offer_arguments(out, &line);
    } else {
        offer_commands(out, &line);
    }
    buf_addf(out, ":%d\n", directive);
}
