/* Any text, taken for an answer, a list and an event of a watch: it has an object or a reason. */
#include "check.h"
#include "client/http/wire_int.h"

static void read_answer(struct str text, enum registry_verb verb, int status) {
    struct arena a = {0};
    struct client__reply reply = {status, text, 0};
    struct client__result r;
    client__result_read(&a, verb, client_kind(API_T_pod), &reply, &r);
    CHECK(r.answer.code || status == 200);
    CHECK(!r.answer.code || !r.answer.object);
    client__result_release(&r);
    arena_release(&a);
}

static void read_event(struct str text) {
    struct arena a = {0};
    struct err err = {0};
    struct client_event e;
    if (client__event_read(&a, client_kind(API_T_pod), text, &e, &err) < 0)
        CHECK(err.msg[0] && !e.object);
    else
        CHECK((e.object != NULL) == (e.type < CLIENT_BOOKMARK));
    api_object_unref(e.object);
    arena_release(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    struct str text = {(const char *)data, size};
    read_answer(text, REGISTRY_VERB_GET, 200);
    read_answer(text, REGISTRY_VERB_LIST, 200);
    read_answer(text, REGISTRY_VERB_GET, 409);
    read_event(text);
    return 0;
}
