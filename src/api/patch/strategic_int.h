/* Strategic merge patches: what their files share. */
#ifndef API_PATCH_STRATEGIC_INT_H
#define API_PATCH_STRATEGIC_INT_H

#include "api/patch/patch_int.h"

/* A Go type, as far as patches look at it. */
struct api__shape {
    const struct api_type *type; /* of a struct, or of what a pointer to one points to; or NULL */
    const char *kind;            /* of reflect: struct, ptr, map, string … */
    const char *base;            /* the same, of what a pointer points to */
    const char *name;            /* of a struct without a type */
};

/* What is known of a field that is merged. */
struct api__merge_field {
    struct api__shape shape; /* of the field; of its items, if it was looked up as a list */
    bool merges, replaces;   /* the patch strategy */
    struct str key;          /* by which items are merged; empty: none */
};

/* Finds the field of a struct by its JSON name, ignoring case if need be. -1 with a failure. */
int api__merge_field_find(struct api__patching *p, struct api__shape in, struct str json,
                          struct api__merge_field *out);

/* The same for a field that is a list: the shape is that of an item. */
int api__merge_list_find(struct api__patching *p, struct api__shape in, struct str json,
                         struct api__merge_field *out);

/* Merges the patch into the object, by the fields of its shape. The patch is used up. */
int api__strategic_merge(struct api__patching *p, struct api__shape shape,
                         const struct json *original, struct json *patch, struct json *out);

/*
 * Merges a list into a list; `deletes`: it lists values to take out. *order is the list as upstream
 * remembers it for ordering: items that stay, then as many new ones as have room in the old array.
 */
int api__merge_lists(struct api__patching *p, const struct api__merge_field *field,
                     const struct json *original, struct json *patch, bool deletes,
                     struct json *out, struct json *order);

/* Lists for api__merge_lists_in_order. */
struct api__ordering {
    const struct api__merge_field *field;
    const struct json *original; /* NULL: there is none */
    struct json *patch;          /* NULL: there is none */
    const struct json *wanted;   /* $setElementOrder */
};

/* Merges the lists and puts the result in the wanted order. One of the two must be there. */
int api__merge_lists_in_order(struct api__patching *p, const struct api__ordering *o,
                              struct json *out);

/* Takes out whatever has a $patch in it. False when v itself has one. */
bool api__strip_directives(struct json *v);

/* Sorts items by their ranks exactly as Go's sort.SliceStable does with upstream's comparison,
 * which holds for any two of which one has no rank (-1). */
struct api__ranked {
    struct json value;
    int64_t rank;
};
void api__sort_ranked(struct api__ranked *v, size_t n);

/* "string": what upstream's errors call the type that they received; "%!s(<nil>)" of null. */
static inline const char *api__received(const struct json *v) {
    return v->kind == JSON_NULL ? "%!s(<nil>)" : api__go_type(v);
}

/* Are two values of the same type in Go? */
static inline bool api__same_go_type(const struct json *a, const struct json *b) {
    bool floats = (a->kind == JSON_UINT || a->kind == JSON_FLOAT) &&
                  (b->kind == JSON_UINT || b->kind == JSON_FLOAT);
    return a->kind == b->kind || floats;
}

#endif
