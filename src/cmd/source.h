/* What is read from files: an object before anything is made of it, and where it came from. */
#ifndef CMD_SOURCE_H
#define CMD_SOURCE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "base/str.h"

struct json;

/* Where an object came from. */
struct input_source {
    struct str file;         /* valid as long as the input; "STDIN" for standard input */
    uint32_t line, column;   /* where it starts */
    uint32_t document, item; /* from 0; item: its place in a list, or INPUT_NO_ITEM */
    bool is_json;            /* and not YAML */
    bool is_found;           /* the file was found in a directory, and not named itself */
};
#define INPUT_NO_ITEM UINT32_MAX

/* An object as it was read, before anything is made of it. */
struct input_value {
    const struct json *tree;      /* a JSON object, valid until the next call */
    struct str kind, api_version; /* what items of a typed list are that do not say; else absent */
    bool repeats;                 /* somewhere in it, or in the list it is in, a key stands twice */
};

/* Appends "FILE:LINE"; without a line, as objects of a server have none, only the former. */
void input_write_place(struct buf *out, struct str file, uint32_t line);

/* Puts "FILE:LINE:COLUMN: " before the text of err; always returns -1. What is 0 is left out, and
 * the beginning of a very long path. */
int input_fail_at(const struct input_source *source, struct err *err);

#endif
