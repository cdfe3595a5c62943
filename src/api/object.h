/*
 * API objects: from a JSON tree to a typed, self-contained object and back.
 *
 * An object owns one arena with everything it is made of, so it outlives the tree and the text it
 * came from. Its life has two parts, and the type tells them apart. A `struct api_object *` has one
 * owner, who prepares it (decodes, defaults, admits) and ends it with api_object_free, unless it is
 * published. api_publish takes it and gives a `const struct api_object *`, which never changes
 * again, is counted, and may be shared between threads; it ends with the last api_object_unref.
 * Who only reads takes a const object and need not know which part of its life it is in.
 */
#ifndef API_OBJECT_H
#define API_OBJECT_H

#include "api/faults.h"
#include "api/types.h"
#include "base/arena.h"
#include "codec/json.h"

struct feature_set;

struct api_object {
    const struct api_kind *kind; /* NULL when there is no schema for the object's kind */
    const struct api_type *type; /* of body */
    const void *body;            /* struct api_pod, …; struct api_unknown without a schema */
    const struct api_type_meta *names;  /* kind and apiVersion, inside body */
    const struct api_object_meta *meta; /* inside body; NULL for kinds without one (Status, List) */
    struct arena arena;
    const struct api_object *base; /* held: lists and texts may be its; NULL: all is in the arena */
    struct api_life *life; /* what changes while a published object does not: see publish.c */
};

/* What the owner of an object that is not published writes to: its body, and the metadata inside,
 * or NULL. */
void *api_own_body(struct api_object *o);
struct api_object_meta *api_own_meta(struct api_object *o);

/* Is the object of this type? */
static inline bool api_object_is(const struct api_object *o, enum api_type_id type) {
    return o->type == &api_types[type];
}

/* Is the pod done: Succeeded or Failed? Then it takes nothing any more. */
static inline bool api_pod_has_ended(const struct api_pod *pod) {
    return str_is(pod->status.phase, "Succeeded") || str_is(pod->status.phase, "Failed");
}

/* Who made the object and looks after it; or NULL. */
static inline const struct api_owner_reference *api_object_controller(const struct api_object *o) {
    const struct api_owner_reference_list *list = &o->meta->owner_references;
    for (size_t i = 0; i < list->n; i++)
        if (list->v[i].controller.set && list->v[i].controller.v)
            return &list->v[i];
    return NULL;
}

struct api_decode_opts {
    struct str api_version, kind; /* for items of a typed list that do not say what they are */
    bool strict;                  /* fail on unknown and repeated fields */
    bool duplicates;              /* the tree was parsed with repeated keys allowed */
    bool known_only;              /* leave out fields that the schema does not know */
};

/*
 * Builds an object from a tree, which is only borrowed. Unknown fields are kept and encoded again,
 * unless only known ones are wanted, as a server does; of repeated ones the last wins. -1 when a
 * value cannot be what it should be, or when a strict reader finds unknown or repeated fields.
 * Whatever comes of it, *faults lists what was found, with the API server's texts; it may be NULL,
 * and so may opts. The caller owns *out.
 */
int api_object_decode(const struct json *tree, const struct api_decode_opts *opts,
                      struct api_object **out, struct api_faults *faults);

/* An empty object of a kind that says which it is; the caller owns it. */
struct api_object *api_object_new(const struct api_kind *kind);

/* A deep copy that is not yet published; the caller owns it. */
struct api_object *api_object_copy(const struct api_object *o);

/* The same in as little memory as it needs, and where a published object of the same type, or NULL,
 * has equal lists, structs and texts, they are shared: `like` is held. *shared tells how many bytes
 * were saved. What is in the scratch arena is forgotten. */
struct api_object *api_object_copy_like(const struct api_object *o, const struct api_object *like,
                                        struct arena *scratch, size_t *shared);

/* A copy that shares all lists, structs and texts with o, which must be published and is held. Only
 * the body's own fields are the copy's: whoever changes anything behind a pointer gives it a copy
 * in its arena first. The caller owns it. */
struct api_object *api_object_derive(const struct api_object *o);

/* Ends an object that was not published. NULL is fine. */
void api_object_free(struct api_object *o);

/* Sets what the API server sets before it validates: defaults of the object's version. Only before
 * publishing. */
void api_object_default(struct api_object *o, const struct feature_set *gates);

/* Takes out the fields behind gates that are off, but for those of gates of which `old` uses a
 * field, the object of the same kind that is to be replaced, or NULL. Only before publishing. */
void api_object_drop_gated(struct api_object *o, const struct api_object *old,
                           const struct feature_set *gates);

/* The same without a look at the status of either: for updates, which do not write it. */
void api_object_drop_gated_but_status(struct api_object *o, const struct api_object *old,
                                      const struct feature_set *gates);

/* Makes lists and maps that are empty absent, as they are behind a store of upstream's, whose
 * messages do not tell one from the other. Only before publishing. */
void api_object_settle(struct api_object *o);

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

/* ---- published objects: all of this on any thread ---- */

/* Takes an object from its owner: nobody writes to it from here on. The caller has the first
 * reference to what comes back. Builds with BERTH_CHECKS end the program at the last unref of an
 * object that was written to all the same. */
const struct api_object *api_publish(struct api_object *o);

/* One more holder; returns o. And one less: the last one frees it. unref accepts NULL. */
const struct api_object *api_object_ref(const struct api_object *o);
void api_object_unref(const struct api_object *o);

/* How many hold the object now. */
uint32_t api_object_holders(const struct api_object *o);

/* An object in some encoding: counted bytes that outlive it. They are only read. */
struct api_bytes {
    uint32_t refs; /* atomic */
    size_t n;
    char v[];
};

/* The bytes. */
static inline struct str api_bytes_view(const struct api_bytes *b) {
    return (struct str){b->v, b->n};
}

/* One more holder; returns b. And one less: the last one frees it. Both accept NULL. */
struct api_bytes *api_bytes_ref(struct api_bytes *b);
void api_bytes_unref(struct api_bytes *b);

/* The published object as JSON, compact and as Go writes it, or as protobuf as api_object_proto has
 * it, with a reference. It is encoded when it is first asked for, once for all who come until
 * api_object_forget_bytes. */
struct api_bytes *api_object_json_ref(const struct api_object *o);
struct api_bytes *api_object_proto_ref(const struct api_object *o);

/* The object gives up its bytes and keeps none any more, but for those of the functions below. For
 * objects that will be asked for rarely: whoever asks has their own. */
void api_object_forget_bytes(const struct api_object *o);

/* The same as api_object_json_ref and api_object_proto_ref, but the object keeps the bytes again
 * though it gave others up. *is_new: this call has made them, and the caller sees to it that they
 * are forgotten one day. */
struct api_bytes *api_object_json_keep(const struct api_object *o, bool *is_new);
struct api_bytes *api_object_proto_keep(const struct api_object *o, bool *is_new);

/* How many bytes the object keeps encoded now. */
size_t api_object_kept_bytes(const struct api_object *o);

/* The published object as JSON, compact and as Go writes it. It is encoded when it is first asked
 * for, once for all, and lives as long as the object. */
struct str api_object_json(const struct api_object *o);

/* The same in protobuf, in its envelope (api/proto.h), and the message inside, as it stands in
 * lists. Empty when there is no schema for the object's kind. */
struct str api_object_proto(const struct api_object *o);
struct str api_object_message(const struct api_object *o);

/* Are the bytes of a published object what they were? True without BERTH_CHECKS. */
bool api_object_is_intact(const struct api_object *o);

#endif
