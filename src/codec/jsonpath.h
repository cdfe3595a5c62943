/*
 * JSONPath in kubectl's dialect: a template of texts and of actions in braces, such as
 * {range .items[*]}{.metadata.name}{"\n"}{end}. The same templates are taken and the same texts
 * come out, oddities included; where upstream walks a Go map in random order, members come in
 * theirs.
 */
#ifndef CODEC_JSONPATH_H
#define CODEC_JSONPATH_H

#include "codec/json.h"

struct jsonpath;

/* Compiles a template, which is borrowed; *out lives in the arena. Fails with upstream's words. */
int jsonpath_parse(struct arena *a, struct str text, struct jsonpath **out, struct err *err);

/*
 * Appends what the template makes of the value: results of one action are separated by a blank,
 * texts are as they are, objects and arrays are JSON in one line. Members that are not there give
 * nothing. On failure some of it may have been appended. The arena is for what is found meanwhile.
 */
int jsonpath_write(const struct jsonpath *path, const struct json *value, struct arena *a,
                   struct buf *out, struct err *err);

/* What all actions and texts of the template find, in order. */
struct jsonpath_found {
    const struct json **v;
    size_t n;
};

/* Finds without writing; *out lives in the arena and borrows from value. */
int jsonpath_find(const struct jsonpath *path, const struct json *value, struct arena *a,
                  struct jsonpath_found *out, struct err *err);

#endif
