/*
 * API objects: from a JSON tree to a typed, self-contained object and back.
 *
 * An object owns one arena with everything it is made of, so it outlives the tree and the text it
 * came from. While it is being prepared (decoded, defaulted, mutated by admission) it has one
 * owner; once published it is immutable and shared by reference.
 */
#ifndef API_OBJECT_H
#define API_OBJECT_H

#include "api/faults.h"
#include "api/types.h"
#include "base/arena.h"
#include "codec/json.h"

struct feature_set;

struct api_object {
    const struct api_kind *kind;  /* NULL when there is no schema for the object's kind */
    const struct api_type *type;  /* of body */
    void *body;                   /* struct api_pod, …; struct api_unknown without a schema */
    struct api_type_meta *names;  /* kind and apiVersion, inside body */
    struct api_object_meta *meta; /* inside body; NULL for kinds without one (Status, List) */
    struct arena arena;
    struct api_object *base; /* held: lists and texts may be its; NULL: all is in the arena */
    uint32_t refs;           /* counted atomically */
};

/* Is the object of this type? */
static inline bool api_object_is(const struct api_object *o, enum api_type_id type) {
    return o->type == &api_types[type];
}

/* Is the pod done: Succeeded or Failed? Then it takes nothing any more. */
static inline bool api_pod_has_ended(const struct api_pod *pod) {
    return str_is(pod->status.phase, "Succeeded") || str_is(pod->status.phase, "Failed");
}

struct api_decode_opts {
    struct str api_version, kind; /* for items of a typed list that do not say what they are */
    bool strict;                  /* fail on unknown and repeated fields */
    bool duplicates;              /* the tree was parsed with repeated keys allowed */
};

/*
 * Builds an object from a tree, which is only borrowed. Unknown fields are kept and encoded again;
 * of repeated ones the last wins. -1 when a value cannot be what it should be, or when a strict
 * reader finds unknown or repeated fields. Whatever comes of it, *faults lists what was found, with
 * the API server's texts; it may be NULL, and so may opts. The caller owns *out.
 */
int api_object_decode(const struct json *tree, const struct api_decode_opts *opts,
                      struct api_object **out, struct api_faults *faults);

/* An empty object of a kind that says which it is; the caller owns it. */
struct api_object *api_object_new(const struct api_kind *kind);

/* A deep copy that is not yet published; the caller owns it. */
struct api_object *api_object_copy(const struct api_object *o);

/* A copy that shares all lists, structs and texts with o, which must be published and is held. Only
 * the body's own fields are the copy's: whoever changes anything behind a pointer gives it a copy
 * in its arena first. The caller owns it. */
struct api_object *api_object_derive(struct api_object *o);

/* One more owner; returns o. And one less: the last one frees it. unref accepts NULL. */
struct api_object *api_object_ref(struct api_object *o);
void api_object_unref(struct api_object *o);

/* Sets what the API server sets before it validates: defaults of the object's version. Only before
 * publishing. */
void api_object_default(struct api_object *o, const struct feature_set *gates);

/* The object as a tree with the API server's field order. Strings are borrowed from the object. */
struct json api_object_encode(const struct api_object *o, struct arena *a);

/* The same two steps for a part of an object, e.g. a toleration given on the command line: `body`
 * is a zeroed struct of that type, and everything it comes to hold lives in a. */
int api_struct_decode(struct arena *a, const struct api_type *type, const struct json *tree,
                      void *body, struct api_faults *faults);
struct json api_struct_encode(struct arena *a, const struct api_type *type, const void *body);

/* A deep copy of a struct of the type at `to`, which need not be initialised: everything it comes
 * to hold lives in a. */
void api_struct_copy(struct arena *a, const struct api_type *type, const void *from, void *to);

/* A struct as upstream's error texts show it: every field, under its Go name (Key, TimeAdded), and
 * without members that the schema does not know. */
struct json api_struct_encode_go(struct arena *a, const struct api_type *type, const void *body);

/* The same, unless the arena would come to have more bytes than this, or a little more: then false,
 * and *out lacks the rest. */
bool api_struct_encode_go_within(struct arena *a, const struct api_type *type, const void *body,
                                 size_t most, struct json *out);

#endif
