/*
 * What -f names, as one stream of API objects: files, directories and standard input, JSON and
 * YAML, single objects, documents one after the other, and lists.
 */
#ifndef CMD_INPUT_INPUT_H
#define CMD_INPUT_INPUT_H

#include "cmd/cmd.h"
#include "cmd/source.h"

struct api_object;
struct input;

/* Lists inside lists; a List of Lists is flattened as kubectl does, but nobody nests deeper. */
enum { INPUT_MOST_LISTS = 8 };

/* The options that say what to read; a command embeds them and names input_opts among its groups.
 */
struct input_opts {
    struct opt_list filenames;
    struct opt_list ignore; /* patterns of files that are passed over */
    bool recursive;
};
extern const struct opt input_opts[];

/* Finds the files, so that a wrong name is told before anything is read. strict: unknown and
 * repeated fields are errors. ctx is stored. Free with input_free. */
int input_open(struct cmd_ctx *ctx, const struct input_opts *opts, bool strict, struct input **out,
               struct err *err);

/* Closes everything and ends the progress display. Accepts NULL. */
void input_free(struct input *in);

/* Repeated keys are no error of the input: input_value.repeats tells of them. */
void input_keep_repeats(struct input *in);

/* Is the kind one of these, each named as Secret, v1/Secret or apps/v1/Deployment? And the value of
 * one of them? */
bool input_kind_is_of(struct str api_version, struct str kind, const struct opt_list *kinds);
bool input_value_is_of(const struct input_value *value, const struct opt_list *kinds);

/* The next object as it was read; otherwise as input_next. Whoever calls it again after a failure
 * gets what can be read behind it: the next object, or the next file when the text is broken. */
int input_next_value(struct input *in, struct input_value *out, struct input_source *source,
                     struct err *err);

/* More about the last failure of input_next_value. */
struct input_failure {
    struct input_source source; /* its line is 0 when a file cannot be opened or read */
    bool is_template;           /* the text cannot be read, and there is a "{{" in it */
    bool no_object;             /* a document is readable, and not a JSON object */
};
const struct input_failure *input_last_failure(const struct input *in);

/* Goes on with the next file. */
void input_next_file(struct input *in);

/* Paths of files without objects; valid as long as the input. */
struct input_passed {
    struct opt_list ignored; /* by a pattern; complete from the beginning */
    struct opt_list empty;   /* so far: nothing is in them but white space and comments */
};
const struct input_passed *input_passed_over(const struct input *in);

/*
 * The next object: 1 with *out (the caller's reference) and *source filled, 0 at the end, -1 with
 * err filled: "FILE:LINE:COLUMN: text".
 */
int input_next(struct input *in, struct api_object **out, struct input_source *source,
               struct err *err);

/* The object that such a value is; 0 with *out (the caller's), or -1 as input_next. */
int input_decode(struct input *in, const struct input_value *value, struct api_object **out,
                 struct err *err);

/* Puts the place of the value that was read last before the text of err; always returns -1. */
int input_fail_here(struct input *in, struct err *err);

/* Calls visit with each object that the options name, which is borrowed; without -f with none. */
int input_each(struct cmd_ctx *ctx, const struct input_opts *opts,
               void (*visit)(void *arg, const struct api_object *o), void *arg, struct err *err);

#endif
