/*
 * Any text is a token that a list goes on with, or is refused; what was read is written as a token
 * that says the same.
 */
#include "apiserver/apiserver_int.h"
#include "check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    AUTO(arena_release) struct arena a = {0};
    struct str text = {(const char *)data, size};
    struct apiserver__continue c, again;
    struct registry_failure f = apiserver__continue_read(&a, text, &c);
    uint64_t revision;
    if (!apiserver__revision_read(text, &revision))
        CHECK(apiserver__revision_fault(&a, text).n > 0);
    if (f.code) {
        CHECK(f.message.n);
        return 0;
    }
    CHECK(c.start.n > 0);
    CHECK(!apiserver__continue_read(&a, apiserver__continue_write(&a, &c), &again).code);
    CHECK(again.revision == c.revision && str_eq(again.start, c.start));
    return 0;
}
