/*
 * Any bytes as protobuf: a body, a list, an event of a watch. Decoding does not crash; what was
 * decoded and encoded decodes to the same again, and so does what becomes of it by way of JSON.
 */
#include <stdint.h>

#include "api/proto.h"
#include "check.h"

static struct str json_of(struct arena *a, const struct api_object *o) {
    struct json tree = api_object_encode(o, a);
    struct buf b = BUF_INIT(1U << 30);
    json_write(&b, &tree, NULL);
    struct str text = arena_str(a, buf_view(&b));
    buf_release(&b);
    return text;
}

static void check_object(struct arena *a, struct api_object *draft) {
    const struct api_object *o = api_publish(draft);
    struct str body = api_object_proto(o);
    struct api_object *again = NULL;
    CHECK(api_proto_decode(body, NULL, &again, NULL) == 0);
    CHECK(str_eq(json_of(a, o), json_of(a, again)));
    const struct api_object *second = api_publish(again);
    CHECK(str_eq(api_object_proto(second), body));
    CHECK(str_eq(api_object_message(second), api_object_message(o)));
    api_object_unref(second);
    api_object_unref(o);
}

static void check_body(struct arena *a, struct str body) {
    struct api_object *o = NULL;
    if (api_proto_decode(body, NULL, &o, NULL) == 0)
        check_object(a, o);
}

static void check_list(struct arena *a, struct str body) {
    struct api_proto_list list;
    struct api_object *o = NULL;
    struct api_faults faults;
    api_faults_init(&faults, a);
    if (api_proto_list_open(a, body, &list, &faults) < 0)
        return;
    while (api_proto_list_next(&list, &o, &faults) > 0)
        check_object(a, o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
    struct arena a = {0};
    struct str body = arena_str(&a, (struct str){(const char *)data, n});
    struct api_proto_event event;
    check_body(&a, body);
    check_list(&a, body);
    if (api_proto_event_open(str_sub(body, 4, body.n), &event, NULL) == 0)
        check_body(&a, event.body);
    arena_release(&a);
    return 0;
}
