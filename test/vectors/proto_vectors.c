/*
 * proto.jsonl: a body in protobuf, of an object, a list or an event of a watch, what it is as JSON,
 * and the bytes that upstream makes of it again; or that it is refused.
 */
#include "api/proto.h"
#include "codec/base64.h"
#include "members.h"
#include "vectors.h"

struct outcome {
    struct arena *a;
    struct json tree;
    struct buf body; /* written again */
};

static int take_object(struct outcome *got, struct api_object *draft) {
    const struct api_object *o = api_publish(draft);
    struct json tree = api_object_encode(o, got->a);
    got->tree = json_clone(got->a, &tree);
    buf_add(&got->body, api_object_proto(o));
    api_object_unref(o);
    return 0;
}

/* The only message that is no object and has an envelope. */
static int take_delete_options(struct outcome *got, const struct api_proto_envelope *e) {
    const struct api_type *type = &api_types[API_T_delete_options];
    struct api_delete_options *options = arena_new(got->a, struct api_delete_options);
    if (api_proto_struct_decode(got->a, type, e->message, options, NULL) < 0)
        return -1;
    options->type_meta = (struct api_type_meta){.kind = e->kind, .api_version = e->api_version};
    got->tree = api_struct_encode(got->a, type, options);
    AUTO(buf_release) struct buf message = BUF_INIT(SIZE_MAX);
    api_proto_struct_write(&message, type, options);
    buf_add(&got->body, (struct str){"k8s\0\x0a", 5});
    buf_add_char(&got->body, (char)(e->kind.n + e->api_version.n + 4));
    buf_addf(&got->body, "\x0a%c%.*s", (int)e->api_version.n, STR_ARG(e->api_version));
    buf_addf(&got->body, "\x12%c%.*s", (int)e->kind.n, STR_ARG(e->kind));
    api_proto_item_head(&got->body, message.n);
    buf_add(&got->body, buf_view(&message));
    buf_add(&got->body, api_proto_list_tail());
    return 0;
}

static int take_body(struct outcome *got, struct str body) {
    struct api_proto_envelope e;
    struct api_object *o = NULL;
    if (api_proto_open(body, &e, NULL) == 0 && str_is(e.kind, "DeleteOptions"))
        return take_delete_options(got, &e);
    return api_proto_decode(body, NULL, &o, NULL) < 0 ? -1 : take_object(got, o);
}

/* Items of a list do not say what they are. */
static struct json item_tree(struct arena *a, const struct api_object *o) {
    struct json tree = api_object_encode(o, a), item = {.kind = JSON_OBJECT};
    for (uint32_t i = 0; i < tree.n; i++)
        if (!str_is(tree.members[i].key, "kind") && !str_is(tree.members[i].key, "apiVersion"))
            json_add(a, &item, arena_str(a, tree.members[i].key),
                     json_clone(a, &tree.members[i].value));
    return item;
}

static int take_items(struct outcome *got, struct api_proto_list *list, struct json *items,
                      struct buf *messages, struct api_faults *faults) {
    struct api_object *draft;
    int rc;
    while ((rc = api_proto_list_next(list, &draft, faults)) > 0) {
        const struct api_object *o = api_publish(draft);
        struct str message = api_object_message(o);
        json_append(got->a, items, item_tree(got->a, o));
        api_proto_item_head(messages, message.n);
        buf_add(messages, message);
        api_object_unref(o);
    }
    return rc;
}

static int take_list(struct outcome *got, struct str body) {
    AUTO(buf_release) struct buf messages = BUF_INIT(SIZE_MAX);
    struct json items = {.kind = JSON_NULL}, array = {.kind = JSON_ARRAY};
    struct api_proto_list list;
    struct api_faults faults;
    api_faults_init(&faults, got->a);
    if (api_proto_list_open(got->a, body, &list, &faults) < 0 ||
        take_items(got, &list, &array, &messages, &faults) < 0)
        return -1;
    struct api_type_meta names = {.api_version = list.api_version,
                                  .kind = arena_printf(got->a, "%.*sList", STR_ARG(list.kind))};
    got->tree = (struct json){.kind = JSON_OBJECT};
    json_add(got->a, &got->tree, STR("kind"), json_of_str(names.kind));
    json_add(got->a, &got->tree, STR("apiVersion"), json_of_str(names.api_version));
    json_add(got->a, &got->tree, STR("metadata"),
             api_struct_encode(got->a, &api_types[API_T_list_meta], &list.meta));
    json_add(got->a, &got->tree, STR("items"), array.n ? array : items);
    api_proto_list_head(&got->body, &names, &list.meta, messages.n);
    buf_add(&got->body, buf_view(&messages));
    buf_add(&got->body, api_proto_list_tail());
    return 0;
}

/* A frame is its length and the event. */
static int take_event(struct outcome *got, struct str frame) {
    struct outcome object = {.a = got->a, .body = BUF_INIT(SIZE_MAX)};
    struct api_proto_event event;
    int rc = -1;
    if (api_proto_event_open(str_sub(frame, 4, frame.n), &event, NULL) == 0)
        rc = take_body(&object, event.body);
    got->tree = (struct json){.kind = JSON_OBJECT};
    json_add(got->a, &got->tree, STR("type"), json_of_str(event.type));
    json_add(got->a, &got->tree, STR("object"), object.tree);
    api_proto_event_head(&got->body, event.type, object.body.n);
    buf_add(&got->body, buf_view(&object.body));
    buf_release(&object.body);
    return rc;
}

/* As it reads for whoever gets it: bytes that are no UTF-8 are replaced. */
static struct json written_and_read(struct arena *a, const struct json *tree) {
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    struct json read = {.kind = JSON_NULL};
    json_write(&text, tree, NULL);
    const struct json_opts any = {.max_bytes = SIZE_MAX, .allow_duplicates = true};
    json_parse(a, arena_str(a, buf_view(&text)), &any, &read, NULL);
    return read;
}

/* Of a body that no encoder has written so, the meaning counts and not the bytes. */
static struct json answer_of(struct outcome *got, bool is_read, bool is_bent) {
    struct json answer = {.kind = JSON_OBJECT};
    AUTO(buf_release) struct buf text = BUF_INIT(SIZE_MAX);
    if (!is_read) {
        json_add(got->a, &answer, STR("refused"), json_of_bool(true));
        return answer;
    }
    json_add(got->a, &answer, STR("json"), written_and_read(got->a, &got->tree));
    base64_write(&text, buf_view(&got->body));
    if (!is_bent)
        json_add(got->a, &answer, STR("again"), json_of_str(arena_str(got->a, buf_view(&text))));
    return answer;
}

int vectors_check_proto(struct arena *a, const struct json *line, struct buf *why) {
    struct outcome got = {.a = a, .body = BUF_INIT(SIZE_MAX)};
    struct str body, form = vectors_text(line, STR("form"));
    struct err err;
    if (base64_decode(a, vectors_text(line, STR("body")), &body, &err) < 0) {
        buf_addf(why, "body: %s", err.msg);
        return -1;
    }
    int rc = str_is(form, "list")    ? take_list(&got, body)
             : str_is(form, "event") ? take_event(&got, body)
                                     : take_body(&got, body);
    struct json answer = answer_of(&got, rc == 0, json_get(line, STR("bent")) != NULL);
    buf_release(&got.body);
    return vectors_compare_members(line, &answer, why);
}
