/* Help on the terminal: kubectl's order of sections, aligned columns, wrapped lines. */
#include "cmd/help/help.h"

#include "base/utf8.h"

const char help_program_summary[] =
    "Berth decides, explains and enforces where Kubernetes pods may be placed.";

const struct help_fact help_exit_codes[] = {
    {"0", "The work is done and the verdict, if there is one, is good."},
    {"1", "The work is done and the verdict is bad."},
    {"2", "The command line is wrong, or an input cannot be read or an output cannot be written."},
    {0},
};

const struct help_fact help_environment[] = {
    {"COLUMNS", "The width for wrapped text, instead of the terminal's own."},
    {"NO_COLOR", "Set to anything but the empty string: no colour, not even on a terminal."},
    {"TMPDIR", "Where output that is too large for memory waits until all inputs were read well."},
    {0},
};

/* A left column wider than this puts its text on the next line. */
enum { WIDEST_LEFT = 32 };

/* Where text goes and how. */
struct page {
    struct buf *out;
    struct arena *arena;
    const char *program;
    size_t width;
    bool colour;
};

struct str help_opt_spelling(struct arena *a, const struct opt *o) {
    const char *sign = o->value ? o->implied ? "[=" : "=" : "";
    const char *value = o->value ? o->value : "", *end = o->implied ? "]" : "";
    if (!o->letter)
        return arena_printf(a, "    --%s%s%s%s", o->name, sign, value, end);
    return arena_printf(a, "-%c, --%s%s%s%s", o->letter, o->name, sign, value, end);
}

struct str help_opt_text(struct arena *a, const struct opt *o) {
    bool says_nothing = !o->fallback || o->kind == OPT_FLAG;
    struct str help = str_of(o->help);
    if (says_nothing)
        return help;
    if (str_ends(help, STR(".")))
        help.n--;
    return arena_printf(a, "%.*s (default %s).", STR_ARG(help), o->fallback);
}

/* ---- the program's name ---- */

/* Is this the name in a command, with a command of ours or an option behind it? */
static bool is_call(struct str text, size_t at) {
    struct str word, rest;
    bool begins = at == 0 || text.p[at - 1] == ' ' || text.p[at - 1] == '"';
    if (!begins || !str_starts(str_sub(text, at, text.n), STR("berth ")))
        return false;
    str_cut(str_sub(text, at + sizeof "berth", text.n), ' ', &word, &rest);
    while (word.n && (str_ends(word, STR(".")) || str_ends(word, STR(","))))
        word.n--;
    return str_is(word, "COMMAND") || str_starts(word, STR("-")) || cmd_find(word);
}

/* The text with the program called as it was. */
static struct str called(const struct page *p, struct str text) {
    AUTO(buf_release) struct buf out = BUF_INIT(HELP_MOST_BYTES);
    for (size_t i = 0; i < text.n; i++)
        if (is_call(text, i)) {
            buf_add(&out, str_of(p->program));
            i += sizeof "berth" - 2;
        } else
            buf_add_char(&out, text.p[i]);
    return arena_str(p->arena, buf_view(&out));
}

/* Appends words of text with lines broken before `width`; further lines start at `indent`. The
 * cursor stands at column `at`. */
static void add_wrapped(const struct page *p, struct str text, size_t at, size_t indent) {
    bool first = true;
    while (text.n > 0) {
        struct str word;
        str_cut(text, ' ', &word, &text);
        size_t n = utf8_count(word);
        if (!first && at + 1 + n > p->width) {
            buf_add_char(p->out, '\n');
            buf_add_fill(p->out, ' ', indent);
            at = indent;
        } else if (!first) {
            buf_add_char(p->out, ' ');
            at++;
        }
        buf_add(p->out, word);
        at += n;
        first = false;
    }
    buf_add_char(p->out, '\n');
}

static void add_paragraphs(const struct page *p, const char *text) {
    struct str rest = called(p, str_of(text));
    while (rest.n > 0) {
        struct str line;
        str_cut(rest, '\n', &line, &rest);
        add_wrapped(p, line, 0, 0);
    }
}

static void add_title(const struct page *p, const char *title) {
    buf_addf(p->out, p->colour ? "\n\033[1m%s:\033[0m\n" : "\n%s:\n", title);
}

/* One line of a two-column list whose right column starts at `column`. */
static void add_row(const struct page *p, struct str left, struct str right, size_t column) {
    buf_addf(p->out, "  %.*s", STR_ARG(left));
    size_t at = 2 + utf8_count(left);
    if (at + 2 > column) {
        buf_add_char(p->out, '\n');
        at = 0;
    }
    buf_add_fill(p->out, ' ', column - at);
    add_wrapped(p, right, column, column);
}

static size_t widen(size_t column, struct str left) {
    size_t need = 2 + utf8_count(left) + 3;
    return need > column && need <= WIDEST_LEFT ? need : column;
}

static size_t options_column(const struct page *p, const struct opt_group *groups, size_t column) {
    for (const struct opt_group *g = groups; g->rows; g++)
        for (const struct opt *o = g->rows; o->name; o++)
            if (!o->hidden)
                column = widen(column, help_opt_spelling(p->arena, o));
    return column;
}

static bool all_hidden(const struct opt *rows) {
    while (rows->name && rows->hidden)
        rows++;
    return !rows->name;
}

static void add_options(const struct page *p, const struct opt_group *groups, size_t column) {
    for (const struct opt_group *g = groups; g->rows; g++) {
        if (all_hidden(g->rows))
            continue;
        add_title(p, g->title);
        for (const struct opt *o = g->rows; o->name; o++)
            if (!o->hidden)
                add_row(p, help_opt_spelling(p->arena, o), called(p, help_opt_text(p->arena, o)),
                        column);
    }
}

static void add_examples(const struct page *p, const struct cmd_example *examples) {
    if (!examples)
        return;
    add_title(p, "Examples");
    for (const struct cmd_example *e = examples; e->what; e++)
        buf_addf(p->out, "%s  # %s\n  %.*s\n", e == examples ? "" : "\n", e->what,
                 STR_ARG(called(p, str_of(e->line))));
}

static void add_command_list(const struct page *p) {
    size_t column = 0;
    for (size_t i = 0; cmd_table[i]; i++)
        column = widen(column, str_of(cmd_table[i]->name));
    add_title(p, "Commands");
    for (size_t i = 0; cmd_table[i]; i++)
        add_row(p, str_of(cmd_table[i]->name), str_of(cmd_table[i]->summary), column);
}

static void print_program(const struct page *p) {
    add_paragraphs(p, help_program_summary);
    add_command_list(p);
    add_options(p, cmd_global_groups, options_column(p, cmd_global_groups, 0));
    add_title(p, "Usage");
    buf_addf(p->out, "  %s COMMAND [options]\n\n", p->program);
    add_paragraphs(p, "Use \"berth COMMAND --help\" for more about a command.");
}

static void print_command(const struct page *p, const struct cmd *cmd) {
    size_t column = options_column(p, cmd->groups, options_column(p, cmd_global_groups, 0));
    add_paragraphs(p, cmd->about);
    add_examples(p, cmd->examples);
    add_options(p, cmd->groups, column);
    add_options(p, cmd_global_groups, column);
    add_title(p, "Usage");
    buf_addf(p->out, "  %s %s %s\n", p->program, cmd->name, cmd->usage);
}

void help_print(const struct cmd_ctx *ctx, const struct cmd *cmd, struct buf *out) {
    AUTO(arena_release) struct arena arena = {0};
    struct page page = {out, &arena, ctx->program, ctx->width, ctx->out_colour};
    if (cmd)
        print_command(&page, cmd);
    else
        print_program(&page);
}
