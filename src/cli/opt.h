/*
 * Options as rows of a table. The parser, the help, the man page and the completions of every
 * shell read the same rows, so an option is added in one line and cannot be forgotten in one of
 * them.
 */
#ifndef CLI_OPT_H
#define CLI_OPT_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

enum opt_kind {
    OPT_FLAG,  /* bool */
    OPT_INT,   /* int64_t, not negative */
    OPT_STR,   /* struct str; absent when not given */
    OPT_LIST,  /* struct opt_list: repeatable, and split at commas */
    OPT_FILES, /* struct opt_list: as OPT_LIST, of file names */
    OPT_TEXTS, /* struct opt_list: repeatable, taken as they are */
    OPT_ENUM,  /* int: the place of the word in `words` */
    OPT_FORM,  /* struct opt_form: as OPT_ENUM, but a text follows words that end in "=" */
};

/* A word that was chosen, and the text behind it; absent behind words without "=". */
struct opt_form {
    int place;
    struct str text;
};

/* Values that were collected. Each has a NUL behind it. */
struct opt_list {
    struct str *v;
    size_t n;
};

struct opt {
    const char *name; /* without the dashes; NULL ends a table */
    char letter;      /* 0 = none */
    enum opt_kind kind;
    bool hidden;       /* works, but is shown nowhere */
    const char *value; /* what help calls the value; NULL for flags */
    const char *help;
    size_t offset;                  /* where the value goes, in the struct of the table's group */
    const char *fallback;           /* the value when not given; NULL = zero */
    const char *implied;            /* the value of one without "="; NULL: it must have one */
    const char *const *words;       /* OPT_ENUM, OPT_FORM: the choices, NULL at the end */
    void (*offer)(struct buf *out); /* what completion may offer, separated by spaces; or NULL */
};

/* A table and its title in the help. `at` is the place of its struct in the command's options. */
struct opt_group {
    const char *title;
    const struct opt *rows; /* NULL ends a list of groups */
    size_t at;
};

/* A table and the struct that its rows fill. */
struct opt_target {
    const struct opt *rows;
    void *base;
};

struct opt_parser {
    struct arena *arena; /* for lists */
    const struct opt_target *targets;
    size_t target_count;
    bool stop_at_argument; /* leave the first argument and all behind it alone */
};

/*
 * Parses GNU style: --x=v, --x v, -xv, -x=v, -x v, clustered flags, options behind arguments, and
 * "--" to end options. Words that are no options are collected in *args. Defaults are filled in
 * first. Errors have code ERR_USAGE and pflag's wording, so that kubectl's users know them.
 */
int opt_parse(const struct opt_parser *p, const struct opt_list *words, struct opt_list *args,
              struct err *err);

/* Appends s to a list that grows in the arena. */
void opt_list_add(struct arena *a, struct opt_list *list, struct str s);

/* The words joined by separator, with `last` before the last one: "json, yaml or text". */
struct str opt_words_join(struct arena *a, const char *const *words, const char *separator,
                          const char *last);

#endif
