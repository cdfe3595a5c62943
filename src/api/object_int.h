/* What the files of this module share beyond object.h. */
#ifndef API_OBJECT_INT_H
#define API_OBJECT_INT_H

#include "api/object.h"

struct api__bytes;

/* An object and what is known about it beside its content. It is counted through const pointers,
 * which lead here by object.life. */
struct api_life {
    struct api_object object;
    void *body;                   /* the object's, for its owner */
    struct api_object_meta *meta; /* likewise */
    struct api__bytes *json;      /* atomic; NULL: nobody has asked for it yet */
    uint64_t checksum;            /* of the arena, when it was published */
    uint32_t refs;                /* atomic; 0: it is not published and has one owner */
};

struct api__decode_opts {
    struct str version; /* of the object, without the group */
    bool duplicates;    /* the tree may have repeated keys */
};

/* api_struct_decode of a part of an object, or of a whole one. */
int api__struct_decode(struct arena *a, const struct api_type *type, const struct json *tree,
                       void *body, const struct api__decode_opts *opts, struct api_faults *faults);

/* Can the API server convert the decoded object to the form it works with? -1 with a fault. */
int api__check_conversion(const struct api_object *o, struct api_faults *faults);

/* Appends a fault; unknown and repeated fields only while there is room. The texts are copied. */
void api__fault_add(struct api_faults *f, enum api_fault_kind kind, struct str path,
                    struct str text);

#endif
