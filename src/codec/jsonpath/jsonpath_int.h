/* A compiled template. */
#ifndef CODEC_JSONPATH_INT_H
#define CODEC_JSONPATH_INT_H

#include "codec/jsonpath.h"

/* Nodes of a template, in order: a template, or an action in it. */
struct jsonpath__list {
    struct jsonpath__node *v;
    size_t n, cap;
};

enum jsonpath__kind {
    JSONPATH_LIST,      /* an action: each node walks on from what the one before it found */
    JSONPATH_LITERAL,   /* a text or number */
    JSONPATH_FIELD,     /* .name */
    JSONPATH_WILDCARD,  /* .* */
    JSONPATH_RECURSIVE, /* .. */
    JSONPATH_ARRAY,     /* [first:last:step] */
    JSONPATH_UNION,     /* [a,b] */
    JSONPATH_FILTER,    /* [?(left operator right)] */
    JSONPATH_WORD,      /* range, end */
};

/* A number between the colons of an array. */
struct jsonpath__bound {
    int64_t v;
    bool is_known;
    bool is_derived; /* [n]: the end follows from the beginning */
};

struct jsonpath__node {
    enum jsonpath__kind kind;
    struct json literal;          /* JSONPATH_LITERAL */
    bool is_text;                 /* one result for any number of inputs */
    struct str text;              /* name of a field, operator, word */
    struct jsonpath__list *lists; /* one; those of a union; left and right of a filter */
    size_t list_count;
    struct jsonpath__bound bounds[3];
};

struct jsonpath {
    struct jsonpath__list root;
};

#endif
