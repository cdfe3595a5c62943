/* Media types: what is chosen of an Accept header, and who is taken for a person. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* cmocka wants the four above before it */
#include <cmocka.h>

#include "server/media.h"

#define COUNT(a) (sizeof(a) / sizeof *(a))
#define PROTO    "application/vnd.kubernetes.protobuf"
#define TABLE    ";as=Table;v=v1;g=meta.k8s.io"

static const struct {
    const char *accept;
    bool is_good;
    enum server_format format;
    enum server_shape shape;
} rows[] = {
    {"", true, SERVER_JSON, SERVER_WHOLE},
    {"*/*", true, SERVER_JSON, SERVER_WHOLE},
    {"application/*", true, SERVER_JSON, SERVER_WHOLE},
    {"application/yaml", true, SERVER_YAML, SERVER_WHOLE},
    {PROTO ", */*", true, SERVER_PROTOBUF, SERVER_WHOLE},
    {"*/*, " PROTO, true, SERVER_PROTOBUF, SERVER_WHOLE}, /* what says more comes first */
    {"application/*, application/yaml", true, SERVER_YAML, SERVER_WHOLE},
    {"application/yaml;q=0.5, application/json;q=0.9", true, SERVER_JSON, SERVER_WHOLE},
    {"application/json" TABLE ",application/json", true, SERVER_JSON, SERVER_TABLE},
    {"application/yaml" TABLE, true, SERVER_YAML, SERVER_TABLE},
    {PROTO TABLE ",application/json", true, SERVER_JSON, SERVER_WHOLE},
    {"application/json;as=Table;v=v2;g=meta.k8s.io", false, 0, 0},
    {"application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", true, SERVER_JSON,
     SERVER_PARTIAL_LIST},
    {"application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", true, SERVER_JSON,
     SERVER_PARTIAL},
    {"application/json;stream=watch", true, SERVER_JSON, SERVER_WHOLE},
    {"application/json;stream=nonsense", false, 0, 0},
    {"text/html", false, 0, 0},
    {"application/json;q=0", false, 0, 0},
};

static void the_best_clause_is_taken(void **state) {
    (void)state;
    for (size_t i = 0; i < COUNT(rows); i++) {
        struct server_media m;
        bool is_good = server_media_accept(str_of(rows[i].accept), SERVER_SHAPES_ALL, &m);
        if (is_good != rows[i].is_good ||
            (is_good && (m.format != rows[i].format || m.shape != rows[i].shape)))
            fail_msg("%s: %d %d %d", rows[i].accept, is_good, (int)m.format, (int)m.shape);
    }
}

static void the_router_asks_for_types_alone(void **state) {
    (void)state;
    assert_true(server_media_is_served(STR("")));
    assert_true(server_media_is_served(STR("text/html, */*;q=0.1")));
    assert_true(server_media_is_served(STR("application/json;as=Nonsense")));
    assert_false(server_media_is_served(STR("application/*")));
    assert_false(server_media_is_served(STR("text/html")));
}

static void people_use_browsers_and_curl(void **state) {
    (void)state;
    assert_true(server_media_is_for_people(STR(""), STR("curl/8.0")));
    assert_true(server_media_is_for_people(STR(""), STR("Wget/1.2")));
    assert_true(server_media_is_for_people(STR(""), STR("Mozilla/5.0 (X11)")));
    assert_false(server_media_is_for_people(STR(""), STR("kubectl/v1.37")));
    assert_false(server_media_is_for_people(STR("0"), STR("curl/8.0")));
    assert_false(server_media_is_for_people(STR("nonsense"), STR("curl/8.0")));
    assert_true(server_media_is_for_people(STR("true"), STR("kubectl/v1.37")));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_best_clause_is_taken),
        cmocka_unit_test(the_router_asks_for_types_alone),
        cmocka_unit_test(people_use_browsers_and_curl),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
