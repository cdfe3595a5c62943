/* JSON that is indented is the same JSON, as Go prints it; anything else does no harm. */
#include "check.h"
#include "codec/json.h"
#include "server/indent.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    AUTO(arena_release) struct arena a = {0};
    AUTO(buf_release) struct buf any = BUF_INIT(SIZE_MAX);
    struct str text = {(const char *)data, size};
    struct json tree;
    if (size > 1 << 12) /* depth makes it long */
        return 0;
    server_indent(&any, text);
    if (json_parse(&a, text, NULL, &tree, NULL) < 0)
        return 0;
    AUTO(buf_release)
    struct buf compact = BUF_INIT(SIZE_MAX), ours = BUF_INIT(SIZE_MAX), theirs = BUF_INIT(SIZE_MAX);
    json_write(&compact, &tree, NULL);
    server_indent(&ours, buf_view(&compact));
    json_write(&theirs, &tree, &(struct json_style){.indent = 2});
    CHECK(str_eq(buf_view(&ours), buf_view(&theirs)));
    return 0;
}
