/*
 * What a server says about itself: discovery, and OpenAPI documents of both versions, made from the
 * rows of the schema and the table of resources.
 *
 * Documents are made when they are first asked for and live as long as the context. One thread at a
 * time may ask; what it got may be read by any.
 */
#ifndef OPENAPI_OPENAPI_H
#define OPENAPI_OPENAPI_H

#include "base/str.h"

struct openapi;

struct openapi_opts {
    bool all_versions;   /* those too that a server has to be told to serve */
    const char *address; /* host and port for clients, in /api; NULL: it is not told */
};

/* A document and its ETag, a quoted hash of the bytes. An empty body: there is no such document. */
struct openapi_document {
    struct str body;
    struct str etag;
};

/* opts is copied but for the address, which is stored; NULL: the default. */
struct openapi *openapi_new(const struct openapi_opts *opts);
void openapi_free(struct openapi *o);

/*
 * Discovery in JSON, by path: /api, /apis, /api/v1, /apis/GROUP, /apis/GROUP/VERSION. Aggregated
 * (APIGroupDiscoveryList of apidiscovery.k8s.io/v2): /api and /apis alone.
 */
const struct openapi_document *openapi_discovery(struct openapi *o, struct str path);
const struct openapi_document *openapi_aggregated(struct openapi *o, struct str path);

/* /openapi/v3: which documents there are, with their hashes, and one of them by its name: api/v1,
 * apis/apps/v1, apis/apps, version. */
const struct openapi_document *openapi_v3_index(struct openapi *o);
const struct openapi_document *openapi_v3(struct openapi *o, struct str name);

/* /openapi/v2: everything in one document, in JSON and in the protobuf of gnostic. Parameters stand
 * where they are used, as old clients want them. */
const struct openapi_document *openapi_v2(struct openapi *o);
const struct openapi_document *openapi_v2_proto(struct openapi *o);

/* The line about a field of a type, or about the type itself (NULL); an empty text: there is none.
 */
struct api_type;
struct api_field;
struct str openapi_doc(const struct api_type *type, const struct api_field *field);

#endif
