/*
 * Media types: what a client accepts, and what it sends.
 *
 * Follows k8s.io/apiserver pkg/endpoints/handlers/negotiation, func NegotiateOutputMediaType,
 * func NegotiateInputSerializer.
 */
#ifndef SERVER_MEDIA_H
#define SERVER_MEDIA_H

#include "apiserver/apiserver.h"

enum server_format { SERVER_JSON, SERVER_YAML, SERVER_PROTOBUF };

/* What is made of an object before it is encoded. */
enum server_shape {
    SERVER_WHOLE,
    SERVER_TABLE,
    SERVER_PARTIAL,      /* PartialObjectMetadata */
    SERVER_PARTIAL_LIST, /* PartialObjectMetadataList */
    SERVER_AGGREGATED,   /* APIGroupDiscoveryList, of documents of discovery */
};

/* Which shapes a handler knows beside the whole. */
enum server_shapes {
    SERVER_SHAPES_NONE,
    SERVER_SHAPES_METADATA,
    SERVER_SHAPES_ALL, /* those and tables */
    SERVER_SHAPES_DISCOVERY,
};

struct server_media {
    enum server_format format;
    enum server_shape shape;
    bool is_beta; /* tables of meta.k8s.io/v1beta1 */
    bool pretty;  /* JSON for people */
};

/* What of an Accept header, which may be absent, is served best; false: nothing of it. Whether the
 * answer can have that shape is seen when it is there. */
bool server_media_accept(struct str accept, enum server_shapes shapes, struct server_media *out);

/* Is there a type in the header that is served at all, whatever its parameters? go-restful asks
 * this before anything else. */
bool server_media_is_served(struct str accept);

/* Is this type among those in the header, which may be absent, whatever their parameters? */
bool server_media_offers(struct str accept, const char *type);

/* Does a person ask, by the query or with a browser or curl? Of a query with `pretty` its value is
 * given. */
bool server_media_is_for_people(struct str pretty, struct str user_agent);

/* The format of a body by its Content-Type, which may be absent; false: it is none of ours. */
bool server_media_of_body(struct str content_type, enum server_format *out);

/* The same for patches. */
bool server_media_of_patch(struct str content_type, enum apiserver_patch_type *out);

/* The Content-Type of an answer. */
struct str server_media_type(const struct server_media *m, bool is_watch);

#endif
