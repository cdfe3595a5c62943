/* Requests, one after the other, against a server in memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "apiserver/apiserver.h"

/* A server with what it stands on. */
struct world {
    struct apiserver_catalog *catalog;
    struct store *store;
    struct apiserver *api;
    struct clock_manual clock;
    struct feature_set gates;
    struct arena arena;
    unsigned char drawn;
};

static void draw(void *ctx, void *to, size_t n) {
    struct world *w = ctx;
    for (size_t i = 0; i < n; i++)
        ((unsigned char *)to)[i] = w->drawn++;
}

static void start(struct world *w) {
    struct registry_plugins plugins = registry_plugins_default();
    struct str more = STR("NodeRestriction");
    registry_plugins_switch(&plugins, (struct api_strs){&more, 1}, true, NULL);
    w->api = apiserver_new(&(struct apiserver_opts){.catalog = w->catalog,
                                                    .store = w->store,
                                                    .gates = &w->gates,
                                                    .clock = &w->clock.clock,
                                                    .plugins = plugins,
                                                    .draw = draw,
                                                    .draw_ctx = w});
}

static int set_up(void **state) {
    struct world *w = xcalloc(1, sizeof *w);
    struct store_opts opts = {.clock = &w->clock.clock};
    clock_manual_init(&w->clock, INT64_C(1700000000) * CLOCK_SECOND);
    w->catalog = apiserver_catalog_new();
    opts.resources = apiserver_catalog_storage(w->catalog, &opts.n);
    assert_int_equal(store_open(&opts, &w->store, NULL), 0);
    start(w);
    apiserver_bootstrap(w->api);
    store_commit(w->store, NULL, NULL);
    *state = w;
    return 0;
}

static int tear_down(void **state) {
    struct world *w = *state;
    apiserver_free(w->api);
    store_close(w->store);
    apiserver_catalog_free(w->catalog);
    arena_release(&w->arena);
    free(w);
    return 0;
}

static const struct apiserver_resource *resource(const struct world *w, const char *plural) {
    static const char *const groups[] = {"", "apps", "events.k8s.io", "coordination.k8s.io"};
    const struct apiserver_resource *r = NULL;
    for (size_t i = 0; !r && i < sizeof groups / sizeof *groups; i++)
        r = apiserver_catalog_find(w->catalog, str_of(groups[i]), STR("v1"), str_of(plural));
    assert_non_null(r);
    return r;
}

static struct api_object *object_of(struct world *w, const char *text) {
    struct json tree;
    struct api_object *o;
    assert_int_equal(json_parse(&w->arena, str_of(text), NULL, &tree, NULL), 0);
    assert_int_equal(api_object_decode(&tree, NULL, &o, NULL), 0);
    api_object_default(o, &w->gates);
    return o;
}

/* What a request is, in short. */
struct ask {
    enum registry_verb verb;
    const char *plural, *namespace, *name, *body;
    struct apiserver_options options;
    const char *sub;
    const struct auth_user *user; /* NULL: the server itself */
};

static struct apiserver_response ask(struct world *w, const struct ask *q) {
    static struct registry_subresource sub;
    struct apiserver_response out = {0};
    struct apiserver_request r = {.verb = q->verb,
                                  .resource = resource(w, q->plural),
                                  .namespace = str_of(q->namespace ? q->namespace : ""),
                                  .name = str_of(q->name ? q->name : ""),
                                  .user = q->user,
                                  .options = q->options,
                                  .arena = &w->arena};
    sub.name = q->sub;
    r.subresource = q->sub ? &sub : NULL;
    if (q->body)
        r.object = object_of(w, q->body);
    if (q->verb == REGISTRY_VERB_GET || q->verb == REGISTRY_VERB_LIST)
        apiserver_read(w->api, &r, &out);
    else
        apiserver_write(w->api, &r, &out);
    store_commit(w->store, NULL, NULL);
    return out;
}

static void expect(struct world *w, const struct ask *q, int code, const char *message) {
    struct apiserver_response out = ask(w, q);
    if (out.code != code || (message && !str_is(out.failure.message, message)))
        fail_msg("%s %s: %d %.*s", q->plural, q->name ? q->name : "", out.code,
                 STR_ARG(out.failure.message));
    apiserver_response_release(&out);
}

#define CONFIG_MAP(name, more) \
    "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"" name "\"" more "}}"

/* A request of a verb; absent parts are NULL. */
#define ASK(the_verb, where, in, whose, what) \
    (&(struct ask){.verb = (the_verb),        \
                   .plural = (where),         \
                   .namespace = (in),         \
                   .name = (whose),           \
                   .body = (what)})
#define CREATE(plural, ns, text)       ASK(REGISTRY_VERB_CREATE, plural, ns, NULL, text)
#define GET(plural, ns, name)          ASK(REGISTRY_VERB_GET, plural, ns, name, NULL)
#define UPDATE(plural, ns, name, text) ASK(REGISTRY_VERB_UPDATE, plural, ns, name, text)
#define DELETE(plural, ns, name)       ASK(REGISTRY_VERB_DELETE, plural, ns, name, NULL)

static void test_life_of_an_object(void **state) {
    struct world *w = *state;
    expect(w, GET("configmaps", "default", "a"), 404, "configmaps \"a\" not found");
    expect(w, CREATE("configmaps", "default", CONFIG_MAP("a", "")), 201, NULL);
    expect(w, CREATE("configmaps", "default", CONFIG_MAP("a", "")), 409,
           "configmaps \"a\" already exists");
    expect(w, GET("configmaps", "default", "a"), 200, NULL);
    expect(w, UPDATE("configmaps", "default", "a", CONFIG_MAP("b", "")), 400,
           "the name of the object (b) does not match the name on the URL (a)");
    expect(
        w, UPDATE("configmaps", "default", "a", CONFIG_MAP("a", ",\"resourceVersion\":\"1\"")), 409,
        "Operation cannot be fulfilled on configmaps \"a\": the object has been modified; please "
        "apply your changes to the latest version and try again");
    expect(w, DELETE("configmaps", "default", "a"), 200, NULL);
    expect(w, DELETE("configmaps", "default", "a"), 404, "configmaps \"a\" not found");
}

static void test_refusals(void **state) {
    struct world *w = *state;
    expect(w, CREATE("configmaps", "none", CONFIG_MAP("a", "")), 404,
           "namespaces \"none\" not found");
    expect(w, CREATE("configmaps", "default", CONFIG_MAP("a", ",\"namespace\":\"other\"")), 400,
           "the namespace of the provided object does not match the namespace sent on the request");
    expect(w, CREATE("configmaps", "default", CONFIG_MAP("a", ",\"resourceVersion\":\"5\"")), 500,
           "resourceVersion should not be set on objects to be created");
    expect(w, CREATE("configmaps", "default", CONFIG_MAP("", "")), 422,
           "ConfigMap \"\" is invalid: metadata.name: Required value: name or generateName is "
           "required");
    expect(w, DELETE("namespaces", NULL, "default"), 403, NULL);
}

/* What a write that changes nothing leaves alone. */
static void test_no_change_no_write(void **state) {
    struct world *w = *state;
    expect(w, CREATE("configmaps", "default", CONFIG_MAP("a", "")), 201, NULL);
    uint64_t before = store_revision(w->store);
    expect(w, UPDATE("configmaps", "default", "a", CONFIG_MAP("a", "")), 200, NULL);
    assert_int_equal(store_revision(w->store), before);
    expect(w, UPDATE("configmaps", "default", "a", CONFIG_MAP("a", ",\"labels\":{\"x\":\"y\"}")),
           200, NULL);
    assert_int_equal(store_revision(w->store), before + 1);
}

static void test_dry_run(void **state) {
    struct world *w = *state;
    struct ask q = *CREATE("configmaps", "default", CONFIG_MAP("a", ""));
    q.options.dry_run = true;
    expect(w, &q, 201, NULL);
    expect(w, GET("configmaps", "default", "a"), 404, NULL);
}

static void test_finalizers(void **state) {
    struct world *w = *state;
    expect(w, CREATE("configmaps", "default", CONFIG_MAP("a", ",\"finalizers\":[\"x.io/f\"]")), 201,
           NULL);
    expect(w, DELETE("configmaps", "default", "a"), 200, NULL);
    expect(w, GET("configmaps", "default", "a"), 200, NULL);
    expect(w, CREATE("configmaps", "default", CONFIG_MAP("a", "")), 409,
           "object is being deleted: configmaps \"a\" already exists");
    expect(w, UPDATE("configmaps", "default", "a", CONFIG_MAP("a", "")), 200, NULL);
    expect(w, GET("configmaps", "default", "a"), 404, NULL);
}

static void test_generated_names(void **state) {
    struct world *w = *state;
    struct apiserver_response out =
        ask(w, CREATE("configmaps", "default",
                      "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{"
                      "\"generateName\":\"web-\"}}"));
    assert_int_equal(out.code, 201);
    assert_int_equal(out.object->meta->name.n, 9);
    assert_int_equal(out.object->meta->uid.n, 36);
    apiserver_response_release(&out);
}

/* Pages of a list show what was there when it began. */
static void test_pages(void **state) {
    struct world *w = *state;
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    for (size_t i = 0; i < 5; i++) {
        struct str text = arena_printf(&w->arena,
                                       "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":"
                                       "{\"name\":\"%s\",\"labels\":{\"n\":\"%zu\"}}}",
                                       names[i], i % 2);
        expect(w, CREATE("configmaps", "default", text.p), 201, NULL);
    }
    struct ask q = {.verb = REGISTRY_VERB_LIST, .plural = "configmaps", .namespace = "default"};
    q.options.limit = 2;
    struct apiserver_response first = ask(w, &q);
    assert_int_equal(first.list.n, 2);
    assert_int_equal(first.list.remaining.v, 3);
    expect(w, DELETE("configmaps", "default", "c"), 200, NULL);
    q.options.continue_token = first.list.continue_token;
    struct apiserver_response second = ask(w, &q);
    assert_int_equal(second.list.n, 2);
    assert_int_equal(second.list.revision, first.list.revision);
    assert_true(str_is(second.list.objects[0]->meta->name, "c"));
    assert_int_equal(second.list.remaining.v, 1);
    q.options.continue_token = (struct str){0};
    q.options.label_selector = STR("n=1");
    q.options.limit = 1;
    struct apiserver_response chosen = ask(w, &q);
    assert_int_equal(chosen.list.n, 1);
    assert_false(chosen.list.remaining.set);
    assert_true(chosen.list.continue_token.p);
    q.options.continue_token = STR("nonsense!");
    expect(w, &q, 400,
           "invalid continue token: continue key is not valid: illegal base64 data at input "
           "byte 8");
    q.options = (struct apiserver_options){.resource_version = STR("999")};
    expect(w, &q, 504, NULL);
    q.options = (struct apiserver_options){.label_selector = STR("a b")};
    expect(w, &q, 400, NULL);
    apiserver_response_release(&first);
    apiserver_response_release(&second);
    apiserver_response_release(&chosen);
}

static size_t read_watch(struct apiserver_watch *watch, struct apiserver_event *events) {
    return apiserver_watch_read(watch, events, 16);
}

/* A watch with a selector sees objects come and go by their labels. */
static void test_watch(void **state) {
    struct world *w = *state;
    struct apiserver_event e[16];
    struct registry_failure failure;
    struct apiserver_request r = {.verb = REGISTRY_VERB_WATCH,
                                  .resource = resource(w, "configmaps"),
                                  .namespace = STR("default"),
                                  .options = {.label_selector = STR("x=y"),
                                              .allow_bookmarks = true,
                                              .send_initial_events = {true, true},
                                              .resource_version_match = STR("NotOlderThan")},
                                  .arena = &w->arena};
    expect(w, CREATE("configmaps", "default", CONFIG_MAP("a", ",\"labels\":{\"x\":\"y\"}")), 201,
           NULL);
    struct apiserver_watch *watch = apiserver_watch_new(w->api, &r, &failure);
    assert_non_null(watch);
    assert_int_equal(read_watch(watch, e), 2);
    assert_int_equal(e[0].type, APISERVER_ADDED);
    assert_int_equal(e[1].type, APISERVER_BOOKMARK);
    assert_true(e[1].ends_initial_events);
    apiserver_events_release(e, 2);
    assert_int_equal(read_watch(watch, e), 0);
    expect(w, CREATE("configmaps", "default", CONFIG_MAP("b", "")), 201, NULL);
    expect(w, UPDATE("configmaps", "default", "b", CONFIG_MAP("b", ",\"labels\":{\"x\":\"y\"}")),
           200, NULL);
    expect(w, UPDATE("configmaps", "default", "a", CONFIG_MAP("a", "")), 200, NULL);
    expect(w, DELETE("configmaps", "default", "b"), 200, NULL);
    assert_int_equal(read_watch(watch, e), 3);
    assert_int_equal(e[0].type, APISERVER_ADDED);
    assert_int_equal(e[1].type, APISERVER_DELETED);
    assert_true(str_is(e[1].object->meta->name, "a"));
    assert_int_equal(e[1].object->meta->labels.n, 1);
    assert_int_equal(e[2].type, APISERVER_DELETED);
    apiserver_events_release(e, 3);
    struct apiserver_event bookmark;
    expect(w, CREATE("configmaps", "kube-system", CONFIG_MAP("z", "")), 201, NULL);
    assert_int_equal(read_watch(watch, e), 0);
    assert_true(apiserver_watch_bookmark(watch, &bookmark));
    assert_int_equal(bookmark.revision, store_revision(w->store));
    assert_false(apiserver_watch_bookmark(watch, &bookmark));
    apiserver_watch_free(watch);
}

#define POD                                                                            \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"p\"},\"spec\":{" \
    "\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}"
#define BINDING(name, node)                                                      \
    "{\"apiVersion\":\"v1\",\"kind\":\"Binding\",\"metadata\":{\"name\":\"" name \
    "\"},\"target\":{\"kind\":\"Node\",\"name\":\"" node "\"}}"

static void test_binding(void **state) {
    struct world *w = *state;
    struct ask q = {.verb = REGISTRY_VERB_CREATE,
                    .plural = "pods",
                    .namespace = "default",
                    .name = "p",
                    .body = BINDING("p", "n1"),
                    .sub = "binding"};
    expect(w, &q, 404, "pods \"p\" not found");
    expect(w, CREATE("pods", "default", POD), 201, NULL);
    q.body = BINDING("other", "n1");
    expect(w, &q, 400, "name in URL does not match name in Binding object");
    q.body = BINDING("p", "n1");
    expect(w, &q, 201, NULL);
    expect(w, &q, 409,
           "Operation cannot be fulfilled on pods/binding \"p\": pod p is already assigned to node "
           "\"n1\"");
    struct apiserver_response out = ask(w, GET("pods", "default", "p"));
    const struct api_pod *pod = out.object->body;
    assert_true(str_is(pod->spec.node_name, "n1"));
    assert_true(str_is(pod->status.conditions.v[0].type, "PodScheduled"));
    apiserver_response_release(&out);
}

static void test_events_in_two_groups(void **state) {
    struct world *w = *state;
    struct ask q = {.verb = REGISTRY_VERB_CREATE,
                    .plural = "events",
                    .namespace = "default",
                    .body = "{\"apiVersion\":\"v1\",\"kind\":\"Event\",\"metadata\":{\"name\":"
                            "\"e\",\"namespace\":\"default\"},\"involvedObject\":{\"name\":\"p\","
                            "\"namespace\":\"default\"},\"message\":\"hello\"}"};
    struct apiserver_response out = ask(w, &q);
    assert_int_equal(out.code, 201);
    const struct api_object *other =
        apiserver_convert(out.object, api_kind_find(STR("events.k8s.io/v1"), STR("Event")));
    assert_true(str_is(((const struct api_events_event *)other->body)->note, "hello"));
    api_object_unref(other);
    apiserver_response_release(&out);
}

/* The same as pods/binding, under a path without the pod. */
static void test_bindings_by_themselves(void **state) {
    struct world *w = *state;
    expect(w, CREATE("bindings", "default", BINDING("p", "n1")), 404, "pods \"p\" not found");
    expect(w, CREATE("pods", "default", POD), 201, NULL);
    expect(w, CREATE("bindings", "default", BINDING("p", "N 1")), 500, NULL);
    expect(w, CREATE("bindings", "default", BINDING("p", "n1")), 201, NULL);
    expect(w, CREATE("bindings", "default", BINDING("p", "n1")), 409, NULL);
}

/* What leads to containers ends before them, and where it ends depends on what is stored. */
static void test_connections(void **state) {
    struct world *w = *state;
    const struct registry_subresource subs[] = {
        {.name = "log"}, {.name = "exec"}, {.name = "proxy"}};
    struct apiserver_stream stream = {.is_upgrade = true};
    struct apiserver_request r = {.verb = REGISTRY_VERB_GET,
                                  .resource = resource(w, "pods"),
                                  .namespace = STR("default"),
                                  .name = STR("p"),
                                  .arena = &w->arena};
    const struct {
        const char *log, *exec, *proxy;
    } steps[] = {
        {"pods \"p\" not found", "pods \"p\" not found", "pods \"p\" not found"},
        {"", "pod p does not have a host assigned", "address not allowed"},
        {"pods \"n1\" not found", "pods \"n1\" not found", "address not allowed"},
        {"Get \"https://10.0.0.9:10250/containerLogs/default/p/c\": this server does not connect "
         "to "
         "nodes or pods",
         "error dialing backend: this server does not connect to nodes or pods",
         "address not allowed"},
    };
    const struct ask changes[] = {
        *CREATE("pods", "default", POD),
        *CREATE("bindings", "default", BINDING("p", "n1")),
        *CREATE("nodes", NULL,
                "{\"apiVersion\":\"v1\",\"kind\":\"Node\",\"metadata\":{\"name\":"
                "\"n1\"},\"status\":{\"addresses\":[{\"type\":\"InternalIP\","
                "\"address\":\"10.0.0.9\"}]}}"),
    };
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
        const char *const wanted[] = {steps[i].log, steps[i].exec, steps[i].proxy};
        for (size_t k = 0; k < 3; k++) {
            r.subresource = &subs[k];
            assert_true(apiserver_connects(r.resource, r.subresource));
            struct apiserver_log log;
            struct registry_failure f = apiserver_connect(w->api, &r, &stream, &log);
            assert_int_equal(log.run.n, 0);
            if (!str_is(f.message, wanted[k]))
                fail_msg("step %zu, %s: %.*s", i, subs[k].name, STR_ARG(f.message));
        }
        if (i + 1 < sizeof steps / sizeof *steps)
            expect(w, &changes[i], 201, NULL);
    }
}

static void test_lease_is_made_by_an_update(void **state) {
    struct world *w = *state;
    expect(w,
           UPDATE("leases", "default", "l",
                  "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{"
                  "\"name\":\"l\"}}"),
           201, NULL);
    expect(w,
           UPDATE("leases", "default", "l",
                  "{\"apiVersion\":\"coordination.k8s.io/v1\",\"kind\":\"Lease\",\"metadata\":{"
                  "\"name\":\"l\"}}"),
           422,
           "leases.coordination.k8s.io \"l\" is invalid: metadata.resourceVersion: Invalid value: "
           "0: must be specified for an update");
}

/* ---- admission ---- */

#define QUOTA                                                                                    \
    "{\"apiVersion\":\"v1\",\"kind\":\"ResourceQuota\",\"metadata\":{\"name\":\"q\"},\"spec\":{" \
    "\"hard\":{\"configmaps\":\"2\"}},\"status\":{\"hard\":{\"configmaps\":\"2\"},\"used\":{"    \
    "\"configmaps\":\"0\"}}}"

static void expect_used(struct world *w, const char *used) {
    struct apiserver_response out = ask(w, GET("resourcequotas", "default", "q"));
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    const struct api_resource_quota *quota = out.object->body;
    assert_int_equal(quota->status.used.n, 1);
    quantity_write(&text, &quota->status.used.v[0].value);
    assert_true(str_is(buf_view(&text), used));
    apiserver_response_release(&out);
}

/* What is used is stored with what uses it, or not at all. */
static void test_quota(void **state) {
    struct world *w = *state;
    struct ask status = *UPDATE("resourcequotas", "default", "q", QUOTA);
    struct ask dry = *CREATE("configmaps", "default", CONFIG_MAP("b", ""));
    status.sub = "status";
    dry.options.dry_run = true;
    expect(w, CREATE("resourcequotas", "default", QUOTA), 201, NULL);
    expect(w, &status, 200, NULL);
    expect_used(w, "0");
    expect(w, CREATE("configmaps", "default", CONFIG_MAP("a", "")), 201, NULL);
    expect_used(w, "1");
    expect(w, CREATE("configmaps", "default", CONFIG_MAP("a", "")), 409, NULL);
    expect(w, &dry, 201, NULL);
    expect_used(w, "1");
    expect(w, CREATE("configmaps", "default", CONFIG_MAP("b", "")), 201, NULL);
    expect(w, CREATE("configmaps", "default", CONFIG_MAP("c", "")), 403,
           "configmaps \"c\" is forbidden: exceeded quota: q, requested: configmaps=1, used: "
           "configmaps=2, limited: configmaps=2");
    expect_used(w, "2");
    expect(w, DELETE("configmaps", "default", "b"), 200, NULL);
    expect_used(w, "2");
}

#define POD_ON(node)                                                                          \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"" node "\"},\"spec\":{" \
    "\"nodeName\":\"" node "\",\"containers\":[{\"name\":\"c\",\"image\":\"x\"}]}}"
#define EVICTION(name) \
    "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":\"" name "\"}}"

static struct ask by_node(struct ask q, const char *sub) {
    static struct str nodes = STR_INIT("system:nodes");
    static struct auth_user user = {.name = STR_INIT("system:node:mine")};
    user.groups = (struct api_strs){&nodes, 1};
    q.user = &user;
    q.sub = sub;
    return q;
}

/* A kubelet may do to its own pods what it may not to those of others, by subresource. */
static void test_node_restriction(void **state) {
    struct world *w = *state;
    struct ask q;
    expect(w, CREATE("pods", "default", POD_ON("mine")), 201, NULL);
    expect(w, CREATE("pods", "default", POD_ON("other")), 201, NULL);
    q = by_node(*UPDATE("pods", "default", "other", POD_ON("other")), "status");
    expect(w, &q, 403,
           "pods \"other\" is forbidden: node \"mine\" can only update pod status for pods with "
           "spec.nodeName set to itself");
    q = by_node(*UPDATE("pods", "default", "mine", POD_ON("mine")), "status");
    expect(w, &q, 200, NULL);
    q = by_node(*UPDATE("pods", "default", "mine", POD_ON("mine")), NULL);
    expect(w, &q, 403,
           "pods \"mine\" is forbidden: unexpected operation \"UPDATE\", node \"mine\" can only "
           "create and delete mirror pods");
    q = by_node(*ASK(REGISTRY_VERB_CREATE, "pods", "default", "other", EVICTION("other")),
                "eviction");
    expect(w, &q, 403,
           "pods \"other\" is forbidden: node mine can only evict pods with spec.nodeName set to "
           "itself");
    q = by_node(*ASK(REGISTRY_VERB_CREATE, "pods", "default", "mine", EVICTION("mine")),
                "eviction");
    expect(w, &q, 201, NULL);
    q = by_node(*DELETE("pods", "default", "other"), NULL);
    expect(w, &q, 403,
           "pods \"other\" is forbidden: node \"mine\" can only delete pods with spec.nodeName set "
           "to itself");
}

#define SERVICE(name, spec)                                                             \
    "{\"apiVersion\":\"v1\",\"kind\":\"Service\",\"metadata\":{\"name\":\"" name "\"}," \
    "\"spec\":{" spec "\"ports\":[{\"port\":80}]}}"
#define TAKEN                                                                           \
    "Service \"b\" is invalid: spec.clusterIPs: Invalid value: [\"10.0.0.9\"]: failed " \
    "to allocate IP 10.0.0.9: provided IP is already allocated"

/* What is taken follows from what is stored. */
static void test_addresses_of_services_outlive_the_server(void **state) {
    struct world *w = *state;
    static const char first[] = SERVICE("a", "\"clusterIP\":\"10.0.0.9\",");
    static const char second[] = SERVICE("b", "\"clusterIP\":\"10.0.0.9\",");
    struct ask dry = *CREATE("services", "default", first);
    dry.options.dry_run = true;
    expect(w, &dry, 201, NULL);
    expect(w, CREATE("services", "default", first), 201, NULL);
    expect(w, CREATE("services", "default", second), 422, TAKEN);
    apiserver_free(w->api);
    start(w);
    expect(w, CREATE("services", "default", second), 422, TAKEN);
    expect(w, DELETE("services", "default", "a"), 200, NULL);
    expect(w, CREATE("services", "default", second), 201, NULL);
}

int main(void) {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_life_of_an_object),
        TEST(test_refusals),
        TEST(test_no_change_no_write),
        TEST(test_dry_run),
        TEST(test_finalizers),
        TEST(test_generated_names),
        TEST(test_pages),
        TEST(test_watch),
        TEST(test_binding),
        TEST(test_events_in_two_groups),
        TEST(test_bindings_by_themselves),
        TEST(test_connections),
        TEST(test_lease_is_made_by_an_update),
        TEST(test_quota),
        TEST(test_node_restriction),
        TEST(test_addresses_of_services_outlive_the_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
