/*
 * From a path to what it asks for.
 *
 * Follows k8s.io/apiserver pkg/endpoints/request, func (*RequestInfoFactory) NewRequestInfo.
 */
#ifndef SERVER_ROUTE_H
#define SERVER_ROUTE_H

#include "apiserver/catalog.h"
#include "base/arena.h"

enum server_route_kind {
    SERVER_ROUTE_MALFORMED, /* it cannot be decoded, or ends where something must follow */
    SERVER_ROUTE_UNKNOWN,   /* a resource or subresource that a known version does not have */
    SERVER_ROUTE_RESOURCE,  /* a resource, its collection, or a subresource */
    SERVER_ROUTE_DISCOVERY, /* /api, /apis, /api/v1, /apis/apps, /apis/apps/v1 */
    SERVER_ROUTE_OTHER,     /* /version, /healthz, …: whoever knows the path */
};

struct server_route {
    enum server_route_kind kind;
    const struct apiserver_resource *resource;
    const struct registry_subresource *subresource; /* or NULL */
    struct str namespace, name; /* decoded; empty: all namespaces, the collection */
    struct str group, version;  /* of discovery and resources */
    struct str plural, subname; /* as the path has them, also if they are unknown */
    bool is_watch;              /* the old form: /api/v1/watch/… */
    bool is_foreign;            /* UNKNOWN, and so is its group: nobody answers with a Status */
    bool is_cut;                /* MALFORMED: /api/v1/watch without a resource */
};

/* Reads a path, which is not decoded yet. Texts live in the arena or are views of path. */
void server_route_read(struct arena *a, const struct apiserver_catalog *catalog, struct str path,
                       struct server_route *out);

/* The text with %XX decoded, and + too where it stands for a space. -1: it is malformed. */
int server_unescape(struct arena *a, struct str text, bool plus_is_space, struct str *out);

#endif
