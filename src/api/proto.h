/*
 * API objects in protobuf, as clients of Kubernetes send and take them
 * (application/vnd.kubernetes.protobuf): by the same rows as JSON.
 *
 * A body is an envelope, four bytes and a message that says what is inside, and in it the message
 * of the kind. Bytes that were written here are those that upstream's generated code writes, but
 * for raw JSON inside of objects (managed fields, defaults of custom resources), which is written
 * without white space.
 */
#ifndef API_PROTO_H
#define API_PROTO_H

#include "api/object.h"

/* A body, opened: all texts are views into it. */
struct api_proto_envelope {
    struct str api_version, kind;
    struct str message; /* of the kind */
    struct str content_encoding, content_type;
};

/* Opens a body of up to LIMIT_OBJECT_BYTES, or any other length if it is a list. -1 when it is no
 * envelope, with upstream's text. */
int api_proto_open(struct str body, struct api_proto_envelope *out, struct err *err);

/*
 * Builds an object of a kind with a schema from a body, which is only borrowed: api_object_decode
 * for protobuf. Fields with unknown numbers are dropped. The faults are at most one, with
 * upstream's text; it may be NULL, and so may opts, of which nothing but the names is looked at.
 */
int api_proto_decode(struct str body, const struct api_decode_opts *opts, struct api_object **out,
                     struct api_faults *faults);

/* The same for a message that is no object, such as DeleteOptions, whose envelope the caller has
 * opened: `body` is a zeroed struct of the type, and everything it comes to hold lives in a. */
int api_proto_struct_decode(struct arena *a, const struct api_type *type, struct str message,
                            void *body, struct api_faults *faults);

/* Appends a struct as the message of its type. Members that the schema does not know are left out,
 * as upstream has no place for them. */
void api_proto_struct_write(struct buf *out, const struct api_type *type, const void *body);

/* Appends an object in its envelope. False, and nothing is written, when its kind has no schema. */
bool api_proto_write(struct buf *out, const struct api_object *o);

/* Append a field of bytes or of a number, for whoever writes messages of other types. */
void api_proto_add_bytes(struct buf *out, unsigned number, struct str bytes);
void api_proto_add_number(struct buf *out, unsigned number, uint64_t v);

/* ---- lists: PodList and the like, item by item ---- */

struct api_proto_list {
    struct str api_version, kind; /* of an item: Pod */
    struct api_list_meta meta;    /* its texts live in the arena that the list was opened with */
    struct str rest;              /* items to come, and what is between them */
};

/* Opens a list of any length; nothing of it is copied but the metadata. -1 with a fault. */
int api_proto_list_open(struct arena *a, struct str body, struct api_proto_list *out,
                        struct api_faults *faults);

/* The next item, which the caller owns: 1; 0 when there is none; -1 with a fault. */
int api_proto_list_next(struct api_proto_list *list, struct api_object **out,
                        struct api_faults *faults);

/*
 * A list is written in pieces, so that the items can be sent from where they are: its head, then
 * for each item a head and its message (api_object_message), then its tail. `items` is the sum of
 * api_proto_item_size of all messages.
 */
void api_proto_list_head(struct buf *out, const struct api_type_meta *names,
                         const struct api_list_meta *meta, size_t items);
void api_proto_item_head(struct buf *out, size_t message_size);
size_t api_proto_item_size(size_t message_size);
struct str api_proto_list_tail(void);

/* ---- watches: frames of four bytes with the length, big-endian, and a WatchEvent ---- */

struct api_proto_event {
    struct str type; /* ADDED, MODIFIED, DELETED, BOOKMARK, ERROR */
    struct str body; /* of the object: its envelope */
};

/* Reads the message of one frame. -1 with upstream's text. */
int api_proto_event_open(struct str message, struct api_proto_event *out, struct err *err);

/* Appends a frame up to where the object's body stands, which is the rest of it. */
void api_proto_event_head(struct buf *out, struct str type, size_t body_size);

#endif
