/*
 * Any target is a path and a query that are read without harm: what a route names are parts of the
 * decoded path, and options are read or refused with a text.
 */
#include "check.h"
#include "server/query.h"
#include "server/route.h"

static void check_route(struct arena *a, const struct apiserver_catalog *catalog, struct str path) {
    struct server_route r;
    server_route_read(a, catalog, path, &r);
    CHECK(r.kind != SERVER_ROUTE_RESOURCE || (r.resource && r.plural.n));
    CHECK(!r.subresource || str_is(r.subname, r.subresource->name));
    CHECK(r.name.n + r.namespace.n + r.plural.n + r.subname.n <= 2 * path.n);
    CHECK(!r.is_foreign || r.kind == SERVER_ROUTE_UNKNOWN || r.kind == SERVER_ROUTE_DISCOVERY ||
          r.kind == SERVER_ROUTE_MALFORMED);
}

static void check_query(struct arena *a, struct str text) {
    struct server_query q;
    struct apiserver_options options;
    struct api_delete_options del = {0};
    server_query_read(a, text, &q);
    for (size_t i = 0; i < q.n; i++)
        CHECK(q.names[i].n + q.values[i].n <= text.n);
    for (int verb = 0; verb < REGISTRY_VERB_COUNT; verb++) {
        struct registry_failure f =
            server_query_options(a, &q, (enum registry_verb)verb, verb & 1, &options);
        CHECK(!f.code || f.message.n);
    }
    (void)server_query_delete(a, &q, &del);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static struct apiserver_catalog *catalog;
    AUTO(arena_release) struct arena a = {0};
    struct str text = {(const char *)data, size}, path, query;
    if (!catalog)
        catalog = apiserver_catalog_new();
    str_cut(text, '?', &path, &query);
    check_route(&a, catalog, path);
    check_query(&a, query);
    return 0;
}
