/* What the files of this module share beyond object.h. */
#ifndef API_OBJECT_INT_H
#define API_OBJECT_INT_H

#include "api/object.h"

/* An object and what is known about it beside its content. It is counted through const pointers,
 * which lead here by object.life. */
struct api_life {
    struct api_object object;
    void *body;                   /* the object's, for its owner */
    struct api_object_meta *meta; /* likewise */
    uintptr_t json;               /* atomic; see publish.c */
    uintptr_t proto;              /* likewise */
    uint64_t checksum;            /* of the arena, when it was published */
    uint32_t refs;                /* atomic; 0: it is not published and has one owner */
};

/* api_struct_copy of what `like`, a struct of the same type that outlives the copy, has not: where
 * both point to the same, the copy points to what is its. Returns how many bytes that are. */
size_t api__struct_copy_like(struct arena *a, const struct api_type *type, const void *from,
                             const void *like, void *to);

/* Copies of a struct what lies in the arena `own`, and leaves all else where it is. */
void api__struct_copy_own(struct arena *a, const struct api_type *type, const struct arena *own,
                          const void *from, void *to);

struct api__decode_opts {
    struct str version; /* of the object, without the group */
    bool duplicates;    /* the tree may have repeated keys */
    bool known_only;    /* other fields are left out */
};

/* api_struct_decode of a part of an object, or of a whole one. */
int api__struct_decode(struct arena *a, const struct api_type *type, const struct json *tree,
                       void *body, const struct api__decode_opts *opts, struct api_faults *faults);

/* api_proto_struct_decode for one that has faults to add to. */
int api__proto_decode(struct arena *a, const struct api_type *type, struct str message, void *body,
                      struct api_faults *faults);

/* What the faults of an object are about that should be of the kind `wanted`; empty: of its own.
 * The version may have a group in front of it. */
struct str api__fault_subject(struct arena *a, struct str kind, struct str api_version,
                              struct str wanted);

/* Can the API server convert the decoded object to the form it works with? -1 with a fault. */
int api__check_conversion(const struct api_object *o, struct api_faults *faults);

/* The text of a quantity, which may be given as a string or a number; what else there is becomes
 * one that fails to parse. In the arena. */
struct str api__quantity_text(struct arena *a, const struct json *v);

/* Appends a fault; unknown and repeated fields only while there is room. The texts are copied. */
void api__fault_add(struct api_faults *f, enum api_fault_kind kind, struct str path,
                    struct str text);

/* Writes numbers as upstream does that has read them into untyped trees: those that are no
 * integers, or too large for one, are floats, of which the whole ones are integers again (1e3 is
 * 1000). Parts in which numbers change are copied. Did any? */
bool api__settle_numbers(struct arena *a, struct json *v);

#endif
