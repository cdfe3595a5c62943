/* Paths: what they ask for, in a row each. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "server/route.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))

/* The kind, then group|version|namespace|resource|name|subresource, then what else there is. */
static const struct {
    const char *path, *says;
} rows[] = {
    {"/api", "discovery |||||"},
    {"/api/", "discovery |||||"},
    {"/apis", "discovery |||||"},
    {"/apis/apps", "discovery apps|||||"},
    {"/api/v1", "discovery |v1||||"},
    {"/api/v1/", "discovery |v1||||"},
    {"/api/v9", "discovery |v9||||"},
    {"/apis/nonsense/v1", "discovery nonsense|v1|||| foreign"},
    {"/healthz", "other |||||"},
    {"/", "other |||||"},
    {"/apix/v1", "other |||||"},
    {"/api/v1/pods", "resource |v1||pods||"},
    {"/api/v1/pods/", "resource |v1||pods||"},
    {"/api/v1/namespaces/a/pods", "resource |v1|a|pods||"},
    {"/api/v1/namespaces/a/pods/x", "resource |v1|a|pods|x|"},
    {"/api/v1/namespaces/a/pods/x%2fy", "resource |v1|a|pods|x/y|"},
    {"/api/v1/namespaces/a/pods/x/status", "resource |v1|a|pods|x|status"},
    {"/api/v1/namespaces/a/pods/x/nonsense", "unknown |v1|a|pods|x|nonsense"},
    {"/api/v1/namespaces/a/pods/x/status/y", "unknown |v1|a|pods|x|status"},
    {"/api/v1/namespaces/a", "resource |v1|a|namespaces|a|"},
    {"/api/v1/namespaces/a/status", "resource |v1|a|namespaces|a|status"},
    {"/api/v1/namespaces/a/finalize", "resource |v1|a|namespaces|a|finalize"},
    {"/api/v1/namespaces/a/nodes", "unknown |v1|a|nodes||"},
    {"/api/v1/pods/x", "unknown |v1||pods|x|"},
    {"/api/v1/nonsense", "unknown |v1||nonsense||"},
    {"/api/v9/pods", "unknown |v9||pods||"},
    {"/apis/apps/v9/deployments", "unknown apps|v9||deployments||"},
    {"/apis/nonsense/v1/things/x", "unknown nonsense|v1||things|x| foreign"},
    {"/apis/apps/v1/deployments", "resource apps|v1||deployments||"},
    {"/api/v1/watch/pods", "resource |v1||pods|| watch"},
    {"/api/v1/watch/namespaces/a/pods/x", "resource |v1|a|pods|x| watch"},
    {"/api/v1/watch", "malformed |v1|||| watch"},
    {"/api/v1/%zz", "malformed |||||"},
    {"/%", "malformed |||||"},
};

static const char *const kinds[] = {
    [SERVER_ROUTE_MALFORMED] = "malformed", [SERVER_ROUTE_UNKNOWN] = "unknown",
    [SERVER_ROUTE_RESOURCE] = "resource",   [SERVER_ROUTE_DISCOVERY] = "discovery",
    [SERVER_ROUTE_OTHER] = "other",
};

static struct str describe(struct arena *a, const struct server_route *r) {
    return arena_printf(a, "%s %.*s|%.*s|%.*s|%.*s|%.*s|%.*s%s%s", kinds[r->kind],
                        STR_ARG(r->group), STR_ARG(r->version), STR_ARG(r->namespace),
                        STR_ARG(r->plural), STR_ARG(r->name), STR_ARG(r->subname),
                        r->is_watch ? " watch" : "", r->is_foreign ? " foreign" : "");
}

static void paths_say_what_they_ask_for(void **state) {
    struct apiserver_catalog *catalog = apiserver_catalog_new();
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct arena a = {0};
        struct server_route r;
        server_route_read(&a, catalog, str_of(rows[i].path), &r);
        struct str got = describe(&a, &r);
        if (!str_is(got, rows[i].says))
            fail_msg("%s: '%.*s'", rows[i].path, STR_ARG(got));
        arena_release(&a);
    }
    apiserver_catalog_free(catalog);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_say_what_they_ask_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
