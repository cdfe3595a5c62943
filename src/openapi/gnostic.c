/*
 * OpenAPI version 2 in protobuf, as gnostic has it (openapi.v2.Document), which old clients ask
 * for. A table of messages tells which member of the JSON has which number.
 */
#include <assert.h>
#include <string.h>

#include "api/proto.h"
#include "openapi/openapi_int.h"

enum form {
    TEXT,    /* a string */
    TRUTH,   /* a bool */
    TEXTS,   /* an array of strings, or one: repeated string */
    MESSAGE, /* an object */
    LIST,    /* an array of objects */
    ANY,     /* any value, as JSON in an Any */
};

struct message;

struct field {
    const char *key; /* of JSON; NULL: any member that no other field takes */
    unsigned number;
    enum form form;
    const struct message *of;
    unsigned inside; /* the message stands alone in another, as this number; 0: it does not */
};

/* Members of a map are messages of a name (1) and a value (2). */
struct message {
    const struct field *fields;
    bool is_map;         /* fields[0] is about all members */
    unsigned extensions; /* number of the members that begin with x-; 0: there are none */
};

static const struct message schema, schemas;

static const struct message texts = {.fields =
                                         (const struct field[]){{NULL, 1, TEXTS, NULL, 0}, {0}}};

static const struct message type_item = {
    .fields = (const struct field[]){{NULL, 1, TEXTS, NULL, 0}, {0}}};

static const struct message schema = {
    .fields = (const struct field[]){{"$ref", 1, TEXT, NULL, 0},
                                     {"format", 2, TEXT, NULL, 0},
                                     {"description", 4, TEXT, NULL, 0},
                                     {"required", 19, TEXTS, NULL, 0},
                                     {"additionalProperties", 21, MESSAGE, &schema, 1},
                                     {"type", 22, MESSAGE, &type_item, 0},
                                     {"items", 23, MESSAGE, &schema, 1},
                                     {"properties", 25, MESSAGE, &schemas, 0},
                                     {0}},
    .extensions = 31,
};

static const struct message schemas = {
    .fields = (const struct field[]){{NULL, 1, MESSAGE, &schema, 0}, {0}}, .is_map = true};

static const struct message response = {
    .fields = (const struct field[]){{"description", 1, TEXT, NULL, 0},
                                     {"schema", 2, MESSAGE, &schema, 1},
                                     {0}},
    .extensions = 5,
};

static const struct message responses = {
    .fields = (const struct field[]){{NULL, 1, MESSAGE, &response, 1}, {0}}, .is_map = true};

static const struct message body_parameter = {
    .fields = (const struct field[]){{"description", 1, TEXT, NULL, 0},
                                     {"name", 2, TEXT, NULL, 0},
                                     {"in", 3, TEXT, NULL, 0},
                                     {"required", 4, TRUTH, NULL, 0},
                                     {"schema", 5, MESSAGE, &schema, 0},
                                     {0}},
};

static const struct message query_parameter = {
    .fields = (const struct field[]){{"required", 1, TRUTH, NULL, 0},
                                     {"in", 2, TEXT, NULL, 0},
                                     {"description", 3, TEXT, NULL, 0},
                                     {"name", 4, TEXT, NULL, 0},
                                     {"type", 6, TEXT, NULL, 0},
                                     {"uniqueItems", 20, TRUTH, NULL, 0},
                                     {0}},
};

static const struct message path_parameter = {
    .fields = (const struct field[]){{"required", 1, TRUTH, NULL, 0},
                                     {"in", 2, TEXT, NULL, 0},
                                     {"description", 3, TEXT, NULL, 0},
                                     {"name", 4, TEXT, NULL, 0},
                                     {"type", 5, TEXT, NULL, 0},
                                     {"uniqueItems", 19, TRUTH, NULL, 0},
                                     {0}},
};

/* What stands in a list of parameters: see parameter_message. */
static const struct message parameter = {.fields = NULL};

static const struct message operation = {
    .fields = (const struct field[]){{"tags", 1, TEXTS, NULL, 0},
                                     {"description", 3, TEXT, NULL, 0},
                                     {"operationId", 5, TEXT, NULL, 0},
                                     {"produces", 6, TEXTS, NULL, 0},
                                     {"consumes", 7, TEXTS, NULL, 0},
                                     {"parameters", 8, LIST, &parameter, 0},
                                     {"responses", 9, MESSAGE, &responses, 0},
                                     {"schemes", 10, TEXTS, NULL, 0},
                                     {0}},
    .extensions = 13,
};

static const struct message path_item = {
    .fields = (const struct field[]){{"get", 2, MESSAGE, &operation, 0},
                                     {"put", 3, MESSAGE, &operation, 0},
                                     {"post", 4, MESSAGE, &operation, 0},
                                     {"delete", 5, MESSAGE, &operation, 0},
                                     {"options", 6, MESSAGE, &operation, 0},
                                     {"head", 7, MESSAGE, &operation, 0},
                                     {"patch", 8, MESSAGE, &operation, 0},
                                     {"parameters", 9, LIST, &parameter, 0},
                                     {0}},
};

static const struct message paths = {
    .fields = (const struct field[]){{NULL, 2, MESSAGE, &path_item, 0}, {0}}, .is_map = true};

static const struct message api_key = {
    .fields = (const struct field[]){{"type", 1, TEXT, NULL, 0},
                                     {"name", 2, TEXT, NULL, 0},
                                     {"in", 3, TEXT, NULL, 0},
                                     {"description", 4, TEXT, NULL, 0},
                                     {0}},
};

static const struct message security_definitions = {
    .fields = (const struct field[]){{NULL, 1, MESSAGE, &api_key, 2}, {0}}, .is_map = true};

static const struct message security = {
    .fields = (const struct field[]){{NULL, 1, MESSAGE, &texts, 0}, {0}}, .is_map = true};

static const struct message info = {
    .fields =
        (const struct field[]){{"title", 1, TEXT, NULL, 0}, {"version", 2, TEXT, NULL, 0}, {0}},
};

static const struct message document = {
    .fields = (const struct field[]){{"swagger", 1, TEXT, NULL, 0},
                                     {"info", 2, MESSAGE, &info, 0},
                                     {"paths", 8, MESSAGE, &paths, 0},
                                     {"definitions", 9, MESSAGE, &schemas, 0},
                                     {"security", 12, LIST, &security, 0},
                                     {"securityDefinitions", 13, MESSAGE, &security_definitions, 0},
                                     {0}},
};

static void write_message(struct buf *out, const struct message *m, const struct json *v);

/* ---- fields ---- */

static void write_texts(struct buf *out, unsigned number, const struct json *v) {
    if (v->kind == JSON_STRING)
        api_proto_add_bytes(out, number, json_str(v));
    for (uint32_t i = 0; v->kind == JSON_ARRAY && i < v->n; i++)
        api_proto_add_bytes(out, number, json_str(&v->items[i]));
}

/* A value of any sort is a message that has it as text. */
static void write_any(struct buf *out, unsigned number, const struct json *v) {
    AUTO(buf_release) struct buf text = BUF_INIT(out->max), any = BUF_INIT(out->max);
    json_write(&text, v, NULL);
    buf_add_char(&text, '\n');
    api_proto_add_bytes(&any, 2, buf_view(&text));
    api_proto_add_bytes(out, number, buf_view(&any));
}

/* Messages that hold nothing but the one inside, innermost first. */
static void wrap(struct buf *message, unsigned number) {
    AUTO(buf_release) struct buf outer = BUF_INIT(message->max);
    api_proto_add_bytes(&outer, number, buf_view(message));
    buf_clear(message);
    buf_add(message, buf_view(&outer));
}

/* Parameters have a message for each place where they can be, in messages that tell them apart. */
static void parameter_message(struct buf *out, const struct json *v) {
    struct str in = json_str(json_get(v, STR("in")));
    bool is_body = str_is(in, "body"), is_path = str_is(in, "path");
    write_message(out, is_body ? &body_parameter : is_path ? &path_parameter : &query_parameter, v);
    if (!is_body)
        wrap(out, is_path ? 4 : 3);
    wrap(out, is_body ? 1 : 2);
    wrap(out, 1);
}

static void write_inner(struct buf *out, const struct field *f, const struct json *v) {
    if (f->of == &parameter)
        parameter_message(out, v);
    else
        write_message(out, f->of, v);
    if (f->inside)
        wrap(out, f->inside);
}

static void write_field(struct buf *out, const struct field *f, const struct json *v) {
    AUTO(buf_release) struct buf inner = BUF_INIT(out->max);
    switch (f->form) {
    case TEXT:
        api_proto_add_bytes(out, f->number, json_str(v));
        break;
    case TRUTH:
        api_proto_add_number(out, f->number, v->b);
        break;
    case TEXTS:
        write_texts(out, f->number, v);
        break;
    case ANY:
        write_any(out, f->number, v);
        break;
    case MESSAGE:
        write_inner(&inner, f, v);
        api_proto_add_bytes(out, f->number, buf_view(&inner));
        break;
    case LIST:
        for (uint32_t i = 0; i < v->n; i++) {
            buf_clear(&inner);
            write_inner(&inner, f, &v->items[i]);
            api_proto_add_bytes(out, f->number, buf_view(&inner));
        }
        break;
    }
}

/* ---- messages ---- */

/* A name and a value. */
static void write_named(struct buf *out, const struct field *f, const struct json_member *m) {
    AUTO(buf_release) struct buf named = BUF_INIT(out->max);
    const struct field value = {.number = 2, .form = f->form, .of = f->of, .inside = f->inside};
    api_proto_add_bytes(&named, 1, m->key);
    write_field(&named, &value, &m->value);
    api_proto_add_bytes(out, f->number, buf_view(&named));
}

static void write_extension(struct buf *out, unsigned number, const struct json_member *m) {
    const struct field any = {.number = number, .form = ANY};
    write_named(out, &any, m);
}

static void write_members(struct buf *out, const struct message *m, const struct json *v) {
    for (uint32_t i = 0; i < v->n; i++)
        if (m->is_map)
            write_named(out, &m->fields[0], &v->members[i]);
        else if (m->extensions && str_starts(v->members[i].key, STR("x-")))
            write_extension(out, m->extensions, &v->members[i]);
}

static void write_message(struct buf *out, const struct message *m, const struct json *v) {
    assert(v);
    for (const struct field *f = m->fields; !m->is_map && f->number; f++) {
        const struct json *value = f->key ? json_get(v, str_of(f->key)) : v;
        if (value)
            write_field(out, f, value);
    }
    if (v->kind == JSON_OBJECT)
        write_members(out, m, v);
}

void openapi__write_gnostic(struct buf *out, const struct json *v2) {
    write_message(out, &document, v2);
}
