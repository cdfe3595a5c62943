/* Completion scripts for bash, zsh and fish. What is fixed stands in texts, what depends on the
 * tables is printed between them. */
#include "cmd/help/complete.h"

#include "cmd/cmd.h"

static void add_words(struct buf *out, const char *const *words) {
    for (size_t i = 0; words && words[i]; i++)
        buf_addf(out, "%s%s", i == 0 ? "" : " ", words[i]);
}

/* The values of an option that can be listed. */
static void add_choices(struct buf *out, const struct opt *o) {
    if (o->offer)
        o->offer(out);
    else
        add_words(out, o->words);
}

static bool has_choices(const struct opt *o) {
    return o->words || o->offer;
}

static void add_command_names(struct buf *out) {
    for (size_t i = 0; cmd_table[i]; i++)
        buf_addf(out, "%s%s", i == 0 ? "" : " ", cmd_table[i]->name);
}

static void add_arguments(struct buf *out, const struct cmd *cmd) {
    if (cmd->args_are_commands)
        add_command_names(out);
    else
        add_words(out, cmd->arg_words);
}

/* Options with a value that may stand before the command: their value is not the command. */
static void add_valued_globals(struct buf *out, const char *separator) {
    const char *before = "";
    for (const struct opt_group *g = cmd_global_groups; g->rows; g++)
        for (const struct opt *o = g->rows; o->name; o++) {
            if (o->kind == OPT_FLAG)
                continue;
            buf_addf(out, "%s--%s", before, o->name);
            before = separator;
            if (o->letter)
                buf_addf(out, "%s-%c", before, o->letter);
        }
}

/* --- bash ------------------------------------------------------------------------------------- */

/*
 * bash cuts words at "=" and ":" (COMP_WORDBREAKS) and wants only the last piece replaced. The
 * script looks at whole words and cuts its answers to the piece at the end.
 */
static const char bash_head[] =
    "# bash completion for berth; load it with: source <(berth completion bash)\n"
    "\n"
    "_berth_offer() { # prefix, compgen's arguments ...: keeps what fits the word being typed\n"
    "    local prefix=$1 candidate\n"
    "    shift\n"
    "    while IFS= read -r candidate; do\n"
    "        candidate=$prefix$candidate\n"
    "        COMPREPLY+=(\"${candidate:cut}\")\n"
    "    done < <(compgen \"$@\")\n"
    "}\n"
    "\n"
    "_berth_files() { # prefix, what is typed of the name\n"
    "    local extension\n"
    "    compopt -o filenames 2>/dev/null\n"
    "    _berth_offer \"$1\" -d -- \"$2\"\n"
    "    for extension in json yaml yml; do\n"
    "        _berth_offer \"$1\" -f -X \"!*.$extension\" -- \"$2\"\n"
    "    done\n"
    "}\n"
    "\n"
    "_berth() {\n"
    "    local line=${COMP_LINE:0:COMP_POINT} piece=${COMP_WORDS[COMP_CWORD]}\n"
    "    local words command='' option='' value prefix='' kind choices='' options i\n"
    "    read -a words <<<\"$line\"\n"
    "    [[ $line == *[[:space:]] ]] && words+=('')\n"
    "    local last=$((${#words[@]} - 1))\n"
    "    local word=${words[last]}\n"
    "    [[ $piece == [=:] ]] && piece=''\n"
    "    local cut=$((${#word} - ${#piece}))\n"
    "    ((cut < 0)) && cut=0\n"
    "    COMPREPLY=()\n"
    "\n"
    "    for ((i = 1; i < last; i++)); do\n"
    "        case ${words[i]} in\n"
    "        ";

static const char bash_find_option[] =
    "        -*) ;;\n"
    "        *) command=${words[i]}; break ;;\n"
    "        esac\n"
    "    done\n"
    "\n"
    "    if [[ $word == --*=* ]]; then\n"
    "        option=${word%%=*} value=${word#*=} prefix=$option=\n"
    "    elif ((last > 1)); then\n"
    "        option=${words[last - 1]} value=$word\n"
    "    fi\n"
    "    case \"$command $option\" in\n";

static const char bash_complete_value[] =
    "    *) kind='' ;;\n"
    "    esac\n"
    "    case $kind in\n"
    "    files | list)\n"
    "        prefix+=${value%\"${value##*,}\"}\n"
    "        value=${value##*,}\n"
    "        ;;\n"
    "    esac\n"
    "    case $kind in\n"
    "    files) _berth_files \"$prefix\" \"$value\" ;;\n"
    "    text) ;;\n"
    "    words | list) _berth_offer \"$prefix\" -W \"$choices\" -- \"$value\" ;;\n"
    "    esac\n"
    "    [[ -n $kind ]] && return\n"
    "\n"
    "    case $command in\n";

static const char bash_tail[] = "    *) options='' choices='' ;;\n"
                                "    esac\n"
                                "    if [[ $word == -* ]]; then\n"
                                "        _berth_offer '' -W \"$options\" -- \"$word\"\n"
                                "    else\n"
                                "        _berth_offer '' -W \"$choices\" -- \"$word\"\n"
                                "    fi\n"
                                "}\n"
                                "\n"
                                "complete -F _berth berth\n";

/* "global -v"|"global --v" as a pattern of bash's case, for options that take a value. */
static void bash_value_pattern(struct buf *out, const char *command, const struct opt *o) {
    buf_addf(out, "    %s' --%s'", command, o->name);
    if (o->letter)
        buf_addf(out, " | %s' -%c'", command, o->letter);
    buf_add(out, STR(") "));
}

static void bash_value(struct buf *out, const char *command, const struct opt *o) {
    if (o->kind == OPT_FLAG || o->hidden)
        return;
    bash_value_pattern(out, command, o);
    if (o->kind == OPT_FILES) {
        buf_add(out, STR("kind=files ;;\n"));
    } else if (!has_choices(o)) {
        buf_add(out, STR("kind=text ;;\n"));
    } else {
        buf_addf(out, "kind=%s choices='", o->kind == OPT_LIST ? "list" : "words");
        add_choices(out, o);
        buf_add(out, STR("' ;;\n"));
    }
}

static void bash_option_names(struct buf *out, const struct opt_group *groups) {
    for (const struct opt_group *g = groups; g->rows; g++)
        for (const struct opt *o = g->rows; o->name; o++)
            if (!o->hidden && o->name[1])
                buf_addf(out, "--%s ", o->name);
            else if (!o->hidden)
                buf_addf(out, "-%s ", o->name);
}

static void bash_values(struct buf *out) {
    for (size_t i = 0; cmd_table[i]; i++)
        for (const struct opt_group *g = cmd_table[i]->groups; g->rows; g++)
            for (const struct opt *o = g->rows; o->name; o++)
                bash_value(out, cmd_table[i]->name, o);
    for (const struct opt_group *g = cmd_global_groups; g->rows; g++)
        for (const struct opt *o = g->rows; o->name; o++)
            bash_value(out, "*", o);
}

static void bash_commands(struct buf *out) {
    for (size_t i = 0; cmd_table[i]; i++) {
        buf_addf(out, "    %s)\n        options='", cmd_table[i]->name);
        bash_option_names(out, cmd_table[i]->groups);
        bash_option_names(out, cmd_global_groups);
        buf_add(out, STR("'\n        choices='"));
        add_arguments(out, cmd_table[i]);
        buf_add(out, STR("'\n        ;;\n"));
    }
    buf_add(out, STR("    '')\n        options='"));
    bash_option_names(out, cmd_global_groups);
    buf_add(out, STR("'\n        choices='"));
    add_command_names(out);
    buf_add(out, STR("'\n        ;;\n"));
}

void complete_bash(struct buf *out) {
    buf_add(out, str_of(bash_head));
    add_valued_globals(out, " | ");
    buf_add(out, STR(") ((i++)) ;;\n"));
    buf_add(out, str_of(bash_find_option));
    bash_values(out);
    buf_add(out, str_of(bash_complete_value));
    bash_commands(out);
    buf_add(out, str_of(bash_tail));
}

/* --- zsh -------------------------------------------------------------------------------------- */

/* Appends text for single quotes, with the characters that _arguments reads in it escaped. */
static void add_zsh(struct buf *out, const char *text) {
    for (const char *c = text; *c; c++)
        if (*c == '\'')
            buf_add(out, STR("'\\''"));
        else if (*c == '[' || *c == ']' || *c == ':' || *c == '\\')
            buf_addf(out, "\\%c", *c);
        else
            buf_add_char(out, *c);
}

static void zsh_action(struct buf *out, const struct opt *o) {
    if (o->kind == OPT_FLAG)
        return;
    buf_addf(out, ":%s:", o->value);
    if (o->kind == OPT_FILES) {
        buf_add(out, STR("_files -g \"*.(json|yaml|yml)(-.)\""));
    } else if (has_choices(o)) {
        buf_add(out, o->kind == OPT_LIST ? STR("_sequence compadd - ") : STR("("));
        add_choices(out, o);
        buf_add(out, o->kind == OPT_LIST ? STR("") : STR(")"));
    }
}

static void zsh_option(struct buf *out, const struct opt *o) {
    bool repeats = o->kind == OPT_LIST || o->kind == OPT_FILES || o->kind == OPT_TEXTS;
    const char *sign = o->kind == OPT_FLAG ? "" : "=";
    if (o->hidden)
        return;
    if (repeats)
        buf_add(out, STR("        '*'"));
    else if (o->letter)
        buf_addf(out, "        '(-%c --%s)'", o->letter, o->name);
    else
        buf_add(out, STR("        "));
    if (o->letter)
        buf_addf(out, "{-%c%s,--%s%s}'[", o->letter, *sign ? "+" : "", o->name, sign);
    else
        buf_addf(out, "'--%s%s[", o->name, sign);
    add_zsh(out, o->help);
    buf_add_char(out, ']');
    zsh_action(out, o);
    buf_add(out, STR("'\n"));
}

static void zsh_options(struct buf *out, const struct opt_group *groups) {
    for (const struct opt_group *g = groups; g->rows; g++)
        for (const struct opt *o = g->rows; o->name; o++)
            zsh_option(out, o);
}

static void zsh_command_list(struct buf *out) {
    for (size_t i = 0; cmd_table[i]; i++) {
        buf_addf(out, "        '%s:", cmd_table[i]->name);
        add_zsh(out, cmd_table[i]->summary);
        buf_add(out, STR("'\n"));
    }
}

static void zsh_command(struct buf *out, const struct cmd *cmd) {
    buf_addf(out, "        %s)\n        specs=(\n", cmd->name);
    zsh_options(out, cmd->groups);
    if (cmd->arg_words || cmd->args_are_commands) {
        buf_add(out, STR("        '1:argument:("));
        add_arguments(out, cmd);
        buf_add(out, STR(")'\n"));
    }
    buf_add(out, STR("        ) ;;\n"));
}

void complete_zsh(struct buf *out) {
    buf_add(out, STR("#compdef berth\n"
                     "# zsh completion for berth; install it as _berth in a folder of $fpath.\n"
                     "\n"
                     "_berth() {\n"
                     "    local curcontext=$curcontext state line ret=1\n"
                     "    local -a globals commands specs\n"
                     "    typeset -A opt_args\n"
                     "    globals=(\n"));
    zsh_options(out, cmd_global_groups);
    buf_add(out, STR("    )\n    commands=(\n"));
    zsh_command_list(out);
    buf_add(out, STR("    )\n"
                     "    _arguments -C -s $globals '1:command:->command' "
                     "'*::argument:->argument' && ret=0\n"
                     "    case $state in\n"
                     "    command) _describe -t commands command commands && ret=0 ;;\n"
                     "    argument)\n"
                     "        case $line[1] in\n"));
    for (size_t i = 0; cmd_table[i]; i++)
        zsh_command(out, cmd_table[i]);
    buf_add(out, STR("        esac\n"
                     "        _arguments -s $globals $specs && ret=0\n"
                     "        ;;\n"
                     "    esac\n"
                     "    return ret\n"
                     "}\n"
                     "\n"
                     "if [[ $funcstack[1] == _berth ]]; then\n"
                     "    _berth \"$@\"\n"
                     "else\n"
                     "    compdef _berth berth\n"
                     "fi\n"));
}

/* --- fish ------------------------------------------------------------------------------------- */

static void add_fish(struct buf *out, const char *text) {
    for (const char *c = text; *c; c++)
        if (*c == '\'' || *c == '\\')
            buf_addf(out, "\\%c", *c);
        else
            buf_add_char(out, *c);
}

static void fish_description(struct buf *out, const char *text) {
    buf_add(out, STR(" -d '"));
    add_fish(out, text);
    buf_add(out, STR("'\n"));
}

static void fish_values(struct buf *out, const struct opt *o) {
    if (o->kind == OPT_FILES) {
        buf_add(out, STR(" -r -F"));
    } else if (has_choices(o)) {
        bool is_list = o->kind == OPT_LIST;
        buf_add(out, is_list ? STR(" -x -a '(__fish_complete_list , \"printf %s\\\\\\n ")
                             : STR(" -x -a '"));
        add_choices(out, o);
        buf_add(out, is_list ? STR("\")'") : STR("'"));
    } else if (o->kind != OPT_FLAG) {
        buf_add(out, STR(" -x"));
    }
}

/* One option; `command` NULL = everywhere. */
static void fish_option(struct buf *out, const char *command, const struct opt *o) {
    if (o->hidden)
        return;
    buf_add(out, STR("complete -c berth"));
    if (command)
        buf_addf(out, " -n '__berth_is %s'", command);
    if (o->letter)
        buf_addf(out, " -s %c", o->letter);
    if (o->name[1])
        buf_addf(out, " -l %s", o->name);
    fish_values(out, o);
    fish_description(out, o->help);
}

static void fish_options(struct buf *out, const char *command, const struct opt_group *groups) {
    for (const struct opt_group *g = groups; g->rows; g++)
        for (const struct opt *o = g->rows; o->name; o++)
            fish_option(out, command, o);
}

static void fish_command(struct buf *out, const struct cmd *cmd) {
    buf_addf(out, "complete -c berth -n '__berth_is \"\"' -a %s", cmd->name);
    fish_description(out, cmd->summary);
    if (cmd->arg_words || cmd->args_are_commands) {
        buf_addf(out, "complete -c berth -n '__berth_is %s' -a '", cmd->name);
        add_arguments(out, cmd);
        buf_add(out, STR("'\n"));
    }
    fish_options(out, cmd->name, cmd->groups);
}

void complete_fish(struct buf *out) {
    buf_add(out, STR("# fish completion for berth; install it as "
                     "~/.config/fish/completions/berth.fish\n"
                     "\n"
                     "function __berth_is # COMMAND: is it the one on the line? \"\" = none is\n"
                     "    set -l found\n"
                     "    set -l skip no\n"
                     "    for word in (commandline -opc)[2..-1]\n"
                     "        if test $skip = yes\n"
                     "            set skip no\n"
                     "            continue\n"
                     "        end\n"
                     "        switch $word\n"
                     "            case "));
    add_valued_globals(out, " ");
    buf_add(out, STR("\n"
                     "                set skip yes\n"
                     "            case '-*'\n"
                     "            case '*'\n"
                     "                set found $word\n"
                     "                break\n"
                     "        end\n"
                     "    end\n"
                     "    test \"$found\" = $argv[1]\n"
                     "end\n"
                     "\n"
                     "complete -c berth -f\n"));
    fish_options(out, NULL, cmd_global_groups);
    for (size_t i = 0; cmd_table[i]; i++)
        fish_command(out, cmd_table[i]);
}
