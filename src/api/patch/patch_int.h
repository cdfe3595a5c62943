/* What the files of this room share. */
#ifndef API_PATCH_PATCH_INT_H
#define API_PATCH_PATCH_INT_H

#include "api/go_text_int.h"
#include "api/patch.h"
#include "base/map.h"

/* One patch at work. */
struct api__patching {
    struct arena *a;
    uint64_t seed; /* of all maps: keys come from outside */
    struct api_patch_failure failure;
};

/* Starts; the arena is stored. */
struct api__patching api__patch_start(struct arena *a);

/* Notes a failure with printf's text and returns -1. */
__attribute__((format(printf, 3, 4))) int api__patch_fail(struct api__patching *p,
                                                          enum err_code code, const char *fmt, ...);

/* The same with a text that is kept from the client, who learns that its request was wrong. */
__attribute__((format(printf, 2, 3))) int api__patch_reject(struct api__patching *p,
                                                            const char *fmt, ...);

/* The failure that takes the place of a panic in upstream's code. Returns -1. */
int api__patch_panic(struct api__patching *p);

/* A copy of the patch that may be changed, without repeated keys, of which the last counts. Its
 * repeated and unknown fields become faults if it has a list for them; `ops`: the copy is that of a
 * JSON patch. */
struct json api__patch_own(struct api__patching *p, const struct api_patch_body *patch, bool ops);

/* The members of an object by key, to be changed: values are trees in the arena. Ends with
 * map_release; what is not an object gives an empty one. */
struct map api__members_open(struct api__patching *p, const struct json *object);

/* The object of these members, in their order. */
struct json api__members_close(struct api__patching *p, const struct map *members);

/* Brings the members into the order of their keys, in which upstream writes what a patch has gone
 * through; the rest stays as it was. */
void api__object_sort(struct json *object);

/* Puts a copy of the value under key. */
void api__members_put(struct api__patching *p, struct map *members, struct str key,
                      struct json value);

/* Takes members or items for which `drop` holds out of the container, in place. */
void api__object_filter(struct json *object, bool (*drop)(const struct json_member *m));

/* "array", "number": what Go's decoder calls a value that it cannot use. */
const char *api__json_name(const struct json *v);

#endif
