/* Answers and events from JSON. */
#include "base/limits.h"
#include "client/http/wire_int.h"
#include "codec/docs.h"

enum { SHOWN_BYTES = 200 }; /* of an answer that is no Status */

/* ---- failures ---- */

static const struct {
    enum err_code code;
    int status;
    const char *reason;
} codes[] = {
    /* What else stands for several codes, or is written differently. */
    {ERR_INTERNAL, 500, "InternalError"},
    {ERR_INTERNAL, 0, "StorageReadError"},
    {ERR_TIMEOUT, 0, "ServerTimeout"},
    {ERR_CONFLICT, 409, "Conflict"},
    {ERR_UNAVAILABLE, 502, NULL},
#define X(name, status, reason) {ERR_##name, status, reason},
    ERR_CODES(X)
#undef X
};

static enum err_code code_of_reason(struct str reason) {
    for (size_t i = 0; reason.n && i < sizeof codes / sizeof *codes; i++)
        if (codes[i].reason && str_is(reason, codes[i].reason))
            return codes[i].code;
    return ERR_NONE;
}

static enum err_code code_of_status(int status) {
    for (size_t i = 0; status != 200 && i < sizeof codes / sizeof *codes; i++)
        if (codes[i].status == status)
            return codes[i].code;
    return status >= 400 && status < 500 ? ERR_INVALID : ERR_INTERNAL;
}

static struct str text_at(const struct json *v, const char *key) {
    const struct json *found = v ? json_get(v, str_of(key)) : NULL;
    return found && found->kind == JSON_STRING ? json_str(found) : (struct str){0};
}

static int64_t number_at(const struct json *v, const char *key) {
    const struct json *found = v ? json_get(v, str_of(key)) : NULL;
    return found && found->kind == JSON_INT ? found->i : 0;
}

static enum err_code code_of(const struct json *status, int http_status) {
    enum err_code code = code_of_reason(text_at(status, "reason"));
    return code ? code : code_of_status(http_status);
}

/* Seconds, as far as they are of any use. */
static int32_t seconds_of(int64_t n) {
    return n > 0 && n <= INT32_MAX ? (int32_t)n : 0;
}

static void read_status(const struct json *status, const struct client__reply *reply,
                        struct client_answer *out) {
    const struct json *details = json_get(status, STR("details"));
    int32_t retry = seconds_of(number_at(details, "retryAfterSeconds"));
    out->code = code_of(status, reply->status);
    out->message = text_at(status, "message");
    out->retry_after = retry ? retry : reply->retry_after;
}

/* Something else than an API server has answered, or it is ill. */
static void read_other(struct arena *a, const struct client__reply *reply,
                       struct client_answer *out) {
    struct str text = str_trim(str_sub(reply->body, 0, SHOWN_BYTES));
    out->code = code_of_status(reply->status);
    out->message =
        arena_printf(a, text.n ? "the server answered %d: %.*s" : "the server answered %d",
                     reply->status, STR_ARG(text));
    out->retry_after = reply->retry_after;
}

static bool is_status(const struct json *tree) {
    return str_is(text_at(tree, "kind"), "Status");
}

static void read_failure(struct arena *a, const struct client__reply *reply,
                         struct client_answer *out) {
    struct json tree;
    struct err err;
    if (json_parse(a, reply->body, NULL, &tree, &err) == 0 && is_status(&tree))
        read_status(&tree, reply, out);
    else
        read_other(a, reply, out);
}

static void misunderstand(struct arena *a, const char *why, struct client_answer *out) {
    out->code = ERR_INTERNAL;
    out->message = arena_printf(a, "the server's answer is not understood: %s", why);
}

/* ---- objects ---- */

/* An object of which the caller has the reference; NULL when it is none. */
static const struct api_object *object_of(const struct json *tree, const struct api_kind *kind) {
    struct api_decode_opts opts = {.api_version = str_of(kind->api_version),
                                   .kind = str_of(kind->kind)};
    struct api_object *o;
    if (tree->kind != JSON_OBJECT || api_object_decode(tree, &opts, &o, NULL) < 0)
        return NULL;
    return api_publish(o);
}

static void read_object(struct arena *a, const struct api_kind *kind, struct str body,
                        struct client_answer *out) {
    struct json tree;
    struct err err;
    if (json_parse(a, body, &(struct json_opts){.max_bytes = LIMIT_CLIENT_EVENT_BYTES}, &tree,
                   &err) < 0) {
        misunderstand(a, err.msg, out);
        return;
    }
    if (is_status(&tree))
        return; /* it was done, and that is all */
    out->object = object_of(&tree, kind);
    if (!out->object)
        misunderstand(a, "it is no object of the kind", out);
}

/* ---- lists ---- */

static int64_t read_body(void *ctx, char *to, size_t n, struct err *err) {
    struct str *rest = ctx;
    size_t part = n < rest->n ? n : rest->n;
    (void)err;
    memcpy(to, rest->p, part);
    *rest = str_sub(*rest, part, rest->n);
    return (int64_t)part;
}

static void read_list_meta(struct arena *a, const struct json *list, struct client_answer *out) {
    const struct json *meta = json_get(list, STR("metadata"));
    out->resource_version = arena_str(a, text_at(meta, "resourceVersion"));
    out->continue_token = arena_str(a, text_at(meta, "continue"));
}

/* The next part of the list: 1 when there is another. */
static int read_part(struct arena *a, const struct api_kind *kind, const struct docs_item *part,
                     struct client__result *out, struct err *err) {
    const struct api_object *o;
    switch (part->event) {
    case DOCS_ITEM:
        o = object_of(&part->value, kind);
        if (!o)
            return err_set(err, ERR_INVALID, "item %u is no object of the kind", part->index);
        vec_push(&out->items, o);
        return 1;
    case DOCS_VALUE: /* one whose items are null, or something else */
        if (!str_ends(text_at(&part->value, "kind"), STR("List")))
            return err_set(err, ERR_INVALID, "it is no list");
        read_list_meta(a, &part->value, &out->answer);
        return 1;
    case DOCS_LIST_END:
        read_list_meta(a, &part->value, &out->answer);
        return 1;
    case DOCS_END:
        break;
    }
    return 0;
}

static void read_list(struct arena *a, const struct api_kind *kind, struct str body,
                      struct client__result *out) {
    AUTO(arena_release) struct arena part = {0};
    struct docs *docs = docs_open(read_body, &body);
    struct docs_item item;
    struct err err;
    int more = 1;
    while (more > 0) {
        more = docs_next(docs, &part, &item, &err);
        if (more == 0)
            more = read_part(a, kind, &item, out, &err);
        arena_reset(&part);
    }
    if (more < 0)
        misunderstand(a, err.msg, &out->answer);
    docs_free(docs);
    out->answer.items = out->items.v;
    out->answer.item_count = out->items.n;
}

void client__result_read(struct arena *a, enum registry_verb verb, const struct api_kind *kind,
                         const struct client__reply *reply, struct client__result *out) {
    *out = (struct client__result){.answer = {.status = reply->status}};
    if (reply->status < 200 || reply->status > 299)
        read_failure(a, reply, &out->answer);
    else if (!kind)
        out->answer.text = reply->body;
    else if (verb == REGISTRY_VERB_LIST)
        read_list(a, kind, reply->body, out);
    else if (verb != REGISTRY_VERB_DELETE_COLLECTION) /* whose list nobody asks for */
        read_object(a, kind, reply->body, &out->answer);
}

void client__result_release(struct client__result *r) {
    api_object_unref(r->answer.object);
    for (size_t i = 0; i < r->items.n; i++)
        api_object_unref(r->items.v[i]);
    vec_release(&r->items);
}

/* ---- events ---- */

static int read_bookmark(const struct json *object, struct client_event *out, struct err *err) {
    const struct json *meta = json_get(object, STR("metadata"));
    const struct json *notes = meta ? json_get(meta, STR("annotations")) : NULL;
    int64_t revision;
    if (!str_to_i64(text_at(meta, "resourceVersion"), &revision) || revision < 0)
        return err_set(err, ERR_INVALID, "a bookmark has no revision");
    out->revision = (uint64_t)revision;
    out->ends_initial_events = str_is(text_at(notes, "k8s.io/initial-events-end"), "true");
    return 0;
}

static int read_change(const struct api_kind *kind, const struct json *object,
                       struct client_event *out, struct err *err) {
    out->object = object_of(object, kind);
    if (!out->object || !out->object->meta) {
        api_object_unref(out->object);
        out->object = NULL;
        return err_set(err, ERR_INVALID, "an event has no object of the kind");
    }
    return 0;
}

int client__event_read(struct arena *a, const struct api_kind *kind, struct str line,
                       struct client_event *out, struct err *err) {
    static const char *const types[] = {[CLIENT_ADDED] = "ADDED",
                                        [CLIENT_MODIFIED] = "MODIFIED",
                                        [CLIENT_DELETED] = "DELETED",
                                        [CLIENT_BOOKMARK] = "BOOKMARK",
                                        [CLIENT_ENDED] = "ERROR"};
    struct json tree;
    *out = (struct client_event){.type = CLIENT_ADDED};
    if (json_parse(a, line, &(struct json_opts){.max_bytes = LIMIT_CLIENT_EVENT_BYTES}, &tree,
                   err) < 0)
        return -1;
    const struct json *object = json_get(&tree, STR("object"));
    struct str type = text_at(&tree, "type");
    while (out->type < CLIENT_ENDED && !str_is(type, types[out->type]))
        out->type++;
    if (!object || !str_is(type, types[out->type]))
        return err_set(err, ERR_INVALID, "an event of type \"%.*s\" is not known", STR_ARG(type));
    if (out->type == CLIENT_BOOKMARK)
        return read_bookmark(object, out, err);
    if (out->type != CLIENT_ENDED)
        return read_change(kind, object, out, err);
    out->code = code_of(object, (int)number_at(object, "code"));
    out->message = text_at(object, "message");
    return 0;
}
