/* What the files of this module share. */
#ifndef OPENAPI_OPENAPI_INT_H
#define OPENAPI_OPENAPI_INT_H

#include "api/types.h"
#include "openapi/openapi.h"
#include "registry/registry.h"

/* One version of a group: what a document is about. */
struct openapi__version {
    struct str group;       /* "" is the core group */
    struct str version;     /* v1 */
    struct str api_version; /* apps/v1 */
};

/* The models of one document, in the order in which they were asked for. */
struct openapi__models {
    struct arena *a;
    const struct openapi__version *of;
    struct json schemas;        /* name -> schema */
    uint8_t made[API_TYPES];    /* models of types that are in schemas */
    uint16_t wanted[API_TYPES]; /* types whose models are to be made */
    size_t wanted_count;
};

/* Groups in the order of discovery, then the versions of each, best first. `all`: see openapi_opts.
 * The list lives in the arena. */
struct openapi__versions {
    struct openapi__version *v;
    size_t n;
};
struct openapi__versions openapi__versions(struct arena *a, bool all);

/* Is the resource one of this version? */
bool openapi__has(const struct openapi__version *of, const struct registry_resource *r);

/* A reference to the model of a type, which becomes a part of the document. */
struct json openapi__ref_of_type(struct openapi__models *m, const struct api_type *type);

/* The same for a model that no rows tell of, by its name: see models.def. */
struct json openapi__ref(struct openapi__models *m, const char *name);

/* The same for the list of a kind. */
struct json openapi__ref_of_list(struct openapi__models *m, const struct api_kind *kind);

/* Makes what was asked for, and what that asks for. */
void openapi__models_finish(struct openapi__models *m);

/* {"group":…,"kind":…,"version":…} of a kind in group/version. */
struct json openapi__gvk(struct arena *a, struct str api_version, struct str kind);

/* The paths of a version. What they answer with becomes a part of the models. */
struct json openapi__paths(struct openapi__models *m);

/* The one path of a document that tells which documents there are, or the program's version. */
struct json openapi__info_path(struct openapi__models *m, struct str path, struct str id,
                               struct str tag, const char *model);

/* Apps, RbacAuthorization, Core: a group as operations are named after it. */
struct str openapi__group_word(struct arena *a, struct str group);

/* The same with a small letter. */
struct str openapi__group_tag(struct arena *a, struct str group);

/* A document of version 3 as one of version 2. */
struct json openapi__to_v2(struct arena *a, const struct json *v3);

/* Appends a document of version 2 as gnostic's openapi.v2.Document. */
void openapi__write_gnostic(struct buf *out, const struct json *v2);

/* The documents of discovery as trees. JSON null: there is none for the path. */
struct json openapi__discovery(struct arena *a, const struct openapi__versions *versions,
                               const struct openapi_opts *opts, struct str path);
struct json openapi__aggregated(struct arena *a, const struct openapi__versions *versions,
                                struct str path);

/* Adds a text to an object; the key is a literal, the text is borrowed. */
void openapi__add_str(struct arena *a, struct json *object, const char *key, struct str text);

#endif
