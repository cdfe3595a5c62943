/* Answers of other shapes than the stored object, and what is said beside them. */
#ifndef SERVER_SHAPE_INT_H
#define SERVER_SHAPE_INT_H

#include "apiserver/apiserver.h"

/* The metadata of an object as it is shown alone: without annotations that are fields to upstream.
 * The object's own, or in the arena. */
const struct api_object_meta *server__meta_of(struct arena *a, const struct api_object *o);

struct server__call;

/* The version of meta.k8s.io that a client wants tables and metadata in. */
const char *server__meta_version(const struct server__call *c);

/* Appends a message in the envelope of protobuf. */
void server__proto_envelope(struct buf *out, struct str api_version, struct str kind,
                            struct str message);

/* Appends the metadata of an object in protobuf, under a version of meta.k8s.io. */
void server__partial_proto(struct buf *out, const char *api_version, const struct api_object *o);

/* The same for those of a list. */
void server__partial_list_proto(struct buf *out, const char *api_version,
                                const struct api_list_meta *meta,
                                const struct apiserver_list *list);

/* A word about a kind and version that is to go, in the arena; empty: it stays. */
struct str server__deprecation(struct arena *a, const struct api_kind *kind);

#endif
