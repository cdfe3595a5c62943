/*
 * The query of a request as options.
 *
 * Follows k8s.io/apimachinery pkg/runtime, func Convert_Slice_string_To_bool.
 */
#ifndef SERVER_QUERY_H
#define SERVER_QUERY_H

#include "apiserver/apiserver.h"

/* A query, decoded: names with their values in the order given. */
struct server_query {
    struct str *names, *values;
    size_t n;
};

/* Reads a query; malformed pairs are left out, as Go's URL.Query does. Lives in the arena. */
void server_query_read(struct arena *a, struct str text, struct server_query *out);

/* The first value of a name; the absent view when there is none. */
struct str server_query_get(const struct server_query *q, const char *name);

/* True of a boolean parameter: one that is there and is neither 0 nor false. */
bool server_query_is_true(const struct server_query *q, const char *name);

/* The options that a verb reads, checked by its rules. */
struct registry_failure server_query_options(struct arena *a, const struct server_query *q,
                                             enum registry_verb verb, bool is_apply,
                                             struct apiserver_options *out);

/* What a deletion says in its query, for those without a body. */
struct registry_failure server_query_delete(struct arena *a, const struct server_query *q,
                                            struct api_delete_options *out);

#endif
