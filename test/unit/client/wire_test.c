/* Requests as they are sent, and answers as they are understood. */
#include "../data.h"

#include "base/limits.h"
#include "client/http/wire_int.h"
#include "codec/yml.h"

static void expect_text(const char *what, struct str got, const char *want) {
    if (!str_is(got, want))
        fail_msg("%s\n want %s\n got  %.*s", what, want, STR_ARG(got));
}

/* ---- requests ---- */

static const struct {
    const char *method, *target, *content_type, *body;
    struct client_request r;
    enum api_type_id type;
} requests[] = {
    {"GET",
     "/api/v1/namespaces/ns/pods/a%20b",
     NULL,
     "",
     {.verb = REGISTRY_VERB_GET, .namespace = STR_INIT("ns"), .name = STR_INIT("a b")},
     API_T_pod},
    {"GET",
     "/api/v1/nodes/n",
     NULL,
     "",
     {.verb = REGISTRY_VERB_GET, .namespace = STR_INIT("ns"), .name = STR_INIT("n")},
     API_T_node},
    {"GET", "/apis/apps/v1/deployments", NULL, "", {.verb = REGISTRY_VERB_LIST}, API_T_deployment},
    {"GET",
     "/api/v1/namespaces/ns/pods?labelSelector=a%20in%20%28b%2Cc%29&fieldSelector=spec.nodeName%3Dn"
     "&resourceVersion=7&resourceVersionMatch=NotOlderThan&limit=500",
     NULL,
     "",
     {.verb = REGISTRY_VERB_LIST,
      .namespace = STR_INIT("not this one"),
      .selection = {.namespace = STR_INIT("ns"),
                    .label_selector = STR_INIT("a in (b,c)"),
                    .field_selector = STR_INIT("spec.nodeName=n"),
                    .resource_version = STR_INIT("7"),
                    .limit = 500}},
     API_T_pod},
    {"GET",
     "/api/v1/pods?continue=next%3D&limit=5",
     NULL,
     "",
     {.verb = REGISTRY_VERB_LIST,
      .selection = {.resource_version = STR_INIT("7"),
                    .continue_token = STR_INIT("next="),
                    .limit = 5}},
     API_T_pod},
    {"PATCH",
     "/api/v1/namespaces/ns/pods/p/status?fieldManager=m",
     "application/strategic-merge-patch+json",
     "{}",
     {.verb = REGISTRY_VERB_PATCH,
      .namespace = STR_INIT("ns"),
      .name = STR_INIT("p"),
      .subresource = "status",
      .patch_type = CLIENT_PATCH_STRATEGIC,
      .patch = STR_INIT("{}"),
      .field_manager = STR_INIT("m"),
      .force = true},
     API_T_pod},
    {"PATCH",
     "/api/v1/nodes/n?fieldManager=m&force=true",
     "application/apply-patch+yaml",
     "{}",
     {.verb = REGISTRY_VERB_PATCH,
      .name = STR_INIT("n"),
      .patch_type = CLIENT_APPLY,
      .patch = STR_INIT("{}"),
      .field_manager = STR_INIT("m"),
      .force = true},
     API_T_node},
    {"PATCH",
     "/api/v1/nodes/n",
     "application/json-patch+json",
     "[]",
     {.verb = REGISTRY_VERB_PATCH,
      .name = STR_INIT("n"),
      .patch_type = CLIENT_PATCH_JSON,
      .patch = STR_INIT("[]")},
     API_T_node},
    {"DELETE",
     "/api/v1/nodes/n",
     "application/json",
     "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\",\"gracePeriodSeconds\":0,"
     "\"preconditions\":{\"uid\":\"u\",\"resourceVersion\":\"3\"},"
     "\"propagationPolicy\":\"Background\"}",
     {.verb = REGISTRY_VERB_DELETE,
      .name = STR_INIT("n"),
      .deletion = {.uid = STR_INIT("u"),
                   .resource_version = STR_INIT("3"),
                   .propagation = STR_INIT("Background"),
                   .grace_seconds = {true, 0}}},
     API_T_node},
    {"DELETE",
     "/api/v1/namespaces/ns/pods?labelSelector=a",
     "application/json",
     "{\"kind\":\"DeleteOptions\",\"apiVersion\":\"v1\"}",
     {.verb = REGISTRY_VERB_DELETE_COLLECTION,
      .selection = {.namespace = STR_INIT("ns"), .label_selector = STR_INIT("a")}},
     API_T_pod},
};

static void requests_are_methods_and_paths(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        struct client_request r = requests[i].r;
        r.kind = client_kind(requests[i].type);
        struct client__message m = client__message_of(&a, &r);
        expect_text("target", m.target, requests[i].target);
        assert_string_equal(m.method, requests[i].method);
        expect_text("content type", str_of(m.content_type),
                    requests[i].content_type ? requests[i].content_type : "");
        expect_text("body", m.body, requests[i].body);
    }
}

static void objects_are_bodies(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    struct api_object *o = api_object_new(client_kind(API_T_config_map));
    api_own_meta(o)->name = STR("c");
    struct client_request r = {.verb = REGISTRY_VERB_CREATE,
                               .kind = o->kind,
                               .namespace = STR("ns"),
                               .name = STR("c"),
                               .object = o};
    struct client__message m = client__message_of(&a, &r);
    assert_string_equal(m.method, "POST");
    expect_text("target", m.target, "/api/v1/namespaces/ns/configmaps");
    expect_text("body", m.body,
                "{\"kind\":\"ConfigMap\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"c\"}}");
    r.verb = REGISTRY_VERB_UPDATE;
    m = client__message_of(&a, &r);
    assert_string_equal(m.method, "PUT");
    expect_text("target", m.target, "/api/v1/namespaces/ns/configmaps/c");
    r.verb = REGISTRY_VERB_CREATE;
    r.subresource = "binding";
    expect_text("target", client__message_of(&a, &r).target,
                "/api/v1/namespaces/ns/configmaps/c/binding");
    api_object_free(o);
}

static void watches_are_asked_for(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    struct client__watching w = {.kind = client_kind(API_T_pod), .begins = true, .seconds = 300};
    expect_text("first", client__watch_message(&a, &w).target,
                "/api/v1/pods?watch=true&allowWatchBookmarks=true&sendInitialEvents=true"
                "&resourceVersionMatch=NotOlderThan&timeoutSeconds=300");
    w.begins = false;
    w.selection = (struct client_selection){.resource_version = STR("5"), .namespace = STR("ns")};
    expect_text("then", client__watch_message(&a, &w).target,
                "/api/v1/namespaces/ns/pods?watch=true&allowWatchBookmarks=true&resourceVersion=5"
                "&timeoutSeconds=300");
}

/* ---- answers ---- */

static const struct {
    int status;
    const char *body;
    int32_t header;
    enum err_code code;
    const char *message;
    int32_t retry_after;
} failures[] = {
    {404, "{\"kind\":\"Status\",\"reason\":\"NotFound\",\"message\":\"no\",\"code\":404}", 0,
     ERR_NOT_FOUND, "no", 0},
    {409, "{\"kind\":\"Status\",\"reason\":\"AlreadyExists\",\"message\":\"is\"}", 0, ERR_EXISTS,
     "is", 0},
    {409, "{\"kind\":\"Status\",\"reason\":\"Conflict\"}", 0, ERR_CONFLICT, "", 0},
    {409, "{\"kind\":\"Status\"}", 0, ERR_CONFLICT, "", 0},
    {410, "{\"kind\":\"Status\",\"reason\":\"Expired\"}", 0, ERR_EXPIRED, "", 0},
    {410, "", 0, ERR_GONE, "the server answered 410", 0},
    {422, "{\"kind\":\"Status\",\"reason\":\"Invalid\"}", 0, ERR_UNPROCESSABLE, "", 0},
    {429,
     "{\"kind\":\"Status\",\"reason\":\"TooManyRequests\",\"details\":{\"retryAfterSeconds\":3}}",
     1, ERR_TOO_MANY, "", 3},
    {429, "slow", 2, ERR_TOO_MANY, "the server answered 429: slow", 2},
    {500, "{\"kind\":\"Status\",\"reason\":\"InternalError\"}", 0, ERR_INTERNAL, "", 0},
    {500, "{\"kind\":\"Status\",\"reason\":\"ServerTimeout\"}", 0, ERR_TIMEOUT, "", 0},
    {502, "<html>", 0, ERR_UNAVAILABLE, "the server answered 502: <html>", 0},
    {418, "{\"kind\":\"Status\",\"reason\":\"Teapot\"}", 0, ERR_INVALID, "", 0},
    {302, "", 0, ERR_INTERNAL, "the server answered 302", 0},
    {200, "{", 0, ERR_INTERNAL, NULL, 0},
    {200, "[]", 0, ERR_INTERNAL, NULL, 0},
    {200, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":1}", 0, ERR_INTERNAL, NULL, 0},
};

static void failures_have_codes(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    for (size_t i = 0; i < sizeof failures / sizeof *failures; i++) {
        struct client__reply reply = {failures[i].status, str_of(failures[i].body),
                                      failures[i].header};
        struct client__result r;
        client__result_read(&a, REGISTRY_VERB_GET, client_kind(API_T_pod), &reply, &r);
        assert_int_equal(r.answer.code, failures[i].code);
        assert_int_equal(r.answer.status, failures[i].status);
        assert_int_equal(r.answer.retry_after, failures[i].retry_after);
        if (failures[i].message)
            expect_text(failures[i].body, r.answer.message, failures[i].message);
        assert_null(r.answer.object);
        client__result_release(&r);
    }
}

static void objects_come_back(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    struct client__reply reply = {
        200, STR("{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p\"}}"), 0};
    struct client__result r;
    client__result_read(&a, REGISTRY_VERB_GET, client_kind(API_T_pod), &reply, &r);
    assert_int_equal(r.answer.code, ERR_NONE);
    expect_text("name", r.answer.object->meta->name, "p");
    client__result_release(&r);
    reply.body = STR("{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"status\":\"Success\"}");
    client__result_read(&a, REGISTRY_VERB_DELETE, client_kind(API_T_pod), &reply, &r);
    assert_int_equal(r.answer.code, ERR_NONE);
    assert_null(r.answer.object);
    client__result_release(&r);
}

static void lists_come_back(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    struct client__reply reply = {
        200,
        STR("{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{\"resourceVersion\":\"9\","
            "\"continue\":\"c\"},\"items\":[{\"metadata\":{\"name\":\"p\"}},"
            "{\"metadata\":{\"name\":\"q\"}}]}"),
        0};
    struct client__result r;
    client__result_read(&a, REGISTRY_VERB_LIST, client_kind(API_T_pod), &reply, &r);
    assert_int_equal(r.answer.code, ERR_NONE);
    assert_int_equal(r.answer.item_count, 2);
    expect_text("name", r.answer.items[1]->meta->name, "q");
    assert_true(api_object_is(r.answer.items[1], API_T_pod));
    expect_text("revision", r.answer.resource_version, "9");
    expect_text("continue", r.answer.continue_token, "c");
    client__result_release(&r);
    reply.body =
        STR("{\"kind\":\"PodList\",\"items\":null,\"metadata\":{\"resourceVersion\":\"9\"}}");
    client__result_read(&a, REGISTRY_VERB_LIST, client_kind(API_T_pod), &reply, &r);
    assert_int_equal(r.answer.code, ERR_NONE);
    assert_int_equal(r.answer.item_count, 0);
    expect_text("revision", r.answer.resource_version, "9");
    client__result_release(&r);
    reply.body = STR("{\"kind\":\"PodList\",\"items\":[{\"metadata\":{}},1]}");
    client__result_read(&a, REGISTRY_VERB_LIST, client_kind(API_T_pod), &reply, &r);
    assert_int_equal(r.answer.code, ERR_INTERNAL);
    client__result_release(&r);
}

/* ---- events ---- */

static const struct {
    const char *line;
    int type; /* of what is understood, else -1 */
    uint64_t revision;
    bool ends;
    enum err_code code;
} events[] = {
    {"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"p\"}}}", CLIENT_ADDED, 0, false, 0},
    {"{\"type\":\"DELETED\",\"object\":{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{}}}",
     CLIENT_DELETED, 0, false, 0},
    {"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"7\"}}}",
     CLIENT_BOOKMARK, 7, false, 0},
    {"{\"type\":\"BOOKMARK\",\"object\":{\"metadata\":{\"resourceVersion\":\"8\",\"annotations\":"
     "{\"k8s.io/initial-events-end\":\"true\"}}}}",
     CLIENT_BOOKMARK, 8, true, 0},
    {"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"reason\":\"Expired\",\"code\":410}}",
     CLIENT_ENDED, 0, false, ERR_EXPIRED},
    {"{\"type\":\"ERROR\",\"object\":{\"code\":410}}", CLIENT_ENDED, 0, false, ERR_GONE},
    {"{\"type\":\"ERROR\",\"object\":{}}", CLIENT_ENDED, 0, false, ERR_INTERNAL},
    {"{\"type\":\"BOOKMARK\",\"object\":{}}", -1, 0, false, 0},
    {"{\"type\":\"OTHER\",\"object\":{}}", -1, 0, false, 0},
    {"{\"type\":\"ADDED\",\"object\":1}", -1, 0, false, 0},
    {"{\"type\":\"ADDED\"}", -1, 0, false, 0},
    {"{", -1, 0, false, 0},
};

static void events_are_read(void **state) {
    (void)state;
    AUTO(arena_release) struct arena a = {0};
    for (size_t i = 0; i < sizeof events / sizeof *events; i++) {
        struct client_event e;
        struct err err = {0};
        int done = client__event_read(&a, client_kind(API_T_pod), str_of(events[i].line), &e, &err);
        if ((done < 0) != (events[i].type < 0))
            fail_msg("%s: %s", events[i].line, err.msg);
        if (done < 0)
            continue;
        assert_int_equal(e.type, events[i].type);
        assert_int_equal(e.revision, events[i].revision);
        assert_int_equal(e.ends_initial_events, events[i].ends);
        assert_int_equal(e.code, events[i].code);
        assert_int_equal(e.object != NULL, e.type < CLIENT_BOOKMARK);
        api_object_unref(e.object);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_are_methods_and_paths),
        cmocka_unit_test(objects_are_bodies),
        cmocka_unit_test(watches_are_asked_for),
        cmocka_unit_test(failures_have_codes),
        cmocka_unit_test(objects_come_back),
        cmocka_unit_test(lists_come_back),
        cmocka_unit_test(events_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
