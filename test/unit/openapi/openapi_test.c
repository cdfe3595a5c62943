/* Documents of a server about itself. That they say what upstream's say is for make conformance. */
#include "openapi/openapi.h"

#include "../data.h"
#include "codec/json.h"

static struct openapi *made(void **state) {
    return *state;
}

static int set_up(void **state) {
    *state = openapi_new(NULL);
    return 0;
}

static int tear_down(void **state) {
    openapi_free(*state);
    return 0;
}

static struct json read(struct arena *a, const struct openapi_document *d) {
    const struct json_opts any = {.max_bytes = SIZE_MAX};
    struct json tree;
    assert_true(d->body.n > 0 && d->etag.n == 130 && d->etag.p[0] == '"');
    assert_int_equal(json_parse(a, d->body, &any, &tree, NULL), 0);
    return tree;
}

/* A member of a member …, by names with bars between them. */
static const struct json *at(const struct json *v, const char *path) {
    struct str rest = str_of(path), name;
    while (v && rest.n) {
        str_cut(rest, '|', &name, &rest);
        v = json_get(v, name);
    }
    return v;
}

static void discovery_knows_groups_and_versions(void **state) {
    static const struct {
        const char *path, *kind;
    } cases[] = {
        {"/api", "APIVersions"},
        {"/apis", "APIGroupList"},
        {"/api/v1", "APIResourceList"},
        {"/apis/apps", "APIGroup"},
        {"/apis/apps/v1", "APIResourceList"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        AUTO(arena_release) struct arena a = {0};
        struct json doc = read(&a, openapi_discovery(made(state), str_of(cases[i].path)));
        assert_true(str_is(json_str(at(&doc, "kind")), cases[i].kind));
    }
}

/* What is not there, and versions that a server has to be told to serve. */
static void other_paths_have_no_documents(void **state) {
    static const char *const paths[] = {"",
                                        "/",
                                        "/api/",
                                        "/api/v2",
                                        "/api/apps/v1",
                                        "/apis/v1",
                                        "/apis/apps/v2",
                                        "/apis/none",
                                        "/apis/",
                                        "/apis/resource.k8s.io/v1alpha3"};
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_int_equal(openapi_discovery(made(state), str_of(paths[i]))->body.n, 0);
        assert_int_equal(openapi_v3(made(state), str_of(paths[i]))->body.n, 0);
    }
    assert_int_equal(openapi_aggregated(made(state), STR("/apis/apps"))->body.n, 0);
    struct openapi *all = openapi_new(&(struct openapi_opts){.all_versions = true});
    assert_true(openapi_discovery(all, STR("/apis/resource.k8s.io/v1alpha3"))->body.n > 0);
    openapi_free(all);
}

static void groups_are_aggregated(void **state) {
    AUTO(arena_release) struct arena a = {0};
    struct json core = read(&a, openapi_aggregated(made(state), STR("/api")));
    struct json groups = read(&a, openapi_aggregated(made(state), STR("/apis")));
    assert_int_equal(at(&core, "items")->n, 1);
    assert_true(at(&groups, "items")->n > 20);
    assert_true(str_is(json_str(at(&at(&groups, "items")->items[1], "metadata|name")), "apps"));
}

/* Made once, and the same bytes by whoever is asked. */
static void documents_are_kept(void **state) {
    const struct openapi_document *first = openapi_v3(made(state), STR("apis/apps/v1"));
    assert_ptr_equal(first, openapi_v3(made(state), STR("apis/apps/v1")));
    struct openapi *other = openapi_new(NULL);
    assert_true(str_eq(openapi_v3(other, STR("apis/apps/v1"))->etag, first->etag));
    assert_true(str_eq(openapi_v2(other)->etag, openapi_v2(made(state))->etag));
    assert_true(str_eq(openapi_v2_proto(other)->etag, openapi_v2_proto(made(state))->etag));
    openapi_free(other);
}

static void the_index_tells_the_hashes(void **state) {
    AUTO(arena_release) struct arena a = {0};
    struct json index = read(&a, openapi_v3_index(made(state)));
    struct str url = json_str(at(&index, "paths|api/v1|serverRelativeURL"));
    struct str etag = openapi_v3(made(state), STR("api/v1"))->etag;
    assert_true(str_starts(url, STR("/openapi/v3/api/v1?hash=")));
    assert_true(str_ends(url, str_sub(etag, 1, etag.n - 1)));
}

/* What upstream does not have yet can be explained, too. */
static void a_toleration_has_an_expression(void **state) {
    AUTO(arena_release) struct arena a = {0};
    struct json doc = read(&a, openapi_v3(made(state), STR("api/v1")));
    const struct json *expression =
        at(&doc, "components|schemas|io.k8s.api.core.v1.Toleration|properties|expression");
    assert_true(expression && str_is(json_str(at(expression, "type")), "string"));
}

/* Old clients look for this parameter, and do not follow references. */
static void version_2_has_its_parameters_in_place(void **state) {
    AUTO(arena_release) struct arena a = {0};
    struct json doc = read(&a, openapi_v2(made(state)));
    const struct json *list =
        at(&doc, "paths|/api/v1/namespaces/{namespace}/pods/{name}|patch|parameters");
    bool has_dry_run = false;
    for (uint32_t i = 0; i < list->n; i++)
        has_dry_run |= str_is(json_str(at(&list->items[i], "name")), "dryRun");
    assert_true(has_dry_run);
    assert_true(openapi_v2_proto(made(state))->body.n > 100000);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(discovery_knows_groups_and_versions),
        cmocka_unit_test(other_paths_have_no_documents),
        cmocka_unit_test(groups_are_aggregated),
        cmocka_unit_test(documents_are_kept),
        cmocka_unit_test(the_index_tells_the_hashes),
        cmocka_unit_test(a_toleration_has_an_expression),
        cmocka_unit_test(version_2_has_its_parameters_in_place),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
