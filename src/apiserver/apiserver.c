/* The server as a whole: its making, its first objects, and what all answers share. */
#include <stdarg.h>
#include <stdlib.h>

#include "api/names.h"
#include "apiserver/apiserver_int.h"
#include "auth/bootstrap.h"

struct apiserver *apiserver_new(const struct apiserver_opts *opts) {
    struct apiserver *s = xcalloc(1, sizeof *s);
    s->opts = *opts;
    apiserver__view_init(s);
    apiserver__ranges_init(s);
    return s;
}

void apiserver_free(struct apiserver *s) {
    if (!s)
        return;
    auth_rules_unref(s->rules);
    registry_ranges_free(s->ranges);
    free(s);
}

void apiserver_rules_set(struct apiserver *s, const struct auth_rules *rules) {
    auth_rules_unref(s->rules);
    s->rules = auth_rules_ref(rules);
}

/* ---- responses ---- */

void apiserver_response_release(struct apiserver_response *response) {
    api_object_unref(response->object);
    store_snapshot_unref(response->list.snapshot);
    *response = (struct apiserver_response){0};
}

void apiserver__fail(struct apiserver_response *out, struct registry_failure failure) {
    out->answer = APISERVER_FAILURE;
    out->code = err_http_status(failure.code);
    out->failure = failure;
}

void apiserver__answer(struct apiserver_response *out, int code, const struct api_object *o) {
    out->answer = APISERVER_OBJECT;
    out->code = code;
    out->object = api_object_ref(o);
}

struct registry_failure apiserver__failure(struct arena *a, enum err_code code, const char *fmt,
                                           ...) {
    va_list args;
    va_start(args, fmt);
    struct str message = arena_vprintf(a, fmt, args);
    va_end(args);
    return (struct registry_failure){.code = code, .message = message};
}

/* ---- chance and time ---- */

struct str apiserver__letters(struct apiserver *s, struct arena *a, size_t n) {
    unsigned char *bytes = arena_alloc(a, n + 1);
    s->opts.draw(s->opts.draw_ctx, bytes, n);
    char *text = arena_alloc(a, n + 1);
    for (size_t i = 0; i < n; i++)
        text[i] = NAMES_LETTERS[bytes[i] % (sizeof NAMES_LETTERS - 1)];
    return (struct str){text, n};
}

struct str apiserver__uuid(struct apiserver *s, struct arena *a) {
    unsigned char b[16];
    s->opts.draw(s->opts.draw_ctx, b, sizeof b);
    b[6] = (unsigned char)((b[6] & 0x0f) | 0x40);
    b[8] = (unsigned char)((b[8] & 0x3f) | 0x80);
    AUTO(buf_release) struct buf text = BUF_INIT(64);
    for (size_t i = 0; i < sizeof b; i += i ? 2 : 4) {
        if (i > 0 && i <= 10)
            buf_add_char(&text, '-');
        buf_add_hex(&text, b + i, i ? 2 : 4);
    }
    return arena_str(a, buf_view(&text));
}

struct api_time apiserver__now(const struct apiserver *s) {
    return (struct api_time){.sec = clock_wall(s->opts.clock) / CLOCK_SECOND, .set = true};
}

/* ---- what every cluster has ---- */

/*
 * The namespaces of the system, and the two classes of what must run.
 *
 * Follows k8s.io/kubernetes pkg/registry/scheduling/rest, func AddSystemPriorityClasses.
 */
static const char *const first_objects[] = {
    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"default\"}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"kube-system\"}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"kube-public\"}}",
    "{\"apiVersion\":\"v1\",\"kind\":\"Namespace\",\"metadata\":{\"name\":\"kube-node-lease\"}}",
    "{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\",\"metadata\":{\"name\":"
    "\"system-node-critical\"},\"value\":2000001000,\"description\":\"Used for system critical "
    "pods that must not be moved from their current node.\"}",
    "{\"apiVersion\":\"scheduling.k8s.io/v1\",\"kind\":\"PriorityClass\",\"metadata\":{\"name\":"
    "\"system-cluster-critical\"},\"value\":2000000000,\"description\":\"Used for system critical "
    "pods that must run in the cluster, but can be moved to another node if necessary.\"}",
};

/* Writes an object, which is taken, on behalf of the server itself. */
static void write_own(struct apiserver *s, enum registry_verb verb, struct api_object *o) {
    AUTO(arena_release) struct arena a = {0};
    struct apiserver_response response = {0};
    struct apiserver_request r = {
        .verb = verb,
        .resource = apiserver_catalog_of(s->opts.catalog, o->kind),
        .namespace = arena_str(&a, o->meta->namespace),
        .name = verb == REGISTRY_VERB_CREATE ? STR("") : arena_str(&a, o->meta->name),
        .user_agent = STR("berth"),
        .object = o,
        .arena = &a};
    apiserver_write(s, &r, &response);
    apiserver_response_release(&response);
}

static void create_first(struct apiserver *s, const char *text) {
    AUTO(arena_release) struct arena a = {0};
    struct json tree;
    struct api_object *o;
    struct api_faults faults;
    api_faults_init(&faults, &a);
    if (json_parse(&a, str_of(text), NULL, &tree, NULL) < 0 ||
        registry_decode(&s->registry, &tree, NULL, &o, &faults).code)
        BUG("a first object cannot be decoded");
    write_own(s, REGISTRY_VERB_CREATE, o);
}

/* ---- roles ---- */

static const struct api_object *stored_role(const struct apiserver *s, const struct api_object *o) {
    return registry_view_get(&s->view, o->kind, o->meta->namespace, o->meta->name);
}

static void delete_own(struct apiserver *s, const struct api_object *o) {
    uint32_t storage = apiserver_catalog_of(s->opts.catalog, o->kind)->storage;
    store_delete(s->opts.store, storage, api_object_copy(o));
}

static void reconcile(void *ctx, struct api_object *expected) {
    struct apiserver *s = ctx;
    const struct api_object *stored = stored_role(s, expected);
    struct api_object *out = NULL;
    enum auth_reconciliation what = auth_reconcile(expected, stored, &out);
    if (what == AUTH_RECONCILE_RECREATE)
        delete_own(s, stored);
    if (out)
        write_own(s, what == AUTH_RECONCILE_UPDATE ? REGISTRY_VERB_UPDATE : REGISTRY_VERB_CREATE,
                  out);
    api_object_free(expected);
}

void apiserver_bootstrap(struct apiserver *s) {
    for (size_t i = 0; i < sizeof first_objects / sizeof *first_objects; i++)
        create_first(s, first_objects[i]);
    auth_bootstrap_each(reconcile, s);
}
