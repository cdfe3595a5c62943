/*
 * What is wrong with a tree that is decoded: fields that its schema does not know, fields that
 * stand twice, and the value that cannot be what it should be. A list in the order found, each with
 * its path and its full text.
 */
#ifndef API_FAULTS_H
#define API_FAULTS_H

#include "base/arena.h"
#include "base/buf.h"

struct json;

enum api_fault_kind {
    API_FAULT_UNKNOWN,   /* unknown field "spec.foo" */
    API_FAULT_DUPLICATE, /* duplicate field "spec.bar" */
    API_FAULT_VALUE,     /* json: cannot unmarshal …: nothing was decoded */
};

struct api_fault {
    enum api_fault_kind kind;
    struct str path; /* spec.containers[0].image; empty: the whole tree */
    struct str text; /* as upstream's decoder has it */
};

/*
 * All texts live in the arena. As upstream's, the list ends at API_MOST_FAULTS, and it ends earlier
 * when texts have become longer than LIMIT_FIELD_ERROR_BYTES; a value that ends the decoding is
 * listed all the same.
 */
enum { API_MOST_FAULTS = 100 };
struct api_faults {
    struct arena *a;
    struct api_fault v[API_MOST_FAULTS + 1];
    size_t n;
    size_t bytes;       /* of all texts */
    struct str subject; /* Pod in version "v1" cannot be handled as a Pod; empty: not known */
};

/* Makes the list empty; its texts will live in the arena, which is stored. */
void api_faults_init(struct api_faults *f, struct arena *a);

/* Appends why the tree cannot be taken, as the API server says it: the value that cannot be, or
 * else the unknown and repeated fields. There must be a fault. */
void api_faults_write(struct buf *out, const struct api_faults *f);

/* What Go says of a value that is no object, in the arena; `type` is Go's name of what it should
 * be. */
struct str api_text_no_object(struct arena *a, const struct json *tree, const char *type);

/* The same of one that should be an object with a version and a kind. */
struct str api_text_without_kind(struct arena *a, const struct json *tree);

#endif
