/*
 * Patches: what a stored object becomes by a JSON patch, a merge patch or a strategic merge patch.
 *
 * Trees in, tree out. The stored object is a tree in the version that the patch speaks of
 * (api_object_encode); what comes out is still to be decoded, defaulted and validated as any other
 * body. Time and memory are linear in both, but for the sorting of lists.
 */
#ifndef API_PATCH_H
#define API_PATCH_H

#include "api/faults.h"
#include "api/schema.h"
#include "base/err.h"
#include "codec/json.h"

/* Why a patch cannot be applied, as kube-apiserver answers. Texts live in the arena of the call. */
struct api_patch_failure {
    enum err_code code; /* ERR_NONE: nothing failed */
    struct str message; /* of the Status */
    struct str cause;   /* what the message keeps to itself, for the log; else the message */
};

/* A patch as it came. */
struct api_patch_body {
    const struct json *tree;
    bool duplicates;           /* it was parsed with repeated keys allowed: the last one counts */
    struct api_faults *faults; /* gets its unknown and repeated fields, unless a failure comes of
                                  it; NULL: nobody wants to know (fieldValidation=Ignore) */
};

/* What becomes of the stored object. Both trees live in the arena and borrow from stored and patch,
 * which are not changed. */
struct api_patched {
    struct json tree;
    struct json spent; /* of a strategic merge patch: what is left of it, which api_patch_text shows
                          if the tree cannot be decoded; null otherwise */
};

/* RFC 6902, with what upstream's library makes of it: indexes may be negative, and "replace" sets
 * members that are not there. */
struct api_patch_failure api_patch_json(struct arena *a, const struct json *stored,
                                        const struct api_patch_body *patch,
                                        struct api_patched *out);

/* RFC 7386. */
struct api_patch_failure api_patch_merge(struct arena *a, const struct json *stored,
                                         const struct api_patch_body *patch,
                                         struct api_patched *out);

/* A strategic merge patch, by the rows of the object's type; NULL: kinds without rows cannot be
 * patched in this way. */
struct api_patch_failure api_patch_strategic(struct arena *a, const struct api_type *type,
                                             const struct json *stored,
                                             const struct api_patch_body *patch,
                                             struct api_patched *out);

/* The patched object, or what is left of a strategic merge patch, as the field error of a tree that
 * cannot be decoded quotes it. */
struct str api_patch_text(struct arena *a, const struct api_patched *patched);

/* Why a tree that was patched or applied is no object of the kind, as upstream says it of trees
 * that do not go through JSON: the first value that does not fit, in the arena; empty: all do. */
struct str api_restore_fault(struct arena *a, const struct api_kind *kind, const struct json *tree);

#endif
