/* Help for reading elsewhere: the man page and the Markdown reference, from the same tables. */
#include "cmd/help/help.h"

/* --- roff ------------------------------------------------------------------------------------- */

/* Appends text with what roff would take for its own made harmless. */
static void add_roff(struct buf *out, struct str text) {
    bool line_start = true;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (line_start && (c == '.' || c == '\''))
            buf_add(out, STR("\\&"));
        if (c == '\\')
            buf_add(out, STR("\\e"));
        else if (c == '-')
            buf_add(out, STR("\\-"));
        else if (c == '\'')
            buf_add(out, STR("\\(aq"));
        else if (c == '^' || c == '~' || c == '`')
            buf_addf(out, "\\(%s", c == '^' ? "ha" : c == '~' ? "ti" : "ga");
        else
            buf_add_char(out, c);
        line_start = c == '\n';
    }
}

static void man_line(struct buf *out, const char *text) {
    add_roff(out, str_of(text));
    buf_add_char(out, '\n');
}

static void man_paragraphs(struct buf *out, const char *text) {
    struct str rest = str_of(text);
    while (rest.n > 0) {
        struct str line;
        str_cut(rest, '\n', &line, &rest);
        if (line.n == 0)
            buf_add(out, STR(".PP"));
        add_roff(out, line);
        buf_add_char(out, '\n');
    }
}

static void man_options(struct buf *out, const struct opt *rows) {
    AUTO(arena_release) struct arena a = {0};
    for (const struct opt *o = rows; o->name; o++) {
        if (o->hidden)
            continue;
        buf_add(out, STR(".TP\n.B "));
        add_roff(out, str_trim(help_opt_spelling(&a, o)));
        buf_add_char(out, '\n');
        add_roff(out, help_opt_text(&a, o));
        buf_add_char(out, '\n');
    }
}

static void man_examples(struct buf *out, const struct cmd_example *examples) {
    for (const struct cmd_example *e = examples; e && e->what; e++) {
        buf_add(out, STR(".PP\n"));
        man_line(out, e->what);
        buf_add(out, STR(".PP\n.EX\n.RS 4\n"));
        man_line(out, e->line);
        buf_add(out, STR(".RE\n.EE\n"));
    }
}

static void man_command(struct buf *out, const struct cmd *cmd) {
    buf_addf(out, ".SS berth %s ", cmd->name);
    man_line(out, cmd->usage);
    man_paragraphs(out, cmd->about);
    for (const struct opt_group *g = cmd->groups; g->rows; g++)
        man_options(out, g->rows);
    man_examples(out, cmd->examples);
}

static void man_facts(struct buf *out, const char *title, const struct help_fact *facts) {
    buf_addf(out, ".SH %s\n", title);
    for (const struct help_fact *f = facts; f->name; f++) {
        buf_addf(out, ".TP\n.B %s\n", f->name);
        man_line(out, f->text);
    }
}

void help_print_man(struct buf *out) {
    buf_add(out, STR(".TH BERTH 1 \"\" \"berth " BERTH_VERSION "\" \"User Commands\"\n"
                     ".SH NAME\nberth \\- decide and explain where Kubernetes pods may be placed\n"
                     ".SH SYNOPSIS\n.B berth\n.I command\n.RI [ options ]\n"
                     ".SH DESCRIPTION\n"));
    man_line(out, help_program_summary);
    buf_add(out, STR(".SH COMMANDS\n"));
    for (size_t i = 0; cmd_table[i]; i++)
        man_command(out, cmd_table[i]);
    buf_add(out, STR(".SH GLOBAL OPTIONS\n"));
    for (const struct opt_group *g = cmd_global_groups; g->rows; g++)
        man_options(out, g->rows);
    man_facts(out, "EXIT STATUS", help_exit_codes);
    man_facts(out, "ENVIRONMENT", help_environment);
    buf_add(out, STR(".SH SEE ALSO\n.BR kubectl (1)\n"));
}

/* --- Markdown --------------------------------------------------------------------------------- */

static void md_options(struct buf *out, const struct opt_group *g) {
    AUTO(arena_release) struct arena a = {0};
    bool any = false;
    for (const struct opt *o = g->rows; o->name; o++) {
        if (o->hidden)
            continue;
        if (!any)
            buf_addf(out, "\n%s:\n\n", g->title);
        any = true;
        buf_addf(out, "- `%.*s`: %.*s\n", STR_ARG(str_trim(help_opt_spelling(&a, o))),
                 STR_ARG(help_opt_text(&a, o)));
    }
}

static void md_command(struct buf *out, const struct cmd *cmd) {
    buf_addf(out, "\n## berth %s\n\n%s\n\n    berth %s %s\n", cmd->name, cmd->about, cmd->name,
             cmd->usage);
    for (const struct cmd_example *e = cmd->examples; e && e->what; e++)
        buf_addf(out, "\n%s:\n\n    %s\n", e->what, e->line);
    for (const struct opt_group *g = cmd->groups; g->rows; g++)
        md_options(out, g);
}

static void md_facts(struct buf *out, const char *title, const struct help_fact *facts) {
    buf_addf(out, "\n## %s\n\n", title);
    for (const struct help_fact *f = facts; f->name; f++)
        buf_addf(out, "- `%s`: %s\n", f->name, f->text);
}

void help_print_markdown(struct buf *out) {
    buf_addf(out,
             "# The command line\n\n<!-- Written by `berth help --markdown`; do not edit. -->\n\n"
             "%s\n\n",
             help_program_summary);
    for (size_t i = 0; cmd_table[i]; i++)
        buf_addf(out, "- [berth %s](#berth-%s): %s\n", cmd_table[i]->name, cmd_table[i]->name,
                 cmd_table[i]->summary);
    for (size_t i = 0; cmd_table[i]; i++)
        md_command(out, cmd_table[i]);
    buf_add(out, STR("\n## Options of every command\n"));
    for (const struct opt_group *g = cmd_global_groups; g->rows; g++)
        md_options(out, g);
    md_facts(out, "Exit status", help_exit_codes);
    md_facts(out, "Environment", help_environment);
}
