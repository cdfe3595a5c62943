/*
 * What -f names, as one stream of API objects: files, directories and standard input, JSON and
 * YAML, single objects, documents one after the other, and lists.
 */
#ifndef CMD_INPUT_INPUT_H
#define CMD_INPUT_INPUT_H

#include "cmd/cmd.h"

struct api_object;
struct input;
struct json;

/* Lists inside lists; a List of Lists is flattened as kubectl does, but nobody nests deeper. */
enum { INPUT_MOST_LISTS = 8 };

/* The options that say what to read; a command embeds them and names input_opts among its groups.
 */
struct input_opts {
    struct opt_list filenames;
    bool recursive;
};
extern const struct opt input_opts[];

/* Where an object came from. */
struct input_source {
    struct str file;         /* valid as long as the input; "STDIN" for standard input */
    uint32_t line, column;   /* where it starts */
    uint32_t document, item; /* from 0; item: its place in a list, or INPUT_NO_ITEM */
    bool is_json;            /* and not YAML */
};
#define INPUT_NO_ITEM UINT32_MAX

/* Finds the files, so that a wrong name is told before anything is read. strict: unknown and
 * repeated fields are errors. ctx is stored. Free with input_free. */
int input_open(struct cmd_ctx *ctx, const struct input_opts *opts, bool strict, struct input **out,
               struct err *err);

/* Closes everything and ends the progress display. Accepts NULL. */
void input_free(struct input *in);

/* Puts "FILE:LINE:COLUMN: " before the text of err; always returns -1. What is 0 is left out, and
 * the beginning of a very long path. */
int input_fail_at(const struct input_source *source, struct err *err);

/* Repeated keys are no error of the input: input_value.repeats tells of them. */
void input_keep_repeats(struct input *in);

/* An object as it was read, before anything is made of it. */
struct input_value {
    const struct json *tree;      /* a JSON object, valid until the next call */
    struct str kind, api_version; /* what items of a typed list are that do not say; else absent */
    bool repeats;                 /* somewhere in it, or in the list it is in, a key stands twice */
};

/* The next object as it was read; otherwise as input_next. */
int input_next_value(struct input *in, struct input_value *out, struct input_source *source,
                     struct err *err);

/*
 * The next object: 1 with *out (the caller's reference) and *source filled, 0 at the end, -1 with
 * err filled: "FILE:LINE:COLUMN: text".
 */
int input_next(struct input *in, struct api_object **out, struct input_source *source,
               struct err *err);

/* Calls visit with each object that the options name, which is borrowed; without -f with none. */
int input_each(struct cmd_ctx *ctx, const struct input_opts *opts,
               void (*visit)(void *arg, const struct api_object *o), void *arg, struct err *err);

#endif
