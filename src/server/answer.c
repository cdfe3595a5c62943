/*
 * Answers: objects, lists and failures as bytes. An object's bytes hang at the object and are
 * shared; a list is a gather of them.
 *
 * Follows k8s.io/apiserver pkg/endpoints/handlers/responsewriters, func WriteObjectNegotiated.
 */
#include <stdlib.h>

#include "api/proto.h"
#include "base/alloc.h"
#include "base/goquote.h"
#include "registry/printed.h"
#include "server/server_int.h"
#include "server/shape_int.h"

/* ---- texts and failures ---- */

void server__answer_text(struct server__call *c, int status, struct str text) {
    struct server__headers h;
    struct net_part part = {.bytes = text};
    server__headers_start(c, &h, STR("text/plain; charset=utf-8"));
    server__header_add(&h, "X-Content-Type-Options", STR("nosniff"));
    server__respond(c, status, &h, &part, 1);
}

void server__answer_json(struct server__call *c, int status, const struct json *tree) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct server__headers h;
    json_write(&text, tree, NULL);
    buf_add_char(&text, '\n');
    struct net_part part = {.bytes = buf_view(&text)};
    server__headers_start(c, &h, STR("application/json"));
    server__respond_json(c, status, &h, &part, 1);
}

const struct api_object *server__status_object(struct arena *a, const struct registry_failure *f) {
    struct json tree = registry_status(a, f);
    struct api_object *o;
    if (api_object_decode(&tree, NULL, &o, NULL) < 0)
        BUG("a Status cannot be decoded");
    return api_publish(o);
}

void server__answer_failure(struct server__call *c, struct registry_failure failure) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct json status = registry_status(&c->arena, &failure);
    int code = err_http_status(failure.code);
    struct server__headers h;
    server__account_refusal(c, &failure);
    json_write(&text, &status, NULL);
    buf_add_char(&text, '\n');
    struct net_part part = {.bytes = buf_view(&text)};
    server__headers_start(c, &h, STR("application/json"));
    if (failure.retry_after)
        server__header_add(&h, "Retry-After", arena_printf(&c->arena, "%d", failure.retry_after));
    if (c->media.format != SERVER_PROTOBUF || c->media.shape != SERVER_WHOLE) {
        server__respond_json(c, code, &h, &part, 1);
        return;
    }
    server__account_object(c, &part, 1);
    const struct api_object *o = server__status_object(&c->arena, &failure);
    part.bytes = arena_str(&c->arena, api_object_proto(o));
    api_object_unref(o);
    server__header_set(&h, "Content-Type", server_media_type(&c->media, false));
    server__respond(c, code, &h, &part, 1);
}

/* ---- objects ---- */

static void nothing(void *owner) {
    (void)owner;
}

/* Bytes that live for ever. */
static struct net_part constant(struct str bytes) {
    return (struct net_part){bytes, nothing, NULL};
}

const char *server__meta_version(const struct server__call *c) {
    return c->media.is_beta ? "meta.k8s.io/v1beta1" : "meta.k8s.io/v1";
}

static struct json partial(const struct server__call *c, struct arena *a,
                           const struct api_object *o) {
    struct json tree = {.kind = JSON_OBJECT};
    json_add(a, &tree, STR("kind"), json_of_str(STR("PartialObjectMetadata")));
    json_add(a, &tree, STR("apiVersion"), json_of_str(str_of(server__meta_version(c))));
    json_add(a, &tree, STR("metadata"),
             api_struct_encode(a, &api_types[API_T_object_meta], server__meta_of(a, o)));
    return tree;
}

/* The object in the version that was asked for; what is of another kind stays so. */
static const struct api_object *shown(const struct server__call *c) {
    const struct api_object *o = c->response.object;
    const struct apiserver_resource *r = c->r.resource;
    return apiserver_convert(o, o->kind == r->stored ? r->kind : o->kind);
}

/* Bytes in protobuf that live no longer than the call. */
static void answer_proto(struct server__call *c, int code, struct str bytes) {
    struct server__headers h;
    struct net_part part = {.bytes = bytes};
    server__headers_start(c, &h, server_media_type(&c->media, false));
    server__respond(c, code, &h, &part, 1);
}

static void answer_partial(struct server__call *c) {
    const struct api_object *o = shown(c);
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    if (c->media.format == SERVER_PROTOBUF) {
        server__partial_proto(&text, server__meta_version(c), o);
        api_object_unref(o);
        answer_proto(c, c->response.code, buf_view(&text));
        return;
    }
    struct json tree = partial(c, &c->arena, o); /* its texts are the object's */
    server__answer_json(c, c->response.code, &tree);
    api_object_unref(o);
}

static void answer_object(struct server__call *c) {
    const struct api_object *o = shown(c);
    struct server__headers h;
    bool is_proto = c->media.format == SERVER_PROTOBUF;
    server__headers_start(c, &h, server_media_type(&c->media, false));
    if (is_proto && server__account_wants_object(c)) {
        struct api_bytes *json = api_object_json_ref(o);
        server__account_object(c, &(struct net_part){.bytes = api_bytes_view(json)}, 1);
        api_bytes_unref(json);
    }
    struct api_bytes *bytes = server__encoded(c, o, is_proto);
    struct net_part parts[] = {server__bytes_part(bytes, api_bytes_view(bytes)),
                               constant(STR("\n"))};
    api_object_unref(o);
    if (is_proto)
        server__respond(c, c->response.code, &h, parts, 1);
    else
        server__respond_json(c, c->response.code, &h, parts, 2);
}

/* Done, without an object: what was deleted, or the verb alone. */
static void answer_success(struct server__call *c) {
    struct json status = {.kind = JSON_OBJECT}, details = {.kind = JSON_OBJECT};
    struct arena *a = &c->arena;
    json_add(a, &status, STR("kind"), json_of_str(STR("Status")));
    json_add(a, &status, STR("apiVersion"), json_of_str(STR("v1")));
    json_add(a, &status, STR("metadata"), (struct json){.kind = JSON_OBJECT});
    json_add(a, &status, STR("status"), json_of_str(STR("Success")));
    if (c->r.verb == REGISTRY_VERB_DELETE) {
        json_add(a, &details, STR("name"), json_of_str(c->r.name));
        if (c->route.group.n)
            json_add(a, &details, STR("group"), json_of_str(c->route.group));
        json_add(a, &details, STR("kind"), json_of_str(c->route.plural));
        json_add(a, &details, STR("uid"), json_of_str(c->response.object->meta->uid));
        json_add(a, &status, STR("details"), details);
    } else
        json_add(a, &status, STR("code"), json_of_i64(c->response.code));
    server__answer_json(c, c->response.code, &status);
}

/* ---- lists ---- */

/* The head of a list, until it is sent. */
struct hold {
    struct buf text;
};

static void release_hold(void *owner) {
    struct hold *hold = owner;
    buf_release(&hold->text);
    free(hold);
}

static void write_list_meta(struct buf *b, const struct apiserver_list *list) {
    buf_addf(b, "\"resourceVersion\":\"%llu\"", (unsigned long long)list->revision);
    if (list->continue_token.p)
        buf_addf(b, ",\"continue\":\"%.*s\"", STR_ARG(list->continue_token));
    if (list->remaining.set)
        buf_addf(b, ",\"remainingItemCount\":%lld", (long long)list->remaining.v);
}

static void write_list_head(struct server__call *c, struct buf *b, const char *kind,
                            const char *api_version) {
    buf_addf(b, "{\"kind\":\"%s\",\"apiVersion\":\"%s\",\"metadata\":{", kind, api_version);
    write_list_meta(b, &c->response.list);
    buf_add(b, STR("},\"items\":"));
}

/* Items of built-in kinds do not say what they are: {"kind":"Pod","apiVersion":"v1", is left out,
 * and a brace takes its place. */
static struct net_part item_part(struct server__call *c, const struct api_object *o) {
    struct api_bytes *json = server__encoded(c, o, false);
    size_t lead = sizeof "{\"kind\":\"\",\"apiVersion\":\"\"," - 1 + strlen(o->kind->kind) +
                  strlen(o->kind->api_version);
    return server__bytes_part(json, str_sub(api_bytes_view(json), lead, json->n));
}

/* The text of the head, which lives until it is sent. */
static struct net_part head_part(struct hold *hold) {
    return (struct net_part){buf_view(&hold->text), release_hold, hold};
}

static struct hold *hold_new(void) {
    struct hold *hold = xcalloc(1, sizeof *hold);
    hold->text = BUF_INIT(SIZE_MAX);
    return hold;
}

/* The list in JSON; as many parts as this returns. */
static size_t list_parts(struct server__call *c, struct net_part *parts) {
    const struct apiserver_list *list = &c->response.list;
    const struct api_kind *kind = c->r.resource->kind;
    struct hold *hold = hold_new();
    size_t n = 0;
    write_list_head(c, &hold->text, arena_printf(&c->arena, "%sList", kind->kind).p,
                    kind->api_version);
    buf_add_char(&hold->text, '[');
    parts[n++] = head_part(hold);
    for (size_t i = 0; i < list->n; i++) {
        const struct api_object *o = apiserver_convert(list->objects[i], kind);
        parts[n++] = constant(i ? STR(",{") : STR("{"));
        parts[n++] = item_part(c, o);
        api_object_unref(o);
    }
    parts[n++] = constant(STR("]}\n"));
    return n;
}

static struct net_part *parts_new(struct server__call *c) {
    return arena_array(&c->arena, struct net_part, 2 * c->response.list.n + 2);
}

static void answer_list(struct server__call *c) {
    struct net_part *parts = parts_new(c);
    struct server__headers h;
    server__headers_start(c, &h, STR("application/json"));
    server__respond_json(c, 200, &h, parts, list_parts(c, parts));
}

/* ---- lists in protobuf ---- */

/* The audit log has it in JSON. */
static void account_list(struct server__call *c) {
    if (!server__account_wants_object(c))
        return;
    struct net_part *parts = parts_new(c);
    size_t n = list_parts(c, parts);
    server__account_object(c, parts, n);
    for (size_t i = 0; i < n; i++)
        parts[i].release(parts[i].owner);
}

static struct api_list_meta meta_of(struct server__call *c) {
    const struct apiserver_list *list = &c->response.list;
    return (struct api_list_meta){
        .resource_version = arena_printf(&c->arena, "%llu", (unsigned long long)list->revision),
        .continue_ = list->continue_token,
        .remaining_item_count = list->remaining,
    };
}

/* The message inside of an object's envelope. */
static struct net_part message_part(struct server__call *c, const struct api_object *o) {
    struct api_proto_envelope e = {0};
    struct api_bytes *bytes = server__encoded(c, o, true);
    if (bytes->n)
        api_proto_open(api_bytes_view(bytes), &e, NULL);
    return server__bytes_part(bytes, e.message);
}

static void answer_proto_list(struct server__call *c) {
    const struct apiserver_list *list = &c->response.list;
    const struct api_kind *kind = c->r.resource->kind;
    struct api_type_meta names = {.kind = arena_printf(&c->arena, "%sList", kind->kind),
                                  .api_version = str_of(kind->api_version)};
    struct api_list_meta meta = meta_of(c);
    struct net_part *parts = parts_new(c);
    struct hold *hold = hold_new();
    struct server__headers h;
    size_t n = 1, items = 0;
    account_list(c);
    for (size_t i = 0; i < list->n; i++) {
        const struct api_object *o = apiserver_convert(list->objects[i], kind);
        struct net_part message = message_part(c, o);
        struct buf head = BUF_INIT(SIZE_MAX);
        api_proto_item_head(&head, message.bytes.n);
        parts[n++] = constant(arena_str(&c->arena, buf_view(&head)));
        parts[n - 1].release = NULL; /* it dies with the call, and is copied */
        parts[n++] = message;
        items += api_proto_item_size(message.bytes.n);
        buf_release(&head);
        api_object_unref(o);
    }
    api_proto_list_head(&hold->text, &names, &meta, items);
    parts[0] = head_part(hold);
    parts[n++] = constant(api_proto_list_tail());
    server__headers_start(c, &h, server_media_type(&c->media, false));
    server__respond(c, 200, &h, parts, n);
}

static void answer_partial_list(struct server__call *c) {
    const struct apiserver_list *list = &c->response.list;
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct server__headers h;
    if (c->media.format == SERVER_PROTOBUF) {
        struct api_list_meta meta = meta_of(c);
        server__partial_list_proto(&text, server__meta_version(c), &meta, list);
        answer_proto(c, c->response.code, buf_view(&text));
        return;
    }
    write_list_head(c, &text, "PartialObjectMetadataList", server__meta_version(c));
    for (size_t i = 0; i < list->n; i++) {
        AUTO(arena_release) struct arena a = {0};
        struct json item = partial(c, &a, list->objects[i]);
        buf_add_char(&text, i ? ',' : '[');
        json_write(&text, &item, NULL);
    }
    buf_add(&text, list->n ? STR("]}\n") : STR("null}\n")); /* as Go writes a list of none */
    struct net_part part = {.bytes = buf_view(&text)};
    server__headers_start(c, &h, STR("application/json"));
    server__respond_json(c, 200, &h, &part, 1);
}

/* ---- tables ---- */

/* The object beside the cells: its metadata, unless more or less is asked for. The mark behind the
 * first events of a watch is never left out. */
static struct json object_of_row(struct server__call *c, struct arena *a,
                                 const struct api_object *o) {
    struct str wanted = server_query_get(&c->query, "includeObject");
    bool is_mark = labels_find(&o->meta->annotations, STR("k8s.io/initial-events-end"));
    if (str_is(wanted, "None") && !is_mark)
        return (struct json){.kind = JSON_NULL};
    return str_is(wanted, "Object") ? api_object_encode(o, a) : partial(c, a, o);
}

/* Whole objects are shown in the version that was asked for, the cells are those of the stored one.
 */
static const struct api_object *whole_of_row(struct server__call *c, const struct api_object *o) {
    const struct apiserver_resource *r = c->r.resource;
    bool is_other = o->kind == r->stored && r->kind != r->stored &&
                    str_is(server_query_get(&c->query, "includeObject"), "Object");
    return is_other ? apiserver_convert(o, r->kind) : NULL;
}

static void write_row(struct server__call *c, struct buf *b, const struct api_object *o) {
    AUTO(arena_release) struct arena a = {0};
    struct api_time now = {.sec = clock_wall(c->s->opts.clock) / CLOCK_SECOND, .set = true};
    struct json row = {.kind = JSON_OBJECT}, conditions = registry_table_conditions(&a, o);
    const struct api_object *whole = whole_of_row(c, o);
    json_add(&a, &row, STR("cells"), registry_table_cells(&a, o, now));
    if (conditions.kind == JSON_ARRAY)
        json_add(&a, &row, STR("conditions"), conditions);
    json_add(&a, &row, STR("object"), object_of_row(c, &a, whole ? whole : o));
    json_write(b, &row, NULL);
    api_object_unref(whole);
}

void server__table_write(struct server__call *c, struct buf *b, const struct server__table *t) {
    AUTO(arena_release) struct arena a = {0};
    struct json columns = {.kind = JSON_NULL};
    const struct api_kind *kind = t->n ? t->objects[0]->kind : c->r.resource->stored;
    if (t->has_columns)
        columns = registry_table_columns(&a, kind);
    buf_addf(b,
             "{\"kind\":\"Table\",\"apiVersion\":\"meta.k8s.io/%s\",\"metadata\":{%.*s},"
             "\"columnDefinitions\":",
             c->media.is_beta ? "v1beta1" : "v1", STR_ARG(t->meta));
    json_write(b, &columns, NULL);
    if (!t->n && registry_table_is_default(kind)) {
        buf_add(b, STR(",\"rows\":null}"));
        return;
    }
    buf_add(b, STR(",\"rows\":["));
    for (size_t i = 0; i < t->n; i++) {
        buf_add(b, i ? STR(",") : STR(""));
        write_row(c, b, t->objects[i]);
    }
    buf_add(b, STR("]}"));
}

static void answer_table(struct server__call *c) {
    const struct apiserver_list *list = &c->response.list;
    bool is_list = c->response.answer == APISERVER_LIST;
    AUTO(buf_release) struct buf meta = BUF_INIT(SIZE_MAX), text = BUF_INIT(SIZE_MAX);
    struct server__headers h;
    if (is_list)
        write_list_meta(&meta, list);
    else
        buf_addf(&meta, "\"resourceVersion\":\"%.*s\"",
                 STR_ARG(c->response.object->meta->resource_version));
    server__table_write(
        c, &text,
        &(struct server__table){.meta = buf_view(&meta),
                                .objects = is_list ? list->objects : &c->response.object,
                                .n = is_list ? list->n : 1,
                                .has_columns = true});
    buf_add_char(&text, '\n');
    struct net_part part = {.bytes = buf_view(&text)};
    server__headers_start(c, &h, STR("application/json"));
    server__respond_json(c, c->response.code, &h, &part, 1);
}

/* The package of Go that upstream keeps a group's types in. */
static struct str go_package(const struct api_kind *kind) {
    struct str version = str_of(kind->api_version), label, rest;
    struct str group = registry_group_of(version);
    str_cut(group, '.', &label, &rest);
    if (!group.n || str_is(label, "events"))
        return STR("core");
    return str_is(label, "internal") ? STR("apiserverinternal") : label;
}

/* What was asked for cannot be made of the answer; it was done all the same.
 *
 * Follows k8s.io/apiserver pkg/endpoints/handlers, func asPartialObjectMetadata,
 * func asPartialObjectMetadataList. */
static void refuse_shape(struct server__call *c, const struct api_kind *kind, bool is_list) {
    struct str package = go_package(kind);
    struct str text =
        is_list ? arena_printf(&c->arena,
                               "you requested PartialObjectMetadata, but the requested object is a "
                               "list (*%.*s.%sList)",
                               STR_ARG(package), kind->kind)
                : arena_printf(&c->arena,
                               "you requested PartialObjectMetadataList, but the requested object "
                               "is not a list (*%.*s.%s)",
                               STR_ARG(package), kind->kind);
    server__answer_failure(c,
                           (struct registry_failure){.code = ERR_NOT_ACCEPTABLE, .message = text});
}

static void answer_shaped_object(struct server__call *c) {
    bool is_own = c->response.object->kind == c->r.resource->stored ||
                  api_object_is(c->response.object, API_T_scale);
    if (c->media.shape == SERVER_PARTIAL_LIST)
        refuse_shape(c, c->response.object->kind, false);
    else if (c->media.shape == SERVER_PARTIAL)
        answer_partial(c);
    else if (c->media.shape == SERVER_TABLE && is_own)
        answer_table(c);
    else
        answer_object(c);
}

static void answer_shaped_list(struct server__call *c) {
    if (c->media.shape == SERVER_PARTIAL)
        refuse_shape(c, c->r.resource->kind, true);
    else if (c->media.shape == SERVER_TABLE)
        answer_table(c);
    else if (c->media.shape == SERVER_PARTIAL_LIST)
        answer_partial_list(c);
    else if (c->media.format == SERVER_PROTOBUF)
        answer_proto_list(c);
    else
        answer_list(c);
}

struct registry_failure server__table_options(struct server__call *c) {
    static const char *const known[] = {"", "None", "Metadata", "Object"};
    struct str wanted = server_query_get(&c->query, "includeObject");
    if (c->media.shape != SERVER_TABLE)
        return (struct registry_failure){.code = ERR_NONE};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (str_is(wanted, known[i]))
            return (struct registry_failure){.code = ERR_NONE};
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    buf_add(&text, STR("Unable to convert to Table as requested: includeObject: Invalid value: "));
    goquote_write(&text, wanted);
    buf_add(&text, STR(": must be 'Metadata', 'Object', 'None', or empty"));
    return registry_bad_request(arena_str(&c->arena, buf_view(&text)));
}

void server__answer(struct server__call *c) {
    if (c->is_late) {
        server__call_free(c);
        return;
    }
    struct registry_failure f = {.code = ERR_NONE};
    if (c->response.answer != APISERVER_FAILURE)
        f = server__table_options(c);
    if (f.code) { /* it was done all the same */
        server__answer_failure(c, f);
        return;
    }
    switch (c->response.answer) {
    case APISERVER_FAILURE:
        server__answer_failure(c, c->response.failure);
        return;
    case APISERVER_OBJECT:
        answer_shaped_object(c);
        return;
    case APISERVER_SUCCESS:
        answer_success(c);
        return;
    case APISERVER_LIST:
        answer_shaped_list(c);
    }
}
